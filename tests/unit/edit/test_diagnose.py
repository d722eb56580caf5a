"""Why a passage is not there: the reason that holds is told, and what comes closest is shown."""

from __future__ import annotations

import pytest
from editing import workspace
from hypothesis import given
from hypothesis import strategies as st

from lsptools.edit.nearest import nearest
from lsptools.edit.replace import Replacement, plan_edit
from lsptools.edit.visible import named, visible
from lsptools.errors import ToolError


def missed(data: str, old: str, new: str = "something new", **others: str) -> ToolError:
    view, session = workspace({"f": data, **others})
    with pytest.raises(ToolError) as caught:
        plan_edit(view, session, "f", [Replacement(old, new)])
    assert caught.value.kind == "not_found"
    return caught.value


@pytest.mark.parametrize(
    ("data", "old", "says"),
    [
        ("\tfoo = 1\n\tbar = 2\n", "     1│\tfoo = 1\n     2│\tbar = 2", "line numbers"),
        ("\tfoo = 1\n\tbar = 2\n", "     1\t\tfoo = 1\n     2\t\tbar = 2\n", "line numbers"),
        ("foo = 1\nbar = 2\n", "1: foo = 1\n2: bar = 2", "line numbers"),
        ("f() {\n\treturn 1\n}\n", "f() {\n    return 1\n}", "indents with tabs, spaces were sent"),
        ("f() {\n    return 1\n}\n", "f() {\n\treturn 1\n}", "indents with spaces, tabs were sent"),
        ("  a = 1\n", "    a = 1\n", "indentation differs"),
        ("a  =  1\n", "a = 1", "blanks inside a line"),
        ("Hello World\n", "hello world", "upper and lower case"),
        ("def f():\n\n    return 1\n", "def f():\n    return 1", "empty lines"),
        ('print("a\\nb")\n', 'print("a\nb")', "line ends are written as \\n"),
        ('x = "a"\n', 'x = \\"a\\"', "too many"),
        ('x = \\"a\\"\n', 'x = "a"', "too few"),
        ("re = '\\\\d'\n", "re = '\\d'", "backslashes"),
        ("one\n", "\none\n\n", "line ends that were quoted around it"),
        ("50%\r60%\nx\n", "50%\n60%", "carriage return"),
    ],
)
def test_the_reason(data: str, old: str, says: str) -> None:
    error = missed(data, old)
    assert says in error.message
    assert error.hint


def test_it_was_done_already() -> None:
    error = missed("a\nvalue = 2\n", "value = 1", "value = 2")
    assert "already, on line 2" in error.message
    assert error.sites[0].line == 2


@pytest.mark.parametrize(
    ("data", "old", "new"),
    [
        ("def f():\n    pass\nfoo = baz(1)\n", "foo = bar(1)", "pass"),
        ("def f():\n    return 2\nfoo = baz(1)\n", "foo = bar(1)", "return"),
        ("food = 1\n", "x = y + 17", "foo"),
    ],
)
def test_the_new_text_somewhere_else_does_not_mean_that_it_was_done(data: str, old: str, new: str) -> None:
    assert "already" not in missed(data, old, new).message


def test_letters_that_look_alike_are_named() -> None:
    error = missed("p\u0430yload = 1\n", "payload = 1")
    assert "U+0430 CYRILLIC SMALL LETTER A is there, U+0061 LATIN SMALL LETTER A was quoted" in error.message
    assert "was quoted" not in missed("payload = 1\n", "paylaod = 1").message


def test_all_of_what_differs_by_empty_lines_is_shown() -> None:
    error = missed("def f():\n\n\n    return 1\n", "def f():\n    return 1")
    assert "     4│    return 1" in error.message


def test_it_is_in_another_file_that_was_read() -> None:
    error = missed("a\n", "def needle(): pass", other="x\ndef needle(): pass\n")
    assert "'other'" in error.message and "other" in error.hint


def test_the_nearest_passage_shows_what_cannot_be_seen() -> None:
    error = missed("one\ntwo\u200bthree is here \t\nfour\n", "twothree is here")
    assert "     2│two<U+200B>three is here·→" in error.message
    assert error.sites[0].line == 2
    assert "nothing alike" not in error.message


def test_nothing_is_alike() -> None:
    error = missed("aaaa bbbb\n", "zzzz 9999 qqqq\nwwww")
    assert "nearest" not in error.message and not error.sites


def test_visible() -> None:
    assert visible("\ta\u00a0b  ") == "→a<U+00A0>b··"
    assert visible("plain text") == "plain text"
    assert visible("a\x1b[31m") == "a<U+001B>[31m"
    assert named("\u00a0") == "U+00A0 NO-BREAK SPACE"


LINES = [f"    value_{number} = compute({number}, 'text {number * 7}')" for number in range(3000)]


@pytest.mark.parametrize("at", [0, 1500, 2990])
def test_a_passage_with_an_invented_line_is_found_again(at: int) -> None:
    passage = LINES[at : at + 8]
    passage[3] = "    something = else_entirely()"
    found = nearest("\n".join(LINES), "\n".join(passage))
    assert found is not None and found.score > 80
    assert found.span.start == sum(len(line) + 1 for line in LINES[:at])


def test_a_passage_without_a_shared_line_is_found_by_its_longest() -> None:
    passage = "\n".join(line.replace("value", "valve") for line in LINES[1000:1004])
    found = nearest("\n".join(LINES), passage)
    assert found is not None and found.score > 90
    assert abs(found.span.start - sum(len(line) + 1 for line in LINES[:1000])) < 200


def test_a_place_in_one_very_long_line() -> None:
    line = ",".join(str(number * number) for number in range(20_000))
    passage = line[40_000:40_120].replace("5", "x", 1)
    found = nearest(line, passage)
    assert found is not None and found.score > 90
    assert abs(found.span.start - 40_000) < 20


@given(st.text("ab\r\n \t(“", max_size=60), st.text("ab\r\n \t(“1│\\", min_size=1, max_size=30))
def test_any_miss_has_an_error(data: str, old: str) -> None:
    view, session = workspace({"f": data})
    try:
        plan_edit(view, session, "f", [Replacement(old, "new")])
    except ToolError as error:
        assert error.message and error.hint
