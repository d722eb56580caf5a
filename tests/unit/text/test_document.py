"""Bytes to text and back: nothing is lost, whatever the bytes say of themselves."""

from __future__ import annotations

import codecs
import encodings
import io
import pkgutil
import tokenize
from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from lsptools.errors import Refused
from lsptools.text.document import Document, digest_of, is_binary
from lsptools.text.lines import ByteOffset, Offset, UserPos

BOMS = [
    codecs.BOM_UTF8,
    codecs.BOM_UTF16_LE,
    codecs.BOM_UTF16_BE,
    codecs.BOM_UTF32_LE,
    codecs.BOM_UTF32_BE,
]
WIDE = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
WIDE |= {"utf-32-le": codecs.BOM_UTF32_LE, "utf-32-be": codecs.BOM_UTF32_BE}
# All that Python has, those that are no encodings of text too, and names it has not.
CODECS = sorted(module.name for module in pkgutil.iter_modules(encodings.__path__))
DECLARED = [
    *CODECS,
    "latin-1-unix",
    "UTF8",
    "utf-8-mac",
    "utf-16",
    "utf_32",
    "no-such-codec",
    "..",
    "__init__",
]

heads = st.sampled_from(
    [
        b"",
        b"#!/bin/sh\n",
        b"# coding: {}\n",
        b"\r# -*- coding: {} -*-\r\n",
        b"# x\n\f# vim: fileencoding={} :\r",
        b"x\n",
    ]
)
bodies = st.binary(max_size=60) | st.text(max_size=20).map(lambda text: text.encode("utf-8", "replace"))


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Bytes as they come, with marks and declarations that may or may not be true."""
    mark = draw(st.sampled_from([b"", b"", *BOMS]))
    head = draw(heads).replace(b"{}", draw(st.sampled_from(DECLARED)).encode())
    return mark + head + draw(bodies)


@given(files())
@example(b"")
@example(codecs.BOM_UTF16_LE + b"\x00")  # an odd byte
@example(codecs.BOM_UTF16_LE + b"\x00\xd8a\x00")  # half of a surrogate pair
@example(codecs.BOM_UTF32_LE)
@example(codecs.BOM_UTF8 + codecs.BOM_UTF8)
@example(b"# coding: utf-16-le\n")  # a declaration that cannot be true, and would lead back
@example(b"# coding: utf-7\n+2AA-")  # a lone surrogate, out of a codec that is allowed to make one
@example(b"# coding: iso2022_jp\n\x1b(B\x1b(B")
@example(b"# coding: unicode_escape\n\\d")
def test_all_bytes_come_back(data: bytes) -> None:
    document = Document.decode(data)
    assert document.encode() == data
    assert replace(document, text=document.text).encode() == data
    assert document.digest == digest_of(data)
    assert document.utf8 == document.text.encode("utf-8", "surrogateescape")
    assert is_binary(data) in (True, False)


@given(files(), st.integers(0, 100))
def test_byte_offsets_speak_of_utf8(data: bytes, at: int) -> None:
    document = Document.decode(data)
    assume(at <= len(document.text))
    byte = document.lines.byte_from_offset(Offset(at))
    assert document.utf8[:byte] == document.text[:at].encode("utf-8", "surrogateescape")
    assert document.lines.offset_from_byte(ByteOffset(len(document.utf8))) == len(document.text)


@given(st.text(max_size=30), st.sampled_from(sorted(WIDE)))
def test_wide_encodings_are_read_by_their_mark(text: str, encoding: str) -> None:
    assume(not (encoding == "utf-16-le" and text.startswith("\0")))  # the mark would be that of UTF-32
    data = WIDE[encoding] + text.encode(encoding)
    document = Document.decode(data)
    assert (document.text, document.encoding, document.bom) == (text, encoding, WIDE[encoding])
    assert not is_binary(data)
    assert document.encode("é" + text) == WIDE[encoding] + ("é" + text).encode(encoding)


def is_superset_of_ascii(codec: str) -> bool:
    try:
        return b"# coding: x\n".decode(codec) == "# coding: x\n"
    except (ValueError, LookupError):
        return False


NO_ENCODINGS = {"idna", "punycode", "raw_unicode_escape", "undefined", "unicode_escape"}
SUPERSETS_OF_ASCII = [codec for codec in CODECS if codec not in NO_ENCODINGS and is_superset_of_ascii(codec)]


@given(st.sampled_from(SUPERSETS_OF_ASCII), heads, st.text("aé漢я€", max_size=5))
def test_python_reads_the_same_text(codec: str, head: bytes, text: str) -> None:
    """Where Python's own tokenizer accepts a file, ours is the text it reads."""
    data = head.replace(b"{}", codec.encode()) + text.encode(codec, "ignore")
    # It reads lines up to `\n` only; Python's compiler, as we do, takes `\r` for a line end too.
    readline = io.BytesIO(data.replace(b"\r", b"\n")).readline
    try:
        found, _ = tokenize.detect_encoding(readline)
        theirs = data.decode(found)
    except (SyntaxError, ValueError):
        return
    assert Document.decode(data).text == theirs or theirs.encode(found) != data


def check_reading(data: bytes, text: str, encoding: str, errors: str = "strict", bom: bytes = b"") -> None:
    document = Document.decode(data)
    assert (document.text, document.encoding, document.errors, document.bom) == (text, encoding, errors, bom)
    assert document.encode() == data


@pytest.mark.parametrize(
    ("data", "text", "encoding", "errors"),
    [
        (b"x = 1\n", "x = 1\n", "utf-8", "strict"),
        ("é".encode(), "é", "utf-8", "strict"),
        (b"caf\xe9", "caf\udce9", "utf-8", "surrogateescape"),
        (b"# coding: latin-1\n\xe9", "# coding: latin-1\né", "iso8859-1", "strict"),
        (b"# coding: latin-1-dos\n\xe9", "# coding: latin-1-dos\né", "iso8859-1", "strict"),
        (b"#!x\n# -*- coding: cp1252 -*-\n\x80", "#!x\n# -*- coding: cp1252 -*-\n€", "cp1252", "strict"),
        (b"#!x\r# coding=koi8-r\r\xc1", "#!x\r# coding=koi8-r\rа", "koi8-r", "strict"),
        (b"\n\n# coding: latin-1\n\xe9", "\n\n# coding: latin-1\n\udce9", "utf-8", "surrogateescape"),
        (b"x\n# coding: latin-1\n\xe9", "x\n# coding: latin-1\n\udce9", "utf-8", "surrogateescape"),
        (b"# coding: utf-8\n# coding: latin-1\n", "# coding: utf-8\n# coding: latin-1\n", "utf-8", "strict"),
        (
            b"# coding: latin-1\n# coding: utf-8\n",
            "# coding: latin-1\n# coding: utf-8\n",
            "iso8859-1",
            "strict",
        ),
        (b"# coding: martian\n\xe9", "# coding: martian\n\udce9", "utf-8", "surrogateescape"),
        # Would lead back to the same bytes, yet cannot have been declared in ASCII.
        (b"# coding: utf-16-le\n", "# coding: utf-16-le\n", "utf-8", "strict"),
        (b"# coding: rot13\n", "# coding: rot13\n", "utf-8", "strict"),
        # A byte that the declared encoding has not: the rest is read as declared.
        (b"# coding: cp1252\n\xe9\x81", "# coding: cp1252\né\udc81", "cp1252", "surrogateescape"),
        (b"# coding: ascii\n\xc3\xa9", "# coding: ascii\n\udcc3\udca9", "ascii", "surrogateescape"),
    ],
)
def test_what_a_file_says_of_itself(data: bytes, text: str, encoding: str, errors: str) -> None:
    check_reading(data, text, encoding, errors)


def test_a_byte_order_mark_goes_before_a_declaration() -> None:
    data = codecs.BOM_UTF8 + b"# coding: latin-1\n" + "é".encode()
    check_reading(data, "# coding: latin-1\né", "utf-8", bom=codecs.BOM_UTF8)
    assert Document.decode(data).utf8 == data[3:]
    assert Document.decode(data).encode("ü") == codecs.BOM_UTF8 + "ü".encode()


def test_a_wide_mark_that_is_not_true_is_part_of_the_text() -> None:
    check_reading(b"\xff\xfea", "\udcff\udcfea", "utf-8", "surrogateescape")


@pytest.mark.parametrize(
    ("data", "text", "message"),
    [
        (
            b"# coding: latin-1\n\xe9",
            "# coding: latin-1\n\nab€",
            r"'€' \(U\+20AC\) at 3:3 cannot be said in iso8859-1",
        ),
        (b"x", "x\udc80", r"'\\udc80' \(U\+DC80\) at 1:2 cannot be said in utf-8"),
        (b"\xff", "\ud800", r"\(U\+D800\) at 1:1 cannot be said in utf-8"),
        (b"# coding: cp1252\n\xe9", "# coding: utf-8\né", "is in cp1252, yet .* read as utf-8"),
        ("é".encode(), "# coding: cp1252\né", "is in utf-8, yet .* read as cp1252"),
        (b"# coding: latin-1\n", "ÿþab", "is in iso8859-1, yet .* read as utf-16-le"),
    ],
)
def test_what_cannot_be_written_is_refused(data: bytes, text: str, message: str) -> None:
    document = Document.decode(data)
    with pytest.raises(Refused, match=message) as caught:
        document.encode(text)
    assert caught.value.kind == "encoding"
    assert caught.value.hint
    with pytest.raises(Refused, match=message):
        replace(document, text=text).encode()


def test_an_ascii_file_may_change_its_declaration() -> None:
    document = Document.decode(b"# coding: latin-1\n")
    assert document.encode("# coding: utf-8\n") == b"# coding: utf-8\n"


def test_stray_bytes_may_be_moved_within_their_file() -> None:
    assert Document.decode(b"a\xff\n").encode("\udcff\na") == b"\xff\na"


@pytest.mark.parametrize(
    ("text", "newline", "is_mixed"),
    [
        ("", "\n", False),
        ("a", "\n", False),
        ("a\n", "\n", False),
        ("a\r\nb\r\n", "\r\n", False),
        ("a\rb", "\r", False),
        ("a\r\nb\r\nc\n", "\r\n", True),
        ("a\r\rb\n", "\r", True),
        ("a\r\r\n", "\r\n", True),
        ("a\n\r", "\n", True),
        ("a\u2028\x85\f", "\n", False),
    ],
)
def test_line_ends(text: str, newline: str, is_mixed: bool) -> None:
    document = Document.decode(text.encode())
    assert (document.newline, document.mixed_newlines) == (newline, is_mixed)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", False),
        (b"text\xff", False),
        (b"a\0b", True),
        (codecs.BOM_UTF8 + b"\0", True),
        (b"a" * 8191 + b"\0", True),
        (b"a" * 8192 + b"\0", False),
        ("a".encode("utf-16"), False),
        ("a".encode("utf-32"), False),
        ("a".encode("utf-16-le"), True),
        (codecs.BOM_UTF16_LE + b"\0\xd8\0", True),  # the mark promises what the bytes do not hold
    ],
)
def test_binary(data: bytes, expected: bool) -> None:
    assert is_binary(data) is expected


def test_a_document_is_a_value_with_its_lines_built_once() -> None:
    document = Document.decode(b"a\nb")
    assert document.lines is document.lines
    assert document.lines.user_from_offset(Offset(2)) == UserPos(2, 1)
    assert document == Document.decode(b"a\nb")
    assert document != Document.decode(b"a\nc")
    assert hash(document) == hash(Document.decode(b"a\nb"))
    with pytest.raises(FrozenInstanceError):
        document.text = "c"  # type: ignore[misc]  # that it is frozen is what is tested


def test_an_edited_document_forgets_the_old_bytes_and_lines() -> None:
    document = Document.decode(codecs.BOM_UTF8 + b"a\nb")
    assert document.lines.n_lines == 2
    edited = replace(document, text="é")
    assert edited.encode() == codecs.BOM_UTF8 + "é".encode()
    assert edited.utf8 == "é".encode()
    assert edited.lines.n_lines == 1


def test_utf8_of_a_text_an_editor_sent() -> None:
    document = replace(Document.decode(b""), text="a\ud800b")
    assert document.utf8 == "a\ufffdb".encode()
