"""mypy as a witness of a rename: it has nothing to say about a package that it has not said before."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from laws.packages import DEPENDENCIES
from laws.renamed_words import unmatched

OPTIONS = ("--no-error-summary", "--hide-error-context", "--check-untyped-defs")


class Mypy:
    """What mypy says about the package in a folder; its cache lies beside the folder."""

    def __init__(self, folder: Path, package: str) -> None:
        self.folder = folder
        self.package = package
        self.before = self.complaints()

    def new_complaints(self, old: str, new: str) -> list[str]:
        return unmatched(self.before, self.complaints(), old, new)[1]

    def complaints(self) -> list[str]:
        """One line each, with the file and without the line number."""
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "mypy",
                *OPTIONS,
                f"--cache-dir={self.folder.parent / 'mypy'}",
                "-p",
                self.package,
            ],
            cwd=self.folder,
            env={**os.environ, "MYPYPATH": os.pathsep.join(map(str, DEPENDENCIES))},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode in (0, 1), done.stdout + done.stderr
        found = re.findall(r"^([^:\n]+):\d+: error: (.*)$", done.stdout, re.MULTILINE)
        return [f"{path}: {says}" for path, says in found]
