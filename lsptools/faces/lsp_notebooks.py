"""Notebooks: their code cells, one after another, are one module.

The module is called as the notebook with `.py` behind (`plot.ipynb.py`), and is laid over the workspace like an open document. Every
cell begins on a line of its own, so that a place in a cell is the same place in the module, some lines further down. Commands of
IPython (`%time`, `!ls`, `%%bash`) are comments in the module, of the same length, so that it parses and no character moves.

Where it stops: only open notebooks are modules; a closed one is text. `name?` is no Python, and stays as it is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace

from lsprotocol import types

from lsptools.faces.lsp_documents import Opened, key_of, path_of
from lsptools.text.lines import Lines, Span, split_lines

PYTHON_BELOW = frozenset({"%%time", "%%timeit", "%%capture", "%%prun"})
"""Commands for a whole cell, whose other lines are Python."""


@dataclass(frozen=True, slots=True)
class Notebook:
    """An open notebook: its cells in order, of any kind, by their URIs."""

    uri: str
    path: str | None
    version: int
    cells: tuple[str, ...]


class Notebooks:
    """The open notebooks, by key. Used by one thread only."""

    def __init__(self) -> None:
        self._opened: dict[str, Notebook] = {}

    def add(self, uri: str, version: int, cells: tuple[str, ...]) -> None:
        """The editor opened a notebook."""
        self._opened[key_of(uri)] = Notebook(uri, path_of(uri), version, cells)

    def change(self, uri: str, version: int, array: types.NotebookCellArrayChange | None) -> None:
        """The notebook has another version; some of its cells became others."""
        known = self._opened.get(key_of(uri))
        if known is None:
            return
        cells = list(known.cells)
        if array is not None:
            new = [cell.document for cell in array.cells or ()]
            cells[array.start : array.start + array.delete_count] = new
        self._opened[key_of(uri)] = replace(known, version=version, cells=tuple(cells))

    def close(self, uri: str) -> None:
        self._opened.pop(key_of(uri), None)

    def all(self) -> Mapping[str, Notebook]:
        """All of them as they are now."""
        return dict(self._opened)


@dataclass(frozen=True, slots=True)
class Joined:
    """The module that a notebook's cells are."""

    notebook: Notebook
    text: str
    cells: tuple[Opened, ...]
    starts: tuple[int, ...]
    """The line of the module on which each cell begins, from 0."""

    def cell_at(self, lines: Lines, span: Span) -> tuple[Opened, int]:
        """The cell in which a span begins, and the line on which that cell begins."""
        index = max(0, bisect_right(self.starts, lines.line_of(span.start)) - 1)
        return self.cells[index], self.starts[index]

    def start_of(self, uri: str) -> tuple[int, int]:
        """The line on which a cell begins, and how many lines it has."""
        index = next(i for i, cell in enumerate(self.cells) if key_of(cell.uri) == key_of(uri))
        return self.starts[index], Lines(self.cells[index].text).n_lines


def joined(notebook: Notebook, documents: Mapping[str, Opened]) -> Joined | None:
    """The module of a notebook; None if no cell of it is Python."""
    known = (documents.get(key_of(uri)) for uri in notebook.cells)
    cells = tuple(cell for cell in known if cell is not None and cell.language == "python")
    text, starts, n_lines = "", [], 0
    for cell in cells:
        starts.append(n_lines)
        part = without_commands(cell.text)
        # `\r` and `\n` would be one line end.
        part += "\n\n" if part.endswith("\r") else "\n"
        text += part
        n_lines += Lines(part).n_lines - 1
    return Joined(notebook, text, cells, tuple(starts)) if cells else None


def without_commands(text: str) -> str:
    """The text of a cell with IPython's commands as comments, each character where it was."""
    lines = split_lines(text)
    first = lines[0].lstrip() if lines else ""
    if first.startswith("%%") and first.split()[0] not in PYTHON_BELOW:
        return "".join(_commented(line) for line in lines)
    return "".join(_commented(line) if _is_command(line) else line for line in lines)


def _is_command(line: str) -> bool:
    """A line that begins with `!`, or with `%` and a letter. `% x`, in an expression over several lines, is none."""
    start = line.lstrip()[:3]
    return start.startswith("!") or (start.startswith("%") and start.lstrip("%")[:1].isalpha())


def _commented(line: str) -> str:
    blanks = len(line) - len(line.lstrip())
    return line if blanks == len(line) else f"{line[:blanks]}#{line[blanks + 1 :]}"
