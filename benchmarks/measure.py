"""Runs one tool once, in a process of its own that has nothing cached, and measures it.

Time runs from the start of the process to the complete answer in our hands; for `lsptools` to the end of the process.
Memory is that of the whole process tree: the largest sum of proportional set sizes (shared pages count once) seen by a
poller, or the kernel's high-water mark of the largest process if that is more. Only Linux says these; elsewhere they are 0.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from benchmarks import peers
from benchmarks.client import Client
from benchmarks.connection import Json, NoAnswer
from benchmarks.corpora import Question, position

Place = tuple[str, int, int]
"""Path below the root, line and column from 1; columns count UTF-16 units."""

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one tool. Seconds and bytes; for `lsptools` both times are the same."""

    tool: str
    first: float | None
    """Until the first answer; None: there was none."""
    stable: float | None
    """Until the answer that did not change any more; where asking again failed, `note` says so."""
    n_first: int
    """Places in the first answer."""
    cpu: float
    """User and system time of all processes until the stable answer."""
    memory: int
    places: frozenset[Place] = frozenset()
    n_outside: int = 0
    """Places outside the root (standard library, stubs); not compared."""
    classes: dict[Place, str] | None = None
    """For `lsptools`: class and reason of every occurrence, also of those that are not references."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a peer said, unlike what it said before: seconds since its start, processor seconds used by then."""

    at: float
    cpu: float
    places: frozenset[Place]
    n_outside: int


class Sampler:
    """Watches a process and all it starts. Polls as often as costs a tenth of the time at most."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._ticks: dict[int, int] = {}
        self._marks: dict[int, int] = {}
        self._sum = 0
        self.n_active = 0
        """Polls in which a thread ran or waited for a processor or a disk; set it to 0 to count anew."""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._poll, daemon=True)
        if Path("/proc/self/smaps_rollup").exists():
            self._thread.start()

    def cpu(self) -> float:
        self._look()
        return sum(self._ticks.values()) / _TICKS

    def end(self) -> int:
        """Peak memory in bytes."""
        self._ended.set()
        if self._thread.ident:
            self._thread.join()
        return max([self._sum, *self._marks.values()]) * 1024

    def _poll(self) -> None:
        pause = 0.0
        while not self._ended.wait(pause):
            began = time.perf_counter()
            self._look()
            pause = max(0.004, 9 * (time.perf_counter() - began))

    def _look(self) -> None:
        total, active = 0, False
        for pid in self._tree():
            with suppress(OSError, ValueError, IndexError):
                folder = Path(f"/proc/{pid}")
                total += _field(folder / "smaps_rollup", "Pss:")
                self._marks[pid] = _field(folder / "status", "VmHWM:")
                stat = _stat(folder)
                self._ticks[pid] = int(stat[11]) + int(stat[12])
                active = active or any(_stat(thread)[0] in "RD" for thread in (folder / "task").iterdir())
        self._sum = max(self._sum, total)
        self.n_active += active

    def _tree(self) -> list[int]:
        parents: dict[int, int] = {}
        for entry in os.listdir("/proc") if sys.platform == "linux" else ():
            if entry.isdigit():
                with suppress(OSError, IndexError):
                    parents[int(entry)] = int(
                        Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1]
                    )
        tree = [self._pid]
        for pid in tree:
            tree += [child for child, parent in parents.items() if parent == pid]
        return tree


def ask_peer(peer: peers.Peer, root: Path, question: Question, limit: float) -> Run:
    """Opens the defining file, asks for its references, and asks again until the answer is stable.

    Stable: equal answers, with pauses between the questions in which no work was announced and no thread had work, 3 s of
    such pauses in a row (15 s for an empty answer). Less is not enough: pyrefly and basedpyright announce nothing and answer
    from the files they know so far. The time that counts is that of the first of the equal answers.
    """
    line, column = position(root, question)
    asked = {
        "textDocument": {"uri": (root / question.path).as_uri()},
        "position": {"line": line - 1, "character": column - 1},
        "context": {"includeDeclaration": True},
    }
    answers: list[Answer] = []
    note, idle = "", 0.0
    with tempfile.TemporaryDirectory() as scratch:
        env = peers.environment(Path(scratch), peers.FOLDER / "bin", os.environ["PATH"])
        client = Client(peer.command, root, env, peer.settings)
        sampler = Sampler(client.process.pid)
        deadline = client.started + limit
        try:
            client.initialize(deadline)
            client.open(root / question.path)
            while True:
                at, message = client.request("textDocument/references", asked, deadline)
                elapsed = at - client.started
                if "error" not in message:
                    places, n_outside = _places(root, message["result"] or [])
                    if not answers or answers[-1].places != places:
                        answers.append(Answer(elapsed, sampler.cpu(), places, n_outside))
                        idle = 0.0
                pause = min(1.0, max(0.3, elapsed / 20))
                sampler.n_active = 0
                time.sleep(pause)
                idle = idle + pause if sampler.n_active <= 1 and not client.open_work else 0.0
                if answers and idle >= (3.0 if answers[-1].places else 15.0):
                    break
        except NoAnswer as reason:
            note = f"{'asked again: ' if answers else ''}{reason}"
        finally:
            memory = sampler.end()
            client.close()
    if not answers:
        return Run(peer.name, None, None, 0, 0.0, memory, note=note)
    first, last = answers[0], answers[-1]
    return Run(
        peer.name,
        first.at,
        last.at,
        len(first.places),
        last.cpu,
        memory,
        last.places,
        last.n_outside,
        note=note,
    )


def ask_lsptools(verb: str, root: Path, question: Question, limit: float) -> Run:
    """`lsptools refs PLACE`, or `rename PLACE NEW --check` (which plans and proves, and writes nothing)."""
    line, column = position(root, question)
    program = Path(sys.executable).with_name("lsptools")
    extra = [f"{question.name}_renamed", "--check", "--possible", "skip"] if verb == "rename" else []
    command = [str(program), verb, f"{question.path}:{line}:{column}", *extra, "--json"]
    tool = "lsptools" if verb == "refs" else f"lsptools {verb}"
    with tempfile.TemporaryDirectory() as scratch, Path(scratch, "answer").open("w+b") as output:
        env = peers.environment(Path(scratch), program.parent, os.environ["PATH"])
        started = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=root,
            env=env,
            stdout=output,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        sampler = Sampler(process.pid)
        killer = threading.Timer(limit, os.killpg, (process.pid, signal.SIGKILL))
        killer.start()
        assert process.stderr is not None
        complaint = process.stderr.read().decode("utf-8", "replace").strip()
        _, status, usage = os.wait4(process.pid, 0)
        elapsed = time.perf_counter() - started
        killer.cancel()
        memory, process.returncode = sampler.end(), os.waitstatus_to_exitcode(status)
        if usage.ru_maxrss > _field(
            Path("/proc/self/status"), "VmHWM:"
        ):  # else it may be what the fork inherited from us
            memory = max(memory, usage.ru_maxrss * 1024)
        output.seek(0)
        text = output.read()
    cpu = usage.ru_utime + usage.ru_stime
    try:
        answer = json.loads(text)
    except ValueError:
        answer = {"error": {"kind": complaint.split("\n")[-1][:100] or "no JSON"}}
    note = f"exit {process.returncode}: {answer['error']['kind']}" if "error" in answer else ""
    if not answer.get("complete", True):
        note += f" incomplete: {'; '.join(map(str, answer['incomplete_because']))}"
    if "occurrences" not in answer:
        return Run(tool, None, None, 0, cpu, memory, note=note)
    classes = dict(map(_occurrence, answer["occurrences"]))
    places = frozenset(
        place for place, label in classes.items() if label.split(":")[0] in ("certain", "likely")
    )
    return Run(tool, elapsed, elapsed, len(places), cpu, memory, places, classes=classes, note=note.strip())


def _occurrence(item: Json) -> tuple[Place, str]:
    start = item["range"]["start"]
    return (item["path"], start["line"] + 1, start["character"] + 1), f"{item['class']}: {item['reason']}"


def _places(root: Path, locations: Iterable[Json]) -> tuple[frozenset[Place], int]:
    """Places below the root, and how many are elsewhere."""
    prefix = f"{root}{os.sep}"
    found: set[Place] = set()
    outside: set[str] = set()
    for location in locations:
        path, start = unquote(urlsplit(location["uri"]).path), location["range"]["start"]
        if path.startswith(prefix):
            found.add((path.removeprefix(prefix), start["line"] + 1, start["character"] + 1))
        else:
            outside.add(f"{path}:{start}")
    return frozenset(found), len(outside)


def _stat(folder: Path) -> list[str]:
    """State, parent and the rest of a process's or thread's `stat`, after its name."""
    return (folder / "stat").read_text().rpartition(")")[2].split()


def _field(path: Path, name: str) -> int:
    """The number after `name` in a file of /proc; kilobytes."""
    if not path.exists():
        return 0
    return int(path.read_text().partition(name)[2].split(None, 1)[0])
