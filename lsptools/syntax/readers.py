"""Languages of data, as the standard library reads them: JSON (notebooks are JSON, too) and, from Python 3.11 on, TOML.

What a reader gives up with becomes one problem with its place. Where it stops: only reading is judged, not what the data mean.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib import import_module

_JSON = (".json", ".ipynb")
_TOML = ".toml"


@dataclass(frozen=True, slots=True)
class Unread:
    """Where and why a text is not read."""

    line: int
    """1-based."""
    column: int
    """1-based, code points."""
    message: str


def language_read(suffix: str) -> str | None:
    """What files with this suffix (`.json`) are read as here, if they are."""
    if suffix.lower() in _JSON:
        return "JSON"
    return "TOML" if suffix.lower() == _TOML and _has_toml() else None


def unread(suffix: str, text: str) -> Unread | None:
    """Why a text is not what its suffix says; `None` if it is, or nobody here reads its language."""
    language = language_read(suffix)
    try:
        if language == "JSON":
            json.loads(text)
        elif language == "TOML":
            import_module("tomllib").loads(text)
    except json.JSONDecodeError as error:
        return Unread(error.lineno, error.colno, error.msg)
    except (ValueError, RecursionError) as error:
        return _placed(text, reason(error, str(language)))
    return None


def reason(error: BaseException, language: str = "Python") -> str:
    """What an exception of a reader comes to in words."""
    if isinstance(error, RecursionError | MemoryError):
        return f"too deeply nested for {language}"
    return str(error) or type(error).__name__


_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def _placed(text: str, message: str) -> Unread:
    """With the place that a message ends with, as those of `tomllib` do."""
    found = _AT.search(message)
    if found is None:
        return Unread(1, 1, message)
    if found[1]:
        return Unread(int(found[1]), int(found[2]), message[: found.start()])
    before = text.rstrip()
    line = before.count("\n") + 1
    return Unread(line, len(before) - before.rfind("\n"), f"{message[: found.start()]} at the end")


def _has_toml() -> bool:
    try:
        import_module("tomllib")
    except ImportError:  # Python 3.10
        return False
    return True
