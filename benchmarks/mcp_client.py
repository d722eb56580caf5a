"""A client of the Model Context Protocol that is just large enough to call tools over standard input and output, and that counts.

It speaks revision 2025-06-18, with the handshake, which every server knows. What a server asks of the client is answered at once
(a root, if it wants one; otherwise nothing), so that none waits for us. One call at a time; nothing here judges an answer.

Tokens are characters divided by 4: of the arguments as JSON, which a model has to write, and of the text parts of the answer,
which it has to read. The structured copy of an answer is not counted, for no client shows both.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from benchmarks.connection import Connection, Json, NoAnswer

CHARACTERS_PER_TOKEN = 4
_CLIENT = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"roots": {}},
    "clientInfo": {"name": "benchmark", "version": "1"},
}


@dataclass(frozen=True, slots=True)
class Said:
    """The answer to a call of a tool."""

    text: str
    """The text parts, joined."""
    data: Json
    """The structured answer, if there is one."""
    is_error: bool

    @property
    def first_line(self) -> str:
        """As much of it as a table has room for."""
        return self.text.partition("\n")[0][:200]


@dataclass(slots=True)
class Count:
    """What calls cost since it was last taken: number, seconds, tokens written and read by the model."""

    calls: int = 0
    seconds: float = 0.0
    written: float = 0.0
    read: float = 0.0


class Client(Connection):
    """One MCP server in one conversation."""

    def __init__(self, command: list[str], root: Path, env: Mapping[str, str], limit: float) -> None:
        self.count = Count()
        super().__init__(command, root, env)
        self.deadline = self.started + limit
        """When to stop waiting."""

    def initialize(self) -> Json:
        """Who answers, and with which instructions."""
        answer = self.ask("initialize", _CLIENT)
        self.notify("notifications/initialized", {})
        return answer

    def ask(self, method: str, parameters: Json) -> Json:
        """The result; an error is no answer."""
        _, message = self.request(method, parameters, self.deadline)
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
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()
        self.end(3)

    def framed(self, body: bytes) -> bytes:
        return body + b"\n"

    def bodies(self, stream: IO[bytes]) -> Iterator[bytes]:
        yield from stream  # some print to standard output what is no message

    def answer_to(self, method: str, parameters: Json) -> Json:
        """A root, if it wants one; otherwise nothing."""
        root = {"uri": self.root.as_uri(), "name": self.root.name}
        return {"roots": [root]} if method == "roots/list" else {}

    def take_note(self, method: str, parameters: Json) -> None:
        """Of nothing: what it logs and announces is not asked about."""
