"""`textDocument/selectionRange`: from a position outwards through the syntax, each step wider than the one before."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from lsptools.faces.lsp_requests import Request
from lsptools.faces.lsp_view import Views, range_of
from lsptools.syntax.tree import Node, Tree, parse
from lsptools.text.document import Document
from lsptools.text.lines import ByteOffset, Offset, Span


def selection_range(views: Views, params: types.SelectionRangeParams) -> list[types.SelectionRange]:
    view, uri = views.of(params.text_document.uri), params.text_document.uri
    document = view.document(uri)
    tree = parse(document.utf8)
    chains = (_spans(document, tree, view.offset(uri, position)) for position in params.positions)
    return [_nested(views, document, list(chain)) for chain in chains]


def _spans(document: Document, tree: Tree, at: Offset) -> Iterator[Span]:
    """Inner ones first; the position itself is the first of all."""
    last = Span(at, at)
    yield last
    byte = document.lines.byte_from_offset(at)
    node: Node | None = tree.root_node.descendant_for_byte_range(byte, byte)
    while node is not None:
        start, end = (
            document.lines.offset_from_byte(ByteOffset(place)) for place in (node.start_byte, node.end_byte)
        )
        span = Span(start, end)
        if span.start <= last.start and last.end <= span.end and span != last:
            last = span
            yield span
        node = node.parent
    whole = Span(Offset(0), Offset(len(document.text)))
    if whole != last:
        yield whole


def _nested(views: Views, document: Document, spans: list[Span]) -> types.SelectionRange:
    inner: types.SelectionRange | None = None
    for span in reversed(spans):
        inner = types.SelectionRange(range_of(document.lines, span, views.client), parent=inner)
    assert inner is not None, "there is always the position itself"
    return inner


REQUESTS = (
    Request(
        types.TEXT_DOCUMENT_SELECTION_RANGE,
        "selectionRange",
        selection_range,
        capabilities=lambda _client: {"selection_range_provider": True},
        if_nothing_there=list,
    ),
)
