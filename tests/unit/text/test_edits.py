"""The algebra of edits, against a model that keeps every character apart and lets each edit act on its own."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lsptools.errors import BadRequest, InternalError
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Offset, Span

texts = st.text("abc\r\n😀", max_size=30)


def span(start: int, end: int) -> Span:
    return Span(Offset(start), Offset(end))


def edits(*parts: tuple[int, int, str]) -> Edits:
    return Edits.of(TextEdit(span(start, end), new_text) for start, end, new_text in parts)


@st.composite
def edits_of(draw: st.DrawFn, text: str) -> Edits:
    """Any set of edits of the text, with many that touch."""
    borders = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    parts: list[TextEdit] = []
    at = 0
    while len(borders) > at + 1:
        here = span(borders[at], borders[at + 1])
        is_second_insertion = parts and not here.length and parts[-1].span == here
        if not is_second_insertion:
            parts.append(TextEdit(here, draw(st.text("XYZ\n", max_size=3))))
        at += draw(st.integers(1, 2))
    return Edits.of(draw(st.permutations(parts)))


@st.composite
def texts_and_edits(draw: st.DrawFn) -> tuple[str, Edits]:
    text = draw(texts)
    return text, draw(edits_of(text))


@st.composite
def texts_and_two_edits(draw: st.DrawFn) -> tuple[str, Edits, Edits]:
    text, first = draw(texts_and_edits())
    return text, first, draw(edits_of(first.apply(text)))


@dataclass(frozen=True)
class Piece:
    """One character after the edits: where it was in the old text, or None for a new one."""

    character: str
    came_from: int | None


def one_by_one(text: str, edits: Edits) -> list[Piece]:
    """From the last to the first, so that none moves what a later one speaks of."""
    pieces = [Piece(character, at) for at, character in enumerate(text)]
    for edit in reversed(list(edits)):
        pieces[edit.span.start : edit.span.end] = [Piece(character, None) for character in edit.new_text]
    return pieces


@given(texts_and_edits())
def test_apply_does_what_the_edits_do_one_by_one(case: tuple[str, Edits]) -> None:
    text, some = case
    assert some.apply(text) == "".join(piece.character for piece in one_by_one(text, some))


@given(texts_and_edits())
@example(("abcd", edits((0, 2, ""), (2, 4, ""))))
@example(("abcd", edits((0, 2, ""), (2, 2, "X"), (2, 4, ""))))
def test_inverse_takes_back(case: tuple[str, Edits]) -> None:
    text, some = case
    after = some.apply(text)
    back = some.inverse(text)
    assert back.apply(after) == text
    assert back.inverse(after).apply(text) == after


@given(texts_and_two_edits())
@example(("abcd", edits((0, 2, ""), (2, 4, "")), edits((0, 0, "X"))))
@example(("abcd", edits((1, 1, "XY")), edits((2, 2, "Z"))))
def test_compose_does_both_at_once(case: tuple[str, Edits, Edits]) -> None:
    text, first, later = case
    assert first.compose(later, text).apply(text) == later.apply(first.apply(text))


@given(texts_and_two_edits(), st.data())
def test_compose_is_associative_in_effect(case: tuple[str, Edits, Edits], data: st.DataObject) -> None:
    text, first, second = case
    middle = first.apply(text)
    third = data.draw(edits_of(second.apply(middle)))
    left = first.compose(second, text).compose(third, text)
    right = first.compose(second.compose(third, middle), text)
    assert left.apply(text) == right.apply(text)


@given(texts_and_edits())
def test_there_and_back_again_is_nothing(case: tuple[str, Edits]) -> None:
    text, some = case
    assert not some.compose(some.inverse(text), text)
    assert (
        Edits().compose(some, text).apply(text) == some.compose(Edits(), text).apply(text) == some.apply(text)
    )


@given(texts_and_edits(), st.sampled_from(["left", "right"]))
def test_a_carried_place_keeps_the_characters_around_it(case: tuple[str, Edits], bias: str) -> None:
    text, some = case
    now_at = {piece.came_from: at for at, piece in enumerate(one_by_one(text, some))}
    for offset in range(len(text) + 1):
        carried = (
            some.carry(Offset(offset), bias="left")
            if bias == "left"
            else some.carry(Offset(offset), bias="right")
        )
        is_inside = any(edit.span.start < offset < edit.span.end for edit in some)
        assert (carried is None) is is_inside
        if carried is None:
            continue
        # Everything that is left of what stood before stands before, and likewise behind.
        assert all(now_at[at] < carried for at in range(offset) if at in now_at)
        assert all(now_at[at] >= carried for at in range(offset, len(text)) if at in now_at)
        if bias == "left" and offset - 1 in now_at:
            assert carried == now_at[offset - 1] + 1
        if bias == "right" and offset in now_at:
            assert carried == now_at[offset]


@given(texts_and_edits())
def test_an_end_of_an_edit_is_carried_to_an_end_of_its_new_text(case: tuple[str, Edits]) -> None:
    text, some = case
    after = some.apply(text)
    for edit in some:
        start, end = some.carry(edit.span.start, bias="right"), some.carry(edit.span.end, bias="left")
        assert start is not None
        assert end is not None
        if edit.span.length:
            assert after[start:end] == edit.new_text
        else:
            left = some.carry(edit.span.start, bias="left")
            assert left is not None
            assert after[left:start] == edit.new_text


@given(texts_and_edits(), st.data())
def test_a_carried_passage_is_the_passage_edited(case: tuple[str, Edits], data: st.DataObject) -> None:
    text, some = case
    start, end = sorted((data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))))
    carried = some.carry_span(span(start, end))
    reached_over = any(edit.span.start < border < edit.span.end for edit in some for border in (start, end))
    inside = [edit for edit in some if start <= edit.span.start and edit.span.end <= end]
    # Insertions at the ends stay outside.
    inside = [edit for edit in inside if edit.span.length or start < edit.span.start < end]
    passage = Edits(
        tuple(
            TextEdit(span(edit.span.start - start, edit.span.end - start), edit.new_text) for edit in inside
        )
    ).apply(text[start:end])
    if reached_over or (start < end and not passage):
        assert carried is None
    else:
        assert carried is not None
        assert some.apply(text)[carried.start : carried.end] == passage


@given(texts_and_edits())
def test_a_set_is_a_value_whatever_the_order_it_came_in(case: tuple[str, Edits]) -> None:
    _, some = case
    assert Edits.of(reversed(list(some))) == some
    assert hash(Edits.of(some)) == hash(some)
    assert [edit.span for edit in some] == sorted(edit.span for edit in some)
    assert bool(some) is (len(some) > 0)


@pytest.mark.parametrize(
    "parts",
    [
        [(0, 2, "x"), (2, 4, "y")],
        [(2, 2, "x"), (2, 4, "y")],
        [(0, 2, "x"), (2, 2, "y")],
        [(0, 2, ""), (2, 2, "y"), (2, 4, "")],
    ],
)
def test_touching_is_allowed(parts: list[tuple[int, int, str]]) -> None:
    assert len(edits(*parts)) == len(parts)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([(0, 3, "x"), (2, 4, "y")], "two edits change the text from offset 2 to 3"),
        ([(0, 5, "x"), (1, 2, "y")], "two edits change the text from offset 1 to 2"),
        ([(1, 2, "x"), (1, 2, "x")], "two edits change the text from offset 1 to 2"),
        ([(1, 4, "x"), (2, 2, "y")], "two edits change the text from offset 2 to 2"),
        ([(2, 2, "x"), (2, 2, "y")], "two insertions at offset 2"),
    ],
)
def test_overlap_is_a_bad_request(parts: list[tuple[int, int, str]], message: str) -> None:
    with pytest.raises(BadRequest, match=message) as caught:
        edits(*parts)
    assert caught.value.kind == "overlap"


def test_edits_out_of_order_are_our_fault() -> None:
    with pytest.raises(InternalError):
        Edits((TextEdit(span(3, 4), ""), TextEdit(span(0, 1), "")))


def test_an_edit_past_the_end_is_a_bad_request() -> None:
    beyond = edits((2, 4, "x"))
    for call in (beyond.apply, beyond.inverse, lambda text: Edits().compose(beyond, text)):
        with pytest.raises(BadRequest, match="past the end of a text of 3 code points"):
            call("abc")


def test_nothing_in_place_of_nothing_is_left_out() -> None:
    assert edits((1, 1, ""), (1, 1, "")) == Edits()


def test_a_renamed_word_is_carried_to_its_new_name() -> None:
    renamed = edits((0, 3, "total"), (6, 9, "total"))
    assert renamed.apply("sum + sum") == "total + total"
    assert renamed.carry_span(span(6, 9)) == span(8, 13)
    assert renamed.carry_span(span(0, 9)) == span(0, 13)
    assert renamed.carry_span(span(7, 9)) is None
    assert renamed.carry_span(span(3, 3)) == span(5, 5)
