"""What one client's calls have to do with each other: words of a person, shells, cursors, pages of a read."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from lsptools.faces.agent import Agent, Job, Reply, open_agent

FOLDERS = {
    "HOME": "home",
    "XDG_CACHE_HOME": "cache",
    "XDG_CONFIG_HOME": "config",
    "XDG_STATE_HOME": "state",
    "TMPDIR": "tmp",
}
needs_bash = pytest.mark.skipif(os.name == "nt", reason="the commands are for bash")


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path.resolve() / "ws"
    (folder / "sub" / "build").mkdir(parents=True)
    (folder / "build").mkdir()
    (folder / "a.py").write_text("x = 1\n")
    for name in FOLDERS.values():
        (tmp_path / "user" / name).mkdir(parents=True)
    with mock.patch.dict(os.environ, {key: str(tmp_path / "user" / name) for key, name in FOLDERS.items()}):
        yield folder


@pytest.fixture
def agent(root: Path) -> Iterator[Agent]:
    made = open_agent(root, allow_run=True)
    yield made
    made.close()


def error(reply: Reply) -> dict[str, Any]:
    found = reply.data.get("error")
    return found if isinstance(found, dict) else {}


@needs_bash
def test_where_a_person_can_be_asked_no_digest_confirms(agent: Agent, root: Path) -> None:
    digest = error(agent.call("run", {"command": "rm -rf build"}))["confirm"]
    refused = agent.call("run", {"command": "rm -rf build", "confirm": digest}, has_person=True)
    assert error(refused)["kind"] == "undecided" and "confirm" not in error(refused)
    assert refused.asks and "try:" not in refused.text
    assert (root / "build").is_dir()
    assert not agent.call("run", {"command": "rm -rf build"}, is_confirmed=True, has_person=True).is_error
    assert not (root / "build").exists()


@needs_bash
def test_a_digest_confirms_the_command_in_its_folder(agent: Agent, root: Path) -> None:
    digest = error(agent.call("run", {"command": "rm -rf build"}))["confirm"]
    agent.call("run", {"command": "cd sub"})
    elsewhere = agent.call("run", {"command": "rm -rf build", "confirm": digest})
    assert error(elsewhere)["kind"] == "undecided"
    assert (root / "sub" / "build").is_dir() and (root / "build").is_dir()
    there = agent.call("run", {"command": "rm -rf build", "folder": ".", "confirm": digest})
    assert not there.is_error and not (root / "build").exists()


@needs_bash
def test_a_client_that_leaves_takes_along_what_its_commands_left(agent: Agent, root: Path) -> None:
    beat = root / "beat"
    replies: list[Reply] = []
    command = "(while :; do echo x >> beat; sleep 0.05; done) & sleep 1"
    call = threading.Thread(target=lambda: replies.append(agent.call("run", {"command": command})))
    call.start()
    deadline = time.monotonic() + 20
    while not beat.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    agent.close()
    call.join(30)
    assert [error(reply) for reply in replies] == [{}]
    size = beat.stat().st_size
    time.sleep(0.3)
    assert beat.stat().st_size == size


@needs_bash
def test_a_command_has_a_time_limit_of_its_own(agent: Agent) -> None:
    reply = agent.call("run", {"command": "sleep 0.3; echo done"}, Job(deadline_s=0.05))
    assert not reply.is_error and "done" in reply.text


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("undo", {"list": "true"}),
        ("undo", {"list": 1}),
        ("edit", {"path": "a.py", "old_str": "1", "new_str": "2", "cursor": "x"}),
        ("edit", {"path": "a.py", "old_str": "1", "new_str": "2", "max_tokens": 300}),
        ("apply", {"plan": 7}),
        ("apply", {"plan": "p", "other": 1}),
        ("search", {"query": "x", "cursor": "0123456789ab:²"}),
    ],
)
def test_what_a_call_may_not_have_is_refused(
    agent: Agent, root: Path, tool: str, arguments: dict[str, Any]
) -> None:
    agent.call("read", {"path": "a.py"})
    assert not agent.call("edit", {"path": "a.py", "old_str": "x", "new_str": "y"}).is_error
    assert error(agent.call(tool, arguments))["kind"] in ("invalid", "not_found")
    assert (root / "a.py").read_text() == "y = 1\n"


def test_a_read_goes_on_where_it_has_ended(agent: Agent, root: Path) -> None:
    lines = [f"\tx = {number}" for number in range(1900)]
    (root / "long.py").write_text("\n".join(lines) + "\n")
    shown: list[str] = []
    offset = 1
    while True:
        reply = agent.call("read", {"path": "long.py", "offset": offset})
        text = str(reply.data["text"]).split("\n")
        assert reply.data["first_line"] == offset and "next_cursor" not in reply.data
        assert len(text) == int(str(reply.data["last_line"])) - offset + 1
        shown += [line.partition("│")[2] for line in text]
        if not reply.data.get("truncated"):
            break
        assert reply.data["total"] == 1900
        offset = int(str(reply.data["last_line"])) + 1
    assert shown == lines


def test_matches_beyond_the_limit_are_not_called_complete(agent: Agent, root: Path) -> None:
    (root / "many.txt").write_text("needle\n" * 1500)
    reply = agent.call("search", {"query": "needle"})
    assert reply.data["complete"] is False and "of 1500 are listed" in reply.text


@pytest.mark.parametrize("query", ["nope(?=bar)", r"(n)\1zz", "[a-"])
def test_a_text_that_is_no_expression_is_simply_not_there(agent: Agent, query: str) -> None:
    reply = agent.call("search", {"query": query})
    assert not reply.is_error and "no line with" in reply.text


def test_a_hint_names_what_the_tool_has(agent: Agent) -> None:
    reply = agent.call("references", {"place": "a.py:1:3"})
    assert "lsptools outline" not in reply.text and 'outline(path="a.py")' in reply.text
