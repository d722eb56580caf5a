"""`textDocument/codeAction` and `codeAction/resolve`: the refactorings that are safe where the cursor or the selection is.

| kind | title |
|---|---|
| `refactor.extract.variable` | Extract variable |
| `refactor.extract.function` | Extract function |
| `refactor.inline.variable` | Inline variable |
| `refactor.move.file` | Rename the file after its only definition |

Each has been planned before it is offered, and is left out where its plan is refused; a client that shows disabled actions and asks
for refactorings by kind gets the reason instead. The edit is made in `codeAction/resolve` if the client resolves edits. What is
offered for one version of a document is not made for another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lsprotocol import types

from lsptools.errors import ToolError
from lsptools.faces.lsp_client import Client
from lsptools.faces.lsp_edits import workspace_edit
from lsptools.faces.lsp_errors import CONTENT_MODIFIED, INVALID_PARAMS, Rejected
from lsptools.faces.lsp_requests import SLOW, Request
from lsptools.faces.lsp_view import View, Views
from lsptools.languages.names import FilePosition
from lsptools.refactor.extract_function import plan_extract_function
from lsptools.refactor.extract_variable import plan_extract_variable
from lsptools.refactor.file_of_symbol import file_name_for, plan_file_of_symbol
from lsptools.refactor.inline_variable import plan_inline_variable
from lsptools.refactor.rename import SKIP, Policy
from lsptools.text.lines import Span
from lsptools.workspace.change import Change


@dataclass(frozen=True, slots=True)
class Refactoring:
    """One of them: what an editor calls it, whether it can be had, and its change."""

    kind: str
    title: Callable[[View, str, Span], str]
    """Raises an error of ours where it cannot be had."""
    change: Callable[[View, str, Span], Change]
    of_selection: bool = False
    """Is it about what is selected, rather than about the name at a place?"""


def _extract_variable(view: View, name: str, span: Span) -> Change:
    return plan_extract_variable(view.finder.project, name, span)


def _extract_function(view: View, name: str, span: Span) -> Change:
    return plan_extract_function(view.finder.project, name, span)


def _inline_variable(view: View, name: str, span: Span) -> Change:
    return plan_inline_variable(view.finder.project, FilePosition(name, span.start))


def _file_title(view: View, name: str, span: Span) -> str:
    return f"Rename file to {file_name_for(view.finder.project, FilePosition(name, span.start))}.py"


def _file_change(view: View, name: str, span: Span) -> Change:
    at = FilePosition(name, span.start)
    return plan_file_of_symbol(view.snapshot, view.finder.project, at, Policy(possible=SKIP)).change


def _planned(plan: Callable[[View, str, Span], Change]) -> Callable[[View, str, Span], str]:
    """The title is what the plan calls itself: it concerns one file, and is made quickly."""

    def title(view: View, name: str, span: Span) -> str:
        label = plan(view, name, span).label
        return label[:1].upper() + label[1:]

    return title


REFACTORINGS: tuple[Refactoring, ...] = (
    Refactoring("refactor.extract.variable", _planned(_extract_variable), _extract_variable, of_selection=True),
    Refactoring("refactor.extract.function", _planned(_extract_function), _extract_function, of_selection=True),
    Refactoring("refactor.inline.variable", _planned(_inline_variable), _inline_variable),
    Refactoring("refactor.move.file", _file_title, _file_change),
)


def code_action(views: Views, params: types.CodeActionParams) -> list[types.CodeAction]:
    view, uri = views.of(params.text_document.uri), params.text_document.uri
    view.check_writable()
    name = view.name(uri)
    start, end = (view.offset(uri, at) for at in (params.range.start, params.range.end))
    span = Span(min(start, end), max(start, end))
    return list(_offered(view, name, span, params))


def _offered(
    view: View, name: str, span: Span, params: types.CodeActionParams
) -> Iterator[types.CodeAction]:
    wanted = params.context.only
    asked = params.context.trigger_kind is not types.CodeActionTriggerKind.Automatic
    for refactoring in REFACTORINGS:
        if wanted is not None and not any(_is_below(refactoring.kind, kind) for kind in wanted):
            continue
        if refactoring.of_selection and not span.length:
            continue
        try:
            title = refactoring.title(view, name, span)
            action = types.CodeAction(title, kind=refactoring.kind)
            if view.client.resolves_edits:
                action.data = _data(view, params, refactoring)
            else:
                action.edit = workspace_edit(view, refactoring.change(view, name, span))
            yield action
        except (ToolError, Rejected) as error:
            if view.client.shows_disabled and asked and wanted:
                yield _disabled(refactoring, str(error))


def _is_below(kind: str, wanted: str) -> bool:
    wanted = str(getattr(wanted, "value", wanted))
    return not wanted or kind == wanted or kind.startswith(f"{wanted}.")


def _disabled(refactoring: Refactoring, reason: str) -> types.CodeAction:
    words = refactoring.kind.split(".")[1:]
    title = " ".join(words).capitalize()
    return types.CodeAction(title, kind=refactoring.kind, disabled=types.CodeActionDisabled(reason))


def _data(view: View, params: types.CodeActionParams, refactoring: Refactoring) -> dict[str, object]:
    uri, span = params.text_document.uri, params.range
    return {
        "uri": uri,
        "digest": view.document(uri).digest,
        "kind": refactoring.kind,
        "range": [span.start.line, span.start.character, span.end.line, span.end.character],
    }


def resolve(views: Views, action: types.CodeAction) -> types.CodeAction:
    """The action with its edit."""
    data = action.data
    if not isinstance(data, Mapping):
        raise Rejected(INVALID_PARAMS, "`data` is that of an action of ours")
    refactoring = next((each for each in REFACTORINGS if each.kind == data.get("kind")), None)
    uri, numbers = data.get("uri"), data.get("range")
    if refactoring is None or not isinstance(uri, str) or not _is_range(numbers):
        raise Rejected(INVALID_PARAMS, "`data` is that of an action of ours")
    view = views.of(uri)
    if view.document(uri).digest != data.get("digest"):
        raise Rejected(CONTENT_MODIFIED, "the text was changed since the action was offered")
    line, character, end_line, end_character = numbers
    start = view.offset(uri, types.Position(line, character))
    end = view.offset(uri, types.Position(end_line, end_character))
    change = refactoring.change(view, view.name(uri), Span(min(start, end), max(start, end)))
    action.edit = workspace_edit(view, change)
    return action


def _is_range(numbers: Any) -> bool:  # any JSON
    if not isinstance(numbers, (list, tuple)) or len(numbers) != 4:
        return False
    return all(isinstance(each, int) and not isinstance(each, bool) and each >= 0 for each in numbers)


def _capabilities(client: Client) -> Mapping[str, object]:
    kinds = [types.CodeActionKind(kind) if kind in _KINDS else kind for kind in _offered_kinds()]
    options = types.CodeActionOptions(code_action_kinds=kinds, resolve_provider=client.resolves_edits)
    return {"code_action_provider": options if client.code_action_literals else False}


def _offered_kinds() -> list[str]:
    return list(dict.fromkeys(".".join(each.kind.split(".")[:2]) for each in REFACTORINGS))


_KINDS = {kind.value for kind in types.CodeActionKind}

REQUESTS = (
    Request(
        types.TEXT_DOCUMENT_CODE_ACTION,
        "codeAction",
        code_action,
        capabilities=_capabilities,
        if_nothing_there=list,
    ),
    Request(types.CODE_ACTION_RESOLVE, "codeAction", resolve, lane=SLOW, about_everything=True),
)
