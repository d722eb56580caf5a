"""The parameters that all tools which write have: whether to write, and on what condition.

A tool's own parameters derive from one of these classes; its own fields come first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsptools.tools.base import Context, arg
from lsptools.tools.verify import RUNGS_HELP, means_of

if TYPE_CHECKING:
    from lsptools.verify.ladder import Report
    from lsptools.workspace.change import Change


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """What is to be done with a plan: shown, or written if what is asked to hold does."""

    diff: bool = arg("print the change as a unified diff and write nothing", default=False, group="Safety")
    check: bool = arg(
        "plan and check, write nothing; exit code 1 if it would be refused", default=False, group="Safety"
    )
    verify: str | None = arg(
        f"write only if nothing fails and all could run; by default all rungs but regression, or {RUNGS_HELP}",
        default=None,
        bare="usual",
        metavar="LIST",
        group="Verification",
    )
    keep: bool = arg("write whatever the verification says", default=False, group="Verification")

    @property
    def is_preview(self) -> bool:
        """Is nothing to be written in any case?"""
        return self.diff or self.check

    def report(self, context: Context, change: Change) -> Report | None:
        """What the rungs say of a change that is planned; None: none was asked for."""
        from lsptools.verify.ladder import chosen, climb
        from lsptools.verify.versions import Versions

        if self.verify is None:
            return None
        rungs = chosen([] if self.verify == "usual" else [self.verify])
        return climb(Versions.of_change(context.snapshot, change), rungs, means_of(context))

    def allows(self, report: Report | None) -> bool:
        """Whether the change is to be written."""
        if report is None or self.keep:
            return True
        return report.standing.value not in ("failed", "could not run")


@dataclass(frozen=True, slots=True, kw_only=True)
class Editing(Writing):
    """Of a tool that writes text which somebody else has made."""

    allow_broken: bool = arg(
        "write a Python file or a notebook although it would no longer parse, and say so",
        default=False,
        group="Safety",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEditing(Editing):
    """Of a tool that edits one file, which the caller has to know."""

    expect: str | None = arg(
        "the digest of the file as you know it, or its first 8 digits or more, instead of having read it in the session",
        default=None,
        metavar="DIGEST",
        group="Safety",
    )
