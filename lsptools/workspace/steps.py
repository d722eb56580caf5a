"""A change in the terms of a disk: a list of small steps, each of which can be taken back.

Every path is relative to the root, with `/`, and real (no link above it); it is the path *at the time of the step*, so a
file that was moved by an earlier step has its new name in the later ones. Content is named by its digest. The inverse
of a list is the inverses of its steps, backwards; that is all that undo is.

`Course.trace` answers what is at a path after some steps, without taking them. Nothing here touches a disk.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from lsptools.workspace.change import is_at_or_below

Kind = Literal["write", "create", "delete", "move", "mkdir", "rmdir", "link", "unlink"]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing done to the disk. A `link` makes a link, an `unlink` ends one; their content is the path that it says."""

    kind: Kind
    path: str
    new: str = ""
    """Where a `move` leads."""
    before: str = ""
    """Digest of the content that a `write`, `delete` or `unlink` ends, or that a `move` carries (empty for folders and links)."""
    after: str = ""
    """Digest of the content that a `write`, `create` or `link` begins."""
    mode: int | None = None
    """Permission bits of what is created, or was there before it went; `None`: as the process creates things."""

    def inverse(self) -> Step:
        """The step that takes this one back."""
        match self.kind:
            case "write":
                return Step("write", self.path, before=self.after, after=self.before)
            case "create":
                return Step("delete", self.path, before=self.after, mode=self.mode)
            case "delete":
                return Step("create", self.path, after=self.before, mode=self.mode)
            case "move":
                return Step("move", self.new, self.path, before=self.before)
            case "mkdir":
                return Step("rmdir", self.path, mode=self.mode)
            case "rmdir":
                return Step("mkdir", self.path, mode=self.mode)
            case "link":
                return Step("unlink", self.path, before=self.after)
            case "unlink":
                return Step("link", self.path, after=self.before)


def inverse(steps: Sequence[Step]) -> list[Step]:
    """The steps that take all of `steps` back."""
    return [step.inverse() for step in reversed(steps)]


class Trace(NamedTuple):
    """What is at a path after some steps."""

    what: Literal["disk", "file", "folder", "nothing"]
    """`disk`: whatever the disk has at `origin` before the steps (perhaps nothing); the others are due to the steps."""
    origin: str
    digest: str
    """Of the content, if a step has written it; else empty."""


class Course:
    """Steps one after the other, as they are decided on, and what is where after them."""

    def __init__(self, steps: Iterable[Step] = ()) -> None:
        self.steps: list[Step] = []
        self._at: dict[str, list[int]] = {}
        """By path: the numbers of the steps, other than moves, that are about it."""
        self._moves: dict[str, list[int]] = {}
        """By path: the numbers of the moves from it or to it."""
        for step in steps:
            self.add(step)

    def add(self, step: Step) -> None:
        """One more step, after all others."""
        number = len(self.steps)
        self.steps.append(step)
        if step.kind == "move":
            self._moves.setdefault(step.path, []).append(number)
            self._moves.setdefault(step.new, []).append(number)
        else:
            self._at.setdefault(step.path, []).append(number)

    def trace(self, path: str, n_steps: int | None = None) -> Trace:
        """What is at `path` after the steps, or after the first `n_steps`."""
        digest = ""
        before = len(self.steps) if n_steps is None else n_steps
        while (before := self._last_about(path, before)) >= 0:
            step = self.steps[before]
            if step.kind == "move":
                if not is_at_or_below(path, step.new):
                    return Trace("nothing", path, "")
                path = step.path + path[len(step.new) :]
            elif step.path != path:
                if step.kind != "write":
                    return Trace("nothing", path, "")  # what was there went with a folder or link above it
            elif step.kind == "write":
                digest = digest or step.after
            elif step.kind in ("create", "link"):
                return Trace("file", path, digest or step.after)
            else:
                return Trace("folder" if step.kind == "mkdir" else "nothing", path, "")
        return Trace("disk", path, digest)

    def _last_about(self, path: str, before: int) -> int:
        """The last step with a number below `before` that decides what is at `path`; -1 if there is none."""
        last = _last_below(self._at.get(path), before)
        last = max(last, _last_below(self._moves.get(path), before))
        for above in folders_above(path):
            last = max(last, _last_below(self._moves.get(above), before))
            last = max(last, _last_below(self._at.get(above), before))
        return last


TEMPORARY_PREFIX = ".lsptools-"
"""How the names of temporary files begin, which are in the workspace while a change is under way."""


def aside(path: str) -> str:
    """A fresh name beside `path`, for what gives its place to another before its own is free."""
    folder = folder_of(path)
    return f"{folder}{'/' if folder else ''}{TEMPORARY_PREFIX}{os.urandom(8).hex()}{_ASIDE}"


def is_aside(path: str) -> bool:
    """Is this a name that `aside` gave?"""
    name = path.rpartition("/")[2]
    return name.startswith(TEMPORARY_PREFIX) and name.endswith(_ASIDE)


_ASIDE = "-aside.tmp"


def path_after(steps: Iterable[Step], path: str) -> str:
    """What is at `path` now: what is it called after `steps`?"""
    for step in steps:
        if step.kind == "move" and is_at_or_below(path, step.path):
            path = step.new + path[len(step.path) :]
    return path


def folder_of(path: str) -> str:
    """The folder a path is in; `` is the root."""
    return path.rpartition("/")[0]


def folders_above(path: str) -> list[str]:
    """The folders a path is in, outermost first, without the root."""
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(1, len(parts))]


def _last_below(numbers: list[int] | None, before: int) -> int:
    """The last of the sorted `numbers` below `before`; -1 if there is none."""
    index = bisect_left(numbers, before) if numbers else 0
    return numbers[index - 1] if numbers and index else -1
