"""Commands, run so that they end: with a time limit, without a terminal, and with everything they started.

The call ends when the command itself ends, plus a short drain; a child in the background that holds the pipe does not hold the
call. At a time limit or cancel the whole tree ends: the guard (`guard.py`) on Linux, a walk of the process table elsewhere
(`process_tree.py`). The same happens when our own process is gone, however that came.

What the command leaves in the background at a normal end is a `Background`: it goes on, its output is still taken (a full
pipe would stop it), until `end` or until our process ends. Standard input is empty.

Where it stops: elsewhere than on Linux, a process that loses its parent and leaves its session is found only while its
parent lives.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from lsptools.errors import Unavailable
from lsptools.workspace import guard
from lsptools.workspace.output import Output
from lsptools.workspace.pipes import Reader

_BEAT_S = 0.05
"""How often time, cancel and streaming are looked after."""
_DRAIN_S = 0.3
"""How long output is awaited after the command has ended, if something in the background still holds the pipe."""
_EOF_S = 5.0
"""How long, if nothing is left that could hold it."""
_GUARD = Path(guard.__file__)


class Ending(str, Enum):
    """How a command came to its end."""

    EXITED = "exited"
    """By itself, with exit code 0."""
    FAILED = "failed"
    """By itself, with another exit code, or by a signal that was not ours."""
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Command:
    """A program with its arguments, and in which circumstances it runs."""

    arguments: tuple[str, ...]
    folder: str
    """Where it runs, absolute."""
    limit_s: float
    variables: Mapping[str, str] | None = None
    """The whole environment; `None`: that of our process."""
    inherited: tuple[int, ...] = ()
    """Further file descriptors that it gets, by the same numbers."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that has ended."""

    ending: Ending
    exit_code: int | None
    """`None`: it was ended by a signal, ours or another's."""
    signal: str | None
    """The name of the signal that ended it, if one did."""
    seconds: float
    background: Background | None
    """What it left running, if anything."""
    n_unended: int = 0
    """How many of its processes could not be ended (they belong to another user)."""


def run(
    command: Command,
    output: Output,
    errors: Output | None = None,
    *,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> Finished:
    """Run it to its end. Standard error goes to `errors`, or in order with standard output to `output`."""
    began = time.monotonic()
    running = _Running(command, output, errors)
    try:
        ending = running.wait(began + command.limit_s, is_cancelled)
    except BaseException:
        running.end()
        raise
    if ending is not None:
        running.end()
    running.drain()
    return running.finished(ending, time.monotonic() - began)


class Background:
    """What a command left running."""

    def __init__(self, running: _Running, n_processes: int) -> None:
        self._running = running
        self.n_processes = n_processes
        """How many there were when the command ended."""

    def end(self) -> None:
        """End all of it, and return when it has ended."""
        self._running.end()


class _Running:
    """A command under way, and the threads that read from it."""

    def __init__(self, command: Command, output: Output, errors: Output | None) -> None:
        self._process, self._control, report = _started(command, is_apart=errors is not None)
        self._said: queue.Queue[str] = queue.Queue()
        """The guard's lines, or what stands for them; an empty one is the last."""
        self._outputs = [each for each in (output, errors) if each is not None]
        pipes = (each for each in (self._process.stdout, self._process.stderr) if each is not None)
        self._readers = [Reader(pipe, sink) for pipe, sink in zip(pipes, self._outputs, strict=False)]
        _thread(_listen, report, self._process, self._said)
        self._session = 0
        self._code: int | None = None
        self._n_left = 0
        self._n_unended = 0
        self._lock = threading.Lock()
        self._is_over = False

    def wait(self, deadline: float, is_cancelled: Callable[[], bool]) -> Ending | None:
        """Until it has ended by itself (`None`), or must end."""
        while True:
            try:
                line = self._said.get(timeout=_BEAT_S)
            except queue.Empty:
                line = None
            for output in self._outputs:
                output.tick()
            if line is not None and self._take(line):
                return None
            if time.monotonic() >= deadline:
                return Ending.TIMED_OUT
            if is_cancelled():
                return Ending.CANCELLED

    def end(self) -> None:
        """End the whole tree, and wait for that."""
        with self._lock:
            if self._is_over:
                return
            self._is_over = True
            self._end_tree()

    def _end_tree(self) -> None:
        if self._control is None:
            from lsptools.workspace.process_tree import end_tree

            self._n_unended = end_tree(self._process.pid, guard.GRACE_S, guard.PATIENCE_S, guard.MOST_S)
            self._process.wait()
            self._code = self._code if self._code is not None else self._process.returncode
            return
        with suppress(BrokenPipeError):
            os.write(self._control, b"t")
        deadline = time.monotonic() + guard.GRACE_S + guard.MOST_S + guard.PATIENCE_S
        while not self._is_silent and time.monotonic() < deadline:
            with suppress(queue.Empty):
                self._take(self._said.get(timeout=_BEAT_S))
        if not self._is_silent:
            self._process.kill()
        self._close()

    def _close(self) -> None:
        if self._control is not None:
            os.close(self._control)
            self._control = None
        self._process.wait()

    _is_silent = False

    def _take(self, line: str) -> bool:
        """Learn what the guard says; whether the command has ended."""
        word, *numbers = line.split() or [""]
        match word:
            case "started":
                self._session = int(numbers[0])
            case "failed":
                raise _cannot_start(self._process, int(numbers[0]))
            case "exited":
                self._code, self._n_left = int(numbers[0]), int(numbers[1])
            case "ended":
                self._n_unended = int(numbers[0])
            case "":
                self._is_silent = True
                if self._code is None:
                    self._unguarded()
        return self._code is not None

    def _unguarded(self) -> None:
        """Someone has killed the guard. What kept the session of the command can still be found, and ended."""
        deadline = time.monotonic() + guard.MOST_S
        refusing: set[int] = set()
        while self._session and time.monotonic() < deadline:
            strays = set(guard.strays(self._session)) - refusing
            if not strays:
                break
            refusing |= {pid for pid in strays if not guard.send(pid, signal.SIGKILL)}
            time.sleep(_BEAT_S / 10)
        self._code = -signal.SIGKILL

    def drain(self) -> None:
        """Take what is still in the pipes, but do not wait for a child in the background."""
        patience = _DRAIN_S if self._n_left and not self._is_over else _EOF_S
        deadline = time.monotonic() + patience
        for reader in self._readers:
            reader.catch_up(end_s=max(0.0, deadline - time.monotonic()), most_s=guard.MOST_S)
        for output in self._outputs:
            output.finish()

    def finished(self, ending: Ending | None, seconds: float) -> Finished:
        code = self._code
        if ending is None:
            ending = Ending.EXITED if code == 0 else Ending.FAILED
        is_ours = ending in (Ending.TIMED_OUT, Ending.CANCELLED)
        exit_code = None if is_ours or code is None or code < 0 else code
        name = _signal_name(-code) if code is not None and code < 0 else None
        background = None
        if self._n_left and not self._is_over:
            background = Background(self, self._n_left)
        elif self._control is not None:
            self._close()
        return Finished(ending, exit_code, name, seconds, background, self._n_unended)


def _started(command: Command, *, is_apart: bool) -> tuple[subprocess.Popen[bytes], int | None, int | None]:
    """The process, and where the guard listens and speaks, if there is one."""
    if sys.platform != "linux":
        return _popen(command, command.arguments, is_apart, command.inherited), None, None
    heard, control = os.pipe()
    report, spoken = os.pipe()
    words = [sys.executable, "-I", "-S", str(_GUARD), str(heard), str(spoken), *command.arguments]
    try:
        process = _popen(command, words, is_apart, (heard, spoken, *command.inherited))
    except BaseException:
        os.close(control)
        os.close(report)
        raise
    finally:
        os.close(heard)
        os.close(spoken)
    return process, control, report


def _popen(
    command: Command, words: Iterable[str], is_apart: bool, inherited: tuple[int, ...]
) -> subprocess.Popen[bytes]:
    words = tuple(words)
    try:
        return subprocess.Popen(
            words,
            cwd=command.folder,
            env=None if command.variables is None else dict(command.variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if is_apart else subprocess.STDOUT,
            bufsize=0,
            start_new_session=os.name != "nt",
            pass_fds=inherited,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, ValueError) as error:  # a NUL in an argument is a ValueError
        raise _unstartable(words[0], getattr(error, "strerror", None) or str(error)) from error


def _cannot_start(process: subprocess.Popen[bytes], number: int) -> Unavailable:
    arguments = process.args if isinstance(process.args, tuple) else ()
    program = str(arguments[6]) if len(arguments) > 6 else "the command"
    return _unstartable(program, os.strerror(number))


def _unstartable(program: str, why: str) -> Unavailable:
    return Unavailable(
        "unavailable", f"{program!r} cannot be started: {why}", hint="see that it is installed"
    )


def _listen(report: int | None, process: subprocess.Popen[bytes], said: queue.Queue[str]) -> None:
    if report is None:
        said.put(f"exited {process.wait()} 0")
    else:
        with open(report, encoding="ascii") as lines:  # noqa: PTH123  # a descriptor
            for line in lines:
                said.put(line)
    said.put("")


def _thread(work: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, daemon=True, name=work.__name__)
    thread.start()
    return thread


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
