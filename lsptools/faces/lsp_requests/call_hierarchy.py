"""`textDocument/prepareCallHierarchy`, `callHierarchy/incomingCalls` and `outgoingCalls`: who calls, and what is called.

An item is a function, method or class, or the module whose own code calls. Calls that are certain or likely count.
"""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from lsptools.errors import BadRequest
from lsptools.faces.lsp_requests import QUICK, SLOW, Request, null
from lsptools.faces.lsp_requests.document_symbol import KINDS
from lsptools.faces.lsp_view import View, Views
from lsptools.languages.names import Evidence, FilePosition, Symbol
from lsptools.languages.python.references import Target
from lsptools.languages.python.scopes import Source
from lsptools.syntax.outline import Item, flat, outline
from lsptools.syntax.tree import Node
from lsptools.text.lines import Offset, Span

CALLABLE = frozenset({"function", "method", "class"})


def prepare(views: Views, params: types.CallHierarchyPrepareParams) -> list[types.CallHierarchyItem]:
    view = views.of(params.text_document.uri)
    place = view.place(params.text_document.uri, params.position)
    items = [_item(view, symbol) for symbol in _symbols(view, view.finder.target(place))]
    found = [item for item in items if item is not None]
    if not found:
        raise BadRequest("not_a_symbol", "nothing that can be called stands here")
    return found


def incoming(
    views: Views, params: types.CallHierarchyIncomingCallsParams
) -> list[types.CallHierarchyIncomingCall]:
    view = views.of(params.item.uri)
    target = _target(view, params.item)
    calls: dict[tuple[str, Span], list[types.Range]] = {}
    callers: dict[tuple[str, Span], types.CallHierarchyItem] = {}
    for each in view.finder.account(target, only_python=True).references.occurrences:
        if each.role != "call" or each.evidence not in (Evidence.CERTAIN, Evidence.LIKELY):
            continue
        item = _around(view, each.path, each.span.start)
        key = (each.path, item.name_span if item is not None else Span(Offset(0), Offset(0)))
        callers.setdefault(key, _caller(view, each.path, item))
        calls.setdefault(key, []).append(view.range(each.path, each.span))
    return [types.CallHierarchyIncomingCall(callers[key], ranges) for key, ranges in calls.items()]


def outgoing(
    views: Views, params: types.CallHierarchyOutgoingCallsParams
) -> list[types.CallHierarchyOutgoingCall]:
    view = views.of(params.item.uri)
    name = view.name(params.item.uri)
    source = view.finder.project.source(name)
    if source is None:
        raise BadRequest("not_found", f"{name} cannot be read")
    start, end = (
        source.byte(view.offset(params.item.uri, at))
        for at in (params.item.range.start, params.item.range.end)
    )
    calls: dict[Symbol, list[types.Range]] = {}
    for leaf in _callees(source, start, end):
        for symbol in _called(view, source, leaf):
            span = source.span(leaf.start_byte, leaf.end_byte)
            calls.setdefault(symbol, []).append(view.range(name, span))
    found = ((_item(view, symbol), ranges) for symbol, ranges in calls.items())
    return [types.CallHierarchyOutgoingCall(item, ranges) for item, ranges in found if item is not None]


# ---------------------------------------------------------------------------------------------------- callees


def _callees(source: Source, start: int, end: int) -> Iterator[Node]:
    """The last name of each expression that is called between two bytes, in order."""
    waiting = [source.tree.root_node]
    while waiting:
        node = waiting.pop()
        if node.end_byte <= start or node.start_byte >= end:
            continue
        waiting.extend(reversed(node.named_children))
        function = node.child_by_field_name("function") if node.type == "call" else None
        if function is not None and function.start_byte >= start:
            last = function.child_by_field_name("attribute") if function.type == "attribute" else function
            if last is not None and last.type == "identifier":
                yield last


def _called(view: View, source: Source, leaf: Node) -> Iterator[Symbol]:
    site = source.site_at(leaf.start_byte, leaf.end_byte, source.text(leaf))
    for root in sorted(view.finder.meanings.of(source, site).roots, key=lambda root: (root.path, root.start)):
        symbol = view.finder.symbol_of(root, site.spelling)
        if symbol.kind in CALLABLE:
            yield symbol


# ---------------------------------------------------------------------------------------------------- items


def _symbols(view: View, target: Target) -> list[Symbol]:
    roots = sorted(target.roots, key=lambda root: (root.path, root.start))
    return [view.finder.symbol_of(root, target.name) for root in roots]


def _target(view: View, item: types.CallHierarchyItem) -> Target:
    at = view.offset(item.uri, item.selection_range.start)
    return view.finder.target(FilePosition(view.name(item.uri), at))


def _item(view: View, symbol: Symbol) -> types.CallHierarchyItem | None:
    if symbol.kind not in CALLABLE:
        return None
    defined = (item for item in _items(view, symbol.path) if item.name_span == symbol.span)
    item = next(defined, None)
    return types.CallHierarchyItem(
        name=symbol.name,
        kind=KINDS[symbol.kind],
        uri=view.uri(symbol.path),
        range=view.range(symbol.path, item.span if item is not None else symbol.span),
        selection_range=view.range(symbol.path, symbol.span),
        detail=symbol.qualified,
    )


def _caller(view: View, name: str, item: Item | None) -> types.CallHierarchyItem:
    """What a call stands in; outside of all functions that is the module."""
    start = Span(Offset(0), Offset(0))
    dotted = view.finder.project.dotted_name(name)
    return types.CallHierarchyItem(
        name=item.name if item is not None else dotted,
        kind=KINDS[item.kind] if item is not None else types.SymbolKind.Module,
        uri=view.uri(name),
        range=view.range(name, item.span if item is not None else start),
        selection_range=view.range(name, item.name_span if item is not None else start),
        detail=dotted,
    )


def _around(view: View, name: str, at: Offset) -> Item | None:
    """The innermost function or class around a place."""
    holding = [item for item in _items(view, name) if item.kind in CALLABLE and item.span.contains(at)]
    return min(holding, key=lambda item: item.span.length, default=None)


def _items(view: View, name: str) -> list[Item]:
    known = view.outlines.get(name)
    if known is None:
        source = view.finder.project.source(name)
        items = outline(source.document) if source is not None else ()
        known = view.outlines[name] = [item for _, item in flat(items)]
    return known


REQUESTS = (
    Request(
        types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY,
        "callHierarchy",
        prepare,
        lane=QUICK,
        capabilities=lambda _client: {"call_hierarchy_provider": True},
        if_nothing_there=null,
    ),
    Request(types.CALL_HIERARCHY_INCOMING_CALLS, "callHierarchy", incoming, lane=SLOW, if_nothing_there=null),
    Request(types.CALL_HIERARCHY_OUTGOING_CALLS, "callHierarchy", outgoing, if_nothing_there=null),
)
