"""A WorkspaceEdit, as language servers and clients send it, as a plan over files and over texts that an editor holds open.

The entries are taken in order on a copy in memory, each on what the ones before it have left; what has become of each file
in the end is the plan. So it is all or nothing, whatever the order was. Positions are checked strictly where leniency could write
half a character, and as the protocol says elsewhere. Of an entry that cannot be taken the number is told (`failed_change`).

Where it stops: folders that are created stay in memory (a change knows files only), and a snippet is refused, not rendered.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import unquote, urlsplit

from lsptools.edit.lsp_edits import edits_from_lsp, invalid_edit
from lsptools.edit.plan import UNCHANGED, FilePlan, Plan, created, planned, with_text
from lsptools.edit.target import Target, document_of, target
from lsptools.errors import BadRequest, Conflict, Refused, Stale, ToolError
from lsptools.text.diff import edits_between
from lsptools.text.document import Document
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Lines, Offset, PositionEncoding, Span
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
    desk = _Desk(snapshot, options)
    for number, entry in enumerate(changes):
        try:
            desk.take(entry)
        except ToolError as error:
            error.facts = {**error.facts, "failed_change": number}
            raise
    plans, buffers = desk.outcome()
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


@dataclass(slots=True)
class _Sheet:
    """A file on the desk."""

    at: Target
    """By its name now."""
    origin: Target | None
    """By its name on the disk; `None` for a new one."""
    document: Document | None
    """As it is on the disk; `None` for a new file."""
    text: str
    edits: list[Edits] = field(default_factory=list)
    """What was done to the text, one after the other."""
    is_open: bool = False


class _Desk:
    """The files as the entries leave them, one by one."""

    def __init__(self, snapshot: Snapshot, options: Options) -> None:
        self._snapshot = snapshot
        self._options = options
        self._buffers = {target(snapshot, path).real_name: each for path, each in options.buffers.items()}
        self._digests = {target(snapshot, path).real_name: each for path, each in options.digests.items()}
        self._sheets: dict[str, _Sheet] = {}
        """By real name now."""
        self._gone: dict[str, _Sheet] = {}
        """Files of the disk that are deleted, by their real name there."""
        self._left: set[str] = set()
        """Names of the disk at which no file is any more."""
        self._edited: set[str] = set()

    def take(self, entry: Json) -> None:
        """Do one entry."""
        match entry.get("kind"):
            case None:
                self._edit(entry)
            case "create":
                self._create(self._named(entry, "uri"), _options_of(entry))
            case "rename":
                self._rename(self._named(entry, "oldUri"), self._named(entry, "newUri"), _options_of(entry))
            case "delete":
                self._delete(self._named(entry, "uri"), _options_of(entry))
            case kind:
                raise invalid_edit(f"there is no operation {kind!r}")

    # Texts

    def _edit(self, entry: Json) -> None:
        document, edits = entry.get("textDocument"), entry.get("edits")
        if not isinstance(document, Mapping) or not isinstance(edits, list):
            raise invalid_edit("an entry without `textDocument` and `edits`")
        at = self._named(document, "uri")
        self._check_version(at, document.get("version"))
        sheet = self._sheet(at)
        done = edits_from_lsp(
            Lines(sheet.text), edits, encoding=self._options.encoding, strict=self._options.strict
        )
        sheet.text = done.apply(sheet.text)
        sheet.edits.append(done)

    def _check_version(self, at: Target, version: object) -> None:
        open_text = self._buffers.get(at.real_name)
        if open_text is not None and version is not None and version != open_text.version:
            raise Stale(
                "stale",
                f"{at.name!r} is open in version {open_text.version}, the edit is for {version}",
                hint="ask for the edit again",
            )
        if open_text is None and version not in (None, 0):
            raise Stale(
                "stale",
                f"{at.name!r} is not open, the edit is for its version {version}",
                hint="ask for the edit again",
            )

    def _sheet(self, at: Target) -> _Sheet:
        """The file, taken from the disk when first asked for."""
        known = self._sheets.get(at.real_name)
        if known is not None:
            return known
        if at.real_name in self._left:
            raise _missing(at)
        document = document_of(self._snapshot, at)
        wanted = self._digests.get(at.real_name)
        if wanted is not None and sha256(document.encode()).hexdigest() != wanted:
            raise Stale(
                "stale", f"{at.name!r} changed since the edit was made", hint="ask for the edit again"
            )
        open_text = self._buffers.get(at.real_name)
        text = document.text if open_text is None else open_text.text.removeprefix("\ufeff")
        sheet = _Sheet(at, at, document, text, is_open=open_text is not None)
        self._sheets[at.real_name] = sheet
        return sheet

    # Files

    def _create(self, at: Target, options: Json) -> None:
        if self._is_folder(at) or (self._exists(at) and not _is(options, "overwrite")):
            if _is(options, "ignoreIfExists") and not self._is_folder(at):
                return
            raise _exists(at)
        if self._exists(at):
            sheet = self._sheet(at)
            sheet.edits.append(Edits.of([TextEdit(Span(Offset(0), Offset(len(sheet.text))), "")]))
            sheet.text = ""
            return
        self._sheets[at.real_name] = _Sheet(at, None, None, "")

    def _rename(self, old: Target, new: Target, options: Json) -> None:
        if self._is_folder(old):
            self._rename_folder(old, new, options)
            return
        sheet = self._sheet(old)
        if self._exists(new) and new.real_name != old.real_name:
            if _is(options, "overwrite") and not self._is_folder(new):
                self._remove(new)
            elif _is(options, "ignoreIfExists"):
                return
            else:
                raise _exists(new)
        del self._sheets[old.real_name]
        self._left.add(old.real_name)
        self._left.discard(new.real_name)
        sheet.at = new
        self._sheets[new.real_name] = sheet

    def _rename_folder(self, old: Target, new: Target, options: Json) -> None:
        if self._exists(new):
            if _is(options, "ignoreIfExists"):
                return
            raise _exists(new)
        inside = list(self._files_in(old.real_name))
        for name in inside:
            moved = posixpath.join(new.real_name, name[len(old.real_name) + 1 :])
            self._rename(target(self._snapshot, name), target(self._snapshot, moved), {})

    def _delete(self, at: Target, options: Json) -> None:
        if not self._exists(at):
            if _is(options, "ignoreIfNotExists"):
                return
            raise _missing(at)
        if not self._is_folder(at):
            self._remove(at)
            return
        inside = list(self._files_in(at.real_name))
        if inside and not _is(options, "recursive"):
            raise Refused(
                "is_directory",
                f"{at.name!r} is a folder with {len(inside)} file(s) in it, and `recursive` is not set",
                hint="delete the files, or set `recursive`",
            )
        for name in inside:
            self._remove(target(self._snapshot, name))

    def _remove(self, at: Target) -> None:
        sheet = self._sheet(at)
        del self._sheets[at.real_name]
        if sheet.origin is not None:
            self._left.add(sheet.origin.real_name)
            self._gone[sheet.origin.real_name] = sheet
        self._left.add(at.real_name)

    # What is where

    def _exists(self, at: Target) -> bool:
        if at.real_name in self._sheets or self._is_folder(at):
            return True
        return at.real_name not in self._left and self._snapshot.operations.exists(at.real)

    def _is_folder(self, at: Target) -> bool:
        return at.real_name not in self._sheets and self._snapshot.operations.is_dir(at.real)

    def _files_in(self, folder: str) -> Iterator[str]:
        """The files in a folder of the disk as the entries so far have left it."""
        prefix = folder + "/"
        on_disk = (name for name in self._walk(folder) if name not in self._left)
        yield from sorted({*on_disk, *(name for name in self._sheets if name.startswith(prefix))})

    def _walk(self, folder: str) -> Iterator[str]:
        operations = self._snapshot.operations
        real = posixpath.join(str(self._snapshot.root.path), folder)
        for name, kind in operations.list_kinds(real).items():
            inside = f"{folder}/{name}"
            if kind == "folder":
                yield from self._walk(inside)
            elif kind == "file":
                yield inside
            else:
                raise Refused("invalid", f"{inside!r} is no regular file", hint="remove or move it by hand")

    def _named(self, entry: Json, member: str) -> Target:
        uri = entry.get(member)
        if not isinstance(uri, str):
            raise invalid_edit(f"`{member}` is missing")
        return target(self._snapshot, path_from_uri(uri))

    # The end

    def outcome(self) -> tuple[list[FilePlan], dict[str, str]]:
        """What has become of each file, and the new texts of those that are open."""
        plans = [FilePlan(sheet.at, "deleted", sheet.document, None) for sheet in self._gone.values()]
        buffers = {}
        for sheet in self._sheets.values():
            if sheet.is_open and sheet.edits:
                buffers[sheet.at.name] = sheet.text
            if (plan := _outcome(sheet)) is not None:
                plans.append(plan)
        return plans, buffers


def _outcome(sheet: _Sheet) -> FilePlan | None:
    if sheet.document is None or sheet.origin is None:
        return created(sheet.at, sheet.text)
    moved_to = sheet.at if sheet.at.real_name != sheet.origin.real_name else None
    if sheet.is_open or sheet.text == sheet.document.text:
        if moved_to is None:
            return None
        return FilePlan(sheet.origin, "moved", sheet.document, sheet.document, UNCHANGED, moved_to)
    edits = sheet.edits[0] if len(sheet.edits) == 1 else edits_between(sheet.document.text, sheet.text)
    after = with_text(sheet.document, sheet.text)
    return FilePlan(
        sheet.origin,
        "moved" if moved_to else "edited",
        sheet.document,
        after,
        edits,
        moved_to,
        None,
        len(edits),
    )


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


def _missing(at: Target) -> BadRequest:
    return BadRequest("not_found", f"there is no file {at.name!r}", hint="ask for the edit again")


def _exists(at: Target) -> Refused:
    return Refused("exists", f"{at.name!r} exists already", hint="set `overwrite` if it shall go")
