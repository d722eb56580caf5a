"""Text search answers with the places everybody else means, in every encoding and with every line end."""

from pathlib import Path

import pytest

from lsptools.errors import BadRequest
from lsptools.search.text import search_text
from lsptools.workspace.operations import LocalOperations
from lsptools.workspace.paths import Root
from lsptools.workspace.ripgrep import Case, Query, Rg, find_executable
from lsptools.workspace.snapshot import Snapshot

SEARCHERS = [Rg(find_executable(None, None)), Rg(None)]


def places(snapshot: Snapshot, query: Query) -> list[str]:
    found = search_text(snapshot, query)
    assert found.n_matches == len(found.matches)
    assert found.n_files == len({match.path for match in found.matches})
    described = []
    for match in found.matches:
        document = snapshot.document(match.path)
        at = document.lines.user_from_offset(match.span.start)
        described.append(f"{match.path}:{at}:{document.text[match.span.start : match.span.end]}")
    return described


def workspace(
    folder: Path, files: dict[str, bytes], rg: Rg, overlays: dict[str, str | None] | None = None
) -> Snapshot:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return Snapshot(Root.of(folder), LocalOperations(), rg, overlays or {})


@pytest.mark.parametrize("rg", SEARCHERS, ids=["ripgrep", "python"])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"x = get()\n", ["a.py:1:5:get"]),
        (b"get get\r\nget\r\n", ["a.py:1:1:get", "a.py:1:5:get", "a.py:2:1:get"]),
        (b"one\rtwo get\rget\n\nget", ["a.py:2:5:get", "a.py:3:1:get", "a.py:5:1:get"]),
        (b"\xef\xbb\xbfget\n", ["a.py:1:1:get"]),
        ("'é😀' + get()\n".encode(), ["a.py:1:8:get"]),
        ("# coding: latin-1\n'éé' + get()\n".encode("latin-1"), ["a.py:2:8:get"]),
        ("# coding: shift_jis\n'漢字' + get()\n".encode("shift_jis"), ["a.py:2:8:get"]),
        (b"# \xff\xff get\n", ["a.py:1:6:get"]),
        ("\ufeffé get\n".encode("utf-16-le"), ["a.py:1:3:get"]),
    ],
)
def test_places(tmp_path: Path, rg: Rg, data: bytes, expected: list[str]) -> None:
    assert places(workspace(tmp_path, {"a.py": data}, rg), Query("get", fixed=True)) == expected


@pytest.mark.parametrize("rg", SEARCHERS, ids=["ripgrep", "python"])
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (Query("a.c", fixed=True), ["a.txt:1:9:a.c"]),
        (Query("a.c"), ["a.txt:1:1:abc", "a.txt:1:5:aBc", "a.txt:1:9:a.c", "a.txt:2:2:abc"]),
        (Query("abc", fixed=True, word=True), ["a.txt:1:1:abc"]),
        (
            Query("abc", fixed=True, case=Case.INSENSITIVE),
            ["a.txt:1:1:abc", "a.txt:1:5:aBc", "a.txt:2:2:abc"],
        ),
        (Query("abc", fixed=True, globs=("*.py",)), []),
    ],
)
def test_ways_to_ask(tmp_path: Path, rg: Rg, query: Query, expected: list[str]) -> None:
    assert places(workspace(tmp_path, {"a.txt": b"abc aBc a.c\nxabcx\n"}, rg), query) == expected


@pytest.mark.parametrize("rg", SEARCHERS, ids=["ripgrep", "python"])
def test_an_unsaved_text_is_searched_instead_of_the_file(tmp_path: Path, rg: Rg) -> None:
    files = {"a.py": b"get\n", "b.py": b"get\n", "c.py": b"get\n"}
    snapshot = workspace(tmp_path, files, rg, {"a.py": "é\n  get\n", "b.py": None})
    assert places(snapshot, Query("get", fixed=True)) == ["a.py:2:3:get", "c.py:1:1:get"]


def test_beyond_the_limit_there_is_a_number(tmp_path: Path) -> None:
    snapshot = workspace(tmp_path, {"a.py": b"get\n" * 10}, SEARCHERS[0])
    found = search_text(snapshot, Query("get", fixed=True, limit=4))
    assert (len(found.matches), found.n_matches) == (4, 10)


def test_a_wrong_expression_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadRequest):
        search_text(workspace(tmp_path, {"a.py": b""}, SEARCHERS[0]), Query("(", fixed=False))
