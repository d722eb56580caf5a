"""Find every occurrence of a symbol with evidence, rename it with proof, and undo it.

    import lsptools

    workspace = lsptools.open_workspace("path/to/project")
    found = workspace.references("app/models.py:14:9")
    done = workspace.rename("app.models.Order.total", "grand_total", possible="skip")
    workspace.undo(done.applied.undo_id)

Importing the package loads nothing else; each name is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lsptools.errors import BadRequest as BadRequest
    from lsptools.errors import Conflict as Conflict
    from lsptools.errors import InternalError as InternalError
    from lsptools.errors import Refused as Refused
    from lsptools.errors import Stale as Stale
    from lsptools.errors import ToolError as ToolError
    from lsptools.errors import Unavailable as Unavailable
    from lsptools.faces.agent import Agent as Agent
    from lsptools.faces.agent import open_agent as open_agent
    from lsptools.faces.workspace import MovedSymbol as MovedSymbol
    from lsptools.faces.workspace import Renamed as Renamed
    from lsptools.faces.workspace import Workspace as Workspace
    from lsptools.faces.workspace import open_workspace as open_workspace
    from lsptools.languages.names import Evidence as Evidence
    from lsptools.languages.names import Occurrence as Occurrence
    from lsptools.languages.names import References as References
    from lsptools.languages.names import Step as Step
    from lsptools.languages.names import Symbol as Symbol
    from lsptools.text.lines import Span as Span
    from lsptools.text.lines import UserPos as UserPos
    from lsptools.version import __version__ as __version__
    from lsptools.workspace.change import Change as Change

_HOME = {
    "Agent": "lsptools.faces.agent",
    "BadRequest": "lsptools.errors",
    "Conflict": "lsptools.errors",
    "InternalError": "lsptools.errors",
    "Refused": "lsptools.errors",
    "Stale": "lsptools.errors",
    "ToolError": "lsptools.errors",
    "Unavailable": "lsptools.errors",
    "MovedSymbol": "lsptools.faces.workspace",
    "Renamed": "lsptools.faces.workspace",
    "Workspace": "lsptools.faces.workspace",
    "open_agent": "lsptools.faces.agent",
    "open_workspace": "lsptools.faces.workspace",
    "Evidence": "lsptools.languages.names",
    "Occurrence": "lsptools.languages.names",
    "References": "lsptools.languages.names",
    "Step": "lsptools.languages.names",
    "Symbol": "lsptools.languages.names",
    "Span": "lsptools.text.lines",
    "UserPos": "lsptools.text.lines",
    "__version__": "lsptools.version",
    "Change": "lsptools.workspace.change",
}
"""Where each public name lives; the imports above say the same to type checkers, and a test holds them together."""

__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
