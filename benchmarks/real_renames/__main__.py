"""`python -m benchmarks.real_renames`: draw symbols, have every tool rename them, let the packages' tests judge.

Results are kept in `work/real_renames/results.jsonl` as they come; a run that was stopped goes on where it ended. It needs Linux
or macOS, git, and the network the first time; the tools and the tests get along without.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import platform
import tempfile
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.real_renames import report
from benchmarks.real_renames.answers import Tree
from benchmarks.real_renames.judging import Judge, Outcome, is_named
from benchmarks.real_renames.ledger import Ledger, Row
from benchmarks.real_renames.projects import (
    FOLDER,
    PROJECTS,
    Project,
    Suite,
    Unfit,
    digest_of,
    laid_out,
    prepare,
    run_suite,
    tree_of,
)
from benchmarks.real_renames.symbols import (
    Symbol,
    candidates,
    definition_alone,
    draw,
    executed_lines,
    fresh_name,
)
from benchmarks.real_renames.tools import WIDEST, Ask, Reply, Tool, ask_lsptools, known, tools

_SUITE_LIMIT_S = 300.0


@dataclass(frozen=True, slots=True)
class Examined:
    """What is found out about a tree before anything is renamed: how its tests end, and what they execute."""

    baseline: Suite
    executed: Mapping[str, Collection[int]]


def main() -> None:
    options = _options()
    ledger = Ledger(Path(options.results))
    asked = tools(options.tools)
    ends = time.monotonic() + 60 * options.minutes
    with tempfile.TemporaryDirectory(prefix="renames-") as scratch:
        for project in (each for each in PROJECTS if each.key in options.only):
            if time.monotonic() < ends:
                try:
                    _measure(project, asked, ledger, options, Path(scratch).resolve() / project.key, ends)
                except Unfit as why:
                    print(f"{project.key} is left out: {why}", flush=True)
    current = {tool.name: tool.version for tool in asked} | {report.ALONE: "1"}
    rows = [row for row in ledger if current.get(row.tool) == row.version and row.project in options.only]
    text = report.tables(rows, options.tools)
    versions = ", ".join(f"{tool.name} {tool.version}" for tool in asked)
    print(f"\n{text}\n{versions}; Python {platform.python_version()}\n\n{report.breakages(rows)}")
    if options.markdown:
        Path(options.markdown).write_text(text, "utf-8")
    if options.json:
        Path(options.json).write_text(
            json.dumps([dataclasses.asdict(row) for row in rows], indent=1) + "\n", "utf-8"
        )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_renames", description=__doc__)
    listed = lambda text: text.split(",")  # noqa: E731 - a type for argparse, named nowhere else
    keys = [project.key for project in PROJECTS]
    parser.add_argument("--only", type=listed, default=keys, help=f"projects, of {','.join(keys)}")
    parser.add_argument("--tools", type=listed, default=known(), help=f"of {','.join(known())}")
    parser.add_argument("--each", type=int, default=2, help="symbols of each kind and project")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--minutes", type=float, default=600, help="stop asking after so long")
    parser.add_argument(
        "--results", default=str(FOLDER / "results.jsonl"), help="the file that a run goes on from"
    )
    parser.add_argument("--json", metavar="OUT", help="write the rows that the tables are made of")
    parser.add_argument("--markdown", metavar="OUT", help="write the tables")
    options = parser.parse_args()
    for given, of in ((options.only, keys), (options.tools, known())):
        if unknown := set(given) - set(of):
            parser.error(f"unknown: {', '.join(sorted(unknown))}")
    return options


def _measure(
    project: Project,
    asked: list[Tool],
    ledger: Ledger,
    options: argparse.Namespace,
    folder: Path,
    ends: float,
) -> None:
    """All tools, on all symbols drawn of one project."""
    tree = tree_of(project)
    digest = digest_of(project, tree)
    prepare(project)
    examined = _examined(project, tree, digest, folder / "examined")
    judge = Judge(project, tree, examined.baseline)
    drawn = draw(
        candidates(tree, project.package, examined.executed), options.each, f"{options.seed}-{project.key}"
    )
    print(f"{project.key}: {len(drawn)} symbols, tests take {examined.baseline.seconds:.1f} s", flush=True)

    def is_over() -> bool:
        return time.monotonic() > ends

    for symbol in drawn:
        blank = _blank(report.ALONE, "1", project, digest, symbol)
        if not ledger.has(blank) and not is_over():
            new = fresh_name(tree, symbol)
            reply = Reply(0.0, definition_alone(tree, symbol, new))
            row = _judged(judge, ledger, blank, symbol, new, reply)
            if row.outcome != Outcome.BROKE:
                row = dataclasses.replace(row, outcome=Outcome.UNTESTED.value)
            _keep(ledger, row)
    tested = {row.symbol for row in ledger if (row.tool, row.outcome) == (report.ALONE, Outcome.BROKE)}
    for tool in asked:
        todo = [
            symbol
            for symbol in drawn
            if symbol.place in tested
            and not ledger.has(_blank(tool.name, tool.version, project, digest, symbol))
        ]
        if todo and not is_over():
            with tool.session(project, tree, folder / tool.name.replace(" ", "-")) as ask:
                for symbol in todo:
                    if not is_over():
                        _ask(tool, ask, judge, ledger, digest, symbol, folder)


def _ask(
    tool: Tool, ask: Ask, judge: Judge, ledger: Ledger, digest: str, symbol: Symbol, folder: Path
) -> None:
    new = fresh_name(judge.tree, symbol)
    reply = ask(symbol, new)
    row = _judged(
        judge, ledger, _blank(tool.name, tool.version, judge.project, digest, symbol), symbol, new, reply
    )
    if tool.name.startswith("lsptools") and row.outcome == Outcome.BROKE:
        row = dataclasses.replace(row, named=_where_named(judge, symbol, new, reply, folder))
    _keep(ledger, row)


def _judged(judge: Judge, ledger: Ledger, blank: Row, symbol: Symbol, new: str, reply: Reply) -> Row:
    """`blank` with what became of the reply; equal answers are judged once."""
    row = dataclasses.replace(blank, seconds=round(reply.seconds, 3), n_named=len(reply.named))
    if reply.fault:
        return dataclasses.replace(row, outcome=Outcome.BROKE.value, why=reply.fault)
    if reply.answer is None:
        return dataclasses.replace(row, outcome=Outcome.REFUSED.value, why=reply.refusal)
    answer = reply.answer
    row = dataclasses.replace(
        row,
        answer=answer.digest if answer else "",
        n_files=len({*answer.written, *answer.deleted}),
    )
    earlier = ledger.judged(row.tree, row.answer)
    if earlier is not None and earlier.symbol == row.symbol:
        return dataclasses.replace(row, outcome=earlier.outcome, why=earlier.why)
    verdict = judge.verdict(symbol, new, answer)
    return dataclasses.replace(row, outcome=verdict.outcome.value, why=verdict.why)


def _where_named(judge: Judge, symbol: Symbol, new: str, reply: Reply, folder: Path) -> str:
    """Had the answer named the site that broke it?

    On a line of the first failure's traceback, or since renaming all it named is right, or as a look-up of a name that is put
    together at run time: no edit of identifiers follows that, and a framework that finds no method does not fail there.
    """
    if not reply.named or reply.answer is None:
        return report.NOT_NAMED
    if is_named(judge.verdict(symbol, new, reply.answer).sites, reply.named):
        return "on a line of the traceback"
    with tempfile.TemporaryDirectory(dir=folder) as place:
        root = laid_out(judge.tree, Path(place) / judge.project.key)
        widest = ask_lsptools(judge.project, judge.tree, root, symbol, new, WIDEST)
    if widest.answer and judge.verdict(symbol, new, widest.answer).outcome == Outcome.OK:
        return "right with all it named"
    if any(each.role == "computed" for each in reply.named):
        return "looked up by a computed name, which it named"
    return report.NOT_NAMED


def _examined(project: Project, tree: Tree, digest: str, folder: Path) -> Examined:
    """Once for a tree; the tests have to be green."""
    file = FOLDER / "examined" / f"{project.key}-{digest}.json"
    if not file.exists():
        root, home = laid_out(tree, folder / project.key), folder / "home"
        suite = run_suite(project, root, home, limit=_SUITE_LIMIT_S)
        if not suite.is_green:
            raise Unfit(f"its tests fail as they are\n{suite.output[-2000:]}")
        executed = executed_lines(project, root, home, 3 * _SUITE_LIMIT_S)
        told = {
            "counts": suite.counts,
            "seconds": suite.seconds,
            "executed": {path: sorted(lines) for path, lines in executed.items()},
        }
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(told), "utf-8")
    kept = json.loads(file.read_text("utf-8"))
    baseline = Suite(True, kept["counts"], kept["seconds"], "")
    return Examined(baseline, {path: frozenset(lines) for path, lines in kept["executed"].items()})


def _blank(tool: str, version: str, project: Project, digest: str, symbol: Symbol) -> Row:
    return Row(tool, version, project.key, digest, symbol.place, symbol.kind, symbol.name, outcome="")


def _keep(ledger: Ledger, row: Row) -> None:
    ledger.add(row)
    told = f"{row.outcome:8} {row.tool:17} {row.kind:15} {row.name:28} {row.seconds:6.2f} s  {row.why[:90]}"
    print(told + (f" [named: {row.named}]" if row.named else ""), flush=True)


if __name__ == "__main__":
    main()
