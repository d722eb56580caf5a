"""Does anything outside the workspace have an attribute of this name?

Asked only for receivers of which nothing is known: if no builtin type, no module of the standard library and no
installed package defines such an attribute, the workspace's own is the likely one.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path

from lsptools.errors import BadRequest, Unavailable
from lsptools.languages.python.modules import Project
from lsptools.workspace.found import Line, Query, Search
from lsptools.workspace.paths import Root


class LibraryOwner:
    """The answer, which may be looked for while something else is done.

    `own` are the top-level packages of the symbol: a copy of the workspace's own code does not count, installed or vendored.
    """

    def __init__(self, project: Project, name: str, own: frozenset[str]) -> None:
        self._project, self._name, self._own = project, name, own
        self._begun: dict[str, Search[Line | None]] = {}

    def begin(self) -> None:
        """Let ripgrep look for it from now on; then `found` or `cancel` has to be called."""
        is_known = "found" in vars(self) or self._name in builtin_attributes()
        if not is_known and not self._begun:
            for folder in self._project.library_roots:
                with suppress(BadRequest, Unavailable):
                    self._begun[folder] = self._search(folder)

    @cached_property
    def found(self) -> str | None:
        """Something outside the workspace that has an attribute of this name, as a phrase; None: nothing has."""
        try:
            return builtin_attributes().get(self._name) or self._in_libraries()
        finally:
            self.cancel()

    def cancel(self) -> None:
        """Nobody wants to know any more."""
        while self._begun:
            self._begun.popitem()[1].cancel()

    def _in_libraries(self) -> str | None:
        for folder in self._project.library_roots:
            try:
                search = self._begun.pop(folder, None) or self._search(folder)
                line = search.result()
            except (BadRequest, Unavailable):
                return f"{folder}, which could not be searched"
            if line is not None:
                return f"`{line.path}` of the installed packages"
        return None

    def _search(self, folder: str) -> Search[Line | None]:
        word = re.escape(self._name)
        pattern = rf"(\b(def|class)\s+{word}\b)|(\.{word}\s*(:[^=]*)?=[^=])|(^\s+{word}\s*(:|=[^=]))|(^{word}\s*(:[^=]*)?=[^=])"
        copies = ("!/{}/**", "!/{}.py", "!**/_vendor/{}/**")
        own = (copy.format(top) for top in sorted(self._own) for copy in copies)
        query = Query(pattern, globs=("*.py", "*.pyi", *_ELSEWHERE, *own), limit=1)
        snapshot = self._project.snapshot
        path = Path(folder) if folder.startswith("/") else snapshot.root.path / folder
        return snapshot.rg.begin_some_line(Root.of(path), query, everywhere=True)


_ELSEWHERE = ("!/site-packages/**", "!/dist-packages/**")
"""Below the folder of the standard library: packages of that interpreter, which may not be the workspace's."""


@cache
def builtin_attributes() -> dict[str, str]:
    """Attribute names of the types that are written in C, each with one type that has it."""
    import array
    import builtins
    import collections
    import datetime
    import decimal
    import functools
    import io
    import itertools
    import types

    found: dict[str, str] = {}
    for module in (array, builtins, collections, datetime, decimal, functools, io, itertools, re, types):
        for name, value in vars(module).items():
            if isinstance(value, type):
                for attribute in dir(value):
                    found.setdefault(attribute, f"the builtin `{name}`")
    return found
