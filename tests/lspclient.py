"""A client of the language server: requests, notifications, and an answer to whatever the server asks.

It talks to a process over its standard streams, or to a server in this process over pipes; the bytes are the same.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

LIMIT_S = 60.0
Json = Any  # a message; the protocol is its type

CAPABILITIES: Json = {
    "workspace": {
        "applyEdit": True,
        "configuration": True,
        "workspaceFolders": True,
        "workspaceEdit": {
            "documentChanges": True,
            "resourceOperations": ["create", "rename", "delete"],
            "changeAnnotationSupport": {"groupsOnLabel": True},
        },
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "fileOperations": {"willRename": True, "didRename": True},
    },
    "textDocument": {
        "rename": {"prepareSupport": True, "honorsChangeAnnotations": True},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "definition": {"linkSupport": True},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "publishDiagnostics": {"versionSupport": True},
        "diagnostic": {},
    },
    "window": {"workDoneProgress": True},
    "general": {},
}


class Failed(Exception):
    """An error response."""

    def __init__(self, error: Json) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: Json = error.get("data")


class Call:
    """A request on its way."""

    def __init__(self, ident: int | str) -> None:
        self.ident = ident
        self.sent_s = time.monotonic()
        self.message: Json = None
        self.arrived_s = 0.0
        self.ready = threading.Event()

    def result(self, limit_s: float = LIMIT_S) -> Json:
        """The result; `Failed` for an error, `TimeoutError` if none comes."""
        if not self.ready.wait(limit_s) or self.message is None:
            raise TimeoutError(f"request {self.ident} is not answered")
        if "error" in self.message:
            raise Failed(self.message["error"])
        return self.message["result"]


class Client:
    """One conversation. `notes` are the notifications and requests of the server, in order."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader, self._writer = reader, writer
        self._lock = threading.Lock()
        self._n_calls = 0
        self.calls: dict[int | str, Call] = {}
        self.notes: list[Json] = []
        self.apply_edit: Callable[[Json], bool] = lambda _edit: False
        self.process: subprocess.Popen[bytes] | None = None
        self.ended = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def dispose(self) -> None:
        """Let go of the streams of a server that has ended."""
        self._thread.join(10)
        for stream in (self._reader, self._writer):
            with contextlib.suppress(OSError):
                stream.close()

    # Saying

    def send(self, message: Json, header: str = "Content-Length: ${n}\r\n\r\n") -> None:
        body = json.dumps(message).encode()
        self.send_bytes(header.replace("${n}", str(len(body))).encode() + body)

    def send_bytes(self, data: bytes) -> None:
        with self._lock:
            self._writer.write(data)
            self._writer.flush()

    def notify(self, method: str, params: Json = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})})

    def begin(
        self, method: str, params: Json = None, *, ident: int | str | None = None, **header: str
    ) -> Call:
        self._n_calls += 1
        call = Call(self._n_calls if ident is None else ident)
        self.calls[call.ident] = call
        message = {"jsonrpc": "2.0", "id": call.ident, "method": method}
        self.send(message if params is None else {**message, "params": params}, **header)
        if self.ended.is_set():
            call.ready.set()
        return call

    def begin_raw(self, message: Json) -> Call:
        """Begin a request that is a message already."""
        call = self.calls[message["id"]] = Call(message["id"])
        self.send(message)
        return call

    def ask(self, method: str, params: Json = None, limit_s: float = LIMIT_S) -> Json:
        return self.begin(method, params).result(limit_s)

    def initialize(
        self, root: Path, *, encodings: list[str] | None = None, capabilities: Json = None, **members: Json
    ) -> Json:
        """Begin the conversation; the result of `initialize`."""
        declared = json.loads(json.dumps(CAPABILITIES if capabilities is None else capabilities))
        if encodings is not None:
            declared.setdefault("general", {})["positionEncodings"] = encodings
        params = {
            "processId": os.getpid(),
            "rootUri": root.as_uri(),
            "workspaceFolders": [{"uri": root.as_uri(), "name": "workspace"}],
            "capabilities": declared,
        }
        result = self.ask("initialize", params | members)
        self.notify("initialized", {})
        return result

    def open(self, uri: str, text: str, version: int = 1) -> None:
        document = {"uri": uri, "languageId": "python", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def at(self, method: str, uri: str, line: int, character: int, **members: Json) -> Json:
        """A request about a position."""
        where = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        return self.ask(f"textDocument/{method}", where | members)

    def wait_for(self, method: str, *, nth: int = 1, limit_s: float = LIMIT_S) -> Json:
        """The params of the nth notification of a method."""
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            found = [note["params"] for note in list(self.notes) if note["method"] == method]
            if len(found) >= nth:
                return found[nth - 1]
            time.sleep(0.02)
        raise TimeoutError(method)

    def close(self) -> int | None:
        """Shut down as an editor does; the exit code of a process."""
        self.ask("shutdown")
        self.notify("exit")
        return self.process.wait(10) if self.process is not None else None

    # Hearing

    def _read(self) -> None:
        try:
            while (message := read_message(self._reader)) is not None:
                self._take(message)
        except (OSError, ValueError):
            pass
        self.ended.set()
        for call in list(self.calls.values()):
            call.ready.set()

    def _take(self, message: Json) -> None:
        if "method" not in message:
            call = self.calls.get(message.get("id"))
            if call is not None and call.message is None:
                call.message, call.arrived_s = message, time.monotonic()
                call.ready.set()
            return
        self.notes.append(message)
        if "id" in message:
            self.send({"jsonrpc": "2.0", "id": message["id"], **self._answer(message)})

    def _answer(self, message: Json) -> Json:
        method, params = message["method"], message.get("params") or {}
        if method == "workspace/configuration":
            return {"result": [None] * len(params.get("items", []))}
        if method == "workspace/applyEdit":
            return {"result": {"applied": self.apply_edit(params["edit"])}}
        return {"result": None}


def read_message(stream: BinaryIO) -> Json:
    """The next message; None at the end; ValueError when it is not the protocol."""
    length = None
    while line := stream.readline():
        name, colon, value = line.decode("ascii").partition(":")
        if not line.strip():
            if length is None:
                raise ValueError("a header without a length")
            body = stream.read(length)
            return json.loads(body) if len(body) == length else None
        if not colon:
            raise ValueError(f"no header line: {line!r}")
        if name.strip().lower() == "content-length":
            length = int(value)
    return None


def started(root: Path, environment: Mapping[str, str], **options: Json) -> Client:
    """A client of a new server process, in a session of its own."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-X", "utf8", "-m", "lsptools", "lsp"],
        cwd=root,
        env=dict(environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        **options,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    client = Client(process.stdout, process.stdin)
    client.process = process
    return client


def inside(variables: Mapping[str, str]) -> Client:
    """A client of a server in this process, for many short conversations."""
    from lsptools.faces.environment import Environment
    from lsptools.faces.lsp import converse

    (to_server, from_client), (to_client, from_server) = os.pipe(), os.pipe()
    reader, stream = os.fdopen(to_server, "rb"), os.fdopen(from_server, "wb")

    def serve() -> None:
        with reader, stream:
            converse(Environment(dict(variables)), reader, stream, on_orphaned=lambda: None)

    threading.Thread(target=serve, daemon=True).start()
    return Client(os.fdopen(to_client, "rb"), os.fdopen(from_client, "wb"))
