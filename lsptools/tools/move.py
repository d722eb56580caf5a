"""`move`: move a definition to another module and lead everyone there who names it, or say why not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lsptools.languages.names import Occurrence
from lsptools.tools import references
from lsptools.tools.base import Context, Example, Tool, arg
from lsptools.tools.definition import PLACE
from lsptools.tools.refactoring import RefactoringAnswer, carry_out, unwritten
from lsptools.tools.writing import Writing

if TYPE_CHECKING:
    from lsptools.refactor.move import MovePlan


@dataclass(frozen=True, slots=True)
class Params(Writing):
    place: str = arg(PLACE, positional=True, kind="place")
    module: str = arg(
        "the module it goes to, which has to exist: package.module or path/to/module.py",
        positional=True,
        kind="place",
        metavar="MODULE",
    )
    possible: Literal["refuse", "include", "skip"] = arg(
        "what to do with text that may name it by its old module, such as dotted strings: refuse the move, rewrite them, "
        "or leave them",
        default="refuse",
        group="Decisions",
    )
    mentions: bool = arg(
        "rewrite its dotted path in comments, docstrings and other text, too",
        default=False,
        group="Decisions",
    )


@dataclass(frozen=True, slots=True)
class MoveAnswer(RefactoringAnswer):
    """The plan, and what was written, if anything was."""

    plan: MovePlan

    @property
    def left_alone(self) -> tuple[Occurrence, ...]:
        """Text that may name it by its old module and stays."""
        return self.plan.undecided

    def to_json(self) -> dict[str, object]:
        everything = self.plan.references
        return {
            **references.references_json(everything, self.positions),
            "occurrences": references.occurrences_json(everything.occurrences, self.positions),
            "module": self.plan.module,
            "left_alone": references.occurrences_json(self.left_alone, self.positions),
            **self.written_json(),
        }


def run(context: Context, params: Params) -> MoveAnswer:
    """Plan and prove the move, and apply it unless only a preview was asked for."""
    from lsptools.refactor.move import plan_move
    from lsptools.refactor.rename import Policy
    from lsptools.search.places import locate

    snapshot = context.snapshot
    policy = Policy(possible=params.possible, mentions=params.mentions)
    plan = plan_move(snapshot, locate(snapshot, params.place), params.module, policy)
    answer = MoveAnswer(plan, None, None, context.positions)
    return carry_out(context, answer, params)


TOOL = Tool(
    name="move",
    summary="Move a function, class or variable to another module, with proof, all or nothing.",
    guide=(
        "Cuts the definition out, with its decorators, its overloads and the comments directly above, and puts it into the "
        "other module together with the imports it needs. Who imports it, or reaches it as an attribute of the old module, "
        "is led to the new one; `__all__` and stubs follow, and a module that got it by a star import imports it. Refuses, "
        "with the places, when a name it reads would mean something else there, when the new module has the name already, "
        "when imports would meet in a circle, when the definition stands in a branch, and when text may name it by its old "
        "module until `--possible` decides. To move or rename a whole module, use `rename`. `undo` takes it back."
    ),
    params=Params,
    run=run,
    writes=True,
    examples=(
        Example("move app/models.py::Order app/orders.py", "move a class, and everyone who imports it"),
        Example("move app.util.slug app.text --diff", "see the diff first; nothing is written"),
        Example(
            "move app.util.slug app.text --possible include",
            "rewrite dotted strings such as those of mock.patch",
        ),
    ),
    found="moved, or with --diff or --check: it would be",
    not_found="refused, or a file changed meanwhile, and nothing was written",
    known=unwritten,
)
