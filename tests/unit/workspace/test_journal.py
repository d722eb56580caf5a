"""The history, undo and redo, and how far they reach back."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from casefile import Entry, File, Tree
from changing import Bench, bench

from lsptools.errors import BadRequest, Refused, Stale, Unavailable
from lsptools.workspace.apply import Applied
from lsptools.workspace.change import Change, Creation, Move
from lsptools.workspace.journal import history, recover, undo
from lsptools.workspace.paths import Root
from lsptools.workspace.state import State

FILES: dict[str, bytes | Entry] = {
    "a.py": File(b"x = 1\r\n", 0o755),
    "p/b.py": File(b"x", 0o600),
    "p/c.py": b"",
    "d.py": File(b"d", 0o640),
}


def everything(at: Bench) -> Change:
    return Change(
        (at.replacing("a.py", "x", "yy"), at.replacing("p/b.py", "x", "yy")),
        (Move("p", "q/r"),),
        (Creation("n/e/w.py", "new"),),
        (at.deleting("d.py"),),
        label="everything",
    )


def written(at: Bench, path: str, text: str) -> Applied:
    """Give a file another content by a change."""
    old = at.snapshot.document(path).text
    return at.apply(Change((at.replacing(path, old, text),), label=text))


def shown(at: Bench) -> list[str]:
    return [f"{entry.label}{' (undone)' if entry.undone else ''}" for entry in history(at.state)]


def test_undo_restores_bytes_modes_moves_and_folders(tmp_path: Path) -> None:
    at = bench(tmp_path, FILES)
    (at.ws / "p").chmod(0o750)
    old = at.tree
    at.apply(everything(at))
    new = at.tree
    assert new != old
    undone = undo(at.root, at.state)
    assert at.tree == old
    assert undone.moves == (Move("q/r", "p"),)
    assert [(file.path, file.digest_before is None, file.digest_after is None) for file in undone.files] == [
        ("a.py", False, False),
        ("d.py", True, False),
        ("n/e/w.py", False, True),
        ("p/b.py", False, False),
    ]
    redone = undo(at.root, at.state, undone.undo_id)
    assert at.tree == new
    undo(at.root, at.state, redone.undo_id)
    assert at.tree == old
    assert shown(at) == [
        "undo everything",
        "redo everything (undone)",
        "undo everything",
        "everything (undone)",
    ]


def test_undo_after_undo_goes_further_back(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"0"})
    for text in "123":
        written(at, "a.py", text)
    for data in (b"2", b"1", b"0"):
        undo(at.root, at.state)
        assert at.tree["a.py"] == File(data)
    with pytest.raises(BadRequest, match="nothing to undo") as caught:
        undo(at.root, at.state)
    assert caught.value.kind == "not_found"
    assert shown(at) == ["undo 1", "undo 2", "undo 3", "3 (undone)", "2 (undone)", "1 (undone)"]
    undo(at.root, at.state, history(at.state)[0].id)
    assert at.tree["a.py"] == File(b"1")
    undo(at.root, at.state)
    assert at.tree["a.py"] == File(b"0")


def test_undo_after_undo_of_one_file_goes_further_back(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"0", "b.py": b"0"})
    for text in "123":
        written(at, "a.py", text)
        written(at, "b.py", text)
    for data in (b"2", b"1", b"0"):
        undo(at.root, at.state, file="a.py")
        assert at.tree == {"a.py": File(data), "b.py": File(b"3")}
    with pytest.raises(BadRequest, match=r"no change of 'a\.py' is to be undone") as caught:
        undo(at.root, at.state, file="a.py")
    assert caught.value.kind == "not_found"
    assert shown(at)[:3] == ["undo 1", "undo 2", "undo 3"]
    undo(at.root, at.state)
    assert at.tree == {"a.py": File(b"0"), "b.py": File(b"2")}
    redo = next(entry for entry in history(at.state) if entry.label == "undo 1")
    undo(at.root, at.state, redo.id)
    assert at.tree["a.py"] == File(b"1") and shown(at)[0] == "redo 1"
    undo(at.root, at.state, file="a.py")
    assert at.tree["a.py"] == File(b"0")


def both_written(at: Bench) -> str:
    edits = (at.replacing("a.py", "0", "1"), at.replacing("b.py", "0", "1"))
    return at.apply(Change(edits, label="both")).id


def test_what_an_undo_of_one_file_left_is_undone_by_the_next(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"0", "b.py": b"0"})
    first = both_written(at)
    undo(at.root, at.state, file="a.py")
    assert at.tree == {"a.py": File(b"0"), "b.py": File(b"1")}
    newest, entry = history(at.state)
    assert (entry.undone, entry.undone_files, newest.label) == (False, ("a.py",), "undo both in a.py")
    with pytest.raises(BadRequest, match="is undone already, by ") as caught:
        undo(at.root, at.state, first, file="a.py")
    assert caught.value.hint == f"undo {newest.id} to redo it"
    undo(at.root, at.state)
    assert at.tree == {"a.py": File(b"0"), "b.py": File(b"0")}
    assert shown(at) == ["undo both", "undo both in a.py", "both (undone)"]
    with pytest.raises(BadRequest, match="nothing to undo"):
        undo(at.root, at.state)


def test_a_change_undone_in_each_of_its_files_is_undone(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"0", "b.py": b"0"})
    first = both_written(at)
    in_a = undo(at.root, at.state, file="a.py")
    undo(at.root, at.state, first, file="b.py")
    assert shown(at) == ["undo both in b.py", "undo both in a.py", "both (undone)"]
    redone = undo(at.root, at.state, in_a.id)
    assert at.tree == {"a.py": File(b"1"), "b.py": File(b"0")}
    assert shown(at)[0] == "redo both in a.py" and shown(at)[-1] == "both"
    undo(at.root, at.state, first)
    assert at.tree == {"a.py": File(b"0"), "b.py": File(b"0")}
    assert redone.id


def test_an_undo_of_what_was_changed_since_says_what_to_do(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"0"})
    first = written(at, "a.py", "1")
    written(at, "a.py", "2")
    with pytest.raises(Stale) as caught:
        undo(at.root, at.state, first.id)
    assert caught.value.hint.startswith("undo the later changes first")


def test_history_tells_when_what_and_where(tmp_path: Path) -> None:
    at = bench(tmp_path, FILES)
    assert history(at.state) == ()
    before = time.time()
    applied = at.apply(everything(at))
    (entry,) = history(at.state)
    assert (entry.id, entry.label, entry.undone, entry.undoes) == (applied.id, "everything", False, "")
    assert before <= entry.when <= time.time()
    assert entry.files == ("a.py", "d.py", "n/e/w.py", "q/r", "q/r/b.py")
    undone = undo(at.root, at.state, applied.id)
    assert history(at.state)[0].undoes == applied.id
    assert history(at.state)[0].id == undone.id


def test_an_older_change_is_undone_by_its_id_if_its_files_are_as_it_left_them(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"0", "b.py": b"0"})
    first = written(at, "a.py", "1")
    written(at, "b.py", "1")
    undo(at.root, at.state, first.id)
    assert at.tree == {"a.py": File(b"0"), "b.py": File(b"1")}
    with pytest.raises(BadRequest, match="is undone already, by ") as caught:
        undo(at.root, at.state, first.id)
    assert caught.value.kind == "no_change"
    assert caught.value.hint == f"undo {history(at.state)[0].id} to redo it"
    with pytest.raises(BadRequest, match="no change '99-dead'"):
        undo(at.root, at.state, "99-dead")


def attempt(at: Bench, error: type[Exception], id: str | None = None) -> list[str]:
    """The files that an undo, which changes nothing, complains of."""
    tree, entries = at.tree, shown(at)
    with pytest.raises(error) as caught:
        undo(at.root, at.state, id)
    assert (at.tree, shown(at)) == (tree, entries)
    if isinstance(caught.value, Refused):
        return [site.path for conflict in caught.value.conflicts for site in conflict.sites]
    assert isinstance(caught.value, Stale)
    return [site.path for site in caught.value.sites]


def test_undo_names_all_files_that_moved_on(tmp_path: Path) -> None:
    at = bench(tmp_path, FILES)
    at.apply(everything(at))
    (at.ws / "a.py").write_bytes(b"x = 1\r\n")
    (at.ws / "q/r/b.py").unlink()
    (at.ws / "n/e/w.py").write_bytes(b"newer")
    assert attempt(at, Stale) == ["a.py", "n/e/w.py", "p/b.py"]


def test_undo_does_not_overwrite_what_came_since(tmp_path: Path) -> None:
    at = bench(tmp_path, FILES)
    at.apply(everything(at))
    (at.ws / "d.py").write_bytes(b"d")
    (at.ws / "p").mkdir()
    assert attempt(at, Refused) == ["d.py", "p"]


def test_a_file_that_was_only_moved_must_still_be_the_same(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"a", "p/b.py": b"b"})
    at.apply(Change(moves=(Move("a.py", "c.py"),)))
    (at.ws / "c.py").write_bytes(b"else")
    assert attempt(at, Stale) == ["c.py"]
    moved = at.apply(Change(moves=(Move("p", "q"),)))
    (at.ws / "q/new.py").write_bytes(b"new")
    undo(at.root, at.state, moved.id)
    assert at.tree["p/new.py"] == File(b"new")


def test_folders_that_got_further_files_stay_and_come_back_whole(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"a"})
    at.apply(Change(creations=(Creation("n/e/w.py", "new"),)))
    (at.ws / "n/foreign").write_bytes(b"")
    undo(at.root, at.state)
    assert {name for name in at.tree if name != "a.py"} == {"n", "n/foreign"}
    (at.ws / "n/e").mkdir()
    undo(at.root, at.state, history(at.state)[0].id)
    assert at.tree["n/e/w.py"] == File(b"new")
    undo(at.root, at.state, history(at.state)[0].id)
    # It was there before the redo, so it is there after the undo of the redo.
    assert "n/e" in at.tree


def test_what_is_old_is_forgotten_but_never_the_newest(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"0" * 100})
    trees: list[Tree] = [at.tree]
    for number in range(1, 8):
        change = Change((at.replacing("a.py", str(number - 1), str(number)),), label=str(number))
        few = replace(at, max_entries=3)
        few.apply(change)
        trees.append(at.tree)
    assert shown(at) == ["7", "6", "5"]
    for expected in (trees[6], trees[5], trees[4]):
        undo(at.root, at.state)
        assert at.tree == expected
    assert len(list(at.state.changes.iterdir())) == len(history(at.state))
    small = replace(at, max_bytes=150)
    small.apply(Change((at.replacing("a.py", "4", "x"),), label="x"))
    assert shown(at) == ["x"]
    assert len(list(at.state.changes.iterdir())) == 1
    tiny = replace(at, max_bytes=0)
    tiny.apply(Change((at.replacing("a.py", "x", "y"),), label="y"))
    assert shown(at) == ["y"]
    undo(at.root, at.state)
    assert at.tree["a.py"] == File(b"x" * 100)


def test_numbers_go_on_after_old_changes_are_forgotten(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"0"})
    for text in "123456789ab":
        written(replace(at, max_entries=1), "a.py", text)
    assert history(at.state)[0].id.startswith("11-")


def test_lost_content_is_said(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"0"})
    written(at, "a.py", "1")
    (record,) = at.state.changes.glob("*.done")
    line, _, content = record.read_bytes().partition(b"\n")
    assert content == b"0"
    for spoilt in (line + b"\n9", line + b"\n", line):
        record.write_bytes(spoilt)
        with pytest.raises(Unavailable, match="has lost what change 1-"):
            undo(at.root, at.state)
        assert at.tree["a.py"] == File(b"1")


def test_a_record_of_the_old_format_is_undone_and_forgotten_with_its_pack(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"0"})
    written(at, "a.py", "1")
    (record,) = at.state.changes.glob("*.done")
    line, _, content = record.read_bytes().partition(b"\n")
    old = {name: value for name, value in json.loads(line).items() if name != "file"} | {"format": 1}
    record.write_bytes(json.dumps(old).encode())
    record.with_suffix(".pack").write_bytes(content)
    undo(at.root, at.state)
    assert at.tree["a.py"] == File(b"0")
    written(replace(at, max_entries=1), "a.py", "2")
    assert [path.suffix for path in at.state.changes.iterdir()] == [".done"]


def test_records_of_another_version_are_not_touched(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"0"})
    written(at, "a.py", "1")
    (record,) = at.state.changes.glob("*.done")
    for text in (b'{"format": 3}', b"{", b""):
        record.write_bytes(text)
        with pytest.raises(Unavailable, match="not written by this version"):
            history(at.state)


def test_each_workspace_has_its_own_state_by_its_real_path(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to("one")
    one, two, link = (
        State.of(tmp_path / "state", Root.of(tmp_path / name)) for name in ("one", "two", "link")
    )
    assert one == link
    assert one.folder != two.folder
    assert one.locks == two.locks
    assert not (tmp_path / "state").exists()
    assert recover(Root.of(tmp_path / "one"), one) == ()
    assert not (tmp_path / "state").exists()


def test_names_that_are_not_text_survive_the_journal(tmp_path: Path) -> None:
    at = bench(tmp_path, {"a.py": b"a"})
    odd = b"\xff.py".decode("utf-8", "surrogateescape")
    try:
        (at.ws / odd).write_bytes(b"x")
    except OSError:
        pytest.skip("this file system wants names that are text")
    old = at.tree
    at.apply(Change((at.replacing(odd, "x", "y"),), (Move(odd, "to/" + odd),)))
    assert at.tree["to/" + odd] == File(b"y")
    undo(at.root, at.state)
    assert at.tree == old
