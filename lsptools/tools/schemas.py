"""The tools for agents as JSON schemas, and in the forms that protocols and model APIs want.

Schemas are made from the declarations (`agents.py`), without what costs words and helps nobody: titles, defaults, descriptions
of what a name says already. What a call may not have is refused with the nearest name, so no schema forbids it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

from lsptools.tools import registry
from lsptools.tools.agents import COMMON, PAGED, AgentTool, agent_tools
from lsptools.tools.base import Parameter, parameters

Json = dict[str, Any]  # a JSON object

_TYPES: Mapping[type, str] = {str: "string", int: "integer", bool: "boolean", dict: "object"}


def input_schema(tool: AgentTool) -> Json:
    """What a call may have."""
    properties: Json = {
        name: _described(_parameter_schema(tool, name), given.says) for name, given in tool.parameters.items()
    }
    if tool.selector:
        properties[tool.selector] = _described(
            {"type": "string", "enum": list(tool.ways)}, tool.selector_says
        )
    for name, (kind, says) in _own(tool).items():
        properties[name] = _described({"type": kind}, says)
    required = list(tool.required_names())
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def output_schema(tool: AgentTool) -> Json:
    """What a structured answer has; members that do not apply are left out of it."""
    groups = (group.split() for group in tool.answers.split(";"))
    properties = {name: {"type": kind} for kind, *names in groups for name in names}
    return {"type": "object", "properties": properties}


def hints(tool: AgentTool, *, may_run: bool) -> Json:
    """The four hints of MCP. What runs programs of the project may do anything they do."""
    runs = tool.open_world or (tool.name == "verify" and may_run)
    return {
        "readOnlyHint": not tool.writes and not runs,
        "destructiveHint": tool.destructive or runs,
        "idempotentHint": tool.idempotent and not runs,
        "openWorldHint": runs,
    }


def offered(*, read_only: bool, may_run: bool) -> tuple[AgentTool, ...]:
    """The tools that a server with these permissions has."""
    return tuple(
        tool
        for tool in agent_tools()
        if (may_run or tool.name != "run") and not (read_only and (tool.writes or tool.name == "run"))
    )


def exported(format: str, *, read_only: bool = False, may_run: bool = False) -> list[Json]:
    """The definitions as an API takes them: `mcp` (`tools/list`), `anthropic` or `openai` (function tools)."""
    return [
        _exported(tool, format, may_run=may_run) for tool in offered(read_only=read_only, may_run=may_run)
    ]


def _exported(tool: AgentTool, format: str, *, may_run: bool) -> Json:
    schema = input_schema(tool)
    if format == "anthropic":
        return {"name": tool.name, "description": tool.says, "input_schema": schema}
    if format == "openai":
        function = {"name": tool.name, "description": tool.says, "parameters": schema}
        return {"type": "function", "function": function}
    return {
        "name": tool.name,
        "description": tool.says,
        "inputSchema": schema,
        "outputSchema": output_schema(tool),
        "annotations": hints(tool, may_run=may_run),
    }


def _own(tool: AgentTool) -> Mapping[str, tuple[str, str]]:
    """The parameters that no declared tool has."""
    return {**tool.own, **(PAGED if tool.is_paged else {}), **COMMON}


def _described(schema: Json, says: str) -> Json:
    return {**schema, "description": says} if says else schema


def _parameter_schema(tool: AgentTool, name: str) -> Json:
    declared = tool.declared(tool.parameters[name])
    one = _item_schema(tool, name, declared)
    return {"type": "array", "items": one} if declared.repeated else one


def _item_schema(tool: AgentTool, name: str, declared: Parameter) -> Json:
    if dataclasses.is_dataclass(declared.type):
        return {"type": "object", "properties": _members(tool, name)}
    found: Json = {"type": _TYPES[declared.type]}
    return {**found, "enum": list(declared.choices)} if declared.choices else found


def _members(tool: AgentTool, name: str) -> Json:
    """The members of an object that stands for values of several declared tools, by the names that the tool has for them."""
    found: Json = {}
    for declared, field in tool.parameters[name].fields.items():
        names = {
            given.fields[declared]: own for own, given in tool.parameters.items() if declared in given.fields
        }
        kind = next(each.type for each in parameters(registry.tool(declared)) if each.field == field)
        for member, hint in get_type_hints(kind).items():
            options = get_args(hint) or (hint,)
            word = next(word for each, word in _TYPES.items() if each in options)
            found.setdefault(names.get(member, member), {"type": word})
    return found
