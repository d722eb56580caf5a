"""The process's surroundings: variables, current folder, terminal. The only place that reads them.

Everything below gets its root, its ripgrep and its state folder from here, as data. Nothing of the workspace is executed,
and no setting of the workspace is read: a folder that holds a marker (`.git`, `pyproject.toml`, …) is a workspace, that
is all.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from lsptools.errors import BadRequest, Unavailable

if TYPE_CHECKING:
    from lsptools.edit.session import Session
    from lsptools.tools.base import Context
    from lsptools.workspace.journal import State
    from lsptools.workspace.paths import Root
    from lsptools.workspace.ripgrep import Rg
    from lsptools.workspace.sessions import Sessions
    from lsptools.workspace.shell import Shell

MARKERS = (".git", "pyproject.toml", "setup.cfg", "setup.py")
"""What the folder of a project holds."""


@dataclass(frozen=True, slots=True)
class Environment:
    """Variables and current folder."""

    variables: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    folder: Path | None = None
    """The current folder, if it is not the process's."""

    @property
    def cwd(self) -> Path:
        """The current folder; `Unavailable` when it has been removed."""
        if self.folder is not None:
            return self.folder
        try:
            return Path.cwd()
        except FileNotFoundError:
            raise Unavailable(
                "unavailable",
                "the current folder no longer exists",
                hint="change to one that does, or pass an absolute --root",
            ) from None

    @property
    def debug(self) -> bool:
        """LSPTOOLS_DEBUG: show tracebacks."""
        return self.variables.get("LSPTOOLS_DEBUG", "") not in ("", "0")

    def root(self, given: str | None) -> Root:
        """The workspace: the folder given, else the nearest one above the current folder that has a marker."""
        from lsptools.workspace.paths import Root

        if given is None:
            return Root.of(self._nearest_marked())
        return Root.of(given if Path(given).is_absolute() else self.cwd / given)

    def rg(self, root: Root) -> Rg:
        """ripgrep: LSPTOOLS_RG, then the one installed with us, then PATH; never one of the workspace's.

        The installed one comes before PATH because its version is known to work, and because what PATH has may be a
        wrapper (pyenv's takes 50 times as long to start as ripgrep itself).
        """
        from lsptools.workspace.ripgrep import Rg, find_executable

        setting = self.variables.get("LSPTOOLS_RG")
        installed = None if setting else find_executable(None, None)
        chosen = setting if installed is None else str(installed)
        return Rg.find(chosen, self.variables.get("PATH"), distrusted=root)

    def state(self, root: Root) -> State:
        """Journal and locks of a workspace, in the user's state folder; nothing is created yet."""
        from platformdirs import user_state_path

        from lsptools.workspace.journal import State

        return State.of(user_state_path("lsptools", appauthor=False), root)

    def cache(self) -> Path:
        """The user's folder for what can be made again; nothing is created yet."""
        from platformdirs import user_cache_path

        return user_cache_path("lsptools", appauthor=False)

    def context(self, root: Root, session: Session | None = None, shell: Shell | None = None) -> Context:
        """What tools work on in this workspace, for a caller who has seen what `session` says, and runs commands in `shell`."""
        from lsptools.tools.base import Context
        from lsptools.workspace.anchored import operations_for
        from lsptools.workspace.snapshot import Snapshot

        snapshot = Snapshot(root, operations_for(root), self.rg(root), search_path=self.search_path(root))
        return Context(
            snapshot,
            lambda: self.state(root),
            session,
            candidate_command=self.candidate_command,
            variables=self.variables,
            shell=shell,
            cache=self.cache,
        )

    @property
    def candidate_command(self) -> tuple[str, ...]:
        """LSPTOOLS_CANDIDATE_COMMAND: the user's program that makes new texts for `candidate`."""
        return tuple(shlex.split(self.variables.get("LSPTOOLS_CANDIDATE_COMMAND", "")))

    def sessions(self, root: Root) -> Sessions:
        """The named sessions of a workspace."""
        from lsptools.workspace.sessions import Sessions

        return Sessions.of(self.state(root))

    def search_path(self, root: Root) -> tuple[str, ...]:
        """Packages of the active virtual environment, to read only; those of the workspace's own are found without us."""
        prefix = self.variables.get("VIRTUAL_ENV") or self.variables.get("CONDA_PREFIX")
        if not prefix or not Path(prefix).is_absolute() or Path(prefix).parent == root.path:
            return ()
        folders = (*Path(prefix).glob("lib/python3*/site-packages"), Path(prefix, "Lib", "site-packages"))
        return tuple(sorted(str(folder) for folder in folders if folder.is_dir()))

    def colour(self, choice: str, stream: TextIO) -> bool:
        """Whether to colour what is written to `stream`: `always`, `never`, or what variables and terminal say."""
        if choice != "auto":
            return choice == "always"
        if self.variables.get("NO_COLOR"):
            return False
        if self.variables.get("FORCE_COLOR", "0") not in ("", "0"):
            return True
        return is_terminal(stream) and self.variables.get("TERM") != "dumb"

    def _nearest_marked(self) -> Path:
        home = self.variables.get("HOME") or self.variables.get("USERPROFILE")
        here = self.cwd
        for folder in (here, *here.parents):
            # A home folder under version control (settings) is not the project of everything in it.
            if folder != here and home and folder == Path(home):
                break
            if any((folder / marker).exists() for marker in MARKERS):
                return folder
        return here


def is_terminal(stream: TextIO) -> bool:
    """Whether a person is likely to look at `stream`."""
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def be_lenient(*streams: TextIO) -> None:
    """Let `streams` write any text: stray bytes of files and names as they were, what the encoding lacks as escapes."""
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            is_utf8 = (stream.encoding or "").lower().replace("-", "") == "utf8"
            stream.reconfigure(errors="surrogateescape" if is_utf8 else "backslashreplace")


def discard_output() -> None:
    """Nobody reads standard output any more; writing the rest (at exit, too) shall not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


@dataclass(frozen=True, slots=True)
class Spelling:
    """How paths are spelled to and by the caller.

    Without `--root`, a person in a folder of the workspace means paths from there, and is shown paths from there. A path
    of an earlier JSON answer is relative to the workspace; it is understood, too, unless both exist.
    """

    root: Path
    folder: Path
    """What relative paths start from: the root itself when that was given."""

    def to_workspace(self, given: str, *, is_place: bool = False) -> str:
        """A path of the caller (perhaps with a line and column), relative to the workspace.

        A place may be a name as well; it has a path only in front of `:LINE:COL` or `::`.
        """
        if self.folder == self.root:
            return given
        found = _PATH_OF_PLACE.fullmatch(given)
        path, rest = (found["path"], found["rest"] or "") if found else (given, "")
        if is_place and not rest:
            return given
        here, there = self.folder / path, self.root / path
        if Path(path).is_absolute() or not (here.exists() or there.exists()):
            return given
        if path.startswith(("./", "../")) or not there.exists():
            return os.path.relpath(here, self.root).replace(os.sep, "/") + rest
        if not here.exists() or here.samefile(there):
            return given
        raise BadRequest(
            "ambiguous",
            f"{path!r} is a file of this folder and one of the workspace {str(self.root)!r}",
            hint=f"write ./{path} for the one here, or pass --root",
        )

    def shown(self, path: str) -> str:
        """A path of the workspace, as the caller would write it."""
        if self.folder == self.root or Path(path).is_absolute():
            return path
        return os.path.relpath(self.root / path, self.folder).replace(os.sep, "/")


_PATH_OF_PLACE = re.compile(r"(?P<path>.+?)(?P<rest>(?::\d+){1,2}|::.*)?")
