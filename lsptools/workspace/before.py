"""The disk as it is before a change, and what some steps would make of it.

What was read is kept, so every question about one file has one answer while a change is prepared. Names are relative to
the root, with `/`; a `real` name has no link in it, a `place` none but perhaps its last part.
"""

# Strings and `os`, as in `operations.py`.

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection
from dataclasses import dataclass, field

from lsptools.errors import Unavailable
from lsptools.text.document import digest_of
from lsptools.workspace.operations import Operations
from lsptools.workspace.paths import Root, outside
from lsptools.workspace.steps import Course, folder_of


@dataclass(slots=True)
class Before:
    """The disk as it is before any step, and what was read of it."""

    root: Root
    operations: Operations
    contents: dict[str, bytes] = field(default_factory=dict)
    """What was read, and what is to be written, by digest."""
    seen: dict[str, os.stat_result] = field(default_factory=dict)
    """What was known of each file just before it was read."""
    _digests: dict[str, str | None] = field(default_factory=dict)
    _folders: dict[str, bool] = field(default_factory=dict)
    _real_folders: dict[str, str] = field(default_factory=dict)

    def absolute(self, name: str) -> str:
        """Where `name` is on the disk."""
        top = str(self.root.path)
        return os.path.join(top, name.replace("/", os.sep)) if name else top

    def real(self, path: str) -> str:
        """The name of the real file behind `path`, which `Change` has found to be spelled plainly."""
        real, inside = self.operations.realpath(self.absolute(path)), os.path.join(self.root.path, "")
        if not real.startswith(inside):
            raise outside(path)
        return real[len(inside) :].replace(os.sep, "/")

    def place(self, path: str) -> str:
        """The name of `path` itself, which may be a link, in its real folder."""
        folder, _, base = path.rpartition("/")
        if not folder:
            return base
        if folder not in self._real_folders:
            self._real_folders[folder] = self.real(folder)
        return f"{self._real_folders[folder]}/{base}"

    def place_after(self, path: str, left: Collection[str]) -> str:
        """The place of what is called `path` when nothing is at the places in `left` any more, neither link nor folder."""
        at = ""
        *folders, base = path.split("/")
        for number, part in enumerate(folders):
            here = f"{at}/{part}" if at else part
            if here in left:
                return "/".join([here, *folders[number + 1 :], base])
            at = self.place(f"{here}/-").removesuffix("/-")
        return f"{at}/{base}" if at else base

    def facts(self, name: str) -> os.stat_result | None:
        """Facts about `name` itself; `None` if there is nothing."""
        try:
            return self.operations.lstat(self.absolute(name))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            return None  # below a link that leads to itself is nothing

    def is_folder(self, name: str) -> bool:
        """Whether `name` is a folder."""
        if name not in self._folders:
            self._folders[name] = self.operations.is_dir(self.absolute(name))
        return self._folders[name]

    def digest(self, name: str) -> str | None:
        """The digest of the file `name`, whose content is kept; `None` if there is no such file, not even a link."""
        if name not in self._digests:
            self._digests[name] = self._read(name)
        return self._digests[name]

    def _read(self, name: str) -> str | None:
        facts = self.facts(name)
        if facts is None or not stat.S_ISREG(facts.st_mode):
            return None
        try:
            data = self.operations.read_unlinked(self.absolute(name))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unavailable("unavailable", f"{name!r} cannot be read: {error.strerror}") from error
        digest = digest_of(data)
        self.contents[digest] = data
        self.seen[name] = facts
        return digest

    def link_digest_at(self, course: Course, path: str) -> str | None:
        """The digest of what the link at `path` says after the course, which is kept; `None` if there is no link."""
        there = course.trace(path)
        if there.digest:
            return there.digest
        facts = self.facts(there.origin) if there.what == "disk" else None
        if facts is None or not stat.S_ISLNK(facts.st_mode):
            return None
        says = os.fsencode(self.operations.readlink(self.absolute(there.origin)))
        digest = digest_of(says)
        self.contents[digest] = says
        return digest

    def holds_something(self, course: Course, folder: str) -> bool:
        """Is anything in the folder after the course?"""
        names = {step.new if step.kind == "move" else step.path for step in course.steps}
        inside = {name for name in names if folder_of(name) == folder}
        there = course.trace(folder)
        if there.what == "disk" and self.operations.is_dir(self.absolute(there.origin)):
            inside |= {f"{folder}/{name}" for name in self.operations.list_dir(self.absolute(there.origin))}
        return any(self.kind_at(course, name) is not None for name in inside)

    def kind_at(self, course: Course, path: str) -> str | None:
        """`file`, `folder` or nothing: what is at `path` after the course. A link counts as a file."""
        there = course.trace(path)
        if there.what != "disk":
            return None if there.what == "nothing" else there.what
        facts = self.facts(there.origin)
        if facts is None:
            return None
        return "folder" if stat.S_ISDIR(facts.st_mode) else "file"

    def digest_at(self, course: Course, path: str) -> str | None:
        """The digest of the file at `path` after the course; `None` if there is no file."""
        there = course.trace(path)
        if there.digest:
            return there.digest
        return self.digest(there.origin) if there.what == "disk" else None

    def is_taken(self, course: Course, old: str, new: str) -> bool:
        """Is there something at `new` after the course, other than what was `old` before it?"""
        there = course.trace(new)
        if there.what != "disk":
            return there.what != "nothing"
        facts = self.facts(there.origin)
        if facts is None:
            return False
        # It may be there already, and on a file system that ignores case a change of case finds itself.
        itself = self.facts(old)
        return (
            there.origin.casefold() != old.casefold() or itself is None or not os.path.samestat(facts, itself)
        )
