"""`read`: what is shown, how much of it, and what is not text."""

from __future__ import annotations

import io
import json
import os
import stat
import struct
from pathlib import Path

import pytest
from editing import after, memory, shown, snapshot, workspace
from hypothesis import given
from hypothesis import strategies as st

from lsptools.edit.candidate import plan_candidate
from lsptools.edit.lines import LineEdit, plan_lines
from lsptools.edit.notebook import cells_text, edit_of, sources
from lsptools.edit.pictures import Picture, picture_of
from lsptools.edit.read import LONGEST_LINE, MOST_BYTES, MOST_LINES, read
from lsptools.edit.replace import Replacement, plan_edit
from lsptools.edit.session import Session
from lsptools.edit.target import Target
from lsptools.edit.write import plan_write
from lsptools.errors import ToolError
from lsptools.text.document import digest_of
from lsptools.workspace.paths import Root
from lsptools.workspace.snapshot import Snapshot

AT = Target("p", "/p", "p")


@pytest.mark.parametrize(
    ("data", "range", "wanted"),
    [
        (b"a\nb\n", {}, ["     1│a", "     2│b"]),
        (b"a\r\nb", {}, ["     1│a", "     2│b"]),
        (b"a\rb\r", {}, ["     1│a", "     2│b"]),
        (b"\xef\xbb\xbfa", {}, ["     1│a"]),
        ("ä\r\n".encode("utf-16"), {}, ["     1│ä"]),
        (b"# coding: latin-1\n\xe9", {"offset": 2}, ["     2│é"]),
        (b"\xe9\n", {}, ["     1│\udce9"]),
        (b"a\n\fb\nc\n", {"offset": 3, "limit": 1}, ["     3│c"]),
        ("one\u2028uno\u0085eins\ntwo\n".encode(), {"offset": 2}, ["     2│two"]),
        (b"a\n\n", {}, ["     1│a", "     2│"]),
        (b"abcdef\n", {"column": 4}, ["     1│def"]),
        (b"abcdef\nab\n", {"column": 6}, ["     1│f", "     2│"]),
        (b"\nab\n", {"limit": 1}, ["     1│"]),
        (b"", {}, []),
    ],
)
def test_what_is_shown(data: bytes, range: dict[str, int], wanted: list[str]) -> None:
    view, session = snapshot(memory({"f": data})), Session()
    assert shown(view, session, "f", **range).shown.split("\n") == (wanted or [""])
    assert session.seen("/nowhere/ws/f") == digest_of(data)


@pytest.mark.parametrize(
    "range",
    [{"offset": 0}, {"limit": 0}, {"column": 0}, {"offset": 3}, {"column": 2}, {"offset": 2, "column": 9}],
)
def test_a_range_that_is_none(range: dict[str, int]) -> None:
    view, session = snapshot(memory({"f": "a\nb\n"})), Session()
    with pytest.raises(ToolError) as caught:
        read(view, session, "f", **range)
    assert caught.value.kind == "invalid"
    assert session.seen("/nowhere/ws/f") is None


def test_much_is_cut_and_told() -> None:
    view, session = workspace({"f": "x\n" * (MOST_LINES + 500)})
    reading = shown(view, session, "f")
    assert (reading.first_line, reading.last_line, reading.n_lines) == (1, MOST_LINES, MOST_LINES + 500)
    assert reading.is_cut and f"offset {MOST_LINES + 1}" in reading.go_on
    rest = shown(view, session, "f", offset=MOST_LINES + 1)
    assert not rest.is_cut and not rest.go_on
    part = shown(view, session, "f", limit=2)
    assert not part.is_cut and "offset 3" in part.go_on


def test_a_long_line_is_cut_and_its_rest_can_be_had() -> None:
    line = "".join(f"{number}," for number in range(40_000))
    view, session = workspace({"f": f"a\n{line}\nb\n"})
    reading = shown(view, session, "f")
    assert "[cut:" in reading.shown and "     3│b" in reading.shown and reading.is_cut
    got, column = "", 1
    while True:
        part = shown(view, session, "f", offset=2, limit=1, column=column)
        text, cut, said = part.shown.removeprefix("     2│").partition(" … [cut: ")
        got += text
        if not cut:
            break
        column = int(said.rpartition("column ")[2].rstrip("]"))
    assert got == line


@pytest.mark.parametrize(("before", "n_shown"), [("", MOST_BYTES - 200), ("a\n", LONGEST_LINE)])
def test_a_line_alone_may_take_all_the_room(before: str, n_shown: int) -> None:
    view, session = workspace({"f": before + "x" * 60_000})
    assert shown(view, session, "f").shown.count("x") == n_shown
    alone = shown(view, session, "f", offset=before.count("\n") + 1, limit=1)
    assert alone.shown.count("x") == MOST_BYTES - 200


@given(st.text("aé😀\n\udce9", max_size=200), st.integers(1, 60))
def test_never_more_than_the_bytes_and_never_nothing(text: str, times: int) -> None:
    data = (text * times * 40).encode("utf-8", "surrogateescape")
    view, session = workspace({"f": data})
    reading = shown(view, session, "f")
    assert len(reading.shown.encode("utf-8", "surrogatepass")) <= MOST_BYTES
    assert bool(reading.shown) == bool(data)


def test_what_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "b").write_bytes(b"\0\1")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "null").symlink_to("/dev/null")
    (tmp_path / "loop").symlink_to("loop")
    view = Snapshot(Root.of(tmp_path))
    kinds = {}
    for name in ("d", "b", "pipe", "null", "loop", "nope", "b/x", "b\0"):
        with pytest.raises(ToolError) as caught:
            read(view, Session(), name)
        kinds[name] = caught.value.kind
    assert kinds == {
        "d": "is_directory",
        "b": "binary",
        "pipe": "invalid",
        "null": "outside_workspace",
        "loop": "invalid",
        "nope": "not_found",
        "b/x": "not_found",
        "b\0": "invalid",
    }
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


# Pictures


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBBI", 13, b"IHDR", width, height, 8, 2, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (png(3, 4), ("image/png", 3, 4)),
        (b"GIF89a" + struct.pack("<HH", 5, 6) + b"\0" * 3, ("image/gif", 5, 6)),
        (
            b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08\x00\x07\x00\x08" + b"\0" * 12,
            ("image/jpeg", 8, 7),
        ),
        (
            b"RIFF\x30\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + b"\x08\0\0" + b"\x09\0\0" + b"\0" * 10,
            ("image/webp", 9, 10),
        ),
        (b"\x89PNG\r\n\x1a\n", None),
        (b"\xff\xd8\xff\0", None),
        (b"\0\1", None),
    ],
)
def test_pictures_are_told_by_their_bytes(data: bytes, wanted: tuple[str, int, int] | None) -> None:
    found = picture_of(AT, data)
    assert (None if found is None else (found.media_type, found.width, found.height)) == wanted


def test_a_picture_is_read_as_one_and_not_edited() -> None:
    view, session = snapshot(memory({"p.png": png(3, 4)})), Session()
    found = read(view, session, "p.png")
    assert isinstance(found, Picture) and "3 x 4 pixels" in found.described
    assert found.to_show() == ("image/png", png(3, 4))


def test_a_large_picture_is_scaled() -> None:
    image = pytest.importorskip("PIL.Image")
    made = io.BytesIO()
    image.new("RGB", (5000, 100), "red").save(made, "PNG")
    picture = picture_of(AT, made.getvalue())
    assert picture is not None and (picture.width, picture.height) == (5000, 100)
    scaled = picture.to_show()
    assert scaled is not None
    smaller = picture_of(AT, scaled[1])
    assert smaller is not None and (smaller.width, smaller.height) == (2000, 40)


def test_a_large_picture_that_is_broken_is_only_described() -> None:
    broken = picture_of(AT, png(9000, 9000))
    assert broken is not None and broken.to_show() is None


# Notebooks

NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["# Title\n", "text"]},
        {
            "cell_type": "code",
            "outputs": [{"text": ["42\n"]}, {"data": {"image/png": "…"}}, {"ename": "E", "traceback": []}],
            "source": "print(6 * 7)\n",
        },
        {"cell_type": "code", "source": []},
    ],
    "metadata": {"source": "no cell"},
}


def test_a_notebook_is_shown_as_cells() -> None:
    view, session = workspace({"n.ipynb": json.dumps(NOTEBOOK, indent=1)})
    text = shown(view, session, "n.ipynb").shown
    for words in (
        "cell 1 [markdown]",
        "# Title",
        "print(6 * 7)",
        "output of cell 2",
        "42",
        "(image/png)",
        "E: ",
    ):
        assert words in text
    assert '"cells"' not in text
    assert '"cells"' in shown(view, session, "n.ipynb", raw=True).shown
    assert session.seen("/nowhere/ws/n.ipynb")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": 1}', '{"cells": [1]}', "[" * 100_000])
def test_what_is_no_notebook_is_shown_as_it_is(text: str) -> None:
    assert cells_text(text) is None
    assert sources(text) == ()


@given(
    st.lists(st.text('ab"\\\n\té', max_size=12), min_size=1, max_size=4),
    st.data(),
    st.sampled_from([None, 1, 4]),
    st.booleans(),
)
def test_an_edited_source_leaves_everything_else(
    cells: list[str], draw: st.DataObject, indent: int | None, as_lines: bool
) -> None:
    made = [
        {"source": cell.splitlines(keepends=True) if as_lines else cell, "id": str(number)}  # as notebooks do
        for number, cell in enumerate(cells)
    ]
    text = json.dumps({"cells": made, "nbformat": 4}, indent=indent)
    found = sources(text)
    assert [source.text for source in found] == cells
    chosen = draw.draw(st.integers(0, len(cells) - 1))
    new = draw.draw(st.text('xy"\n', max_size=8))
    edit = edit_of(found[chosen], new)
    after = text[: edit.span.start] + edit.new_text + text[edit.span.end :]
    wanted = [new if number == chosen else cell for number, cell in enumerate(cells)]
    assert [source.text for source in sources(after)] == wanted
    loaded = json.loads(after)
    assert [cell["id"] for cell in loaded["cells"]] == [str(number) for number in range(len(cells))]


def edited_notebook(*pairs: tuple[str, str]) -> list[object]:
    view, session = workspace({"n.ipynb": json.dumps(NOTEBOOK, indent=1)})
    plan = plan_edit(view, session, "n.ipynb", [Replacement(old, new) for old, new in pairs])
    return [cell["source"] for cell in json.loads(after(plan, "n.ipynb"))["cells"]]


def test_a_cell_is_edited_as_it_is_shown() -> None:
    assert edited_notebook(("# Title\ntext", "# Title\n\nmore")) == [
        ["# Title\n", "\n", "more"],
        "print(6 * 7)\n",
        [],
    ]
    assert edited_notebook(("6 * 7", '"6"'), ("# Title\n", "# T\n")) == [
        ["# T\n", "text"],
        'print("6")\n',
        [],
    ]
    with pytest.raises(ToolError) as caught:
        edited_notebook(("nowhere\nin it", "x"))
    assert caught.value.kind == "not_found"
    with pytest.raises(ToolError) as caught:
        edited_notebook(("print(6 * 7)\n", "1"), ("print(6", "2"))
    assert caught.value.kind == "overlap"


ONE_CELL = (
    '{"cells":[{"cell_type":"code","execution_count":null,"metadata":{"tags":["b=2"]},"outputs":[],"source":["b=2"]}],'
    '"metadata":{"kernel":"x"},"nbformat":4,"nbformat_minor":5}'
)


def one_cell(
    old: str, new: str, *, raw: bool = False, allow_broken: bool = False, text: str = ONE_CELL
) -> bytes:
    """The notebook after an edit, by who has read it as cells or as JSON."""
    view, session = snapshot(memory({"n.ipynb": text})), Session()
    read(view, session, "n.ipynb", raw=raw)
    plan = plan_edit(view, session, "n.ipynb", [Replacement(old, new)], allow_broken=allow_broken)
    return after(plan, "n.ipynb")


@pytest.mark.parametrize("new", ['b="x"', "b=2\nc=3", "b=r'\\n'", "b='\t'", "b=“2”"])
@pytest.mark.parametrize("in_tags", [True, False])
def test_what_is_put_into_a_cell_is_escaped(new: str, in_tags: bool) -> None:
    text = ONE_CELL if in_tags else ONE_CELL.replace('"tags":["b=2"]', "")
    found = one_cell("b=2", new, text=text).decode()
    assert "".join(json.loads(found)["cells"][0]["source"]) == new
    head, tail = text[: text.index('["b=2"]}]')], text[text.index("}],") :]
    assert found.startswith(head) and found.endswith(tail)


def test_who_reads_a_notebook_as_json_edits_json() -> None:
    changed = one_cell('"source":["b=2"]', '"source":["b=\\"x\\""]', raw=True)
    assert json.loads(changed)["cells"][0]["source"] == ['b="x"']
    for raw in (True, False):
        assert json.loads(one_cell('"kernel":"x"', '"kernel":"y"', raw=raw))["metadata"] == {"kernel": "y"}


@pytest.mark.parametrize(
    ("old", "new", "raw"),
    [
        ('"source":["b=2"]', '"source":["b="x""]', True),
        ('"kernel":"x"', '"kernel":x', False),
        ('"cells"', '"sells"', False),
    ],
)
def test_a_notebook_stays_one(old: str, new: str, raw: bool) -> None:
    with pytest.raises(ToolError) as caught:
        one_cell(old, new, raw=raw)
    assert caught.value.kind == "syntax" and "no longer be a notebook" in caught.value.message
    assert "allow_broken" in caught.value.hint
    assert one_cell(old, new, raw=raw, allow_broken=True).decode() == ONE_CELL.replace(old, new)


def test_cells_and_json_are_edited_in_calls_of_their_own() -> None:
    view, session = workspace({"n.ipynb": ONE_CELL})
    edits = [Replacement("b=2", 'b="x"'), Replacement('"kernel":"x"', '"kernel":"y"')]
    for wanted in (edits, edits[::-1], [edits[0], Replacement("nowhere", "x")]):
        with pytest.raises(ToolError) as caught:
            plan_edit(view, session, "n.ipynb", wanted)
        assert caught.value.kind == "not_found"


def test_a_miss_in_a_notebook_shows_what_was_read() -> None:
    text = ONE_CELL.replace('"b=2"', '"def f():\\n", "    return \\"two\\""')
    for raw in (False, True):
        with pytest.raises(ToolError) as caught:
            one_cell('    retrun "two"', "x", raw=raw, text=text)
        assert caught.value.kind == "not_found"
        assert ('     3│    return "two"' in f"{caught.value.message}{caught.value.hint}") is not raw


def test_the_cell_view_is_not_written_over_the_notebook() -> None:
    view, session = workspace({"n.ipynb": ONE_CELL, "broken.ipynb": "{"})
    text = cells_text(ONE_CELL)
    assert text is not None
    for new in (text, "{}", '{"cells": 1}'):
        with pytest.raises(ToolError) as caught:
            plan_write(view, session, "n.ipynb", new)
        assert caught.value.kind == "syntax"
        assert (
            "no longer be a notebook" in plan_write(view, session, "n.ipynb", new, allow_broken=True).notes[0]
        )
        assert "no notebook" in plan_write(view, session, "new.ipynb", new).notes[0]
    assert not plan_write(view, session, "n.ipynb", '{"cells": []}').notes
    assert not plan_write(view, session, "broken.ipynb", "[").notes


def test_lines_of_a_notebook_are_those_of_cells_unless_it_is_known_as_json() -> None:
    text = json.dumps(json.loads(ONE_CELL), indent=1)
    number = text[: text.index('"kernel"')].count("\n") + 1
    wanted = [LineEdit(number, number, '  "kernel": "y"')]
    view, session = workspace({"n.ipynb": text})
    for plan in (
        lambda: plan_lines(view, session, "n.ipynb", wanted),
        lambda: plan_candidate(view, session, "n.ipynb", text, regions=[(number, number)]),
        lambda: plan_lines(view, Session(), "n.ipynb", wanted, expect=digest_of(text.encode())),
    ):
        with pytest.raises(ToolError) as caught:
            plan()
        assert caught.value.kind == "invalid" and "raw" in caught.value.hint
    read(view, session, "n.ipynb", raw=True)
    assert after(plan_lines(view, session, "n.ipynb", wanted), "n.ipynb").decode() == text.replace(
        '"x"', '"y"'
    )
    read(view, session, "n.ipynb")
    with pytest.raises(ToolError):
        plan_lines(view, session, "n.ipynb", wanted)


def test_a_notebook_can_be_edited_as_json() -> None:
    assert edited_notebook(('"print(6 * 7)\\n"', '"x"'))[1] == "x"
