"""`textDocument/implementation`: the other declarations of the name's family, that is a method's overrides, and of a class
its subclasses."""

from __future__ import annotations

from lsprotocol import types

from lsptools.faces.lsp_requests import SLOW, Request
from lsptools.faces.lsp_view import Views
from lsptools.search.hierarchy import subtypes


def implementation(views: Views, params: types.ImplementationParams) -> list[types.Location]:
    view = views.of(params.text_document.uri)
    place = view.place(params.text_document.uri, params.position)
    target = view.finder.target(place)
    found = view.finder.account(target, only_python=True).references
    if found.symbol.kind == "class":
        return [view.location(cls.source.path, cls.name_span) for cls in subtypes(view.finder, target)]
    return [
        view.location(symbol.path, symbol.span)
        for symbol in found.declarations
        if symbol.kind not in ("builtin", "module")
    ]


REQUESTS = (
    Request(
        types.TEXT_DOCUMENT_IMPLEMENTATION,
        "implementation",
        implementation,
        lane=SLOW,
        capabilities=lambda _client: {"implementation_provider": True},
        if_nothing_there=list,
    ),
)
