"""One caller's shell: commands one after the other, in a folder that is kept, with what they left in the background.

Each command is a shell of its own (bash, or what there is of its kind), so variables and functions do not stay; the folder
it ends in does, while that is inside the workspace. The folder is told by the shell itself on a descriptor of its own when it
exits; a command that replaces the shell (`exec`) does not tell, and the folder stays.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from lsptools.errors import BadRequest, Unavailable
from lsptools.workspace.output import Files, Output, Shown
from lsptools.workspace.paths import Root
from lsptools.workspace.process import Background, Command, Finished, run

_SHELLS = ("bash", "sh")
_SCRIPT = "trap 'pwd -P >&{number}' EXIT; lsptools_command=$1; shift; eval \"$lsptools_command\""
"""The command is data here, so it may be anything. One line, so that the shell counts the lines of errors as they are in it."""


@dataclass(slots=True)
class Shell:
    """Not a value: it goes where commands go, and knows what they left running."""

    variables: Mapping[str, str] | None = None
    """The environment of commands; `None`: that of our process."""
    stream: Callable[[str], None] | None = None
    """Takes the output while a command runs, at most every 100 ms."""
    folder: str = "."
    """Where the next command starts, relative to the root."""
    background: list[Background] = field(default_factory=list)

    def end(self) -> int:
        """End what runs in the background; how many commands had left something."""
        ending = self.background[:]
        self.background.clear()  # the list itself: calls under way have it, too
        for each in ending:
            each.end()
        return len(ending)


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that was run."""

    finished: Finished
    shown: Shown
    folder: str
    """Where it ran, relative to the root."""
    folder_after: str
    """Where the next one will start."""
    has_left: bool
    """Whether it went to a folder outside of the workspace, which is not kept."""


def run_in_shell(
    root: Root,
    shell: Shell,
    text: str,
    *,
    folder: str | None = None,
    limit_s: float,
    files: Files,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> Ran:
    """Run a command line in a folder of the workspace; without one, where the last command left off."""
    where = confined_folder(root, shell.folder if folder is None else folder)
    output = Output(files, shell.stream)
    heard, told = os.pipe()
    try:
        program = _program(shell.variables)
        arguments = (program, "-c", _SCRIPT.format(number=told), Path(program).stem, text)
        command = Command(arguments, str(root.path / where), limit_s, shell.variables, (told,))
        finished = run(command, output, is_cancelled=is_cancelled)
        said = _said(heard)
    finally:
        os.close(heard)
        os.close(told)
    after = _inside(root, said)
    shell.folder = after or where
    if finished.background is not None:
        shell.background.append(finished.background)
    return Ran(finished, output.shown(), where, shell.folder, bool(said) and after is None)


def confined_folder(root: Root, folder: str) -> str:
    """A folder of the workspace by its name relative to the root; its real path decides."""
    real = root.real(folder)
    if not real.is_dir():
        kind, what = ("invalid", "is no folder") if real.exists() else ("not_found", "does not exist")
        raise BadRequest(kind, f"{folder!r} {what}", hint="name a folder of the workspace")
    return root.relative(real)


def _said(heard: int) -> str:
    """What the shell has told, if it has; others may still hold the other end."""
    os.set_blocking(heard, False)
    with suppress(BlockingIOError):
        return os.fsdecode(os.read(heard, 1 << 16)).rstrip("\n").rpartition("\n")[2]
    return ""


def _inside(root: Root, folder: str) -> str | None:
    """A real folder relative to the root; `None` if it is not in the workspace."""
    if not folder or not root.spells(folder):
        return None
    return root.relative(folder)


def _program(variables: Mapping[str, str] | None) -> str:
    path = None if variables is None else variables.get("PATH")
    for name in _SHELLS:
        found = shutil.which(name, path=path)
        if found is not None:
            return found
    raise Unavailable("unavailable", "there is no shell on PATH", hint="install bash")
