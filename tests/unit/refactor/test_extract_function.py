"""Making a function of statements or an expression: what goes in and out, and what cannot leave its place."""

from __future__ import annotations

import pytest
from refactoring import refactored

from lsptools.errors import ToolError
from lsptools.refactor.extract_function import plan_extract_function

SAMPLES = [
    # what is read goes in, what is read later comes out
    (
        "def g(a):\n    «b = a + 1\n    c = b * 2»\n    return c\nprint(g(1))\n",
        "def _extracted(a):\n    b = a + 1\n    c = b * 2\n    return c\n\n\ndef g(a):\n    c = _extracted(a)\n    return c\nprint(g(1))\n",
    ),
    # an expression is replaced by the call
    (
        "def g(a, b):\n    return [«x * a» for x in b]\nprint(g(2, [1, 2]))\n",
        "def _extracted(x, a):\n    return x * a\n\n\ndef g(a, b):\n    return [_extracted(x, a) for x in b]\nprint(g(2, [1, 2]))\n",
    ),
    # what may not be set by the selection goes in as well
    (
        "def g(a):\n    b = 0\n    «if a:\n        b = 1»\n    return b\nprint(g(0), g(1))\n",
        "def _extracted(a, b):\n    if a:\n        b = 1\n    return b\n\n\ndef g(a):\n    b = 0\n    b = _extracted(a, b)\n    return b\nprint(g(0), g(1))\n",
    ),
    # in a loop the next round reads it, too
    (
        "def g(a):\n    n = 0\n    for x in a:\n        «n += x»\n    return n\nprint(g([1, 2]))\n",
        "def _extracted(n, x):\n    n += x\n    return n\n\n\ndef g(a):\n    n = 0\n    for x in a:\n        n = _extracted(n, x)\n    return n\nprint(g([1, 2]))\n",
    ),
    # a return at the end is the call's
    (
        "def g(a):\n    «b = a + 1\n    return b»\nprint(g(1))\n",
        "def _extracted(a):\n    b = a + 1\n    return b\n\n\ndef g(a):\n    return _extracted(a)\nprint(g(1))\n",
    ),
    # methods: self is a local; comments, strings over lines, tabs and line ends stay
    (
        'class C:\r\n\tn = 3\r\n\r\n\tdef m(self):\r\n\t\t# about\r\n\t\t«text = """a\r\n\t\tb"""  # why\r\n\t\t# and\r\n\t\tprint(text, self.n)»\r\n\t\treturn 1\r\nC().m()\r\n',
        'def _extracted(self):\r\n\ttext = """a\r\n\t\tb"""  # why\r\n\t# and\r\n\tprint(text, self.n)\r\n\r\n\r\nclass C:\r\n\tn = 3\r\n\r\n\tdef m(self):\r\n\t\t# about\r\n\t\t_extracted(self)\r\n\t\treturn 1\r\nC().m()\r\n',
    ),
    # a loop's variable that only the selection uses stays inside, another loop may use the name again
    (
        "def g(a):\n    «for i in a:\n        print(i)»\n    for i in a:\n        print(-i)\ng([1])\n",
        "def _extracted(a):\n    for i in a:\n        print(i)\n\n\ndef g(a):\n    _extracted(a)\n    for i in a:\n        print(-i)\ng([1])\n",
    ),
    # break of an own loop, comments above the function, decorators
    (
        "import functools\n\n# about g\n@functools.cache\ndef g(a):\n    «while True:\n        break»\n    return a\nprint(g(1))\n",
        "import functools\n\ndef _extracted():\n    while True:\n        break\n\n\n# about g\n@functools.cache\ndef g(a):\n    _extracted()\n    return a\nprint(g(1))\n",
    ),
    # several results
    (
        "def g(a):\n    «b, c = a, 2\n    import os»\n    return b, c, os.sep\nprint(g(1))\n",
        "def _extracted(a):\n    b, c = a, 2\n    import os\n    return b, c, os\n\n\ndef g(a):\n    b, c, os = _extracted(a)\n    return b, c, os.sep\nprint(g(1))\n",
    ),
    # at the top of a module, an expression
    (
        "x = 1\nprint(«x + 1»)\n",
        "x = 1\ndef _extracted():\n    return x + 1\n\n\nprint(_extracted())\n",
    ),
    # a closure's variable that never changes
    (
        "def g(a):\n    def h():\n        return «a + 1»\n    return h()\nprint(g(1))\n",
        "def _extracted(a):\n    return a + 1\n\n\ndef g(a):\n    def h():\n        return _extracted(a)\n    return h()\nprint(g(1))\n",
    ),
    # try, with, except
    (
        "def g(a):\n    «try:\n        r = 1 / a\n    except ZeroDivisionError as error:\n        r = str(error)»\n    return r\nprint(g(0), g(1))\n",
        None,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), SAMPLES)
def test_it_becomes(before: str, after: str | None) -> None:
    if after is None:  # both ways set it, which is more than what is known
        with pytest.raises(ToolError):
            refactored(plan_extract_function, before)
        return
    assert refactored(plan_extract_function, before) == after


@pytest.mark.parametrize(
    ("before", "kind"),
    [
        ("def g(a):\n    «if a:\n        return 1»\n    return 2\n", "undecided"),
        ("def g(a):\n    for x in a:\n        «if x:\n            break»\n", "undecided"),
        ("def g(a):\n    for x in a:\n        «continue»\n", "undecided"),
        ("def g(a):\n    «yield a»\n", "undecided"),
        ("async def g(a):\n    «await a»\n", "undecided"),
        ("async def g(a):\n    «async with a:\n        pass»\n", "undecided"),
        ("def g(a):\n    «global z\n    z = a»\n", "undecided"),
        ("def g(a):\n    global z\n    «z = a»\n", "undecided"),
        ("def g(a):\n    def h():\n        return a\n    «a = 2»\n    return h()\n", "undecided"),
        ("def g(a):\n    def h():\n        nonlocal a\n        a = 2\n    «h()\n    print(a)»\n", "undecided"),
        ("def g(a):\n    for x in a:\n        «b = lambda: x»\n    return b\n", "undecided"),
        ("def g(a):\n    if a:\n        b = 1\n    «print(b)»\n", "undecided"),
        ("def g(a):\n    «if a:\n        b = 1»\n    return b\n", "undecided"),
        ("def g(a):\n    «del a»\n", "undecided"),
        ("def g(a):\n    for x in a:\n        «if x:\n            p = x\n        else:\n            print(p)»\n", "undecided"),
        ("class A:\n    def m(self):\n        «print(super())»\n", "undecided"),
        ("class A:\n    def m(self):\n        «print(self.__x)»\n", "undecided"),
        ("def g(a):\n    «print(locals())»\n", "undecided"),
        ("def g(a):\n    print(locals())\n    return «a + 1»\n", "undecided"),
        ("def g(a):\n    b = 0\n    try:\n        «b = 1\n        a()»\n    except ValueError:\n        print(b)\n", "undecided"),
        ("def g(a):\n    b = 0\n    try:\n        «b = 1\n        a()»\n    finally:\n        print(b)\n", "undecided"),
        ("def g(a):\n    b = 0\n    try:\n        if a:\n            «b = 1\n            a()»\n    except ValueError:\n        pass\n    return b\n", "undecided"),
        ("def g(a):\n    b = 0\n    with a:\n        «b = 1\n        a()»\n    return b\n", "undecided"),
        ("«x = 1»\n", "undecided"),
        ("class A:\n    «x = 1»\n", "undecided"),
        ("def g(a):\n    return «(b := a)»\n", "undecided"),
        ('def g(a):\n    «"""About."""\n    print(a)»\n    return a\n', "invalid"),
        ("def g(a):\n    «x = 1»; y = 2\n", "invalid"),
        ("def g(a): «print(a)»\n", "invalid"),
        ("def g(a):\n    «x.y» = 1\n", "invalid"),
        ("def g(a):\n    pri«nt(a)»\n", "invalid"),
        ("def g[T](a: T):\n    «print(T)»\n", "undecided"),
    ],
)  # fmt: skip
def test_it_is_refused(before: str, kind: str) -> None:
    with pytest.raises(ToolError) as refused:
        refactored(plan_extract_function, before)
    assert refused.value.kind == kind
