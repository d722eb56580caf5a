"""`signature`: add, remove, reorder or rename parameters, with every call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lsptools.tools.base import Context, Example, Tool, arg
from lsptools.tools.definition import PLACE, symbol_json
from lsptools.tools.refactoring import RefactoringAnswer, carry_out
from lsptools.tools.rename import known
from lsptools.tools.writing import Writing

if TYPE_CHECKING:
    from lsptools.refactor.signature import SignaturePlan, SignatureSite


@dataclass(frozen=True, slots=True)
class Params(Writing):
    place: str = arg(PLACE, positional=True, kind="place")
    add: tuple[str, ...] = arg(
        "add a parameter, written as in a `def`: 'timeout=None', 'x: int', '*, strict=False'; repeat it for several",
        default=(),
        metavar="PARAMETER",
        group="Changes",
    )
    argument: tuple[str, ...] = arg(
        "what calls give to a parameter that is added: NAME=EXPRESSION",
        default=(),
        metavar="ARGUMENT",
        group="Changes",
    )
    remove: tuple[str, ...] = arg(
        "remove a parameter and what calls give to it; repeat it for several",
        default=(),
        metavar="NAME",
        group="Changes",
    )
    rename: tuple[str, ...] = arg(
        "rename a parameter, OLD=NEW; repeat it for several", default=(), metavar="OLD=NEW", group="Changes"
    )
    reorder: str = arg(
        "the positional parameters in their new order, as they are called afterwards: a,c,b",
        default="",
        metavar="NAMES",
        group="Changes",
    )
    possible: Literal["refuse", "include", "skip"] = arg(
        "what to do with uses that cannot be decided: refuse the change, edit them where they can be, or leave them",
        default="refuse",
        group="Decisions",
    )
    mentions: bool = arg(
        "with --rename: rename in comments, docstrings and other text, too", default=False, group="Decisions"
    )


@dataclass(frozen=True, slots=True)
class SignatureAnswer(RefactoringAnswer):
    """The plan, and what was written, if anything was."""

    plan: SignaturePlan

    @property
    def left(self) -> tuple[SignatureSite, ...]:
        """The sites that somebody may have to edit still."""
        return tuple(site for site in self.plan.sites if site.action == "left")

    def to_json(self) -> dict[str, object]:
        plan = self.plan
        return {
            "complete": plan.complete,
            "incomplete_because": list(plan.incomplete_because),
            "symbol": symbol_json(self.positions, plan.symbol),
            "before": plan.before,
            "after": plan.after,
            "occurrences": [self._site_json(site) for site in plan.sites],
            "moves": [],
            **self.written_json(),
        }

    def _site_json(self, site: SignatureSite) -> dict[str, object]:
        each = site.occurrence
        return {
            **self.positions.located(each.path, each.span),
            "class": each.evidence.value,
            "role": each.role,
            "reason": each.reason,
            "action": site.action,
        }


def run(context: Context, params: Params) -> SignatureAnswer:
    """Plan and prove the change, and apply it unless only a preview was asked for."""
    from lsptools.refactor.rename import Policy
    from lsptools.refactor.signature_renames import plan_parameters
    from lsptools.refactor.signature_request import parse_edit, parse_renames
    from lsptools.search.places import locate

    snapshot = context.snapshot
    edit = parse_edit(params.add, params.remove, params.reorder, params.argument)
    renames = parse_renames(params.rename)
    policy = Policy(possible=params.possible, mentions=params.mentions)
    plan = plan_parameters(snapshot, locate(snapshot, params.place), edit, renames, policy)
    answer = SignatureAnswer(plan, None, None, context.positions)
    return carry_out(context, answer, params)


TOOL = Tool(
    name="signature",
    summary="Add, remove, reorder or rename parameters of a function with all definitions and calls, with proof, all or nothing.",
    guide=(
        "PLACE is a function, a method, a class (then its `__init__`) or a parameter. Edits every definition of the family "
        "(overrides, overloads, stubs) and every call, whatever name it goes by, through `partial`, `super()`, `cls(…)` and "
        "subclasses; an argument that no longer follows the one before it is given by keyword. `self` is not named and stays. "
        "Refuses, and lists every reason, when a parameter is still used in a body, when a new name is taken, when a definition is "
        "a library's or differs, and when a use is not decided: `*args` that may hide an argument, the function handed on, "
        "an unknown receiver, an argument whose evaluation does something and would be dropped or reordered. "
        "`--possible include` edits what can be edited of these, `--possible skip` leaves them; both list what is left. Look "
        "at `refs PLACE --calls` first. `undo` takes it back."
    ),
    params=Params,
    run=run,
    writes=True,
    examples=(
        Example("signature app.net.fetch --add 'timeout=None'", "a new parameter that no call has to give"),
        Example(
            "signature app.net.fetch --add retries --argument retries=3 --reorder url,retries",
            "one that every call gives, in second place",
        ),
        Example("signature app.net.fetch --remove verbose --diff", "see what removing one would change"),
        Example("signature app.net.fetch --rename uri=url --reorder method,url", "rename and reorder"),
    ),
    found="changed, or with --diff or --check: it would be",
    not_found="refused, or a file changed meanwhile, and nothing was written",
    known=known,
)
