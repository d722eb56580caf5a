"""Where the work is done: lanes, each a thread of its own that takes one job after another.

A reader that hands its work to a lane is never held up by it. Requests that ask the same of the same state share one
job. A job is cancelled when everyone who waits for it has left; it notices at its next checkpoint, and what it answers
then is dropped. Invariant: everyone who waits is told exactly once, the answer or the error, or has left.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from lsptools.errors import Unavailable

Tell = Callable[[object, BaseException | None], None]
"""Takes the answer, or the error."""


@dataclass(eq=False, slots=True)
class Job:
    """Work to do, and who waits for it."""

    key: Hashable
    work: Callable[[Job], object]
    waiting: dict[Hashable, Tell] = field(default_factory=dict)
    cancelled: bool = False

    def checkpoint(self) -> None:
        """Called again and again by the work; raises when nobody waits any more."""
        if self.cancelled:
            raise Unavailable("cancelled", "the request was cancelled")


class Lane:
    """One thread, one job at a time, in the order in which they came."""

    def __init__(self, name: str) -> None:
        self._condition = threading.Condition()
        self._queue: deque[Job] = deque()
        self._running: Job | None = None
        self._closed = False
        threading.Thread(target=self._run, name=f"lsp-{name}", daemon=True).start()

    def submit(self, who: Hashable, key: Hashable, work: Callable[[Job], object], tell: Tell) -> None:
        """Do the work and tell `who`; one job serves all who give the same key meanwhile."""
        with self._condition:
            job = next((each for each in self._jobs() if each.key == key and not each.cancelled), None)
            if job is None:
                job = Job(key, work)
                self._queue.append(job)
            job.waiting[who] = tell
            self._condition.notify()

    def leave(self, who: Hashable) -> bool:
        """`who` does not wait any more; False if it did not wait here."""
        with self._condition:
            for job in self._jobs():
                if who in job.waiting:
                    del job.waiting[who]
                    if not job.waiting:
                        self._drop(job)
                    return True
            return False

    def close(self) -> None:
        """Stop: nobody is told anything any more."""
        with self._condition:
            self._closed = True
            for job in self._jobs():
                job.waiting.clear()
                job.cancelled = True
            self._queue.clear()
            self._condition.notify()

    def _jobs(self) -> list[Job]:
        return [*self._queue, *([self._running] if self._running else [])]

    def _drop(self, job: Job) -> None:
        job.cancelled = True
        if job in self._queue:
            self._queue.remove(job)

    def _run(self) -> None:
        while (job := self._next()) is not None:
            answer: object = None
            error: BaseException | None = None
            try:
                answer = job.work(job)
            except BaseException as problem:  # noqa: BLE001  # whoever waits is told, whatever it was
                error = problem
            with self._condition:
                self._running = None
                waiting = list(job.waiting.values())
                job.waiting.clear()
            for tell in waiting:
                tell(answer, error)

    def _next(self) -> Job | None:
        with self._condition:
            while not self._queue and not self._closed:
                self._condition.wait()
            if self._closed:
                return None
            self._running = self._queue.popleft()
            return self._running
