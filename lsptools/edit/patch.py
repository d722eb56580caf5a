"""A patch over files: each hunk is placed by its lines, never by likeness, and all files change or none.

A hunk belongs where all its old lines stand one after the other: character by character, or, if that is nowhere, folded as
`text/match.py` folds. Where that is more than one place, what the patch says decides, in this order: the lines it names above the
hunk (`@@ def f():`), exactly the line number given, the end of the file, being after the hunk before it. If still more than one
is left, the patch is refused. Lines that stay are not touched; of lines that come, each takes the line end of the one it
replaces, or the file's own. The last line has or lacks a line end as before, unless the patch says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from lsptools.edit.plan import UNCHANGED, FilePlan, Plan, created, no_change, planned, with_text
from lsptools.edit.session import Session
from lsptools.edit.splice import Style, joined, style_of
from lsptools.edit.target import Target, check_seen, document_of, target
from lsptools.errors import BadRequest, Conflict, Refused, Site, ToolError
from lsptools.text.document import Document
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Offset, Span
from lsptools.text.match import Tier, folded
from lsptools.text.patch import FilePatch, Hunk, HunkLine, parse_patch
from lsptools.workspace.snapshot import Snapshot

NOTHING_EXPECTED: Mapping[str, str] = {}


def plan_patch(
    snapshot: Snapshot,
    session: Session,
    patch: str,
    *,
    expect: Mapping[str, str] = NOTHING_EXPECTED,
    allow_broken: bool = False,
) -> Plan:
    """The plan for a patch. `expect` has the digest of files by the paths that the patch names."""
    files = _merged(parse_patch(patch))
    located = [_Located(file, target(snapshot, file.path), _move(snapshot, file)) for file in files]
    _check_once(located)
    for each in located:
        _find_document(snapshot, each)
    for each in located:
        if each.document is not None:
            check_seen(session, each.target, each.document, expect.get(each.patch.path))
    plans = list(_plans(located))
    notes = [
        f"{plan.target.name!r}: lines were found after folding quotes, dashes, spaces and blanks at line ends"
        for plan in plans
        if plan.tier == "folded"
    ]
    notes += [
        f"{file.path!r}: hunk {number} has {hunk.n_missing} line{'s' if hunk.n_missing > 1 else ''} fewer than it says; "
        "see that the patch was not cut off"
        for file in files
        for number, hunk in enumerate(file.hunks, 1)
        if hunk.n_missing
    ]
    label = f"patch {plans[0].target.name}" + (f" and {len(plans) - 1} more" if len(plans) > 1 else "")
    return planned(snapshot, plans, label=label, allow_broken=allow_broken, notes=notes)


@dataclass(slots=True)
class _Located:
    """What the patch says of a file, and the file."""

    patch: FilePatch
    target: Target
    move_to: Target | None
    document: Document | None = None


def _merged(files: Sequence[FilePatch]) -> list[FilePatch]:
    """Two updates of one file are one with the hunks of both."""
    merged: dict[str, FilePatch] = {}
    for file in files:
        known = merged.get(file.path)
        if known is None:
            merged[file.path] = file
        elif known.kind == file.kind == "update" and not known.move_to:
            merged[file.path] = replace(known, hunks=known.hunks + file.hunks, move_to=file.move_to)
        else:
            raise _twice(file.path)
    return list(merged.values())


def _twice(path: str) -> BadRequest:
    return BadRequest("invalid", f"the patch says two things of {path!r}", hint="send one section per file")


def _move(snapshot: Snapshot, file: FilePatch) -> Target | None:
    if file.move_to is None or file.move_to == file.path:
        return None
    return target(snapshot, file.move_to)


def _check_once(located: Sequence[_Located]) -> None:
    reals = [each.target.real for each in located] + [each.move_to.real for each in located if each.move_to]
    for each in located:
        if reals.count(each.target.real) > 1 or (each.move_to and reals.count(each.move_to.real) > 1):
            raise _twice(each.patch.path)


def _find_document(snapshot: Snapshot, each: _Located) -> None:
    for at in (each.target if each.patch.kind == "add" else None, each.move_to):
        if at is not None and snapshot.operations.is_dir(at.real):
            raise BadRequest("is_directory", f"{at.name!r} is a folder", hint="name a file in it")
        if at is not None and snapshot.operations.exists(at.real):
            raise _exists(at.name)
    if each.patch.kind != "add":
        each.document = document_of(snapshot, each.target)


def _exists(name: str) -> Refused:
    site = Site(name, 1, 1, "exists already")
    return Refused(
        "exists",
        f"{name!r} exists already",
        hint="update the file instead of adding it, or choose another name",
        conflicts=(Conflict("exists", f"{name!r} is in the way", (site,)),),
    )


def _plans(located: Sequence[_Located]) -> Iterator[FilePlan]:
    """The plan of each file; every hunk that has no place is told, not only the first."""
    plans: list[FilePlan] = []
    errors: list[ToolError] = []
    for each in located:
        try:
            plans.append(_plan(each))
        except ToolError as error:
            errors.append(error)
    if errors:
        first, *others = errors
        first.message = "; ".join(error.message for error in (first, *others))
        first.sites = tuple(site for error in errors for site in error.sites)
        raise first
    return iter(plans)


def _plan(each: _Located) -> FilePlan:
    document, at, patch = each.document, each.target, each.patch
    if document is None:
        return created(at, patch.content, patch.mode)
    edits, tier = _edits(document, at.name, [_without_mark(hunk, document) for hunk in patch.hunks])
    text = edits.apply(document.text)
    if patch.kind == "delete":
        if patch.says_all and text:
            raise _more_than_said(at.name, text)
        return FilePlan(at, "deleted", document, None)
    if text == document.text and each.move_to is None:
        raise no_change(at.name)
    after = document if text == document.text else with_text(document, text)
    action = "moved" if each.move_to else "edited"
    used = edits if after is not document else UNCHANGED
    return FilePlan(
        at,
        "moved" if action == "moved" else "edited",
        document,
        after,
        used,
        each.move_to,
        tier,
        len(patch.hunks),
    )


def _more_than_said(name: str, rest: str) -> BadRequest:
    first = next((line.strip() for line in rest.split("\n") if line.strip()), "")
    return BadRequest(
        "invalid",
        f"{name!r} is not deleted: it has more in it than the patch takes away, such as {first[:60]!r}",
        hint=f"read {name} again; a patch that deletes a file has all of its lines, or is `*** Delete File: {name}`",
    )


def _without_mark(hunk: Hunk, document: Document) -> Hunk:
    """Without the byte order mark in front of a file's first line, which is no part of the text."""
    if not document.bom or "\ufeff" in document.text:
        return hunk
    return replace(
        hunk, lines=tuple(replace(line, text=line.text.removeprefix("\ufeff")) for line in hunk.lines)
    )


def _edits(document: Document, name: str, hunks: Sequence[Hunk]) -> tuple[Edits, Tier]:
    body = _Body(document.text)
    placed: list[_Placed] = []
    errors: list[BadRequest] = []
    end = 0
    for number, hunk in enumerate(hunks, 1):
        try:
            place = _place(body, hunk, end)
        except _NoPlace as problem:
            errors.append(_no_place(body, name, hunk, number, problem, len(hunks)))
            continue
        placed.append(place)
        end = place.first + len(hunk.old)
    if errors:
        first, *others = errors
        first.message = "; ".join(error.message for error in (first, *others))
        first.sites = tuple(site for error in errors for site in error.sites)
        raise first
    edits = sorted((edit for place in placed for edit in place.edits(body)), key=lambda edit: edit.span)
    for edit, following in pairwise(edits):
        if following.span.start < edit.span.end:
            raise BadRequest(
                "overlap", f"two hunks change the same lines of {name!r}", hint="send one hunk for them"
            )
    return joined(edits), "folded" if any(place.tier == "folded" for place in placed) else "exact"


class _NoPlace(Exception):
    """A hunk that fits nowhere, or in several places."""

    def __init__(self, lines: Sequence[int] = ()) -> None:
        super().__init__()
        self.lines = lines


def _no_place(body: _Body, name: str, hunk: Hunk, number: int, problem: _NoPlace, n_hunks: int) -> BadRequest:
    which = "the hunk" if n_hunks == 1 else f"hunk {number}"
    if problem.lines:
        numbers = [line + 1 for line in problem.lines]
        said = ", ".join(map(str, numbers[:20]))
        return BadRequest(
            "ambiguous",
            f"{which} fits {len(numbers)} places in {name!r}: on lines {said}",
            hint="give more lines around the change, or name the function above it: @@ def name():",
            sites=tuple(Site(name, line, 1, body.lines[line - 1].strip()[:80]) for line in numbers[:20]),
        )
    from lsptools.edit.diagnose import missed_lines

    old = "\n".join(line.text for line in hunk.old)
    return missed_lines(body.text, name, which, old)


class _Body:
    """The text in lines as a patch sees them: they end at `\\r\\n` and `\\n`, and at `\\r` only where there is no other."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.newline = "\r" if "\r" in text and "\n" not in text else "\n"
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.lines: list[str] = []
        at = 0
        while at < len(text):
            end = text.find(self.newline, at)
            following = len(text) if end < 0 else end + 1
            end = len(text) if end < 0 else end
            if self.newline == "\n" and following > end and end > at and text[end - 1] == "\r":
                end -= 1
            self.starts.append(at)
            self.ends.append(end)
            self.lines.append(text[at:end])
            at = following
        self._folded: list[str] | None = None

    @property
    def is_ended(self) -> bool:
        """Whether the last line has a line end."""
        return self.text.endswith(self.newline)

    def start(self, line: int) -> int:
        """Where the line begins, or would begin."""
        return self.starts[line] if line < len(self.starts) else len(self.text)

    def style(self) -> Style:
        return style_of(self.text)

    def places(self, old: Sequence[str]) -> tuple[list[int], Tier]:
        """Where these lines stand one after the other, by the first tier that has any."""
        if found := _runs(self.lines, old):
            return found, "exact"
        if self._folded is None:
            self._folded = [folded(line).rstrip(" \t") for line in self.lines]
        wanted = [folded(line).rstrip(" \t") for line in old]
        return (_runs(self._folded, wanted) if any(wanted) else []), "folded"


def _runs(lines: Sequence[str], wanted: Sequence[str]) -> list[int]:
    n = len(wanted)
    return [
        at
        for at, line in enumerate(lines)
        if line == wanted[0] and n <= len(lines) - at and all(lines[at + k] == wanted[k] for k in range(1, n))
    ]


def _place(body: _Body, hunk: Hunk, after: int) -> _Placed:
    """Where the hunk belongs; `after` is the line after the hunk before it."""
    if not hunk.old:
        return _Placed(hunk, _insertion_line(body, hunk), "exact")
    found, tier = body.places([line.text for line in hunk.old])
    n_lines = len(hunk.old)
    if any(not line.is_ended for line in hunk.old):
        found = [at for at in found if at + n_lines == len(body.lines) and not body.is_ended]
        if not found:
            raise _NoPlace
    elif hunk.is_at_end:
        found = [at for at in found if at + n_lines == len(body.lines)] or found
    if hunk.anchors and len(found) > 1:
        found = _below_anchors(body, hunk.anchors, found) or found
    if len(found) > 1 and hunk.start is not None and hunk.start - 1 in found:
        found = [hunk.start - 1]
    if len(found) > 1 and after:
        later = [at for at in found if at >= after]
        found = later if len(later) == 1 else found
    if len(found) != 1:
        raise _NoPlace(found)
    return _Placed(hunk, found[0], tier)


def _insertion_line(body: _Body, hunk: Hunk) -> int:
    """Before which line a hunk without old lines inserts."""
    n_lines = len(body.lines)
    if not n_lines or hunk.is_at_end:
        return n_lines
    if hunk.anchors:
        found = _anchored(body, hunk.anchors)
        if len(found) == 1:
            return found[0][0]
        raise _NoPlace([first - 1 for first, _ in found])
    if hunk.start is not None:
        if hunk.start > n_lines:
            raise _NoPlace
        return hunk.start
    raise _NoPlace(range(n_lines))


def _below_anchors(body: _Body, anchors: Sequence[str], found: Sequence[int]) -> list[int]:
    """Those of the places that are in a block below the anchors; if none is, those after an anchor."""
    blocks = _anchored(body, anchors)
    inside = [at for at in found if any(first - 1 <= at < end for first, end in blocks)]
    return inside or [at for at in found if any(at >= first - 1 for first, _ in blocks)]


def _anchored(body: _Body, anchors: Sequence[str]) -> list[tuple[int, int]]:
    """The lines, from and to, of the blocks below the last anchor, each anchor in a block of the one before it."""
    blocks = [(0, len(body.lines))]
    for anchor in anchors:
        blocks = [
            (line + 1, _end_of_block(body, line, end))
            for first, end in blocks
            for line in _lines_like(body, anchor, first, end)
        ]
    return blocks


def _lines_like(body: _Body, anchor: str, first: int, end: int) -> list[int]:
    words = anchor.strip()
    same = [line for line in range(first, end) if body.lines[line].strip() == words]
    return same or [line for line in range(first, end) if body.lines[line].strip().startswith(words)]


def _end_of_block(body: _Body, line: int, end: int) -> int:
    """The line after the block that `line` begins: the next one that is not indented deeper, brackets aside."""
    indent = _indent(body.lines[line])
    for at in range(line + 1, end):
        words = body.lines[at].strip()
        if words and _indent(body.lines[at]) <= indent and words[0] not in ")]}":
            return at
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


@dataclass(frozen=True, slots=True)
class _Placed:
    """A hunk and the line, from 0, at which its old lines begin."""

    hunk: Hunk
    first: int
    tier: Tier

    def edits(self, body: _Body) -> list[TextEdit]:
        """The edits it comes to."""
        made = _Making(body, body.style())
        line = self.first
        removed: list[HunkLine] = []
        added: list[HunkLine] = []
        for each in self.hunk.lines:
            if each.mark == " ":
                made.run(line - len(removed), removed, added)
                removed, added = [], []
                line += 1
            elif each.mark == "-":
                removed.append(each)
                line += 1
            else:
                added.append(each)
        made.run(line - len(removed), removed, added)
        if line == len(body.lines):
            made.last_end(self.hunk)
        return made.edits


@dataclass(slots=True)
class _Making:
    """The edits of one hunk as they are made, from its first line to its last."""

    body: _Body
    style: Style
    edits: list[TextEdit] = field(default_factory=list)
    will_end: bool = field(init=False)
    """Whether the last line has a line end after the edits so far."""

    def __post_init__(self) -> None:
        self.will_end = self.body.is_ended

    def run(self, first: int, removed: Sequence[HunkLine], added: Sequence[HunkLine]) -> None:
        """Lines from `first` on go, others come in their place."""
        body = self.body
        n_paired = min(len(removed), len(added))
        for line, (old, new) in enumerate(zip(removed, added, strict=False), first):
            if old.text != new.text:
                self._edit(body.starts[line], body.ends[line], new.text)
        if len(removed) > n_paired:
            self._edit(body.start(first + n_paired), body.start(first + len(removed)), "")
            self.will_end = self.will_end or first + len(removed) == len(body.lines)
        if len(added) > n_paired:
            self._insert(first + n_paired, [line.text for line in added[n_paired:]])

    def last_end(self, hunk: Hunk) -> None:
        """What the patch says of the line end of the last line; it has reached the end of the file."""
        body, new = self.body, hunk.new
        if not new:
            return
        was_said = any(not line.is_ended for line in hunk.old)
        if not new[-1].is_ended and self.will_end:
            self._remove_last_end()
        elif new[-1].is_ended and was_said and not self.will_end:
            self._edit(len(body.text), len(body.text), self.style.end("\n"))

    def _insert(self, before: int, lines: Sequence[str]) -> None:
        body, end = self.body, self.style.end("\n")
        at = body.start(before)
        if before == len(body.lines) and body.lines and not body.is_ended:
            self._edit(at, at, "".join(end + line for line in lines))
        else:
            self._edit(at, at, "".join(line + end for line in lines))
            self.will_end = self.will_end or before == len(body.lines)

    def _remove_last_end(self) -> None:
        last = self.edits[-1] if self.edits else None
        end = self.style.end("\n")
        size = len(self.body.text)
        if last is not None and last.span.end == size and last.new_text.endswith(end):
            self.edits[-1] = TextEdit(last.span, last.new_text.removesuffix(end))
        elif last is not None and last.span.end == size and not last.new_text and last.span.start:
            # The last lines go; then the line end before them goes, too.
            line = self.body.starts.index(last.span.start) if last.span.start in self.body.starts else 0
            before = self.body.ends[line - 1] if line else last.span.start
            self.edits[-1] = TextEdit(Span(Offset(before), last.span.end), "")
        else:
            self._edit(self.body.ends[-1], size, "")

    def _edit(self, start: int, end: int, new_text: str) -> None:
        self.edits.append(TextEdit(Span(Offset(start), Offset(end)), new_text))
