"""The editor's process: a server whose editor is gone ends, even when its standard input stays open.

An editor that is killed may leave its end of the pipe to a child; the process id that it gave is what tells. A process
that has ended but was not waited for counts as gone, and so does another one that got its id since.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

INTERVAL_S = 1.0


def watch(pid: int, on_gone: Callable[[], None], *, interval_s: float = INTERVAL_S) -> Callable[[], None]:
    """Call `on_gone`, once and from a thread, when the process with this id is gone; it may be gone already.

    What is returned ends the watch.
    """
    began = _began(pid)
    stopped = threading.Event()

    def look() -> None:
        # Not at once: a server whose editor is gone already still answers what it was asked.
        while not stopped.wait(interval_s):
            if not is_alive(pid) or (began is not None and _began(pid) != began):
                on_gone()
                return

    threading.Thread(target=look, name="lsp-parent", daemon=True).start()
    return stopped.set


def is_alive(pid: int) -> bool:
    """Is there such a process, and has it not ended?"""
    if pid <= 0:
        return False
    if sys.platform == "win32":
        return _is_alive_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    state = _stat(pid)
    return state is None or state[0] not in ("Z", "X")


def _began(pid: int) -> str | None:
    """When the process started, in the system's own words."""
    state = _stat(pid)
    return state[19] if state is not None and len(state) > 19 else None


def _stat(pid: int) -> list[str] | None:
    """What Linux says of a process, from its state on."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes().decode("ascii", "replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()


def _is_alive_on_windows(pid: int) -> bool:
    """`os.kill(pid, 0)` would end the process there."""
    import ctypes

    synchronise, still_running = 0x00100000, 0x102
    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]  # there is none on other systems
    handle = kernel.OpenProcess(synchronise, False, pid)
    if not handle:
        return False
    try:
        return bool(kernel.WaitForSingleObject(handle, 0) == still_running)
    finally:
        kernel.CloseHandle(handle)
