"""Text that names a moved definition by its old module: dotted strings, entry points, `from old import name` in notebooks.

What names it through another module stays right. What cannot be rewritten (a `getattr`) is named and left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsptools.languages.names import Evidence, Occurrence
from lsptools.languages.python.candidates import PYTHON_SUFFIXES
from lsptools.languages.python.computed import COMPUTED
from lsptools.languages.python.modules import Module
from lsptools.languages.python.references import Account, Finder
from lsptools.languages.python.scopes import Source
from lsptools.refactor.edited_files import EditedFiles
from lsptools.refactor.move_imports import absolute
from lsptools.refactor.moved_blocks import Block
from lsptools.refactor.rename import INCLUDE, Policy
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Offset, Span
from lsptools.workspace.change import FileEdits


class Strings:
    """The occurrences in text that concern the move."""

    def __init__(
        self, finder: Finder, account: Account, old: Module, new: Module, edited: EditedFiles
    ) -> None:
        self.finder = finder
        self.account = account
        self.old = old
        self.new = new
        self.edited = edited
        self.inner: dict[Source, list[tuple[int, int, str]]] = {}
        """Replacements inside of the lines that move: start, end, new text; bytes."""
        self._blocks: list[Block] = []
        self._others: dict[str, list[TextEdit]] = {}

    def rewrite(self, policy: Policy, blocks: list[Block]) -> list[Occurrence]:
        """Rewrite what the policy says; the `possible` ones that are left. `blocks` are the lines that move."""
        self._blocks = blocks
        left = []
        for occurrence in self.account.references.occurrences:
            if occurrence.evidence not in (Evidence.POSSIBLE, Evidence.MENTION):
                continue
            span = self._prefix(occurrence)
            is_possible = occurrence.evidence is Evidence.POSSIBLE
            wanted = policy.possible == INCLUDE if is_possible else policy.mentions
            if span is not None and wanted and self._replace(occurrence.path, span):
                continue
            if is_possible and (span is not None or self._is_lookup(occurrence)):
                left.append(occurrence)
        return left

    def file_edits(self) -> Iterator[FileEdits]:
        """The edits of files that are not Python."""
        for path, edits in sorted(self._others.items()):
            yield FileEdits(path, Edits.of(edits), self.finder.snapshot.document(path).digest)

    def _is_lookup(self, occurrence: Occurrence) -> bool:
        """Is it looked up at run time, where nobody knows in which module?"""
        is_computed = occurrence.role == COMPUTED
        return is_computed or occurrence.reason.startswith("looked up") or "Cython" in occurrence.reason

    def _prefix(self, occurrence: Occurrence) -> Span | None:
        """Where the name of the old module stands before the occurrence."""
        text = self.finder.snapshot.document(occurrence.path).text
        start, end = occurrence.span.start, occurrence.span.end
        before = text[max(0, start - 300) : start]
        found = _DOTTED_BEFORE.search(before)
        if found is None:
            found = _IMPORT_BEFORE.search(before)
            if found is None or not _ALONE.match(text, end):
                return None
        module = self.finder.project.find(found.group(1), occurrence.path)
        if module is None or module.place != self.old.place:
            return None
        at = start - len(before)
        return Span(Offset(at + found.start(1)), Offset(at + found.end(1)))

    def _replace(self, path: str, span: Span) -> bool:
        text = self.finder.snapshot.document(path).text
        home = self.account.target.source
        written = absolute(self.finder.project, home, self.new, text[span.start : span.end])
        if written is None:
            return False
        source = self.finder.project.source(path) if path.endswith(PYTHON_SUFFIXES) else None
        start = source.byte(span.start) if source is not None else 0
        if source is not None and any(b.source is source and b.covers(start) for b in self._blocks):
            found = self.inner.setdefault(source, [])
            if (start, source.byte(span.end), written) not in found:
                found.append((start, source.byte(span.end), written))
        elif source is not None:
            self.edited.replace(source, source.byte(span.start), source.byte(span.end), written)
        else:
            edit = TextEdit(span, written)
            edits = self._others.setdefault(path, [])
            edits.extend([edit] if edit not in edits else [])
        return True


_DOTTED_BEFORE = re.compile(r"(?<![\w.])([^\W\d]\w*(?:\.[^\W\d]\w*)*)[.:]$")
_IMPORT_BEFORE = re.compile(r"\bfrom\s+([^\W\d]\w*(?:\.[^\W\d]\w*)*)\s+import\s+$")
_ALONE = re.compile(r"[ \t]*(?:\\n|[\"'\r\n#]|\Z)")
