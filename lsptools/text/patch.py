"""Patches as people, git and models write them, read into hunks. What they mean for a file is decided by `edit/patch.py`.

Two forms: the unified diff, with git's headers, and `*** Begin Patch` … `*** End Patch`. The counts of lines in a unified diff
are believed where they fit the lines; models get them wrong, so otherwise a hunk goes on as far as its lines look like lines
of a hunk. Line ends of the patch itself do not matter. Anything else that does not fit is `invalid`.

Where it stops: what git says besides of a file is done (the mode of a new file, a rename) or refused by name: binary
patches, links, copies, other permission bits for a file that is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lsptools.errors import BadRequest

Mark = Literal[" ", "-", "+"]


@dataclass(frozen=True, slots=True)
class HunkLine:
    """A line that stays, goes or comes."""

    mark: Mark
    text: str
    is_ended: bool = True
    """False where the patch says that the file ends here, without a line end."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Changes of neighbouring lines."""

    lines: tuple[HunkLine, ...]
    start: int | None = None
    """The line, 1-based, at which the old lines are said to begin; after which, if there are none."""
    anchors: tuple[str, ...] = ()
    """Lines further up, outermost first, in whose block the hunk is."""
    is_at_end: bool = False
    """Whether it is said to be at the end of the file."""
    n_missing: int = 0
    """How many lines fewer it has than its header says: the patch may have been cut off."""

    @property
    def old(self) -> tuple[HunkLine, ...]:
        return tuple(line for line in self.lines if line.mark != "+")

    @property
    def new(self) -> tuple[HunkLine, ...]:
        return tuple(line for line in self.lines if line.mark != "-")


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What a patch says of one file."""

    kind: Literal["update", "add", "delete"]
    path: str
    hunks: tuple[Hunk, ...] = ()
    move_to: str | None = None
    mode: int | None = None
    """Permission bits of a new file, where others than the usual 0644 are said."""
    says_all: bool = False
    """Of a file that is deleted: whether the hunks say all that is in it."""

    @property
    def content(self) -> str:
        """Of a new file."""
        lines = [line for hunk in self.hunks for line in hunk.new]
        text = "".join(line.text + "\n" for line in lines)
        return text[:-1] if lines and not lines[-1].is_ended else text


def parse_patch(text: str) -> tuple[FilePatch, ...]:
    """The files of a patch, in its order; at least one."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    lines = _without_fence(_stripped(lines))
    if lines and lines[0].strip() == _BEGIN:
        while not lines[-1].strip():
            lines.pop()
        files = tuple(_begin_patch(lines))
    else:
        files = tuple(_unified(lines))
    if not files:
        raise _invalid("it has no file in it", None)
    return files


def _stripped(lines: Sequence[str]) -> list[str]:
    """Without empty lines at both ends; a blank alone is a line of a hunk."""
    filled = [number for number, line in enumerate(lines) if line]
    return list(lines[filled[0] : filled[-1] + 1]) if filled else []


def _without_fence(lines: list[str]) -> list[str]:
    is_fenced = len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```"
    return _stripped(lines[1:-1]) if is_fenced else lines


def _invalid(why: str, line: int | None) -> BadRequest:
    where = "" if line is None else f"line {line + 1}: "
    return BadRequest(
        "invalid",
        f"the patch cannot be understood: {where}{why}",
        hint="send a unified diff, or *** Begin Patch … *** End Patch",
    )


# *** Begin Patch

_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_SECTION = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVE = re.compile(r"\*\*\* Move to: (.+)")
_END_OF_FILE = "*** End of File"


def _begin_patch(lines: list[str]) -> Iterator[FilePatch]:
    if lines[-1].strip() != _END or len(lines) < 2:
        raise _invalid(f"it does not end with {_END}", len(lines) - 1)
    at, end = 1, len(lines) - 1
    while at < end:
        if not lines[at].strip():
            at += 1
            continue
        section = _SECTION.fullmatch(lines[at].rstrip())
        if section is None:
            raise _invalid(f"{lines[at][:60]!r} begins no file", at)
        kind, path = section[1], section[2].strip()
        body_end = next((n for n in range(at + 1, end) if _SECTION.fullmatch(lines[n].rstrip())), end)
        body = lines[at + 1 : body_end]
        if kind == "Add":
            yield FilePatch("add", path, (Hunk(tuple(_added(body, at + 1))),))
        elif kind == "Delete":
            if any(line.strip() for line in body):
                raise _invalid("a file that is deleted has no lines here", at + 1)
            yield FilePatch("delete", path)
        else:
            yield _update(path, body, at + 1)
        at = body_end


def _added(body: list[str], first: int) -> Iterator[HunkLine]:
    for number, line in enumerate(_without_empty_end(body)):
        if not line.startswith("+"):
            raise _invalid("each line of a new file begins with +", first + number)
        yield HunkLine("+", line[1:])


def _update(path: str, body: list[str], first: int) -> FilePatch:
    move = _MOVE.fullmatch(body[0].rstrip()) if body else None
    hunks: list[Hunk] = []
    current: list[HunkLine] = []
    anchors: list[str] = []
    is_at_end = False

    def close() -> None:
        nonlocal is_at_end
        if current:
            hunks.append(Hunk(tuple(_trimmed(current)), None, tuple(anchors), is_at_end))
            current.clear()
            anchors.clear()
        is_at_end = False

    for number, line in enumerate(body[1:] if move else body):
        if line.startswith("@@"):
            close()
            if anchor := line[2:].strip().removesuffix("@@").strip():
                anchors.append(anchor)
        elif line.rstrip() == _END_OF_FILE:
            is_at_end = True
        elif not line or line[0] in " +-":
            mark: Mark = "+" if line[:1] == "+" else "-" if line[:1] == "-" else " "
            current.append(HunkLine(mark, line[1:]))
        else:
            raise _invalid(
                f"{line[:60]!r} is no line of a hunk: it begins with none of ' ', + and -",
                first + number + bool(move),
            )
    close()
    if not any(line.mark != " " for hunk in hunks for line in hunk.lines) and not move:
        raise _invalid(f"nothing changes in {path!r}", first - 1)
    changing = tuple(hunk for hunk in hunks if any(line.mark != " " for line in hunk.lines))
    return FilePatch("update", path, changing, move[1].strip() if move else None)


def _trimmed(lines: list[HunkLine]) -> list[HunkLine]:
    """Without empty lines at the end that stand for nothing: they separate this hunk from what follows."""
    kept = list(lines)
    while kept and kept[-1] == HunkLine(" ", ""):
        kept.pop()
    return kept


def _without_empty_end(lines: list[str]) -> list[str]:
    kept = list(lines)
    while kept and not kept[-1]:
        kept.pop()
    return kept


# Unified diffs

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)")
_NO_END = "\\ "


@dataclass(slots=True)
class _Header:
    """What stood before the hunks of a file."""

    old: str | None = None
    new: str | None = None
    rename_from: str | None = None
    rename_to: str | None = None
    is_new: bool = False
    is_deleted: bool = False
    mode: int | None = None
    line: int = 0


def _unified(lines: list[str]) -> Iterator[FilePatch]:
    header: _Header | None = None
    hunks: list[Hunk] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("diff --git "):
            yield from _finished(header, hunks)
            header, hunks = _Header(line=at), []
            _from_git_line(header, line)
            at += 1
        elif line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ "):
            if header is None or hunks or header.line < 0:
                yield from _finished(header, hunks)
                header, hunks = _Header(line=at), []
            header.old, header.new = _path(line[4:]), _path(lines[at + 1][4:])
            at += 2
        elif line.startswith("@@"):
            if header is None or header.old is None:
                raise _invalid("a hunk without the names of its file (--- and +++)", at)
            hunk, at = _hunk(lines, at)
            hunks.append(hunk)
        elif line.startswith(("GIT binary patch", "Binary files ")):
            raise _invalid("binary patches are not understood", at)
        elif header is not None and not hunks:
            _from_header_line(header, line, at)
            at += 1
        elif header is not None and line.strip() and line[0] in " +-" and not line.startswith("-- "):
            raise _invalid("a line outside of a hunk", at)
        else:
            at += 1  # what stands between the files of a mail or a log
    yield from _finished(header, hunks)


def _from_git_line(header: _Header, line: str) -> None:
    """The names, for files without `---` and `+++`: empty ones, and those that are only renamed."""
    names = re.fullmatch(r'diff --git ("?a/.+?"?) ("?b/.+"?)', line)
    if names:
        header.old, header.new = _path(names[1]), _path(names[2])


def _from_header_line(header: _Header, line: str, at: int) -> None:
    word, _, rest = line.partition(" mode ")
    if line.startswith(("copy from ", "copy to ")):
        raise _not_done("copies of files", "add the copy as a new file, with its lines", at)
    if word in ("old", "new"):
        raise _not_done(
            "changes of the mode of files that are there",
            "leave the lines `old mode` and `new mode` out, and use chmod",
            at,
        )
    if found := _INDEX.fullmatch(line):
        _check_is_file(found[1], at)
    elif line.startswith("rename from "):
        header.rename_from = _path(line[12:])
    elif line.startswith("rename to "):
        header.rename_to = _path(line[10:])
    elif word in ("new file", "deleted file"):
        _check_is_file(rest.strip(), at)
        header.is_new, header.is_deleted = word == "new file", word == "deleted file"
        mode = int(rest, 8) & 0o777
        header.mode = mode if header.is_new and mode != _USUAL else None


_INDEX = re.compile(r"index [0-9a-f]+\.\.[0-9a-f]+ ([0-7]{6})")
_USUAL = 0o644


def _check_is_file(mode: str, at: int) -> None:
    """Refuse what git has besides files: links and submodules."""
    if mode.startswith("120"):
        raise _not_done("links (mode 120000)", "make or remove the link with ln or rm", at)
    if mode == "160000":
        raise _not_done("submodules (mode 160000)", "use git submodule", at)
    if not re.fullmatch("100[0-7]{3}", mode):
        raise _invalid(f"{mode!r} is no mode of a file", at)


def _not_done(what: str, hint: str, at: int) -> BadRequest:
    return BadRequest("invalid", f"the patch has, on line {at + 1}, what is not done: {what}", hint=hint)


def _finished(header: _Header | None, hunks: list[Hunk]) -> Iterator[FilePatch]:
    if header is None:
        return
    if header.rename_from is not None and header.rename_to is not None:
        yield FilePatch("update", header.rename_from, tuple(hunks), header.rename_to)
        return
    old, new = header.old or "", header.new or ""
    if old.startswith("a/") and (new.startswith("b/") or new == _NOWHERE):
        old = old[2:]
    if new.startswith("b/") and (header.old or "").startswith(("a/", _NOWHERE)):
        new = new[2:]
    if header.is_new or old == _NOWHERE:
        yield FilePatch("add", new, tuple(hunks), mode=header.mode)
    elif header.is_deleted or new == _NOWHERE:
        yield FilePatch("delete", old, tuple(hunks), says_all=True)
    elif hunks:
        yield FilePatch("update", old, tuple(hunks), None if new == old else new)
    else:
        raise _invalid(f"nothing changes in {old!r}", header.line)


_NOWHERE = "/dev/null"


def _path(written: str) -> str:
    """A path as git or diff writes it: perhaps quoted, perhaps with a time behind it."""
    if written.startswith('"') and (end := written.rfind('"')) > 0:
        return _unquoted(written[1:end])
    return written.partition("\t")[0].rstrip()


_ESCAPED = re.compile(r'\\([0-7]{3}|[abtnvfr"\\])')
_MEANT = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}


def _unquoted(text: str) -> str:
    data = bytearray()
    at = 0
    for found in _ESCAPED.finditer(text):
        data += text[at : found.start()].encode("utf-8", "surrogatepass")
        data.append(_MEANT[found[1]] if found[1] in _MEANT else int(found[1], 8) & 0xFF)
        at = found.end()
    data += text[at:].encode("utf-8", "surrogatepass")
    return data.decode("utf-8", "surrogateescape")


def _hunk(lines: list[str], at: int) -> tuple[Hunk, int]:
    """The hunk that begins at line `at`, and the line after it."""
    found = _HUNK.fullmatch(lines[at])
    if found is None:
        anchor = lines[at][2:].strip().removesuffix("@@").strip()
        body, end = _as_far_as_it_goes(lines, at + 1)
        return Hunk(tuple(body), None, (anchor,) if anchor and not anchor.startswith("-") else ()), end
    n_old, n_new = int(found[2] or 1), int(found[4] or 1)
    counted = _counted(lines, at + 1, n_old, n_new)
    body, end = counted or _as_far_as_it_goes(lines, at + 1)
    if not any(line.mark != " " for line in body):
        raise _invalid("a hunk in which nothing changes", at)
    n_said, n_there = max(n_old, n_new), max(sum(line.mark != mark for line in body) for mark in "+-")
    return Hunk(tuple(body), int(found[1]), n_missing=max(0, n_said - n_there)), end


def _counted(lines: list[str], at: int, n_old: int, n_new: int) -> tuple[list[HunkLine], int] | None:
    """The lines of a hunk by their counts; `None` if these are wrong."""
    body: list[HunkLine] = []
    while n_old > 0 or n_new > 0:
        line = _line(lines[at]) if at < len(lines) else None
        if line is None:
            if at < len(lines) and lines[at].startswith(_NO_END) and body:
                body[-1] = replace(body[-1], is_ended=False)
                at += 1
                continue
            return None
        n_old -= line.mark != "+"
        n_new -= line.mark != "-"
        body.append(line)
        at += 1
    if n_old < 0 or n_new < 0:
        return None
    if at < len(lines) and lines[at].startswith(_NO_END):
        body[-1] = replace(body[-1], is_ended=False)
        at += 1
    goes_on = at < len(lines) and lines[at][:1] in (" ", "+", "-") and not _begins_file(lines, at)
    return None if goes_on and not lines[at].startswith("-- ") else (body, at)


def _as_far_as_it_goes(lines: list[str], at: int) -> tuple[list[HunkLine], int]:
    body: list[HunkLine] = []
    while at < len(lines) and not _begins_file(lines, at):
        line = _line(lines[at])
        if line is not None:
            body.append(line)
        elif lines[at].startswith(_NO_END) and body:
            body[-1] = replace(body[-1], is_ended=False)
        else:
            break
        at += 1
    if at < len(lines) and not lines[at].startswith(("@@", "diff ")) and not _begins_file(lines, at):
        raise _invalid(f"{lines[at][:60]!r} is no line of a hunk", at)
    return _trimmed(body), at


def _begins_file(lines: list[str], at: int) -> bool:
    return lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")


def _line(line: str) -> HunkLine | None:
    if not line:
        return HunkLine(" ", "")  # an editor has removed the blank
    return HunkLine(line[0], line[1:]) if line[0] in (" ", "+", "-") else None  # type: ignore[arg-type]  # it is a mark
