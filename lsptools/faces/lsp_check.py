"""`lsptools lsp --check`: what an editor would see, for bug reports."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from lsptools.errors import ToolError
from lsptools.faces.environment import Environment
from lsptools.faces.lsp_requests import features
from lsptools.text.lines import PositionEncoding
from lsptools.version import __version__

PACKAGES = ("pygls", "lsprotocol", "tree-sitter", "tree-sitter-python")


def lines(environment: Environment) -> Iterator[str]:
    """One fact a line."""
    yield f"lsptools {__version__}, Python {platform.python_version()} on {sys.platform}"
    yield ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    try:
        root = environment.root(None)
        yield f"workspace (of this folder): {root.path}"
        yield environment.rg(root).explain
        yield f"packages of the environment: {', '.join(environment.search_path(root)) or 'those of this Python'}"
    except ToolError as error:
        yield f"no workspace: {error.message}"
    yield "grammars: python"
    yield f"position encodings: {', '.join(encoding.value for encoding in PositionEncoding)}"
    yield f"features: {', '.join(features())}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"
