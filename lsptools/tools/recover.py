"""`recover`: after a crash, make every interrupted change whole or undone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsptools.tools.base import Context, Example, Tool

if TYPE_CHECKING:
    from lsptools.workspace.journal import Repaired


@dataclass(frozen=True, slots=True)
class Params:
    """There is nothing to choose."""


@dataclass(frozen=True, slots=True)
class RecoverAnswer:
    """What was repaired; usually nothing."""

    repaired: tuple[Repaired, ...]

    @property
    def found(self) -> bool:
        return True

    @property
    def output(self) -> str:
        """The short form."""
        return "".join(f"{each}\n" for each in self.repaired) or "nothing was interrupted\n"

    def to_json(self) -> dict[str, object]:
        return {
            "repaired": [
                {
                    "id": each.id,
                    "label": each.label,
                    "completed": each.completed,
                    "kept": list(each.kept),
                    "says": str(each),
                }
                for each in self.repaired
            ],
            "output": self.output,
        }


def run(context: Context, params: Params) -> RecoverAnswer:
    """Look into the journal, and repair."""
    from lsptools.workspace.journal import recover

    snapshot = context.snapshot
    done = recover(
        snapshot.root, context.state, operations=snapshot.operations, checkpoint=snapshot.checkpoint
    )
    return RecoverAnswer(done)


TOOL = Tool(
    name="recover",
    summary="After a crash, finish or take back every change that was interrupted.",
    guide=(
        "A change that was committed is finished, any other is taken back, so that every file is entirely old or entirely "
        "new; a file that someone has written since stays as it is and is named. The next change, `undo` or `history` would "
        "do the same by itself."
    ),
    params=Params,
    run=run,
    writes=True,
    examples=(Example("recover", "see what was interrupted, and have it repaired"),),
    found="everything is whole",
    not_found="never",
)
