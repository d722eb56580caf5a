"""Text search in Python, for where there is no ripgrep: the same answers, several times slower.

`ripgrep.py` decides which of the two searches; this module only says what ripgrep would have said. The invariant is
tested against ripgrep on generated trees. It stops at the dialect of regular expressions, which is Python's here:
possessive and look-around patterns work, `\\p{…}` and `[[:alpha:]]` do not, and a bad pattern can take very long.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
import warnings
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate

from lsptools.errors import BadRequest
from lsptools.text.document import is_binary
from lsptools.text.lines import ByteOffset
from lsptools.workspace.found import Case, Found, Hits, Line, Query, Skipped
from lsptools.workspace.globs import is_wanted
from lsptools.workspace.survey import LIMIT, Tree, binary, large, unsearched
from lsptools.workspace.walk import walk


def files(tree: Tree) -> Iterator[str]:
    """All files that are searched, whatever is in them."""
    for folder in walk(tree.root, tree.operations, everywhere=tree.everywhere):
        yield from (path for path in folder.searched() if is_wanted(path, tree.globs))


def files_with(tree: Tree, is_in: Callable[[bytes], object]) -> Found:
    """The files whose content, as UTF-8, has what is looked for."""
    found: list[str] = []
    skipped: list[Skipped] = []
    for path, data in _contents(tree, skipped):
        if not is_in(searchable(data)):
            continue
        if is_binary(data):
            skipped.append(binary(path))
        elif len(data) > LIMIT:
            skipped.append(large(path, len(data)))
        else:
            found.append(path)
    return Found(tuple(sorted(found)), tuple(sorted((*unsearched(tree), *skipped))))


def count_occurrences(tree: Tree, word: str) -> Mapping[str, int]:
    """How often `word` stands in each file, by Unicode's rules for words."""
    pattern = re.compile(_whole(re.escape(word)))
    counts: dict[str, int] = {}
    for path, data in _contents(tree, []):
        if len(data) <= LIMIT and not is_binary(data):
            content = searchable(data)
            if word.encode() in content:
                text = content.decode("utf-8", "surrogateescape")
                counts[path] = sum(1 for _ in pattern.finditer(text))
    return {path: counts[path] for path in sorted(counts) if counts[path]}


def search(tree: Tree, query: Query, without: Container[str]) -> Hits:
    """The lines that match `query`, but not in the files `without`."""
    pattern = compiled(query)
    parts: list[Hits] = []
    skipped: list[Skipped] = []
    for path, data in _contents(tree, skipped):
        hits = _in_one_file(path, searchable(data), pattern, query) if path not in without else _NO_HITS
        if not hits.lines:
            continue
        if is_binary(data):
            skipped.append(binary(path))
        elif len(data) > LIMIT:
            skipped.append(large(path, len(data)))
        else:
            parts.append(hits)
    not_searched = (each for each in (*unsearched(tree), *skipped) if each.path not in without)
    return replace(_NO_HITS, skipped=tuple(sorted(not_searched))).joined(parts, query.limit)


def search_text(path: str, data: bytes, query: Query) -> Hits:
    """The lines that match `query` in one content in UTF-8."""
    return _in_one_file(path, data, compiled(query), query)


def searchable(data: bytes) -> bytes:
    """The content as UTF-8 without byte order mark. Like ripgrep, we believe the mark of UTF-16 and know no UTF-32."""
    if data.startswith(BOM_UTF8):
        return data[len(BOM_UTF8) :]
    if data.startswith(BOM_UTF16_LE):
        return data[2:].decode("utf-16-le", "replace").encode()
    if data.startswith(BOM_UTF16_BE):
        return data[2:].decode("utf-16-be", "replace").encode()
    return data


def compiled(query: Query) -> re.Pattern[str]:
    """The query as a regular expression for one line without its end."""
    text = re.escape(query.pattern) if query.fixed else query.pattern
    if not query.fixed and "\\n" in query.pattern:
        raise BadRequest("invalid", "a pattern matches within one line", hint="search for part of a line")
    if query.word:
        text = _whole(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what Python may read otherwise one day
            return re.compile(text, re.IGNORECASE if _ignores_case(query) else 0)
    except re.error as error:
        raise BadRequest(
            "invalid",
            f"{query.pattern!r} is not a regular expression: {error}",
            hint="or search for it as a fixed text",
        ) from None


_NO_HITS = Hits((), n_matches=0, n_files=0, is_cut=False)


def _in_one_file(path: str, data: bytes, pattern: re.Pattern[str], query: Query) -> Hits:
    raw = data.split(b"\n")
    if not raw[-1]:
        raw.pop()
    texts = [line.removesuffix(b"\r").decode("utf-8", "surrogateescape") for line in raw]
    matching = {at: spans for at, text in enumerate(texts) if (spans := tuple(_spans(pattern, text)))}
    if not matching:
        return _NO_HITS
    starts = list(accumulate((len(line) + 1 for line in raw), initial=0))
    near = range(-query.context, query.context + 1)
    shown = sorted({at + by for at in matching for by in near if 0 <= at + by < len(raw)})
    lines = [Line(path, at + 1, ByteOffset(starts[at]), texts[at], matching.get(at, ())) for at in shown]
    n_matches = sum(len(spans) for spans in matching.values())
    return Hits(tuple(lines[: query.limit]), n_matches, 1, len(lines) > query.limit)


def _spans(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Where the pattern matches; a lone `\r` ends a line for it. Nothing is no match right behind a match."""
    start = 0
    for line in text.split("\r"):
        last = -1
        for found in pattern.finditer(line):
            if found.start() < found.end() or found.start() != last:
                yield start + found.start(), start + found.end()
            last = found.end()
        start += len(line) + 1


def _ignores_case(query: Query) -> bool:
    if query.case is Case.SMART:
        # The letter of an escape (`\S`) is not a capital letter of the pattern.
        plain = query.pattern if query.fixed else re.sub(r"\\.", "", query.pattern)
        return plain == plain.lower()
    return query.case is Case.INSENSITIVE


def _contents(tree: Tree, skipped: list[Skipped]) -> Iterator[tuple[str, bytes]]:
    """Each file to search and its bytes; what cannot be read goes to `skipped`."""
    huge = dict(tree.survey.huge)
    for folder in walk(tree.root, tree.operations, everywhere=tree.everywhere):
        if folder.error:
            skipped.append(Skipped(folder.path or ".", folder.error))
        for path in folder.searched():
            if path in huge or not is_wanted(path, tree.globs):
                continue
            try:
                yield path, tree.operations.read_unlinked(os.path.join(tree.root.path, path))
            except FileNotFoundError:
                continue  # gone meanwhile
            except OSError as error:
                skipped.append(Skipped(path, error.strerror or str(error)))


def _whole(expression: str) -> str:
    return f"(?<![{_touching()}])(?:{expression})(?![{_touching()}])"


@lru_cache(maxsize=1)
def _touching() -> str:
    """A character class of what makes a word longer: Unicode's `\\w`, which is not Python's.

    A lone surrogate is a byte that is not UTF-8 here, and ripgrep finds no border of a word beside it.
    """
    touches = [unicodedata.category(chr(code)) in _WORD_CATEGORIES for code in range(sys.maxunicode + 1)]
    for first, last in _OTHERS:
        touches[first : last + 1] = [True] * (last + 1 - first)
    starts = [code for code, now in enumerate(touches) if now and not (code and touches[code - 1])]
    ends = [code - 1 for code, now in enumerate(touches) if not now and code and touches[code - 1]]
    return "".join(
        f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in zip(starts, ends, strict=True)
    )


_WORD_CATEGORIES = frozenset(("Lu", "Ll", "Lt", "Lm", "Lo", "Nl", "Nd", "Mn", "Mc", "Me", "Pc", "Cs"))
_OTHERS = (
    # The two joiners, and letters in circles and squares, which are symbols by category.
    *((0x200C, 0x200D), (0x24B6, 0x24E9)),
    *((0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189)),
)
