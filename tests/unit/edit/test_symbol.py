"""Whole definitions: replaced, and put before and after others."""

from __future__ import annotations

import pytest
from editing import after, workspace

from lsptools.edit.candidate import plan_candidate, region_from_text
from lsptools.edit.symbol import Action, moved_to, plan_symbol
from lsptools.errors import ToolError
from lsptools.text.lines import Offset

SOURCE = '''\
import os

# about C
@final
class C:
    """C."""

    x = 1

    def f(self):
        return 1

    @property
    def g(self):
        return 2


def top():
    return 3

y = 1
'''


def changed(name: str, action: Action, text: str, source: str = SOURCE) -> str:
    view, session = workspace({"m.py": source})
    at = Offset(source.index(name) + len(name) - 1)
    return after(plan_symbol(view, session, "m.py", at, action, text), "m.py").decode()


@pytest.mark.parametrize(
    ("name", "action", "text", "old", "new"),
    [
        ("def f", "replace", "def f(self):\n    return 9\n", "    def f(self):\n        return 1\n", "    def f(self):\n        return 9\n"),
        ("def g", "replace", "        def g(self): pass", "    @property\n    def g(self):\n        return 2\n", "    def g(self): pass\n"),
        ("def f", "after", "def h(self): pass", "        return 1\n", "        return 1\n\n    def h(self): pass\n"),
        ("def f", "before", "def e(self): pass\n\n", "    def f(self):", "    def e(self): pass\n\n    def f(self):"),
        ("def g", "after", "def h(self): pass", "        return 2\n", "        return 2\n\n    def h(self): pass\n"),
        ("def g", "before", "def h(self): pass", "    @property", "    def h(self): pass\n\n    @property"),
        ("class C", "before", "def b(): pass", "# about C\n", "def b(): pass\n\n\n# about C\n"),
        ("def top", "after", "def last():\n    pass", "    return 3\n", "    return 3\n\n\ndef last():\n    pass\n"),
        ("class C", "replace", "class C: pass", SOURCE[SOURCE.index("@final") : SOURCE.index("\n\n\ndef top")], "class C: pass"),
        ("    x", "after", "z = 2", "    x = 1\n", "    x = 1\n    z = 2\n"),
        ("\ny", "replace", "y = 2", "y = 1", "y = 2"),
    ],
)  # fmt: skip
def test_a_definition(name: str, action: Action, text: str, old: str, new: str) -> None:
    assert SOURCE.count(old) == 1
    assert changed(name, action, text) == SOURCE.replace(old, new)


def test_line_ends_and_a_missing_one_stay() -> None:
    source = "def a():\r\n    pass\r\n\r\n\r\ndef b():\r\n    pass"
    assert (
        changed("def b", "after", "def c():\n    pass\n", source)
        == source + "\r\n\r\n\r\ndef c():\r\n    pass"
    )


def test_decorators_that_went_are_told() -> None:
    view, session = workspace({"m.py": SOURCE})
    at = Offset(SOURCE.index("g(self)"))
    assert "decorators" in plan_symbol(view, session, "m.py", at, "replace", "def g(self): pass").notes[0]
    assert not plan_symbol(view, session, "m.py", at, "replace", "@p\ndef g(self): pass").notes


def test_strings_are_not_indented_but_docstrings_are() -> None:
    text = 'def f():\n    """Doc.\n\n    more\n    """\n    x = """\na\n  b\n"""\n    return x'
    lines = moved_to("    ", text)
    assert "\n".join(lines) == (
        '    def f():\n        """Doc.\n\n        more\n        """\n        x = """\na\n  b\n"""\n        return x'
    )
    assert moved_to("", "\n".join(lines)) == text.split("\n")


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [("import", "x", "not_a_symbol"), ("def f", " \n", "invalid"), ("def f", "def f(:", "syntax")],
)
def test_what_is_refused(name: str, text: str, kind: str) -> None:
    with pytest.raises(ToolError) as caught:
        changed(name, "replace", text)
    assert caught.value.kind == kind


# Candidates


def candidate(text: str, *regions: str, data: str = "1\r\n2\n3\r\n4\r\n") -> str:
    view, session = workspace({"f": data})
    plan = plan_candidate(view, session, "f", text, regions=[region_from_text(each) for each in regions])
    return after(plan, "f").decode()


def test_a_candidate_keeps_line_ends_of_lines_that_stay() -> None:
    assert candidate("1\n2\nthree\n4\n5\n") == "1\r\n2\nthree\r\n4\r\n5\r\n"
    assert candidate("1\n2\n3\n4\n") == "1\r\n2\n3\r\n4\r\n"


def test_changes_outside_of_the_regions_are_refused_with_their_places() -> None:
    assert candidate("1\nB\nb\n3\n4\n", "2-2").replace("\r", "") == "1\nB\nb\n3\n4\n"
    with pytest.raises(ToolError) as caught:
        candidate("A\n2\nC\n4\n", "3")
    assert caught.value.kind == "invalid" and "lines 3-3" in caught.value.message
    assert candidate("1\n2\nC\n4\n", "3") == "1\r\n2\nC\r\n4\r\n"
    assert candidate("1\n2\n3\n", "4") == "1\r\n2\n3\r\n"


@pytest.mark.parametrize("text", ["", "x", "0-3", "5-2", "-1"])
def test_regions_that_are_none(text: str) -> None:
    with pytest.raises(ToolError):
        region_from_text(text)
