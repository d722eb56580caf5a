"""Calls, hierarchies and signatures as text for people; the rest of the answers is in `render`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from lsptools.faces.render import (
    CLASS_COLOUR,
    Look,
    Places,
    counted,
    left_alone,
    not_all,
    not_complete,
    refactored,
    visible,
)
from lsptools.languages.names import Evidence, Symbol

if TYPE_CHECKING:
    from lsptools.search.call_arguments import BoundCalls, Given
    from lsptools.search.hierarchy import Related
    from lsptools.tools.base import Positions
    from lsptools.tools.callees import CalleesAnswer
    from lsptools.tools.callers import CallersAnswer
    from lsptools.tools.hierarchy import HierarchyAnswer
    from lsptools.tools.implementations import ImplementationsAnswer
    from lsptools.tools.signature import SignatureAnswer
    from lsptools.tools.unused import UnusedAnswer


def word_of(evidence: Evidence, look: Look) -> str:
    """A class of evidence in its colour."""
    return look.paint(CLASS_COLOUR[evidence], evidence.value)


def _named(symbol: Symbol, places: Places) -> str:
    """A symbol with its place; what is built in has none."""
    what = f"{symbol.kind} {visible(symbol.qualified)}"
    return what if symbol.kind == "builtin" else f"{places.at(symbol.path, symbol.span.start)}: {what}"


def _callers(answer: CallersAnswer, look: Look) -> Iterator[str]:
    places = Places(answer.positions, look)
    n_uses = 0
    for caller in answer.callers.callers:
        uses = answer.uses(caller)
        n_uses += len(uses)
        if uses:
            yield _named(caller.symbol, places)
        for use in uses:
            via = f" as `{use.via}`" if use.via else ""
            at = places.at(use.path, use.span.start)
            yield f"  {at}: {word_of(use.evidence, look)} {use.kind}{via}: {visible(use.reason)}"
    callee = answer.callers.callee
    yield f"{look.paint('bold', f'{callee.kind} {callee.qualified}')}: {counted(n_uses, 'use')}"
    yield from _whole(answer.callers.complete, answer.callers.incomplete_because, look)


def _callees(answer: CalleesAnswer, look: Look) -> Iterator[str]:
    places = Places(answer.positions, look)
    for call in answer.callees.calls:
        at, text = places.at(call.path, call.span.start), visible(call.text)
        head = f"{at}: {word_of(call.evidence, look)} `{text}`"
        if not call.symbols:
            yield f"{head}: {visible(call.reason)}"
        for symbol in call.symbols:
            yield f"{head} -> {_named(symbol, places)}"


def _implementations(answer: ImplementationsAnswer, look: Look) -> Iterator[str]:
    places = Places(answer.positions, look)
    for each in answer.implementations.found:
        abstract = ", abstract" if each.is_abstract else ""
        yield f"{_named(each.symbol, places)}: {each.relation}{abstract}"
    found = answer.implementations
    yield from _whole(found.complete, found.incomplete_because, look)


def _hierarchy(answer: HierarchyAnswer, look: Look) -> Iterator[str]:
    places = Places(answer.positions, look)
    found = answer.hierarchy
    for each in reversed(found.above):
        yield _related(each, "above", places, look)
    yield look.paint("bold", _named(found.symbol, places))
    yield from (f"  unknown base: {visible(base)}" for base in found.unknown_bases)
    for each in found.below:
        yield _related(each, "below", places, look)
    yield from _whole(found.complete, found.incomplete_because, look)


def _related(each: Related, where: str, places: Places, look: Look) -> str:
    unknown = f", unknown base {', '.join(map(visible, each.unknown_bases))}" if each.unknown_bases else ""
    return f"{_named(each.symbol, places)}: {each.depth} {where}, of {each.via}{unknown}"


def bound_calls(found: BoundCalls, positions: Positions, look: Look) -> Iterator[str]:
    """Each call with its arguments, or with what reaches the parameter that was asked for."""
    places = Places(positions, look)
    for call in found.calls:
        use = call.use
        head = f"{places.at(use.path, use.span.start)}: {word_of(use.evidence, look)} {use.kind}"
        shown = call.given if not found.parameter else (call.selected,) if call.selected else ()
        arguments = ", ".join(given_text(each) for each in shown if each.how != "object")
        if call.given:
            yield f"{head}: {visible(arguments) or 'no arguments'}"
        else:
            yield f"{head}: {visible(use.reason) if use.call is None else 'no arguments'}"
    callee = found.callee
    what = f"{callee.kind} {callee.qualified}{found.signature}"
    yield f"{look.paint('bold', visible(what))}: {counted(len(found.calls), 'use')}"
    yield from _whole(found.complete, found.incomplete_because, look)


def given_text(given: Given) -> str:
    """`name=text`, or why there is no text."""
    text = " ".join(given.text.split())
    if given.how == "default":
        return f"{given.parameter} not given (={text})"
    words = {"missing": "missing", "unpacked": "perhaps unpacked", "later": "left open"}
    if given.how in words:
        return f"{given.parameter} {words[given.how]}"
    return f"{given.parameter or '?'}={text}"


def _whole(complete: bool, because: tuple[str, ...], look: Look) -> Iterator[str]:
    if complete:
        yield look.paint("green", "complete")
    else:
        yield from not_complete(because or ("no reason was given",), look)


def _unused(answer: UnusedAnswer, look: Look) -> Iterator[str]:
    places, found = Places(answer.positions, look), answer.unused
    for each in answer.listed:
        yield f"{_named(each.symbol, places)}: {visible(each.reason)}"
    yield from not_all(answer.total, len(answer.listed), look)
    judged = found.n_definitions - sum(found.spared.values())
    unused = look.paint("bold", f"{answer.total} unused")
    yield f"{unused} of {counted(judged, 'definition')}; spared:{'' if found.spared else ' none'}"
    yield from (f"  {n} because {visible(reason)}" for reason, n in sorted(found.spared.items()))
    yield from _whole(found.complete, found.incomplete_because, look)


# Signatures


def _signature(answer: SignatureAnswer, look: Look) -> Iterator[str]:
    plan = answer.plan
    done = "changed" if answer.applied else "would change"
    what = f"{done} {plan.symbol.kind} `{plan.symbol.name}` from {plan.before} to {plan.after}"
    left = left_alone([site.occurrence for site in answer.left], Places(answer.positions, look), look)
    yield from refactored(answer, what, left, plan.incomplete_because, look)


RENDERERS: dict[str, Callable[[Any, Look], Iterator[str]]] = {  # each takes the answer of its own tool
    "callers": _callers,
    "callees": _callees,
    "implementations": _implementations,
    "hierarchy": _hierarchy,
    "unused": _unused,
    "signature": _signature,
}
