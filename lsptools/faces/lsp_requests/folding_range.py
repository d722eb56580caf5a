"""`textDocument/foldingRange`: blocks, brackets, strings, comments and imports that take several lines."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from lsptools.faces.lsp_requests import Request
from lsptools.faces.lsp_view import View, Views
from lsptools.languages.python.candidates import PYTHON_SUFFIXES
from lsptools.syntax.tree import Node, parse
from lsptools.text.lines import ByteOffset, Lines

BLOCKS = frozenset(
    {
        *("function_definition", "class_definition", "if_statement", "elif_clause", "else_clause"),
        *("for_statement", "while_statement", "with_statement", "try_statement", "except_clause"),
        *("finally_clause", "match_statement", "case_clause"),
    }
)
BRACKETS = frozenset(
    {
        *("list", "dictionary", "set", "tuple", "argument_list", "parameters", "parenthesized_expression"),
        *("list_comprehension", "dictionary_comprehension", "set_comprehension", "generator_expression"),
        *("string", "concatenated_string", "import_from_statement", "subscript"),
    }
)


def folding_range(views: Views, params: types.FoldingRangeParams) -> list[types.FoldingRange]:
    view = views.of(params.text_document.uri)
    name = view.name(params.text_document.uri)
    if not name.endswith(PYTHON_SUFFIXES):
        return []
    return _sorted(view, name)


def _sorted(view: View, name: str) -> list[types.FoldingRange]:
    document = view.snapshot.document(name)
    root = parse(document.utf8).root_node
    found: dict[int, tuple[int, types.FoldingRangeKind | None]] = {}
    ranges = [*_blocks(root, document.lines), *_runs(root, document.lines)]
    for start, end, kind in ranges:
        if end > start and (start not in found or found[start][0] < end):
            found[start] = (end, kind)
    return [
        types.FoldingRange(start_line=start, end_line=end, kind=kind)
        for start, (end, kind) in sorted(found.items())
    ]


def _lines_of(node: Node, lines: Lines) -> tuple[int, int]:
    first, last = (
        lines.line_of(lines.offset_from_byte(ByteOffset(at)))
        for at in (node.start_byte, max(node.start_byte, node.end_byte - 1))
    )
    return first, last


def _blocks(root: Node, lines: Lines) -> Iterator[tuple[int, int, types.FoldingRangeKind | None]]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        waiting.extend(node.named_children)
        if node.type in BLOCKS:
            body = node.child_by_field_name("body") or node.child_by_field_name("consequence")
            yield _lines_of(node, lines)[0], _lines_of(body or node, lines)[1], None
        elif node.type in BRACKETS:
            yield *_lines_of(node, lines), None


def _runs(root: Node, lines: Lines) -> Iterator[tuple[int, int, types.FoldingRangeKind | None]]:
    """Comments on lines of their own, and imports, that follow each other."""
    kinds = {
        "comment": types.FoldingRangeKind.Comment,
        "import_statement": types.FoldingRangeKind.Imports,
        "import_from_statement": types.FoldingRangeKind.Imports,
    }
    run: tuple[int, int, types.FoldingRangeKind] | None = None
    for node in root.named_children:
        kind = kinds.get(node.type)
        first, last = _lines_of(node, lines)
        if run is not None and kind is run[2] and first <= run[1] + 1:
            run = (run[0], last, run[2])
            continue
        if run is not None:
            yield run
        run = (first, last, kind) if kind is not None else None
    if run is not None:
        yield run


REQUESTS = (
    Request(
        types.TEXT_DOCUMENT_FOLDING_RANGE,
        "foldingRange",
        folding_range,
        capabilities=lambda _client: {"folding_range_provider": True},
        if_nothing_there=list,
    ),
)
