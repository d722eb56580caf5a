"""A model that has decided already: the turns of `transcript.json`, as long as the tools answer what they answered then.

`$plan` in an argument stands for the plan of the last answer, as a model would copy it from there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from examples.agent.loop import Conversation, Json, ToolCall, Turn

TRANSCRIPT = Path(__file__).with_name("transcript.json")


class Recorded:
    """Plays a transcript."""

    def __init__(self, path: Path = TRANSCRIPT) -> None:
        recorded = json.loads(path.read_text("utf-8"))
        self.task: str = recorded["task"]
        self._turns: list[Json] = recorded["turns"]

    async def next_turn(self, conversation: Conversation, tools: Sequence[Json]) -> Turn:
        """The recorded one; `ValueError` when an answer is not what it was."""
        number = len(conversation.turns)
        if number:
            self._check(self._turns[number - 1], conversation)
        recorded = self._turns[number]
        calls = tuple(
            ToolCall(f"{number}.{at}", call["tool"], _filled(call["arguments"], conversation))
            for at, call in enumerate(recorded.get("calls", ()))
        )
        known = {tool["name"] for tool in tools}
        if unknown := [call.name for call in calls if call.name not in known]:
            raise ValueError(f"the server has no tool {', '.join(unknown)}")
        return Turn(recorded["says"], calls)

    def _check(self, recorded: Json, conversation: Conversation) -> None:
        for call, result in zip(recorded["calls"], conversation.turns[-1][1], strict=True):
            for shown in call["shows"]:
                if shown not in result.text:
                    raise ValueError(
                        f"{call['tool']} does not answer {shown!r} any more, but:\n{result.text}"
                    )


def _filled(arguments: Mapping[str, Any], conversation: Conversation) -> dict[str, Any]:
    last = conversation.turns[-1][1][-1].data if conversation.turns else {}
    return {name: last.get("plan") if value == "$plan" else value for name, value in arguments.items()}
