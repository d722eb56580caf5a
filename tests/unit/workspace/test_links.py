"""Which links lead to a file or folder: on the disk and in memory, wherever searches look, and until whoever asks has left."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from lsptools.errors import Unavailable
from lsptools.workspace.links import links_to
from lsptools.workspace.operations import MemoryOperations
from lsptools.workspace.paths import Root
from lsptools.workspace.snapshot import Snapshot

FILES = ("pkg/mod.py", "pkg/sub/deep.py", "env/settings.py", "real/pyvenv.cfg", "real/lib/x.py", ".git/HEAD")
FILES += (".venv/lib/x.py", "node_modules/x/index.js", ".github/workflows/x.yml", "k/x.py", "../outside.py")


def workspace(folder: Path, links: Mapping[str, str], kind: str) -> Snapshot:
    top = folder.resolve() / "work"
    files = [os.path.normpath(top / path) for path in FILES]
    absolute = {str(top / link): target for link, target in links.items()}
    if kind == "memory":
        return Snapshot(Root(top), MemoryOperations(dict.fromkeys(files, b""), absolute))
    for path in files:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).touch()
    for link, target in absolute.items():
        Path(link).symlink_to(target)
    return Snapshot(Root.of(top))


@pytest.mark.parametrize("kind", ["disk", "memory"])
@pytest.mark.parametrize(
    ("path", "links", "wanted"),
    [
        ("pkg/mod.py", {"a.py": "pkg/mod.py", "b.py": "env/settings.py", "c.py": "gone"}, ["a.py"]),
        ("pkg", {"z": "pkg", "a.py": "pkg/sub/deep.py", "k/b.py": "../z/mod.py"}, ["a.py", "z", "k/b.py"]),
        ("pkg/mod.py", {"z": "pkg"}, []),  # what leads to the folder leads there still
        ("pkg/mod.py", {"env/a.py": "../pkg/mod.py"}, ["env/a.py"]),
        ("pkg/mod.py", {".github/a.py": "../pkg/mod.py"}, [".github/a.py"]),
        ("pkg/mod.py", {"real/a.py": "../pkg/mod.py", "real/lib/a.py": "../../pkg/mod.py"}, []),
        ("pkg/mod.py", {".venv/a.py": "../pkg/mod.py", "node_modules/a.py": "../pkg/mod.py"}, []),
        ("pkg/mod.py", {".git/a.py": "../pkg/mod.py"}, []),
        ("pkg", {"pkg/a.py": "mod.py", "pkg/sub/b.py": "../mod.py"}, []),  # these move along
        ("pkg/mod.py", {"pkg/a.py": "mod.py"}, ["pkg/a.py"]),
        ("pkg/mod.py", {"a.py": "../outside.py", "loop": "loop"}, []),
    ],
)
def test_links(tmp_path: Path, kind: str, path: str, links: Mapping[str, str], wanted: list[str]) -> None:
    assert list(links_to(workspace(tmp_path, links, kind), path)) == wanted


def test_an_absolute_link_does_not_move_along(tmp_path: Path) -> None:
    target = tmp_path.resolve() / "work/pkg/mod.py"
    assert list(links_to(workspace(tmp_path, {"pkg/a.py": str(target)}, "disk"), "pkg")) == ["pkg/a.py"]


def test_whoever_has_left_is_not_searched_for(tmp_path: Path) -> None:
    """It is asked in every folder, for there may be many."""
    n_asked = 0

    def leave() -> None:
        nonlocal n_asked
        n_asked += 1
        if n_asked == 3:
            raise Unavailable("cancelled", "whoever asked has left")

    snapshot = replace(workspace(tmp_path, {}, "disk"), checkpoint=leave)
    with pytest.raises(Unavailable):
        list(links_to(snapshot, "pkg"))
    assert n_asked == 3


def test_a_folder_that_cannot_be_listed_has_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = workspace(tmp_path, {"a.py": "pkg/mod.py", "env/a.py": "../pkg/mod.py"}, "disk")
    scandir = os.scandir

    def refused(path: str) -> object:
        if str(path).endswith("env"):
            raise PermissionError
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refused)
    assert list(links_to(snapshot, "pkg/mod.py")) == ["a.py"]
