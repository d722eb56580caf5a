"""Text in the files of the workspace: ripgrep finds the lines, the documents say where that is.

A hit is a candidate and no more; `refs` is for symbols. ripgrep counts lines at `\\n` only and searches a file with a
declared encoding as its own bytes; both are put right here, so that a place means the same as everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from lsptools.errors import BadRequest
from lsptools.text.document import Document
from lsptools.text.lines import Offset, Span
from lsptools.workspace.ripgrep import Line, Query, Skipped
from lsptools.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Capture:
    """A part of a match that the query names."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Match:
    """Where something was found."""

    path: str
    span: Span
    captures: tuple[Capture, ...] = ()


@dataclass(frozen=True, slots=True)
class Matches:
    """What was found, by path and place, as far as the limit allowed."""

    matches: tuple[Match, ...]
    n_matches: int
    """How many there are, beyond the limit, too."""
    n_files: int
    """In how many files."""
    skipped: tuple[Skipped, ...] = ()
    """Files that could not be searched."""


def search_text(snapshot: Snapshot, query: Query) -> Matches:
    """Every occurrence of a text or a regular expression, line by line."""
    hits = snapshot.search(query)
    found: list[Match] = []
    skipped = list(hits.skipped)
    for path, lines in groupby(hits.lines, key=lambda line: line.path):
        try:
            document = snapshot.document(path)
        except BadRequest as error:
            skipped.append(Skipped(path, error.message))
            continue
        found += _matches(path, document, lines)
    return Matches(tuple(found), hits.n_matches, hits.n_files, tuple(skipped))


def _matches(path: str, document: Document, lines: Iterator[Line]) -> Iterator[Match]:
    starts = [0, *(found.end() for found in re.finditer("\n", document.text))]
    for line in lines:
        for start, end in line.spans:
            at = starts[line.number - 1]
            span = Span(
                Offset(at + _n_characters(document, line, start)),
                Offset(at + _n_characters(document, line, end)),
            )
            yield Match(path, span)


def _n_characters(document: Document, line: Line, column: int) -> int:
    """How many code points of the document the first `column` code points of ripgrep's line are."""
    before = line.text[:column]
    if before.isascii() or document.bom or document.encoding == "utf-8":
        return column
    return len(before.encode("utf-8", "surrogateescape").decode(document.encoding, "replace"))
