"""A snapshot: the disk as first read, with texts laid over it."""

import os
import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from lsptools.errors import BadRequest, Refused, ToolError
from lsptools.text.document import digest_of
from lsptools.workspace.operations import LocalOperations, MemoryOperations, Operations
from lsptools.workspace.paths import Root
from lsptools.workspace.ripgrep import Query, Rg, Skipped, Why
from lsptools.workspace.snapshot import Snapshot

FILES: Mapping[str, bytes] = {
    "a.py": b"import pkg\n",
    "pkg/__init__.py": b"",
    "pkg/mod.py": b"foo = 1\r\n",
    "pkg/sub/deep.py": b"foo\n",
    "latin.py": "# coding: latin-1\nä = 1\n".encode("latin-1"),
    "wide.txt": "foo\n".encode("utf-16"),
    "data.bin": b"foo\0",
    "alone/only.py": b"x\n",
}
LINKS = {
    "link.py": "pkg/mod.py",
    "k": "pkg",
    "out.py": "../secret.py",
    "out": "../outside",
    "broken": "no",
    "loop": "loop",
}


@pytest.fixture(params=["ripgrep", "python", "memory"])
def snapshot(request: pytest.FixtureRequest, tmp_path: Path) -> Snapshot:
    """The same workspace on the disk, searched by ripgrep or in Python, and in memory."""
    top = tmp_path.resolve() / "work"
    outside = {"../secret.py": b"foo\n", "../outside/x.py": b"foo\n"}
    contents = {os.path.normpath(top / path): data for path, data in {**FILES, **outside}.items()}
    links = {str(top / path): target for path, target in LINKS.items()}
    if request.param == "memory":
        return Snapshot(Root(top), MemoryOperations(contents, links))
    for path, data in contents.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data)
    for path, target in links.items():
        Path(path).symlink_to(target)
    return Snapshot(Root.of(top), rg=Rg.find(None, None) if request.param == "ripgrep" else Rg(None))


def kind_of(ask: Callable[[], object]) -> str:
    with pytest.raises(ToolError) as raised:
        ask()
    assert raised.value.hint
    return raised.value.kind


def test_documents_are_the_files(snapshot: Snapshot) -> None:
    for path, data in FILES.items():
        assert snapshot.bytes(path) == data
        if path != "data.bin":
            document = snapshot.document(path)
            assert document.encode() == data
            assert document.digest == digest_of(data)
            assert snapshot.bytes(path) == data
    assert snapshot.document("latin.py").text == "# coding: latin-1\nä = 1\n"


@pytest.mark.parametrize("path", ["pkg/mod.py", "./pkg/mod.py", "pkg/../pkg//mod.py", "{root}/pkg/mod.py"])
def test_a_file_has_one_document_whatever_it_is_called(snapshot: Snapshot, path: str) -> None:
    given = path.replace("{root}", str(snapshot.root.path))
    assert snapshot.document(given) is snapshot.document("pkg/mod.py")
    assert snapshot.bytes(given) == FILES["pkg/mod.py"]
    assert snapshot.is_file(given)
    assert tuple(snapshot.digests) == ("pkg/mod.py",)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("no.py", "not_found"),
        ("no/no.py", "not_found"),
        ("a.py/x", "not_found"),
        ("broken", "not_found"),
        ("pkg", "is_directory"),
        (".", "is_directory"),
        ("pkg/sub/", "is_directory"),
        ("k", "is_directory"),
        ("data.bin", "binary"),
        ("../secret.py", "outside_workspace"),
        ("out.py", "outside_workspace"),
        ("out/x.py", "outside_workspace"),
        ("out/new.py", "outside_workspace"),
        ("", "invalid"),
        ("a\0", "invalid"),
        ("pkg/a\0", "invalid"),
        ("loop", "invalid"),
        ("x" * 300, "invalid"),
    ],
)
def test_what_cannot_be_read(snapshot: Snapshot, path: str, kind: str) -> None:
    if isinstance(snapshot.operations, MemoryOperations) and path in ("loop", "x" * 300, "../secret.py"):
        pytest.skip(
            "a file system in memory has no limits, and is not asked where a path above the root leads"
        )
    assert kind_of(lambda: snapshot.document(path)) == kind
    if kind != "binary":
        assert kind_of(lambda: snapshot.bytes(path)) == kind
        assert not snapshot.is_file(path)


def test_links_inside_are_files_of_their_own_name(snapshot: Snapshot) -> None:
    assert snapshot.document("link.py").text == snapshot.document("k/mod.py").text == "foo = 1\r\n"
    assert snapshot.is_file("link.py")
    assert snapshot.is_dir("k")
    assert snapshot.list_dir("k") == snapshot.list_dir("pkg")


def test_what_is_there(snapshot: Snapshot) -> None:
    names = sorted({path.partition("/")[0] for path in (*FILES, *LINKS)})
    assert snapshot.list_dir(".") == tuple(names)
    assert snapshot.list_dir("pkg") == ("__init__.py", "mod.py", "sub")
    assert snapshot.list_dir("no") == snapshot.list_dir("a.py") == ()
    for path, is_file, is_dir in (
        ("a.py", True, False),
        ("pkg", False, True),
        ("pkg/sub/deep.py", True, False),
        (".", False, True),
        ("no", False, False),
        ("a.py/x", False, False),
        ("out.py", False, False),
        ("out", False, False),
        ("broken", False, False),
        ("loop", False, False),
    ):
        assert (snapshot.is_file(path), snapshot.is_dir(path)) == (is_file, is_dir), path
        assert snapshot.exists(path) == (is_file or is_dir)


def test_what_was_read_stays(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("old")
    (tmp_path / "b.py").write_text("old")
    (tmp_path / "c.py").write_text("old")
    snapshot = Snapshot(Root.of(tmp_path))
    for path in ("a.py", "b.py", "c.py"):
        snapshot.document(path)
    assert snapshot.changed_on_disk() == ()
    (tmp_path / "a.py").write_text("new")
    (tmp_path / "b.py").unlink()
    (tmp_path / "d.py").write_text("new")
    assert snapshot.document("a.py").text == snapshot.document("b.py").text == "old"
    assert snapshot.with_overlays({"c.py": "laid over"}).document("a.py").text == "old"
    assert snapshot.changed_on_disk() == ("a.py", "b.py")
    assert snapshot.digests["a.py"] == digest_of(b"old")


def test_a_text_laid_over_wins(snapshot: Snapshot) -> None:
    over = snapshot.with_overlays({"pkg/mod.py": "bar\r\n", "./new/file.py": "foo", "a.py": None})
    assert over.document("pkg/mod.py").text == "bar\r\n"
    assert over.bytes("pkg/mod.py") == b"bar\r\n"
    assert over.document("pkg/mod.py").digest == digest_of(b"bar\r\n")
    assert over.document("new/file.py").text == "foo"
    assert kind_of(lambda: over.document("a.py")) == kind_of(lambda: over.bytes("a.py")) == "not_found"
    assert over.is_file("new/file.py")
    assert over.is_dir("new")
    assert over.list_dir("new") == ("file.py",)
    assert not over.exists("a.py")
    assert "a.py" not in over.list_dir(".")
    assert "new" in over.list_dir(".")
    # Below, nothing has changed.
    assert snapshot.document("pkg/mod.py").text == "foo = 1\r\n"
    assert snapshot.exists("a.py")
    assert not snapshot.exists("new")


def test_a_text_laid_over_keeps_the_encoding_of_the_file(snapshot: Snapshot) -> None:
    texts = {"latin.py": "# coding: latin-1\nö = 1\n", "wide.txt": "bär\n", "data.bin": "now text"}
    over = snapshot.with_overlays(texts)
    assert over.bytes("latin.py") == "# coding: latin-1\nö = 1\n".encode("latin-1")
    assert over.bytes("wide.txt") == "bär\n".encode("utf-16")
    assert over.bytes("data.bin") == b"now text"
    unsayable = snapshot.with_overlays({"latin.py": "# coding: latin-1\nЖ = 1\n"})
    assert unsayable.document("latin.py").text.endswith("Ж = 1\n")
    with pytest.raises(Refused) as raised:
        unsayable.bytes("latin.py")
    assert raised.value.kind == "encoding"


def test_the_same_text_laid_over_has_the_same_digest(snapshot: Snapshot) -> None:
    for path in ("latin.py", "wide.txt", "pkg/mod.py"):
        document = snapshot.document(path)
        assert snapshot.with_overlays({path: document.text}).document(path).digest == document.digest


def test_layers_on_layers(snapshot: Snapshot) -> None:
    one = snapshot.with_overlays({"a.py": "one", "new.py": "one"})
    assert one.document("a.py").text == "one"
    two = one.with_overlays({"a.py": "two"})
    three = two.with_overlays({"a.py": None, "new.py": None})
    assert (two.document("a.py").text, two.document("new.py").text) == ("two", "one")
    assert not three.exists("a.py")
    assert not three.exists("new.py")
    assert one.document("a.py").text == "one"
    assert three.document("latin.py") is snapshot.document("latin.py")
    assert dict(Snapshot(snapshot.root, snapshot.operations, overlays={"./x.py": "x"}).overlays) == {
        "x.py": "x"
    }


def test_a_folder_whose_last_file_is_gone_is_gone(snapshot: Snapshot) -> None:
    over = snapshot.with_overlays({"alone/only.py": None, "pkg/mod.py": None})
    assert not over.is_dir("alone")
    assert "alone" not in over.list_dir(".")
    assert over.is_dir("pkg")
    moved = snapshot.with_overlays({"alone/only.py": None, "elsewhere/deep/only.py": "x\n"})
    assert moved.is_dir("elsewhere/deep")
    assert moved.list_dir("elsewhere") == ("deep",)


def test_files_with_a_word(snapshot: Snapshot) -> None:
    found = snapshot.files_with(["foo"])
    assert found.files == ("pkg/mod.py", "pkg/sub/deep.py", "wide.txt")
    assert found.skipped == (Skipped("data.bin", "binary file matches", Why.BINARY),)
    assert snapshot.files_with(["fo"], whole_words=False).files == found.files
    assert snapshot.files_with(["foo"], globs=["*.py"]).files == ("pkg/mod.py", "pkg/sub/deep.py")
    assert snapshot.files(globs=["pkg/*.py"]) == ("pkg/__init__.py", "pkg/mod.py")
    assert snapshot.files() == tuple(sorted(FILES))


def test_texts_laid_over_are_searched_as_they_are(snapshot: Snapshot) -> None:
    over = snapshot.with_overlays(
        {
            "pkg/mod.py": "nothing",
            "pkg/sub/deep.py": None,
            "a.py": "(foo)",
            "new/b.py": "foo",
            "new/c.txt": "foo",
            "data.bin": "foo",
            "alone/only.py": "foobar",
        }
    )
    assert over.files_with(["foo"]).files == ("a.py", "data.bin", "new/b.py", "new/c.txt", "wide.txt")
    assert over.files_with(["foo"]).skipped == ()
    assert "alone/only.py" in over.files_with(["foo"], whole_words=False).files
    assert over.files_with(["foo"], globs=["*.py"]).files == ("a.py", "new/b.py")
    assert "new/c.txt" in over.files()
    assert "pkg/sub/deep.py" not in over.files()
    hits = over.search(Query("foo", fixed=True))
    assert [(line.path, line.spans) for line in hits.lines] == [
        ("a.py", ((1, 4),)),
        ("alone/only.py", ((0, 3),)),
        ("data.bin", ((0, 3),)),
        ("new/b.py", ((0, 3),)),
        ("new/c.txt", ((0, 3),)),
        ("wide.txt", ((0, 3),)),
    ]
    assert (hits.n_files, hits.n_matches, hits.skipped) == (6, 6, ())
    cut = over.search(Query("foo", fixed=True, limit=2))
    assert (cut.lines, cut.n_matches, cut.is_cut) == (hits.lines[:2], 6, True)
    assert snapshot.search(Query("foo", fixed=True, globs=("*.txt",))).n_files == 1


def test_texts_laid_over_what_is_not_searched_are_not_searched(snapshot: Snapshot) -> None:
    write(
        snapshot,
        {".gitignore": b"ignored\n", "pkg/.gitignore": b"gen_*\n!gen_keep.py\n", "env/pyvenv.cfg": b""},
    )
    searched = ["pkg/gen_keep.py", "gen_x.py", ".hidden.py", "node_modules.py", "venv"]
    not_searched = [
        *("ignored", "pkg/ignored", "ignored/x.py", "pkg/gen_x.py", "pkg/gen_/keep/gen_keep.py"),
        *(
            "env/lib/x.py",
            ".venv/x.py",
            "sub/node_modules/x.js",
            ".git/config",
            ".git",
            "pkg/__pycache__/x.py",
        ),
    ]
    over = snapshot.with_overlays(dict.fromkeys([*searched, *not_searched], "needle"))
    assert over.files_with(["needle"]).files == tuple(sorted(searched))
    # The same names on the disk are searched, or not, likewise.
    write(
        snapshot,
        dict.fromkeys(
            [path for path in [*searched, *not_searched] if path not in ("ignored", ".git")], b"needle"
        ),
    )
    again = Snapshot(snapshot.root, snapshot.operations, snapshot.rg)
    assert again.files_with(["needle"]).files == tuple(sorted(searched))


def write(snapshot: Snapshot, files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        absolute = str(snapshot.root.path / path)
        make_folders(snapshot.operations, absolute.rpartition("/")[0])
        snapshot.operations.write_new(absolute, data)


def make_folders(operations: Operations, folder: str) -> None:
    if not operations.is_dir(folder):
        make_folders(operations, folder.rpartition("/")[0])
        operations.mkdir(folder)


def test_files_outside_are_read_only_as_such(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work/a.py").write_text("inside")
    (tmp_path / "lib.py").write_text("outside")
    snapshot = Snapshot(Root.of(tmp_path / "work"), overlays={"a.py": "laid over"})
    library = snapshot.external_document(tmp_path / "lib.py")
    assert library.text == "outside"
    (tmp_path / "lib.py").write_text("changed")
    assert snapshot.with_overlays({"b.py": ""}).external_document(tmp_path / "lib.py") is library
    assert snapshot.external_document(tmp_path / "work/a.py").text == "laid over"
    assert kind_of(lambda: snapshot.external_document(tmp_path / "no.py")) == "not_found"
    assert kind_of(lambda: snapshot.external_document(tmp_path)) == "is_directory"
    assert tuple(snapshot.digests) == ("a.py",)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a named pipe")
def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    snapshot = Snapshot(Root.of(tmp_path))
    assert kind_of(lambda: snapshot.document("pipe")) == "invalid"
    assert not snapshot.exists("pipe")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything"
)
def test_what_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    (tmp_path / "a.py").chmod(0)
    with pytest.raises(ToolError) as raised:
        Snapshot(Root.of(tmp_path)).document("a.py")
    assert raised.value.kind == "unavailable"


def test_a_link_made_later_does_not_lead_out(tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("secret")
    (tmp_path / "work/pkg").mkdir(parents=True)
    (tmp_path / "work/pkg/a.py").write_text("a")
    snapshot = Snapshot(Root.of(tmp_path / "work"))
    snapshot.document("pkg/a.py")
    (tmp_path / "work/pkg/b.py").symlink_to(tmp_path / "secret.py")
    with pytest.raises(BadRequest) as raised:
        snapshot.document("pkg/b.py")
    assert raised.value.kind == "outside_workspace"


def test_thousands_of_files_are_read_at_once(tmp_path: Path) -> None:
    """The operating system's part aside, a file costs a few calls: no `realpath`, no `stat`, no listing for each."""
    chance = random.Random(1)
    for number in range(600):
        folder = tmp_path / f"pkg/sub_{number % 20}/deep/er"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"m{number}.py").write_text("x = 'é'\n" * chance.randint(500, 1500))
    operations = _Counting()
    snapshot = Snapshot(Root.of(tmp_path), operations, Rg.find(None, None))
    paths = snapshot.files(globs=["*.py"])
    assert len(paths) == 600
    operations.n_calls = 0
    start = time.process_time()
    for path in paths:
        snapshot.document(path)
    taken = time.process_time() - start
    assert operations.n_calls <= 600 + 2 * 63  # one read each, one question for each folder on the way
    assert taken < 0.5


class _Counting(LocalOperations):
    """The disk, counting the questions."""

    n_calls = 0

    def __getattribute__(self, name: str) -> object:
        if name not in ("n_calls", "__class__"):
            self.n_calls += 1
        return super().__getattribute__(name)
