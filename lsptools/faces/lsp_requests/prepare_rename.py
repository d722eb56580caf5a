"""`textDocument/prepareRename`: the name that would be renamed, or the reason why it cannot be."""

from __future__ import annotations

from collections.abc import Mapping

from lsprotocol import types

from lsptools.errors import Refused
from lsptools.faces.lsp_client import Client
from lsptools.faces.lsp_requests import Request
from lsptools.faces.lsp_view import Views


def prepare_rename(views: Views, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder:
    view = views.of(params.text_document.uri)
    view.check_writable(params.text_document.uri)
    place = view.place(params.text_document.uri, params.position)
    target = view.finder.target(place)
    symbols = [view.finder.symbol_of(root, target.name) for root in target.roots]
    foreign = [s for s in symbols if s.kind == "builtin" or view.finder.project.is_external(s.path)]
    if foreign:
        raise Refused(
            "library_symbol",
            f"`{target.name}` belongs to a library or to the language: {foreign[0].qualified}",
        )
    span = target.source.span(target.site.start, target.site.end)
    return types.PrepareRenamePlaceholder(view.range(place.path, span), target.name)


def _capabilities(client: Client) -> Mapping[str, object]:
    options = types.RenameOptions(prepare_provider=True, work_done_progress=True)
    return {"rename_provider": options if client.prepares_rename else True}


REQUESTS = (
    Request(
        types.TEXT_DOCUMENT_PREPARE_RENAME,
        "rename",
        prepare_rename,
        in_cells=True,
        capabilities=_capabilities,
    ),
)
