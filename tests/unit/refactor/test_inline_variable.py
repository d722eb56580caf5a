"""Putting a value where its name is read: only where it is the same value there."""

from __future__ import annotations

import pytest
from refactoring import refactored

from lsptools.errors import ToolError
from lsptools.languages.names import FilePosition
from lsptools.languages.python.modules import Project
from lsptools.refactor.inline_variable import plan_inline_variable
from lsptools.text.lines import Span
from lsptools.workspace.change import Change

LOUD = "def f(*a, **k):\n    print(a, k)\n    return len(a)\n\n\n"


def inline(project: Project, path: str, span: Span) -> Change:
    return plan_inline_variable(project, FilePosition(path, span.start))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def g(a):\n    «x» = f(a)\n    return x + 1\nprint(g(1))\n", "def g(a):\n    return f(a) + 1\nprint(g(1))\n"),
        ("def g(a):\n    x = f(a)\n    return «x» + 1\nprint(g(1))\n", "def g(a):\n    return f(a) + 1\nprint(g(1))\n"),
        ("def g(a):\r\n\t«x» = a + 1  # why\r\n\treturn x * 2\r\nprint(g(1))\r\n", "def g(a):\r\n\t# why\r\n\treturn (a + 1) * 2\r\nprint(g(1))\r\n"),
        ("def g(a):\n    «x» = 2\n    f(x)\n    for i in a:\n        f(x, i)\n    return lambda: x\nprint(g([1])())\n", "def g(a):\n    f(2)\n    for i in a:\n        f(2, i)\n    return lambda: 2\nprint(g([1])())\n"),
        ("def g(a):\n    «x» = a\n    f(x)\n    return x.real\nprint(g(1))\n", "def g(a):\n    f(a)\n    return a.real\nprint(g(1))\n"),
        ("def g(a):\n    «x» = 2\n    return x.real\nprint(g(1))\n", "def g(a):\n    return (2).real\nprint(g(1))\n"),
        ("def g(a):\n    «x» = a, 2\n    return f(x)\nprint(g(1))\n", "def g(a):\n    return f((a, 2))\nprint(g(1))\n"),
        ("def g(a):\n    «x» = (a +\n         2)\n    # kept\n    return f(x)\nprint(g(1))\n", "def g(a):\n    # kept\n    return f((a +\n         2))\nprint(g(1))\n"),
    ],
)  # fmt: skip
def test_it_becomes(before: str, after: str) -> None:
    assert refactored(inline, LOUD + before) == LOUD + after


@pytest.mark.parametrize(
    ("before", "kind"),
    [
        ("«x» = 1\nprint(x)\n", "undecided"),
        ("def g(a):\n    «x» = f(a)\n    f(0)\n    return x\n", "undecided"),
        ("def g(a):\n    «x» = f(a)\n    return f(0) + x\n", "undecided"),
        ("def g(a):\n    «x» = f(a)\n    return x + x\n", "undecided"),
        ("def g(a):\n    «x» = f(a)\n    return lambda: x\n", "undecided"),
        ("def g(a):\n    «x» = f(a)\n    while x:\n        pass\n", "undecided"),
        ("def g(a):\n    «x» = a\n    a = 2\n    return x\n", "undecided"),
        ("def g(a):\n    «x» = a\n    return [x for a in (1, 2)]\n", "name_capture"),
        ("def g(a):\n    «x» = []\n    x.append(1)\n    return x\n", "undecided"),
        ("def g(a):\n    «x» = f(a)\n", "undecided"),
        ("def g(a):\n    «x» = 1\n    x = 2\n    return x\n", "undecided"),
        ("def g(a):\n    «x» = 1\n    x += 2\n    return x\n", "undecided"),
        ("def g(a):\n    if a:\n        «x» = 1\n    return x\n", "undecided"),
        ("def g(a):\n    «x»: int = 1\n    return x\n", "undecided"),
        ("def g(a):\n    «x» = y = 1\n    return x\n", "undecided"),
        ("def g(a):\n    «x», y = 1, 2\n    return x\n", "undecided"),
        ("def g(a):\n    for «x» in a:\n        print(x)\n", "undecided"),
        ("def g(a):\n    return «a»\n", "undecided"),
        ("def g(a):\n    «x» = 'y'\n    return f'{x}'\n", "undecided"),
        ("def g(a):\n    «x» = 1\n    return f'{x=}'\n", "undecided"),
        ("def g(a):\n    «x» = 1\n    return locals(), x\n", "undecided"),
        ("def g(a):\n    «x» = (1 +  # why\n         2)\n    return x\n", "undecided"),
        ("def g(a):\n    «x» = 1; print(2)\n    return x\n", "invalid"),
        ("def g(a):\n    x = 1\n    return a.«x»\n", "not_a_symbol"),
    ],
)  # fmt: skip
def test_it_is_refused(before: str, kind: str) -> None:
    with pytest.raises(ToolError) as refused:
        refactored(inline, LOUD + before)
    assert refused.value.kind == kind
