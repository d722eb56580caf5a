"""Calls with JSON arguments: what is understood, what is told, and who waits for whom."""

from __future__ import annotations

import io
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from casefaces import FOLDERS

from lsptools.errors import BadRequest
from lsptools.faces import call
from lsptools.faces.call import Caller, line_from_json, serve
from lsptools.faces.cli import main
from lsptools.faces.environment import Environment
from lsptools.tools import registry
from lsptools.tools.arguments import params_from_json
from lsptools.tools.base import Context, Example, Tool, arg


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path.resolve() / "ws"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / name).write_text(f"{name}\n")
    with mock.patch.dict(os.environ, {key: str(tmp_path / "user" / name) for key, name in FOLDERS.items()}):
        yield folder


def answers(root: Path, *lines: str | bytes | Mapping[str, object]) -> list[Any]:  # JSON
    text = b"".join(
        (
            line
            if isinstance(line, bytes)
            else line.encode()
            if isinstance(line, str)
            else json.dumps(line).encode()
        )
        + b"\n"
        for line in lines
    )
    out = io.BytesIO()
    serve(Caller(Environment().context(Environment().root(str(root)))), io.BytesIO(text), out)
    said = [json.loads(line) for line in out.getvalue().split(b"\n")[:-1]]
    return sorted(said, key=lambda answer: (answer["id"] is None, answer["id"] or 0))


def test_answers_have_the_id_of_the_call(root: Path) -> None:
    said = answers(
        root,
        {"id": 1, "tool": "read", "args": {"path": "a"}},
        "",
        {"id": 2, "tool": "edit", "args": {"path": "a", "old_str": "a", "new_str": "A"}},
        {"id": 3, "tool": "read", "args": {"path": "nope"}},
        {"id": 4, "tool": "history"},
    )
    assert [answer["ok"] for answer in said] == [True, True, False, True]
    assert said[0]["result"]["output"] == "     1│a\n"
    assert said[1]["result"]["files"][0]["digest_before"] == said[0]["result"]["digest"]
    assert said[2]["error"]["kind"] == "not_found" and said[2]["error"]["places"] == []
    assert "output" in said[3]["result"] and said[3]["result"]["found"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "not JSON"),
        ("[1]", "not an object"),
        (b"\xff", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ({"tool": "nope"}, "no tool 'nope'"),
        ({"tool": None}, "no tool None"),
        ({"tool": "read"}, "needs 'path'"),
        ({"tool": "read", "args": []}, "a list, not an object"),
        ({"tool": "read", "args": {"path": 1}}, "'path' is a whole number, not a string"),
        ({"tool": "read", "args": {"path": "a", "limit": True}}, "not a whole number"),
        ({"tool": "read", "args": {"path": "a", "limit": 1.5}}, "a number with a fraction"),
        ('{"id": 1e400, "tool": "history"}', "1e400 is no number that JSON has"),
        ('{"id": 1, "tool": "read", "args": {"path": "a", "offset": NaN}}', "NaN is no number"),
        ({"tool": "read", "args": {"path": "a", "ofset": 1}}, "no argument 'ofset'"),
        ({"tool": "edit", "args": {"path": "a", "edits": {}}}, "an object, not a list"),
        ({"tool": "edit", "args": {"path": "a", "edits": ["x"]}}, "holds a string"),
        ({"tool": "edit", "args": {"path": "a", "edits": [{"old_str": "x"}]}}, "needs 'new_str'"),
        (
            {"tool": "edit", "args": {"path": "a", "edits": [{"old": "x", "new_str": ""}]}},
            "no argument 'old'",
        ),
        ({"tool": "edit", "args": {"path": "a", "old_str": "x"}}, "needs `old_str` and `new_str`"),
        ({"tool": "edit-symbol", "args": {"place": "a", "text": "x", "action": "y"}}, "'action' is 'y'"),
    ],
)
def test_what_is_not_understood(root: Path, line: str | bytes | Mapping[str, object], says: str) -> None:
    (answer,) = answers(root, line)
    assert not answer["ok"] and answer["id"] is None
    assert answer["error"]["kind"] == "invalid" and says in answer["error"]["message"]
    assert answer["error"]["hint"]


def test_a_whole_number_may_be_written_as_a_float(root: Path) -> None:
    (root / "many").write_text("x\n" * 1000 + "y\n")
    (said,) = answers(
        root, '{"id": 1.0, "tool": "read", "args": {"path": "many", "offset": 1001.0, "limit": 1e3}}'
    )
    assert said["result"]["output"] == "  1001│y\n" and said["id"] == 1


def test_a_lone_surrogate_is_data(root: Path) -> None:
    (root / "f").write_bytes(b"caf\xe9\n")
    said = answers(
        root,
        '{"id": 1, "tool": "read", "args": {"path": "f"}}',
        '{"id": 2, "tool": "edit", "args": {"path": "f", "old_str": "\\udce9", "new_str": "\\udce9\\udce9"}}',
    )
    assert said[0]["result"]["output"] == "     1│caf\udce9\n"
    assert said[1]["ok"] and (root / "f").read_bytes() == b"caf\xe9\xe9\n"
    assert line_from_json("\udce9é") == b'"\\udce9\xc3\xa9"\n'


def test_null_is_not_given_and_dashes_are_understood(root: Path) -> None:
    said = answers(
        root,
        {"id": 1, "tool": "read", "args": {"path": "a", "limit": None}},
        {"id": 2, "tool": "edit_lines", "args": {"path": "a", "start": 1, "new-text": "x"}},
    )
    assert [answer["ok"] for answer in said] == [True, True]


# Who waits for whom


@dataclass(frozen=True)
class Params:
    name: str = arg("which call it is")
    path: str | None = arg("the file", default=None)


@dataclass(frozen=True)
class Said:
    found = True

    def to_json(self) -> dict[str, object]:
        return {"output": ""}


def waiting(
    began: dict[str, threading.Event], may_end: dict[str, threading.Event], *, writes: bool
) -> Tool[Params]:
    """A tool whose calls say that they have begun, and end when they may."""

    def run(_context: Context, params: Params) -> Said:
        began[params.name].set()
        assert may_end[params.name].wait(10)
        return Said()

    return Tool(
        "wait", "", "", Params, run, writes, (Example("", ""),), "", "",
        files=lambda params: None if params.path is None else (params.path,),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("calls", "at_once"),
    [
        ([(True, "a"), (True, "b")], True),
        ([(True, "a"), (True, "a")], False),
        ([(True, "a"), (True, "./a")], False),
        ([(True, "a"), (True, "link")], False),
        ([(True, "a"), (False, "a")], False),
        ([(False, "a"), (True, "a")], False),
        ([(False, "a"), (False, "a")], True),
        ([(True, None), (True, "a")], False),
        ([(False, None), (True, "a")], False),
        ([(False, None), (False, "a")], True),
    ],
)
def test_calls_wait_only_for_those_they_could_disturb(
    root: Path, calls: list[tuple[bool, str | None]], at_once: bool
) -> None:
    (root / "link").symlink_to("a")
    names = ["first", "second"]
    began, may_end = ({name: threading.Event() for name in names} for _ in range(2))
    tools = {writes: waiting(began, may_end, writes=writes) for writes in (True, False)}
    lines = [
        json.dumps({"id": number, "tool": str(writes), "args": {"name": name, "path": path}}).encode() + b"\n"
        for number, (name, (writes, path)) in enumerate(zip(names, calls, strict=True))
    ]
    out = io.BytesIO()
    caller = Caller(Environment().context(Environment().root(str(root))))
    with mock.patch.object(call, "_tool", lambda name: tools[name == "True"]):
        thread = threading.Thread(target=serve, args=(caller, io.BytesIO(b"".join(lines)), out))
        thread.start()
        assert began["first"].wait(10)
        assert began["second"].wait(10 if at_once else 0.1) == at_once
        may_end["first"].set()
        assert began["second"].wait(10)
        may_end["second"].set()
        thread.join(10)
    assert out.getvalue().count(b'"ok":true') == 2


def test_many_calls_that_wait_for_each_other_come_to_an_end(root: Path) -> None:
    lines: list[Mapping[str, object]] = [{"id": 0, "tool": "read", "args": {"path": "a"}}]
    text = "a"
    for number in range(1, 60):
        edit = {"path": "a", "old_str": text, "new_str": f"a{number}."}
        lines.append({"id": number, "tool": "edit", "args": edit})
        text = f"a{number}."
    assert all(answer["ok"] for answer in answers(root, *lines))
    assert (root / "a").read_text() == "a59.\n"


# One call


def one(capsysbinary: pytest.CaptureFixture[bytes], *words: str) -> tuple[int, Any]:  # JSON
    code = main(["call", *words])
    return code, json.loads(capsysbinary.readouterr().out)


def test_one_call(root: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    where = ("--root", str(root), "--session", "s")
    assert one(capsysbinary, "read", '{"path": "a"}', *where)[0] == 0
    code, said = one(capsysbinary, "edit", '{"path": "a", "old_str": "a", "new_str": "A"}', *where)
    assert (code, said["ok"]) == (0, True) and (root / "a").read_text() == "A\n"
    code, said = one(capsysbinary, "edit", '{"path": "b", "old_str": "b", "new_str": "B"}', *where)
    assert (code, said["error"]["kind"]) == (2, "unread")
    code, said = one(capsysbinary, "search", '{"query": "nowhere"}', *where)
    assert (code, said["ok"], said["result"]["found"]) == (1, True, False)
    code, said = one(capsysbinary, "read", "{", *where)
    assert (code, said["error"]["kind"]) == (2, "invalid")
    assert said["error"]["message"].startswith("the arguments are not JSON: ")
    with mock.patch("sys.stdin", io.StringIO('{"path": "b"}')):
        assert one(capsysbinary, "read", "-", *where)[0] == 0


@pytest.mark.parametrize("words", [[], ["--jsonl", "read"]])
def test_a_call_needs_a_tool_or_lines(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["call", *words]) == 2
    assert "TOOL, or --jsonl" in capsys.readouterr().err


def test_a_bug_is_told_as_one(root: Path) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("oops")

    with mock.patch.object(Caller, "run", broken):
        (answer,) = answers(root, {"id": 1, "tool": "read", "args": {"path": "a"}})
    assert answer["error"]["kind"] == "internal" and "oops" in answer["error"]["message"]


@pytest.mark.parametrize("name", registry.names())
def test_every_tool_takes_json(name: str) -> None:
    tool = registry.tool(name)
    takes: Callable[[object], Any] = lambda given: params_from_json(tool, given)  # noqa: E731
    with pytest.raises(BadRequest):
        takes({"no_such_argument": 1})
    with pytest.raises(BadRequest):
        takes(None)
