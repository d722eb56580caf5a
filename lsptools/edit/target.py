"""The file a caller means, and whether the caller may change it: every check that comes before looking at its text.

The order is fixed: the boundary, then whether the file is there, a folder, binary, then whether it was read, then whether
it is still what was read. A digest that the caller passes stands for having read exactly that.
"""

from __future__ import annotations

import difflib
import os
import re
from dataclasses import dataclass
from itertools import islice

from lsptools.edit.session import Session
from lsptools.edit.splice import n_common
from lsptools.errors import BadRequest, Site, Stale
from lsptools.text.diff import unified_diff
from lsptools.text.document import Document
from lsptools.workspace.paths import outside
from lsptools.workspace.snapshot import Snapshot

MOST_DIFF_LINES = 40


@dataclass(frozen=True, slots=True)
class Target:
    """A file by its names. It may not exist."""

    name: str
    """As the caller spelled it, relative to the root, with `/`."""
    real: str
    """The real absolute path: what the file is known by."""
    real_name: str
    """The real path relative to the root, with `/`."""

    @property
    def is_link(self) -> bool:
        return self.name != self.real_name


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that the caller has seen as it is."""

    target: Target
    document: Document


def target(snapshot: Snapshot, path: str) -> Target:
    """The file `path` leads to; `invalid` and `outside_workspace` are `BadRequest`."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise BadRequest(
            "invalid", f"{path!r} is not a path", hint="name a file relative to the workspace"
        ) from None
    try:
        name = snapshot.root.relative(path)
    except OSError as error:  # a name too long for the system
        raise BadRequest(
            "invalid", f"{path[:80]!r} is not a path: {error.strerror}", hint="shorten it"
        ) from None
    _check_lengths(name)
    root = str(snapshot.root.path)
    try:
        real = snapshot.operations.realpath(os.path.join(root, name))
    except OSError:  # links in a circle
        raise BadRequest(
            "invalid", f"{name!r} leads nowhere: its links go round in a circle", hint="mend the link"
        ) from None
    if not snapshot.root.spells(real):
        raise outside(path)
    real_name = "." if real == root else real[len(root.rstrip(os.sep)) + 1 :].replace(os.sep, "/")
    return Target(name, real, real_name)


LONGEST_NAME = 255
"""Bytes that one name in a path may have, on the file systems that are in use."""


def _check_lengths(name: str) -> None:
    for part in name.split("/"):
        n_bytes = len(os.fsencode(part))
        if n_bytes > LONGEST_NAME:
            raise BadRequest(
                "invalid",
                f"the name {part[:40]!r}… is too long: {n_bytes} bytes, and {LONGEST_NAME} are possible",
                hint="choose a shorter name",
            )


def opened(snapshot: Snapshot, session: Session, at: Target, expect: str | None = None) -> Opened:
    """The file as it is now, if that is what the caller has seen."""
    document = document_of(snapshot, at)
    check_seen(session, at, document, expect)
    return Opened(at, document)


def document_of(snapshot: Snapshot, at: Target) -> Document:
    """The text of a file; a missing one with the names that come close."""
    try:
        return snapshot.document(at.real_name)
    except BadRequest as error:
        if error.kind == "not_found":
            raise _missing(snapshot, at) from None
        # Messages speak of the name that the caller used.
        raise BadRequest(
            error.kind, error.message.replace(repr(at.real_name), repr(at.name)), hint=error.hint
        ) from None


def check_seen(session: Session, at: Target, document: Document, expect: str | None) -> None:
    """`unread` or `stale`, unless the caller has seen this content."""
    if expect:
        check_digest(expect)
        seen: str | None = expect.lower()
    else:
        seen = session.seen(at.real)
    if seen is None:
        raise BadRequest(
            "unread",
            f"{at.name!r} was not read",
            hint=f"read {at.name} first, or pass the digest of what you know as `expect`",
        )
    if not document.digest.startswith(seen):
        raise _stale(session, at, document, seen)


def check_digest(expect: str) -> None:
    """`invalid`, if that cannot be a digest, or is too short a beginning of one to tell contents apart."""
    if not _DIGEST.fullmatch(expect):
        raise BadRequest(
            "invalid",
            f"{expect[:80]!r} is no digest: it has {LEAST_DIGITS} to {MOST_DIGITS} hexadecimal digits",
            hint="send the digest that `read` told of the file, or the first 8 digits or more of it",
        )


LEAST_DIGITS, MOST_DIGITS = 8, 32
"""Hexadecimal digits of a digest: with fewer than 8, another content would too often pass for the one that is meant."""
_DIGEST = re.compile(f"[0-9a-fA-F]{{{LEAST_DIGITS},{MOST_DIGITS}}}")


def _stale(session: Session, at: Target, document: Document, seen: str) -> Stale:
    happened = "changed since it was read"
    before = session.content(seen)
    difference = "" if before is None else _difference(at.name, Document.decode(before), document)
    told = f"; what changed:\n{difference}" if difference else ""
    return Stale(
        "stale",
        f"{at.name!r} {happened}{told}",
        hint=f"read {at.name} again and send the edit for what is there now",
        sites=(Site(at.name, _first_difference(before, document), 1, happened),),
    )


def _first_difference(before: bytes | None, document: Document) -> int:
    if before is None:
        return 1
    old, new = Document.decode(before).text, document.text
    n_same = n_common(old, new)
    return new.count("\n", 0, n_same) + 1


def _difference(name: str, old: Document, new: Document) -> str:
    """A short diff: what was seen against what is there."""
    lines = unified_diff(old.text, new.text, old_path=name, new_path=name, context=1).split("\n")[2:]
    shown = lines[:MOST_DIFF_LINES]
    if len(lines) > len(shown):
        shown.append(f"… and {len(lines) - len(shown)} more lines")
    return "\n".join(shown).rstrip("\n")


def _missing(snapshot: Snapshot, at: Target) -> BadRequest:
    folder, _, base = at.real_name.rpartition("/")
    names = snapshot.list_dir(folder or ".")
    close = difflib.get_close_matches(base, list(islice(names, 2000)), n=3, cutoff=0.6)
    prefix = f"{folder}/" if folder else ""
    hint = (
        f"did you mean {' or '.join(prefix + each for each in close)}?"
        if close
        else "list the folder to see what is there"
    )
    return BadRequest("not_found", f"there is no file {at.name!r}", hint=hint)
