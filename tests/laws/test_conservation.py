"""The conservation law: what is found for a symbol are the words that a text search counts in its reach, each once.

The witness is ripgrep's own count of the name, file by file, which shares nothing with the finding but the list of files.
Tried on every definition of the example and of an installed package, and on some of a larger one.
"""

import importlib.util
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from lsptools.faces.environment import Environment
from lsptools.languages.names import FilePosition, References
from lsptools.search.references import references
from lsptools.syntax.outline import Item, outline
from lsptools.text.document import Document
from lsptools.workspace.paths import Root
from lsptools.workspace.snapshot import Snapshot

SHOP = Path(__file__).parents[2] / "examples" / "shop"


def copied(package: str, folder: Path) -> Path:
    """An installed package as a workspace: what is installed is not ours, a copy is."""
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.origin is not None
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(spec.origin).parent, folder / package, ignore=ignored)
    return folder


def definitions(snapshot: Snapshot) -> Iterator[tuple[str, Item, bool]]:
    """(path, definition, is it local to a function) for the first definition of each name."""
    seen: set[str] = set()
    for file in sorted(Path(snapshot.root.path).rglob("*.py")):
        path = file.relative_to(snapshot.root.path).as_posix()
        for item, is_local in nested(snapshot.document(path)):
            # Names with two underscores are spelled in two ways; what Python calls by name is not searched.
            if item.name not in seen and not item.name.startswith("__"):
                seen.add(item.name)
                yield path, item, is_local


def nested(document: Document) -> Iterator[tuple[Item, bool]]:
    """Every definition of a file, and whether it is local to a function."""
    waiting = [(item, False) for item in outline(document)]
    while waiting:
        item, is_local = waiting.pop()
        yield item, is_local
        waiting += [(child, item.kind in ("function", "method")) for child in item.children]


def unaccounted(found: References, snapshot: Snapshot, name: str, only: str | None) -> dict[str, int]:
    """Files where the words found are not the words counted, and by how many."""
    counted = snapshot.rg.count_occurrences(snapshot.root, name)
    wanted = Counter({path: n for path, n in counted.items() if only in (None, path)})
    places = {(each.path, each.span) for each in found.occurrences}
    assert len(places) == len(found.occurrences), f"`{name}`: a place is listed twice"
    got = Counter(path for path, _ in places)
    return {path: wanted[path] - got[path] for path in wanted | got if wanted[path] != got[path]}


@pytest.mark.parametrize(("package", "one_in"), [("shop", 1), ("pluggy", 1), ("click", 10)])
def test_every_word_is_accounted_for(tmp_path: Path, package: str, one_in: int) -> None:
    root = Root.of(SHOP if package == "shop" else copied(package, tmp_path))
    snapshot = Environment().context(root).snapshot
    n_asked = 0
    for path, item, is_local in islice(definitions(snapshot), 0, None, one_in):
        found = references(snapshot, FilePosition(path, item.name_span.start))
        wrong = unaccounted(found, snapshot, item.name, path if is_local else None)
        assert not wrong, f"`{item.name}` of {path}: {wrong}"
        n_asked += 1
    assert n_asked >= 20


def test_the_law_would_see_a_lost_word() -> None:
    snapshot = Environment().context(Root.of(SHOP)).snapshot
    document = snapshot.document("shop/models.py")
    user = next(item for item, _ in nested(document) if item.name == "User")
    found = references(snapshot, FilePosition("shop/models.py", user.name_span.start))
    lost = found.occurrences[-1].path
    less = replace(found, occurrences=found.occurrences[:-1])
    assert unaccounted(less, snapshot, "User", None) == {lost: 1}
