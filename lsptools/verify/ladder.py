"""The ladder: rungs from cheap to dear, climbed as far as asked for, each answered by a verdict.

The first three read; the others run programs of the project, on a copy. What Python cannot read stops the dearer ones, for
they would only say so again. Everything else is asked, so that one call tells all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lsptools.errors import BadRequest, Unavailable
from lsptools.verify import lint, names, reproduce, scope, syntax, tests, types
from lsptools.verify.programs import Programs
from lsptools.verify.verdict import Standing, Verdict, worst
from lsptools.verify.versions import Versions
from lsptools.workspace.bench import Bench

READING: Mapping[str, Callable[[Versions], Verdict]] = {
    scope.NAME: scope.check,
    syntax.NAME: syntax.check,
    names.NAME: names.check,
}
"""Rungs that only read."""
RUNNING: Mapping[str, Callable[[Programs], Verdict]] = {
    types.NAME: types.check,
    lint.NAME: lint.check,
    tests.NAME: tests.check,
    tests.REGRESSION: tests.regression,
}
"""Rungs that run programs of the project."""
RUNGS = (*READING, *RUNNING)
USUAL = tuple(name for name in RUNGS if name != tests.REGRESSION)
LIMIT_S = 600


@dataclass(frozen=True, slots=True)
class Report:
    """What all rungs say."""

    what: str
    """What was verified, for people."""
    verdicts: tuple[Verdict, ...]

    @property
    def standing(self) -> Standing:
        """The worst of the answers."""
        return worst(self.verdicts)


@dataclass(frozen=True, slots=True)
class Means:
    """With what programs are run."""

    home: Path
    """A folder outside the workspace for the copy."""
    variables: Mapping[str, str]
    limit_s: float = LIMIT_S
    """For each program."""
    python: str | None = None
    test_command: str | None = None
    is_cancelled: Callable[[], bool] = lambda: False


def chosen(wanted: Iterable[str]) -> tuple[str, ...]:
    """The rungs with these names, in the order of the ladder; the usual ones without any."""
    names_given = [name for each in wanted for name in each.split(",") if name]
    for name in names_given:
        if name not in RUNGS:
            raise BadRequest(
                "invalid", f"there is no rung {name!r}", hint=f"the rungs are {', '.join(RUNGS)}"
            )
    return tuple(name for name in RUNGS if name in names_given) if names_given else USUAL


def climb(versions: Versions, rungs: tuple[str, ...], means: Means) -> Report:
    """Ask every rung of `rungs`, in the order of the ladder."""
    verdicts: list[Verdict] = []
    with Bench(means.home, versions.after.root.path) as bench:
        programs = _programs(versions, bench, means)
        for name in (each for each in RUNGS if each in rungs):
            if means.is_cancelled():
                raise Unavailable("cancelled", "the verification was cancelled")
            began = time.monotonic()
            verdict = _asked(name, versions, programs, verdicts)
            verdicts.append(verdict.timed(round(time.monotonic() - began, 3)))
    return Report(versions.what, tuple(verdicts))


def _programs(versions: Versions, bench: Bench, means: Means) -> Programs:
    return Programs(
        versions, bench, means.variables, means.limit_s, means.python, means.test_command, means.is_cancelled
    )


def _asked(name: str, versions: Versions, programs: Programs, so_far: list[Verdict]) -> Verdict:
    differs = versions.pairs or (name == scope.NAME and versions.modes)
    if not differs and name != tests.REGRESSION:
        return Verdict(name, Standing.NOT_RUN, "nothing differs", "anything")
    broken = any(each.rung == syntax.NAME and each.standing is Standing.FAILED for each in so_far)
    if broken and name in RUNNING:
        return Verdict(name, Standing.NOT_RUN, "a text cannot be read", "anything")
    try:
        if name in READING:
            return READING[name](versions)
        return _of_the_copy(RUNNING[name](programs), programs.bench)
    except (OSError, Unavailable) as error:
        if isinstance(error, Unavailable) and error.kind == "cancelled":
            raise
        says = f"it could not be run: {error}"
        return Verdict(name, Standing.COULD_NOT_RUN, says, "anything")


def _of_the_copy(verdict: Verdict, bench: Bench) -> Verdict:
    """The verdict, which says what its program could not see."""
    unread = bench.unread
    if not unread or not verdict.command:
        return verdict
    covers = f"without what cannot be read: {', '.join(unread[:3])}{', …' if len(unread) > 3 else ''}"
    return replace(verdict, covers="; ".join(filter(None, (verdict.covers, covers))))


def red_before_green(versions: Versions, test: str, means: Means) -> Report:
    """Whether a test fails on the old text and passes on the new."""
    with Bench(means.home, versions.after.root.path) as bench:
        programs = _programs(versions, bench, means)
        began = time.monotonic()
        verdict = _of_the_copy(reproduce.check(programs, test), bench)
    return Report(versions.what, (verdict.timed(round(time.monotonic() - began, 3)),))
