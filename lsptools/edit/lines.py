"""Whole lines by their numbers, all of one baseline: for callers that do not want to quote what they replace.

The numbers are those of `read`, and the digest says of which text; so every range of a call speaks of the text before the call.
A notebook, of which `read` shows cells, is edited this way only by who has read it as the JSON it is.
Lines keep their line ends where they stay, the last line keeps or lacks its own, and ranges may touch but not overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lsptools.edit.notebook import is_notebook
from lsptools.edit.placeholders import check_no_placeholder
from lsptools.edit.plan import Plan, edited, planned
from lsptools.edit.session import Session
from lsptools.edit.splice import edits_for_lines, joined, style_of
from lsptools.edit.target import Opened, opened, target
from lsptools.errors import BadRequest, Site
from lsptools.text.edits import TextEdit
from lsptools.text.lines import Lines, Offset, Span, split_lines
from lsptools.text.match import Piece
from lsptools.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class LineEdit:
    """Lines `start` to `end` (1-based, both included) become `new_text`.

    `end = start - 1` inserts before line `start`, which may be one past the last. An empty `new_text` deletes the lines; a line end
    after its last line may be there or not.
    """

    start: int
    end: int
    new_text: str


def plan_lines(
    snapshot: Snapshot,
    session: Session,
    path: str,
    edits: Sequence[LineEdit],
    *,
    expect: str | None = None,
    allow_broken: bool = False,
) -> Plan:
    """The plan for these edits of whole lines of one file."""
    if not edits:
        raise BadRequest("invalid", "there are no edits", hint="send at least one range of lines")
    file = opened(snapshot, session, target(snapshot, path), expect)
    check_lines_shown(session, file)
    lines, name = file.document.lines, file.target.name
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    _check_ranges(ordered, _n_lines(lines), name)
    for edit in ordered:
        check_no_placeholder(edit.new_text, file.document.text)
    found = [each for edit in _with_appended(ordered, _n_lines(lines)) for each in line_edits(lines, edit)]
    plan = edited(file, joined(found), n_replaced=len(edits))
    return planned(snapshot, [plan], label=f"edit lines of {name}", allow_broken=allow_broken)


def check_lines_shown(session: Session, file: Opened) -> None:
    """`invalid` if the lines of the file are not those that `read` shows: a notebook is shown as cells."""
    at = file.target
    if is_notebook(at.real_name, file.document.text) and at.real not in session.raw:
        raise BadRequest(
            "invalid",
            f"the lines that `read` shows of the notebook {at.name!r} are those of its cells, not those of the file",
            hint=f"quote the passage with `edit`; or read {at.name} with `raw`, in the same session, and send the numbers of its JSON",
        )


def line_edits(lines: Lines, edit: LineEdit) -> list[TextEdit]:
    """The edits of the text that a checked edit of lines comes to."""
    text, n_lines = lines.text, _n_lines(lines)
    style = style_of(text, lines.starts[min(edit.start, lines.n_lines) - 1])
    new = _without_last_end(edit.new_text)
    if edit.end < edit.start:
        return [_insertion(lines, edit, style.newline)]
    first, last = lines.line_span(edit.start - 1), lines.line_span(edit.end - 1)
    if not edit.new_text:
        is_to_the_end = edit.end == n_lines and edit.end == lines.n_lines
        end = last.end if is_to_the_end else lines.starts[edit.end]
        return [TextEdit(Span(first.start, Offset(end)), "")]
    spans = [lines.line_span(number) for number in range(edit.start - 1, edit.end)]
    following = [*lines.starts[edit.start : edit.end + 1], last.end][: len(spans)]
    pieces = [
        Piece(span.start, span.end, span.end, next) for span, next in zip(spans, following, strict=True)
    ]
    if edit.end < lines.n_lines:
        # The line end of the last line is one of those that stay.
        end = lines.starts[edit.end]
        pieces.append(Piece(end, end, end, end))
        new += "\n"
    return edits_for_lines(text, pieces, new, style)


def _with_appended(ordered: Sequence[LineEdit], n_lines: int) -> Sequence[LineEdit]:
    """What is put behind the last line, where that one changes too, is part of the change: it decides where the line ends are."""
    *others, last = ordered
    if others and last.start == n_lines + 1 and others[-1].end == n_lines >= others[-1].start:
        before = others.pop()
        kept = f"{_without_last_end(before.new_text)}\n" if before.new_text else ""
        return [*others, LineEdit(before.start, before.end, kept + (last.new_text or "\n"))]
    return ordered


def _insertion(lines: Lines, edit: LineEdit, newline: str | None) -> TextEdit:
    new = [line.rstrip("\r\n") for line in split_lines(edit.new_text)] or [""]
    end = newline or "\n"
    if edit.start <= lines.n_lines:
        at = lines.starts[edit.start - 1]
        return TextEdit(Span(Offset(at), Offset(at)), "".join(line + end for line in new))
    at = len(lines.text)
    return TextEdit(Span(Offset(at), Offset(at)), "".join(end + line for line in new))


def _without_last_end(text: str) -> str:
    for end in ("\r\n", "\n", "\r"):
        if text.endswith(end):
            return text.removesuffix(end)
    return text


def _n_lines(lines: Lines) -> int:
    """As `read` counts: an empty line after the last line end is none."""
    return lines.n_lines if lines.line_span(lines.n_lines - 1).length else lines.n_lines - 1


def _check_ranges(edits: Sequence[LineEdit], n_lines: int, name: str) -> None:
    before: LineEdit | None = None
    for edit in edits:
        is_insertion = edit.end == edit.start - 1
        last = edit.start - 1 if is_insertion else edit.end
        if edit.start < 1 or edit.end < edit.start - 1 or last > n_lines:
            raise BadRequest(
                "invalid",
                f"there are no lines {edit.start} to {edit.end} in {name!r}, which has {n_lines}",
                hint="name lines that are there; `end` one less than `start` inserts before `start`",
            )
        if before is not None and (
            edit.start <= before.end or (edit.start, edit.end) == (before.start, before.end)
        ):
            raise BadRequest(
                "overlap",
                f"lines {before.start} to {before.end} and lines {edit.start} to {edit.end} of {name!r} overlap",
                hint="send one edit for all of these lines",
                sites=(Site(name, edit.start, 1, "in both ranges"),),
            )
        before = edit
