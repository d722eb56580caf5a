"""`history`: the changes that lsptools made in this workspace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsptools.tools.base import Context, Example, Tool, arg

if TYPE_CHECKING:
    from lsptools.workspace.journal import Entry


@dataclass(frozen=True, slots=True)
class Params:
    file: str | None = arg("list only the changes of this file", default=None, kind="path", metavar="FILE")


@dataclass(frozen=True, slots=True)
class HistoryAnswer:
    """Changes, the newest first."""

    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()
    """What became of changes that had been interrupted, one sentence each."""

    @property
    def found(self) -> bool:
        return bool(self.entries)

    def to_json(self) -> dict[str, object]:
        return {"entries": [_entry_json(entry) for entry in self.entries], "notes": list(self.notes)}


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
    from lsptools.edit.target import target
    from lsptools.workspace.journal import history, recover

    snapshot = context.snapshot
    repaired = recover(
        snapshot.root, context.state, operations=snapshot.operations, checkpoint=snapshot.checkpoint
    )
    entries = history(context.state, operations=snapshot.operations, checkpoint=snapshot.checkpoint)
    if params.file is not None:
        name = target(context.snapshot, params.file).real_name
        entries = tuple(entry for entry in entries if name in entry.files)
    return HistoryAnswer(entries, tuple(map(str, repaired)))


TOOL = Tool(
    name="history",
    summary="List the changes that lsptools made in this workspace, the newest first.",
    guide="Each line begins with the id that `undo` takes.",
    params=Params,
    run=run,
    writes=False,
    examples=(
        Example("history", "what was changed, when, and what was undone"),
        Example("history --file app/cfg.py", "the changes of one file"),
    ),
    found="there is at least one",
    not_found="there is none",
)
