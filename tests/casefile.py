"""`.case` files: one scenario is one text, read into trees of bytes, steps and expectations, and written back.

    Prose: what should happen, and why.
    faces: cli                          settings, in a paragraph of their own (see `SETTINGS`)

    $ rename @cursor fetch              steps: command lines; `@name` stands for the place of a marker
    -- net.py crlf mode=755 --          a file of the workspace: a path and flags (see `Form`)
    def get<|>(url):                    markers: <|> cursor, <|name|> point, <|name:text|> span
    -- "my notes" empty folder --
    -- => net.py --                     what the file holds afterwards; without flags of its own it has the input's
    -- => gone old.py --                what is no longer there: a file, or a folder with all that was in it
    -- => diff --                       every change as one diff without context
    -- => out --                        what the last step prints
    -- => error --                      `refused: kind`, or `refused: kind | other`, or the whole rendered refusal
    -- => possible --                   places (`path:line:col` or `@name`) that the answer lists as uncertain
    -- => 2: net.py --                  a second right answer; each number is a complete set (no number is 1)

What is not mentioned stays as it is, byte for byte; a case without expectations must change nothing. A folder is
there when something is in it or when a section says `empty folder`.

The flags are those of `casetree.Form`. The invariant: `parse(text).text == text`.
"""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from casetree import (  # noqa: F401  # who reads cases reads trees, too
    SECTION,
    CaseError,
    Entry,
    File,
    Folder,
    Form,
    Link,
    Tree,
    body_of,
    diff_of,
    form_from_flags,
    form_of,
    lines_of,
    read_tree,
    user_position,
    with_folders,
    write_tree,
)

SETTINGS = {
    "marker": "`OPEN CLOSE` instead of `<| |>` (then the cursor is OPEN directly followed by CLOSE), or `none`",
    "faces": "the only faces that run the case, separated by blanks",
    "needs": "`inference REASON`: beyond the resolver; must be refused or reported, never written wrong in silence",
    "expected": "`refused`: known-wrong today; the prose says FIXME and the expectations what would be right",
    "exit": "the last step's exit code, where it is not 0 although nothing is refused (nothing was found)",
    "run": "arguments for the Python interpreter; the program prints the same before and after",
    "python": "the least version that the program (not lsptools) needs",
    "rows": "which rows of the feature table the case belongs to",
    "source": "where the situation comes from",
}
NEEDS = frozenset({"inference"})
ANSWERS = frozenset({"diff", "out", "error", "possible"})
SETTING = re.compile(r"(?P<key>[a-z]+): (?P<value>.*)")
EXPECTED = re.compile(r"=> (?:(?P<number>\d+): )?(?P<rest>.+)")
MARKER = re.compile(r"<\|>|<\|(?P<name>\w+)(?::(?P<text>.*?))?\|>")


# ------------------------------------------------------------------------------------------------------- the case
@dataclass(frozen=True, slots=True)
class Section:
    """A header (without its dashes) and a body whose lines keep their ends."""

    header: str
    body: str

    @property
    def expects(self) -> bool:
        return self.header.startswith("=> ")

    @property
    def text(self) -> str:
        return f"-- {self.header} --\n{self.body}"


@dataclass(frozen=True, slots=True)
class Mark:
    """A marker: the place `path:line:col` of its start, and what it spans, in code points of the decoded text."""

    path: str
    start: int
    end: int
    place: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """One right outcome. What is `None` is not asked about."""

    tree: Tree | None
    """The whole tree; `None` where only a diff tells."""
    diff: str | None = None
    out: str | None = None
    error: str | None = None
    possible: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario as it is written; `before`, `marks` and `wanted` say what it means."""

    head: str
    sections: tuple[Section, ...]

    @property
    def text(self) -> str:
        return self.head + "".join(section.text for section in self.sections)

    @property
    def prose(self) -> str:
        paragraphs = re.split(
            r"\n{2,}", "".join(line for line in lines_of(self.head) if not line.startswith("$ "))
        )
        return "\n\n".join(p.strip("\n") for p in paragraphs if p.strip() and not _settings(p))

    @property
    def settings(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for paragraph in re.split(r"\n{2,}", self.head):
            found |= _settings(paragraph)
        return found

    @property
    def steps(self) -> tuple[str, ...]:
        return tuple(line[2:].rstrip("\n") for line in lines_of(self.head) if line.startswith("$ "))


def parse(text: str) -> Case:
    """Read a case and check all of it: settings, flags, markers, steps, expectations."""
    head, *rest = _split(text)
    case = Case(head.body, tuple(rest))
    if not case.steps:
        raise CaseError("a case has at least one step, a line that begins with `$ `")
    _check_settings(case)
    marks(case)
    for step in case.steps:
        arguments(case, step)
    wanted(case)
    return case


def build(prose: str, settings: Mapping[str, str], steps: Iterable[str], sections: Iterable[Section]) -> Case:
    """A case from its parts, in the usual layout."""
    lines = [prose.strip("\n"), "", *(f"{key}: {value}" for key, value in settings.items())]
    lines += (
        ["", *(f"$ {step}" for step in steps), ""] if settings else [*(f"$ {step}" for step in steps), ""]
    )
    return parse("\n".join(lines) + "".join(section.text for section in sections))


def marker_pattern(case: Case) -> re.Pattern[str] | None:
    """What a marker looks like in this case's files; `None` where there are none."""
    setting = case.settings.get("marker")
    if setting is None:
        return MARKER
    if setting == "none":
        return None
    opening, closing = map(re.escape, setting.split())
    return re.compile(rf"{opening}(?:(?P<name>\w+)(?::(?P<text>.*?))?)?{closing}")


def before(case: Case) -> Tree:
    """The workspace that the steps find."""
    return with_folders({path: _input(case, path)[0] for path in _input_sections(case)})


def marks(case: Case) -> dict[str, Mark]:
    """The markers by name; the nameless one is called `cursor`."""
    found: dict[str, Mark] = {}
    for path in _input_sections(case):
        for name, mark in _input(case, path)[1]:
            if name in found:
                raise CaseError(f"the marker {name!r} stands in {found[name].place} and in {mark.place}")
            found[name] = mark
    return found


def arguments(case: Case, step: str) -> list[str]:
    """The step's words, with `@name` replaced by the place (`@@` is a plain `@`)."""
    return [_place_for(case, word) for word in shlex.split(step)]


def wanted(case: Case) -> tuple[Wanted, ...]:
    """The right outcomes, at least one; a case without expectations wants nothing changed."""
    sets: dict[int, list[tuple[str, Section]]] = {1: []}
    for section in filter(lambda section: section.expects, case.sections):
        number, rest = _expected_header(section)
        sets.setdefault(number, []).append((rest, section))
    return tuple(_wanted(case, items) for _, items in sorted(sets.items()))


def expected_form(case: Case, section: Section) -> tuple[str, Form]:
    """The path and the form of an expected file: its own flags, or else those of the input."""
    path, words = _path_and_flags(_expected_header(section)[1])
    inputs = _input_sections(case)
    return path, (form_from_flags(words) if words or path not in inputs else inputs[path][1])


# ------------------------------------------------------------------------------------------------------- writing
def file_section(path: str, entry: Entry, *, prefix: str = "", like: Form | None = None) -> Section:
    """A section that says `entry`; in the form `like` (then without flags) where that form can say it."""
    name = prefix + shlex.quote(path)
    match entry:
        case Folder():
            return Section(f"{name} empty folder", "")
        case Link():
            return Section(f"{name}{Form(symlink=entry.target).flags()}", "")
        case File():
            if like is not None and like.mode == entry.mode and not like.symlink and not like.empty_folder:
                body = body_of(like, entry.data)
                if body is not None:
                    return Section(name, body)
            form, body = form_of(entry.data, mode=entry.mode, plain=None if prefix else MARKER)
            return Section(f"{name}{form.flags() or (' plain' if like else '')}", body)


def with_expectations(
    case: Case, after: Tree, *, error: str | None, brief_error: str, out: str, possible: Iterable[str]
) -> Case:
    """The case with what happened as its first set of expectations.

    Changed files and the refusal are always said (the refusal in brief where it was one line before); a diff, the output and uncertain places only where the case
    already asks for them. Sections that still apply keep their place; new ones come last.
    """
    fresh = dict(_observed(case, after, error, brief_error, out, possible))
    kept = []
    for section in case.sections:
        if not section.expects or _expected_header(section)[0] != 1:
            kept.append(section)
        elif replacement := fresh.pop(_subject(section), None):
            kept.append(replacement)
    return parse(Case(case.head, (*kept, *fresh.values())).text)


def _observed(
    case: Case, after: Tree, error: str | None, brief_error: str, out: str, possible: Iterable[str]
) -> Iterator[tuple[str, Section]]:
    """What happened, as (what the section is about, section)."""
    start, inputs = before(case), _input_sections(case)
    asked = {_subject(section): section for section in case.sections if section.expects}
    if "diff" not in asked:
        for path in sorted(start.keys() - after.keys()):
            if path in inputs:
                yield f"gone {path}", Section(f"=> gone {shlex.quote(path)}", "")
        for path, entry in sorted(after.items()):
            childless = not any(other.startswith(f"{path}/") for other in after)
            if start.get(path) != entry and (not isinstance(entry, Folder) or childless):
                like = inputs[path][1] if path in inputs else None
                yield path, file_section(path, entry, prefix="=> ", like=like)
    elif start != after:
        yield "diff", Section("=> diff", diff_of(start, after))
    if error is not None:
        brief = "error" in asked and asked["error"].body.count("\n") == 1
        yield "error", Section("=> error", brief_error if brief else error)
    if "out" in asked:
        yield "out", Section("=> out", out)
    if "possible" in asked:
        yield "possible", Section("=> possible", "".join(f"{place}\n" for place in possible))


# ------------------------------------------------------------------------------------------------------- below
def _split(text: str) -> list[Section]:
    if text and not text.endswith("\n"):
        raise CaseError("the last line has no line end; the flag `no-eol` says that a file has none")
    parts: list[tuple[str, list[str]]] = [("", [])]
    for line in lines_of(text):
        if found := SECTION.fullmatch(line):
            parts.append((found["header"], []))
        else:
            parts[-1][1].append(line)
    return [Section(header, "".join(lines)) for header, lines in parts]


def _settings(paragraph: str) -> dict[str, str]:
    """The settings of a paragraph: all of its lines, or none."""
    lines = [line for line in paragraph.strip("\n").split("\n") if not line.startswith("$ ")]
    found = {m["key"]: m["value"] for m in map(SETTING.fullmatch, lines) if m}
    if not found.keys() & SETTINGS.keys():
        return {}
    if len(found) != len(lines) or found.keys() - SETTINGS.keys():
        raise CaseError(f"not only settings, or an unknown one: {paragraph!r}")
    return found


def _check_settings(case: Case) -> None:
    settings = case.settings
    if not case.prose:
        raise CaseError("a case begins with a sentence on what should happen, and why")
    if "needs" in settings:
        need, _, reason = settings["needs"].partition(" ")
        if need not in NEEDS or not reason:
            raise CaseError(f"`needs:` wants one of {sorted(NEEDS)} and a reason")
    if "expected" in settings and (settings["expected"] != "refused" or "FIXME" not in case.prose):
        raise CaseError("`expected:` is `refused`, and the prose has a FIXME")


def _path_and_flags(header: str) -> tuple[str, list[str]]:
    path, *flags = shlex.split(header)
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or pure.as_posix() == ".":
        raise CaseError(f"{path!r} is no path inside the workspace")
    return pure.as_posix(), flags


@functools.lru_cache
def _input_sections(case: Case) -> dict[str, tuple[Section, Form]]:
    found: dict[str, tuple[Section, Form]] = {}
    for section in case.sections:
        if not section.expects:
            path, flags = _path_and_flags(section.header)
            if path in found:
                raise CaseError(f"{path} is given twice")
            found[path] = (section, form_from_flags(flags))
    return found


@functools.lru_cache(maxsize=1024)
def _input(case: Case, path: str) -> tuple[Entry, list[tuple[str, Mark]]]:
    """A file without its markers, and the markers."""
    section, form = _input_sections(case)[path]
    pattern = None if form.binary else marker_pattern(case)
    found, text, plain, last = [], "", "", 0
    for marker in pattern.finditer(section.body) if pattern else ():
        plain += section.body[last : marker.start()]
        text = form.text(plain)
        inside = marker["text"] or ""
        line, column = user_position(text, len(text))
        span = (len(text), len(text) + len(form.text(inside)))
        found.append((marker["name"] or "cursor", Mark(path, *span, f"{path}:{line}:{column}")))
        plain += inside
        last = marker.end()
    return form.entry(plain + section.body[last:]), found


def _place_for(case: Case, word: str) -> str:
    if not word.startswith("@"):
        return word
    if word.startswith("@@"):
        return word[1:]
    known = marks(case)
    if word[1:] not in known:
        raise CaseError(f"{word} is no marker of this case; there are {sorted(known)}")
    return known[word[1:]].place


def _expected_header(section: Section) -> tuple[int, str]:
    found = EXPECTED.fullmatch(section.header)
    if not found:
        raise CaseError(f"not understood: {section.header!r}")
    return int(found["number"] or 1), found["rest"]


def _subject(section: Section) -> str:
    """What an expectation is about, without flags: `diff`, `gone a.py`, `a.py`."""
    rest = _expected_header(section)[1]
    if rest in ANSWERS:
        return rest
    if rest.startswith("gone "):
        return f"gone {_path_and_flags(rest.removeprefix('gone '))[0]}"
    return _path_and_flags(rest)[0]


def _wanted(case: Case, items: Sequence[tuple[str, Section]]) -> Wanted:
    subjects = [_subject(section) for _, section in items]
    if len(set(subjects)) != len(subjects):
        raise CaseError(f"something is expected twice: {sorted(subjects)}")
    answers = {rest: section.body for rest, section in items if rest in ANSWERS}
    files = [(rest, section) for rest, section in items if rest not in ANSWERS]
    possible = answers.get("possible")
    return Wanted(
        tree=None if "diff" in answers and not files else _tree_after(case, files),
        diff=answers.get("diff"),
        out=answers.get("out"),
        error=answers.get("error"),
        possible=None
        if possible is None
        else tuple(_place_for(case, word) for word in possible.split("\n") if word),
    )


def _tree_after(case: Case, files: Sequence[tuple[str, Section]]) -> Tree:
    entries = {path: _input(case, path)[0] for path in _input_sections(case)}
    for rest, section in files:
        if rest.startswith("gone "):
            path, flags = _path_and_flags(rest.removeprefix("gone "))
            gone = [name for name in entries if name == path or name.startswith(f"{path}/")]
            if not gone or flags or section.body:
                raise CaseError(
                    f"{section.header!r}: names no file of the case, or says more than that it is gone"
                )
            for name in gone:
                del entries[name]
    for rest, section in files:
        if not rest.startswith("gone "):
            path, form = expected_form(case, section)
            entries[path] = form.entry(section.body)
    return with_folders(entries)
