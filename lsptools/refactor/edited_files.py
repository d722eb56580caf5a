"""Edits of several files as they are gathered: replacements, and lines put in at a place in the order of their asking."""

from __future__ import annotations

from collections.abc import Iterable

from lsptools.languages.python.scopes import Source
from lsptools.refactor.moved_blocks import plain_lines
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Span
from lsptools.workspace.change import FileEdits


class EditedFiles:
    """Places are bytes of the source; new text has `\\n` at its line ends and gets those of the file."""

    def __init__(self) -> None:
        self._replaced: dict[Source, list[TextEdit]] = {}
        self._put_in: dict[Source, dict[int, list[str]]] = {}

    def replace(self, source: Source, start: int, end: int, text: str) -> None:
        """What is in `start:end` becomes `text`."""
        edit = TextEdit(source.span(start, end), with_ends_of(source, text))
        edits = self._replaced.setdefault(source, [])
        if edit not in edits:
            edits.append(edit)

    def add(self, source: Source, edits: Iterable[TextEdit]) -> None:
        """Edits in code points, with the line ends of the file."""
        self._replaced.setdefault(source, []).extend(edits)

    def put_in(self, source: Source, at: int, text: str) -> None:
        """`text` comes in at a place, behind what came in there before; the same text only once."""
        texts = self._put_in.setdefault(source, {}).setdefault(at, [])
        if text not in texts:
            texts.append(text)

    def put_in_at(self, source: Source, at: int) -> str:
        """What comes in at a place so far, with `\\n` at its line ends."""
        return "".join(self._put_in.get(source, {}).get(at, ()))

    @property
    def sources(self) -> tuple[Source, ...]:
        return tuple(dict.fromkeys([*self._replaced, *self._put_in]))

    def edits(self, source: Source) -> Edits:
        """All edits of one file."""
        edits = list(self._replaced.get(source, ()))
        for at, texts in self._put_in.get(source, {}).items():
            text = "".join(texts)
            last_line = source.bytes[:at].rpartition(b"\n")[2]
            if at == len(source.bytes) and last_line.strip() and not text.startswith("\n"):
                text = "\n" + text
            span = source.span(at, at)
            edits.append(TextEdit(Span(span.start, span.start), with_ends_of(source, text)))
        return _merged(edits)

    def file_edits(self) -> tuple[FileEdits, ...]:
        """The edits of every file, sorted by path."""
        sources = sorted(self.sources, key=lambda source: source.path)
        return tuple(FileEdits(each.path, self.edits(each), each.document.digest) for each in sources)


def _merged(edits: list[TextEdit]) -> Edits:
    """An insertion where a replacement starts becomes a part of it."""
    found: list[TextEdit] = []
    for edit in sorted(edits, key=lambda edit: (edit.span.start, edit.span.end)):
        last = found[-1] if found else None
        if last is not None and not last.span.length and last.span.start == edit.span.start:
            found[-1] = TextEdit(edit.span, last.new_text + edit.new_text)
        else:
            found.append(edit)
    return Edits.of(found)


def with_ends_of(source: Source, text: str) -> str:
    """The text with the line ends that the file has."""
    there = source.document.text
    end = "\r\n" if "\r\n" in there else "\r" if "\r" in there and "\n" not in there else "\n"
    return plain_lines(text).replace("\n", end) if end != "\n" else text
