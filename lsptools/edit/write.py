"""A whole file at once: created, overwritten, or unchanged.

A file that is there is overwritten only by those who have seen it as it is, and stays what it was otherwise: encoding, byte
order mark, permission bits, and the line ends of lines that stay; new lines take its line end. A new file has no style of
its own, so its text is written as given, in UTF-8.
"""

from __future__ import annotations

from lsptools.edit.placeholders import check_no_placeholder
from lsptools.edit.plan import FilePlan, Plan, created, planned, with_text
from lsptools.edit.session import Session
from lsptools.edit.splice import edits_of_whole
from lsptools.edit.target import Target, check_digest, opened, target
from lsptools.errors import BadRequest, Stale
from lsptools.text.document import Document
from lsptools.text.edits import Edits
from lsptools.workspace.snapshot import Snapshot


def plan_write(
    snapshot: Snapshot,
    session: Session,
    path: str,
    content: str,
    *,
    expect: str | None = None,
    allow_broken: bool = False,
    allow_omissions: bool = False,
) -> Plan:
    """The plan for a file that shall hold `content`."""
    at = target(snapshot, path)
    if snapshot.operations.is_dir(at.real):
        raise BadRequest("is_directory", f"{at.name!r} is a folder", hint="name a file in it")
    if path.endswith("/"):
        raise BadRequest(
            "is_directory",
            f"{path!r} names a folder, and there is none; a text needs a file",
            hint="name the file: the folders above it are made",
        )
    if not snapshot.operations.exists(at.real):
        return _new(snapshot, session, at, content, expect, allow_broken, allow_omissions)
    file = opened(snapshot, session, at, expect)
    plan = overwritten(at, file.document, content)
    if not allow_omissions:
        check_no_placeholder(content, file.document.text)
    return planned(snapshot, [plan], label=f"write {at.name}", allow_broken=allow_broken)


def overwritten(at: Target, document: Document, content: str) -> FilePlan:
    """The plan for a file that is there and gets a whole new text."""
    text = content.removeprefix("\ufeff") if document.bom else content
    edits = edits_of_whole(document.text, text)
    new = edits.apply(document.text)
    if new == document.text:
        return FilePlan(at, "unchanged", document, document, Edits())
    return FilePlan(at, "overwritten", document, with_text(document, new), edits)


def _new(
    snapshot: Snapshot,
    session: Session,
    at: Target,
    content: str,
    expect: str | None,
    allow_broken: bool,
    allow_omissions: bool,
) -> Plan:
    if expect:
        check_digest(expect)
    if expect or session.seen(at.real) is not None:
        raise Stale(
            "stale",
            f"{at.name!r} was removed since it was read",
            hint=f"read {at.name} to see that it is gone, then write it anew",
        )
    if not allow_omissions:
        check_no_placeholder(content)
    return planned(snapshot, [created(at, content)], label=f"create {at.name}", allow_broken=allow_broken)
