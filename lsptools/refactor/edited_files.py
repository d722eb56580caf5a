"""Edits of several files as they are gathered: replacements, and lines put in at a place in the order of their asking."""

from __future__ import annotations

from collections.abc import Iterable

from lsptools.languages.python.scopes import Source
from lsptools.refactor.moved_blocks import plain_lines
from lsptools.refactor.places import line_start
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Span
from lsptools.workspace.change import FileEdits


class EditedFiles:
    """Places are bytes of the source; new text has `\\n` at its line ends and gets those of the file.

    A file without any gets those of the file `like`.
    """

    def __init__(self, like: Source | None = None) -> None:
        self._like = like
        self._replaced: dict[Source, list[TextEdit]] = {}
        self._put_in: dict[Source, dict[int, list[str]]] = {}

    def replace(self, source: Source, start: int, end: int, text: str) -> None:
        """What is in `start:end` becomes `text`."""
        edit = TextEdit(source.span(start, end), with_ends_of(source, text, self._like))
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
            last_line = source.bytes[line_start(source, at) : at]
            if at == len(source.bytes) and last_line.strip() and not text.startswith("\n"):
                text = "\n" + text
            span = source.span(at, at)
            edits.append(TextEdit(Span(span.start, span.start), with_ends_of(source, text, self._like)))
        return _merged(edits)

    def file_edits(self) -> tuple[FileEdits, ...]:
        """The edits of every file, sorted by path."""
        sources = sorted(self.sources, key=lambda source: source.path)
        return tuple(FileEdits(each.path, self.edits(each), each.document.digest) for each in sources)


def _merged(edits: list[TextEdit]) -> Edits:
    """An insertion where a replacement starts becomes a part of it; deletions that overlap become one."""
    found: list[TextEdit] = []
    for edit in sorted(edits, key=lambda edit: (edit.span.start, edit.span.end)):
        last = found[-1] if found else None
        if last is not None and not last.span.length and last.span.start == edit.span.start:
            found[-1] = TextEdit(edit.span, last.new_text + edit.new_text)
        elif last is not None and not (last.new_text or edit.new_text) and edit.span.start < last.span.end:
            found[-1] = TextEdit(Span(last.span.start, max(last.span.end, edit.span.end)), "")
        else:
            found.append(edit)
    return Edits.of(found)


def with_ends_of(source: Source, text: str, like: Source | None = None) -> str:
    """The text with the line ends that most lines of the file have; those of the file `like` if it has no line ends."""
    has_ends = b"\n" in source.bytes or b"\r" in source.bytes
    newline = (source if has_ends or like is None else like).document.newline
    return plain_lines(text).replace("\n", newline)
