"""What a tool wants changed: whole files, before and after, whoever said it and in whatever units.

An answer is made of bytes, so that what is judged is what would stand on the disk. A `WorkspaceEdit` is applied here as the
protocol says: `documentChanges` in their order, or `changes`; ranges in UTF-16 units of the text before; resource operations
on files and on folders. Two versions of an overlapping edit have no meaning, and that is an error of the server's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from benchmarks.connection import Json
from lsptools.errors import BadRequest
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Lines, LspPos, Span

Tree = Mapping[str, bytes]
"""Path relative to the root, with `/` → content."""

_BOM = "\ufeff"


class BadEdit(Exception):
    """An edit that cannot be applied, or that reaches outside of the tree; the message says which."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Files that become something else. Nothing is in both `written` and `deleted`."""

    written: Mapping[str, bytes] = field(default_factory=dict)
    deleted: frozenset[str] = frozenset()
    moves: Mapping[str, str] = field(default_factory=dict)
    """Old path → new path, of files; for telling where a line of the result stood before."""

    def __bool__(self) -> bool:
        return bool(self.written or self.deleted)

    @property
    def digest(self) -> str:
        """Equal for answers that leave the same tree."""
        told = [f"{path}\0{hashlib.sha256(content).hexdigest()}" for path, content in self.written.items()]
        told += [f"{path}\0deleted" for path in self.deleted]
        return hashlib.sha256("\n".join(sorted(told)).encode()).hexdigest()[:24]

    def apply(self, root: Path) -> None:
        for path in self.deleted:
            (root / path).unlink()
        for path, content in self.written.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)


def read_tree(root: Path) -> dict[str, bytes]:
    """Every file below `root` but git's own and what running Python leaves behind."""
    left_out = {".git", "__pycache__", ".pytest_cache", ".hypothesis"}
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not left_out & set(path.relative_to(root).parts)
    }


def difference(before: Tree, after: Tree, moves: Mapping[str, str] | None = None) -> Answer:
    """The answer that makes `after` of `before`."""
    written = {path: content for path, content in after.items() if before.get(path) != content}
    return Answer(written, frozenset(before) - frozenset(after), moves or {})


def from_workspace_edit(before: Tree, root: Path, edit: Json) -> Answer:
    """What a server's `WorkspaceEdit` does to the tree that stands at `root`."""
    after, moves = dict(before), {}
    for step in _steps(edit):
        kind = step.get("kind")
        if kind is None:
            path = _inside(root, step["textDocument"]["uri"])
            if path not in after:
                raise BadEdit(f"edits {path}, which is not there")
            after[path] = edited(after[path], step["edits"])
        elif kind == "create":
            after.setdefault(_inside(root, step["uri"]), b"")
        elif kind == "delete":
            for path in _below(after, _inside(root, step["uri"])):
                del after[path]
        elif kind == "rename":
            old, new = _inside(root, step["oldUri"]), _inside(root, step["newUri"])
            for path in _below(after, old):
                moves[path] = new + path.removeprefix(old)
                after[moves[path]] = after.pop(path)
        else:
            raise BadEdit(f"a step of kind {kind}")
    return difference(before, after, moves)


def edited(content: bytes, edits: Iterable[Json]) -> bytes:
    """`content` after LSP text edits, all of which speak of `content`. The rest keeps its bytes, the byte order mark too."""
    text = content.decode("utf-8", "surrogateescape")
    mark = _BOM if text.startswith(_BOM) else ""
    text = text.removeprefix(_BOM)
    lines = Lines(text)
    same = {
        TextEdit(
            Span(
                lines.offset_from_lsp(LspPos(**each["range"]["start"])),
                lines.offset_from_lsp(LspPos(**each["range"]["end"])),
            ),
            each["newText"],
        )
        for each in edits
    }
    try:
        return (mark + Edits.of(same).apply(text)).encode("utf-8", "surrogateescape")
    except BadRequest as error:
        raise BadEdit(f"edits that overlap: {error}") from None


def _steps(edit: Json) -> list[Json]:
    """`documentChanges` come first where there are both: a client that was told of them ignores `changes`."""
    if edit.get("documentChanges"):
        return list(edit["documentChanges"])
    changes = edit.get("changes") or {}
    return [{"textDocument": {"uri": uri}, "edits": edits} for uri, edits in changes.items()]


def _inside(root: Path, uri: str) -> str:
    path = Path(unquote(urlsplit(uri).path)).resolve()
    if not path.is_relative_to(root.resolve()):
        raise BadEdit(f"edits outside of the project: {path.parent.name}/{path.name}")
    return path.relative_to(root.resolve()).as_posix()


def _below(tree: Tree, path: str) -> list[str]:
    """The file at `path`, or the files of the folder at `path`."""
    return [each for each in tree if each == path or each.startswith(f"{path}/")]
