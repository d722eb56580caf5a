"""A change as a value: one entry per path, what it leads to, and how it is shown."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from changing import Bench, bench

from lsptools.errors import BadRequest, Stale
from lsptools.text.document import digest_of
from lsptools.text.edits import Edits
from lsptools.workspace.change import Change, Creation, Deletion, FileEdits, Move
from lsptools.workspace.snapshot import Snapshot

FILES = {
    "shop/__init__.py": b"",
    "shop/cart.py": b"from shop.price import total\r\n\r\ntotal()\r\n",
    "shop/price.py": b"# coding: latin-1\n# caf\xe9\ndef total(): ...\n",
    "shop/sub/wide.py": "x = 1\n".encode("utf-16"),
    "shop/data.bin": b"\0\1\2",
    "main.py": b"\xef\xbb\xbfimport shop\nshop.total()",
    "old.py": b"gone = True\n",
}


def edit_nothing(path: str) -> FileEdits:
    return FileEdits(path, Edits(), "")


A, B, EDIT_A = Move("a", "b"), Move("b", "c"), edit_nothing("a")


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda: Change((EDIT_A, EDIT_A)), "overlap"),
        (lambda: Change((EDIT_A,), deletions=(Deletion("a", ""),)), "overlap"),
        (lambda: Change(moves=(A, Move("a", "c"))), "overlap"),
        (lambda: Change(moves=(A, Move("c", "b"))), "overlap"),
        (lambda: Change(moves=(A,), creations=(Creation("b", ""),)), "overlap"),
        (lambda: Change(moves=(A,), deletions=(Deletion("a", ""),)), "overlap"),
        (lambda: Change((edit_nothing("b"),), moves=(A,)), "overlap"),
        (lambda: Change((EDIT_A,), creations=(Creation("a", ""),)), "overlap"),
        (lambda: Change(moves=(Move("c", "a"),), creations=(Creation("a", ""),)), "overlap"),
        (lambda: Change(moves=(Move("a", "a"),)), "invalid"),
        (lambda: Change(moves=(Move("a", "a/b"),)), "invalid"),
        (lambda: Change(creations=(Creation("", ""),)), "invalid"),
        (lambda: Change(creations=(Creation("a/./b", ""),)), "invalid"),
        (lambda: Change(creations=(Creation("a//b", ""),)), "invalid"),
        (lambda: Change(creations=(Creation("a\0b", ""),)), "invalid"),
        (lambda: Change(creations=(Creation("/a", ""),)), "outside_workspace"),
        (lambda: Change(creations=(Creation("a/../../b", ""),)), "outside_workspace"),
    ],
)
def test_one_entry_per_path_and_plain_paths(change: object, kind: str) -> None:
    with pytest.raises(BadRequest) as caught:
        change()  # type: ignore[operator]  # a lambda, so that the constructor runs here
    assert caught.value.kind == kind


def test_names_that_are_free_again_may_be_used() -> None:
    assert Change((EDIT_A,), moves=(A,), creations=(Creation("a", ""),))
    assert Change((edit_nothing("b"),), moves=(A, B))


@pytest.mark.parametrize(
    ("moves", "path", "after"),
    [
        ([("shop", "store")], "shop/cart.py", "store/cart.py"),
        ([("shop", "store")], "shopping.py", "shopping.py"),
        ([("shop", "store"), ("shop/cart.py", "basket.py")], "shop/cart.py", "basket.py"),
        ([("shop/cart.py", "basket.py"), ("shop", "store")], "shop/price.py", "store/price.py"),
        ([("a", "b"), ("b", "c")], "a", "b"),
    ],
)
def test_the_innermost_move_decides(moves: Sequence[tuple[str, str]], path: str, after: str) -> None:
    assert Change(moves=tuple(Move(old, new) for old, new in moves)).path_after(path) == after


def test_nothing_to_do_is_false_and_paths_are_all_paths() -> None:
    assert not Change()
    assert not Change((EDIT_A,), notes=("a note is nothing to do",))
    change = Change((EDIT_A,), (Move("p", "q"),), (Creation("n/new.py", ""),), (Deletion("d", ""),))
    assert change
    assert change.paths() == ("a", "d", "n/new.py", "p", "q")


def everything(at: Bench) -> Change:
    """A package is renamed, a module in it moves further, its importers follow."""
    return Change(
        edits=(
            at.replacing("shop/cart.py", "shop", "store"),
            at.replacing("shop/price.py", "total", "sum_é"),
            at.replacing("shop/sub/wide.py", "x", "längs"),
            at.replacing("main.py", "shop", "store"),
        ),
        moves=(Move("shop", "store"), Move("shop/price.py", "store/money/price.py")),
        creations=(Creation("shop.py", "from store import *\n"),),
        deletions=(at.deleting("old.py"),),
        label="rename shop",
    )


def test_after_shows_what_will_be(tmp_path: Path) -> None:
    at = bench(tmp_path, FILES)
    before = at.snapshot
    after = everything(at).after(before)
    assert after.document("store/cart.py").text == "from store.price import total\r\n\r\ntotal()\r\n"
    assert after.document("shop.py").text == "from store import *\n"
    assert after.document("main.py").text == "import store\nstore.total()"
    assert [after.is_file(path) for path in FILES] == [False, False, False, False, False, True, False]
    assert after.is_file("store/__init__.py")
    assert not after.is_dir("shop")
    assert after.list_dir("store") == ("__init__.py", "cart.py", "money", "sub")
    assert before.document("main.py").text == "import shop\nshop.total()"


def test_encoding_and_mark_go_along_with_a_move(tmp_path: Path) -> None:
    at = bench(tmp_path, FILES)
    after = everything(at).after(at.snapshot)
    assert after.bytes("store/money/price.py") == b"# coding: latin-1\n# caf\xe9\ndef sum_\xe9(): ...\n"
    assert after.bytes("store/sub/wide.py") == "längs = 1\n".encode("utf-16")
    later = after.with_overlays({"other.py": ""})
    assert later.bytes("store/money/price.py") == after.bytes("store/money/price.py")


def test_changes_follow_each_other(tmp_path: Path) -> None:
    at = bench(tmp_path, FILES)
    after = Change(moves=(Move("shop", "store"),)).after(at.snapshot)
    digest = after.document("store/price.py").digest
    assert digest == at.snapshot.document("shop/price.py").digest
    again = Change(moves=(Move("store", "market"),), deletions=(Deletion("store/price.py", digest),)).after(
        after
    )
    assert again.list_dir("market") == ("__init__.py", "cart.py", "sub")


def test_a_file_behind_a_link_is_laid_over_under_both_names(tmp_path: Path) -> None:
    at = bench(tmp_path, FILES)
    (at.ws / "alias.py").symlink_to("main.py")
    after = Change((at.replacing("alias.py", "shop", "store"),)).after(at.snapshot)
    assert after.document("alias.py").text == after.document("main.py").text == "import store\nstore.total()"


def test_after_and_diff_refuse_what_the_change_was_not_made_for(tmp_path: Path) -> None:
    at = bench(tmp_path, FILES)
    change = Change((at.replacing("main.py", "shop", "store"), at.replacing("shop/cart.py", "shop", "store")))
    overlaid = at.snapshot.with_overlays({"main.py": "unsaved", "shop/cart.py": "unsaved"})
    for show in (change.after, change.diff):
        with pytest.raises(Stale) as caught:
            show(overlaid)
        assert [site.path for site in caught.value.sites] == ["main.py", "shop/cart.py"]


def test_edits_of_a_binary_file_are_refused(tmp_path: Path) -> None:
    at = bench(tmp_path, FILES)
    edits = FileEdits("shop/data.bin", Edits(), digest_of(FILES["shop/data.bin"]))
    with pytest.raises(BadRequest, match="binary"):
        Change((edits,)).after(at.snapshot)


def test_diff_is_in_the_order_of_paths_with_renames(tmp_path: Path) -> None:
    at = bench(tmp_path, {"b.py": b"x = 1\n", "p/a.py": b"x\n", "gone.py": b"y\n", 'p/"q".py': b""})
    change = Change(
        (at.replacing("b.py", "1", "2"),),
        (Move("p", "q"),),
        (Creation("new.py", "n\n"),),
        (at.deleting("gone.py"),),
    )
    assert change.diff(at.snapshot) == (
        "diff --git a/b.py b/b.py\n--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
        "diff --git a/gone.py b/gone.py\ndeleted file mode 100644\n"
        "--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n"
        "diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+n\n"
        'diff --git "a/p/\\042q\\042.py" "b/q/\\042q\\042.py"\nrename from "p/\\042q\\042.py"\nrename to "q/\\042q\\042.py"\n'
        "diff --git a/p/a.py b/q/a.py\nrename from p/a.py\nrename to q/a.py\n"
    )


def test_git_applies_the_diff_to_the_same_end(tmp_path: Path) -> None:
    files = {
        **FILES,
        'shop/"odd\tname".py': b"",
        "shop/sub/wide.py": b"x = 1",
        "shop/price.py": b"def total(): ...\n",
    }
    del files["shop/data.bin"]
    at, by_git = bench(tmp_path / "ours", files), bench(tmp_path / "git", files)
    change = replace(
        everything(at), creations=(Creation("shop.py", "from store import *\n"), Creation("e.py", ""))
    )
    patch = tmp_path / "patch"
    patch.write_bytes(change.diff(at.snapshot).encode())
    # Outside of any repository, without the settings of whoever runs the test.
    done = subprocess.run(
        ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", str(patch)],
        cwd=by_git.ws,
        env={"PATH": os.environ["PATH"], "GIT_CEILING_DIRECTORIES": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    at.apply(change)
    assert by_git.tree == at.tree


def test_a_snapshot_of_nothing_has_nothing_to_move(tmp_path: Path) -> None:
    at = bench(tmp_path, {})
    with pytest.raises(BadRequest, match="no file"):
        Change(moves=(A,)).after(Snapshot(at.root))
