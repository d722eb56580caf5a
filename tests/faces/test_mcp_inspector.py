"""`lsptools mcp` seen by the MCP Inspector's command line, a client that is nobody of ours; skipped where it is not installed.

    npm install --prefix DIR @modelcontextprotocol/inspector
    LSPTOOLS_MCP_INSPECTOR=DIR/node_modules/.bin/mcp-inspector python -m pytest tests/faces/test_mcp_inspector.py

Version 0.15 runs on Node 20, version 2 on Node 22; `LSPTOOLS_NODE` names another node than the one on PATH. Version 2 looks over
the schemas (`--strict`) and speaks both eras.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from casefaces import Place
from mcpserver import MODULE

INSPECTOR = os.environ.get("LSPTOOLS_MCP_INSPECTOR") or shutil.which("mcp-inspector") or ""
NODE = os.environ.get("LSPTOOLS_NODE") or shutil.which("node") or ""
TIME_LIMIT = 120.0

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (INSPECTOR and NODE), reason="the MCP Inspector is not installed (LSPTOOLS_MCP_INSPECTOR)"
    ),
]


def version() -> int:
    """The inspector's first number."""
    for folder in Path(INSPECTOR).resolve().parents:
        package = folder / "package.json"
        if package.exists() and "inspector" in (said := json.loads(package.read_text()))["name"]:
            return int(said["version"].split(".")[0])
    raise AssertionError(f"{INSPECTOR} is no MCP Inspector")


def eras() -> list[str]:
    """In which ways it can speak."""
    return ["legacy", "modern"] if INSPECTOR and version() >= 2 else ["legacy"]


def inspect(at: Place, era: str, *arguments: str) -> Any:  # JSON
    """What it prints; it has to end well."""
    is_new = version() >= 2
    options = ["--connect-timeout", "60000", "--protocol-era", era] if is_new else []
    done = subprocess.run(
        [NODE, INSPECTOR, "--cli", *options, *MODULE, "--root", str(at.root), "--allow-run", *arguments],
        env=at.environment(),
        cwd=at.side,
        capture_output=True,
        timeout=TIME_LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    return json.loads(done.stdout)


@pytest.fixture
def at(tmp_path: Path) -> Place:
    place = Place.below(tmp_path)
    (place.root / "m.py").write_text("def price():\n    return 1\n\n\nprice()\n")
    return place


@pytest.mark.parametrize("era", eras())
def test_it_lists_the_tools(at: Place, era: str) -> None:
    strict = ["--strict"] if version() >= 2 else []
    listed = inspect(at, era, "--method", "tools/list", *strict)
    assert [tool["name"] for tool in listed["tools"]][-1] == "run"


@pytest.mark.parametrize("era", eras())
def test_it_calls_a_tool(at: Place, era: str) -> None:
    call = ["--method", "tools/call", "--tool-name", "references", "--tool-arg", "place=m.price"]
    found = inspect(at, era, *call)
    assert found["structuredContent"]["complete"] is True
    assert found["structuredContent"]["counts"]["certain"] == 2


@pytest.mark.parametrize("era", eras())
def test_it_lists_resources(at: Place, era: str) -> None:
    assert inspect(at, era, "--method", "resources/list") == {"resources": []}
