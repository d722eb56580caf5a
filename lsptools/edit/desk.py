"""The workspace in memory, as the entries of an edit leave it one by one, and what has become of it in the end.

It is a tree of names: a file, a link or a folder is looked up on the disk when first asked for, and is moved, removed or put
there in memory only. A name is that of the entry itself; text is that of the file a link leads to *now*, on the desk. What
nobody has asked for stays in its folder, and goes where the folder goes.

Where it stops: what a link leads to is found by spelling below the root, and on the disk where it leaves the root and comes
back. Who is in the way of whom on a file system that ignores case, `apply` finds out.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from lsptools.errors import BadRequest, Refused
from lsptools.text.document import Document
from lsptools.text.edits import Edits
from lsptools.workspace.paths import outside
from lsptools.workspace.snapshot import Snapshot

Kind = Literal["file", "folder", "link", "other"]

_MOST_LINKS = 40


@dataclass(slots=True)
class Sheet:
    """The text of a file on the desk."""

    document: Document | None
    """As it is on the disk; `None` for a new file."""
    text: str
    name: str
    """The name by which it was asked for."""
    edits: list[Edits] = field(default_factory=list)
    """What was done to the text, one after the other."""
    is_open: bool = False
    """Whether it is the text of an editor, and not written."""
    asked: Asked | None = None
    """The entries that edit the text, one after the other under one name; None before the first."""


@dataclass(slots=True)
class Asked:
    """Entries for one document, as they came, and what they spoke of."""

    place: str
    """Its name when they came."""
    base: str
    """The text before the first of them."""
    edits: list[object] = field(default_factory=list)
    n_entries: int = 0
    last: int = 0
    """The number of the last of them."""


@dataclass(slots=True)
class Entry:
    """What a name stands for."""

    kind: Kind
    origin: str | None
    """Its name on the disk; `None` for what is new. The root's is empty."""
    leads_to: str = ""
    """Of a link."""
    sheet: Sheet | None = None
    """Of a file whose text was asked for."""
    known: dict[str, Entry | None] = field(default_factory=dict)
    """Of a folder, what was asked for or put there; `None`: nothing has this name (any more)."""


class Desk:
    """The tree of names. Names are relative to the root, with `/`; the root itself is empty."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._top = Entry("folder", "")
        self._removed: list[Entry] = []

    def entry(self, place: str) -> Entry | None:
        """What is at a place (see `place`)."""
        entry: Entry | None = self._top
        for part in place.split("/") if place else ():
            entry = None if entry is None or entry.kind != "folder" else self._child(entry, part)
        return entry

    def place(self, name: str) -> str:
        """The name itself, which may be a link, in the folder that it is really in now."""
        folder, _, base = name.rpartition("/")
        return posixpath.join(self.real(folder), base)

    def real(self, name: str) -> str:
        """Where `name` leads now; what is not there stays as spelled."""
        return self._real(name, 0)

    def put(self, place: str, entry: Entry) -> None:
        """Put it where nothing is; folders above that are not there come into being."""
        folder = self._top
        *above, base = place.split("/")
        for number, part in enumerate(above, 1):
            child = self._child(folder, part)
            if child is None:
                child = folder.known[part] = Entry("folder", None)
            elif child.kind != "folder":
                raise BadRequest(
                    "invalid",
                    f"{'/'.join(above[:number])!r} is no folder, so {place!r} cannot be in it",
                    hint="name another place",
                )
            folder = child
        folder.known[base] = entry

    def take(self, place: str) -> Entry:
        """Take what is there away, to be put elsewhere."""
        folder, _, base = place.rpartition("/")
        holder, entry = self.entry(folder), self.entry(place)
        assert holder is not None and entry is not None
        holder.known[base] = None
        return entry

    def remove(self, place: str) -> None:
        """It goes; a folder with all that is in it."""
        entry = self.take(place)
        self._removed += _innermost_first(self._below(entry))

    def inside(self, folder: Entry) -> dict[str, Entry]:
        """What is in a folder, by name."""
        if folder.origin is not None:
            for name in self._snapshot.operations.list_dir(self.absolute(folder.origin)):
                self._child(folder, name)
        return {name: entry for name, entry in sorted(folder.known.items()) if entry is not None}

    def removed(self) -> Iterator[Entry]:
        """What was on the disk and is to go, what is in a folder before the folder.

        A folder that came into being again under the same name stays instead.
        """
        for entry in self._removed:
            if entry.origin is not None and not self._is_made_again(entry):
                yield entry

    def present(self) -> Iterator[tuple[str, Entry]]:
        """What was asked for and is still there, or is new, with its name now; a folder before what is in it."""
        yield from _present(self._top, "")

    def moves(self) -> dict[str, str]:
        """Old name to new, of everything that is elsewhere than the folder that it was in would take it."""
        places = {entry.origin: now for now, entry in self.present() if entry.origin is not None}
        moves: dict[str, str] = {}
        for origin in sorted(places, key=lambda name: name.count("/")):
            if _carried(moves, origin) != places[origin]:
                moves[origin] = places[origin]
        return moves

    def absolute(self, name: str) -> str:
        """Where a name of the disk is."""
        root = str(self._snapshot.root.path)
        return os.path.join(root, name.replace("/", os.sep)) if name else root

    def _is_made_again(self, removed: Entry) -> bool:
        there = self.entry(removed.origin or "") if removed.kind == "folder" else None
        return there is not None and there.kind == "folder" and there.origin is None

    def _child(self, folder: Entry, name: str) -> Entry | None:
        if name not in folder.known:
            folder.known[name] = (
                None if folder.origin is None else self._on_disk(posixpath.join(folder.origin, name))
            )
        return folder.known[name]

    def _on_disk(self, name: str) -> Entry | None:
        operations, path = self._snapshot.operations, self.absolute(name)
        try:
            mode = operations.lstat(path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None
        if stat.S_ISLNK(mode):
            return Entry("link", name, operations.readlink(path))
        kind: Kind = "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "other"
        return Entry(kind, name)

    def _below(self, entry: Entry) -> Iterator[Entry]:
        """What goes with it, itself first."""
        if entry.kind == "other":
            raise Refused("invalid", f"{entry.origin!r} is no regular file", hint="remove or move it by hand")
        yield entry
        if entry.kind == "folder":
            for inner in self.inside(entry).values():
                yield from self._below(inner)

    def _real(self, name: str, n_links: int) -> str:
        at = ""
        parts = [part for part in name.split("/") if part not in ("", ".")]
        for number, part in enumerate(parts):
            if part == ".." and not at:
                return self._real(self._from_outside("/".join(parts[number:])), n_links + 1)
            if part == "..":
                at = at.rpartition("/")[0]
                continue
            here = posixpath.join(at, part)
            entry = self.entry(here)
            if entry is None or entry.kind != "link":
                at = here
                continue
            if n_links >= _MOST_LINKS:
                raise BadRequest(
                    "invalid", f"{name!r} leads nowhere: its links go round in a circle", hint="mend the link"
                )
            rest = "/".join(parts[number + 1 :])
            leads_to = entry.leads_to.replace(os.sep, "/")
            there = (
                self._from_outside(leads_to)
                if os.path.isabs(entry.leads_to)
                else posixpath.join(at, leads_to)
            )
            return self._real(posixpath.join(there, rest), n_links + 1)
        return at

    def _from_outside(self, path: str) -> str:
        """The name of an absolute path, or of one that begins by leaving the root."""
        name = self._snapshot.root.relative(self.absolute("") + os.sep + path if path[:1] == "." else path)
        if name == ".." or name.startswith("../"):
            raise outside(path)
        return "" if name == "." else name


def _present(folder: Entry, name: str) -> Iterator[tuple[str, Entry]]:
    for base, entry in sorted(folder.known.items()):
        if entry is not None:
            here = posixpath.join(name, base)
            yield here, entry
            yield from _present(entry, here)


def _innermost_first(entries: Iterator[Entry]) -> list[Entry]:
    return list(entries)[::-1]


def _carried(moves: dict[str, str], origin: str) -> str:
    """Where the innermost of the moves of folders above takes a file."""
    folder = origin.rpartition("/")[0]
    while folder:
        if folder in moves:
            return moves[folder] + origin[len(folder) :]
        folder = folder.rpartition("/")[0]
    return origin
