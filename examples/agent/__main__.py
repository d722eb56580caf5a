"""python -m examples.agent: the `limit=0` defect of docs/limit-zero.md, worked through MCP in a copy of examples/reports.

Without more it plays a recorded model; with `LSPTOOLS_AGENT_MODEL` and `ANTHROPIC_API_KEY` a real one works.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from mcp import Client
from mcp.client.stdio import StdioServerParameters

from examples.agent.loop import Conversation, Model, work
from examples.agent.messages import Messages
from examples.agent.recorded import Recorded

REPORTS = Path(__file__).parent.parent / "reports"


def copy_of_reports(folder: Path) -> Path:
    """The package with the defect, without the patches that mend it."""
    copy = folder / "reports"
    shutil.copytree(REPORTS, copy, ignore=shutil.ignore_patterns("steps", "__pycache__"))
    return copy


def chosen_model() -> Model:
    """The one that the environment names, else the recorded one."""
    name, key = os.environ.get("LSPTOOLS_AGENT_MODEL"), os.environ.get("ANTHROPIC_API_KEY")
    if not name or not key:
        return Recorded()
    base = os.environ.get("ANTHROPIC_BASE_URL")
    return Messages(name, key, base) if base else Messages(name, key)


async def repair(root: Path, model: Model, state: Path, show: Callable[[str], None]) -> Conversation:
    """Have the defect repaired by a model that calls the tools of a server in a process of its own."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "lsptools", "mcp", "--root", str(root), "--allow-run"],
        env={**os.environ, "XDG_STATE_HOME": str(state), "VIRTUAL_ENV": sys.prefix},
    )
    async with Client(server) as client:
        return await work(Recorded().task, model, client, show)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asyncio.run(repair(copy_of_reports(folder), chosen_model(), folder / "state", print))


if __name__ == "__main__":
    main()
