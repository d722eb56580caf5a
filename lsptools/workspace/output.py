"""What a command writes, kept within bounds: its head and its tail to be shown, and all of it in a file.

Bytes are decoded as UTF-8, however they were split over writes; what is none is shown as `\\xff`. To be shown, a progress bar
(text overwritten after a carriage return) is what it was in the end, terminal sequences are left out, other control characters
are escapes, and a line that does not end is cut in the middle. The file has the bytes as they came.

The file is made when the output no longer fits into what is shown. Invariant: however much is written, an `Output` holds
at most `_KEPT_HEAD + 2 * kept_tail` bytes.
"""

from __future__ import annotations

import codecs
import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import IO

MOST_LINES = 2_000
MOST_BYTES = 50_000
"""Of UTF-8, of what is shown."""
HEAD_LINES = 200
HEAD_BYTES = 8_000
"""So much of a long output's beginning is shown."""
LONGEST_LINE = 2_000
STREAM_S = 0.1
"""The least time between two pieces handed on while the command runs."""
MOST_FILE_BYTES = 256 << 20
MOST_FILES = 30

KEPT_TAIL = 192 << 10
"""Bytes; who wants `data` of long outputs keeps more."""
_KEPT_HEAD = 64 << 10


@dataclass(frozen=True, slots=True)
class Shown:
    """An output as a caller is shown it."""

    text: str
    n_bytes: int
    """Of all that was written."""
    is_cut: bool
    file: str | None
    """Where all of it is, if it was cut."""


class Output:
    """One stream, or two that are one. Fed by a thread; `tick`, `finish` and `shown` are for the one that waits."""

    def __init__(
        self,
        files: Files | None = None,
        stream: Callable[[str], None] | None = None,
        *,
        kept_tail: int = KEPT_TAIL,
    ) -> None:
        self._kept_tail = kept_tail
        self._files = files
        self._stream = stream
        self._streamed = 0.0
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._waiting: list[bytes] = []
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._n_tail = 0
        self._n_bytes = 0
        self._file: IO[bytes] | None = None
        self._path: Path | None = None
        self._is_over = False
        self._lock = Lock()

    def feed(self, data: bytes) -> None:
        """More of it."""
        with self._lock:
            self._n_bytes += len(data)
            if self._stream is not None:
                self._waiting.append(data)
            room = _KEPT_HEAD - len(self._head)
            self._head += data[:room]
            if rest := data[room:]:
                self._tail.append(rest)
                self._n_tail += len(rest)
            if self._file is not None:
                self._write(data)
            elif self._n_tail > self._kept_tail:
                self._open()
            while self._n_tail - len(self._tail[0] if self._tail else b"") > self._kept_tail:
                self._n_tail -= len(self._tail.popleft())

    def tick(self) -> None:
        """Hand on what came, unless something was handed on just now."""
        if self._stream is not None and time.monotonic() - self._streamed >= STREAM_S:
            self._hand_on(final=False)

    def finish(self) -> None:
        """The command has ended; hand on the rest. What comes later from the background is only kept."""
        if self._stream is not None:
            self._hand_on(final=True)
            self._stream = None

    def close(self) -> None:
        """Nothing more can come, from the background either."""
        with self._lock:
            self._is_over = True
            self._close_file()

    @property
    def data(self) -> bytes | None:
        """All bytes that came, for programs; `None` if they were too many to keep."""
        with self._lock:
            kept = bytes(self._head) + b"".join(self._tail)
            return kept if len(kept) == self._n_bytes else None

    def shown(self) -> Shown:
        """What a caller is shown now."""
        with self._lock:
            head, tail = bytes(self._head), b"".join(self._tail)
            is_whole = len(head) + len(tail) == self._n_bytes
            lines = _lines(head + tail) if is_whole else None
            if lines is not None and _fits(lines):
                return Shown(_joined(lines), self._n_bytes, False, None)
            self._open()
            where = None if self._path is None else str(self._path)
            if lines is not None:
                text = _cut(lines, lines, where)
            else:
                text = _cut(_lines(head), _lines(_from_character(tail)), where)
            return Shown(text, self._n_bytes, True, where)

    def _hand_on(self, *, final: bool) -> None:
        with self._lock:
            data, self._waiting = b"".join(self._waiting), []
        text = self._decoder.decode(data, final)
        if text and self._stream is not None:
            self._stream(_CONTROL.sub(_escape, _SEQUENCE.sub("", text)))
            self._streamed = time.monotonic()

    def _open(self) -> None:
        """Make the file, with all that came so far. Without room on the disk there is none."""
        if self._files is None or self._path is not None:
            return
        with suppress(OSError):
            self._path, self._file = self._files.new()
            self._write(bytes(self._head) + b"".join(self._tail))
            if self._is_over:
                self._close_file()

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, data: bytes) -> None:
        if self._file is not None and self._file.tell() < MOST_FILE_BYTES:
            with suppress(OSError):
                self._file.write(data)


@dataclass(frozen=True, slots=True)
class Files:
    """The folder, outside the workspace, where long outputs are. The newest `MOST_FILES` are kept."""

    folder: Path

    def new(self) -> tuple[Path, IO[bytes]]:
        """A new file for the user alone, unbuffered."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for old in sorted(self.folder.glob("*.log"))[: -MOST_FILES + 1]:
            with suppress(OSError):
                old.unlink()
        path = self.folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(4).hex()}.log"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        return path, os.fdopen(descriptor, "wb", buffering=0)


def shown_text(data: bytes) -> str:
    """Bytes that a program wrote, as text to be shown, whole."""
    return _joined(_lines(data))


_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
"""What speaks to a terminal: CSI, OSC, and the short ones."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]")
_CONTINUES = range(0x80, 0xC0)


def _escape(found: re.Match[str]) -> str:
    return f"\\x{ord(found.group()):02x}"


def _from_character(data: bytes) -> bytes:
    """Without the rest of a character that was cut."""
    n_rest = next((at for at, byte in enumerate(data[:4]) if byte not in _CONTINUES), 0)
    return data[n_rest:]


def _lines(data: bytes) -> list[str]:
    text = _SEQUENCE.sub("", data.decode("utf-8", "backslashreplace"))
    return [_line(line) for line in text.split("\n")]


def _line(line: str) -> str:
    """As it was in the end, without control characters, and not too long."""
    line = _CONTROL.sub(_escape, line.rstrip("\r").rpartition("\r")[2])
    if len(line) <= LONGEST_LINE:
        return line
    start, end = LONGEST_LINE * 3 // 4, LONGEST_LINE // 5
    return f"{line[:start]} [… {len(line) - start - end} characters …] {line[-end:]}"


def _joined(lines: list[str]) -> str:
    return "\n".join(lines)


def _size(line: str) -> int:
    return len(line.encode("utf-8", "surrogatepass")) + 1


def _fits(lines: list[str]) -> bool:
    return len(lines) <= MOST_LINES + 1 and sum(map(_size, lines)) <= MOST_BYTES


def _cut(first: list[str], last: list[str], where: str | None) -> str:
    """Some lines of the beginning, a note, and as many of the end as there is room for."""
    head = list(_while_room(first[:HEAD_LINES], HEAD_BYTES))
    rest = last[len(head) :] if last is first else last
    room = MOST_BYTES - sum(map(_size, head))
    tail = list(_while_room(reversed(rest[-(MOST_LINES - len(head)) :]), room))[::-1]
    note = "[… cut here" + (f"; all of it is in {where}" if where else "") + " …]"
    return _joined([*head, note, *tail])


def _while_room(lines: Iterator[str] | list[str], room: int) -> Iterator[str]:
    for line in lines:
        room -= _size(line)
        if room < 0:
            return
        yield line
