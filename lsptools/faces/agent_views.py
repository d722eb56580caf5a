"""Answers of tools as an agent is shown them, by the name of the declared tool: texts, changes, verdicts; the rest is beside.

Places that were found are in `agent_view_places.py`, calls and hierarchies in `agent_view_calls.py`. An answer that is empty says
why, and what comes nearest (`agent_empty.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lsptools.faces import agent_view_calls as calls
from lsptools.faces import agent_view_places as places
from lsptools.faces.agent_pages import Body, Entry, json_size, middle_cut, shortened, text_entries
from lsptools.faces.agent_view_places import Showing, counted, finder
from lsptools.tools.base import Answer

if TYPE_CHECKING:
    from lsptools.languages.names import References
    from lsptools.tools.changes import ChangeAnswer
    from lsptools.tools.history import HistoryAnswer
    from lsptools.tools.move import MoveAnswer
    from lsptools.tools.read import PictureAnswer, ReadAnswer
    from lsptools.tools.references import ReferencesAnswer
    from lsptools.tools.rename import RenameAnswer
    from lsptools.tools.run import RunAnswer
    from lsptools.tools.undo import UndoAnswer
    from lsptools.tools.verify import VerifyAnswer
    from lsptools.verify.ladder import Report
    from lsptools.verify.verdict import Problem, Verdict


def body_of(tool: str, answer: Answer, showing: Showing) -> Body:
    """The answer of a declared tool."""
    return _VIEWS[tool](answer, showing)


def _references(answer: ReferencesAnswer, showing: Showing) -> Body:
    if answer.calls is not None:
        return calls.bound_calls(answer.calls, showing)
    return places.references(answer, showing)


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
    kept, room = 0, showing.room - 1_000 - json_size(facts)
    for row in rows:
        room -= json_size(row) + 1  # as `page_of` counts, so that it does not cut once more
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
        f"[{reading.target.name}, {counted(reading.n_lines, 'line')}, digest {reading.document.digest}]"
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
        file["changed"] = file.pop("changed", [])[:50]
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
    plan = answer.plan
    what = f"{plan.symbol.kind} `{plan.symbol.name}` to `{answer.new_name}`"
    moves = [{"old": move.old, "new": move.new} for move in plan.change.moves]
    return _refactored(answer, ("renamed", "would rename"), what, moves, showing)


def _move(answer: MoveAnswer, showing: Showing) -> Body:
    plan = answer.plan
    what = f"{plan.symbol.kind} `{plan.symbol.name}` to {plan.module}"
    return _refactored(answer, ("moved", "would move"), what, [], showing)


def _refactored(
    answer: RenameAnswer | MoveAnswer,
    verbs: tuple[str, str],
    what: str,
    moves: list[dict[str, str]],
    showing: Showing,
) -> Body:
    """What became of a symbol everywhere, or would."""
    plan, positions, references = answer.plan, answer.positions, answer.plan.references
    n_edits = sum(len(file.edits) for file in plan.change.edits)
    head = [
        f"{verbs[0] if answer.applied else verbs[1]} {what}: {counted(n_edits, 'edit')} in {counted(len(plan.change.edits), 'file')}",
        *(f"moved: {move['old']} -> {move['new']}" for move in moves),
        *(f"{'proof' if line.ok else 'not proved'}: {line.says}" for line in plan.proof),
        *(f"note: {note}" for note in answer.notes),
        *([] if references.complete else [f"not complete: {'; '.join(references.incomplete_because[:5])}"]),
    ]
    files = [
        {
            "path": file.path,
            "lines": sorted({positions.user(file.path, edit.span.start).line for edit in file.edits}),
        }
        for file in plan.change.edits
    ]
    facts: dict[str, object] = {
        "applied": answer.applied is not None,
        "undo": answer.undo_id,
        "plan": showing.plan,
        "edits": n_edits,
        "files": files,
        "moves": moves or None,
        "proved": all(line.ok for line in plan.proof),
        "notes": list(answer.notes) or None,
        **_completeness(references),
        "verification": _report_json(answer.report),
        "source": [*finder(showing), "tree-sitter"],
    }
    end = list(_verified(answer.report, answer.is_held_back))
    if showing.plan:
        end.append(_plan_line(showing.plan))
        diff = text_entries(answer.diff or "")
        return Body(tuple(head), diff, "diff", is_text=True, end=tuple(end), facts=facts)
    if answer.undo_id:
        end.append(f"undo id: {answer.undo_id}")
    left = []
    for each in answer.left_alone:
        place = positions.place(each.path, each.span.start)
        data = {"place": place, "class": each.evidence.value, "role": each.role, "reason": each.reason}
        left.append(Entry(f"left alone: {place}: {each.evidence.value} {each.role}: {each.reason}", data))
    return Body(tuple(head), tuple(left), "left_alone", end=tuple(end), facts=facts)


def _completeness(references: References) -> dict[str, object]:
    return {
        "complete": references.complete,
        "incomplete_because": list(references.incomplete_because) or None,
    }


# Checking and the rest


def _verify(answer: VerifyAnswer, showing: Showing) -> Body:
    report = answer.report
    head = (f"{report.what}: {report.standing.value}",)
    entries = tuple(Entry("\n".join(_lines(each)), _verdict_json(each)) for each in report.verdicts)
    facts = {"verified": report.what, "standing": report.standing.value}
    return Body(head, entries, "verdicts", facts=facts)


def _report_json(report: Report | None) -> dict[str, object] | None:
    if report is None:
        return None
    verdicts = [_verdict_json(verdict) for verdict in report.verdicts]
    return {"verified": report.what, "standing": report.standing.value, "verdicts": verdicts}


def _verdict_json(verdict: Verdict) -> dict[str, object]:
    found = {
        "rung": verdict.rung,
        "standing": verdict.standing.value,
        "says": verdict.says,
        "proves_not": verdict.proves_not,
        "problems": [_problem_json(problem) for problem in verdict.problems[:20]],
        "n_problems": len(verdict.problems),
    }
    return {name: value for name, value in found.items() if value}


def _problem_json(problem: Problem) -> dict[str, object]:
    place = {"path": problem.path, "line": problem.line, "column": problem.column}
    found = {**place, "code": problem.code, "message": shortened(problem.message)}
    return {name: value for name, value in found.items() if value}


def _lines(verdict: Verdict) -> list[str]:
    lines = [f"{verdict.rung}: {verdict.standing.value}: {verdict.says}"]
    if verdict.standing.value == "passed" and verdict.proves_not:
        lines.append(f"  does not prove {verdict.proves_not}")
    lines += [f"  {shortened(str(problem))}" for problem in verdict.problems[:20]]
    if len(verdict.problems) > 20:
        lines.append(f"  … and {len(verdict.problems) - 20} more")
    if verdict.command and verdict.standing.value in ("failed", "could not run"):
        lines.append(shortened(f"  $ {' '.join(verdict.command)}", 200))
    return lines


def _verified(report: Report | None, is_held_back: bool) -> Iterator[str]:
    if report is not None:
        yield f"verification: {report.standing.value}"
        for verdict in report.verdicts:
            yield from _lines(verdict)
    if is_held_back:
        yield "not written: the workspace is as it was; keep=true writes it all the same"


def _undo(answer: UndoAnswer, showing: Showing) -> Body:
    applied = answer.applied
    lines = [
        *(f"restored: {file.path}" for file in applied.files),
        *(f"moved: {move.old} -> {move.new}" for move in answer.moves),
        *(f"note: {note}" for note in applied.notes),
        f'to redo it: undo(id="{applied.undo_id}")',
    ]
    return Body(
        tuple(lines), facts={name: None if value == [] else value for name, value in answer.to_json().items()}
    )


def _history(answer: HistoryAnswer, showing: Showing) -> Body:
    entries = [
        Entry(
            f"{entry.id}: {entry.label}, {counted(len(entry.files), 'file')}{' (undone)' if entry.undone else ''}",
            {"id": entry.id, "label": entry.label, "files": list(entry.files[:20]), "undone": entry.undone},
        )
        for entry in answer.entries
    ]
    facts = {"total": len(entries)}
    notes = tuple(f"note: {note}" for note in answer.notes)
    head = notes if entries else (*notes, "nothing was changed in this workspace yet")
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
    "search": places.search,
    "symbols": places.symbols,
    "outline": places.outline,
    "def": places.definition,
    "callers": calls.callers,
    "callees": calls.callees,
    "implementations": calls.implementations,
    "hierarchy": calls.hierarchy,
    "refs": _references,
    "rename": _rename,
    "move": _move,
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
