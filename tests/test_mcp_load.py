"""Eight clients at once in one workspace, through three servers, one of them hanging on purpose.

No update is lost, no answer waits for the one that hangs, the servers' memory stays flat, and nothing is left running.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from casefaces import FOLDERS, OURS
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcpserver import ERAS, MODULE, commands_in, http_server, until

N_CLIENTS, N_SERVERS = 8, 3
N_CALLS = 2_000
DEADLINE_S = 60.0
"""For one answer, on a machine that is busy with other things; alone the slowest takes a second."""
MOST_GROWTH = 40 << 20
"""Bytes of memory that a server may grow by between a quarter of the calls and the end."""

SOURCE = """class Order:
    def total(self):
        return self.net + self.tax

    def refund(self):
        return -self.total()
"""


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return kept | {variable: str(tmp_path / "user" / name) for variable, name in FOLDERS.items()}


@dataclass(slots=True)
class Tally:
    """What the clients saw."""

    calls: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    increments: int = 0
    slowest: dict[str, float] = field(default_factory=dict)
    memory: dict[int, list[int]] = field(default_factory=dict)

    async def call(self, client: Client, name: str, **arguments: Any) -> Any:  # the SDK's result
        started = time.monotonic()
        result = await asyncio.wait_for(client.call_tool(name, arguments), DEADLINE_S)
        self.slowest[name] = max(self.slowest.get(name, 0), time.monotonic() - started)
        self.calls[name] += 1
        if result.is_error:
            self.errors[f"{name}: {result.structured_content['error']['kind']}"] += 1
        return result


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_eight_clients_and_one_that_hangs(tmp_path: Path, variables: dict[str, str]) -> None:
    root = tmp_path / "side" / "workspace"
    root.mkdir(parents=True)
    (root / "total.txt").write_text("total = 0\n")
    for number in range(20):
        (root / f"module_{number}.py").write_text(SOURCE)
    tally = Tally()
    asyncio.run(_all(root, variables, tally))
    assert sum(tally.calls.values()) >= N_CALLS
    assert (root / "total.txt").read_text() == f"total = {tally.increments}\n"
    assert tally.increments > 100
    assert set(tally.errors) <= {"edit: stale", "edit: unread", "edit: not_found"}, tally.errors
    assert len(tally.memory) == N_SERVERS, tally.memory
    for early, *_, late in tally.memory.values():
        assert late - early < MOST_GROWTH, tally.memory
    until(lambda: not commands_in(root.parent))


async def _all(root: Path, variables: dict[str, str], tally: Tally) -> None:
    async with contextlib.AsyncExitStack() as stack:
        address = stack.enter_context(http_server(root, variables, "--allow-run"))
        stdio = StdioServerParameters(
            command=MODULE[0],
            args=[*MODULE[1:], "--root", str(root)],
            env=variables,
            cwd=str(root.parent),
        )
        clients = [
            await stack.enter_async_context(Client(stdio if number < 2 else address, mode=ERAS[number % 2]))
            for number in range(N_CLIENTS)
        ]
        hanging = asyncio.create_task(clients[-1].call_tool("run", {"command": "sleep 600"}))
        work = [_work(client, number, root, tally) for number, client in enumerate(clients)]
        await asyncio.gather(*work)
        assert not hanging.done()
        hanging.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await hanging


async def _work(client: Client, number: int, root: Path, tally: Tally) -> None:
    n_calls = N_CALLS // N_CLIENTS
    done = 0
    while done < n_calls:
        module = f"module_{(number + done) % 20}.py"
        kind = done % 10
        if kind < 4:
            done += await _increment(client, tally)
        elif kind < 6:
            await tally.call(client, "read", path=module)
        elif kind < 8:
            await tally.call(client, "search", query="def total", globs=["*.py"])
        elif kind == 8:
            await tally.call(client, "outline", path=module)
        elif done % 50 == 9:
            await tally.call(client, "references", place=f"{module}::Order.total")
        else:
            await tally.call(client, "edit", path=module, old_str="Order", new_str="Thing", dry_run=True)
        done += 1
        if number == 0 and done % (n_calls // 4) < 2:
            for process in _servers():
                tally.memory.setdefault(process, []).append(_memory(process))


async def _increment(client: Client, tally: Tally) -> int:
    """One more in a file that everybody changes; how many calls it took beyond one."""
    read = await tally.call(client, "read", path="total.txt")
    total = int(read.structured_content["text"].partition("= ")[2])
    edited = await tally.call(
        client,
        "edit",
        path="total.txt",
        old_str=f"total = {total}",
        new_str=f"total = {total + 1}",
        expect=read.structured_content["digest"],
    )
    tally.increments += not edited.is_error
    return 1


def _servers() -> list[int]:
    return [
        int(process.name)
        for process in Path("/proc").glob("[0-9]*")
        if _parent(process) == os.getpid() and b"mcp" in _read(process / "cmdline")
    ]


def _parent(process: Path) -> int:
    return int(_read(process / "stat").rpartition(b")")[2].split()[1] or 0) if _read(process / "stat") else 0


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _memory(process: int) -> int:
    """Bytes in memory."""
    pages = _read(Path(f"/proc/{process}/statm")).split()
    return int(pages[1]) * os.sysconf("SC_PAGE_SIZE") if pages else 0
