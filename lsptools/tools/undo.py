"""`undo`: take back a change that lsptools made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsptools.tools.base import Context, Example, Tool, arg

if TYPE_CHECKING:
    from lsptools.workspace.apply import Applied
    from lsptools.workspace.change import Move


@dataclass(frozen=True, slots=True)
class Params:
    id: str | None = arg(
        "which change, as printed by the call that made it; without it the last one",
        default=None,
        positional=True,
    )
    file: str | None = arg(
        "take back only what the change did to this file; without an id, the last change of it",
        default=None,
        kind="path",
        metavar="FILE",
    )


@dataclass(frozen=True, slots=True)
class UndoAnswer:
    """What was restored."""

    applied: Applied

    @property
    def found(self) -> bool:
        return True

    @property
    def moves(self) -> tuple[Move, ...]:
        """Which file has which name again."""
        from lsptools.workspace.apply import told_moves

        return told_moves(self.applied.moves)

    def to_json(self) -> dict[str, object]:
        return {
            "applied": True,
            "id": self.applied.id,
            "files": [file.path for file in self.applied.files],
            "moves": [{"old": move.old, "new": move.new} for move in self.moves],
            "undo": self.applied.undo_id,
            "notes": list(self.applied.notes),
        }


def run(context: Context, params: Params) -> UndoAnswer:
    """Restore the files as they were before the change."""
    from lsptools.edit.target import target
    from lsptools.tools.changes import follow
    from lsptools.workspace.journal import undo

    snapshot = context.snapshot
    file = None if params.file is None else target(snapshot, params.file).real_name
    applied = undo(
        snapshot.root,
        context.state,
        params.id,
        file=file,
        operations=snapshot.operations,
        checkpoint=snapshot.checkpoint,
    )
    follow(context, applied)
    return UndoAnswer(applied)


TOOL = Tool(
    name="undo",
    summary="Take back a change that lsptools made in this workspace, byte for byte.",
    guide=(
        "Restores every file of one change, moves included, or nothing at all: when a file is no longer what the change "
        "left behind, it is named and nothing is touched. `--file` takes back one file of a change, and again its change before that. "
        "`history` lists what can be undone. An undo is undone by its id, and only by that, which is redo."
    ),
    params=Params,
    run=run,
    writes=True,
    examples=(
        Example("undo", "take back the last change"),
        Example("undo --file app/cfg.py", "take back the last change of one file"),
    ),
    found="restored",
    not_found="a file has moved on since, and nothing was written",
)
