"""Ending a process with everything below it, where there is no guard: by walking the table of processes (psutil).

Repeated until nothing is left, so that what is started meanwhile is found, too. Where it stops: a process whose parent has
ended before we looked, and that left the group, is nobody's child and is not found.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

import psutil

_POLL_S = 0.02


def end_tree(pid: int, grace_s: float, patience_s: float, most_s: float) -> int:
    """Ask the process and all below it to end, and after `grace_s` insist; how many there still are.

    Those that we may not end are left after `patience_s`, and those that do not end although we may after `most_s`.
    """
    known: dict[int, psutil.Process] = {}
    began = time.monotonic()
    asked: set[int] = set()
    refusing: set[int] = set()
    while True:
        _meet(pid, known)
        living = [each for each in known.values() if _is_living(each)]
        passed = time.monotonic() - began
        is_refused = refusing.issuperset(each.pid for each in living)
        if not living or passed > grace_s + (patience_s if is_refused else most_s):
            return len(living)
        for each in living:
            try:
                if passed >= grace_s:
                    each.kill()
                elif each.pid not in asked:
                    asked.add(each.pid)
                    each.terminate()
            except psutil.AccessDenied:
                refusing.add(each.pid)
            except psutil.Error:
                continue  # it has ended meanwhile
        if passed >= grace_s and hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
        time.sleep(_POLL_S)


def _meet(pid: int, known: dict[int, psutil.Process]) -> None:
    """Add the process and what is below it, and below those that were met earlier."""
    with suppress(psutil.NoSuchProcess):
        known.setdefault(pid, psutil.Process(pid))
    for each in list(known.values()):
        with suppress(psutil.Error):
            for child in each.children(recursive=True):
                known.setdefault(child.pid, child)


def _is_living(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True
