"""Rung 5, lint: what ruff says of the files that differ and did not say before; only where the project configures ruff."""

from __future__ import annotations

import json
import os

from lsptools.verify.delta import new_problems
from lsptools.verify.programs import AFTER, BEFORE, Done, Programs
from lsptools.verify.project import is_configured
from lsptools.verify.verdict import Problem, Standing, Verdict, counted

NAME = "lint"
PROVES_NOT = "that the code does what it should"


def check(programs: Programs) -> Verdict:
    """The verdict on a change."""
    versions = programs.versions
    if not is_configured(versions.after, "ruff"):
        return Verdict(NAME, Standing.NOT_RUN, "the project does not configure ruff", PROVES_NOT)
    if not any(versions.python):
        return Verdict(NAME, Standing.NOT_RUN, "no Python file differs", PROVES_NOT)
    program = programs.program("ruff")
    if program is None:
        says = "the project is configured for ruff, which is not installed"
        return Verdict(NAME, Standing.COULD_NOT_RUN, says, PROVES_NOT)
    found: list[list[Problem]] = []
    done: Done | None = None
    for version in (BEFORE, AFTER):
        names = [pair.old if version == BEFORE else pair.new for pair in versions.python]
        paths = [name for name in names if name is not None]
        if not paths:
            found.append([])
            continue
        options = (
            "check",
            "--output-format",
            "json",
            "--no-cache",
            "--force-exclude",
            "--no-fix",
            "--exit-zero",
            "--",
        )
        done = programs.run(version, (program, *options, *paths))
        why, problems = None, []
        if done.exit_code != 0:
            why = "no answer in time" if done.is_timed_out else done.last_words
        else:
            try:
                problems = _problems(done, str(programs.bench.folder))
            except (ValueError, KeyError, TypeError) as error:
                why = f"its answer cannot be read: {error}"
        if why is not None:
            says, problem = f"ruff on the text {version}: {why}", Problem("", 0, 0, "ruff", why)
            return Verdict(
                NAME, Standing.COULD_NOT_RUN, says, PROVES_NOT, "", (problem,), done.command, done.exit_code
            )
        found.append(problems)
    fresh = new_problems(found[0], found[1], versions)
    covers = f"{counted(len(list(versions.python)), 'file')} that differ: {len(found[0])} before, {len(found[1])} after"
    standing = Standing.FAILED if fresh else Standing.PASSED
    says = f"{counted(len(fresh), 'new complaint')} of ruff" if fresh else "ruff says nothing new"
    command = done.command if done is not None else ()
    code = done.exit_code if done is not None else None
    return Verdict(NAME, standing, says, PROVES_NOT, covers, fresh, command, code)


def _problems(done: Done, folder: str) -> list[Problem]:
    return [
        Problem(
            os.path.relpath(each["filename"], folder).replace(os.sep, "/"),
            each["location"]["row"] if each["location"] else 0,  # of the whole file
            each["location"]["column"] if each["location"] else 0,
            each["code"] or "syntax",
            each["message"],
        )
        for each in json.loads(done.out or "[]")
    ]
