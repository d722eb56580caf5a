"""What the tools that edit share: planning under the session's locks, doing it, and the answer.

The answer has three readers. Programs get structure; a model gets `output`, a short summary with the changed passage as it
is now, with line numbers; people get the diff. The passage is taken from where the change really happened. Whole diffs
are made when someone asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lsptools.edit.notebook import SUFFIX
from lsptools.edit.plan import FilePlan, Plan
from lsptools.edit.read import BAR
from lsptools.edit.session import Session
from lsptools.edit.target import target
from lsptools.errors import ToolError
from lsptools.text.document import Document
from lsptools.text.lines import Lines, Span
from lsptools.tools.base import Context
from lsptools.tools.verify import report_json
from lsptools.tools.writing import Writing

if TYPE_CHECKING:
    from lsptools.verify.ladder import Report
    from lsptools.workspace.apply import Applied
    from lsptools.workspace.paths import Root
    from lsptools.workspace.snapshot import Snapshot

N_AROUND = 2
"""Lines shown before and after a change."""
MOST_SHOWN = 40
"""Lines of passages in one answer."""
MOST_FILES = 20
_LONGEST_LINE = 200


@dataclass(frozen=True, slots=True)
class ChangeAnswer:
    """A plan, and what was written, if anything was."""

    plan: Plan
    applied: Applied | None
    snapshot: Snapshot
    """Of before the change."""
    is_preview: bool = False
    """Whether nothing was to be written."""
    is_diff_wanted: bool = False
    warnings: tuple[str, ...] = field(default=())
    report: Report | None = None
    """What the verification says, when one was asked for."""
    is_held_back: bool = False
    """Whether nothing was written because of that."""

    @property
    def found(self) -> bool:
        return not self.is_held_back

    @property
    def undo_id(self) -> str | None:
        return None if self.applied is None else self.applied.undo_id or None

    @property
    def notes(self) -> tuple[str, ...]:
        """What people should know: of the plan, of the doing, of the workspace."""
        done = self.plan.notes if self.applied is None or not self.applied.id else self.applied.notes
        return (*done, *self.warnings)

    @property
    def diff(self) -> str:
        """The whole change, as `git diff` says it."""
        return self.plan.change.diff(self.snapshot)

    @property
    def output(self) -> str:
        """The short form, for models."""
        if self.is_diff_wanted:
            return self.diff
        notes = (f"note: {note}" for note in self.notes)
        return "\n".join([*self._summary(), *notes, *self._verification()]) + "\n"

    def _verification(self) -> Iterator[str]:
        if self.report is not None:
            for verdict in self.report.verdicts:
                yield f"{verdict.rung}: {verdict.standing.value}: {verdict.says}"
            if self.is_held_back:
                yield "nothing was written, because of that"

    def _summary(self) -> Iterator[str]:
        room = MOST_SHOWN
        for file in self.plan.files[:MOST_FILES]:
            yield headline(file, is_preview=self.is_preview)
            shown = list(passage(file, room))
            room -= len(shown)
            yield from shown
        if len(self.plan.files) > MOST_FILES:
            yield f"… and {len(self.plan.files) - MOST_FILES} more files"

    def to_json(self) -> dict[str, object]:
        found: dict[str, object] = {
            "applied": self.applied is not None,
            "undo": self.undo_id,
            "files": [_file_json(file) for file in self.plan.files],
            "notes": list(self.notes),
            "output": self.output,
            "verification": None if self.report is None else report_json(self.report),
        }
        if self.is_diff_wanted:
            found["diff"] = self.diff
        return found


def change(
    context: Context,
    paths: Iterable[str],
    plan: Callable[[], Plan],
    asked: Writing,
) -> ChangeAnswer:
    """Plan, and do it as `asked`. `paths` are the files that will be written, as far as known."""
    from lsptools.workspace.apply import apply

    snapshot, session = context.snapshot, context.session
    with session.hold(_reals(snapshot, paths)):
        planned = plan()
        report = asked.report(context, planned.change)
        is_held_back = not asked.allows(report)
        if asked.is_preview or is_held_back:
            return ChangeAnswer(planned, None, snapshot, True, asked.diff, (), report, is_held_back)
        warnings = _warnings(context)
        snapshot.checkpoint()  # who called may have left
        applied = apply(snapshot, planned.change, context.state)
        remember(session, planned, applied, snapshot.root)
    return ChangeAnswer(planned, applied, snapshot, warnings=warnings, report=report)


def _reals(snapshot: Snapshot, paths: Iterable[str]) -> list[str]:
    found = []
    for path in paths:
        try:
            found.append(target(snapshot, path).real)
        except ToolError:
            continue  # the plan will say what is wrong with it
    return found


def remember(session: Session, plan: Plan, applied: Applied, root: Root) -> None:
    """What the session wrote, it has seen."""
    for file in plan.files:
        if file.action == "deleted":
            session.forget(file.target.real)
    for move in applied.moves:
        session.move(str(root.path / move.old), str(root.path / move.new))
    for file in plan.files:
        if file.after is not None:
            # Who has sent a whole notebook knows it as it is; after an edit it is known as it was before.
            is_whole = file.action in ("created", "overwritten") and file.name.endswith(SUFFIX)
            real = (file.moved_to or file.target).real
            session.see(real, file.after.digest, file.after.encode(), is_raw=True if is_whole else None)


def follow(context: Context, applied: Applied) -> None:
    """What was done to files that the session knew as they were before: it knows them as they are now."""
    session, root = context.session, context.snapshot.root.path
    for file in applied.files:
        real = str(root / file.path)
        if file.digest_before is not None and session.seen(real) == file.digest_before:
            if file.digest_after is None:
                session.forget(real)
            else:
                session.see(real, file.digest_after)
    for move in applied.moves:
        session.move(str(root / move.old), str(root / move.new))


def _warnings(context: Context) -> tuple[str, ...]:
    """What to know before much is changed, told once in a session."""
    from lsptools.workspace.checkout import changed_file, is_checkout

    if not context.session.is_news("version control"):
        return ()
    if not is_checkout(context.snapshot):
        return ("the workspace is not under version control; `undo` is the only way back",)
    changed = changed_file(context.snapshot)
    if changed is None:
        return ()
    return (f"the checkout is not clean: {changed!r} differs from what git last staged",)


# Words


def headline(file: FilePlan, *, is_preview: bool = False) -> str:
    """What happened to a file, in one line."""
    verb = f"would be {file.action}" if is_preview and file.action != "unchanged" else file.action
    name = f"{file.target.name} -> {file.moved_to.name}" if file.moved_to is not None else file.name
    parts = [f"{verb} {name}" if not is_preview else f"{name} {verb}"]
    if file.action == "edited":
        n_places = file.n_replaced or len(file.edits)
        parts.append(f"{n_places} {'place' if n_places == 1 else 'places'}")
        lines = sorted({first for first, _ in changed_lines(file)})
        parts.append(
            f"line{'' if len(lines) == 1 else 's'} {', '.join(map(str, lines[:10]))}"
            + (" …" if len(lines) > 10 else "")
        )
    if file.action in ("created", "overwritten") and file.after is not None:
        n_all = n_lines(file.after.lines)
        parts.append(f"{n_all} line{'' if n_all == 1 else 's'}")
    if file.tier == "folded":
        parts.append("folded match")
    return parts[0] + (f" ({', '.join(parts[1:])})" if parts[1:] else "")


def n_lines(lines: Lines) -> int:
    """As `read` counts: an empty line after the last line end is none."""
    return lines.n_lines if lines.line_span(lines.n_lines - 1).length else lines.n_lines - 1


def changed_lines(file: FilePlan) -> list[tuple[int, int]]:
    """First and last line of each change, 1-based, in the text after it; of a deletion the line where the text was."""
    if file.after is None:
        return []
    lines = file.after.lines
    ranges = [_line_range(lines, span) for span in file.spans_after]
    joined: list[tuple[int, int]] = []
    for first, last in ranges:
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return joined


def _line_range(lines: Lines, span: Span) -> tuple[int, int]:
    first = lines.line_of(span.start)
    last = lines.line_of(span.end)
    if last > first and span.end == lines.starts[last]:
        last -= 1  # what ends with a line end does not touch the next line
    return first + 1, last + 1


def passage(file: FilePlan, room: int) -> Iterator[str]:
    """The changed lines as they are now, with a few around them and with their numbers; at most `room` lines."""
    if file.after is None or file.action == "unchanged" or (file.action == "created" and not file.after.text):
        return
    lines, last = file.after.lines, n_lines(file.after.lines)
    around = 0 if file.action == "created" else N_AROUND
    shown = 0
    for first, end in _with_context(changed_lines(file), around, last):
        if shown and shown < room:
            yield "       …"
        for number in range(first, end + 1):
            if shown >= room or (file.action in ("created", "overwritten") and shown >= 10):
                yield f"       … {last - number + 1} more lines"
                return
            yield f"{number:>6}{BAR}{_cut(lines.line_text(number - 1))}"
            shown += 1


def _with_context(ranges: Iterable[tuple[int, int]], around: int, last: int) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for first, end in ranges:
        first, end = max(1, first - around), min(last, end + around)
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((first, end))
    return joined


def _cut(line: str) -> str:
    return (
        line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} … [{len(line) - _LONGEST_LINE} more]"
    )


# JSON


def _file_json(file: FilePlan) -> dict[str, object]:
    ranges = changed_lines(file)
    return {
        "path": file.name,
        "action": file.action,
        "moved_from": file.target.name if file.moved_to is not None else None,
        "tier": file.tier,
        "replaced": file.n_replaced,
        "changed": [{"first_line": first, "last_line": last} for first, last in ranges[:1000]],
        "first_changed_line": ranges[0][0] if ranges else None,
        "digest_before": None if file.before is None else file.before.digest,
        "digest_after": None if file.after is None else file.after.digest,
        "encoding": _encoding(file.after or file.before),
        "passage": "\n".join(passage(file, MOST_SHOWN)),
    }


def _encoding(document: Document | None) -> str | None:
    return None if document is None else document.encoding
