"""Running a case through a face, and judging what came of it: the case's expectations and the laws that always hold.

The laws: what is not mentioned stays as it is (bytes, modes, links, folders); taking every change back restores
everything; nothing is left beside the workspace or among the user's files; a preview changes nothing, and it is what the
call then does; an answer's edits are the changes made; every listed occurrence is well formed, and listed once.

Nothing here is `lsptools`: lines, columns, UTF-16 and patches are computed anew, so this is a second witness.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casefile
import casetree
from casefaces import Face, Outcome, Place
from casefile import Case, Wanted
from casetree import BREAK, Entry, File, Tree, text_of, user_position, utf16_position, with_text

CLASSES = frozenset({"certain", "likely", "possible", "mention", "unrelated"})
ENVIRONMENT = frozenset({"unavailable", "timed_out", "cancelled", "internal"})
"""Kinds of failures that are no refusals."""
ERROR_WORDS = ("refused", "error", "stale", "unavailable")
BRIEF_ERROR = re.compile(rf"(?:{'|'.join(ERROR_WORDS)}): (?P<kinds>[a-z_]+(?: \| [a-z_]+)*)\n")
DIFF_LINE = re.compile(r"[^\n]*\n|[^\n]+")
HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@.*\n?")
WORD = re.compile(r"\w+|\W")


@dataclass(frozen=True, slots=True)
class Seen:
    """What happened: the tree before and after, and the last step's outcome."""

    before: Tree
    after: Tree
    outcome: Outcome
    broken: tuple[str, ...]
    """The laws that did not hold."""


# ------------------------------------------------------------------------------------------------------- running
def run(case: Case, face: Face, at: Place) -> Seen:
    """All steps in a workspace of the case's own."""
    before = casefile.before(case)
    casetree.write_tree(at.root, before)
    steps = [casefile.arguments(case, step) for step in case.steps]
    broken: list[str] = []
    n_changes = 0
    now = before
    for arguments in steps:
        start = now
        diff = face.preview(arguments, at)
        if casetree.read_tree(at.root) != start:
            broken.append(f"the preview of {arguments} changed something")
        outcome = face.run(arguments, at)
        now = casetree.read_tree(at.root)
        n_changes += now != start
        if outcome.error_kind is None and arguments is not steps[-1] and outcome.exit != 0:
            broken.append(f"{arguments} ended with {outcome.exit}: {outcome.err or outcome.out}")
        elif outcome.error_kind is not None and arguments is not steps[-1]:
            broken.append(f"{arguments} was refused: {outcome.error_text}")
        broken += _dishonest(start, now, outcome, diff)
    broken += _left_behind(at)
    broken += _not_undone(before, now, face, at, n_changes)
    return Seen(before, now, outcome, tuple(broken))


def _dishonest(start: Tree, now: Tree, outcome: Outcome, diff: str | None) -> Iterator[str]:
    """Where preview, answer and deed differ."""
    changed = now != start
    if outcome.error_kind is not None and changed:
        yield f"refused ({outcome.error_kind}), but something was changed:\n{casetree.diff_of(start, now)}"
    if outcome.changed is not None and outcome.changed != changed:
        yield f"says applied={outcome.changed}, but {'something' if changed else 'nothing'} was changed"
    if diff is not None and outcome.exit != 0:
        if outcome.error_kind not in ENVIRONMENT:  # a plan does not know what the disk permits
            yield f"the preview shows a diff, but the call ended with {outcome.exit}"
    elif diff is not None:
        try:
            planned = patched(start, diff)
        except (ValueError, IndexError, KeyError) as problem:
            yield f"the preview is no diff of the workspace ({problem}):\n{diff}"
        else:
            if _files(planned) != _files(now):
                yield f"the preview is not what was done:\n{casetree.diff_of(planned, now)}"
    if outcome.answer is not None:
        yield from malformed(start, outcome.answer)
        if outcome.answer.get("applied") is True and "edits" in outcome.answer:
            told = edited(start, outcome.answer["edits"], outcome.answer.get("moves") or [])
            if _files(told) != _files(now):
                yield f"the edits of the answer are not what was done:\n{casetree.diff_of(told, now)}"


def _left_behind(at: Place) -> Iterator[str]:
    yield from (f"left beside the workspace: {path.name}" for path in at.side.iterdir() if path != at.root)
    for name in ("home", "tmp"):
        yield from (f"left in the user's {name}: {path.name}" for path in (at.user / name).iterdir())


def _not_undone(before: Tree, now: Tree, face: Face, at: Place, n_changes: int) -> Iterator[str]:
    """Take changes back, the last one first, until everything is as it was."""
    for _ in range(n_changes):
        if now == before:
            break
        outcome = face.undo(at)
        if outcome.exit != 0:
            yield f"undo ended with {outcome.exit}: {outcome.error_text or outcome.err or outcome.out}"
            return
        now = casetree.read_tree(at.root)
    if now != before:
        yield f"undo did not restore everything:\n{difference(before, now)}"
    yield from (f"after undo: {each}" for each in _left_behind(at))


def _files(tree: Tree) -> Tree:
    return {path: entry for path, entry in tree.items() if not isinstance(entry, casetree.Folder)}


# ------------------------------------------------------------------------------------------------------- judging
def complaint(case: Case, seen: Seen) -> str:
    """What is wrong, for people; empty if nothing is."""
    found, settings = problems(case, seen), case.settings
    if "needs" in settings:
        wrong = silently_wrong(case, seen)
        found = [wrong] if wrong else [] if found else ["the case passes exactly: remove `needs:`"]
    elif "expected" in settings:
        fits = seen.after == seen.before and seen.outcome.error_kind not in {None, *ENVIRONMENT}
        found = [] if found and fits else found or ["the case passes: remove `expected:` and the FIXME"]
    return "\n".join([*found, *(f"law: {each}" for each in seen.broken)])


def updated(case: Case, seen: Seen) -> Case:
    """The case with what was seen as its expectations, if those were not met; never a case that is marked as wrong."""
    if {"needs", "expected"} & case.settings.keys() or not problems(case, seen):
        return case
    outcome = seen.outcome
    listed = listed_classes(outcome.answer)
    asked = {place for wanted in casefile.wanted(case) for place in wanted.possible or ()}
    uncertain = {place for place, classes in listed.items() if "possible" in classes}
    uncertain |= {place for place in asked if "mention" in listed.get(place, ())}
    word = (outcome.error_text or "").partition(":")[0]
    return casefile.with_expectations(
        case,
        seen.after,
        error=outcome.error_text,
        brief_error=f"{word if word in ERROR_WORDS else 'error'}: {outcome.error_kind}\n",
        out=outcome.out or "",
        possible=sorted(uncertain, key=_by_position),
    )


def _by_position(place: str) -> tuple[str, int, int]:
    path, line, column = place.rsplit(":", 2)
    return path, int(line), int(column)


def problems(case: Case, seen: Seen) -> list[str]:
    """Why what was seen is not what the case wants; nothing if it fits one of the right outcomes."""
    found = [list(_problems(case, wanted, seen)) for wanted in casefile.wanted(case)]
    return [] if not all(found) else found[0]


def _problems(case: Case, wanted: Wanted, seen: Seen) -> Iterator[str]:
    outcome = seen.outcome
    if wanted.tree is not None and wanted.tree != seen.after:
        yield f"not the expected files:\n{difference(wanted.tree, seen.after)}"
    if wanted.diff is not None and wanted.diff != casetree.diff_of(seen.before, seen.after):
        yield f"not the expected diff, but:\n{casetree.diff_of(seen.before, seen.after)}"
    if wanted.out is not None and outcome.out is not None and wanted.out != outcome.out:
        yield f"not the expected output, but:\n{outcome.out}"
    if wanted.possible is not None:
        yield from _unlisted(wanted.possible, outcome.answer)
    if wanted.error is not None:
        yield from _other_error(wanted.error, outcome)
    elif outcome.error_kind is not None:
        yield f"not done: {outcome.error_text}"
    elif outcome.exit != int(case.settings.get("exit", "0")):
        yield f"the exit code is {outcome.exit}: {outcome.err}"


def _other_error(wanted: str, outcome: Outcome) -> Iterator[str]:
    if outcome.error_kind is None:
        yield f"not refused; the exit code is {outcome.exit}: {outcome.err}"
    elif brief := BRIEF_ERROR.fullmatch(wanted):
        if outcome.error_kind not in brief["kinds"].split(" | "):
            yield f"refused as {outcome.error_kind}, not as {brief['kinds']}: {outcome.error_text}"
    elif wanted != outcome.error_text:
        yield f"not the expected refusal, but:\n{outcome.error_text}"


def _unlisted(places: Sequence[str], answer: Mapping[str, Any] | None) -> Iterator[str]:
    listed = listed_classes(answer)
    for place in places:
        if not listed.get(place, set()) & {"possible", "mention"}:
            yield f"{place} is not listed as uncertain, but as {' and '.join(listed.get(place, ())) or 'nothing'}"


def listed_classes(answer: Mapping[str, Any] | None) -> dict[str, set[str]]:
    """Place → the classes it is listed with."""
    listed: dict[str, set[str]] = {}
    for each in (answer or {}).get("occurrences", ()):
        listed.setdefault(f"{each['path']}:{each['line']}:{each['column']}", set()).add(each["class"])
    return listed


def silently_wrong(case: Case, seen: Seen) -> str | None:
    """For a case beyond the resolver: what was written wrong without a word, or `None`.

    Fine is a refusal that changed nothing, a right tree, or places left as they were that the answer lists as possible.
    """
    outcome = seen.outcome
    if seen.after == seen.before and outcome.error_kind not in {None, *ENVIRONMENT}:
        return None
    if outcome.exit != 0:
        return f"neither done nor refused: exit code {outcome.exit}, {outcome.error_text or outcome.err}"
    wrong = None
    for wanted in casefile.wanted(case):
        left = _left_as_it_was(seen, wanted.tree) if wanted.tree is not None else None
        if left is not None and all(
            "possible" in listed_classes(outcome.answer).get(place, ()) for place in left
        ):
            return None
        wrong = wrong or difference(wanted.tree or {}, seen.after)
    return f"wrong without a word:\n{wrong}"


def _left_as_it_was(seen: Seen, wanted: Tree) -> list[str] | None:
    """The places that differ from what is wanted because they were left as they were; `None` if something else differs."""
    if seen.after.keys() != wanted.keys():
        return None
    places: list[str] = []
    for path, entry in seen.after.items():
        was, want = seen.before.get(path), wanted[path]
        if entry == want:
            continue
        if not (isinstance(was, File) and isinstance(entry, File) and isinstance(want, File)):
            return None
        old, new, right = (WORD.findall(text_of(each)) for each in (was, entry, want))
        if not len(old) == len(new) == len(right) or was.mode != entry.mode:
            return None
        for at, (word, after, should) in enumerate(zip(old, new, right, strict=True)):
            if after != should and after != word:
                return None
            if after != should:
                line, column = user_position("".join(old), sum(map(len, old[:at])))
                places.append(f"{path}:{line}:{column}")
    return places


def difference(wanted: Tree, got: Tree) -> str:
    """What differs, with `-` for what is wanted and `+` for what is there."""
    gone = [f"- {path} ({_what(wanted[path])})\n" for path in sorted(wanted.keys() - got.keys())]
    new = [f"+ {path} ({_what(got[path])})\n" for path in sorted(got.keys() - wanted.keys())]
    other = [
        f"{path}: {_what(wanted[path])} => {_what(got[path])}\n"
        for path in sorted(wanted.keys() & got.keys())
        if wanted[path] != got[path] and not (isinstance(wanted[path], File) and isinstance(got[path], File))
    ]
    return "".join([*gone, *new, *other, casetree.diff_of(wanted, got)])


def _what(entry: Entry) -> str:
    return repr(entry) if not isinstance(entry, File) else f"{len(entry.data)} bytes, mode {entry.mode:o}"


# ------------------------------------------------------------------------------------------------------- answers
def malformed(tree: Tree, answer: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a JSON answer about names, whatever it says."""
    if not isinstance(answer.get("schema"), int):
        yield "the answer has no schema number"
    if "occurrences" not in answer:
        return
    if not isinstance(answer.get("complete"), bool):
        yield "the answer does not say whether it is complete"
    seen = set()
    for each in answer["occurrences"]:
        here = f"{each['path']}:{each['line']}:{each['column']}"
        if each["class"] not in CLASSES:
            yield f"{here}: unknown class {each['class']!r}"
        if here in seen:
            yield f"{here} is listed twice"
        seen.add(here)
        entry = tree.get(each["path"])
        if isinstance(entry, File) and each["range"]["start"] != utf16_position(
            text_of(entry), each["line"], each["column"]
        ):
            yield f"{here} is not at {each['range']['start']}"


def edited(tree: Tree, edits: Sequence[Mapping[str, Any]], moves: Sequence[Mapping[str, str]]) -> Tree:
    """The tree after the edits and moves of an answer."""
    after = dict(tree)
    for path in {each["path"] for each in edits}:
        file = tree[path]
        assert isinstance(file, File)
        text = text_of(file)
        starts = [0, *(found.end() for found in BREAK.finditer(text))]
        places = [
            (starts[e["line"] - 1] + e["column"] - 1, e["old"], e["new"]) for e in edits if e["path"] == path
        ]
        for at, old, new in sorted(places, reverse=True):
            assert text[at : at + len(old)] == old, (
                f"{path}: {text[at : at + len(old)]!r} at {at} is not {old!r}"
            )
            text = text[:at] + new + text[at + len(old) :]
        after[path] = with_text(file, text)
    return {_moved(path, moves): entry for path, entry in after.items()}


def _moved(path: str, moves: Sequence[Mapping[str, str]]) -> str:
    above = [move for move in moves if path == move["old"] or path.startswith(move["old"] + "/")]
    if not above:
        return path
    innermost = max(above, key=lambda move: len(move["old"]))
    return innermost["new"] + path.removeprefix(innermost["old"])


# ------------------------------------------------------------------------------------------------------- patches
def patched(tree: Tree, diff: str) -> Tree:
    """The tree after a diff as git writes it. Every line of context is compared."""
    after = dict(tree)
    blocks = re.split(r"(?m)^(?=diff --git )", diff)
    if blocks.pop(0):
        raise ValueError("does not begin with `diff --git`")
    written: Tree = {}
    for block in blocks:
        lines = DIFF_LINE.findall(block)
        n_head = next((n for n, line in enumerate(lines) if line.startswith("@@")), len(lines))
        old, new = _names(lines[:n_head])
        file = after.pop(old) if old else File(b"")
        if isinstance(file, casetree.Link) and new and not lines[n_head:]:
            written[new] = file  # it moves as it is
            continue
        assert isinstance(file, File)
        if new:
            # For git a byte order mark is the first character of the first line.
            mark = "\ufeff" if casetree.has_bom(file) else ""
            written[new] = with_text(file, _patched(mark + text_of(file), lines[n_head:]).removeprefix(mark))
    return {**after, **written}


def _names(head: Sequence[str]) -> tuple[str | None, str | None]:
    """The path before and after; `None` for a file that is not there."""
    said = dict(re.findall(r"(?m)^(---|\+\+\+|rename from|rename to) (.*)$", "".join(head)))
    both = head[0].removeprefix("diff --git a/").rstrip("\n")
    same = both[: (len(both) - len(" b/")) // 2]
    old = said.get("rename from") or _name(said.get("---", f"a/{same}"))
    new = said.get("rename to") or _name(said.get("+++", f"b/{same}"))
    is_new, is_gone = (any(line.startswith(mark) for line in head) for mark in ("new file", "deleted file"))
    return (None if is_new else old), (None if is_gone else new)


def _name(said: str) -> str | None:
    return None if said == "/dev/null" else said.rstrip("\t")[2:]


def _patched(text: str, hunks: Sequence[str]) -> str:
    old = DIFF_LINE.findall(text)
    new: list[str] = []
    done = at = 0
    while at < len(hunks):
        found = HUNK.fullmatch(hunks[at])
        if not found:
            raise ValueError(f"no hunk: {hunks[at]!r}")
        first, n_old, n_new = int(found[1]), int(found[2] or 1), int(found[3] or 1)
        start = first - 1 if n_old else first
        new += old[done:start]
        done, at = start, at + 1
        while n_old or n_new:
            mark, line = hunks[at][0], hunks[at][1:]
            at += 1
            if at < len(hunks) and hunks[at].startswith("\\"):
                line, at = line.removesuffix("\n"), at + 1
            if mark in " -":
                if old[done] != line:
                    raise ValueError(f"line {done + 1} is {old[done]!r}, not {line!r}")
                done, n_old = done + 1, n_old - 1
            if mark in " +":
                new.append(line)
                n_new -= 1
    return "".join([*new, *old[done:]])
