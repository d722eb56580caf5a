"""`workspace/executeCommand`: what no other request has a place for.

| command | argument | result |
|---|---|---|
| `lsptools.rename` | `{"uri", "position", "newName", "apply": "disk"}` | the change's `id`, `files`, `moves` |
| `lsptools.undo` | `{"uri"?, "id"?}` | the same, of what was taken back |
| `lsptools.move` | `{"uri", "position", "module"}` | `true`; the editor does it, in open and closed files |
| `lsptools.verify` | `{"uri"?, "id"?, "against"?, "rungs"?}` | what was checked of a change on the disk, and what it does not prove |
| `lsptools.history` | `{"uri"?}` | the changes made on the disk, newest first |
| `lsptools.evidence` | `{"uri", "position"}` | every occurrence of the name with its class and the reason |

`lsptools.rename` writes closed files itself, each in its own encoding, which an editor may not know; open documents are
changed in the editor. If the editor declines, what was written is taken back.

`lsptools.verify` only reads (`scope,syntax,names`), unless `rungs` names one that runs programs of the project.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from lsprotocol import types

from lsptools.errors import Refused
from lsptools.faces.lsp_edits import say_encodings, workspace_edit
from lsptools.faces.lsp_errors import FAILED, INVALID_PARAMS, Rejected
from lsptools.faces.lsp_refactorings import move_change
from lsptools.faces.lsp_requests import SLOW, Request
from lsptools.faces.lsp_view import View, Views
from lsptools.refactor.rename import SKIP, Policy, plan_rename
from lsptools.text.lines import Span
from lsptools.workspace.apply import Applied, apply
from lsptools.workspace.change import Change, is_at_or_below
from lsptools.workspace.journal import history, undo


def execute_command(views: Views, params: types.ExecuteCommandParams) -> object:
    command = COMMANDS.get(params.command)
    if command is None:
        raise Rejected(
            INVALID_PARAMS, f"there is no command {params.command}; there are {', '.join(COMMANDS)}"
        )
    given = list(params.arguments or ())
    argument = given[0] if given else {}
    if len(given) > 1 or not isinstance(argument, dict):
        raise Rejected(INVALID_PARAMS, f"{params.command} takes one object")
    return command(views, argument)


def _rename(views: Views, argument: Mapping[str, Any]) -> object:
    if argument.get("apply") != "disk":
        raise Rejected(INVALID_PARAMS, '`apply` is "disk"; textDocument/rename is for everything else')
    view, place = _view(views, argument), _position(argument)
    view.check_writable(_text(argument, "uri"))
    at = view.place(_text(argument, "uri"), place)
    plan = plan_rename(view.snapshot, at, _text(argument, "newName"), Policy(possible=SKIP))
    in_editor, on_disk = _divided(view, plan.change)
    if in_editor and not view.client.applies_edits:
        raise Rejected(
            FAILED,
            "this editor does not apply a server's edits (workspace.applyEdit); save and close the files first",
        )
    state = views.services.state(view.folder.root)
    applied = apply(view.snapshot, on_disk, state)
    if in_editor and not _applied_in_editor(views, view, in_editor):
        if applied.id:
            undo(view.folder.root, state, applied.id)
        raise Refused("stale", "the editor did not take its part of the rename; nothing was changed")
    return _told(applied)


def _divided(view: View, change: Change) -> tuple[Change, Change]:
    """What the editor has to do (all that concerns open documents), and what is done on the disk."""
    opened = set(view.opened)
    moved_open = any(is_at_or_below(name, move.old) for move in change.moves for name in opened)
    moves = change.moves if moved_open else ()
    editor = replace(change, edits=tuple(f for f in change.edits if f.path in opened), moves=moves)
    disk = replace(
        change,
        edits=tuple(f for f in change.edits if f.path not in opened),
        moves=() if moved_open else change.moves,
    )
    return editor, disk


def _applied_in_editor(views: Views, view: View, change: Change) -> bool:
    params = types.ApplyWorkspaceEditParams(workspace_edit(view, change), label=change.label)
    result = views.wait(views.services.ask(types.WORKSPACE_APPLY_EDIT, params))
    return isinstance(result, dict) and result.get("applied") is True


def _undo(views: Views, argument: Mapping[str, Any]) -> object:
    view = _view(views, argument)
    identity = _text(argument, "id") if "id" in argument else None
    state = views.services.state(view.folder.root)
    return _told(undo(view.folder.root, state, identity, checkpoint=view.snapshot.checkpoint))


def _history(views: Views, argument: Mapping[str, Any]) -> object:
    view = _view(views, argument)
    return [
        {"id": e.id, "when": e.when, "label": e.label, "files": list(e.files), "undone": e.undone}
        for e in history(views.services.state(view.folder.root), checkpoint=view.snapshot.checkpoint)
    ]


def _evidence(views: Views, argument: Mapping[str, Any]) -> object:
    view = _view(views, argument)
    place = view.place(_text(argument, "uri"), _position(argument))
    found = view.finder.account(view.finder.target(place)).references
    occurrences = [
        {
            "uri": view.uri(each.path, each.span),
            "range": view.range(each.path, each.span),
            "class": each.evidence.value,
            "role": each.role,
            "reason": each.reason,
        }
        for each in found.occurrences
    ]
    return {
        "symbol": found.symbol.qualified,
        "kind": found.symbol.kind,
        "complete": found.complete,
        "incompleteBecause": list(found.incomplete_because),
        "occurrences": occurrences,
    }


def _move(views: Views, argument: Mapping[str, Any]) -> object:
    view, position = _view(views, argument), _position(argument)
    view.check_writable(_text(argument, "uri"))
    if not view.client.applies_edits:
        raise Rejected(FAILED, "this editor does not apply a server's edits (workspace.applyEdit)")
    at = view.place(_text(argument, "uri"), position)
    change = move_change(view, at.path, Span(at.offset, at.offset), _text(argument, "module"))
    say_encodings(views, view, change)
    if not _applied_in_editor(views, view, change):
        raise Refused("stale", "the editor did not take the move; nothing was changed")
    return True


def _verify(views: Views, argument: Mapping[str, Any]) -> object:
    from lsptools.tools import verify
    from lsptools.verify.ladder import READING

    view = _view(views, argument)
    identity, against = (
        _text(argument, member) if member in argument else None for member in ("id", "against")
    )
    rungs = _text(argument, "rungs") if "rungs" in argument else ",".join(READING)
    context = views.services.context(view.folder.root).renewed(view.snapshot.checkpoint)
    return verify.run(context, verify.Params(identity, against, rungs)).to_json()


COMMANDS: Mapping[str, Callable[[Views, Mapping[str, Any]], object]] = {
    "lsptools.rename": _rename,
    "lsptools.move": _move,
    "lsptools.undo": _undo,
    "lsptools.history": _history,
    "lsptools.evidence": _evidence,
    "lsptools.verify": _verify,
}


def _told(applied: Applied) -> dict[str, object]:
    return {
        "id": applied.id,
        "files": [file.path for file in applied.files],
        "moves": [{"old": move.old, "new": move.new} for move in applied.moves],
        "notes": list(applied.notes),
    }


def _view(views: Views, argument: Mapping[str, Any]) -> View:
    """The folder of the document named, or else the only one there is."""
    if "uri" in argument:
        return views.of(_text(argument, "uri"))
    folders = list(views.all())
    if len(folders) != 1:
        raise Rejected(INVALID_PARAMS, "name a document with `uri`: there is not exactly one folder")
    return folders[0]


def _text(argument: Mapping[str, Any], member: str) -> str:
    value = argument.get(member)
    if not isinstance(value, str):
        raise Rejected(INVALID_PARAMS, f"`{member}` is a string")
    return value


def _position(argument: Mapping[str, Any]) -> types.Position:
    position = argument.get("position")
    line, character = (
        (position.get("line"), position.get("character")) if isinstance(position, dict) else (None, None)
    )
    if not isinstance(line, int) or not isinstance(character, int) or line < 0 or character < 0:
        raise Rejected(INVALID_PARAMS, '`position` is {"line", "character"}, both from 0')
    return types.Position(line, character)


REQUESTS = (
    Request(
        types.WORKSPACE_EXECUTE_COMMAND,
        "executeCommand",
        execute_command,
        lane=SLOW,
        capabilities=lambda _client: {
            "execute_command_provider": types.ExecuteCommandOptions(list(COMMANDS), work_done_progress=False)
        },
    ),
)
