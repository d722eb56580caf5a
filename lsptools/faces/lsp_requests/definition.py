"""`textDocument/definition` and `declaration`: where what stands here is declared; libraries and builtins included where
they have a source."""

from __future__ import annotations

from lsprotocol import types

from lsptools.faces.lsp_requests import Request
from lsptools.faces.lsp_view import View, Views
from lsptools.languages.names import Symbol
from lsptools.languages.python.meaning import by_place


def definition(
    views: Views, params: types.DefinitionParams
) -> list[types.Location] | list[types.LocationLink]:
    view = views.of(params.text_document.uri)
    place = view.place(params.text_document.uri, params.position)
    target = view.finder.target(place)
    roots = sorted(target.roots, key=by_place)
    symbols = [view.finder.symbol_of(root, target.name) for root in roots if root.kind != "builtin"]
    if not views.client.location_links:
        return [_location(view, symbol) for symbol in symbols]
    origin = view.range(place.path, target.source.span(target.site.start, target.site.end))
    return [
        types.LocationLink(
            target_uri=location.uri,
            target_range=location.range,
            target_selection_range=location.range,
            origin_selection_range=origin,
        )
        for location in (_location(view, symbol) for symbol in symbols)
    ]


def _location(view: View, symbol: Symbol) -> types.Location:
    return view.location(file_of(view, symbol), symbol.span)


def file_of(view: View, symbol: Symbol) -> str:
    """The file of a symbol; of a namespace package, which has none, the first file of its folder."""
    if symbol.kind != "module" or not view.snapshot.is_dir(symbol.path):
        return symbol.path
    inside = (f"{symbol.path}/{name}" for name in view.snapshot.list_dir(symbol.path))
    return next((path for path in inside if path.endswith((".py", ".pyi"))), symbol.path)


REQUESTS = (
    Request(
        types.TEXT_DOCUMENT_DEFINITION,
        "definition",
        definition,
        in_cells=True,
        capabilities=lambda _client: {"definition_provider": True},
        if_nothing_there=list,
    ),
    Request(
        types.TEXT_DOCUMENT_DECLARATION,
        "declaration",
        definition,
        in_cells=True,
        capabilities=lambda _client: {"declaration_provider": True},
        if_nothing_there=list,
    ),
)
