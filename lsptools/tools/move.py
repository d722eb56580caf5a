"""`move`: move a definition to another module and lead everyone there who names it, or say why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lsptools.errors import ToolError
from lsptools.languages.names import Occurrence
from lsptools.tools import references, rename
from lsptools.tools.base import Context, Example, Positions, Tool, arg
from lsptools.tools.definition import PLACE
from lsptools.tools.verify import Verification, keep_arg, report_json, verify_arg

if TYPE_CHECKING:
    from lsptools.refactor.move import MovePlan
    from lsptools.verify.ladder import Report
    from lsptools.workspace.apply import Applied


@dataclass(frozen=True, slots=True)
class Params:
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
    diff: bool = arg("print the change as a unified diff and write nothing", default=False, group="Safety")
    check: bool = arg(
        "plan and prove, write nothing; exit code 1 if it would be refused", default=False, group="Safety"
    )
    verify: str | None = verify_arg()
    keep: bool = keep_arg()


@dataclass(frozen=True, slots=True)
class MoveAnswer:
    """The plan, and what was written, if anything was."""

    plan: MovePlan
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
        """Text that may name it by its old module and stays."""
        return self.plan.undecided

    def to_json(self) -> dict[str, object]:
        everything = self.plan.references
        found: dict[str, object] = {
            **references.references_json(everything, self.positions),
            "occurrences": references.occurrences_json(everything.occurrences, self.positions),
            "module": self.plan.module,
            "edits": list(self._edits_json()),
            "left_alone": list(references.occurrences_json(self.left_alone, self.positions)),
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


def run(context: Context, params: Params) -> MoveAnswer:
    """Plan and prove the move, and apply it unless only a preview was asked for."""
    from lsptools.refactor.move import plan_move
    from lsptools.refactor.rename import Policy
    from lsptools.search.places import locate

    snapshot = context.snapshot
    policy = Policy(possible=params.possible, mentions=params.mentions)
    plan = plan_move(snapshot, locate(snapshot, params.place), params.module, policy)
    diff = plan.change.diff(snapshot) if params.diff else None
    verification = Verification(params.verify, params.keep)
    report = verification.of(context, plan.change)
    is_held_back = not verification.allows(report)
    applied = None if params.diff or params.check or is_held_back else _apply(context, plan)
    return MoveAnswer(plan, applied, diff, context.positions, report, is_held_back)


def _apply(context: Context, plan: MovePlan) -> Applied:
    from lsptools.tools.changes import follow
    from lsptools.workspace.apply import apply

    applied = apply(context.snapshot, plan.change, context.state)
    follow(context, applied)
    return applied


def known(context: Context, error: ToolError) -> Mapping[str, object]:
    """What a move that was not done still answers: nothing was written, and what was found before."""
    return {name: value for name, value in rename.known(context, error).items() if name != "moves"}


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
    known=known,
)
