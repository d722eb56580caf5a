"""The list of tools, in reading order. A tool's module is imported when the tool is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from lsptools.tools.base import Tool

_MODULES = {
    "search": "search",
    "outline": "outline",
    "symbols": "symbols",
    "def": "definition",
    "refs": "references",
    "callers": "callers",
    "callees": "callees",
    "implementations": "implementations",
    "hierarchy": "hierarchy",
    "unused": "unused",
    "rename": "rename",
    "move": "move",
    "signature": "signature",
    "read": "read",
    "edit": "edit",
    "write": "write",
    "edit-lines": "edit_lines",
    "edit-symbol": "edit_symbol",
    "patch": "patch",
    "candidate": "candidate",
    "apply-edit": "apply_edit",
    "run": "run",
    "verify": "verify",
    "undo": "undo",
    "history": "history",
    "recover": "recover",
}


def names() -> tuple[str, ...]:
    """The names of all tools, in reading order."""
    return tuple(_MODULES)


def tool(name: str) -> Tool[Any]:  # each has its own parameters
    """The declaration of one tool; `KeyError` for a name that is not in `names()`."""
    module = import_module(f"lsptools.tools.{_MODULES[name]}")
    declared: Tool[Any] = module.TOOL
    return declared
