"""Where the statements of a module begin, found without parsing them.

A place counts as a beginning only if no string, bracket or line continuation reaches over it, by rules that are cheaper than
a tokenizer and err on one side: a beginning that is not seen joins two statements into one part, which is harmless. So each part
is one or more whole statements, and can be parsed by itself.

The rules: a line whose first character is in the first column and can begin a statement, not in a triple-quoted string, not after
a backslash, not behind a decorator, and with all brackets closed. Where triple quotes might not be those of a string (another quote
or a comment stands before them on their line, or a backslash before the last ones), and where brackets do not match, the whole file
is one part. Where it stops: between two beginnings brackets are first counted as characters, and looked at one by one only if the
numbers differ; a real one that is left open, and one in a string or comment that makes up for it, escape this.
"""

from __future__ import annotations

import re
from bisect import bisect_right

_BEGINNING = re.compile(rb"\n(?!el(?:se|if)\b|except\b|finally\b)[A-Za-z_@\"'\x80-\xff]")
_TRIPLE = re.compile(rb'"""|\'\'\'')
_TOKEN = re.compile(
    rb"""
      \"{3}(?:[^\\"]+|\\.|"(?!""))*\"{3}
    | '{3}(?:[^\\']+|\\.|'(?!''))*'{3}
    | "(?:[^"\\\n]+|\\.)*"
    | '(?:[^'\\\n]+|\\.)*'
    | \#[^\n]*
    | [()\[\]{}]
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENING, _CLOSING = frozenset(b"([{"), frozenset(b")]}")
_DECORATOR = ord("@")


def beginnings(source: bytes) -> list[int]:
    """The first byte of each part, ascending, the first one 0. UTF-8."""
    strings = _triple_quoted(source)
    if strings is None:
        return [0]
    found = [0]
    depth = last = previous = 0
    for match in _BEGINNING.finditer(source):
        at = match.end() - 1
        if bisect_right(strings, at) % 2 or _is_continued(source, at):
            continue
        depth += _opened(source, last, at)
        last = at
        if depth < 0:
            return [0]
        if depth == 0:
            if source[previous] != _DECORATOR:
                found.append(at)
            previous = at
    return found if depth + _opened(source, last, len(source)) == 0 else [0]


def _opened(source: bytes, start: int, end: int) -> int:
    """How many more brackets are opened than closed."""
    if (
        source.count(b"(", start, end) == source.count(b")", start, end)
        and source.count(b"[", start, end) == source.count(b"]", start, end)
        and source.count(b"{", start, end) == source.count(b"}", start, end)
    ):
        return 0
    opened = 0
    for token in _TOKEN.finditer(source, start, end):
        first = source[token.start()]
        opened += (first in _OPENING) - (first in _CLOSING)
    return opened


def _is_continued(source: bytes, at: int) -> bool:
    """Does the line before end in a backslash?"""
    before = at - 2 if source[at - 2 : at - 1] == b"\r" else at - 1
    return source[before - 1 : before] == b"\\"


def _triple_quoted(source: bytes) -> list[int] | None:
    """Where triple-quoted strings begin and end, in turns; None if that is not sure."""
    borders: list[int] = []
    quotes = b""
    for match in _TRIPLE.finditer(source):
        at = match.start()
        if not quotes:
            line = source.rfind(b"\n", 0, at) + 1
            before = source[line:at]
            if b"#" in before or b"'" in before or b'"' in before or b"\r" in before:
                return None
            if _is_continued(source, line):
                return None
            borders.append(at)
            quotes = match.group()
        elif match.group() == quotes:
            if source[at - 1] == _BACKSLASH:
                return None
            borders.append(match.end())
            quotes = b""
    return None if quotes else borders


_BACKSLASH = ord("\\")
