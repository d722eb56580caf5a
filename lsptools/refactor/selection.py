"""What a caller selected in a Python file: an expression, or statements that follow each other.

Units: bytes of the UTF-8 source inside, code points in what callers give and get. A selection may have blanks around it. Comments
at its edges stay where they are if they do not stand among the statements.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterator
from dataclasses import dataclass

from lsptools.errors import BadRequest, Refused
from lsptools.languages.python.candidates import PYTHON_SUFFIXES
from lsptools.languages.python.modules import Project
from lsptools.languages.python.roles import BINDING, DECLARING, Role
from lsptools.languages.python.scopes import Scope, Source
from lsptools.refactor.places import line_end, line_start, place_of
from lsptools.syntax.tree import Node, first_error, parse
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Span
from lsptools.workspace.change import Change, FileEdits

EXPRESSIONS = frozenset(
    {
        *("identifier", "attribute", "subscript", "call", "await", "binary_operator", "unary_operator"),
        *("not_operator", "boolean_operator", "comparison_operator", "conditional_expression", "lambda"),
        *("integer", "float", "string", "concatenated_string", "true", "false", "none", "ellipsis"),
        *("list", "tuple", "set", "dictionary", "parenthesized_expression", "expression_list"),
        *("list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"),
        *("named_expression", "yield"),
    }
)
BLOCKS = ("block", "module")
_BLANKS = b" \t\f\r\n"
_SEES_LOCALS = ("locals", "vars", "eval", "exec", "dir")


@dataclass(frozen=True, slots=True)
class Selection:
    """A region of a source, without blanks around it. Bytes."""

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        return text_between(self.source, self.start, self.end)


def selection_of(project: Project, path: str, span: Span) -> Selection:
    """What is selected; `invalid` if that is nothing, `syntax` if the file does not parse."""
    source = source_of(project, path)
    start, end = source.byte(span.start), source.byte(span.end)
    inside = source.bytes[start:end]
    start += len(inside) - len(inside.lstrip(_BLANKS))
    end -= len(inside) - len(inside.rstrip(_BLANKS))
    if start >= end:
        raise BadRequest("invalid", "nothing is selected", hint="select an expression or whole statements")
    return Selection(source, start, end)


def source_of(project: Project, path: str) -> Source:
    """A file of the workspace that parses as a whole."""
    source = project.source(path) if path.endswith(PYTHON_SUFFIXES) else None
    if source is None or source.external:
        raise BadRequest("invalid", f"{path} is no Python file of the workspace")
    if first_error(source.tree) is not None:
        raise Refused("syntax", f"{path} does not parse", hint="mend it first")
    return source


def expression_of(selection: Selection) -> Node:
    """The expression that is selected exactly; `invalid` if none is."""
    source = selection.source
    node = source.tree.root_node.named_descendant_for_byte_range(selection.start, selection.end)
    found: Node | None = None
    while node is not None and (node.start_byte, node.end_byte) == (selection.start, selection.end):
        found = node if node.type in EXPRESSIONS else found
        node = node.parent
    if found is None or _is_name_only(found):
        raise BadRequest(
            "invalid", "the selection is not an expression", hint="select an expression as a whole"
        )
    return found


def _is_name_only(node: Node) -> bool:
    """A name that is not read, or a part of what is no expression by itself."""
    above = node.parent
    if above is None:
        return True
    if node.type == "identifier":
        path_role = (
            above.child_by_field_name("name") == node or above.child_by_field_name("attribute") == node
        )
        return path_role or above.type in ("dotted_name", "parameters", "aliased_import")
    if node.type in ("string", "concatenated_string") and above.type == "concatenated_string":
        return True
    # `f(x for x in y)`: the brackets are those of the call.
    return above.type == "call" and above.child_by_field_name("arguments") == node


def statements_of(selection: Selection) -> list[Node]:
    """The statements that are selected exactly, comments between them included; `invalid` otherwise."""
    source = selection.source
    start, end = selection.start, selection.end
    while start < end:
        found = _run(source, start, end)
        if found:
            return found
        if source.bytes[start : start + 1] != b"#":
            break
        start = _after_line(source, start)
    raise BadRequest(
        "invalid", "the selection is not a run of whole statements", hint="select whole statements"
    )


def _run(source: Source, start: int, end: int) -> list[Node]:
    node = source.tree.root_node.descendant_for_byte_range(start, end)
    while node is not None and node.type not in BLOCKS:
        node = node.parent
    if node is None:
        return []
    inside = [child for child in node.named_children if child.start_byte < end and child.end_byte > start]
    while inside and inside[-1].type == "comment":
        inside.pop()
    while inside and inside[0].type == "comment" and inside[0].start_byte != start:
        inside.pop(0)
    if not inside or inside[0].start_byte != start:
        return []
    rest = source.bytes[inside[-1].end_byte : end]
    is_whole = inside[-1].end_byte <= end and all(
        not line.strip() or line.lstrip().startswith(b"#") for line in rest.splitlines()
    )
    return inside if is_whole else []


def _after_line(source: Source, at: int) -> int:
    end = line_end(source, at)
    rest = source.bytes[end:]
    return end + len(rest) - len(rest.lstrip(_BLANKS))


# ---------------------------------------------------------------------------------------------------- around it


def statement_of(node: Node) -> Node:
    """The statement that a node stands in: the nearest node whose parent is a block."""
    while node.parent is not None and node.parent.type not in BLOCKS:
        node = node.parent
    return node


def nodes_in(node: Node) -> Iterator[Node]:
    """The node and everything below it, in order."""
    waiting = [node]
    while waiting:
        here = waiting.pop()
        yield here
        waiting.extend(reversed(here.children))


def ancestors_of(node: Node) -> Iterator[Node]:
    """The nodes around a node, innermost first."""
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def indent_of(source: Source, statement: Node) -> str:
    """The blanks before a statement; `invalid` if something else stands before it on its line."""
    start = line_start(source, statement.start_byte)
    before = source.bytes[start : statement.start_byte]
    if before.strip(b" \t\f"):
        raise Refused(
            "invalid",
            "the statement is not the first on its line",
            hint="put it on a line of its own first",
            sites=(place_of(source, statement, "stands behind something else"),),
        )
    return before.decode("ascii")


def text_between(source: Source, start: int, end: int) -> str:
    """The text between two bytes."""
    span = source.span(start, end)
    return source.document.text[span.start : span.end]


def text_of(source: Source, node: Node) -> str:
    """A node as it is written."""
    return text_between(source, node.start_byte, node.end_byte)


# ---------------------------------------------------------------------------------------------------- names


def free_name(source: Source, wanted: str) -> str:
    """The wanted name or, with a number, one that nothing in the file binds or reads: it captures nothing."""
    number, name = 1, wanted
    while _is_taken(source, name):
        number += 1
        name = f"{wanted}_{number}"
    return name


def check_free(source: Source, name: str) -> None:
    """`name_clash` if a name that the caller chose means something in the file."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise Refused("invalid", f"{name!r} is no name", hint="choose an identifier")
    if _is_taken(source, name):
        raise Refused("name_clash", f"`{name}` means something in {source.path}", hint="choose another name")


def _is_taken(source: Source, name: str) -> bool:
    if keyword.iskeyword(name) or hasattr(builtins, name):
        return True
    taking = BINDING | DECLARING | {Role.READ}
    return any(site.role in taking for site in source.sites(name))


def check_plain_locals(source: Source, scope: Scope) -> None:
    """Refuse a function that looks at its local names by itself: one more or less would be seen."""
    function = scope.enclosing_function() or scope.module
    for name in _SEES_LOCALS:
        for site in source.sites(name):
            inside = site.scope.enclosing_function() or site.scope.module
            if site.role is Role.READ and inside is function:
                raise Refused(
                    "undecided",
                    f"`{name}` may look at the local names here",
                    sites=(place_of(source, site.leaf, "looks at names"),),
                )


# ---------------------------------------------------------------------------------------------------- the change


def change_of(source: Source, edits: list[tuple[int, int, str]], label: str) -> Change:
    """The change that replaces what is between bytes; a result that does not parse is refused."""
    made = Edits.of(TextEdit(source.span(start, end), text) for start, end, text in edits)
    after = made.apply(source.document.text)
    if first_error(parse(after.encode("utf-8", "surrogatepass"))) is not None:
        raise Refused("syntax", f"the file would not parse after: {label}")
    return Change(edits=(FileEdits(source.path, made, source.document.digest),), label=label)
