"""Confinement, in every spelling of a path."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lsptools.errors import BadRequest
from lsptools.workspace.operations import LocalOperations, MemoryOperations, Operations
from lsptools.workspace.paths import Root


@pytest.fixture
def root(tmp_path: Path) -> Root:
    """A workspace with links in it: to a folder and a file inside, to a folder and a file outside, to nothing."""
    inside = tmp_path / "work"
    for folder in ("pkg/sub", "-x", "a b"):
        (inside / folder).mkdir(parents=True)
    (tmp_path / "other").mkdir()
    for file in ("work/pkg/sub/a.py", "work/pkg/b.py", "work/-x/-e", "other/secret.py", "workshop.py"):
        (tmp_path / file).write_text("x\n")
    links = {
        "work/link": "pkg/sub",
        "work/b_link.py": "pkg/b.py",
        "work/out": "../other",
        "work/out.py": "../other/secret.py",
        "work/broken": "nowhere",
        "work/broken_out": "../nowhere",
        "work/loop": "loop",
        "alias": "work",
        "other/back.py": "../work/pkg/b.py",
    }
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    return Root.of(inside)


INSIDE = [
    # what is asked for, its name, the name of the real file
    ("pkg/b.py", "pkg/b.py", "pkg/b.py"),
    ("./pkg//b.py", "pkg/b.py", "pkg/b.py"),
    ("pkg/sub/../b.py", "pkg/b.py", "pkg/b.py"),
    ("pkg/", "pkg", "pkg"),
    (".", ".", "."),
    ("pkg/..", ".", "."),
    ("new/folder/c.py", "new/folder/c.py", "new/folder/c.py"),
    ("pkg/sub/new.py", "pkg/sub/new.py", "pkg/sub/new.py"),
    ("-x/-e", "-x/-e", "-x/-e"),
    ("a b/é\n.py", "a b/é\n.py", "a b/é\n.py"),
    ("..pkg", "..pkg", "..pkg"),
    # links keep their name
    ("link/a.py", "link/a.py", "pkg/sub/a.py"),
    ("link/new.py", "link/new.py", "pkg/sub/new.py"),
    ("b_link.py", "b_link.py", "pkg/b.py"),
    ("broken", "broken", "nowhere"),
    # `..` goes up from where the link leads
    ("link/../b.py", "pkg/b.py", "pkg/b.py"),
    # absolute, through another name of the root, and from outside
    ("{work}/pkg/b.py", "pkg/b.py", "pkg/b.py"),
    ("{work}", ".", "."),
    ("{above}/alias/link/a.py", "link/a.py", "pkg/sub/a.py"),
    ("{above}/alias", ".", "."),
    ("{above}/alias/pkg/new.py", "pkg/new.py", "pkg/new.py"),
    ("{above}/other/back.py", "pkg/b.py", "pkg/b.py"),
    ("../work/pkg/b.py", "pkg/b.py", "pkg/b.py"),
]

OUTSIDE = [
    "..",
    "../workshop.py",
    "pkg/../../workshop.py",
    "{work}shop.py",
    "{above}/other/secret.py",
    "out/secret.py",
    "out/new.py",
    "out.py",
    "out",
    "out/../workshop.py",
    "broken_out",
    "broken_out/new.py",
    "{above}/alias/out.py",
    "/",
]


def spelled(root: Root, path: str) -> str:
    return path.replace("{work}", str(root.path)).replace("{above}", str(root.path.parent))


@pytest.mark.parametrize(("path", "name", "real"), INSIDE)
def test_inside(root: Root, path: str, name: str, real: str) -> None:
    given = spelled(root, path)
    assert root.relative(given) == name
    assert root.relative(Path(given)) == name
    assert root.absolute(given) == root.path / name
    assert root.real(given) == root.path / real
    assert root.relative(name) == name
    assert root.holds(os.path.join(root.path, name))


@pytest.mark.parametrize("path", OUTSIDE)
def test_outside(root: Root, path: str) -> None:
    for ask in (root.relative, root.absolute, root.real):
        with pytest.raises(BadRequest) as raised:
            ask(spelled(root, path))
        assert raised.value.kind == "outside_workspace"
        assert raised.value.hint


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_no_path_at_all(root: Root, path: str) -> None:
    with pytest.raises(BadRequest) as raised:
        root.relative(path)
    assert raised.value.kind == "invalid"


def test_a_loop_of_links_stays_inside_and_is_no_file(root: Root) -> None:
    assert root.relative("loop") == "loop"
    assert not root.absolute("loop").exists()


def test_a_root_is_the_real_folder(root: Root) -> None:
    assert Root.of(root.path.parent / "alias") == root
    assert Root.of(f"{root.path}/pkg/..") == root


@pytest.mark.parametrize(
    ("path", "kind"), [("nowhere", "not_found"), ("pkg/b.py", "invalid"), ("", "invalid")]
)
def test_no_root(root: Root, path: str, kind: str) -> None:
    with pytest.raises(BadRequest) as raised:
        Root.of(root.path / path if path else "")
    assert raised.value.kind == kind


def test_the_file_system_itself_can_be_the_root() -> None:
    root = Root.of("/")
    assert root.relative("/etc/hosts") == "etc/hosts"
    assert root.relative("etc/../tmp") == "tmp"
    assert root.absolute("etc") == Path("/etc")


def test_a_relative_root_is_a_mistake_of_ours() -> None:
    with pytest.raises(ValueError, match="absolute"):
        Root(Path("here"))


@pytest.fixture(params=["local", "memory"])
def operations(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Operations, str]:
    """A file `f/a`, a link `f/l` to it and a link `k` to the folder, on the disk and in memory."""
    top = str(tmp_path.resolve())
    if request.param == "memory":
        return MemoryOperations(
            {f"{top}/f/a": b"old"}, {f"{top}/f/l": "a", f"{top}/k": "f", f"{top}/n": "no"}
        ), top
    (tmp_path / "f").mkdir()
    (tmp_path / "f/a").write_bytes(b"old")
    for name, target in {"f/l": "a", "k": "f", "n": "no"}.items():
        (tmp_path / name).symlink_to(target)
    return LocalOperations(), top


def test_both_file_systems_read_alike(operations: tuple[Operations, str]) -> None:
    files, top = operations
    assert files.read_bytes(f"{top}/k/l") == files.read_unlinked(f"{top}/k/a") == b"old"
    assert files.list_dir(top) == ("f", "k", "n")
    assert files.list_kinds(top) == {"f": "folder", "k": "link", "n": "link"}
    assert files.list_kinds(f"{top}/k") == {"a": "file", "l": "link"}
    assert files.realpath(f"{top}/k/l") == f"{top}/f/a"
    assert files.readlink(f"{top}/k/l") == "a"
    for path, exists, is_file, is_dir, is_link in (
        ("f/a", True, True, False, False),
        ("f/l", True, True, False, True),
        ("f", True, False, True, False),
        ("k", True, False, True, True),
        ("n", False, False, False, True),
        ("o", False, False, False, False),
    ):
        at = f"{top}/{path}"
        seen = files.exists(at), files.is_file(at), files.is_dir(at), files.is_link(at)
        assert seen == (exists, is_file, is_dir, is_link), path
    assert files.size(f"{top}/f/a") == files.stat(f"{top}/k/l").st_size == 3
    assert files.size(f"{top}/nowhere") == 0
    for path, error in (("o", FileNotFoundError), ("f", IsADirectoryError), ("n", FileNotFoundError)):
        with pytest.raises(error):
            files.read_bytes(f"{top}/{path}")
    with pytest.raises(OSError, match="symbolic"):
        files.read_unlinked(f"{top}/f/l")


def test_both_file_systems_write_alike(operations: tuple[Operations, str]) -> None:
    files, top = operations
    files.write_atomic(f"{top}/f/a", b"new", mode=0o640)
    files.write_new(f"{top}/f/b", b"b")
    assert files.read_bytes(f"{top}/f/l") == b"new"
    assert files.stat(f"{top}/f/a").st_mode & 0o777 == 0o640
    files.chmod(f"{top}/f/a", 0o600)
    assert files.lstat(f"{top}/f/a").st_mode & 0o777 == 0o600
    refusals: tuple[Callable[[], object], ...] = (
        lambda: files.write_new(f"{top}/f/l", b""),
        lambda: files.rename(f"{top}/f/a", f"{top}/f/b"),
        lambda: files.mkdir(f"{top}/f"),
    )
    for refused in refusals:
        with pytest.raises(FileExistsError):
            refused()
    files.replace(f"{top}/f/a", f"{top}/f/b")
    files.mkdir(f"{top}/g")
    files.rename(f"{top}/f", f"{top}/g/f")
    files.fsync_dir(f"{top}/g")
    assert files.list_dir(f"{top}/g/f") == ("b", "l")
    assert files.read_bytes(f"{top}/g/f/b") == b"new"
    with pytest.raises(OSError, match="not empty"):
        files.rmdir(f"{top}/g/f")
    files.unlink(f"{top}/g/f/l")
    files.unlink(f"{top}/g/f/b")
    files.rmdir(f"{top}/g/f")
    files.unlink(f"{top}/k")
    assert files.list_dir(top) == ("g", "n")


def test_a_pipe_is_no_file_and_does_not_stop_us(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="Invalid argument"):
        LocalOperations().read_bytes(str(tmp_path / "pipe"))


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="space"):
        LocalOperations().write_atomic(str(tmp_path / "a"), b"x")
    assert list(tmp_path.iterdir()) == []
