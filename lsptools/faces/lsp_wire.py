"""Messages on a pair of streams: header blocks, lengths, bodies. Knows nothing of what a message says.

Header names may be in any case and any order, with or without a blank after the colon. What is no header line is passed
over, as is a body that is no JSON: the reader says so and goes on with the next message. Where it stops: a stream whose
lengths are wrong cannot be put back in step; then messages are lost until the next header line.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

LONGEST_BODY = 1 << 30
"""Bytes. More than any message is; a length beyond it is not believed."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A body that is no JSON."""

    says: str


def messages(stream: BinaryIO, on_garbage: Callable[[str], None]) -> Iterator[object]:
    """Each message's JSON value, or that it is `Unreadable`, until the stream ends. `on_garbage` is told of lines that are no
    header."""
    while (length := _length(stream, on_garbage)) is not None:
        body = _exactly(stream, length)
        if body is None:
            return
        try:
            message = json.loads(body.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            message = Unreadable(f"{length} bytes that are no JSON: {error}")
        yield message


class Writer:
    """Sends one message at a time, from any thread; as `pygls` wants a writer to be."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self.broken = False
        """Nobody reads any more."""

    def write(self, data: bytes) -> None:
        """Send a whole message, header included."""
        with self._lock:
            try:
                self._stream.write(data)
                self._stream.flush()
            except (OSError, ValueError):
                self.broken = True

    def close(self) -> None:
        """Nothing more will be sent."""
        with self._lock:
            self.broken = True


def framed(body: bytes) -> bytes:
    """A body with its header."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _length(stream: BinaryIO, on_garbage: Callable[[str], None]) -> int | None:
    """The length that the next header block states; None at the end of the stream."""
    length: int | None = None
    while line := stream.readline(65536):
        text = line.strip()
        if not text:
            if length is not None:
                return length
            continue
        name, colon, value = text.partition(b":")
        if not colon or name.strip().lower() not in (b"content-length", b"content-type"):
            on_garbage(f"no header line: {line[:80]!r}")
        elif name.strip().lower() == b"content-length":
            length = _number(value.strip())
            if length is None:
                on_garbage(f"no length: {value[:80]!r}")
    return None


def _number(value: bytes) -> int | None:
    if not value.isdigit() or len(value) > 12 or int(value) > LONGEST_BODY:
        return None
    return int(value)


def _exactly(stream: BinaryIO, length: int) -> bytes | None:
    """So many bytes; None if the stream ends before."""
    parts: list[bytes] = []
    while length and (part := stream.read(min(length, 1 << 20))):
        parts.append(part)
        length -= len(part)
    return None if length else b"".join(parts)
