"""A sign of life on standard error: after a second, on a terminal, and gone when the work is done."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from lsptools.faces.environment import is_terminal

PATIENCE = 1.0
"""Seconds before anything is shown."""
BEAT = 0.2
"""Seconds between two pictures."""
_ERASE_LINE = "\r\x1b[K"


@contextmanager
def progress(doing: str) -> Iterator[None]:
    """Show `doing` and the seconds passed, for as long as the block runs."""
    if not is_terminal(sys.stderr):
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(doing, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _show(doing: str, done: threading.Event) -> None:
    started = time.monotonic()
    if done.wait(PATIENCE):
        return
    while not done.wait(BEAT):
        sys.stderr.write(f"{_ERASE_LINE}{doing} … {time.monotonic() - started:.0f} s")
        sys.stderr.flush()
    sys.stderr.write(_ERASE_LINE)
    sys.stderr.flush()
