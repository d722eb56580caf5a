"""`run` through its faces: the cases of a session, the folder that is kept, what is asked for, and what people see."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import editcases
import pytest

import lsptools
from lsptools.errors import BadRequest, Refused
from lsptools.faces.cli import main
from lsptools.faces.workspace import Workspace

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands are for bash")
CASES = [
    json.loads(path.read_text("utf-8")) for path in sorted((editcases.CASES.parent / "run").glob("*.json"))
]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "side" / "work"
    (folder / "sub").mkdir(parents=True)
    return folder


@pytest.fixture
def workspace(root: Path) -> Iterator[Workspace]:
    workspace = lsptools.open_workspace(root)
    yield workspace
    workspace.close()


class Session:
    """`lsptools call --jsonl` as a process."""

    def __init__(self, root: Path) -> None:
        words = [sys.executable, "-m", "lsptools", "call", "--root", str(root), "--jsonl"]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.n_calls = 0

    def call(self, step: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.n_calls += 1
        line = json.dumps({"id": self.n_calls, "tool": step["tool"], "args": step["args"]})
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def close(self) -> int:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(5.0)


def complaints(case: dict[str, Any], answer: dict[str, Any], seconds: float) -> Iterator[str]:
    wanted = case["expect"].get("result", {})
    result = answer.get("result", {})
    yield from (
        f"{name} is {result[name]!r}"
        for name in ("exit_code", "timed_out")
        if name in result and result[name] != wanted.get(name, result[name])
    )
    if seconds > wanted.get("max_seconds", 60):
        yield f"it took {seconds:.1f} s"


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_case(case: dict[str, Any], root: Path) -> None:
    session = Session(root)
    session.call(
        {"tool": "run", "args": {"command": "true"}}
    )  # the start of the session is not what is timed
    spent: list[tuple[dict[str, Any], float]] = []

    def calls(steps: Any) -> list[editcases.Reply]:
        for step in steps:
            began = time.monotonic()
            spent.append((session.call(step), time.monotonic() - began))
        return [answer for answer, _ in spent[-len(steps) :]]

    found = editcases.run(case, root, calls)
    found += complaints(case, *spent[-1])
    assert session.close() == 0
    assert not found, case["expect"].get("notes")


def test_there_are_cases() -> None:
    assert len(CASES) >= 50


def test_the_folder_is_kept(workspace: Workspace) -> None:
    assert workspace.run("cd sub && mkdir -p deep && cd deep").ran.folder_after == "sub/deep"
    answer = workspace.run("pwd; exit 4")
    assert answer.output == f"{workspace.root.path}/sub/deep\n[exit code 4]\n"
    assert workspace.run("pwd", folder=".").output == f"{workspace.root.path}\n"
    left = workspace.run("cd /; true")
    assert left.ran.folder_after == "." and "outside of the workspace" in left.output


def test_the_folder_is_confined(workspace: Workspace) -> None:
    (workspace.root.path / "link").symlink_to("/tmp")
    for folder in ("..", "/", "link"):
        with pytest.raises(BadRequest, match="outside"):
            workspace.run("pwd", folder=folder)
    with pytest.raises(BadRequest, match="does not exist"):
        workspace.run("pwd", folder="nowhere")


def test_errors_name_the_lines_of_the_command(workspace: Workspace) -> None:
    answer = workspace.run("true\nif; then\n", yes=True)
    assert answer.ran.finished.exit_code == 2 and "line 2" in answer.output


def test_what_is_dangerous_waits_for_a_word(workspace: Workspace) -> None:
    with pytest.raises(Refused) as refused:
        workspace.run("touch made; rm -rf sub; git push -f")
    assert refused.value.kind == "undecided"
    assert len(refused.value.conflicts) == 2
    assert not (workspace.root.path / "made").exists()
    assert workspace.run("rm -rf sub", yes=True).found
    with pytest.raises(Refused, match="denied"):
        workspace.run("rm -rf /", yes=True)
    with pytest.raises(Refused, match="denied"):
        workspace.call("run", command="rm -rf x", yes=True, rule=["delete-tree=deny"])
    with pytest.raises(BadRequest, match="not a rule"):
        workspace.call("run", command="true", rule=["all=allow"])


def test_output_comes_while_it_runs(workspace: Workspace) -> None:
    """The command does not go on before its first words were seen; and they do not come more often than every 100 ms."""
    pieces: list[str] = []

    def see(text: str) -> None:
        pieces.append(text)
        (workspace.root.path / "seen").touch()

    waiting = "until [ -e seen ]; do sleep 0.02; done"
    counting = "for i in $(seq 2 60); do echo $i; sleep 0.01; done"
    began = time.monotonic()
    answer = workspace.run(f"echo 1; {waiting}; {counting}", on_output=see)
    seconds = time.monotonic() - began
    assert answer.found and "".join(pieces) == "".join(f"{number}\n" for number in range(1, 61))
    assert 2 <= len(pieces) <= seconds / 0.1 + 2


def test_the_background_ends_with_the_workspace(workspace: Workspace) -> None:
    answer = workspace.run("(while :; do date > beat; sleep 0.02; done) & echo $!")
    pid = int(answer.output.split()[0])
    assert "left in the background" in answer.output
    assert Path(f"/proc/{pid}").exists() or sys.platform != "linux"
    workspace.close()
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize(
    ("command", "code", "out"),
    [
        ("echo a; echo b >&2", 0, "a\nb\n"),
        ("echo a; exit 3", 1, "a\n[exit code 3]\n"),
        ("printf 'no end'", 0, "no end"),
        ("sleep 9 & echo a", 0, "a\n[what it had left in the background was ended: 1 process]\n"),
    ],
)
def test_people_see_it_as_it_comes(
    command: str, code: int, out: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", command, "--root", str(root)]) == code
    assert capsys.readouterr().out == out


def test_programs_get_one_object(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "echo a; sleep 30", "--timeout", "3", "--json", "--root", str(root)]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["ending"] == "timed_out" and answer["timed_out"] and answer["exit_code"] is None
    assert answer["output"].startswith("a\n[timed out after ")
    assert main(["run", "rm -rf sub", "--json", "--root", str(root)]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "undecided"


def test_without_a_root_it_runs_where_we_are(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "pyproject.toml").touch()
    monkeypatch.chdir(root / "sub")
    assert main(["run", "pwd"]) == 0
    assert capsys.readouterr().out == f"{root}/sub\n"
