"""`python -m benchmarks.edit`: what edits cost, beside two public edit tools that can be installed.

In this process: an edit in a text and in a Python file of 1 MB, a miss with the nearest passage in 10 MB, and the memory of an edit
in 10 MB (in a process of its own). Over standard input and output, as agents use such tools: the same edit by
`lsptools call --jsonl`, by the MCP filesystem server (npm) and by mcp-text-editor (PyPI), in turns. What does not install is
left out and said.

`lsptools` writes durably (journal, `fsync` of files and folders) and can undo; the others write the file and nothing else. Wall time
counts what else the machine does, processor time does not.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.archives import WORK

FOLDER = WORK / "edit-peers"
MEGABYTE = 1_000_000
FILESYSTEM = "@modelcontextprotocol/server-filesystem@2026.8.31"
TEXT_EDITOR = ("mcp-text-editor==1.0.2", "mcp<2")
Json = Mapping[str, object]


def main(n_runs: int = 15) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        os.environ["XDG_STATE_HOME"] = str(folder / "state")
        print(f"{'':42} {'wall ms':>16} {'processor ms':>14}   (smallest, median)")
        for what, seconds in in_process(folder, n_runs):
            tell(what, seconds)
        print(f"\nmemory of an edit in 10 MB: {memory_in_files():.1f} times the file\n")
        for what, seconds in over_pipes(folder, n_runs):
            tell(what, seconds)


@dataclass(frozen=True, slots=True)
class Seconds:
    """Of the runs of one thing."""

    wall: list[float]
    processor: list[float]


def tell(what: str, seconds: Seconds) -> None:
    wall, processor = (
        f"{1000 * min(times):7.1f} {1000 * median(times):7.1f}" if times else ""
        for times in (seconds.wall, seconds.processor)
    )
    print(f"{what:42} {wall:>16} {processor:>14}")


def measured(act: Callable[[int], object], n_runs: int) -> Seconds:
    """One run more than asked for; the first, which imports and fills caches, does not count."""
    seconds = Seconds([], [])
    for number in range(n_runs + 1):
        wall, processor = time.perf_counter(), time.process_time()
        act(number)
        if number:
            seconds.wall.append(time.perf_counter() - wall)
            seconds.processor.append(time.process_time() - processor)
    return seconds


# In this process


def in_process(folder: Path, n_runs: int) -> Iterator[tuple[str, Seconds]]:
    from lsptools import open_workspace

    root = folder / "ws"
    root.mkdir()
    (root / "a.txt").write_text(text_of(MEGABYTE))
    (root / "a.py").write_text(
        "".join(f"value_{number:06} = compute({number:6}, 'abcde')\n" for number in range(MEGABYTE // 40))
    )
    workspace = open_workspace(root)
    for name, texts in (
        ("a.txt", ("line 000500 ", "line 000500!")),
        ("a.py", ("compute(   500,", "compute(   501,")),
    ):
        workspace.read(name, limit=1)

        def edit(number: int, name: str = name, texts: tuple[str, str] = texts) -> None:
            workspace.edit(name, f"\n{'value_000500 = ' if name == 'a.py' else ''}{texts[number % 2]}",
                           f"\n{'value_000500 = ' if name == 'a.py' else ''}{texts[1 - number % 2]}")  # fmt: skip

        yield f"edit in 1 MB, {name}", measured(edit, n_runs)
    yield from misses(n_runs)


def misses(n_runs: int) -> Iterator[tuple[str, Seconds]]:
    """The whole of what a miss costs after the file is read: both tiers, the reasons, the nearest passage."""
    from lsptools.edit.diagnose import missed
    from lsptools.edit.session import Session
    from lsptools.edit.target import Opened, Target
    from lsptools.text.document import Document
    from lsptools.text.match import find

    chance = random.Random(1)
    words = [f"w{number:05}" for number in range(5000)]
    lines = [f"    {' '.join(chance.choices(words, k=8))} # {number}" for number in range(147_000)]
    file = Opened(Target("f", "/f", "f"), Document.decode("\n".join(lines).encode()))
    passage = lines[80_000:80_012]
    one_wrong = "\n".join([*passage[:5], "    something else", *passage[6:]])
    all_wrong = "\n".join(passage).replace("w0", "v0")
    for what, old in (("a line of twelve invented", one_wrong), ("a letter wrong in every line", all_wrong)):

        def miss(_: int, old: str = old) -> None:
            assert not find(file.document.text, old).matches
            missed(Session(), file, old, "new")

        yield f"miss in 10 MB: {what}", measured(miss, max(3, n_runs // 3))


def text_of(n_bytes: int) -> str:
    return "".join(f"line {number:06} {'x' * 28}\n" for number in range(n_bytes // 41))


def memory_in_files() -> float:
    """The peak of a process that edits, beyond what it takes for a small file, in sizes of the file."""
    program = "from benchmarks.edit import memory_here; print(memory_here())"
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=WORK.parents[1]
    )
    return float(done.stdout)


def memory_here() -> float:
    from lsptools import open_workspace

    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_STATE_HOME"] = name
        root = Path(name).resolve() / "ws"
        root.mkdir()
        (root / "small").write_text("a\n")
        (root / "large").write_text(text_of(10 * MEGABYTE))
        workspace = open_workspace(root)
        workspace.read("small")
        workspace.edit("small", "a", "b")
        before = peak_kb()
        workspace.read("large", limit=1)
        workspace.edit("large", "line 000500 ", "line 000500!")
        return (peak_kb() - before) * 1024 / (root / "large").stat().st_size


def peak_kb() -> int:
    """The most memory this process has taken so far. (`getrusage` would count what its parent had before the `exec`.)"""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(status.read_text().partition("VmHWM:")[2].split()[0])


# Over standard input and output


def over_pipes(folder: Path, n_runs: int) -> Iterator[tuple[str, Seconds]]:
    """The same edit of the same file, by each tool in turns."""
    root = folder / "peers"
    root.mkdir()
    editors = [LSPTOOLS, *filter(None, (filesystem_server(root), text_editor()))]
    for n_bytes in (2_000, MEGABYTE):
        with started(editors, root) as talks:
            seconds = {editor.name: Seconds([], []) for editor in editors}
            for editor in editors:
                (root / f"{editor.key}.txt").write_text(text_of(n_bytes))
                editor.begin(talks[editor.key], root / f"{editor.key}.txt")
            for number in range(n_runs + 1):
                for editor in editors:
                    texts = ("line 000020 ", "line 000020!")
                    before = time.perf_counter()
                    editor.edit(
                        talks[editor.key],
                        root / f"{editor.key}.txt",
                        texts[number % 2],
                        texts[1 - number % 2],
                    )
                    if number:
                        seconds[editor.name].wall.append(time.perf_counter() - before)
            for name, times in seconds.items():
                yield f"{n_bytes // 1000} kB: {name}", times


@dataclass(frozen=True, slots=True)
class Talk:
    """A tool that answers lines of JSON."""

    process: subprocess.Popen[bytes]

    def ask(self, line: Json) -> dict[str, object]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()
        while "id" in line:
            answer: dict[str, object] = json.loads(self.process.stdout.readline())
            if answer.get("id") == line["id"]:
                return answer
        return {}

    def call(self, tool: str, arguments: Json) -> dict[str, object]:
        """An MCP tool's structured answer."""
        answer = self.ask(
            {
                "jsonrpc": "2.0",
                "id": time.monotonic_ns(),
                "method": "tools/call",
                "params": {"name": tool, "arguments": arguments},
            }
        )
        result = answer["result"]
        assert isinstance(result, dict) and not result.get("isError"), answer
        return result


@dataclass(frozen=True, slots=True)
class Editor:
    """A tool that edits."""

    key: str
    name: str
    command: tuple[str, ...]
    begin: Callable[[Talk, Path], None]
    edit: Callable[[Talk, Path, str, str], None]


@contextmanager
def started(editors: list[Editor], root: Path) -> Iterator[dict[str, Talk]]:
    processes = {
        editor.key: subprocess.Popen(
            [*editor.command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=root,
        )
        for editor in editors
    }
    try:
        yield {key: Talk(process) for key, process in processes.items()}
    finally:
        for process in processes.values():
            process.kill()
            process.wait()


def ours(talk: Talk, tool: str, **arguments: object) -> None:
    answer = talk.ask({"id": time.monotonic_ns(), "tool": tool, "args": arguments})
    assert answer["ok"], answer


LSPTOOLS = Editor(
    "lsptools",
    "lsptools call --jsonl",
    (str(Path(sys.executable).with_name("lsptools")), "call", "--root", ".", "--jsonl"),
    lambda talk, path: ours(talk, "read", path=path.name, limit=1),
    lambda talk, path, old, new: ours(talk, "edit", path=path.name, old_str=old, new_str=new),
)


def greet(talk: Talk, _: Path) -> None:
    info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}}
    talk.ask({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": info})
    talk.ask({"jsonrpc": "2.0", "method": "notifications/initialized"})


def filesystem_server(root: Path) -> Editor | None:
    npm = shutil.which("npm")
    program = FOLDER / "node_modules" / ".bin" / "mcp-server-filesystem"
    if npm and not program.exists():
        subprocess.run([npm, "install", "--silent", "--prefix", str(FOLDER), FILESYSTEM], check=False)
    if not program.exists():
        print(f"left out: {FILESYSTEM} does not install")
        return None
    return Editor(
        "filesystem",
        FILESYSTEM.rpartition("/")[2],
        (str(program), str(root)),
        greet,
        lambda talk, path, old, new: void(
            talk.call("edit_file", {"path": str(path), "edits": [{"oldText": old, "newText": new}]})
        ),
    )


def text_editor() -> Editor | None:
    program = FOLDER / "venv" / "bin" / "mcp-text-editor"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", str(FOLDER / "venv")], check=True)
        pip = str(FOLDER / "venv" / "bin" / "pip")
        subprocess.run([pip, "install", "--quiet", "--disable-pip-version-check", *TEXT_EDITOR], check=False)
    if not program.exists():
        print(f"left out: {TEXT_EDITOR[0]} does not install")
        return None
    return Editor("editor", TEXT_EDITOR[0], (str(program),), greet, edit_a_line)


def edit_a_line(talk: Talk, path: Path, _: str, new: str) -> None:
    """It edits lines by number, with hashes of what was read: two calls, as an agent would make them."""
    wanted = {"files": [{"file_path": str(path), "ranges": [{"start": 21, "end": 21}]}]}
    content = talk.call("get_text_file_contents", wanted)["content"]
    assert isinstance(content, list)
    read = json.loads(content[0]["text"])[str(path)]
    line = read["ranges"][0]
    patch = {
        "line_start": 21,
        "line_end": 21,
        "contents": new + line["content"][len(new) :],
        "range_hash": line["range_hash"],
    }
    file = {"path": str(path), "file_hash": read["file_hash"], "patches": [patch]}
    talk.call("edit_text_file_contents", {"files": [file]})


def void(_: object) -> None:
    """The answer was looked at already."""


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
