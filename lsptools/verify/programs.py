"""The programs that rungs run: where they are, how they are run on one version of the text, and what came of it.

They belong to the project's environment: the virtual environment inside the workspace, the one the caller has activated, or
what is on PATH. So to run a rung that needs a program is to trust the project; no other rung starts anything.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lsptools.verify.versions import Versions
from lsptools.workspace.bench import Bench
from lsptools.workspace.output import Output
from lsptools.workspace.process import Command, Ending, run
from lsptools.workspace.snapshot import Snapshot

ENVIRONMENTS = (".venv", "venv", "env", ".env")
BEFORE, AFTER = "before", "after"
MOST_KEPT = 256 << 20
"""Bytes of output: thousands of diagnostics have to be read whole."""


@dataclass(frozen=True, slots=True)
class Done:
    """A program that has run."""

    command: tuple[str, ...]
    ending: Ending
    exit_code: int | None
    out: str
    err: str
    seconds: float

    @property
    def is_timed_out(self) -> bool:
        return self.ending is Ending.TIMED_OUT

    @property
    def last_words(self) -> str:
        """The last line that says something, of standard error or else of standard output."""
        for text in (self.err, self.out):
            lines = [line.strip() for line in text.split("\n") if line.strip()]
            if lines:
                return lines[-1][:300]
        return "it says nothing"


@dataclass(slots=True)
class Programs:
    """Runs programs on the bench, for one verification."""

    versions: Versions
    bench: Bench
    variables: Mapping[str, str]
    limit_s: float
    given_python: str | None = None
    test_command: str | None = None
    """What runs all tests; `None`: what the project says, or pytest."""
    is_cancelled: Callable[[], bool] = field(default=lambda: False)
    further: dict[str, Snapshot] = field(default_factory=dict)
    """Texts beside those before and after, by label."""

    @property
    def root(self) -> Path:
        return self.versions.after.root.path

    @property
    def python(self) -> str | None:
        """The interpreter of the project."""
        if self.given_python is not None:
            return shutil.which(self.given_python, path=self.variables.get("PATH", "")) or self.given_python
        for folder in self._environments():
            found = _program_in(folder, "python")
            if found is not None:
                return found
        path = self.variables.get("PATH", "")
        return (
            shutil.which("python3", path=path) or shutil.which("python", path=path) or sys.executable or None
        )

    def program(self, name: str) -> str | None:
        """A tool of the project: in its environment, beside its interpreter, on PATH."""
        beside = [Path(self.python).parent] if self.python is not None else []
        for folder in (*self._environments(), *beside):
            found = _program_in(folder, name)
            if found is not None:
                return found
        return shutil.which(name, path=self.variables.get("PATH", ""))

    def run(
        self,
        version: str,
        arguments: tuple[str, ...],
        *,
        limit_s: float | None = None,
        python_path: tuple[str, ...] = (),
    ) -> Done:
        """Run a program in the copy, which shows the text before or after; `python_path` are further folders of modules."""
        self.show(version)
        out, err = Output(kept_tail=MOST_KEPT), Output(kept_tail=MOST_KEPT)
        command = Command(
            arguments,
            str(self.bench.folder),
            self.limit_s if limit_s is None else limit_s,
            self._environment(python_path),
        )
        finished = run(command, out, err, is_cancelled=self.is_cancelled)
        if finished.background is not None:
            finished.background.end()
        return Done(
            arguments, finished.ending, finished.exit_code, _text(out), _text(err), round(finished.seconds, 3)
        )

    def show(self, version: str) -> None:
        """Let the copy show the text before or after."""
        texts = {BEFORE: self.versions.before, AFTER: self.versions.after, **self.further}
        snapshot = texts[version]
        self.bench.show(version, snapshot, self.versions.paths)

    def _environment(self, python_path: tuple[str, ...]) -> dict[str, str]:
        """The copy comes before what is installed, also before the workspace itself, if it is installed as editable."""
        folders = [str(self.bench.folder)]
        if (self.bench.folder / "src").is_dir():
            folders.insert(0, str(self.bench.folder / "src"))
        folders += python_path
        found = {name: value for name, value in self.variables.items() if not name.startswith("LSPTOOLS_")}
        if found.get("PYTHONPATH"):
            folders.append(found["PYTHONPATH"])
        return {
            **found,
            "PYTHONPATH": os.pathsep.join(folders),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NO_COLOR": "1",
            "TERM": "dumb",
        }

    def _environments(self) -> list[Path]:
        """The folders with the programs of the environments that count, the nearest first."""
        roots = [self.root / name for name in ENVIRONMENTS if (self.root / name / "pyvenv.cfg").is_file()]
        active = self.variables.get("VIRTUAL_ENV") or self.variables.get("CONDA_PREFIX")
        if active:
            roots.append(Path(active))
        return [root / ("Scripts" if os.name == "nt" else "bin") for root in roots]


def _program_in(folder: Path, name: str) -> str | None:
    for each in (folder / name, folder / f"{name}.exe"):
        if each.is_file() and os.access(each, os.X_OK):
            return str(each)
    return None


def _text(output: Output) -> str:
    data = output.data
    return output.shown().text if data is None else data.decode("utf-8", "replace")
