"""Language-server cases: files, what an editor sends, and what must hold. Read, laid out, run over stdio and judged.

One JSON file is one case. `steps` are `notify`, `request` (with `save`, `no_wait`, `id`, `repeat`, `cancel_at_once`,
`raw_header`, `before_initialize`), `sleep`, `generate` (so many files with so many uses), `initialize_with`,
`keep_stdin_open` (the client's process ends) and `variants` (a fresh server for each list of methods). `expect` has one
member per rule; its `check_…` below says what it means. `${root}` is the workspace's URI, `${disk}` a file's text.

At the end the server gets `shutdown` and `exit`, and nothing of its process group may be left.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import lspeditor
from lspclient import CAPABILITIES, Call, Client, Failed, started
from lspeditor import World, Wrong

CASES = Path(__file__).parent / "cases" / "lsp"
LIMIT_S = 30.0
BOM = b"\xef\xbb\xbf"

Json = Any  # the case as its file has it


def cases() -> Iterator[Json]:
    for path in sorted(CASES.glob("*.json")):
        yield json.loads(path.read_text("utf-8"))


def complaints(case: Json, root: Path, environment: Mapping[str, str]) -> list[str]:
    """What is wrong; `root` is an empty workspace."""
    case = _replaced(case, {"${root}": root.as_uri(), "${side}": root.parent.as_uri()})
    lay_out(root, case["files"])
    for step in case["steps"]:
        for number in range(step.get("generate", {}).get("files", 0)):
            uses = "from m import target\n" + "print(target)\n" * step["generate"]["uses"]
            (root / f"use_{number}.py").write_text(uses, "utf-8")
    if "variants" in case["steps"][0]:
        return list(_endings(case, root, environment))
    run = _Run(case, root, environment)
    try:
        run.play()
        return [*run.judge(case["expect"]), *run.end()]
    except Wrong as wrong:
        return [str(wrong)]
    finally:
        run.kill()


def lay_out(root: Path, files: Mapping[str, Json]) -> None:
    for name, entry in files.items():
        path = Path(os.path.normpath(root / name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(entry["base64"]) if "base64" in entry else entry["text"].encode())


def _replaced(value: Json, words: Mapping[str, str]) -> Json:
    if isinstance(value, str):
        return re.sub(r"\$\{root\}|\$\{side\}", lambda found: words[found[0]], value)
    if isinstance(value, list):
        return [_replaced(each, words) for each in value]
    if isinstance(value, dict):
        return {_replaced(name, words): _replaced(each, words) for name, each in value.items()}
    return value


def _endings(case: Json, root: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """Each variant is a fresh server that gets these methods; then its exit code is looked at."""
    expect = case["expect"]
    for methods, code in zip(case["steps"][0]["variants"], expect["exit_code"], strict=True):
        run = _Run(case | {"steps": []}, root, environment)
        try:
            run.initialize()
            for method in methods:
                if method == "exit":
                    run.client.notify(method)
                    continue
                params = {
                    "textDocument": {"uri": f"{root.as_uri()}/m.py"},
                    "position": {"line": 0, "character": 0},
                }
                run.saved[method] = run.client.begin(method, None if method == "shutdown" else params)
                run.saved[method].ready.wait(LIMIT_S)
            assert run.client.process is not None
            try:
                got = run.client.process.wait(expect["within_s"])
            except subprocess.TimeoutExpired:
                got = -1
            if got != code:
                yield f"{methods}: exit code {got}, not {code}"
            wanted = {name: rule for name, rule in expect["error"].items() if name in methods}
            yield from run.check_error(wanted, expect)
        finally:
            run.kill()


class _Run:
    """One case while it runs."""

    def __init__(self, case: Json, root: Path, environment: Mapping[str, str]) -> None:
        self.case, self.root = case, root
        self.saved: dict[str, Call] = {}
        self.repeated: list[Call] = []
        self.cancelled_s: dict[int | str, float] = {}
        self.probe_s = 0.0
        self.opened: dict[str, tuple[str, int, str]] = {}
        self.before = {path: path.read_bytes() for path in root.parent.rglob("*") if path.is_file()}
        self.holder: subprocess.Popen[bytes] | None = None
        self.encoding = "utf-16"
        self.client: Client = started(root, environment, stderr=subprocess.DEVNULL)
        self.client.apply_edit = self._apply

    # Doing

    def initialize(self) -> None:
        client = self.case.get("client") or {}
        capabilities = json.loads(json.dumps(CAPABILITIES))
        for section, members in (client.get("capabilities") or {}).items():
            capabilities.setdefault(section, {}).update(members)
        members: Json = {}
        for step in self.case["steps"]:
            members |= step.get("initialize_with", {})
        if members.get("processId") == "${dead_pid}":
            self.holder = subprocess.Popen(["sleep", "600"])
            members["processId"] = self.holder.pid
        if "workspaceFolders" in members:
            uris = [f"{self.root.as_uri()}/{name}" for name in members["workspaceFolders"]]
            members |= {"workspaceFolders": [{"uri": uri, "name": uri} for uri in uris], "rootUri": uris[0]}
        encodings = client.get("positionEncodings", ["utf-16"])
        result = self.client.initialize(self.root, encodings=encodings, capabilities=capabilities, **members)
        self.encoding = result["capabilities"].get("positionEncoding") or "utf-16"

    def play(self) -> None:
        for step in self.case["steps"]:
            if step.get("before_initialize"):
                self._step(step)
        self.initialize()
        for step in self.case["steps"]:
            if not step.get("before_initialize"):
                self._step(step)
        for call in self.saved.values():
            call.ready.wait(LIMIT_S)

    def _step(self, step: Json) -> None:
        params = self._filled(step.get("params"))
        if "sleep" in step:
            time.sleep(step["sleep"])
        elif step.get("keep_stdin_open") and self.holder is not None:
            self.holder.kill()
            self.holder.wait()
        elif "notify" in step:
            if step["notify"] == "$/cancelRequest":
                self.cancelled_s[params["id"]] = time.monotonic()
            self._follow(step["notify"], params or {})
            self.client.notify(step["notify"], params)
        elif "request" in step:
            self._request(step, params)

    def _request(self, step: Json, params: Json) -> None:
        header = {"header": step["raw_header"]} if "raw_header" in step else {}
        calls = []
        for _ in range(step.get("repeat", 1)):
            call = self.client.begin(step["request"], params, ident=step.get("id"), **header)
            calls.append(call)
            if step.get("cancel_at_once"):
                self.cancelled_s[call.ident] = time.monotonic()
                self.client.notify("$/cancelRequest", {"id": call.ident})
        if "repeat" in step:
            self.repeated += calls
            began = time.monotonic()
            with contextlib.suppress(Failed):
                self.client.ask("lsptools/unknownMethod", {})
            self.probe_s = time.monotonic() - began
        if "save" in step:
            self.saved[step["save"]] = calls[-1]
        if not step.get("no_wait"):
            calls[-1].ready.wait(LIMIT_S)

    def _filled(self, params: Json) -> Json:
        document = params.get("textDocument") if isinstance(params, dict) else None
        if isinstance(document, dict) and document.get("text") == "${disk}":
            text = (self.root / self._path_of(document["uri"])).read_bytes().decode("utf-8-sig")
            return params | {"textDocument": document | {"text": text}}
        return params

    def _follow(self, method: str, params: Json) -> None:
        """Keep the editor's own texts."""
        document = params.get("textDocument") or {}
        path = self._path_of(document["uri"]) if "uri" in document else ""
        if method == "textDocument/didOpen":
            self.opened[path] = (document["uri"], document["version"], document["text"])
        elif method == "textDocument/didClose":
            self.opened.pop(path, None)
        elif method == "textDocument/didChange" and path in self.opened:
            uri, _, text = self.opened[path]
            changed = lspeditor.splice(text, params["contentChanges"], self.encoding)
            self.opened[path] = (uri, document["version"], changed)

    def _path_of(self, uri: str) -> str:
        path = Path(os.path.normpath(unquote(urlparse(uri).path)))
        if not uri.startswith("file:") or not path.is_relative_to(self.root):
            raise Wrong(f"{uri} is outside of the workspace")
        return path.relative_to(self.root).as_posix()

    def _text_of(self, path: str) -> str | None:
        if path in self.opened:
            return self.opened[path][2]
        file = self.root / path
        return file.read_bytes().decode("utf-8-sig") if file.is_file() else None

    def _world(self) -> World:
        versions = {path: version for path, (_, version, _) in self.opened.items()}
        return World(self._text_of, self._path_of, self.encoding, versions)

    def _apply(self, edit: Json) -> bool:
        for path, text in self._world().applied(edit).items():
            if path in self.opened and text is not None:
                uri, version, _ = self.opened[path]
                self.opened[path] = (uri, version + 1, text)
            elif text is None:
                (self.root / path).unlink()
            else:
                (self.root / path).write_bytes(self._encoded(path, text))
        return True

    def _encoded(self, path: str, text: str) -> bytes:
        file = self.root / path
        mark = BOM if file.is_file() and file.read_bytes().startswith(BOM) else b""
        return mark + text.encode("utf-8", "surrogatepass")

    # The end

    def end(self) -> list[str]:
        if self.holder is not None:
            return []
        with contextlib.suppress(Failed):
            self.client.ask("shutdown", limit_s=10)
        self.client.notify("exit")
        return [] if self._is_gone(5.0) else ["something of the server still runs"]

    def _is_gone(self, within_s: float) -> bool:
        assert self.client.process is not None
        group, deadline = self.client.process.pid, time.monotonic() + within_s
        while time.monotonic() < deadline:
            self.client.process.poll()
            try:
                os.killpg(group, 0)
            except (ProcessLookupError, PermissionError):
                return True
            time.sleep(0.05)
        return False

    def kill(self) -> None:
        assert self.client.process is not None
        for process in filter(None, (self.holder, self.client.process)):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if process is self.holder:
                    process.kill()
                else:
                    os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.client.dispose()

    # Judging

    def judge(self, expect: Json) -> list[str]:
        found: list[str] = []
        for name, rule in expect.items():
            if name in ("apply", "apply_on", "note", "every_request_answered"):
                continue
            check = "encoding" if name == "initialize.capabilities.positionEncoding" else name
            found += getattr(self, f"check_{check}")(rule, expect)
        return found

    def _edit(self, name: str) -> Json:
        try:
            result = self.saved[name].result(LIMIT_S)
        except Failed as error:
            raise Wrong(f"{name}: {error}") from None
        if not isinstance(result, dict):
            raise Wrong(f"{name} is {result!r}, no edit")
        return result

    def _compare(self, wanted: Mapping[str, bytes | None], expect: Json) -> list[str]:
        """The content of each path: as the editor has it after `apply`, else as on disk."""
        try:
            changed = self._world().applied(self._edit(expect["apply"])) if "apply" in expect else {}
        except Wrong as wrong:
            return [str(wrong)]
        found = []
        for path, data in wanted.items():
            text = changed.get(
                path, self._text_of(path) if "apply" in expect and path not in changed else None
            )
            got: bytes | None = None if text is None else self._encoded(path, text)
            if "apply" not in expect:
                got = (self.root / path).read_bytes() if (self.root / path).is_file() else None
            if got != data:
                found.append(f"{path} is {got!r}, not {data!r}")
        return found

    def check_files(self, rule: Json, expect: Json) -> list[str]:
        return self._compare({path: self._encoded(path, text) for path, text in rule.items()}, expect)

    def check_bytes(self, rule: Json, expect: Json) -> list[str]:
        return self._compare({path: base64.b64decode(data) for path, data in rule.items()}, expect)

    def check_absent(self, rule: Json, expect: Json) -> list[str]:
        return self._compare(dict.fromkeys(rule), expect)

    def check_mirror(self, rule: Json, _expect: Json) -> list[str]:
        """The server's text of an open document."""
        found = []
        for path, text in rule.items():
            got = self.client.ask("lsptools/documentText", {"textDocument": {"uri": self.opened[path][0]}})[
                "text"
            ]
            if got != text:
                found.append(f"the server's text of {path} is {got!r}, not {text!r}")
        return found

    def _entries(self, name: str) -> list[tuple[str, Json, Sequence[Json]]]:
        """(URI, version, edits) of each document edited."""
        edit = self._edit(name)
        if "documentChanges" in edit:
            return [
                (item["textDocument"]["uri"], item["textDocument"].get("version", "absent"), item["edits"])
                for item in edit["documentChanges"]
                if "textDocument" in item
            ]
        return [(uri, "absent", edits) for uri, edits in edit["changes"].items()]

    def check_versions(self, rule: Json, expect: Json) -> list[str]:
        got = {self._path_of(uri): version for uri, version, _ in self._entries(expect["apply"])}
        return [
            f"the version of {path} is {got.get(path)!r}"
            for path in rule
            if got.get(path, "no entry") != rule[path]
        ]

    def check_each_edit_replaces_exactly(self, rule: str, expect: Json) -> list[str]:
        found = []
        for uri, _, edits in self._entries(expect["apply"]):
            units = lspeditor.to_units(self._text_of(self._path_of(uri)) or "", self.encoding)
            for edit in edits:
                start, end = (
                    lspeditor.offset(units, edit["range"][side], encoding=self.encoding, strict=True)
                    for side in ("start", "end")
                )
                if units[start:end] != rule:
                    found.append(f"an edit of {uri} replaces {units[start:end]!r}")
        return found

    def check_edit_shape(self, rule: str, expect: Json) -> list[str]:
        shape = sorted(set(self._edit(expect["apply"])) - {"changeAnnotations"})
        return [] if shape == [rule] else [f"the edit has {shape}"]

    def check_uri_in_edit(self, rule: str, expect: Json) -> list[str]:
        uris = [uri for uri, _, _ in self._entries(expect["apply"])]
        return [] if uris == [rule] else [f"the edit names {uris}"]

    def check_no_edit_outside_root(self, _rule: Json, _expect: Json) -> list[str]:
        for name, call in self.saved.items():
            if isinstance(call.message, dict) and isinstance(call.message.get("result"), dict):
                for uri, _, _ in self._entries(name):
                    self._path_of(uri)
        return []

    def check_error(self, rule: Json, _expect: Json) -> list[str]:
        found = []
        for name, wanted in rule.items():
            call = self.saved[name]
            error = (call.message or {}).get("error")
            began = self.cancelled_s.get(call.ident, call.sent_s)
            if error is None and call.message is not None and call.ident in self.cancelled_s:
                continue  # it was there before the cancellation
            if error is None or error["code"] not in wanted["code"] or not error["message"]:
                found.append(f"{name} is {json.dumps(call.message)[:200]}, not an error {wanted['code']}")
            elif wanted.get("message_contains", "") not in error["message"]:
                found.append(f"{name} says {error['message']!r}")
            elif call.arrived_s - began > wanted.get("within_s", LIMIT_S):
                found.append(f"{name} took {call.arrived_s - began:.1f} s")
        return found

    def check_result_within_s(self, rule: Json, _expect: Json) -> list[str]:
        found = []
        for name, limit_s in rule.items():
            call = self.saved[name]
            took = call.arrived_s - call.sent_s
            if "result" not in (call.message or {}) or took > limit_s:
                found.append(f"{name} is {json.dumps(call.message)[:200]} after {took:.1f} s")
        return found

    def check_result_or_error(self, rule: Json, _expect: Json) -> list[str]:
        messages = {name: self.saved[name].message or {} for name in rule}
        return [
            f"{name} is {message}"
            for name, message in messages.items()
            if "error" not in message and message.get("result", 0) is not None
        ]

    def check_codes(self, rule: Json, _expect: Json) -> list[str]:
        codes = []
        for call in self.repeated:
            call.ready.wait(LIMIT_S)
            codes.append((call.message or {"error": {"code": "none"}}).get("error", {}).get("code"))
        return [] if set(codes) <= set(rule) else [f"they end with {sorted(map(str, set(codes)))}"]

    def check_reader_never_blocked_s(self, rule: float, _expect: Json) -> list[str]:
        return [] if self.probe_s <= rule else [f"the reader answered after {self.probe_s:.1f} s"]

    def check_encoding(self, rule: Json, _expect: Json) -> list[str]:
        return (
            []
            if self.encoding in (rule if isinstance(rule, list) else [rule])
            else [f"it is {self.encoding}"]
        )

    def check_no_server_message(self, rule: Json, _expect: Json) -> list[str]:
        return [f"the server sent {note['method']}" for note in self.client.notes if note["method"] in rule]

    def check_server_message_contains(self, rule: str, _expect: Json) -> list[str]:
        said = [
            note["params"].get("message", "")
            for note in self.client.notes
            if note["method"].startswith("window/")
        ]
        return [] if any(rule in text for text in said) else [f"no message has {rule!r}"]

    def check_disk_unchanged(self, _rule: Json, _expect: Json) -> list[str]:
        now = {path: path.read_bytes() for path in self.root.parent.rglob("*") if path.is_file()}
        return [] if now == self.before else ["the disk was changed"]

    def check_process_group_gone_within_s(self, rule: float, _expect: Json) -> list[str]:
        return [] if self._is_gone(rule) else ["the server outlives its client"]

    def check_one_of(self, rule: Json, _expect: Json) -> list[str]:
        found = []
        for alternative in rule:
            try:
                found.append(self.judge(alternative))
            except Wrong as wrong:
                found.append([str(wrong)])
        return [] if [] in found else [f"none of: {found}"]
