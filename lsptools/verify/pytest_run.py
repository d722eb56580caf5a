"""Running tests with the project's pytest, and what came of each: the one place that knows pytest."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from lsptools.verify.programs import Done, Programs
from lsptools.verify.verdict import Problem

_WHOLE = (0, 1, 5)
"""The exit codes of a whole run: all passed, some failed, none was there."""
_NOT_STARTED = (3, 4)
"""An error of pytest or a plugin, or of its options and of conftest files."""
_COMPLAINT = re.compile(
    r"^(?:E +|!+ (?:_pytest\.outcomes\.Exit: )?|INTERNALERROR> (?=[\w.]+(?:Error|Exception)\b)|.*?\berror: )(.+?)(?: !+)?$",
    re.MULTILINE,
)
PLUGIN = Path(__file__).parent / "plugin"


class Outcome(str, Enum):
    """What came of one test."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    LACKING = "lacking"
    """It needs a package that is not installed."""


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test that was run; with parameters, one of several of its name."""

    __test__ = False  # what pytest takes for a test, by its name

    id: str
    outcome: Outcome
    problem: Problem
    """Where and what, if it did not pass."""


@dataclass(frozen=True, slots=True)
class TestRun:
    """One run of pytest."""

    __test__ = False

    done: Done
    results: tuple[TestResult, ...]
    uncollected: tuple[Problem, ...]
    """Files that could not be collected."""
    unfinished: str | None
    """The test that was under way when the time was over, or pytest crashed."""
    has_ended: bool
    """Whether pytest came to its end; otherwise it could not be started, crashed, or was ended."""

    def with_outcome(self, outcome: Outcome) -> tuple[TestResult, ...]:
        return tuple(result for result in self.results if result.outcome is outcome)

    @property
    def lack(self) -> str | None:
        """Why nothing was run, if nothing was, or not all for a reason that no test has."""
        if self.done.is_timed_out or self.unfinished is not None:
            return None
        if "No module named pytest" in self.done.err:
            return "pytest is not installed in the project's environment"
        if self.done.exit_code in _NOT_STARTED:
            return f"pytest: {_complaint(self.done)}"
        if not self.has_ended or self.done.exit_code not in _WHOLE:
            return f"pytest did not come to its end: {_complaint(self.done)}"
        return None


def is_missing(message: str, folder: str) -> bool:
    """Whether an error is that a module is not installed; one that is in the folder is not missing but broken."""
    if not message.startswith(_MISSING):
        return False
    name = message.partition("'")[2].partition("'")[0].partition(".")[0]
    return not any(
        (Path(folder) / place / each).exists() for place in ("", "src") for each in (name, f"{name}.py")
    )


_MISSING = "ModuleNotFoundError: No module named"


def _complaint(done: Done) -> str:
    """What pytest says of why it did not run or go on; otherwise its last words."""
    found = _COMPLAINT.search(done.err) or _COMPLAINT.search(done.out)
    return found[1].strip()[:300] if found is not None else done.last_words


def run_tests(
    programs: Programs,
    version: str,
    files: Iterable[str],
    ids: Iterable[str] | None = None,
    *,
    limit_s: float | None = None,
) -> TestRun:
    """Run the tests with these ids (without parameters: all with them) in these files; all in them if there are no ids."""
    report = programs.bench.note("report")
    options = ["-q", "--continue-on-collection-errors", "-p", "lsptools_selection", "--maxfail=0"]
    # A cache of its own and not none: tests and the project's options may ask for it.
    options += ["-o", f"cache_dir={report}.cache", f"--lsptools-report={report}"]
    if ids is not None:
        selection = programs.bench.note("selection", "".join(f"{each}\n" for each in ids))
        options.append(f"--lsptools-select={selection}")
    programs.show(version)
    there = [file for file in files if (programs.bench.folder / file).exists()]
    done = programs.run(
        version,
        (programs.python or "python3", "-m", "pytest", *options, *there),
        limit_s=limit_s,
        python_path=(str(PLUGIN),),
    )
    return _read(done, report, str(programs.bench.folder))


def _read(done: Done, report: Path, folder: str) -> TestRun:
    results: dict[str, TestResult] = {}
    uncollected: list[Problem] = []
    started: list[str] = []
    has_ended = False
    for line in report.read_text("utf-8").split("\n"):
        if not line.endswith("}"):
            continue  # the last line of a run that was ended may be torn
        said = json.loads(line)
        match said["kind"]:
            case "start":
                started.append(said["id"])
            case "result":
                known = results.get(said["id"])
                if known is None or known.outcome in (Outcome.PASSED, Outcome.SKIPPED):
                    results[said["id"]] = _result(said, folder)
            case "uncollected":
                problem = _problem(said, folder)
                uncollected.append(
                    Problem(said["id"] or problem.path, problem.line, 0, "collection", problem.message)
                )
            case "end":
                has_ended = True
    unfinished = next((each for each in reversed(started) if each not in results), None)
    return TestRun(
        done,
        tuple(results.values()),
        tuple(uncollected),
        None if has_ended else unfinished,
        has_ended,
    )


def _result(said: dict[str, Any], folder: str) -> TestResult:  # JSON
    outcome = Outcome(said["outcome"])
    problem = _problem(said, folder)
    if outcome is Outcome.FAILED and is_missing(problem.message, folder):
        outcome = Outcome.LACKING
    return TestResult(said["id"], outcome, problem)


def _problem(said: dict[str, Any], folder: str) -> Problem:
    path, line = said["where"] or (said["id"].partition("::")[0], 0)
    if os.path.isabs(path):
        path = os.path.relpath(path, folder)
    last = next((each for each in reversed(said["message"].split("\n")) if each.startswith("E ")), "")
    first = last.removeprefix("E ").strip() or said["message"].partition("\n")[0]
    message = first.replace(folder + os.sep, "")[:300]
    return Problem(path.replace(os.sep, "/"), line or 0, 0, said["id"], message)
