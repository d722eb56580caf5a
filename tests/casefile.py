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

The module knows nothing of `lsptools`: it counts lines, columns and bytes by itself, so it is a second witness. It
stops at text files as people write them; bytes that no flag can say are written as `hex` or `base64`. Invariant:
`parse(text).text == text`, and `form_of(data)` gives a form and a body for which `form.encode(body) == data`.
"""

from __future__ import annotations

import base64
import codecs
import difflib
import functools
import re
import shlex
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

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
DEFAULT_MODE = 0o644

BREAK = re.compile(r"\r\n|\n|\r")
SECTION = re.compile(r"-- (?P<header>\S.*?) --\n?")
SETTING = re.compile(r"(?P<key>[a-z]+): (?P<value>.*)")
EXPECTED = re.compile(r"=> (?:(?P<number>\d+): )?(?P<rest>.+)")
MARKER = re.compile(r"<\|>|<\|(?P<name>\w+)(?::(?P<text>.*?))?\|>")
ESCAPE = re.compile(r"\\(?:[\\rnft]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")
COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.MULTILINE)
ODD = re.compile(
    "[^\t\n\x20-\x7e\u00a1-\u200a\u2010-\u2027\u202f-\u205f\u2070-\ud7ff\ue000-\ufefe\uff00-\U0010ffff]"
)
"""Characters that a reader of a case file would not see, or that an editor might change."""
BOMS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


class CaseError(ValueError):
    """The case file itself is wrong."""


# --------------------------------------------------------------------------------------------------- trees of bytes
@dataclass(frozen=True, slots=True)
class File:
    data: bytes
    mode: int = DEFAULT_MODE


@dataclass(frozen=True, slots=True)
class Link:
    target: str


@dataclass(frozen=True, slots=True)
class Folder:
    mode: int = 0o755


Entry = File | Link | Folder
Tree = dict[str, Entry]
"""Relative path with `/` → what is there; folders are entries of their own."""


def read_tree(root: Path) -> Tree:
    """Everything below `root`, with what must not change about it."""
    tree: Tree = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            tree[name] = Link(str(path.readlink()))
        elif path.is_dir():
            tree[name] = Folder(stat.S_IMODE(path.stat().st_mode))
        else:
            tree[name] = File(path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
    return tree


def write_tree(root: Path, tree: Tree) -> None:
    """Make `root`, an existing empty folder, hold `tree`."""
    for name, entry in sorted(tree.items()):
        path = root / name
        match entry:
            case Folder():
                path.mkdir()
                path.chmod(entry.mode)
            case Link():
                path.symlink_to(entry.target)
            case File():
                path.write_bytes(entry.data)
                path.chmod(entry.mode)


def lines_of(text: str) -> list[str]:
    """Lines with their ends; a case file's lines end at `\\n` only."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def with_folders(entries: Mapping[str, Entry]) -> Tree:
    """The entries and the folders they lie in."""
    tree: Tree = {
        parent.as_posix(): Folder()
        for name in entries
        for parent in PurePosixPath(name).parents
        if parent.as_posix() != "."
    }
    return {**tree, **entries}


def diff_of(before: Tree, after: Tree) -> str:
    """What changed, in path order, without context; line ends other than the file's usual one are visible."""
    parts: list[str] = []
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old != new and (isinstance(old, File) or isinstance(new, File)):
            parts += _file_diff(name, old, new)
    return "".join(parts)


def _file_diff(name: str, old: Entry | None, new: Entry | None) -> Iterator[str]:
    was, now = _shown(old), _shown(new)
    if isinstance(old, File) and isinstance(new, File) and was[0] != now[0]:
        yield f"flags {name}:{was[0] or ' plain'} =>{now[0] or ' plain'}\n"
    a, b = ("/dev/null" if entry is None else f"{side}/{name}" for side, entry in (("a", old), ("b", new)))
    yield from difflib.unified_diff(was[1], now[1], a, b, n=0)


def _shown(entry: Entry | None) -> tuple[str, list[str]]:
    """The flags (those aside that the lines show) and the lines of a file."""
    if not isinstance(entry, File):
        return "", []
    form, body = form_of(entry.data, mode=entry.mode)
    lines = lines_of(body)
    if form.no_eol:
        lines[-1] += "\\ No newline at end of file\n"
    return replace(form, no_eol=False, escaped=False).flags(), lines


# ------------------------------------------------------------------------------------------- how a section says bytes
@dataclass(frozen=True, slots=True)
class Form:
    """The flags of a section: how its body says bytes, and what else there is to say about the file."""

    newline: str = "\n"
    """Flags `crlf` and `cr`: what each line end of the body stands for."""
    encoding: str = "utf-8"
    """Flag: any name of a Python codec."""
    bom: bool = False
    no_eol: bool = False
    """The body's last line end does not belong to the file."""
    escaped: bool = False
    r"""`\r \n \f \t \\ \xNN \uNNNN \UNNNNNNNN` in the body; `\udcNN` is the stray byte NN."""
    binary: str = ""
    """Flags `hex` and `base64`: the body holds bytes, not text."""
    mode: int = DEFAULT_MODE
    symlink: str | None = None
    empty_folder: bool = False

    def flags(self) -> str:
        """As they are written in a header, each after a blank."""
        words = [
            {"\n": "", "\r\n": "crlf", "\r": "cr"}[self.newline],
            {"utf-8": "", "iso8859-1": "latin-1"}.get(self.encoding, self.encoding),
            *(
                word
                for word, on in (("bom", self.bom), ("no-eol", self.no_eol), ("escaped", self.escaped))
                if on
            ),
            self.binary,
            f"mode={self.mode:o}" if self.mode != DEFAULT_MODE else "",
            f"symlink={shlex.quote(self.symlink)}" if self.symlink is not None else "",
            "empty folder" if self.empty_folder else "",
        ]
        return "".join(f" {word}" for word in words if word)

    def text(self, body: str) -> str:
        """The decoded text (without byte order mark) that a body, or a piece of one, stands for."""
        body = body.replace("\n", self.newline)
        return ESCAPE.sub(lambda found: _unescaped(found[0]), body) if self.escaped else body

    def encode(self, body: str) -> bytes:
        """The bytes of the file."""
        if self.binary == "hex":
            return bytes.fromhex(body)
        if self.binary == "base64":
            return base64.b64decode(body, validate=False)
        text = self.text(body)
        if self.no_eol:
            text = text.removesuffix(self.newline)
        return (BOMS[self.encoding] if self.bom else b"") + text.encode(self.encoding, self.errors("strict"))

    def errors(self, otherwise: str) -> str:
        """How the codec treats what it cannot say: stray bytes are kept in UTF-8, and nowhere else."""
        return "surrogateescape" if self.encoding == "utf-8" else otherwise

    def entry(self, body: str) -> Entry:
        """What the section puts into the tree."""
        if self.empty_folder or self.symlink is not None:
            if body:
                raise CaseError("a link or an empty folder holds no text")
            return Folder() if self.symlink is None else Link(self.symlink)
        return File(self.encode(body), self.mode)


def _unescaped(escape: str) -> str:
    return escape.encode("ascii").decode("unicode_escape")


def form_from_flags(words: Sequence[str]) -> Form:
    """The form that the flags of a header say."""
    form = Form()
    for word in " ".join(words).replace("empty folder", "empty-folder").split():
        key, _, value = word.partition("=")
        match key:
            case "crlf" | "cr":
                form = replace(form, newline={"crlf": "\r\n", "cr": "\r"}[word])
            case "bom":
                form = replace(form, bom=True)
            case "escaped":
                form = replace(form, escaped=True)
            case "no-eol":
                form = replace(form, no_eol=True)
            case "empty-folder":
                form = replace(form, empty_folder=True)
            case "hex" | "base64":
                form = replace(form, binary=key)
            case "mode":
                form = replace(form, mode=int(value, 8))
            case "symlink":
                form = replace(form, symlink=value)
            case "plain":
                pass  # says only: none of the input's flags
            case _:
                form = replace(form, encoding=_codec(word))
    if form.encoding in ("utf-16", "utf-32"):
        form = replace(form, encoding=form.encoding + "-le", bom=True)
    if form.bom and form.encoding not in BOMS:
        raise CaseError(f"{form.encoding} has no byte order mark")
    return form


def _codec(word: str) -> str:
    try:
        return codecs.lookup(word).name
    except LookupError:
        raise CaseError(f"unknown flag {word!r}") from None


def form_of(
    data: bytes, *, mode: int = DEFAULT_MODE, plain: re.Pattern[str] | None = None
) -> tuple[Form, str]:
    """The most readable form for these bytes, and the body in it.

    What matches `plain` (markers) is written so that it is no longer matched.
    """
    form, text = _declared(data)
    ends = set(BREAK.findall(text))
    newline = ends.pop() if len(ends) == 1 else "\n"  # mixed ones are escaped
    no_eol = bool(text) and not text.endswith(newline)
    form = replace(form, mode=mode, newline=newline, no_eol=no_eol)
    for candidate in (form, replace(form, escaped=True)):
        body = body_of(candidate, data, plain=plain)
        if body is not None:
            return candidate, body
    return Form(binary="base64", mode=mode), _base64_lines(data)


def body_of(form: Form, data: bytes, *, plain: re.Pattern[str] | None = None) -> str | None:
    """The body with which `form` says these bytes; `None` where it cannot."""
    if form.binary:
        return _base64_lines(data) if form.binary == "base64" else _hex_lines(data)
    text = data.removeprefix(BOMS[form.encoding] if form.bom else b"").decode(
        form.encoding, form.errors("replace")
    )
    body = (text + form.newline if form.no_eol else text).replace(form.newline, "\n")
    if form.escaped:
        body = _escaped(body, plain)
    elif ODD.search(body) or any(map(SECTION.fullmatch, lines_of(body))) or (plain and plain.search(body)):
        return None
    try:
        return body if body[-1:] in ("", "\n") and form.encode(body) == data else None
    except UnicodeError:
        return None


def _declared(data: bytes) -> tuple[Form, str]:
    """What the bytes declare (byte order mark, PEP 263), else UTF-8; and their text."""
    for encoding, bom in sorted(BOMS.items(), key=lambda item: -len(item[1])):
        if data.startswith(bom):
            form = Form(encoding=encoding, bom=True)
            return form, data[len(bom) :].decode(encoding, form.errors("replace"))
    if found := COOKIE.search(b"\n".join(re.split(rb"\r\n|\n|\r", data)[:2])):
        try:
            encoding = codecs.lookup(found[1].decode("ascii")).name
            return Form(encoding=encoding), data.decode(encoding)
        except (LookupError, UnicodeDecodeError):
            pass
    return Form(), data.decode("utf-8", "surrogateescape")


def _escaped(body: str, plain: re.Pattern[str] | None) -> str:
    body = body.replace("\\", "\\\\")
    body = ODD.sub(lambda found: _escape(found[0]), body)
    body = re.sub(r"(?m)^-(?=- .* --$)", r"\\x2d", body)
    return plain.sub(lambda found: f"\\x{ord(found[0][0]):02x}{found[0][1:]}", body) if plain else body


def _escape(character: str) -> str:
    short = {"\r": "\\r", "\f": "\\f"}.get(character)
    code = ord(character)
    return short or (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )


def _base64_lines(data: bytes) -> str:
    text = base64.b64encode(data).decode("ascii")
    return "".join(f"{text[at : at + 76]}\n" for at in range(0, len(text), 76))


def _hex_lines(data: bytes) -> str:
    return "".join(f"{data[at : at + 24].hex(' ')}\n" for at in range(0, len(data), 24))


# ------------------------------------------------------------------------------------------- text and its positions
def text_of(file: File) -> str:
    """The decoded text, without byte order mark."""
    return _declared_form(file)[1]


def with_text(file: File, text: str) -> File:
    """The file with another text: the same encoding, byte order mark and mode."""
    form = _declared_form(file)[0]
    bom = BOMS[form.encoding] if form.bom else b""
    return replace(file, data=bom + text.encode(form.encoding, form.errors("strict")))


def has_bom(file: File) -> bool:
    """Whether the file begins with a byte order mark."""
    return _declared_form(file)[0].bom


def user_position(text: str, offset: int) -> tuple[int, int]:
    """Line and column, 1-based, in code points."""
    lines = BREAK.split(text[:offset])
    return len(lines), len(lines[-1]) + 1


def utf16_position(text: str, line: int, column: int) -> dict[str, int]:
    """The LSP position of a 1-based line and column in code points."""
    before = BREAK.split(text)[line - 1][: column - 1]
    return {"line": line - 1, "character": len(before.encode("utf-16-le", "surrogatepass")) // 2}


@functools.lru_cache(maxsize=256)
def _declared_form(file: File) -> tuple[Form, str]:
    return _declared(file.data)


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
