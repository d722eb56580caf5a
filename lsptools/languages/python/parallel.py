"""The facts of many files, on two processors where that pays.

A forked child takes every second file and sends plain data back; it shares what was read and parsed before the fork.
Only a process that is alone with its main thread forks, and only on Linux: elsewhere, and if the child fails in any
way, all files are done here. The answer is the same either way.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence

from lsptools.languages.python.facts import FileFacts

ENOUGH = 160
"""So many files are worth a second process."""


def facts_of_all(
    paths: Sequence[str], facts: Callable[[str], FileFacts | None], meanwhile: Callable[[], None]
) -> list[FileFacts]:
    """The facts of these files, in their order; those without (unreadable) are left out.

    `meanwhile` is called once, when no fork is to come any more: it may start a thread.
    """
    child = _Child(paths[1::2], facts) if len(paths) >= ENOUGH and _may_fork() else None
    meanwhile()
    if child is None:
        return [found for path in paths if (found := facts(path)) is not None]
    first = [facts(path) for path in paths[::2]]
    second = child.result()
    if second is None:
        second = [facts(path) for path in paths[1::2]]
    merged: list[FileFacts | None] = [None] * len(paths)
    merged[::2] = first
    merged[1::2] = second
    return [found for found in merged if found is not None]


def _may_fork() -> bool:
    return sys.platform == "linux" and threading.active_count() == 1 and len(os.sched_getaffinity(0)) > 1


class _Child:
    """A forked process that works on some of the files."""

    def __init__(self, paths: Sequence[str], facts: Callable[[str], FileFacts | None]) -> None:
        reader, writer = os.pipe()
        self.n_paths = len(paths)
        self.pid = os.fork()
        if self.pid == 0:
            os.close(reader)
            _work(writer, paths, facts)
        os.close(writer)
        self.reader = reader

    def result(self) -> list[FileFacts | None] | None:
        """What the child found; None if it failed."""
        import pickle

        with os.fdopen(self.reader, "rb") as pipe:
            data = pipe.read()
        _, status = os.waitpid(self.pid, 0)
        if status != 0 or not data:
            return None
        # From our own child through a pipe nobody else holds.
        found = pickle.loads(data)
        return found if isinstance(found, list) and len(found) == self.n_paths else None


def _work(writer: int, paths: Sequence[str], facts: Callable[[str], FileFacts | None]) -> None:
    """The child's whole life: it never returns, and runs nothing that the parent would run at its end."""
    code = 1
    try:
        import gc
        import pickle

        gc.disable()
        data = pickle.dumps([facts(path) for path in paths], protocol=pickle.HIGHEST_PROTOCOL)
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(data)
        code = 0
    finally:
        os._exit(code)
