"""What an edit comes to, before it is written: a `Change`, and what it means for each file.

A plan is made from one frozen snapshot and can be shown, checked, applied or dropped. The invariant: what `apply` writes for
`change` are the bytes of `FilePlan.after`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lsptools.edit.checks import Edited, check
from lsptools.edit.target import Opened, Target
from lsptools.errors import BadRequest, Refused, Site
from lsptools.text.document import Document, digest_of
from lsptools.text.edits import Edits
from lsptools.text.lines import Offset, Span
from lsptools.text.match import Tier
from lsptools.workspace.change import Change, Creation, Deletion, FileEdits, Move
from lsptools.workspace.snapshot import Snapshot

UNCHANGED = Edits()
Action = Literal["edited", "created", "overwritten", "unchanged", "deleted", "moved"]


@dataclass(frozen=True, slots=True)
class FilePlan:
    """One file before and after."""

    target: Target
    """By its name before; of a new file, by the name it gets."""
    action: Action
    before: Document | None
    after: Document | None
    edits: Edits = UNCHANGED
    """Of the text of `before`."""
    moved_to: Target | None = None
    tier: Tier | None = None
    """How the passage was found; `None` where none was looked for."""
    n_replaced: int = 0
    """How many passages were replaced."""
    kind: Literal["file", "link", "folder"] = "file"
    """What is deleted."""
    digest: str = ""
    """Of what is deleted, where no text is known of it (`Deletion.base_digest`)."""
    mode: int | None = None
    """Of a new file, see `Creation.mode`."""

    @property
    def name(self) -> str:
        """What the file is called after."""
        return (self.moved_to or self.target).name

    @property
    def spans_after(self) -> tuple[Span, ...]:
        """Where in the new text the changes are."""
        if self.after is None:
            return ()
        if self.before is None:
            return (Span(Offset(0), Offset(len(self.after.text))),)
        spans, shift = [], 0
        for edit in self.edits:
            start = edit.span.start + shift
            spans.append(Span(Offset(start), Offset(start + len(edit.new_text))))
            shift += edit.shift
        return tuple(spans)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that happens together."""

    change: Change
    files: tuple[FilePlan, ...]
    notes: tuple[str, ...] = ()


def edited(file: Opened, edits: Edits, *, tier: Tier | None = None, n_replaced: int = 0) -> FilePlan:
    """The plan for a file whose text gets these edits; `no_change` if it stays as it is."""
    before = file.document
    text = edits.apply(before.text)
    if text == before.text:
        raise no_change(file.target.name)
    return FilePlan(file.target, "edited", before, with_text(before, text), edits, None, tier, n_replaced)


def no_change(name: str) -> BadRequest:
    return BadRequest(
        "no_change",
        f"{name!r} would stay as it is, byte for byte",
        hint="send a new text that differs from what is there",
    )


def with_text(document: Document, text: str) -> Document:
    """The document with another text; `Refused` (`encoding`) if its encoding cannot say it."""
    other = replace(document, text=text)
    return replace(other, digest=digest_of(other.encode()))


def created(at: Target, text: str, mode: int | None = None) -> FilePlan:
    """The plan for a new file: UTF-8, its text as given, and perhaps its permission bits."""
    name = at.real_name  # behind a link that leads to nothing yet
    document = Creation(name, text).document
    try:
        data = document.encode()
    except Refused as refused:
        if refused.kind == "encoding":
            refused.hint = "a new file is written in UTF-8: leave out the declaration in its first two lines"
        raise
    return FilePlan(at, "created", None, replace(document, digest=digest_of(data)), mode=mode)


def _check_no_nul(file: FilePlan) -> None:
    """A text that has a NUL is refused, for nobody could edit it any more; unless it had one before."""
    before, after = file.before, file.after
    if after is None or "\0" not in after.text or (before is not None and "\0" in before.text):
        return
    line = after.lines.line_of(Offset(after.text.index("\0"))) + 1
    raise BadRequest(
        "invalid",
        f"the new text of {file.name!r} has a NUL character on line {line}, which no text file has",
        hint="send it without; where an escape is meant, write its backslash twice in JSON",
        sites=(Site(file.name, line, 1, "a NUL character"),),
    )


def _links(files: Sequence[FilePlan]) -> list[str]:
    """What is said of files that are named by a link to them."""
    return [
        f"{file.target.name!r} leads to {file.target.real_name!r}, which is what is written"
        for file in files
        if file.target.is_link and (file.edits or file.before is None)
    ]


def planned(
    snapshot: Snapshot,
    files: Sequence[FilePlan],
    *,
    label: str,
    allow_broken: bool,
    notes: Sequence[str] = (),
) -> Plan:
    """The plans of several files as one, after the checks."""
    for file in files:
        _check_no_nul(file)
    to_check = [
        Edited(file.name, file.before, file.after, file.edits) for file in files if file.after is not None
    ]
    found = [*_links(files), *check(snapshot, to_check, allow_broken=allow_broken)]
    change = Change(
        edits=tuple(
            FileEdits(file.target.real_name, file.edits, file.before.digest)
            for file in files
            if file.before is not None and file.after is not None and file.edits
        ),
        moves=tuple(
            Move(file.target.name, file.moved_to.name) for file in files if file.moved_to is not None
        ),
        creations=tuple(
            Creation(file.target.real_name, file.after.text, file.after.encoding, file.after.bom, file.mode)
            for file in files
            if file.before is None and file.after is not None
        ),
        deletions=tuple(
            Deletion(file.target.name, file.digest or (file.before.digest if file.before else ""), file.kind)
            for file in files
            if file.action == "deleted"
        ),
        notes=(*notes, *found),
        label=label,
    )
    return Plan(change, tuple(files), (*notes, *found))
