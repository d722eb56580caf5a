"""What hundreds of searches of the same code ask again and again, answered once: pure functions of their arguments."""

from __future__ import annotations

from functools import cached_property, lru_cache

import pytest

from lsptools.languages.python import references, scopes
from lsptools.languages.python.library import LibraryOwner
from lsptools.languages.python.modules import Project
from lsptools.refactor import conflicts
from lsptools.syntax.tree import parse


def remember(monkeypatch: pytest.MonkeyPatch) -> None:
    """For one test: the trees of texts, and which names the libraries have, which stay as they are."""
    known: dict[tuple[tuple[str, ...], str, frozenset[str]], str | None] = {}

    class Remembered(LibraryOwner):
        def __init__(self, project: Project, name: str, own: frozenset[str]) -> None:
            super().__init__(project, name, own)
            self.key = (project.library_roots, name, own)
            if self.key in known:
                vars(self)["found"] = known[self.key]  # then nothing is looked for

        @cached_property
        def found(self) -> str | None:
            known[self.key] = super().found
            return known[self.key]

    for module in (references, conflicts):
        monkeypatch.setattr(module, "LibraryOwner", Remembered)
    monkeypatch.setattr(scopes, "parse", lru_cache(maxsize=1_000)(parse))
