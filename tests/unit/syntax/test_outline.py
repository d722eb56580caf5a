"""What a file defines: kinds, nesting, spans, and files that are broken."""

import pytest

from lsptools.syntax.outline import LONGEST_SIGNATURE, flat, outline
from lsptools.text.document import Document


def check(source: str, expected: str) -> None:
    """`expected`: one line per item, `line:column kind qualified`."""
    document = Document.decode(source.encode())
    lines = document.lines
    found = [
        f"{lines.user_from_offset(item.name_span.start)} {item.kind} {qualified}"
        for qualified, item in flat(outline(document))
    ]
    assert found == [line.strip() for line in expected.strip().split("\n") if line.strip()]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param("import os\nprint(os)\n", "", id="nothing defined"),
        pytest.param("def f(): ...\nasync def g(): ...\n", "1:5 function f\n2:11 function g", id="functions"),
        pytest.param(
            "class C(B):\n    x: int\n    y = 1\n    def m(self):\n        self.z = 2\n        w = 3\n",
            "1:7 class C\n2:5 attribute C.x\n3:5 attribute C.y\n4:9 method C.m",
            id="a class; locals and self are not listed",
        ),
        pytest.param(
            "def f():\n    class C:\n        x = 1\n        def m(self):\n            def g(): ...\n",
            "1:5 function f\n2:11 class f.C\n3:9 attribute f.C.x\n4:13 method f.C.m\n5:17 function f.C.m.g",
            id="nested",
        ),
        pytest.param(
            "if x:\n    A = 1\nelse:\n    A = 2\ntry:\n    def f(): ...\nexcept E:\n    def f(): ...\n",
            "2:5 variable A\n6:9 function f\n8:9 function f",
            id="branches: a variable once, a function as often as it is defined",
        ),
        pytest.param(
            "a, (b, *c) = x\n[d, *e] = y\nf = g = z\nh.i = j[0] = 1\n",
            "1:1 variable a\n1:5 variable b\n1:9 variable c\n2:2 variable d\n2:6 variable e\n3:1 variable f\n3:5 variable g",
            id="unpacking, chains; attributes and items define nothing here",
        ),
        pytest.param(
            "type Plain = int\ntype Pair[T] = tuple[T, T]\n",
            "1:6 type Plain\n2:6 type Pair",
            id="type aliases",
        ),
        pytest.param(
            "@d\n@e(1)\nclass C:\n    @property\n    def p(self): ...\n    @p.setter\n    def p(self, v): ...\n",
            "3:7 class C\n5:9 method C.p\n7:9 method C.p",
            id="decorated",
        ),
        pytest.param(
            "def ok(): ...\nf(\ndef late(): ...\nclass C:\n    x = = 2\n    def n(self): ...\n",
            "1:5 function ok\n3:5 function late\n4:7 class C\n5:5 attribute C.x\n6:9 method C.n",
            id="broken",
        ),
        pytest.param(
            "class C:\n    def m(self):\n        return f(\n\n    def n(self): ...\n\nasync def g(x, ...\n",
            "1:7 class C\n2:9 method C.m\n5:9 method C.n\n7:11 function g",
            id="a bracket left open",
        ),
        pytest.param(
            'f = """\ndef no(): ...\n"""\ng = (\ndef yes(): ...\n',
            "1:1 variable f\n5:5 function yes",
            id="broken, with a string",
        ),
        pytest.param(
            "x = '😀é'; ü = 1\r\ndef é(): ...\r",
            "1:1 variable x\n1:11 variable ü\n2:5 function é",
            id="code points",
        ),
    ],
)
def test_outline(source: str, expected: str) -> None:
    check(source, expected)


def test_the_span_has_the_decorators_and_the_body() -> None:
    document = Document.decode("é = 1\n@d\ndef f(a,\n      b):\n    return a\n\n\nx = 2\n".encode())
    items = {item.name: item for item in outline(document)}
    span = items["f"].span
    assert document.text[span.start : span.end] == "@d\ndef f(a,\n      b):\n    return a"
    assert items["f"].signature == "def f(a, b)"
    assert items["x"].signature == "x = 2"


def test_a_long_signature_is_cut() -> None:
    (item,) = outline(Document.decode(b"x = [" + b"1, " * 500 + b"]"))
    assert len(item.signature) == LONGEST_SIGNATURE
    assert item.signature.endswith("…")


def test_bytes_that_are_no_text_do_no_harm() -> None:
    document = Document.decode(b"# \xff\xfe\ndef f(): ...\n")
    (item,) = outline(document)
    assert document.text[item.name_span.start : item.name_span.end] == "f"


def test_a_latin_1_file_is_counted_in_its_characters() -> None:
    document = Document.decode("# coding: latin-1\nx = 'é'; y = 1\n".encode("latin-1"))
    assert [str(document.lines.user_from_offset(item.name_span.start)) for item in outline(document)] == [
        "2:1",
        "2:10",
    ]
