"""A rename of a case, as an editor gets it from the language server and does it to a tree of files.

Independent of `lsptools`: positions and edits are computed by `lspeditor`, encodings by `casetree`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

import casetree
import lspclient
import lspeditor
from casetree import File, Folder, Link, Tree, text_of, with_text
from lspclient import Client, Failed
from lspeditor import World, Wrong

if TYPE_CHECKING:
    from casefaces import Place


@dataclass(frozen=True, slots=True)
class Way:
    """How the editor counts, and whether the documents are open in it."""

    encoding: str
    opened: bool


WAYS = tuple(Way(encoding, opened) for encoding in ("utf-16", "utf-8", "utf-32") for opened in (False, True))


@dataclass(frozen=True, slots=True)
class Answers:
    """What the server said to one way of asking."""

    way: Way
    tree: Tree
    """Afterwards."""
    kind: str | None
    """Why not, as the kind of the refusal."""


def rename(at: Place, before: Tree, place: str, new_name: str) -> tuple[list[Answers], dict[str, Any] | None]:
    """The rename, asked in every way, and what is known of the occurrences.

    Where all text is ASCII the units are the same, and two ways do.
    """
    ascii_only = all(entry.data.isascii() for entry in before.values() if isinstance(entry, File))
    ways = (Way("utf-16", False), Way("utf-8", True)) if ascii_only and new_name.isascii() else WAYS
    answers: list[Answers] = []
    known: dict[str, Any] | None = None
    for encoding in dict.fromkeys(way.encoding for way in ways):
        client = lspclient.inside(at.environment())
        client.initialize(at.root, encodings=[encoding])
        where = _position(at, before, place, encoding)
        for way in (way for way in ways if way.encoding == encoding):
            if way.opened:
                _open_all(client, at.root, before)
            answers.append(_answer(client, at, before, where, new_name, way))
        if encoding == "utf-16":
            known = _evidence(client, at, before, where)
        client.close()
        client.dispose()
    return answers, known


def _answer(
    client: Client, at: Place, before: Tree, where: tuple[str, int, int], new_name: str, way: Way
) -> Answers:
    try:
        edit = client.at("rename", *where, newName=new_name)
    except Failed as error:
        return Answers(way, before, error.data["kind"])
    return Answers(way, _applied(at.root, before, edit, way), None)


def _open_all(client: Client, root: Path, tree: Tree) -> None:
    for name, entry in tree.items():
        if name.endswith((".py", ".pyi")) and isinstance(entry, File) and "site-packages" not in name:
            client.open((root / name).as_uri(), text_of(entry), version=7)


def _evidence(client: Client, at: Place, before: Tree, where: tuple[str, int, int]) -> dict[str, Any] | None:
    """All occurrences with their classes, in the words of the JSON contract; None where there is no symbol."""
    argument = {"uri": where[0], "position": {"line": where[1], "character": where[2]}}
    try:
        found = client.ask(
            "workspace/executeCommand", {"command": "lsptools.evidence", "arguments": [argument]}
        )
    except Failed:
        return None
    occurrences = []
    for each in found["occurrences"]:
        path = _path(at.root, each["uri"])
        text = text_of(_file(before, path))
        start = each["range"]["start"]
        line, column = casetree.user_position(text, lspeditor.code_points(text, start, "utf-16"))
        occurrences.append(
            {"path": path, "line": line, "column": column, "class": each["class"], "range": {"start": start}}
        )
    return {"schema": 1, "complete": found["complete"], "occurrences": occurrences}


def put(root: Path, before: Tree, after: Tree) -> None:
    """Make the tree on the disk, which is `before`, be `after`."""
    for name, entry in after.items():
        if before.get(name) != entry:
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(entry, Link):
                path.symlink_to(entry.target)
            elif isinstance(entry, Folder):
                path.mkdir(exist_ok=True)
            else:
                path.write_bytes(entry.data)
                path.chmod(entry.mode)
    for name in sorted(before.keys() - after.keys(), reverse=True):
        path = root / name
        path.rmdir() if isinstance(before[name], Folder) else path.unlink()


# ----------------------------------------------------------------------------------------------------- the editor
def _position(at: Place, tree: Tree, place: str, encoding: str) -> tuple[str, int, int]:
    """URI, line and character of `path:line:column`."""
    path, line, column = place.rsplit(":", 2)
    path = path.removeprefix("./")
    text = text_of(_file(tree, path))
    before = casetree.BREAK.split(text)[int(line) - 1][: int(column) - 1]
    return (at.root / path).as_uri(), int(line) - 1, len(lspeditor.to_units(before, encoding))


def _file(tree: Tree, path: str) -> File:
    entry = tree[path]
    while isinstance(entry, Link):
        path = os.path.normpath(os.path.join(os.path.dirname(path), entry.target))  # noqa: PTH120
        entry = tree[path]
    assert isinstance(entry, File), path
    return entry


def _path(root: Path, uri: str) -> str:
    path = Path(unquote(urlparse(uri).path))
    if not path.is_relative_to(root):
        raise Wrong(f"{uri} is outside of the workspace")
    return path.relative_to(root).as_posix()


def _applied(root: Path, before: Tree, edit: Any, way: Way) -> Tree:
    """The tree after the edit; each file is saved in its own encoding."""
    after = dict(before)
    documents = [item for item in edit.get("documentChanges", ()) if "textDocument" in item]
    versions = {item["textDocument"]["version"] for item in documents}
    assert versions <= ({7, None} if way.opened else {None}), versions
    edit = {**edit, "documentChanges": documents + _moves_of_files(root, before, edit)}
    world = World(
        lambda path: text_of(_file(before, path)) if path in before else None,
        lambda uri: _path(root, uri),
        way.encoding,
        {},
    )
    moved = {}
    for item in edit["documentChanges"]:
        if item.get("kind") == "rename":
            moved[_path(root, item["newUri"])] = _path(root, item["oldUri"])
    for path, text in world.applied(edit).items():
        if text is None:
            del after[path]
        else:
            after[path] = with_text(_file(before, moved.get(path, path)), text)
    return _without_empty_folders(before, casetree.with_folders(after))


def _moves_of_files(root: Path, before: Tree, edit: Any) -> list[Any]:
    """The moves of the edit, those of folders told file by file."""
    told = []
    for item in edit.get("documentChanges", ()):
        if item.get("kind") == "rename":
            old, new = _path(root, item["oldUri"]), _path(root, item["newUri"])
            for name, entry in before.items():
                if not isinstance(entry, Folder) and (name == old or name.startswith(old + "/")):
                    target = (root / (new + name.removeprefix(old))).as_uri()
                    told.append({"kind": "rename", "oldUri": (root / name).as_uri(), "newUri": target})
    return told


def _without_empty_folders(before: Tree, after: Tree) -> Tree:
    """Without the folders that a move has emptied."""
    full = {name for name, entry in after.items() if not isinstance(entry, Folder)}
    return {
        name: entry
        for name, entry in after.items()
        if not isinstance(entry, Folder)
        or any(each.startswith(name + "/") for each in full)
        or not any(each.startswith(name + "/") for each in before)
    }
