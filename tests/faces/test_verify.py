"""`verify` through its faces: where the old text comes from, what holds a change back, exit codes, and the forms for other programs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import lsptools
from lsptools.errors import BadRequest, Stale, Unavailable
from lsptools.faces.cli import main
from lsptools.faces.reports import github_lines, sarif_text
from lsptools.tools import registry
from lsptools.tools.writing import Writing
from lsptools.verify.ladder import Report
from lsptools.verify.verdict import Problem, Standing, Verdict

READING = "scope,syntax,names"
NET = "def get(url):\n    return url\n"
MAIN = "from net import get\n\nprint(get('x'))\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("VIRTUAL_ENV", "FORCE_COLOR", "GIT_DIR", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "net.py").write_text(NET)
    (folder / "main.py").write_text(MAIN)
    monkeypatch.chdir(folder)
    return folder


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    code = main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def standings(answer: Any) -> dict[str, str]:
    return {verdict["rung"]: verdict["standing"] for verdict in answer["verdicts"]}


def test_the_last_change_and_one_by_its_id(root: Path) -> None:
    workspace = lsptools.open_workspace(root)
    first = workspace.rename("net.get", "fetch").applied.undo_id
    report = workspace.verify(rungs=["scope", "names"])
    assert report.standing is Standing.PASSED and report.what == "rename net.get to fetch"
    assert workspace.verify(first, rungs=["syntax"]).standing is Standing.PASSED
    (root / "net.py").write_text("def fetch(url, more):\n    return url\n")
    with pytest.raises(Stale, match=r"net\.py"):
        workspace.verify(first)


def test_a_change_that_moved_files(root: Path) -> None:
    workspace = lsptools.open_workspace(root)
    workspace.rename("main.py:1:6", "web")
    report = workspace.verify(rungs=["scope", "syntax", "names"])
    assert report.standing is Standing.PASSED, report
    assert "2 files" in report.verdicts[0].covers


def test_nothing_was_changed(root: Path) -> None:
    with pytest.raises(BadRequest, match="no change"):
        lsptools.open_workspace(root).verify()
    with pytest.raises(BadRequest, match="no rung"):
        workspace = lsptools.open_workspace(root)
        workspace.rename("net.get", "fetch")
        workspace.verify(rungs=["taste"])


@pytest.fixture
def committed(root: Path) -> Path:
    for arguments in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", "x"],
    ):
        subprocess.run(["git", *arguments], cwd=root, check=True)
    return root


def test_what_differs_from_a_revision(committed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = said(capsys, "verify", "--against", "HEAD", "--rungs", READING)
    assert (code, answer["standing"]) == (0, "not run")
    (committed / "net.py").write_text(NET.replace("get", "fetch"))
    (committed / "new.py").write_text("x = 1\r\ny = 2\n")
    (committed / "main.py").chmod(0o755)
    code, answer = said(capsys, "verify", "--against", "HEAD", "--rungs", READING)
    assert code == 1 and standings(answer) == {"scope": "failed", "syntax": "passed", "names": "failed"}
    by_rung = {verdict["rung"]: verdict for verdict in answer["verdicts"]}
    assert by_rung["scope"]["first_error"]["code"] == "mode"
    assert [problem["path"] for problem in by_rung["names"]["problems"]] == ["main.py"]
    with pytest.raises(BadRequest, match="no revision"):
        lsptools.open_workspace(committed).verify(against="nowhere")


def test_git_runs_nothing_of_the_repository(committed: Path) -> None:
    """Filters and monitors that a hostile repository names in its settings."""
    trap = committed / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {committed}/sprung\ncat\n")
    trap.chmod(0o755)
    (committed / ".gitattributes").write_text("*.py filter=trap diff=trap\n")
    for name in (
        "filter.trap.clean",
        "filter.trap.smudge",
        "diff.trap.textconv",
        "diff.trap.command",
        "core.fsmonitor",
    ):
        subprocess.run(["git", "config", name, str(trap)], cwd=committed, check=True)
    (committed / "net.py").write_text(NET + "\n")
    assert lsptools.open_workspace(committed).verify(against="HEAD", rungs=["scope"]).verdicts
    assert not (committed / "sprung").exists()


def test_no_git_no_revision(root: Path) -> None:
    with pytest.raises((Unavailable, BadRequest)):
        lsptools.open_workspace(root).verify(against="HEAD")


def test_what_fails_is_not_written_unless_kept(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit = ("edit", "net.py", "--old", "def get", "--new", "def fetch", "--session", "s")
    assert main(["read", "net.py", "--session", "s"]) == 0
    capsys.readouterr()
    code, answer = said(capsys, *edit, f"--verify={READING}")
    assert (code, answer["applied"], answer["undo"]) == (1, False, None)
    assert answer["verification"]["standing"] == "failed"
    assert (root / "net.py").read_text() == NET
    assert main([*edit, f"--verify={READING}"]) == 1
    assert "not written: the workspace is as it was" in capsys.readouterr().out
    code, answer = said(capsys, *edit, f"--verify={READING}", "--keep")
    assert (code, answer["applied"]) == (0, True)
    assert (root / "net.py").read_text() == NET.replace("get", "fetch")


def test_a_rename_that_passes_is_written(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = said(capsys, "rename", "net.get", "fetch", f"--verify={READING}")
    assert (code, answer["applied"], answer["verification"]["standing"]) == (0, True, "passed")
    assert main(["rename", "net.fetch", "load", "--verify=names", "--check"]) == 0
    assert "verification: passed" in capsys.readouterr().out


@pytest.mark.parametrize("also", [("--command", "make test"), ("--rungs", "types")])
def test_reproduces_does_not_drop_what_is_asked_besides(
    root: Path, capsys: pytest.CaptureFixture[str], also: tuple[str, str]
) -> None:
    lsptools.open_workspace(root).rename("net.get", "fetch")
    code, answer = said(capsys, "verify", "--reproduces", "net.py::get", *also)
    assert code == 2 and answer["error"]["kind"] == "invalid"
    assert f"`{also[0][2:]}`" in answer["error"]["message"]


@pytest.mark.parametrize(
    "tool", [name for name in registry.names() if issubclass(registry.tool(name).params, Writing)]
)
def test_each_tool_that_writes_can_be_held_back(
    tool: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The name that `main.py` imports would be gone, whoever takes it away; `rename` and the like see to it that it is not."""
    read = main(["read", "net.py", "--session", "s"])
    fetch = NET.replace("get", "fetch")
    (root / "new.py").write_text(fetch)
    (root / "new.diff").write_text(f"--- a/net.py\n+++ b/net.py\n@@ -1 +1 @@\n-{NET[:13]}\n+{fetch[:15]}\n")
    change = {"range": {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 7}}}
    edit = {"changes": {(root / "net.py").as_uri(): [{**change, "newText": "fetch"}]}}
    (root / "edit.json").write_text(json.dumps(edit))
    words = {
        "edit": ["net.py", "--old", "get", "--new", "fetch"],
        "edit-lines": ["net.py", "--start", "1", "--new", "def fetch(url):"],
        "edit-symbol": ["net.py::get", "new.py"],
        "write": ["net.py", "new.py"],
        "candidate": ["net.py", "new.py"],
        "patch": ["new.diff"],
        "apply-edit": ["edit.json"],
        "rename": ["net.get", "fetch"],
        "move": ["net.get", "new.py"],
        "signature": ["net.get", "--rename", "url=address"],
    }[tool]
    refactors = tool in ("rename", "move", "signature")
    session = [] if refactors or tool == "apply-edit" else ["--session", "s"]
    (root / "other.py").write_text("")
    capsys.readouterr()
    code, answer = said(capsys, tool, *words, *session, "--verify=names")
    verdict = answer["verification"]["verdicts"][0]
    assert read == 0 and verdict["rung"] == "names"
    assert (code, answer["applied"], verdict["standing"]) == (
        (0, True, "passed") if refactors else (1, False, "failed")
    )
    assert ((root / "net.py").read_text() == NET) is not refactors


def test_verify_alone_takes_no_argument(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--verify PLACE NEW` is not `--verify=PLACE`."""
    code, answer = said(capsys, "rename", "--verify", "net.get", "fetch", "--check")
    assert code in (0, 1) and set(standings(answer["verification"])) == {
        "scope",
        "syntax",
        "names",
        "types",
        "lint",
        "tests",
    }


REPORT = Report(
    "the change",
    (
        Verdict("scope", Standing.PASSED, "it holds", "that it is right"),
        Verdict("names", Standing.FAILED, "one", "all", "", (Problem("a,b.py", 3, 7, "gone", "50% of\nit"),)),
        Verdict("types", Standing.NOT_RUN, "nobody asked", "all"),
        Verdict("tests", Standing.COULD_NOT_RUN, "pytest is missing", "all"),
    ),
)


def test_annotations_of_github() -> None:
    assert list(github_lines(REPORT)) == [
        "::notice title=scope passed::it holds; does not prove that it is right",
        "::error file=a%2Cb.py,line=3,col=7,title=names failed::50%25 of%0Ait [gone]",
        "::warning title=tests could not run::pytest is missing",
    ]


def test_sarif() -> None:
    log = json.loads(sarif_text(REPORT))
    (run,) = log["runs"]
    assert log["version"] == "2.1.0"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["scope", "names", "tests"]
    (result,) = run["results"]
    assert result["ruleId"] == "names" and result["level"] == "error"
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 3, "startColumn": 7}
    assert not run["invocations"][0]["executionSuccessful"]


@pytest.mark.parametrize(
    ("form", "begins"), [("table", "rename net.get"), ("sarif", "{"), ("github", "::notice")]
)
def test_forms(root: Path, capsys: pytest.CaptureFixture[str], form: str, begins: str) -> None:
    lsptools.open_workspace(root).rename("net.get", "fetch")
    assert main(["verify", "--rungs", READING, "--format", form]) == 0
    assert capsys.readouterr().out.startswith(begins)
