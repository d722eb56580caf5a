"""Which test ran which lines, where coverage.py has recorded it: a `.coverage` file with a context per test.

It is there after `pytest --cov --cov-context=test`, or after `coverage run` with `dynamic_context = test_function`. Nothing of
coverage.py is needed to read it. What it says is about the text that was run, which it does not name: it is believed of a file if
every line it has recorded holds code there, and not believed of one where a line is blank, a comment or past the end. Contexts in which
other files ran that are newer than the record are told apart: what ran then may not be what would run now.

Where it stops: lines that run while modules are imported belong to whichever test imported them first, so only the bodies of
functions are asked for. Data in another place than the root of the workspace, or of several processes and not yet combined, is not found.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from lsptools.text.document import Document
from lsptools.workspace.snapshot import Snapshot

FILE = ".coverage"
MOST_STEPS, MOST_ROWS, MOST_FILES = 400_000_000, 5_000_000, 100_000
"""Of SQLite's machine, of one answer, and of that with the files; a hostile record may have endless ones."""
LONGEST_VALUE, MOST_BYTES = 1 << 18, 1 << 28
"""Bytes of one value (two million lines of a file, as bits), and of all lines together."""
_PHASES = ("|run", "|setup", "|teardown")


@dataclass(frozen=True, slots=True)
class Recorded:
    """What ran in each context. A set of lines is a number: its bit n is line n, 1-based."""

    lines: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """The lines that ran, of the files asked for (relative to the root), by context."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """By context, how much of the workspace ran in it: lines, or steps from line to line where those were recorded."""
    doubted: frozenset[str] = frozenset()
    """The contexts in which a file ran that has changed since, apart from the files asked for."""
    is_newer: Callable[[str], bool] = field(default=lambda _: False, compare=False)
    """Whether a file has changed since, as far as its time says, or is gone."""

    def is_of(self, path: str, document: Document | None) -> bool:
        """Whether what was recorded of a file can have been this text."""
        by_context = self.lines.get(path)
        if by_context is None or document is None:
            return False
        ran = 0
        for each in by_context.values():
            ran |= each
        lines = document.lines
        return ran.bit_length() <= lines.n_lines + 1 and all(
            line and (text := lines.line_text(line - 1).strip()) and not text.startswith("#")
            for line, bit in enumerate(reversed(f"{ran:b}"))
            if bit == "1"
        )

    def running(self, path: str, wanted: int) -> Iterator[str]:
        """The contexts in which one of these lines ran; not the one of imports, which has no name."""
        for context, ran in self.lines.get(path, {}).items():
            if context and ran & wanted:
                yield context


def line_set(first: int, last: int) -> int:
    """The lines from the first to the last, both included."""
    return (1 << (last + 1)) - (1 << first)


def recorded(snapshot: Snapshot, wanted: Collection[str]) -> Recorded | None:
    """What is recorded in the workspace, lines of the `wanted` files alone; `None` without data, or without contexts in it."""
    if not (snapshot.operations.is_local and snapshot.is_file(FILE)):
        return None
    path = snapshot.root.real(FILE)
    try:
        is_newer = _newer_than(snapshot, path)
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as data:
            _guard(data)
            found = _read(data, snapshot.root.path, frozenset(wanted), is_newer)
    except (sqlite3.Error, OSError, ValueError, TypeError, OverflowError):
        return None  # another form, a torn file, a hostile one
    return found if any(found.sizes) else None


def test_of(context: str) -> str:
    """The test that a context names, without phase and parameters: an id of pytest, or a dotted name."""
    for phase in _PHASES:
        context = context.removesuffix(phase)
    return context.partition("[")[0]


test_of.__test__ = False  # type: ignore[attr-defined]  # what pytest takes for a test, by its name


def _newer_than(snapshot: Snapshot, record: Path) -> Callable[[str], bool]:
    when = record.stat().st_mtime_ns
    known: dict[str, bool] = {}

    def is_newer(path: str) -> bool:
        if path not in known:
            try:
                changed = (snapshot.root.path / path).stat().st_mtime_ns
                known[path] = path in snapshot.overlays or changed > when
            except (OSError, ValueError):
                known[path] = True
        return known[path]

    return is_newer


def _guard(data: sqlite3.Connection) -> None:
    data.execute("PRAGMA trusted_schema = OFF")
    data.execute("PRAGMA query_only = ON")
    if sys.version_info >= (3, 11):
        data.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
    n_calls = 0

    def is_too_much() -> bool:
        nonlocal n_calls
        n_calls += 1
        return n_calls > MOST_STEPS // 100_000

    data.set_progress_handler(is_too_much, 100_000)


def _read(
    data: sqlite3.Connection, root: Path, wanted: frozenset[str], is_newer: Callable[[str], bool]
) -> Recorded:
    files = {
        number: relative
        for number, path in _rows(data, "SELECT id, path FROM file", most=MOST_FILES)
        if (relative := _relative(path, root)) is not None
    }
    asked = {number for number, path in files.items() if path in wanted}
    newer = {number for number, path in files.items() if path not in wanted and is_newer(path)}
    contexts = {number: str(name) for number, name in _rows(data, "SELECT id, context FROM context")}
    lines: dict[str, dict[str, int]] = {}
    sizes: dict[str, int] = {}
    doubted: set[str] = set()
    for file, number, size, ran in chain(_bits(data, asked), _arcs(data, asked)):
        if file not in files or number not in contexts:
            continue
        context = contexts[number]
        sizes[context] = sizes.get(context, 0) + size
        if ran:
            by_context = lines.setdefault(files[file], {})
            by_context[context] = by_context.get(context, 0) | ran
        if file in newer:
            doubted.add(context)
    return Recorded(lines, sizes, frozenset(doubted), is_newer)


Ran = tuple[Any, Any, int, int]
"""File and context, by number (of whatever type the file has); how much ran; which lines, if they are asked for."""


def _bits(data: sqlite3.Connection, asked: set[Any]) -> Iterator[Ran]:
    """From coverage.py's `numbits`: line n is bit n % 8 of byte n // 8."""
    n_bytes = 0
    for file, context, bits in _rows(data, "SELECT file_id, context_id, numbits FROM line_bits"):
        n_bytes += _checked(len(bits), n_bytes)
        ran = int.from_bytes(bits, "little")
        yield file, context, ran.bit_count(), ran if file in asked else 0


def _arcs(data: sqlite3.Connection, asked: set[Any]) -> Iterator[Ran]:
    query = "SELECT file_id, context_id, count(*) FROM arc GROUP BY file_id, context_id"
    for file, context, size in _rows(data, query):
        yield file, context, size, 0
    n_bytes = 0
    query = "SELECT context_id, fromno, tono FROM arc WHERE file_id = ? ORDER BY context_id"
    for file in asked:
        for context, rows in groupby(_rows(data, query, file), key=lambda row: row[0]):
            ran = {line for _, *ends in rows for line in ends if line > 0}
            n_bytes += _checked(max(ran, default=0) // 8 + 1, n_bytes)
            yield file, context, 0, _line_set_of(ran)


def _line_set_of(lines: Iterable[int]) -> int:
    bits = bytearray(max(lines, default=0) // 8 + 1)
    for line in lines:
        bits[line // 8] |= 1 << line % 8
    return int.from_bytes(bits, "little")


def _checked(n_bytes: int, n_before: int) -> int:
    if n_bytes > LONGEST_VALUE or n_before + n_bytes > MOST_BYTES:
        raise ValueError("no record has so many lines")
    return n_bytes


def _rows(
    data: sqlite3.Connection, query: str, *values: Any, most: int | None = None
) -> Iterator[Any]:  # of the file's types
    for number, row in enumerate(data.execute(query, values)):
        if number >= (MOST_ROWS if most is None else most):
            raise ValueError("no record has so many rows")
        yield row


def _relative(path: str, root: Path) -> str | None:
    written = Path(path)
    if written.is_absolute():
        if not written.is_relative_to(root):
            return None
        written = written.relative_to(root)
    return None if ".." in written.parts else written.as_posix()
