"""Only what is new: thousands of old diagnostics stay silent, however lines move and names change."""

from __future__ import annotations

from pathlib import Path

from planting import planned, workspace

from lsptools.verify.delta import new_problems
from lsptools.verify.verdict import Problem
from lsptools.workspace.change import Move

N_OLD = 3_000
TEXT = "".join(f"a{number} = old\n" for number in range(N_OLD))


def problem(line: int, message: str = "wrong", path: str = "a.py", code: str = "x") -> Problem:
    return Problem(path, line, 1, code, message)


def check(folder: Path, new_text: str, before: list[Problem], after: list[Problem], *new: Problem) -> None:
    versions = planned(workspace(folder, {"a.py": TEXT}), {"a.py": new_text})
    assert new_problems(before, after, versions) == new


def test_old_ones_that_moved_are_old(tmp_path: Path) -> None:
    before = [problem(line, f"defined on line {line}") for line in range(1, N_OLD + 1)]
    after = [problem(line + 2, f"defined on line {line + 2}") for line in range(1, N_OLD + 1)]
    check(tmp_path, "\n\n" + TEXT, before, after)


def test_one_more_of_a_kind_is_new(tmp_path: Path) -> None:
    before = [problem(line) for line in range(1, N_OLD + 1)]
    check(tmp_path, TEXT + "b = old\n", before, [*before, problem(N_OLD + 1)], problem(N_OLD + 1))


def test_other_words_at_the_same_place_are_the_same(tmp_path: Path) -> None:
    before = [problem(line, f"`old` of a{line - 1}") for line in range(1, N_OLD + 1)]
    after = [problem(line, f"`new` of a{line - 1}") for line in range(1, N_OLD + 1)]
    check(tmp_path, TEXT.replace("old", "new"), before, after)


def test_another_kind_at_the_same_place_is_new(tmp_path: Path) -> None:
    new = problem(1, "worse", code="y")
    check(tmp_path, TEXT.replace("old", "new", 1), [problem(1)], [new], new)


def test_a_file_that_moved_takes_its_problems_along(tmp_path: Path) -> None:
    versions = planned(workspace(tmp_path, {"a.py": TEXT}), {}, (Move("a.py", "b.py"),))
    assert new_problems([problem(1)], [problem(1, path="b.py")], versions) == ()
