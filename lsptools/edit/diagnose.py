"""Why a passage is not there: the error for a miss, with the reason if one can be found, and the nearest passage.

Nothing here finds a place for an edit. Each reason is a guess that is verified: the passage, with one thing about it undone,
does occur. The first that holds is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lsptools.edit.nearest import nearest
from lsptools.edit.session import Session
from lsptools.edit.target import Opened
from lsptools.edit.visible import named, visible
from lsptools.errors import BadRequest, Site
from lsptools.text.document import Document, is_binary
from lsptools.text.lines import Lines, Offset, Span
from lsptools.text.match import first_exact

MOST_LINES = 12
"""How many lines of the nearest passage are shown."""
_LONGEST_LINE = 160
_MOST_LETTERS = 4
"""So many kinds of letters that were taken for others are named."""
_MOST_FOR_BLANKS = 2_000_000
"""Beyond so many characters, reasons that need a normalised copy of the text are not looked for."""


@dataclass(frozen=True, slots=True)
class Reason:
    """What is wrong with the passage, and what would work."""

    says: str
    hint: str
    at: Offset | None = None
    length: int = 0
    """Of what is there, in code points, where it has another number of lines than the passage."""


def missed(session: Session, file: Opened, old: str, new: str) -> BadRequest:
    """The error for a passage that occurs nowhere in the file."""
    text, name = file.document.text, file.target.name
    reason = next(_reasons(session, file, old, new), None)
    message = f"the text is not in {name!r}"
    hint = f"read {name} again and quote what is there, character for character"
    sites: list[Site] = []
    lines = file.document.lines
    if reason is not None:
        message, hint = f"{message}: {reason.says}", reason.hint
        if reason.at is not None:
            sites.append(_site(lines, name, reason.at, "it is here"))
    if reason is not None and reason.at is not None:
        end = reason.at + reason.length if reason.length else None
        last = min(lines.line_of(reason.at) + old.count("\n"), lines.n_lines - 1)
        last = last if end is None else lines.line_of(Offset(end))
        message += f"\nwhat is there:\n{_shown(lines, reason.at, lines.line_span(last).end)}"
    elif (found := nearest(text, old)) is not None:
        message += f"\nnearest passage ({found.score:.0f} % alike):\n{_shown(lines, found.span.start, found.span.end)}"
        message += _look_alikes(lines, found.span, old)
        sites.append(_site(lines, name, found.span.start, "nearest passage"))
    return BadRequest("not_found", message, hint=hint, sites=tuple(sites))


def _look_alikes(lines: Lines, span: Span, old: str) -> str:
    """What one cannot tell apart by looking: letters that are others than those quoted."""
    there = lines.text[span.start : span.end]
    quoted = old.strip("\r\n").replace("\r\n", "\n")
    there = there.replace("\r\n", "\n")
    if len(there) != len(quoted):
        quoted, there = quoted.strip(), there.strip()
    others = [(is_there, sent) for is_there, sent in zip(there, quoted, strict=False) if is_there != sent]
    if len(there) != len(quoted) or not 0 < len(set(others)) <= _MOST_LETTERS:
        return ""
    if all(is_there.isascii() and sent.isascii() for is_there, sent in others):
        return ""
    return "".join(
        f"\n{named(is_there)} is there, {named(sent)} was quoted" for is_there, sent in dict.fromkeys(others)
    )


def missed_lines(text: str, name: str, what: str, old: str) -> BadRequest:
    """The error for old lines of a patch that stand nowhere in the file."""
    message = f"the old lines of {what} are not in {name!r}"
    lines = Lines(text)
    found = nearest(text, old)
    if found is None:
        return BadRequest("not_found", message, hint=f"read {name} again and make the patch for it")
    return BadRequest(
        "not_found",
        f"{message}\nnearest passage ({found.score:.0f} % alike):\n{_shown(lines, found.span.start, found.span.end)}",
        hint=f"read {name} again; the lines that stay and those that go must be as they are in the file",
        sites=(_site(lines, name, found.span.start, "nearest passage"),),
    )


def _site(lines: Lines, name: str, at: Offset, says: str) -> Site:
    position = lines.user_from_offset(at)
    return Site(name, position.line, position.column, says)


def _shown(lines: Lines, start: Offset, end: Offset) -> str:
    """The passage with line numbers, and with what one cannot see made visible."""
    first, last = lines.line_of(start), lines.line_of(end)
    numbers = range(first, min(last, first + MOST_LINES - 1) + 1)
    shown = []
    for number in numbers:
        span = lines.line_span(number)
        at = max(span.start, start) if span.length > _LONGEST_LINE else span.start
        line = lines.text[at : min(span.end, at + _LONGEST_LINE)]
        cut = " …" if at + _LONGEST_LINE < span.end else ""
        shown.append(f"{number + 1:>6}│{visible(line)}{cut}")
    if last > numbers[-1]:
        shown.append(f"      … to line {last + 1}")
    return "\n".join(shown)


# Reasons


def _reasons(session: Session, file: Opened, old: str, new: str) -> Iterator[Reason]:
    text = file.document.text
    for reason in _CHEAP:
        if (found := reason(text, old, new)) is not None:
            yield found
    if len(text) <= _MOST_FOR_BLANKS:
        for reason in _WITH_COPY:
            if (found := reason(text, old, new)) is not None:
                yield found
    if (elsewhere := _elsewhere(session, file, old)) is not None:
        yield elsewhere


_NUMBERED = re.compile(r"^[ \t]*\d+[\t│|:→][ ]?", re.MULTILINE)
_NUMBER = re.compile(r"[ \t]*\d+[\t│|:→]")


def _line_numbers(text: str, old: str, _new: str) -> Reason | None:
    lines = [line for line in old.split("\n") if line.strip()]
    if not lines or not all(_NUMBER.match(line) for line in lines):
        return None
    for bare in (_NUMBER.sub("", old), re.sub(rf"(?m)^{_NUMBER.pattern}", "", old), _NUMBERED.sub("", old)):
        if bare.strip() and (at := first_exact(text, bare)) is not None:
            return Reason(
                "it was quoted with the line numbers that `read` shows in front of each line",
                "quote the lines without their numbers",
                at,
            )
    return None


def _already_there(text: str, old: str, new: str) -> Reason | None:
    if len(new.strip()) < 3 or (at := first_exact(text, new)) is None:
        return None
    end = at + len(new)
    if _is_in_word(text, at) or _is_in_word(text, end):
        return None
    likest = nearest(text, old)
    if likest is not None and likest.score >= _ALIKE and (likest.span.end <= at or end <= likest.span.start):
        return None  # what was quoted has become something else, elsewhere
    line = Lines(text).user_from_offset(at).line
    return Reason(
        f"the new text is there already, on line {line}: the edit seems to have been applied",
        "look at the file; if that is what you want, there is nothing to do",
        at,
    )


_ALIKE = 75
"""From so many percent on, a passage is what was quoted, with another detail."""


def _is_in_word(text: str, at: int) -> bool:
    """Is the place between two characters of a word?"""
    return 0 < at < len(text) and _is_of_word(text[at - 1]) and _is_of_word(text[at])


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


_UNESCAPED: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("it was quoted with one level of backslashes too many", lambda old: _without_escapes(old)),
    (
        "it was quoted with one level of backslashes too few",
        lambda old: old.replace("\\", "\\\\").replace('"', '\\"'),
    ),
    ("backslashes are doubled in the file", lambda old: old.replace("\\", "\\\\")),
    ("quotes have a backslash in the file", lambda old: old.replace('"', '\\"')),
    ("line ends are written as \\n in the file", lambda old: old.replace("\n", "\\n")),
)
_ESCAPE = re.compile(r"\\([ntr\"'\\])")
_MEANT = {"n": "\n", "t": "\t", "r": "\r"}


def _without_escapes(text: str) -> str:
    return _ESCAPE.sub(lambda found: _MEANT.get(found[1], found[1]), text)


def _quoting(text: str, old: str, _new: str) -> Reason | None:
    for says, change in _UNESCAPED:
        other = change(old)
        if other != old and (at := first_exact(text, other)) is not None:
            return Reason(says, "quote the text as it stands in the file, without escapes of your own", at)
    return None


def _line_ends(text: str, old: str, _new: str) -> Reason | None:
    if "\r" not in text or "\n" not in old:
        return None
    lines = [re.escape(line) for line in old.replace("\r\n", "\n").split("\n")]
    found = re.search(r"(?:\r\n|\n|\r)".join(lines), text)
    if found is None:
        return None
    return Reason(
        "a lone carriage return stands in the file where a line end was quoted",
        "a lone carriage return is a character like any other here; send it as \\r",
        Offset(found.start()),
    )


def _around(text: str, old: str, _new: str) -> Reason | None:
    bare = old.strip("\r\n")
    if bare == old or not bare.strip() or (at := first_exact(text, bare)) is None:
        return None
    return Reason(
        "it is there without the line ends that were quoted around it",
        "leave out the line ends before and after the text",
        at,
    )


def _indentation(text: str, old: str, _new: str) -> Reason | None:
    at = _place_by_lines(text, old, lambda line: line.strip())
    if at is None:
        return None
    indents = "".join(_indents(text[at:], old.count("\n") + 1))
    kind = "tabs" if "\t" in indents and " " not in indents else "spaces" if "\t" not in indents else "a mix"
    sent = (
        "tabs"
        if any("\t" in line[: len(line) - len(line.lstrip())] for line in old.split("\n"))
        else "spaces"
    )
    differ = f"the file indents with {kind}, {sent} were sent" if kind != sent else "the indentation differs"
    return Reason(
        f"{differ} (→ is a tab)", "indent as the file does; blanks at the start of a line count", at
    )


def _indents(text: str, n_lines: int) -> Iterator[str]:
    for line in text.split("\n", n_lines)[:n_lines]:
        yield line[: len(line) - len(line.lstrip(" \t"))]


def _spaces(text: str, old: str, _new: str) -> Reason | None:
    at = _place_by_lines(text, old, lambda line: " ".join(line.split()))
    if at is None:
        return None
    return Reason("the number of blanks inside a line differs", "quote the blanks as they are", at)


def _case(text: str, old: str, _new: str) -> Reason | None:
    # `lower` may change lengths; then the place would be wrong, and the reason is not told.
    lowered = text.lower()
    at = lowered.find(old.lower()) if len(lowered) == len(text) else -1
    if at < 0:
        return None
    return Reason("upper and lower case differ", "quote the letters as they are", Offset(at))


def _empty_lines(text: str, old: str, _new: str) -> Reason | None:
    wanted = [line for line in old.replace("\r\n", "\n").split("\n") if line.strip()]
    lines = Lines(text)
    filled = [(number, line) for number in range(lines.n_lines) if (line := lines.line_text(number)).strip()]
    forms = [line for _, line in filled]
    for first, form in enumerate(forms):
        if len(wanted) > 1 and form == wanted[0] and forms[first : first + len(wanted)] == wanted:
            at = Offset(lines.starts[filled[first][0]])
            end = lines.line_span(filled[first + len(wanted) - 1][0]).end
            return Reason(
                "empty lines between the lines differ", "quote the empty lines as they are", at, end - at
            )
    return None


_CHEAP = (_line_numbers, _quoting, _line_ends, _around, _already_there)
_WITH_COPY = (_indentation, _spaces, _case, _empty_lines)


def _elsewhere(session: Session, file: Opened, old: str) -> Reason | None:
    """The passage in another file that was read."""
    if len(old.strip()) < 4:
        return None
    for real, data in session.others(file.target.real).items():
        if is_binary(data):
            continue
        if first_exact(Document.decode(data).text, old) is not None:
            base = real.replace("\\", "/")
            root = file.target.real.replace("\\", "/").removesuffix(file.target.real_name)
            return Reason(
                f"it is in {base.removeprefix(root)!r}, which was read, too",
                f"send the edit for {base.removeprefix(root)}",
            )
    return None


def _place_by_lines(text: str, old: str, plain: Callable[[str], str]) -> Offset | None:
    """Where the passage stands when each line is compared in a plain form."""
    wanted = [plain(line) for line in old.replace("\r\n", "\n").strip("\n").split("\n")]
    if not any(wanted):
        return None
    lines = Lines(text)
    forms = [plain(lines.line_text(number)) for number in range(lines.n_lines)]
    anchor = max(range(len(wanted)), key=lambda number: len(wanted[number]))
    for number, form in enumerate(forms):
        first = number - anchor
        if form == wanted[anchor] and first >= 0 and forms[first : first + len(wanted)] == wanted:
            return Offset(lines.starts[first])
    return None
