"""From a change, or from the undoing of one, to steps that may be taken. Nothing is written; run under the locks.

Identity is the real file: edits go to the file behind a link and the link stays; moves, creations and deletions mean the
name itself, in its real folder. The order of the steps: edits and deletions under the old names, moves, then
creations under the new ones. Folders that lose their last entry by a move or the deletion of a file go too; a folder in which
anything else is left (`__pycache__`, say) stays. A folder that is itself to be deleted goes as soon as it is empty.

Names that trade places do so by way of a third one, which is nobody's name before or after.

Where it stops: folders that are to lead into each other are refused (`overlap`). A link that is moved to another folder, and leads somewhere relative to its own, leads elsewhere then.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

from lsptools.errors import BadRequest, Stale
from lsptools.text.document import bytes_after, digest_of
from lsptools.workspace.before import Before
from lsptools.workspace.change import Change, Creation, Deletion, FileEdits, Move, Reading
from lsptools.workspace.check import Prepared, Problems, checked
from lsptools.workspace.operations import Operations
from lsptools.workspace.paths import Root
from lsptools.workspace.steps import Course, Step, aside, folder_of, folders_above, inverse, path_after
from lsptools.workspace.walk import VERSION_CONTROL


def prepare_change(root: Root, operations: Operations, change: Change) -> Prepared:
    """The steps of a change."""
    draft = _Draft(Before(root, operations))
    for edits in change.edits:
        _add_write(draft, edits)
    for deletion in change.deletions:
        _ADD_DELETION[deletion.kind](draft, deletion)
    draft.problems.stale += [each.path for each in change.read if not _is_as_read(draft.disk, each)]
    draft.problems.raise_gravest(_CHANGED)
    left = _places_left(draft.disk, change)
    _add_moves(draft, change.moves, left)
    _add_doomed(draft)
    draft.problems.stale += draft.doomed.values()
    draft.problems.raise_gravest(_CHANGED)
    for creation in change.creations:
        _add_creation(draft, creation, left)
    _add_emptied(draft)
    _check_not_of_version_control(draft.course.steps)
    return replace(checked(draft.disk, draft.course.steps, _CHANGED), notes=tuple(draft.notes))


def _check_not_of_version_control(steps: Sequence[Step]) -> None:
    """What git keeps is git's: a hook would be run by its next command, and what is gone there is gone for good."""
    for step in steps:
        for path in (step.path, step.new):
            if not set(VERSION_CONTROL).isdisjoint(path.split("/")):
                raise BadRequest(
                    "outside_workspace",
                    f"{path!r} belongs to version control, and is not changed",
                    hint="leave it to the program whose it is, such as git",
                )


def prepare_undo(
    root: Root, operations: Operations, steps: Sequence[Step], contents: dict[str, bytes], id: str
) -> Prepared:
    """The steps that take those of change `id` back; `contents` are the old bytes."""
    disk = Before(root, operations)
    disk.contents.update(contents)
    try:
        return checked(disk, inverse(steps), f"changed since change {id} was applied")
    except Stale as error:
        error.hint = "undo the later changes first (see the history of the file), or restore it by hand"
        raise


def real_paths(root: Root, operations: Operations, change: Change) -> set[str] | None:
    """The real absolute paths of the files a change is about or was derived from, by which they are locked; `None`: all files.

    A folder stands for all files in it, also those that others are about to create in it.
    """
    disk = Before(root, operations)
    if any(operations.is_dir(disk.absolute(disk.place(move.old))) for move in change.moves):
        return None
    if any(file.kind == "folder" for file in change.deletions):
        return None
    names = {disk.real(file.path) for file in change.edits}
    names |= {disk.real(file.path) for file in change.read}
    left = _places_left(disk, change)
    names |= {disk.place_after(file.path, left) for file in change.creations}
    names |= {disk.place(file.path) for file in change.deletions}
    names |= {disk.place(move.old) for move in change.moves}
    names |= {disk.place_after(move.new, left) for move in change.moves}
    return {disk.absolute(name) for name in names}


def _places_left(disk: Before, change: Change) -> set[str]:
    """The places from which links and folders go, so that they lead nowhere by the time new names are given."""
    left = {disk.place(move.old) for move in change.moves}
    return left | {disk.place(file.path) for file in change.deletions if file.kind != "file"}


def real_paths_of_steps(root: Root, operations: Operations, steps: Sequence[Step]) -> set[str] | None:
    """Like `real_paths`, for steps."""
    disk = Before(root, operations)
    moves = [step for step in steps if step.kind == "move"]
    if any(operations.is_dir(disk.absolute(path)) for step in moves for path in (step.path, step.new)):
        return None
    return {disk.absolute(path) for step in steps for path in (step.path, step.new) if path}


_CHANGED = "changed since the change was planned"


@dataclass(slots=True)
class _Draft:
    """The steps so far."""

    disk: Before
    course: Course = field(default_factory=Course)
    problems: Problems = field(default_factory=Problems)
    notes: list[str] = field(default_factory=list)
    named: set[str] = field(default_factory=set)
    """The real names of the files that are edited or deleted."""
    folder_moves: list[tuple[int, Step]] = field(default_factory=list)
    """The steps that move a folder, and their numbers."""
    doomed: dict[str, str] = field(default_factory=dict)
    """The folders that are still to be deleted: their names now, and before."""


def _add_write(draft: _Draft, file: FileEdits) -> None:
    name = draft.disk.real(file.path)
    facts = _named_once(draft, file.path, name)
    if draft.disk.digest(name) != file.base_digest:
        draft.problems.stale.append(file.path)
        return
    new = bytes_after(draft.disk.contents[file.base_digest], file.edits, digest=file.base_digest)
    after = digest_of(new)
    if after == file.base_digest:
        return
    draft.disk.contents[after] = new
    draft.course.add(Step("write", name, before=file.base_digest, after=after))
    if name != file.path:
        draft.notes.append(f"{file.path!r} leads to {name!r}, which was written")
    if facts is not None and facts.st_nlink > 1:
        draft.notes.append(
            f"{name!r} had {facts.st_nlink} names (hard links); the others keep the content from before"
        )


def _add_delete(draft: _Draft, file: Deletion) -> None:
    name = draft.disk.place(file.path)
    facts = _named_once(draft, file.path, name)
    if facts is not None and stat.S_ISLNK(facts.st_mode):
        raise BadRequest(
            "invalid",
            f"{file.path!r} is a link, and not the file that was to be deleted",
            hint="delete the file it leads to",
        )
    if draft.disk.digest(name) != file.base_digest:
        draft.problems.stale.append(file.path)
        return
    draft.course.add(Step("delete", name, before=file.base_digest))


def _add_unlink(draft: _Draft, file: Deletion) -> None:
    name = draft.disk.place(file.path)
    _named_once(draft, file.path, name)
    if draft.disk.link_digest_at(draft.course, name) != file.base_digest:
        draft.problems.stale.append(file.path)
        return
    draft.course.add(Step("unlink", name, before=file.base_digest))


def _doom(draft: _Draft, folder: Deletion) -> None:
    name = draft.disk.place(folder.path)
    facts = draft.disk.facts(name)
    if facts is None or not stat.S_ISDIR(facts.st_mode):
        draft.problems.stale.append(folder.path)
        return
    draft.doomed[name] = name


_ADD_DELETION = {"file": _add_delete, "link": _add_unlink, "folder": _doom}


def _add_doomed(draft: _Draft) -> bool:
    """Steps for the folders to be deleted in which nothing is any more, innermost first. Are there any?"""
    n_before = len(draft.doomed)
    for name in sorted(draft.doomed, key=lambda name: name.count("/"), reverse=True):
        if not draft.disk.holds_something(draft.course, name):
            draft.course.add(Step("rmdir", name))
            del draft.doomed[name]
    return len(draft.doomed) < n_before


def _is_as_read(disk: Before, reading: Reading) -> bool:
    return disk.digest(disk.real(reading.path)) == reading.digest


def _named_once(draft: _Draft, path: str, name: str) -> os.stat_result | None:
    """Facts about the file `name`, which nothing else in the change is about."""
    facts = draft.disk.facts(name)
    if facts is not None and stat.S_ISDIR(facts.st_mode):
        raise BadRequest("is_directory", f"{path!r} is a folder", hint="name a file in it")
    if name in draft.named:
        raise BadRequest(
            "overlap",
            f"{path!r} is {name!r}, about which the change says something already",
            hint="send one entry per file",
        )
    draft.named.add(name)
    return facts


def _add_moves(draft: _Draft, moves: Sequence[Move], places_left: Collection[str]) -> None:
    """Outer folders first; a move to a name that another move leaves goes after that one."""
    disk = draft.disk
    places = {disk.place(move.old): disk.place_after(move.new, places_left) for move in moves}
    left = dict(sorted(places.items(), key=lambda place: place[0].count("/")))
    for old in left:
        if disk.facts(old) is None:
            raise BadRequest(
                "not_found", f"there is no {old!r} to move", hint="list the folder to see what is there"
            )
    coming = set(left.values())
    asides: dict[str, str] = {}
    while left:
        old = next((old for old in left if _may_move(draft, left, coming, old)), "")
        if old:
            coming.discard(left[old])
            _add_move(draft, old, asides.pop(old, ""), left.pop(old))
        elif _add_doomed(draft):
            continue  # what was in the way may be gone
        elif old := next((old for old in left if _may_go_aside(draft, left, asides, old)), ""):
            asides[old] = aside(path_after((move for _, move in draft.folder_moves), old))
            _add_move(draft, old, "", asides[old])
        else:
            _raise_no_order(draft, left)


def _add_move(draft: _Draft, old: str, aside_name: str, new: str) -> None:
    """The step for what was called `old` in the beginning, and stands aside now under that name, if it does."""
    disk, course = draft.disk, draft.course
    current = aside_name or path_after((move for _, move in draft.folder_moves), old)
    if current == new:
        return
    _add_folders(draft, new)
    step = Step("move", current, new, before=disk.digest_at(course, current) or "")
    course.add(step)
    if disk.is_folder(old):
        draft.folder_moves.append((len(course.steps) - 1, step))
        draft.doomed = {path_after((step,), now): before for now, before in draft.doomed.items()}


def _may_move(draft: _Draft, left: Mapping[str, str], coming: Collection[str], old: str) -> bool:
    """May this move be the next? Not if it is inside what is still to move, or leads into what is still to go or to come."""
    new = left[old]
    waits = any(folder in left for folder in folders_above(old)) or any(
        folder in left or folder in coming or folder in draft.doomed for folder in folders_above(new)
    )
    return not waits and not draft.disk.is_taken(draft.course, old, new)


def _may_go_aside(draft: _Draft, left: Mapping[str, str], asides: Collection[str], old: str) -> bool:
    """Is this name wanted by another move, whose own name is wanted in turn, and so on round to this one?"""
    if old in asides or any(folder in left for folder in folders_above(old)):
        return False
    leaves = {name: draft.course.trace(new).origin for name, new in left.items()}
    name, n_moves = leaves[old], 0
    while name != old and name in left and n_moves < len(left):
        name, n_moves = leaves[name], n_moves + 1
    return name == old


def _raise_no_order(draft: _Draft, left: Mapping[str, str]) -> NoReturn:
    draft.problems.taken += [new for old, new in left.items() if draft.disk.is_taken(draft.course, old, new)]
    draft.problems.raise_gravest(_CHANGED)
    raise BadRequest(
        "overlap",
        f"the moves of {', '.join(map(repr, left))} lead into each other",
        hint="move one of them aside first",
    )


def _add_creation(draft: _Draft, creation: Creation, places_left: Collection[str]) -> None:
    name = draft.disk.place_after(creation.path, places_left)
    data = creation.document.encode()
    digest = digest_of(data)
    draft.disk.contents[digest] = data
    _add_folders(draft, name)
    draft.course.add(Step("create", name, after=digest, mode=creation.mode))


def _add_folders(draft: _Draft, path: str) -> None:
    """Steps for the folders above `path` that are not there."""
    for folder in folders_above(path):
        kind = draft.disk.kind_at(draft.course, folder)
        if kind == "file":
            raise BadRequest(
                "invalid", f"{folder!r} is no folder, so {path!r} cannot be in it", hint="name another place"
            )
        if kind is None:
            draft.course.add(Step("mkdir", folder))


def _add_emptied(draft: _Draft) -> None:
    """Steps for the folders in which nothing is left, innermost first."""
    disk, course = draft.disk, draft.course
    folders = {
        path_after((move for later, move in draft.folder_moves if later > number), folder_of(step.path))
        for number, step in enumerate(course.steps)
        if step.kind in ("delete", "move")
    }
    while folders:
        folder = max(folders, key=lambda name: (name.count("/"), name))
        folders.discard(folder)
        if folder and disk.kind_at(course, folder) == "folder" and not disk.holds_something(course, folder):
            course.add(Step("rmdir", folder))
            folders.add(folder_of(folder))
