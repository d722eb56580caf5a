"""What went wrong, told to a model: the kind, the places, and calls that would work, with real values.

The errors below speak of options as the command line has them (`--possible skip`); here that becomes the parameter of the
tool that the model sees (`possible="skip"`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lsptools.errors import Site, ToolError
from lsptools.faces.agent_pages import middle_cut, shortened
from lsptools.faces.json import error_json
from lsptools.faces.render import Look, error_text
from lsptools.tools.agents import AgentTool

MOST_SITES = 20
MOST_CHARACTERS = 12_000
"""Of conflicts and their places."""
LONGEST_TEXT = 2_000
"""Characters of one text of an error for programs."""
_LONGEST_VALUE = 200


@dataclass(frozen=True, slots=True)
class Told:
    """An error, for the model and for programs."""

    text: str
    data: dict[str, object]


def told(
    error: ToolError,
    tool: AgentTool | None,
    arguments: Mapping[str, object],
    possible: Sequence[Site] = (),
) -> Told:
    """An error of a call of `tool` with these arguments; `possible` are the places that the caller has to decide about.

    The text begins as the command line would say it, down to the last byte, but for the spelling of the hint.
    """
    error.hint = _spelled(error.hint, tool)
    calls = list(_calls(error, tool, arguments))
    lines = [middle_cut(error_text(error, Look()).rstrip("\n"), MOST_CHARACTERS)]
    undecided = possible[:MOST_SITES]
    lines += [f"possible: {site}" for site in undecided]
    if len(possible) > MOST_SITES:
        lines.append(f"possible: … and {len(possible) - MOST_SITES} more")
    lines += [f"try: {call}" for call in calls]
    found = error_json(error)
    data = {**found, "sites": _first(found["sites"]), "conflicts": _first(found["conflicts"]), "try": calls}
    data["possible"] = [f"{site.path}:{site.line}:{site.column}: {site.says}" for site in undecided]
    kept = {name: value for name, value in data.items() if value not in ("", [], None)}
    return Told("\n".join(lines), {"error": _shortened(kept)})


def _shortened(value: object) -> object:
    """The same with long texts cut: a caller knows what it sent."""
    if isinstance(value, str):
        return shortened(value, LONGEST_TEXT)
    if isinstance(value, Mapping):
        return {name: _shortened(each) for name, each in value.items()}
    return [_shortened(each) for each in value] if isinstance(value, list) else value


def _first(sites: object) -> object:
    return sites[:MOST_SITES] if isinstance(sites, list) else sites


def call_text(name: str, arguments: Mapping[str, object]) -> str:
    """A call as a model writes it; long values are left out."""
    shown = ", ".join(f"{key}={_value(value)}" for key, value in arguments.items() if value is not None)
    return f"{name}({shown})"


def _value(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else "…"


def _calls(error: ToolError, tool: AgentTool | None, arguments: Mapping[str, object]) -> Iterator[str]:
    """Calls that would work, or that come next."""
    if tool is None:
        return
    root = {"root": arguments["root"]} if "root" in arguments else {}
    if error.kind in ("unread", "stale") and tool.writes:
        for path in dict.fromkeys([*(site.path for site in error.sites), *_paths(arguments)]):
            yield call_text("read", {"path": path, **root})
    elif error.kind == "undecided" and tool.name == "rename":
        for decision in ("skip", "include"):
            yield call_text("rename", {**arguments, "possible": decision})
    elif error.kind == "undecided" and tool.name == "run" and "confirm" in error.facts:
        yield call_text("run", {**arguments, "confirm": error.facts["confirm"]})
    elif error.kind == "ambiguous" and "place" in arguments:
        for site in error.sites[:3]:
            yield call_text(tool.name, {**arguments, "place": f"{site.path}:{site.line}:{site.column}"})
    elif error.kind == "not_found" and "place" in arguments:
        name = re.split(r"[.:]", str(arguments["place"]))[-1]
        if name and not name.isdigit():
            yield call_text("search", {"query": name, "mode": "symbols", **root})


def _paths(arguments: Mapping[str, object]) -> Iterator[str]:
    path, symbol = arguments.get("path"), arguments.get("symbol")
    if isinstance(path, str):
        yield path
    elif isinstance(symbol, str) and "::" in symbol:
        yield symbol.partition("::")[0]


# Spelling


_OPTION = re.compile(r"--([a-z][a-z-]*)(?:[ =]([A-Za-z_][\w./:-]*))?")
_RULE = re.compile(r", or pass --rule [\w=-]+")
"""What the person who starts the server decides, and no call."""
_COMMAND = re.compile(r"`lsptools (\w+) ([^`]+)`")
_RENAMED = {
    "diff": "dry_run",
    "glob": "globs",
    "class": "classes",
    "old": "old_str",
    "new": "new_str",
}


def _spelled(hint: str, tool: AgentTool | None) -> str:
    """A hint in the words of the tools for agents."""
    if hint.startswith("on the command line"):
        return tool.says if tool is not None else ""
    hint = _COMMAND.sub(_command, _RULE.sub("", hint))
    hint = hint.replace("see the history for the ids", "undo(list=true) lists them")
    hint = hint.replace(
        "see the history for the changes of a file", "undo(list=true, file=…) lists those of a file"
    )
    hint = hint.replace("see the history", "undo(list=true) lists what can be undone")
    return _OPTION.sub(_option, hint)


def _command(found: re.Match[str]) -> str:
    name, rest = found.groups()
    if name == "symbols":
        return f'search(query={json.dumps(rest)}, mode="symbols")'
    if name == "outline":
        return f"outline(path={json.dumps(rest)})"
    return f"{name}(query={json.dumps(rest)})" if name == "search" else found[0]


def _option(found: re.Match[str]) -> str:
    name, value = found.groups()
    field = _RENAMED.get(name, name.replace("-", "_"))
    if value is None:
        return field
    if value.isdigit():
        return f"{field}={value}"
    # A word that follows an option without a value is part of the sentence.
    return f'{field}="{value}"' if name in _WITH_VALUE else f"{field} {value}"


_WITH_VALUE = frozenset({"possible", "rule", "accept", "root", "expect", "rungs", "limit"})
