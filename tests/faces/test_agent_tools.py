"""The tools for agents follow from the declarations, say enough, and cost little."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lsptools.errors import BadRequest
from lsptools.faces.agent_commands import FORMATS
from lsptools.faces.cli import main
from lsptools.tools import registry
from lsptools.tools.agents import NOT_FOR_AGENTS, AgentTool, agent_tools, resolved
from lsptools.tools.base import parameters
from lsptools.tools.schemas import exported, offered

MOST_TOKENS = 3_000
TOOLS = {tool.name: tool for tool in agent_tools()}


def test_all_definitions_together_cost_little() -> None:
    text = json.dumps(exported("mcp", may_run=True), ensure_ascii=False, separators=(",", ":"))
    assert len(text) / 4 <= MOST_TOKENS


def test_every_declared_tool_is_offered_or_left_out_for_a_reason() -> None:
    behind = {way.tool for tool in TOOLS.values() for way in tool.ways.values()}
    assert behind | NOT_FOR_AGENTS.keys() == set(registry.names())
    assert not behind & NOT_FOR_AGENTS.keys()


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_parameters_are_those_of_the_declarations(tool: AgentTool) -> None:
    for name, given in tool.parameters.items():
        for declared, field in given.fields.items():
            assert field in {each.field for each in parameters(registry.tool(declared))}, name
    for way in tool.ways.values():
        fields = {each.field: each for each in parameters(registry.tool(way.tool))}
        assert way.fixed.keys() <= fields.keys()
        # Whatever a declared tool needs can be given.
        offered = {given.fields.get(way.tool) for given in tool.parameters.values()} | way.fixed.keys()
        assert {name for name, each in fields.items() if each.required} <= offered


@pytest.mark.parametrize("definition", exported("mcp", may_run=True), ids=list(TOOLS))
def test_a_definition_has_all_four_hints_and_schemas(definition: dict[str, Any]) -> None:
    assert set(definition["annotations"]) == {
        "readOnlyHint",
        "destructiveHint",
        "idempotentHint",
        "openWorldHint",
    }
    assert definition["inputSchema"]["type"] == definition["outputSchema"]["type"] == "object"
    assert set(definition["inputSchema"].get("required", ())) <= set(definition["inputSchema"]["properties"])


def test_only_what_changes_nothing_is_called_so() -> None:
    reading = {each["name"] for each in exported("mcp", may_run=False) if each["annotations"]["readOnlyHint"]}
    assert reading == {"read", "search", "outline", "references", "verify"}
    # With leave to run, verifying starts programs of the project.
    running = {each["name"] for each in exported("mcp", may_run=True) if each["annotations"]["openWorldHint"]}
    assert running == {"run", "verify"}


def test_a_server_that_only_reads_offers_nothing_that_writes() -> None:
    assert not any(tool.writes for tool in offered(read_only=True, may_run=True))
    assert "run" not in {tool.name for tool in offered(read_only=False, may_run=False)}


@pytest.mark.parametrize("format", FORMATS)
def test_the_command_prints_definitions(format: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "--format", format]) == 0
    made = json.loads(capsys.readouterr().out)
    names = [each["function"]["name"] if format == "openai" else each["name"] for each in made]
    assert names == [name for name in TOOLS if name != "run"]


def check(name: str, given: dict[str, object], tool: str, arguments: dict[str, object]) -> None:
    found = resolved(TOOLS[name], given)
    assert (found.tool.name, dict(found.arguments)) == (tool, arguments)


def test_a_call_becomes_that_of_a_declared_tool() -> None:
    check("search", {"query": "a"}, "search", {"query": "a"})
    check("search", {"query": "a", "mode": "regex"}, "search", {"query": "a", "regex": True})
    check("search", {"query": "a", "mode": "symbols", "word": True}, "symbols", {"query": "a", "exact": True})
    check("references", {"place": "a", "find": "definition"}, "def", {"place": "a"})
    check(
        "edit",
        {"path": "a", "old_str": "b", "new_str": "c", "root": "/x"},
        "edit",
        {"path": "a", "old_str": "b", "new_str": "c"},
    )
    check(
        "edit",
        {"path": "a", "start": 1, "new_str": "c"},
        "edit-lines",
        {"path": "a", "start": 1, "new_text": "c"},
    )
    check(
        "edit",
        {"path": "a", "edits": [{"start": 1, "end": 2, "new_str": "c"}]},
        "edit-lines",
        {"path": "a", "edits": [{"start": 1, "end": 2, "new_text": "c"}]},
    )
    check("edit", {"symbol": "a::b", "new_str": "c"}, "edit-symbol", {"place": "a::b", "text": "c"})
    check(
        "edit",
        {"path": "a", "old_str": "b", "new_str": "c", "dry_run": True, "end": None},
        "edit",
        {"path": "a", "old_str": "b", "new_str": "c", "diff": True},
    )
    check(
        "write",
        {"path": "a", "content": "b", "regions": ["1-2"]},
        "candidate",
        {"path": "a", "content": "b", "regions": ["1-2"]},
    )
    check("patch", {"workspace_edit": {}}, "apply-edit", {"edit": {}})
    check("undo", {}, "undo", {})
    check("undo", {"list": True, "file": "a"}, "history", {"file": "a"})


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("search", {"qury": "a"}, "did you mean `query`?"),
        ("search", {}, "needs `query`"),
        ("search", {"query": "a", "mode": "fuzzy"}, 'one of "text", "regex"'),
        ("search", {"query": "a", "kinds": ["class"]}, "it goes with mode='symbols'"),
        ("edit", {"path": "a", "start": 1, "old_str": "b"}, "does not go with"),
        ("rename", {"place": "a"}, "needs `new_name`"),
    ],
)
def test_a_call_that_cannot_be_meant_is_told_what_can(name: str, given: dict[str, object], says: str) -> None:
    with pytest.raises(BadRequest) as caught:
        resolved(TOOLS[name], given)
    assert says in f"{caught.value.message} {caught.value.hint}"
