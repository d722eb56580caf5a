"""From JSON arguments to a tool's parameters, for callers that are programs.

The names are those of the parameters' fields (`old_str`); `-` for `_` is understood, too. A member that is null counts as not
given. Whatever else does not fit (an unknown name, a wrong type, a value that is not among the choices) is a
`BadRequest` (`invalid`) that says what would.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, get_type_hints

from lsptools.errors import BadRequest
from lsptools.tools.base import Parameter, Tool, parameters

_NAMES: Mapping[type, str] = {
    str: "a string",
    int: "a whole number",
    bool: "true or false",
    dict: "an object",
}


def params_from_json(tool: Tool[Any], arguments: object) -> Any:  # the tool's own parameters
    """The parameters that these arguments are."""
    if not isinstance(arguments, Mapping):
        raise _invalid(f"the arguments of {tool.name!r} are {_named(arguments)}, not an object", tool)
    known = {parameter.field: parameter for parameter in parameters(tool)}
    given = {str(name).replace("-", "_"): value for name, value in arguments.items() if value is not None}
    for name in given:
        if name not in known:
            raise _unknown(tool.name, name, list(known))
    missing = [name for name, each in known.items() if each.required and name not in given]
    if missing:
        raise _invalid(f"{tool.name!r} needs {', '.join(map(repr, missing))}", tool)
    values = {name: _value(known[name], value) for name, value in given.items()}
    return tool.params(**values)


def object_from_json(kind: type, value: object, name: str) -> Any:  # a value of that dataclass
    """The value of a dataclass whose fields are plain."""
    if not isinstance(value, Mapping):
        raise BadRequest("invalid", f"{name!r} holds {_named(value)}, not an object", hint=_fields_of(kind))
    hints = get_type_hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    given = {key: each for key, each in value.items() if each is not None}
    for key in given:
        if key not in fields:
            raise _unknown(name, str(key), list(fields))
    for key, field in fields.items():
        if key not in given and field.default is dataclasses.MISSING:
            raise BadRequest("invalid", f"{name!r} needs {key!r}", hint=_fields_of(kind))
    return kind(**{key: _plain(_type_of(hints[key]), each, key) for key, each in given.items()})


def _value(parameter: Parameter, value: object) -> object:
    if not parameter.repeated:
        return _one(parameter, value)
    if not isinstance(value, list | tuple):
        raise BadRequest(
            "invalid",
            f"{parameter.field!r} is {_named(value)}, not a list",
            hint=f"send {parameter.field} as a list",
        )
    return tuple(_one(parameter, each) for each in value)


def _one(parameter: Parameter, value: object) -> object:
    if dataclasses.is_dataclass(parameter.type):
        return object_from_json(parameter.type, value, parameter.field)
    found = _plain(parameter.type, value, parameter.field)
    if parameter.choices and found not in parameter.choices:
        raise BadRequest(
            "invalid",
            f"{parameter.field!r} is {found!r}",
            hint=f"one of {', '.join(map(repr, parameter.choices))}",
        )
    return found


def _plain(kind: type, value: object, name: str) -> object:
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)  # 1e3 is how some write 1000
    fits = isinstance(value, Mapping) if kind is dict else isinstance(value, kind)
    if not fits or (kind is int and isinstance(value, bool)):
        wanted = _NAMES.get(kind, kind.__name__)
        raise BadRequest(
            "invalid", f"{name!r} is {_named(value)}, not {wanted}", hint=f"send {name} as {wanted}"
        )
    return value


def _type_of(hint: Any) -> type:  # a type, as `get_type_hints` has it
    options = [each for each in getattr(hint, "__args__", ()) if each is not type(None)]
    found: type = options[0] if options else hint
    return found


def _named(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, float):
        return "a number with a fraction"
    return next((name for kind, name in _NAMES.items() if type(value) is kind), type(value).__name__)


def _unknown(of: str, name: str, known: list[str]) -> BadRequest:
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(map(repr, known)) or 'none'}"
    return BadRequest("invalid", f"{of!r} has no argument {name!r}", hint=hint)


def _invalid(message: str, tool: Tool[Any]) -> BadRequest:
    names = ", ".join(each.field + ("" if each.required else "?") for each in parameters(tool))
    return BadRequest("invalid", message, hint=f"the arguments of {tool.name} are {names or 'none'}")


def _fields_of(kind: type) -> str:
    names = (
        field.name + ("" if field.default is dataclasses.MISSING else "?")
        for field in dataclasses.fields(kind)
    )
    return f"send an object with {', '.join(names)}"
