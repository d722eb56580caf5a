"""Applying a change: all of it or nothing, and no byte that was not to change."""

import errno
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import hypothesis
import hypothesis.strategies as st
import pytest
from casefile import Entry, File, Folder, Link, Tree
from changing import Bench, Stop, bench, quick_folder

from lsptools.errors import BadRequest, Refused, Stale, ToolError, Unavailable
from lsptools.text.document import digest_of
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Offset, Span
from lsptools.workspace.apply import AppliedFile, apply, told_moves
from lsptools.workspace.change import Change, Creation, Deletion, FileEdits, Move, Reading
from lsptools.workspace.journal import history, undo
from lsptools.workspace.operations import LocalOperations, MemoryOperations
from lsptools.workspace.paths import Root
from lsptools.workspace.snapshot import Snapshot
from lsptools.workspace.state import State

PACKAGE = {
    "shop/__init__.py": b"",
    "shop/cart.py": b"from shop.price import total\r\n",
    "shop/price.py": b"# coding: latin-1\n# caf\xe9\ndef total(): ...\n",
    "shop/deep/er/wide.py": "x = 1\n".encode("utf-16"),
    "shop/data.bin": b"\0\1\2",
    "main.py": b"\xef\xbb\xbfimport shop\nshop.total()",
    "old.py": b"gone = True\n",
}


def package_renamed(at: Bench) -> Change:
    return Change(
        edits=(
            at.replacing("shop/cart.py", "shop", "store"),
            at.replacing("shop/price.py", "total", "sum_é"),
            at.replacing("shop/deep/er/wide.py", "x", "längs"),
            at.replacing("main.py", "shop", "store"),
        ),
        moves=(Move("shop", "store"), Move("shop/price.py", "store/money/price.py")),
        creations=(Creation("shop.py", "from store import *\n"), Creation("docs/a/b.txt", "")),
        deletions=(at.deleting("old.py"),),
        label="rename shop",
    )


def refused(at: Bench, change: Change, error: type[ToolError], kind: str) -> Any:
    """The error of an attempt that leaves everything as it was, in the workspace and in the history."""
    tree, entries = at.tree, history(at.state)
    with pytest.raises(error) as caught:
        at.apply(change)
    assert caught.value.kind == kind
    assert at.tree == tree
    assert history(at.state) == entries
    return caught.value


# What is written


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"x = 1\r\ny = x\n\rx", b"zz = 1\r\ny = zz\n\rzz"),
        (b"\xef\xbb\xbfx = 1  \n\n\n", b"\xef\xbb\xbfzz = 1  \n\n\n"),
        (b"# coding: latin-1\nx = '\xe9'", b"# coding: latin-1\nzz = '\xe9'"),
        (b"x\x0c\x1c\xe2\x80\xa8 \xff\xfe", b"zz\x0c\x1c\xe2\x80\xa8 \xff\xfe"),
        ("x = 'ü'\n".encode("utf-16"), "zz = 'ü'\n".encode("utf-16")),
    ],
)
@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600])
def test_bytes_outside_of_the_edits_and_mode_bits_stay(
    tmp_path: Path, before: bytes, after: bytes, mode: int
) -> None:
    at = bench(tmp_path, {"a.py": File(before, mode)})
    applied = at.apply(Change((at.replacing("a.py", "x", "zz"),)))
    assert at.tree == {"a.py": File(after, mode)}
    assert applied.files == (AppliedFile("a.py", digest_of(before), digest_of(after)),)


def test_a_package_is_renamed_with_everything_in_it(tmp_path: Path) -> None:
    at = bench(tmp_path, PACKAGE)
    applied = at.apply(package_renamed(at))
    assert {name for name, entry in at.tree.items() if isinstance(entry, File)} == {
        "docs/a/b.txt",
        "main.py",
        "shop.py",
        "store/__init__.py",
        "store/cart.py",
        "store/data.bin",
        "store/deep/er/wide.py",
        "store/money/price.py",
    }
    assert not (at.ws / "shop").exists()
    assert [file.path for file in applied.files] == [
        "docs/a/b.txt",
        "main.py",
        "old.py",
        "shop.py",
        "store/cart.py",
        "store/deep/er/wide.py",
        "store/money/price.py",
    ]
    assert applied.moves == (Move("shop", "store"), Move("store/price.py", "store/money/price.py"))
    undo(at.root, at.state)
    assert {name: entry.data for name, entry in at.tree.items() if isinstance(entry, File)} == PACKAGE


def test_the_plan_is_the_result(tmp_path: Path) -> None:
    at = bench(tmp_path, PACKAGE)
    change = package_renamed(at)
    planned = change.after(at.snapshot)
    at.apply(change)
    files = [name for name, entry in at.tree.items() if isinstance(entry, File)]
    for path in sorted({*files, *PACKAGE} - {"shop/data.bin", "store/data.bin"}):
        assert planned.is_file(path) == (path in files), path
        if path in files:
            assert planned.bytes(path) == (at.ws / path).read_bytes(), path
            assert planned.document(path).digest == at.snapshot.document(path).digest


def test_nothing_is_left_in_the_workspace_and_the_state_folder_is_private(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"x"})
    at.apply(Change((at.replacing("a.py", "x", "y"),)))
    assert at.tree == {"a.py": File(b"y")}
    for path in at.state.folder.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    assert stat.S_IMODE(at.state.folder.stat().st_mode) == 0o700


def test_nothing_to_do_is_no_entry_in_the_history(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"x"})
    for change in (Change(), Change((at.replacing("a.py", "x", "x"),))):
        assert at.apply(change).id == ""
    assert history(at.state) == ()


def test_new_files_take_the_mode_the_process_gives_or_the_one_asked_for(tmp_path: Path) -> None:
    at = bench(tmp_path, {})
    (at.ws / "usual").write_bytes(b"")
    at.apply(Change(creations=(Creation("new", ""), Creation("run", "", mode=0o750))))
    assert at.tree["new"] == at.tree["usual"]
    assert at.tree["run"] == File(b"", 0o750)


def test_new_files_are_written_in_their_encoding(tmp_path: Path) -> None:
    at = bench(tmp_path, {})
    latin = Creation("latin.py", "# coding: latin-1\né", "iso8859-1")
    marked = Creation("marked.py", "é", bom=b"\xef\xbb\xbf")
    at.apply(Change(creations=(latin, marked)))
    assert at.tree["latin.py"] == File(b"# coding: latin-1\n\xe9")
    assert at.tree["marked.py"] == File(b"\xef\xbb\xbf\xc3\xa9")
    refused(at, Change(creations=(Creation("odd.py", "€", "iso8859-1"),)), Refused, "encoding")


# Folders and moves


def test_folders_emptied_by_moves_and_deletions_go_others_stay(tmp_path: Path) -> None:
    at = bench(
        tmp_path,
        {
            "a/b/c.py": b"c",
            "d/e.py": b"e",
            "d/__pycache__/e.pyc": b"\0",
            "f/g.py": b"g",
            "h/i.py": b"i",
            "h/j.py": b"",
        },
    )
    at.apply(
        Change(
            moves=(Move("a/b/c.py", "n/c.py"), Move("d/e.py", "n/e.py"), Move("h/i.py", "h/k.py")),
            deletions=(at.deleting("f/g.py"),),
        )
    )
    assert set(at.tree) == {
        "d",
        "d/__pycache__",
        "d/__pycache__/e.pyc",
        "h",
        "h/j.py",
        "h/k.py",
        "n",
        "n/c.py",
        "n/e.py",
    }
    undo(at.root, at.state)
    assert not (at.ws / "n").exists()
    assert (at.ws / "a/b/c.py").read_bytes() == b"c"


def test_a_folder_into_which_someone_puts_something_meanwhile_stays(tmp_path: Path) -> None:
    at = bench(tmp_path, {"p/a.py": b"", "q/b.py": b""})
    # A program that is in the folder, whatever it is called just now.
    inside_q = os.open(at.ws / "q", os.O_RDONLY)

    def hook(step: str) -> None:
        if step == "rmdir p":
            (at.ws / "p/late").write_bytes(b"")
        if step == "tidy q":
            os.close(os.open("late", os.O_CREAT | os.O_WRONLY, dir_fd=inside_q))

    at.apply(Change(moves=(Move("p/a.py", "a.py"), Move("q/b.py", "b.py"))), hook)
    os.close(inside_q)
    assert set(at.tree) == {"a.py", "b.py", "p", "p/late", "q", "q/late"}
    undo(at.root, at.state)
    assert set(at.tree) == {"p", "p/a.py", "p/late", "q", "q/b.py", "q/late"}


def files_after(at: Bench, *moves: tuple[str, str], creations: tuple[Creation, ...] = ()) -> dict[str, bytes]:
    """What the files are after moves; then the moves are undone, and must be so exactly."""
    tree = at.tree
    at.apply(Change(moves=tuple(Move(old, new) for old, new in moves), creations=creations))
    files = {name: entry.data for name, entry in at.tree.items() if isinstance(entry, File)}
    undo(at.root, at.state)
    assert at.tree == tree
    return files


def test_moves_into_one_another(tmp_path: Path) -> None:
    at = bench(
        tmp_path, {"a": b"a", "b": b"b", "p/x": b"x", "p/q/y": b"y", "p/q/__init__": b"", "__init__": b""}
    )
    rest = {"p/x": b"x", "p/q/y": b"y", "p/q/__init__": b"", "__init__": b""}
    assert files_after(at, ("a", "b"), ("b", "c")) == {"b": b"a", "c": b"b", **rest}
    moved = {"r/x": b"x", "z": b"y", "r/q/__init__": b"", "__init__": b"", "a": b"a", "b": b"b"}
    assert files_after(at, ("p", "r"), ("p/q/y", "z")) == moved
    assert files_after(at, ("p/q/y", "z"), ("p", "r")) == moved
    moved = {"p/x": b"x", "q/y": b"y", "q/__init__": b"", "__init__": b"", "a": b"a", "b": b"b"}
    assert files_after(at, ("p/q", "q")) == moved
    moved = {"r/x": b"x", "r/q/y": b"y", "r/q/__init__": b"", "p/m": b"a", "__init__": b"", "b": b"b"}
    assert files_after(at, ("a", "p/m"), ("p", "r"), ("p/q/y", "r/q/y")) == moved
    # What stands at the old place afterwards looks exactly like what was there.
    shim = Creation("__init__", "")
    assert files_after(at, ("__init__", "n/__init__"), creations=(shim,))["n/__init__"] == b""
    moved = {"p": b"x", "p2/y": b"y", "p2/__init__": b"", "__init__": b"", "a": b"a", "b": b"b"}
    assert set(files_after(at, ("p/q", "p2"))) == {"p/x", "p2/y", "p2/__init__", "__init__", "a", "b"}


def test_what_cannot_be_moved(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a": b"a", "b": b"b", "p/x": b"x"})
    error = refused(at, Change(moves=(Move("a", "b"), Move("p", "q"))), Refused, "exists")
    assert [conflict.sites[0].path for conflict in error.conflicts] == ["b"]
    cycle_and_taken = Change(moves=(Move("a", "c"), Move("c2", "a"), Move("p/x", "b")))
    at.apply(Change(creations=(Creation("c2", ""), Creation("c", ""))))
    error = refused(at, cycle_and_taken, Refused, "exists")
    assert [conflict.sites[0].path for conflict in error.conflicts] == ["a", "b", "c"]
    refused(at, Change(moves=(Move("p/x", "p"),)), Refused, "exists")
    refused(at, Change(moves=(Move("p", "b/q"),)), BadRequest, "invalid")
    at.apply(Change(creations=(Creation("q/y", ""),)))
    refused(at, Change(moves=(Move("p", "q/p"), Move("q", "p/q"))), BadRequest, "overlap")
    refused(at, Change(moves=(Move("missing", "c"),)), BadRequest, "not_found")


def test_names_trade_places(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a": b"a", "b": b"b", "c": b"c", "p/x": b"x", "q/y": b"y"})
    old = at.tree
    round = (Move("a", "b"), Move("b", "c"), Move("c", "a"))
    folders = (Move("p", "q"), Move("q", "p"), Move("p/x", "p/z"))
    applied = at.apply(Change((at.replacing("a", "a", "A"),), (*round, *folders)))
    assert {name: entry.data for name, entry in at.tree.items() if isinstance(entry, File)} == {
        "a": b"c",
        "b": b"A",
        "c": b"b",
        "p/y": b"y",
        "p/z": b"x",
    }
    told = {(move.old, move.new) for move in told_moves(applied.moves)}
    assert told == {("a", "b"), ("b", "c"), ("c", "a"), ("p", "q"), ("q", "p"), ("q/x", "p/z")}
    assert history(at.state)[0].files == ("a", "b", "c", "p", "p/z", "q")
    undo(at.root, at.state)
    assert at.tree == old


def test_a_new_file_takes_the_place_of_a_deleted_one(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a": File(b"\0binary", 0o755), "p/x": b"x"})
    old = at.tree
    gone = (Deletion("a", digest_of(b"\0binary")), at.deleting("p/x"), Deletion("p", "", "folder"))
    change = Change(creations=(Creation("a", "text"), Creation("p", "a file")), deletions=gone)
    assert change.diff(at.snapshot).count("diff --git a/a b/a") == 2
    at.apply(change)
    assert at.tree == {"a": File(b"text"), "p": File(b"a file")}
    undo(at.root, at.state)
    assert at.tree == old


def test_links_and_folders_are_deleted(tmp_path: Path) -> None:
    files = {"a": b"a", "l": Link("a"), "gone": Link("nowhere"), "p/out": Link("/etc"), "p/q": Folder()}
    at = bench(tmp_path, {**files, "p/keep": b"k", "p/sub/x": b"x"})
    (at.ws / "p/q").chmod(0o750)
    old = at.tree
    links = [Deletion(name, digest_of(to), "link") for name, to in (("l", b"a"), ("gone", b"nowhere"))]
    folders = [Deletion(name, "", "folder") for name in ("p", "p/q", "p/sub")]
    out = Deletion("p/out", digest_of(b"/etc"), "link")
    moved = Move("p/keep", "keep")
    change = Change(moves=(moved,), deletions=(*links, out, *folders, at.deleting("p/sub/x")))
    assert "deleted file mode 120000" in change.diff(at.snapshot)
    applied = at.apply(change)
    assert at.tree == {"a": File(b"a"), "keep": File(b"k")}
    assert [file.path for file in applied.files] == ["gone", "l", "p/out", "p/sub/x"]
    undone = undo(at.root, at.state)
    assert at.tree == old
    undo(at.root, at.state, undone.id)
    assert at.tree == {"a": File(b"a"), "keep": File(b"k")}


def test_a_link_or_folder_that_is_another_now_is_not_deleted(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a": b"a", "l": Link("a"), "p/x": b"x"})
    refused(at, Change(deletions=(Deletion("l", digest_of(b"b"), "link"),)), Stale, "stale")
    refused(at, Change(deletions=(Deletion("a", digest_of(b"a"), "link"),)), Stale, "stale")
    refused(at, Change(deletions=(Deletion("l", digest_of(b"a")),)), BadRequest, "invalid")
    refused(at, Change(deletions=(Deletion("p", "", "folder"),)), Stale, "stale")
    refused(at, Change(deletions=(Deletion("a", "", "folder"),)), Stale, "stale")


def test_an_empty_folder_is_deleted_and_undone(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a": b"a", "p/q": Folder()})
    at.apply(Change(deletions=(Deletion("p/q", "", "folder"),)))
    assert not (at.ws / "p/q").exists() and (at.ws / "p").is_dir()
    assert history(at.state)[0].files == ("p/q",)
    undo(at.root, at.state)
    assert (at.ws / "p/q").is_dir()


def test_an_owner_that_cannot_be_kept_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = bench(tmp_path, {"a": b"x", "b": b"x"})

    def keep_owner(self: object, original: str, copy: str) -> bool:
        return not original.endswith("a")

    monkeypatch.setattr(LocalOperations, "keep_owner", keep_owner)
    change = Change((at.replacing("a", "x", "y"), at.replacing("b", "x", "y")))
    applied = apply(Snapshot(at.root, operations=LocalOperations()), change, at.state)
    (note,) = applied.notes
    assert note.startswith("owner and group of 'a' (user ") and "could not be kept" in note


def test_owner_and_group_that_are_not_ours_to_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.touch()
    other.touch()
    assert LocalOperations().keep_owner(str(one), str(other))
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to somebody else")

    def chown(*_: object) -> None:
        raise PermissionError

    os.chown(one, 12345, 12345)
    monkeypatch.setattr(os, "fchown", chown)
    assert not LocalOperations().keep_owner(str(one), str(other))


def test_files_that_exist_are_all_named(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a": b"a", "b": b"b", "p/x": b"x", "dangling": Link("nowhere")})
    creations = tuple(Creation(path, "") for path in ("a", "p", "new", "dangling"))
    error = refused(at, Change(creations=creations), Refused, "exists")
    assert [conflict.sites[0].path for conflict in error.conflicts] == ["a", "dangling", "p"]
    refused(at, Change(creations=(Creation("a/under/a/file", ""),)), BadRequest, "invalid")


# What has changed meanwhile


def test_all_files_that_changed_are_named(tmp_path: Path) -> None:
    at = bench(tmp_path, dict.fromkeys(("a.py", "b.py", "c.py", "d.py"), b"x = 1\n"))
    change = Change(
        tuple(at.replacing(name, "x", "y") for name in ("a.py", "b.py", "c.py")),
        deletions=(at.deleting("d.py"),),
    )
    (at.ws / "a.py").write_bytes(b"x = 2\n")
    (at.ws / "b.py").unlink()
    (at.ws / "d.py").write_bytes(b"")
    error = refused(at, change, Stale, "stale")
    assert [site.path for site in error.sites] == ["a.py", "b.py", "d.py"]
    assert error.message == "'a.py' and 2 more changed since the change was planned"


@pytest.mark.parametrize("becomes", [b"x = 2\n", None])
def test_a_file_that_was_only_read_for_the_change_has_to_be_as_it_was(
    tmp_path: Path, becomes: bytes | None
) -> None:
    at = bench(tmp_path, {"a.py": b"x = 1\n", "read.py": b"x = 1\n"})
    read = (Reading("read.py", at.snapshot.document("read.py").digest),)
    change = Change((at.replacing("a.py", "x", "y"),), read=read)
    (at.ws / "read.py").unlink() if becomes is None else (at.ws / "read.py").write_bytes(becomes)
    error = refused(at, change, Stale, "stale")
    assert [site.path for site in error.sites] == ["read.py"]
    (at.ws / "read.py").write_bytes(b"x = 1\n")
    at.apply(change)
    assert at.tree["a.py"] == File(b"y = 1\n")


def test_content_counts_and_not_time(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"x = 1\n"})
    change = Change((at.replacing("a.py", "x", "y"),))
    (at.ws / "a.py").write_bytes(b"x = 1\n")
    os.utime(at.ws / "a.py", (1, 1))
    at.apply(change)
    assert at.tree["a.py"] == File(b"y = 1\n")


def test_a_plan_for_unsaved_text_waits_until_it_is_saved(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"x = 1\n"})
    unsaved = at.snapshot.with_overlays({"a.py": "new\nx = 1\n"})
    edits = Edits.of([TextEdit(Span(Offset(4), Offset(5)), "y")])
    change = Change((FileEdits("a.py", edits, unsaved.document("a.py").digest),))
    with pytest.raises(Stale):
        apply(unsaved, change, at.state)
    (at.ws / "a.py").write_bytes(b"new\nx = 1\n")
    apply(unsaved, change, at.state)
    assert at.tree["a.py"] == File(b"new\ny = 1\n")


def change_somehow(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"#")


def replace_with_link(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))
    path.parent.symlink_to("elsewhere")


@pytest.mark.parametrize("meddle", [change_somehow, Path.unlink, replace_with_link])
@pytest.mark.parametrize("do", ["write", "delete"])
def test_what_others_write_while_we_do_is_not_overwritten(
    tmp_path: Path, meddle: Callable[[Path], None], do: str
) -> None:
    at = bench(tmp_path, {"a.py": b"x", "p/b.py": b"x"})
    edits = [at.replacing("a.py", "x", "y")]
    deletions = [at.deleting("p/b.py")]
    if do == "write":
        edits.append(at.replacing("p/b.py", "x", "y"))
        deletions.clear()
    meddled: list[Tree] = []

    def hook(step: str) -> None:
        if step == f"{do} p/b.py":
            assert at.tree["a.py"] == File(b"y")
            meddle(at.ws / "p/b.py")
            meddled.append({name: entry for name, entry in at.tree.items() if ".lsptools-" not in name})

    with pytest.raises(Stale, match=r"p/b\.py"):
        at.apply(Change(tuple(edits), deletions=tuple(deletions)), hook)
    assert at.tree == {**meddled[0], "a.py": File(b"x")}


# Links, owners, permissions


def test_the_real_file_is_written_and_the_link_stays(tmp_path: Path) -> None:
    files: dict[str, Entry] = {
        "real/a.py": File(b"x", 0o755),
        "a.py": Link("real/a.py"),
        "folder": Link("real"),
        "b.py": Link("a.py"),
    }
    for name in ("a.py", "folder/a.py", "b.py"):
        at = bench(tmp_path / name, files)
        applied = at.apply(Change((at.replacing(name, "x", "y"),)))
        assert at.tree == {**files, "real": Folder(), "real/a.py": File(b"y", 0o755)}
        assert [file.path for file in applied.files] == ["real/a.py"]
        assert applied.notes == (f"{name!r} leads to 'real/a.py', which was written",)


def test_two_names_of_one_file_are_one_file(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"x", "b.py": Link("a.py")})
    refused(
        at, Change((at.replacing("a.py", "x", "y"), at.replacing("b.py", "x", "z"))), BadRequest, "overlap"
    )


def test_links_are_moved_themselves_and_not_deleted(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"x", "b.py": Link("a.py"), "out": Link("/")})
    refused(at, Change(deletions=(at.deleting("b.py"),)), BadRequest, "invalid")
    at.apply(Change((at.replacing("b.py", "x", "y"),), (Move("b.py", "c.py"),)))
    assert at.tree == {"a.py": File(b"y"), "c.py": Link("a.py"), "out": Link("/")}


def test_links_that_lead_outside_are_refused(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"x", "out.py": Link("../outside.py"), "out": Link("..")})
    (tmp_path / "outside.py").write_bytes(b"x")
    edits = Edits.of([TextEdit(Span(Offset(0), Offset(1)), "y")])
    for change in (
        Change((FileEdits("out.py", edits, digest_of(b"x")),)),
        Change((FileEdits("out/outside.py", edits, digest_of(b"x")),)),
        Change(creations=(Creation("out/new.py", ""),)),
        Change(moves=(Move("a.py", "out/a.py"),)),
        Change(moves=(Move("out/outside.py", "b.py"),)),
        Change(deletions=(Deletion("out/outside.py", digest_of(b"x")),)),
    ):
        refused(at, change, BadRequest, "outside_workspace")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outside.py", "state", "ws"]


def test_hard_links_are_told_of(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"x"})
    (at.ws / "b.py").hardlink_to(at.ws / "a.py")
    applied = at.apply(Change((at.replacing("a.py", "x", "y"),)))
    assert at.tree == {"a.py": File(b"y"), "b.py": File(b"x")}
    assert applied.notes == ("'a.py' had 2 names (hard links); the others keep the content from before",)


def test_owner_and_attributes_stay(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": File(b"x", 0o4755)})
    path = at.ws / "a.py"
    if os.getuid() == 0:
        os.chown(path, 4321, 4322)
        path.chmod(0o4755)
    has_attributes = hasattr(os, "setxattr")
    if has_attributes:
        try:
            os.setxattr(path, "user.origin", b"here")
        except OSError:  # a file system without
            has_attributes = False
    before = path.stat()
    at.apply(Change((at.replacing("a.py", "x", "y"),)))
    after = path.stat()
    assert path.read_bytes() == b"y"
    assert (after.st_uid, after.st_gid, after.st_mode) == (before.st_uid, before.st_gid, before.st_mode)
    assert not has_attributes or os.getxattr(path, "user.origin") == b"here"


def test_what_is_read_only_is_all_named_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = bench(
        tmp_path,
        {"a.py": b"x", "b.py": File(b"x", 0o444), "c.py": File(b"x", 0o444), "p/d.py": b"x", "q/e.py": b"x"},
    )
    edits = tuple(at.replacing(path, "x", "y") for path in ("a.py", "b.py", "p/d.py"))
    change = Change(edits, (Move("a.py", "q/a.py"),), deletions=(at.deleting("c.py"),))
    # As the system says it to most of us. To root, who may be running this test, it says yes.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name not in ("p", "q"))
    error = refused(at, change, Unavailable, "unavailable")
    assert [site.path for site in error.sites] == ["b.py", "c.py", "p/", "q/"]


def test_in_a_tree_without_write_bits_the_system_decides(tmp_path: Path) -> None:
    at = bench(tmp_path, {"p/a.py": File(b"x", 0o444)})
    (at.ws / "p").chmod(0o555)
    change = Change((at.replacing("p/a.py", "x", "y"),))
    if os.access(at.ws / "p", os.W_OK):
        at.apply(change)
        assert at.tree == {"p": Folder(0o555), "p/a.py": File(b"y", 0o444)}
    else:
        refused(at, change, Unavailable, "unavailable")
    (at.ws / "p").chmod(0o755)


def test_a_text_that_cannot_be_said_changes_nothing(tmp_path: Path) -> None:
    at = bench(tmp_path, PACKAGE)
    change = Change((at.replacing("main.py", "shop", "x"), at.replacing("shop/price.py", "total", "€")))
    refused(at, change, Refused, "encoding")


def test_folders_are_not_files(tmp_path: Path) -> None:
    at = bench(tmp_path, PACKAGE)
    refused(
        at,
        Change((FileEdits("shop", Edits.of([TextEdit(Span(Offset(0), Offset(0)), "y")]), ""),)),
        BadRequest,
        "is_directory",
    )
    refused(at, Change(deletions=(Deletion("shop", ""),)), BadRequest, "is_directory")


# What goes wrong on the way


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with quick_folder(tmp_path) as made:
        yield made


def test_a_disk_that_fails_at_any_step_leaves_all_old_or_all_new(folder: Path) -> None:
    at = bench(folder, PACKAGE)
    old, counted = at.tree, Stop()
    at.apply(package_renamed(at), counted)
    new = at.tree
    undo(at.root, at.state)
    committed = counted.steps.index("committed")
    for number in range(len(counted.steps)):

        def fail() -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        stop = Stop(number, fail)
        if number <= committed:
            with pytest.raises(Unavailable, match="No space left on device; nothing was changed"):
                at.apply(package_renamed(at), stop)
            assert at.tree == old, stop.steps[-1]
        else:
            at.apply(package_renamed(at), stop)
            assert history(at.state)[0].label == "rename shop"  # which tidies up
            assert at.tree == new, stop.steps[-1]
            undo(at.root, at.state)
    assert {path.suffix for path in at.state.changes.iterdir()} == {".done"}


def test_a_disk_that_stays_full_does_not_hinder_going_back(folder: Path) -> None:
    at = bench(folder, PACKAGE)
    old = at.tree
    needs_room = ("journal", "stage", "keep")
    counted = Stop()
    at.apply(package_renamed(at), counted)
    undo(at.root, at.state)
    first = next(number for number, step in enumerate(counted.steps) if step.startswith("write"))
    assert not any(step.startswith(needs_room) for step in counted.steps[first:])
    for number in range(len(counted.steps)):

        def hook(step: str, left: list[int] = [number]) -> None:  # noqa: B006  # it counts
            left[0] -= 1
            if left[0] < 0 and step.startswith((*needs_room, "write", "move")):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        try:
            at.apply(package_renamed(at), hook)
        except Unavailable:
            assert at.tree == old
        else:
            undo(at.root, at.state)


def test_an_interruption_is_passed_on_and_everything_taken_back(folder: Path) -> None:
    at = bench(folder, PACKAGE)
    old = at.tree

    def interrupt() -> None:
        raise KeyboardInterrupt

    for number in range(0, 30, 3):
        stop = Stop(number, interrupt)
        with pytest.raises(KeyboardInterrupt):
            at.apply(package_renamed(at), stop)
        assert at.tree == old, stop.steps[number]


def test_a_state_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"x"})
    (tmp_path / "state").write_bytes(b"in the way")
    with pytest.raises(Unavailable, match="the state folder cannot be used"):
        at.apply(Change((at.replacing("a.py", "x", "y"),)))
    assert at.tree == {"a.py": File(b"x")}


def test_in_memory_it_is_the_same(tmp_path: Path) -> None:
    operations = MemoryOperations({f"/ws/{name}": data for name, data in PACKAGE.items()})
    root = Root(Path("/ws"))
    snapshot = Snapshot(root, operations)
    state = State(tmp_path / "state")

    def edited(path: str, old: str, new: str) -> FileEdits:
        document = snapshot.document(path)
        start = document.text.index(old)
        edits = Edits.of([TextEdit(Span(Offset(start), Offset(start + len(old))), new)])
        return FileEdits(path, edits, document.digest)

    change = Change(
        (edited("shop/cart.py", "shop", "store"),),
        (Move("shop", "store"),),
        (Creation("new/er.py", ""),),
        (Deletion("old.py", snapshot.document("old.py").digest),),
    )
    apply(snapshot, change, state)
    assert operations.read_bytes("/ws/store/cart.py") == b"from store.price import total\r\n"
    assert operations.list_dir("/ws") == ("main.py", "new", "store")
    undo(root, state, operations=operations)
    assert {name: operations.read_bytes(f"/ws/{name}") for name in PACKAGE} == PACKAGE
    assert operations.list_dir("/ws") == ("main.py", "old.py", "shop")


# Laws, for changes nobody would think of

SMALL: dict[str, Entry] = {
    "a.py": File(b""),
    "b.py": File(b"b", 0o755),
    "pkg/__init__.py": File(b""),
    "pkg/x.py": File(b"x"),
    "pkg/sub/__init__.py": File(b""),
    "pkg/sub/y.py": File(b"y", 0o600),
    "sub/k.py": File(b""),
    "empty": Folder(0o700),
}
PLACES = (
    "a.py",
    "b.py",
    "n/c.py",
    "pkg",
    "q/r",
    "pkg/x.py",
    "sub",
    "pkg/sub",
    "n",
    "q",
    "deep/er/pkg",
    "pkg/new",
)


def any_change(at: Bench, random: Random) -> Change:
    """Some entries that can stand in one change."""
    change = Change(label="any")

    def add(field: str, entry: FileEdits | Move | Creation | Deletion) -> None:
        nonlocal change
        with suppress(BadRequest):
            entries: dict[str, Any] = {field: (*getattr(change, field), entry)}
            change = replace(change, **entries)

    for path, entry in at.tree.items():
        if isinstance(entry, File) and random.random() < 0.3:
            edits = Edits.of([TextEdit(Span(Offset(0), Offset(0)), random.choice(["x", "yy"]))])
            add("edits", FileEdits(path, edits, digest_of(entry.data)))
        elif isinstance(entry, File) and random.random() < 0.15:
            add("deletions", Deletion(path, digest_of(entry.data)))
        if random.random() < 0.25:
            add("moves", Move(path, random.choice(PLACES) + random.choice(["", "", "/m", "2"])))
    for _ in range(random.randrange(3)):
        path = random.choice([*PLACES, *(move.old for move in change.moves)])
        add("creations", Creation(path, random.choice(["", "new"])))
    return change


@hypothesis.given(st.randoms(use_true_random=False))
def test_any_change_is_done_as_planned_undone_and_redone_or_not_at_all(random: Random) -> None:
    with tempfile.TemporaryDirectory() as usual, quick_folder(Path(usual)) as folder:
        at = bench(folder, SMALL)
        old, change, counted = at.tree, any_change(at, random), Stop()
        hypothesis.note(change)
        planned = change.after(at.snapshot)
        try:
            applied = at.apply(change, counted)
        except ToolError:
            assert at.tree == old
            return
        new = at.tree
        hypothesis.assume(applied.id)
        files = {name: entry.data for name, entry in new.items() if isinstance(entry, File)}
        assert {name: planned.bytes(name) for name in {*files, *SMALL} if planned.is_file(name)} == files
        undone = undo(at.root, at.state)
        assert at.tree == old
        undo(at.root, at.state, undone.id)
        assert at.tree == new
        undo(at.root, at.state)
        assert at.tree == old

        def fail() -> None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        for number in random.sample(range(counted.steps.index("committed")), 2):
            with pytest.raises(Unavailable):
                at.apply(change, Stop(number, fail))
            assert at.tree == old, counted.steps[number]


@pytest.mark.parametrize(
    "change",
    [
        Change(creations=(Creation(".git/hooks/pre-commit", "#!/bin/sh\n"),)),
        Change(creations=(Creation("sub/.hg/hgrc", "[hooks]\n"),)),
        Change(moves=(Move(".git", "old"),)),
        Change(moves=(Move("a.py", ".git/a.py"),)),
    ],
)
def test_what_belongs_to_version_control_is_not_changed(tmp_path: Path, change: Change) -> None:
    at = bench(tmp_path, {"a.py": b"", ".git/HEAD": b"ref\n"})
    old = at.tree
    with pytest.raises(BadRequest, match="belongs to version control"):
        at.apply(change)
    assert at.tree == old
