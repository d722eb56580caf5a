"""Answers of jedi, kept from one call to the next as long as nothing they depend on has changed.

What an answer depends on before anything is looked up is the key: the content of the file, the root, the names of all Python files, the
search path with the times of its folders, the versions of Python and jedi. With the answers is kept what else was looked at for them:
files of the workspace with the digests of their content, others with time and size. If one of those is different now, nothing is known.
Kept answers are data (JSON); nothing in them is executed.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsptools.errors import BadRequest
from lsptools.text.lines import Offset
from lsptools.workspace.cache import Cache
from lsptools.workspace.snapshot import Snapshot

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Found:
    """A definition that jedi found."""

    path: str | None
    """Absolute; None for what is built in."""
    line: int
    """From 1; 0 if it has none."""
    column: int
    """Code points, from 0."""
    name: str
    """Qualified, as far as jedi knows."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found in one file, and what was looked at for it."""

    definitions: Mapping[Offset, tuple[Found, ...]]
    """By the offset of the name that was asked about, in code points."""
    looked_at: tuple[str, ...]
    """Absolute paths."""


class Answers:
    """The kept answers about the files of one workspace as it is now."""

    def __init__(self, cache: Cache, snapshot: Snapshot, environment: str) -> None:
        self._cache = cache
        self._snapshot = snapshot
        self._environment = environment
        self._known: dict[str, Answer] = {}
        self._states: dict[str, str] = {}

    @classmethod
    def of(cls, folder: Path, snapshot: Snapshot, search_path: Sequence[str], names: str) -> Answers:
        """Those below the user's `folder`; `names` are those of all Python files of the workspace."""
        times = [_time(each) for each in search_path if not snapshot.root.holds(each)]
        versions = (_FORMAT, sys.version, importlib.metadata.version("jedi"))
        environment = json.dumps([os.fspath(snapshot.root.path), search_path, times, versions, names])
        return cls(Cache(folder / "inference"), snapshot, environment)

    def known(self, path: str) -> Mapping[Offset, tuple[Found, ...]]:
        """What is known of places in a file, by their offset (code points)."""
        kept = self._cache.get(self._key(path))
        if kept is None:
            return {}
        definitions, looked_at = json.loads(kept)
        if any(self._state(each) != seen for each, seen in looked_at.items()):
            return {}
        found = {Offset(int(at)): tuple(Found(*each) for each in all) for at, all in definitions.items()}
        self._known[path] = Answer(found, tuple(looked_at))
        return found

    def keep(self, path: str, answer: Answer) -> None:
        """Add what was found for places in a file.

        What jedi has seen of another file that is not like that on the disk (an editor has it open) is not kept.
        """
        if any(
            each != path and each in self._snapshot.overlays for each in map(self._relative, answer.looked_at)
        ):
            return
        before = self._known.get(path, Answer({}, ()))
        definitions = {
            str(at): [[each.path, each.line, each.column, each.name] for each in found]
            for at, found in {**before.definitions, **answer.definitions}.items()
        }
        looked_at = {each: self._state(each) for each in (*before.looked_at, *answer.looked_at)}
        self._cache.put(self._key(path), json.dumps([definitions, looked_at]).encode())

    def tidy(self) -> None:
        """Keep the bounds."""
        self._cache.tidy()

    def _key(self, path: str) -> str:
        return "\0".join([self._environment, path, self._snapshot.document(path).digest])

    def _state(self, path: str) -> str:
        """What is there now, as a text that is the same only if it is."""
        if path not in self._states:
            self._states[path] = self._looked_up(path)
        return self._states[path]

    def _looked_up(self, path: str) -> str:
        try:
            return self._snapshot.document(self._relative(path)).digest
        except BadRequest:  # outside of the workspace, or nothing that can be read
            return _time(path)

    def _relative(self, path: str) -> str:
        try:
            return self._snapshot.root.relative(path)
        except BadRequest:
            return path


def _time(path: str) -> str:
    try:
        facts = Path(path).stat()
    except OSError:
        return ""
    return f"{facts.st_mtime_ns} {facts.st_size}"
