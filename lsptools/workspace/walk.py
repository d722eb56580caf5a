"""Which files of the workspace are searched: ignore rules, and folders that are never the workspace's own source.

Read are `.gitignore`, `.ignore` and `.rgignore` of the root and the folders in it, whether it is a git checkout or not.
Not read, so that every checkout gives the same answers, is what belongs to the user or lies outside: git's global excludes,
`.git/info/exclude`, ignore files above the root. Hidden files are searched. Links are not followed: what they lead
to is searched under its own name, or is outside.

Version control's own folders are left out silently; virtual environments, `node_modules` and `__pycache__` are left
out with a note each. The invariant: the files that `ripgrep.py` has ripgrep search, tested on generated trees.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import lru_cache

from lsptools.workspace.globs import Rule, rule_of
from lsptools.workspace.operations import Operations
from lsptools.workspace.paths import Root

VERSION_CONTROL = (".git", ".hg", ".svn")

FOREIGN = {
    ".venv": "a virtual environment",
    "venv": "a virtual environment",
    "node_modules": "installed packages",
    "__pycache__": "compiled files",
}
"""Folders left out by name, and what they hold. A folder with a `pyvenv.cfg` is a virtual environment by any name."""

_IGNORE_FILES = (".rgignore", ".ignore", ".gitignore")
"""The first that says something about a path decides, however far up it lies."""


@dataclass(frozen=True, slots=True)
class Folder:
    """One folder of the walk. Paths are relative to the root of the workspace."""

    path: str
    """Empty for the root itself."""
    candidates: tuple[str, ...]
    """Its regular files, ignored ones too."""
    rules: Rules
    foreign: tuple[str, ...] = ()
    """Those of its folders that are left out, or itself."""
    error: str = ""
    """Why it could not be listed."""

    def searched(self) -> tuple[str, ...]:
        """Its files that no rule ignores."""
        return tuple(path for path in self.candidates if not self.rules.ignore(path, is_folder=False))


def walk(root: Root, operations: Operations, *, everywhere: bool = False) -> Iterator[Folder]:
    """The folders of the workspace, each before those in it. `everywhere`: foreign ones too, version control's not."""
    top = os.path.join(root.path, "")
    pending = [("", NO_RULES)]
    while pending:
        path, above = pending.pop()
        absolute = top + path
        try:
            kinds = operations.list_kinds(absolute)
        except OSError as error:
            if path and isinstance(error, FileNotFoundError):
                continue  # gone meanwhile
            yield Folder(path, (), above, error=error.strerror or str(error))
            continue
        if path and not everywhere and "pyvenv.cfg" in kinds:
            yield Folder(path, (), above, foreign=(path,))
            continue
        prefix = path + "/" if path else ""
        rules = above.with_folder(prefix, absolute, kinds, operations)
        candidates = [
            prefix + name for name, kind in kinds.items() if kind == "file" and name not in VERSION_CONTROL
        ]
        inside = [
            name
            for name, kind in kinds.items()
            if kind == "folder"
            and name not in VERSION_CONTROL
            and not rules.ignore(prefix + name, is_folder=True)
        ]
        foreign = () if everywhere else tuple(prefix + name for name in inside if name in FOREIGN)
        pending.extend((prefix + name, rules) for name in inside if everywhere or name not in FOREIGN)
        yield Folder(path, tuple(candidates), rules, foreign)


@dataclass(frozen=True, slots=True)
class _Level:
    """What one ignore file says."""

    n_prefix: int
    """Length of its folder's path, slash included."""
    any_rule: re.Pattern[bytes]
    rules: tuple[tuple[re.Pattern[bytes], Rule], ...]
    """The last line first: it is the one that counts."""

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """Is `path` ignored, kept, or nothing said?"""
        name = os.fsencode(path[self.n_prefix :])
        if not self.any_rule.fullmatch(name):
            return None
        for pattern, rule in self.rules:
            if (is_folder or not rule.only_folders) and pattern.fullmatch(name):
                return not rule.keeps
        return None


@dataclass(frozen=True, slots=True)
class Rules:
    """The ignore files from the root down to a folder; for each of `_IGNORE_FILES` the deepest first."""

    levels: tuple[tuple[_Level, ...], ...]

    def ignore(self, path: str, *, is_folder: bool) -> bool:
        """Is this path, right in the folder, ignored?"""
        for levels in self.levels:
            for level in levels:
                verdict = level.verdict(path, is_folder=is_folder)
                if verdict is not None:
                    return verdict
        return False

    def with_folder(self, prefix: str, absolute: str, names: Container[str], operations: Operations) -> Rules:
        """These rules and those of a further folder, in which there are `names`."""
        if not (".gitignore" in names or ".ignore" in names or ".rgignore" in names):
            return self  # the usual case, and this is asked for every folder of the workspace
        levels = list(self.levels)
        for at, name in enumerate(_IGNORE_FILES):
            level = _level(len(prefix), os.path.join(absolute, name), operations) if name in names else None
            if level is not None:
                levels[at] = (level, *levels[at])
        return Rules(tuple(levels))


NO_RULES = Rules(((),) * len(_IGNORE_FILES))


def _level(n_prefix: int, ignore_file: str, operations: Operations) -> _Level | None:
    try:
        rules = _parsed(operations.read_bytes(ignore_file))
    except OSError:
        return None
    if not rules:
        return None
    any_rule = re.compile(b"|".join(pattern.pattern for pattern, _ in rules), re.DOTALL)
    return _Level(n_prefix, any_rule, rules)


@lru_cache(maxsize=64)
def _parsed(data: bytes) -> tuple[tuple[re.Pattern[bytes], Rule], ...]:
    rules: list[Rule] = []
    for number, line in enumerate(data.split(b"\n")):
        try:
            text = line.removesuffix(b"\r").decode("utf-8-sig" if number == 0 else "utf-8")
        except UnicodeDecodeError:
            break  # ripgrep does not read on either
        rule = rule_of(text)
        if rule is not None:
            rules.append(rule)
    return tuple((re.compile(rule.pattern.encode("latin-1"), re.DOTALL), rule) for rule in reversed(rules))
