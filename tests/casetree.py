"""Trees of bytes, and how a text says them: for one file a form (flags) and a body of readable lines.

What a form can say: line ends, encodings, byte order marks, a missing last line end, characters that nobody would see (as
escapes), modes, links, empty folders; and for everything else base64. The invariant: `form_of(data)` gives a form and a
body for which `form.encode(body) == data`.

Lines, columns and UTF-16 are counted here anew, without `lsptools`, so that tests have a second witness.
"""

from __future__ import annotations

import base64
import codecs
import difflib
import functools
import re
import shlex
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

DEFAULT_MODE = 0o644

BREAK = re.compile(r"\r\n|\n|\r")
SECTION = re.compile(r"-- (?P<header>\S.*?) --\n?")
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
    """Whether the file is UTF-8 and begins with a byte order mark."""
    form = _declared_form(file)[0]
    return form.bom and form.encoding == "utf-8"


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
