"""The facts of many files, on two processors where that pays.

A forked child sends plain data back; it shares what was read and parsed before the fork. Parent and child take the files in
small groups, each the next one as soon as it is done with its last, so that both end at nearly the same time.
Only a process that is alone with its main thread forks, and only on Linux: elsewhere, and if the child fails in any
way, all files are done here. The answer is the same either way.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from lsptools.languages.python.facts import FileFacts

ENOUGH = 24
"""So many files are worth a second process."""

_GROUP = 8
"""So many files are taken at once: neighbours, which often import the same."""

_MOST = 1000
"""Of groups: their numbers have to fit into a pipe, 4 KiB in the worst case."""

_Work = Callable[[str], FileFacts | None]


def facts_of_all(paths: Sequence[str], facts: _Work, meanwhile: Callable[[], None]) -> list[FileFacts]:
    """The facts of these files, in their order; those without (unreadable) are left out.

    `meanwhile` is called once, when no fork is to come any more: it may start a thread.
    """
    if len(paths) < ENOUGH or not _may_fork():
        meanwhile()
        return [found for path in paths if (found := facts(path)) is not None]
    size = max(_GROUP, len(paths) // _MOST + 1)
    groups = [paths[start : start + size] for start in range(0, len(paths), size)]
    turns = _turns(len(groups))
    child = _Child(turns, groups, facts)
    try:
        meanwhile()
        done = {turn: [facts(path) for path in groups[turn]] for turn in _taken(turns)}
    except BaseException:
        child.end()
        raise
    finally:
        os.close(turns)
    done.update(child.result())
    for turn, group in enumerate(groups):
        if turn not in done:
            done[turn] = [facts(path) for path in group]
    return [found for turn in range(len(groups)) for found in done[turn] if found is not None]


def _may_fork() -> bool:
    return sys.platform == "linux" and threading.active_count() == 1 and len(os.sched_getaffinity(0)) > 1


_WIDTH = 4
"""Bytes of one number in the queue."""


def _turns(n_groups: int) -> int:
    """A pipe with the numbers of the groups in it, from which both processes take: the end to read."""
    reader, writer = os.pipe()
    os.write(writer, b"".join(turn.to_bytes(_WIDTH, "big") for turn in range(n_groups)))
    os.close(writer)
    return reader


def _taken(turns: int) -> Iterator[int]:
    """The numbers of the groups that this process is to do."""
    while number := os.read(turns, _WIDTH):
        yield int.from_bytes(number, "big")


class _Child:
    """A forked process that works on some of the groups."""

    def __init__(self, turns: int, groups: Sequence[Sequence[str]], facts: _Work) -> None:
        reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(reader)
            _work(writer, turns, groups, facts)
        os.close(writer)
        self.reader = reader

    def result(self) -> dict[int, list[FileFacts | None]]:
        """What the child found for which groups; nothing if it failed."""
        data = b"".join(iter(lambda: os.read(self.reader, 1 << 20), b""))
        if self._status() != 0 or not data:
            return {}
        # From our own child through a pipe nobody else holds.
        found: dict[int, list[FileFacts | None]] = pickle.loads(data)
        return found

    def end(self) -> None:
        """End it: nobody waits for what it finds."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            self._status()

    def _status(self) -> int:
        os.close(self.reader)
        return os.waitpid(self.pid, 0)[1]


def _work(writer: int, turns: int, groups: Sequence[Sequence[str]], facts: _Work) -> None:
    """The child's whole life: it never returns, and runs nothing that the parent would run at its end."""
    code = 1
    try:
        import gc

        gc.disable()
        found = {turn: [facts(path) for path in groups[turn]] for turn in _taken(turns)}
        data = pickle.dumps(found, protocol=pickle.HIGHEST_PROTOCOL)
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(data)
        code = 0
    finally:
        os._exit(code)
