"""The language server among bad neighbours: random edits, fuzzed messages, cancellations, dead parents, hostile workspaces."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import lspeditor
import pytest
from casefaces import Place
from hypothesis import given
from hypothesis import strategies as st
from lspclient import Client, Failed, inside, started
from traps import lay_traps

from lsptools.faces.lsp_documents import Documents, Replacement, key_of, path_of, uri_of
from lsptools.faces.lsp_requests import rename
from lsptools.refactor.rename import RenamePlan
from lsptools.text.lines import LspPos, PositionEncoding
from lsptools.workspace.snapshot import Snapshot

N_STARTS = int(os.environ.get("LSPTOOLS_SERVER_STARTS", "3"))
N_FUZZED = int(os.environ.get("LSPTOOLS_FUZZED_MESSAGES", "3000"))
ALPHABET = [
    "a",
    " ",
    "\n",
    "\r",
    "\r\n",
    "\f",
    "\v",
    "\x1c",
    "\x85",
    "\u2028",
    "\u2029",
    "é",
    "漢",
    "😀",
    "\u0301",
    "_x",
]

texts = st.lists(st.sampled_from(ALPHABET), max_size=12).map("".join)
positions = st.tuples(st.integers(0, 6), st.integers(0, 9))


# ---------------------------------------------------------------------------------------------------- the mirror
@given(
    text=texts,
    changes=st.lists(st.tuples(positions, positions, texts), max_size=6),
    encoding=st.sampled_from(list(PositionEncoding)),
)
def test_the_mirror_is_the_editors_text(
    text: str, changes: list[tuple[tuple[int, int], tuple[int, int], str]], encoding: PositionEncoding
) -> None:
    documents = Documents()
    documents.add("file:///m.py", "python", 1, text)
    model = text
    for version, (one, other, new) in enumerate(changes, 2):
        start, end = sorted((one, other))
        if encoding is PositionEncoding.UTF8 and not _at_characters(model, start, end):
            continue  # no editor splits the bytes of a character
        change = {
            "range": {
                side: {"line": at[0], "character": at[1]} for side, at in (("start", start), ("end", end))
            },
            "text": new,
        }
        model = lspeditor.splice(model, [change], encoding.value)
        documents.change("file:///m.py", version, [Replacement(new, LspPos(*start), LspPos(*end))], encoding)
        opened = documents.get("file:///m.py")
        assert opened is not None
        assert opened.text == model


def _at_characters(text: str, *places: tuple[int, int]) -> bool:
    units = lspeditor.to_units(text, "utf-8")
    for line, character in places:
        at = lspeditor.offset(units, {"line": line, "character": character}, encoding="utf-8", strict=False)
        if 0 < at < len(units) and "\x80" <= units[at] <= "\xbf":
            return False
    return True


@given(st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1, max_size=8))
def test_a_path_comes_back_from_its_uri(name: str) -> None:
    path = os.path.normpath(f"/folder/{name}")
    assert path_of(uri_of(path)) == path
    assert key_of(uri_of(path)) == path


def test_old_and_unknown_changes_are_dropped() -> None:
    documents = Documents()
    assert not documents.change("file:///m.py", 2, [Replacement("x")], PositionEncoding.UTF16)
    documents.add("file:///m.py", "python", 5, "a")
    assert not documents.change("file:///m.py", 4, [Replacement("x")], PositionEncoding.UTF16)
    assert documents.change("file:///m.py", 5, [Replacement("b")], PositionEncoding.UTF16)
    assert not documents.close("file:///other.py")
    assert documents.close("file:///%6d.py")


# ---------------------------------------------------------------------------------------------------- messages
METHODS = [
    *("textDocument/hover", "textDocument/definition", "textDocument/references", "textDocument/rename"),
    *("textDocument/prepareRename", "textDocument/documentSymbol", "textDocument/documentHighlight"),
    *("textDocument/foldingRange", "textDocument/selectionRange", "textDocument/diagnostic"),
    *(
        "textDocument/prepareCallHierarchy",
        "textDocument/prepareTypeHierarchy",
        "callHierarchy/incomingCalls",
    ),
    *("textDocument/typeDefinition", "textDocument/implementation", "workspace/symbol"),
    *("textDocument/codeAction", "codeAction/resolve", "workspace/diagnostic"),
    *(
        "workspace/willRenameFiles",
        "workspace/executeCommand",
        "lsptools/documentText",
        "initialize",
        "no/method",
    ),
]
NOTIFICATIONS = [
    *("textDocument/didOpen", "textDocument/didChange", "textDocument/didClose", "textDocument/didSave"),
    *("$/cancelRequest", "$/setTrace", "workspace/didChangeWatchedFiles", "initialized", "no/notification"),
    *("workspace/didChangeWorkspaceFolders", "workspace/didChangeConfiguration"),
    *("notebookDocument/didOpen", "notebookDocument/didChange", "notebookDocument/didClose"),
]


class Fuzzer:
    """Random messages, reproducibly; mostly well formed, often about the files there are."""

    def __init__(self, seed: int, uris: list[str]) -> None:
        self._random = random.Random(seed)
        self._uris = [
            *uris,
            "file:///nowhere/x.py",
            "untitled:1",
            "",
            "file://%",
            "http://x/y.py",
            uris[0] + "%00",
            "cell:/m.ipynb#1",
        ]

    def json(self, depth: int = 3) -> object:
        kinds = ["scalar"] * 3 + ["list", "object"] * (depth > 0)
        match self._random.choice(kinds):
            case "list":
                return [self.json(depth - 1) for _ in range(self._random.randrange(3))]
            case "object":
                names = [
                    "uri",
                    "textDocument",
                    "position",
                    "line",
                    "text",
                    "range",
                    "id",
                    "version",
                    "newName",
                    "x",
                ]
                return {
                    self._random.choice(names): self.json(depth - 1) for _ in range(self._random.randrange(3))
                }
            case _:
                odd = [None, True, -1, 0, 1, 2**31, 2**70, 1.5, "", "x", "\ud800", "é😀", "a" * 300]
                return self._random.choice(odd)

    def position(self) -> object:
        if self._random.random() < 0.05:
            return self.json()
        far = self._random.random() < 0.1
        return {
            "line": self._random.choice([10**6, 2**31 - 1]) if far else self._random.randrange(12),
            "character": self._random.randrange(30),
        }

    def params(self) -> object:
        if self._random.random() < 0.15:
            return self.json()
        uri = self._random.choice(self._uris) if self._random.random() < 0.4 else self._uris[0]
        where = {"start": self.position(), "end": self.position()}
        text = "".join(self._random.choices(ALPHABET, k=5))
        version = self._random.randrange(60)
        params: dict[str, object] = {
            "textDocument": {"uri": uri, "version": version, "text": text, "languageId": "python"},
            "position": self.position(),
            "positions": [self.position() for _ in range(self._random.randrange(3))],
            "contentChanges": [{"range": where, "text": text} for _ in range(self._random.randrange(3))],
            "newName": self._random.choice(["renamed", "class", "", "a b", "print", "x" * 500]),
            "context": {"includeDeclaration": self._random.random() < 0.5, "diagnostics": []},
            "range": where,
            "title": "x",
            "data": {
                "uri": uri,
                "kind": "refactor.extract.variable",
                "choice": "",
                "digest": "",
                "range": self.json(),
            },
            "previousResultIds": [],
            **self.notebook(uri, version, text),
            "query": self._random.choice(["", "target", "t", ".", "a.b", "*"]),
            "files": [{"oldUri": uri, "newUri": uri.replace("m.py", "n.py")}],
            "command": self._random.choice(["lsptools.evidence", "lsptools.history", "nothing"]),
            "arguments": [{"uri": uri, "position": self.position()}],
            "id": self._random.randrange(500),
            "item": {"name": "x", "kind": 5, "uri": uri, "range": where, "selectionRange": where},
            "changes": [],
            "event": {"added": [], "removed": []},
            "settings": None,
        }
        if self._random.random() < 0.1:
            del params[self._random.choice(list(params))]
        return params

    def notebook(self, uri: str, version: int, text: str) -> dict[str, object]:
        cells = [f"cell:/m.ipynb#{self._random.randrange(3)}" for _ in range(self._random.randrange(4))]
        listed = [{"kind": 2, "document": cell} for cell in cells]
        opened = [{"uri": cell, "version": 1, "languageId": "python", "text": text} for cell in cells]
        array = {
            "start": self._random.randrange(4),
            "deleteCount": self._random.randrange(4),
            "cells": listed,
        }
        notebook = uri.replace("m.py", "m.ipynb")
        return {
            "notebookDocument": {
                "uri": notebook,
                "version": version,
                "notebookType": "x",
                "cells": listed,
            },
            "cellTextDocuments": opened,
            "change": {"cells": {"structure": {"array": array, "didOpen": opened, "didClose": opened[:1]}}},
        }

    def message(self, ident: int) -> tuple[dict[str, object], bool]:
        """A message, and whether an answer has to come."""
        if self._random.random() < 0.35:
            return {
                "jsonrpc": "2.0",
                "method": self._random.choice(NOTIFICATIONS),
                "params": self.params(),
            }, False
        method = self._random.choice(METHODS)
        return {"jsonrpc": "2.0", "id": f"f{ident}", "method": method, "params": self.params()}, True

    def noise(self) -> bytes:
        """Bytes that are no message, after which a reader can find the next one."""
        bodies = [
            b"{",
            b"[]",
            b"null",
            b'"x"',
            b"\xff\xfe",
            b'{"jsonrpc": "1.0"}',
            b'{"id": [1]}',
            b"[" * 5000,
        ]
        body = self._random.choice(bodies)
        headers = [
            b"Content-Length: %d\r\n\r\n",
            b"content-length:%d\r\nX-Other: 1\r\n\r\n",
            b"rubbish\r\nContent-Length: %d\r\n\r\n",
        ]
        return self._random.choice(headers) % len(body) + body


@pytest.mark.parametrize("seed", [1, 2])
def test_fuzzed_messages_are_all_answered(seed: int, tmp_path: Path) -> None:
    place = Place.below(tmp_path)
    text = "import n\nclass A:\n    def target(self): return n.x\n\nA().target()\ns = '😀'; y = s\n"
    (place.root / "m.py").write_text(text, "utf-8")
    (place.root / "n.py").write_text("from m import A\nx = A().target\n", "utf-8")
    (place.root / "untouched.py").write_text("x = 1\n", "utf-8")
    uris = [(place.root / name).as_uri() for name in ("m.py", "n.py")]
    client = inside(place.environment())
    client.initialize(place.root)
    client.open(uris[0], text)
    fuzzer = Fuzzer(seed, uris)
    for number in range(N_FUZZED // 2):
        message, is_request = fuzzer.message(number)
        if is_request:
            call = client.begin_raw(message)
            if number % 50 == 0:
                call.ready.wait(60)  # not all in one queue
        else:
            client.send(message)
        if number % 20 == 0:
            client.send_bytes(fuzzer.noise())
    for call in list(client.calls.values()):
        assert call.ready.wait(60), f"no answer: {call.ident}"
    bugs = [c.message for c in client.calls.values() if "this is a bug" in json.dumps(c.message)]
    assert not bugs, bugs[0]
    untouched = (place.root / "untouched.py").as_uri()
    assert client.ask("textDocument/documentSymbol", {"textDocument": {"uri": untouched}})
    client.close()
    client.dispose()


def test_a_server_leaves_no_threads(tmp_path: Path) -> None:
    place = Place.below(tmp_path)
    before = threading.active_count()
    for _ in range(3):
        client = inside(place.environment())
        client.initialize(place.root)
        client.close()
        client.dispose()
    deadline = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert threading.active_count() <= before  # one of an earlier test may have ended meanwhile


def test_fifty_cancelled_requests_are_answered_within_a_second(tmp_path: Path) -> None:
    place = Place.below(tmp_path)
    for number in range(200):
        (place.root / f"m{number}.py").write_text(
            f"from m0 import target\n{'print(target)' * 1}\n" * 20, "utf-8"
        )
    (place.root / "m0.py").write_text("target = 1\n", "utf-8")
    uri = (place.root / "m0.py").as_uri()
    client = inside(place.environment())
    client.initialize(place.root)
    for number in range(50):
        # Another position each time, so that each is a search of its own.
        where = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": number % 7}}
        call = client.begin("textDocument/references", where | {"context": {"includeDeclaration": True}})
        time.sleep(number % 5 / 100)
        sent = time.monotonic()
        client.notify("$/cancelRequest", {"id": call.ident})
        assert call.ready.wait(5)
        assert call.arrived_s - sent < 1.0
        if "error" in call.message:
            assert call.message["error"]["code"] == -32800
    assert client.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}}, limit_s=5)
    client.close()
    client.dispose()


def test_an_answer_for_an_older_text_is_not_given(tmp_path: Path) -> None:
    place = Place.below(tmp_path)
    for number in range(300):
        (place.root / f"m{number}.py").write_text("from m import target\n" + "print(target)\n" * 30, "utf-8")
    uri = (place.root / "m.py").as_uri()
    (place.root / "m.py").write_text("target = 1\n", "utf-8")
    client = inside(place.environment())
    client.initialize(place.root)
    client.open(uri, "target = 1\n")
    where = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
    call = client.begin("textDocument/rename", where | {"newName": "renamed"})
    client.notify(
        "textDocument/didChange",
        {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "other = 1\ntarget = 1\n"}]},
    )
    with pytest.raises(Failed) as failed:
        call.result()
    assert failed.value.code == -32801
    client.close()
    client.dispose()


def test_whoever_waits_for_an_outdated_answer_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place.below(tmp_path)
    uri = (place.root / "m.py").as_uri()
    (place.root / "m.py").write_text("target = 1\n", "utf-8")
    let_go, began = threading.Event(), threading.Event()

    def never_ends(snapshot: Snapshot, *_: object) -> None:
        began.set()
        while not let_go.wait(0.01):
            snapshot.checkpoint()

    monkeypatch.setattr("lsptools.faces.lsp_requests.rename.plan_rename", never_ends)
    client = inside(place.environment())
    client.initialize(place.root)
    client.open(uri, "target = 1\n")
    where = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
    call = client.begin("textDocument/rename", where | {"newName": "renamed"})
    assert began.wait(30)
    client.notify(
        "textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": []}
    )
    with pytest.raises(Failed) as failed:
        call.result()
    assert failed.value.code == -32801
    # The lane is free again.
    assert client.ask("textDocument/references", where | {"context": {"includeDeclaration": True}})
    let_go.set()
    client.close()
    client.dispose()


@pytest.mark.parametrize(("text", "code"), [("import m\n", -32801), ("from m import target\n", None)])
def test_a_document_opened_meanwhile_counts_as_changed_if_it_is_unsaved(
    text: str, code: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place.below(tmp_path)
    (place.root / "m.py").write_text("target = 1\n", "utf-8")
    (place.root / "use.py").write_text("from m import target\n", "utf-8")
    uri, other = ((place.root / name).as_uri() for name in ("m.py", "use.py"))
    go_on, planned = threading.Event(), rename.plan_rename

    def waits(*arguments: Any) -> RenamePlan:  # those of `plan_rename`
        plan = planned(*arguments)
        assert go_on.wait(30)
        return plan

    monkeypatch.setattr(rename, "plan_rename", waits)
    client = inside(place.environment())
    client.initialize(place.root)
    where = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
    call = client.begin("textDocument/rename", where | {"newName": "renamed"})
    client.open(other, text)
    assert client.ask("lsptools/documentText", {"textDocument": {"uri": other}})  # it is taken
    go_on.set()
    call.ready.wait(30)
    assert call.message.get("error", {}).get("code") == code
    client.close()
    client.dispose()


# ---------------------------------------------------------------------------------------------------- processes
@pytest.mark.slow
def test_the_server_does_not_outlive_its_editor(tmp_path: Path) -> None:
    place = Place.below(tmp_path)
    (place.root / "m.py").write_text("x = 1\n", "utf-8")
    for _ in range(N_STARTS):
        holder = subprocess.Popen(["sleep", "600"])
        client = started(place.root, place.environment(), stderr=subprocess.DEVNULL)
        assert client.process is not None
        client.initialize(place.root, processId=holder.pid)
        holder.kill()
        holder.wait()
        assert client.process.wait(10) == 1
        client.dispose()


def test_the_server_ends_when_nobody_writes_any_more(tmp_path: Path) -> None:
    place = Place.below(tmp_path)
    client = started(place.root, place.environment(), stderr=subprocess.DEVNULL)
    client.initialize(place.root)
    assert client.process is not None
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait(5) == 1
    client.dispose()


@pytest.mark.skipif(sys.platform == "win32", reason="the traps are shell scripts")
def test_a_hostile_workspace_executes_nothing(tmp_path: Path) -> None:
    place = Place.below(tmp_path)
    canary = tmp_path / "canary"
    root = place.root
    lay_traps(root, canary)
    environment = place.environment() | {
        "PATH": f"{root}{os.pathsep}{os.environ['PATH']}",
        "RIPGREP_CONFIG_PATH": str(root / ".ripgreprc"),
    }
    client = started(root, environment, stderr=subprocess.DEVNULL)
    client.initialize(root)
    _ask_everything(client, root)
    assert client.close() == 0
    client.dispose()
    assert not canary.exists(), canary.read_text("utf-8")


def _ask_everything(client: Client, root: Path) -> None:
    uri = (root / "m.py").as_uri()
    client.open(uri, (root / "m.py").read_text("utf-8"))
    line = 2
    assert client.at("hover", uri, line, 5)
    assert client.at("definition", uri, line, 5)
    assert len(client.at("references", uri, line, 5, context={"includeDeclaration": True})) == 2
    assert client.at("rename", uri, line, 5, newName="renamed")
    assert client.ask("workspace/symbol", {"query": "target"})
    assert client.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})["kind"] == "full"
    (item,) = client.at("prepareCallHierarchy", uri, line, 5)
    assert client.ask("callHierarchy/incomingCalls", {"item": item})


def test_signals_end_the_server(tmp_path: Path) -> None:
    place = Place.below(tmp_path)
    client = started(place.root, place.environment(), stderr=subprocess.DEVNULL)
    client.initialize(place.root)
    assert client.process is not None
    client.process.send_signal(signal.SIGTERM)
    assert client.process.wait(5) != 0
    client.dispose()
