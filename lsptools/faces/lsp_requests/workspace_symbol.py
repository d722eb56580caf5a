"""`workspace/symbol`: definitions by name or a part of it, in all folders."""

from __future__ import annotations

from lsprotocol import types

from lsptools.errors import BadRequest
from lsptools.faces.lsp_requests import SLOW, Request
from lsptools.faces.lsp_requests.document_symbol import KINDS
from lsptools.faces.lsp_view import View, Views
from lsptools.search.symbols import symbols

LIMIT = 500
"""So many per folder, the nearest names first."""


def workspace_symbol(views: Views, params: types.WorkspaceSymbolParams) -> list[types.SymbolInformation]:
    query = params.query.strip()
    if not query:
        return []
    return [symbol for view in views.all() for symbol in _found(view, query)]


def _found(view: View, query: str) -> list[types.SymbolInformation]:
    try:
        found = symbols(view.snapshot, query).definitions[:LIMIT]
    except BadRequest:  # what is typed is no name
        return []
    return [
        types.SymbolInformation(
            location=view.location(each.path, each.item.name_span),
            name=each.item.name,
            kind=KINDS[each.item.kind],
            container_name=each.qualified.rpartition(".")[0] or each.path,
        )
        for each in found
    ]


REQUESTS = (
    Request(
        types.WORKSPACE_SYMBOL,
        "workspaceSymbol",
        workspace_symbol,
        lane=SLOW,
        in_parts=True,
        capabilities=lambda _client: {
            "workspace_symbol_provider": types.WorkspaceSymbolOptions(work_done_progress=True)
        },
    ),
)
