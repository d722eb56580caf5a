"""An edit of a Python file is judged by its surroundings as by the whole file."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from lsptools.edit import python_changed
from lsptools.edit.plan import with_text
from lsptools.edit.python_changed import problem_after
from lsptools.edit.python_syntax import parse_problem, project_version, statement_lines
from lsptools.errors import Refused
from lsptools.text.document import Document
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Offset, Span

PARTS = [
    *(
        "x = 1\n",
        "def f():\n",
        "    pass\n",
        "    x\n",
        "@d\n",
        "if x:\n",
        "else:\n",
        "try:\n",
        "except E: pass\n",
    ),
    *(
        '"""',
        "'''",
        "(",
        ")",
        "\\\n",
        "# c\n",
        "\n",
        "\n\n",
        "a; b\n",
        "\f",
        "x",
        " ",
        "é = 2\r\n",
        "\r",
        "}",
    ),
    *("# coding: latin-1\n", "class C:\n", "    def g(self): ...\n", "f(\n", ")\n", '"\n', "\t"),
]
sources = st.lists(st.sampled_from(PARTS), max_size=14).map("".join)
many = settings(max_examples=max(500, settings.default.max_examples if settings.default else 0))


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, Edits]:
    text = draw(sources)
    borders = sorted(set(draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=4))))
    assume(borders and len(borders) % 2 == 0)
    edits = [
        TextEdit(Span(Offset(a), Offset(b)), draw(st.sampled_from([*PARTS, ""]) | sources))
        for a, b in zip(borders[::2], borders[1::2], strict=True)
    ]
    return text, Edits.of(edits)


@many
@given(edited())
@example(("x = 1\n", Edits.of([TextEdit(Span(Offset(6), Offset(6)), "    y\n")])))
@example(("x = 1\ny = 2\n", Edits.of([TextEdit(Span(Offset(5), Offset(6)), "")])))
@example(('a = """\nx = 1\n"""\n', Edits.of([TextEdit(Span(Offset(12), Offset(13)), '"""')])))
def test_the_parts_say_what_the_whole_says(case: tuple[str, Edits]) -> None:
    text, edits = case
    before = Document.decode(text.encode())
    assume(before.encoding == "utf-8" and before.text == text and edits)
    try:
        after = with_text(before, edits.apply(text))
    except Refused:
        return  # it would declare another encoding
    whole = parse_problem(after.encode()) if parse_problem(before.encode()) is None else None
    with (
        mock.patch.object(python_changed, "_SMALL", 0),
        mock.patch.object(python_changed, "_known", type(python_changed._known)()),
    ):
        assert problem_after(before, edits, after, None) == whole
        kept = python_changed._known.get((after.digest, None), ())
    if kept and whole is None:
        lines = statement_lines(after.encode())
        assert lines is not None and kept == tuple(after.lines.starts[line] for line in lines)


def test_a_large_file_is_parsed_whole_once() -> None:
    text = "".join(f"value_{number} = compute({number})\n" for number in range(1000))
    document = Document.decode(text.encode())
    seen: list[int] = []

    def watched(source: bytes, *args: object, **options: object) -> object:
        seen.append(len(source))
        return statement_lines(source, *args, **options)  # type: ignore[arg-type]  # as it was called

    with mock.patch.object(python_changed, "statement_lines", watched):
        for number in (500, 501, 502):
            at = document.text.index(f"compute({number})")
            edits = Edits.of([TextEdit(Span(Offset(at), Offset(at + 7)), "count")])
            after = with_text(document, edits.apply(document.text))
            assert problem_after(document, edits, after, None) is None
            document = after
    assert [size > 1000 for size in seen] == [True, False, False, False]


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("pyproject.toml", '[project]\nrequires-python = ">=3.11"\n', (3, 11)),
        ("pyproject.toml", '[project]\nrequires-python = ">= 3.9, <4"\n', (3, 9)),
        ("pyproject.toml", "[project]\nrequires-python = '~=3.12'\n", (3, 12)),
        ("pyproject.toml", "[project]\n", None),
        ("setup.cfg", "[options]\npython_requires = >=3.8\n", (3, 8)),
    ],
)
def test_what_the_project_says(name: str, text: str, wanted: tuple[int, int] | None) -> None:
    from editing import memory, snapshot

    assert project_version(snapshot(memory({name: text}))) == wanted
