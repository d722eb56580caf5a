"""May these steps be taken? Everything that can be known before is asked before, and nothing is written.

Each file still has the content the steps were made from (`Stale`), nothing stands where something is to be created
(`exists`), and files and folders may be written (`Unavailable`). Problems of one kind are all told at once.

Who may write, the system decides; but a file without any write bit, in a folder that has one, was protected on purpose,
and that counts for root too, whom the system lets write everything.

Where it stops: other programs do not know our locks, so `apply` looks once more right before it replaces a file.
"""

# Strings and `os`, as in `operations.py`.

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from lsptools.errors import Conflict, Refused, Site, Unavailable
from lsptools.workspace.before import Before
from lsptools.workspace.change import stale_error
from lsptools.workspace.steps import Course, Step, folder_of, folders_above


@dataclass(frozen=True, slots=True)
class Prepared:
    """Steps that may be taken now. The tuples have one entry per step."""

    steps: tuple[Step, ...]
    origins: tuple[str, ...]
    """Where, before any step, that is what the step is about."""
    seen: tuple[os.stat_result | None, ...]
    """What was known of the file when its content was read, if it was."""
    stages: tuple[str, ...]
    """The folder for the temporary files."""
    contents: dict[str, bytes]
    """By digest: what the steps write, and what they end."""
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Problems:
    """What stands against the steps, by kind; whole lists, for all of it is to be told."""

    stale: list[str] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    read_only: list[str] = field(default_factory=list)

    def raise_gravest(self, happened: str) -> None:
        """Raise the gravest kind there is. `happened` is what is said of a stale file."""
        if self.stale:
            raise stale_error(self.stale, happened)
        if self.taken:
            raise _exists(self.taken)
        if self.read_only:
            raise _read_only(self.read_only)


def checked(disk: Before, wanted: Sequence[Step], happened: str) -> Prepared:
    """The steps, if they may be taken. Folders that are there already, or are still in use, are left alone."""
    problems, course = Problems(), Course()
    origins: list[str] = []
    for step in wanted:
        if not _is_needed(disk, course, step):
            continue
        origin = course.trace(step.path).origin
        _check_step(disk, problems, course, step, origin)
        facts = disk.facts(origin)
        if step.kind in ("delete", "rmdir") and facts is not None:
            step = replace(step, mode=stat.S_IMODE(facts.st_mode))
        origins.append(origin)
        course.add(step)
    problems.raise_gravest(happened)
    stages = _stages(disk, course, origins)
    _check_writable(disk, problems, course, stages)
    problems.raise_gravest(happened)
    seen = tuple(
        disk.seen.get(origin) if step.before else None
        for step, origin in zip(course.steps, origins, strict=True)
    )
    return Prepared(tuple(course.steps), tuple(origins), seen, stages, disk.contents)


def _is_needed(disk: Before, course: Course, step: Step) -> bool:
    if step.kind == "mkdir":
        return disk.kind_at(course, step.path) != "folder"
    if step.kind == "rmdir":
        return disk.kind_at(course, step.path) == "folder" and not disk.holds_something(course, step.path)
    return True


def _check_step(disk: Before, problems: Problems, course: Course, step: Step, origin: str) -> None:
    if step.kind == "unlink":
        if disk.link_digest_at(course, step.path) != step.before:
            problems.stale.append(step.path)
    elif step.kind in ("write", "delete", "move"):
        there = disk.digest_at(course, step.path) if step.before else disk.kind_at(course, step.path)
        if there is None or (step.before and there != step.before):
            problems.stale.append(step.path)
        elif step.kind == "move" and disk.is_taken(course, origin, step.new):
            problems.taken.append(step.new)
    elif step.kind in ("create", "mkdir", "link") and disk.kind_at(course, step.path) is not None:
        problems.taken.append(step.path)


def _stages(disk: Before, course: Course, origins: Sequence[str]) -> tuple[str, ...]:
    """For each step, the innermost folder above its path that is there before and after, always under the same name.

    Temporary files lie there: mostly beside the target, and always on the same file system, for a folder that can be
    moved or removed is not where another one is mounted.
    """
    on_the_move = {
        origin for step, origin in zip(course.steps, origins, strict=True) if step.kind in ("move", "rmdir")
    }
    stages = []
    for number, step in enumerate(course.steps):
        folder = folder_of(step.path)
        while folder and not _stays(disk, course, number, folder, on_the_move):
            folder = folder_of(folder)
        stages.append(folder)
    return tuple(stages)


def _stays(disk: Before, course: Course, n_steps: int, folder: str, on_the_move: Collection[str]) -> bool:
    there = course.trace(folder, n_steps)
    if there.what != "disk" or there.origin != folder or not disk.is_folder(folder):
        return False
    return not any(name in on_the_move for name in (folder, *folders_above(folder)))


def _check_writable(disk: Before, problems: Problems, course: Course, stages: Iterable[str]) -> None:
    folders = set(stages)
    files: set[str] = set()
    for number, step in enumerate(course.steps):
        there = course.trace(step.path, number)
        if there.what == "disk" and step.kind in ("write", "delete"):
            files.add(there.origin)
        for path in (step.path, step.new):
            above = course.trace(folder_of(path), number)
            if path and above.what == "disk" and disk.is_folder(above.origin):
                folders.add(above.origin)
    problems.read_only += [name for name in sorted(files) if not _file_is_writable(disk, name)]
    problems.read_only += [
        f"{name or '.'}/" for name in sorted(folders) if not _is_permitted(disk, name, os.W_OK | os.X_OK)
    ]


def _file_is_writable(disk: Before, name: str) -> bool:
    """A file that alone lacks its write bit was protected on purpose, and stays so even for the superuser.

    In a folder without write bits (a tree unpacked or mounted read-only) the bits say nothing about the one file: what
    the system permits counts.
    """
    protected = not disk.operations.stat(disk.absolute(name)).st_mode & 0o222
    folder_is_open = disk.operations.stat(disk.absolute(folder_of(name))).st_mode & 0o222
    return not (protected and folder_is_open) and _is_permitted(disk, name, os.W_OK)


def _is_permitted(disk: Before, name: str, wanted: int) -> bool:
    """Only the system knows what the bits, our identity and the mount come to; root is told yes by it."""
    if disk.operations.is_local:
        return os.access(disk.absolute(name), wanted)
    return bool(disk.operations.stat(disk.absolute(name)).st_mode & 0o222)


def _exists(paths: Iterable[str]) -> Refused:
    names = sorted(set(paths))
    return Refused(
        "exists",
        f"{', '.join(map(repr, names))} exists already"
        if len(names) == 1
        else f"{', '.join(map(repr, names))} exist already",
        hint="choose another name, or delete what is there first",
        conflicts=tuple(
            Conflict("exists", f"{name!r} is in the way", (Site(name, 1, 1, "exists already"),))
            for name in names
        ),
    )


def _read_only(names: Sequence[str]) -> Unavailable:
    return Unavailable(
        "unavailable",
        f"{', '.join(map(repr, names))} may not be written; nothing was changed",
        hint="make it writable, or leave it out of the change",
        sites=tuple(Site(name, 1, 1, "read-only") for name in names),
    )
