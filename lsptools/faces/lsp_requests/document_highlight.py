"""`textDocument/documentHighlight`: the symbol's places in this file, read or written."""

from __future__ import annotations

from lsprotocol import types

from lsptools.faces.lsp_requests import Request
from lsptools.faces.lsp_view import Views
from lsptools.languages.python.facts import Wanted, facts_of
from lsptools.text.lines import Span

WRITING = frozenset({"definition", "write", "declaration", "parameter", "import"})


def document_highlight(views: Views, params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
    view = views.of(params.text_document.uri)
    place = view.place(params.text_document.uri, params.position)
    target = view.finder.target(place)
    spelled = {root.name for root in target.roots if root.kind == "member"} - {target.name}
    wanted = Wanted(target.name, tuple(sorted(spelled)), members=False, keywords_only_outside=None)
    here = view.uri(place.path, Span(place.offset, place.offset))  # in a notebook, this cell
    found = facts_of(view.finder.meanings, target.source, wanted).facts
    return [
        types.DocumentHighlight(
            view.range(place.path, each.span),
            types.DocumentHighlightKind.Write if each.shown in WRITING else types.DocumentHighlightKind.Read,
        )
        for each in found
        if each.meaning.roots & target.roots and view.uri(place.path, each.span) == here
    ]


REQUESTS = (
    Request(
        types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT,
        "documentHighlight",
        document_highlight,
        in_cells=True,
        capabilities=lambda _client: {"document_highlight_provider": True},
        if_nothing_there=list,
    ),
)
