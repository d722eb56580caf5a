"""Answers about calls and hierarchies as an agent is shown them: places grouped by file, each with what it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from lsptools.faces.agent_pages import Body, Entry, shortened
from lsptools.faces.agent_view_places import Showing, finder, listed
from lsptools.faces.render_calls import given_text
from lsptools.languages.names import Symbol

if TYPE_CHECKING:
    from lsptools.languages.python.uses import Use
    from lsptools.search.call_arguments import BoundCalls
    from lsptools.search.hierarchy import Related
    from lsptools.tools.callees import CalleesAnswer
    from lsptools.tools.callers import CallersAnswer
    from lsptools.tools.hierarchy import HierarchyAnswer
    from lsptools.tools.implementations import ImplementationsAnswer

BUILT_IN = "(built in)"
"""Stands for the file of what has none."""


def callers(answer: CallersAnswer, showing: Showing) -> Body:
    entries = [
        _use(use, f" in {caller.symbol.qualified}", {"caller": caller.symbol.qualified}, showing)
        for caller in answer.callers.callers
        for use in answer.uses(caller)
    ]
    found = answer.callers
    return _about(found.callee, entries, "calls", showing, found.complete, found.incomplete_because)


def callees(answer: CalleesAnswer, showing: Showing) -> Body:
    entries = []
    for call in answer.callees.calls:
        reached = [_named(symbol, showing) for symbol in call.symbols]
        callees = [_symbol_facts(symbol, showing) for symbol in call.symbols]
        text = shortened(call.text)
        more = f" -> {', '.join(reached)}" if reached else f": {call.reason}"
        entry = _entry(call.path, call.span.start, f"{call.evidence.value} `{text}`{more}", showing)
        data = {"class": call.evidence.value, "text": text, "callees": callees, "reason": call.reason}
        entries.append(Entry(entry.text, {**_placed(entry), **data}, entry.group))
    found = answer.callees
    return _about(found.caller, entries, "calls", showing, found.complete, found.incomplete_because)


def implementations(answer: ImplementationsAnswer, showing: Showing) -> Body:
    found = answer.implementations
    entries = [
        _symbol(
            each.symbol,
            f"{each.relation}{', abstract' if each.is_abstract else ''}",
            {"relation": each.relation, **({"abstract": True} if each.is_abstract else {})},
            showing,
        )
        for each in found.found
    ]
    return _about(found.symbol, entries, "symbols", showing, found.complete, found.incomplete_because)


def hierarchy(answer: HierarchyAnswer, showing: Showing) -> Body:
    found = answer.hierarchy
    entries = [
        *(_related(each, "above", showing) for each in reversed(found.above)),
        *(_related(each, "below", showing) for each in found.below),
    ]
    entries.sort(key=lambda entry: entry.group)  # files stand together; the order within them stays
    more: dict[str, object] = {"order": [each.qualified for each in found.order]}
    more |= {"unknown_bases": list(found.unknown_bases)} if found.unknown_bases else {}
    lines = tuple(f"unknown base: {base}" for base in found.unknown_bases)
    body = _about(
        found.symbol, entries, "symbols", showing, found.complete, found.incomplete_because, more=more
    )
    return replace(body, head=(body.head[0], *lines, *body.head[1:]))


def bound_calls(found: BoundCalls, showing: Showing) -> Body:
    """How a function is called: each call with its arguments, by the parameters they reach."""
    entries = []
    for call in found.calls:
        given = call.given if not found.parameter else (call.selected,) if call.selected else ()
        arguments = [shortened(given_text(each)) for each in given if each.how != "object"]
        said = f": {', '.join(arguments) or 'no arguments'}" if call.given or call.use.call else None
        entries.append(_use(call.use, said, {"given": arguments}, showing))
    about = f"{found.callee.qualified}{found.signature}"
    return _about(
        found.callee,
        entries,
        "calls",
        showing,
        found.complete,
        found.incomplete_because,
        said=about,
        more={"signature": found.signature},
    )


def _about(
    symbol: Symbol,
    entries: list[Entry],
    member: str,
    showing: Showing,
    complete: bool,
    because: tuple[str, ...],
    *,
    said: str = "",
    more: Mapping[str, object] | None = None,
) -> Body:
    n = len(entries)
    head = (f"{symbol.kind} {said or symbol.qualified}: {n} {member if n != 1 else member[:-1]}",)
    reasons = () if complete else because or ("no reason was given",)
    facts: dict[str, object] = {"symbol": _symbol_facts(symbol, showing)}
    facts |= dict(more or {})
    source = [*finder(showing), "tree-sitter"]
    return listed(entries, member, head, reasons, showing, source=source, facts=facts)


def _use(use: Use, said: str | None, more: dict[str, object], showing: Showing) -> Entry:
    via = f" as `{use.via}`" if use.via else ""
    end = f": {use.reason}" if said is None or not said.startswith(":") else ""
    entry = _entry(
        use.path, use.span.start, f"{use.evidence.value} {use.kind}{via}{said or ''}{end}", showing
    )
    data = {"class": use.evidence.value, "role": use.kind, "reason": use.reason}
    data |= {"via": use.via} if use.via else {}
    return Entry(entry.text, {**_placed(entry), **data, **more}, entry.group)


def _symbol(symbol: Symbol, says: str, more: dict[str, object], showing: Showing) -> Entry:
    data: dict[str, object] = {"qualified": symbol.qualified, "kind": symbol.kind, **more}
    text = f"{symbol.kind} {symbol.qualified}: {says}"
    if symbol.kind == "builtin":
        return Entry(text, data, BUILT_IN)
    entry = _entry(symbol.path, symbol.span.start, text, showing)
    return Entry(entry.text, {**_placed(entry), **data}, entry.group)


def _related(each: Related, where: str, showing: Showing) -> Entry:
    unknown = f", unknown base {', '.join(each.unknown_bases)}" if each.unknown_bases else ""
    more: dict[str, object] = {"relation": where, "depth": each.depth, "via": each.via}
    more |= {"unknown_bases": list(each.unknown_bases)} if each.unknown_bases else {}
    return _symbol(each.symbol, f"{each.depth} {where}, of {each.via}{unknown}", more, showing)


def _entry(path: str, start: int, text: str, showing: Showing) -> Entry:
    at = showing.context.positions.user(path, start)  # type: ignore[arg-type]  # an Offset, from a span
    return Entry(f"{at.line}:{at.column}: {text}", {"line": at.line, "column": at.column}, path)


def _placed(entry: Entry) -> dict[str, object]:
    assert isinstance(entry.data, dict)
    return entry.data


def _named(symbol: Symbol, showing: Showing) -> str:
    place = _place(symbol, showing)
    return f"{symbol.kind} {symbol.qualified}" + (f" ({place})" if place else "")


def _symbol_facts(symbol: Symbol, showing: Showing) -> dict[str, str]:
    """A symbol in the structure; what is built in has no place."""
    place = _place(symbol, showing)
    return {"qualified": symbol.qualified, "kind": symbol.kind, **({"place": place} if place else {})}


def _place(symbol: Symbol, showing: Showing) -> str:
    if symbol.kind == "builtin":
        return ""
    return showing.context.positions.place(symbol.path, symbol.span.start)
