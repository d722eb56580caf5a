"""How good is the choice of tests? Single functions of real packages are broken, and the tests that `verify` picks must notice.

python -m benchmarks.selection [--each N] [--seed N] [--only NAME]

For each package (a source archive from the registry, with its tests): functions are drawn and mutated in one place, until N
mutations are found that the whole suite kills. Told is how many of them the selected tests kill, and what share of the whole suite's
time they take, both measured with the same call of pytest. Tests that fail without a mutation do not count.

The tests run in an environment of their own, with pytest and what the packages' tests import, as a project's has it; a plugin that
happens to be installed beside lsptools would be loaded in each run. The suite has been run before in its folder, so modules are
compiled. Time is processor time of all processes, since that does not count what else the machine does; wall time stands beside it.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.archives import WORK, unpacked_source
from lsptools.faces.environment import Environment
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Offset, Span
from lsptools.verify.mention_graph import TEST_FILE
from lsptools.verify.programs import AFTER, BEFORE, Programs
from lsptools.verify.pytest_run import Outcome, TestRun, run_tests
from lsptools.verify.selection import select
from lsptools.verify.versions import Versions
from lsptools.workspace.bench import Bench
from lsptools.workspace.change import Change, FileEdits
from lsptools.workspace.operations import LocalOperations
from lsptools.workspace.paths import Root
from lsptools.workspace.snapshot import Snapshot

FOLDER = WORK / "selection"
PACKAGES = ("sqlparse==0.5.3", "more-itertools==10.7.0", "packaging==25.0")
NEEDED = ("pytest<9", "pretend")
"""By the tests of the packages; with later versions of pytest some of their files are not collected."""
LIMIT_S = 900.0
_SWAPS: dict[type[ast.AST], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: ">=",
    ast.GtE: "<",
    ast.Gt: "<=",
    ast.LtE: ">",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}


@dataclass(frozen=True, slots=True)
class Mutation:
    """One place of one function, and what shall stand there."""

    path: str
    function: str
    line: int
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """A mutation that the whole suite kills, and what the selected tests do."""

    mutation: Mutation
    is_killed: bool
    share: float
    """Of the whole suite's processor time."""
    wall_share: float
    n_selected: int


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.selection")
    parser.add_argument("--each", type=int, default=20, help="mutations per package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="packages whose name has this in it")
    options = parser.parse_args()
    rows: list[Row] = []
    for package in PACKAGES:
        if not options.only or options.only in package:
            found = list(measure(package, options.each, random.Random(options.seed)))
            print(f"{package}: {told(found)}", flush=True)
            rows += found
    print(f"all: {told(rows)}")


def told(rows: list[Row]) -> str:
    killed = sum(row.is_killed for row in rows)
    share, wall = (
        statistics.median(shares) if (shares := [getattr(row, name) for row in rows]) else 0.0
        for name in ("share", "wall_share")
    )
    return (
        f"{killed} of {len(rows)} killed by the selected tests, in a median of {share:.0%} of the suite's processor time "
        f"({wall:.0%} of wall time)"
    )


def measure(package: str, n_wanted: int, chance: random.Random) -> Iterator[Row]:
    """Mutations of a package that its whole suite kills."""
    root = unpacked(package)
    snapshot = Snapshot(Root.of(root), LocalOperations(), Environment().rg(Root.of(root)))
    environment = tests_environment()
    variables = {**os.environ, "VIRTUAL_ENV": str(environment)}
    subprocess.run(
        [environment / "bin" / "python", "-m", "pytest", "-q"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(("src", "."))},
        stdout=subprocess.DEVNULL,
        check=False,
    )
    mutations = list(drawn(snapshot, chance))
    with tempfile.TemporaryDirectory() as home:
        known_bad, whole = baseline(snapshot, variables, Path(home))
        print(
            f"{package}: the whole suite takes {whole.wall:.1f} s ({whole.processor:.1f} s of processor time), "
            f"{len(known_bad)} fail without a mutation",
            flush=True,
        )
        n_found = 0
        for mutation in mutations:
            if n_found >= n_wanted:
                return
            row = tried(snapshot, mutation, variables, Path(home), known_bad, whole)
            if row is not None:
                n_found += 1
                print(f"  {'killed  ' if row.is_killed else 'SURVIVED'} {row.share:5.0%} {row.n_selected:5} tests"
                      f"  {mutation.path}:{mutation.line} {mutation.function}: {mutation.text!r}", flush=True)  # fmt: skip
                yield row


@dataclass(frozen=True, slots=True)
class Spent:
    """What something took, in seconds."""

    wall: float
    processor: float


class Clock:
    """What has been spent since it was made, by the processes that have ended since."""

    def __init__(self) -> None:
        self._wall, self._processor = time.monotonic(), self._of_children()

    def read(self) -> Spent:
        return Spent(time.monotonic() - self._wall, self._of_children() - self._processor)

    @staticmethod
    def _of_children() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime


def baseline(snapshot: Snapshot, variables: dict[str, str], home: Path) -> tuple[frozenset[str], Spent]:
    """The tests that fail anyway, and how long all take."""
    versions = Versions(snapshot, snapshot, Change(), (), "nothing")
    with Bench(home, snapshot.root.path) as bench:
        programs = Programs(versions, bench, variables, LIMIT_S)
        run = run_tests(programs, BEFORE, ())
        clock = Clock()
        run_tests(programs, BEFORE, ())
        whole = clock.read()
    if run.lack is not None or not run.results or run.uncollected or not run.has_ended:
        raise SystemExit(f"the tests do not run: {run.lack or run.done.last_words}")
    return frozenset(each.id for each in run.with_outcome(Outcome.FAILED)), whole


def tried(
    snapshot: Snapshot,
    mutation: Mutation,
    variables: dict[str, str],
    home: Path,
    known_bad: frozenset[str],
    whole: Spent,
) -> Row | None:
    """What the selected tests say of a mutation; `None` where the whole suite does not notice it."""
    document = snapshot.document(mutation.path)
    edits = Edits((TextEdit(mutation.span, mutation.text),))
    versions = Versions.of_change(snapshot, Change((FileEdits(mutation.path, edits, document.digest),)))
    selection = select(versions)
    with Bench(home, snapshot.root.path) as bench:
        programs = Programs(versions, bench, variables, max(30.0, 5 * whole.wall))
        clock = Clock()
        is_killed = bool(selection.ids) and noticed(
            run_tests(programs, AFTER, selection.files, selection.ids), known_bad
        )
        spent = clock.read() if selection.ids else Spent(0.0, 0.0)
        if not is_killed and not noticed(run_tests(programs, AFTER, ()), known_bad):
            return None
    shares = spent.processor / whole.processor, spent.wall / whole.wall
    return Row(mutation, is_killed, *shares, len(selection.ids))


def noticed(run: TestRun, known_bad: frozenset[str]) -> bool:
    failed = {each.id for each in run.with_outcome(Outcome.FAILED)} - known_bad
    return bool(failed or run.uncollected or run.done.is_timed_out)


def drawn(snapshot: Snapshot, chance: random.Random) -> Iterator[Mutation]:
    """One mutation of each function outside of the tests, in random order."""
    functions = []
    for path in snapshot.files(globs=("*.py",)):
        is_ours = not TEST_FILE.search(path) and not {"tests", "test", "docs", "examples", "tasks"} & set(
            path.split("/")
        )
        if is_ours and "/" in path:
            tree = ast.parse(snapshot.document(path).text)
            functions += [(path, node) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    chance.shuffle(functions)
    for path, function in functions:
        places = list(mutations(snapshot, path, function))
        if places:
            yield chance.choice(places)


def mutations(snapshot: Snapshot, path: str, function: ast.FunctionDef) -> Iterator[Mutation]:
    """Every way to break a function in one place."""
    lines = snapshot.document(path).lines
    text = lines.text

    def span(first: ast.expr, last: ast.expr) -> Span:
        return Span(at(first.lineno, first.col_offset), at(last.end_lineno or 0, last.end_col_offset or 0))

    def at(line: int, column: int) -> Offset:
        return Offset(lines.starts[line - 1] + len(lines.line_text(line - 1).encode()[:column].decode()))

    for node in ast.walk(function):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = node.left, node.comparators[0]
            between = Span(span(left, left).end, span(right, right).start)
            if "(" not in text[between.start : between.end] and ")" not in text[between.start : between.end]:
                yield Mutation(path, function.name, line, between, f" {_SWAPS[type(node.ops[0])]} ")
        elif (
            isinstance(node, ast.Return)
            and node.value is not None
            and not isinstance(node.value, ast.Constant)
        ):
            yield Mutation(path, function.name, line, span(node.value, node.value), "None")
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield Mutation(path, function.name, line, span(node, node), str(not node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, int):
            yield Mutation(path, function.name, line, span(node, node), str(node.value + 1))


def tests_environment() -> Path:
    """A virtual environment with what the tests need and nothing else, made once."""
    folder = FOLDER / "venv"
    if not folder.is_dir():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = str(folder / "bin" / "python")
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *NEEDED], check=True)
    return folder


def unpacked(package: str) -> Path:
    """The source archive of a package, unpacked once."""
    kept = FOLDER / package.replace("==", "-")
    if not kept.is_dir():
        FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=FOLDER) as place:
            unpacked_source(package, Path(place)).rename(kept)
    return kept


if __name__ == "__main__":
    main()
