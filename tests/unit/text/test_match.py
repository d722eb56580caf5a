"""Finding a passage: against a model that tries every span, and by example where the rules are easily forgotten."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lsptools.text.lines import Span
from lsptools.text.match import find, find_all, first_exact, folded

ALPHABET = 'ab \t\r\n“"é\u0301eﬃf\u00a0–-'
texts = st.text(ALPHABET, max_size=10)
passages = st.text(ALPHABET, min_size=1, max_size=5)


@st.composite
def texts_and_parts(draw: st.DrawFn) -> tuple[str, str]:
    """A text and a passage that is likely to be in it, perhaps in another form."""
    text = draw(texts)
    borders = sorted(draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
    part = text[borders[0] : borders[1]]
    change = draw(
        st.sampled_from([str, folded, lambda x: x.replace("\r\n", "\n"), lambda x: x.replace("\n", " \n")])
    )
    return text, change(part)


def spans(text: str, passage: str) -> tuple[str, list[tuple[int, int]]]:
    found = find(text, passage)
    return found.tier, [(match.span.start, match.span.end) for match in found.matches]


@given(texts_and_parts() | st.tuples(texts, passages))
@example(("e\u0301", "e"))
@example(("“a”  \nb", '"a"\nb'))
@example(("“a” b", '"a" '))
@example(("\r\u0301–\n", "\u0301-"))
def test_it_finds_what_a_model_finds(pair: tuple[str, str]) -> None:
    text, passage = pair
    exact = exact_by_model(text, passage)
    if exact or not passage:
        assert spans(text, passage) == ("exact", exact)
    else:
        assert spans(text, passage)[1] == folded_by_model(text, passage)


@given(texts_and_parts())
def test_pieces_are_the_lines_of_the_span(pair: tuple[str, str]) -> None:
    text, passage = pair
    for match in find(text, passage).matches:
        assert len(match.pieces) == passage.replace("\r\n", "\n").count("\n") + 1
        assert (match.pieces[0].start, match.pieces[-1].end) == (match.span.start, match.span.end)
        for piece in match.pieces[:-1]:
            assert text[piece.line_end : piece.next] in ("\n", "\r\n", "\r")
            assert not text[piece.end : piece.line_end].strip(" \t\u00a0")
        at = match.pieces[0].start
        for piece in match.pieces:
            assert at <= piece.start <= piece.end <= piece.line_end <= piece.next
            at = piece.next


@given(texts_and_parts())
def test_a_replacement_from_the_left_meets_each_place_once(pair: tuple[str, str]) -> None:
    text, passage = pair
    found = find_all(text, passage).matches
    assert all(one.span.end <= other.span.start for one, other in pairwise(found))
    everywhere = {match.span for match in find(text, passage).matches}
    assert {match.span for match in found} <= everywhere
    assert bool(found) == bool(everywhere)
    if "\r" not in text and passage and passage in text:
        assert len(found) == text.count(passage)


def exact_by_model(text: str, passage: str) -> list[tuple[int, int]]:
    """Line ends are one character each; then it is a matter of comparing."""
    units, wanted = units_of(text), [unit for unit, _ in units_of(passage)]
    n = len(wanted)
    return [
        (units[at][1].start, units[at + n - 1][1].end)
        for at in range(len(units) - n + 1)
        if n and [unit for unit, _ in units[at : at + n]] == wanted
    ]


def units_of(text: str) -> list[tuple[str, Span]]:
    units, at = [], 0
    while at < len(text):
        size = 2 if text.startswith("\r\n", at) else 1
        units.append(("\n" if size == 2 else text[at], Span(at, at + size)))  # type: ignore[arg-type]  # offsets
        at += size
    return units


def folded_by_model(text: str, passage: str) -> list[tuple[int, int]]:
    """Every span is tried."""
    if not folded(passage).replace("\r\n", "\n").strip(" \t\n"):
        return []
    return [
        (start, end)
        for start in range(len(text) + 1)
        for end in range(start, len(text) + 1)
        if is_folded_match(text, start, end, passage)
    ]


def is_folded_match(text: str, start: int, end: int, passage: str) -> bool:
    line_end = "\r" if "\r" in text and "\n" not in text else "\n"
    if not (is_border(text, start) and is_border(text, end)):
        return False

    def plain(part: str) -> list[str]:
        return folded(part.replace("\r\n", "\n").replace(line_end, "\n")).split("\n")

    there, wanted = plain(text[start:end]), folded(passage.replace("\r\n", "\n")).split("\n")
    if len(there) != len(wanted):
        return False
    # Blanks before the line end with which the passage begins were not quoted.
    if len(wanted) > 1 and not wanted[0].rstrip(" \t") and there[0]:
        return False
    if [line.rstrip(" \t") for line in there[:-1]] != [line.rstrip(" \t") for line in wanted[:-1]]:
        return False
    rest = plain(text[end:])[0]
    last = wanted[-1]
    if last == last.rstrip(" \t"):
        return there[-1] == last
    if there[-1] == last and rest.strip(" \t"):
        return True
    return there[-1].rstrip(" \t") == last.rstrip(" \t") and not rest


def is_border(text: str, at: int) -> bool:
    """Would a cut here leave both a line end and NFKC whole?"""
    if text.startswith("\r\n", at - 1) and at:
        return False
    if at == len(text) or not at:
        return True
    return unicodedata.combining(text[at]) == 0 or text[at - 1] in "\r\n"


@pytest.mark.parametrize(
    ("text", "passage", "wanted"),
    [
        ("aaa", "aa", ("exact", ["aa", "aa"])),
        ("a\r\nb", "a\nb", ("exact", ["a\r\nb"])),
        ("a\r\nb", "\nb", ("exact", ["\r\nb"])),
        ("a\nb", "a\r\nb", ("exact", ["a\nb"])),
        ("a\r\nb", "a\r", ("exact", [])),
        ("a\rb\r\n", "a\rb", ("exact", ["a\rb"])),
        ("a\rb", "a\nb", ("folded", ["a\rb"])),
        ("a\rb\n", "a\nb", ("exact", [])),
        ("the oﬃce", "the office", ("folded", ["the oﬃce"])),
        ("the oﬃce", "the off", ("exact", [])),
        ("Cafe\u0301 noir", "Café noir", ("folded", ["Cafe\u0301 noir"])),
        ("Caf\u00e9", "Cafe", ("exact", [])),
        ("ｶﾞ", "ガ", ("folded", ["ｶﾞ"])),
        ("ｶﾞ", "カ", ("exact", [])),
        ("ㅎㅏㄴ", "하ㄴ", ("folded", ["ㅎㅏㄴ"])),
        ("“x”bar", '"x" ', ("exact", [])),
        ("“x” bar", '"x" ', ("folded", ["“x” "])),
        ("“x”   \ny", '"x"  ', ("folded", ["“x”   "])),
        ("x   \n“y”", '\n"y"', ("folded", ["\n“y”"])),
        ("a  b", "a b", ("exact", [])),
        ("\ta", "    a", ("exact", [])),
        ("a\n\nb", "a\nb", ("exact", [])),
        ("A", "a", ("exact", [])),
        ("  \n", " \n", ("exact", [" \n"])),
        ("\u00a0\n", " \n", ("exact", [])),
        ("", "a", ("exact", [])),
        ("a", "", ("exact", [])),
    ],
)
def test_examples(text: str, passage: str, wanted: tuple[str, list[str]]) -> None:
    tier, places = spans(text, passage)
    assert (tier, [text[start:end] for start, end in places]) == wanted


def test_a_stricter_tier_with_two_answers_is_not_asked_again_looser() -> None:
    assert spans('"x" “x” "x"', '"x"')[0] == "exact"
    assert len(spans('"x" “x” "x"', '"x"')[1]) == 2


def test_a_search_stops_at_its_limit() -> None:
    found = find("a" * 100, "a", limit=10)
    assert (len(found.matches), found.more) == (10, True)
    assert len(find_all("a" * 5000, "a").matches) == 5000


def test_the_first_place() -> None:
    assert first_exact("a\r\nb\r\nb", "\nb") == 1
    assert first_exact("a", "b") is None


def test_long_runs_of_blanks_take_no_quadratic_time() -> None:
    """Judged by being done at all: a quadratic search of this would take hours."""
    assert not find(" " * 3_000_000 + "x\n", "“y”\nz").matches
