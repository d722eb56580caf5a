"""A definition replaced as a whole, or another one put before or after it, without quoting any of it.

The new text may be indented in any way; it is moved to where the definition is, and what is inside of its strings stays
(a docstring moves along). Between definitions stand as many empty lines as the file has between others of that level, else
two at the top and one inside. A definition is everything from its first decorator to its last line; comments right above
belong to it when something is put before it, and stay when it is replaced.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from lsptools.edit.placeholders import check_no_placeholder
from lsptools.edit.plan import Plan, edited, planned
from lsptools.edit.session import Session
from lsptools.edit.splice import joined, style_of
from lsptools.edit.target import opened, target
from lsptools.errors import BadRequest
from lsptools.syntax.outline import Item, outline
from lsptools.syntax.tree import Node, parse
from lsptools.text.edits import TextEdit
from lsptools.text.lines import Lines, Offset, Span
from lsptools.workspace.snapshot import Snapshot

Action = Literal["replace", "before", "after"]
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
    expect: str | None = None,
    allow_broken: bool = False,
) -> Plan:
    """The plan for the definition whose name is at `at` in the file `path`."""
    file = opened(snapshot, session, target(snapshot, path), expect)
    check_no_placeholder(text, file.document.text)
    level = _level(outline(file.document), at)
    if level is None or not text.strip():
        raise BadRequest(
            "not_a_symbol" if level is None else "invalid",
            "no class, function or variable is defined there" if level is None else "the new text is empty",
            hint="`outline` lists what the file defines" if level is None else "send the whole definition",
        )
    item, siblings = level
    lines = file.document.lines
    new = moved_to(_indent(lines, item), text)
    edit = _edit(lines, item, siblings, action, new)
    notes = []
    if (
        action == "replace"
        and lines.text.startswith("@", item.span.start)
        and not new[0].lstrip().startswith("@")
    ):
        notes.append(f"`{item.name}` had decorators, which the new text does not have")
    plan = edited(file, joined([edit]), n_replaced=1)
    verb = "replace" if action == "replace" else f"insert {action}"
    label = f"{verb} {item.name} in {file.target.name}"
    return planned(snapshot, [plan], label=label, allow_broken=allow_broken, notes=notes)


def _level(items: Sequence[Item], at: Offset) -> tuple[Item, Sequence[Item]] | None:
    """The innermost definition at `at`, and all of its level."""
    for item in items:
        if item.name_span.start <= at <= item.name_span.end:
            return item, items
    for item in items:
        if item.span.contains(at):
            return _level(item.children, at) or (item, items)
    return None


def _indent(lines: Lines, item: Item) -> str:
    before = lines.text[lines.starts[lines.line_of(item.span.start)] : item.span.start]
    return before if not before.strip() else ""


def moved_to(indent: str, text: str) -> list[str]:
    """The lines of a definition, indented with `indent`, without empty lines around them."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    inside = _inside_strings("\n".join(lines))
    own = min(
        (_leading(line) for number, line in enumerate(lines) if line.strip() and number not in inside),
        key=len,
    )
    if own == indent:
        return lines
    return [
        line if number in inside or not line.strip() else indent + line.removeprefix(own)
        for number, line in enumerate(lines)
    ]


def _leading(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _inside_strings(text: str) -> frozenset[int]:
    """The lines, from 0, that begin inside of a string which is no docstring."""
    # What is indented as a whole would not be parsed, so it is given something to be inside of.
    head = "if 1:\n" if text[:1] in " \t" else ""
    source = (head + text).encode("utf-8", "surrogatepass")
    return frozenset(_string_lines(parse(source).root_node, head.count("\n")))


def _string_lines(node: Node, n_before: int) -> Iterator[int]:
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if each.type == "string":
            parent = each.parent
            if parent is None or parent.type != "expression_statement":
                yield from range(each.start_point[0] + 1 - n_before, each.end_point[0] + 1 - n_before)
        elif each.end_point[0] > each.start_point[0]:
            waiting += each.children


def _edit(lines: Lines, item: Item, siblings: Sequence[Item], action: Action, new: Sequence[str]) -> TextEdit:
    style = style_of(lines.text, item.span.end)
    end = style.end("\n")
    body = end.join(new)
    if action == "replace":
        indent = _indent(lines, item)
        return TextEdit(item.span, body.removeprefix(indent))
    gap = end * _n_empty(lines, item, siblings, new)
    if action == "after":
        at = lines.line_span(lines.line_of(item.span.end)).end
        return TextEdit(Span(at, at), end + gap + body)
    start = Offset(lines.starts[_first_line(lines, item)])
    return TextEdit(Span(start, start), body + end + gap)


def _first_line(lines: Lines, item: Item) -> int:
    """The line of the definition's beginning, with the comments right above it."""
    line, indent = lines.line_of(item.span.start), _indent(lines, item)
    while line and lines.line_text(line - 1).startswith(f"{indent}#"):
        line -= 1
    return line


def _n_empty(lines: Lines, item: Item, siblings: Sequence[Item], new: Sequence[str]) -> int:
    """How many empty lines stand between this definition and the new one."""
    is_block = item.kind in _BLOCKS or _BLOCK.match(new[0].lstrip()) is not None
    if not is_block:
        return 0
    gaps = Counter(
        lines.line_of(later.span.start) - lines.line_of(earlier.span.end) - 1
        for earlier, later in pairwise(siblings)
        if earlier.kind in _BLOCKS and later.kind in _BLOCKS and not _between(lines, earlier, later).strip()
    )
    if gaps:
        return max(gaps.most_common(1)[0][0], 0)
    return 1 if _indent(lines, item) else 2


def _between(lines: Lines, earlier: Item, later: Item) -> str:
    return lines.text[earlier.span.end : later.span.start]
