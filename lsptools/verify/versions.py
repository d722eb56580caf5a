"""The two texts of a change, before and after, whatever it came from: a plan, an entry of the history, a git revision.

A `Pair` is one file: its name and document before and after, and the edits between. The edits are found anew from the two
texts, so what a plan announces can be compared with what it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from lsptools.errors import BadRequest
from lsptools.languages.python.candidates import PYTHON_SUFFIXES
from lsptools.text.diff import edits_between
from lsptools.text.document import Document
from lsptools.text.edits import Edits
from lsptools.workspace.change import Change, Creation, Deletion, FileEdits, Move, with_documents
from lsptools.workspace.snapshot import Snapshot

NO_EDITS = Edits(())
Modes = Mapping[str, tuple[int, int]]
"""Permission bits before and after, by the name after, where both are known."""


@dataclass(frozen=True)
class Pair:
    """One file that differs. No `old`: it is new. No `new`: it is gone. No document: it is binary."""

    old: str | None
    new: str | None
    before: Document | None
    after: Document | None

    @property
    def name(self) -> str:
        """What it is called now, or was."""
        return self.new or self.old or ""

    @property
    def is_python(self) -> bool:
        return self.name.endswith(PYTHON_SUFFIXES)

    @cached_property
    def edits(self) -> Edits:
        """What leads from one text to the other."""
        if self.before is None or self.after is None or self.before.text == self.after.text:
            return NO_EDITS
        return edits_between(self.before.text, self.after.text)


@dataclass(frozen=True)
class Versions:
    """The workspace before and after a change."""

    before: Snapshot
    after: Snapshot
    change: Change
    pairs: tuple[Pair, ...]
    what: str
    """What the change is, for people."""
    is_announced: bool = True
    """Whether the change was planned, and not read off the two texts."""
    modes: Modes = field(default_factory=dict)

    @classmethod
    def of_change(cls, snapshot: Snapshot, change: Change) -> Versions:
        """A change that is planned and not done."""
        after = change.after(snapshot)
        new_names = {change.path_after(path): path for path in _gone(snapshot, after)}
        pairs = list(_pairs(snapshot, after, new_names))
        return cls(snapshot, after, change, tuple(pairs), change.label or "the change")

    @classmethod
    def of_documents(
        cls,
        now: Snapshot,
        before: Mapping[str, Document | None],
        what: str,
        *,
        moves: tuple[Move, ...] = (),
        modes: Modes | None = None,
    ) -> Versions:
        """A change that is done: what files were before (`None`: there was none), and as they are now."""
        texts = {path: None if document is None else document.text for path, document in before.items()}
        then = with_documents(
            now.with_overlays(texts), {path: each for path, each in before.items() if each is not None}
        )
        new_names = {move.new: move.old for move in moves}
        pairs = tuple(_pairs(then, now.with_overlays({}), new_names, paths=sorted(before)))
        change = _change_of(pairs, moves, what)
        return cls(then, now, change, pairs, what, is_announced=False, modes=modes or {})

    @property
    def python(self) -> Iterator[Pair]:
        """The Python files that differ."""
        return (pair for pair in self.pairs if pair.is_python)

    @property
    def paths(self) -> tuple[str, ...]:
        """Every name a differing file has, before or after."""
        return tuple(sorted({name for pair in self.pairs for name in (pair.old, pair.new) if name}))

    @cached_property
    def by_old_name(self) -> Mapping[str, Pair]:
        return {pair.old: pair for pair in self.pairs if pair.old is not None}

    @cached_property
    def by_new_name(self) -> Mapping[str, Pair]:
        return {pair.new: pair for pair in self.pairs if pair.new is not None}

    def name_after(self, path: str) -> str | None:
        """What a file is called after the change; `None` if it is gone."""
        pair = self.by_old_name.get(path)
        return path if pair is None else pair.new


def _gone(before: Snapshot, after: Snapshot) -> Iterator[str]:
    return (path for path, text in after.overlays.items() if text is None and before.is_file(path))


def _pairs(
    before: Snapshot, after: Snapshot, new_names: Mapping[str, str], paths: list[str] | None = None
) -> Iterator[Pair]:
    """The files that differ; `new_names` has the old name of each that was moved, by the new one."""
    names = sorted(set(after.overlays) | set(before.overlays)) if paths is None else paths
    moved = {old for new, old in new_names.items() if after.is_file(new)}
    for name in names:
        old = new_names.get(name, name)
        if old == name and name in moved:
            continue  # told under its new name
        had, has = before.is_file(old), after.is_file(name)
        pair = Pair(
            old if had else None,
            name if has else None,
            _document(before, old) if had else None,
            _document(after, name) if has else None,
        )
        if (had or has) and (pair.old != pair.new or before.bytes(old) != after.bytes(name)):
            yield pair


def _document(snapshot: Snapshot, path: str) -> Document | None:
    try:
        return snapshot.document(path)
    except BadRequest:
        return None


def _change_of(pairs: tuple[Pair, ...], moves: tuple[Move, ...], label: str) -> Change:
    edits = [
        FileEdits(pair.old, pair.edits, pair.before.digest)
        for pair in pairs
        if pair.old is not None and pair.new is not None and pair.before is not None
    ]
    creations = [
        Creation(pair.new, pair.after.text)
        for pair in pairs
        if pair.old is None and pair.new is not None and pair.after is not None
    ]
    deletions = [
        Deletion(pair.old, pair.before.digest)
        for pair in pairs
        if pair.new is None and pair.old is not None and pair.before is not None
    ]
    return Change(tuple(edits), moves, tuple(creations), tuple(deletions), label=label)
