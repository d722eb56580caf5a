"""Rung `regression` by a command: what the project calls its tests with, run on the new text; a failure is looked at twice.

Only its exit code is understood, so there is no telling which test it was. A failure counts if the command succeeds on the old
text and fails a second time on the new one; not if it says that a package is not installed, or is pytest, which could not collect. The command is no line of a shell: words are split as a shell splits them, and
nothing else; `sh -c '…'` is a command.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from lsptools.errors import BadRequest
from lsptools.verify.programs import AFTER, BEFORE, Done, Programs
from lsptools.verify.project import setting
from lsptools.verify.pytest_run import is_missing
from lsptools.verify.verdict import Problem, Standing, Verdict

NAME = "regression"
PROVES_NOT = "what the command does not look at, and which of its parts ran"


def test_command(programs: Programs) -> tuple[str, ...]:
    """The words of the command: the caller's, or the project's (`test-command` in `[tool.lsptools]`); none: it is pytest."""
    given = programs.test_command
    if given is None:
        given = setting(programs.versions.after, "test-command")
    if not given:
        return ()
    try:
        return tuple(shlex.split(given))
    except ValueError as error:
        raise BadRequest(
            "invalid",
            f"{given!r} is no command: {error}",
            hint="write it as for a shell, with its quotes closed",
        ) from None


test_command.__test__ = False  # type: ignore[attr-defined]  # what pytest takes for a test, by its name


def check(programs: Programs, command: tuple[str, ...]) -> Verdict:
    """The verdict of the command."""
    words = _found(programs, command)
    covers = f"the whole command: {shlex.join(command)}"
    first = programs.run(AFTER, words)
    if first.exit_code == 0:
        return Verdict(
            NAME, Standing.PASSED, f"{command[0]} ended with exit code 0", PROVES_NOT, covers, (), words, 0
        )
    how = _ended(first)
    before = programs.run(BEFORE, words)
    if before.exit_code != 0:
        says = f"the command {how}, and on the old text, too"
        return _verdict(Standing.COULD_NOT_RUN, says, covers, first)
    again = programs.run(AFTER, words)
    if again.exit_code == 0:
        says = f"the command {how} once, and succeeded once on the same text (flaky)"
        return _verdict(Standing.COULD_NOT_RUN, says, covers, first)
    if (missing := _missing(again, str(programs.bench.folder))) is not None:
        return _verdict(Standing.COULD_NOT_RUN, f"a package is missing: {missing}", covers, again, missing)
    if _is_pytest(words) and again.exit_code in _NO_TESTS:
        return _verdict(
            Standing.COULD_NOT_RUN, f"the command {how}: pytest did not run its tests", covers, again
        )
    return _verdict(Standing.FAILED, f"the command {how}, and succeeded on the old text", covers, again)


_NO_TESTS = (2, 3, 4, 5)
"""The exit codes of pytest when it was stopped, mostly since it could not collect, failed itself, or found nothing."""
_MODULE_ERROR = re.compile(r"ModuleNotFoundError: No module named '[^'\n]*'")


def _is_pytest(words: tuple[str, ...]) -> bool:
    return Path(words[0]).stem in ("pytest", "py.test") or words[1:3] == ("-m", "pytest")


def _missing(done: Done, folder: str) -> str | None:
    """The first complaint of a module that is not installed."""
    for text in (done.err, done.out):
        for found in _MODULE_ERROR.finditer(text):
            if is_missing(found[0], folder):
                return found[0]
    return None


def _found(programs: Programs, command: tuple[str, ...]) -> tuple[str, ...]:
    """With the project's own interpreter and tools, where one of them is meant."""
    name, *rest = command
    program = programs.python if name in ("python", "python3") else programs.program(name)
    return (program or name, *rest)


def _ended(done: Done) -> str:
    if done.is_timed_out:
        return f"did not end in {done.seconds:.0f} s"
    return (
        f"failed with exit code {done.exit_code}" if done.exit_code is not None else "was ended by a signal"
    )


def _verdict(standing: Standing, says: str, covers: str, done: Done, error: str = "") -> Verdict:
    problem = Problem("", 0, 0, NAME, error or _error_in(done))
    return Verdict(NAME, standing, says, PROVES_NOT, covers, (problem,), done.command, done.exit_code)


_ERROR = re.compile(r"\b(?:error|failed|failure|exception|traceback)\b", re.IGNORECASE)


def _error_in(done: Done) -> str:
    """The first line that speaks of an error, or else the last one that says anything."""
    for text in (done.err, done.out):
        for line in text.split("\n"):
            if _ERROR.search(line):
                return line.strip()[:300]
    return done.last_words
