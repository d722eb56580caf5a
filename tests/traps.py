"""A workspace that wants to be executed: programs, hooks, modules and settings that leave a trace when anything runs them."""

from __future__ import annotations

from pathlib import Path

PROGRAMS = ("python", "python3", "rg", "git")
MODULES = (
    "conftest.py",
    "sitecustomize.py",
    "usercustomize.py",
    "setup.py",
    "click.py",
    "pygls.py",
    "mcp.py",
    "anyio.py",
    "pydantic.py",
    "json.py",
    "lsptools.py",
)


def lay_traps(root: Path, canary: Path) -> None:
    """Traps all over the workspace, and a module `m.py` to work on: line 3 of it defines `target`."""
    traps = (
        *(f".venv/bin/{name}" for name in PROGRAMS),
        "rg",
        "git",
        "sh",
        "bash",
        ".git/hooks/fsmonitor",
        "bin/rg",
    )
    for name in traps:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\necho {name} >> {canary}\n", "utf-8")
        path.chmod(0o755)
    code = f"open({str(canary)!r}, 'a').write(__file__)\n"
    for name in MODULES:
        (root / name).write_text(code, "utf-8")
    (root / ".venv/pyvenv.cfg").write_text("home = /usr/bin\n", "utf-8")
    (root / ".venv/lib/python3.11/site-packages").mkdir(parents=True)
    (root / ".venv/lib/python3.11/site-packages/evil.pth").write_text(
        f"import os; os.system('echo pth >> {canary}')\n"
    )
    (root / ".git/config").write_text(f"[core]\nfsmonitor = {root}/.git/hooks/fsmonitor\n", "utf-8")
    (root / ".ripgreprc").write_text(f"--pre={root}/rg\n", "utf-8")
    (root / "pyproject.toml").write_text(
        f"[tool.lsptools]\nserver = '{root}/rg'\nrg = '{root}/rg'\n", "utf-8"
    )
    (root / "m.py").write_text(f"{code}import conftest\ndef target(): pass\ntarget()\n", "utf-8")
