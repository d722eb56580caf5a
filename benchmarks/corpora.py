"""The code that is searched, and the questions asked about it.

Three published wheels, unpacked as they are: a wheel is the same bytes for everyone and needs no checkout. What a wheel
leaves out (most tests) is not searched, and third-party imports of Home Assistant stay unresolved for every tool alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.archives import unpacked_wheel


@dataclass(frozen=True, slots=True)
class Corpus:
    """One wheel; `requirement` pins it."""

    key: str
    requirement: str


@dataclass(frozen=True, slots=True)
class Question:
    """Where is `name`, defined by the first line of `path` that begins with `anchor`, used?"""

    corpus: str
    path: str
    anchor: str
    """Start of the defining line without its indentation; ends with the name."""
    name: str

    @property
    def key(self) -> str:
        return f"{self.corpus}-{self.name}"


@dataclass(frozen=True, slots=True)
class Size:
    """What was unpacked: Python files, their lines and bytes."""

    n_files: int
    n_lines: int
    n_bytes: int


CORPORA = {
    "django": Corpus("django", "Django==5.2"),
    "sympy": Corpus("sympy", "sympy==1.13.3"),
    "ha": Corpus("ha", "homeassistant==2026.11.0"),
}

QUESTIONS = (
    Question("django", "django/utils/functional.py", "class cached_property", "cached_property"),
    Question("sympy", "sympy/core/sympify.py", "def sympify", "sympify"),
    Question("ha", "homeassistant/util/dt.py", "def parse_datetime", "parse_datetime"),
    Question("ha", "homeassistant/helpers/entity.py", "def async_write_ha_state", "async_write_ha_state"),
    Question("ha", "homeassistant/core.py", "def callback", "callback"),
)


def unpacked(corpus: Corpus, folder: Path) -> Path:
    """The corpus as a project of its own below `folder`, which has to be outside any project."""
    return unpacked_wheel(corpus.requirement, folder / corpus.key)


def read_once(folder: Path) -> Size:
    """Reads every file, so that the page cache is warm for whichever tool comes first; says how much Python there is."""
    n_files = n_lines = n_bytes = 0
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            if path.suffix == ".py":
                n_files, n_lines, n_bytes = (
                    n_files + 1,
                    n_lines + content.count(b"\n"),
                    n_bytes + len(content),
                )
    return Size(n_files, n_lines, n_bytes)


def position(root: Path, question: Question) -> tuple[int, int]:
    """1-based line and column of the name at its definition (the text before it is ASCII, so units agree)."""
    lines = (root / question.path).read_text("utf-8").split("\n")
    hits = [
        (number, len(line) - len(line.lstrip()) + len(question.anchor) - len(question.name) + 1)
        for number, line in enumerate(lines, 1)
        if line.lstrip().startswith(question.anchor)
        and not line.lstrip()[len(question.anchor) :][:1].isidentifier()
    ]
    if not hits:
        raise SystemExit(f"{question.path} has no line that begins with {question.anchor!r}")
    return hits[0]
