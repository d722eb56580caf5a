"""Rung 6, tests: those that reach the change, run on the new text; what fails is run on the old text, too, before it counts.

A failure counts if the test passes on the old text, or is new, and fails twice on the new one. One that fails on the old text too is
not the change's, and one that passes the second time is flaky; neither is held against the change, or for it. Where the old text cannot
say (its file could not be collected), nobody can. A test that asserts nothing proves nothing and is not counted. `regression` is
the same with all tests of the project.
"""

from __future__ import annotations

from dataclasses import dataclass

from lsptools.verify import command
from lsptools.verify.programs import AFTER, BEFORE, Done, Programs
from lsptools.verify.pytest_run import Outcome, TestResult, TestRun, run_tests
from lsptools.verify.selection import Selection, select, with_those_above
from lsptools.verify.verdict import Problem, Standing, Verdict, counted

NAME, REGRESSION = "tests", "regression"
PROVES_NOT = "what no test reaches and asserts"


def check(programs: Programs) -> Verdict:
    """The verdict of the tests that reach the change."""
    if not any(programs.versions.python):
        return Verdict(NAME, Standing.NOT_RUN, "no Python file differs", PROVES_NOT)
    selection = select(programs.versions)
    if not selection.ids:
        says = "no test reaches what was changed" if selection.n_tests else "there are no tests"
        return Verdict(NAME, Standing.NOT_RUN, says, PROVES_NOT)
    covers = f"{counted(len(selection.ids), 'test')} of {selection.n_tests} that reach the change"
    if len(selection.ids) < selection.n_reaching:
        covers = f"the nearest {len(selection.ids)} of {selection.n_reaching} tests that reach the change, of {selection.n_tests}"
    if selection.is_recorded:
        covers += ", as coverage.py has recorded it"
    if selection.silent:
        covers += f"; without any assertion: {', '.join(selection.silent[:5])}"
    if len(selection.silent) == len(selection.ids):
        says = "the tests that reach the change assert nothing"
        return Verdict(NAME, Standing.COULD_NOT_RUN, says, PROVES_NOT, covers)
    return _judged(programs, NAME, selection.files, selection.ids, selection, covers)


def regression(programs: Programs) -> Verdict:
    """The verdict of all tests, by the project's command, if there is one."""
    words = command.test_command(programs)
    if words:
        return command.check(programs, words)
    return _judged(programs, REGRESSION, (), None, None, "all tests of the project")


def _judged(
    programs: Programs,
    rung: str,
    files: tuple[str, ...],
    ids: tuple[str, ...] | None,
    selection: Selection | None,
    covers: str,
) -> Verdict:
    first = run_tests(programs, AFTER, files, ids)
    problems = _Account(programs, first)
    standing, says, found = problems.verdict(selection)
    return Verdict(rung, standing, says, PROVES_NOT, covers, found, first.done.command, first.done.exit_code)


@dataclass(slots=True)
class _Account:
    """One run on the new text, and what has to be asked because of it."""

    programs: Programs
    first: TestRun
    _unknown_before: frozenset[str] = frozenset()
    """The failing tests that the old text does not have."""
    _untold: tuple[TestResult, ...] = ()
    """The failing tests of which the old text does not say whether they passed."""
    _why_untold: str = ""

    def verdict(self, selection: Selection | None) -> tuple[Standing, str, tuple[Problem, ...]]:
        first = self.first
        if first.lack is not None:
            lack = Problem("", 0, 0, "pytest", first.lack.partition(": ")[2] or first.lack)
            return Standing.COULD_NOT_RUN, first.lack, first.uncollected or (lack,)
        failing = first.with_outcome(Outcome.FAILED)
        real, old, flaky = self._sorted(failing)
        if (first.done.is_timed_out or first.unfinished is not None) and not real:
            return self._broken_off()
        if real:
            says = f"{counted(len(real), 'test')} failed, and passed on the old text"
            new = [each for each in real if each.id in self._unknown_before]
            if len(new) == len(real):
                says = f"{counted(len(real), 'new test')} failed"
            return Standing.FAILED, says, tuple(each.problem for each in real)
        aside = self._aside(old, flaky)
        if self._untold:
            says = f"{counted(len(self._untold), 'test')} failed, and {self._why_untold}{aside}"
            return Standing.COULD_NOT_RUN, says, tuple(each.problem for each in self._untold)
        if first.uncollected:
            says = f"{counted(len(first.uncollected), 'file')} could not be collected: {first.uncollected[0].message}"
            return Standing.COULD_NOT_RUN, says + aside, first.uncollected
        lacking = first.with_outcome(Outcome.LACKING)
        if lacking:
            says = f"a package is missing: {lacking[0].problem.message}"
            return Standing.COULD_NOT_RUN, says + aside, tuple(each.problem for each in lacking)
        silent = set(selection.silent) if selection is not None else set()
        passed = [
            each for each in first.with_outcome(Outcome.PASSED) if each.id.partition("[")[0] not in silent
        ]
        found = tuple(each.problem for each in (*old, *flaky))
        aside += self._left_out(selection)
        if not passed:
            return Standing.COULD_NOT_RUN, f"no test passed that asserts something{aside}", found
        return Standing.PASSED, f"{counted(len(passed), 'test')} passed{aside}", found

    def _sorted(
        self, failing: tuple[TestResult, ...]
    ) -> tuple[list[TestResult], list[TestResult], list[TestResult]]:
        """Failures of the change; those of the old text, too; flaky ones."""
        if not failing:
            return [], [], []
        named = dict(zip(failing, _named(self.programs, BEFORE, [each.id for each in failing]), strict=True))
        is_there = self.programs.versions.before.is_file
        known = tuple(each for each in failing if is_there(named[each].partition("::")[0]))
        seen: dict[str, Outcome] = {}
        if known:
            before = self._again(BEFORE, known)
            seen = {each.id: each.outcome for each in before.results}
            self._look_for_untold(before, {each: named[each] for each in known if named[each] not in seen})
        self._unknown_before = frozenset(each.id for each in failing if named[each] not in seen)
        old = [each for each in failing if seen.get(named[each]) in (Outcome.FAILED, Outcome.LACKING)]
        rest = [each for each in failing if each not in old and each not in self._untold]
        if not rest:
            return [], old, []
        again = {each.id: each.outcome for each in self._again(AFTER, tuple(rest)).results}
        flaky = [each for each in rest if again.get(each.id) is Outcome.PASSED]
        return [each for each in rest if each not in flaky], old, flaky

    def _look_for_untold(self, before: TestRun, unseen: dict[TestResult, str]) -> None:
        """Which of the tests that the old text did not run are there perhaps, and why nobody knows."""
        uncollected = {problem.path.partition("::")[0] for problem in before.uncollected}
        if before.lack is not None:
            self._untold, self._why_untold = tuple(unseen), f"on the old text: {before.lack}"
        elif before.done.is_timed_out:
            seconds = before.done.seconds
            self._untold = tuple(unseen)
            self._why_untold = f"on the old text there was no end in {seconds:.0f} s"
        else:
            self._untold = tuple(
                each for each, name in unseen.items() if name.partition("::")[0] in uncollected
            )
            self._why_untold = "its file could not be collected on the old text"

    def _again(self, version: str, tests: tuple[TestResult, ...]) -> TestRun:
        ids = [each.id for each in tests]
        return run_tests(
            self.programs, version, _files(self.programs, version, ids), _named(self.programs, version, ids)
        )

    def _broken_off(self) -> tuple[Standing, str, tuple[Problem, ...]]:
        """Where time was over, or pytest crashed: is it the test that was under way?"""
        unfinished, how = self.first.unfinished, _how_broken_off(self.first.done)
        says = f"the tests {how}"
        if unfinished is None:
            return Standing.COULD_NOT_RUN, says, ()
        error = (
            f"had not ended after {self.first.done.seconds:.0f} s" if self.first.done.is_timed_out else how
        )
        problem = Problem(unfinished.partition("::")[0], 0, 0, unfinished, error)
        test = TestResult(unfinished, Outcome.FAILED, problem)
        before = self._again(BEFORE, (test,))
        if not before.with_outcome(Outcome.PASSED):
            return Standing.COULD_NOT_RUN, says, (problem,)
        # It may only have been the turn of this test when the time of all was over.
        alone = self._again(AFTER, (test,))
        if alone.unfinished is None:
            return Standing.COULD_NOT_RUN, says, (problem,)
        says = (
            f"a test {_how_broken_off(alone.done)}, and passed on the old text in {before.done.seconds:.1f} s"
        )
        return Standing.FAILED, says, (problem,)

    def _left_out(self, selection: Selection | None) -> str:
        """What did not run though it was asked for."""
        skipped = self.first.with_outcome(Outcome.SKIPPED)
        parts = [f"{counted(len(skipped), 'test')} skipped"] if skipped else []
        ran = with_those_above(each.id.partition("[")[0] for each in self.first.results)
        missing = [id for id in selection.ids if id not in ran] if selection is not None else []
        if missing:
            parts.append(f"{counted(len(missing), 'chosen test')} did not run: {', '.join(missing[:3])}")
        return "".join(f"; {part}" for part in parts)

    def _aside(self, old: list[TestResult], flaky: list[TestResult]) -> str:
        parts = []
        if old:
            parts.append(f"{counted(len(old), 'test')} failed on the old text, too")
        if flaky:
            parts.append(
                f"{counted(len(flaky), 'test')} failed once and passed once on the same text (flaky)"
            )
        return "".join(f"; {part}" for part in parts)


def _how_broken_off(done: Done) -> str:
    if done.is_timed_out:
        return f"did not come to an end in {done.seconds:.0f} s"
    return f"crashed ({'a signal' if done.exit_code is None else f'exit code {done.exit_code}'})"


def _files(programs: Programs, version: str, ids: list[str]) -> list[str]:
    """The files of tests, as they are called in a version."""
    return sorted({each.partition("::")[0] for each in _named(programs, version, ids)})


def _named(programs: Programs, version: str, ids: list[str]) -> list[str]:
    if version == AFTER:
        return ids
    pairs = programs.versions.by_new_name
    found = []
    for id in ids:
        path, colons, rest = id.partition("::")
        pair = pairs.get(path)
        if pair is not None and pair.old is not None:
            path = pair.old
        found.append(path + colons + rest)
    return found
