"""What was written before some moment has been read after it, though the pipe does not end and more may come for ever."""

from __future__ import annotations

import os
import select
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lsptools.workspace.output import Output
from lsptools.workspace.pipes import MOST_IN_A_PIPE, Reader

pytestmark = pytest.mark.skipif(not hasattr(select, "poll"), reason="without poll only the end is waited for")
LONG = 60.0
"""Seconds that nobody waits: who comes to these has failed."""


class Written(Output):
    """An output that knows what it was fed, perhaps not in a hurry."""

    def __init__(self, pause_s: float = 0.0) -> None:
        super().__init__()
        self.fed = b""
        self.is_closed = False
        self._pause_s = pause_s

    def feed(self, data: bytes) -> None:
        time.sleep(self._pause_s)
        self.fed += data

    def close(self) -> None:
        self.is_closed = True


class Pipe:
    """A pipe with its reader; the end for writing stays open until `end`, as the background of a command has it."""

    def __init__(self, pause_s: float = 0.0) -> None:
        reading, self.writing = os.pipe()
        self.output = Written(pause_s)
        self.reader = Reader(os.fdopen(reading, "rb", buffering=0), self.output)

    def caught_up(self, *, end_s: float = 0.0, most_s: float = LONG) -> float:
        """Seconds that it took."""
        began = time.monotonic()
        self.reader.catch_up(end_s=end_s, most_s=most_s)
        return time.monotonic() - began

    def end(self) -> None:
        if self.writing >= 0:
            os.close(self.writing)
            self.writing = -1
        self.reader._thread.join(LONG)
        assert not self.reader._thread.is_alive()


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    pipe = Pipe()
    yield pipe
    pipe.end()


def test_what_was_written_is_read_though_the_pipe_stays_open(pipe: Pipe) -> None:
    """As often as it is asked; a large piece, which fills the pipe more than once, too."""
    expected = b""
    for data in (b"a", b"", b"b" * 100, bytes(range(256)) * 1024, b"last"):
        view = memoryview(data)
        while view:
            view = view[os.write(pipe.writing, view) :]
        expected += data
        assert pipe.caught_up() < LONG / 2
        assert pipe.output.fed == expected
    assert not pipe.output.is_closed


def test_who_reads_slowly_is_waited_for() -> None:
    pipe = Pipe(pause_s=0.5)
    os.write(pipe.writing, b"slow")
    assert pipe.caught_up() >= 0.3
    assert pipe.output.fed == b"slow"
    pipe.end()


def test_but_not_longer_than_is_said() -> None:
    pipe = Pipe(pause_s=1.0)
    os.write(pipe.writing, b"slow")
    assert 0.1 <= pipe.caught_up(most_s=0.1) < 0.9
    assert pipe.output.fed == b""
    pipe.end()
    assert pipe.output.fed == b"slow"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a pipe be made larger")
def test_a_pipe_that_holds_much_is_read_to_its_end() -> None:
    """Slowly, and with several reads."""
    import fcntl

    pipe = Pipe(pause_s=0.05)
    fcntl.fcntl(pipe.writing, fcntl.F_SETPIPE_SZ, 1 << 19)
    data = bytes(1 << 19)
    assert os.write(pipe.writing, data) == len(data)
    assert pipe.caught_up() < LONG / 2
    assert pipe.output.fed == data
    pipe.end()


def test_a_background_that_goes_on_writing_is_not_waited_for() -> None:
    """What was there is read when more has come than a pipe holds; then it is read on, for the background."""
    pipe = Pipe(pause_s=0.01)  # so it is never empty
    os.write(pipe.writing, b"mine")
    is_over = threading.Event()

    def go_on() -> None:
        while not is_over.is_set():
            os.write(pipe.writing, b"." * 4096)

    background = threading.Thread(target=go_on)
    background.start()
    try:
        for _ in range(2):
            n_read = len(pipe.output.fed)
            assert pipe.caught_up() < LONG / 2
            assert pipe.output.fed.startswith(b"mine")
            assert len(pipe.output.fed) > n_read + MOST_IN_A_PIPE
    finally:
        is_over.set()
        background.join()
        pipe.end()


def test_the_end_is_waited_for_first(pipe: Pipe) -> None:
    def write_and_end() -> None:
        time.sleep(0.3)
        os.write(pipe.writing, b"late")
        os.close(pipe.writing)
        pipe.writing = -1

    writer = threading.Thread(target=write_and_end)
    writer.start()
    assert pipe.caught_up(end_s=LONG) < LONG / 2
    assert (pipe.output.fed, pipe.output.is_closed) == (b"late", True)
    writer.join()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="looks into /proc")
def test_after_the_end_nothing_is_asked_and_nothing_is_open() -> None:
    before = set(os.listdir("/proc/self/fd"))
    for _ in range(20):
        pipe = Pipe()
        os.write(pipe.writing, b"x")
        pipe.end()
        assert pipe.caught_up() < LONG / 2
        assert pipe.caught_up() < LONG / 2
        assert (pipe.output.fed, pipe.output.is_closed) == (b"x", True)
    assert set(os.listdir("/proc/self/fd")) == before


def test_who_asks_while_the_pipe_ends_is_answered() -> None:
    for number in range(200):
        pipe = Pipe()
        ending = threading.Thread(target=pipe.end)
        ending.start()
        assert pipe.caught_up() < LONG / 2, number
        ending.join()


def test_a_pipe_holds_no_more_than_we_think() -> None:
    limit = Path("/proc/sys/fs/pipe-max-size")
    if not limit.exists():
        pytest.skip("this system does not say how much a pipe may hold")
    assert int(limit.read_text()) <= MOST_IN_A_PIPE
