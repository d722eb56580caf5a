"""What one rung of the ladder says of a change.

Four answers, and no rung says more than it knows: `passed` is what was checked and held; `failed` is new, and there with the
change alone; `could not run` is a missing program, a collection error, a time limit; `not run` is what nobody asked for or
what does not concern the change. Each says what it does not prove.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum


class Standing(str, Enum):
    """How a rung ended; from the best to the worst."""

    NOT_RUN = "not run"
    PASSED = "passed"
    COULD_NOT_RUN = "could not run"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, at a place of the new text unless it says otherwise."""

    path: str
    """Relative to the root, or nothing."""
    line: int
    """1-based; 0: of the whole file."""
    column: int
    """1-based, in code points as far as the program says; 0: of the whole line."""
    code: str
    """What the program calls this kind of problem."""
    message: str

    def __str__(self) -> str:
        place = ":".join([self.path, *(str(number) for number in (self.line, self.column) if number)])
        code = f" [{self.code}]" if self.code else ""
        return f"{place}: {self.message}{code}" if self.path else f"{self.message}{code}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a rung says."""

    rung: str
    standing: Standing
    says: str
    """One sentence without a full stop."""
    proves_not: str
    """What it does not prove, the same."""
    covers: str = ""
    """What was looked at."""
    problems: tuple[Problem, ...] = ()
    """For a failure, all that is new, the first effective error first; otherwise what was found and does not count."""
    command: tuple[str, ...] = ()
    """The program that was run, if any; of several the one that decided."""
    exit_code: int | None = None
    seconds: float = 0.0

    @property
    def first_error(self) -> Problem | None:
        """What to look at first."""
        is_bad = self.standing in (Standing.FAILED, Standing.COULD_NOT_RUN)
        return self.problems[0] if self.problems and is_bad else None

    def timed(self, seconds: float) -> Verdict:
        return replace(self, seconds=seconds)


def counted(number: int, what: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def worst(verdicts: Iterable[Verdict]) -> Standing:
    """The worst of the answers; `not run` where there is none."""
    order = list(Standing)
    return max((verdict.standing for verdict in verdicts), key=order.index, default=Standing.NOT_RUN)
