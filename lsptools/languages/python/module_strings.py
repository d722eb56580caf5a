"""Modules named in strings: `import_module("pkg.core")`, `import_module(".core", "pkg")`, `sys.modules["pkg"]`, dotted paths.

What a dotted string is used for is not known, so all of them are possible, as far as they lead to a module of the project.
"""

from __future__ import annotations

import re

from lsptools.languages.names import Evidence
from lsptools.languages.python.classes import last_name, positional_arguments
from lsptools.languages.python.meaning import Meaning, Meanings, module_root
from lsptools.languages.python.modules import Module, literal_string
from lsptools.languages.python.scopes import Site, Source
from lsptools.languages.python.text_meaning import TextMeaning
from lsptools.syntax.tree import Node

_IMPORTERS = frozenset(
    {
        "import_module",
        "__import__",
        "find_spec",
        "importorskip",
        "run_module",
        "_run_module_as_main",
        "resolve_name",
        "get_loader",
        "find_loader",
        "files",
        "import_string",
    }
)
"""Functions of the standard library, of pytest and of frameworks whose first argument is the name of a module."""


def imported_by_name(meanings: Meanings, source: Source, site: Site, index: int) -> TextMeaning | None:
    """A string that is a module's name because of who gets it; `site.path[index]` is the string."""
    string, parent = site.path[index][0], site.path[index - 1][0]
    if parent.type == "subscript":
        value = parent.child_by_field_name("value")
        by = "sys.modules" if value is not None and source.text(value).endswith("sys.modules") else ""
        package = None
    else:
        call = parent.parent if parent.type == "argument_list" else None
        by, package = _importer(source, call, string) if call is not None else ("", None)
    content = literal_string(source, string)
    if not by or content is None:
        return None
    start = string.named_children[0].end_byte if string.named_children else string.start_byte
    dotted = content[: site.end - start]  # up to the end of the word; names of modules are ASCII in practice
    module = _found(meanings, source, dotted, package)
    if module is None:
        return None
    bound = Meaning(frozenset({module_root(module)}), f"module `{dotted}` by name")
    return TextMeaning(Evidence.POSSIBLE, f"the name of a module given to `{by}`", bound)


def _importer(source: Source, call: Node, string: Node) -> tuple[str, str | None]:
    """(the function that imports by name, the package that a relative name starts from); nothing if it is no such call."""
    function = call.child_by_field_name("function")
    name = last_name(source, function) if function is not None else ""
    arguments = positional_arguments(call)
    if name == "import_module" and any(each.start_byte == string.start_byte for each in arguments[1:2]):
        return name, None  # the package from which a relative name starts
    if name not in _IMPORTERS or not arguments or arguments[0].start_byte != string.start_byte:
        return "", None
    given = [*arguments[1:2], *_keyword_values(source, call, "package")]
    return name, (literal_string(source, given[0]) or source.text(given[0])) if given else None


def _keyword_values(source: Source, call: Node, name: str) -> list[Node]:
    arguments = call.child_by_field_name("arguments")
    found = []
    for each in arguments.named_children if arguments is not None else ():
        key = each.child_by_field_name("name") if each.type == "keyword_argument" else None
        value = each.child_by_field_name("value")
        if key is not None and value is not None and source.text(key) == name:
            found.append(value)
    return found


def _found(meanings: Meanings, source: Source, dotted: str, package: str | None) -> Module | None:
    project = meanings.project
    if not dotted.startswith("."):
        return project.find(dotted, source.path)
    if package is None or package in ("__package__", "__name__"):
        return project.module_named(source, dotted)
    start = project.find(package, source.path)
    if start is None or not start.folders:
        return None
    return project.find_relative(
        len(dotted) - len(dotted.lstrip(".")), dotted.lstrip("."), f"{start.folders[0]}/x"
    )


def at_start(meanings: Meanings, source: Source, content: str) -> TextMeaning | None:
    """The first part of a dotted string, if that is a module and the second part is something in it."""
    parts = re.split(r"[.:]", content)
    if len(parts) < 2:
        return None
    first, second = parts[:2]
    module = meanings.project.find(first, source.path)
    if module is None or not meanings.project.member(module, second):
        return None
    bound = Meaning(frozenset({module_root(module)}), f"module `{first}` in a string")
    return TextMeaning(
        Evidence.POSSIBLE, f"at the start of `{content}`, a path to what the module has", bound
    )
