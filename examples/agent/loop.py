"""The loop of every agent: ask the model, do what it calls, tell it what came of that, until it calls nothing more.

The model is an interface (`Model`); it sees the definitions of the tools as the server lists them, and texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

MOST_TURNS = 40

Json = Mapping[str, Any]  # a JSON object


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What the model wants done."""

    id: str
    name: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class Turn:
    """What the model says; without calls it has finished."""

    text: str
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a call."""

    call: ToolCall
    text: str
    data: Json
    is_error: bool


@dataclass(slots=True)
class Conversation:
    """What was said so far: the task, then turns and results."""

    task: str
    turns: list[tuple[Turn, list[Result]]] = field(default_factory=list)


class Model(Protocol):
    """Whoever decides what to do next."""

    async def next_turn(self, conversation: Conversation, tools: Sequence[Json]) -> Turn:
        """The next turn, given all that was said; `tools` are definitions as `tools/list` has them."""


class Tools(Protocol):
    """What the loop needs of the SDK's client."""

    async def list_tools(self) -> Any: ...
    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any: ...


async def work(
    task: str, model: Model, client: Tools, show: Callable[[str], None] = lambda _: None
) -> Conversation:
    """Let the model work on the task until it is done."""
    listed = (await client.list_tools()).tools
    tools = [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed]
    conversation = Conversation(task)
    for _ in range(MOST_TURNS):
        turn = await model.next_turn(conversation, tools)
        show(turn.text)
        results = []
        for call in turn.calls:
            answer = await client.call_tool(call.name, dict(call.arguments))
            text = "\n".join(part.text for part in answer.content if part.type == "text")
            results.append(Result(call, text, answer.structured_content or {}, answer.is_error))
            show(
                f"\n> {call.name}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"
            )
            show(text.rstrip("\n"))
        conversation.turns.append((turn, results))
        if not turn.calls:
            return conversation
    raise RuntimeError(f"the task is not done after {MOST_TURNS} turns")
