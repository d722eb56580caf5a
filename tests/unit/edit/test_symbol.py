"""Whole definitions: replaced, and put before and after others."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest
from editing import after, workspace

from lsptools.edit.candidate import plan_candidate, region_from_text
from lsptools.edit.indentation import moved_to
from lsptools.edit.symbol import Action, plan_symbol
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


# What a place means


def at_mark(source: str, action: Action, text: str, *, is_name: bool = False) -> str:
    """What the file says after it; the place is where `<|>` stands in the source."""
    at = Offset(source.index("<|>"))
    view, session = workspace({"m.py": source.replace("<|>", "", 1)})
    plan = plan_symbol(view, session, "m.py", at, action, text, is_name=is_name)
    return after(plan, "m.py").decode()


def refused(
    source: str, action: Action = "replace", text: str = "new = 1", *, is_name: bool = False
) -> ToolError:
    with pytest.raises(ToolError) as caught:
        at_mark(source, action, text, is_name=is_name)
    return caught.value


@pytest.mark.parametrize(
    ("source", "text", "wanted"),
    [
        ("class A:\n    def f(self):\n        self.<|>z = 1\n        self.w = 2\n", "self.z = 3", "class A:\n    def f(self):\n        self.z = 3\n        self.w = 2\n"),
        ("class A:\n    def f(self): self.<|>z = 1; self.w = 2\n", "self.z = 3", "class A:\n    def f(self): self.z = 3; self.w = 2\n"),
        ("class A: <|>x = 1\n", "x: int = 2", "class A: x: int = 2\n"),
        ("def f():\n    <|>x = 1\n    return x\n", "x = [\n    2,\n]", "def f():\n    x = [\n        2,\n    ]\n    return x\n"),
        ("<|>x: int\n", "x: str", "x: str\n"),
        ("(<|>q) = 1\n", "q = 2", "q = 2\n"),
        ("<|>x = 1  # why\n", "x = 2", "x = 2  # why\n"),
        ("type <|>X[K] = list[K]\n", "type X = int", "type X = int\n"),
        ("@a\n@b\ndef f<|>(): pass\n", "def f(): return 1", "def f(): return 1\n"),
        ("def f():\n    def <|>g():\n        return 1\n    return g\n", "def g(): return 2", "def f():\n    def g(): return 2\n    return g\n"),
        ("x = (\nclass <|>A:\n    pass\n", "class A:\n    y = 1", "x = (\nclass A:\n    y = 1\n"),
    ],
)  # fmt: skip
def test_only_what_was_named_is_replaced(source: str, text: str, wanted: str) -> None:
    assert at_mark(source, "replace", text) == wanted


@pytest.mark.parametrize(
    "source",
    [
        "def f(<|>a): return a\n",
        "def f(a, *, <|>b=1): return a\n",
        "def f(a): return <|>a\n",
        "def f(a: <|>int): return a\n",
        "def f(a=<|>x): return a\n",
        "<|>def f(a): return a\n",
        "class A(<|>B): pass\n",
        "@<|>deco\nclass A: pass\n",
        "def f():\n    for <|>i in x: pass\n",
        "def f():\n    with x as <|>i: pass\n",
        "import <|>x\n",
        "def f():\n    x = 1\n    <|>x += 1\n",
        "x: <|>int = 1\n",
        "<|>x.y = 1\n",
        "<|>x[0] = 1\n",
        "print((<|>x := 1))\n",
        "type X[<|>K] = list[K]\n",
        "# <|>x\n",
    ],
)
def test_what_has_no_statement_of_its_own(source: str) -> None:
    for is_name in (False, True):
        error = refused(source, is_name=is_name)
        assert error.kind == "not_a_symbol" and error.hint


def test_the_hint_names_what_is_around() -> None:
    assert "`f` is m.py:2:9" in refused("class A:\n    def f(self, <|>a): pass\n").hint


@pytest.mark.parametrize(
    ("source", "others"),
    [
        ("a, <|>b = 1, 2\n", "`a`"),
        ("<|>a, *b = c\n", "`b`"),
        ("(a, [<|>b, d[0]]), e.f = c\n", "`a`, `d[0]`, `e.f`"),
        ("x = <|>y = 1\n", "`x`"),
        ("<|>x = y = 1\n", "`y`"),
        ("<|>x = (y := 1) + 1\n", "`y`"),
        ("def f(self):\n    self.a, self.<|>b = 1, 2\n", "`self.a`"),
    ],
)
def test_a_statement_that_binds_more_is_not_replaced(source: str, others: str) -> None:
    error = refused(source)
    assert error.kind == "not_a_symbol" and error.message.endswith(f"also assigns to {others}")
    assert "\nnew = 1\n" in at_mark(f"{source}pass\n", "after", "new = 1").replace("    ", "")


SEVERAL = [
    "def <|>f(): pass\ndef f(): return 1\n",
    "<|>x = 1\nx = 2\n",
    "if a:\n    <|>x = 1\nelse:\n    x = 2\n",
    "try:\n    def <|>f(): pass\nexcept E:\n    def f(): return 1\n",
    "class A:\n    <|>x = 1\n    x: int\n",
    "class A:\n    def f(self):\n        self.<|>x = 1\n    def g(self):\n        if self: self.x = 2\n",
    "@d\ndef <|>f(): pass\nx = 1\n@d\ndef f(): pass\n",
    "<|>a, b = 1, 2\na = 3\n",
]


@pytest.mark.parametrize("source", SEVERAL)
@pytest.mark.parametrize("action", ["replace", "before", "after"])
def test_a_name_with_several_definitions_means_none(source: str, action: Action) -> None:
    error = refused(source, action, is_name=True)
    assert error.kind == "ambiguous" and len(error.sites) == 2
    lines = source.replace("<|>", "").split("\n")
    assert str(error.sites[-1]).partition(": ")[0] in error.hint and len(lines) > error.sites[-1].line


@pytest.mark.parametrize("source", SEVERAL[:-1])
def test_a_position_means_one_of_several(source: str) -> None:
    assert "new = 1" in at_mark(source, "replace", "new = 1")


@pytest.mark.parametrize(
    "source",
    [
        "<|>x = 1\ndef f():\n    x = 2\nclass A:\n    x = 3\n",
        "<|>x = 1\nx += 1\nfor x in y: pass\nprint(x)\n",
        "class A:\n    <|>x = 1\n    def f(self):\n        self.x = 2\n",
        "class A:\n    def f(self):\n        self.<|>x = 1\n        other.x = 2\nclass B:\n    def f(self):\n        self.x = 2\n",
        "def <|>f(f=1):\n    f = 2\n",
    ],
)
def test_a_name_with_one_definition(source: str) -> None:
    assert "new = 1" in at_mark(source, "replace", "new = 1", is_name=True)


OVERLOADS = "@overload\ndef <|>f(a: int) -> int: ...\n# for text\n@overload\ndef f(a: str) -> str: ...\ndef f(a):\n    return a\n"
PROPERTY = "class A:\n    @property\n    def <|>x(self):\n        return 1\n    @x.setter\n    def x(self, to):\n        pass\n"


@pytest.mark.parametrize("source", [OVERLOADS, PROPERTY])
def test_functions_that_belong_together_are_one_to_put_something_beside(source: str) -> None:
    assert refused(source, is_name=True).kind == "ambiguous"
    text = source.replace("<|>", "")
    new = "    z = 1\n" if source is PROPERTY else "z = 1\n"
    assert at_mark(source, "after", "z = 1", is_name=True) == text + new
    head = "class A:\n" if source is PROPERTY else ""
    assert at_mark(source, "before", "z = 1", is_name=True) == head + new + text.removeprefix(head)
    assert new + "    def" not in at_mark(source, "before", "z = 1")


# Indentation, and room

TABS = "class A:\n\tdef f(self):\n\t\treturn 1\n"
BLANKS = TABS.expandtabs(4)
TWO = TABS.expandtabs(2)
GIVEN = '''\
def f(
    self,
    a,
):
    """Doc.

        more
    """
    # why
    if a:
        x = """
  a
    b"""
        y = [1,
             2]
    # else
    else:
        return call(
            a, \\
            b,
        )
    return 2
'''


def in_steps(text: str, step: str) -> str:
    """`GIVEN` in a class, where a docstring's own indentation and what is aligned stay."""
    lines = []
    for line in text.split("\n"):
        bare = line.lstrip()
        n_steps, over = divmod(len(line) - len(bare), 4)
        if line in ("  a", '    b"""') or not line:
            lines.append(line)
        elif bare == "more":
            lines.append(step * 2 + "    more")
        elif over:
            lines.append(step * 3 + " " * 5 + bare)
        else:
            lines.append(step * (n_steps + 1) + bare)
    return "\n".join(lines)


@pytest.mark.parametrize("source", [TABS, BLANKS, TWO])
@pytest.mark.parametrize("action", ["replace", "after"])
def test_the_text_takes_the_steps_of_the_file(source: str, action: Action) -> None:
    step = {TABS: "\t", BLANKS: "    ", TWO: "  "}[source]
    wanted = in_steps(GIVEN, step)
    head = "class A:\n" if action == "replace" else source + "\n"
    assert changed("def f", action, GIVEN, source) == head + wanted


@pytest.mark.parametrize("source", [TABS, BLANKS, TWO, TABS.replace("\n", "\r\n")])
@pytest.mark.parametrize(
    "given",
    [
        "x = {\n    1: 2,\n    3: [\n        4,\n    ],\n}",
        'def g():\n    """G.\n\n    Args:\n      a: b\n    Raises:\n      c: d\n    """\n    return [\n        1,\n    ]',
    ],
)
def test_brackets_and_docstrings(source: str, given: str) -> None:
    step = "\t" if "\t" in source else "    " if source is BLANKS else "  "
    wanted = []
    for line in given.split("\n"):
        n_steps, over = divmod(len(line) - len(line.lstrip()), 4)
        wanted.append(step * (n_steps + 1) + " " * over + line.lstrip() if line else "")
    found = changed("def f", "replace", given, source).replace("\r\n", "\n")
    assert found == "class A:\n" + "\n".join(wanted) + "\n"


@pytest.mark.parametrize("given", [TABS, BLANKS, TWO, TABS.expandtabs(8)])
@pytest.mark.parametrize("source", [TABS, BLANKS, TWO])
def test_a_definition_in_other_steps_becomes_the_same(source: str, given: str) -> None:
    new = given.replace("return 1", "return 2")
    assert changed("class A", "replace", new, source) == source.replace("return 1", "return 2")


def meaning(text: str) -> str:
    """The tree that Python makes of it; of a docstring what it says, however deep it stands."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            node.value.value = inspect.cleandoc(node.value.value)
    return ast.dump(tree)


@pytest.mark.parametrize("step", ["\t", "  ", "        "])
def test_steps_change_and_python_reads_the_same(step: str) -> None:
    n_texts = 0
    for path in sorted(Path(__file__).parents[3].joinpath("lsptools", "text").glob("*.py")):
        source = path.read_text("utf-8")
        for node in ast.parse(source).body:
            text = ast.get_source_segment(source, node)
            if not isinstance(node, ast.ClassDef | ast.FunctionDef) or text is None:
                continue
            n_texts += 1
            there = "\n".join(moved_to("", text, step))
            assert meaning(there) == meaning(text), (path, text)
            back = "\n".join(moved_to("", there, "    "))
            assert meaning(back) == meaning(text), (path, text)
            assert f"\n{step}" in there
    assert n_texts > 50


def test_the_definition_itself_goes_before_the_file() -> None:
    mixed = TABS + "class B:\n    def g(self):\n        if self:\n            return 1\n        return 3\n"
    text = "def f(self):\n  return 2\n"
    assert "\n\tdef f(self):\n\t\treturn 2\n" in changed("def f", "replace", text, mixed)
    assert "\n    def f(self):\n        return 2\n" in changed("def g", "replace", text, mixed)


@pytest.mark.parametrize(
    ("source", "action", "text"),
    [
        ("class A: <|>x = 1\n", "after", "y = 2"),
        ("class A: <|>x = 1\n", "before", "y = 2"),
        ("class A: <|>x = 1\n", "replace", "def f(self):\n    pass"),
        ("class A: <|>x = 1\n", "replace", "x = 1\ny = 2"),
        ("<|>x = 1; y = 2\n", "after", "z = 3"),
        ("x = 1; <|>y = 2\n", "after", "z = 3"),
        ("x = 1; <|>y = 2\n", "before", "z = 3"),
        ("<|>x = 1; y = 2\n", "replace", "x = 3  # new"),
        ("<|>x = 1; y = 2\n", "replace", "def x(): pass"),
        ("<|>x = 1; y = 2\n", "replace", "if a: x = 3"),
        ("if a: <|>x = 1\n", "after", "y = 2"),
    ],
)  # fmt: skip
def test_what_shares_its_line(source: str, action: Action, text: str) -> None:
    error = refused(source, action, text)
    assert error.kind == "invalid" and "shares its line" in error.message


@pytest.mark.parametrize(
    ("source", "action", "wanted"),
    [
        ("<|>x = 1; y = 2\n", "before", "z = 3\nx = 1; y = 2\n"),
        ("<|>x = 1;\n", "after", "x = 1;\nz = 3\n"),
        ("<|>x = 1  # one\n", "after", "x = 1  # one\nz = 3\n"),
        ("class A: x<|> = 1\n", "replace", "class A: z = 3\n"),
        ("class <|>A: x = 1\n", "after", "class A: x = 1\n\n\nz = 3\n"),
    ],
)
def test_what_has_room(source: str, action: Action, wanted: str) -> None:
    assert at_mark(source, action, "z = 3") == wanted


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
