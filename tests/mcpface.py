"""The steps of cases as an agent makes them: tool calls over the Model Context Protocol, through the SDK's own client.

A command line is parsed as the command line does it; which call says the same, the declarations tell. One client lasts as long as
its case does, so what was read counts in later steps.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsptools.errors import ToolError
from lsptools.faces.commands import FROM, Call, parse
from lsptools.tools.agents import AgentTool, agent_tools
from lsptools.tools.base import parameters

if TYPE_CHECKING:
    from casefaces import Place

APPENDIX = ("possible: ", "try: ")
"""How lines begin that stand only in an agent's errors, after all else."""

PARAMETER = re.compile(r'`(?=\w+="[\w-]+"`)(\w+)="([\w-]+)"(?=`)')
"""How a hint names a parameter to an agent; the command line names an option."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AgentCall:
    """A call as a model makes it."""

    name: str
    arguments: Json


def agent_call(arguments: Sequence[str]) -> AgentCall | None:
    """The call that says the same as a command line; `None` if none does."""
    try:
        call = parse(list(arguments))
    except ToolError:
        return None
    if not isinstance(call, Call):
        return None
    given = {name: value for name, value in call.values.items() if value is not None}
    if any(name.endswith(FROM) for name in given):
        return None
    changed: Json = {}
    for parameter in parameters(call.tool):
        value = given.get(parameter.field)
        if value is not None and value != parameter.default and value != ():
            changed[parameter.field] = list(value) if isinstance(value, tuple) else value
    for tool in agent_tools():
        found = _as(tool, call.tool.name, changed)
        if found is not None:
            return AgentCall(tool.name, found)
    return None


def _as(tool: AgentTool, declared: str, changed: Json) -> Json | None:
    for value, way in tool.ways.items():
        if way.tool != declared:
            continue
        names = {
            given.fields[declared]: name
            for name, given in tool.parameters.items()
            if declared in given.fields
        }
        left = {name: each for name, each in changed.items() if way.fixed.get(name) != each}
        if not left.keys() <= names.keys():
            continue
        selector = {tool.selector: value} if tool.selector else {"list": True} if value == "list" else {}
        return selector | {names[name]: each for name, each in left.items()}
    return None


@dataclass(slots=True)
class Connection:
    """A client and its server, in this process, on a loop of their own."""

    root: Path
    stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    portal: Any = None
    client: Any = None

    @staticmethod
    def to(root: Path, mode: str = "auto", **permissions: Any) -> Connection:
        """A client of a server for this workspace, with the environment as it is now."""
        from anyio.from_thread import start_blocking_portal
        from mcp import Client

        from lsptools.faces.agent import Desk, Permissions
        from lsptools.faces.environment import Environment
        from lsptools.faces.mcp import server_of
        from lsptools.faces.roots import Roots

        environment = Environment()
        desk = Desk(environment, Roots([environment.root(str(root))]), Permissions(**permissions))
        made = Connection(root)
        made.portal = made.stack.enter_context(start_blocking_portal())
        client = Client(server_of(desk), mode=mode)
        made.client = made.stack.enter_context(made.portal.wrap_async_context_manager(client))
        return made

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:  # the SDK's CallToolResult
        return self.portal.call(self.client.call_tool, name, dict(arguments))

    def whole(self, data: Mapping[str, Any]) -> Json:
        """The whole answer behind the one that was given."""
        read = self.portal.call(self.client.read_resource, data["resource"])
        found: Json = json.loads(read.contents[0].text)
        return found

    def close(self) -> None:
        self.stack.close()


@dataclass(slots=True)
class Line:
    """One connection at a time: that of the case which is running."""

    now: Connection | None = None

    def to(self, at: Place) -> Connection:
        if self.now is None or self.now.root != at.root:
            self.hang_up()
            self.now = Connection.to(at.root)
        return self.now

    def hang_up(self) -> None:
        if self.now is not None:
            self.now.close()
            self.now = None


LINE = Line()
atexit.register(LINE.hang_up)


def told(result: Any) -> str:
    """The text of an answer, without what only agents are told."""
    lines = result.content[0].text.split("\n")
    said = (line for line in lines if not line.startswith(APPENDIX))
    return "\n".join(PARAMETER.sub(r"`--\1 \2", line) if line.startswith("hint: ") else line for line in said)


def found(result: Any) -> bool:
    """Whether something was found, or done, or (of a preview) would be."""
    data = result.structured_content
    if "applied" in data:
        return bool(data["applied"] or data.get("plan") or not data.get("verification"))
    return bool(data.get("total", 1))


def answer(connection: Connection, result: Any) -> Json | None:
    """The whole answer in the words of the JSON contract, where the step has one."""
    data = result.structured_content
    return {"schema": 1, **connection.whole(data)} if "resource" in data else None


def agent_words(declared: str, arguments: Mapping[str, Any]) -> tuple[str, Json]:
    """A call of a declared tool as an agent makes it. What no agent can say stays as it is, to be refused."""
    for tool in agent_tools():
        for value, way in tool.ways.items():
            if way.tool == declared.replace("_", "-"):
                return tool.name, _in_words(tool, value, way.tool, arguments)
    return declared, dict(arguments)


def _in_words(tool: AgentTool, way: str, declared: str, arguments: Mapping[str, Any]) -> Json:
    names = {
        given.fields[declared]: name for name, given in tool.parameters.items() if declared in given.fields
    }
    selector = {tool.selector: way} if tool.selector else {"list": True} if way == "list" else {}
    return selector | {names.get(name.replace("-", "_"), name): value for name, value in arguments.items()}
