"""What a search of the workspace will not look into, found once per snapshot.

ripgrep does not say which files it found too large and which folders a glob made it leave out, short of its debugging
log, whose form is not for programs. So we walk the folders ourselves. That costs less than one search: nothing is opened.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsptools.workspace.found import Skipped, Why
from lsptools.workspace.globs import is_wanted
from lsptools.workspace.operations import Operations
from lsptools.workspace.paths import Root
from lsptools.workspace.walk import FOREIGN, walk

LIMIT = 8 << 20
"""Files of more bytes than this are no source text. It is only said of them that they match."""

HOPELESS = 64 << 20
"""Of a file of more bytes than this, not even that is found out."""

BUDGET = 256 << 20
"""Nor is it of more large files than have so many bytes together, the smallest first."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What is not searched, apart from what ignore rules say."""

    left_out: tuple[Skipped, ...]
    environments: tuple[str, ...]
    """Virtual environments whose name does not say so."""
    large: tuple[tuple[str, int], ...] = ()
    """Path and size of the files beyond the limit that are searched, each by itself."""
    huge: tuple[tuple[str, int], ...] = ()
    """Path and size of those that are not."""


NOTHING_SURVEYED = Survey((), ())
"""For a search of which nobody asks what was skipped."""


@dataclass(frozen=True, slots=True)
class Tree:
    """The files one search is about."""

    root: Root
    operations: Operations
    survey: Survey
    globs: Sequence[str]
    """As `globs.is_wanted` reads them."""
    everywhere: bool
    """Foreign folders, too."""


def survey(root: Root, operations: Operations, *, everywhere: bool = False) -> Survey:
    """Walk the workspace. `everywhere`: foreign folders are searched too."""
    foreign: list[str] = []
    large: list[tuple[str, int]] = []
    top = os.path.join(root.path, "")
    for folder in walk(root, operations, everywhere=everywhere):
        foreign.extend(folder.foreign)
        for path in folder.candidates:
            # Put together by hand: this line runs for every file of the workspace.
            size = operations.size(top + path)
            if size > LIMIT and not folder.rules.ignore(path, is_folder=False):
                large.append((path, size))
    environments = tuple(sorted(path for path in foreign if path.rpartition("/")[2] not in FOREIGN))
    searched, huge = _within_budget(large)
    return Survey(_notes(sorted(foreign)), environments, searched, huge)


def _within_budget(files: list[tuple[str, int]]) -> tuple[tuple[tuple[str, int], ...], ...]:
    left = BUDGET
    searched: list[tuple[str, int]] = []
    huge: list[tuple[str, int]] = []
    for size, path in sorted((size, path) for path, size in files):
        left -= size
        (searched if size <= HOPELESS and left >= 0 else huge).append((path, size))
    return tuple(sorted(searched)), tuple(sorted(huge))


def unsearched(tree: Tree) -> Iterator[Skipped]:
    """Notes on all that is not even looked into."""
    yield from tree.survey.left_out
    for path, size in tree.survey.huge:
        if is_wanted(path, tree.globs):
            yield Skipped(path, f"not searched: it has {_megabytes(size)}", Why.LARGE)


def large(path: str, size: int) -> Skipped:
    """The note for a file beyond the limit that has what is searched for."""
    return Skipped(
        path, f"it matches, but has {_megabytes(size)}; the limit is {_megabytes(LIMIT)}", Why.LARGE
    )


def binary(path: str) -> Skipped:
    """The note for a binary file that has what is searched for."""
    return Skipped(path, "binary file matches", Why.BINARY)


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):.1f} MB"


def _notes(foreign: list[str]) -> tuple[Skipped, ...]:
    """One note for each environment, and one for all folders of one name."""
    by_name: dict[str, list[str]] = {}
    for path in foreign:
        name = path.rpartition("/")[2]
        by_name.setdefault(name if name in FOREIGN else path, []).append(path)
    notes = []
    for name, paths in by_name.items():
        what = FOREIGN.get(name, "a virtual environment")
        others = f", like {len(paths) - 1} more folders of this name" if len(paths) > 1 else ""
        notes.append(Skipped(paths[0], f"left out: {what}{others}", Why.LEFT_OUT))
    return tuple(sorted(notes))
