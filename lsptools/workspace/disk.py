"""What the disk said when first asked: the part of a snapshot that all views of one workspace state share.

The first answer wins, also between threads (`dict.setdefault`), so that everything computed from a snapshot speaks of
one state. Confinement is checked once per folder and remembered; a file that is itself a link is checked by itself.
Where it stops: a folder that is replaced by a link later is still read at its old real path.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from lsptools.errors import BadRequest, Unavailable
from lsptools.text.document import Document, is_binary
from lsptools.workspace.operations import Operations
from lsptools.workspace.paths import Root, outside
from lsptools.workspace.survey import Survey, survey
from lsptools.workspace.walk import FOREIGN, NO_RULES, VERSION_CONTROL, Rules


class Derived(Protocol):
    """What was made of a document."""

    @property
    def document(self) -> Document: ...


@dataclass(frozen=True, slots=True)
class Disk:
    """The files below a root, as first read. Names are relative with `/`; the root is `.`."""

    root: Root
    operations: Operations
    earlier: Mapping[str, Derived] = field(default_factory=dict)
    """By name or absolute path, what has a document of the past: the same object stands for the same bytes, and what it knows
    of its lines is not found out again."""
    documents: dict[str, Document] = field(default_factory=dict)
    """The text files read so far, by name."""
    external: dict[str, Document] = field(default_factory=dict)
    """Files outside the root, by absolute path."""
    _folders: dict[str, str] = field(default_factory=dict)
    """Real absolute path of each folder seen, all inside the root. The root's own name here is empty."""
    _kinds: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """What is in each folder listed: name to `file`, `folder` or `other`, links followed."""
    _rules: dict[str, Rules | None] = field(default_factory=dict)
    """The ignore rules that hold in each folder asked for; `None` if nothing in it is searched."""
    _survey: list[Survey] = field(default_factory=list)

    @property
    def survey(self) -> Survey:
        """What a search does not look into; made once."""
        if not self._survey:
            self._survey.append(survey(self.root, self.operations))
        return self._survey[0]

    def name_of(self, path: str) -> str:
        """The name of `path`, however it is spelled; outside the root is a `BadRequest`."""
        folder, _, base = path.rpartition("/")
        if _is_plain(base) and (folder in self._folders or all(map(_is_plain, folder.split("/")))):
            self._folder(folder)
            return path
        return self.root.relative(path)

    def document(self, name: str) -> Document:
        """The text of a file; `not_found`, `is_directory`, `binary` as `BadRequest`."""
        document = self.documents.get(name)
        if document is None:
            document = self.documents.setdefault(name, self._document(name, self.read(name, most=LARGEST)))
        return document

    def external_document(self, absolute: str) -> Document:
        """The text of a file outside the root."""
        document = self.external.get(absolute)
        if document is None:
            data = self._attempt(absolute, absolute, self.operations.read_bytes)
            document = self.external.setdefault(absolute, self._document(absolute, data))
        return document

    def _document(self, name: str, data: bytes) -> Document:
        known = self.earlier.get(name)
        return known.document if known is not None and known.document.is_of(data) else decoded(name, data)

    def read(self, name: str, *, most: int | None = None) -> bytes:
        """The bytes of a file, read now; one of more than `most` bytes is refused, and not read."""
        if name == ".":
            raise _is_directory(name)
        folder, _, base = name.rpartition("/")
        read = partial(self._read_confined, most=most)
        return self._attempt(name, f"{self._folder(folder)}{os.sep}{base}", read)

    def kinds(self, folder: str) -> Mapping[str, str]:
        """What is in a folder, as first listed; nothing if there is no such folder. Links that lead out are `other`."""
        key = "" if folder == "." else folder
        kinds = self._kinds.get(key)
        if kinds is None:
            kinds = self._kinds.setdefault(key, self._list(key))
        return kinds

    def is_searched(self, name: str) -> bool:
        """Would a search come to a regular file of this name? For texts that are not on the disk, or not like this."""
        folder, _, base = name.rpartition("/")
        rules = self._rules_in(folder)
        return rules is not None and base not in VERSION_CONTROL and not rules.ignore(name, is_folder=False)

    def _rules_in(self, key: str) -> Rules | None:
        if key not in self._rules:
            self._rules[key] = self._read_rules(key)
        return self._rules[key]

    def _read_rules(self, key: str) -> Rules | None:
        kinds = self.kinds(key)
        above: Rules | None = NO_RULES
        if key:
            folder, _, base = key.rpartition("/")
            above = self._rules_in(folder)
            if base in VERSION_CONTROL or base in FOREIGN or "pyvenv.cfg" in kinds:
                return None
        if above is None or (key and above.ignore(key, is_folder=True)):
            return None
        return above.with_folder(
            key + "/" if key else "", os.path.join(self.root.path, key), kinds, self.operations
        )

    def _folder(self, key: str) -> str:
        """The real path of a folder, which may not exist; it is inside the root."""
        real = self._folders.get(key)
        if real is None:
            above, _, base = key.rpartition("/")
            # Inside a real path, only a link can lead elsewhere: one question per folder, whatever its depth.
            real = f"{self._folder(above)}{os.sep}{base}" if key else str(self.root.path)
            if self.operations.is_link(real):
                real = self._behind(real)
            self._folders[key] = real
        return real

    def _behind(self, link: str) -> str:
        real = self.operations.realpath(link)
        if not self.root.spells(real):
            raise outside(link[len(str(self.root.path)) + 1 :])
        return real

    def _list(self, key: str) -> Mapping[str, str]:
        try:
            real = self._folder(key)
            kinds = dict(self.operations.list_kinds(real))
        except (BadRequest, OSError):
            return {}
        for name, kind in kinds.items():
            if kind == "link":
                kinds[name] = self._kind_behind(f"{real}{os.sep}{name}")
        return kinds

    def _kind_behind(self, link: str) -> str:
        try:
            real = self._behind(link)
        except (BadRequest, OSError):
            return "other"
        if self.operations.is_file(real):
            return "file"
        return "folder" if self.operations.is_dir(real) else "other"

    def _read_confined(self, absolute: str, *, most: int | None) -> bytes:
        try:
            return self.operations.read_unlinked(absolute, most=most)
        except OSError as error:
            if error.errno not in _IS_A_LINK:
                raise
        # Where it leads there is no link any more, unless someone has just put one there.
        return self.operations.read_unlinked(self._behind(absolute), most=most)

    def _attempt(self, name: str, absolute: str, read: Callable[[str], bytes]) -> bytes:
        """What `read` reads; its `OSError` becomes an error of ours."""
        try:
            return read(absolute)
        except (FileNotFoundError, NotADirectoryError):
            raise not_found(name) from None
        except IsADirectoryError:
            raise _is_directory(name) from None
        except OSError as error:
            # Windows says of a folder that it may not be opened.
            if self.operations.is_dir(absolute):
                raise _is_directory(name) from None
            if error.errno == errno.EFBIG:
                raise _too_large(name, self.operations.stat(absolute).st_size) from None
            if error.errno in _SAID:
                says, hint = _SAID[error.errno]
                raise BadRequest("invalid", f"{_shortened(name)!r} {says}", hint=hint) from None
            if error.errno in _IS_NO_FILE:
                raise BadRequest(
                    "invalid", f"{name!r} is no regular file", hint="name a file with text in it"
                ) from None
            raise Unavailable("unavailable", f"{name!r} cannot be read: {error.strerror}") from None


_IS_A_LINK = (errno.ELOOP, errno.EMLINK)  # EMLINK is FreeBSD's word
_IS_NO_FILE = (errno.EINVAL, errno.ENXIO)
_SAID = {
    errno.ELOOP: ("leads nowhere: its links go round in a circle", "mend the link"),
    errno.ENAMETOOLONG: ("is too long a name for this system", "name a file that is there"),
}


def _shortened(name: str) -> str:
    return name if len(name) <= 80 else f"{name[:80]}…"


LARGEST = 32 << 20
"""Files of more bytes are no source text: their trees would take gigabytes and minutes."""


def decoded(name: str, data: bytes) -> Document:
    """The document these bytes are, unless they are binary or more than anybody reads as text."""
    if is_binary(data):
        raise BadRequest("binary", f"{name!r} is binary", hint="name a text file")
    if len(data) > LARGEST:
        raise _too_large(name, len(data))
    return Document.decode(data)


def _too_large(name: str, n_bytes: int) -> BadRequest:
    return BadRequest(
        "invalid",
        f"{name!r} has {n_bytes >> 20} MB; files of more than {LARGEST >> 20} MB are not read as text",
        hint="split the file, or search in it with `lsptools search`",
    )


def not_found(name: str) -> BadRequest:
    """The error for a file that is not there."""
    return BadRequest("not_found", f"there is no file {name!r}", hint="list the folder to see what is there")


def _is_directory(name: str) -> BadRequest:
    return BadRequest("is_directory", f"{name!r} is a folder", hint="name a file in it")


def _is_plain(base: str) -> bool:
    return base not in ("", ".", "..") and "\0" not in base and (os.sep == "/" or os.sep not in base)
