"""Words as they are searched for: patterns over bytes, the same for ripgrep and for Python.

A word is whole where no ASCII letter, digit or underscore touches it; a byte that is not ASCII does not count, nor what
looks like an escape sequence before it (`get` in `"\\nget"`). That finds more than the rules of Unicode would (`get` in `éget`),
never less, and it does not depend on the encoding of the file.
Under Unicode's rules ripgrep leaves out a word that touches a byte which is not UTF-8, as in a Latin-1 file; who
decides what a word means parses the file anyway, and nothing may be lost before that.

A word that is not ASCII is also looked for in the encodings that source files declare (PEP 263). Not found: such a word
spelled in another normal form (send both), and any word in UTF-32.

Beside words there are marks: characters one of which may stand in a file. A file counts too if its bytes begin like a mark
in UTF-8, or if it declares another encoding, in which they would be other bytes. That is more than has the marks, and a
pattern so short and plain that ripgrep takes hardly longer with it than without.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from lsptools.errors import BadRequest

_ENCODINGS = (
    # UTF-8 first; then what Python sources are known to declare. ASCII words have the same bytes in all of them.
    *("utf-8", "iso8859-1", "iso8859-2", "iso8859-5", "iso8859-7", "iso8859-15"),
    *("cp1250", "cp1251", "cp1252", "cp1253", "koi8-r", "mac-roman"),
    *("shift_jis", "euc_jp", "gb18030", "big5", "euc_kr"),
)

_IS_WORD_BYTE = re.compile(rb"[0-9A-Za-z_]")


def checked_words(words: Sequence[str]) -> tuple[str, ...]:
    """`words` without repetitions, if each can be searched for."""
    if isinstance(words, str):
        raise TypeError("a sequence of words, not one string")
    if not words:
        raise BadRequest("invalid", "there is no word to search for", hint="name at least one word")
    for word in words:
        if not word or any(character in word for character in "\n\r\0"):
            raise BadRequest(
                "invalid", f"{word!r} is not a word to search for", hint="name a word on one line, not empty"
            )
        try:
            word.encode()
        except UnicodeEncodeError:
            raise BadRequest(
                "invalid", f"{word!r} cannot be said in UTF-8", hint="search for another word in the file"
            ) from None
    return tuple(dict.fromkeys(words))


def rust_patterns(words: Sequence[str], *, whole: bool, marks: Sequence[str] = ()) -> tuple[str, ...]:
    """The patterns for ripgrep of each word and spelling in bytes, and those of the marks, in ASCII only."""
    literals = (
        f"(?-u:{pattern})"
        for word in words
        for spelling in _spellings(word)
        for pattern in _with_borders(_rust_literal(spelling), spelling, whole=whole)
    )
    beginnings = (f"(?-u:{_rust_literal(beginning)})" for beginning in _beginnings(marks))
    declares = (f"(?-u:{_DECLARES})",) if marks else ()
    return (*literals, *beginnings, *declares)


def python_pattern(words: Sequence[str], *, whole: bool, marks: Sequence[str] = ()) -> re.Pattern[bytes]:
    """One pattern over bytes that finds what ripgrep finds with `rust_patterns`."""
    parts = [
        f"(?:{pattern})"
        for word in words
        for spelling in _spellings(word)
        for pattern in _with_borders(re.escape(spelling).decode("latin-1"), spelling, whole=whole)
    ]
    parts += [re.escape(beginning).decode("latin-1") for beginning in _beginnings(marks)]
    if marks:
        parts.append(f"(?:{_DECLARES})")
    return re.compile("|".join(parts).encode("latin-1"), re.MULTILINE)


def word_test(words: Sequence[str], *, whole: bool, marks: Sequence[str] = ()) -> Callable[[str], bool]:
    """Tells of texts whether one of `words` is in them, or what may be one of `marks`. By the same rules."""
    pattern = python_pattern(words, whole=whole, marks=marks)
    return lambda text: pattern.search(text.encode("utf-8", "surrogatepass")) is not None


_DECLARES = r"^[ \t\f]*#.*coding[:=][ \t]*(?:[-_.0-9A-TV-Za-tv-z]|[uU][-_.0-9A-SU-Za-su-z])"
"""A line that declares an encoding whose name does not begin with `ut`."""


def _beginnings(marks: Sequence[str]) -> tuple[bytes, ...]:
    """What the marks begin with in UTF-8: at most three bytes, which many of them share."""
    return tuple(dict.fromkeys(mark.encode()[:3] for mark in marks))


def _spellings(word: str) -> tuple[bytes, ...]:
    if word.isascii():
        return (word.encode(),)
    found: dict[bytes, None] = {}
    for encoding in _ENCODINGS:
        try:
            found[word.encode(encoding)] = None
        except UnicodeEncodeError:
            continue
    return tuple(found)


def _with_borders(literal: str, spelling: bytes, *, whole: bool) -> Iterator[str]:
    """One pattern would do; ripgrep is twice as fast with two."""
    after = r"\b" if whole and _IS_WORD_BYTE.match(spelling[-1:]) else ""
    if not whole or not _IS_WORD_BYTE.match(spelling[:1]):
        yield f"{literal}{after}"
        return
    yield rf"\b{literal}{after}"
    yield f"{_ESCAPE}{literal}{after}"


_ESCAPE = r"\\(?:[nrtv]|[xuU]?[0-9A-Fa-f]+)"
"""What looks like an escape sequence that ends with a letter or digit: all of Python's, and some more."""


def _rust_literal(spelling: bytes) -> str:
    return "".join(
        chr(byte) if _IS_WORD_BYTE.match(bytes((byte,))) else f"\\x{byte:02X}" for byte in spelling
    )
