"""The conservation law: what is found for a symbol are the words that a text search counts in its reach, each once.

The witness is ripgrep's own count of the name, file by file, which shares nothing with the finding but the list of
files; that a parameter's keywords elsewhere are all there is held against `ast`. Tried on every definition of the
example and on definitions of every kind drawn from installed packages: some in `make test`, with
LSPTOOLS_HYPOTHESIS_PROFILE=nightly 300 of each package.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from laws.definitions import Definition, definitions_in, drawn, keywords_in
from laws.packages import copy_of, is_nightly

from lsptools.faces.environment import Environment
from lsptools.languages.names import Occurrence, References
from lsptools.search.references import references
from lsptools.workspace.paths import Root
from lsptools.workspace.snapshot import Snapshot

SHOP = Path(__file__).parents[2] / "examples" / "shop"
N_DRAWN = 300 if is_nightly else 40
PACKAGES = ["click", "packaging", "pathspec", "platformdirs", "hatchling"]
PACKAGES += ["rich", "hypothesis", "_pytest", "pip", "mypy"] if is_nightly else []


@pytest.mark.parametrize("package", ["shop", *PACKAGES])
def test_every_word_is_accounted_for(
    package: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    folder = SHOP if package == "shop" else copy_of(package, tmp_path).parent
    snapshot = Environment().context(Root.of(folder)).snapshot
    chosen = definitions_in(folder)
    if package != "shop":
        chosen = drawn(chosen, N_DRAWN, seed=N_DRAWN)
    n_occurrences = 0
    wrong: list[str] = []
    for definition in chosen:
        found = references(snapshot, definition.place)
        n_occurrences += len(found.occurrences)
        wrong += [f"{_shown(snapshot, definition)}: {each}" for each in problems(found, snapshot, definition)]
    kinds = Counter(definition.kind for definition in chosen)
    figures = f"{package}: {len(chosen)} definitions of {len(kinds)} kinds, {n_occurrences} occurrences"
    record_property("law", figures)
    print(figures)
    assert not wrong, "\n".join([figures, *wrong])
    assert len(chosen) >= 24 and len(kinds) >= 8, figures
    assert n_occurrences > 5 * len(chosen), figures


def problems(found: References, snapshot: Snapshot, definition: Definition) -> Iterator[str]:
    """Everything about an answer that breaks the law."""
    yield from _form(found, snapshot, definition)
    if not found.complete:
        yield f"incomplete: {found.incomplete_because}"
    name = definition.name
    keywords = keywords_by_file(snapshot, name) if definition.reach == "keywords" else {}
    counted = snapshot.rg.count_occurrences(snapshot.root, name)
    n_found = Counter(
        each.path
        for each in found.occurrences
        if _written(snapshot, each) == name and not _is_after_escape(snapshot, each)
    )
    for path in sorted(counted.keys() | n_found.keys()):
        n, n_counted = n_found[path], counted.get(path, 0)
        is_all = definition.reach == "workspace" or path == definition.path
        least = n_counted if is_all else keywords.get(path, 0)
        if not least <= n <= n_counted:
            yield f"{n} found in {path}, {n_counted} counted, {least} in reach"
    if definition.private:
        mangled = f"_{definition.private.lstrip('_')}{name}"
        n_mangled = Counter(each.path for each in found.occurrences if _written(snapshot, each) == mangled)
        if n_mangled != snapshot.rg.count_occurrences(snapshot.root, mangled):
            yield f"{dict(n_mangled)} found of {mangled}"


def _form(found: References, snapshot: Snapshot, definition: Definition) -> Iterator[str]:
    """Order, no overlap, one class and a reason each; the definition itself is there and is certain."""
    for one, other in pairwise(found.occurrences):
        if (one.path, one.span) >= (other.path, other.span):
            yield f"{one.path} {one.span} and {other.path} {other.span} are not in order"
        elif one.path == other.path and one.span.end > other.span.start:
            yield f"{one.path} {one.span} and {other.span} overlap"
    for each in found.occurrences:
        if not (each.reason.strip() and each.role and (each.steps or each.role == "text")):
            yield f"{each} gives no reason"
    own = [
        each
        for each in found.occurrences
        if (each.path, each.span.start) == (definition.path, definition.offset)
    ]
    if [each.evidence.value for each in own] != ["certain"]:
        yield f"the definition is {own}"


def _written(snapshot: Snapshot, occurrence: Occurrence) -> str:
    return snapshot.document(occurrence.path).text[occurrence.span.start : occurrence.span.end]


def _shown(snapshot: Snapshot, definition: Definition) -> str:
    at = snapshot.document(definition.path).lines.user_from_offset(definition.offset)
    return f"{definition.kind} `{definition.name}` at {definition.path}:{at}"


def _is_after_escape(snapshot: Snapshot, occurrence: Occurrence) -> bool:
    """Is it no word to ripgrep because an escape sequence touches it: `name` in `"first\\nname"`?"""
    text = snapshot.document(occurrence.path).text
    return bool(_ESCAPE_AT_END.search(text, max(0, occurrence.span.start - 10), occurrence.span.start))


_ESCAPE_AT_END = re.compile(r"\\(?:[abfnrtv]|[0-7]{1,3}|x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8})$")


@cache
def keywords_in_text(text: str) -> Mapping[str, int]:
    return keywords_in(text)


def keywords_by_file(snapshot: Snapshot, name: str) -> Mapping[str, int]:
    """How often a name is given as a keyword, in each Python file."""
    paths = snapshot.files_with([name], globs=["*.py"]).files
    return {path: keywords_in_text(snapshot.document(path).text).get(name, 0) for path in paths}


def test_the_law_sees_a_lost_word_and_one_too_many() -> None:
    snapshot = Environment().context(Root.of(SHOP)).snapshot
    user = next(each for each in definitions_in(SHOP) if each.name == "User")
    found = references(snapshot, user.place)
    assert not list(problems(found, snapshot, user))
    assert list(problems(replace(found, occurrences=found.occurrences[:-1]), snapshot, user))
    twice = (*found.occurrences, found.occurrences[-1])
    assert list(problems(replace(found, occurrences=twice), snapshot, user))
    unreasoned = (replace(found.occurrences[0], reason=" "), *found.occurrences[1:])
    assert list(problems(replace(found, occurrences=unreasoned), snapshot, user))
