"""Reading a command's pipe in a thread, so that what was written before some moment can be waited for, however busy the machine is.

When a command has ended, what it has written is in the pipe, and the end of the pipe may never come: something in the background
holds it. So the reader is asked to catch up: it reads until the pipe is empty once, or until more has come than any pipe holds, which
is new. Then it goes on, for the background. Where it stops: without `poll` (Windows) only the end of the pipe and time count.
"""

from __future__ import annotations

import os
import select
import threading
from typing import IO

from lsptools.workspace.output import Output

MOST_IN_A_PIPE = 1 << 20
"""Bytes; Linux lets nobody but the superuser make it larger."""
_CAN_ASK = hasattr(select, "poll")


class Reader:
    """A thread that feeds an output from a pipe, until the pipe's end."""

    def __init__(self, pipe: IO[bytes], output: Output) -> None:
        self._pipe, self._output = pipe, output
        self._lock = threading.Lock()
        self._is_over = False
        self._is_asked = threading.Event()
        self._has_caught_up = threading.Event()
        self._wakened, self._waker = os.pipe() if _CAN_ASK else (-1, -1)
        self._thread = threading.Thread(target=self._read, daemon=True, name="read")
        self._thread.start()

    def catch_up(self, *, end_s: float, most_s: float) -> None:
        """Wait `end_s` for the end of the pipe; then until all is read that is in it now, but at most `most_s`."""
        self._thread.join(end_s)
        with self._lock:
            if self._is_over or not _CAN_ASK:
                return
            self._has_caught_up.clear()
            self._is_asked.set()
            os.write(self._waker, b".")
        self._has_caught_up.wait(most_s)

    def _read(self) -> None:
        try:
            if _CAN_ASK:
                self._read_and_answer()
            else:
                while data := self._pipe.read(1 << 16):
                    self._output.feed(data)
        finally:
            with self._lock:
                self._is_over = True
                for end in (self._wakened, self._waker) if _CAN_ASK else ():
                    os.close(end)
            self._pipe.close()
            self._output.close()
            self._has_caught_up.set()

    def _read_and_answer(self) -> None:
        pipe = self._pipe.fileno()
        waiting = select.poll()
        for descriptor in (pipe, self._wakened):
            waiting.register(descriptor, select.POLLIN)
        n_since = 0
        while True:
            is_asked = self._is_asked.is_set()
            ready = [descriptor for descriptor, _ in waiting.poll(0 if is_asked else None)]
            if self._wakened in ready:
                os.read(self._wakened, 1)
            if pipe in ready:
                data = os.read(pipe, 1 << 16)
                if not data:
                    return
                self._output.feed(data)
                n_since += len(data)
            if is_asked and (pipe not in ready or n_since > MOST_IN_A_PIPE):
                self._is_asked.clear()
                self._has_caught_up.set()
            if not is_asked:
                n_since = 0
