"""Which files can matter: those in which a word stands, the Python files first.

The files that are not Python are looked for in the background, by a ripgrep of their own, while the Python files are
parsed: most of a workspace's bytes are not source, and what is found there is the last thing that is needed. So are the
files in which the name may be spelled with other letters (see `folding`).
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Thread

from lsptools.errors import ToolError
from lsptools.languages.python.folding import marks_of
from lsptools.workspace.found import Found, Why
from lsptools.workspace.snapshot import Snapshot

PYTHON_SUFFIXES = (".py", ".pyi", ".pyw")
_PYTHON = tuple(f"*{suffix}" for suffix in PYTHON_SUFFIXES)
_OTHERS = tuple(f"!{glob}" for glob in _PYTHON)


class Candidates:
    """Searches each set of words once; `incomplete` collects what could not be searched."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.incomplete: list[str] = []
        self._python: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._others: dict[tuple[str, ...], _Background] = {}
        self._odd: dict[str, _Background] = {}

    def python(self, words: Iterable[str]) -> tuple[str, ...]:
        """The Python files that contain one of the words, sorted."""
        key = tuple(sorted(set(words)))
        known = self._python.get(key)
        if known is None:
            found = self.snapshot.files_with(key, globs=_PYTHON)
            known = self._python[key] = found.files
            self.incomplete += [
                f"{skipped.path} was not read: {skipped.reason}"
                for skipped in found.skipped
                if skipped.why is not Why.LEFT_OUT
            ]
        return known

    def python_parts(self, part: str) -> tuple[str, ...]:
        """The Python files in which a text stands, also inside of words."""
        return self.snapshot.files_with([part], globs=_PYTHON, whole_words=False).files

    def start_odd(self, name: str) -> None:
        """Begin to look for Python files with characters that Python folds into a part of the name (NFKC)."""
        marks = marks_of(name)
        if marks and name not in self._odd:
            self._odd[name] = _Background(self.snapshot, marks, _PYTHON, whole_words=False)

    def odd(self, name: str) -> tuple[str, ...]:
        """Those files, sorted: the name may be spelled otherwise in them. Waits for the search."""
        self.start_odd(name)
        search = self._odd.get(name)
        return search.result().files if search is not None else ()

    def start_others(self, words: Iterable[str]) -> None:
        """Begin to look for the other files."""
        key = tuple(sorted(set(words)))
        if key not in self._others:
            self._others[key] = _Background(self.snapshot, key, _OTHERS)

    def others(self, words: Iterable[str]) -> tuple[str, ...]:
        """The files that are not Python and contain one of the words, sorted; waits for the search."""
        key = tuple(sorted(set(words)))
        self.start_others(key)
        return self._others[key].result().files


class _Background:
    """One search in a thread; its error, if any, is raised where the result is asked for."""

    def __init__(
        self, snapshot: Snapshot, words: tuple[str, ...], globs: tuple[str, ...], *, whole_words: bool = True
    ) -> None:
        self._found: Found | None = None
        self._error: ToolError | None = None
        self._thread = Thread(target=self._run, args=(snapshot, words, globs, whole_words), daemon=True)
        self._thread.start()

    def _run(self, snapshot: Snapshot, words: tuple[str, ...], globs: tuple[str, ...], whole: bool) -> None:
        try:
            self._found = snapshot.files_with(words, globs=globs, whole_words=whole)
        except ToolError as error:
            self._error = error

    def result(self) -> Found:
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._found if self._found is not None else Found(())
