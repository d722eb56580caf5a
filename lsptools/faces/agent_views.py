"""Answers of tools as an agent is shown them: compact lines grouped by file, and the same as structure.

Every answer about code says whether it is complete or why not, what it was found with, and by digest which content of each
file it speaks of. One that is empty says why, and what comes nearest (`agent_empty.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lsptools.faces.agent_pages import Body, Entry, middle_cut, shortened, text_entries
from lsptools.languages.names import Evidence, Occurrence
from lsptools.tools.base import Answer, Context

if TYPE_CHECKING:
    from lsptools.tools.changes import ChangeAnswer
    from lsptools.tools.definition import DefinitionAnswer
    from lsptools.tools.history import HistoryAnswer
    from lsptools.tools.outline import OutlineAnswer
    from lsptools.tools.read import PictureAnswer, ReadAnswer
    from lsptools.tools.references import ReferencesAnswer
    from lsptools.tools.rename import RenameAnswer
    from lsptools.tools.run import RunAnswer
    from lsptools.tools.search import SearchAnswer
    from lsptools.tools.symbols import SymbolsAnswer
    from lsptools.tools.undo import UndoAnswer
    from lsptools.tools.verify import VerifyAnswer
    from lsptools.verify.ladder import Report


@dataclass(frozen=True, slots=True)
class Showing:
    """What an answer is shown with."""

    context: Context
    room: int
    """Characters, for texts that are cut rather than paged."""
    plan: str | None = None
    """The id of the plan that a preview has made."""


def body_of(tool: str, answer: Answer, showing: Showing) -> Body:
    """The answer of a declared tool."""
    return _VIEWS[tool](answer, showing)


# Finding


def _search(answer: SearchAnswer, showing: Showing) -> Body:
    entries = []
    for match in answer.matches.matches:
        lines = answer.positions.lines(match.path)
        at = lines.user_from_offset(match.span.start)
        line = shortened(lines.line_text(at.line - 1))
        data: dict[str, object] = {"line": at.line, "column": at.column, "text": line}
        shown = f"{at.line}:{at.column}: {line}"
        if answer.context:
            data["around"] = around = _around(answer, match.path, at.line)
            shown = "\n  ".join([shown, *(f"  {each}" for each in around)])
        if match.captures:
            captures = {
                each.name: shortened(lines.text[each.span.start : each.span.end].split("\n")[0])
                for each in match.captures
            }
            data["captures"] = captures
            shown += "".join(f"  @{name}={text}" for name, text in captures.items())
        entries.append(Entry(shown, data, match.path))
    found = answer.matches
    head = (f"{_counted(found.n_matches, 'match', 'matches')} in {_counted(found.n_files, 'file')}",)
    return _listed(
        entries,
        "matches",
        head,
        answer.incomplete_because,
        showing,
        total=found.n_matches,
        source=_finder(showing),
    )


def _around(answer: SearchAnswer, path: str, line: int) -> list[str]:
    lines = answer.positions.lines(path)
    last = lines.n_lines if lines.line_text(lines.n_lines - 1) else lines.n_lines - 1
    numbers = range(max(1, line - answer.context), min(last, line + answer.context) + 1)
    return [f"{number}│{shortened(lines.line_text(number - 1))}" for number in numbers]


def _symbols(answer: SymbolsAnswer, showing: Showing) -> Body:
    entries = []
    for each in answer.listed:
        at = answer.positions.user(each.path, each.item.name_span.start)
        data = {"line": at.line, "column": at.column, "kind": each.item.kind, "name": each.qualified}
        signature = shortened(each.item.signature)
        entries.append(
            Entry(
                f"{at.line}:{at.column}: {each.qualified}: {signature}",
                {**data, "signature": signature},
                each.path,
            )
        )
    head = (_counted(answer.total, "definition"),)
    source = [*_finder(showing), "tree-sitter"]
    return _listed(
        entries, "symbols", head, answer.incomplete_because, showing, total=answer.total, source=source
    )


def _outline(answer: OutlineAnswer, showing: Showing) -> Body:
    lines = answer.positions.lines(answer.path)

    def entries(items: Iterable[Any], inside: str, depth: int) -> Iterator[Entry]:  # Item, nested
        for item in items:
            qualified = f"{inside}.{item.name}" if inside else item.name
            at = lines.user_from_offset(item.name_span.start)
            last = lines.line_of(item.span.end) + 1
            signature = shortened(item.signature)
            data = {
                "line": at.line,
                "last_line": last,
                "kind": item.kind,
                "name": qualified,
                "signature": signature,
            }
            yield Entry(f"{at.line}-{last}: {'  ' * depth}{signature}", data)
            yield from entries(item.children, qualified, depth + 1)

    found = tuple(entries(answer.items, "", 0))
    digest = showing.context.snapshot.document(answer.path).digest
    facts = {"path": answer.path, "digest": digest, "complete": True, "source": ["tree-sitter"]}
    if not found:
        facts["reason"] = "the file defines no class, function or variable"
    head = (f"{answer.path}: {_counted(len(found), 'definition')} (tree-sitter)",)
    return Body(head, found, "items", facts=facts)


def _definition(answer: DefinitionAnswer, showing: Showing) -> Body:
    entries = []
    for symbol in answer.symbols:
        at = answer.positions.user(symbol.path, symbol.span.start)
        data = {"line": at.line, "column": at.column, "kind": symbol.kind, "name": symbol.qualified}
        entries.append(Entry(f"{at.line}:{at.column}: {symbol.kind} {symbol.qualified}", data, symbol.path))
    return _listed(entries, "definitions", (), (), showing, source=["tree-sitter"])


def _references(answer: ReferencesAnswer, showing: Showing) -> Body:
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
        f"{symbol.kind} {symbol.qualified} ({at}): {said or 'no occurrence'} in {_counted(found.n_files, 'file')}",
    )
    because = () if found.complete else found.incomplete_because or ("no reason was given",)
    facts = {"symbol": {"name": symbol.qualified, "kind": symbol.kind, "place": at}, "counts": counts}
    if hidden and counts["unrelated"]:
        facts["hidden"] = {"unrelated": counts["unrelated"]}
    return _listed(
        entries, "occurrences", head, because, showing, source=[*_finder(showing), "tree-sitter"], facts=facts
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


def _listed(
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


def _finder(showing: Showing) -> list[str]:
    return ["ripgrep" if showing.context.snapshot.rg.executable is not None else "python (slow: no ripgrep)"]


# Reading and changing


def _read(answer: ReadAnswer | PictureAnswer, showing: Showing) -> Body:
    from lsptools.tools.read import PictureAnswer

    facts = {
        name: value for name, value in answer.to_json().items() if name not in ("output", "image") and value
    }
    if isinstance(answer, PictureAnswer):
        return Body((answer.output.rstrip("\n"),), facts=facts)
    reading = answer.reading
    rows = reading.shown.split("\n") if reading.shown else []
    kept, room = 0, showing.room - 400
    for row in rows:
        room -= len(row) + 1 + row.count('"') + row.count("\\")
        if room < 0 and kept:
            break
        kept += 1
    go_on = reading.go_on
    if kept < len(rows):
        last = reading.first_line + kept - 1
        go_on = f"lines up to {last} of {reading.n_lines} are shown; go on with offset={last + 1}"
        facts |= {"last_line": last, "truncated": True}
    if facts.get("truncated") or go_on:
        facts |= {"truncated": True, "total": reading.n_lines}
    facts["go_on"] = go_on or None
    end = [f"[{go_on}]"] if go_on else [] if reading.n_lines else ["[the file is empty]"]
    end.append(
        f"[{reading.target.name}, {_counted(reading.n_lines, 'line')}, digest {reading.document.digest}]"
    )
    shown = tuple(Entry(row, row) for row in rows[:kept])
    return Body((), shown, "text", is_text=True, end=tuple(end), facts=facts)


def _change(answer: ChangeAnswer, showing: Showing) -> Body:
    from lsptools.tools.changes import headline

    found = answer.to_json()
    files = [
        {name: value for name, value in file.items() if value not in (None, 0, "") and name != "encoding"}
        for file in found["files"]  # type: ignore[attr-defined]  # a list, as docs/json.md says
    ]
    for file in files:
        file["changed"] = [
            f"{each['first_line']}-{each['last_line']}" for each in file.pop("changed", [])[:50]
        ]
    facts: dict[str, object] = {
        "applied": answer.applied is not None,
        "undo": answer.undo_id,
        "plan": showing.plan,
    }
    facts |= {"notes": list(answer.notes) or None, "verification": _report_json(answer.report)}
    end = [*(f"note: {note}" for note in answer.notes), *_verified(answer.report, answer.is_held_back)]
    if showing.plan:
        head = tuple(headline(file, is_preview=True) for file in answer.plan.files[:50])
        shown = [
            {"path": file["path"], "action": file["action"], "digest_before": file.get("digest_before")}
            for file in files
        ]
        return Body(
            head,
            text_entries(answer.diff),
            "diff",
            is_text=True,
            end=(*end, _plan_line(showing.plan)),
            facts={**facts, "files": shown},
        )
    if answer.undo_id:
        end.append(f"undo id: {answer.undo_id}")
    summary = replace(
        answer, report=None, warnings=(), plan=replace(answer.plan, notes=()), applied=None
    ).output
    return Body((summary.rstrip("\n"),), end=tuple(end), facts={**facts, "files": files})


def _plan_line(plan: str) -> str:
    return f'nothing is written yet; apply(plan="{plan}") does exactly this'


def _rename(answer: RenameAnswer, showing: Showing) -> Body:
    plan, positions = answer.plan, answer.positions
    n_edits = sum(len(file.edits) for file in plan.change.edits)
    done = "renamed" if answer.applied else "would rename"
    head = [
        f"{done} {plan.symbol.kind} `{plan.symbol.name}` to `{answer.new_name}`: "
        f"{_counted(n_edits, 'edit')} in {_counted(len(plan.change.edits), 'file')}",
        *(f"moved: {move.old} -> {move.new}" for move in plan.change.moves),
        *(f"{'proof' if line.ok else 'not proved'}: {line.says}" for line in plan.proof),
        *(f"note: {note}" for note in answer.notes),
    ]
    references = plan.references
    facts: dict[str, object] = {
        "applied": answer.applied is not None,
        "undo": answer.undo_id,
        "plan": showing.plan,
        "edits": n_edits,
        "files": [
            {
                "path": file.path,
                "lines": sorted({positions.user(file.path, edit.span.start).line for edit in file.edits}),
            }
            for file in plan.change.edits
        ],
        "moves": [{"old": move.old, "new": move.new} for move in plan.change.moves] or None,
        "proved": all(line.ok for line in plan.proof),
        "notes": list(answer.notes) or None,
        "complete": references.complete,
        "incomplete_because": list(references.incomplete_because) or None,
        "verification": _report_json(answer.report),
        "source": [*_finder(showing), "tree-sitter"],
    }
    if not references.complete:
        head.append(f"not complete: {'; '.join(references.incomplete_because[:5])}")
    end = list(_verified(answer.report, answer.is_held_back))
    if showing.plan:
        end.append(_plan_line(showing.plan))
        return Body(
            tuple(head), text_entries(answer.diff or ""), "diff", is_text=True, end=tuple(end), facts=facts
        )
    if answer.undo_id:
        end.append(f"undo id: {answer.undo_id}")
    left = []
    for each in answer.left_alone:
        place = positions.place(each.path, each.span.start)
        data = {"place": place, "class": each.evidence.value, "role": each.role, "reason": each.reason}
        left.append(Entry(f"left alone: {place}: {each.evidence.value} {each.role}: {each.reason}", data))
    return Body(tuple(head), tuple(left), "left_alone", end=tuple(end), facts=facts)


# Checking and the rest


def _verify(answer: VerifyAnswer, showing: Showing) -> Body:
    report = answer.report
    found = _report_json(report) or {}
    head = (f"{report.what}: {report.standing.value}",)
    return Body(head, tuple(_verdicts(report)), "lines", is_text=True, facts=found)


def _report_json(report: Report | None) -> dict[str, object] | None:
    if report is None:
        return None
    verdicts = [
        {
            "rung": verdict.rung,
            "standing": verdict.standing.value,
            "says": verdict.says,
            "proves_not": verdict.proves_not or None,
            "problems": [str(problem) for problem in verdict.problems[:20]],
            "n_problems": len(verdict.problems),
        }
        for verdict in report.verdicts
    ]
    kept = [{name: value for name, value in each.items() if value} for each in verdicts]
    return {"verified": report.what, "standing": report.standing.value, "verdicts": kept}


def _verdicts(report: Report) -> Iterator[Entry]:
    for verdict in report.verdicts:
        lines = [f"{verdict.rung}: {verdict.standing.value}: {verdict.says}"]
        if verdict.standing.value == "passed" and verdict.proves_not:
            lines.append(f"  does not prove {verdict.proves_not}")
        lines += [f"  {shortened(str(problem))}" for problem in verdict.problems[:20]]
        if len(verdict.problems) > 20:
            lines.append(f"  … and {len(verdict.problems) - 20} more")
        if verdict.command and verdict.standing.value in ("failed", "could not run"):
            lines.append(shortened(f"  $ {' '.join(verdict.command)}", 200))
        yield from (Entry(line, line) for line in lines)


def _verified(report: Report | None, is_held_back: bool) -> Iterator[str]:
    if report is not None:
        yield f"verification: {report.standing.value}"
        yield from (entry.text for entry in _verdicts(report))
    if is_held_back:
        yield "not written: the workspace is as it was; keep=true writes it all the same"


def _undo(answer: UndoAnswer, showing: Showing) -> Body:
    applied = answer.applied
    lines = [
        *(f"restored: {file.path}" for file in applied.files),
        *(f"moved: {move.old} -> {move.new}" for move in applied.moves),
        *(f"note: {note}" for note in applied.notes),
        f'to redo it: undo(id="{applied.undo_id}")',
    ]
    return Body(tuple(lines), facts=answer.to_json())


def _history(answer: HistoryAnswer, showing: Showing) -> Body:
    entries = [
        Entry(
            f"{entry.id}: {entry.label}, {_counted(len(entry.files), 'file')}{' (undone)' if entry.undone else ''}",
            {"id": entry.id, "label": entry.label, "files": list(entry.files[:20]), "undone": entry.undone},
        )
        for entry in answer.entries
    ]
    facts = {"total": len(entries)}
    head = () if entries else ("nothing was changed in this workspace yet",)
    return Body(head, tuple(entries), "entries", facts=facts)


def _run(answer: RunAnswer, showing: Showing) -> Body:
    found = answer.to_json()
    text = middle_cut(answer.output, showing.room - 800)
    kept = ("ending", "exit_code", "signal", "seconds", "output_file", "folder", "notes")
    facts: dict[str, object] = {name: found[name] for name in kept if found[name] not in (None, [], "")}
    facts |= {
        "truncated": True if found["truncated"] or text != answer.output else None,
        "total": found["bytes"],
    }
    facts["background"] = found["background"] or None
    head = () if text else ("it wrote nothing; exit code 0",)
    return Body(head, text_entries(text), "text", is_text=True, facts=facts)


_VIEWS: dict[str, Callable[[Any, Showing], Body]] = {  # each takes the answer of its own tool
    "search": _search,
    "symbols": _symbols,
    "outline": _outline,
    "def": _definition,
    "refs": _references,
    "rename": _rename,
    "read": _read,
    "edit": _change,
    "edit-lines": _change,
    "edit-symbol": _change,
    "write": _change,
    "candidate": _change,
    "patch": _change,
    "apply-edit": _change,
    "verify": _verify,
    "undo": _undo,
    "history": _history,
    "run": _run,
}


def _counted(number: int, noun: str, plural: str = "") -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
