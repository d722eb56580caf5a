"""A copy of a project to work on: its bytes, its program, and the commands that are tried on it.

A command is parsed by the real command line and carried out by the real tool, so what the demo shows is what it runs. The
journal lies beside the copy; neither the original nor the user's own history is touched.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rich

from lsptools.faces.commands import Call, parse
from lsptools.faces.environment import Environment
from lsptools.tools.base import Context
from lsptools.workspace.journal import State
from lsptools.workspace.operations import LocalOperations
from lsptools.workspace.paths import Root
from lsptools.workspace.snapshot import Snapshot

PATIENCE_S = 120
"""How long a program of a copy may run."""


@dataclass(frozen=True, slots=True)
class Printed:
    """What a program printed, and how it ended."""

    out: str
    error: str
    exit_code: int

    @property
    def last_words(self) -> str:
        """The last line of standard error: for a traceback, the exception."""
        return (self.error.rstrip().split("\n") or [""])[-1]


class Bench:
    """A copy of a folder: `home/name`, or `inside` of that."""

    def __init__(self, original: Path, home: Path, name: str, *, inside: str = "") -> None:
        self.folder = (home / name).resolve()
        self._state = home / "state"
        shutil.copytree(original, self.folder / inside, ignore=shutil.ignore_patterns("__pycache__"))

    def run(self, command: str) -> Any:  # each tool has an answer of its own
        """Carry out a command line that begins with `lsptools`, in this folder; the tool's answer."""
        _, *arguments = shlex.split(command)
        call = parse(arguments)
        if not isinstance(call, Call):
            raise ValueError(f"{command} only prints something")
        return call.tool.run(self.context(), call.tool.params(**call.values))

    def context(self) -> Context:
        """The files as they are now, and the journal of this bench."""
        root = Root.of(self.folder)
        # Not from an active virtual environment, which need not be the one that runs this.
        installed = Path(rich.__file__).parent.parent
        rg = Environment().rg(root)
        snapshot = Snapshot(root, LocalOperations(), rg, search_path=(str(installed),))
        return Context(snapshot, lambda: State.of(self._state, root))

    def python(self, *arguments: str) -> Printed:
        """Run Python in this folder, whose modules come first."""
        variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        variables |= {
            "PYTHONPATH": str(self.folder),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONIOENCODING": "utf-8",
            "PYTHONHASHSEED": "0",
        }
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=variables,
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return Printed(_text(done.stdout), _text(done.stderr), done.returncode)

    def bytes(self) -> dict[str, bytes]:
        """Every file of the folder, by its name."""
        return contents(self.folder)

    def replaced(self, old: str, new: str, home: Path, name: str) -> Bench:
        """Another copy of the project, in which `old` (a regular expression) was replaced in every Python file."""
        other = Bench(self.folder, home, name)
        for path in sorted(other.folder.rglob("*.py")):
            path.write_bytes(re.sub(old.encode(), new.encode(), path.read_bytes()))
        return other


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder that was not compiled from another one, by its name."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def _text(output: bytes) -> str:
    return output.decode("utf-8", "replace").replace("\r\n", "\n")
