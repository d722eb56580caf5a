"""`history`: the changes that lsptools made in this workspace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsptools.tools.base import Context, Example, Tool

if TYPE_CHECKING:
    from lsptools.workspace.journal import Entry


@dataclass(frozen=True, slots=True)
class Params:
    """There is nothing to choose."""


@dataclass(frozen=True, slots=True)
class HistoryAnswer:
    """Changes, the newest first."""

    entries: tuple[Entry, ...]

    @property
    def found(self) -> bool:
        return bool(self.entries)

    def to_json(self) -> dict[str, object]:
        return {"entries": [_entry_json(entry) for entry in self.entries]}


def _entry_json(entry: Entry) -> dict[str, object]:
    return {
        "id": entry.id,
        "when": entry.when,
        "label": entry.label,
        "files": list(entry.files),
        "undone": entry.undone,
    }


def run(context: Context, params: Params) -> HistoryAnswer:
    """Read the journal."""
    from lsptools.workspace.journal import history

    return HistoryAnswer(history(context.state))


TOOL = Tool(
    name="history",
    summary="List the changes that lsptools made in this workspace, the newest first.",
    guide="Each line begins with the id that `undo` takes.",
    params=Params,
    run=run,
    writes=False,
    examples=(Example("history", "what was changed, when, and what was undone"),),
    found="there is at least one",
    not_found="there is none",
)
