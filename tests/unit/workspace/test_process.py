"""Commands end: at their end, at a limit, on a cancel, and when whoever started them is killed. psutil is the witness."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from lsptools.errors import Unavailable
from lsptools.workspace import process_tree
from lsptools.workspace.output import Output
from lsptools.workspace.process import Command, Ending, Finished, run

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands are for bash")
TOKEN = "LSPTOOLS_TEST_TOKEN"
EVADERS = """
trap '' HUP
setsid sleep 60 &
(sleep 61 &)
(setsid bash -c 'trap "" TERM HUP; (sleep 62 &); while :; do sleep 0.1; done' &)
bash -c 'trap "" TERM; sleep 63 & wait' &
while :; do (sleep 0.01; setsid sleep 64 &) & sleep 0.1; done
"""
"""What it takes to get away: own sessions, lost parents, deaf ears, and always new ones."""
SOON, LATE = 25.0, 120.0
"""Seconds: less than what `sleep 30` would hold a call, also on a machine that does other things; and when a test gives up."""


@pytest.fixture
def token() -> Iterator[str]:
    yield f"{os.getpid()}-{random.getrandbits(64):x}"


def living(token: str) -> list[psutil.Process]:
    """The processes that were given this token, wherever they are now."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(TOKEN) == token and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def command(text: str, token: str = "", *, limit_s: float = 30.0) -> Command:
    return Command(("bash", "-c", text), "/", limit_s, {**os.environ, TOKEN: token})


def done(text: str, *, limit_s: float = 30.0) -> tuple[Finished, str]:
    output = Output()
    finished = run(command(text, limit_s=limit_s), output)
    return finished, output.shown().text


@pytest.mark.parametrize(
    ("text", "ending", "exit_code", "name", "output"),
    [
        ("echo a; echo b >&2", Ending.EXITED, 0, None, "a\nb\n"),
        ("echo a; exit 3", Ending.FAILED, 3, None, "a\n"),
        ("kill -9 $$", Ending.FAILED, None, "SIGKILL", ""),
        ("cat; echo after", Ending.EXITED, 0, None, "after\n"),
        ("sleep 30 & echo started", Ending.EXITED, 0, None, "started\n"),
        ("tty || true", Ending.EXITED, 0, None, "not a tty\n"),
    ],
)
def test_an_end_of_its_own(text: str, ending: Ending, exit_code: int, name: str, output: str) -> None:
    finished, written = done(text)
    if finished.background is not None:
        finished.background.end()
    assert (finished.ending, finished.exit_code, finished.signal, written) == (
        ending,
        exit_code,
        name,
        output,
    )
    assert finished.seconds < SOON


def test_a_limit_keeps_what_was_written() -> None:
    finished, written = done("echo before; trap '' TERM; sleep 30", limit_s=2.0)
    assert (finished.ending, finished.exit_code, written) == (Ending.TIMED_OUT, None, "before\n")
    assert finished.seconds < SOON


def test_streams_may_stay_apart() -> None:
    out, err = Output(), Output()
    run(command("echo a; echo b >&2"), out, err)
    assert (out.data, err.data) == (b"a\n", b"b\n")


def test_what_cannot_be_started_is_said() -> None:
    with pytest.raises(Unavailable, match="cannot be started"):
        run(Command(("/nowhere/program",), "/", 5.0), Output())


def test_the_background_goes_on_until_it_is_ended(token: str, tmp_path: Path) -> None:
    finished = run(
        command(f"(while :; do echo x >> {tmp_path}/beat; echo y; sleep 0.02; done) &", token), Output()
    )
    assert finished.background is not None and finished.background.n_processes >= 1
    wait_for(lambda: n_beats(tmp_path) > 0)
    before = n_beats(tmp_path)
    wait_for(lambda: n_beats(tmp_path) > before)
    finished.background.end()
    assert not living(token)


def n_beats(folder: Path) -> int:
    beat = folder / "beat"
    return beat.stat().st_size if beat.exists() else 0


def wait_for(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LATE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_guard_that_is_killed_is_noticed(token: str) -> None:
    finished = run(command("sleep 50 & kill -9 $PPID; sleep 51", token), Output())
    assert (finished.ending, finished.signal) == (Ending.FAILED, "SIGKILL")
    assert not living(token)


def end_somehow(seed: int) -> list[psutil.Process]:
    """Start what evades, end it at a random moment by the limit or a cancel; what is left."""
    chance = random.Random(seed)
    token, moment = f"{os.getpid()}-{seed}", chance.uniform(0.0, 0.25)
    if seed % 2:
        run(command(EVADERS, token, limit_s=moment), Output())
    else:
        when = threading.Event()
        threading.Timer(moment, when.set).start()
        finished = run(command(EVADERS, token), Output(), is_cancelled=when.is_set)
        assert finished.ending is Ending.CANCELLED
    return living(token)


OWNER = """
import sys
from lsptools.workspace.output import Output
from lsptools.workspace.process import Command, run
print("ready", flush=True)
run(Command(("bash", "-c", sys.argv[1]), "/", 60.0), Output())
"""


def kill_owner(seed: int) -> list[psutil.Process]:
    """The same, when it is the process that called `run` which is killed."""
    token = f"{os.getpid()}-owner-{seed}"
    variables = {**os.environ, TOKEN: token}
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, EVADERS], env=variables, stdout=subprocess.PIPE
    ) as owner:
        assert owner.stdout is not None and owner.stdout.readline() == b"ready\n"
        time.sleep(random.Random(seed).uniform(0.0, 0.25))
        os.kill(owner.pid, signal.SIGKILL)
    deadline = time.monotonic() + LATE
    while (left := living(token)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the guard is for Linux")
def test_200_random_kills_leave_no_process_behind() -> None:
    with ThreadPoolExecutor(2) as pool:
        left = [*pool.map(end_somehow, range(150)), *pool.map(kill_owner, range(50))]
    assert len(left) == 200 and not any(left), left


def test_without_a_guard_the_table_of_processes_is_walked(token: str) -> None:
    text = "bash -c 'trap \"\" TERM; sleep 60 & wait' & setsid sleep 61 & sleep 62"
    with subprocess.Popen(
        ["bash", "-c", text], env={**os.environ, TOKEN: token}, start_new_session=True
    ) as process:
        wait_for(lambda: len(living(token)) >= 4)
        assert process_tree.end_tree(process.pid, 0.1, LATE, LATE) == 0
    assert not living(token)


def test_ending_what_has_ended_is_nothing() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert process_tree.end_tree(process.pid, 0.0, 1.0, LATE) == 0
