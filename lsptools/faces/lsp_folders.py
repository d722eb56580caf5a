"""The folders of the workspace, and which of them a document belongs to.

Each folder is a workspace of its own: what is found and changed for a document stays in its folder. Of nested folders the
inner one has it. A document outside of all of them belongs to the project around it, which is only read there, unless
the editor opened no folder at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lsptools.errors import BadRequest, ToolError
from lsptools.faces.environment import MARKERS, Environment
from lsptools.faces.lsp_documents import path_of, quoted, uri_of
from lsptools.faces.lsp_errors import log
from lsptools.workspace.paths import Root
from lsptools.workspace.ripgrep import Rg


@dataclass(frozen=True, slots=True)
class Folder:
    """One folder, with what is needed to look into it."""

    uri: str
    """As the editor spells it."""
    path: str
    """As the editor means it: absolute, links not followed."""
    root: Root
    rg: Rg
    search_path: tuple[str, ...]
    writable: bool = True
    """May files in it be changed?"""

    def name_of(self, path: str) -> str | None:
        """The name of a file relative to the root; None outside. Of a file behind a link it is the file's own.

        So a document that the editor opened through a link is the file that searches find, which do not follow links.
        """
        spelled = self.spelled(path)
        return None if spelled is None else self.root.real(spelled).relative_to(self.root.path).as_posix()

    def spelled(self, path: str) -> str | None:
        """The same with the links that are in the path; None outside."""
        try:
            return self.root.relative(path)
        except BadRequest:
            return None

    def uri_of(self, name: str) -> str:
        """The URI of a file: below the folder as the editor spells it; an absolute name is outside the workspace."""
        if os.path.isabs(name):
            return uri_of(name)
        return f"{self.uri.rstrip('/')}/{quoted(name)}"


class Folders:
    """The folders that the editor opened."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._folders: dict[str, Folder] = {}
        self._around: dict[str, Folder | None] = {}

    @property
    def all(self) -> tuple[Folder, ...]:
        return tuple(self._folders.values())

    def frozen(self) -> Folders:
        """These folders, whatever is added and removed later."""
        copy = Folders(self._environment)
        copy._folders, copy._around = dict(self._folders), self._around
        return copy

    def add(self, uris: Iterable[str]) -> None:
        """Further folders; what is no folder on this disk is left out."""
        self._around = {}
        for uri in uris:
            path = path_of(uri)
            folder = self._folder(path, uri) if path is not None else None
            if path is not None and folder is not None:
                self._folders[path] = folder

    def remove(self, uris: Iterable[str]) -> None:
        """These are no longer part of the workspace."""
        self._around = {}
        for uri in uris:
            self._folders.pop(path_of(uri) or "", None)

    def of(self, path: str) -> Folder | None:
        """The innermost folder that holds a file, or the project around the file."""
        holding = [folder for folder in self._folders.values() if folder.name_of(path) not in (None, ".")]
        if holding:
            return max(holding, key=lambda folder: len(str(folder.root.path)))
        above = os.path.dirname(path)  # noqa: PTH120  # strings, as everywhere in this file
        if above not in self._around:
            self._around[above] = self._project_around(above)
        return self._around[above]

    def _project_around(self, above: str) -> Folder | None:
        start = Path(above)
        marked = (
            folder
            for folder in (start, *start.parents)
            if any((folder / marker).exists() for marker in MARKERS)
        )
        chosen = str(next(marked, start)) if not self._folders else above
        return self._folder(chosen, uri_of(chosen), writable=not self._folders)

    def _folder(self, path: str, uri: str, *, writable: bool = True) -> Folder | None:
        try:
            root = Root.of(path)
            rg, found = self._environment.rg(root), self._environment.search_path(root)
        except (ToolError, OSError) as error:
            log.warning("%s is left out: %s", uri, error)
            return None
        return Folder(uri, path, root, rg, found, writable)
