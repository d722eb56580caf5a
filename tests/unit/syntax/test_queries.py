"""Queries of ours compile and find; queries of callers are taken, or rejected with the place and what would work."""

import pytest

from lsptools.errors import BadRequest, InternalError
from lsptools.syntax.queries import compile_query, grammar_query, matches
from lsptools.syntax.tree import parse
from lsptools.text.document import Document


def found(name: str, source: str) -> list[dict[str, list[str]]]:
    """The captures of each match of one of our queries, as text."""
    return [
        {
            capture: [(node.text or b"").decode() for node in nodes]
            for capture, nodes in match.captures.items()
        }
        for match in matches(grammar_query("python", name), parse(source.encode()))
    ]


def test_calls() -> None:
    calls = found("calls", "f(1)\na.b.g(2)\n@h\ndef x(): ...\n")
    assert [(call["name"], call.get("receiver")) for call in calls] == [
        (["f"], None),
        (["g"], ["a.b"]),
        (["h"], None),
    ]


def test_imports() -> None:
    source = (
        "import a.b, c as d\nfrom . import e as f, g\nfrom ..h import *\nfrom __future__ import annotations\n"
    )
    imports = [
        {name: texts[0] for name, texts in each.items() if name != "import"}
        for each in found("imports", source)
    ]
    assert imports == [
        {"module": "a.b"},
        {"module": "c", "alias": "d"},
        {"module": ".", "name": "e", "alias": "f"},
        {"module": ".", "name": "g"},
        {"module": "..h", "star": "*"},
        {"name": "annotations"},
    ]


def test_a_query_that_is_not_there_is_our_fault() -> None:
    with pytest.raises(InternalError, match=r"nothing\.scm"):
        grammar_query("python", "nothing")


def spans(query: str, source: str) -> list[list[str]]:
    document = Document.decode(source.encode())
    return [
        [f"{name}={document.text[span.start : span.end]}" for name, span in match]
        for match in compile_query(query).spans_in(document)
    ]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("(call)", [["match=f('é😀', g())"], ["match=g()"]]),
        ("(call) ; with a comment", [["match=f('é😀', g())"], ["match=g()"]]),
        ("(call function: (_) @f)", [["f=f"], ["f=g"]]),
        ('(call function: (identifier) @f (#eq? @f "g")) @call', [["call=g()", "f=g"]]),
        ("(call arguments: (argument_list (_) @first . (_) @second))", [["first='é😀'", "second=g()"]]),
        ("[(string) (assignment)] @x", [["x=x = f('é😀', g())"], ["x='é😀'"]]),
    ],
)
def test_a_callers_query(query: str, expected: list[list[str]]) -> None:
    assert spans(query, "x = f('é😀', g())\n") == expected


@pytest.mark.parametrize(
    ("query", "says", "hint"),
    [
        ("(call\n  functoin: (identifier) @x)", "wrong at 2:3: invalid field name `functoin`", "`function`"),
        ("(call\n (identifer) @x)", "wrong at 2:3: invalid node type `identifer`", "`identifier`"),
        ("(identifier) @é (cal)", "wrong at 1:18: invalid node type `cal`", "`call`"),
        ("(call)) @x", "wrong at 1:7: invalid syntax", "looks like"),
        ("(call) @x\n(call", "wrong at 2:6: unexpected EOF", "looks like"),
        ('(identifier) @a (#match? @a "(")', "wrong at line 1: invalid predicate", "looks like"),
        ("(call (module))", "wrong at 1:7: impossible pattern", "looks like"),
        ("(call) @x \udcff", "bytes that are no text", "UTF-8"),
        ("", "has no pattern", "capture"),
        ("; only a comment", "has no pattern", "capture"),
        ("(call) (module)", "captures nothing", "capture"),
        ('(identifier) @a (#like? @a "x")', "predicate #like?", "#match?"),
    ],
)
def test_a_wrong_query_is_rejected(query: str, says: str, hint: str) -> None:
    with pytest.raises(BadRequest) as caught:
        spans(query, "f()\n")
    assert says in caught.value.message
    assert hint in caught.value.hint


def test_the_callers_string_is_left_as_it_is() -> None:
    query = "(call)\n(cal)"
    with pytest.raises(BadRequest):
        compile_query(query)
    assert query == "\n".join(["(call)", "(cal)"])
