"""ripgrep's JSON lines become lines of an answer.

ripgrep searches in parallel, so its files come in any order; the answer is the first lines by path and number all the
same, and no more than about twice as many are kept. Columns are bytes there and code points here.
"""

# ruff: noqa: PTH123
# Strings, not `Path`: every file that matches is opened here.

from __future__ import annotations

import json
import os
from base64 import b64decode
from collections.abc import Container
from typing import Any

from lsptools.text.document import is_binary
from lsptools.text.lines import ByteOffset
from lsptools.workspace.found import Hits, Line, Query, Skipped, by_place
from lsptools.workspace.globs import is_wanted
from lsptools.workspace.paths import Root
from lsptools.workspace.survey import binary

Message = dict[str, Any]
"""A JSON object of ripgrep's; its form is fixed by `type`, and only the parts read here are looked at."""


class Gathering:
    """Takes what ripgrep prints for a query, line by line.

    Files in `without` do not count. With a `path`, all is about one text, which is called so.
    """

    def __init__(
        self, root: Root, query: Query, *, without: Container[str] = (), path: str | None = None
    ) -> None:
        self.binaries: list[Skipped] = []
        self._top = os.path.join(root.path, "")
        self._query = query
        self._without = without
        self._path = path
        self._is_in = path is not None
        """Whether the file that is being told about belongs to the answer."""
        self._lines: list[Line] = []
        self._n_lines = self._n_matches = self._n_files = 0

    def add(self, line: bytes) -> None:
        """Take one line of JSON."""
        message: Message = json.loads(line)
        kind = message["type"]
        if kind == "begin":
            self._begin(_path(message["data"]))
        elif kind in ("match", "context") and self._is_in:
            self._add(message["data"])

    @property
    def has_lines(self) -> bool:
        """Was any line taken?"""
        return bool(self._lines)

    def hits(self) -> Hits:
        """All that was taken."""
        self._cut()
        return Hits(tuple(self._lines), self._n_matches, self._n_files, self._n_lines > self._query.limit)

    def _begin(self, path: str) -> None:
        if self._path is None:
            is_wanted_here = path not in self._without and is_wanted(path, self._query.globs)
            self._is_in = is_wanted_here and self._is_text(path)
        self._n_files += self._is_in

    def _is_text(self, path: str) -> bool:
        try:
            is_text = not has_binary_head(self._top + path)
        except OSError:
            return False  # gone meanwhile: ripgrep has just read it
        if not is_text:
            self.binaries.append(binary(path))
        return is_text

    def _add(self, data: Message) -> None:
        raw = _bytes(data["lines"])
        text = raw.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "surrogateescape")
        spans = tuple(_span(raw, text, found["start"], found["end"]) for found in data["submatches"])
        path = self._path or _path(data)
        self._lines.append(Line(path, data["line_number"], ByteOffset(data["absolute_offset"]), text, spans))
        self._n_lines += 1
        self._n_matches += len(spans)
        if len(self._lines) > 2 * self._query.limit + 1000:
            self._cut()

    def _cut(self) -> None:
        self._lines.sort(key=by_place)
        del self._lines[self._query.limit :]


def has_binary_head(absolute: str) -> bool:
    """Is the file binary? Most of the time its first 8 kB are enough to know."""
    with open(absolute, "rb", buffering=0) as file:
        head = file.read(8192) or b""
        if b"\0" not in head:
            return False
        # The end of the head may be the middle of a character of UTF-16.
        return is_binary(head + file.readall()) if head[:1] in b"\xef\xfe\xff\0" else True


def _span(raw: bytes, text: str, start: int, end: int) -> tuple[int, int]:
    if not text.isascii():
        start, end = (len(raw[:at].decode("utf-8", "surrogateescape")) for at in (start, end))
    return min(start, len(text)), min(end, len(text))


def _path(data: Message) -> str:
    return os.fsdecode(_bytes(data["path"]).removeprefix(b"./"))


def _bytes(data: Message) -> bytes:
    """ripgrep gives text, or base64 where bytes are not UTF-8."""
    text = data.get("text")
    return text.encode() if text is not None else b64decode(data["bytes"])
