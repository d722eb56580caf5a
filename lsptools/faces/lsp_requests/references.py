"""`textDocument/references`: the places that are the symbol, certainly or likely.

What could be the symbol and cannot be known to be is not among them unless the setting `references.possible` (docs/editors.md) asks for it;
an editor's list has no room for evidence. That a search was incomplete is said in the log.
"""

from __future__ import annotations

from lsprotocol import types

from lsptools.faces.lsp_errors import log
from lsptools.faces.lsp_requests import SLOW, Request
from lsptools.faces.lsp_view import View, Views
from lsptools.languages.names import Evidence, References


def references(views: Views, params: types.ReferenceParams) -> list[types.Location]:
    view = views.of(params.text_document.uri)
    place = view.place(params.text_document.uri, params.position)
    possible = view.client.shows_possible
    found = view.finder.account(view.finder.target(place), only_python=not possible).references
    for because in found.incomplete_because:
        log.warning("references of %s are incomplete: %s", found.symbol.qualified, because)
    wanted = {Evidence.CERTAIN, Evidence.LIKELY, *([Evidence.POSSIBLE] if possible else [])}
    return _locations(view, found, wanted, declarations=params.context.include_declaration)


def _locations(
    view: View, found: References, wanted: set[Evidence], *, declarations: bool
) -> list[types.Location]:
    declared = {(symbol.path, symbol.span) for symbol in found.declarations}
    return [
        view.location(each.path, each.span)
        for each in found.occurrences
        if each.evidence in wanted and (declarations or (each.path, each.span) not in declared)
    ]


REQUESTS = (
    Request(
        types.TEXT_DOCUMENT_REFERENCES,
        "references",
        references,
        in_cells=True,
        lane=SLOW,
        in_parts=True,
        capabilities=lambda _client: {"references_provider": types.ReferenceOptions(work_done_progress=True)},
        if_nothing_there=list,
    ),
)
