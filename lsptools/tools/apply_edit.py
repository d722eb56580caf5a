"""`apply-edit`: do a WorkspaceEdit of the language server protocol, all of it or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lsptools.edit.workspace_edit import Buffer, Options, plan_workspace_edit
from lsptools.errors import BadRequest
from lsptools.tools.base import Context, Example, Tool, arg
from lsptools.tools.changes import ChangeAnswer, change
from lsptools.tools.writing import Editing

Json = Mapping[str, Any]  # what a program sent


@dataclass(frozen=True, slots=True)
class Params(Editing):
    edit: Json = arg(
        "the WorkspaceEdit; on the command line a JSON FILE with it",
        positional=True,
        kind="json",
        metavar="FILE",
    )
    overlays: Json | None = arg(
        "the documents that are open in an editor, by path, each with version and text; they are not written, "
        "their new texts are in the answer",
        default=None,
        kind="json",
        metavar="FILE",
        group="State",
    )
    digests: Json | None = arg(
        "the SHA-256 of files by path, as they were when the edit was made; another content is refused",
        default=None,
        kind="json",
        metavar="FILE",
        group="State",
    )
    accept: tuple[str, ...] = arg(
        "confirm the change annotation ID; repeat it", default=(), metavar="ID", group="Decisions"
    )
    strict: bool = arg(
        "refuse positions past the end of a line or of the text", default=False, group="Safety"
    )


@dataclass(frozen=True, slots=True)
class ApplyEditAnswer(ChangeAnswer):
    """A change, and the new texts of documents that are open."""

    buffers: Mapping[str, str] | None = None

    def to_json(self) -> dict[str, object]:
        # Not `super()`: a slotted dataclass is another class than the one that was written here.
        return {**ChangeAnswer.to_json(self), "buffers": dict(self.buffers or {})}


def run(context: Context, params: Params) -> ApplyEditAnswer:
    """Plan and do it."""
    options = Options(
        buffers=_buffers(params.overlays or {}),
        digests=_digests(params.digests or {}),
        accepted=params.accept,
        strict=params.strict,
        allow_broken=params.allow_broken,
    )
    planned = plan_workspace_edit(context.snapshot, params.edit, options)
    answer = change(context, (), lambda: planned.plan, params)
    return ApplyEditAnswer(
        answer.plan,
        answer.applied,
        answer.snapshot,
        answer.is_preview,
        answer.is_diff_wanted,
        answer.warnings,
        answer.report,
        answer.is_held_back,
        buffers=planned.buffers,
    )


def _buffers(overlays: Json) -> dict[str, Buffer]:
    found = {}
    for path, each in overlays.items():
        text = each.get("text") if isinstance(each, Mapping) else None
        if not isinstance(text, str):
            raise BadRequest("invalid", f"the overlay of {path!r} has no text", hint="send version and text")
        version = each.get("version")
        found[path] = Buffer(text, version if isinstance(version, int) else None)
    return found


def _digests(digests: Json) -> dict[str, str]:
    if not all(isinstance(digest, str) for digest in digests.values()):
        raise BadRequest("invalid", "`digests` is not SHA-256 by path", hint="send hexadecimal digests")
    return {path: str(digest).lower() for path, digest in digests.items()}


TOOL = Tool(
    name="apply-edit",
    summary="Apply a WorkspaceEdit of the language server protocol, all of it or nothing.",
    guide=(
        "Entries are taken in order: text edits, creations, renames and deletions, each on what the ones before it have "
        "left. Several text edits of one document have to come to the same text as all of them together (`ambiguous`). "
        "An edit is of the file that a name leads to; a rename or deletion is of the name itself, also of a link, a binary "
        "file or a folder with all that is in it. Ranges that overlap, positions inside of a character, files outside of the workspace and versions that are "
        "not the open ones are refused, and then nothing is written; the error has the number of the entry (`failed_change`). "
        "Edits whose annotation needs confirmation are refused until `--accept` names it. Positions are in UTF-16."
    ),
    params=Params,
    run=run,
    writes=True,
    examples=(
        Example("apply-edit edit.json --diff", "see what it would do"),
        Example(
            "apply-edit edit.json --digests digests.json --strict", "only if the files are what they were"
        ),
    ),
    found="applied, or with --diff or --check: it would be",
    not_found="refused, or a file is not what it was, and nothing was written",
)
