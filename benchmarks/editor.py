"""`python -m benchmarks.editor`: what an editor waits for, `lsptools lsp` beside other language servers.

Each server, in a process and a home of its own, is started, initialized, given the file that defines the symbol, and asked:

- *ready*: from the start of the process to the answer to `initialize`;
- *cold*: from the start of the process to the first complete answer to `textDocument/references`, complete meaning with as many
  places as the last answer has;
- *warm*: the same question again, the median of the repetitions;
- *edited*: the question after a line was added at the end of the opened file, from the notification to the answer, median;
- *rename*: `textDocument/rename` to a fresh name, once; an error is shown as `refused`;
- *MB*: the peak memory of the process tree after all of that, twenty requests or more.

All servers take turns. Some answer from an index that is not ready; so each is asked until the number of places has not changed for
three seconds without announced work, before *warm* begins.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks import peers
from benchmarks.client import Client
from benchmarks.connection import Json, NoAnswer
from benchmarks.corpora import CORPORA, QUESTIONS, Question, position, read_once, unpacked
from benchmarks.measure import Sampler

OURS = peers.Peer("lsptools", "lsptools", "", (str(Path(sys.executable).with_name("lsptools")), "lsp"))
N_WARM, N_EDITED = 10, 5


@dataclass(slots=True)
class Figures:
    """Of one server and one question, in seconds and bytes; None: no answer."""

    ready: float | None = None
    cold: float | None = None
    warm: list[float] = field(default_factory=list)
    edited: list[float] = field(default_factory=list)
    rename: float | None = None
    n_first: int = 0
    n_places: int = 0
    memory: int = 0
    note: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.editor", description=__doc__.split("\n\n")[0])
    known = [OURS, *peers.PEERS]
    names = ",".join(peer.name for peer in known)
    parser.add_argument("--tools", default=names, help=f"of {names}")
    parser.add_argument("--only", default=",".join(CORPORA), help=f"corpora, of {','.join(CORPORA)}")
    parser.add_argument("--limit", type=float, default=180, help="seconds a server may take for a question")
    parser.add_argument(
        "--trees", metavar="DIR", help="keep the unpacked wheels in DIR, outside of any project"
    )
    options = parser.parse_args()
    chosen = [peer for peer in known if peer.name in options.tools.split(",")]
    if chosen != [OURS]:
        peers.install()
    with tempfile.TemporaryDirectory() as scratch:
        trees = Path(options.trees or scratch).resolve()
        for question in QUESTIONS:
            if question.corpus not in options.only.split(","):
                continue
            root = unpacked(CORPORA[question.corpus], trees)
            read_once(root)
            print(f"\n{question.key}\n{HEAD}", flush=True)
            for peer in chosen:
                print(_line(peer.name, asked(peer, root, question, options.limit)), flush=True)


def asked(peer: peers.Peer, root: Path, question: Question, limit: float) -> Figures:
    """Start a server, ask it everything, end it."""
    figures = Figures()
    with _client(peer, root) as client:
        sampler = Sampler(client.process.pid)
        deadline = client.started + limit
        try:
            client.initialize(deadline)
            figures.ready = time.perf_counter() - client.started
            client.open(root / question.path)
            _ask_all(_Questions(client, root, question, deadline), figures)
        except NoAnswer as reason:
            figures.note = str(reason)
        finally:
            figures.memory = sampler.end()
    return figures


@contextmanager
def _client(peer: peers.Peer, root: Path) -> Iterator[Client]:
    program, *rest = peer.arguments
    command = peer.command if peer is not OURS else [program, *rest]
    with tempfile.TemporaryDirectory() as scratch:
        env = peers.environment(Path(scratch), Path(command[0]).parent, os.environ["PATH"])
        client = Client(command, root, env, peer.settings)
        try:
            yield client
        finally:
            client.close()


class _Questions:
    """What is asked of one server about one symbol."""

    def __init__(self, client: Client, root: Path, question: Question, deadline: float) -> None:
        self.client, self.deadline, self._name = client, deadline, question.name
        line, column = position(root, question)
        path = root / question.path
        self._uri = path.as_uri()
        self._place: Json = {
            "textDocument": {"uri": self._uri},
            "position": {"line": line - 1, "character": column - 1},
        }
        self._n_lines = path.read_text("utf-8").count("\n")
        self._version = 1

    def references(self) -> tuple[float, int]:
        """When the answer came, and how many places it has."""
        context = {"context": {"includeDeclaration": True}}
        at, message = self.client.request(
            "textDocument/references", {**self._place, **context}, self.deadline
        )
        return at, len(message.get("result") or ())

    def edit(self) -> None:
        """Add a line at the end of the file."""
        self._version += 1
        end = {"line": self._n_lines, "character": 0}
        change = {"range": {"start": end, "end": end}, "text": f"# {self._version}\n"}
        document = {"uri": self._uri, "version": self._version}
        self.client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})

    def rename(self) -> tuple[float, str]:
        """How long it took, and why there is no plan."""
        began = time.perf_counter()
        new = {"newName": f"{self._name}_renamed"}
        at, message = self.client.request("textDocument/rename", {**self._place, **new}, self.deadline)
        refused = "refused" if "error" in message else "" if message.get("result") else "no edits"
        return at - began, refused


def _ask_all(questions: _Questions, figures: Figures) -> None:
    at, n_places = questions.references()
    figures.n_first, figures.cold = n_places, at - questions.client.started
    quiet_since = time.perf_counter()
    while time.perf_counter() - quiet_since < 3.0:
        time.sleep(0.3)
        at, now = questions.references()
        if now != n_places:
            n_places, figures.cold = now, at - questions.client.started
            quiet_since = time.perf_counter()
        elif questions.client.open_work:
            quiet_since = time.perf_counter()
    figures.n_places = n_places
    for _ in range(N_WARM):
        began = time.perf_counter()
        figures.warm.append(questions.references()[0] - began)
    for _ in range(N_EDITED):
        began = time.perf_counter()
        questions.edit()
        figures.edited.append(questions.references()[0] - began)
    figures.rename, figures.note = questions.rename()


HEAD = f"{'server':14} {'ready s':>8} {'refs 1st':>8} {'refs':>7} {'cold s':>8} {'warm s':>8} {'edited s':>8} {'rename s':>8} {'MB':>6}"


def _line(name: str, figures: Figures) -> str:
    seconds = [
        figures.cold,
        median(figures.warm) if figures.warm else None,
        median(figures.edited) if figures.edited else None,
        figures.rename,
    ]
    shown = " ".join(f"{'–' if each is None else f'{each:.3f}':>8}" for each in seconds)
    ready = "–" if figures.ready is None else f"{figures.ready:.3f}"
    memory = f"{figures.memory / 1e6:6.0f}"
    return f"{name:14} {ready:>8} {figures.n_first:8,} {figures.n_places:7,} {shown} {memory}  {figures.note}"


if __name__ == "__main__":
    main()
