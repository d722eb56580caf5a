"""A WorkspaceEdit, as language servers and clients send it, as a plan over files and over texts that an editor holds open.

The entries are taken in order on a copy in memory, each on what the ones before it have left; what has become of each file
in the end is the plan. So it is all or nothing, whatever the order was. Positions are checked strictly where leniency could write
half a character, and as the protocol says elsewhere. Of an entry that cannot be taken the number is told (`failed_change`).

Some servers send one entry for each edit of a document, all with positions in the text as it was; the protocol knows one entry
for a document, and takes entries in order. Where both come to the same text they are taken; where not, they are refused
(`ambiguous`).

An edit is of the file that a name leads to. A rename or a deletion is of the entry that has the name: a link, where it is
one, whatever it leads to. Folders move and go with all that is in them, also what is no text.

Where it stops: a snippet is refused, not rendered, and so is a folder that ends up below the name it had (`invalid`).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import unquote, urlsplit

from lsptools.edit.desk import Asked, Desk, Entry, Sheet
from lsptools.edit.lsp_edits import edits_from_lsp, invalid_edit
from lsptools.edit.plan import UNCHANGED, FilePlan, Plan, created, planned, with_text
from lsptools.edit.target import Target, document_of, target
from lsptools.errors import BadRequest, Conflict, Refused, Stale, ToolError
from lsptools.text.diff import edits_between
from lsptools.text.document import Document, digest_of
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Lines, Offset, PositionEncoding, Span
from lsptools.workspace.change import is_at_or_below
from lsptools.workspace.paths import outside
from lsptools.workspace.snapshot import Snapshot

Json = Mapping[str, Any]  # what a program sent


@dataclass(frozen=True, slots=True)
class Buffer:
    """A text that an editor holds open."""

    text: str
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """How the edit is to be taken."""

    buffers: Mapping[str, Buffer] = field(default_factory=dict)
    """Open texts by path. They are not written; their new texts are in the answer."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """SHA-256, hexadecimal, by path: what the files were when the edit was made."""
    accepted: Collection[str] = ()
    """Change annotations that were confirmed."""
    strict: bool = False
    """Whether a position past the end of a line or of the text is refused."""
    encoding: PositionEncoding = PositionEncoding.UTF16
    allow_broken: bool = False


@dataclass(frozen=True, slots=True)
class EditPlan:
    """What the edit comes to."""

    plan: Plan
    buffers: Mapping[str, str]
    """New texts of open documents, by path."""


def plan_workspace_edit(snapshot: Snapshot, edit: Json, options: Options) -> EditPlan:
    """The plan for a WorkspaceEdit."""
    changes = _entries(edit)
    _check_consent(changes, edit.get("changeAnnotations"), options.accepted)
    taker = _Taker(snapshot, options)
    for number, entry in enumerate(changes):
        try:
            taker.take(entry, number)
        except ToolError as error:
            error.facts = {"failed_change": number, **error.facts}
            raise
    taker.check_readings()
    plans, buffers = taker.outcome()
    label = str(edit.get("label") or "workspace edit")
    return EditPlan(planned(snapshot, plans, label=label, allow_broken=options.allow_broken), buffers)


def _check_consent(entries: Iterable[Json], annotations: object, accepted: Collection[str]) -> None:
    if not isinstance(annotations, Mapping):
        return
    used = dict.fromkeys(_annotations_used(entries))
    asking = [
        id
        for id in used
        if isinstance(annotations.get(id), Mapping)
        and annotations[id].get("needsConfirmation")
        and id not in accepted
    ]
    if not asking:
        return
    labels = ", ".join(f"{id!r} ({annotations[id].get('label', '')})" for id in asking)
    error = Refused(
        "undecided",
        f"parts of the edit need to be confirmed: {labels}",
        hint="pass " + " ".join(f"--accept {id}" for id in asking),
        conflicts=tuple(Conflict("undecided", f"{id!r} needs to be confirmed") for id in asking),
    )
    error.facts = {"annotations": asking}
    raise error


def _annotations_used(entries: Iterable[Json]) -> Iterator[str]:
    for entry in entries:
        edits = entry.get("edits")
        for each in (entry, *(edits if isinstance(edits, list) else ())):
            if isinstance(each, Mapping) and isinstance(each.get("annotationId"), str):
                yield each["annotationId"]


def _entries(edit: Json) -> list[Json]:
    """The entries of `documentChanges`, or those that `changes` stands for; null is the same as absent."""
    entries = edit.get("documentChanges")
    if entries is None:
        changes = {} if edit.get("changes") is None else edit["changes"]
        if not isinstance(changes, Mapping):
            raise invalid_edit("`changes` is no object")
        entries = [
            {"textDocument": {"uri": uri, "version": None}, "edits": edits} for uri, edits in changes.items()
        ]
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise invalid_edit("`documentChanges` is no list of objects")
    return entries


class _Taker:
    """Takes the entries one by one, on the desk."""

    def __init__(self, snapshot: Snapshot, options: Options) -> None:
        self._snapshot = snapshot
        self._options = options
        self._desk = Desk(snapshot)
        self._buffers = {target(snapshot, path).real_name: each for path, each in options.buffers.items()}
        self._digests = {target(snapshot, path).real_name: each for path, each in options.digests.items()}
        """What is still to be compared, by the names on the disk."""

    def take(self, entry: Json, number: int) -> None:
        """Do one entry."""
        match entry.get("kind"):
            case None:
                self._edit(entry, number)
            case "create":
                self._create(self._named(entry, "uri"), _options_of(entry))
            case "rename":
                self._rename(self._named(entry, "oldUri"), self._named(entry, "newUri"), _options_of(entry))
            case "delete":
                self._delete(self._named(entry, "uri"), _options_of(entry))
            case kind:
                raise invalid_edit(f"there is no operation {kind!r}")

    def _named(self, entry: Json, member: str) -> str:
        uri = entry.get(member)
        if not isinstance(uri, str):
            raise invalid_edit(f"`{member}` is missing")
        return target(self._snapshot, path_from_uri(uri)).name

    # Texts: of the file that a name leads to

    def _edit(self, entry: Json, number: int) -> None:
        document, edits = entry.get("textDocument"), entry.get("edits")
        if not isinstance(document, Mapping) or not isinstance(edits, list):
            raise invalid_edit("an entry without `textDocument` and `edits`")
        name = self._named(document, "uri")
        real = self._desk.real(name)
        file = self._desk.entry(real)
        known = real if file is None or file.origin is None else file.origin
        self._check_version(name, self._buffers.get(known), document.get("version"))
        sheet = self._sheet(name, file)
        done = self._edits(sheet.text, edits)
        if sheet.asked is None or sheet.asked.place != real:
            self._check_reading(sheet)
            sheet.asked = Asked(real, sheet.text)
        sheet.asked.edits += edits
        sheet.asked.n_entries += 1
        sheet.asked.last = number
        sheet.text = done.apply(sheet.text)
        sheet.edits.append(done)

    def _edits(self, text: str, edits: Sequence[object]) -> Edits:
        options = self._options
        return edits_from_lsp(Lines(text), edits, encoding=options.encoding, strict=options.strict)

    def check_readings(self) -> None:
        """Whoever reads the entries, comes to the same texts; see the head of this module."""
        for _, entry in self._desk.present():
            if entry.sheet is not None:
                self._check_reading(entry.sheet)

    def _check_reading(self, sheet: Sheet) -> None:
        asked = sheet.asked
        if asked is None or asked.n_entries < 2:
            return
        with suppress(ToolError):
            if self._edits(asked.base, asked.edits).apply(asked.base) == sheet.text:
                return
        error = BadRequest(
            "ambiguous",
            f"{asked.n_entries} entries edit {sheet.name!r}, and one after the other they come to another text than together",
            hint="send one entry for a document, with all of its edits",
        )
        error.facts = {"failed_change": asked.last}
        raise error

    def _check_version(self, name: str, open_text: Buffer | None, version: object) -> None:
        if open_text is not None and version is not None and version != open_text.version:
            raise Stale(
                "stale",
                f"{name!r} is open in version {open_text.version}, the edit is for {version}",
                hint="ask for the edit again",
            )
        if open_text is None and version not in (None, 0):
            raise Stale(
                "stale",
                f"{name!r} is not open, the edit is for its version {version}",
                hint="ask for the edit again",
            )

    def _sheet(self, name: str, file: Entry | None) -> Sheet:
        """The text of a file, taken from the disk when first asked for."""
        if file is None:
            raise _missing(name)
        if file.sheet is not None:
            return file.sheet
        origin = file.origin or ""  # of what is new there is a sheet already; a new folder is none
        if file.kind == "folder":
            raise BadRequest("is_directory", f"{name!r} is a folder", hint="name a file in it")
        document = document_of(self._snapshot, Target(name, self._desk.absolute(origin), origin))
        self._check_digests(name, file)
        open_text = self._buffers.get(origin)
        text = document.text if open_text is None else open_text.text
        file.sheet = Sheet(document, text, name, is_open=open_text is not None)
        return file.sheet

    def _check_digests(self, name: str, entry: Entry) -> None:
        """Are the files that a name stands for those for which the edit was made?"""
        if entry.origin is None:
            return
        for path in [path for path in self._digests if is_at_or_below(path, entry.origin)]:
            if sha256(self._snapshot.bytes(path)).hexdigest() != self._digests.pop(path):
                raise Stale(
                    "stale",
                    f"{name if path == entry.origin else path!r} changed since the edit was made",
                    hint="ask for the edit again",
                )

    # Names: of the entry itself, which may be a link

    def _create(self, name: str, options: Json) -> None:
        real = self._desk.real(name)
        there = self._desk.entry(real)
        if there is not None and there.kind == "folder":
            raise _exists(name)
        if there is not None and not _is(options, "overwrite"):
            if _is(options, "ignoreIfExists"):
                return
            raise _exists(name)
        if there is not None and (there.sheet is not None or self._document(there) is not None):
            sheet = self._sheet(name, there)
            self._check_reading(sheet)
            sheet.edits.append(Edits.of([TextEdit(Span(Offset(0), Offset(len(sheet.text))), "")]))
            sheet.text, sheet.asked = "", None
            return
        if there is not None:
            self._remove(name, real, there)
        self._desk.put(real, Entry("file", None, sheet=Sheet(None, "", name)))

    def _rename(self, old_name: str, new_name: str, options: Json) -> None:
        old, new = self._desk.place(old_name), self._desk.place(new_name)
        entry, there = self._desk.entry(old), self._desk.entry(new)
        if entry is None:
            raise _missing(old_name)
        _check_not_root(old)
        self._check_digests(old_name, entry)
        if old == new:
            return
        if is_at_or_below(new, old):
            raise BadRequest(
                "invalid",
                f"{old_name!r} cannot move to {new_name!r}",
                hint="name a place outside of what moves",
            )
        if there is not None:
            if _is(options, "overwrite") and "folder" not in (there.kind, entry.kind):
                self._remove(new_name, new, there)
            elif _is(options, "ignoreIfExists"):
                return
            else:
                raise _exists(new_name)
        self._desk.put(new, self._desk.take(old))

    def _delete(self, name: str, options: Json) -> None:
        place = self._desk.place(name)
        entry = self._desk.entry(place)
        if entry is None:
            if _is(options, "ignoreIfNotExists"):
                return
            raise _missing(name)
        _check_not_root(place)
        if entry.kind == "folder" and not _is(options, "recursive"):
            inside = self._desk.inside(entry)
            if inside:
                raise Refused(
                    "is_directory",
                    f"{name!r} is a folder with {len(inside)} name(s) in it, and `recursive` is not set",
                    hint="delete what is in it, or set `recursive`",
                )
        self._remove(name, place, entry)

    def _remove(self, name: str, place: str, entry: Entry) -> None:
        self._check_digests(name, entry)
        self._desk.remove(place)

    # The end

    def outcome(self) -> tuple[list[FilePlan], dict[str, str]]:
        """What has become of each file, and the new texts of those that are open."""
        removed = sorted(self._desk.removed(), key=lambda entry: entry.origin or "")
        plans = [self._deleted(entry) for entry in removed]
        moves = self._desk.moves()
        buffers = {}
        for now, entry in self._desk.present():
            sheet = entry.sheet
            if sheet is not None and sheet.is_open and sheet.edits:
                buffers[sheet.name if now == entry.origin else now] = sheet.text
            if (plan := self._outcome(now, entry, is_moved=entry.origin in moves)) is not None:
                plans.append(plan)
        return plans, buffers

    def _outcome(self, now: str, entry: Entry, *, is_moved: bool) -> FilePlan | None:
        sheet, origin = entry.sheet, entry.origin
        if origin is None:
            return None if sheet is None else created(self._target(now, sheet.name), sheet.text)
        is_elsewhere = now != origin
        moved_to = self._target(now) if is_elsewhere else None
        if sheet is None or sheet.document is None or sheet.is_open or sheet.text == sheet.document.text:
            if not is_moved:
                return None
            document = self._document(entry)
            return FilePlan(self._target(origin), "moved", document, document, UNCHANGED, moved_to)
        document = sheet.document
        edits = sheet.edits[0] if len(sheet.edits) == 1 else edits_between(document.text, sheet.text)
        return FilePlan(
            self._target(origin, origin if is_elsewhere else sheet.name),
            "moved" if is_elsewhere else "edited",
            document,
            with_text(document, sheet.text),
            edits,
            moved_to,
            None,
            len(edits),
        )

    def _deleted(self, entry: Entry) -> FilePlan:
        at = self._target(entry.origin or "")
        if entry.kind == "link":
            digest = digest_of(os.fsencode(entry.leads_to))
            return FilePlan(at, "deleted", None, None, kind="link", digest=digest)
        if entry.kind == "folder":
            return FilePlan(at, "deleted", None, None, kind="folder")
        document = self._document(entry)
        digest = document.digest if document else digest_of(self._snapshot.bytes(at.real_name))
        return FilePlan(at, "deleted", document, None, digest=digest)

    def _document(self, entry: Entry) -> Document | None:
        """The file as it is on the disk; `None` for what is no text."""
        if entry.kind != "file" or entry.origin is None:
            return None
        if entry.sheet is not None:
            return entry.sheet.document
        try:
            return self._snapshot.document(entry.origin)
        except BadRequest as error:
            if error.kind not in ("binary", "invalid"):
                raise
            return None

    def _target(self, real_name: str, name: str | None = None) -> Target:
        return Target(name or real_name, self._desk.absolute(real_name), real_name)


def path_from_uri(uri: str) -> str:
    """The path of a file URI; what is no file of this machine is outside."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        raise outside(uri)
    path = unquote(parts.path, errors="surrogateescape")
    is_drive = len(path) > 2 and path[0] == "/" and path[2] == ":"
    return path[1:] if is_drive else path


def _options_of(entry: Json) -> Json:
    options = entry.get("options")
    return options if isinstance(options, Mapping) else {}


def _is(options: Json, name: str) -> bool:
    return options.get(name) is True


def _missing(name: str) -> BadRequest:
    return BadRequest("not_found", f"there is no file {name!r}", hint="ask for the edit again")


def _exists(name: str) -> Refused:
    return Refused("exists", f"{name!r} exists already", hint="set `overwrite` if it shall go")


def _check_not_root(place: str) -> None:
    if not place:
        raise BadRequest(
            "invalid", "the workspace itself can neither move nor go", hint="name a file or folder in it"
        )
