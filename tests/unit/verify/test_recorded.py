"""The choice of tests where coverage.py has recorded which test ran which line."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest
from planting import planned, workspace

from lsptools.verify.recorded import Recorded, recorded
from lsptools.verify.selection import select
from lsptools.workspace.paths import Root
from lsptools.workspace.snapshot import Snapshot

APP = "def low(x):\n    if x > 1:\n        return 2\n    return x\n\n\ndef through(name, x):\n    return globals().get(name, str)(x)\n"
TESTS = (
    "from app import through\n\n\ndef test_one():\n    assert through('low', 1) == 1\n\n\n"
    "def test_two():\n    assert through('low', 5) == 2\n\n\nclass TestMore:\n    def test_three(self):\n"
    "        assert through('str', 3) == '3'\n"
)
FILES = {"app.py": APP, "tests/test_app.py": TESTS}
T = "tests/test_app.py::"
Lines = Mapping[str, Mapping[str, set[int]]]
BY_TEST: Lines = {
    "app.py": {
        "": {1, 7},
        f"{T}test_one|run": {2, 4, 8},
        f"{T}test_two|run": {2, 3, 8},
        f"{T}TestMore::test_three|run": {8},
    }
}


def numbits(lines: set[int]) -> bytes:
    bits = bytearray(max(lines) // 8 + 1)
    for line in lines:
        bits[line // 8] |= 1 << line % 8
    return bytes(bits)


def record(folder: Path, lines: Lines, *, with_arcs: bool = False) -> None:
    """A file as coverage.py 7 makes it, as far as it is read."""
    with closing(sqlite3.connect(folder / ".coverage")) as data, data:
        data.executescript(
            "CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT);"
            "CREATE TABLE context (id INTEGER PRIMARY KEY, context TEXT);"
            "CREATE TABLE line_bits (file_id INTEGER, context_id INTEGER, numbits BLOB);"
            "CREATE TABLE arc (file_id INTEGER, context_id INTEGER, fromno INTEGER, tono INTEGER);"
        )
        for path, by_context in lines.items():
            file = data.execute("INSERT INTO file (path) VALUES (?)", (str(folder / path),)).lastrowid
            for context, ran in by_context.items():
                number = data.execute("INSERT INTO context (context) VALUES (?)", (context,)).lastrowid
                if with_arcs:
                    data.executemany(
                        "INSERT INTO arc VALUES (?, ?, ?, -1)", [(file, number, line) for line in ran]
                    )
                else:
                    data.execute("INSERT INTO line_bits VALUES (?, ?, ?)", (file, number, numbits(ran)))


def check(folder: Path, old: str, new: str, *wanted: str, is_recorded: bool = True) -> None:
    snapshot = workspace(folder, FILES)
    path = next(path for path in FILES if old in FILES[path])
    found = select(planned(snapshot, {path: FILES[path].replace(old, new)}))
    assert (set(found.ids), found.is_recorded) == ({T + each for each in wanted}, is_recorded)


@pytest.mark.parametrize("with_arcs", [False, True])
def test_those_that_ran_the_function_are_chosen(tmp_path: Path, with_arcs: bool) -> None:
    record(tmp_path, BY_TEST, with_arcs=with_arcs)
    check(tmp_path, "return 2", "return 3", "test_one", "test_two")


def test_those_that_ran_the_line_come_first(tmp_path: Path) -> None:
    from lsptools.verify.by_record import known_by_record
    from lsptools.verify.mention_graph import indexed

    record(tmp_path, BY_TEST)
    versions = planned(workspace(tmp_path, FILES), {"app.py": APP.replace("return 2", "return 3")})
    known = known_by_record(versions, indexed(versions.after), {("app.py", "low")})
    assert known is not None and known.ran == (f"{T}test_two", f"{T}test_one")
    assert known.tests == {f"{T}test_one", f"{T}test_two", f"{T}TestMore::test_three"}


def test_names_with_points_are_tests_too(tmp_path: Path) -> None:
    """As `dynamic_context = test_function` writes them."""
    record(
        tmp_path,
        {"app.py": {"": {1, 7}, "tests.test_app.test_two": {2, 3}, "test_app.TestMore.test_three": {8}}},
    )
    check(tmp_path, "return globals()", "return (globals())", "TestMore::test_three", "test_one")


def test_without_contexts_the_graph_answers(tmp_path: Path) -> None:
    record(tmp_path, {"app.py": {"": {1, 2, 3, 4, 7, 8}}})
    check(
        tmp_path,
        "return globals()",
        "return (globals())",
        "test_one",
        "test_two",
        "TestMore::test_three",
        is_recorded=False,
    )


def test_tests_that_are_not_in_the_record_are_found_by_the_graph(tmp_path: Path) -> None:
    record(tmp_path, {"app.py": {f"{T}test_one[a-1]|run": {2, 4, 8}}})
    check(tmp_path, "return globals()", "return (globals())", "test_one", "test_two", "TestMore::test_three")


def test_a_record_of_another_text_is_not_believed(tmp_path: Path) -> None:
    record(tmp_path, {"app.py": {f"{T}test_one|run": {2, 5}}})
    check(
        tmp_path,
        "return globals()",
        "return (globals())",
        "test_one",
        "test_two",
        "TestMore::test_three",
        is_recorded=False,
    )


def test_a_record_of_the_new_text_is_believed(tmp_path: Path) -> None:
    record(tmp_path, {"app.py": {f"{T}test_one|run": {4, 10}, f"{T}TestMore::test_three|run": {10}}})
    check(tmp_path, "def low(x):\n", "def low(x):\n    x = x\n\n", "test_one", "test_two")


def test_a_test_that_is_changed_is_chosen(tmp_path: Path) -> None:
    record(tmp_path, BY_TEST)
    check(
        tmp_path,
        "through('str', 3) == '3'",
        "through('str', 4) == '4'",
        "TestMore::test_three",
        is_recorded=False,
    )


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 200])
def test_what_is_no_record_is_none(tmp_path: Path, content: bytes) -> None:
    workspace(tmp_path, FILES)
    (tmp_path / ".coverage").write_bytes(content)
    assert recorded(Snapshot(Root.of(tmp_path))) is None


def test_a_hostile_record_ends(tmp_path: Path) -> None:
    workspace(tmp_path, FILES)
    with closing(sqlite3.connect(tmp_path / ".coverage")) as data, data:
        data.executescript(
            "CREATE VIEW file AS WITH RECURSIVE n(id, path) AS (SELECT 1, 'x' UNION ALL SELECT id + 1, 'x' FROM n) SELECT * FROM n;"
        )
    assert recorded(Snapshot(Root.of(tmp_path))) is None


def test_a_record_outside_of_the_workspace_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    record(tmp_path / "elsewhere", BY_TEST)
    workspace(tmp_path / "work", FILES)
    (tmp_path / "work" / ".coverage").symlink_to(tmp_path / "elsewhere" / ".coverage")
    assert recorded(Snapshot(Root.of(tmp_path / "work"))) is None


def test_the_program_itself(tmp_path: Path) -> None:
    """Recorded by coverage.py, if it is installed here."""
    pytest.importorskip("coverage", reason="coverage.py is not installed")
    snapshot = workspace(tmp_path, {**FILES, ".coveragerc": "[run]\ndynamic_context = test_function\n"})
    command = [sys.executable, "-m", "coverage", "run", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    found = recorded(snapshot)
    assert isinstance(found, Recorded) and found.is_of("app.py", snapshot.document("app.py"))
    check(tmp_path, "return 2", "return 3", "test_one", "test_two")
