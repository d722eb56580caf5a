"""LSP's text edits of one document as edits of its text: positions checked, the order of the array kept where it counts.

Several insertions at one place come in the order of the array, before a replacement that starts there. A position past the end of
a line or of the text means that end, unless the caller is strict; one inside of a character is refused always.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from lsptools.edit.splice import joined
from lsptools.errors import BadRequest, Refused
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Lines, LspPos, Offset, PositionEncoding, Span


def edits_from_lsp(
    lines: Lines, edits: Sequence[object], *, encoding: PositionEncoding, strict: bool
) -> Edits:
    """The edits of one entry, which all speak of one text. At one place, insertions come in the order of the array."""
    found: list[TextEdit] = []
    for each in edits:
        if not isinstance(each, Mapping) or not isinstance(each.get("newText"), str):
            raise invalid_edit("an edit without `newText` (snippets are not taken)")
        found.append(TextEdit(_span(lines, each.get("range"), encoding, strict), each["newText"]))
    numbered = list(enumerate(found))
    numbered.sort(key=lambda pair: (pair[1].span.start, pair[1].span.end > pair[1].span.start, pair[0]))
    _check_order(numbered, lines)
    ordered = [edit for _, edit in numbered]
    unique = [
        edit for n, edit in enumerate(ordered) if not n or edit != ordered[n - 1] or not edit.span.length
    ]
    for edit, following in pairwise(unique):
        if following.span.start < edit.span.end:
            at = lines.user_from_offset(following.span.start)
            raise Refused("overlap", f"two edits change the same text at {at}", hint="ask for the edit again")
    return joined(unique)


def _check_order(numbered: Sequence[tuple[int, TextEdit]], lines: Lines) -> None:
    """An insertion at the start of a replacement has to come before it in the array, or it is not known which is meant."""
    for (one, edit), (other, following) in pairwise(numbered):
        is_late = not edit.span.length and following.span.length and edit.span.start == following.span.start
        if is_late and one > other:
            at = lines.user_from_offset(edit.span.start)
            raise Refused(
                "overlap",
                f"a replacement and, after it in the list, an insertion at {at}: nothing says which is first",
                hint="ask for the edit again",
            )


def _span(lines: Lines, value: object, encoding: PositionEncoding, strict: bool) -> Span:
    if not isinstance(value, Mapping):
        raise invalid_edit("an edit without `range`")
    start, end = (_offset(lines, value.get(side), encoding, strict) for side in ("start", "end"))
    if end < start:
        raise invalid_edit("a range that ends before it starts")
    return Span(start, end)


def _offset(lines: Lines, value: object, encoding: PositionEncoding, strict: bool) -> Offset:
    line = value.get("line") if isinstance(value, Mapping) else None
    character = value.get("character") if isinstance(value, Mapping) else None
    if not isinstance(line, int) or not isinstance(character, int) or line < 0 or character < 0:
        raise invalid_edit("a position without `line` and `character`")
    at = lines.offset_from_lsp(LspPos(line, character), encoding)
    back = lines.lsp_from_offset(at, encoding)
    if line < lines.n_lines and character > back.character:
        end = lines.line_span(line).end
        if at != end:
            raise BadRequest(
                "invalid",
                f"line {line}, character {character} is inside of a character",
                hint="send positions in UTF-16 units, at the borders of characters",
            )
        if strict:
            raise _past(line, character, "the end of its line")
    is_whole = (
        line == lines.n_lines and character == 0
    )  # "one past the last line" is how the whole text is said
    if strict and line >= lines.n_lines and not is_whole:
        raise _past(line, character, "the end of the text")
    return at


def _past(line: int, character: int, what: str) -> BadRequest:
    return BadRequest(
        "invalid",
        f"line {line}, character {character} is past {what}",
        hint="ask for the edit again, or leave out --strict",
    )


def invalid_edit(why: str) -> BadRequest:
    """The error for what is no WorkspaceEdit."""
    return BadRequest(
        "invalid", f"the edit cannot be understood: {why}", hint="send a WorkspaceEdit of LSP 3.17"
    )
