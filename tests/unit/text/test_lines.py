"""Positions against a model that walks the text one character at a time and knows nothing of tables."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lsptools.errors import BadRequest, InternalError
from lsptools.text.lines import (
    ByteOffset,
    Lines,
    LspPos,
    Offset,
    PositionEncoding,
    Span,
    UserPos,
    n_utf8_bytes,
    n_utf16_units,
    split_lines,
    utf8_from_text,
)

# Line ends, what `str.splitlines` takes for line ends, characters of one to four bytes, a stray byte, a lone surrogate.
AWKWARD = "ab_ \t\r\n\r\n\f\v\x1c\x85\u2028é߿ࠀ漢\uffff😀\U0010ffff\udc80\udcff\ud800\udc7f"
characters = st.sampled_from(AWKWARD) | st.just("\r\n")
short_texts = st.lists(characters, max_size=40).map("".join)
# Long enough for several blocks of a table, most of them of one kind of character.
long_texts = st.builds(
    lambda before, filler, n, after: before + filler * n + after,
    short_texts,
    st.sampled_from(["a", "é", "😀", "漢a", "\r", "\r\n"]),
    st.integers(200, 700),
    short_texts,
)
texts = short_texts | long_texts


@dataclass(frozen=True)
class Place:
    """Where one offset is, in every unit."""

    line: int
    code_points: int
    utf16: int
    utf8: int
    byte: int


def utf8_width(character: str) -> int:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return 1
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4


def walk(text: str) -> list[Place]:
    """The place of every offset, the end included. Between `\\r` and `\\n` it is that of the `\\r`, but for the byte."""
    places = [Place(0, 0, 0, 0, 0)]
    for at, character in enumerate(text):
        here = places[-1]
        byte = here.byte + utf8_width(character)
        if character == "\r" and text[at + 1 : at + 2] == "\n":
            places.append(Place(here.line, here.code_points, here.utf16, here.utf8, byte))
        elif character in "\r\n":
            places.append(Place(here.line + 1, 0, 0, 0, byte))
        else:
            utf16 = here.utf16 + (2 if ord(character) > 0xFFFF else 1)
            utf8 = here.utf8 + utf8_width(character)
            places.append(Place(here.line, here.code_points + 1, utf16, utf8, byte))
    return places


def is_inside_line_end(text: str, at: int) -> bool:
    return at > 0 and text[at - 1 : at + 1] == "\r\n"


def column_in(place: Place, encoding: PositionEncoding) -> int:
    if encoding is PositionEncoding.UTF16:
        return place.utf16
    return place.utf8 if encoding is PositionEncoding.UTF8 else place.code_points


@given(texts)
@example("")
@example("\r\n")
@example("a\fb\u2028c\x85d\r\ne\rf\n")
@example("a" * 256 + "😀")
@example("😀" * 256)
def test_every_offset_has_the_place_that_a_walk_finds(text: str) -> None:
    lines, places = Lines(text), walk(text)
    assert lines.n_lines == places[-1].line + 1
    for at, place in enumerate(places):
        offset = Offset(at)
        assert lines.line_of(offset) == place.line
        assert lines.user_from_offset(offset) == UserPos(place.line + 1, place.code_points + 1)
        assert lines.byte_from_offset(offset) == place.byte
        for encoding in PositionEncoding:
            assert lines.lsp_from_offset(offset, encoding) == LspPos(place.line, column_in(place, encoding))


@given(texts)
@example("a" * 256 + "é" + "a" * 255)
def test_every_offset_comes_back_from_every_unit(text: str) -> None:
    lines = Lines(text)
    for offset in map(Offset, range(len(text) + 1)):
        assert lines.offset_from_byte(lines.byte_from_offset(offset)) == offset
        # Inside of a line end there is no line and column; it is told as the end of the line.
        told = offset - is_inside_line_end(text, offset)
        assert lines.offset_from_user(lines.user_from_offset(offset)) == told
        for encoding in PositionEncoding:
            assert lines.offset_from_lsp(lines.lsp_from_offset(offset, encoding), encoding) == told


@given(short_texts | st.text(), st.integers(0, 12), st.integers(0, 30), st.sampled_from(PositionEncoding))
@example("a😀b", 0, 2, PositionEncoding.UTF16)
@example("é\r\n", 0, 99, PositionEncoding.UTF8)
@example("a\n", 5, 0, PositionEncoding.UTF16)
def test_any_lsp_position_means_the_last_place_before_it_in_its_line(
    text: str, line: int, character: int, encoding: PositionEncoding
) -> None:
    places = walk(text)
    candidates = [
        at
        for at, place in enumerate(places)
        if place.line == line and column_in(place, encoding) <= character and not is_inside_line_end(text, at)
    ]
    expected = candidates[-1] if candidates else len(text)
    assert Lines(text).offset_from_lsp(LspPos(line, character), encoding) == expected


@given(texts)
def test_any_byte_means_the_character_it_belongs_to(text: str) -> None:
    lines, places = Lines(text), walk(text)
    at = 0
    for byte in range(places[-1].byte + 1):
        while at < len(text) and places[at + 1].byte <= byte:
            at += 1
        assert lines.offset_from_byte(ByteOffset(byte)) == at


@given(short_texts, st.integers(1, 12), st.integers(1, 60))
def test_a_column_past_the_end_means_the_end_of_the_line(text: str, line: int, column: int) -> None:
    lines = Lines(text)
    if line > lines.n_lines:
        with pytest.raises(BadRequest):
            lines.offset_from_user(UserPos(line, column))
    else:
        span = lines.line_span(line - 1)
        assert lines.offset_from_user(UserPos(line, column)) == min(span.start + column - 1, span.end)


@given(texts)
def test_lines_and_their_ends_are_the_text(text: str) -> None:
    lines = Lines(text)
    ends = [*lines.starts[1:], len(text)]
    rebuilt = ""
    for line, end in enumerate(ends):
        span = lines.line_span(line)
        line_end = text[span.end : end]
        assert line_end in ({"\n", "\r", "\r\n"} if line + 1 < lines.n_lines else {""})
        assert not {"\n", "\r"} & set(lines.line_text(line))
        rebuilt += lines.line_text(line) + line_end
    assert rebuilt == text
    pieces = split_lines(text)
    assert "".join(pieces) == text
    assert pieces == [text[a:b] for a, b in zip(lines.starts, ends, strict=True) if a < b]


@given(texts, texts)
def test_each_character_keeps_to_its_own_units(one: str, other: str) -> None:
    assert utf8_from_text(one + other) == utf8_from_text(one) + utf8_from_text(other)
    assert n_utf8_bytes(one) == len(utf8_from_text(one))
    assert n_utf16_units(one + other) == n_utf16_units(one) + n_utf16_units(other)


@pytest.mark.parametrize(
    "pos", [UserPos(0, 1), UserPos(1, 0), UserPos(-1, 1), UserPos(3, 1)], ids=lambda pos: str(pos)
)
def test_what_people_cannot_mean_is_a_bad_request(pos: UserPos) -> None:
    with pytest.raises(BadRequest) as caught:
        Lines("one\ntwo").offset_from_user(pos)
    assert caught.value.kind == "invalid"
    assert caught.value.hint


def test_the_message_names_the_last_line() -> None:
    with pytest.raises(BadRequest, match="line 3 is past the last line, which is line 2"):
        Lines("one\ntwo").offset_from_user(UserPos(3, 1))


@pytest.mark.parametrize("pos", [LspPos(-1, 0), LspPos(0, -1)])
def test_negative_lsp_positions_are_a_bad_request(pos: LspPos) -> None:
    with pytest.raises(BadRequest):
        Lines("one\ntwo").offset_from_lsp(pos)


@pytest.mark.parametrize("text", ["abc", "äbc"])
def test_an_offset_outside_of_the_text_is_our_fault(text: str) -> None:
    lines = Lines(text)
    for outside in (-1, len(text.encode()) + 1):
        for call in (lines.line_of, lines.user_from_offset, lines.lsp_from_offset, lines.byte_from_offset):
            with pytest.raises(InternalError):
                call(Offset(outside))
        with pytest.raises(InternalError):
            lines.offset_from_byte(ByteOffset(outside))
        with pytest.raises(InternalError):
            lines.line_span(outside)


@pytest.mark.parametrize(
    ("one", "other", "is_common"),
    [
        ((0, 3), (3, 5), False),
        ((0, 3), (2, 5), True),
        ((0, 5), (1, 2), True),
        ((1, 2), (1, 2), True),
        ((2, 2), (0, 5), True),
        ((0, 0), (0, 5), False),
        ((5, 5), (0, 5), False),
        ((2, 2), (2, 2), False),
    ],
)
def test_spans_overlap(one: tuple[int, int], other: tuple[int, int], is_common: bool) -> None:
    first, second = (Span(Offset(start), Offset(end)) for start, end in (one, other))
    assert first.overlaps(second) is is_common
    assert second.overlaps(first) is is_common


def test_a_span_is_half_open_ordered_and_checked() -> None:
    span = Span(Offset(2), Offset(4))
    assert [span.contains(Offset(at)) for at in range(6)] == [False, False, True, True, False, False]
    assert span.length == 2
    assert sorted([span, Span(Offset(2), Offset(2)), Span(Offset(0), Offset(9))])[1].length == 0
    for start, end in ((-1, 2), (3, 2)):
        with pytest.raises(InternalError):
            Span(Offset(start), Offset(end))


def test_a_very_long_line_of_wide_characters_stays_quick() -> None:
    text = "é" * 300_000
    lines = Lines(text)
    for at in range(0, len(text), 30):
        assert lines.offset_from_byte(lines.byte_from_offset(Offset(at))) == at
