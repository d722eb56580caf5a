"""The open documents of an editor: text, version, and the URI as the editor spells it.

The mirror is kept by our own rules of lines and units, change by change; the invariant is that the text equals the
editor's after every notification. A text that holds half of a surrogate pair is kept as it is, too: it is spliced in
UTF-16 units, and is whole again when the other half comes. Documents are values; whoever holds one holds a snapshot.

Where it stops: a notification for a document that is not open is dropped, and one that is older than what is known is
not applied.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from lsptools.errors import ToolError
from lsptools.text.document import Document
from lsptools.text.lines import Lines, LspPos, PositionEncoding


@dataclass(frozen=True, slots=True)
class Opened:
    """A document that the editor has open."""

    uri: str
    """As the editor spelled it when it opened the document."""
    path: str | None
    """Absolute; None for a document that is no file."""
    language: str
    version: int
    text: str


@dataclass(frozen=True, slots=True)
class Replacement:
    """One change of a document: the text between two positions becomes another; without positions, all of it does."""

    text: str
    start: LspPos | None = None
    end: LspPos | None = None


class Documents:
    """The open documents, by what their URI means rather than by how it is spelled. Used by one thread only."""

    def __init__(self) -> None:
        self._opened: dict[str, Opened] = {}
        self.generation = 0
        """Goes up with every change of what an answer may depend on."""

    def add(self, uri: str, language: str, version: int, text: str) -> None:
        """The editor opened a document, or opened it anew."""
        self._opened[key_of(uri)] = Opened(uri, path_of(uri), language, version, text)
        self.generation += 1

    def change(
        self, uri: str, version: int, changes: Iterable[Replacement], encoding: PositionEncoding
    ) -> bool:
        """Apply changes one after another; False if the document is not open, or is newer than that."""
        known = self._opened.get(key_of(uri))
        if known is None or version < known.version:
            return False
        text = known.text
        for change in changes:
            text = replaced(text, change, encoding)
        self._opened[key_of(uri)] = replace(known, version=version, text=text)
        self.generation += 1
        return True

    def close(self, uri: str) -> bool:
        """The disk counts again; False if the document was not open."""
        self.generation += 1
        return self._opened.pop(key_of(uri), None) is not None

    def touch(self) -> None:
        """Something else changed that answers depend on: a file on the disk, a folder of the workspace."""
        self.generation += 1

    def get(self, uri: str) -> Opened | None:
        """The document that a URI means, if it is open."""
        return self._opened.get(key_of(uri))

    def all(self) -> Mapping[str, Opened]:
        """All of them as they are now, by key."""
        return dict(self._opened)


def is_unsaved(document: Opened) -> bool:
    """Has it another text than its file? True for what is no text on the disk; False for a document that is no file."""
    if document.path is None:
        return False
    try:
        on_disk = Document.decode(Path(document.path).read_bytes())
    except (OSError, ToolError):
        return True
    return document.text.removeprefix("\ufeff") != on_disk.text


def replaced(text: str, change: Replacement, encoding: PositionEncoding) -> str:
    """The text after one change. Positions past a line's or the text's end are moved there."""
    if change.start is None or change.end is None:
        return change.text
    lines = Lines(text)
    start, end = (lines.offset_from_lsp(at, encoding) for at in (change.start, change.end))
    in_units = encoding is PositionEncoding.UTF16 and (
        _SURROGATE.search(text) is not None
        or _SURROGATE.search(change.text) is not None
        or is_inside_character(lines, change.start, encoding)
        or is_inside_character(lines, change.end, encoding)
    )
    if in_units:
        return _spliced_in_units(text, change.start, change.end, change.text)
    start, end = min(start, end), max(start, end)
    return text[:start] + change.text + text[end:]


def is_inside_character(lines: Lines, at: LspPos, encoding: PositionEncoding) -> bool:
    """Does a position point into a surrogate pair, or into the bytes of a character?"""
    if at.line >= lines.n_lines:
        return False
    offset = lines.offset_from_lsp(at, encoding)
    if offset == lines.line_span(at.line).end:
        return False
    return lines.lsp_from_offset(offset, encoding).character != at.character


def _spliced_in_units(text: str, start: LspPos, end: LspPos, new: str) -> str:
    # One character per UTF-16 unit. Such a text has the same lines, and no character that a position could be inside of.
    units = _units(text)
    lines = Lines(units)
    a, b = (lines.offset_from_lsp(at, PositionEncoding.UTF32) for at in (start, end))
    whole = units[: min(a, b)] + _units(new) + units[max(a, b) :]
    return whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _units(text: str) -> str:
    data = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(data[at] | data[at + 1] << 8) for at in range(0, len(data), 2))


_SURROGATE = re.compile("[\ud800-\udfff]")


# URIs


def path_of(uri: str) -> str | None:
    """The absolute path of a `file:` URI, percent-decoded and without dots; None for another scheme or a relative path.

    None, too, for a part of a file (`#…`), as editors name the cells of a notebook.
    """
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme.lower() != "file" or parts.fragment:
        return None
    path = unquote(parts.path, errors="surrogateescape")
    if os.name == "nt":
        if re.match(r"/[A-Za-z]:", path):
            path = path[1].upper() + path[2:]
        elif parts.netloc:
            path = f"//{parts.netloc}{path}"
    if "\0" in path or not os.path.isabs(path):
        return None
    return os.path.normpath(path)


def key_of(uri: str) -> str:
    """The same for all spellings of one document's URI."""
    return path_of(uri) or uri


def uri_of(path: str) -> str:
    """The URI of an absolute path."""
    forward = path.replace(os.sep, "/")
    drive = "" if forward.startswith("/") else "/"
    return "file://" + drive + quoted(forward)


def quoted(path: str) -> str:
    """A path as it stands in a URI."""
    return quote(
        os.fsencode(path) if os.name != "nt" else path,
        safe="/:@!$&'()*+,;=~-._" if os.name == "nt" else "/~-._",
    )
