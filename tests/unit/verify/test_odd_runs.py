"""Runs of tests and checkers that are out of the ordinary: each says what it knows, and none takes half a run for a whole one."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from planting import COULD_NOT_RUN, FAILED, PASSED, planned, verdicts, workspace

from lsptools.errors import Unavailable
from lsptools.verify import ladder
from lsptools.verify.programs import AFTER, BEFORE, Done, Programs
from lsptools.verify.pytest_run import Outcome, TestResult, TestRun
from lsptools.verify.verdict import Problem, Standing
from lsptools.verify.versions import Versions
from lsptools.workspace.change import Move
from lsptools.workspace.process import Ending

APP = "def low(x):\n    return x + 1\n"
TEST = "from app import low\n\n\ndef test_low():\n    assert low(1) == 2\n"
SAME = APP.replace("x + 1", "1 + x")
"""It does what it did."""
WRONG = APP.replace("x + 1", "x + 2")


@dataclass(frozen=True)
class Odd:
    """A project with something odd, a change, and what the rung is to say of it."""

    name: str
    files: Mapping[str, str]
    standing: Standing
    says: str
    new: Mapping[str, str | None] = field(default_factory=lambda: {"app.py": SAME})
    moves: tuple[Move, ...] = ()
    rung: str = "tests"
    limit_s: float = 120.0


OLD_FAILURE = "from app import low\n\n\ndef test_low():\n    assert low(1) == 7\n"
ODD = [
    Odd(
        "a run that a test leaves",
        {
            "test_a.py": TEST,
            "test_b.py": "import pytest\nfrom app import low\n\n\ndef test_b():\n    pytest.exit('enough')\n    assert low\n",
        },
        COULD_NOT_RUN,
        "pytest did not come to its end: enough",
    ),
    Odd(
        "a test that crashes on the new text",
        {"test_a.py": TEST},
        FAILED,
        "a test crashed (exit code 9), and passed on the old text",
        {"app.py": "import os\n\n\n" + APP.replace("return", "os._exit(9)\n    return")},
    ),
    Odd(
        "a test that crashes on both texts",
        {"test_a.py": TEST.replace("assert", "__import__('os')._exit(9)\n    assert")},
        COULD_NOT_RUN,
        "the tests crashed (exit code 9)",
    ),
    Odd(
        "a folder with settings of its own",
        {"part/pytest.ini": "[pytest]\n", "part/tests/test_a.py": TEST},
        PASSED,
        "1 test passed",
    ),
    Odd(
        "a failure there",
        {"part/pytest.ini": "[pytest]\n", "part/tests/test_a.py": TEST},
        FAILED,
        "1 test failed, and passed on the old text",
        {"app.py": WRONG},
    ),
    Odd(
        "a test that is run again by a plugin",
        {
            "test_a.py": TEST,
            "conftest.py": "import copy\n\n\ndef pytest_configure(config):\n    pytest_configure.hook = config.hook\n\n\n"
            "def pytest_runtest_logreport(report):\n    if report.when == 'setup':\n        again = copy.copy(report)\n"
            "        again.when, again.outcome = 'call', 'rerun'\n"
            "        pytest_configure.hook.pytest_runtest_logreport(report=again)\n",
        },
        PASSED,
        "1 test passed",
    ),
    Odd(
        "a failure of the old text in a file that moves",
        {"test_a.py": TEST, "test_old.py": OLD_FAILURE},
        PASSED,
        "1 test passed; 1 test failed on the old text, too",
        {"app.py": SAME},
        (Move("test_old.py", "test_new.py"),),
    ),
    Odd(
        "a failure in a file that the old text could not collect",
        {
            "test_a.py": TEST,
            "test_b.py": "from app import lower\n\n\ndef test_b():\n    assert lower(1) == 7\n",
        },
        COULD_NOT_RUN,
        "1 test failed, and its file could not be collected on the old text",
        {"app.py": APP + "\n\nlower = low\n"},
    ),
    Odd(
        "an old text that pytest does not start on",
        {"test_a.py": OLD_FAILURE, "conftest.py": "from app import lower\n"},
        COULD_NOT_RUN,
        "on the old text: pytest",
        {"app.py": SAME + "\n\nlower = low\n"},
    ),
    Odd(
        "a module that skips itself",
        {
            "test_a.py": TEST,
            "test_b.py": "import pytest\npytest.importorskip('no_such_module')\n"
            + TEST.replace("low():", "b():"),
        },
        PASSED,
        "1 test passed; 1 chosen test did not run: test_b.py::test_b",
    ),
    Odd(
        "a test that skips itself",
        {"test_a.py": TEST + "\n\ndef test_b():\n    import pytest\n    pytest.skip()\n    assert low\n"},
        PASSED,
        "1 test passed; 1 test skipped",
    ),
    Odd(
        "options and a fixture of the cache",
        {
            "test_a.py": "from app import low\n\n\ndef test_low(cache):\n    assert low(1) == 2\n",
            "pytest.ini": "[pytest]\naddopts = --ff\ncache_dir = my_cache\n",
        },
        PASSED,
        "1 test passed",
    ),
    Odd(
        "settings that say what mypy is to look at",
        {
            "a/x.py": "",
            "b/x.py": "",
            "pyproject.toml": "[tool.mypy]\nfiles = ['app.py']\n",
        },
        PASSED,
        "mypy says nothing new",
        rung="types",
    ),
    Odd(
        "a package that the new text misses",
        {
            "check.py": "import app\n",
            "pyproject.toml": "[tool.lsptools]\ntest-command = 'python check.py'\n",
        },
        COULD_NOT_RUN,
        "a package is missing: ModuleNotFoundError: No module named 'no_such_module'",
        {"app.py": "import no_such_module\n" + APP},
        rung="regression",
    ),
    Odd(
        "a command that is pytest and cannot collect",
        {
            "test_a.py": TEST,
            "pyproject.toml": "[tool.lsptools]\ntest-command = 'python -m pytest -q -p no:cacheprovider'\n",
        },
        COULD_NOT_RUN,
        "the command failed with exit code 2",
        {"app.py": APP.replace("low", "lower")},
        rung="regression",
    ),
]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.name)
def test_an_odd_run(odd: Odd, tmp_path: Path) -> None:
    snapshot = workspace(tmp_path / "work", {"app.py": APP, **odd.files})
    versions = planned(snapshot, odd.new, odd.moves)
    verdict = verdicts(versions, tmp_path / "bench", odd.rung, limit_s=odd.limit_s)[odd.rung]
    assert verdict.standing is odd.standing, verdict
    assert odd.says in verdict.says, verdict
    assert verdict.command and verdict.exit_code is not None, verdict
    if odd.standing in (FAILED, COULD_NOT_RUN):
        assert verdict.first_error is not None, verdict


def test_a_search_that_is_given_up_is_one_rung_that_could_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def give_up(_: Versions) -> None:
        raise Unavailable("timed_out", "ripgrep did not come to an end in 60 s")

    monkeypatch.setitem(ladder.READING, "names", give_up)
    versions = planned(workspace(tmp_path / "work", {"app.py": APP}), {"app.py": SAME})
    found = verdicts(versions, tmp_path / "bench", "scope", "names")
    assert {name: each.standing for name, each in found.items()} == {"scope": PASSED, "names": COULD_NOT_RUN}
    assert "ripgrep did not come to an end" in found["names"].says


@pytest.mark.parametrize(
    ("before", "alone", "standing"),
    [
        (Outcome.PASSED, None, FAILED),
        (Outcome.PASSED, Outcome.PASSED, COULD_NOT_RUN),
        (None, None, COULD_NOT_RUN),
    ],
    ids=["it hangs", "it was only its turn", "it hangs on the old text, too"],
)
def test_whose_turn_it_was_when_time_was_over(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    before: Outcome | None,
    alone: Outcome | None,
    standing: Standing,
) -> None:
    """All tests together may take longer than the limit, and the one under way be innocent; so it is asked alone."""
    id = "test_a.py::test_low"
    asked: list[str] = []

    def run(_: Programs, version: str, files: Iterable[str], ids: Iterable[str]) -> TestRun:
        assert (list(files), list(ids)) == (["test_a.py"], [id])
        outcome = (None, before, alone)[len(asked)]
        asked.append(version)
        ending, code = (Ending.TIMED_OUT, None) if outcome is None else (Ending.EXITED, 0)
        results = () if outcome is None else (TestResult(id, outcome, Problem("", 0, 0, "", "")),)
        done = Done(("pytest",), ending, code, "", "", 1.0)
        return TestRun(done, results, (), id if outcome is None else None, outcome is not None)

    monkeypatch.setattr("lsptools.verify.tests.run_tests", run)
    versions = planned(workspace(tmp_path / "work", {"app.py": APP, "test_a.py": TEST}), {"app.py": SAME})
    verdict = verdicts(versions, tmp_path / "bench", "tests")["tests"]
    assert verdict.standing is standing, verdict
    assert asked == [AFTER, BEFORE, AFTER][: 3 if before is Outcome.PASSED else 2]


NO_PLACE = '[{"filename": "\'$PWD\'/app.py", "location": null, "code": "X1", "message": "the whole file"}]'


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a script of the shell")
@pytest.mark.parametrize(
    ("answer", "standing", "error"),
    [
        ("[]", PASSED, ""),
        (NO_PLACE, FAILED, "app.py: the whole file [X1]"),
        ("[{]", COULD_NOT_RUN, "its answer cannot be read"),
        ('{"no": "list"}', COULD_NOT_RUN, "its answer cannot be read"),
    ],
)
def test_odd_answers_of_ruff(tmp_path: Path, answer: str, standing: Standing, error: str) -> None:
    """Of the new text alone."""
    script = f"#!/bin/sh\nif grep -q '1 + x' app.py; then echo '{answer}'; else echo '[]'; fi\n"
    files = {"app.py": APP, "ruff.toml": "", ".venv/pyvenv.cfg": "", ".venv/bin/ruff": script}
    snapshot = workspace(tmp_path / "work", files)
    (tmp_path / "work/.venv/bin/ruff").chmod(0o755)
    verdict = verdicts(planned(snapshot, {"app.py": SAME}), tmp_path / "bench", "lint")["lint"]
    assert verdict.standing is standing, verdict
    assert error in str(verdict.first_error or "")
