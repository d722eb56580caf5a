"""A plan is done exactly as it was shown, or refused as stale."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from casefaces import FOLDERS

from lsptools.faces.agent import Agent, Reply, open_agent

FILES = {
    "a.py": "def price():\n    return 1\n",
    "b.py": "from a import price\n\nprice()\n",
    "c.py": "",
}


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path.resolve() / "ws"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    with mock.patch.dict(os.environ, {key: str(tmp_path / "user" / name) for key, name in FOLDERS.items()}):
        yield folder


@pytest.fixture
def agent(root: Path) -> Agent:
    made = open_agent(root)
    for name in FILES:
        made.call("read", {"path": name})
    return made


PREVIEWS: dict[str, tuple[str, dict[str, Any]]] = {
    "rename": ("rename", {"place": "a.price", "new_name": "cost"}),
    "move": ("rename", {"place": "a.price", "module": "c"}),
    "edit": ("edit", {"path": "a.py", "old_str": "1", "new_str": "2"}),
    "lines": ("edit", {"path": "a.py", "start": 2, "new_str": "    return 2"}),
    "symbol": ("edit", {"symbol": "a.py::price", "new_str": "def price():\n    return 2"}),
    "write": ("write", {"path": "d.py", "content": "x = 1\n"}),
    "patch": ("patch", {"patch": "--- a/b.py\n+++ b/b.py\n@@ -3 +3 @@\n-price()\n+print(price())\n"}),
}
every_preview = pytest.mark.parametrize("preview", PREVIEWS.values(), ids=PREVIEWS)


def tree(root: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in root.iterdir()}


def planned(agent: Agent, root: Path, preview: tuple[str, dict[str, Any]]) -> Reply:
    before = tree(root)
    name, arguments = preview
    reply = agent.call(name, {**arguments, "dry_run": True})
    assert not reply.is_error, reply.text
    assert tree(root) == before
    return reply


@every_preview
def test_a_plan_is_done_once(agent: Agent, root: Path, preview: tuple[str, dict[str, Any]]) -> None:
    reply = planned(agent, root, preview)
    done = agent.call("apply", {"plan": reply.data["plan"]})
    assert done.data["applied"], done.text
    after = tree(root)
    assert after != FILES
    again = agent.call("apply", {"plan": reply.data["plan"]})
    assert again.is_error and tree(root) == after
    assert not agent.call("undo", {}).is_error
    assert tree(root) == FILES
    # The same preview is the same plan, and everything is as it was.
    assert planned(agent, root, preview).data["plan"] == reply.data["plan"]


@every_preview
def test_a_plan_that_the_files_have_left_behind_is_stale(
    agent: Agent, root: Path, preview: tuple[str, dict[str, Any]]
) -> None:
    reply = planned(agent, root, preview)
    for name, text in FILES.items():
        (root / name).write_text(f"{text}\nprice = None\n")
    (root / "d.py").write_text("")
    before = tree(root)
    refused = agent.call("apply", {"plan": reply.data["plan"]})
    assert refused.data["error"]["kind"] in ("stale", "exists"), refused.text  # type: ignore[index]
    assert tree(root) == before


@pytest.mark.parametrize("name", ["rename", "move"])
def test_a_plan_that_would_miss_a_new_use_is_stale(agent: Agent, root: Path, name: str) -> None:
    reply = planned(agent, root, PREVIEWS[name])
    (root / "new.py").write_text("import a\n\na.price()\n")
    refused = agent.call("apply", {"plan": reply.data["plan"]})
    assert refused.data["error"]["kind"] == "stale", refused.text  # type: ignore[index]


def test_a_plan_is_done_only_if_what_is_asked_holds(agent: Agent, root: Path) -> None:
    broken = {"path": "a.py", "old_str": "return 1", "new_str": "return 1)", "allow_broken": True}
    reply = planned(agent, root, ("edit", broken))
    held = agent.call("apply", {"plan": reply.data["plan"], "verify": "syntax"})
    assert held.data["applied"] is False and "not written" in held.text
    assert tree(root) == FILES
    assert agent.call("apply", {"plan": reply.data["plan"], "verify": "tests"}).is_error


def test_what_is_no_plan_is_refused(agent: Agent) -> None:
    for arguments in ({"plan": "nope"}, {}, {"plan": 1}, {"plan": "x", "pln": 1}):
        assert agent.call("apply", arguments).is_error
