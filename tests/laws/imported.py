"""What comes of a package when all its modules are imported: asked of `import_server`, compared through a rename."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

from laws.packages import DEPENDENCIES
from laws.renamed_words import may_become, unmatched

SERVER = Path(__file__).with_name("import_server.py")


@dataclass(frozen=True, slots=True)
class Imported:
    """Whether each module could be imported, and the words of each namespace (see `import_server`)."""

    outcomes: Mapping[str, str]
    namespaces: Mapping[str, Sequence[str]]


class Importer:
    """Imports a package from `folder` first, in another process, as often as it is asked."""

    def __init__(self, folder: Path, package: str) -> None:
        self.folder = folder
        self.package = package
        self.process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Importer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def ask(self) -> Imported:
        """The package as it is on the disk now."""
        if self.process is None or not hasattr(os, "fork"):
            self._end()
            self.process = self._started()
        ask, answers = _pipes(self.process)
        ask.write("\n")
        ask.flush()
        said = json.loads(answers.readline())
        assert "failed" not in said, f"{self.package}: {said}"
        return Imported(said["imported"], said["namespaces"])

    def _started(self) -> subprocess.Popen[str]:
        path = os.pathsep.join([str(self.folder), *map(str, DEPENDENCIES)])
        return subprocess.Popen(
            [sys.executable, "-B", str(SERVER), self.package],
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0"},
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _end(self) -> None:
        if self.process is not None:
            for pipe in _pipes(self.process):
                pipe.close()
            self.process.wait(60)
            self.process = None


def _pipes(process: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    assert process.stdin is not None and process.stdout is not None
    return process.stdin, process.stdout


def differences(before: Imported, after: Imported, old: str, new: str) -> Iterator[str]:
    """What is another, but for the new name in place of the old one."""
    outcomes = [f"{module} {outcome}" for module, outcome in before.outcomes.items()]
    now = [f"{module} {outcome}" for module, outcome in after.outcomes.items()]
    yield from _differences("importing", outcomes, now, old, new)
    yield from _differences("namespaces", list(before.namespaces), list(after.namespaces), old, new)
    left = {name: words for name, words in after.namespaces.items() if name not in before.namespaces}
    for name, words in before.namespaces.items():
        there = after.namespaces.get(name)
        if there is None:
            called = next((each for each in left if may_become(name, each, old, new)), None)
            there = left.pop(called) if called is not None else ()
        yield from _differences(name, words, there, old, new)


def _differences(
    where: str, before: Sequence[str], after: Sequence[str], old: str, new: str
) -> Iterator[str]:
    gone, come = unmatched(before, after, old, new) if before != after else ([], [])
    yield from (f"{where}: `{each}` is gone" for each in gone)
    yield from (f"{where}: `{each}` is new" for each in come)
