"""What a language says about a name: symbols, occurrences and the evidence for each.

Values only. Paths are relative to the workspace root with `/` (a place outside the workspace is an absolute path);
spans are code points of the decoded text without its byte order mark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from lsptools.text.lines import Offset, Span


class Evidence(str, Enum):
    """The class of an occurrence; every textual occurrence has exactly one."""

    CERTAIN = "certain"
    """The binding was derived, step by step."""
    LIKELY = "likely"
    """The receiver is unknown, yet nothing else that is known has an attribute of this name; or jedi derives it."""
    POSSIBLE = "possible"
    """Could be this symbol; cannot be known."""
    MENTION = "mention"
    """Comment, docstring, documentation, other text."""
    UNRELATED = "unrelated"
    """Bound to something else."""


@dataclass(frozen=True, slots=True)
class FilePosition:
    """A place in a file: relative path and an offset in code points."""

    path: str
    offset: Offset
    is_module: bool = False
    """Is the file (or the folder of a package) itself meant, as a module, and not what stands at the offset?"""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a derivation: a sentence and, where it has one, the place it speaks of."""

    says: str
    path: str | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One textual occurrence of a name, with its class and the reason for it."""

    path: str
    span: Span
    evidence: Evidence
    role: str
    """What the occurrence is: `definition`, `write`, `read`, `call`, `import`, `attribute`, `keyword`, `string`, …"""
    reason: str
    """One phrase; the last step of the derivation."""
    steps: tuple[Step, ...] = ()
    """The whole derivation, from the occurrence to the symbol."""
    replacement: str | None = None
    """For a spelling other than the symbol's name (`_Vault__secret`): how to spell the new name, with `{}` for it."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """Something that has a name: where it is defined, what it is."""

    name: str
    kind: str
    """`function`, `class`, `method`, `attribute`, `parameter`, `variable`, `local`, `module`, `import`, …"""
    path: str
    span: Span
    """The name at the definition."""
    qualified: str
    """`package.module.Class.method`; for locals the function's qualified name and the local's."""


@dataclass(frozen=True, slots=True)
class References:
    """Everything found for one symbol; `occurrences` is the whole account (the conservation law)."""

    symbol: Symbol
    declarations: tuple[Symbol, ...]
    """All declarations that form one name with `symbol`, itself included."""
    occurrences: tuple[Occurrence, ...]
    """Sorted by path and span; each textual occurrence in reach exactly once."""
    complete: bool = True
    incomplete_because: tuple[str, ...] = ()
    n_files: int = 0
    """How many files contain the name."""

    def counts(self) -> Mapping[str, int]:
        """How many occurrences each class of evidence has."""
        found = Counter(occurrence.evidence.value for occurrence in self.occurrences)
        return {evidence.value: found[evidence.value] for evidence in Evidence}
