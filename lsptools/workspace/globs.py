"""Globs as ripgrep reads them, for where Python has to decide what ripgrep would have decided.

`*`, `?`, `[…]`, `{a,b}`, `\\` escapes and `**` between slashes. They match bytes, as ripgrep's do: `?` is one byte, not
one character. `Rule` adds what ignore files mean by a line: anchors, `!`, and `/` at the end for folders only.

The invariant: the same verdict as ripgrep 15, tested against it on generated trees. Older ones read an unclosed `[` as
a mistake and ignore the line; here it is a character, as git has it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from lsptools.errors import BadRequest


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of an ignore file."""

    pattern: str
    """A regular expression over the whole path, relative to the folder of the ignore file."""
    keeps: bool
    """It began with `!`: what matches is not ignored."""
    only_folders: bool


def rule_of(line: str) -> Rule | None:
    """The rule a line of an ignore file states, if any; a line that is no valid glob states none."""
    if line.startswith("#"):
        return None
    if not line.endswith("\\ "):
        line = line.rstrip()
    if not line:
        return None
    keeps = anchored = False
    if line.startswith(("\\!", "\\#")):
        line = line[1:]
    else:
        if line.startswith("!"):
            keeps, line = True, line[1:]
        if line.startswith("/"):
            anchored, line = True, line[1:]
    only_folders = line.endswith("/")
    if only_folders:
        line = line[:-1].removesuffix("\\")
    if not anchored and "/" not in line and line != "**":
        line = "**/" + line
    if line.endswith("/**"):
        # What is in the folder, not the folder itself.
        line += "/*"
    try:
        return Rule(_Translation(line).pattern(), keeps, only_folders)
    except _NoGlob:
        return None


def checked_globs(globs: Sequence[str]) -> tuple[str, ...]:
    """`globs`, if each of them is one."""
    if isinstance(globs, str):
        raise TypeError("a sequence of globs, not one string")
    _compiled(tuple(globs))
    return tuple(globs)


def is_wanted(path: str, globs: Sequence[str]) -> bool:
    """Do `globs` want the file at `path`? Order does not matter: some positive glob must match, if there is one, and no negative.

    `*.py` matches in every folder, `src/**/*.py` from the root, `docs/` all that is in such a folder; `!…` excludes
    files and whole folders.
    """
    if not globs:
        return True
    wants, excludes = _compiled(tuple(globs))
    name = os.fsencode(path)
    folders = [name[:at] for at, byte in enumerate(name) if byte == _SLASH]
    if any(_matches(glob, name, folders, folders_too=True) for glob in excludes):
        return False
    return not wants or any(_matches(glob, name, folders, folders_too=False) for glob in wants)


def quoted(path: str) -> str:
    """A glob that matches `path`, relative to the root, and nothing else."""
    return "/" + "".join(_quoted_character(character) for character in path)


def _quoted_character(character: str) -> str:
    if character == "\\":
        return "\\\\"
    return f"[{character}]" if character in "*?[]{}," or character.isspace() else character


@dataclass(frozen=True, slots=True)
class _Glob:
    pattern: re.Pattern[bytes]
    only_folders: bool


def _matches(glob: _Glob, name: bytes, folders: list[bytes], *, folders_too: bool) -> bool:
    if not glob.only_folders and glob.pattern.fullmatch(name):
        return True
    return (folders_too or glob.only_folders) and any(glob.pattern.fullmatch(folder) for folder in folders)


@lru_cache(maxsize=64)
def _compiled(globs: tuple[str, ...]) -> tuple[tuple[_Glob, ...], tuple[_Glob, ...]]:
    wants: list[_Glob] = []
    excludes: list[_Glob] = []
    for glob in globs:
        rule = rule_of(glob) if "\0" not in glob else None
        if rule is None:
            raise BadRequest(
                "invalid", f"{glob!r} is not a glob", hint="use globs such as `*.py` or `!tests/`"
            )
        compiled = _Glob(re.compile(rule.pattern.encode("latin-1"), re.DOTALL), rule.only_folders)
        (excludes if rule.keeps else wants).append(compiled)
    return tuple(wants), tuple(excludes)


_SLASH = ord("/")
_ANY_FOLDERS_BEFORE = "(?:/?|.*/)"
_ALL_INSIDE = "/.*"
_ANY_FOLDERS_BETWEEN = "(?:/|/.*/)"
_ANYTHING = "[^/]*"


class _NoGlob(ValueError):
    """The text is not a glob."""


class _Translation:
    """One glob on its way to a regular expression; the steps are those of ripgrep's own parser (`globset`).

    A pattern is a text whose characters stand for bytes (Latin-1), so that it can be put together as text.
    """

    def __init__(self, glob: str) -> None:
        self.glob = glob
        self.at = 0
        self.branches: list[list[str]] = [[]]
        self.openings: list[int] = []
        """For each open `{`, the number of its first branch."""
        self.has_unclosed_class = False

    def pattern(self) -> str:
        while self.at < len(self.glob):
            self._step()
        if self.openings:
            raise _NoGlob("a `{` is not closed")
        tokens = self.branches[0]
        return ".*" if tokens == [_ANY_FOLDERS_BEFORE] else "".join(tokens)

    def _step(self) -> None:
        character = self._next()
        if character == "?":
            self._add("[^/]")
        elif character == "*":
            self._star()
        elif character == "[" and not self.has_unclosed_class:
            self._class()
        elif character == "{":
            self.openings.append(len(self.branches))
            self.branches.append([])
        elif character == "}":
            self._close()
        elif character == "," and self.openings:
            self.branches.append([])
        elif character == "\\":
            if self.at == len(self.glob):
                raise _NoGlob("a backslash escapes nothing")
            self._add(_literal(self._next()))
        else:
            self._add(_literal(character))

    def _next(self) -> str:
        self.at += 1
        return self.glob[self.at - 1]

    def _peek(self) -> str:
        return self.glob[self.at : self.at + 1]

    def _add(self, token: str) -> None:
        self.branches[-1].append(token)

    def _close(self) -> None:
        if not self.openings:
            raise _NoGlob("a `}` closes nothing")
        first = self.openings.pop()
        alternatives = ["".join(branch) for branch in self.branches[first:] if branch]
        del self.branches[first:]
        # Nothing at all between the braces is a token still: `**/{}` is not `**/`.
        self._add(f"(?:{'|'.join(alternatives)})" if alternatives else "")

    def _star(self) -> None:
        before = self.glob[self.at - 2 : self.at - 1] if self.at > 1 else ""
        if self._peek() != "*":
            self._add(_ANYTHING)
            return
        self.at += 1
        after = self._peek()
        tokens = self.branches[-1]
        if not tokens:
            if after in ("", "/"):
                self._add(_ANY_FOLDERS_BEFORE)
                self.at += 1
            else:
                self._add(_ANYTHING)
            return
        ends = after == "" or (after in ",}" and len(self.branches) > 1)
        if before != "/" or not (ends or after == "/"):
            self._add(_ANYTHING)
            return
        if after in ("", "/"):
            self.at += 1
        slash = tokens.pop()
        if slash in (_ANY_FOLDERS_BEFORE, _ALL_INSIDE):
            self._add(slash)
        else:
            self._add(_ALL_INSIDE if ends else _ANY_FOLDERS_BETWEEN)

    def _class(self) -> None:
        start = self.at
        negated = self._peek() in ("!", "^") and self._peek() != ""
        if negated:
            self.at += 1
        ranges: list[tuple[str, str]] = []
        in_range = False
        while True:
            if self.at >= len(self.glob):
                self.at, self.has_unclosed_class = start, True
                self._add(_literal("["))
                return
            character = self._next()
            if character == "]" and ranges:
                break
            if character == "-" and ranges and not in_range:
                in_range = True
            elif in_range:
                if character < ranges[-1][0]:
                    raise _NoGlob("a range goes backwards")
                ranges[-1] = (ranges[-1][0], character)
                in_range = False
            else:
                ranges.append((character, character))
        if in_range:
            ranges.append(("-", "-"))
        members = "".join(
            _literal(first) if first == last else f"{_literal(first)}-{_literal(last)}"
            for first, last in ranges
        )
        self._add(f"[{'^' if negated else ''}{members}]")


def _literal(character: str) -> str:
    return re.escape(character.encode("utf-8", "surrogateescape").decode("latin-1"))
