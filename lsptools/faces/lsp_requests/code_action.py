"""`textDocument/codeAction` and `codeAction/resolve`: the refactorings that can be had where the cursor or the selection is.

| kind | what it does |
|---|---|
| `refactor.extract.variable` | names the selected expression |
| `refactor.extract.function` | makes a function of the selected statements or expression |
| `refactor.inline.variable` | puts the value of the local variable where it is read |
| `refactor.move.file` | names the file after the one public class or function in it |
| `refactor.move.symbol` | moves a definition to a module that imports it |

Each has been planned before it is offered, and is left out where its plan is refused; a client that shows disabled actions and asks
for refactorings by kind gets the reason instead. The edit is made in `codeAction/resolve` if the client resolves edits. What is
offered for one text is not made for another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lsprotocol import types

from lsptools.errors import ToolError
from lsptools.faces.lsp_client import Client
from lsptools.faces.lsp_edits import say_encodings, workspace_edit
from lsptools.faces.lsp_errors import CONTENT_MODIFIED, INVALID_PARAMS, Rejected
from lsptools.faces.lsp_refactorings import REFACTORINGS, Offer, Refactoring
from lsptools.faces.lsp_requests import SLOW, Request
from lsptools.faces.lsp_view import View, Views
from lsptools.text.lines import Span


def code_action(views: Views, params: types.CodeActionParams) -> list[types.CodeAction]:
    view, uri = views.of(params.text_document.uri), params.text_document.uri
    if not view.folder.writable:
        return []
    start, end = (view.offset(uri, at) for at in (params.range.start, params.range.end))
    span = Span(min(start, end), max(start, end))
    return [
        action
        for refactoring in _wanted(params.context, span)
        for action in _actions(view, refactoring, span, params)
    ]


def _wanted(context: types.CodeActionContext, span: Span) -> Iterator[Refactoring]:
    """Those of the kinds that are asked for."""
    for refactoring in REFACTORINGS:
        if refactoring.of_selection and not span.length:
            continue
        if refactoring.thorough and context.trigger_kind is types.CodeActionTriggerKind.Automatic:
            continue
        if context.only is None or any(_is_below(refactoring.kind, kind) for kind in context.only):
            yield refactoring


def _is_below(kind: str, wanted: types.CodeActionKind | str) -> bool:
    name = str(getattr(wanted, "value", wanted))
    return not name or kind == name or kind.startswith(f"{name}.")


def _actions(
    view: View, refactoring: Refactoring, span: Span, params: types.CodeActionParams
) -> Iterator[types.CodeAction]:
    name = view.name(params.text_document.uri)
    try:
        for offer in refactoring.offers(view, name, span):
            action = types.CodeAction(offer.title, kind=refactoring.kind)
            if view.client.resolves_edits:
                action.data = _data(view, params, refactoring, offer)
            else:
                action.edit = workspace_edit(view, refactoring.change(view, name, span, offer.choice))
            yield action
    except (ToolError, Rejected) as error:
        if view.client.shows_disabled and params.context.only:
            title = " ".join(refactoring.kind.split(".")[1:]).capitalize()
            reason = types.CodeActionDisabled(error.message)
            yield types.CodeAction(title, kind=refactoring.kind, disabled=reason)


def _data(
    view: View, params: types.CodeActionParams, refactoring: Refactoring, offer: Offer
) -> dict[str, object]:
    uri, start, end = params.text_document.uri, params.range.start, params.range.end
    return {
        "uri": uri,
        "digest": view.document(uri).digest,
        "kind": refactoring.kind,
        "choice": offer.choice,
        "range": [start.line, start.character, end.line, end.character],
    }


def resolve(views: Views, action: types.CodeAction) -> types.CodeAction:
    """The action with its edit."""
    data = action.data if isinstance(action.data, Mapping) else {}
    refactoring = next((each for each in REFACTORINGS if each.kind == data.get("kind")), None)
    uri, choice, span = data.get("uri"), data.get("choice"), _range(data.get("range"))
    if refactoring is None or span is None or not isinstance(uri, str) or not isinstance(choice, str):
        raise Rejected(INVALID_PARAMS, "`data` is that of an action of this server")
    view = views.of(uri)
    if view.document(uri).digest != data.get("digest"):
        raise Rejected(CONTENT_MODIFIED, "the text was changed since the action was offered")
    start, end = (view.offset(uri, place) for place in (span.start, span.end))
    change = refactoring.change(view, view.name(uri), Span(min(start, end), max(start, end)), choice)
    say_encodings(views, view, change)
    action.edit = workspace_edit(view, change)
    return action


def _range(numbers: object) -> types.Range | None:
    """The range of `data`; None if it is none."""
    if not isinstance(numbers, (list, tuple)) or len(numbers) != 4:
        return None
    if not all(type(each) is int and 0 <= each < 1 << 31 for each in numbers):
        return None
    line, character, end_line, end_character = numbers
    return types.Range(types.Position(line, character), types.Position(end_line, end_character))


def _capabilities(client: Client) -> Mapping[str, object]:
    if not client.code_action_literals:
        return {}
    kinds = dict.fromkeys(".".join(each.kind.split(".")[:2]) for each in REFACTORINGS)
    options = types.CodeActionOptions(
        code_action_kinds=[types.CodeActionKind(kind) for kind in kinds],
        resolve_provider=client.resolves_edits,
        work_done_progress=False,
    )
    return {"code_action_provider": options}


REQUESTS = (
    Request(
        types.TEXT_DOCUMENT_CODE_ACTION,
        "codeAction",
        code_action,
        lane=SLOW,
        capabilities=_capabilities,
        if_nothing_there=list,
    ),
    Request(types.CODE_ACTION_RESOLVE, "codeAction", resolve, lane=SLOW, about_everything=True),
)
