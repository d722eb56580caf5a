"""An editor's side of the protocol, computed anew: text in units, changes, workspace edits applied strictly.

A text becomes a string with one character per unit (UTF-16, UTF-8 or code points), and everything is computed on that. Lines
end at `\\r\\n`, `\\n` and `\\r` only. Nothing here is `lsptools`: this is the second witness.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

BREAK = re.compile(r"\r\n|\n|\r")
Json = Any  # a message; the protocol is its type


class Wrong(Exception):
    """What an editor cannot do, or must not."""


# ------------------------------------------------------------------------------------------------------------ units
def to_units(text: str, encoding: str) -> str:
    """One character per unit of the encoding."""
    if encoding == "utf-16":
        data = text.encode("utf-16-le", "surrogatepass")
        return "".join(chr(data[at] | data[at + 1] << 8) for at in range(0, len(data), 2))
    return text.encode("utf-8", "surrogatepass").decode("latin-1") if encoding == "utf-8" else text


def from_units(units: str, encoding: str) -> str:
    if encoding == "utf-16":
        return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return units.encode("latin-1").decode("utf-8", "surrogatepass") if encoding == "utf-8" else units


def offset(units: str, position: Json, *, encoding: str, strict: bool) -> int:
    """Where a position is. Beyond a line or the text it is clamped; with `strict` that is Wrong (except for the start of the
    line after the last, which is how a whole text is spelled), and so is the middle of a character."""
    starts = [0, *(found.end() for found in BREAK.finditer(units))]
    line, character = position["line"], position["character"]
    if line >= len(starts):
        if strict and (line > len(starts) or character):
            raise Wrong(f"{position} is past the end")
        return len(units)
    found = BREAK.search(units, starts[line])
    end = found.start() if found else len(units)
    at = starts[line] + character
    if at > end and strict:
        raise Wrong(f"{position} is past the end of its line")
    at = min(at, end)
    if strict and 0 < at < len(units) and _is_inside_character(units, at, encoding):
        raise Wrong(f"{position} is in the middle of a character")
    return at


def _is_inside_character(units: str, at: int, encoding: str) -> bool:
    if encoding == "utf-16":
        return "\ud800" <= units[at - 1] <= "\udbff" and "\udc00" <= units[at] <= "\udfff"
    return encoding == "utf-8" and "\x80" <= units[at] <= "\xbf"


def position(text: str, at: int, encoding: str) -> Json:
    """The position of a code point offset."""
    before = BREAK.split(text[:at])
    return {"line": len(before) - 1, "character": len(to_units(before[-1], encoding))}


def code_points(text: str, at: Json, encoding: str) -> int:
    """The code point offset of a position."""
    units = to_units(text, encoding)
    return len(from_units(units[: offset(units, at, encoding=encoding, strict=True)], encoding))


def splice(text: str, changes: Sequence[Json], encoding: str) -> str:
    """`didChange`: one change after another. Half of a surrogate pair is allowed, as units are."""
    for change in changes:
        if "range" not in change:
            text = change["text"]
            continue
        units = to_units(text, encoding)
        start, end = (
            offset(units, change["range"][side], encoding=encoding, strict=False) for side in ("start", "end")
        )
        text = from_units(units[:start] + to_units(change["text"], encoding) + units[end:], encoding)
    return text


def with_edits(text: str, edits: Sequence[Json], encoding: str) -> str:
    """A list of text edits: all refer to the original, none may overlap, array order decides at one place."""
    units = to_units(text, encoding)
    spans = []
    for number, edit in enumerate(edits):
        start, end = (
            offset(units, edit["range"][side], encoding=encoding, strict=True) for side in ("start", "end")
        )
        if start > end:
            raise Wrong(f"a range that ends before it starts: {edit['range']}")
        spans.append((start, number, end, to_units(edit["newText"], encoding)))
    parts, last = [], 0
    for start, _, end, new in sorted(spans):
        if start < last:
            raise Wrong("edits overlap")
        parts += [units[last:start], new]
        last = end
    return from_units("".join(parts) + units[last:], encoding)


# ---------------------------------------------------------------------------------------------------- workspace edits
@dataclass(frozen=True, slots=True)
class World:
    """The texts that a workspace edit is applied to."""

    text_of: Callable[[str], str | None]
    """By path below the root; None if there is no such file."""
    path_of: Callable[[str], str]
    """The path of a URI; Wrong outside of the workspace."""
    encoding: str
    versions: Mapping[str, int]
    """Of the open documents."""

    def applied(self, edit: Json, *, confirmed: bool = False) -> dict[str, str | None]:
        """Every changed path with its new text, None when it is gone. Edits that need confirmation are left out unless
        `confirmed`."""
        changed: dict[str, str | None] = {}
        edited: set[str] = set()

        def now(path: str) -> str | None:
            return changed[path] if path in changed else self.text_of(path)

        notes = edit.get("changeAnnotations") or {}
        items = edit.get("documentChanges")
        if items is None:
            items = [
                {"textDocument": {"uri": uri, "version": None}, "edits": edits}
                for uri, edits in (edit.get("changes") or {}).items()
            ]
        for item in items:
            if "edits" in item:
                path, text = self._editable(item["textDocument"], edited, now)
                plain = [
                    each
                    for each in item["edits"]
                    if confirmed or not (notes.get(each.get("annotationId")) or {}).get("needsConfirmation")
                ]
                changed[path] = with_edits(text, plain, self.encoding)
            elif item["kind"] == "rename":
                self._rename(item, changed, now)
            else:
                raise Wrong(f"not looked for: {item}")
        return changed

    def _editable(
        self, document: Json, edited: set[str], now: Callable[[str], str | None]
    ) -> tuple[str, str]:
        path, version = self.path_of(document["uri"]), document.get("version")
        text = now(path)
        if path in edited:
            raise Wrong(f"two entries for {path}")
        if text is None:
            raise Wrong(f"an edit of {path}, which does not exist")
        if version is not None and path in self.versions and version != self.versions[path]:
            raise Wrong(f"version {version} of {path}, which is open in version {self.versions[path]}")
        edited.add(path)
        return path, text

    def _rename(self, item: Json, changed: dict[str, str | None], now: Callable[[str], str | None]) -> None:
        old, new = self.path_of(item["oldUri"]), self.path_of(item["newUri"])
        if now(old) is None:
            raise Wrong(f"{old} to be renamed does not exist")
        if now(new) is not None:
            raise Wrong(f"{new} exists")
        changed[new], changed[old] = now(old), None
