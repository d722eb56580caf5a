"""A language client that is just large enough to ask for references and renames, and polite enough to be answered.

The text of the opened file is sent, standard error is drained, and only UTF-16 positions are offered (what every editor
has). One question at a time; nothing here judges an answer.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from benchmarks.connection import Connection, Json, NoAnswer

_CAPABILITIES: Json = {
    "general": {"positionEncodings": ["utf-16"]},
    "window": {"workDoneProgress": True},
    "workspace": {
        "workspaceFolders": True,
        "configuration": True,
        "didChangeConfiguration": {"dynamicRegistration": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
        "workspaceEdit": {"documentChanges": True, "resourceOperations": ["create", "rename", "delete"]},
    },
    "textDocument": {
        "synchronization": {"didSave": True},
        "references": {"dynamicRegistration": True},
        "rename": {"dynamicRegistration": True, "prepareSupport": True},
        "publishDiagnostics": {"versionSupport": True},
    },
}


class Client(Connection):
    """One language server. It leaves requests unanswered while one of its own is open, so each of those gets an answer at once."""

    def __init__(
        self, command: list[str], root: Path, env: Mapping[str, str], settings: Mapping[str, object]
    ) -> None:
        self.settings = settings
        self.open_work: set[str] = set()
        """Tokens of announced work that has not ended."""
        self.capabilities: Json = {}
        """What the server said that it can, once it was initialized."""
        super().__init__(command, root, env)

    def initialize(self, deadline: float, options: Json = None) -> None:
        """`options` are what this server wants to be told at its start."""
        folder = {"uri": self.root.as_uri(), "name": self.root.name}
        parameters = {
            "processId": os.getpid(),
            "rootUri": folder["uri"],
            "workspaceFolders": [folder],
            "capabilities": _CAPABILITIES,
            **({"initializationOptions": options} if options else {}),
        }
        _, message = self.request("initialize", parameters, deadline)
        self.capabilities = (message.get("result") or {}).get("capabilities", {})
        self.notify("initialized", {})

    def open(self, path: Path) -> None:
        text = path.read_bytes().decode("utf-8")
        document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def close(self) -> None:
        with suppress(NoAnswer):
            self.request("shutdown", None, time.perf_counter() + 3)
            self.notify("exit", None)
        self.end(1)

    def framed(self, body: bytes) -> bytes:
        return b"Content-Length: %d\r\n\r\n" % len(body) + body

    def bodies(self, stream: IO[bytes]) -> Iterator[bytes]:
        length = 0
        for header in stream:
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
            elif not header.strip():
                yield stream.read(length)

    def answer_to(self, method: str, parameters: Json) -> Json:
        if method == "workspace/configuration":
            return [self.settings.get(item.get("section")) for item in parameters["items"]]
        return None

    def take_note(self, method: str, parameters: Json) -> None:
        if method == "$/progress":
            kind = parameters["value"].get("kind")
            if kind == "begin":
                self.open_work.add(str(parameters["token"]))
            elif kind == "end":
                self.open_work.discard(str(parameters["token"]))
