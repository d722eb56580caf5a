"""Confinement: which paths belong to the workspace, decided by real path.

A path inside the workspace is named relative to its root, with `/`, as the caller spelled it: links are kept in the
name (`Root.relative`) and followed on request (`Root.real`). `..` means what the operating system means by it: the
parent of the *real* folder, which after a link is not the folder before it.

Invariant: no method returns a path whose real path is outside the root, at the time of the call; a file that does not
exist yet is judged by its deepest existing folder. Where it stops: a link swapped between this check and the use is
not seen, so whoever writes checks again, right before. Nothing is cached here; `Snapshot` caches per folder.
"""

# ruff: noqa: PTH112, PTH119, PTH120
# Strings and `os.path`, not `pathlib`: thousands of paths go through here for one answer, and `Path.resolve` costs
# several times what `os.path.realpath` does.

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path

from lsptools.errors import BadRequest

_TRIES = 100


def realpath(path: str | Path) -> str:
    """`os.path.realpath`, also while somebody puts folders and links in each other's place.

    It asks whether there is a link and then where that leads; what is no link any more by then is an `OSError`, and asked again.
    """
    for _ in range(_TRIES):
        try:
            return os.path.realpath(path)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOENT):
                raise
    return os.path.realpath(path)


@dataclass(frozen=True, slots=True)
class Root:
    """The folder that is the workspace. Build it with `Root.of`."""

    path: Path
    """Absolute and real: no link in it."""

    def __post_init__(self) -> None:
        if not self.path.is_absolute():
            raise ValueError(f"a root is absolute, {str(self.path)!r} is not")

    @classmethod
    def of(cls, path: str | Path) -> Root:
        """The workspace at `path`, which must be a folder that exists."""
        real = realpath(checked(os.fspath(path)))
        if not os.path.lexists(real):
            raise BadRequest(
                "not_found", f"there is no folder {os.fspath(path)!r}", hint="name an existing folder"
            )
        if not os.path.isdir(real):
            raise BadRequest(
                "invalid", f"{os.fspath(path)!r} is not a folder", hint="name the folder that holds it"
            )
        return cls(Path(real))

    def relative(self, path: str | Path) -> str:
        """The name of `path` inside the workspace; the root itself is `.`.

        `path` may be absolute or relative to the root, spelled with `.`, `..`, or through a link to the root. It
        does not have to exist.
        """
        root = str(self.path)
        given = checked(os.fspath(path))
        absolute = _without_dots(os.path.join(root, given))
        inside = _below(root, absolute)
        if inside is None:
            inside = self._through_another_name(absolute)
        if inside is None or _below(root, realpath(os.path.join(root, inside))) is None:
            raise outside(given)
        return inside

    def absolute(self, relative: str) -> Path:
        """Where `relative` is on disk. Links in it stay; what they lead to is inside the workspace."""
        return self.path / self.relative(relative)

    def real(self, relative: str) -> Path:
        """The real file behind `relative`: the identity of a file, whatever name was used for it."""
        return Path(realpath(self.path / self.relative(relative)))

    def holds(self, absolute: str) -> bool:
        """Whether the real path of `absolute` is the root or inside it."""
        return self.spells(realpath(absolute))

    def spells(self, real: str) -> bool:
        """Whether a path that has no links in it is the root or inside it. Asks no disk."""
        return _below(str(self.path), real) is not None

    def _through_another_name(self, absolute: str) -> str | None:
        """The relative name when a folder above `absolute` is a link to the root, or the file behind is inside."""
        root = str(self.path)
        above, below = absolute, ""
        while (parent := os.path.dirname(above)) != above:
            below = os.path.join(os.path.basename(above), below) if below else os.path.basename(above)
            above = parent
            if _same(realpath(above), root):
                return below.replace(os.sep, "/")
        return _below(root, realpath(absolute))


def checked(path: str) -> str:
    """`path` itself, if an operating system could mean something by it."""
    if not path or "\0" in path:
        raise BadRequest("invalid", f"{path!r} is not a path", hint="name a file relative to the workspace")
    return path


def outside(path: str) -> BadRequest:
    """The error for a path that leads out of the workspace."""
    return BadRequest(
        "outside_workspace",
        f"{path!r} leads outside the workspace",
        hint="name a file inside the workspace, relative to its root",
    )


def _without_dots(absolute: str) -> str:
    """`absolute` without `.` and `..`; a `..` after a link goes to the parent of where the link leads."""
    if ".." not in absolute:
        return os.path.normpath(absolute)
    drive, rest = os.path.splitdrive(absolute)
    so_far = drive + os.sep
    for part in rest.replace(os.sep, "/").split("/"):
        if part == "..":
            so_far = os.path.dirname(realpath(so_far))
        elif part not in ("", "."):
            so_far = os.path.join(so_far, part)
    return so_far


def _below(root: str, absolute: str) -> str | None:
    """`absolute` relative to `root`, by spelling alone; `.` for the root, `None` outside."""
    if _same(absolute, root):
        return "."
    prefix = root if root.endswith(os.sep) else root + os.sep
    if not os.path.normcase(absolute).startswith(os.path.normcase(prefix)):
        return None
    return absolute[len(prefix) :].replace(os.sep, "/")


def _same(one: str, other: str) -> bool:
    return os.path.normcase(one) == os.path.normcase(other)
