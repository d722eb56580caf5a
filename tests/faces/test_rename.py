"""A rename through the command line and through Python, to the disk and back. The search is a stand-in; the rest is real."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from faces.handmade import GET, Plan, Proof, references

import lsptools
from lsptools.errors import Conflict, Refused, Site
from lsptools.faces.cli import main
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Offset, Span
from lsptools.workspace.change import Change, FileEdits
from lsptools.workspace.snapshot import Snapshot

SOURCE = b"\xef\xbb\xbfdef get(url):\r\n    return url\n"
RENAMED = SOURCE.replace(b"get", b"fetch")


@dataclass(frozen=True)
class Policy:
    possible: str
    mentions: bool


def plan_rename(snapshot: Snapshot, at: str, new_name: str, policy: Policy, asking: object) -> Plan:
    """Renames the function of net.py, unless `possible` occurrences are not decided."""
    assert asking is None
    found = references()
    if policy.possible == "refuse":
        sites = (Site("net.py", 1, 5, "renaming function `get`"), Site("other.py", 4, 3, "may be this one"))
        conflict = Conflict("undecided", "may be this one", sites)
        raise Refused(
            "undecided", "one occurrence", hint="pass --possible skip", conflicts=(conflict,), details=found
        )
    span = Span(Offset(4), Offset(7))
    edits = Edits.of([TextEdit(span, new_name)])
    change = Change(
        (FileEdits("net.py", edits, snapshot.document("net.py").digest),), label=f"rename get to {new_name}"
    )
    proof = (Proof(f"asked at {at}", True), Proof("a second look", new_name != "unproved"))
    return Plan(GET, found, change, proof, frozenset({("net.py", span)}))


def module(name: str, **members: object) -> ModuleType:
    made = ModuleType(name)
    vars(made).update(members)
    return made


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    stand_ins = [
        module("lsptools.search.places", locate=lambda snapshot, place: place),
        module("lsptools.search.references", references=lambda snapshot, place, asking: references()),
        module("lsptools.search.definition", definition=lambda snapshot, place: (GET,)),
        module("lsptools.refactor.rename", plan_rename=plan_rename, Policy=Policy),
    ]
    for each in stand_ins:
        monkeypatch.setitem(sys.modules, each.__name__, each)
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "net.py").write_bytes(SOURCE)
    (folder / "main.py").write_bytes(
        b'from net import get\r\n"\xf0\x9f\x98\x80\xc3\xa9"; print(get("get"))\r\n'
    )
    (folder / "other.py").write_bytes(b"class A:\n    get = 1\n# get\nx.get\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return folder


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    said = capsys.readouterr()
    return code, said.out, said.err


def test_rename_undo_redo(capsys: pytest.CaptureFixture[str], workspace: Path) -> None:
    code, out, _ = run(capsys, "rename", "net.py:1:5", "fetch", "--possible", "skip")
    assert code == 0
    first, proof, _, *_, undo = out.splitlines()
    assert first == "renamed function `get` to `fetch`: 1 edit in 1 file"
    assert proof == "proof: asked at net.py:1:5"
    assert (workspace / "net.py").read_bytes() == RENAMED
    assert undo.startswith("undo: lsptools undo ")

    code, history, _ = run(capsys, "history")
    assert code == 0 and "rename get to fetch, 1 file" in history
    assert run(capsys, *undo.split()[2:]) == (0, "restored: net.py\n", "")
    assert (workspace / "net.py").read_bytes() == SOURCE
    assert run(capsys, "history")[1].splitlines()[1].endswith("(undone)")

    code, _, err = run(capsys, "undo")
    assert code == 2 and err.startswith("error: there is nothing to undo")


def test_json(capsys: pytest.CaptureFixture[str], workspace: Path) -> None:
    code, out, _ = run(capsys, "rename", "net.py:1:5", "fetch", "--possible", "include", "--json")
    answer = json.loads(out)
    assert code == 0 and answer["applied"] is True
    assert answer["edits"][0] | {"range": None} == {
        "path": "net.py",
        "line": 1,
        "column": 5,
        "range": None,
        "old": "get",
        "new": "fetch",
    }
    code, out, _ = run(capsys, "undo", answer["undo"], "--json")
    assert code == 0 and json.loads(out)["files"] == ["net.py"]
    assert (workspace / "net.py").read_bytes() == SOURCE


@pytest.mark.parametrize("option", ["--diff", "--check"])
def test_nothing_is_written_by_looking(
    capsys: pytest.CaptureFixture[str], workspace: Path, tmp_path: Path, option: str
) -> None:
    code, out, _ = run(capsys, "rename", "net.py:1:5", "fetch", "--possible", "skip", option)
    assert code == 0
    assert ("def fetch(url):" in out) if option == "--diff" else out.startswith("would rename function `get`")
    assert (workspace / "net.py").read_bytes() == SOURCE
    assert not (tmp_path / "state").exists()
    answer = json.loads(
        run(capsys, "rename", "net.py:1:5", "fetch", "--possible", "skip", option, "--json")[1]
    )
    assert (answer["applied"], answer["undo"], "diff" in answer) == (False, None, option == "--diff")


@pytest.mark.parametrize("options", [[], ["--check"], ["--diff"]])
def test_a_refusal(capsys: pytest.CaptureFixture[str], workspace: Path, options: list[str]) -> None:
    assert run(capsys, "rename", "net.py:1:5", "fetch", *options) == (
        1,
        "",
        "refused: undecided\n"
        "net.py:1:5: renaming function `get`\n"
        "other.py:4:3:   may be this one\n"
        "hint: pass --possible skip\n",
    )
    code, out, err = run(capsys, "rename", "net.py:1:5", "fetch", *options, "--json")
    answer = json.loads(out)
    assert (code, err, answer["applied"], answer["error"]["kind"]) == (1, "", False, "undecided")
    assert len(answer["occurrences"]) == 7
    assert (workspace / "net.py").read_bytes() == SOURCE


def test_what_is_not_proved_is_not_done(capsys: pytest.CaptureFixture[str], workspace: Path) -> None:
    code, out, err = run(capsys, "rename", "net.py:1:5", "unproved", "--possible", "skip")
    assert (code, out, err) == (1, "", "refused: name_capture\na second look\n")
    assert (workspace / "net.py").read_bytes() == SOURCE


def test_undo_of_a_file_that_moved_on(capsys: pytest.CaptureFixture[str], workspace: Path) -> None:
    run(capsys, "rename", "net.py:1:5", "fetch", "--possible", "skip")
    (workspace / "net.py").write_bytes(b"mine now\n")
    code, out, err = run(capsys, "undo")
    assert (code, out) == (1, "")
    assert err.startswith("stale: ") and "net.py" in err
    assert (workspace / "net.py").read_bytes() == b"mine now\n"


def test_refs_and_def(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "refs", "net.get", "--class", "possible")
    assert (code, out.splitlines()[0]) == (0, "other.py:4:3: possible attribute: nobody knows what `x` is")
    assert run(capsys, "refs", "net.get", "--class", "likely")[0] == 1
    assert run(capsys, "def", "main.py:2:13") == (0, "net.py:1:5: function net.get\n", "")


def test_python(workspace: Path) -> None:
    opened = lsptools.open_workspace(workspace)
    assert opened.references("net.get").counts()["possible"] == 1
    assert opened.definition("net.get") == (GET,)
    with pytest.raises(lsptools.Refused):
        opened.rename("net.py:1:5", "fetch")
    plan: Any = opened.plan_rename("net.py:1:5", "fetch", possible="skip")
    assert "def fetch" in plan.change.diff(opened.snapshot())
    done = opened.rename("net.py:1:5", "fetch", possible="skip")
    assert (workspace / "net.py").read_bytes() == RENAMED
    assert [entry.undone for entry in opened.history()] == [False]
    opened.undo(done.applied.undo_id)
    assert (workspace / "net.py").read_bytes() == SOURCE


def test_python_looks_at_the_files_as_they_are(workspace: Path) -> None:
    opened = lsptools.open_workspace(str(workspace))
    assert [item.name for item in opened.outline("net.py")] == ["get"]
    (workspace / "net.py").write_text("x = 1\n\ndef other(): ...\n")
    assert [item.name for item in opened.outline("net.py")] == ["x", "other"]
    (found,) = opened.symbols("other", exact=True).definitions
    assert opened.place(found.path, found.item.name_span.start) == "net.py:3:5"
    assert str(opened.position(found.path, found.item.name_span.start)) == "3:5"
    assert [match.path for match in opened.search("x.get").matches] == ["other.py"]
    assert opened.search_structure("(class_definition)").n_matches == 1
