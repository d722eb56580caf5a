"""A process of ours between us and a command (Linux): it adopts whatever the command leaves behind, and ends all of it.

Run as a script, `python -I -S guard.py CONTROL REPORT PROGRAM ARGUMENT…`, where CONTROL and REPORT are file descriptors. It
is a child subreaper: a process that loses its parent becomes the guard's child, however often it forked and whatever session
and group it made for itself. So everything the command started is below the guard until it ends. What is on CONTROL:

    t                  end everything: ask (SIGTERM), and after `GRACE_S` insist (SIGKILL)
    the end of file    the same at once: whoever started us is gone, or has no more patience

What it says on REPORT, a line each:

    started PID        the command is about to run, in a session and group of its own
    failed ERRNO       it could not be started after all
    exited CODE N      it ended, by itself or not; the code is negative for a signal; N processes are left of it
    ended N            everything was ended, but for N processes that we may not end

The guard ends when nothing is left to guard. Where it stops: it may not end processes of other users (a command that has
changed its user), and who kills the guard itself takes the guarantee away; `strays` then finds what kept its session.

Nothing else of lsptools is imported, so that it starts in a few milliseconds.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

GRACE_S = 0.5
"""How long processes have between being asked to end and being ended."""
PATIENCE_S = 5.0
"""How long we go on with what we may not end, which is another user's; then it is told as left."""
MOST_S = 60.0
"""How long with what we may: on a busy machine some seconds pass, and what hangs in the kernel never ends."""
_POLL_S = 0.01
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of <linux/prctl.h>


def main(arguments: list[str]) -> int:
    """Start the command, guard it, and end with it."""
    control, report = int(arguments[0]), int(arguments[1])
    for inherited in (control, report):
        os.set_inheritable(inherited, False)
    _become_subreaper()
    waker, wakened = os.pipe()
    for end in (waker, wakened):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wakened, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    started = _start(arguments[2:], report)
    if started < 0:
        _say(report, f"failed {-started}")
        return 0
    _leave_the_pipes()
    _guard(started, control, report, waker)
    return 0


def _guard(command: int, control: int, report: int, waker: int) -> None:
    has_exited = False
    while True:
        code = _reaped(command)
        left = descendants(os.getpid()) if has_exited or code is not None else [command]
        if code is not None:
            has_exited = True
            _say(report, f"exited {code} {len(left)}")
        if not left:
            return
        ready, _, _ = select.select([control, waker], [], [], None if not has_exited else 1.0)
        if waker in ready:
            with suppress(BlockingIOError):
                os.read(waker, 4096)
        if control in ready:
            is_asked = os.read(control, 1) == b"t"
            _end_all(command, report, GRACE_S if is_asked else 0.0)
            return


def _end_all(command: int, report: int, grace_s: float) -> None:
    began = time.monotonic()
    asked: set[int] = set()
    refusing: set[int] = set()
    while True:
        code = _reaped(command)
        if code is not None:
            _say(report, f"exited {code} 0")
        left = descendants(os.getpid())
        passed = time.monotonic() - began
        if not left or passed > grace_s + (PATIENCE_S if refusing.issuperset(left) else MOST_S):
            _say(report, f"ended {len(left)}")
            return
        for pid in left:
            if passed >= grace_s:
                if not send(pid, signal.SIGKILL):
                    refusing.add(pid)
            elif pid not in asked:
                asked.add(pid)
                send(pid, signal.SIGTERM)
                send(pid, signal.SIGCONT)
        time.sleep(_POLL_S)


def send(pid: int, number: int) -> bool:
    """Whether we may."""
    with suppress(ProcessLookupError):
        try:
            os.kill(pid, number)
        except PermissionError:
            return False
    return True


def _reaped(command: int) -> int | None:
    """Wait for every child that has ended; the exit code of the command, if it is among them."""
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        if pid == command:
            found = os.waitstatus_to_exitcode(status)


def _start(arguments: list[str], report: int) -> int:
    """The process id of the command, or what went wrong (`errno`) with a minus.

    The child itself says that it starts, before it becomes the command: nothing the command does, killing us included, comes
    before its session is known.
    """
    failure, failed = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(failure)
        try:
            os.setsid()
            _say(report, f"started {os.getpid()}")
            signal.set_wakeup_fd(-1)
            # Python ignores these for itself, and what is ignored stays so in what is executed.
            for number in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            os.execvp(arguments[0], arguments)
        except OSError as error:
            os.write(failed, str(error.errno or 1).encode())
        finally:
            os._exit(127)
    os.close(failed)
    told = os.read(failure, 16)
    os.close(failure)
    if not told:
        return pid
    os.waitpid(pid, 0)
    return -int(told)


def _leave_the_pipes() -> None:
    """The command's output ends when it and its children have closed it; we do not keep it open."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)


def _become_subreaper() -> None:
    import ctypes

    ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0)


def _say(report: int, line: str) -> None:
    with suppress(BrokenPipeError):  # nobody is left to hear it
        os.write(report, line.encode() + b"\n")


def descendants(ancestor: int) -> list[int]:
    """The living processes below a process: its children, theirs, and so on."""
    children: dict[int, list[int]] = {}
    living = set()
    for pid, state, parent, _ in _processes():
        children.setdefault(parent, []).append(pid)
        if state not in ("Z", "X"):
            living.add(pid)
    found: list[int] = []
    ahead = list(children.get(ancestor, ()))
    while ahead:
        pid = ahead.pop()
        found.append(pid)
        ahead += children.get(pid, ())
    return [pid for pid in found if pid in living]


def strays(session: int) -> list[int]:
    """The living processes of a session, for when nobody guards them any more."""
    return [pid for pid, state, _, its in _processes() if its == session and state not in ("Z", "X")]


def _processes() -> Iterator[tuple[int, str, int, int]]:
    """Id, state, parent and session of each process."""
    for name in os.listdir("/proc"):  # a name each, and many
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        yield int(name), fields[0].decode(), int(fields[1]), int(fields[3])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
