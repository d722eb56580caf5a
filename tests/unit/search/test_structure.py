"""Structural search: places in code points, captures, files that are left alone."""

from pathlib import Path

import pytest

from lsptools.errors import BadRequest
from lsptools.search.structure import search_structure
from lsptools.workspace.operations import LocalOperations
from lsptools.workspace.paths import Root
from lsptools.workspace.ripgrep import Rg
from lsptools.workspace.snapshot import Snapshot


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "a.py").write_bytes("'é😀'; f(1, g())\r\n".encode())
    (tmp_path / "b.pyi").write_bytes(b"\xef\xbb\xbff()\n")
    (tmp_path / "broken.py").write_bytes(b"x = = 1\nf(2)\n")
    (tmp_path / "c.txt").write_bytes(b"f()\n")
    (tmp_path / "binary.py").write_bytes(b"f()\0\n")
    return Snapshot(Root.of(tmp_path), LocalOperations(), Rg(None))


def described(snapshot: Snapshot, query: str, **options: object) -> list[str]:
    found = search_structure(snapshot, query, **options)  # type: ignore[arg-type]  # the options of a test
    rows = []
    for match in found.matches:
        document = snapshot.document(match.path)
        at = document.lines.user_from_offset(match.span.start)
        texts = [f"{each.name}={document.text[each.span.start : each.span.end]}" for each in match.captures]
        rows.append(f"{match.path}:{at} {' '.join(texts)}")
    return rows


def test_matches_and_captures(snapshot: Snapshot) -> None:
    assert described(snapshot, "(call function: (identifier) @f arguments: (_) @args)") == [
        "b.pyi:1:1 f=f args=()",
        "broken.py:2:1 f=f args=(2)",
        "pkg/a.py:1:7 f=f args=(1, g())",
        "pkg/a.py:1:12 f=g args=()",
    ]


def test_globs_and_limit(snapshot: Snapshot) -> None:
    assert described(snapshot, "(call)", globs=["pkg/**"]) == [
        "pkg/a.py:1:7 match=f(1, g())",
        "pkg/a.py:1:12 match=g()",
    ]
    found = search_structure(snapshot, "(call)", limit=1)
    assert (len(found.matches), found.n_matches, found.n_files) == (1, 4, 3)


def test_what_is_no_text_is_reported(snapshot: Snapshot) -> None:
    assert [skipped.path for skipped in search_structure(snapshot, "(call)").skipped] == ["binary.py"]


def test_a_wrong_query_is_told_before_anything_is_read(snapshot: Snapshot) -> None:
    with pytest.raises(BadRequest, match="wrong at 1:2"):
        search_structure(snapshot, "(cal)")


def test_an_unsaved_text_counts(snapshot: Snapshot) -> None:
    unsaved = snapshot.with_overlays({"pkg/a.py": "h()\n", "b.pyi": None, "broken.py": ""})
    assert described(unsaved, "(call)") == ["pkg/a.py:1:1 match=h()"]
