"""Pages: neither form of an answer is longer than the room, and together they are the answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsptools.errors import BadRequest
from lsptools.faces.agent_pages import (
    MOST_TOKENS,
    USUAL_TOKENS,
    Body,
    Entry,
    Page,
    json_size,
    middle_cut,
    page_of,
    room_for,
    sayable,
    text_entries,
)

words = st.text(st.characters(codec="utf-8"), max_size=60).map(lambda text: text.replace("\n", " "))
paths = st.sampled_from(["a.py", "b/c.py", "d.md"])


@st.composite
def bodies(draw: st.DrawFn) -> Body:
    lines = draw(st.lists(st.tuples(paths, words), max_size=60))
    is_grouped, is_text = draw(st.booleans()), draw(st.booleans())
    if is_text:
        entries = tuple(Entry(line, line) for _, line in lines)
        return Body(("head",), entries, "text", is_text=True, end=("end",))
    entries = tuple(
        Entry(f"{number}: {line}", {"line": number, "text": line}, path if is_grouped else "")
        for number, (path, line) in enumerate(sorted(lines))
    )
    facts = {"notes": draw(st.lists(words, max_size=40))}
    groups = {path: {"digest": "d" * 32} for path, _ in lines} if is_grouped else {}
    return Body(
        (*draw(st.lists(words, max_size=40)),), entries, "matches", end=("end",), groups=groups, facts=facts
    )


def pages(body: Body, room: int) -> Iterator[Page]:
    start: int | None = 0
    while start is not None:
        page = page_of(body, start, room)
        yield page
        assert page.next_entry is None or page.next_entry > start
        start = page.next_entry


@given(bodies(), st.integers(1_200, 6_000))
def test_no_page_is_longer_than_the_room(body: Body, room: int) -> None:
    for page in pages(body, room):
        assert len(page.text) <= room
        assert json_size(page.data) <= room


@given(bodies(), st.integers(400, 3_000))
def test_all_pages_together_are_the_answer(body: Body, room: int) -> None:
    found: list[object] = []
    for page in pages(body, room):
        if body.is_text:
            found += str(page.data["text"]).split("\n") if page.data.get("text") is not None else []
        elif body.groups:
            found += [each for file in page.data["files"] for each in file["matches"]]  # type: ignore[attr-defined]
        else:
            found += page.data.get("matches", [])  # type: ignore[arg-type]
    assert found == [entry.data for entry in body.entries]


@given(st.text(max_size=5_000), st.integers(300, 2_000))
def test_a_text_cut_in_the_middle_fits(text: str, room: int) -> None:
    cut = middle_cut(text, room)
    assert len(cut) <= room
    assert cut == text or "characters left out" in cut


@pytest.mark.parametrize("tokens", [0, 299, MOST_TOKENS + 1, True, "many", 1.5])
def test_an_impossible_number_of_tokens_is_refused(tokens: object) -> None:
    with pytest.raises(BadRequest, match="max_tokens"):
        room_for(tokens)


def test_room_is_counted_in_tokens() -> None:
    assert room_for(None) == USUAL_TOKENS * 4 == 16_000
    assert room_for(MOST_TOKENS) == 80_000


def test_what_utf8_cannot_say_is_spelled() -> None:
    assert sayable({"a": ["x\udc80y", 1, None, True]}) == {"a": ["x\\udc80y", 1, None, True]}


def test_lines_of_a_text() -> None:
    assert [entry.text for entry in text_entries("a\n\nb\n")] == ["a", "", "b"]
    assert text_entries("") == ()
