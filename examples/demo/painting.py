"""Places, sentences and diffs as coloured text. Nothing here knows where it is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lsptools.languages.names import Evidence
from lsptools.text.lines import Lines, Offset, Span

LINE = 36
"""Columns for a line of source in a table."""

STYLE = {
    Evidence.CERTAIN: "green",
    Evidence.LIKELY: "cyan",
    Evidence.POSSIBLE: "yellow",
    Evidence.MENTION: "blue",
    Evidence.UNRELATED: "bright_black",
}
"""The colours that the command line uses."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line to point at."""

    where: str
    """`path:line:col`."""
    line: str
    mark: Span
    """The part of the line that is meant."""

    @classmethod
    def of(cls, lines: Lines, path: str, span: Span) -> Place:
        """The place of a span in a file."""
        at = lines.user_from_offset(span.start)
        start = at.column - 1
        mark = Span(Offset(start), Offset(start + span.length))
        return cls(f"{path}:{at.line}:{at.column}", lines.line_text(at.line - 1), mark)

    def painted(self, style: str) -> Text:
        """The line without its indentation, the part in a colour; cut at the left where the part would not be seen."""
        indent = start = len(self.line) - len(self.line.lstrip())
        if self.mark.end - indent > LINE - 4:
            start = min(self.mark.start, max(indent, self.mark.end + 8 - LINE))
        text = Text("…" if start > indent else "")
        text.append(self.line[start : self.mark.start])
        text.append(self.line[self.mark.start : self.mark.end], f"bold underline {style}")
        text.append(self.line[self.mark.end :].rstrip())
        text.truncate(LINE, overflow="ellipsis")
        return text


def prose(text: str, style: str = "default") -> Text:
    """A sentence; what stands in backquotes is in the colour of code."""
    painted = Text(text, style)
    painted.highlight_regex("`[^`]*`", "cyan")
    return painted


def counted(n: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def indented(shown: RenderableType, *, above: int = 0) -> Padding:
    """Two columns further in, perhaps with empty lines above."""
    return Padding(shown, (above, 0, 0, 2), expand=False)


def columns(widths: Sequence[int], heads: Sequence[str] = ()) -> Table:
    """An empty table without lines. What is too long is cut, in the last column folded."""
    table = Table(box=None, show_header=bool(heads), padding=(0, 1, 0, 0), header_style="bright_black")
    for number, width in enumerate(widths):
        last = number == len(widths) - 1
        head = heads[number] if heads else ""
        table.add_column(
            head,
            max_width=width,
            min_width=width // 2 if last else None,
            no_wrap=not last,
            overflow="fold" if last else "ellipsis",
        )
    return table


# ------------------------------------------------------------------ diffs


def diff(lines: Sequence[str]) -> Text:
    """Lines of a unified diff; the words that change stand out."""
    painted = [_diff_line(line) for line in lines]
    for removed, added in _replaced_lines(lines):
        _mark_words(painted[removed], painted[added])
    return Text("\n").join(painted)


def _diff_line(line: str) -> Text:
    if line.startswith(("--- ", "+++ ", "diff ")):
        return Text(line, "bold")
    return Text(line, {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "bright_black"))


def _replaced_lines(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Which removed line became which added one, by their numbers: the blocks of a rename have as many of either."""
    removed: list[int] = []
    n_added = 0
    for number, line in enumerate(lines):
        if line.startswith("-") and not line.startswith("--- "):
            removed, n_added = [*([] if n_added else removed), number], 0
        elif line.startswith("+") and n_added < len(removed):
            yield removed[n_added], number
            n_added += 1
        else:
            removed, n_added = [], 0


def _mark_words(old: Text, new: Text) -> None:
    """Make the words stand out in which two lines differ."""
    old_words, new_words = (list(re.finditer(r"\w+|\W", text.plain[1:])) for text in (old, new))
    matcher = SequenceMatcher(None, [w[0] for w in old_words], [w[0] for w in new_words], autojunk=False)
    for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        if tag != "equal":
            _mark(old, old_words[old_start:old_end], "red")
            _mark(new, new_words[new_start:new_end], "green")


def _mark(text: Text, words: Sequence[re.Match[str]], colour: str) -> None:
    if words:
        text.stylize(f"bold reverse {colour}", words[0].start() + 1, words[-1].end() + 1)
