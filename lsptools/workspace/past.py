"""What the files of a change were before it: read from the journal, without undoing anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lsptools.errors import BadRequest
from lsptools.text.document import Document, is_binary
from lsptools.workspace.apply import applied_files, applied_moves
from lsptools.workspace.change import Move, is_at_or_below, stale_error
from lsptools.workspace.journal import history
from lsptools.workspace.snapshot import Snapshot
from lsptools.workspace.state import Record, State
from lsptools.workspace.steps import inverse


@dataclass(frozen=True, slots=True)
class Past:
    """Files as they were. Binary ones are left out."""

    label: str
    documents: dict[str, Document | None]
    """By path; `None`: there was no file of this name."""
    moves: tuple[Move, ...] = ()
    modes: dict[str, tuple[int, int]] | None = None
    """Permission bits then and now, where both are known."""


def past_of_change(now: Snapshot, state: State, id: str | None) -> Past:
    """Before the change with this id, or the newest that stands. `Stale` if a file has moved on since."""
    entries = history(state, checkpoint=now.checkpoint)
    if id is None:
        id = next((entry.id for entry in entries if not entry.undone and not entry.undoes), None)
        if id is None:
            raise BadRequest(
                "not_found", "there is no change to look at", hint="make one, or name a git revision"
            )
    record = next((record for record in state.finished() if record.id == id), None)
    if record is None:
        raise BadRequest("not_found", f"the history has no change {id!r}", hint="see the history for the ids")
    _check_fresh(now, record)
    contents = state.content(record)
    view: dict[str, bytes | None] = {}
    for step in inverse(record.steps):
        match step.kind:
            case "write" | "create":
                view[step.path] = contents[step.after]
            case "delete":
                view[step.path] = None
            case "move":
                for path in list(_files(now, view, step.path)):
                    data = view[path] if path in view else now.bytes(path)
                    view[step.new + path[len(step.path) :]] = data
                    view[path] = None
    return Past(record.label or f"change {id}", _documents(view), applied_moves(record.steps))


def _check_fresh(now: Snapshot, record: Record) -> None:
    stale = [
        file.path
        for file in applied_files(record.steps)
        if (now.document(file.path).digest if _is_text(now, file.path) else None) != file.digest_after
        and (file.digest_after is None or _is_text(now, file.path) or not now.is_file(file.path))
    ]
    if stale:
        raise stale_error(stale, "changed since that change was made")


def _is_text(now: Snapshot, path: str) -> bool:
    return now.is_file(path) and not is_binary(now.bytes(path))


def _files(now: Snapshot, view: dict[str, bytes | None], path: str) -> Iterator[str]:
    """The files at or below a path, in the view laid over the disk."""
    inside = {each for each in view if is_at_or_below(each, path)}
    yield from (each for each in inside if view[each] is not None)
    if now.is_dir(path):
        for name in now.list_dir(path):
            yield from (each for each in _files(now, {}, f"{path}/{name}") if each not in inside)
    elif now.is_file(path) and path not in inside:
        yield path


def _documents(view: dict[str, bytes | None]) -> dict[str, Document | None]:
    return {
        path: None if data is None else Document.decode(data)
        for path, data in view.items()
        if data is None or not is_binary(data)
    }
