"""`textDocument/rename`: planned, checked and proved before the editor sees an edit.

What is certain or likely is edited; what may be the symbol is edited only where the user confirms it, if the client can
ask, and is left and told otherwise. Names that cannot be, clashes and captures are refused with every place.
"""

from __future__ import annotations

from lsprotocol import types

from lsptools.errors import Refused
from lsptools.faces.lsp_edits import Doubt, say_encodings, workspace_edit
from lsptools.faces.lsp_requests import SLOW, Request
from lsptools.faces.lsp_view import View, Views
from lsptools.languages.names import Evidence, FilePosition, Occurrence
from lsptools.refactor.rename import INCLUDE, SKIP, Policy, RenamePlan, plan_rename

LISTED = 10
"""So many places are told by name."""


def rename(views: Views, params: types.RenameParams) -> types.WorkspaceEdit:
    view = views.of(params.text_document.uri)
    view.check_writable(params.text_document.uri)
    place = view.place(params.text_document.uri, params.position)
    plan = plan_rename(view.snapshot, place, params.new_name, Policy(possible=SKIP))
    possible = [o for o in plan.references.occurrences if o.evidence is Evidence.POSSIBLE]
    say_encodings(views, view, plan.change)
    if not possible:
        return workspace_edit(view, plan.change)
    name = f"`{plan.symbol.qualified}`"
    wider = _with_possible(view, place, params.new_name)
    if wider is None:
        views.say(f"not renamed, since they may or may not be {name}: {_listed(view, possible)}")
        return workspace_edit(view, plan.change)
    views.note(f"to be confirmed, since they may or may not be {name}: {_listed(view, possible)}")
    reasons = {(o.path, o.span): o.reason for o in possible}
    return workspace_edit(view, wider.change, Doubt(f"May be {name}", reasons))


def _with_possible(view: View, place: FilePosition, new_name: str) -> RenamePlan | None:
    """The plan with the possible places in it, if the user can be asked about them and the plan holds."""
    if not (view.client.annotations and view.client.document_changes):
        return None
    try:
        return plan_rename(view.snapshot, place, new_name, Policy(possible=INCLUDE))
    except Refused:
        return None


def _listed(view: View, possible: list[Occurrence]) -> str:
    """The places, each with what is known of it."""
    places = []
    for occurrence in possible[:LISTED]:
        at = view.lines(occurrence.path).user_from_offset(occurrence.span.start)
        places.append(f"{occurrence.path}:{at} ({occurrence.reason})")
    more = f" and {len(possible) - LISTED} more" if len(possible) > LISTED else ""
    return "; ".join(places) + more


REQUESTS = (
    Request(types.TEXT_DOCUMENT_RENAME, "rename", rename, lane=SLOW, in_cells=True, about_everything=True),
)
