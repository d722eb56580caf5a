"""Which files can matter: those in which a word stands, the Python files first.

ripgrep works while we do something else. The files that are not Python are looked for while the Python files are
parsed: most of a workspace's bytes are not source, and what is found there is the last thing that is needed.

Files in which the name may be spelled with other letters (see `folding`) are found by the same search, and with them some
in which it is not: reading tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lsptools.languages.names import FilePosition
from lsptools.languages.python.folding import folded, marks_of
from lsptools.workspace.found import Found, Search, Why
from lsptools.workspace.globs import quoted
from lsptools.workspace.snapshot import Snapshot

PYTHON_SUFFIXES = (".py", ".pyi", ".pyw")
PYTHON_FILES = tuple(f"*{suffix}" for suffix in PYTHON_SUFFIXES)
"""Globs for them."""
_OTHERS = tuple(f"!{glob}" for glob in PYTHON_FILES)


def searching(snapshot: Snapshot, at: FilePosition) -> Candidates:
    """Begin to look for the Python files with the word at a position. To be closed."""
    candidates = Candidates(snapshot)
    if at.path.endswith(PYTHON_SUFFIXES) and not at.is_module:
        text = snapshot.document(at.path).text
        start, end = word_at(text, at.offset)
        word = folded(text[start:end])
        if word.isidentifier():
            candidates.start_python([word])
    return candidates


def word_at(text: str, at: int) -> tuple[int, int]:
    """The word that covers a position or ends there; an empty span if there is none. Code points."""
    start = end = at
    while start > 0 and _is_in_word(text[start - 1]):
        start -= 1
    while end < len(text) and _is_in_word(text[end]):
        end += 1
    return start, end


def _is_in_word(character: str) -> bool:
    """Letters, digits, and what identifiers may have beside them, such as the points of Hebrew."""
    return character.isalnum() or f"a{character}".isidentifier()


class Candidates:
    """Searches each set of words once; `incomplete` collects what could not be searched. To be closed in the end."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.incomplete: list[str] = []
        self._python: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._begun: dict[tuple[tuple[str, ...], tuple[str, ...]], Search[Found]] = {}
        self._others: dict[tuple[str, ...], tuple[str, ...]] = {}

    def start_python(self, words: Iterable[str]) -> None:
        """Begin to look for the Python files."""
        key = _key(words)
        if key not in self._python:
            marks = sorted({mark for word in key for mark in marks_of(word)})
            self._start(key, PYTHON_FILES, marks)

    def python(self, words: Iterable[str]) -> tuple[str, ...]:
        """The Python files that contain one of the words, in whatever spelling, sorted; and a few that do not."""
        key = _key(words)
        known = self._python.get(key)
        if known is None:
            self.start_python(key)
            found = self._begun.pop((key, PYTHON_FILES)).result()
            known = self._python[key] = found.files
            self.incomplete += [
                f"{skipped.path} was not read: {skipped.reason}"
                for skipped in found.skipped
                if skipped.why is not Why.LEFT_OUT
            ]
        return known

    def python_parts(self, part: str) -> tuple[str, ...]:
        """The Python files in which a text stands, also inside of words."""
        return self.snapshot.files_with([part], globs=PYTHON_FILES, whole_words=False).files

    def below(self, folder: str) -> tuple[str, ...]:
        """The Python files in a folder and the folders in it, sorted."""
        inside = f"{quoted(folder)}/**/"
        return self.snapshot.files(globs=tuple(f"{inside}{glob}" for glob in PYTHON_FILES))

    def start_others(self, words: Iterable[str]) -> None:
        """Begin to look for the other files."""
        key = _key(words)
        if key not in self._others:
            self._start(key, _OTHERS)

    def others(self, words: Iterable[str]) -> tuple[str, ...]:
        """The files that are not Python and contain one of the words, sorted; waits for the search."""
        key = _key(words)
        known = self._others.get(key)
        if known is None:
            self.start_others(key)
            known = self._others[key] = self._begun.pop((key, _OTHERS)).result().files
        return known

    def close(self) -> None:
        """End what is still under way."""
        while self._begun:
            self._begun.popitem()[1].cancel()

    def _start(self, key: tuple[str, ...], globs: tuple[str, ...], marks: Sequence[str] = ()) -> None:
        if (key, globs) not in self._begun:
            self._begun[key, globs] = self.snapshot.begin_files_with(key, globs=globs, marks=marks)


def _key(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(words)))
