"""Servers in processes of their own, and what is left of them."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ERAS = ("legacy", "2026-07-28")
"""How a client speaks: with a handshake, or stateless."""
MODULE = [sys.executable, "-I", "-m", "lsptools", "mcp"]


@contextlib.contextmanager
def http_server(root: Path, variables: dict[str, str], *options: str) -> Iterator[str]:
    """The address of a server on this machine."""
    process = subprocess.Popen(
        [*MODULE, "--root", str(root), "--http", "0", *options],
        env=variables,
        cwd=root.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None and process.stdout is not None
    try:
        line = process.stderr.readline().decode()
        found = re.search(r"http://127\.0\.0\.1:\d+/mcp", line)
        assert found, line
        yield found[0]
    finally:
        process.terminate()
        out, _ = process.communicate(timeout=20)
    assert out == b""


def commands_in(root: Path) -> list[str]:
    """The command lines of the processes that have the workspace as their current folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink().is_relative_to(root):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


def until(is_so: Callable[[], bool], most_s: float = 15.0) -> None:
    """Wait until it is so."""
    end = time.monotonic() + most_s
    while not is_so():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.05)
