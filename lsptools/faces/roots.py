"""The workspaces that a client may name: those the server was started with, folders in them, and their git worktrees.

A worktree is known by two files that point at each other: `.git/worktrees/NAME/gitdir` of the repository, and the `.git` of the
worktree. A repository can write anything into the first, but nobody who is not there can write the second; so a hostile one
opens no folder that is not its own. git is not run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from lsptools.errors import BadRequest
from lsptools.workspace.paths import Root

MOST_BYTES = 4096


class Roots:
    """The first one is meant where none is named."""

    def __init__(self, roots: Sequence[Root]) -> None:
        self._roots = tuple(roots)

    @property
    def first(self) -> Root:
        return self._roots[0]

    def of(self, given: object) -> Root:
        """The workspace that is named; `outside_workspace` if it is none of those allowed."""
        if given is None or given == "":
            return self.first
        if not isinstance(given, str) or "\0" in given:
            raise BadRequest("invalid", f"`root` is {given!r}", hint="send the path of a folder")
        path = Path(os.path.realpath(os.path.join(self.first.path, given)))
        for root in self._roots:
            if path == root.path:
                return root
        allowed = [str(root.path) for root in self._roots]
        if not any(path.is_relative_to(root.path) or self._is_worktree(root, path) for root in self._roots):
            raise BadRequest(
                "outside_workspace",
                f"{given!r} is no workspace of this server",
                hint=f"leave `root` out, or name {' or '.join(allowed)}, a folder in it, or a git worktree of it",
            )
        if not path.is_dir():
            raise BadRequest("not_found", f"{given!r} is no folder", hint=f"the workspace is {allowed[0]}")
        return Root.of(path)

    def _is_worktree(self, root: Root, path: Path) -> bool:
        """Whether `path` is, or lies in, a worktree of the repository at `root`, or of the one that `root` is a worktree of."""
        ours = _git_folder_of(root.path)
        return ours is not None and any(
            _git_folder_of(folder) == ours for folder in (path, *path.parents) if (folder / ".git").exists()
        )


def _git_folder_of(folder: Path) -> Path | None:
    """The repository's own git folder, whichever of its worktrees `folder` is, if both say so."""
    git = folder / ".git"
    if git.is_symlink():
        return None  # it leads to somebody else's
    if git.is_dir():
        return Path(os.path.realpath(git))
    if not git.is_file():
        return None
    said = _first_line(git)
    if not said.startswith("gitdir:"):
        return None
    own = Path(os.path.realpath(os.path.join(folder, said.removeprefix("gitdir:").strip())))
    if own.parent.name != "worktrees":
        return None
    back = Path(os.path.realpath(os.path.join(own, _first_line(own / "gitdir"))))
    return own.parent.parent if back == Path(os.path.realpath(git)) else None


def _first_line(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES).decode("utf-8", "surrogateescape").split("\n")[0]
    except OSError:
        return ""
