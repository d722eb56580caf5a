"""What is wrong with one file, as far as its text and the workspace's own modules tell: no linter and no type checker.

- The file does not parse.
- An import leads to a module that the workspace should have (it is relative, or begins with a package of the workspace)
  and has not, or names something that a module of the workspace does not define.
- `__all__` lists a name that the module does not have.

Invariant: nothing is reported that depends on what cannot be known: an installed package, a module with a star import from
elsewhere or with `__getattr__`, an import under `try` or `if`. Spans are code points.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lsptools.languages.python.compiles import ONLY_PARSE
from lsptools.languages.python.modules import Module, Project
from lsptools.languages.python.roles import Role
from lsptools.languages.python.scopes import Site, Source
from lsptools.syntax.quiet import quiet
from lsptools.syntax.readers import reason
from lsptools.syntax.tree import Node, first_error
from lsptools.text.lines import Offset, Span, UserPos

SYNTAX, MODULE, NAME, EXPORT = "syntax", "no_module", "no_name", "no_export"
_GUARDS = ("try_statement", "if_statement", "with_statement")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong."""

    kind: str
    """`syntax`, `no_module`, `no_name`, `no_export`."""
    span: Span
    says: str


def problems(project: Project, path: str) -> tuple[Problem, ...]:
    """The problems of a Python file of the workspace, in order; none for a file that cannot be read."""
    source = project.source(path)
    if source is None:
        return ()
    if source.is_broken:
        return (_syntax(source),)
    found = [*_imports(project, source), *_exports(project, source)]
    return tuple(sorted(found, key=lambda problem: problem.span))


def _syntax(source: Source) -> Problem:
    """Where Python gives up, in its words; where it is too old for the file, where the grammar does."""
    text = source.document.text
    try:
        with quiet():
            compile(text.lstrip("\ufeff"), source.path, "exec", ONLY_PARSE, dont_inherit=True)
    except SyntaxError as error:
        line = min(max(error.lineno or 1, 1), source.document.lines.n_lines)
        at = source.document.lines.offset_from_user(UserPos(line, max(error.offset or 1, 1)))
        end = source.document.lines.line_span(line - 1).end
        return Problem(SYNTAX, Span(at, max(at, end)), error.msg)
    except (ValueError, RecursionError, MemoryError) as error:
        return Problem(SYNTAX, Span(Offset(0), Offset(0)), reason(error))
    node = first_error(source.tree)
    span = source.span(node.start_byte, node.end_byte) if node is not None else Span(Offset(0), Offset(0))
    return Problem(SYNTAX, span, "does not parse")


# ---------------------------------------------------------------------------------------------------- imports


def _imports(project: Project, source: Source) -> Iterator[Problem]:
    for statement in _statements(source):
        if statement.type == "import_from_statement":
            yield from _from_import(project, source, statement)
        else:
            for name in statement.children_by_field_name("name"):
                dotted = name.child_by_field_name("name") if name.type == "aliased_import" else name
                if dotted is not None:
                    yield from _module(project, source, dotted)


def _statements(source: Source) -> Iterator[Node]:
    """The import statements that always run."""
    waiting = [source.tree.root_node]
    while waiting:
        node = waiting.pop()
        if node.type in ("import_statement", "import_from_statement"):
            yield node
        elif node.type not in _GUARDS:
            waiting.extend(node.named_children)


def _from_import(project: Project, source: Source, statement: Node) -> Iterator[Problem]:
    where = statement.child_by_field_name("module_name")
    if where is None:
        return
    module = project.module_of_import(source, statement)
    if module is None:
        yield from _module(project, source, where)
        return
    if module.external or not _is_closed(project, module):
        return
    for each in statement.children_by_field_name("name"):
        name = each.child_by_field_name("name") if each.type == "aliased_import" else each
        if name is not None and not _has(project, source, module, source.text(name)):
            span = source.span(name.start_byte, name.end_byte)
            yield Problem(NAME, span, f"`{module.name}` ({module.place}) has no `{source.text(name)}`")


def _module(project: Project, source: Source, dotted: Node) -> Iterator[Problem]:
    """A module that is not there, if it is the workspace that should have it."""
    written = "".join(source.text(dotted).split())
    if project.module_named(source, written) is not None:
        return
    if not written.startswith("."):
        first = project.find(written.partition(".")[0], source.path)
        if first is None or first.external or not first.files:
            return
    yield Problem(
        MODULE, source.span(dotted.start_byte, dotted.end_byte), f"the workspace has no module `{written}`"
    )


def _has(project: Project, source: Source, module: Module, name: str) -> bool:
    if project.member(module, name):
        return True
    # A package that imports from itself: what is not a name of it yet may be a submodule.
    return source.path in module.files and project.submodule(module, name) is not None


def _is_closed(project: Project, module: Module) -> bool:
    """Are all names of the module known: no `__getattr__`, no star import that leads elsewhere?"""
    for path in module.files:
        file = project.source(path)
        if file is None or file.is_broken or b"__getattr__" in file.bytes or b"globals()" in file.bytes:
            return False
        stars = [starred for _, starred in project.star_imports(file)]
        if any(starred is None or starred.external for starred in stars):
            return False
        if any(
            starred is not None and starred.files != module.files and not _is_plain(project, starred)
            for starred in stars
        ):
            return False
    return bool(module.files)


def _is_plain(project: Project, module: Module) -> bool:
    """As `_is_closed`, for what is starred: it has no star imports of its own."""
    files = [project.source(path) for path in module.files]
    return bool(files) and all(
        file is not None and b"__getattr__" not in file.bytes and not project.star_imports(file)
        for file in files
    )


# ---------------------------------------------------------------------------------------------------- __all__


def _exports(project: Project, source: Source) -> Iterator[Problem]:
    """Strings of `__all__` that name nothing."""
    module = project.module_of(source.path)
    if not _is_closed(project, module):
        return
    for site in source.sites("__all__"):
        if site.role not in (Role.ASSIGN, Role.AUGMENT, Role.ANNOTATE) or site.scope.kind != "module":
            continue
        for string in _listed(site):
            content = [child for child in string.children if child.type == "string_content"]
            name = source.text(content[0]) if len(content) == 1 else ""
            if name and name.isidentifier() and not project.member(module, name):
                span = source.span(content[0].start_byte, content[0].end_byte)
                yield Problem(EXPORT, span, f"`__all__` lists `{name}`, which is not defined here")


def _listed(site: Site) -> Iterator[Node]:
    statement = site.ancestor("assignment", "augmented_assignment")
    value = statement.child_by_field_name("right") if statement is not None else None
    if value is not None and value.type in ("list", "tuple"):
        yield from (child for child in value.named_children if child.type == "string")
