"""A file's content as text that can be turned back into exactly its bytes.

`Document.decode` never fails: it tries what the file says of itself (a byte order mark, a PEP 263 declaration in its
first two lines), then UTF-8, and keeps bytes that mean nothing as lone surrogates (`surrogateescape`). The invariant:
`Document.decode(data).encode() == data` for all bytes, and every character of the text can be said in UTF-8. A
declaration that would break it is not believed.

Where it stops: nothing is guessed from the bytes themselves, so UTF-16 without a byte order mark is binary, and a
Latin-1 file that does not say so is UTF-8 with stray bytes.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import NamedTuple

from lsptools.errors import Refused
from lsptools.text.edits import Edits
from lsptools.text.lines import Lines, Offset, utf8_from_text


@dataclass(frozen=True, slots=True)
class Document:
    """Text and what is needed to make its bytes again. `dataclasses.replace(document, text=…)` is the same file, edited."""

    text: str
    encoding: str
    """The codec's name; the codec writes no byte order mark: `utf-8`, `utf-16-le`, `iso8859-1`, …"""
    bom: bytes
    """The byte order mark at the start of the file, or nothing."""
    digest: str
    """`digest_of` the bytes that were decoded."""
    errors: str
    """`strict`, or `surrogateescape` where the file has bytes that mean nothing in its encoding."""

    # Kept by `decode` and by `lines` for speed; no part of the value, and not carried over by `dataclasses.replace`.
    _data: bytes | None = field(init=False, repr=False, compare=False)
    _lines: Lines | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_data", None)
        object.__setattr__(self, "_lines", None)

    @classmethod
    def decode(cls, data: bytes, *, digest: str | None = None) -> Document:
        """The document these bytes are; any bytes are one. `digest` is theirs, if it is known already."""
        reading = _read(data)
        known = digest_of(data) if digest is None else digest
        document = cls(reading.text, reading.encoding, reading.bom, known, reading.errors)
        object.__setattr__(document, "_data", data)
        return document

    def is_of(self, data: bytes) -> bool:
        """Was the document decoded from these bytes?"""
        return self._data is not None and self._data == data

    def encode(self, text: str | None = None) -> bytes:
        """The bytes of the file with `text` in it, or with its own text.

        Refused (`encoding`) if a character cannot be said in the encoding of the file, and if the text declares another
        encoding than the file is in, so that it would not be read as it was written.
        """
        if text is None:
            if self._data is not None:
                return self._data
            text = self.text
        try:
            data = self.bom + text.encode(self.encoding, self.errors)
        except UnicodeEncodeError as error:
            raise self._unsayable(text, error.start) from None
        if not data.isascii():
            self._check_declaration(data)
        return data

    @property
    def lines(self) -> Lines:
        """Positions in the text; built once."""
        lines = self._lines
        if lines is None:
            lines = Lines(self.text)
            object.__setattr__(self, "_lines", lines)
        return lines

    @property
    def utf8(self) -> bytes:
        """The text as UTF-8 without byte order mark, for programs that want bytes; `Lines` converts their offsets."""
        if self._data is not None and self.encoding == "utf-8":
            return self._data[len(self.bom) :]
        return utf8_from_text(self.text)

    @property
    def newline(self) -> str:
        """The line end used most; `\\n` where there is none."""
        counts = _line_end_counts(self.text)
        return max(counts, key=lambda newline: counts[newline])

    @property
    def mixed_newlines(self) -> bool:
        """Is there more than one kind of line end?"""
        return sum(count > 0 for count in _line_end_counts(self.text).values()) > 1

    def _unsayable(self, text: str, at: int) -> Refused:
        place = Lines(text).user_from_offset(Offset(at))
        return Refused(
            "encoding",
            f"{text[at]!r} (U+{ord(text[at]):04X}) at {place} cannot be said in {self.encoding}, the encoding of the file",
            hint="write the character as an escape, or convert the file to UTF-8 with another program first",
        )

    def _check_declaration(self, data: bytes) -> None:
        would_be_read_as = _read(data).encoding
        if would_be_read_as != self.encoding:
            raise Refused(
                "encoding",
                f"the file is in {self.encoding}, yet with this text it would be read as {would_be_read_as}",
                hint=f"leave the declaration of {self.encoding} in the first two lines as it is",
            )


def bytes_after(data: bytes, edits: Edits, *, digest: str) -> bytes:
    """The bytes of a file after edits of its text; `digest` is that of `data`.

    The same as decoding, editing and encoding, which it is for most files. In plain ASCII characters are bytes, and a
    large file is not copied several times for a small edit.
    """
    # Some old encodings give ASCII another meaning, if the file says that it is in one.
    second = data.find(b"\n", data.find(b"\n") + 1)
    is_plain = data.isascii() and data.find(b"coding", 0, second if second >= 0 else len(data)) < 0
    if is_plain and all(edit.new_text.isascii() for edit in edits):
        return edits.apply_to_ascii(data)
    document = Document.decode(data, digest=digest)
    # The old text is let go before the new one is encoded.
    document = replace(document, text=edits.apply(document.text))
    return document.encode()


def is_binary(data: bytes) -> bool:
    """Is there a NUL in the first 8 kB, and not because the file is UTF-16 or UTF-32 with a byte order mark?"""
    return b"\0" in data[:8192] and _read(data).encoding not in _WIDE


def digest_of(data: bytes) -> str:
    """By this the content of a file is known: BLAKE2b of 16 bytes, in hexadecimal."""
    global _recent
    if not _WORTH_KEEPING[0] <= len(data) <= _WORTH_KEEPING[1]:
        return blake2b(data, digest_size=16).hexdigest()
    # One edit asks for the same content up to four times, each time read or made anew: to compare is ten times faster.
    for known, digest in _recent:
        if known == data:
            return digest
    digest = blake2b(data, digest_size=16).hexdigest()
    _recent = ((data, digest), *_recent[:2])
    return digest


_WORTH_KEEPING = (100_000, 4_000_000)
"""From and to how many bytes content is kept in `_recent`."""
_recent: tuple[tuple[bytes, str], ...] = ()
"""The contents last asked for and their digests. Replaced as a whole, so that threads see it before or after."""


class _Reading(NamedTuple):
    text: str
    encoding: str
    bom: bytes
    errors: str


_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    # UTF-32's little-endian mark starts with UTF-16's, so it has the first try.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDE = frozenset({"utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"})

# Python's own pattern, in the first line, or in the second when the first is blank or a comment.
_DECLARATION = (
    r"(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\n|\r))??"  # lazy: a declaration in the first line goes first
    r"[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)"
)
_DECLARATION_IN_BYTES = re.compile(_DECLARATION.encode())
_DECLARATION_IN_TEXT = re.compile(_DECLARATION, re.ASCII)

# Escapes and host names rather than encodings of source text. Some warn about, or take quadratic time for, what
# a hostile file may hold.
_NO_ENCODING_OF_SOURCE = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})


def _read(data: bytes) -> _Reading:
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            if encoding == "utf-8":
                return _read_utf8(data, bom)
            text = _decoded(data[len(bom) :], encoding, "strict")
            if text is not None:
                return _Reading(text, encoding, bom, "strict")
    return _read_as_declared(data) or _read_utf8(data, b"")


def _read_utf8(data: bytes, bom: bytes) -> _Reading:
    body = data[len(bom) :]
    try:
        return _Reading(body.decode("utf-8"), "utf-8", bom, "strict")
    except UnicodeDecodeError:
        return _Reading(body.decode("utf-8", "surrogateescape"), "utf-8", bom, "surrogateescape")


def _read_as_declared(data: bytes) -> _Reading | None:
    found = _DECLARATION_IN_BYTES.match(data)
    encoding = _codec_name(found[1].decode("ascii")) if found else None
    if found is None or encoding is None or encoding == "utf-8":
        return None
    for errors in ("strict", "surrogateescape"):
        text = _decoded(data, encoding, errors)
        # An encoding that is no superset of ASCII (UTF-16) cannot have been declared in ASCII.
        if text is not None and _declared_in(text) == found[1].decode("ascii"):
            return _Reading(text, encoding, b"", errors)
    return None


def _decoded(data: bytes, encoding: str, errors: str) -> str | None:
    """The text, if it can be said in UTF-8 too and leads back to the same bytes."""
    try:
        text = data.decode(encoding, errors)
        text.encode("utf-8", errors)
        return text if text.encode(encoding, errors) == data else None
    except (ValueError, LookupError):  # a codec that is not for text is a LookupError
        return None


def _declared_in(text: str) -> str | None:
    found = _DECLARATION_IN_TEXT.match(text)
    return found[1] if found else None


def _codec_name(declared: str) -> str | None:
    """The codec Python means by a declaration, and None if it has none; `utf-8-unix` and the like as Python reads them."""
    plain = declared.lower().replace("_", "-")
    if plain == "utf-8" or plain.startswith("utf-8-"):
        return "utf-8"
    if re.match(r"(latin-1|iso-8859-1|iso-latin-1)(-|$)", plain):
        return "iso8859-1"
    try:
        name = codecs.lookup(declared).name
    except LookupError:
        return None
    return None if name in _NO_ENCODING_OF_SOURCE else name


def _line_end_counts(text: str) -> dict[str, int]:
    n_crlf = text.count("\r\n")
    return {"\n": text.count("\n") - n_crlf, "\r\n": n_crlf, "\r": text.count("\r") - n_crlf}
