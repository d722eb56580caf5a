"""`python -m benchmarks.agents`: what an agent pays for its tools, `lsptools mcp` beside other MCP servers.

Each server, in a process and a home of its own and with a fresh copy of Django, has one conversation over standard input and output:

- *connect*: from the start of the process to the answer to `initialize`; *first*: to the first answer of a tool that has looked
  into a file (its outline, or the nearest to that);
- *definitions*: tokens of `tools/list`, which a model reads in every conversation;
- *search*: a text in all files;
- *references* of a symbol, asked again until the answer has been the same for five seconds, for some answer before they know; *then*
  is how many lines the first answer had, *stable* when the last one was first given;
- *rename* of it, applied. Afterwards every file is compared with what it was, compiled, and every module imported.

Tokens are characters ÷ 4, of what the model writes (arguments) and reads (text) together, all pages and all calls that the answer
takes. *cpu* is the processor time of the server and all it has started (on Linux), which other work on the machine moves less than
wall time. Answers are compared by path and line. All servers take turns; the numbers are medians. What does not install is left out,
and said.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks import peers
from benchmarks.agent_peers import Lines, NoSuchTool, Server, Symbol, install, servers
from benchmarks.connection import NoAnswer
from benchmarks.corpora import CORPORA, Question, position, read_once, unpacked
from benchmarks.mcp_client import CHARACTERS_PER_TOKEN, Client, Count
from benchmarks.measure import Sampler
from benchmarks.renamed import State, state_of

QUESTIONS = {
    "cached_property": (
        Question("django", "django/utils/functional.py", "class cached_property", "cached_property"),
        "cached_property",
    ),
    "build_absolute_uri": (
        Question("django", "django/http/request.py", "def build_absolute_uri", "build_absolute_uri"),
        "HttpRequest.build_absolute_uri",
    ),
}
"""A class that 85 files import, and a method that is called on parameters without annotations, and from a template."""
STEADY_S = 5.0
"""For how long an answer must not change."""


@dataclass(slots=True)
class Figures:
    """Of one conversation, in seconds and tokens; None: there was no answer."""

    version: str = ""
    connect: float | None = None
    first: float | None = None
    first_cpu: float | None = None
    definitions: int = 0
    n_tools: int = 0
    prepared: Count = field(default_factory=Count)
    search: Count | None = None
    searched: Lines = frozenset()
    references: Count | None = None
    """What the last answer cost."""
    answered: float | None = None
    """Seconds for the first answer."""
    n_then: int = 0
    stable: float | None = None
    """Seconds from the first time of asking to the answer that did not change any more."""
    again: float | None = None
    """Seconds for the last, when nothing had changed."""
    cpu: float | None = None
    """Of everything until the references were stable."""
    referenced: Lines = frozenset()
    rename: Count | None = None
    renamed: State | None = None
    notes: list[str] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agents", description=__doc__.split("\n\n")[0])
    names = [server.name for server in servers()]
    parser.add_argument("--tools", default=";".join(names), help=f"separated by semicolons, of {names}")
    parser.add_argument("--questions", default=",".join(QUESTIONS), help=f"of {','.join(QUESTIONS)}")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=float, default=240, help="seconds for one conversation")
    parser.add_argument("--no-install", action="store_true", help="take the peers that are there")
    options = parser.parse_args()
    if not options.no_install:
        install()
    chosen = [server for server in servers() if server.name in options.tools.split(";")]
    for server in [server for server in chosen if not server.program().exists()]:
        print(f"left out: {server.name} is not installed")
        chosen.remove(server)
    with tempfile.TemporaryDirectory() as scratch:
        original = unpacked(CORPORA["django"], Path(scratch))
        read_once(original)
        for key in options.questions.split(","):
            asked, qualified = QUESTIONS[key]
            symbol = Symbol(asked.path, qualified, *position(original, asked))
            runs: dict[str, list[Figures]] = {server.name: [] for server in chosen}
            for number in range(options.runs):
                for server in chosen[number % len(chosen) :] + chosen[: number % len(chosen)]:
                    runs[server.name].append(talk(server, original, symbol, options.limit))
                    print(f"  {key}, run {number + 1}: {server.name}", flush=True)
            print("\n".join(report(key, symbol, chosen, runs)), flush=True)


# One conversation


def talk(server: Server, original: Path, symbol: Symbol, limit: float) -> Figures:
    """Start a server on a copy of the package, ask it everything, end it, look at the copy."""
    figures, new = Figures(), f"{symbol.name}_renamed"
    with tempfile.TemporaryDirectory() as scratch:
        home, copy = Path(scratch).resolve() / "home", Path(scratch).resolve() / "project"
        home.mkdir()
        shutil.copytree(original, copy, symlinks=True)
        with _client(server, copy, home, limit) as client:
            sampler = Sampler(client.process.pid)
            try:
                _greet(server, client, symbol, figures)
                figures.first_cpu = sampler.cpu()
                _ask(server, client, symbol, figures)
                figures.cpu = sampler.cpu()
                _rename(server, client, symbol, new, figures)
            except NoAnswer as reason:
                figures.notes.append(str(reason))
            finally:
                sampler.end()
        if figures.rename is not None:
            figures.renamed = state_of(copy, original, symbol.name, new)
    return figures


@contextmanager
def _client(server: Server, root: Path, home: Path, limit: float) -> Iterator[Client]:
    env = peers.environment(home, server.program().parent, os.environ["PATH"])
    env |= {"HOME": str(home)} | server.variables(home)
    client = Client(server.command(root, home), root, env, limit)
    try:
        yield client
    finally:
        client.close()


def _greet(server: Server, client: Client, symbol: Symbol, figures: Figures) -> None:
    figures.version = str(client.initialize()["serverInfo"].get("version", ""))
    figures.connect = time.perf_counter() - client.started
    server.prepare(client)
    figures.prepared = client.counted()
    server.first(client, symbol)
    figures.first = time.perf_counter() - client.started
    tools = client.ask("tools/list", {})["tools"]
    text = json.dumps(tools, ensure_ascii=False, separators=(",", ":"))
    figures.definitions, figures.n_tools = round(len(text) / CHARACTERS_PER_TOKEN), len(tools)
    client.counted()


def _ask(server: Server, client: Client, symbol: Symbol, figures: Figures) -> None:
    with suppress(NoSuchTool):
        figures.searched = server.search(client, symbol.name)
        figures.search = client.counted()
    with suppress(NoSuchTool):
        _ask_until_stable(server, client, symbol, figures)


def _rename(server: Server, client: Client, symbol: Symbol, new: str, figures: Figures) -> None:
    with suppress(NoSuchTool):
        said = server.rename(client, symbol, new)
        figures.rename = client.counted()
        figures.notes.append(f"rename: {said.first_line}")


def _ask_until_stable(server: Server, client: Client, symbol: Symbol, figures: Figures) -> None:
    began = time.perf_counter()
    found = server.references(client, symbol)
    figures.n_then, figures.references = len(found), client.counted()
    figures.answered = figures.stable = figures.references.seconds
    since = time.perf_counter()
    while figures.again is None or time.perf_counter() - since < STEADY_S:
        time.sleep(1.0)
        now = server.references(client, symbol)
        figures.references = client.counted()
        figures.again = figures.references.seconds
        if now != found:
            found, since = now, time.perf_counter()
            figures.stable = since - began
    figures.referenced = found


# The tables


def report(
    key: str, symbol: Symbol, chosen: Sequence[Server], runs: dict[str, list[Figures]]
) -> Iterator[str]:
    """Tables in Markdown, and what was noticed."""
    first = chosen[0].name
    yield f"\n{key}\n"
    yield "| server | tools | definitions | before | connect s | first s | cpu s | search s | lines | tokens |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for name, figures in runs.items():
        one = figures[-1]
        before = round(one.prepared.written + one.prepared.read)
        cells = [
            f"{one.n_tools}",
            f"{one.definitions:,}",
            f"{before:,}" if before else "",
            _seconds(each.connect for each in figures),
            _seconds(each.first for each in figures),
            _seconds(each.first_cpu for each in figures),
            _seconds(each.search.seconds if each.search else None for each in figures),
            f"{len(one.searched):,}" if one.search else "–",
            _tokens(one.search),
        ]
        yield f"| {name} {one.version} | {' | '.join(cells)} |"
    yield "\n| server | references s | then | stable s | again s | cpu s | lines | tokens | missing | more |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    definition = {(symbol.path, symbol.line)}
    ours = runs[first][-1].referenced - definition
    for name, figures in runs.items():
        one = figures[-1]
        if one.references is None:
            continue
        theirs = one.referenced - definition
        cells = [
            _seconds(each.answered for each in figures),
            f"{median(each.n_then for each in figures):,.0f}",
            _seconds(each.stable for each in figures),
            _seconds(each.again for each in figures),
            _seconds(each.cpu for each in figures),
            f"{len(one.referenced):,}",
            _tokens(one.references),
            f"{len(ours - theirs):,}",
            f"{len(theirs - ours):,}",
        ]
        yield f"| {name} | {' | '.join(cells)} |"
    yield "\n| server | rename s | calls | tokens | changed | not changed | only there | wrong | other files | broken | not importable |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    done = runs[first][-1].renamed
    for name, figures in runs.items():
        one = figures[-1]
        state = one.renamed
        if one.rename is None or state is None:
            continue
        changed = done.changed if done is not None else frozenset[tuple[str, int]]()
        cells = [
            _seconds(each.rename.seconds if each.rename else None for each in figures),
            f"{one.rename.calls}",
            _tokens(one.rename),
            f"{len(state.changed):,}",
            f"{len(changed - state.changed):,}",
            f"{len(state.changed - changed):,}",
            f"{len(state.wrong):,}",
            f"{state.litter:,}",
            f"{state.broken:,}",
            f"{state.lost:,}",
        ]
        yield f"| {name} | {' | '.join(cells)} |"
    yield ""
    for server in chosen:
        said = list(dict.fromkeys(note for each in runs[server.name] for note in each.notes))
        yield from (f"{server.name}: {note}" for note in filter(None, [server.note, *said]))


def _seconds(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{median(known):.2f}" if known else "–"


def _tokens(count: Count | None) -> str:
    return "–" if count is None else f"{count.written + count.read:,.0f}"


if __name__ == "__main__":
    main()
