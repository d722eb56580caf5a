"""What an editor can ask, one file per request: unwrap, convert in, call, convert out.

Each module of this package defines `REQUESTS`, its `Request`s. A request takes the `Views` of the moment in which it was
asked, and its params; it returns the result, or raises an error of ours. It runs in a lane, never in the reader.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lsptools.faces.lsp_client import Client
    from lsptools.faces.lsp_view import Views

QUICK, SLOW, BROAD = "quick", "slow", "broad"
"""The lanes: what looks at a file or two, what looks through the workspace for a name, and what looks at all of it."""


NOTEBOOKS = "notebooks"
"""A feature that is no request: the cells of notebooks are taken."""


def nothing(_client: Client) -> Mapping[str, object]:
    """The capabilities of a request that needs none of its own."""
    return {}


@dataclass(frozen=True, slots=True)
class Request:
    """One request."""

    method: str
    feature: str
    """Its name in the settings, by which it can be switched off."""
    answer: Callable[[Views, Any], object]
    """Params and result are those of the method."""
    lane: str = QUICK
    capabilities: Callable[[Client], Mapping[str, object]] = nothing
    """Members of `ServerCapabilities`, by their Python names."""
    if_nothing_there: Callable[[], object] | None = None
    """The result where there is nothing to ask about; None: that is an error."""
    in_parts: bool = False
    """May a result that is a list be sent in parts, to a client that asks for that?"""
    in_cells: bool = False
    """Can it be asked in a cell of a notebook? Otherwise nothing is there."""
    about_everything: bool = False
    """Is the answer outdated when any document changes, not only the one asked about?"""


def null() -> None:
    """No result."""


def all_requests() -> Iterator[Request]:
    """Those of every module here."""
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda each: each.name):
        yield from importlib.import_module(f"{__name__}.{module.name}").REQUESTS


def features() -> list[str]:
    """What the setting `disable` may name, sorted."""
    return sorted({NOTEBOOKS, *(request.feature for request in all_requests())})
