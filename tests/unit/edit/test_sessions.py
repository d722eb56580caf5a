"""What a caller has seen, and what follows from what was done: undo, moves, other names, later commands."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from casefaces import FOLDERS, OURS

from lsptools.edit.session import KEPT_BYTES, Session
from lsptools.errors import BadRequest, Stale, ToolError, Unavailable
from lsptools.faces.cli import main
from lsptools.faces.environment import Environment
from lsptools.faces.workspace import Workspace
from lsptools.text.document import digest_of
from lsptools.workspace.operations import LocalOperations
from lsptools.workspace.sessions import Kept, Sessions


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path.resolve() / "ws"
    (folder / "d").mkdir(parents=True)
    (folder / "a.txt").write_text("one\ntwo\n")
    (folder / "d" / "b.py").write_text("def f():\n    return 1\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    with mock.patch.dict(
        os.environ, kept | {key: str(tmp_path / "user" / name) for key, name in FOLDERS.items()}, clear=True
    ):
        yield folder


@pytest.fixture
def workspace(root: Path) -> Workspace:
    return Workspace(Environment(), Environment().root(str(root)))


def test_undo_of_a_file_and_of_a_change(root: Path, workspace: Workspace) -> None:
    for name in ("a.txt", "d/b.py"):
        workspace.read(name)
    patch = (
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** Delete File: d/b.py\n"
        "*** Add File: new/c.txt\n+c\n*** End Patch\n"
    )
    workspace.patch(patch)
    workspace.edit("a.txt", "two", "2")
    workspace.call("undo", file="a.txt")
    assert (root / "a.txt").read_text() == "1\ntwo\n"
    workspace.edit("a.txt", "1\n", "uno\n")  # the session knows what undo has left
    with pytest.raises(Stale):
        workspace.call("undo", id=next(entry.id for entry in workspace.history() if "patch" in entry.label))
    patched = next(entry.id for entry in workspace.history() if "patch" in entry.label)
    workspace.call("undo", id=patched, file="d/b.py")
    assert (root / "d" / "b.py").read_text() == "def f():\n    return 1\n"
    workspace.call("undo", id=patched, file="new/c.txt")
    assert not (root / "new" / "c.txt").exists()
    assert (root / "a.txt").read_text() == "uno\ntwo\n"
    labels = [entry["label"] for entry in answer(workspace, "history", file="d/b.py")["entries"]]
    assert len(labels) == 2 and labels[0].startswith("undo")


def answer(workspace: Workspace, tool: str, **arguments: Any) -> Any:  # JSON
    return workspace.call(tool, **arguments).to_json()


def test_undo_of_a_file_that_the_change_did_not_write(workspace: Workspace) -> None:
    workspace.read("a.txt")
    done = workspace.edit("a.txt", "one", "1")
    for arguments, kind in (
        ({"file": "d/b.py"}, "not_found"),
        ({"id": done.undo_id, "file": "d/b.py"}, "not_found"),
        ({"id": "9-9"}, "not_found"),
    ):
        with pytest.raises(BadRequest) as caught:
            workspace.call("undo", **arguments)
        assert caught.value.kind == kind


def test_a_rename_goes_on_in_the_session(root: Path, workspace: Workspace) -> None:
    workspace.read("d/b.py")
    workspace.call("rename", place="d/b.py::f", new_name="g")
    workspace.edit("d/b.py", "return 1", "return 2")
    assert (root / "d" / "b.py").read_text() == "def g():\n    return 2\n"


def test_a_moved_file_is_known_by_its_new_name(workspace: Workspace) -> None:
    workspace.read("a.txt")
    workspace.patch(
        "*** Begin Patch\n*** Update File: a.txt\n*** Move to: d/a.txt\n@@\n-one\n+1\n*** End Patch"
    )
    workspace.edit("d/a.txt", "1", "uno")
    workspace.write("a.txt", "anew\n")  # the old name is free


def test_other_names_and_other_programs(root: Path, workspace: Workspace) -> None:
    (root / "link").symlink_to("a.txt")
    workspace.read("link")
    workspace.edit("./d/../a.txt", "one", "1")
    os.utime(root / "a.txt", (1, 1))
    workspace.edit(str(root / "a.txt"), "1", "one")
    (root / "a.txt").write_text("someone else\n")
    with pytest.raises(Stale) as caught:
        workspace.edit("a.txt", "else", "x")
    assert "-one" in caught.value.message and "+someone else" in caught.value.message


def test_it_is_told_once_that_nothing_is_under_version_control(root: Path, workspace: Workspace) -> None:
    workspace.read("a.txt")
    assert any("version control" in note for note in workspace.edit("a.txt", "one", "1").notes)
    assert not workspace.edit("a.txt", "1", "one").notes
    other = Workspace(Environment(), Environment().root(str(root)))
    (root / ".git").mkdir()
    other.read("a.txt")
    assert not other.edit("a.txt", "one", "1").notes


def test_it_is_told_once_that_the_checkout_is_not_clean(root: Path) -> None:
    git = shutil.which("git")
    if not git:
        pytest.skip("git makes the index that is read")
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run([git, "-C", str(root), *words], check=True, capture_output=True)
    first, second, third = (Workspace(Environment(), Environment().root(str(root))) for _ in range(3))
    os.utime(root / "d" / "b.py", (1, 1))  # another time is no other content
    first.read("a.txt")
    assert not first.edit("a.txt", "one", "1").notes
    second.read("a.txt")
    assert second.edit("a.txt", "1", "2").notes == (
        "the checkout is not clean: 'a.txt' differs from what git last staged",
    )
    assert not second.edit("a.txt", "2", "one").notes
    (root / ".git" / "index").write_bytes(b"DIRC nonsense")
    third.read("a.txt")
    assert not third.edit("a.txt", "one", "1").notes


def test_a_named_session_is_told_once(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ("--root", str(root), "--session", "s")
    lsptools(capsys, "read", "a.txt", *where)
    notes = [
        lsptools(capsys, "edit", "a.txt", "--old", old, "--new", new, *where)[1]["notes"]
        for old, new in (("one", "1"), ("1", "2"))
    ]
    assert [bool(each) for each in notes] == [True, False]


def test_content_is_kept_up_to_a_limit() -> None:
    session = Session()
    size = KEPT_BYTES // 5
    data = [bytes([number]) * size for number in range(8)]
    for number, each in enumerate(data):
        session.see(f"/{number}", digest_of(each), each)
    kept = [session.content(digest_of(each)) is not None for each in data]
    assert kept == [False] * 3 + [True] * 5
    assert len(session.digests) == 8
    session.move("/7", "/new")
    assert session.seen("/new") and not session.seen("/7")


# The command line


def lsptools(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Mapping[str, Any]]:
    code = main([*words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_named_session_goes_on_in_the_next_command(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ("--root", str(root))
    code, said = lsptools(capsys, "edit", "a.txt", "--old", "one", "--new", "1", *where)
    assert (code, said["error"]["kind"]) == (2, "unread")
    code, said = lsptools(capsys, "read", "a.txt", "--session", "s", *where)
    assert code == 0
    code, done = lsptools(capsys, "edit", "a.txt", "--old", "one", "--new", "1", "--session", "s", *where)
    assert (code, done["applied"]) == (0, True)
    code, done = lsptools(capsys, "edit", "a.txt", "--old", "1", "--new", "uno", "--session", "s", *where)
    assert code == 0
    (root / "a.txt").write_text("other\n")
    code, said = lsptools(capsys, "edit", "a.txt", "--old", "uno", "--new", "x", "--session", "s", *where)
    assert (code, said["error"]["kind"]) == (1, "stale")
    assert "-uno" in said["error"]["message"]
    assert not list(root.glob(".lsp*"))


def test_a_digest_instead_of_a_session(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ("--root", str(root))
    _, said = lsptools(capsys, "read", "a.txt", *where)
    code, done = lsptools(
        capsys, "edit", "a.txt", "--old", "one", "--new", "1", "--expect", said["digest"], *where
    )
    assert code == 0
    assert done["files"][0]["digest_before"] == said["digest"]
    code, said = lsptools(
        capsys, "edit", "a.txt", "--old", "1", "--new", "2", "--expect", said["digest"], *where
    )
    assert (code, said["error"]["kind"]) == (1, "stale")


def test_texts_come_from_files_and_standard_input(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ("--root", str(root), "--session", "s")
    lsptools(capsys, "read", "a.txt", *where)
    (tmp_path / "old").write_text("one\n")
    (tmp_path / "new").write_bytes(b"1\r\n\xff\n")
    with mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(b"from there\n"))):
        code, _ = lsptools(capsys, "write", "w.txt", "-", *where)
    assert code == 0 and (root / "w.txt").read_bytes() == b"from there\n"
    words = ("--old-from", str(tmp_path / "old"), "--new-from", str(tmp_path / "new"))
    code, said = lsptools(capsys, "edit", "a.txt", *words, *where)
    assert (code, said["error"]["kind"]) == (1, "encoding")  # a stray byte cannot be said in UTF-8
    edits = ('{"old_str": "one", "new_str": "1"}', '{"old_str": "two", "new_str": "2"}')
    code, _ = lsptools(capsys, "edit", "a.txt", "--edit", edits[0], "--edit", edits[1], *where)
    assert code == 0 and (root / "a.txt").read_text() == "1\n2\n"
    code, said = lsptools(capsys, "edit", "a.txt", "--edit", "{", *where)
    assert (code, said["error"]["kind"]) == (2, "invalid")
    code, said = lsptools(capsys, "patch", str(tmp_path / "nope"), *where)
    assert (code, said["error"]["kind"]) == (2, "not_found")


def test_people_see_the_diff(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ("--root", str(root), "--session", "s")
    main(["read", "a.txt", *where])
    assert "digest" in capsys.readouterr().out
    main(["edit", "a.txt", "--old", "one", "--new", "1", "--diff", *where])
    assert capsys.readouterr().out.startswith("diff --git a/a.txt b/a.txt\n")
    assert (root / "a.txt").read_text() == "one\ntwo\n"
    main(["edit", "a.txt", "--old", "one", "--new", "1", "--color", "always", *where])
    shown = capsys.readouterr().out
    assert "\x1b[31m-one" in shown and "\x1b[32m+1" in shown and "undo: lsptools undo" in shown
    main(["edit", "a.txt", "--old", "one\x1b[31m", "--new", "1", *where])
    assert "\x1b[31m" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", "../x", ".hidden", "a/b", "x" * 65])
def test_names_of_sessions(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadRequest):
        Sessions(tmp_path).load(name)


def test_what_was_seen_is_kept_for_later_commands_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest goes first."""
    monkeypatch.setattr("lsptools.workspace.sessions.MAX_CONTENT_BYTES", 9)
    sessions = Sessions(tmp_path)
    contents = (b"bbbb", b"cccc", b"aaaa")
    for seconds, data in enumerate(contents):
        sessions.keep([data])
        os.utime(tmp_path / "seen" / digest_of(data), (1e9 + seconds, 1e9 + seconds))
    sessions.keep([])
    assert [sessions.content(digest_of(data)) for data in contents] == [None, b"cccc", b"aaaa"]


def test_a_session_that_cannot_be_kept(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path / "sessions")
    (tmp_path / "sessions" / "s.json").mkdir(parents=True)
    for attempt in (lambda: sessions.load("s"), lambda: sessions.update("s", {})):
        with pytest.raises(Unavailable, match="the session 's' cannot be kept in ") as caught:
            attempt()
        assert caught.value.hint and ".tmp" not in caught.value.message


def test_a_session_in_a_folder_that_may_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_atomic(self: object, path: str, data: bytes, *, mode: int | None = None) -> None:
        raise PermissionError(13, "Permission denied", f"{path}.tmp")

    monkeypatch.setattr(LocalOperations, "write_atomic", write_atomic)
    with pytest.raises(Unavailable, match="Permission denied") as caught:
        Sessions(tmp_path).update("s", {})
    assert caught.value.hint and ".tmp" not in caught.value.message


def test_sessions_add_to_what_is_there(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path / "sessions")
    sessions.update("s", {"/a": "1"})
    sessions.update("s", {"/b": "2"})
    sessions.update("s", {"/a": None})
    sessions.update("s", {}, {"once"})
    assert sessions.load("s") == Kept({"/b": "2"}, frozenset({"once"}))
    assert sessions.load("t") == Kept({}, frozenset())
    sessions.update("t", {"/a": "1", "/b": "2"}, raw={"/a", "/b"})
    sessions.update("t", {"/b": "3", "/c": None}, raw={"/c"})
    assert sessions.load("t").raw == {"/a"}
    sessions.keep([b"content"])
    assert sessions.content(digest_of(b"content")) == b"content"
    assert sessions.content(digest_of(b"other")) is None


def test_a_candidate_from_a_program_of_the_users(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ("--root", str(root), "--session", "s")
    lsptools(capsys, "read", "a.txt", *where)
    code, said = lsptools(capsys, "candidate", "a.txt", "--instructions", "shout", *where)
    assert said["error"]["kind"] == "invalid"
    program = "import json,sys; print(json.load(sys.stdin)['text'].upper(), end='')"
    for command, kind in (
        (f'python3 -c "{program}"', None),
        ("true", "invalid"),
        ("echo", "invalid"),
        ("false", "unavailable"),
        ("no-such-program-x", "unavailable"),
    ):
        with mock.patch.dict(os.environ, {"LSPTOOLS_CANDIDATE_COMMAND": command}):
            code, said = lsptools(capsys, "candidate", "a.txt", "--instructions", "shout", *where)
        assert said.get("error", {}).get("kind") == kind, (code, said)
        assert (root / "a.txt").read_text() == "ONE\nTWO\n"
    (root / "a.txt").write_text("")
    lsptools(capsys, "read", "a.txt", *where)
    with mock.patch.dict(os.environ, {"LSPTOOLS_CANDIDATE_COMMAND": "true"}):
        code, said = lsptools(capsys, "candidate", "a.txt", "--instructions", "shout", *where)
    assert code == 0 and said["files"][0]["action"] == "unchanged"


def test_what_the_program_of_the_users_is_told(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ("--root", str(root), "--session", "s")
    lsptools(capsys, "read", "a.txt", *where)
    program = "import json,sys; print(json.load(sys.stdin)['regions'], 'two', sep='\\n')"
    with mock.patch.dict(os.environ, {"LSPTOOLS_CANDIDATE_COMMAND": f'python3 -c "{program}"'}):
        code, said = lsptools(
            capsys, "candidate", "a.txt", "--instructions", "x", "--region", "1", "--diff", *where
        )
    assert code == 0 and "+['1']\n" in said["diff"], said
    with mock.patch.dict(os.environ, {"LSPTOOLS_CANDIDATE_COMMAND": "cat"}):
        code, said = lsptools(capsys, "candidate", "a.txt", "--instructions", "é", *where)
    assert code == 0, said
    text = (root / "a.txt").read_text("ascii")
    assert json.loads(text) == {"path": "a.txt", "text": "one\ntwo\n", "instructions": "é", "regions": []}


def test_a_symbol_by_its_name_and_by_its_place(root: Path, workspace: Workspace) -> None:
    (root / "d" / "b.py").write_text("class A:\n    def f(self): pass\n    def f(self): return 1\n")
    workspace.read("d/b.py")
    for place in ("d/b.py::A.f", "d.b.A.f", "A.f", "f"):
        with pytest.raises(BadRequest) as caught:
            workspace.call("edit-symbol", place=place, text="def f(self): return 2")
        assert caught.value.kind == "ambiguous", place
        assert [(site.line, site.column) for site in caught.value.sites] == [(2, 9), (3, 9)]
    workspace.call("edit-symbol", place="d/b.py:3:9", text="def f(self): return 2")
    workspace.call("edit-symbol", place="d/b.py:2", text="def f(self): return 0")
    assert (root / "d" / "b.py").read_text().split("\n")[1:3] == [
        "    def f(self): return 0",
        "    def f(self): return 2",
    ]


def test_a_named_session_knows_how_a_notebook_was_read(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = '{"cells": [{"source": ["b=2"]}],\n"metadata": {}}\n'
    (root / "n.ipynb").write_text(text)
    where = ("--root", str(root), "--session", "s")
    line = ("edit-lines", "n.ipynb", "--start", "2", "--new", '"metadata": {"a": 1}}')
    lsptools(capsys, "read", "n.ipynb", *where)
    code, said = lsptools(capsys, *line, *where)
    assert (code, said["error"]["kind"]) == (2, "invalid")
    lsptools(capsys, "edit", "n.ipynb", "--old", "b=2", "--new", 'b="x"', *where)
    assert json.loads((root / "n.ipynb").read_text())["cells"][0]["source"] == ['b="x"']
    lsptools(capsys, "read", "n.ipynb", "--raw", *where)
    code, said = lsptools(capsys, *line, *where)
    assert code == 0, said
    code, said = lsptools(capsys, "edit", "n.ipynb", "--old", "1", "--new", "x", *where)
    assert said["error"]["kind"] == "syntax"
    code, said = lsptools(capsys, "edit", "n.ipynb", "--old", "1", "--new", "x", "--allow-broken", *where)
    assert code == 0 and (root / "n.ipynb").read_text().endswith('{"a": x}}\n')


def test_all_of_it_in_memory() -> None:
    from editing import ROOT, memory, snapshot

    from lsptools.faces.call import Caller
    from lsptools.tools.base import Context
    from lsptools.workspace.state import State

    operations = memory({"a.txt": "one\n", "d/m.py": "x = 1\n"}, {"l": "a.txt"})
    with mock.patch("os.link", side_effect=AssertionError("that is the disk")):
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            caller = Caller(Context(snapshot(operations), lambda: State(Path(folder)), Session()))

            def call(tool: str, **arguments: object) -> Mapping[str, Any]:
                return caller.run(*caller.prepared(tool, arguments))

            call("read", path="l")
            call("edit", path="a.txt", old_str="one", new_str="1")
            call("write", path="n/e/w.txt", content="new\n")
            call("edit_lines", path="a.txt", start=1, end=1, new_text="uno")
            call("read", path="d/m.py")
            call(
                "patch",
                patch="*** Begin Patch\n*** Update File: d/m.py\n*** Move to: m.py\n@@\n-x = 1\n+x = 2\n*** End Patch",
            )
            assert operations.read_bytes(f"{ROOT}/a.txt") == b"uno\n"
            assert operations.read_bytes(f"{ROOT}/m.py") == b"x = 2\n"
            assert operations.is_link(f"{ROOT}/l")
            call("undo")
            call("undo", file="a.txt")
            assert operations.read_bytes(f"{ROOT}/d/m.py") == b"x = 1\n"
            assert operations.read_bytes(f"{ROOT}/a.txt") == b"1\n"
            with pytest.raises(ToolError):
                call("write", path="../x", content="")
            assert operations.list_dir(ROOT) == ("a.txt", "d", "l", "n")
