"""Rung 4, types: what the project's type checker says of the new text and did not say of the old.

Run is the checker that the project is configured for, or else the first that is installed. It runs on the whole project, twice;
thousands of old diagnostics do not matter. Where it stops: at what the checker infers; a project without annotations gets
few answers. Columns are in code points where the checker says in what it counts (pyright: UTF-16), and else as it says them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lsptools.errors import BadRequest
from lsptools.text.lines import LspPos
from lsptools.verify.delta import new_problems
from lsptools.verify.programs import AFTER, BEFORE, Done, Programs
from lsptools.verify.project import configured, says_what_mypy_checks
from lsptools.verify.verdict import Problem, Standing, Verdict, counted
from lsptools.workspace.snapshot import Snapshot

NAME = "types"
PROVES_NOT = "what has no annotations, and that values are right"


class Unreadable(ValueError):
    """A program has not said what it was asked to say."""


@dataclass(frozen=True, slots=True)
class Checker:
    """How a type checker is called, and what its answer means."""

    name: str
    arguments: tuple[str, ...]
    problems: Callable[[Done, str], Iterator[Problem]]
    """From what it says, in the folder it ran in."""
    answers: frozenset[int]
    """The exit codes with which it answers."""
    counts_utf16: bool = False
    """Whether its columns are in UTF-16 units; otherwise they are taken as they are."""


def check(programs: Programs) -> Verdict:
    """The verdict on a change."""
    if not any(programs.versions.python):
        return Verdict(NAME, Standing.NOT_RUN, "no Python file differs", PROVES_NOT)
    wanted = configured(programs.versions.after, list(CHECKERS))
    candidates = wanted or tuple(CHECKERS)
    found = [(name, program) for name in candidates if (program := programs.program(name)) is not None]
    if not found and wanted:
        says = f"the project is configured for {wanted[0]}, which is not installed"
        return Verdict(NAME, Standing.COULD_NOT_RUN, says, PROVES_NOT)
    if not found:
        return Verdict(NAME, Standing.NOT_RUN, "no type checker is configured or installed", PROVES_NOT)
    name, program = found[0]
    return _compared(programs, CHECKERS[name], program)


def _compared(programs: Programs, checker: Checker, program: str) -> Verdict:
    cache = programs.bench.scratch / checker.name
    arguments = tuple(argument.format(cache=cache) for argument in checker.arguments)
    is_whole = checker.name != "mypy" or not says_what_mypy_checks(programs.versions.after)
    if checker.name == "mypy" and is_whole:
        arguments = (*arguments, ".")
    folder = str(programs.bench.folder)
    found: list[list[Problem]] = []
    done: Done | None = None
    for version in (BEFORE, AFTER):
        done = programs.run(version, (program, *arguments))
        why = _why_no_answer(checker, done)
        problems: list[Problem] = []
        if why is None:
            try:
                problems = list(checker.problems(done, folder))
                if checker.counts_utf16:
                    snapshot = programs.versions.before if version == BEFORE else programs.versions.after
                    problems = [in_code_points(each, snapshot) for each in problems]
            except (ValueError, KeyError, TypeError) as error:
                why = f"its answer cannot be read: {error}"
        if why is not None:
            says = f"{checker.name} on the text {version}: {why}"
            problem = Problem("", 0, 0, checker.name, why)
            return Verdict(
                NAME, Standing.COULD_NOT_RUN, says, PROVES_NOT, "", (problem,), done.command, done.exit_code
            )
        found.append(problems)
    assert done is not None  # there are two versions
    before, after = found
    fresh = new_problems(before, after, programs.versions)
    what = "the whole project" if is_whole else "what its settings name"
    covers = f"{what} with {checker.name}: {len(before)} before, {len(after)} after"
    standing = Standing.FAILED if fresh else Standing.PASSED
    says = (
        f"{counted(len(fresh), 'new error')} of {checker.name}"
        if fresh
        else f"{checker.name} says nothing new"
    )
    return Verdict(NAME, standing, says, PROVES_NOT, covers, fresh, done.command, done.exit_code)


def _why_no_answer(checker: Checker, done: Done) -> str | None:
    if done.is_timed_out:
        return f"no answer in {done.seconds:.0f} s"
    if done.exit_code not in checker.answers:
        return done.last_words
    return None


def in_code_points(problem: Problem, snapshot: Snapshot) -> Problem:
    """A problem whose column was in UTF-16 units."""
    try:
        lines = snapshot.document(problem.path).lines
    except BadRequest:
        return problem  # outside of the workspace, or gone
    if not 0 < problem.line <= lines.n_lines or problem.column < 1:
        return problem
    at = lines.user_from_offset(lines.offset_from_lsp(LspPos(problem.line - 1, problem.column - 1)))
    return replace(problem, column=at.column)


# What each says


def _lines_of_json(done: Done) -> Iterator[dict[str, Any]]:  # JSON
    for line in done.out.split("\n"):
        if line.startswith("{"):
            yield json.loads(line)


def _object(done: Done) -> dict[str, Any]:  # JSON
    """The one object it has written, perhaps among words about new versions of itself."""
    start, end = done.out.find("{"), done.out.rfind("}")
    found: dict[str, Any] = json.loads(done.out[start : end + 1])
    return found


def _mypy(done: Done, folder: str) -> Iterator[Problem]:
    for each in _lines_of_json(done):
        if each["severity"] == "error":
            # Its columns are 0-based here.
            path = _relative(each["file"], folder)
            yield Problem(path, max(0, each["line"]), each["column"] + 1, each["code"] or "", each["message"])


def _ty(done: Done, folder: str) -> Iterator[Problem]:
    for each in json.loads(done.out or "[]"):
        if each["severity"] in ("major", "critical", "blocker"):
            begin = each["location"]["positions"]["begin"]
            message = each["description"].removeprefix(f"{each['check_name']}: ")
            path = _relative(each["location"]["path"], folder)
            yield Problem(path, begin["line"], begin["column"], each["check_name"], message)


def _pyrefly(done: Done, folder: str) -> Iterator[Problem]:
    for each in _object(done)["errors"]:
        if each["severity"] == "error":
            path = _relative(each["path"], folder)
            yield Problem(path, each["line"], each["column"], each["name"], each["concise_description"])


def _pyright(done: Done, folder: str) -> Iterator[Problem]:
    for each in _object(done)["generalDiagnostics"]:
        if each["severity"] == "error":
            start = each["range"]["start"]
            message = each["message"].partition("\n")[0]
            path = _relative(each["file"], folder)
            yield Problem(path, start["line"] + 1, start["character"] + 1, each.get("rule", ""), message)


def _relative(path: str, folder: str) -> str:
    if os.path.isabs(path):
        # Some follow the links above the folder.
        is_there = path.startswith(folder + os.sep)
        path = os.path.relpath(path, folder if is_there else os.path.realpath(folder))
    return path.replace(os.sep, "/")


_PYRIGHT = ("--outputjson",)
CHECKERS: Mapping[str, Checker] = {
    each.name: each
    for each in (
        Checker("ty", ("check", "--output-format", "gitlab", "--no-progress"), _ty, frozenset({0, 1})),
        Checker("pyrefly", ("check", "--output-format", "json"), _pyrefly, frozenset({0, 1})),
        Checker("basedpyright", _PYRIGHT, _pyright, frozenset({0, 1}), counts_utf16=True),
        Checker("pyright", _PYRIGHT, _pyright, frozenset({0, 1}), counts_utf16=True),
        Checker("mypy", ("--output", "json", "--cache-dir", "{cache}"), _mypy, frozenset({0, 1})),
    )
}
"""In the order in which they are tried where the project does not say."""
