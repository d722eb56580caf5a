"""Many editors of the same files at once: no update is lost, no file is torn, nobody waits for ever.

Processes edit the same files under different names (links, odd spellings), each in a session of its own: who finds a file changed
reads it again. Threads of one session need not: their edits of one file wait for each other.
"""

from __future__ import annotations

import os
import random
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import pytest
from casefaces import FOLDERS
from changing import quick_folder

from lsptools.errors import ToolError
from lsptools.faces.environment import Environment
from lsptools.faces.workspace import Workspace

N_PROCESSES = 8
N_FILES = 20
N_EDITS = int(os.environ.get("LSPTOOLS_TEST_EDITS", "12"))
"""Per process; 1000 is a good night's work."""


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    with quick_folder(tmp_path) as quick:
        ws = quick.resolve() / "ws"
        (ws / "d").mkdir(parents=True)
        (ws / "also").symlink_to("d")
        for number in range(N_FILES):
            lines = [f"slot {process} 0\n" for process in range(N_PROCESSES)]
            (ws / "d" / f"f{number}").write_bytes(f"head {number}\r\n".encode() + "".join(lines).encode())
            (ws / f"l{number}").symlink_to(f"d/f{number}")
        with mock.patch.dict(os.environ, {key: str(quick / "user" / name) for key, name in FOLDERS.items()}):
            yield ws


def names(root: Path, number: int) -> list[str]:
    """One file under many names."""
    plain = f"d/f{number}"
    return [plain, f"./{plain}", f"d/../{plain}", f"l{number}", f"also/f{number}", str(root / plain)]


def workspace(root: Path) -> Workspace:
    return Workspace(Environment(), Environment().root(str(root)))


def edit_often(root: Path, process: int) -> list[int]:
    """Count up the process's slot in random files; how often in each."""
    chance = random.Random(process)
    counts = [0] * N_FILES
    mine = workspace(root)
    for _ in range(N_EDITS):
        number = chance.randrange(N_FILES)
        old, new = (f"slot {process} {counts[number] + more}\n" for more in (0, 1))
        name = chance.choice(names(root, number))
        while True:
            mine.read(name)
            try:
                mine.edit(name, old, new)
            except ToolError as error:
                if error.kind != "stale":
                    raise
                continue
            break
        counts[number] += 1
    return counts


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the editors are processes of their own")
def test_processes_lose_nothing(root: Path) -> None:
    pipes = []
    for process in range(N_PROCESSES):
        to_read, to_write = os.pipe()
        if not os.fork():
            code = 1
            try:
                os.write(to_write, ",".join(map(str, edit_often(root, process))).encode())
                code = 0
            except BaseException:  # noqa: BLE001  # a fork has no one above it
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(to_write)
        pipes.append(to_read)
    codes = [os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(N_PROCESSES)]
    counts = [[int(part) for part in os.read(pipe, 4096).split(b",")] for pipe in pipes]
    for pipe in pipes:
        os.close(pipe)
    assert codes == [0] * N_PROCESSES
    for number in range(N_FILES):
        slots = "".join(f"slot {process} {counts[process][number]}\n" for process in range(N_PROCESSES))
        assert (root / "d" / f"f{number}").read_bytes() == f"head {number}\r\n{slots}".encode()
        assert (root / f"l{number}").is_symlink()
    assert sorted(path.name for path in (root / "d").iterdir()) == sorted(f"f{n}" for n in range(N_FILES))
    assert sum(map(sum, counts)) == N_PROCESSES * N_EDITS


def test_threads_of_one_session_wait_for_each_other(root: Path) -> None:
    mine = workspace(root)
    for number in (0, 1):
        mine.read(f"d/f{number}")

    def edit(job: tuple[int, int]) -> None:
        process, number = job
        name = names(root, number)[process % 6]
        mine.edit(name, f"slot {process} 0\n", f"slot {process} 1\n")

    jobs = [(process, number) for process in range(N_PROCESSES) for number in (0, 1)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(edit, jobs))
    for number in (0, 1):
        slots = "".join(f"slot {process} 1\n" for process in range(N_PROCESSES))
        assert (root / "d" / f"f{number}").read_bytes() == f"head {number}\r\n{slots}".encode()


def test_a_refused_edit_changes_nothing(root: Path) -> None:
    mine, other = workspace(root), workspace(root)
    mine.read("d/f0")
    other.read("l0")
    other.edit("l0", "slot 0 0", "slot 0 x")
    before = (root / "d" / "f0").read_bytes()
    with pytest.raises(ToolError) as caught:
        mine.edit("d/f0", "slot 1 0", "slot 1 1")
    assert caught.value.kind == "stale"
    assert "+slot 0 x" in caught.value.message
    assert (root / "d" / "f0").read_bytes() == before
