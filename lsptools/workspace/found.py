"""What a search answers, whoever searched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from lsptools.errors import BadRequest
from lsptools.text.lines import ByteOffset
from lsptools.workspace.globs import checked_globs


class Why(str, Enum):
    """Why something was not searched as text."""

    LEFT_OUT = "left_out"
    """Not the workspace's own source: a virtual environment, installed packages, compiled files."""
    BINARY = "binary"
    """It has what was searched for, and a NUL in its first 8 kB."""
    LARGE = "large"
    """It is larger than the limit, and has what was searched for or is too large even to look."""
    UNREADABLE = "unreadable"
    """The operating system refused."""


@dataclass(frozen=True, slots=True, order=True)
class Skipped:
    """A file or folder in which something could have been found, and was not looked for or cannot be shown as text."""

    path: str
    """Relative to the root with `/`."""
    reason: str
    """One phrase."""
    why: Why = Why.UNREADABLE


@dataclass(frozen=True, slots=True)
class Found:
    """Files, sorted, and all that was skipped on the way, sorted."""

    files: tuple[str, ...]
    skipped: tuple[Skipped, ...] = ()


_Result_co = TypeVar("_Result_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Search(Generic[_Result_co]):
    """A search that is under way. One of the two has to be called, once."""

    result: Callable[[], _Result_co]
    """Waits for it."""
    cancel: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Line:
    """A line that matches, or one around it."""

    path: str
    number: int
    """From 1; only `\\n` ends a line here, so this can differ from `Lines` in files with a lone `\\r`."""
    at: ByteOffset
    """Where the line starts, in bytes of the file as UTF-8 without byte order mark.

    A file in an encoding that is declared rather than marked (Latin-1 by PEP 263) is searched as its own bytes."""
    text: str
    """Without its line end. Bytes that are not UTF-8 are lone surrogates (`surrogateescape`)."""
    spans: tuple[tuple[int, int], ...]
    """What matched, in code points of `text`; empty for a line that is only around one."""


@dataclass(frozen=True, slots=True)
class Hits:
    """What a search found: lines by path and number."""

    lines: tuple[Line, ...]
    n_matches: int
    """All matches, also in lines beyond the limit."""
    n_files: int
    """All files with a match."""
    is_cut: bool
    """There are more lines than the limit let through."""
    skipped: tuple[Skipped, ...] = ()

    def joined(self, others: Sequence[Hits], limit: int) -> Hits:
        """These and those in other files, as one answer of at most `limit` lines."""
        if not others:
            return self
        parts = (self, *others)
        lines = sorted((line for part in parts for line in part.lines), key=by_place)
        return Hits(
            tuple(lines[:limit]),
            sum(part.n_matches for part in parts),
            sum(part.n_files for part in parts),
            len(lines) > limit or any(part.is_cut for part in parts),
            tuple(sorted(skipped for part in parts for skipped in part.skipped)),
        )


def by_place(line: Line) -> tuple[str, int]:
    """The order of lines in an answer."""
    return line.path, line.number


class Case(str, Enum):
    """How letters compare."""

    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"
    SMART = "smart"
    """Insensitive unless the pattern has a capital letter."""


@dataclass(frozen=True, slots=True)
class Query:
    """What to search for, line by line."""

    pattern: str
    """A regular expression (ripgrep's, or Python's where there is no ripgrep: they agree on all that is common)."""
    fixed: bool = False
    """`pattern` is a text, no expression."""
    word: bool = False
    """Only where no word character touches it, by Unicode's rules."""
    case: Case = Case.SENSITIVE
    context: int = 0
    """How many lines around each match."""
    globs: tuple[str, ...] = ()
    """As `globs.is_wanted` reads them."""
    limit: int = 10_000
    """At most so many lines in the answer, context included."""

    def __post_init__(self) -> None:
        if not self.pattern or any(character in self.pattern for character in "\n\0"):
            raise BadRequest(
                "invalid", f"{self.pattern!r} is no pattern for one line", hint="search for part of a line"
            )
        try:
            self.pattern.encode()
        except UnicodeEncodeError:
            raise BadRequest(
                "invalid", f"{self.pattern!r} cannot be said in UTF-8", hint="leave out the odd character"
            ) from None
        if self.context < 0 or self.limit < 1:
            raise BadRequest("invalid", "context starts at 0, limit at 1", hint="send other numbers")
        checked_globs(self.globs)
