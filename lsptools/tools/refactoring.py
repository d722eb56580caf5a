"""What the tools that refactor share: carrying out a plan that is proved, and what their answers say of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from lsptools.errors import ToolError
from lsptools.tools import references
from lsptools.tools.base import Context, Positions
from lsptools.tools.verify import report_json
from lsptools.tools.writing import Writing
from lsptools.workspace.change import Change

if TYPE_CHECKING:
    from lsptools.refactor.proof import ProofLine
    from lsptools.verify.ladder import Report
    from lsptools.workspace.apply import Applied


class Plan(Protocol):
    """What every refactoring plans."""

    @property
    def change(self) -> Change: ...

    @property
    def proof(self) -> tuple[ProofLine, ...]: ...


@dataclass(frozen=True, slots=True)
class RefactoringAnswer:
    """The plan, and what was written, if anything was."""

    plan: Plan
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

    def written_json(self) -> dict[str, object]:
        """The members that are the same for all of them."""
        found: dict[str, object] = {
            "edits": list(self._edits_json()),
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


A = TypeVar("A", bound=RefactoringAnswer)


def carry_out(context: Context, answer: A, asked: Writing) -> A:
    """Do what is `asked` with a plan that was made in this context; the answer that says so."""
    from lsptools.tools.changes import follow
    from lsptools.workspace import apply

    change = answer.plan.change
    report = asked.report(context, change)
    is_held_back = not asked.allows(report)
    applied = None
    if asked.check:
        apply.check(context.snapshot, change)
    if not (asked.is_preview or is_held_back):
        context.snapshot.checkpoint()  # who called may have left
        applied = apply.apply(context.snapshot, change, context.state)
        follow(context, applied)
    shown = change.diff(context.snapshot) if asked.diff else None
    return replace(answer, applied=applied, diff=shown, report=report, is_held_back=is_held_back)


def unwritten(context: Context, error: ToolError) -> Mapping[str, object]:
    """What a refactoring that was not done still answers: nothing was written, and what was found before."""
    return {**references.known(context, error), "edits": [], "applied": False, "undo": None}
