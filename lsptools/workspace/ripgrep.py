"""Text search in the workspace, by ripgrep: the only module that runs it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsptools.errors import Unavailable
from lsptools.text.document import is_binary
from lsptools.workspace.paths import Root
from lsptools.workspace.words import checked_words, python_pattern, rust_patterns


@dataclass(frozen=True, slots=True, order=True)
class Skipped:
    """Something that was not searched, or cannot be read as text, and why."""

    path: str
    reason: str
    kind: str = "unreadable"


@dataclass(frozen=True, slots=True)
class Found:
    """The files with a word, sorted, and what was left out."""

    files: tuple[str, ...]
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class Rg:
    executable: Path | None

    def files_with(
        self, root: Root, words: Sequence[str], *, whole_words: bool = True, globs: Sequence[str] = ()
    ) -> Found:
        words = checked_words(words)
        if self.executable is None:
            raise Unavailable("unavailable", "no ripgrep")
        argv = [
            str(self.executable), "--no-config", "--hidden", "--no-require-git", "--no-ignore-global",
            "--no-ignore-parent", "--no-ignore-exclude", "--no-ignore-messages", "--color=never", "-l", "-0", "-a",
            "--max-filesize=8M", "--glob=!.git", "--glob=!.hg", "--glob=!.svn", "--glob=!__pycache__", "--glob=!.venv",
            "--glob=!venv", "--glob=!node_modules", "--file=-", "--", "./",
        ]  # fmt: skip
        patterns = "".join(p + "\n" for p in rust_patterns(words, whole=whole_words))
        done = subprocess.run(argv, input=patterns.encode(), capture_output=True, cwd=root.path, check=False)
        files = []
        skipped = []
        for name in done.stdout.split(b"\0")[:-1]:
            path = os.fsdecode(name[2:])
            if not is_wanted(path, globs):
                continue
            with open(f"{root.path}/{path}", "rb") as file:
                head = file.read(8192)
            if is_binary(head):
                skipped.append(Skipped(path, "binary file matches", "binary"))
            else:
                files.append(path)
        return Found(tuple(sorted(files)), tuple(skipped))


def is_wanted(path: str, globs: Sequence[str]) -> bool:
    import fnmatch

    positive = [g for g in globs if not g.startswith("!")]
    return (
        not positive
        or any(fnmatch.fnmatch(path, g) or fnmatch.fnmatch(path.rpartition("/")[2], g) for g in positive)
    ) and not any(fnmatch.fnmatch(path, g[1:]) for g in globs if g.startswith("!"))


def contains_word(text: str, words: Sequence[str], *, whole_words: bool = True) -> bool:
    return (
        python_pattern(words, whole=whole_words).search(text.encode("utf-8", "surrogateescape")) is not None
    )


def find_executable(setting: str | None, path: str | None) -> Path | None:
    import shutil
    import sysconfig

    return Path(setting or shutil.which("rg", path=path) or sysconfig.get_path("scripts") + "/rg")
