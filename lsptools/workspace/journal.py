"""What was done to the workspace, newest first, and how to take it back.

An undo is a change like any other: it is prepared, checked, applied all or nothing, and gets its own entry, which can be
undone in turn; that is redo. Without an id the newest change that still stands is undone, so that undo after undo goes
further back; undos themselves are undone by their id only. What counts as undone follows from the entries alone.

An undo may be of one file. A change is undone when it was taken back as a whole, or in each of its files; what is left of
it is what a later undo of the change takes back.

Undo restores bytes, permission bits, names and folders exactly. It refuses (`Stale`) when a file that the change wrote,
created or moved has another content now, and names it; a file that came into a moved folder since moves back with it,
and a folder that has got further files stays. The history reaches back as far as `State` says.

Reading the history or undoing repairs what was interrupted first (`recover`), as applying does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lsptools.errors import BadRequest
from lsptools.workspace.apply import (
    TIMEOUT_S,
    Applied,
    OnStep,
    Repaired,
    applied_files,
    applied_moves,
    carry_out,
    no_step,
    repair,
    told_as_unavailable,
    told_moves,
)
from lsptools.workspace.change import is_at_or_below
from lsptools.workspace.operations import LocalOperations, Operations
from lsptools.workspace.paths import Root
from lsptools.workspace.prepare import prepare_undo, real_paths_of_steps
from lsptools.workspace.state import Record, State
from lsptools.workspace.steps import Step

__all__ = ["Entry", "Repaired", "State", "history", "recover", "undo"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One change in the history."""

    id: str
    when: float
    """Seconds since 1970, UTC."""
    label: str
    files: tuple[str, ...]
    """The files and folders concerned, by their names after the change (of a deleted file, before), sorted."""
    undone: bool
    """Was it taken back, and not redone since?"""
    undoes: str = ""
    """The id of the change that this one took back, or nothing."""
    undone_files: tuple[str, ...] = ()
    """Of a change that still stands, the files in which it was taken back, sorted."""


def history(
    state: State,
    *,
    operations: Operations | None = None,
    timeout_s: float = TIMEOUT_S,
    checkpoint: Callable[[], None] | None = None,
) -> tuple[Entry, ...]:
    """The changes made to the workspace, newest first."""
    if state.unfinished():
        _repair(state, operations or LocalOperations(), timeout_s, no_step, checkpoint)
    return _entries(state.finished())


def undo(
    root: Root,
    state: State,
    id: str | None = None,
    *,
    file: str | None = None,
    operations: Operations | None = None,
    timeout_s: float = TIMEOUT_S,
    on_step: OnStep = no_step,
    checkpoint: Callable[[], None] | None = None,
) -> Applied:
    """Take back the change with this id (of an undo: redo what it undid), or else the newest one that still stands.

    With `file`, which is relative to the root, only what the change did to that file; without an id that is the newest change
    of it that still stands there. `checkpoint` is called while others are waited for.
    """
    operations = operations or LocalOperations()
    with (
        told_as_unavailable("nothing was changed"),
        state.hold(timeout_s=timeout_s, checkpoint=checkpoint),
    ):
        repaired = repair(state, operations, timeout_s=timeout_s, on_step=on_step, checkpoint=checkpoint)
        record, entry = _chosen(state.finished(), id, file)
        if entry.files == (file,):
            file = None  # there is nothing else in it
        steps = _steps_left(record, entry) if file is None else _steps_about(record, file)
        paths = real_paths_of_steps(root, operations, steps)
        with state.hold_files(paths, timeout_s=timeout_s, checkpoint=checkpoint):
            prepared = prepare_undo(root, operations, steps, state.content(record), record.id)
            label = _label_of_undoing(record) + ("" if file is None else f" in {file}")
            notes = (*map(str, repaired), *prepared.notes)
            return carry_out(
                root,
                operations,
                state,
                prepared,
                label,
                undoes=record.id,
                file=file or "",
                notes=notes,
                on_step=on_step,
            )


def recover(
    root: Root,
    state: State,
    *,
    operations: Operations | None = None,
    timeout_s: float = TIMEOUT_S,
    on_step: OnStep = no_step,
    checkpoint: Callable[[], None] | None = None,
) -> tuple[Repaired, ...]:
    """Take back or complete what was interrupted in this workspace, and say so; usually nothing."""
    if any(record.root != str(root.path) for record in state.unfinished()):
        raise BadRequest(
            "invalid",
            "the state folder is that of another workspace",
            hint="take the one that State.of names",
        )
    if not state.unfinished():
        return ()
    return _repair(state, operations or LocalOperations(), timeout_s, on_step, checkpoint)


def _repair(
    state: State,
    operations: Operations,
    timeout_s: float,
    on_step: OnStep,
    checkpoint: Callable[[], None] | None,
) -> tuple[Repaired, ...]:
    outcome = "a change that was interrupted is still to be repaired"
    with told_as_unavailable(outcome), state.hold(timeout_s=timeout_s, checkpoint=checkpoint):
        return repair(state, operations, timeout_s=timeout_s, on_step=on_step, checkpoint=checkpoint)


def _entries(records: Iterable[Record]) -> tuple[Entry, ...]:
    """The records, which come newest first, as entries."""
    undone: set[str] = set()
    undone_files: dict[str, set[str]] = {}
    """By the id of a change that was taken back in some files."""
    entries = []
    for record in records:
        files, in_part = _files(record), undone_files.get(record.id, set())
        is_undone = record.id in undone or in_part.issuperset(files)
        if not is_undone and record.undoes and record.file:
            undone_files.setdefault(record.undoes, set()).add(record.file)
        elif not is_undone and record.undoes:
            undone.add(record.undoes)
        left = () if is_undone else tuple(sorted(in_part))
        entries.append(Entry(record.id, record.when, record.label, files, is_undone, record.undoes, left))
    return tuple(entries)


def _files(record: Record) -> tuple[str, ...]:
    """The files that a change wrote, created, deleted or moved; of one that did neither, the folders."""
    files = {file.path for file in applied_files(record.steps)}
    files |= {move.new for move in told_moves(applied_moves(record.steps))}
    return tuple(sorted(files or {step.path for step in record.steps}))


def _steps_left(record: Record, entry: Entry) -> tuple[Step, ...]:
    """The steps of a change that were not taken back yet, file by file."""
    return tuple(step for step in record.steps if step.kind == "move" or step.path not in entry.undone_files)


def _steps_about(record: Record, file: str) -> tuple[Step, ...]:
    """The steps that wrote, created or deleted the file, and those that removed the folders it was in."""
    steps = tuple(
        step
        for step in record.steps
        if (step.kind in ("write", "create", "delete", "link", "unlink") and step.path == file)
        or (step.kind == "rmdir" and is_at_or_below(file, step.path))
    )
    moves = any(
        is_at_or_below(file, path)
        for step in record.steps
        if step.kind == "move"
        for path in (step.path, step.new)
    )
    if moves or not any(step.kind != "rmdir" for step in steps):
        raise BadRequest(
            "invalid" if moves else "not_found",
            f"change {record.id} moved {file!r}" if moves else f"change {record.id} did not write {file!r}",
            hint=f"undo the whole change {record.id}"
            if moves
            else "see the history for the changes of a file",
        )
    return steps


def _chosen(records: list[Record], id: str | None, file: str | None = None) -> tuple[Record, Entry]:
    entries = _entries(records)
    if id is None:
        id = next(
            (
                entry.id
                for entry in entries
                if not entry.undone and not entry.undoes and (file is None or _stands_in(entry, file))
            ),
            None,
        )
        if id is None:
            what = "there is nothing to undo" if file is None else f"no change of {file!r} is to be undone"
            raise BadRequest("not_found", what, hint="see the history")
    entry = next((entry for entry in entries if entry.id == id), None)
    if entry is None:
        raise BadRequest("not_found", f"the history has no change {id!r}", hint="see the history for the ids")
    if entry.undone or file in entry.undone_files:
        undone = {other.id for other in entries if other.undone}
        by = next(
            other.id
            for other in records
            if other.undoes == id and other.id not in undone and (file is None or other.file in ("", file))
        )
        raise BadRequest("no_change", f"change {id} is undone already, by {by}", hint=f"undo {by} to redo it")
    return next(record for record in records if record.id == id), entry


def _stands_in(entry: Entry, file: str) -> bool:
    """Is there anything that the change did to the file, and that was not taken back?"""
    return file in entry.files and file not in entry.undone_files


def _label_of_undoing(record: Record) -> str:
    """Undoing an undo is a redo, and undoing a redo is an undo again; of what was done in the first place."""
    verb, _, label = record.label.partition(" ")
    if record.undoes and verb in ("undo", "redo"):
        return f"{'redo' if verb == 'undo' else 'undo'} {label}"
    return f"undo {record.label or f'change {record.id}'}"
