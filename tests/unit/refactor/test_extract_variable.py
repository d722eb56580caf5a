"""Giving an expression a name: what it becomes, and when the order of evaluation forbids it."""

from __future__ import annotations

import pytest
from refactoring import refactored

from lsptools.errors import ToolError
from lsptools.refactor.extract_variable import plan_extract_variable

LOUD = "def f(*a, **k):\n    print(a, k)\n    return len(a)\n\n\n"


def check(before: str, after: str) -> None:
    assert refactored(plan_extract_variable, LOUD + before) == LOUD + after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("print(«1 * 2» + 3)\n", "_value = 1 * 2\nprint(_value + 3)\n"),
        ("def g(a):\n    return «f(a)» + 1\nprint(g(1))\n", "def g(a):\n    value = f(a)\n    return value + 1\nprint(g(1))\n"),
        ("def g(a):\n    return a + «f(a)»\nprint(g(1))\n", "def g(a):\n    value = f(a)\n    return a + value\nprint(g(1))\n"),
        ("def g(a):\r\n\treturn «a.real»\r\nprint(g(1))\r\n", "def g(a):\r\n\treal = a.real\r\n\treturn real\r\nprint(g(1))\r\n"),
        ("def g(real):\n    return «real.real»\n", "def g(real):\n    real_2 = real.real\n    return real_2\n"),
        ("def g(a):\n    «f(a)»  # why\ng(2)\n", "def g(a):\n    value = f(a)  # why\ng(2)\n"),
        ("def g(a):\n    if «f(a)» and a:\n        pass\ng(2)\n", "def g(a):\n    value = f(a)\n    if value and a:\n        pass\ng(2)\n"),
        ("def g(a):\n    for x in «f(a), a»:\n        print(x)\ng(2)\n", "def g(a):\n    value = f(a), a\n    for x in value:\n        print(x)\ng(2)\n"),
        ("def g(a):\n    return(«a +\n      1»)\nprint(g(1))\n", "def g(a):\n    value = (a +\n      1)\n    return(value)\nprint(g(1))\n"),
        ("def g(a):\n    return«(a)»\nprint(g(1))\n", "def g(a):\n    value = (a)\n    return value\nprint(g(1))\n"),
        ('def g(a):\n    return f"é{«a + 1»!r}😀"\nprint(g(1))\n', 'def g(a):\n    value = a + 1\n    return f"é{value!r}😀"\nprint(g(1))\n'),
        ("def g(a):\n    return [x for x in «f(a), 1»]\nprint(g(1))\n", None),
        ("def g(a):\n    return [x for x in «[f(a), 1]»]\nprint(g(1))\n", "def g(a):\n    value = [f(a), 1]\n    return [x for x in value]\nprint(g(1))\n"),
        ("def g(a):\n    x = a if «f(a)» else 2\n    return x\nprint(g(1))\n", "def g(a):\n    value = f(a)\n    x = a if value else 2\n    return x\nprint(g(1))\n"),
        ("def g(a):\n    print(a['key'], «a['size']»)\ng({'key': 1, 'size': 2})\n", "def g(a):\n    size = a['size']\n    print(a['key'], size)\ng({'key': 1, 'size': 2})\n"),
        ("def g(a):\n    return (y := 2) + «(yield)»\n", None),
        ("def g(a):\n    x = [0]\n    x[f(a)] = «f(a, a)»\ng(0)\n", "def g(a):\n    x = [0]\n    value = f(a, a)\n    x[f(a)] = value\ng(0)\n"),
    ],
)  # fmt: skip
def test_it_becomes(before: str, after: str | None) -> None:
    if after is None:
        with pytest.raises(ToolError):
            check(before, "")
        return
    check(before, after)


@pytest.mark.parametrize(
    ("before", "kind"),
    [
        ("def g(a):\n    return f(a) + «f(a, a)»\n", "undecided"),
        ("def g(a):\n    return a[0] + «f(a)»\n", "undecided"),
        ("def g(a):\n    return a and «f(a)»\n", "undecided"),
        ("def g(a):\n    return 1 < a < «f(a)»\n", "undecided"),
        ("def g(a):\n    return «f(a)» if a else 2\n", "undecided"),
        ("def g(a):\n    while «f(a)»:\n        pass\n", "undecided"),
        ("def g(a):\n    return [«f(x)» for x in a]\n", "undecided"),
        ("def g(a):\n    return lambda: «f(a)»\n", "undecided"),
        ("def g(a):\n    assert «f(a)»\n", "undecided"),
        ("def g(a):\n    if a:\n        pass\n    elif «f(a)»:\n        pass\n", "undecided"),
        ("def g(a=«f(1)»):\n    pass\n", "undecided"),
        ("def g(a: «f(1)»):\n    pass\n", "undecided"),
        ("class A:\n    x = «1 + 1» + 2\n", "undecided"),
        ("def g(a):\n    return f(k=«f(1)», *f(2))\n", "undecided"),
        ("def g(a):\n    return f'{«a»=}'\n", "undecided"),
        ("def g(a):\n    print(«a + 1», locals())\n", "undecided"),
        ("def g(a):\n    return f(a, (a := «f(2)»), a)\n", None),
        ("def g(a):\n    return f(a, «(a := f(2))»)\n", "undecided"),
        ("def g(a):\n    def h():\n        nonlocal a\n        a = 5\n        return 1\n    return f(a, «h()»)\n", "undecided"),
        ("def g(a):\n    x = 1; return «f(a)»\n", "invalid"),
        ("def g(a): return «f(a)»\n", "invalid"),
        ("def g(a):\n    return «f(a) +» 1\n", "invalid"),
        ("def g(a):\n    return f«(x for x in a)»\n", "invalid"),
        ("def g(a):\n    return a.«real»\n", "invalid"),
        ("def g(a):\n    «»return a\n", "invalid"),
        ('def g(a):\n    «"a docstring"»\n', "invalid"),
        ("def g(a):\n    return 'a' «'b'»\n", "invalid"),
        ("«a b»\n", "syntax"),
    ],
)  # fmt: skip
def test_it_is_refused(before: str, kind: str | None) -> None:
    if kind is None:
        refactored(plan_extract_variable, LOUD + before)
        return
    with pytest.raises(ToolError) as refused:
        refactored(plan_extract_variable, LOUD + before)
    assert refused.value.kind == kind
