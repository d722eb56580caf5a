"""Does anything outside the workspace have an attribute of this name?

Asked only for receivers of which nothing is known: if no builtin type, no module of the standard library and no
installed package defines such an attribute, the workspace's own is the likely one.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from lsptools.errors import BadRequest, Unavailable
from lsptools.languages.python.modules import Project
from lsptools.workspace.found import Query
from lsptools.workspace.paths import Root


def library_owner(project: Project, name: str, own: frozenset[str]) -> str | None:
    """Something outside the workspace that has an attribute `name`, as a phrase; None: nothing has.

    `own` are the top-level packages of the symbol: a copy of the workspace's own code does not count, installed or vendored.
    """
    owner = builtin_attributes().get(name)
    if owner is not None:
        return owner
    word = re.escape(name)
    pattern = rf"(\b(def|class)\s+{word}\b)|(\.{word}\s*(:[^=]*)?=[^=])|(^\s+{word}\s*(:|=[^=]))|(^{word}\s*(:[^=]*)?=[^=])"
    copies = ("!/{}/**", "!/{}.py", "!**/_vendor/{}/**")
    globs = ("*.py", "*.pyi", *_ELSEWHERE, *(copy.format(top) for top in sorted(own) for copy in copies))
    query = Query(pattern, globs=globs, limit=1)
    for folder in project.library_roots:
        path = Path(folder) if folder.startswith("/") else project.snapshot.root.path / folder
        try:
            line = project.snapshot.rg.some_line(Root.of(path), query, everywhere=True)
        except (BadRequest, Unavailable):
            return f"{folder}, which could not be searched"
        if line is not None:
            return f"`{line.path}` of the installed packages"
    return None


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
