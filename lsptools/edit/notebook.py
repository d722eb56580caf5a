"""Notebooks (`.ipynb`): their cells as text, and edits of a cell's source that leave every other byte of the file.

A notebook is JSON, so the source of a cell stands in it as strings with escapes. `sources` finds where; an edit of a source
becomes one edit of the JSON in exactly that place, with the strings in the form the file has. Where it stops: outputs are
shown in short, and only sources can be edited this way; all else is edited as the JSON it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]  # there since Python 2; the stubs leave it out
from typing import Any

from lsptools.text.edits import TextEdit
from lsptools.text.lines import Offset, Span

SUFFIX = ".ipynb"
LONGEST_OUTPUT = 2_000
"""Code points of a cell's output that are shown."""


@dataclass(frozen=True, slots=True)
class Source:
    """The source of one cell, and where in the JSON it is written."""

    number: int
    """Of the cell, from 1."""
    text: str
    span: Span
    """Of the JSON value: a string, or an array of strings."""
    is_array: bool
    indent: str | None
    """What stands between two lines of the array; `None` on one line."""


def cells_text(text: str) -> str | None:
    """The notebook as text, cell by cell; `None` if this is no notebook."""
    cells = _cells(text)
    if cells is None:
        return None
    return "".join(part for number, cell in enumerate(cells, 1) for part in _shown(number, cell))


def is_notebook(name: str, text: str) -> bool:
    """Whether a file of this name is a notebook, and says so."""
    return name.endswith(SUFFIX) and _cells(text) is not None


def sources(text: str) -> tuple[Source, ...]:
    """The sources of all cells, in order; nothing if this is no notebook."""
    cells = _cells(text)
    if cells is None:
        return ()
    found = []
    for number, start in enumerate(_starts_of_cells(text), 1):
        span = _members(text, start).get("source")
        if span is not None:
            found.append(_source(text, number, span))
    return tuple(found)


def edit_of(source: Source, new: str) -> TextEdit:
    """The edit of the JSON after which the cell says `new`."""
    if not source.is_array:
        return TextEdit(source.span, json.dumps(new, ensure_ascii=False))
    lines = [line for line in _split(new) if line]
    strings = [json.dumps(line, ensure_ascii=False) for line in lines]
    if source.indent is None or not strings:
        return TextEdit(source.span, "[" + ", ".join(strings) + "]")
    inner = source.indent
    outer = inner[: inner.rfind("\n") + 1] + inner[inner.rfind("\n") + 1 :][:-1]
    return TextEdit(source.span, f"[{inner}" + f",{inner}".join(strings) + f"{outer}]")


def _split(text: str) -> Iterator[str]:
    at = 0
    while (end := text.find("\n", at)) >= 0:
        yield text[at : end + 1]
        at = end + 1
    yield text[at:]


def _cells(text: str) -> list[dict[str, Any]] | None:  # JSON
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError):
        return None
    cells = loaded.get("cells") if isinstance(loaded, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        return None
    return cells


def _shown(number: int, cell: dict[str, Any]) -> Iterator[str]:
    kind = cell.get("cell_type", "code")
    yield f"# %% cell {number} [{kind}]\n"
    yield _ended(_text(cell.get("source", "")))
    for output in cell.get("outputs") or ():
        if isinstance(output, dict) and (said := _output(output)):
            cut = said[:LONGEST_OUTPUT] + (" … [cut]" if len(said) > LONGEST_OUTPUT else "")
            yield f"# output of cell {number}\n" + _ended(cut)


def _output(output: dict[str, Any]) -> str:
    if "text" in output:
        return _text(output["text"])
    if "traceback" in output:
        return f"{output.get('ename', 'error')}: {output.get('evalue', '')}"
    data = output.get("data")
    if not isinstance(data, dict):
        return ""
    return _text(data["text/plain"]) if "text/plain" in data else f"({', '.join(sorted(data))})"


def _text(value: object) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value)


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


# Where things are in the JSON. The text is known to be valid.

_BLANK = " \t\r\n"


def _starts_of_cells(text: str) -> Iterator[int]:
    top = _members(text, _skip(text, 0))
    at = _skip(text, top["cells"].start + 1)
    while text[at] != "]":
        yield at
        at = _skip(text, _end_of_value(text, at))
        if text[at] == ",":
            at = _skip(text, at + 1)


def _members(text: str, at: int) -> dict[str, Span]:
    """The values of an object that begins at `at`, by name; of a name that is there twice, the last counts."""
    members: dict[str, Span] = {}
    at = _skip(text, at + 1)
    while text[at] != "}":
        name, at = scanstring(text, at + 1, True)
        start = _skip(text, _skip(text, at) + 1)
        end = _end_of_value(text, start)
        members[name] = Span(Offset(start), Offset(end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return members


def _end_of_value(text: str, at: int) -> int:
    _, end = _DECODER.raw_decode(text, at)
    return end


_DECODER = json.JSONDecoder()


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _source(text: str, number: int, span: Span) -> Source:
    value = json.loads(text[span.start : span.end])
    if not isinstance(value, list):
        return Source(number, str(value), span, False, None)
    first = _skip(text, span.start + 1)
    indent = text[span.start + 1 : first]
    return Source(number, _text(value), span, True, indent if "\n" in indent else None)
