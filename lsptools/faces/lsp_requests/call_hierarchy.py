"""`textDocument/prepareCallHierarchy`, `callHierarchy/incomingCalls` and `outgoingCalls`: who calls, and what is called.

An item is a function, method or class, or the module whose own code calls. Calls that are certain or likely count.
"""

from __future__ import annotations

from lsprotocol import types

from lsptools.errors import BadRequest
from lsptools.faces.lsp_requests import QUICK, SLOW, Request, null
from lsptools.faces.lsp_requests.document_symbol import KINDS
from lsptools.faces.lsp_view import View, Views
from lsptools.languages.names import Evidence, FilePosition, Symbol
from lsptools.languages.python.callables import callee_at
from lsptools.languages.python.meaning import by_place
from lsptools.languages.python.references import Target
from lsptools.languages.python.uses import CALLING, Use
from lsptools.search.calls import Caller, callers_of, calls_between
from lsptools.search.definitions import CALLABLE


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
    at = view.offset(params.item.uri, params.item.selection_range.start)
    callee = callee_at(view.finder, FilePosition(view.name(params.item.uri), at))
    found = []
    for caller in callers_of(view.finder, callee, only_python=True).callers:
        by_document: dict[str, list[types.Range]] = {}
        for use in (each for each in caller.uses if _counts(each)):
            ranges = by_document.setdefault(view.uri(use.path, use.span), [])
            ranges.append(view.range(use.path, use.span))
        for uri, ranges in by_document.items():
            item = _caller(view, caller)
            if item.uri != uri:  # the module that a notebook is calls from several cells
                item.uri, item.range, item.selection_range = uri, ranges[0], ranges[0]
            found.append(types.CallHierarchyIncomingCall(item, ranges))
    return found


def _counts(use: Use) -> bool:
    return use.kind in CALLING and use.evidence in (Evidence.CERTAIN, Evidence.LIKELY)


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
    for call in calls_between(view.finder, source, start, end):
        for symbol in call.symbols:
            calls.setdefault(symbol, []).append(view.range(name, call.span))
    found = ((_item(view, symbol), ranges) for symbol, ranges in calls.items())
    return [types.CallHierarchyOutgoingCall(item, ranges) for item, ranges in found if item is not None]


# ---------------------------------------------------------------------------------------------------- items


def _symbols(view: View, target: Target) -> list[Symbol]:
    roots = sorted(target.roots, key=by_place)
    return [view.finder.symbol_of(root, target.name) for root in roots]


def _item(view: View, symbol: Symbol) -> types.CallHierarchyItem | None:
    if symbol.kind not in CALLABLE:
        return None
    item = view.definitions.named_at(symbol.path, symbol.span)
    return types.CallHierarchyItem(
        name=symbol.name,
        kind=KINDS[symbol.kind],
        uri=view.uri(symbol.path, symbol.span),
        range=view.range(symbol.path, item.span if item is not None else symbol.span),
        selection_range=view.range(symbol.path, symbol.span),
        detail=symbol.qualified,
    )


def _caller(view: View, caller: Caller) -> types.CallHierarchyItem:
    """What a call stands in; outside of all functions that is the module."""
    symbol = caller.symbol
    is_module = symbol.kind not in CALLABLE
    return types.CallHierarchyItem(
        name=symbol.qualified if is_module else symbol.name,
        kind=types.SymbolKind.Module if is_module else KINDS[symbol.kind],
        uri=view.uri(symbol.path, symbol.span),
        range=view.range(symbol.path, caller.span),
        selection_range=view.range(symbol.path, symbol.span),
        detail=view.finder.project.dotted_name(symbol.path),
    )


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
