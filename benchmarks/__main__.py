"""`python -m benchmarks`: fetch what is needed, let the tools take turns, print tables and differences."""

from __future__ import annotations

import argparse
import compileall
import dataclasses
import json
import os
import platform
import sys
import tempfile
from pathlib import Path

import lsptools
from benchmarks import peers, report
from benchmarks.archives import WORK
from benchmarks.corpora import CORPORA, QUESTIONS, Question, position, read_once, unpacked
from benchmarks.measure import Run, ask_lsptools, ask_peer

_VERBS = {"lsptools": "refs", "lsptools rename": "rename"}
_TOOLS = [*_VERBS, *(peer.name for peer in peers.PEERS)]


def main() -> None:
    options = _options()
    versions = peers.install(options.peer_python) if set(options.tools) - set(_VERBS) else {}
    print(f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, {versions}", flush=True)
    report_lines, results = [], []
    with tempfile.TemporaryDirectory(prefix="trees-") as scratch:
        trees = Path(options.trees or scratch)
        for key in options.only:
            root = unpacked(CORPORA[key], trees)
            size = read_once(root)
            report_lines.append(
                f"## {CORPORA[key].requirement}: {size.n_files:,} files, {size.n_lines:,} lines\n"
            )
            for question in (one for one in QUESTIONS if one.corpus == key):
                _warm(options.tools)
                runs = _take_turns(options, root, question)
                text, data = _conclude(options, root, question, runs)
                report_lines.append(text)
                results.append({"size": dataclasses.asdict(size), **data})
    answer = {
        "processors": os.cpu_count(),
        "platform": platform.platform(),
        "peers": versions,
        "results": results,
    }
    for file in (WORK / "results.json", options.json):
        if file:
            Path(file).write_text(json.dumps(answer, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if options.markdown:
        Path(options.markdown).write_text("\n".join(report_lines), "utf-8")
    print(
        f"\nfull differences: {WORK.name}/differences, places: {WORK.name}/places, numbers: {WORK.name}/results.json"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    listed = lambda text: text.split(",")  # noqa: E731 - a type for argparse, named nowhere else
    parser.add_argument("--only", type=listed, default=[*CORPORA], help=f"corpora, of {','.join(CORPORA)}")
    parser.add_argument(
        "--questions", type=listed, default=None, help="names asked about; default: all of the corpora"
    )
    parser.add_argument("--tools", type=listed, default=_TOOLS, help=f"of {','.join(_TOOLS)}")
    parser.add_argument("--runs", type=int, default=3, help="repetitions; medians are shown")
    parser.add_argument(
        "--limit", type=float, default=180, help="seconds a run may take; slow runs are not repeated"
    )
    parser.add_argument("--quick", action="store_true", help="Django only, one run")
    parser.add_argument("--json", metavar="OUT", help="write all numbers")
    parser.add_argument("--markdown", metavar="OUT", help="write the tables")
    parser.add_argument(
        "--peer-python", default=sys.executable, help="interpreter of the peers' environment, when it is made"
    )
    parser.add_argument(
        "--trees", metavar="DIR", help="keep the unpacked wheels in DIR, which is outside any project"
    )
    options = parser.parse_args()
    if options.quick:
        options.only, options.runs = ["django"], 1
    for given, known in ((options.only, CORPORA), (options.tools, _TOOLS)):
        if unknown := set(given) - set(known):
            parser.error(f"unknown: {', '.join(sorted(unknown))}")
    return options


def _warm(tools: list[str]) -> None:
    """Programs into the page cache, and our modules compiled, as pip does when it installs: nobody pays for having come first."""
    if set(tools) - set(_VERBS):
        read_once(peers.FOLDER)
    compileall.compile_dir(str(Path(lsptools.__file__).parent), quiet=2)
    read_once(Path(lsptools.__file__).parent)


def _take_turns(options: argparse.Namespace, root: Path, question: Question) -> dict[str, list[Run]]:
    runs: dict[str, list[Run]] = {}
    if options.questions and question.name not in options.questions:
        return runs
    known = {peer.name: peer for peer in peers.PEERS}
    for turn in range(options.runs):
        shift = turn % len(options.tools)
        for tool in options.tools[shift:] + options.tools[:shift]:
            earlier = runs.setdefault(tool, [])
            if earlier and (earlier[-1].stable or options.limit) > options.limit / 4:
                continue
            if tool in _VERBS:
                run = ask_lsptools(_VERBS[tool], root, question, options.limit)
            else:
                run = ask_peer(known[tool], root, question, options.limit)
            earlier.append(run)
            seconds = "no answer" if run.stable is None else f"{run.first:.2f} {run.stable:.2f} s"
            print(
                f"{question.key} {turn + 1} {tool}: {len(run.places)} in {seconds} {run.note}",
                file=sys.stderr,
                flush=True,
            )
    return runs


def _conclude(
    options: argparse.Namespace, root: Path, question: Question, runs: dict[str, list[Run]]
) -> tuple[str, dict[str, object]]:
    """One question's table and differences, printed and returned, also as data."""
    if not runs:
        return "", {"question": question.key}
    rows = [report.row(runs[tool]) for tool in _TOOLS if runs.get(tool)]
    for one in rows:
        if one.places:
            report.keep_places(question, one)
    absent = (report.stored(question, tool) for tool in _TOOLS if tool not in runs and tool not in _VERBS)
    rows += [one for one in absent if one]
    ours = next((one for one in rows if one.tool == report.OURS and one.places), None)
    differences = {
        one.tool: report.difference(root, question, ours, one)
        for one in rows
        if ours and one.places and not one.tool.startswith(report.OURS)
    }
    cells = report.table(rows, differences)
    place = "{}:{}:{}".format(question.path, *position(root, question))
    parts = [report.plain(cells), *map(report.summary, differences.values())]
    print(f"\n{question.key}  {place}", *parts, sep="\n", flush=True)
    data: dict[str, object] = {
        "question": question.key,
        "place": place,
        "tools": [
            {
                "tool": one.tool,
                "references": len(one.places),
                "only_peer": len(differences[one.tool].only_peer) if one.tool in differences else None,
                "only_lsptools": len(differences[one.tool].only_ours) if one.tool in differences else None,
                "runs": [
                    {
                        key: getattr(run, key)
                        for key in ("first", "stable", "n_first", "cpu", "memory", "n_outside", "note")
                    }
                    for run in runs.get(one.tool, ())
                ],
            }
            for one in rows
        ],
    }
    return f"### `{question.name}` ({place})\n\n{report.markdown(cells)}\n", data


if __name__ == "__main__":
    main()
