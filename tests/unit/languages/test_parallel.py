"""Work shared with a forked process gives the same answer as work done alone, whatever becomes of the other process."""

import os
import sys
import threading
import time

import pytest

from lsptools.languages.python import parallel
from lsptools.languages.python.facts import FileFacts
from lsptools.languages.python.parallel import facts_of_all

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks here")
PATHS = [f"{number}.py" for number in range(300)]
WITHOUT = {"7.py", "8.py", "299.py"}
EXPECTED = [path for path in PATHS if path not in WITHOUT]


def facts(path: str) -> FileFacts | None:
    return None if path in WITHOUT else FileFacts(path, False, (), ())


@pytest.fixture(autouse=True)
def forks(monkeypatch: pytest.MonkeyPatch) -> None:
    # Test runners have threads of their own; nothing here touches what they hold.
    monkeypatch.setattr(parallel, "_may_fork", lambda: True)


@pytest.mark.parametrize("n_paths", [0, 1, parallel.ENOUGH, 300])
def test_all_files_in_their_order(n_paths: int) -> None:
    called = []
    found = facts_of_all(PATHS[:n_paths], facts, lambda: called.append(threading.active_count()))
    assert [file.path for file in found] == [path for path in EXPECTED if path in PATHS[:n_paths]]
    assert len(called) == 1


def test_both_work() -> None:
    parent = os.getpid()

    def slow(path: str) -> FileFacts:
        time.sleep(0.001)
        return FileFacts(str(os.getpid() == parent), False, (), ())

    assert {file.path for file in facts_of_all(PATHS, slow, lambda: None)} == {"True", "False"}


@pytest.mark.parametrize("fate", ["killed", "raises"])
def test_the_other_process_may_fail(fate: str) -> None:
    parent = os.getpid()

    def fatal(path: str) -> FileFacts | None:
        if os.getpid() != parent:
            if fate == "killed":
                os.kill(os.getpid(), 9)
            raise RuntimeError
        time.sleep(0.0005)
        return facts(path)

    assert [file.path for file in facts_of_all(PATHS, fatal, lambda: None)] == EXPECTED


def test_our_own_failure_ends_the_other_process() -> None:
    parent = os.getpid()

    def fails(path: str) -> FileFacts | None:
        if os.getpid() == parent:
            raise RuntimeError
        time.sleep(60)
        return facts(path)

    with pytest.raises(RuntimeError):
        facts_of_all(PATHS, fails, lambda: None)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_more_files_than_numbers_fit_into_a_pipe() -> None:
    paths = [str(number) for number in range(40_000)]
    found = facts_of_all(paths, lambda path: FileFacts(path, False, (), ()), lambda: None)
    assert [file.path for file in found] == paths
