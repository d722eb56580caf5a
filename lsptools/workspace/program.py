"""A program of the user's that turns one text into another: started without a shell, fed on standard input, with a time limit.

Which program that is, the caller says; nothing of the workspace is asked. It gets a group of its own, all of which is ended with
the time limit or with us. Where it stops: what a program starts in yet another group outlives it.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress

from lsptools.errors import Unavailable

_LONGEST_SAID = 500


def filtered(command: Sequence[str], given: bytes, *, folder: str, timeout_s: float) -> bytes:
    """What the program writes to standard output when `given` is its standard input."""
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise Unavailable(
            "unavailable", f"{command[0]!r} cannot be started: {error.strerror}", hint="set another program"
        ) from error
    try:
        out, err = process.communicate(given, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise Unavailable(
            "timed_out",
            f"{command[0]!r} took more than {timeout_s:g} s",
            hint="allow more time, or less work",
        ) from None
    finally:
        _end(process)
    if process.returncode:
        said = err.decode("utf-8", "replace").strip()[-_LONGEST_SAID:]
        raise Unavailable(
            "unavailable",
            f"{command[0]!r} failed with {process.returncode}: {said}",
            hint="see to the program",
        )
    return out


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
