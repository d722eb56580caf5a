"""`unused`: definitions that nothing refers to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsptools.tools.base import Context, Example, Positions, Tool, arg, checked_limit
from lsptools.tools.definition import symbol_json

if TYPE_CHECKING:
    from lsptools.search.unused import Unused, UnusedFound


@dataclass(frozen=True, slots=True)
class Params:
    path: str = arg(
        "the file or folder whose definitions are judged; without it, all of the workspace",
        default="",
        positional=True,
        kind="path",
    )
    kinds: tuple[str, ...] = arg(
        "only definitions of this kind; repeat it for several",
        default=(),
        name="kind",
        choices=("class", "function", "method", "variable"),
        group="Selection",
    )
    limit: int = arg("how many to list at most", default=200, metavar="N", group="Output")


@dataclass(frozen=True, slots=True)
class UnusedAnswer:
    """Definitions, each with what was counted."""

    unused: UnusedFound
    limit: int
    positions: Positions

    @property
    def found(self) -> bool:
        return bool(self.unused.unused)

    @property
    def listed(self) -> tuple[Unused, ...]:
        """As many as were asked for."""
        return self.unused.unused[: self.limit]

    @property
    def total(self) -> int:
        """How many were found, listed or not."""
        return len(self.unused.unused)

    def to_json(self) -> dict[str, object]:
        return {
            "complete": self.unused.complete,
            "incomplete_because": list(self.unused.incomplete_because),
            "total": self.total,
            "truncated": self.total > self.limit,
            "definitions": self.unused.n_definitions,
            "unused": [
                {
                    **symbol_json(self.positions, each.symbol),
                    "reason": each.reason,
                    "counts": dict(each.counts),
                }
                for each in self.listed
            ],
            "spared": [
                {"reason": reason, "definitions": n} for reason, n in sorted(self.unused.spared.items())
            ],
        }


def run(context: Context, params: Params) -> UnusedAnswer:
    """Find the definitions."""
    from lsptools.search.unused import unused

    limit = checked_limit(params.limit)
    found = unused(context.snapshot, params.path, kinds=frozenset(params.kinds))
    return UnusedAnswer(found, limit, context.positions)


TOOL = Tool(
    name="unused",
    summary="List definitions that nothing in the workspace refers to, with what was counted.",
    guide=(
        "Judges functions, classes, methods and variables of modules by `refs`: listed is what has no certain, likely or "
        "possible occurrence outside of its own declarations and bodies; strings that are looked up at run time, `__all__` and "
        "entry points count as uses. Spared, and counted with the reason, is what others call without naming it: names that the "
        "language or test frameworks know, decorated definitions, members of classes with a library's, an unknown or a protocol's "
        "base, and names whose beginning stands in a string. Who uses the workspace from outside is not seen. It asks `refs` once "
        "per definition, so name a file or folder in a large workspace."
    ),
    params=Params,
    run=run,
    writes=False,
    examples=(
        Example("unused app/models.py", "what in this file does nobody need?"),
        Example("unused --kind function", "functions, in the whole workspace"),
    ),
    found="at least one definition is listed",
    not_found="none is",
)
