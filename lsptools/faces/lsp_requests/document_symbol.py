"""`textDocument/documentSymbol`: what a file defines, nested."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol import types

from lsptools.faces.lsp_requests import Request
from lsptools.faces.lsp_view import View, Views
from lsptools.languages.python.candidates import PYTHON_SUFFIXES
from lsptools.syntax.outline import Item, outline

KINDS = {
    "class": types.SymbolKind.Class,
    "function": types.SymbolKind.Function,
    "method": types.SymbolKind.Method,
    "attribute": types.SymbolKind.Field,
    "variable": types.SymbolKind.Variable,
    "type": types.SymbolKind.TypeParameter,
}


def document_symbol(
    views: Views, params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
    view, uri = views.of(params.text_document.uri), params.text_document.uri
    name = view.name(uri)
    items = outline(view.snapshot.document(name)) if name.endswith(PYTHON_SUFFIXES) else ()
    if views.client.nested_symbols:
        return [_nested(view, name, item) for item in items]
    return list(_flat(view, name, items, None))


def _nested(view: View, name: str, item: Item) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=item.name,
        kind=KINDS[item.kind],
        range=view.range(name, item.span),
        selection_range=view.range(name, item.name_span),
        detail=item.signature,
        children=[_nested(view, name, child) for child in item.children],
    )


def _flat(
    view: View, name: str, items: Sequence[Item], inside: str | None
) -> Iterator[types.SymbolInformation]:
    for item in items:
        yield types.SymbolInformation(
            location=view.location(name, item.span),
            name=item.name,
            kind=KINDS[item.kind],
            container_name=inside,
        )
        yield from _flat(view, name, item.children, item.name)


REQUESTS = (
    Request(
        types.TEXT_DOCUMENT_DOCUMENT_SYMBOL,
        "documentSymbol",
        document_symbol,
        capabilities=lambda _client: {"document_symbol_provider": True},
        if_nothing_there=list,
    ),
)
