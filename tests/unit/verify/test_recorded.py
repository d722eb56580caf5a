"""The choice of tests where coverage.py has recorded which test ran which line."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
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


def check(
    folder: Path,
    old: str,
    new: str,
    *wanted: str,
    is_recorded: bool = True,
    files: Mapping[str, str] = FILES,
    newer: str = "",
) -> None:
    """Which tests are chosen for a change of one of the files, of which one may be `newer` than the record."""
    snapshot = workspace(folder, files)
    for each in files:
        os.utime(folder / each, (2e9, 2e9) if each == newer else (1e9, 1e9))
    os.utime(folder / ".coverage", (1.5e9, 1.5e9))
    path = next(path for path in files if old in files[path])
    found = select(planned(snapshot, {path: files[path].replace(old, new)}))
    assert (set(found.ids), found.is_recorded) == (
        {each if "/" in each else T + each for each in wanted},
        is_recorded,
    )


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
    assert recorded(Snapshot(Root.of(tmp_path)), FILES) is None


NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 30000)"
"""As many rows as a file likes, of a few bytes; a true one has as many of these as it has lines."""
HOSTILE = {
    "files": f"DROP TABLE file; CREATE VIEW file AS {NUMBERS} SELECT i AS id, 'app.py' AS path FROM n;",
    "contexts": f"DROP TABLE context; CREATE VIEW context AS {NUMBERS} SELECT i AS id, 't' || i AS context FROM n;",
    "lines": f"DROP TABLE line_bits; CREATE VIEW line_bits AS {NUMBERS} SELECT 1 AS file_id, 1 AS context_id, x'04' AS numbits FROM n;",
    "arcs": f"CREATE VIEW arc AS {NUMBERS} SELECT 1 AS file_id, 1 AS context_id, i AS fromno, 1 AS tono FROM n;",
    "rows that never come": f"CREATE VIEW arc AS {NUMBERS} SELECT 1 AS file_id, 1 AS context_id, 1 AS fromno, 1 AS tono FROM n WHERE i < 0;",
    "a long value": "INSERT INTO line_bits VALUES (1, 1, zeroblob(300000));",
    "a long value of a file that is not asked for": "INSERT INTO line_bits VALUES (2, 1, zeroblob(300000));",
    "many long values": "INSERT INTO line_bits VALUES (1, 1, zeroblob(9000)), (1, 1, zeroblob(9000)), (2, 1, zeroblob(9000));",
    "a far line": "INSERT INTO arc VALUES (1, 1, 2400000, 1);",
    "a line beyond all measure": "INSERT INTO arc VALUES (1, 1, 1099511627776, 1);",
    "many far lines": "INSERT INTO arc VALUES (1, 1, 90000, 1), (1, 2, 90000, 1), (1, 3, 90000, 1);",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_record_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """Each is a whole record but for one thing, which is small here, as the bounds are; so it is the bound that ends it."""
    monkeypatch.setattr("lsptools.verify.recorded.MOST_ROWS", 20_000)
    monkeypatch.setattr("lsptools.verify.recorded.MOST_FILES", 20_000)
    if what.startswith("many"):
        monkeypatch.setattr("lsptools.verify.recorded.MOST_BYTES", 20_000)
    if what == "rows that never come":
        monkeypatch.setattr("lsptools.verify.recorded.MOST_STEPS", 200_000)
    snapshot = workspace(tmp_path, FILES)
    record(tmp_path, {**BY_TEST, "other.py": {"": {1}}})
    assert recorded(snapshot, FILES) is not None
    with closing(sqlite3.connect(tmp_path / ".coverage")) as data, data:
        if "VIEW arc" in HOSTILE[what]:
            data.execute("DROP TABLE arc")
        data.executescript(HOSTILE[what])
    assert recorded(snapshot, FILES) is None


def test_a_big_record_is_read_in_time(tmp_path: Path) -> None:
    """A thousand tests that each run ten thousand lines of a file, and of one that nobody asks for."""
    snapshot = workspace(tmp_path, FILES)
    lines = set(range(1, 10_000))
    big = {name: {f"{T}test_{number}|run": lines for number in range(1000)} for name in ("app.py", "b.py")}
    record(tmp_path, big)
    began = time.process_time()
    found = recorded(snapshot, {"app.py"})
    assert time.process_time() - began < 2
    assert found is not None and set(found.lines) == {"app.py"}
    assert found.sizes == {f"{T}test_{number}|run": 2 * len(lines) for number in range(1000)}


def test_a_test_that_is_gone_is_not_chosen(tmp_path: Path) -> None:
    """By its name, in a file that is there; nor is one of a class without it, or of a class that is gone."""
    gone = ("test_gone", "TestMore::test_gone", "TestGone::test_one")
    ran = {f"{T}{each}|run": {2, 4} for each in ("test_one", *gone)}
    record(tmp_path, {"app.py": {**ran, f"{T}test_two|run": {8}, f"{T}TestMore::test_three|run": {8}}})
    check(tmp_path, "return x\n", "return -x\n", "test_one")


def test_tests_that_are_inherited_or_imported_are_there(tmp_path: Path) -> None:
    base = "class Low:\n    def test_low(self):\n        pass\n\n\nclass Lower(Low):\n    pass\n\n\ndef test_shared():\n    pass\n"
    tests = "from shared import Lower, Low, test_shared\n\n\nclass TestLower(Lower):\n    pass\n\n\ntest_made = print\n"
    there = ("TestLower::test_low", "Low::test_low", "test_shared", "test_made")
    gone = ("TestLower::test_shared", "Lowest::test_low", "test_low")
    record(tmp_path, {"app.py": {f"{T}{each}|run": {2, 4} for each in (*there, *gone)}})
    files = {"app.py": APP, "shared.py": base, "tests/test_app.py": tests}
    check(tmp_path, "return x\n", "return -x\n", *there, files=files)


OTHERS = "tests/test_others.py::test_others"
ONE_DOOR = {
    "app.py": APP,
    "door.py": "from app import low\n\n\ndef enter(x):\n    return low(x)\n",
    "tests/test_app.py": "from door import enter\n\n\ndef test_one():\n    assert enter(1)\n\n\ndef test_two():\n    assert enter(2)\n",
    "tests/test_others.py": "from app import low\n\n\ndef test_others():\n    assert low(1)\n",
}
OF_ONE_DOOR: Lines = {
    "app.py": {f"{T}test_one|run": {2, 4}},
    "door.py": {
        f"{T}test_one|run": {5},
        f"{T}test_two|run": {5},
    },
    "tests/test_others.py": {f"{OTHERS}|run": {5}},
}


@pytest.mark.parametrize(
    ("newer", "wanted"),
    [
        ("", ["test_one"]),
        ("app.py", ["test_one"]),
        ("tests/test_app.py", ["test_one", "test_two"]),
        ("tests/test_others.py", ["test_one", OTHERS]),
        ("door.py", ["test_one", "test_two"]),
    ],
)
def test_of_a_test_that_may_have_changed_the_record_is_not_the_last_word(
    tmp_path: Path, newer: str, wanted: list[str]
) -> None:
    """By the record `test_two` does not come to `low`; by now it may, if it or what it ran is newer."""
    record(tmp_path, OF_ONE_DOOR)
    check(tmp_path, "return x\n", "return -x\n", *wanted, files=ONE_DOOR, newer=newer)


def test_a_test_whose_own_file_is_touched_beside_is_asked_anew(tmp_path: Path) -> None:
    snapshot = workspace(tmp_path, ONE_DOOR)
    record(tmp_path, OF_ONE_DOOR)
    os.utime(tmp_path / ".coverage", (2e9, 2e9))
    tests = ONE_DOOR["tests/test_app.py"].replace("import enter", "import enter as enter")
    new = {"app.py": APP.replace("return x\n", "return -x\n"), "tests/test_app.py": tests}
    assert set(select(planned(snapshot, new)).ids) == {f"{T}test_one", f"{T}test_two"}


def test_many_tests_are_told_apart_in_time(tmp_path: Path) -> None:
    """Half of them reach the change and are not in the record, which knows as many others."""
    n_tests = 2000
    tests = "from app import low\n" + "".join(f"def test_{n}():\n    low({n})\n" for n in range(2 * n_tests))
    record(tmp_path, {"app.py": {f"{T}test_{n}|run": {4 if n == 1 else 8} for n in range(n_tests)}})
    snapshot = workspace(tmp_path, {"app.py": APP, "tests/test_app.py": tests})
    os.utime(tmp_path / ".coverage", (2e9, 2e9))
    versions = planned(snapshot, {"app.py": APP.replace("return x\n", "return -x\n")})
    began = time.process_time()
    found = select(versions)
    assert time.process_time() - began < 3
    assert found.is_recorded and found.n_reaching == n_tests + 1


def test_a_record_outside_of_the_workspace_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    record(tmp_path / "elsewhere", BY_TEST)
    workspace(tmp_path / "work", FILES)
    (tmp_path / "work" / ".coverage").symlink_to(tmp_path / "elsewhere" / ".coverage")
    assert recorded(Snapshot(Root.of(tmp_path / "work")), FILES) is None


def test_the_program_itself(tmp_path: Path) -> None:
    """Recorded by coverage.py, if it is installed here."""
    pytest.importorskip("coverage", reason="coverage.py is not installed")
    snapshot = workspace(tmp_path, {**FILES, ".coveragerc": "[run]\ndynamic_context = test_function\n"})
    command = [sys.executable, "-m", "coverage", "run", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    found = recorded(snapshot, FILES)
    assert isinstance(found, Recorded) and found.is_of("app.py", snapshot.document("app.py"))
    check(tmp_path, "return 2", "return 3", "test_one", "test_two")
