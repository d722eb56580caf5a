"""`rename`: rename a symbol and everything bound to it, or say why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from lsptools.errors import Conflict, Refused, ToolError
from lsptools.languages.names import Evidence, Occurrence
from lsptools.tools import references
from lsptools.tools.base import INFER, Context, Example, Tool, arg
from lsptools.tools.definition import PLACE
from lsptools.tools.refactoring import RefactoringAnswer, carry_out, unwritten
from lsptools.tools.writing import Writing

if TYPE_CHECKING:
    from lsptools.refactor.rename import RenamePlan


@dataclass(frozen=True, slots=True)
class Params(Writing):
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
    infer: int = arg(INFER, default=0, metavar="N", group="Decisions")


@dataclass(frozen=True, slots=True)
class RenameAnswer(RefactoringAnswer):
    """The plan, and what was written, if anything was."""

    plan: RenamePlan

    new_name: str = field(kw_only=True)

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
        everything = self.plan.references
        return {
            **references.references_json(everything, self.positions),
            "occurrences": references.occurrences_json(everything.occurrences, self.positions),
            "new_name": self.new_name,
            "moves": [{"old": move.old, "new": move.new} for move in self.plan.change.moves],
            **self.written_json(),
        }


def run(context: Context, params: Params) -> RenameAnswer:
    """Plan and prove the rename, and apply it unless only a preview was asked for."""
    from lsptools.refactor.rename import Policy, plan_rename
    from lsptools.search.places import locate

    snapshot = context.snapshot
    policy = Policy(possible=params.possible, mentions=params.mentions)
    asking = context.asking(params.infer)
    plan = plan_rename(snapshot, locate(snapshot, params.place), params.new_name, policy, asking)
    _check_proof(plan)
    answer = RenameAnswer(plan, None, None, context.positions, new_name=params.new_name)
    return carry_out(context, answer, params)


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


def known(context: Context, error: ToolError) -> Mapping[str, object]:
    """What a rename that was not done still answers."""
    return {**unwritten(context, error), "moves": []}


TOOL = Tool(
    name="rename",
    summary="Rename a symbol and every reference to it, with proof, all or nothing.",
    guide=(
        "Renames what `refs` calls `certain` and `likely`: the whole family of overrides, overloads and stubs, imports, "
        "keyword arguments, strings that the language defines as names, and the file of a module. Refuses, and lists "
        "every reason, when the new name would clash, capture or be captured, when the symbol belongs to a library, and "
        "when occurrences are `possible` until `--possible include`, `--possible skip` or, as far as it can, jedi "
        "(`--infer`) decides. Before it writes, the "
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
