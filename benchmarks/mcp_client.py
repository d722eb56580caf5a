"""A client of the Model Context Protocol that is just large enough to call tools over standard input and output, and that counts.

It speaks revision 2025-06-18, with the handshake, which every server knows. What a server asks of the client is answered at once
(a root, if it wants one; otherwise nothing), so that none waits for us. One call at a time; nothing here judges an answer.

Tokens are characters divided by 4: of the arguments as JSON, which a model has to write, and of the text parts of the answer,
which it has to read. The structured copy of an answer is not counted, for no client shows both.
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
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any  # JSON values: their shape is the server's affair

Json = Any
CHARACTERS_PER_TOKEN = 4
_CLIENT = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"roots": {}},
    "clientInfo": {"name": "benchmark", "version": "1"},
}


class NoAnswer(Exception):
    """The server ended, did not answer in time, or knows no such thing."""


@dataclass(frozen=True, slots=True)
class Said:
    """The answer to a call of a tool."""

    text: str
    """The text parts, joined."""
    data: Json
    """The structured answer, if there is one."""
    is_error: bool


@dataclass(slots=True)
class Count:
    """What calls cost since it was last taken: number, seconds, tokens written and read by the model."""

    calls: int = 0
    seconds: float = 0.0
    written: float = 0.0
    read: float = 0.0


@dataclass(slots=True)
class Client:
    """One server process, in a process group of its own."""

    process: subprocess.Popen[bytes]
    root: Path
    started: float
    deadline: float = float("inf")
    """When to stop waiting, in seconds of `time.perf_counter`."""
    count: Count = field(default_factory=Count)
    _answers: queue.SimpleQueue[Json] = field(default_factory=queue.SimpleQueue)
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _sending: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, command: list[str], root: Path, env: Mapping[str, str]) -> Client:
        started = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=root,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        client = cls(process, root, started)
        threading.Thread(target=client._read, daemon=True).start()
        return client

    def initialize(self) -> Json:
        """Who answers, and with which instructions."""
        answer = self.ask("initialize", _CLIENT)
        self._send({"method": "notifications/initialized"})
        return answer

    def ask(self, method: str, parameters: Json) -> Json:
        number = next(self._ids)
        self._send({"id": number, "method": method, "params": parameters})
        while True:
            try:
                message = self._answers.get(timeout=max(0.001, self.deadline - time.perf_counter()))
            except queue.Empty:
                raise NoAnswer("no answer in time") from None
            if message is None:
                raise NoAnswer(f"the server ended with {self.process.wait(5)}")
            if message.get("id") == number:
                if "error" in message:
                    raise NoAnswer(str(message["error"].get("message"))[:200])
                return message["result"]

    def call(self, tool: str, **arguments: Json) -> Said:
        """Call a tool, and count what it costs."""
        began = time.perf_counter()
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        self.count.seconds += time.perf_counter() - began
        text = "\n".join(part["text"] for part in result["content"] if part["type"] == "text")
        self.count.calls += 1
        self.count.written += len(json.dumps(arguments, ensure_ascii=False)) / CHARACTERS_PER_TOKEN
        self.count.read += len(text) / CHARACTERS_PER_TOKEN
        return Said(text, result.get("structuredContent"), bool(result.get("isError")))

    def counted(self) -> Count:
        """What the calls have cost since this was last asked."""
        count, self.count = self.count, Count()
        return count

    def close(self) -> None:
        """Take leave as the protocol says, and end the whole process group whatever it says."""
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(3)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def _send(self, message: Json) -> None:
        assert self.process.stdin is not None
        with self._sending, suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self.process.stdin.flush()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with suppress(ValueError):  # some print to standard output what is no message
                self._take(json.loads(line))
        self._answers.put(None)

    def _take(self, message: Json) -> None:
        if "method" not in message:
            self._answers.put(message)
        elif "id" in message:
            root = {"uri": self.root.as_uri(), "name": self.root.name}
            result = {"roots": [root]} if message["method"] == "roots/list" else {}
            self._send({"id": message["id"], "result": result})
