"""Symbolic links of the workspace that lead to a file or folder, or into it.

Searches do not follow links, so nothing else meets them. Hidden folders and virtual environments are left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from lsptools.workspace.change import is_at_or_below
from lsptools.workspace.snapshot import Snapshot

_LEFT_OUT = frozenset({"node_modules", "__pycache__", "venv", "env", "site-packages"})


def links_to(snapshot: Snapshot, path: str) -> Iterator[str]:
    """The relative paths of the links, sorted by folder. None in a workspace that is not on this machine's disk."""
    if not snapshot.operations.is_local:
        return
    root = str(snapshot.root.path)
    for folder, names, files in os.walk(root):
        names[:] = sorted(each for each in names if not each.startswith(".") and each not in _LEFT_OUT)
        for name in [*names, *sorted(files)]:
            absolute = os.path.join(folder, name)
            if not Path(absolute).is_symlink():
                continue
            real = os.path.realpath(absolute)
            if not snapshot.root.spells(real):
                continue
            there = os.path.relpath(real, root).replace(os.sep, "/")
            here = os.path.relpath(absolute, root).replace(os.sep, "/")
            moves_along = is_at_or_below(here, path) and not Path(absolute).readlink().is_absolute()
            if is_at_or_below(there, path) and not moves_along:
                yield here
