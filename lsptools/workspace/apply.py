"""Doing a change to the disk, all of it or nothing: the only module that writes in the workspace.

The order, under the locks of the workspace and of every file concerned:

1. A change that was interrupted earlier is repaired.
2. Everything is read and checked (`prepare.py`).
3. The journal: the old bytes and the steps go to the state folder, and to the disk (fsync).
4. Staging: new content goes to temporary files beside its targets (fsync), and each file that is to be replaced gets a
   second name. From here on nothing needs room on the disk any more.
5. The steps. Each is *one rename*: a temporary file over its target, a file to its new name, a deleted file aside.
6. Commit: the journal says so, by one rename. Then what lies aside is removed.

So a step is taken, or it is not, and which one can be seen: its temporary file is there or it is gone. Only a move has none,
and names alone can deceive (an empty `__init__.py` moved away, another one put in its place); so each move has a marker,
which gets another name right after it. `repair` needs to know no more than that and the phase of the record to go back
from any moment of a crash, also of a crash while it was going back. Before the commit it goes back, after it forward. A
file that someone else has changed since the crash is theirs: it is left as it is, and named.

What is kept of a replaced file: permission bits, owner and group (as far as we may), extended attributes. What is not: other
names (hard links) of the file keep the old content. `Applied.notes` says where that, or owner and group, could not be kept. Readers see each file old or new and never
torn, but may see some files old and some new while the steps are taken.

Where it stops: a program that does not take our locks can write between our last look and our rename; the window is a
few microseconds. Changes interrupted under another root (a folder above or below) are repaired from there.

One file, longer than most, because nobody else may write in the workspace: taking a step and taking it back want to be
read side by side.
"""

# ruff: noqa: PTH119, PTH120
# Strings and `os`, as in `operations.py`.

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lsptools.errors import BadRequest, Unavailable
from lsptools.text.document import digest_of
from lsptools.workspace.change import Change, Move, stale_error
from lsptools.workspace.check import Prepared
from lsptools.workspace.operations import Operations
from lsptools.workspace.paths import Root
from lsptools.workspace.prepare import prepare_change, real_paths, real_paths_of_steps
from lsptools.workspace.state import Phase, Record, State
from lsptools.workspace.steps import TEMPORARY_PREFIX, Step, folder_of, is_aside, path_after

if TYPE_CHECKING:
    from lsptools.workspace.snapshot import Snapshot

TIMEOUT_S = 30.0
"""How long to wait for another process that is changing the same files."""

OnStep = Callable[[str], None]
"""Called before everything that touches a disk, with what is about to happen; what it raises, the disk could have."""


def no_step(_: str) -> None:
    """The hook that does nothing."""


@dataclass(frozen=True, slots=True)
class AppliedFile:
    """A file whose content was written, created or deleted. `path` is its name after the change (of a deleted one, before)."""

    path: str
    digest_before: str | None
    """`None`: there was no file."""
    digest_after: str | None
    """`None`: there is no file any more."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What was done. With nothing to do, `id` is empty."""

    id: str
    files: tuple[AppliedFile, ...]
    moves: tuple[Move, ...]
    """As they were made, one after the other. Names that trade places do so by way of a third one (`is_aside`)."""
    notes: tuple[str, ...] = ()
    """What people should know, one sentence each."""

    @property
    def undo_id(self) -> str:
        """What to give to `undo` to take this back."""
        return self.id


@dataclass(frozen=True, slots=True)
class Repaired:
    """What became of a change that was interrupted."""

    id: str
    label: str
    completed: bool
    """Whether it had been committed, and is done; otherwise everything is as before it."""
    kept: tuple[str, ...]
    """Files that someone has changed since, and that were left as they are."""

    def __str__(self) -> str:
        name = f"change {self.id}" + (f" ({self.label})" if self.label else "")
        if self.completed:
            return f"{name} had been interrupted at its end and is done"
        kept = (
            f"; left as they are, because they were changed since: {', '.join(self.kept)}"
            if self.kept
            else ""
        )
        return f"{name} had been interrupted and was taken back{kept}"


def apply(
    snapshot: Snapshot,
    change: Change,
    state: State,
    *,
    timeout_s: float = TIMEOUT_S,
    on_step: OnStep = no_step,
) -> Applied:
    """Do the change to the disk, all of it or nothing.

    The disk counts, not what `snapshot` has read or laid over it: `Stale` names every file whose content is not the one the
    change was made from. `snapshot.checkpoint` is asked while others are waited for, not afterwards. `Refused` (`exists`) names what is in the way, `Unavailable` what may not be written, or
    what went wrong on the way; in each case nothing has changed.
    """
    if not change:
        return Applied("", (), (), change.notes)
    root, operations = snapshot.root, snapshot.operations
    checkpoint = snapshot.checkpoint
    with (
        told_as_unavailable("nothing was changed"),
        state.hold(timeout_s=timeout_s, checkpoint=checkpoint),
    ):
        repaired = repair(state, operations, timeout_s=timeout_s, on_step=on_step, checkpoint=checkpoint)
        while True:
            paths = real_paths(root, operations, change)
            with state.hold_files(paths, timeout_s=timeout_s, checkpoint=checkpoint):
                # A link may have been changed while we waited for the locks.
                if real_paths(root, operations, change) != paths:
                    continue
                prepared = prepare_change(root, operations, change)
                notes = (*map(str, repaired), *change.notes, *prepared.notes)
                return carry_out(
                    root, operations, state, prepared, change.label, notes=notes, on_step=on_step
                )


def check(snapshot: Snapshot, change: Change) -> None:
    """Raise what `apply` would raise before it writes: `Stale`, `Refused` (`exists`), `Unavailable`. Nothing is locked."""
    if change:
        with told_as_unavailable("nothing was changed"):
            prepare_change(snapshot.root, snapshot.operations, change)


def carry_out(
    root: Root,
    operations: Operations,
    state: State,
    prepared: Prepared,
    label: str,
    *,
    undoes: str = "",
    file: str = "",
    notes: tuple[str, ...] = (),
    on_step: OnStep = no_step,
) -> Applied:
    """Take prepared steps. The caller holds the locks under which they were prepared."""
    if not prepared.steps:
        return Applied("", (), (), notes)
    record = state.new_record(str(root.path), label, undoes, prepared.steps, prepared.stages, file=file)
    job = _Job(operations, state, record, on_step)
    try:
        on_step("journal")
        job.record = state.write(record, prepared.contents)
        _stage(job, prepared)
        job.advance(Phase.STAGING, Phase.READY)
        for number, step in enumerate(record.steps):
            on_step(f"{step.kind} {step.path}")
            _check_again(job, step, prepared.seen[number])
            _take(job, number, step)
        _sync(job, _folders(job))
        job.advance(Phase.READY, Phase.COMMITTED)
    except BaseException as error:
        repaired = _go_back(job, error)
        # The disk may fail us just after the commit, and what is committed stays.
        if not (repaired.completed and isinstance(error, OSError)):
            raise
    else:
        # What is left to tidy up does not matter enough to fail; the next call does it.
        with suppress(OSError):
            _finish(job)
    notes = (*notes, *job.notes)
    return Applied(record.id, applied_files(record.steps), applied_moves(record.steps), notes)


def repair(
    state: State,
    operations: Operations,
    *,
    timeout_s: float = TIMEOUT_S,
    on_step: OnStep = no_step,
    checkpoint: Callable[[], None] | None = None,
) -> tuple[Repaired, ...]:
    """Take back or complete every change that was interrupted. The caller holds the workspace's lock."""
    repaired = []
    for record in state.unfinished():
        if not operations.is_dir(record.root):
            continue  # perhaps a disk that is not there today; its files will still want to be repaired
        job = _Job(operations, state, record, on_step)
        paths = real_paths_of_steps(Root(Path(record.root)), operations, record.steps)
        with state.hold_files(paths, timeout_s=timeout_s, checkpoint=checkpoint):
            repaired.append(_settle(job))
    if repaired:
        state.tidy()
    return tuple(repaired)


def applied_files(steps: Sequence[Step]) -> tuple[AppliedFile, ...]:
    """The files that steps write, create and delete, in the order of their paths."""
    moves = [(number, step) for number, step in enumerate(steps) if step.kind == "move"]
    files = [
        AppliedFile(
            path_after((move for later, move in moves if later > number), step.path),
            step.before or None,
            step.after or None,
        )
        for number, step in enumerate(steps)
        if step.kind in ("write", "create", "delete", "link", "unlink")
    ]
    return tuple(sorted(files, key=lambda file: file.path))


def applied_moves(steps: Sequence[Step]) -> tuple[Move, ...]:
    """The moves among steps."""
    return tuple(Move(step.path, step.new) for step in steps if step.kind == "move")


def told_moves(moves: Iterable[Move]) -> tuple[Move, ...]:
    """The moves as people are told of them: without the names by way of which others trade places."""
    told: list[Move] = []
    from_aside: dict[str, str] = {}
    for move in moves:
        if is_aside(move.new):
            from_aside[move.new] = move.old
        else:
            told.append(Move(from_aside.get(move.old, move.old), move.new))
    return tuple(told)


@contextmanager
def told_as_unavailable(outcome: str) -> Iterator[None]:
    """Turn an `OSError` into `Unavailable`, which says what the system says, and what has become of the workspace."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise BadRequest(
                "invalid", f"{_what_failed(error)}; {outcome}", hint="choose a shorter name"
            ) from error
        raise Unavailable(
            "unavailable",
            f"{_what_failed(error)}; {outcome}",
            hint="see to it (room on the disk, permissions), then try again",
        ) from error


def _what_failed(error: OSError) -> str:
    what = error.strerror or str(error) or type(error).__name__
    return f"{what}: {os.path.basename(error.filename)!r}" if isinstance(error.filename, str) else what


@dataclass(slots=True)
class _Job:
    """One change under way."""

    operations: Operations
    state: State
    record: Record
    on_step: OnStep
    notes: list[str] = field(default_factory=list)
    """What people should know of what could not be done as it should."""

    def absolute(self, name: str) -> str:
        return os.path.join(self.record.root, name.replace("/", os.sep)) if name else self.record.root

    def new(self, number: int) -> str:
        """Where the content or folder that step `number` brings waits for it. It is there if the step is not taken."""
        return self._temporary(number, "new")

    def old(self, number: int) -> str:
        """Where that which step `number` ends is kept, until all is done."""
        return self._temporary(number, "old")

    def advance(self, old: Phase, new: Phase) -> None:
        self.on_step(new.value)
        self.state.advance(self.record.id, old, new)

    def _temporary(self, number: int, kind: str) -> str:
        name = f"{TEMPORARY_PREFIX}{self.record.token}-{number}-{kind}.tmp"
        return os.path.join(self.absolute(self.record.stages[number]), name)


def _stage(job: _Job, prepared: Prepared) -> None:
    """Everything that takes room: new content beside its target, and a second name for what will be replaced."""
    for number, step in enumerate(job.record.steps):
        if step.kind not in ("delete", "unlink", "rmdir"):
            job.on_step(f"stage {step.path}")
        if step.kind == "write":
            origin, facts = job.absolute(prepared.origins[number]), prepared.seen[number]
            mode = facts.st_mode if facts else None
            job.operations.write_new(job.new(number), prepared.contents[step.after], mode=mode)
            if not job.operations.keep_owner(origin, job.new(number)):
                job.notes.append(_owner_note(step.path, facts))
            job.on_step(f"keep {step.path}")
            _keep_beside(job.operations, origin, job.old(number), prepared.contents[step.before])
        elif step.kind == "create":
            job.operations.write_new(job.new(number), prepared.contents[step.after], mode=step.mode)
        elif step.kind == "link":
            job.operations.symlink(os.fsdecode(prepared.contents[step.after]), job.new(number))
        elif step.kind == "mkdir":
            job.operations.mkdir(job.new(number))
            if step.mode is not None:
                job.operations.chmod(job.new(number), step.mode)
        elif step.kind == "move":
            job.operations.mkdir(job.new(number))
    _sync(job, set(job.record.stages))


def _owner_note(path: str, facts: os.stat_result | None) -> str:
    of = f" (user {facts.st_uid}, group {facts.st_gid})" if facts else ""
    return f"owner and group of {path!r}{of} could not be kept: the file belongs to who wrote it now"


def _keep_beside(operations: Operations, path: str, beside: str, content: bytes) -> None:
    """A second name for a file, or, where the file system has no such thing, a copy of it."""
    with suppress(OSError):
        operations.link(path, beside)
        return
    operations.write_new(beside, content, mode=operations.stat(path).st_mode)


def _check_again(job: _Job, step: Step, seen: os.stat_result | None) -> None:
    """The last look at a file before it goes. One that looks as it did when it was read is not read again."""
    if not _is_confined(job, job.absolute(step.path)):
        raise stale_error([step.path], "got behind a link while the change was being applied")
    if step.kind == "unlink" and not _is_saying(job, job.absolute(step.path), step.before):
        raise stale_error([step.path], "changed while the change was being applied")
    if step.kind not in ("write", "delete") or seen is None:
        return
    path = job.absolute(step.path)
    try:
        now = job.operations.lstat(path)
        if _looks(now) == _looks(seen) or digest_of(job.operations.read_unlinked(path)) == step.before:
            return
    except FileNotFoundError:
        pass
    raise stale_error([step.path], "changed while the change was being applied")


def _looks(facts: os.stat_result) -> tuple[int, ...]:
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_mode


def _take(job: _Job, number: int, step: Step) -> None:
    path = job.absolute(step.path)
    match step.kind:
        case "write":
            job.operations.replace(job.new(number), path)
        case "create" | "mkdir" | "link":
            job.operations.rename(job.new(number), path)
        case "delete" | "unlink":
            job.operations.rename(path, job.old(number))
        case "rmdir":
            # Someone may have put something into it meanwhile. Then it stays.
            if not job.operations.list_dir(path):
                job.operations.rename(path, job.old(number))
        case "move":
            job.operations.rename(path, job.absolute(step.new))
            job.on_step(f"mark {step.path}")
            job.operations.rename(job.new(number), job.old(number))


def _go_back(job: _Job, error: BaseException) -> Repaired:
    try:
        return _settle(job)
    except OSError as worse:
        raise Unavailable(
            "unavailable",
            f"{_what_failed(worse)}, while a change was taken back because of: {error}",
            hint="see to it (room on the disk, permissions); the next call that writes, or the history, repairs the rest",
        ) from error


def _settle(job: _Job) -> Repaired:
    """From wherever the change is to one of its two ends."""
    id = job.record.id
    kept: tuple[str, ...] = ()
    phase = job.state.phase(id)
    if phase in (Phase.COMMITTED, Phase.DONE):
        _finish(job)
        return Repaired(id, job.record.label, True, ())
    if phase is Phase.READY:
        kept = _take_back(job)
        _sync(job, _folders(job))
        job.advance(Phase.READY, Phase.REVERTED)
    _clear(job)
    job.on_step("forget")
    job.state.drop(id)
    return Repaired(id, job.record.label, False, kept)


def _take_back(job: _Job) -> tuple[str, ...]:
    """Take back the steps that were taken, the last one first. The files that are not ours any more are returned."""
    kept = []
    open_move = _first_open_move(job)
    for number, step in reversed(tuple(enumerate(job.record.steps))):
        job.on_step(f"take back {step.kind} {step.path}")
        if not _was_taken(job, number, step, open_move):
            continue
        try:
            is_ours = _is_confined(job, job.absolute(step.path)) and _take_one_back(job, number, step)
        except (FileExistsError, FileNotFoundError, NotADirectoryError, IsADirectoryError):
            is_ours = False
        if not is_ours:
            kept.append(step.path)
    return tuple(reversed(kept))


def _first_open_move(job: _Job) -> int:
    """The first move whose marker does not say that it was made: all before it were, none after it was."""
    moves = (number for number, step in enumerate(job.record.steps) if step.kind == "move")
    return next((number for number in moves if not _is_there(job, job.old(number))), len(job.record.steps))


def _was_taken(job: _Job, number: int, step: Step, open_move: int) -> bool:
    """Was the step taken, and not taken back since?"""
    match step.kind:
        case "write":
            return _is_there(job, job.old(number)) and not _is_there(job, job.new(number))
        case "create" | "mkdir" | "link":
            return not _is_there(job, job.new(number))
        case "delete" | "unlink" | "rmdir":
            return _is_there(job, job.old(number))
        case "move":
            # With all moves before it made and none after it, what is to be moved is there, or it was moved.
            is_gone = number == open_move and not _is_named(job, job.absolute(step.path))
            return number < open_move or is_gone


def _take_one_back(job: _Job, number: int, step: Step) -> bool:
    """False if what is there now is not what the step left; then it stays."""
    path, old, new = job.absolute(step.path), job.old(number), job.new(number)
    if step.kind in ("create", "mkdir", "link") and not _is_there(job, path):
        return True
    match step.kind:
        case "write":
            if _is_there(job, path) and not _is_content(job, path, step.after):
                return False
            job.operations.replace(old, path)
        case "create":
            if not _is_content(job, path, step.after):
                return False
            job.operations.rename(path, new)
        case "link":
            if not _is_saying(job, path, step.after):
                return False
            job.operations.rename(path, new)
        case "mkdir":
            if job.operations.list_dir(path):
                return False
            job.operations.rename(path, new)
        case "delete" | "unlink" | "rmdir":
            job.operations.rename(old, path)
        case "move":
            # The marker first: it must never say more than is true.
            if _is_there(job, old):
                job.operations.rename(old, new)
            job.on_step(f"return {step.path}")
            job.operations.rename(job.absolute(step.new), path)
    return True


def _is_there(job: _Job, path: str) -> bool:
    """Is there a file, folder or link?"""
    try:
        job.operations.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _is_content(job: _Job, path: str, digest: str) -> bool:
    """Is that a file with this content?"""
    if not stat.S_ISREG(job.operations.lstat(path).st_mode):
        return False
    return digest_of(job.operations.read_unlinked(path)) == digest


def _is_saying(job: _Job, path: str, digest: str) -> bool:
    """Is that a link that says the path with this digest?"""
    return job.operations.is_link(path) and digest_of(os.fsencode(job.operations.readlink(path))) == digest


def _is_named(job: _Job, path: str) -> bool:
    """Is there something of exactly this name? A file system that ignores case would say yes to others, too."""
    folder, name = os.path.split(path)
    return _is_there(job, path) and name in job.operations.list_dir(folder)


def _is_confined(job: _Job, path: str) -> bool:
    """Is the folder of `path` still where its name says, and no link?"""
    folder = os.path.dirname(path)
    return os.path.normcase(job.operations.realpath(folder)) == os.path.normcase(folder)


def _clear(job: _Job) -> None:
    """Remove all temporary files of a change of which nothing can be seen."""
    for number, step in enumerate(job.record.steps):
        job.on_step(f"clear {step.path}")
        for temporary in (job.new(number), job.old(number)):
            _remove(job, temporary)


def _finish(job: _Job) -> None:
    """Remove what a committed change has put aside, and enter it in the history."""
    for number, step in enumerate(job.record.steps):
        if step.kind in ("create", "mkdir", "link"):
            continue
        job.on_step(f"tidy {step.path}")
        try:
            _remove(job, job.old(number))
        except OSError as error:
            if step.kind != "rmdir" or error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            # Someone had the folder open and put something into it, so it goes back to its name.
            job.operations.rename(job.old(number), job.absolute(step.path))
    _sync(job, set(job.record.stages))
    if job.state.phase(job.record.id) is Phase.COMMITTED:
        job.advance(Phase.COMMITTED, Phase.DONE)
    job.state.tidy()


def _remove(job: _Job, temporary: str) -> None:
    """Remove a temporary file or empty folder, if it is there."""
    with suppress(FileNotFoundError):
        if job.operations.is_dir(temporary) and not job.operations.is_link(temporary):
            job.operations.rmdir(temporary)
        else:
            job.operations.unlink(temporary)


def _folders(job: _Job) -> set[str]:
    """The folders in which names change, under all names they may have."""
    steps = job.record.steps
    folders = {folder_of(path) for step in steps for path in (step.path, step.new) if path}
    return folders | {path_after(steps, folder) for folder in folders}


def _sync(job: _Job, folders: Iterable[str]) -> None:
    """Wait until the names in those folders that are there are on the disk."""
    for folder in sorted(folders):
        path = job.absolute(folder)
        # Where a folder was there may be a link now, which leads who knows where.
        with suppress(FileNotFoundError, NotADirectoryError):
            if not job.operations.is_link(path):
                job.operations.fsync_dir(path)
