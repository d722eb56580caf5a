"""How a file names another module, and where its imports go.

Units: bytes of the UTF-8 source, half-open.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator

from lsptools.languages.python.modules import Module, Project, squeezed
from lsptools.languages.python.scopes import Source
from lsptools.refactor.moved_blocks import whole_lines
from lsptools.refactor.places import line_start
from lsptools.syntax.tree import Node


def spelled(project: Project, importer: Source, module: Module, like: str) -> str | None:
    """How `importer` writes `module` after `from`, in the manner of `like` (relative or not); None: it cannot."""
    relative = _relative(project, importer, module) if like.startswith(".") else None
    return relative or absolute(project, importer, module, like)


def manner_of(source: Source) -> str:
    """What a file imports first by a relative name, as it is written: then it writes others so, too. Empty: nothing."""
    for statement in source.tree.root_node.named_children:
        text = module_text(source, statement)
        if text.startswith("."):
            return text
    return ""


def module_text(source: Source, statement: Node) -> str:
    """What stands between `from` and `import`, without blanks; empty for other statements."""
    node = statement.child_by_field_name("module_name")
    return squeezed(source.text(node)) if node is not None else ""


def absolute(project: Project, importer: Source, module: Module, like: str = "") -> str | None:
    """The dotted name under which `importer` finds the module; one that begins like `like` if there is one."""
    parts = _parts(module)
    candidates = [project.dotted_name(module.place)]
    candidates += [".".join(parts[n:]) for n in range(len(parts) - 1, -1, -1)]
    first = like.partition(".")[0]
    candidates.sort(key=lambda dotted: dotted.partition(".")[0] != first)
    for dotted in candidates:
        found = project.find(dotted, importer.path) if _can_be_written(dotted) else None
        if found is not None and found.place == module.place:
            return dotted
    return None


def _parts(module: Module) -> list[str]:
    """The path of a module as the parts of a dotted name, from the root of the workspace."""
    path = module.folders[0] if module.folders else module.place.rpartition(".")[0]
    return path.split("/")


def _relative(project: Project, importer: Source, module: Module) -> str | None:
    base, target = importer.path.split("/")[:-1], _parts(module)
    n_common = 0
    while n_common < min(len(base), len(target)) and base[n_common] == target[n_common]:
        n_common += 1
    shared = "/".join(base[:n_common])
    if not any(project.snapshot.is_file(f"{shared}/__init__{suffix}") for suffix in (".py", ".pyi")):
        return None
    rest = ".".join(target[n_common:])
    dotted = "." * (len(base) - n_common + 1) + rest
    found = project.module_named(importer, dotted) if not rest or _can_be_written(rest) else None
    return dotted if found is not None and found.place == module.place else None


def _can_be_written(dotted: str) -> bool:
    """Are all parts of a dotted name such as an import statement can say?"""
    return all(part.isidentifier() and not keyword.iskeyword(part) for part in dotted.split("."))


def has_future(source: Source) -> bool:
    """`from __future__ import annotations`?"""
    return any(
        each.type == "future_import_statement" and "annotations" in source.text(each)
        for each in source.tree.root_node.named_children
    )


def end_of_header(source: Source) -> int:
    """Behind the last of the imports with which a file begins; without any, behind its docstring and first comments."""
    end = 0
    is_first = True
    for statement in source.tree.root_node.named_children:
        lines = whole_lines(source, statement)
        is_docstring = is_first and _is_string(statement)
        is_first = is_first and statement.type == "comment"
        is_skipped = statement.type == "comment" or is_docstring or _is_dunder(source, statement)
        if (not is_skipped and statement.type not in _IMPORTS) or lines is None:
            break
        if statement.type in _IMPORTS or is_docstring:
            end = lines[1]
        elif not end and statement.type == "comment":
            end = lines[1] if _is_at_top(source, lines[1]) else 0
    return end


def start_of_code(source: Source) -> int | None:
    """Behind the comments and the docstring with which a file begins: where the future imports are.

    None: the docstring shares its line with what follows.
    """
    end = 0
    for number, statement in enumerate(source.tree.root_node.named_children):
        lines = whole_lines(source, statement)
        is_head = statement.type == "comment" or _is_string(statement)
        if not is_head:
            break
        if statement.type != "comment" or lines is None:
            return lines[1] if lines is not None else None
        if number == 0 or end:
            end = lines[1] if _is_at_top(source, lines[1]) else end
    return end


def put_future_in_at(source: Source) -> tuple[int, str] | None:
    """(place, text) of the future import for annotations in a file that has none, set apart by empty lines.

    None: there is no such place.
    """
    at = start_of_code(source)
    if at is None:
        return None
    above, below = source.bytes[:at], source.bytes[at:]
    is_line_open = bool(above) and not above.endswith((b"\n", b"\r"))
    head = ("\n" if above else "") + ("\n" if is_line_open else "")
    is_apart = not below.strip() or below.startswith((b"\n", b"\r"))
    return at, f"{head}from __future__ import annotations\n" + ("" if is_apart else "\n")


def indent_of_lines(source: Source, body: Node) -> str:
    """What the lines of a block begin with; empty if it stands on the line of its head."""
    start = body.named_children[0].start_byte if body.named_children else body.start_byte
    before = source.bytes[line_start(source, start) : start].decode("utf-8", "replace")
    return before if not before.strip() else ""


def _is_at_top(source: Source, end: int) -> bool:
    """Is a comment the head of its file: an interpreter, an encoding, or lines of their own with an empty line behind?"""
    return source.bytes[end : end + 1] in (b"", b"\n", b"\r", b"#") or source.bytes[:2] == b"#!"


def _is_string(statement: Node) -> bool:
    return statement.type == "expression_statement" and statement.named_children[0].type in (
        "string",
        "concatenated_string",
    )


def _is_dunder(source: Source, statement: Node) -> bool:
    """`__all__ = …`, `__version__ = …` between imports."""
    return statement.type == "expression_statement" and source.text(statement).startswith("__")


def checkers_block(source: Source) -> Node | None:
    """The body of the first `if TYPE_CHECKING:` at the top of a file."""
    for statement in source.tree.root_node.named_children:
        if is_for_checkers(source, statement):
            return statement.child_by_field_name("consequence")
    return None


def is_for_checkers(source: Source, statement: Node) -> bool:
    """Is it an `if TYPE_CHECKING:`?"""
    condition = statement.child_by_field_name("condition") if statement.type == "if_statement" else None
    return condition is not None and source.text(condition).endswith("TYPE_CHECKING")


def named_imports(statement: Node) -> Iterator[Node]:
    """The names (with their aliases) of an import statement."""
    yield from statement.children_by_field_name("name")


_IMPORTS = frozenset({"import_statement", "import_from_statement", "future_import_statement"})
