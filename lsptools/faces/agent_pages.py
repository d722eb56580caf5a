"""Answers within bounds: what a model is shown of a long answer, and how it gets the rest.

An answer has a head, entries (lines of a list or of a text) and an end, and is given twice: as text, with entries grouped by file,
and as structure. A page holds as many entries as fit into the room in both forms, at least one. The invariant: neither form is
longer than the room, but for an entry that alone is longer.

Sizes are in tokens of 4 characters, the usual estimate; no tokenizer is asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lsptools.errors import BadRequest

CHARACTERS_PER_TOKEN = 4
USUAL_TOKENS = 4_000
MOST_TOKENS = 20_000
LEAST_TOKENS = 300
LONGEST_LINE = 500
"""Characters of one line of a list."""
_RESERVE = 300
"""Characters kept free for the words about the next page."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of an answer."""

    text: str
    data: object
    """For programs; of a text, the line itself."""
    group: str = ""
    """The file it is of."""


@dataclass(frozen=True, slots=True)
class Body:
    """An answer before it is cut into pages."""

    head: tuple[str, ...] = ()
    """Lines before the entries; on the first page only."""
    entries: tuple[Entry, ...] = ()
    member: str = "lines"
    """What the structure calls the entries; those of one file stand together there, below `files`."""
    is_text: bool = False
    """Whether the entries are the lines of a text, which is one string in the structure."""
    end: tuple[str, ...] = ()
    """Lines after the entries, on every page."""
    facts: Mapping[str, object] = field(default_factory=dict)
    """The members of the structure beside the entries; those that are `None` are left out."""
    groups: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """What is known of a file beside its entries."""
    total: int | None = None
    """How many entries there are, if more than were gathered."""


@dataclass(frozen=True, slots=True)
class Page:
    """What is shown."""

    text: str
    data: dict[str, object]
    next_entry: int | None
    """Where the next page begins."""


def room_for(tokens: object) -> int:
    """Characters for an answer of so many tokens; `None`: the usual."""
    if tokens is None:
        return USUAL_TOKENS * CHARACTERS_PER_TOKEN
    if not isinstance(tokens, int) or isinstance(tokens, bool) or not LEAST_TOKENS <= tokens <= MOST_TOKENS:
        raise BadRequest(
            "invalid",
            f"`max_tokens` is {tokens!r}",
            hint=f"send {LEAST_TOKENS} to {MOST_TOKENS}, or leave it out for {USUAL_TOKENS}",
        )
    return tokens * CHARACTERS_PER_TOKEN


def page_of(body: Body, start: int, room: int) -> Page:
    """The page that begins with the entry `start`."""
    facts = _within({name: value for name, value in body.facts.items() if value is not None}, room // 2)
    head, end = _block(body.head if start == 0 else (), room // 3), _block(body.end, room // 3)
    text_room = room - _RESERVE - sum(len(line) + 1 for line in (*head, *end))
    data_room = room - _RESERVE - json_size(facts)
    taken: list[Entry] = []
    group = None
    for entry in body.entries[start:]:
        new_group = entry.group != group
        text_room -= (
            len(entry.text) + 1 + (2 if body.groups else 0) + (len(entry.group) + 1 if new_group else 0)
        )
        data_room -= json_size(entry.data) + 1
        if new_group:
            data_room -= json_size(body.groups.get(entry.group, {})) + len(entry.group) + 30
        if taken and (text_room < 0 or data_room < 0):
            break
        taken.append(entry)
        group = entry.group
    after = start + len(taken)
    next_entry = after if after < len(body.entries) else None
    total = body.total if body.total is not None else len(body.entries)
    data = {**facts, **_data(body, taken, start)}
    if next_entry is not None or total > len(body.entries):
        data |= {"truncated": True, "total": total}
    return Page("\n".join([*head, *_lines(body, taken), *end]), data, next_entry)


def _block(lines: tuple[str, ...], room: int) -> tuple[str, ...]:
    """Lines that are shown together, with their middle left out if they are many."""
    text = "\n".join(lines)
    return lines if len(text) <= room else (middle_cut(text, room),)


def _within(facts: dict[str, object], room: int) -> dict[str, object]:
    """Facts of at most so many characters: the longest lists lose their ends."""
    while json_size(facts) > room:
        lists = {name: value for name, value in facts.items() if isinstance(value, list) and value}
        if not lists:
            break
        longest = max(lists, key=lambda name: json_size(lists[name]))
        facts = {**facts, longest: lists[longest][: len(lists[longest]) // 2], "truncated": True}
    return facts


def _lines(body: Body, entries: Iterable[Entry]) -> list[str]:
    if not body.groups:
        return [entry.text for entry in entries]
    lines: list[str] = []
    group = None
    for entry in entries:
        if entry.group != group:
            group = entry.group
            lines.append(group)
        lines.append(f"  {entry.text}")
    return lines


def _data(body: Body, entries: list[Entry], start: int) -> dict[str, object]:
    if body.is_text:
        return {body.member: "\n".join(str(entry.data) for entry in entries)} if body.entries else {}
    if not body.groups:
        return {body.member: [entry.data for entry in entries]} if body.entries or start else {}
    files: list[dict[str, object]] = []
    group = None
    for entry in entries:
        if entry.group != group:
            group = entry.group
            files.append({"path": group, **body.groups.get(group, {}), body.member: []})
        listed = files[-1][body.member]
        assert isinstance(listed, list)
        listed.append(entry.data)
    return {"files": files}


def json_size(value: object) -> int:
    """Characters of a value as JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def text_entries(text: str) -> tuple[Entry, ...]:
    """The lines of a text as entries."""
    lines = text.removesuffix("\n").split("\n") if text else []
    return tuple(Entry(line, line) for line in lines)


def shortened(line: str, longest: int = LONGEST_LINE) -> str:
    """A line, with its end left out if it is long."""
    return line if len(line) <= longest else f"{line[:longest]} … [{len(line) - longest} more characters]"


def middle_cut(text: str, room: int) -> str:
    """A text of at most `room` characters: its beginning and, mostly, its end, at line ends."""
    if len(text) <= room:
        return text
    head_room = room // 5
    head = text[:head_room].rpartition("\n")[0] or text[:head_room]
    tail = text[-(room - head_room - 100) :]
    tail = tail.partition("\n")[2] or tail
    left_out = len(text) - len(head) - len(tail)
    return f"{head}\n… {left_out} characters left out …\n{tail}"


_SURROGATE = re.compile("[\ud800-\udfff]")


def sayable(value: object) -> object:
    """A JSON value that UTF-8 can say: a stray byte of a file becomes the text `\\udc80`, as JSON would escape it."""
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", value)
    if isinstance(value, Mapping):
        return {str(sayable(name)): sayable(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [sayable(each) for each in value]
    return value
