"""Verdicts for other programs: SARIF 2.1.0, and the annotations that GitHub's workflows read from standard output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from lsptools.verify.ladder import Report
from lsptools.verify.verdict import Problem, Standing, Verdict
from lsptools.version import __version__

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Standing.FAILED: "error", Standing.COULD_NOT_RUN: "warning"}


def sarif_text(report: Report) -> str:
    """One SARIF log: a rule for each rung, a result for each problem that counts, a notification for what could not run."""
    told = [verdict for verdict in report.verdicts if verdict.standing is not Standing.NOT_RUN]
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "lsptools verify",
                "version": __version__,
                "rules": [
                    {
                        "id": verdict.rung,
                        "shortDescription": {"text": f"Does not prove {verdict.proves_not}."},
                    }
                    for verdict in told
                ],
            }
        },
        "results": [result for verdict in told for result in _results(verdict)],
        "invocations": [
            {
                "executionSuccessful": not any(each.standing is Standing.COULD_NOT_RUN for each in told),
                "toolExecutionNotifications": [
                    {"level": "warning", "message": {"text": f"{each.rung} could not run: {each.says}"}}
                    for each in told
                    if each.standing is Standing.COULD_NOT_RUN
                ],
            }
        ],
        "columnKind": "unicodeCodePoints",
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)


def _results(verdict: Verdict) -> Iterator[dict[str, Any]]:  # JSON
    if verdict.standing is not Standing.FAILED:
        return
    for problem in verdict.problems or (Problem("", 0, 0, "", verdict.says),):
        found: dict[str, Any] = {
            "ruleId": verdict.rung,
            "level": "error",
            "message": {"text": problem.message + (f" [{problem.code}]" if problem.code else "")},
        }
        if problem.path:
            place: dict[str, Any] = {"artifactLocation": {"uri": problem.path, "uriBaseId": "%SRCROOT%"}}
            if problem.line:
                place["region"] = {"startLine": problem.line}
                if problem.column:
                    place["region"]["startColumn"] = problem.column
            found["locations"] = [{"physicalLocation": place}]
        yield found


def github_lines(report: Report) -> Iterator[str]:
    """A workflow command for each problem that counts and each rung that could not run; a notice for what passed."""
    for verdict in report.verdicts:
        level = _LEVELS.get(verdict.standing)
        if level is None:
            if verdict.standing is Standing.PASSED:
                says = f"{verdict.says}; does not prove {verdict.proves_not}"
                yield _command("notice", {"title": f"{verdict.rung} passed"}, says)
            continue
        title = f"{verdict.rung} {verdict.standing.value}"
        if verdict.standing is Standing.COULD_NOT_RUN or not verdict.problems:
            yield _command(level, {"title": title}, verdict.says)
        for problem in verdict.problems if verdict.standing is Standing.FAILED else ():
            where = {"file": problem.path, "line": str(problem.line or ""), "col": str(problem.column or "")}
            code = f" [{problem.code}]" if problem.code else ""
            yield _command(level, {**where, "title": title}, problem.message + code)


def _command(level: str, properties: dict[str, str], message: str) -> str:
    given = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in properties.items() if value)
    return f"::{level} {given}::{_escaped(message, '')}"


def _escaped(text: str, also: str) -> str:
    """As the runner unescapes it."""
    for character in "%\r\n" + also:
        text = text.replace(character, f"%{ord(character):02X}")
    return text
