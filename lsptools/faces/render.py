"""Answers and errors as text for people: places that can be pasted into the next call, diffs, refusals.

Every place is `path:line:col`, 1-based, in code points, with the path as the caller spells paths. Control characters of
the workspace are shown as escapes, so that a file cannot speak to the terminal; only a diff that goes to a file or pipe
is left as it is, because `patch` shall understand it. Colour is plain ANSI.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lsptools.errors import BadRequest, Conflict, InternalError, Refused, Site, Stale, ToolError
from lsptools.languages.names import Evidence, Occurrence, References, Step
from lsptools.text.lines import Offset

if TYPE_CHECKING:
    from lsptools.refactor.proof import ProofLine
    from lsptools.syntax.outline import Item
    from lsptools.tools.base import Answer, Positions
    from lsptools.tools.changes import ChangeAnswer
    from lsptools.tools.definition import DefinitionAnswer
    from lsptools.tools.history import HistoryAnswer
    from lsptools.tools.move import MoveAnswer
    from lsptools.tools.outline import OutlineAnswer
    from lsptools.tools.read import PictureAnswer, ReadAnswer
    from lsptools.tools.recover import RecoverAnswer
    from lsptools.tools.refactoring import RefactoringAnswer
    from lsptools.tools.references import ReferencesAnswer
    from lsptools.tools.rename import RenameAnswer
    from lsptools.tools.run import RunAnswer
    from lsptools.tools.search import SearchAnswer
    from lsptools.tools.symbols import SymbolsAnswer
    from lsptools.tools.undo import UndoAnswer
    from lsptools.tools.verify import VerifyAnswer
    from lsptools.verify.ladder import Report

MOST_DIFF = 20_000
"""Characters of a diff that are shown after a change was made; `--diff` shows all of it."""
MOST_PROBLEMS = 20
"""How many problems of a rung are listed; `--json` lists all."""
MOST_LEFT_ALONE = 20
"""How many places that kept the old name a rename lists; `refs` lists all."""


@dataclass(frozen=True, slots=True)
class Look:
    """How text is to look."""

    shown: Callable[[str], str] = str
    """The spelling of a path."""
    colour: bool = False
    terminal: bool = False

    def paint(self, colour: str, text: str) -> str:
        """`text` in a colour of `_ANSI`, or as it is."""
        return f"\x1b[{_ANSI[colour]}m{text}\x1b[0m" if self.colour else text


_ANSI = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}
CLASS_COLOUR = {
    Evidence.CERTAIN: "green",
    Evidence.LIKELY: "cyan",
    Evidence.POSSIBLE: "yellow",
    Evidence.MENTION: "blue",
    Evidence.UNRELATED: "dim",
}


def answer_text(tool: str, answer: Answer, look: Look) -> str:
    """An answer of `tool`, with a line end; nothing for an answer that says nothing."""
    lines = list(_RENDERERS[tool](answer, look))
    return "\n".join(lines) + "\n" if lines else ""


def error_text(error: ToolError, look: Look) -> str:
    """An error or refusal: its kind or sentence, every conflict with its places, and the hint."""
    conflicts = error.conflicts if isinstance(error, Refused) else ()
    told = {site for conflict in conflicts for site in conflict.sites}
    lines = [*_headline(error, look), *(_site(site, look) for site in error.sites if site not in told)]
    for conflict in conflicts:
        lines += _conflict(conflict, look)
    if error.hint:
        lines.append(f"{look.paint('cyan', 'hint')}: {visible(error.hint)}")
    return "\n".join(lines) + "\n"


# Errors


def _headline(error: ToolError, look: Look) -> Iterator[str]:
    if not isinstance(error, Refused):
        yield f"{look.paint('red', _word_for(error))}: {_lines(error.message)}"
        return
    kinds = dict.fromkeys([error.kind, *(conflict.kind for conflict in error.conflicts)])
    yield f"{look.paint('red', 'refused')}: {', '.join(kinds)}"
    if not error.conflicts:
        yield _lines(error.message)


def _word_for(error: ToolError) -> str:
    if isinstance(error, BadRequest):
        return "error"
    if isinstance(error, InternalError):
        return "internal error"
    return "stale" if isinstance(error, Stale) else error.kind


def _conflict(conflict: Conflict, look: Look) -> Iterator[str]:
    if not conflict.sites:
        yield visible(conflict.message)
    for number, site in enumerate(conflict.sites):
        yield _site(site, look, indent="  " if number else "")


def _site(site: Site, look: Look, indent: str = "") -> str:
    place = look.paint("bold", f"{visible(look.shown(site.path))}:{site.line}:{site.column}")
    return f"{place}: {indent}{visible(site.says)}"


# Finding


def _search(answer: SearchAnswer, look: Look) -> Iterator[str]:
    places = Places(answer.positions, look)
    for number, match in enumerate(answer.matches.matches):
        lines = answer.positions.lines(match.path)
        at = lines.line_of(match.span.start)
        last = lines.n_lines if lines.line_text(lines.n_lines - 1) else lines.n_lines - 1
        before = range(max(0, at - answer.context), at)
        after = range(at + 1, min(last, at + 1 + answer.context))
        if answer.context and number:
            yield "--"
        yield from (
            f"{places.path(match.path)}-{line + 1}- {visible(lines.line_text(line))}" for line in before
        )
        yield f"{places.at(match.path, match.span.start)}: {visible(lines.line_text(at))}"
        for capture in match.captures:
            text = _first_line(lines.text[capture.span.start : capture.span.end])
            name = look.paint("cyan", f"@{capture.name}")
            yield f"  {places.at(match.path, capture.span.start)}: {name} {text}"
        yield from (
            f"{places.path(match.path)}-{line + 1}- {visible(lines.line_text(line))}" for line in after
        )
    yield from not_all(answer.matches.n_matches, len(answer.matches.matches), look)
    yield from not_complete(answer.incomplete_because, look)


def _outline(answer: OutlineAnswer, look: Look) -> Iterator[str]:
    places = Places(answer.positions, look)

    def lines(items: Iterable[Item], depth: int) -> Iterator[str]:
        for item in items:
            yield f"{places.at(answer.path, item.name_span.start)}: {'  ' * depth}{visible(item.signature)}"
            yield from lines(item.children, depth + 1)

    return lines(answer.items, 0)


def _symbols(answer: SymbolsAnswer, look: Look) -> Iterator[str]:
    places = Places(answer.positions, look)
    for each in answer.listed:
        yield f"{places.at(each.path, each.item.name_span.start)}: {each.item.kind} {visible(each.qualified)}"
    yield from not_all(answer.total, len(answer.listed), look)
    yield from not_complete(answer.incomplete_because, look)


def _definition(answer: DefinitionAnswer, look: Look) -> Iterator[str]:
    places = Places(answer.positions, look)
    for symbol in answer.symbols:
        yield f"{places.at(symbol.path, symbol.span.start)}: {symbol.kind} {symbol.qualified}"


def _references(answer: ReferencesAnswer, look: Look) -> Iterator[str]:
    if answer.calls is not None:
        from lsptools.faces.render_calls import bound_calls

        yield from bound_calls(answer.calls, answer.positions, look)
        return
    places = Places(answer.positions, look)
    hidden = () if answer.selected else (Evidence.UNRELATED,)
    words = {evidence: look.paint(CLASS_COLOUR[evidence], evidence.value) for evidence in Evidence}
    for each in answer.listed:
        if each.evidence not in hidden:
            yield f"{places.at(each.path, each.span.start)}: {words[each.evidence]} {each.role}: {visible(each.reason)}"
            if answer.why:
                yield from _derivation(each, places)
    yield from _account(answer.references, look)


def _derivation(occurrence: Occurrence, places: Places) -> Iterator[str]:
    for number, step in enumerate(occurrence.steps, 1):
        yield f"    {number}. {_step(step, places)}"


def _step(step: Step, places: Places) -> str:
    if step.path is None:
        return visible(step.says)
    if step.span is None:
        return f"{visible(step.says)} ({places.path(step.path)})"
    return f"{visible(step.says)} ({places.at(step.path, step.span.start)})"


def _account(references: References, look: Look) -> Iterator[str]:
    """What was found, in numbers, and whether that is all."""
    counts = ", ".join(f"{n} {name}" for name, n in references.counts().items())
    symbol = references.symbol
    yield f"{look.paint('bold', f'{symbol.kind} {symbol.qualified}')}: {counts} in {counted(references.n_files, 'file')}"
    if references.complete:
        yield look.paint("green", "complete")
    else:
        yield from not_complete(references.incomplete_because or ("no reason was given",), look)


# Changing


def _rename(answer: RenameAnswer, look: Look) -> Iterator[str]:
    plan = answer.plan
    done = "renamed" if answer.applied else "would rename"
    what = f"{done} {plan.symbol.kind} `{plan.symbol.name}` to `{answer.new_name}`"
    left = left_alone(answer.left_alone, Places(answer.positions, look), look)
    yield from refactored(answer, what, left, plan.references.incomplete_because, look)


def _move(answer: MoveAnswer, look: Look) -> Iterator[str]:
    plan = answer.plan
    done = "moved" if answer.applied else "would move"
    what = f"{done} {plan.symbol.kind} `{plan.symbol.name}` to {look.shown(plan.module)}"
    left = left_alone(answer.left_alone, Places(answer.positions, look), look)
    yield from refactored(answer, what, left, plan.references.incomplete_because, look)


def refactored(
    answer: RefactoringAnswer, what: str, left: Iterable[str], incomplete_because: tuple[str, ...], look: Look
) -> Iterator[str]:
    """What a refactoring did, in a phrase, with its proof and what it left; the diff alone, where that was asked for."""
    if answer.diff is not None:
        yield from diff_lines(answer.diff, look)
        return
    change = answer.plan.change
    n_edits = sum(len(file.edits) for file in change.edits)
    yield f"{look.paint('bold', visible(what))}: {counted(n_edits, 'edit')} in {counted(len(change.edits), 'file')}"
    yield from (f"moved: {look.shown(move.old)} -> {look.shown(move.new)}" for move in change.moves)
    yield from proved(answer.plan.proof, look)
    yield from (f"note: {visible(note)}" for note in answer.notes)
    yield from left
    yield from not_complete(incomplete_because, look)
    yield from verification_lines(answer.report, answer.is_held_back, look)
    if answer.undo_id:
        yield f"undo: lsptools undo {answer.undo_id}"


def proved(proof: Iterable[ProofLine], look: Look) -> Iterator[str]:
    for line in proof:
        word = look.paint("green", "proof") if line.ok else look.paint("red", "not proved")
        yield f"{word}: {visible(line.says)}"


def left_alone(occurrences: Sequence[Occurrence], places: Places, look: Look) -> Iterator[str]:
    """What is left as it is, and may have to be edited still."""
    for each in occurrences[:MOST_LEFT_ALONE]:
        word = look.paint(CLASS_COLOUR[each.evidence], each.evidence.value)
        yield f"{places.at(each.path, each.span.start)}: left alone, {word} {each.role}: {visible(each.reason)}"
    if len(occurrences) > MOST_LEFT_ALONE:
        yield f"… and {len(occurrences) - MOST_LEFT_ALONE} more left alone (--json lists all)"


def _change(answer: ChangeAnswer, look: Look) -> Iterator[str]:
    """What was done to each file, and the diff; the diff alone, where that was asked for."""
    if answer.is_diff_wanted:
        yield from diff_lines(answer.diff, look)
        return
    from lsptools.tools.changes import headline

    for file in answer.plan.files:
        yield look.paint("bold", visible(headline(file, is_preview=answer.is_preview)))
    diff = answer.diff
    if len(diff) <= MOST_DIFF:
        yield from diff_lines(diff, look)
    yield from (f"note: {visible(note)}" for note in answer.notes)
    yield from verification_lines(answer.report, answer.is_held_back, look)
    if answer.undo_id:
        yield f"undo: lsptools undo {answer.undo_id}"


def verification_lines(report: Report | None, is_held_back: bool, look: Look) -> Iterator[str]:
    """What was checked of a change before it was written, or was not."""
    if report is not None:
        yield f"verification: {report.standing.value}"
        yield from _verdicts(report, look)
    if is_held_back:
        yield f"{look.paint('red', 'not written')}: the workspace is as it was; --keep writes it all the same"


def _read(answer: ReadAnswer | PictureAnswer, look: Look) -> Iterator[str]:
    """The numbered lines, and under them what the file is."""
    from lsptools.tools.read import PictureAnswer

    if isinstance(answer, PictureAnswer):
        yield answer.picture.described
        return
    reading, facts = answer.reading, answer.to_json()
    shown = reading.shown
    if look.terminal:
        shown = _CONTROL_BUT_LINE_ENDS.sub(_escape, shown)
    if shown:
        yield shown
    if reading.go_on:
        yield look.paint("yellow", f"[{reading.go_on}]")
    lines = (
        f"lines {reading.first_line}-{reading.last_line} of {reading.n_lines}" if reading.n_lines else "empty"
    )
    mixed = ", mixed line ends" if facts["mixed_newlines"] else ""
    mark = ", with byte order mark" if facts["bom"] else ""
    stray = ", with stray bytes" if facts["stray_bytes"] else ""
    newline = f", {facts['newline']}" if facts["newline"] else ""
    what = f"{facts['encoding']}{mark}{stray}{newline}{mixed}"
    yield look.paint(
        "dim", f"{visible(look.shown(reading.target.name))}: {lines}; {what}; digest {facts['digest']}"
    )


def _run(answer: RunAnswer, look: Look) -> Iterator[str]:
    """What the command wrote, if that was not shown while it ran, and how it ended, if not well."""
    shown = answer.ran.shown
    if not answer.is_streamed and shown.text:
        yield shown.text.removesuffix("\n")
    yield from (look.paint("yellow", f"[{visible(note)}]") for note in answer.notes)


def _verify(answer: VerifyAnswer, look: Look) -> Iterator[str]:
    """A table of the rungs; or what other programs read."""
    if answer.format != "table":
        from lsptools.faces.reports import github_lines, sarif_text

        yield from github_lines(answer.report) if answer.format == "github" else [sarif_text(answer.report)]
        return
    yield look.paint("bold", f"{visible(answer.report.what)}: {answer.report.standing.value}")
    yield from _verdicts(answer.report, look)


def _verdicts(report: Report, look: Look) -> Iterator[str]:
    for verdict in report.verdicts:
        word = look.paint(_STANDING_COLOUR[verdict.standing.value], f"{verdict.standing.value:<13}")
        yield f"  {word}  {verdict.rung:<10}  {visible(verdict.says)} ({verdict.seconds:.1f} s)"
        covers = f"looked at: {verdict.covers}" if verdict.covers else ""
        proves = f"does not prove {verdict.proves_not}" if verdict.standing.value == "passed" else ""
        if covers or proves:
            yield look.paint("dim", f"{'':29}{visible('; '.join(filter(None, [covers, proves])))}")
        for problem in verdict.problems[:MOST_PROBLEMS]:
            shown = problem if not problem.path else replace(problem, path=look.shown(problem.path))
            yield f"{'':29}{visible(str(shown))}"
        if len(verdict.problems) > MOST_PROBLEMS:
            yield f"{'':29}… and {len(verdict.problems) - MOST_PROBLEMS} more (--json lists all)"
        if verdict.command and verdict.standing.value in ("failed", "could not run"):
            yield look.paint("dim", f"{'':29}$ {visible(' '.join(verdict.command))[:200]}")


_STANDING_COLOUR = {"passed": "green", "failed": "red", "could not run": "yellow", "not run": "dim"}


def _undo(answer: UndoAnswer, look: Look) -> Iterator[str]:
    yield from (f"restored: {visible(look.shown(file.path))}" for file in answer.applied.files)
    yield from (f"moved: {look.shown(move.old)} -> {look.shown(move.new)}" for move in answer.moves)
    yield from (f"note: {visible(note)}" for note in answer.applied.notes)


def _recover(answer: RecoverAnswer, look: Look) -> Iterator[str]:
    yield from (visible(str(each)) for each in answer.repaired)
    if not answer.repaired:
        yield "nothing was interrupted"


def _history(answer: HistoryAnswer, look: Look) -> Iterator[str]:
    from datetime import datetime

    for entry in answer.entries:
        when = datetime.fromtimestamp(entry.when).astimezone().isoformat(" ", "seconds")
        undone = look.paint("dim", " (undone)") if entry.undone else ""
        yield f"{look.paint('bold', entry.id)}  {when}  {visible(entry.label)}, {counted(len(entry.files), 'file')}{undone}"
    yield from (f"note: {visible(note)}" for note in answer.notes)


def diff_lines(diff: str, look: Look) -> Iterator[str]:
    text = _CONTROL_BUT_LINE_ENDS.sub(_escape, diff) if look.terminal else diff
    lines = text.removesuffix("\n").split("\n") if text else []
    if not look.colour:
        return iter(lines)
    return (_painted_diff_line(line, look) for line in lines)


def _painted_diff_line(line: str, look: Look) -> str:
    if line.startswith(("--- ", "+++ ", "diff ", "rename ")):
        return look.paint("bold", line)
    colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
    return look.paint(colour, line) if colour else line


def _of_calls(name: str) -> Callable[[Any, Look], Iterator[str]]:  # the answer of the tool
    """A renderer of `render_calls`, which builds on what is here and so is imported when it is needed."""

    def render(answer: Any, look: Look) -> Iterator[str]:  # the answer of the tool
        from lsptools.faces import render_calls

        return render_calls.RENDERERS[name](answer, look)

    return render


_RENDERERS: dict[str, Callable[[Any, Look], Iterator[str]]] = {  # each takes the answer of its own tool
    "search": _search,
    "outline": _outline,
    "symbols": _symbols,
    "def": _definition,
    "refs": _references,
    "callers": _of_calls("callers"),
    "callees": _of_calls("callees"),
    "implementations": _of_calls("implementations"),
    "hierarchy": _of_calls("hierarchy"),
    "unused": _of_calls("unused"),
    "rename": _rename,
    "move": _move,
    "signature": _of_calls("signature"),
    "read": _read,
    "edit": _change,
    "write": _change,
    "edit-lines": _change,
    "edit-symbol": _change,
    "patch": _change,
    "candidate": _change,
    "apply-edit": _change,
    "run": _run,
    "verify": _verify,
    "undo": _undo,
    "history": _history,
    "recover": _recover,
}


# Pieces


class Places:
    """`path:line:col` for thousands of places: the spelling and the table of a file are looked up once."""

    def __init__(self, positions: Positions, look: Look) -> None:
        self._positions = positions
        self._look = look
        self._shown: dict[str, str] = {}

    def path(self, path: str) -> str:
        known = self._shown.get(path)
        if known is None:
            known = self._shown[path] = visible(self._look.shown(path))
        return known

    def at(self, path: str, offset: Offset) -> str:
        position = self._positions.lines(path).user_from_offset(offset)
        return self._look.paint("bold", f"{self.path(path)}:{position.line}:{position.column}")


def not_all(total: int, n_listed: int, look: Look) -> Iterator[str]:
    if total > n_listed:
        yield look.paint("yellow", f"{n_listed} of {total} are listed; --limit {total} lists all")


def not_complete(reasons: Iterable[str], look: Look) -> Iterator[str]:
    yield from (f"{look.paint('yellow', 'not complete')}: {visible(reason)}" for reason in reasons)


def counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _first_line(text: str) -> str:
    first, *rest = re.split(r"\r\n|\n|\r", text, maxsplit=1)
    return visible(first) + (" …" if rest else "")


_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")
_CONTROL_BUT_LINE_ENDS = re.compile(r"[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f]")


def _lines(text: str) -> str:
    """`text`, whose line ends are ours: a message with a passage or a diff under it."""
    return "\n".join(map(visible, text.split("\n")))


def visible(text: str) -> str:
    """`text` on one line, with control characters as escapes; tabs stay."""
    return text if text.isprintable() else _CONTROL.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    return repr(found[0])[1:-1]
