"""A language client that is just large enough to ask for references and renames, and polite enough to be answered.

Servers leave requests unanswered while one of their own is open, so every request of a server gets an answer at once.
The text of the opened file is sent, standard error is drained, and only UTF-16 positions are offered (what every editor
has). One question at a time; nothing here judges an answer.
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
from pathlib import Path
from typing import Any  # JSON values: their shape is the server's affair

Json = Any

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


class NoAnswer(Exception):
    """The server ended, or did not answer in time."""


class Client:
    """One server process, from start to end. Times are `time.perf_counter()` seconds."""

    def __init__(
        self, command: list[str], root: Path, env: Mapping[str, str], settings: Mapping[str, object]
    ) -> None:
        self.root, self.settings = root, settings
        self.open_work: set[str] = set()
        """Tokens of announced work that has not ended."""
        self.capabilities: Json = {}
        """What the server said that it can, once it was initialized."""
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

    def close(self) -> None:
        """Shuts the server down as the protocol says, and ends its whole process group whatever it says."""
        with suppress(NoAnswer):
            self.request("shutdown", None, time.perf_counter() + 3)
            self.notify("exit", None)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(1)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def _send(self, message: dict[str, Json]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        with self._sending, suppress(BrokenPipeError):
            self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self.process.stdin.flush()

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        length = 0
        for header in stream:
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
            elif not header.strip():
                body = stream.read(length)
                self._take(time.perf_counter(), json.loads(body))
        self._answers.put((time.perf_counter(), None))

    def _take(self, at: float, message: Json) -> None:
        method = message.get("method")
        if method is None:
            self._answers.put((at, message))
        elif method == "$/progress":
            kind = message["params"]["value"].get("kind")
            if kind == "begin":
                self.open_work.add(str(message["params"]["token"]))
            elif kind == "end":
                self.open_work.discard(str(message["params"]["token"]))
        elif "id" in message:
            result: Json = None
            if method == "workspace/configuration":
                result = [self.settings.get(item.get("section")) for item in message["params"]["items"]]
            self._send({"id": message["id"], "result": result})
