"""A server's edit becomes bytes: positions count UTF-16 units, and what was not asked for stays."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.real_renames.answers import BadEdit, Tree, difference, edited, from_workspace_edit

ROOT = Path("/project")


def edit(line: int, start: int, end: int, new: str) -> dict[str, Any]:
    """Line and characters from 0."""
    places = ({"line": line, "character": start}, {"line": line, "character": end})
    return {"range": {"start": places[0], "end": places[1]}, "newText": new}


def uri(path: str) -> str:
    return (ROOT / path).as_uri()


def check(before: Tree, workspace_edit: dict[str, Any], after: Tree) -> None:
    answer = from_workspace_edit(before, ROOT, workspace_edit)
    result = {path: content for path, content in before.items() if path not in answer.deleted}
    assert {**result, **answer.written} == after
    assert answer.digest == difference(before, after).digest
    assert not set(answer.written) & answer.deleted


@pytest.mark.parametrize(
    ("before", "edits", "after"),
    [
        pytest.param(
            "a = '💚'; a\n", [edit(0, 10, 11, "bb")], "a = '💚'; bb\n", id="a surrogate pair is two"
        ),
        pytest.param("é = a\n", [edit(0, 4, 5, "bb")], "é = bb\n", id="two bytes are one"),
        pytest.param("a\r\na\r\n", [edit(1, 0, 1, "bb")], "a\r\nbb\r\n", id="line ends stay"),
        pytest.param("x\fy\x85z\na", [edit(1, 0, 1, "bb")], "x\fy\x85z\nbb", id="only line ends end lines"),
        pytest.param("\ufeffa = 1\n", [edit(0, 0, 1, "bb")], "\ufeffbb = 1\n", id="the mark is no column"),
        pytest.param("a a\n", [edit(0, 2, 3, "bb"), edit(0, 0, 1, "bb")], "bb bb\n", id="in any order"),
        pytest.param("a a\n", [edit(0, 0, 1, "bb"), edit(0, 0, 1, "bb")], "bb a\n", id="said twice"),
        pytest.param("a", [edit(0, 1, 1, "!"), edit(5, 0, 0, "")], "a!", id="past the end"),
    ],
)
def test_edits_of_a_file(before: str, edits: list[dict[str, Any]], after: str) -> None:
    assert edited(before.encode(), edits) == after.encode()


def test_bytes_that_are_no_text_stay() -> None:
    assert edited(b"# \xff\xfe\na\n", [edit(1, 0, 1, "bb")]) == b"# \xff\xfe\nbb\n"


def test_edits_that_overlap_mean_nothing() -> None:
    with pytest.raises(BadEdit, match="overlap"):
        edited(b"abcd\n", [edit(0, 0, 3, "x"), edit(0, 2, 4, "y")])


def test_changes() -> None:
    changes = {
        uri("a.py"): [edit(0, 0, 1, "b")],
        uri("sub/c%20d.py".replace("%20", " ")): [edit(0, 0, 1, "b")],
    }
    check(
        {"a.py": b"a\n", "sub/c d.py": b"a\n", "z.py": b"a\n"},
        {"changes": changes},
        {"a.py": b"b\n", "sub/c d.py": b"b\n", "z.py": b"a\n"},
    )


def test_document_changes_come_before_changes() -> None:
    step = {"textDocument": {"uri": uri("a.py"), "version": 1}, "edits": [edit(0, 0, 1, "b")]}
    both = {"documentChanges": [step], "changes": {uri("a.py"): [edit(0, 0, 1, "c")]}}
    check({"a.py": b"a\n"}, both, {"a.py": b"b\n"})


def test_a_file_moves_after_it_was_edited() -> None:
    steps = [
        {"textDocument": {"uri": uri("a.py"), "version": 1}, "edits": [edit(0, 0, 1, "b")]},
        {"kind": "rename", "oldUri": uri("a.py"), "newUri": uri("b.py")},
    ]
    check({"a.py": b"a\n"}, {"documentChanges": steps}, {"b.py": b"b\n"})


def test_a_folder_moves_with_all_that_is_in_it() -> None:
    steps = [
        {"kind": "rename", "oldUri": uri("p"), "newUri": uri("q")},
        {"textDocument": {"uri": uri("q/a.py"), "version": 1}, "edits": [edit(0, 0, 1, "b")]},
    ]
    before = {"p/a.py": b"a\n", "p/r/c.py": b"c\n", "pp/a.py": b"a\n"}
    check(before, {"documentChanges": steps}, {"q/a.py": b"b\n", "q/r/c.py": b"c\n", "pp/a.py": b"a\n"})
    assert from_workspace_edit(before, ROOT, {"documentChanges": steps}).moves["p/a.py"] == "q/a.py"


@pytest.mark.parametrize(
    "workspace_edit",
    [
        pytest.param({"changes": {"file:///elsewhere/a.py": [edit(0, 0, 1, "b")]}}, id="another project"),
        pytest.param({"changes": {uri("../project2/a.py"): [edit(0, 0, 1, "b")]}}, id="upwards"),
        pytest.param({"changes": {uri("missing.py"): [edit(0, 0, 1, "b")]}}, id="a file that is not there"),
    ],
)
def test_edits_of_other_files_are_faults(workspace_edit: dict[str, Any]) -> None:
    with pytest.raises(BadEdit):
        from_workspace_edit({"a.py": b"a\n"}, ROOT, workspace_edit)


def test_no_edits_are_no_answer() -> None:
    assert not from_workspace_edit({"a.py": b"a\n"}, ROOT, {})
    assert not from_workspace_edit({"a.py": b"a\n"}, ROOT, {"changes": {uri("a.py"): [edit(0, 0, 1, "a")]}})
