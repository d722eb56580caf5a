"""A definition replaced as a whole, or another one put before or after it, without quoting any of it.

The new text may be indented in any way; it is moved to where the definition is, in the file's own steps (`indentation.py`).
Between definitions stand as many empty lines as the file has between others of that level, else two at the top and one inside. A
definition is everything from its first decorator to its last line; comments right above belong to it when something is put
before it, and stay when it is replaced.

A place is a definition only by the definition's own name, so that nothing larger than what was named is replaced. A name that
is defined several times means none of them; only functions that belong together (overloads and what implements them, a
property's functions), one right behind the other, are one thing to put something before or after.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from lsptools.edit.indentation import moved_to, step_of
from lsptools.edit.placeholders import check_no_placeholder
from lsptools.edit.plan import Plan, edited, planned
from lsptools.edit.session import Session
from lsptools.edit.splice import joined, style_of
from lsptools.edit.target import Opened, opened, target
from lsptools.errors import BadRequest, Site
from lsptools.syntax.definition import Definition, definition_at, definitions_like
from lsptools.syntax.outline import Item, outline
from lsptools.syntax.tree import parse
from lsptools.text.edits import TextEdit
from lsptools.text.lines import Lines, Offset, Span
from lsptools.workspace.snapshot import Snapshot

Action = Literal["replace", "before", "after"]
MOST_SITES = 20
_BLOCKS = ("class", "function", "method")
_BLOCK = re.compile(r"(?:@|async\s+def\b|def\b|class\b)")


def plan_symbol(
    snapshot: Snapshot,
    session: Session,
    path: str,
    at: Offset,
    action: Action,
    text: str,
    *,
    is_name: bool = False,
    expect: str | None = None,
    allow_broken: bool = False,
) -> Plan:
    """The plan for the definition whose name is at `at` in the file `path`.

    `is_name`: the place was given as a name and so means every definition of it, not only the one that was found first.
    """
    file = opened(snapshot, session, target(snapshot, path), expect)
    check_no_placeholder(text, file.document.text)
    items = outline(file.document)
    found = _meant(file, items, at, action, is_name=is_name)
    if not text.strip():
        raise BadRequest("invalid", "the new text is empty", hint="send the whole definition")
    lines = file.document.lines
    new = moved_to(_indent(lines, found), text, _step(lines, found))
    _check_room(file, found, action, new)
    edit = _edit(lines, found, _siblings(items, found), action, new)
    notes = []
    if action == "replace" and found.is_decorated and not new[0].lstrip().startswith("@"):
        notes.append(f"`{found.name}` had decorators, which the new text does not have")
    plan = edited(file, joined([edit]), n_replaced=1)
    verb = "replace" if action == "replace" else f"insert {action}"
    label = f"{verb} {found.name} in {file.target.name}"
    return planned(snapshot, [plan], label=label, allow_broken=allow_broken, notes=notes)


# What is meant


def _meant(file: Opened, items: Sequence[Item], at: Offset, action: Action, *, is_name: bool) -> Definition:
    document = file.document
    found = definition_at(document, at) or _by_its_line(items, at)
    if found is None:
        raise BadRequest(
            "not_a_symbol",
            "what is named there is no class, function or variable with a statement of its own",
            hint=_instead(file, items, at),
        )
    if is_name and len(alike := definitions_like(document, at)) > 1:
        if action == "replace" or not _is_group(alike):
            raise _ambiguous(file, alike)
        first, last = alike[0], alike[-1]
        return Definition(first.name, first.kind, Span(first.span.start, last.span.end), first.name_span)
    if action == "replace" and found.others:
        raise BadRequest(
            "not_a_symbol",
            f"the statement of `{found.name}` also assigns to {', '.join(f'`{each}`' for each in found.others)}",
            hint="replace the whole statement with `edit`",
        )
    return found


def _by_its_line(items: Sequence[Item], at: Offset) -> Definition | None:
    """A class or function that the parser does not see, in a file with errors."""
    for item in items:
        if item.kind in _BLOCKS and item.name_span.start <= at <= item.name_span.end:
            return Definition(item.name, item.kind, item.span, item.name_span)
        if (inner := _by_its_line(item.children, at)) is not None:
            return inner
    return None


def _instead(file: Opened, items: Sequence[Item], at: Offset) -> str:
    """What the caller could name: what is around it."""
    around: Item | None = None
    level: Sequence[Item] = items
    while (inner := next((item for item in level if item.span.contains(at)), None)) is not None:
        around, level = inner, inner.children
    listed = "`outline` lists what the file defines, with the places of the names"
    if around is None:
        return listed
    place = file.document.lines.user_from_offset(around.name_span.start)
    return f"use `edit` for a part of a statement; the whole of `{around.name}` is {file.target.name}:{place}; {listed}"


def _is_group(definitions: Sequence[Definition]) -> bool:
    """Functions right behind each other of which all but one are decorated."""
    return (
        all(each.kind == "function" for each in definitions)
        and all(later.follows == earlier.span for earlier, later in pairwise(definitions))
        and sum(not each.is_decorated for each in definitions) <= 1
    )


def _ambiguous(file: Opened, definitions: Sequence[Definition]) -> BadRequest:
    lines, name = file.document.lines, file.target.name
    places = [lines.user_from_offset(each.name_span.start) for each in definitions]
    return BadRequest(
        "ambiguous",
        f"`{definitions[0].name}` is defined {len(definitions)} times in {name!r}",
        hint=f"name one of them by its place, for example {name}:{places[-1]}",
        sites=tuple(Site(name, at.line, at.column, "defined here") for at in places[:MOST_SITES]),
    )


def _check_room(file: Opened, found: Definition, action: Action, new: Sequence[str]) -> None:
    """`invalid` if the definition shares its line with other code, and the new text would change what that code belongs to."""
    lines = file.document.lines
    start = lines.starts[lines.line_of(found.span.start)]
    end = lines.line_span(lines.line_of(found.span.end)).end
    before = lines.text[start : found.span.start].strip()
    after = lines.text[found.span.end : end].lstrip(" \t\f;")
    after = "" if after.startswith("#") else after.strip()
    if not before and (action == "before" or not after):
        return
    if action == "replace" and _is_small("\n".join(new)):
        return
    at = lines.user_from_offset(found.name_span.start)
    raise BadRequest(
        "invalid",
        f"`{found.name}` shares its line with other code: {lines.line_text(at.line - 1).strip()[:80]}",
        hint="send one plain statement, or change the whole line with `edit`"
        if action == "replace"
        else "give it a line of its own with `edit` first",
        sites=(Site(file.target.name, at.line, at.column, "not alone on its line"),),
    )


def _is_small(text: str) -> bool:
    """One plain statement on one line, without a comment: what may stand between others of its line."""
    if "\n" in text:
        return False
    found = parse(text.strip().encode("utf-8", "surrogatepass")).root_node.named_children
    return len(found) == 1 and found[0].type.endswith("_statement") and found[0].type not in _COMPOUND


_COMPOUND = tuple(f"{word}_statement" for word in ("if", "match", "for", "while", "with", "try"))


# Where it goes


def _siblings(items: Sequence[Item], found: Definition) -> Sequence[Item]:
    """All definitions of its level."""
    for item in items:
        if item.name_span == found.name_span:
            return items
    for item in items:
        if item.kind in _BLOCKS and item.span.contains(found.name_span.start):
            return _siblings(item.children, found)
    return items


def _indent(lines: Lines, found: Definition) -> str:
    before = lines.text[lines.starts[lines.line_of(found.span.start)] : found.span.start]
    return before if not before.strip() else ""


def _step(lines: Lines, found: Definition) -> str | None:
    """How much deeper blocks are: those of the definition itself, or those of the file."""
    indent, text = _indent(lines, found), lines.text
    start = lines.starts[lines.line_of(found.span.start)]
    return step_of(_lf(text[start : found.span.end]), indent) or step_of(_lf(text), indent)


def _lf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _edit(
    lines: Lines, found: Definition, siblings: Sequence[Item], action: Action, new: Sequence[str]
) -> TextEdit:
    style = style_of(lines.text, found.span.end)
    end = style.end("\n")
    body = end.join(new)
    if action == "replace":
        return TextEdit(found.span, body.removeprefix(_indent(lines, found)))
    gap = end * _n_empty(lines, found, siblings, new)
    if action == "after":
        at = lines.line_span(lines.line_of(found.span.end)).end
        return TextEdit(Span(at, at), end + gap + body)
    start = Offset(lines.starts[_first_line(lines, found)])
    return TextEdit(Span(start, start), body + end + gap)


def _first_line(lines: Lines, found: Definition) -> int:
    """The line of the definition's beginning, with the comments right above it."""
    line, indent = lines.line_of(found.span.start), _indent(lines, found)
    while line and lines.line_text(line - 1).startswith(f"{indent}#"):
        line -= 1
    return line


def _n_empty(lines: Lines, found: Definition, siblings: Sequence[Item], new: Sequence[str]) -> int:
    """How many empty lines stand between this definition and the new one."""
    is_block = found.kind in _BLOCKS or _BLOCK.match(new[0].lstrip()) is not None
    if not is_block:
        return 0
    gaps = Counter(
        lines.line_of(later.span.start) - lines.line_of(earlier.span.end) - 1
        for earlier, later in pairwise(siblings)
        if earlier.kind in _BLOCKS and later.kind in _BLOCKS and not _between(lines, earlier, later).strip()
    )
    if gaps:
        return max(gaps.most_common(1)[0][0], 0)
    return 1 if _indent(lines, found) else 2


def _between(lines: Lines, earlier: Item, later: Item) -> str:
    return lines.text[earlier.span.end : later.span.start]
