"""Which test ran which lines, where coverage.py has recorded it: a `.coverage` file with a context per test.

It is there after `pytest --cov --cov-context=test`, or after `coverage run` with `dynamic_context = test_function`. Nothing of
coverage.py is needed to read it. What it says is about the text that was run, which it does not name: it is believed of a file if
every line it has recorded holds code there, and not believed of one where a line is blank, a comment or past the end.

Where it stops: lines that run while modules are imported belong to whichever test imported them first, so only the bodies of
functions are asked for. Data in another place than the root of the workspace, or of several processes and not yet combined, is not found.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsptools.text.document import Document
from lsptools.workspace.snapshot import Snapshot

FILE = ".coverage"
MOST_STEPS, MOST_ROWS = 100_000_000, 5_000_000
"""Of SQLite's machine, and of one answer; a hostile file may have endless ones."""
_PHASES = ("|run", "|setup", "|teardown")


@dataclass(frozen=True, slots=True)
class Recorded:
    """Lines that ran, by file (relative to the root) and context."""

    lines: Mapping[str, Mapping[str, frozenset[int]]] = field(default_factory=dict)

    @property
    def contexts(self) -> frozenset[str]:
        return frozenset(context for by_context in self.lines.values() for context in by_context)

    def is_of(self, path: str, document: Document | None) -> bool:
        """Whether what was recorded of a file can have been this text."""
        by_context = self.lines.get(path)
        if by_context is None or document is None:
            return False
        lines = document.lines
        ran = frozenset().union(*by_context.values())
        return all(
            1 <= line <= lines.n_lines
            and (text := lines.line_text(line - 1).strip())
            and not text.startswith("#")
            for line in ran
        )

    def running(self, path: str, wanted: frozenset[int]) -> Iterator[str]:
        """The contexts in which one of these lines ran; not the one of imports, which has no name."""
        for context, ran in self.lines.get(path, {}).items():
            if context and ran & wanted:
                yield context


def recorded(snapshot: Snapshot) -> Recorded | None:
    """What is recorded in the workspace; `None` without data, or without contexts in it."""
    if not (snapshot.operations.is_local and snapshot.is_file(FILE)):
        return None
    path = snapshot.root.real(FILE)
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as data:
            _guard(data)
            found = Recorded(_lines(data, snapshot.root.path))
    except (sqlite3.Error, ValueError, TypeError, OverflowError):
        return None  # another form, a torn file, a hostile one
    return found if any(found.contexts) else None


def test_of(context: str) -> str:
    """The test that a context names, without phase and parameters: an id of pytest, or a dotted name."""
    for phase in _PHASES:
        context = context.removesuffix(phase)
    return context.partition("[")[0]


test_of.__test__ = False  # type: ignore[attr-defined]  # what pytest takes for a test, by its name


def _guard(data: sqlite3.Connection) -> None:
    data.execute("PRAGMA trusted_schema = OFF")
    data.execute("PRAGMA query_only = ON")
    n_calls = 0

    def is_too_much() -> bool:
        nonlocal n_calls
        n_calls += 1
        return n_calls > MOST_STEPS // 100_000

    data.set_progress_handler(is_too_much, 100_000)


def _lines(data: sqlite3.Connection, root: Path) -> dict[str, dict[str, frozenset[int]]]:
    files = {
        number: relative
        for number, path in _rows(data, "SELECT id, path FROM file", most=100_000)
        if (relative := _relative(path, root)) is not None
    }
    contexts = dict(_rows(data, "SELECT id, context FROM context"))
    ran: dict[tuple[int, int], set[int]] = {}
    for file, context, bits in _rows(data, "SELECT file_id, context_id, numbits FROM line_bits"):
        ran.setdefault((file, context), set()).update(_numbers(bits))
    for file, context, start, end in _rows(
        data, "SELECT file_id, context_id, fromno, tono FROM arc", 10 * MOST_ROWS
    ):
        ran.setdefault((file, context), set()).update(line for line in (start, end) if line > 0)
    found: dict[str, dict[str, frozenset[int]]] = {}
    for (file, context), lines in ran.items():
        if file in files and context in contexts:
            found.setdefault(files[file], {})[str(contexts[context])] = frozenset(lines)
    return found


def _rows(
    data: sqlite3.Connection, query: str, most: int = MOST_ROWS
) -> Iterator[Any]:  # of the file's types
    for number, row in enumerate(data.execute(query)):
        if number >= most:
            raise ValueError("no record has so many rows")
        yield row


def _relative(path: str, root: Path) -> str | None:
    written = Path(path)
    if written.is_absolute():
        if not written.is_relative_to(root):
            return None
        written = written.relative_to(root)
    return written.as_posix()


def _numbers(bits: bytes) -> Iterator[int]:
    """The lines of coverage.py's `numbits`: line n is bit n % 8 of byte n // 8."""
    for at, byte in enumerate(bits):
        for bit in range(8):
            if byte & (1 << bit):
                yield at * 8 + bit
