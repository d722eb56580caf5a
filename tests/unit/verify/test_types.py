"""What each type checker says is understood: from what it has once said, and from the program itself where it is installed."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from planting import COULD_NOT_RUN, FAILED, PASSED, planned, workspace

from lsptools.verify.ladder import Means, climb
from lsptools.verify.programs import Done
from lsptools.verify.types import CHECKERS, Unreadable, in_code_points
from lsptools.verify.verdict import Problem, Verdict
from lsptools.workspace.process import Ending

SAID = Path(__file__).parent / "said"
TEXT = (
    "from nonesuch import thing\n\n\ndef length(text: str) -> int:\n    return text.missing + 1\n\n\n"
    'one: int = "😀"; two: int = "é"; three = thing\nunknown_name\nreveal_type(one)\n'
)
"""What was checked to record the answers, as `pkg/a.py` in `/project`."""
FIRST = (8, 12)
WANTED: Mapping[str, tuple[tuple[int, int, str, str], ...]] = {
    "mypy": (
        (1, 1, "import-not-found", "Cannot find implementation or library stub"),
        (5, 12, "attr-defined", '"str" has no attribute "missing"'),
        (*FIRST, "assignment", "Incompatible types in assignment"),
        (9, 1, "name-defined", 'Name "unknown_name" is not defined'),
    ),
    "ty": (
        (1, 6, "import-not-found", "Cannot resolve imported module `nonesuch`"),
        (5, 12, "missing-attribute", "Object of type `str` has no attribute `missing`"),
        (*FIRST, "invalid-assignment", 'Object of type `Literal["😀"]` is not assignable to `int`'),
        (8, 28, "invalid-assignment", 'Object of type `Literal["é"]` is not assignable to `int`'),
        (9, 1, "unresolved-reference", "Name `unknown_name` used when not defined"),
    ),
    "pyrefly": (
        (1, 1, "missing-import", "Cannot find module `nonesuch`"),
        (5, 12, "missing-attribute", "Object of class `str` has no attribute `missing`"),
        (*FIRST, "bad-assignment", "`Literal['😀']` is not assignable to `int`"),
        (8, 28, "bad-assignment", "`Literal['é']` is not assignable to `int`"),
        (9, 1, "unknown-name", "Could not find name `unknown_name`"),
        (10, 1, "unimported-directive", "`reveal_type` must be imported"),
    ),
}
PYRIGHT = (
    (1, 6, "reportMissingImports", 'Import "nonesuch" could not be resolved'),
    (5, 17, "reportAttributeAccessIssue", 'Cannot access attribute "missing" for class "str"'),
    (*FIRST, "reportAssignmentType", 'Type "Literal[\'😀\']" is not assignable to declared type "int"'),
    (8, 28, "reportAssignmentType", 'Type "Literal[\'é\']" is not assignable to declared type "int"'),
    (9, 1, "reportUndefinedVariable", '"unknown_name" is not defined'),
)


def said(name: str, out: str, folder: str = "/project") -> list[Problem]:
    done = Done((name,), Ending.FAILED, 1, out, "", 1.0)
    return list(CHECKERS[name].problems(done, folder))


@pytest.mark.parametrize("name", sorted(CHECKERS))
def test_an_answer_that_was_recorded(name: str, tmp_path: Path) -> None:
    """Only errors count; columns are code points, whatever the checker counts in; messages are one line."""
    snapshot = workspace(tmp_path, {"pkg/a.py": TEXT})
    problems = said(name, (SAID / f"{name}.txt").read_text("utf-8"))
    if CHECKERS[name].counts_utf16:
        problems = [in_code_points(each, snapshot) for each in problems]
    wanted = WANTED.get(name, PYRIGHT)
    assert [(each.path, each.line, each.column, each.code) for each in problems] == [
        ("pkg/a.py", *place) for *place, _ in wanted
    ]
    for problem, (*_, message) in zip(problems, wanted, strict=True):
        assert problem.message.startswith(message) and "\n" not in problem.message


@pytest.mark.parametrize("name", ["basedpyright", "pyright"])
def test_words_around_the_answer_do_not_matter(name: str) -> None:
    text = (SAID / f"{name}.txt").read_text("utf-8")
    assert said(name, f"WARNING: there is a new version\n{text}\nbye\n") == said(name, text)


def test_an_answer_that_follows_links(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    text = (SAID / "pyright.txt").read_text("utf-8").replace("/project", str(tmp_path / "real"))
    assert {each.path for each in said("pyright", text, str(tmp_path / "link"))} == {"pkg/a.py"}


@pytest.mark.parametrize(
    ("name", "nothing"),
    [
        ("mypy", ""),
        ("mypy", "Success: no issues found in 1 source file\n"),
        ("ty", "[]"),
        ("ty", ""),
        ("pyrefly", '{"errors": []}'),
        ("pyright", '{"generalDiagnostics": []}'),
    ],
)
def test_nothing_to_say(name: str, nothing: str) -> None:
    assert said(name, nothing) == []


@pytest.mark.parametrize("name", sorted(set(CHECKERS) - {"mypy"}))
@pytest.mark.parametrize("out", ["no JSON", '{"other": 1}', "[1]", "null"])
def test_what_is_no_answer_is_said_to_be_none(name: str, out: str) -> None:
    with pytest.raises((ValueError, KeyError, TypeError, Unreadable)):
        said(name, out)


SETTINGS = {
    "mypy": ("mypy.ini", "[mypy]\n"),
    "ty": ("ty.toml", "[rules]\n"),
    "pyrefly": ("pyrefly.toml", 'project-includes = ["*.py"]\n'),
    "basedpyright": ("pyproject.toml", '[tool.basedpyright]\ntypeCheckingMode = "standard"\n'),
    "pyright": ("pyrightconfig.json", "{}\n"),
}
APP = "def half(number: int) -> int:\n    return number // 2\n\n\n" + "".join(
    f"old_{n}: int = 'é'\n" for n in range(30)
)


def found_by(name: str, folder: Path, new: str) -> Verdict:
    """With the program in the environment of the tests, or on PATH."""
    here = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    if not shutil.which(name, path=here):
        pytest.skip(f"{name} is not installed")
    snapshot = workspace(folder / "work", {"app.py": APP, SETTINGS[name][0]: SETTINGS[name][1]})
    means = Means(folder / "bench", {**os.environ, "VIRTUAL_ENV": sys.prefix, "PATH": here}, 120.0)
    (verdict, *_) = [
        each
        for each in climb(planned(snapshot, {"app.py": new}), ("types",), means).verdicts
        if each.rung == "types"
    ]
    return verdict


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CHECKERS))
def test_the_program_itself(name: str, tmp_path: Path) -> None:
    same = found_by(name, tmp_path / "same", "import os\n\n\n" + APP)
    assert same.standing is PASSED and same.covers == f"the whole project with {name}: 30 before, 30 after", (
        same
    )
    worse = found_by(name, tmp_path / "worse", APP.replace("// 2", "/ 2"))
    assert worse.standing is FAILED and [(each.path, each.line) for each in worse.problems] == [("app.py", 2)]


def test_a_checker_that_is_configured_and_not_installed_could_not_run(tmp_path: Path) -> None:
    snapshot = workspace(tmp_path / "work", {"app.py": APP, "pyrefly.toml": ""})
    means = Means(tmp_path / "bench", {"PATH": ""}, 60.0, python="/nowhere/python")
    (verdict,) = [
        each
        for each in climb(planned(snapshot, {"app.py": APP + "\n"}), ("types",), means).verdicts
        if each.rung == "types"
    ]
    assert verdict.standing is COULD_NOT_RUN and "pyrefly, which is not installed" in verdict.says


def test_the_records_are_whole() -> None:
    assert {path.stem for path in SAID.iterdir()} == set(CHECKERS)
    assert json.loads((SAID / "pyright.txt").read_text("utf-8"))["summary"]["errorCount"] == len(PYRIGHT)
