"""`verify`: what was checked of a change, what was not, and what that does not prove."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lsptools.tools.base import Context, Example, Tool, arg
from lsptools.tools.run import is_cancelled

if TYPE_CHECKING:
    from lsptools.verify.ladder import Means, Report
    from lsptools.verify.verdict import Problem, Verdict
    from lsptools.verify.versions import Versions

LIMIT_S = 600
RUNGS_HELP = (
    "the rungs, joined by commas: scope, syntax, names (these only read), types, lint, tests, regression "
    "(these run programs of the project)"
)


@dataclass(frozen=True, slots=True)
class Params:
    id: str | None = arg(
        "which change, as printed by the call that made it; without it the last one",
        default=None,
        positional=True,
    )
    against: str | None = arg(
        "what differs from a git revision, instead of one change", default=None, metavar="REVISION"
    )
    rungs: str = arg(f"{RUNGS_HELP}; without it all but regression", default="", metavar="LIST")
    reproduces: str | None = arg(
        "instead, whether this test failed on the old text and passes on the new; FILE::NAME, as pytest has it",
        default=None,
        metavar="TEST",
    )
    timeout: int = arg("end each program after N seconds", default=LIMIT_S, metavar="N")
    python: str | None = arg(
        "the interpreter that runs tests; otherwise that of the project's environment, of the active one, or on PATH",
        default=None,
        metavar="PROGRAM",
    )
    command: str | None = arg(
        "what runs all tests, for `regression`; otherwise `test-command` of [tool.lsptools] in pyproject.toml, otherwise pytest",
        default=None,
        metavar="COMMAND",
    )
    format: Literal["table", "sarif", "github"] = arg(
        "how to print: for people, as SARIF, or as annotations of GitHub", default="table", group="Output"
    )


@dataclass(frozen=True, slots=True)
class VerifyAnswer:
    """The verdicts, from cheap to dear."""

    report: Report
    format: str = "table"

    @property
    def found(self) -> bool:
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """The worst of the answers: 0, 1 where something failed, 2 where something could not run."""
        return {"failed": 1, "could not run": 2}.get(self.report.standing.value, 0)

    def to_json(self) -> dict[str, object]:
        return report_json(self.report)


def report_json(report: Report) -> dict[str, object]:
    """The members of a report."""
    return {
        "verified": report.what,
        "standing": report.standing.value,
        "verdicts": [_verdict_json(verdict) for verdict in report.verdicts],
    }


def _verdict_json(verdict: Verdict) -> dict[str, object]:
    first = verdict.first_error
    return {
        "rung": verdict.rung,
        "standing": verdict.standing.value,
        "says": verdict.says,
        "covers": verdict.covers,
        "proves_not": verdict.proves_not,
        "command": list(verdict.command),
        "exit_code": verdict.exit_code,
        "seconds": verdict.seconds,
        "first_error": None if first is None else _problem_json(first),
        "problems": [_problem_json(problem) for problem in verdict.problems],
    }


def _problem_json(problem: Problem) -> dict[str, object]:
    return {
        "path": problem.path,
        "line": problem.line or None,
        "column": problem.column or None,
        "code": problem.code,
        "message": problem.message,
    }


def run(context: Context, params: Params) -> VerifyAnswer:
    """Find the two texts, and ask the rungs."""
    from lsptools.errors import BadRequest
    from lsptools.verify.ladder import chosen, climb, red_before_green

    if params.id is not None and params.against is not None:
        raise BadRequest("invalid", "a change and a revision were both named", hint="name one of them")
    if params.reproduces is not None and (params.command is not None or params.rungs):
        other = "`command`" if params.command is not None else "`rungs`"
        raise BadRequest(
            "invalid",
            f"`reproduces` runs one test by pytest, and {other} asks for something else",
            hint="ask twice, with one of them each",
        )
    versions = _versions(context, params)
    means = means_of(context, params.timeout, params.python, params.command)
    if params.reproduces is not None:
        return VerifyAnswer(red_before_green(versions, params.reproduces, means), params.format)
    rungs = chosen([params.rungs])
    if params.command is not None and "regression" not in rungs:
        rungs = (*rungs, "regression")
    return VerifyAnswer(climb(versions, rungs, means), params.format)


def _versions(context: Context, params: Params) -> Versions:
    from lsptools.verify.versions import Versions
    from lsptools.workspace.past import past_of_change

    if params.against is not None:
        from lsptools.workspace.revision import past_of_revision

        past = past_of_revision(context.snapshot, params.against, context.variables or {})
    else:
        past = past_of_change(context.snapshot, context.state, params.id)
    return Versions.of_documents(
        context.snapshot, past.documents, past.label, moves=past.moves, modes=past.modes
    )


def means_of(
    context: Context, limit_s: int = LIMIT_S, python: str | None = None, test_command: str | None = None
) -> Means:
    """With what the rungs of a call run programs."""
    from lsptools.errors import BadRequest
    from lsptools.verify.ladder import Means

    if limit_s < 1:
        raise BadRequest("invalid", f"{limit_s} s is no time limit", hint="pass one second or more")
    return Means(
        context.state.folder / "bench",
        context.variables or {},
        limit_s,
        python,
        test_command,
        lambda: is_cancelled(context),
    )


TOOL = Tool(
    name="verify",
    summary="Say of a change what was checked and held, what failed, and what could not be checked.",
    guide=(
        "A ladder from cheap to dear. `scope`: only what was announced differs, and encodings, line ends and permissions are kept. "
        "`syntax`: Python reads it. `names`: what was bound is bound, to the same, in all files; no import fails in a circle. "
        "`types`: what the project's type checker says and did not say before. `lint`: the same of ruff. `tests`: those that "
        "reach the change, as coverage.py has recorded it with contexts (`.coverage`), or by who mentions whom and who imports "
        "whom; `regression`: all, by pytest or by the command that `--command` or `test-command` in `[tool.lsptools]` names. Programs run on a copy, which shows the old "
        "text and the new; they are the project's own, so `types`, `lint` and the tests trust the project. "
        "Each rung answers `passed`, `failed`, `could not run` or `not run`, and what it does not prove. Only what is new fails: a test that "
        "fails on the old text, too, and a flaky one are told and do not count. A missing package or a file that cannot be "
        "collected is `could not run`. All commands that write take `--verify` to be done only if nothing fails."
    ),
    params=Params,
    run=run,
    writes=False,
    examples=(
        Example("verify", "the last change, by all rungs but regression"),
        Example(
            "verify --against HEAD --rungs scope,syntax,names",
            "what is not committed, without running anything",
        ),
        Example("verify --rungs regression --command 'make test'", "the project's whole test command"),
        Example("verify --reproduces app/tests/test_report.py::test_none --against HEAD", "red before green"),
        Example("verify --against origin/main --format github", "in a workflow, with annotations"),
    ),
    found="nothing failed, and what was asked for could be run",
    not_found="something failed",
)
