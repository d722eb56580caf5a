"""Renames drawn by lot: a definition in real code, a new name, and what planning them comes to.

A new name is fresh (nowhere in the code), or one that the code has somewhere, where most of what can go wrong is near:
every other one is of the definition's own file.
"""

from __future__ import annotations

import io
import keyword
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tokenize import NAME, generate_tokens

from laws.definitions import Definition, parsed

from lsptools.errors import Refused
from lsptools.refactor.rename import SKIP, Policy, RenamePlan, plan_rename
from lsptools.text.document import Document
from lsptools.workspace.snapshot import Snapshot

FRESH = "zq_fresh_name"
PRIVATE = "__zq_fresh_name"
"""Names that no code has."""


@dataclass(frozen=True, slots=True)
class Rename:
    """An accepted rename."""

    definition: Definition
    new_name: str
    plan: RenamePlan

    def __str__(self) -> str:
        return shown(self.definition, self.new_name)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused one."""

    definition: Definition
    new_name: str
    error: Refused

    def __str__(self) -> str:
        return f"{shown(self.definition, self.new_name)}: {self.error.kind}: {self.error}"


def shown(definition: Definition, new_name: str) -> str:
    where = f"{definition.path}@{definition.offset}"
    return f"{definition.kind} `{definition.name}` to `{new_name}` in {where}"


def tried(snapshot: Snapshot, definition: Definition, new_name: str) -> Rename | Refusal:
    """What comes of a rename, with all that is possible left as it is."""
    try:
        plan = plan_rename(snapshot, definition.place, new_name, Policy(possible=SKIP))
    except Refused as refusal:
        return Refusal(definition, new_name, refusal)
    return Rename(definition, new_name, plan)


def accepted(snapshot: Snapshot, definitions: Iterator[Definition], refused: list[str]) -> Iterator[Rename]:
    """The plans of those renames to fresh names that are accepted; what is refused, and why, is noted in `refused`."""
    for definition in definitions:
        found = tried(snapshot, definition, fresh_name(definition))
        if isinstance(found, Refusal):
            refused.append(str(found))
        else:
            yield found


def fresh_name(definition: Definition) -> str:
    return PRIVATE if definition.private else FRESH


class ExistingNames:
    """The names in the Python files below a folder, to draw from."""

    def __init__(self, folder: Path) -> None:
        texts = {
            path.relative_to(folder).as_posix(): Document.decode(path.read_bytes()).text
            for path in sorted(folder.rglob("*.py"))
        }
        self.by_file: Mapping[str, Sequence[str]] = {path: _names_in(text) for path, text in texts.items()}
        self.all = sorted({name for names in self.by_file.values() for name in names})

    def name_for(self, definition: Definition, lots: random.Random) -> str:
        """Another name than its own: of its file or of any, each as often."""
        names = lots.choice((self.by_file[definition.path], self.all))
        others = [name for name in names if name != definition.name]
        return lots.choice(others or self.all)


def _names_in(text: str) -> list[str]:
    """Identifiers in code, each once; none that the language calls by itself, and none of a file that does not parse."""
    if parsed(text) is None:
        return []
    words = {token.string for token in generate_tokens(io.StringIO(text).readline) if token.type == NAME}
    return sorted(word for word in words if not keyword.iskeyword(word) and not is_dunder(word))


def is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
