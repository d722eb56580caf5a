"""Places that were found as an agent is shown them: compact lines grouped by file, and the same as structure.

Every answer says whether it is complete or why not, what it was found with, and by digest which content of each file it speaks of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lsptools.faces.agent_pages import Body, Entry, shortened
from lsptools.languages.names import Evidence, Occurrence
from lsptools.tools.base import Context

if TYPE_CHECKING:
    from lsptools.tools.definition import DefinitionAnswer
    from lsptools.tools.outline import OutlineAnswer
    from lsptools.tools.references import ReferencesAnswer
    from lsptools.tools.search import SearchAnswer
    from lsptools.tools.symbols import SymbolsAnswer


@dataclass(frozen=True, slots=True)
class Showing:
    """What an answer is shown with."""

    context: Context
    room: int
    """Characters, for texts that are cut rather than paged."""
    plan: str | None = None
    """The id of the plan that a preview has made."""


def search(answer: SearchAnswer, showing: Showing) -> Body:
    entries = []
    for match in answer.matches.matches:
        lines = answer.positions.lines(match.path)
        at = lines.user_from_offset(match.span.start)
        line = shortened(lines.line_text(at.line - 1))
        data: dict[str, object] = {"line": at.line, "column": at.column, "line_text": line}
        shown = f"{at.line}:{at.column}: {line}"
        if answer.context:
            data["around"] = around = _around(answer, match.path, at.line)
            shown = "\n  ".join([shown, *(f"  {each}" for each in around)])
        if match.captures:
            captures = [
                {
                    "name": each.name,
                    "text": shortened(lines.text[each.span.start : each.span.end].split("\n")[0]),
                }
                for each in match.captures
            ]
            data["captures"] = captures
            shown += "".join(f"  @{each['name']}={each['text']}" for each in captures)
        entries.append(Entry(shown, data, match.path))
    found = answer.matches
    head = (f"{counted(found.n_matches, 'match', 'matches')} in {counted(found.n_files, 'file')}",)
    return listed(
        entries,
        "matches",
        head,
        answer.incomplete_because,
        showing,
        total=found.n_matches,
        source=[*finder(showing), *(["tree-sitter"] if answer.is_structural else [])],
    )


def _around(answer: SearchAnswer, path: str, line: int) -> list[str]:
    lines = answer.positions.lines(path)
    last = lines.n_lines if lines.line_text(lines.n_lines - 1) else lines.n_lines - 1
    numbers = range(max(1, line - answer.context), min(last, line + answer.context) + 1)
    return [f"{number}│{shortened(lines.line_text(number - 1))}" for number in numbers]


def symbols(answer: SymbolsAnswer, showing: Showing) -> Body:
    entries = []
    for each in answer.listed:
        at = answer.positions.user(each.path, each.item.name_span.start)
        data = {"line": at.line, "column": at.column, "kind": each.item.kind, "qualified": each.qualified}
        signature = shortened(each.item.signature)
        entries.append(
            Entry(
                f"{at.line}:{at.column}: {each.qualified}: {signature}",
                {**data, "signature": signature},
                each.path,
            )
        )
    head = (counted(answer.total, "definition"),)
    source = [*finder(showing), "tree-sitter"]
    return listed(
        entries, "symbols", head, answer.incomplete_because, showing, total=answer.total, source=source
    )


def outline(answer: OutlineAnswer, showing: Showing) -> Body:
    lines = answer.positions.lines(answer.path)

    def entries(items: Iterable[Any], inside: str, depth: int) -> Iterator[Entry]:  # Item, nested
        for item in items:
            qualified = f"{inside}.{item.name}" if inside else item.name
            at = lines.user_from_offset(item.name_span.start)
            first, last = (lines.line_of(end) + 1 for end in (item.span.start, item.span.end))
            signature = shortened(item.signature)
            data = {
                "line": at.line,
                "column": at.column,
                **({"first_line": first} if first != at.line else {}),
                "last_line": last,
                "kind": item.kind,
                "qualified": qualified,
                "signature": signature,
            }
            yield Entry(f"{at.line}-{last}: {'  ' * depth}{signature}", data)
            yield from entries(item.children, qualified, depth + 1)

    found = tuple(entries(answer.items, "", 0))
    digest = showing.context.snapshot.document(answer.path).digest
    facts = {"path": answer.path, "digest": digest, "complete": True, "source": ["tree-sitter"]}
    if not found:
        facts["reason"] = "the file defines no class, function or variable"
    head = (f"{answer.path}: {counted(len(found), 'definition')} (tree-sitter)",)
    return Body(head, found, "items", facts=facts)


def definition(answer: DefinitionAnswer, showing: Showing) -> Body:
    entries = []
    for symbol in answer.symbols:
        at = answer.positions.user(symbol.path, symbol.span.start)
        data = {"line": at.line, "column": at.column, "kind": symbol.kind, "qualified": symbol.qualified}
        entries.append(Entry(f"{at.line}:{at.column}: {symbol.kind} {symbol.qualified}", data, symbol.path))
    return listed(entries, "definitions", (), (), showing, source=["tree-sitter"])


def references(answer: ReferencesAnswer, showing: Showing) -> Body:
    found = answer.references
    hidden = () if answer.selected else (Evidence.UNRELATED,)
    entries = []
    for each in answer.listed:
        if each.evidence not in hidden:
            entries.append(_occurrence(each, answer, showing))
    counts = dict(found.counts())
    said = ", ".join(f"{n} {name}" for name, n in counts.items() if n)
    symbol = found.symbol
    at = answer.positions.place(symbol.path, symbol.span.start)
    head = (
        f"{symbol.kind} {symbol.qualified} ({at}): {said or 'no occurrence'} in {counted(found.n_files, 'file')}",
    )
    because = () if found.complete else found.incomplete_because or ("no reason was given",)
    facts = {"symbol": {"qualified": symbol.qualified, "kind": symbol.kind, "place": at}, "counts": counts}
    if hidden and counts["unrelated"]:
        facts["hidden"] = {"unrelated": counts["unrelated"]}
    return listed(
        entries, "occurrences", head, because, showing, source=[*finder(showing), "tree-sitter"], facts=facts
    )


def _occurrence(each: Occurrence, answer: ReferencesAnswer, showing: Showing) -> Entry:
    at = answer.positions.user(each.path, each.span.start)
    text = f"{at.line}:{at.column}: {each.evidence.value} {each.role}: {each.reason}"
    data: dict[str, object] = {
        "line": at.line,
        "column": at.column,
        "class": each.evidence.value,
        "role": each.role,
        "reason": each.reason,
    }
    if answer.why:
        steps = [_step(step.says, step.path, step.span, showing) for step in each.steps]
        data["why"] = steps
        text = "\n  ".join([text, *(f"    {number}. {step}" for number, step in enumerate(steps, 1))])
    return Entry(text, data, each.path)


def _step(says: str, path: str | None, span: Any, showing: Showing) -> str:  # Span or None
    if path is None:
        return says
    return (
        f"{says} ({path})"
        if span is None
        else f"{says} ({showing.context.positions.place(path, span.start)})"
    )


def listed(
    entries: Sequence[Entry],
    member: str,
    head: tuple[str, ...],
    because: Sequence[str],
    showing: Showing,
    *,
    source: Sequence[str],
    total: int | None = None,
    facts: Mapping[str, object] | None = None,
) -> Body:
    """A list of places, with what is said of every such list."""
    if total is not None and total > len(entries):
        because = [
            *because,
            f"only the first {len(entries)} of {total} are listed; narrow it to see the others",
        ]
    said = f"{'not complete: ' + '; '.join(because[:5]) if because else 'complete'} ({', '.join(source)})"
    more = {"incomplete_because": list(because[:20])} if because else {}
    return Body(
        (*head, said),
        tuple(entries),
        member,
        facts={
            **(facts or {}),
            "total": len(entries) if total is None else total,
            "complete": not because,
            **more,
        }
        | {"source": list(source)},
        groups=_digests({entry.group for entry in entries}, showing) or {"": {}},
        total=total,
    )


def _digests(paths: Iterable[str], showing: Showing) -> dict[str, dict[str, object]]:
    known = showing.context.snapshot.digests
    return {path: {"digest": known[path]} if path in known else {} for path in paths}


def finder(showing: Showing) -> list[str]:
    """Who searched."""
    return ["ripgrep" if showing.context.snapshot.rg.executable is not None else "python (slow: no ripgrep)"]


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
