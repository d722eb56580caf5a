"""Red before green: does a test fail on the old text, and pass on the new?

The old text is that of the program; tests and what they need (test files, `conftest.py`, everything in a folder of tests) are
taken from the new text, so that a test which came with the fix can be asked.
"""

from __future__ import annotations

import re

from lsptools.errors import BadRequest
from lsptools.verify.mention_graph import TEST_FILE
from lsptools.verify.programs import AFTER, Programs
from lsptools.verify.pytest_run import Outcome, TestRun, run_tests
from lsptools.verify.verdict import Problem, Standing, Verdict
from lsptools.verify.versions import Versions

NAME = "reproduces"
PROVES_NOT = "that the test asks for the right thing"
OLD_PROGRAM = "old program, new tests"
_OF_TESTS = re.compile(r"(?:^|/)(?:tests?|testing)/|(?:^|/)conftest\.py$")


def check(programs: Programs, test: str) -> Verdict:
    """Whether it failed before and passes now, or which half is missing."""
    path = test.partition("::")[0]
    versions = programs.versions
    if not versions.after.is_file(path):
        raise BadRequest("not_found", f"there is no test file {path!r}", hint="name a test as FILE::NAME")
    programs.further[OLD_PROGRAM] = versions.before.with_overlays(
        {name: _text(versions, name) for name in versions.paths if name == path or _is_of_tests(name)}
    )
    before = run_tests(programs, OLD_PROGRAM, [path], [test])
    after = run_tests(programs, AFTER, [path], [test])
    standing, says, problems = _judged(before, after)
    return Verdict(NAME, standing, says, PROVES_NOT, test, problems, after.done.command, after.done.exit_code)


def _is_of_tests(path: str) -> bool:
    return bool(TEST_FILE.search(path) or _OF_TESTS.search(path))


def _text(versions: Versions, path: str) -> str | None:
    return versions.after.document(path).text if versions.after.is_file(path) else None


def _judged(before: TestRun, after: TestRun) -> tuple[Standing, str, tuple[Problem, ...]]:
    for run, text in ((before, "old"), (after, "new")):
        why = _why_not_run(run)
        if why is not None:
            return Standing.COULD_NOT_RUN, f"on the {text} text: {why}", run.uncollected
    red, green = before.with_outcome(Outcome.FAILED), not after.with_outcome(Outcome.FAILED)
    green = green and bool(after.with_outcome(Outcome.PASSED)) and not _is_broken_off(after)
    was_red = bool(red) or _is_broken_off(before)
    if was_red and green:
        how = "it did not come to an end" if before.done.is_timed_out else "it crashed"
        how = red[0].problem.message if red else how
        return Standing.PASSED, f"failed before ({how}), passes now", ()
    failing = tuple(each.problem for each in after.with_outcome(Outcome.FAILED))
    if was_red:
        return Standing.FAILED, "failed before, and still fails", failing
    if green:
        return Standing.FAILED, "passes now, and passed before: it does not show the defect", ()
    return Standing.FAILED, "passed before, and fails now", failing


def _is_broken_off(run: TestRun) -> bool:
    """Whether the test did not end, or crashed: it has failed, then."""
    return run.done.is_timed_out or run.unfinished is not None


def _why_not_run(run: TestRun) -> str | None:
    if run.lack is not None:
        return run.lack
    if run.uncollected:
        return f"it could not be collected: {run.uncollected[0].message}"
    lacking = run.with_outcome(Outcome.LACKING)
    if lacking:
        return f"a package is missing: {lacking[0].problem.message}"
    if not run.results and not _is_broken_off(run):
        return "there is no such test"
    if (
        not run.with_outcome(Outcome.PASSED)
        and not run.with_outcome(Outcome.FAILED)
        and not _is_broken_off(run)
    ):
        return "it was skipped"
    return None
