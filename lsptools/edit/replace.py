"""`old_str` becomes `new_str`: located in the original text, unique or counted, all edits or none.

All edits of a call are located in the text as it is, so their order does not matter and none sees what another one wrote.
Old and new text are data: nothing in them is an expression, a template or an escape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lsptools.edit.notebook import SUFFIX, cells_text
from lsptools.edit.placeholders import check_no_placeholder
from lsptools.edit.plan import FilePlan, Plan, created, edited, planned
from lsptools.edit.session import Session
from lsptools.edit.splice import Styles, edits_for, joined
from lsptools.edit.target import Opened, Target, opened, target
from lsptools.errors import BadRequest, Site, ToolError
from lsptools.text.document import Document
from lsptools.text.edits import TextEdit
from lsptools.text.lines import Lines
from lsptools.text.match import Found, Match, Tier, find, find_all
from lsptools.workspace.snapshot import Snapshot

MOST_SITES = 20
_LONGEST_SAID = 80


@dataclass(frozen=True, slots=True)
class Replacement:
    """One edit, as the caller sends it."""

    old_str: str
    new_str: str
    replace_all: bool = False
    expected_count: int | None = None
    """How many there must be; all of them are replaced."""

    @property
    def is_for_all(self) -> bool:
        return self.replace_all or (self.expected_count or 1) > 1


def plan_edit(
    snapshot: Snapshot,
    session: Session,
    path: str,
    replacements: Sequence[Replacement],
    *,
    expect: str | None = None,
    allow_broken: bool = False,
) -> Plan:
    """The plan for these edits of one file. One edit with an empty `old_str` is a new file."""
    if not replacements:
        raise BadRequest("invalid", "there are no edits", hint="send at least one edit")
    at = target(snapshot, path)
    if any(not each.old_str for each in replacements):
        return _creation(snapshot, at, replacements, allow_broken=allow_broken)
    _check_counts(replacements)
    file = opened(snapshot, session, at, expect)
    plan, notes = _plan(session, file, replacements)
    return planned(snapshot, [plan], label=f"edit {at.name}", allow_broken=allow_broken, notes=notes)


def _creation(
    snapshot: Snapshot, at: Target, replacements: Sequence[Replacement], *, allow_broken: bool
) -> Plan:
    if snapshot.operations.is_dir(at.real):
        raise BadRequest("is_directory", f"{at.name!r} is a folder", hint="name a file in it")
    if len(replacements) > 1 or snapshot.operations.exists(at.real):
        raise BadRequest(
            "invalid",
            "an empty `old_str` has no place in a text",
            hint="quote the text to replace; an empty `old_str` alone creates a file that is not there yet",
        )
    plan = created(at, replacements[0].new_str)
    return planned(snapshot, [plan], label=f"create {at.name}", allow_broken=allow_broken)


def _check_counts(replacements: Sequence[Replacement]) -> None:
    for each in replacements:
        if each.expected_count is not None and each.expected_count < 1:
            raise BadRequest(
                "invalid",
                f"`expected_count` is {each.expected_count}",
                hint="expect one or more, or leave it out",
            )


@dataclass(frozen=True, slots=True)
class _Located:
    """An edit and where its passage stands."""

    replacement: Replacement
    found: Found


def _plan(session: Session, file: Opened, replacements: Sequence[Replacement]) -> tuple[FilePlan, list[str]]:
    document = file.document
    wanted = [_without_mark(document, each) for each in replacements]
    if file.target.real_name.endswith(SUFFIX) and (plan := _of_cells(session, file, wanted)) is not None:
        return plan, []
    located = _all_located(session, file, wanted)
    for replacement in wanted:
        check_no_placeholder(replacement.new_str, replacement.old_str, document.text)
    _check_apart(file, located)
    edits: list[TextEdit] = []
    styles = Styles(document.text)
    for _, match, each in _in_order(located):
        style = styles.near(match.span.end)
        new, old = each.replacement.new_str, each.replacement.old_str
        edits += edits_for(document.text, match, each.found.tier, old, new, style)
    n_replaced = sum(len(each.found.matches) for each in located)
    tiers: set[Tier] = {each.found.tier for each in located}
    tier: Tier = "folded" if "folded" in tiers else "exact"
    return edited(file, joined(edits), tier=tier, n_replaced=n_replaced), _notes(located)


def _of_cells(session: Session, file: Opened, wanted: Sequence[Replacement]) -> FilePlan | None:
    """The plan for a notebook, if what is quoted is meant to stand in its cells; `None`: in the JSON.

    Who has read it as JSON quotes JSON, if it is there. Who has read cells quotes cells, and what is in none of them is looked for
    in the JSON.
    """
    from lsptools.edit.cells import cell_edits, hits_in_cells

    text, name = file.document.text, file.target.name
    in_json = [find(text, each.old_str, limit=1) for each in wanted]
    if file.target.real in session.raw and all(found.matches for found in in_json):
        return None
    hits = hits_in_cells(text, wanted)
    outside = [number for number, inside in enumerate(hits) if not inside]
    if len(outside) == len(wanted):
        return None
    for number in outside:
        if not in_json[number].matches:
            _located(session, file, wanted[number])  # says why not
    if outside:
        raise BadRequest(
            "not_found",
            f"edit {outside[0] + 1}: the text is in no cell of {name!r}, and that of another edit is in one",
            hint="send the edits of cells and the edits of the rest of the notebook in calls of their own",
        )
    found = cell_edits(hits, name)
    if found.tier == "folded" and all(each.matches and each.tier == "exact" for each in in_json):
        return None
    for each in wanted:
        check_no_placeholder(each.new_str, each.old_str, text)
    return edited(file, found.edits, tier=found.tier, n_replaced=found.n_replaced)


def _in_order(located: Sequence[_Located]) -> list[tuple[int, Match, _Located]]:
    places = [
        (match.span.start, number, match, each)
        for number, each in enumerate(located)
        for match in each.found.matches
    ]
    places.sort(key=lambda place: place[:2])
    return [(number, match, each) for _, number, match, each in places]


def _without_mark(document: Document, each: Replacement) -> Replacement:
    """Without the byte order mark, which is no part of the text of a file that has one."""
    if not document.bom:
        return each
    old, new = each.old_str.removeprefix("\ufeff") or each.old_str, each.new_str
    if old != each.old_str or document.text.startswith(old):
        new = new.removeprefix("\ufeff")
    return Replacement(old, new, each.replace_all, each.expected_count)


def _all_located(session: Session, file: Opened, wanted: Sequence[Replacement]) -> list[_Located]:
    """Where each edit belongs; every edit that has no place is told, not only the first."""
    located: list[_Located] = []
    errors: list[ToolError] = []
    for number, each in enumerate(wanted, 1):
        try:
            located.append(_Located(each, _located(session, file, each)))
        except ToolError as error:
            if len(wanted) > 1:
                error.message = f"edit {number}: {error.message}"
            errors.append(error)
    if not errors:
        return located
    first, *others = errors
    first.sites = tuple(site for error in errors for site in error.sites)[:MOST_SITES]
    first.message = "; ".join(error.message for error in (first, *others))
    raise first


def _located(session: Session, file: Opened, each: Replacement) -> Found:
    text = file.document.text
    found = find_all(text, each.old_str) if each.is_for_all else find(text, each.old_str)
    if not found.matches:
        from lsptools.edit.diagnose import missed

        raise missed(session, _as_read(session, file), each.old_str, each.new_str)
    expected = each.expected_count if each.expected_count is not None else None if each.replace_all else 1
    if expected is not None and len(found.matches) != expected:
        raise _ambiguous(file, each, found, expected)
    return found


def _as_read(session: Session, file: Opened) -> Opened:
    """With the text that `read` shows: that of a notebook is its cells, unless it was read as JSON."""
    text = None
    if file.target.real_name.endswith(SUFFIX) and file.target.real not in session.raw:
        text = cells_text(file.document.text)
    return file if text is None else Opened(file.target, replace(file.document, text=text))


def _ambiguous(file: Opened, each: Replacement, found: Found, expected: int) -> BadRequest:
    lines, name = file.document.lines, file.target.name
    n_found = f"more than {len(found.matches)} times" if found.more else _times(len(found.matches))
    numbers = [lines.line_of(match.span.start) + 1 for match in found.matches]
    wanted = "" if expected == 1 else f", not {_times(expected)}"
    how = " (folded)" if found.tier == "folded" else ""
    return BadRequest(
        "ambiguous",
        f"the text occurs {n_found}{how} in {name!r}{wanted}: on {_said_lines(numbers)}",
        hint="quote more of the text around it, or pass `replace_all` if all of them are meant"
        if expected == 1
        else "look at the places and send the count that is right",
        sites=tuple(_site(lines, name, match) for match in found.matches[:MOST_SITES]),
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _said_lines(numbers: Sequence[int]) -> str:
    said = ", ".join(map(str, numbers[:50]))
    return f"line{'s' if len(numbers) > 1 else ''} {said}" + (" …" if len(numbers) > 50 else "")


def _site(lines: Lines, name: str, match: Match) -> Site:
    at = lines.user_from_offset(match.span.start)
    return Site(name, at.line, at.column, lines.line_text(at.line - 1).strip()[:_LONGEST_SAID])


def _check_apart(file: Opened, located: Sequence[_Located]) -> None:
    """No two passages may share a character."""
    lines, name = file.document.lines, file.target.name
    before: tuple[int, Match] | None = None
    for number, match, _ in _in_order(located):
        if before is not None and match.span.start < before[1].span.end:
            raise BadRequest(
                "overlap",
                f"edit {before[0] + 1} and edit {number + 1} are about the same text in {name!r}",
                hint="send one edit for the whole passage",
                sites=(_site(lines, name, before[1]), _site(lines, name, match)),
            )
        before = (number, match)


def _notes(located: Sequence[_Located]) -> list[str]:
    notes = []
    for number, each in enumerate(located, 1):
        which = "the text" if len(located) == 1 else f"the text of edit {number}"
        if each.found.tier == "folded":
            notes.append(
                f"{which} was not there exactly; it matched after folding quotes, dashes, spaces, compatible "
                "characters and blanks at line ends"
            )
        if each.replacement.old_str == each.replacement.new_str:
            notes.append(f"edit {number} says the same before and after")
    return notes
