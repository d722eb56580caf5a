"""The results so far, one JSON object a line, so that a run that was stopped goes on where it ended.

A row holds for one tool in one version, one tree and one symbol; the key names them all, so nothing old is taken for new. A
line that was cut off by a stop is no row. Trees that become the same by different tools' answers share one judgement.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Row:
    """One question to one tool, and what became of it."""

    tool: str
    version: str
    project: str
    tree: str
    """Digest of the tree and of how its tests are run."""
    symbol: str
    """`path:line:column` of the definition."""
    kind: str
    name: str
    outcome: str
    why: str = ""
    answer: str = ""
    """Digest of the changed files; empty where there are none."""
    n_files: int = 0
    seconds: float = 0.0
    """Of the tool; with the start of a server only where it was the first question."""
    named: str = ""
    """For what `lsptools` broke: where its answer had named the site."""
    n_named: int = 0
    """Possible and mentioned occurrences in the answer."""

    @property
    def key(self) -> tuple[str, ...]:
        return self.tool, self.version, self.tree, self.symbol


class Ledger:
    """Rows in a file. The last row with a key counts."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._rows = {row.key: row for row in _read(file)} if file.exists() else {}

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows.values())

    def has(self, row: Row) -> bool:
        return row.key in self._rows

    def judged(self, tree: str, answer: str) -> Row | None:
        """A row whose answer left the same files."""
        if not answer:
            return None
        return next((row for row in self if row.tree == tree and row.answer == answer), None)

    def add(self, row: Row) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        start = "" if _ends_a_line(self._file) else "\n"
        with self._file.open("a", encoding="utf-8") as stream:
            stream.write(start + json.dumps(asdict(row)) + "\n")
        self._rows[row.key] = row


def _read(file: Path) -> Iterator[Row]:
    for line in file.read_text("utf-8").split("\n"):
        try:
            yield Row(**json.loads(line))
        except (ValueError, TypeError):
            continue


def _ends_a_line(file: Path) -> bool:
    return not file.exists() or not file.stat().st_size or file.read_bytes().endswith(b"\n")
