"""What hundreds of searches of the same code ask again and again, answered once: pure functions of their arguments."""

from __future__ import annotations

from functools import lru_cache

import pytest

from lsptools.languages.python import library, references, scopes
from lsptools.languages.python.modules import Project
from lsptools.refactor import conflicts
from lsptools.syntax.tree import parse


def remember(monkeypatch: pytest.MonkeyPatch) -> None:
    """For one test: the trees of texts, and which names the libraries have, which stay as they are."""
    owners: dict[tuple[tuple[str, ...], str, frozenset[str]], str | None] = {}

    def library_owner(project: Project, name: str, own: frozenset[str]) -> str | None:
        key = (project.library_roots, name, own)
        if key not in owners:
            owners[key] = library.library_owner(project, name, own)
        return owners[key]

    for module in (references, conflicts):
        monkeypatch.setattr(module, "library_owner", library_owner)
    monkeypatch.setattr(scopes, "parse", lru_cache(maxsize=1_000)(parse))
