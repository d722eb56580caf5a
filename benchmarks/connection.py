"""A server of JSON-RPC in a process group of its own: started, asked by number, read by a thread, ended.

How messages stand in its output, and what it may ask of its client, is for each protocol to say. What a server asks is answered
while an answer of it is waited for, so that none waits for us. Nothing here judges an answer.
"""

from __future__ import annotations

import itertools
import json
import os
import queue
import signal
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any  # JSON values: their shape is the server's affair

Json = Any


class NoAnswer(Exception):
    """The server ended, did not answer in time, or knows no such thing."""


class Connection(ABC):
    """One server process, from start to end. Times are `time.perf_counter()` seconds."""

    def __init__(self, command: list[str], root: Path, env: Mapping[str, str]) -> None:
        self.root = root
        self._ids = itertools.count(1)
        self._answers: queue.SimpleQueue[tuple[float, Json]] = queue.SimpleQueue()
        self._sending = threading.Lock()
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            cwd=root,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def request(self, method: str, parameters: Json, deadline: float) -> tuple[float, Json]:
        """When the answer arrived, and the message with its `result` or `error`."""
        number = next(self._ids)
        self._send({"id": number, "method": method, "params": parameters})
        while True:
            try:
                at, message = self._answers.get(timeout=max(0.001, deadline - time.perf_counter()))
            except queue.Empty:
                raise NoAnswer("no answer in time") from None
            if message is None:
                raise NoAnswer(f"the server ended with {self.process.wait(5)}")
            if message.get("id") == number:
                return at, message

    def notify(self, method: str, parameters: Json) -> None:
        self._send({"method": method, "params": parameters})

    @abstractmethod
    def close(self) -> None:
        """Take leave as the protocol says, then `end`."""

    def end(self, patience_s: float) -> None:
        """Wait for so long, and end the whole process group whatever it does."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(patience_s)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    @abstractmethod
    def framed(self, body: bytes) -> bytes:
        """A message as it stands in the server's input."""

    @abstractmethod
    def bodies(self, stream: IO[bytes]) -> Iterator[bytes]:
        """The messages in the server's output; what is not JSON is passed over."""

    @abstractmethod
    def answer_to(self, method: str, parameters: Json) -> Json:
        """What the server is told that asks this."""

    @abstractmethod
    def take_note(self, method: str, parameters: Json) -> None:
        """Of what the server says and wants no answer to."""

    def _send(self, message: Mapping[str, Json]) -> None:
        body = self.framed(json.dumps({"jsonrpc": "2.0", **message}).encode())
        assert self.process.stdin is not None
        with self._sending, suppress(BrokenPipeError):
            self.process.stdin.write(body)
            self.process.stdin.flush()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for body in self.bodies(self.process.stdout):
            at = time.perf_counter()
            try:
                message = json.loads(body)
            except ValueError:
                continue
            if isinstance(message, dict):
                self._take(at, message)
        self._answers.put((time.perf_counter(), None))

    def _take(self, at: float, message: Json) -> None:
        method = message.get("method")
        if method is None:
            self._answers.put((at, message))
        elif "id" in message:
            self._send({"id": message["id"], "result": self.answer_to(method, message.get("params"))})
        else:
            self.take_note(method, message.get("params"))
