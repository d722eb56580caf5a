"""Texts that a command line names instead of holding: from a file, or from standard input for `-`.

The text is taken as it is: UTF-8, bytes that are none kept as lone surrogates, line ends untouched.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from lsptools.errors import BadRequest
from lsptools.faces.environment import Environment


def text_from_file(environment: Environment, name: str) -> str:
    """The text of the file `name`, which starts from the current folder."""
    return _bytes(environment, name).decode("utf-8", "surrogateescape")


def json_from_file(environment: Environment, name: str) -> dict[str, Any]:  # JSON
    """The object that the file holds."""
    try:
        loaded = json.loads(_bytes(environment, name))
    except (ValueError, RecursionError) as error:
        raise BadRequest(
            "invalid", f"{name!r} does not hold JSON: {error}", hint="pass a file with one object"
        ) from None
    if not isinstance(loaded, dict):
        raise BadRequest("invalid", f"{name!r} holds no JSON object", hint="pass a file with one object")
    return loaded


def _bytes(environment: Environment, name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    path = Path(name) if Path(name).is_absolute() else environment.cwd / name
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadRequest(
            "not_found",
            f"{name!r} cannot be read: {error.strerror}",
            hint="name a file, or - for standard input",
        ) from None
