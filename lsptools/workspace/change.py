"""What is to happen to the workspace, as a value: edits per file, moves, new files, deletions.

A `Change` is made by code that only reads, and can be shown (`diff`), tried (`after`), refused, applied and undone by
code that does not know what made it. Paths are relative to the root, with `/`. Edits and deletions name a file as it is
called before the change, creations and the new names of moves as it is called after; so a package is renamed by
`Move("shop", "store")` together with edits of `shop/cart.py`. The innermost move decides where a file goes.

Invariant: one entry per path, checked here; only that a new file may take the name of one that is deleted. That the files are still what the change was made from, and that nothing is
in the way, is checked by `apply`, under lock. Where it stops: a binary file in a moved folder moves, but has no text, so
`after` shows it neither at its old place nor at its new one; and a file behind a link is laid over under the name used
here and under its real name, not under further names it may have.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from lsptools.errors import BadRequest, Site, Stale
from lsptools.text.diff import unified_diff
from lsptools.text.document import Document, digest_of
from lsptools.text.edits import Edits

if TYPE_CHECKING:
    # For its name only: who applies a change that is planned already needs nothing that searches.
    from lsptools.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class FileEdits:
    """Edits of one file's text; `base_digest` is the digest of the document they were made for."""

    path: str
    edits: Edits
    base_digest: str


@dataclass(frozen=True, slots=True)
class Reading:
    """A file that stays as it is, and that the change was derived from; `digest` is that of its bytes as they were read."""

    path: str
    digest: str


@dataclass(frozen=True, slots=True)
class Move:
    """A file or a whole folder gets another name. A link is moved itself, not what it leads to."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Creation:
    """A new file; folders above it that do not exist are created too."""

    path: str
    text: str
    encoding: str = "utf-8"
    bom: bytes = b""
    mode: int | None = None
    """The permission bits; `None`: as the process creates files (umask)."""

    @property
    def document(self) -> Document:
        """The file to be; `encode` refuses what cannot be said in its encoding."""
        errors = "surrogateescape" if self.encoding == "utf-8" else "strict"
        return Document(self.text, self.encoding, self.bom, "", errors)


@dataclass(frozen=True, slots=True)
class Deletion:
    """A file goes, or a link (not what it leads to), or a folder in which nothing is left by then."""

    path: str
    base_digest: str
    """Of the bytes of the file as they were read, or of the path that the link says; of a folder, nothing."""
    kind: Literal["file", "link", "folder"] = "file"


@dataclass(frozen=True, slots=True)
class Change:
    """Everything that happens together, or not at all."""

    edits: tuple[FileEdits, ...] = ()
    moves: tuple[Move, ...] = ()
    creations: tuple[Creation, ...] = ()
    deletions: tuple[Deletion, ...] = ()
    notes: tuple[str, ...] = ()
    """What the maker wants people to know, one sentence each."""
    label: str = ""
    """What the history calls it."""
    read: tuple[Reading, ...] = ()
    """What else decided what is to be done: `apply` does nothing if one of these files has changed since."""

    def __post_init__(self) -> None:
        edited = [file.path for file in self.edits]
        deleted = [file.path for file in self.deletions]
        moved_from = [move.old for move in self.moves]
        made = [*(file.path for file in self.creations), *(move.new for move in self.moves)]
        for path in (*edited, *deleted, *moved_from, *made):
            _check_spelling(path)
        _check_unique([*edited, *deleted])
        _check_unique([*moved_from, *deleted])
        _check_unique(made)
        moved = {move.old: move.new for move in self.moves}
        _check_unique([*(path for path in edited if _name_after(moved, path) == path), *made])
        for move in self.moves:
            if is_at_or_below(move.new, move.old):
                raise BadRequest(
                    "invalid",
                    f"{move.old!r} cannot move to {move.new!r}",
                    hint="name a place outside of what moves",
                )

    def __bool__(self) -> bool:
        return any(file.edits for file in self.edits) or bool(self.moves or self.creations or self.deletions)

    def paths(self) -> tuple[str, ...]:
        """Every path named, before and after, sorted. Of a moved folder, the folder alone."""
        files = (file.path for group in (self.edits, self.deletions, self.creations) for file in group)
        return tuple(sorted({*files, *(path for move in self.moves for path in (move.old, move.new))}))

    def path_after(self, path: str) -> str:
        """What a file or folder that is called `path` before the change is called after it (if it is not deleted)."""
        return _name_after({move.old: move.new for move in self.moves}, path)

    def after(self, snapshot: Snapshot) -> Snapshot:
        """The workspace as it will be. Stale if a file in `snapshot` is not the one the change was made for.

        The text of each file encodes (`Document.encode`) to the bytes that `apply` leaves on the disk.
        """
        outcomes = _outcomes(self, snapshot)
        overlays: dict[str, str | None] = {}
        for outcome in outcomes:
            if outcome.old is not None and outcome.old != outcome.new:
                overlays[outcome.old] = None
        documents = {
            name: outcome.after
            for outcome in outcomes
            if outcome.new is not None and outcome.after is not None
            for name in {outcome.new, _real_name(snapshot, outcome.new)}
        }
        overlays.update({path: document.text for path, document in documents.items()})
        return with_documents(snapshot.with_overlays(overlays), documents)

    def diff(self, snapshot: Snapshot) -> str:
        """What changes, file by file in the order of their paths, as `git diff` says it.

        Written as UTF-8, `git apply` takes it, if all files are UTF-8 and none is binary.
        """
        return "".join(_diff(outcome) for outcome in _outcomes(self, snapshot))


def is_at_or_below(path: str, folder: str) -> bool:
    """Is `path` the `folder` (or file) itself, or inside of it? By spelling."""
    return path == folder or path.startswith(folder + "/")


def _name_after(moved: Mapping[str, str], path: str) -> str:
    """Where the innermost of the moves leads `path`."""
    old, rest = path, ""
    while old not in moved:
        old, slash, last = old.rpartition("/")
        if not slash:
            return path
        rest = f"/{last}{rest}"
    return moved[old] + rest


@dataclass(frozen=True, slots=True)
class _Outcome:
    """One file before and after. No `old`: it is created. No `new`: it is deleted. No document: it is binary."""

    old: str | None
    new: str | None
    before: Document | None
    after: Document | None
    is_link: bool = False
    is_executable: bool = False
    """Of a new file."""


def _outcomes(change: Change, snapshot: Snapshot) -> list[_Outcome]:
    edited = {file.path: file for file in change.edits}
    deleted = {file.path: file for file in change.deletions if file.kind == "file"}
    links = {file.path: _link_text(snapshot, file.path) for file in change.deletions if file.kind == "link"}
    _check_fresh(snapshot, (*change.edits, *deleted.values()))
    _check_links_fresh(change, links)
    moves = {move.old: move.new for move in change.moves}
    moved = {path for old in moves for path in _files_at(snapshot, old)}
    outcomes = [
        _Outcome(
            None,
            file.path,
            None,
            _with_text(file.document, file.text),
            is_executable=bool((file.mode or 0) & 0o111),
        )
        for file in change.creations
    ]
    for path in {*edited, *deleted, *moved}:
        before = snapshot.document(path) if path in edited else _text_document(snapshot, path)
        if path in deleted:
            outcomes.append(_Outcome(path, None, before, None))
            continue
        after = before
        if before is not None and path in edited:
            after = _with_text(before, edited[path].edits.apply(before.text))
        outcomes.append(_Outcome(path, _name_after(moves, path), before, after))
    outcomes += [_Outcome(path, None, _with_text(_EMPTY, text), None, True) for path, text in links.items()]
    # Of one name, what goes comes before what is new there, as `git apply` wants it.
    return sorted(outcomes, key=lambda outcome: (outcome.new or outcome.old or "", outcome.old is None))


_EMPTY = Document.decode(b"")


def _link_text(snapshot: Snapshot, path: str) -> str:
    """What a link says; nothing if there is none."""
    absolute = str(snapshot.root.path / path)
    return snapshot.operations.readlink(absolute) if snapshot.operations.is_link(absolute) else ""


def _check_links_fresh(change: Change, links: Mapping[str, str]) -> None:
    stale = [
        file.path
        for file in change.deletions
        if file.kind == "link" and digest_of(os.fsencode(links[file.path])) != file.base_digest
    ]
    if stale:
        raise stale_error(stale, "changed since the change was planned")


def _check_fresh(snapshot: Snapshot, files: Sequence[FileEdits | Deletion]) -> None:
    stale = [file.path for file in files if _digest(snapshot, file.path) != file.base_digest]
    if stale:
        raise stale_error(stale, "changed since the change was planned")


def stale_error(paths: Iterable[str], happened: str) -> Stale:
    """The error that names every file that is not what it should be. `happened` says it of a file, without its name."""
    names = sorted(set(paths))
    others = "" if len(names) == 1 else f" and {len(names) - 1} more"
    return Stale(
        "stale",
        f"{names[0]!r}{others} {happened}",
        hint="read " + ("it" if len(names) == 1 else "them") + " again and plan the change anew",
        sites=tuple(Site(name, 1, 1, happened) for name in names),
    )


def _digest(snapshot: Snapshot, path: str) -> str:
    document = _text_document(snapshot, path)
    return digest_of(snapshot.bytes(path)) if document is None else document.digest


def _text_document(snapshot: Snapshot, path: str) -> Document | None:
    """The document, or `None` for what has no text: a binary file, or a link that leads to nothing."""
    if snapshot.operations.is_link(str(snapshot.root.path / path)) and not snapshot.is_file(path):
        return None
    try:
        return snapshot.document(path)
    except BadRequest as error:
        if error.kind != "binary":
            raise
        return None


def _with_text(document: Document, text: str) -> Document:
    edited = replace(document, text=text)
    return replace(edited, digest=digest_of(edited.encode()))


def _files_at(snapshot: Snapshot, path: str) -> Iterator[str]:
    """The file `path`, or all files in the folder `path`."""
    if not snapshot.is_dir(path):
        yield path
        return
    for name in snapshot.list_dir(path):
        inside = f"{path}/{name}"
        if snapshot.is_file(inside) or snapshot.is_dir(inside):
            yield from _files_at(snapshot, inside)


def _real_name(snapshot: Snapshot, path: str) -> str:
    return snapshot.root.real(path).relative_to(snapshot.root.path).as_posix()


def with_documents(snapshot: Snapshot, documents: Mapping[str, Document]) -> Snapshot:
    """The snapshot, whose overlays keep encoding and byte order mark when they move to a new path.

    Overlays are texts, and take both from the file on the disk below them, which a new path does not have. A fresh
    snapshot has no answers of its own yet for these paths, so they are given to it.
    """
    snapshot._documents.update(documents)
    return snapshot


def _diff(outcome: _Outcome) -> str:
    old, new = outcome.old or outcome.new or "", outcome.new or outcome.old or ""
    head = [f"diff --git {_quoted('a/' + old)} {_quoted('b/' + new)}\n"]
    if outcome.old is None:
        head.append(f"new file mode {'100755' if outcome.is_executable else '100644'}\n")
    elif outcome.new is None:
        head.append(f"deleted file mode {'120000' if outcome.is_link else '100644'}\n")
    elif old != new:
        head.append(f"rename from {_quoted(old)}\nrename to {_quoted(new)}\n")
    body = unified_diff(
        _text_to_show(outcome.before),
        _text_to_show(outcome.after),
        old_path="/dev/null" if outcome.old is None else old,
        new_path="/dev/null" if outcome.new is None else new,
    )
    return "".join(head) + body if len(head) > 1 or body else ""


def _text_to_show(document: Document | None) -> str:
    """The text, with the byte order mark that programs find in a UTF-8 file that has one."""
    if document is None:
        return ""
    return ("\ufeff" if document.bom and document.encoding == "utf-8" else "") + document.text


def _quoted(path: str) -> str:
    """A path as git writes it: in quotes when it has a character that would end or change it."""
    if not re.search(r'[\x00-\x1f\x7f"\\]', path):
        return path
    return '"' + re.sub(r'[\x00-\x1f\x7f"\\]', lambda found: f"\\{ord(found[0]):03o}", path) + '"'


def _check_spelling(path: str) -> None:
    parts = path.split("/")
    if path.startswith("/") or ".." in parts:
        raise BadRequest(
            "outside_workspace",
            f"{path!r} is not a path inside the workspace",
            hint="name a file relative to the root",
        )
    if "" in parts or "." in parts or "\0" in path:
        raise BadRequest(
            "invalid", f"{path!r} is not a plain path", hint="name a file relative to the root, with `/`"
        )


def _check_unique(paths: list[str]) -> None:
    twice = sorted({path for path in paths if paths.count(path) > 1}) if len(set(paths)) < len(paths) else []
    if twice:
        raise BadRequest(
            "overlap",
            f"the change has two entries for {', '.join(map(repr, twice))}",
            hint="send one entry per file",
        )
