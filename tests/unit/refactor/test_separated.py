"""Elements of a list that go, come and change places, and the comments beside them."""

from __future__ import annotations

import ast
import itertools
import re

import pytest

from lsptools.refactor.separated import Element, edits_of_list, edits_without
from lsptools.text.edits import Edits
from lsptools.text.lines import Offset, Span


def after(before: str, wanted: str) -> str:
    """The list between the outer brackets of `before` (elements are single letters) with the wanted elements in their order."""
    inside = re.sub(r"#[^\r\n]*", lambda found: "#" * len(found.group()), before)
    start = inside.index("(")
    old = [
        Span(Offset(m.start()), Offset(m.end())) for m in re.finditer(r"\b\w\b", inside) if m.start() > start
    ]
    letters = [before[span.start : span.end] for span in old]
    new = [Element("", letters.index(each)) if each in letters else Element(each) for each in wanted]
    brackets = Span(Offset(start), Offset(inside.rindex(")") + 1))
    return Edits.of(edits_of_list(before, brackets, old, new)).apply(before)


@pytest.mark.parametrize(
    ("before", "wanted", "expected"),
    [
        # in a line
        ("f(a, b, c)", "bc", "f(b, c)"),
        ("f(a, b, c)", "ac", "f(a, c)"),
        ("f(a, b, c)", "ab", "f(a, b)"),
        ("f(a, b, c)", "a", "f(a)"),
        ("f(a, b, c)", "c", "f(c)"),
        ("f(a, b, c)", "", "f()"),
        ("f(a, b,)", "a", "f(a,)"),
        ("f(a,b,c)", "ac", "f(a,c)"),
        ("f( a, b )", "a", "f( a )"),
        # each on its line: the comments of the others stay
        ("f(\n    a,  # 1\n    b,  # 2\n)", "a", "f(\n    a,  # 1\n)"),
        ("f(\n    a,  # 1\n    b,  # 2\n)", "b", "f(\n    b,  # 2\n)"),
        ("f(\n    a,  # 1\n    b  # 2\n)", "a", "f(\n    a  # 1\n)"),
        ("f(\n    a,  # 1\n    b  # 2\n)", "b", "f(\n    b  # 2\n)"),
        ("f(\r\n\ta,  # 1\r\n\tb,  # 2\r\n\tc,  # 3\r\n)", "ac", "f(\r\n\ta,  # 1\r\n\tc,  # 3\r\n)"),
        ("f(\r\n\ta,  # 1\r\n\tb,  # 2\r\n\tc\r\n)", "a", "f(\r\n\ta  # 1\r\n)"),
        ("f(\r\ta,  # 1\r\tb  # 2\r)", "a", "f(\r\ta  # 1\r)"),
        ("f(\n    a,\n    b)", "a", "f(\n    a)"),
        ("f(\n    a,  # 1\n    b)", "a", "f(\n    a  # 1\n    )"),
        ("f(a,  # 1\n  b,  # 2\n  c)", "bc", "f(b,  # 2\n  c)"),
        ("f(a,  # 1\n  b,  # 2\n  c)", "ac", "f(a,  # 1\n  c)"),
        ("f(a,\n  b)", "a", "f(a)"),
        ("f(a,\n  b)", "b", "f(b)"),
        # a comment behind several is about them all
        ("f(\n    a, b,  # both\n    c,\n)", "ac", "f(\n    a,  # both\n    c,\n)"),
        ("f(\n    a, b,  # both\n    c,\n)", "bc", "f(\n    b,  # both\n    c,\n)"),
        ("f(\n    a, b,  # both\n    c,\n)", "c", "f(\n    c,\n)"),
        # a comment above one goes with it, a comment above several stays
        ("f(\n    # 1\n    a,\n    # 2\n    b,\n)", "a", "f(\n    # 1\n    a,\n)"),
        ("f(\n    # 1\n    a,\n    # 2\n    b,\n)", "b", "f(\n    # 2\n    b,\n)"),
        ("f(\n    # both\n    a,\n    b,\n)", "b", "f(\n    # both\n    b,\n)"),
        ("f(\n    # both\n    a,\n    b,\n)", "a", "f(\n    # both\n    a,\n)"),
        ("f(a,  # 1\n  # 2\n  b)", "b", "f(\n  # 2\n  b)"),
        # commas at the beginning of lines
        ("f(\n    a  # 1\n    , b\n)", "a", "f(\n    a  # 1\n    \n)"),
        # new ones
        ("f(a, b)", "anb", "f(a, n, b)"),
        ("f(a, b)", "abn", "f(a, b, n)"),
        ("f(a, b)", "nmb", "f(n, m, b)"),
        ("f(a, b)", "an", "f(a, n)"),
        ("f(\n    a,\n    b,\n)", "anmb", "f(\n    a,\n    n,\n    m,\n    b,\n)"),
        ("f(\n    a,  # 1\n    b,  # 2\n)", "anb", "f(\n    a,  # 1\n    n,\n    b,  # 2\n)"),
        ("f(\n    a,  # 1\n    b,  # 2\n)", "abn", "f(\n    a,  # 1\n    b,  # 2\n    n,\n)"),
        ("f(\n    a,  # 1\n    b  # 2\n)", "abn", "f(\n    a,  # 1\n    b,  # 2\n    n\n)"),
        ("f(\r\n    a,  # 1\r\n    b  # 2\r\n)", "an", "f(\r\n    a,  # 1\r\n    n\r\n)"),
        ("f(\n    # 1\n    a,\n)", "nma", "f(\n    n,\n    m,\n    # 1\n    a,\n)"),
        # other places
        ("f(a, b)", "ba", "f(b, a)"),
        ("f(\n    a,  # 1\n    b,  # 2\n)", "ba", "f(\n    b,  # 2\n    a,  # 1\n)"),
        ("f(\n    a,\n    b  # 2\n)", "ba", "f(\n    b,  # 2\n    a\n)"),
        ("f(\n    a,\n    b,  # 2\n)", "bna", "f(\n    b,  # 2\n    n,\n    a,\n)"),
        ("f(\n    a,  # 1\n    b,\n    c,  # 3\n)", "cnb", "f(\n    c,  # 3\n    n,\n    b,\n)"),
    ],
)  # fmt: skip
def test_it_becomes(before: str, wanted: str, expected: str) -> None:
    assert after(before, wanted) == expected


def without(before: str, gone: str) -> str:
    """An import of names without brackets: `from m import a, b`."""
    start = before.index("import") + len("import")
    old = [
        Span(Offset(m.start()), Offset(m.end())) for m in re.finditer(r"\b\w\b", before) if m.start() > start
    ]
    old = [span for span in old if not set("#;") & set(before[: span.start])]
    indexes = [index for index, span in enumerate(old) if before[span.start : span.end] in gone]
    return Edits.of(edits_without(before, old, indexes)).apply(before)


@pytest.mark.parametrize(
    ("before", "gone", "expected"),
    [
        ("from m import a, b  # why\n", "b", "from m import a  # why\n"),
        ("from m import a, b  # why\n", "a", "from m import b  # why\n"),
        ("from m import a, b; z()\n", "b", "from m import a; z()\n"),
        ("from m import a, b", "b", "from m import a"),
        ("from m import a, \\\n    b, \\\n    c\n", "b", "from m import a, \\\n    c\n"),
        ("from m import a, \\\n    b, \\\n    c\n", "c", "from m import a, \\\n    b\n"),
        ("from m import a, \\\n    b, \\\n    c\n", "bc", "from m import a\n"),
        ("from m import a, \\\n    b\n", "a", "from m import b\n"),
        ("from m import \\\n    a, \\\n    b\n", "a", "from m import \\\n    b\n"),
        ("from m import \\\r\n    a, b\r\n", "b", "from m import \\\r\n    a\r\n"),
    ],
)  # fmt: skip
def test_names_of_an_import_go(before: str, gone: str, expected: str) -> None:
    assert without(before, gone) == expected


LAYOUTS = [
    "f({0}, {1}, {2}, {3})",
    "f({0}, {1},\n  {2}, {3})",
    "f({0},  # {0}\n  {1},  # {1}\n  {2},  # {2}\n  {3}  # {3}\n  )",
    "f(\n    {0},  # {0}\n    {1},  # {1}\n    {2},\n    {3},  # {3}\n)",
    "f(\n    {0},  # {0}\n    {1},  # {1}\n    {2},  # {2}\n    {3}  # {3}\n)",
    "f(\n    {0},  # {0}\n    {1},\n    {2},\n    {3}\n)",
    "f(\n    {0}, {1},  # first\n    {2}, {3},  # last\n)",
    "f(\n    {0}, {1},\n    {2}, {3}\n    # end\n)",
]
IN_ORDER = [
    "f({0},  # {0}\n  {1},  # {1}\n  {2},  # {2}\n  {3})  # end",
    "f(\n    # {0}\n    {0},\n    # {1}\n    {1},\n\n    {2},\n    # {3}\n    {3}\n)",
    "f(  # begin\n    {0}\n    , {1}  # {1}\n    , {2}\n    , {3})",
]
"""Of these the elements that stay are not given other places: a comment there has a place from which it cannot go."""

STAYING = ["".join(each) for n in range(1, 5) for each in itertools.combinations("abcd", n)]
MOVING = ["".join(each) for n in range(1, 5) for each in itertools.permutations("abcd", n)]
ADDING = [each[:at] + "n" + each[at:] for each in MOVING for at in range(len(each) + 1)]


@pytest.mark.parametrize("layout", [*LAYOUTS, *IN_ORDER])
def test_it_is_the_wanted_list_and_no_comment_is_at_a_wrong_neighbour(layout: str) -> None:
    before = layout.format(*"abcd")
    for wanted in [*STAYING, *MOVING, *ADDING] if layout in LAYOUTS else STAYING:
        now = after(before, wanted)
        (call,) = (node for node in ast.walk(ast.parse(now)) if isinstance(node, ast.Call))
        assert "".join(ast.unparse(each) for each in call.args) == wanted, now
        behind = re.findall(r"(\w),?  # (\w)$", now, re.M)
        above = re.findall(r"^ +# (\w)\n +(\w)", now, re.M)
        assert all(one == other for one, other in [*behind, *above]), now
        n_lost = sum(f"# {each}\n" in before and f"# {each}\n" not in now for each in wanted)
        assert not n_lost, now
        assert not re.search(r"[ \t]+$", now, re.M), now
