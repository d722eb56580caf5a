"""Medians, ratios and differences: what is printed, and what is written below `benchmarks/work/`.

A ratio is `lsptools` divided by the peer, from runs that took turns on the same machine, so the machine cancels out.
A difference is about places (path, line, UTF-16 column) and goes both ways. A place that only the peer has carries what
`lsptools` says about it; one that is no occurrence of the name (a use of an alias, say) carries the text that stands there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.archives import WORK
from benchmarks.corpora import Question
from benchmarks.measure import Place, Run

OURS = "lsptools"
_HEAD = ("tool", "refs", "first s", "refs then", "stable s", "cpu s", "MB")
_RATIOS = (
    "time ÷ first",
    "time ÷ stable",
    "rename ÷ stable",
    "cpu ÷",
    "memory ÷",
    "only peer",
    "only lsptools",
    "note",
)


@dataclass(frozen=True, slots=True)
class Row:
    """All runs of one tool on one question, as medians; `places` of the last run."""

    tool: str
    n_runs: int
    """0: only the places are known, from an earlier run."""
    first: float | None
    stable: float | None
    n_first: int
    cpu: float
    memory: float
    places: frozenset[Place]
    classes: Mapping[Place, str]
    note: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Places of one side only, each with what is known about it."""

    peer: str
    only_peer: tuple[tuple[Place, str], ...]
    only_ours: tuple[tuple[Place, str], ...]


def row(runs: Sequence[Run]) -> Row:
    last = runs[-1]
    counts = sorted({len(run.places) for run in runs})
    notes = {run.note: None for run in runs if run.note}
    if len(counts) > 1:
        notes[f"answers differ between runs: {counts}"] = None
    if last.n_outside:
        notes[f"{last.n_outside} more outside the project"] = None
    return Row(
        tool=last.tool,
        n_runs=len(runs),
        first=_median(run.first for run in runs),
        stable=_median(run.stable for run in runs),
        n_first=round(median(run.n_first for run in runs)),
        cpu=median(run.cpu for run in runs),
        memory=median(run.memory for run in runs),
        places=last.places,
        classes=last.classes or {},
        note="; ".join(notes),
    )


def stored(question: Question, tool: str) -> Row | None:
    """The places a tool gave in an earlier run; places do not depend on the machine's mood as times do."""
    file = _places_file(question, tool)
    if not file.exists():
        return None
    lines = [line.rsplit(":", 2) for line in file.read_text("utf-8").split("\n")[1:] if line]
    places = frozenset((path, int(line), int(column)) for path, line, column in lines)
    return Row(tool, 0, None, None, 0, 0.0, 0.0, places, {}, "earlier run")


def keep_places(question: Question, one: Row) -> None:
    header = "# path:line:column, from 1, columns in UTF-16 units"
    _write(_places_file(question, one.tool), [header, *(_say(place) for place in sorted(one.places))])


def difference(root: Path, question: Question, ours: Row, peer: Row) -> Difference:
    """Compares, and writes both lists in full to `differences/`."""
    source = _Source(root)
    only_peer = tuple(
        (place, ours.classes.get(place) or f"other text: {source.word(place)}")
        for place in sorted(peer.places - ours.places)
    )
    only_ours = tuple((place, ours.classes.get(place, "")) for place in sorted(ours.places - peer.places))
    for name, side in ((f"only-{peer.tool}", only_peer), (f"only-lsptools-not-{peer.tool}", only_ours)):
        lines = [f"{_say(place)}  [{label}]  {source.line(place).strip()}" for place, label in side]
        _write(WORK / "differences" / question.key / f"{name}.txt", lines)
    return Difference(peer.tool, only_peer, only_ours)


def table(rows: Sequence[Row], differences: Mapping[str, Difference]) -> list[list[str]]:
    """Cells, the head first."""
    by_tool = {one.tool: one for one in rows}
    ours, rename = by_tool.get(OURS), by_tool.get(f"{OURS} rename")
    refs_time, refs_cpu, refs_memory = (
        (ours.stable, ours.cpu, ours.memory) if ours and ours.stable else (None,) * 3
    )
    cells = [[*_HEAD, *_RATIOS]]
    for one in rows:
        found = differences.get(one.tool)
        numbers = [
            _seconds(one.first),
            f"{one.n_first:,}",
            _seconds(one.stable),
            f"{one.cpu:.2f}",
            f"{one.memory / 1e6:,.0f}",
        ]
        if one.n_runs == 0 or one.first is None:
            numbers = ["–"] * len(numbers)
        peer = not one.tool.startswith(OURS)
        ratios = [
            _ratio(refs_time, one.first) if peer else "",
            _ratio(refs_time, one.stable) if peer else "",
            _ratio(rename.stable if rename else None, one.stable) if peer else "",
            _ratio(refs_cpu, one.cpu) if peer else "",
            _ratio(refs_memory, one.memory) if peer else "",
            f"{len(found.only_peer):,}" if found else "",
            f"{len(found.only_ours):,}" if found else "",
        ]
        cells.append([one.tool, f"{len(one.places):,}" if one.places else "–", *numbers, *ratios, one.note])
    return cells


def plain(cells: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for line in cells:
        first, *numbers, note = (
            cell.ljust(width) if index == 0 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        lines.append("  ".join([first, *numbers, note.strip()]).rstrip())
    return "\n".join(lines)


def markdown(cells: Sequence[Sequence[str]]) -> str:
    head, *body = ("| " + " | ".join(line) + " |" for line in cells)
    return "\n".join([head, "|---|" + "---:|" * (len(cells[0]) - 2) + "---|", *body])


def summary(found: Difference, n_shown: int = 3) -> str:
    """How many places of which class only one side has, and the first few of them."""
    if not found.only_peer and not found.only_ours:
        return f"  {found.peer}: the same places"
    lines = []
    for side, places in (
        (f"only {found.peer}", found.only_peer),
        (f"only lsptools, not {found.peer}", found.only_ours),
    ):
        kinds = Counter(label.partition(":")[0] for _, label in places)
        lines.append(
            f"  {side}: {len(places):,}  " + ", ".join(f"{kind} {n:,}" for kind, n in kinds.most_common())
        )
        lines += [f"      {_say(place)}  [{label}]" for place, label in places[:n_shown]]
    return "\n".join(line.rstrip() for line in lines)


class _Source:
    """Lines of the files that places point into, each file read once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: dict[str, list[str]] = {}

    def line(self, place: Place) -> str:
        path, number, _ = place
        if path not in self._files:
            text = (self._root / path).read_bytes().decode("utf-8", "replace")
            self._files[path] = re.split(r"\r\n|\n|\r", text)
        lines = self._files[path]
        return lines[number - 1] if number <= len(lines) else ""

    def word(self, place: Place) -> str:
        rest = self.line(place).encode("utf-16-le")[2 * (place[2] - 1) :].decode("utf-16-le", "replace")
        found = re.match(r"\w+|.", rest)
        return found[0] if found else "(line end)"


def _places_file(question: Question, tool: str) -> Path:
    return WORK / "places" / question.key / f"{tool.replace(' ', '-')}.txt"


def _write(file: Path, lines: Iterable[str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def _say(place: Place) -> str:
    return "{}:{}:{}".format(*place)


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _ratio(ours: float | None, peer: float | None) -> str:
    return f"{ours / peer:.3f}" if ours and peer else "–"
