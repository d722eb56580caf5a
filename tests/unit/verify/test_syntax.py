"""What could be read still can: Python's compiler, a second witness, JSON, and the grammars of other languages."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from planting import FAILED, NOT_RUN, PASSED, planned, workspace

from lsptools.syntax.grammars import tree_of
from lsptools.syntax.witness import Witnessed, witnessed
from lsptools.verify import syntax
from lsptools.verify.verdict import Standing

JS = ".js"


@pytest.mark.parametrize(
    ("name", "old", "new", "standing", "says"),
    [
        ("a.py", "x = 1\n", "x = 2\n", PASSED, "1 file can be read"),
        ("a.py", "x = 1\n", "x = (\n", FAILED, "1 of 1 file cannot be read any more"),
        ("a.py", "x = (\n", "x = [\n", NOT_RUN, "could not be read before either"),
        ("a.py", "x = (\n", "x = 1\n", PASSED, "1 file can be read"),
        ("a.py", None, "x = (\n", FAILED, "cannot be read any more"),
        ("a.pyi", "x: int\n", "x: int[\n", FAILED, "cannot be read any more"),
        ("a.json", '{"a": 1}', '{"a": 1,}', FAILED, "cannot be read any more"),
        ("a.json", '{"a": 1}', '{"a": 2}', PASSED, "1 file can be read"),
        ("a.ipynb", '{"cells": []}', '{"cells": [}', FAILED, "cannot be read any more"),
        ("a.json", "// a\n{}", "// b\n{}", NOT_RUN, "could not be read before either"),
        ("a.json", None, "// b\n{}", NOT_RUN, "no Python file differs"),
        ("a.unknown", "(", "((", NOT_RUN, "no Python file differs"),
    ],
)
def test_one_file(
    tmp_path: Path, name: str, old: str | None, new: str, standing: Standing, says: str
) -> None:
    before = {"other.txt": ""} if old is None else {name: old}
    verdict = syntax.check(planned(workspace(tmp_path, before), {name: new}))
    assert verdict.standing is standing and says in verdict.says, verdict


def test_the_place_is_told(tmp_path: Path) -> None:
    versions = planned(workspace(tmp_path, {"a.json": '{\n  "a": 1\n}'}), {"a.json": '{\n  "a" 1\n}'})
    (problem,) = syntax.check(versions).problems
    assert (problem.path, problem.line, problem.column) == ("a.json", 2, 7)


def test_toml_is_read(tmp_path: Path) -> None:
    pytest.importorskip("tomllib", reason="Python 3.11 has it")
    versions = planned(workspace(tmp_path, {"a.toml": "a = 1\n"}), {"a.toml": "a = 1\nb = [\n"})
    (problem,) = syntax.check(versions).problems
    assert (problem.path, problem.line, problem.column) == ("a.toml", 2, 6)


@pytest.mark.skipif(tree_of(JS, b"") is None, reason="the grammar of JavaScript is not installed")
def test_another_language(tmp_path: Path) -> None:
    snapshot = workspace(tmp_path, {"a.js": "f();\n"})
    assert syntax.check(planned(snapshot, {"a.js": "g();\n"})).standing is PASSED
    assert syntax.check(planned(snapshot, {"a.js": "g(;\n"})).standing is FAILED


def test_the_second_witness_is_told_of(tmp_path: Path) -> None:
    pytest.importorskip("libcst", reason="libcst is not installed")
    verdict = syntax.check(planned(workspace(tmp_path, {"a.py": "x = 1\n"}), {"a.py": "x = 2"}))
    assert (
        verdict.covers == "1 Python file as of Python 3.10; 1 file read and written back the same by libcst"
    )


@pytest.mark.parametrize(
    ("said", "covers"),
    [
        (Witnessed.ABSENT, "no second witness (libcst is not installed)"),
        (Witnessed.UNREAD, "1 file not read by libcst"),
        (Witnessed.DIFFERENT, "1 file written back otherwise by libcst"),
    ],
)
def test_a_witness_that_says_no_is_no_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Witnessed, covers: str
) -> None:
    monkeypatch.setattr(syntax, "witnessed", lambda _: said)
    verdict = syntax.check(planned(workspace(tmp_path, {"a.py": "x = 1\n"}), {"a.py": "x = 2\n"}))
    assert verdict.standing is PASSED and verdict.covers.endswith(covers)


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        (b"x = 1\r\n\tif_ = 2", Witnessed.UNREAD),
        (b"\xef\xbb\xbfx = 1\r\n", Witnessed.SAME),
        ("# coding: latin-1\nx = 'é'\n".encode("latin-1"), Witnessed.SAME),
        (b"def f(:\n", Witnessed.UNREAD),
        (b"", Witnessed.SAME),
    ],
)
def test_what_libcst_says(source: bytes, wanted: Witnessed) -> None:
    pytest.importorskip("libcst", reason="libcst is not installed")
    assert witnessed(source) is wanted


NEWER = f'[project]\nrequires-python = ">=3.{sys.version_info[1] + 5}"\n'


@pytest.mark.parametrize(
    ("said", "standing"),
    [
        (lambda _: Witnessed.SAME, PASSED),
        (lambda _: Witnessed.ABSENT, FAILED),
        (lambda _: Witnessed.UNREAD, FAILED),
    ],
    ids=["read", "absent", "unread"],
)
def test_where_python_is_newer_than_ours_grammar_and_witness_decide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Callable[[bytes], Witnessed], standing: Standing
) -> None:
    """Only what both do not read is refused."""
    snapshot = workspace(tmp_path, {"a.py": "x = 1\n", "pyproject.toml": NEWER})
    monkeypatch.setattr(
        syntax, "witnessed", lambda source: said(source) if b"(" in source else Witnessed.SAME
    )
    assert syntax.check(planned(snapshot, {"a.py": "x = (\n"})).standing is standing
