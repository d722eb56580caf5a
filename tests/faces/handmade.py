"""Answers made by hand, for the tests of what faces make of them: a project of three files and a rename in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lsptools.languages.names import Evidence, Occurrence, References, Step, Symbol
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Offset, Span
from lsptools.tools.base import Positions
from lsptools.tools.references import Params, ReferencesAnswer, select
from lsptools.workspace.change import Change, FileEdits
from lsptools.workspace.operations import MemoryOperations
from lsptools.workspace.paths import Root
from lsptools.workspace.snapshot import Snapshot

FILES = {
    "net.py": "def get(url):\n    return url\n",
    "main.py": 'from net import get\r\n"😀é"; print(get("get"))\r\n',
    "other.py": "class A:\n    get = 1\n# get\nx.get\n",
}


@dataclass(frozen=True, slots=True)
class Proof:
    says: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """Stands for a `RenamePlan`."""

    symbol: Symbol
    references: References
    change: Change
    proof: tuple[Proof, ...]
    edited: frozenset[tuple[str, Span]]


def snapshot() -> Snapshot:
    """The project in memory, with its line ends."""
    files = {f"/shop/{name}": text.encode() for name, text in FILES.items()}
    return Snapshot(Root(Path("/shop")), MemoryOperations(files))


def nth(path: str, n: int) -> Span:
    """The n-th `get` of a file, from 0."""
    at = -1
    for _ in range(n + 1):
        at = FILES[path].index("get", at + 1)
    return Span(Offset(at), Offset(at + 3))


GET = Symbol("get", "function", "net.py", nth("net.py", 0), "net.get")

OCCURRENCES = (
    Occurrence(
        "main.py",
        nth("main.py", 0),
        Evidence.CERTAIN,
        "import",
        "imports `get` from net",
        (
            Step("imported from net", "main.py", nth("main.py", 0)),
            Step("net is net.py", "net.py"),
            Step("that is all"),
        ),
    ),
    Occurrence("main.py", nth("main.py", 1), Evidence.CERTAIN, "call", "bound by the import at 1:17"),
    Occurrence("main.py", nth("main.py", 2), Evidence.MENTION, "string", "in a string"),
    Occurrence("net.py", nth("net.py", 0), Evidence.CERTAIN, "definition", "the symbol itself"),
    Occurrence("other.py", nth("other.py", 0), Evidence.UNRELATED, "definition", "an attribute of other.A"),
    Occurrence("other.py", nth("other.py", 1), Evidence.MENTION, "comment", "in a comment"),
    Occurrence("other.py", nth("other.py", 2), Evidence.POSSIBLE, "attribute", "nobody knows what `x` is"),
)


def references(*, complete: bool = True) -> References:
    because = () if complete else ("star import of an unknown module in main.py",)
    return References(GET, (GET,), OCCURRENCES, complete, because, n_files=3)


def references_answer(params: Params | None = None, *, complete: bool = True) -> ReferencesAnswer:
    return select(references(complete=complete), params or Params("net.py:1:5"), Positions(snapshot()))


def plan() -> Plan:
    files = snapshot()
    spans = {"main.py": [nth("main.py", 0), nth("main.py", 1)], "net.py": [nth("net.py", 0)]}
    edits = tuple(
        FileEdits(path, Edits.of(TextEdit(span, "fetch") for span in here), files.document(path).digest)
        for path, here in spans.items()
    )
    edited = frozenset((path, span) for path, here in spans.items() for span in here)
    change = Change(edits, notes=("written for a test",), label="rename get to fetch")
    return Plan(GET, references(), change, (Proof("3 of 3 occurrences are bound as before", True),), edited)
