"""A sign of life: late, on a terminal only, and gone afterwards."""

import io
import sys
import time

import pytest

from lsptools.faces import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def standard_error(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO) -> io.StringIO:
    """Put in place by each test itself: between setting up and running a test, pytest puts its own there."""
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def test_short_work_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = standard_error(monkeypatch, Terminal())
    with progress.progress("work"):
        pass
    assert terminal.getvalue() == ""


def test_long_work_is_shown_and_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = standard_error(monkeypatch, Terminal())
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    monkeypatch.setattr(progress, "BEAT", 0.01)
    deadline = time.monotonic() + 10
    with progress.progress("work"):
        while "work" not in terminal.getvalue() and time.monotonic() < deadline:
            time.sleep(0.005)
    assert "work … 0 s" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_a_pipe_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = standard_error(monkeypatch, io.StringIO())
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.progress("work"):
        time.sleep(0.01)
    assert pipe.getvalue() == ""
