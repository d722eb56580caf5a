"""How the lines of a program end makes no difference to what a refactoring does, and its result ends them in the same way.

Each case of a move or a signature is done again with other line ends in all of its Python files.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import casefile
import pytest
from casefaces import FACES, Place
from casefile import Case, File, Tree, read_tree, write_tree

CASES = Path(__file__).parents[1] / "cases" / "python"
FOLDERS = ("move", "signature")


def cases() -> dict[str, Case]:
    """The cases whose Python files have plain line ends, by name."""
    paths = [path for folder in FOLDERS for path in sorted((CASES / folder).glob("*.case"))]
    found = {
        f"{path.parent.name}/{path.stem}": casefile.parse(path.read_bytes().decode("utf-8")) for path in paths
    }
    return {
        name: case for name, case in found.items() if not any(map(has_return, casefile.before(case).values()))
    }


def has_return(entry: object) -> bool:
    return isinstance(entry, File) and b"\r" in entry.data


def with_ends(tree: Tree, end: bytes) -> Tree:
    """The tree with these line ends in its Python files."""
    return {
        name: replace(entry, data=entry.data.replace(b"\n", end))
        if isinstance(entry, File) and name.endswith((".py", ".pyi"))
        else entry
        for name, entry in tree.items()
    }


def after(case: Case, end: bytes, folder: Path) -> tuple[Tree, list[tuple[int, str | None, str]]]:
    """What the steps leave behind, and what they say."""
    at = Place.below(folder)
    write_tree(at.root, with_ends(casefile.before(case), end))
    said = []
    for step in case.steps:
        outcome = FACES[0].run(casefile.arguments(case, step), at)
        said.append((outcome.exit, outcome.error_kind, outcome.err))
    return read_tree(at.root), said


CHOSEN = cases()


@pytest.mark.slow
@pytest.mark.parametrize("end", [b"\r\n", b"\r"], ids=["crlf", "cr"])
@pytest.mark.parametrize("name", CHOSEN)
def test_line_ends_make_no_difference(name: str, end: bytes, tmp_path: Path) -> None:
    plain, said = after(CHOSEN[name], b"\n", tmp_path / "plain")
    other, said_of_other = after(CHOSEN[name], end, tmp_path / "other")
    assert said_of_other == said
    assert other == with_ends(plain, end)
