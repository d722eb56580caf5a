"""Every WorkspaceEdit case through `lsptools apply-edit`, in this process.

A case is a workspace (`files`), an edit with positions in UTF-16, perhaps documents that are open, perhaps files that change before
the edit is done, and what is expected: files afterwards or a refusal. In its strings `${root}` and `${side}` are file URIs.
Whatever happens, nothing is left behind, and a refusal changes nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from casefaces import Place

from lsptools.faces.cli import main

FOLDER = Path(__file__).parent / "cases" / "workspace_edit"
Json = dict[str, Any]  # the case as its file has it
Tree = Mapping[str, bytes | str]
"""Content by path relative to the workspace; of a link, where it leads."""


def load(path: Path) -> Json:
    case: Json = json.loads(path.read_text("utf-8"))
    return case


CASES = [load(path) for path in sorted(FOLDER.glob("*.json"))]


def runs(case: Json) -> Iterator[tuple[list[str], Json]]:
    """The options of each call, and what is expected of it."""
    expect = case["expect"]
    if "without_consent" in expect:
        asked = expect["without_consent"]["asks_for"]
        yield [], {**expect["without_consent"], "refused": True}
        yield [word for id in asked for word in ("--accept", id)], expect["with_consent"]
        return
    yield [], {name: value for name, value in expect.items() if name != "with_option"}
    for option, wanted in expect.get("with_option", {}).items():
        yield [f"--{option}"], wanted


@pytest.mark.parametrize(
    ("case", "options", "wanted"),
    [
        pytest.param(case, options, wanted, id=" ".join([case["id"], *options]))
        for case in CASES
        for options, wanted in runs(case)
    ],
)
def test_case(
    case: Json, options: list[str], wanted: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Place.below(tmp_path)
    root = place.root
    lay_out(root, case["files"])
    start = tree(root)
    text = json.dumps(case["edit"]).replace("${root}", root.as_uri()).replace("${side}", root.parent.as_uri())
    words = [
        "apply-edit",
        "--root",
        str(root),
        put(tmp_path / "edit.json", json.loads(text)),
        *options,
        "--json",
    ]
    if "open_documents" in case:
        words += ["--overlays", put(tmp_path / "overlays.json", case["open_documents"])]
    if "before_write" in case:
        digests = {
            name: hashlib.sha256(data).hexdigest() for name, data in start.items() if isinstance(data, bytes)
        }
        words += ["--digests", put(tmp_path / "digests.json", digests)]
        for name, new in case["before_write"].items():
            (root / name).write_bytes(new.encode())
        start = tree(root)
    with mock.patch.dict(os.environ, place.environment(), clear=True):
        code = main(words)
    answer = json.loads(capsys.readouterr().out)
    endings = wanted.get("one_of", [wanted])
    complaints = [list(complaints_about(ending, code, answer, start, tree(root))) for ending in endings]
    assert [] in complaints, f"{case['title']}\n{answer}\n{complaints}"


def complaints_about(wanted: Json, code: int, answer: Json, start: Tree, now: Tree) -> Iterator[str]:
    error = answer.get("error", {})
    if bool(wanted.get("refused")) != bool(error) or bool(error) != bool(code):
        yield f"exit code {code}, {error or 'no error'}"
    expected = {**start}
    if not wanted.get("refused"):
        expected |= {name: text.encode() for name, text in wanted.get("files", {}).items()}
        expected |= {name: base64.b64decode(data) for name, data in wanted.get("bytes", {}).items()}
    if dict(now) != expected:
        yield f"{dict(now)} is not {expected}"
    if "failedChange" in wanted and error.get("failed_change") != wanted["failedChange"]:
        yield f"`failed_change` is {error.get('failed_change')}"
    if "asks_for" in wanted and error.get("annotations") != wanted["asks_for"]:
        yield f"`annotations` is {error.get('annotations')}"


def lay_out(root: Path, files: Mapping[str, Json]) -> None:
    for name, entry in files.items():
        path = Path(os.path.normpath(root / name))
        path.parent.mkdir(parents=True, exist_ok=True)
        if "symlink" in entry:
            path.symlink_to(entry["symlink"])
        else:
            path.write_bytes(
                base64.b64decode(entry["base64"]) if "base64" in entry else entry["text"].encode()
            )


def put(path: Path, value: object) -> str:
    path.write_text(json.dumps(value), "utf-8")
    return str(path)


def tree(root: Path) -> dict[str, bytes | str]:
    """Everything in the workspace and beside it."""
    found: dict[str, bytes | str] = {}
    for folder, _, files in os.walk(root.parent):
        for name in files:
            path = Path(folder) / name
            found[os.path.relpath(path, root)] = (
                str(path.readlink()) if path.is_symlink() else path.read_bytes()
            )
    return found


# What the cases leave out


def run(root: Path, edit: Json, *words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, Json]:
    code = main(["apply-edit", "--root", str(root), put(root.parent / "edit.json", edit), "--json", *words])
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    place = Place.below(tmp_path)
    with mock.patch.dict(os.environ, place.environment(), clear=True):
        yield place.root


def replaced(start: Sequence[int], end: Sequence[int], text: str) -> Json:
    return {
        "range": {
            "start": {"line": start[0], "character": start[1]},
            "end": {"line": end[0], "character": end[1]},
        },
        "newText": text,
    }


def test_open_documents_are_answered_not_written(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "a.txt").write_text("disk\n")
    edit = {"changes": {(root / "a.txt").as_uri(): [replaced((0, 0), (0, 5), "new")]}}
    overlays = put(root.parent / "overlays.json", {"a.txt": {"version": 2, "text": "typed\n"}})
    code, answer = run(root, edit, "--overlays", overlays, capsys=capsys)
    assert (code, answer["buffers"]) == (0, {"a.txt": "new\n"})
    assert (root / "a.txt").read_text() == "disk\n"


def test_an_open_document_keeps_its_byte_order_mark(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "a.txt").write_bytes(b"\xef\xbb\xbfone\n")
    edit = {"changes": {(root / "a.txt").as_uri(): [replaced((0, 1), (0, 4), "two")]}}
    overlays = put(root.parent / "overlays.json", {"a.txt": {"version": 2, "text": "\ufeffone\n"}})
    code, answer = run(root, edit, "--overlays", overlays, capsys=capsys)
    assert (code, answer["buffers"]) == (0, {"a.txt": "\ufefftwo\n"})


def test_entries_of_an_open_document_are_read_in_one_way(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "a.txt").write_text("target target\n")
    uri = (root / "a.txt").as_uri()
    document = {"uri": uri, "version": 2}
    entries = [
        {"textDocument": document, "edits": [replaced((0, start), (0, start + 6), "x")]} for start in (7, 0)
    ]
    overlays = put(root.parent / "overlays.json", {"a.txt": {"version": 2, "text": "target target\n"}})
    code, answer = run(root, {"documentChanges": entries}, "--overlays", overlays, capsys=capsys)
    assert (code, answer["buffers"]) == (0, {"a.txt": "x x\n"})
    code, answer = run(root, {"documentChanges": entries[::-1]}, "--overlays", overlays, capsys=capsys)
    assert (answer["error"]["kind"], answer["error"]["failed_change"]) == ("ambiguous", 1)
    assert code == 2


def test_folders_move_and_go(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "d").mkdir()
    for name in ("a", "b"):
        (root / "d" / name).write_text(name)
    (root / "gone").mkdir()
    (root / "gone" / "x").write_bytes(b"\0")
    changes: list[Json] = [
        {"kind": "rename", "oldUri": (root / "d").as_uri(), "newUri": (root / "e").as_uri()},
        {
            "textDocument": {"uri": (root / "e" / "a").as_uri(), "version": None},
            "edits": [replaced((0, 0), (0, 1), "A")],
        },
        {"kind": "delete", "uri": (root / "gone").as_uri(), "options": {"recursive": True}},
    ]
    code, answer = run(root, {"documentChanges": changes}, capsys=capsys)
    assert code == 0, answer
    assert {path.name: path.read_text() for path in (root / "e").iterdir()} == {"a": "A", "b": "b"}
    assert not (root / "d").exists() and not (root / "gone").exists()


@pytest.mark.parametrize(
    "edit",
    [
        {"documentChanges": 1},
        {"documentChanges": [1]},
        {"documentChanges": [{"kind": "paint"}]},
        {"documentChanges": [{}]},
        {"documentChanges": [{"kind": "create"}]},
        {"changes": {"https://example.org/a": []}},
        {"changes": []},
    ],
)
def test_nonsense_is_refused(root: Path, edit: Json, capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = run(root, edit, capsys=capsys)
    assert code == 2 and answer["error"]["kind"] in ("invalid", "outside_workspace")


# Names: entries that are moved and deleted, each on what the ones before it have left

Entries = Mapping[str, bytes | str | None]
"""Content by name; of a link, where it leads; `None` for an empty folder."""
LINKED: Entries = {"a.txt": b"one\n", "l": "-> a.txt"}
TWO: Entries = {"a.txt": b"a\n", "b.txt": b"b\n"}
ALL_SORTS: Entries = {
    "p/a.txt": b"one\n",
    "p/x.png": b"\x89PNG\0\0",
    "p/l": "-> a.txt",
    "p/out": "-> /etc",
    "p/gone": "-> nowhere",
    "p/sub/empty": None,
}


def edit(name: str, text: str = "ONE", *, line: int = 0) -> Json:
    return {
        "textDocument": {"uri": name, "version": None},
        "edits": [replaced((line, 0), (line, 3), text)],
    }


def rename(old: str, new: str, **options: bool) -> Json:
    return {"kind": "rename", "oldUri": old, "newUri": new, "options": options}


def create(name: str, **options: bool) -> Json:
    return {"kind": "create", "uri": name, "options": options}


def delete(name: str, **options: bool) -> Json:
    return {"kind": "delete", "uri": name, "options": options}


@pytest.mark.parametrize(
    ("files", "entries", "wanted"),
    [
        pytest.param(*case, id=name)
        for name, case in {
            "edit by the link, rename the file": (
                LINKED,
                [edit("l"), rename("a.txt", "b.txt")],
                {"b.txt": b"ONE\n", "l": "-> a.txt"},
            ),
            "edit the file, rename the link": (
                LINKED,
                [edit("a.txt"), rename("l", "l2")],
                {"a.txt": b"ONE\n", "l2": "-> a.txt"},
            ),
            "rename the link, edit by it": (
                LINKED,
                [rename("l", "l2"), edit("l2")],
                {"a.txt": b"ONE\n", "l2": "-> a.txt"},
            ),
            "edit by the link, delete the file": (LINKED, [edit("l"), delete("a.txt")], {"l": "-> a.txt"}),
            "edit by the link, delete the link": (LINKED, [edit("l"), delete("l")], {"a.txt": b"ONE\n"}),
            "edit by both names": (
                {"a.txt": b"one\ntwo\n", "l": "-> a.txt"},
                [edit("l"), edit("a.txt", "TWO", line=1)],
                {"a.txt": b"ONE\nTWO\n", "l": "-> a.txt"},
            ),
            "edit, rename, and edit the same text": (
                {"a.txt": b"one\n"},
                [edit("a.txt"), rename("a.txt", "b.txt"), edit("b.txt", "TWO")],
                {"b.txt": b"TWO\n"},
            ),
            "edit, empty, and edit the same text": (
                {"a.txt": b"one\n"},
                [edit("a.txt"), create("a.txt", overwrite=True), edit("a.txt", "TWO")],
                {"a.txt": b"TWO"},
            ),
            "rename the file over the link to it": (
                LINKED,
                [rename("a.txt", "l", overwrite=True)],
                {"l": b"one\n"},
            ),
            "a new file where the link leads": (
                LINKED,
                [rename("a.txt", "b.txt"), create("l"), edit("a.txt", "new\n")],
                {"a.txt": b"new\n", "b.txt": b"one\n", "l": "-> a.txt"},
            ),
            "edit through a link to a folder that has moved": (
                {"p/a.txt": b"one\n", "k": "-> p"},
                [rename("p", "q"), rename("k", "q/k"), create("p/a.txt"), edit("q/a.txt")],
                {"q/a.txt": b"ONE\n", "q/k": "-> p", "p/a.txt": b""},
            ),
            "a swap through a third name": (
                TWO,
                [rename("a.txt", "t"), rename("b.txt", "a.txt"), rename("t", "b.txt")],
                {"a.txt": b"b\n", "b.txt": b"a\n"},
            ),
            "a swap through a third name, with an edit": (
                LINKED | {"b.txt": b"two\n"},
                [rename("a.txt", "t"), rename("b.txt", "a.txt"), edit("l", "TWO"), rename("t", "b.txt")],
                {"a.txt": b"TWO\n", "b.txt": b"one\n", "l": "-> a.txt"},
            ),
            "delete, then create": (TWO, [delete("a.txt"), create("a.txt")], {"a.txt": b"", "b.txt": b"b\n"}),
            "delete a folder, then create a file there": (
                ALL_SORTS,
                [delete("p", recursive=True), create("p"), edit("p", "x")],
                {"p": b"x"},
            ),
            "delete, then rename to it": (
                TWO,
                [delete("a.txt"), rename("b.txt", "a.txt")],
                {"a.txt": b"b\n"},
            ),
            "create, then delete": (TWO, [create("c"), delete("c")], TWO),
            "create over a binary file": (
                {"x": b"\0"},
                [create("x", overwrite=True), edit("x", "text")],
                {"x": b"text"},
            ),
            "rename a binary file": ({"x": b"\0"}, [rename("x", "q/y")], {"q/y": b"\0"}),
            "delete a binary file": ({"x": b"\0", "y": b""}, [delete("x")], {"y": b""}),
            "delete a link": (LINKED, [delete("l")], {"a.txt": b"one\n"}),
            "delete a link to nothing": ({"l": "-> nowhere", "y": b""}, [delete("l")], {"y": b""}),
            "rename a link to nothing": ({"l": "-> nowhere"}, [rename("l", "k")], {"k": "-> nowhere"}),
            "rename a folder": (
                ALL_SORTS,
                [rename("p", "q")],
                {f"q{name[1:]}": data for name, data in ALL_SORTS.items()},
            ),
            "rename a folder, and what is in it": (
                ALL_SORTS,
                [
                    rename("p", "q"),
                    edit("q/l"),
                    rename("q/x.png", "y.png"),
                    rename("q/sub", "r/sub"),
                    delete("q/out"),
                ],
                {
                    "q/a.txt": b"ONE\n",
                    "q/l": "-> a.txt",
                    "q/gone": "-> nowhere",
                    "y.png": b"\x89PNG\0\0",
                    "r/sub/empty": None,
                },
            ),
            "delete a folder": (ALL_SORTS | {"y": b""}, [delete("p", recursive=True)], {"y": b""}),
            "delete a folder out of which something was moved": (
                ALL_SORTS,
                [rename("p/a.txt", "a.txt"), delete("p", recursive=True), rename("a.txt", "p/b.txt")],
                {"p/b.txt": b"one\n"},
            ),
            "delete an empty folder": ({"e/f": None}, [delete("e/f")], {"e": None}),
            "rename an empty folder": ({"e": None}, [rename("e", "f")], {"f": None}),
            "rename a link to the name of the folder that it led into": (
                {"p/r/a": b"a", "p/l": "-> r/a"},
                [delete("p/r", recursive=True), rename("p/l", "p/r")],
                {"p/r": "-> r/a"},
            ),
            "a folder takes the place of a link": (
                {"p/a": b"a", "l": "-> p"},
                [delete("l"), create("l/a"), edit("l/a", "x")],
                {"p/a": b"a", "l/a": b"x"},
            ),
            "rename a folder to the name of a link that is deleted": (
                {"a": b"a", "l": "-> a", "p/r/a": b"one", "p/l": "-> r/a"},
                [delete("l"), edit("p/l"), rename("p", "l")],
                {"a": b"a", "l/r/a": b"ONE", "l/l": "-> r/a"},
            ),
            "rename a folder to the name of one that is deleted, and a file into it": (
                {"p/f": b"f", "r/g": b"g", "a": b"a"},
                [
                    rename("p/f", "z"),
                    delete("p", recursive=True),
                    rename("r", "p"),
                    rename("a", "p/x"),
                ],
                {"z": b"f", "p/g": b"g", "p/x": b"a"},
            ),
            "rename a folder, and a file into the name of one in it that is deleted": (
                {"o/p/f": b"f", "r/g": b"g", "a": b"a"},
                [
                    rename("o/p/f", "z"),
                    rename("o", "n"),
                    delete("n/p", recursive=True),
                    rename("r", "n/p"),
                    rename("a", "n/p/x"),
                ],
                {"z": b"f", "n/p/g": b"g", "n/p/x": b"a"},
            ),
            "rename a folder and back": (ALL_SORTS, [rename("p", "q"), rename("q", "p")], ALL_SORTS),
        }.items()
    ],
)
def test_names(
    files: Entries, entries: list[Json], wanted: Entries, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = filled(root, files)
    code, answer = run(root, {"documentChanges": with_uris(entries, root)}, capsys=capsys)
    assert code == 0, answer
    assert entries_of(root) == dict(wanted)
    if start == dict(wanted):
        return
    assert answer["files"]
    assert main(["undo", "--root", str(root), "--json"]) == 0, capsys.readouterr().out
    assert entries_of(root) == start


@pytest.mark.parametrize(
    ("files", "entries", "kind"),
    [
        (ALL_SORTS, [delete("p")], "is_directory"),
        ({"e/f": None}, [delete("e")], "is_directory"),
        (ALL_SORTS, [rename("p", "p/q")], "invalid"),
        (TWO, [rename("a.txt", "b.txt/c")], "invalid"),
        (TWO, [delete(".", recursive=True)], "invalid"),
        (TWO, [rename(".", "c")], "invalid"),
        (TWO, [delete("a.txt"), edit("a.txt")], "not_found"),
        (TWO, [delete("a.txt"), delete("a.txt")], "not_found"),
        (TWO, [rename("a.txt", "c"), rename("b.txt", "c")], "exists"),
        (LINKED, [create("l")], "exists"),
        (LINKED, [rename("a.txt", "l")], "exists"),
        ({"l": "-> l2", "l2": "-> l"}, [edit("l")], "invalid"),
        ({"l": "-> /etc"}, [edit("l/passwd")], "outside_workspace"),
        (TWO, [edit("a.txt", "x\0y")], "invalid"),
        (LINKED, [edit("l"), edit("a.txt", "TWO")], "ambiguous"),
        ({"a.txt": b"one\n"}, [edit("a.txt"), edit("a.txt", "TWO"), rename("a.txt", "b")], "ambiguous"),
    ],
)
def test_names_that_cannot_be_had(
    files: Entries, entries: list[Json], kind: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = filled(root, files)
    code, answer = run(root, {"documentChanges": with_uris(entries, root)}, capsys=capsys)
    assert code and answer["error"]["kind"] == kind, answer
    assert entries_of(root) == start


def with_uris(entries: list[Json], root: Path) -> list[Json]:
    """Names are relative to the workspace where these tests say them."""

    def with_uri(entry: Json) -> Json:
        return {
            name: f"{root.as_uri()}/{value}" if name in ("uri", "oldUri", "newUri") else value
            for name, value in entry.items()
        }

    found: list[Json] = json.loads(json.dumps(entries), object_hook=with_uri)
    return found


def filled(root: Path, files: Entries) -> Entries:
    """What stands in the workspace after these were put there."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.mkdir()
        elif isinstance(content, str):
            path.symlink_to(content.removeprefix("-> "))
        else:
            path.write_bytes(content)
    return entries_of(root)


def entries_of(root: Path) -> dict[str, bytes | str | None]:
    """Files, links and empty folders, by name."""
    found: dict[str, bytes | str | None] = {}
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif not path.is_dir():
            found[name] = path.read_bytes()
        elif not any(path.iterdir()):
            found[name] = None
    return found
