"""A piece of Python moved to where it belongs: indented as the place is, in the steps that the file uses.

What is inside of a string that is no docstring stays as it is; a docstring moves along. The steps of the text are those by which
its blocks are deeper than what they belong to. If they are not the file's (blanks in a file of tabs, two blanks in a file of
four), each block gets the file's step, and a continued line too where it is whole steps deeper than its first line; what is
aligned otherwise keeps its blanks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from lsptools.syntax.tree import Node, parse


def moved_to(indent: str, text: str, step: str | None = None) -> list[str]:
    """The lines of a definition, indented with `indent`, without empty lines around them.

    `step` is how much deeper a block of the file is; `None`: the text's own steps stay.
    """
    lines = [line.rstrip("\r") for line in text.split("\n")]
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    bare = "\n".join(lines)
    parts = _Parts.of(bare)
    own = min(
        (leading(line) for number, line in enumerate(lines) if line.strip() and number not in parts.literal),
        key=len,
    )
    given = step_of(bare)
    if step is not None and given is not None and step != given:
        return list(_converted(lines, parts, _Steps(own, indent, given, step)))
    if own == indent:
        return lines
    return [
        line if number in parts.literal or not line.strip() else indent + line.removeprefix(own)
        for number, line in enumerate(lines)
    ]


def step_of(text: str, like: str = "") -> str | None:
    """How much deeper blocks are than what they belong to, mostly; where there are none, what is in brackets; else `None`.

    Lines end at `\\n`. If `like` is given, only steps of its kind of blanks count.
    """
    parts = _Parts.of(text)
    in_strings = parts.literal | parts.docstring
    lines = [line for number, line in enumerate(text.split("\n")) if number not in in_strings]
    for openers in (":", "([{"):
        found = Counter(step for step in _steps(lines, openers) if not like or step[0] == like[-1])
        if found:
            return found.most_common(1)[0][0]
    return None


def leading(line: str) -> str:
    """The blanks a line begins with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def _steps(lines: Iterable[str], openers: str) -> Iterator[str]:
    """How much deeper each line is than the one before it, if that ends with one of the openers."""
    header: str | None = None
    for line in lines:
        words = line.strip()
        if not words or words.startswith("#"):
            continue
        before = leading(line)
        if header is not None and before.startswith(header) and before != header:
            yield before[len(header) :]
        header = before if words.partition(" #")[0].rstrip()[-1] in openers else None


class _Parts:
    """Which lines, from 0, do not begin a statement. Not a value: made once for a text."""

    def __init__(self) -> None:
        self.literal: set[int] = set()
        """They begin inside of a string which is no docstring."""
        self.docstring: set[int] = set()
        """They begin inside of one."""
        self.continued: set[int] = set()
        """They begin inside of brackets, or behind a backslash."""

    @classmethod
    def of(cls, text: str) -> _Parts:
        # What is indented as a whole would not be parsed, so it is given something to be inside of.
        head = "if 1:\n" if text[:1] in " \t" else ""
        parts = cls()
        parts._take(parse((head + text).encode("utf-8", "surrogatepass")).root_node, head.count("\n"))
        parts.continued |= {n for n, line in enumerate(text.split("\n"), 1) if line.endswith("\\")}
        parts.continued -= parts.literal | parts.docstring
        return parts

    def _take(self, root: Node, n_before: int) -> None:
        waiting = [root]
        while waiting:
            node = waiting.pop()
            rows = range(node.start_point[0] + 1 - n_before, node.end_point[0] + 1 - n_before)
            if not rows:
                continue
            if node.type == "string":
                parent = node.parent
                is_docstring = parent is not None and parent.type == "expression_statement"
                (self.docstring if is_docstring else self.literal).update(rows)
                continue
            opening = next((each for each in node.children if each.type in ("(", "[", "{")), None)
            if opening is not None:
                first = opening.start_point[0] + 1 - n_before
                self.continued.update(range(first, rows.stop))
            waiting += node.children


class _Steps:
    """From the text's indentation to the file's. Not a value: it follows the blocks of a text from its first line on."""

    def __init__(self, own: str, indent: str, given: str, wanted: str) -> None:
        self._given, self._wanted = given, wanted
        self._blocks = [(own, indent)]
        self._last = (own, indent)

    def statement(self, before: str) -> str:
        """For the first line of a statement."""
        while len(self._blocks) > 1 and not before.startswith(self._blocks[-1][0]):
            self._blocks.pop()
        old, new = self._blocks[-1]
        if before != old and before.startswith(old):
            self._blocks.append((before, new + self._wanted))
        self._last = (before, self._blocks[-1][1])
        return self._last[1]

    def comment(self, before: str) -> str:
        """For a comment, which may stand anywhere and ends no block."""
        blocks = [each for each in self._blocks if before.startswith(each[0])] or self._blocks[:1]
        old, new = blocks[-1]
        return new if before == old else new + self._wanted

    def continued(self, before: str) -> str:
        """For a line inside of a statement."""
        old, new = self._last
        rest = before[len(old) :] if before.startswith(old) else ""
        n_steps, over = divmod(len(rest), len(self._given))
        is_whole = not over and rest == self._given * n_steps
        return new + (self._wanted * n_steps if is_whole and n_steps <= 2 else rest)

    def docstring(self, before: str) -> str:
        """For a line of a docstring, whose own indentation is text."""
        old, new = self._last
        return new + before[len(old) :] if before.startswith(old) else before


def _converted(lines: Sequence[str], parts: _Parts, steps: _Steps) -> Iterator[str]:
    for number, line in enumerate(lines):
        before, words = leading(line), line.lstrip(" \t")
        if number in parts.literal or not words:
            yield line
        elif number in parts.docstring:
            yield steps.docstring(before) + words
        elif number in parts.continued:
            yield steps.continued(before) + words
        elif words.startswith("#"):
            yield steps.comment(before) + words
        else:
            yield steps.statement(before) + words
