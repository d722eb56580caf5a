"""`rename`: rename a symbol and everything bound to it, or say why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lsptools.errors import Conflict, Refused, ToolError
from lsptools.languages.names import Evidence, Occurrence
from lsptools.tools import references
from lsptools.tools.base import Context, Example, Positions, Tool, arg
from lsptools.tools.definition import PLACE
from lsptools.tools.verify import Verification, keep_arg, report_json, verify_arg

if TYPE_CHECKING:
    from lsptools.refactor.rename import RenamePlan
    from lsptools.verify.ladder import Report
    from lsptools.workspace.apply import Applied


@dataclass(frozen=True, slots=True)
class Params:
    place: str = arg(PLACE, positional=True, kind="place")
    new_name: str = arg("the new name", positional=True, metavar="NEW")
    possible: Literal["refuse", "include", "skip"] = arg(
        "what to do with occurrences that cannot be known to be this symbol: refuse the rename, include them, or skip them",
        default="refuse",
        group="Decisions",
    )
    mentions: bool = arg(
        "rename in comments, docstrings and other text, too", default=False, group="Decisions"
    )
    diff: bool = arg("print the change as a unified diff and write nothing", default=False, group="Safety")
    check: bool = arg(
        "plan and prove, write nothing; exit code 1 if it would be refused", default=False, group="Safety"
    )
    verify: str | None = verify_arg()
    keep: bool = keep_arg()


@dataclass(frozen=True, slots=True)
class RenameAnswer:
    """The plan, and what was written, if anything was."""

    plan: RenamePlan
    new_name: str
    applied: Applied | None
    diff: str | None
    """The unified diff, when that was asked for."""
    positions: Positions
    report: Report | None = None
    """What the verification says, when one was asked for."""
    is_held_back: bool = False
    """Whether it was not written because of that."""

    @property
    def found(self) -> bool:
        return not self.is_held_back

    @property
    def notes(self) -> tuple[str, ...]:
        """What people should know: of the plan, and, when it was done, of the doing."""
        return self.plan.change.notes if self.applied is None else self.applied.notes

    @property
    def undo_id(self) -> str | None:
        """What `undo` takes, if anything was written."""
        return None if self.applied is None else self.applied.undo_id or None

    @property
    def left_alone(self) -> tuple[Occurrence, ...]:
        """Occurrences that could be the symbol, or speak of it, and keep the old name."""
        open_classes = (Evidence.LIKELY, Evidence.POSSIBLE, Evidence.MENTION)
        return tuple(
            each
            for each in self.plan.references.occurrences
            if each.evidence in open_classes and (each.path, each.span) not in self.plan.edited
        )

    def to_json(self) -> dict[str, object]:
        everything, change = self.plan.references, self.plan.change
        found: dict[str, object] = {
            **references.references_json(everything, self.positions),
            "occurrences": references.occurrences_json(everything.occurrences, self.positions),
            "new_name": self.new_name,
            "edits": list(self._edits_json()),
            "moves": [{"old": move.old, "new": move.new} for move in change.moves],
            "proof": [{"says": line.says, "ok": line.ok} for line in self.plan.proof],
            "notes": list(self.notes),
            "applied": self.applied is not None,
            "undo": self.undo_id,
            "verification": None if self.report is None else report_json(self.report),
        }
        if self.diff is not None:
            found["diff"] = self.diff
        return found

    def _edits_json(self) -> Iterator[dict[str, object]]:
        for file in self.plan.change.edits:
            text = self.positions.lines(file.path).text
            for edit in file.edits:
                old = text[edit.span.start : edit.span.end]
                yield {**self.positions.located(file.path, edit.span), "old": old, "new": edit.new_text}


def run(context: Context, params: Params) -> RenameAnswer:
    """Plan and prove the rename, and apply it unless only a preview was asked for."""
    return carry_out(context, params, planned(context, params))


def planned(context: Context, params: Params) -> RenamePlan:
    """The plan, proved."""
    from lsptools.refactor.rename import Policy, plan_rename
    from lsptools.search.places import locate

    snapshot = context.snapshot
    policy = Policy(possible=params.possible, mentions=params.mentions)
    plan = plan_rename(snapshot, locate(snapshot, params.place), params.new_name, policy)
    _check_proof(plan)
    return plan


def carry_out(context: Context, params: Params, plan: RenamePlan) -> RenameAnswer:
    """Verify and apply a plan that was made in this context, as far as that was asked for."""
    diff = plan.change.diff(context.snapshot) if params.diff else None
    verification = Verification(params.verify, params.keep)
    report = verification.of(context, plan.change)
    is_held_back = not verification.allows(report)
    applied = None if params.diff or params.check or is_held_back else _apply(context, plan)
    return RenameAnswer(plan, params.new_name, applied, diff, context.positions, report, is_held_back)


def _check_proof(plan: RenamePlan) -> None:
    """What is not proved is not done, whoever made the plan."""
    failed = [line.says for line in plan.proof if not line.ok]
    if failed:
        raise Refused(
            "name_capture",
            "the result would not mean what the code means now",
            conflicts=tuple(Conflict("name_capture", says) for says in failed),
            details=plan.references,
        )


def _apply(context: Context, plan: RenamePlan) -> Applied:
    from lsptools.tools.changes import follow
    from lsptools.workspace.apply import apply

    context.snapshot.checkpoint()  # who called may have left
    applied = apply(context.snapshot, plan.change, context.state)
    follow(context, applied)
    return applied


def known(context: Context, error: ToolError) -> Mapping[str, object]:
    """What a rename that was not done still answers: nothing was written, and what was found before."""
    unwritten = {"edits": [], "moves": [], "applied": False, "undo": None}
    return {**references.known(context, error), **unwritten}


TOOL = Tool(
    name="rename",
    summary="Rename a symbol and every reference to it, with proof, all or nothing.",
    guide=(
        "Renames what `refs` calls `certain` and `likely`: the whole family of overrides, overloads and stubs, imports, "
        "keyword arguments, strings that the language defines as names, and the file of a module. Refuses, and lists "
        "every reason, when the new name would clash, capture or be captured, when the symbol belongs to a library, and "
        "when occurrences are `possible` until `--possible include` or `--possible skip` decides. Before it writes, the "
        "plan is applied to a copy in memory and the same search must find the same occurrences under the new name. "
        "`undo` takes it back."
    ),
    params=Params,
    run=run,
    writes=True,
    examples=(
        Example(
            "rename app/models.py:14:9 grand_total", "rename, and print what was done and how to undo it"
        ),
        Example("rename app.models.Order.total grand_total --diff", "see the diff first; nothing is written"),
        Example("rename app.models.Order.total grand_total --possible skip --json", "for programs"),
        Example("rename app.models.Order.total grand_total --verify", "only if types, lint and tests agree"),
    ),
    found="renamed, or with --diff or --check: it would be",
    not_found="refused, or a file changed meanwhile, and nothing was written",
    known=known,
)
