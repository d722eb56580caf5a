"""The tools as an agent gets them: few, each standing for one declared tool or several that a model would mix up.

An `AgentTool` says which declared tools it stands for and which of their parameters a model is offered, under which name
and in how many words; types, choices, defaults and what writes come from the declarations. `resolved` turns a model's
call into the call of a declared tool. Schemas for protocols and model APIs are made from the same (`schemas.py`).

Every word here is paid for in each conversation: a test holds all definitions together under 3,000 tokens. What is left out on
purpose: what `NOT_FOR_AGENTS` names, and limits, which every page of an answer has anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from typing import Any

from lsptools.errors import BadRequest
from lsptools.tools import registry
from lsptools.tools.base import Parameter, Tool, parameters

Arguments = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Given:
    """A parameter as a model gives it: the fields of declared tools it becomes, and its description."""

    says: str
    fields: Mapping[str, str]
    """Field by the name of the declared tool."""


@dataclass(frozen=True, slots=True)
class Way:
    """One of the declared tools behind a name, chosen by the value of the selector."""

    tool: str
    fixed: Mapping[str, object] = field(default_factory=dict)
    """Parameters that come with the choice."""


@dataclass(frozen=True, slots=True)
class AgentTool:
    """The declaration of a tool for agents."""

    name: str
    says: str
    """What it does, when to use it and what to call instead, in a few words."""
    parameters: Mapping[str, Given]
    ways: Mapping[str, Way]
    """By the value of the selector; the first is the default."""
    selector: str = ""
    """The parameter that chooses among the ways; empty: `choose` does."""
    selector_says: str = ""
    choose: Callable[[Arguments], str] | None = None
    required: tuple[str, ...] = ()
    """Overrides what the declarations require, where a parameter is required in one way only."""
    is_paged: bool = False
    """Whether an answer may be long, and is then given in pages."""
    destructive: bool = False
    """Whether it may replace or remove what is there."""
    idempotent: bool = True
    """Whether a second call with the same arguments changes nothing more."""
    open_world: bool = False
    """Whether it reaches beyond the workspace."""
    answers: str = ""
    """Members of the structured answer, by JSON type."""
    own: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Parameters that no declared tool has: JSON type and description."""

    @property
    def writes(self) -> bool:
        """Whether one of the ways may change files; `apply` has none."""
        return not self.ways or any(registry.tool(way.tool).writes for way in self.ways.values())

    def declared(self, given: Given) -> Parameter:
        """The declaration that a parameter follows: that of the first tool which has it."""
        tool, name = next(iter(given.fields.items()))
        return next(each for each in parameters(registry.tool(tool)) if each.field == name)

    def required_names(self) -> tuple[str, ...]:
        """What a call must have."""
        if self.required or len({way.tool for way in self.ways.values()}) > 1:
            return self.required
        return tuple(name for name, given in self.parameters.items() if self.declared(given).required)

    def names(self) -> tuple[str, ...]:
        """Everything that a call may have."""
        selector = (self.selector,) if self.selector else ()
        paged = PAGED if self.is_paged else {}
        return (*self.parameters, *selector, *self.own, *paged, *COMMON)


NOT_FOR_AGENTS: Mapping[str, str] = {
    "signature": "its parameters cost more words than all tools together have left; the command line and Python have it",
    "unused": "a report for people, which takes long on a large workspace; the command line and Python have it",
    "recover": "the next change, undo or history does the same by itself",
}
"""Declared tools that are left out, and why."""
COMMON: Mapping[str, tuple[str, str]] = {"root": ("string", "")}
"""What every tool has: JSON type and description."""
PAGED: Mapping[str, tuple[str, str]] = {"max_tokens": ("integer", ""), "cursor": ("string", "")}
"""What a tool with long answers has."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A call of a declared tool."""

    tool: Tool[Any]  # any tool
    arguments: Mapping[str, object]
    """As `arguments.params_from_json` takes them."""


def resolved(agent_tool: AgentTool, given: Arguments) -> Resolved:
    """The declared tool's call that a model's call is; the parameters of pages, and `own` ones, are not looked at."""
    arguments = {name: value for name, value in given.items() if value is not None}
    check_parameters(agent_tool, arguments)
    way = agent_tool.ways[_chosen(agent_tool, arguments)]
    found: dict[str, object] = dict(way.fixed)
    for name, value in arguments.items():
        if name not in agent_tool.parameters:
            continue
        fields = agent_tool.parameters[name].fields
        if way.tool not in fields:
            raise _misplaced(agent_tool, name, arguments)
        found[fields[way.tool]] = (
            _line_edits(value) if way.tool == "edit-lines" and name == "edits" else value
        )
    declared = registry.tool(way.tool)
    needed = {each.field for each in parameters(declared) if each.required} - found.keys()
    if needed:
        names = [
            name for name, given in agent_tool.parameters.items() if given.fields.get(way.tool) in needed
        ]
        raise _missing(agent_tool, names)
    return Resolved(declared, found)


def _missing(tool: AgentTool, names: list[str]) -> BadRequest:
    said = ", ".join(f"`{name}`" for name in names)
    return BadRequest("invalid", f"`{tool.name}` needs {said}", hint=tool.says)


def _line_edits(edits: object) -> object:
    """Edits of lines as they are declared: their new text has another name there."""
    if not isinstance(edits, list):
        return edits
    return [
        {("new_text" if name == "new_str" else name): value for name, value in each.items()}
        if isinstance(each, dict)
        else each
        for each in edits
    ]


def check_parameters(tool: AgentTool, arguments: Arguments) -> None:
    """Refuse unknown names, missing ones, and values of another type where no declared tool looks at them (`BadRequest`)."""
    names = tool.names()
    for name in arguments:
        if name not in names:
            close = get_close_matches(name, names, n=1, cutoff=0.6)
            hint = f"did you mean `{close[0]}`?" if close else f"it has {', '.join(names)}"
            raise BadRequest("invalid", f"`{tool.name}` has no parameter `{name}`", hint=hint)
    missing = [name for name in tool.required_names() if name not in arguments]
    if missing:
        raise _missing(tool, missing)
    for name, (kind, _) in tool.own.items():
        if name in arguments and type(arguments[name]) is not _TYPES[kind]:
            raise BadRequest("invalid", f"`{name}` is {arguments[name]!r}", hint=f"send a {kind}")


_TYPES: Mapping[str, type] = {"string": str, "integer": int, "boolean": bool}


def _chosen(tool: AgentTool, arguments: Arguments) -> str:
    if tool.choose is not None:
        return tool.choose(arguments)
    first = next(iter(tool.ways))
    if not tool.selector:
        return first
    value = arguments.get(tool.selector, first)
    if not isinstance(value, str) or value not in tool.ways:
        choices = ", ".join(f'"{each}"' for each in tool.ways)
        raise BadRequest("invalid", f"`{tool.selector}` is {value!r}", hint=f"one of {choices}")
    return value


def _misplaced(tool: AgentTool, name: str, arguments: Arguments) -> BadRequest:
    """A parameter that belongs to another way than the one the rest of the call has chosen."""
    fitting = [value for value, way in tool.ways.items() if way.tool in tool.parameters[name].fields]
    if tool.selector:
        hint = f"it goes with {tool.selector}={' or '.join(f'{value!r}' for value in fitting)}"
        said = f"{tool.selector}={arguments.get(tool.selector, next(iter(tool.ways)))!r}"
        return BadRequest("invalid", f"`{name}` does not go with {said}", hint=hint)
    return BadRequest("invalid", f"`{name}` does not go with the other parameters", hint=tool.says)


# The tools


def _same(name: str, *tools: str, says: str = "") -> Given:
    """A parameter that is called alike everywhere."""
    return Given(says, dict.fromkeys(tools, name))


def _safety(*tools: str) -> dict[str, Given]:
    """What tools that change files have in common, as far as they have it."""
    declared = {tool: {each.field for each in parameters(registry.tool(tool))} for tool in tools}
    found = {
        "expect": Given("digest as known, instead of a read", {}),
        "allow_broken": Given("", {}),
        "dry_run": Given("answer diff and plan id; write nothing", {}),
        "verify": Given("rungs that must pass first, or `usual`", {}),
        "keep": Given("write whatever verify says", {}),
    }
    fields = {"dry_run": "diff"}
    return {
        name: Given(
            given.says, {tool: own for tool in tools if (own := fields.get(name, name)) in declared[tool]}
        )
        for name, given in found.items()
        if any(fields.get(name, name) in declared[tool] for tool in tools)
    }


def _edit_way(arguments: Arguments) -> str:
    """A symbol names a definition, a start names lines, otherwise text is quoted."""
    if "symbol" in arguments:
        return "symbol"
    edits = arguments.get("edits")
    first = edits[0] if isinstance(edits, list) and edits else None
    return "lines" if "start" in arguments or (isinstance(first, dict) and "start" in first) else "text"


def _undo_way(arguments: Arguments) -> str:
    return "list" if arguments.get("list") is True else "undo"


def _tools() -> tuple[AgentTool, ...]:
    return (
        AgentTool(
            "read",
            "Show a file with line numbers (`12│`, not part of the text). A file must be read before it is edited.",
            {
                "path": _same("path", "read"),
                "offset": _same("offset", "read", says="first line"),
                "limit": _same("limit", "read", says="how many lines"),
                "column": _same("column", "read"),
                "raw": _same("raw", "read", says="a notebook's JSON"),
            },
            {"read": Way("read", {"image_data": True})},
            own={"max_tokens": ("integer", "")},
            answers="string path text digest go_on; integer first_line last_line lines; boolean truncated",
        ),
        AgentTool(
            "search",
            "Find text in all files, or definitions by (part of) a name. A hit is text; the uses of a symbol are in `references`.",
            {
                "query": _same("query", "search", "symbols"),
                "globs": _same("globs", "search", says="`*.py`, `!tests/**`"),
                "word": Given("whole names only", {"search": "word", "symbols": "exact"}),
                "ignore_case": _same("ignore_case", "search"),
                "context": _same("context", "search", says="lines around"),
                "kinds": _same("kinds", "symbols", says="with mode symbols"),
            },
            {
                "text": Way("search"),
                "regex": Way("search", {"regex": True}),
                "structure": Way("search", {"structural": True}),
                "symbols": Way("symbols"),
            },
            selector="mode",
            selector_says="structure: tree-sitter query for Python, `(except_clause !value) @x`",
            required=("query",),
            is_paged=True,
            answers="array files nearest; integer total; boolean complete truncated; string next_cursor reason",
        ),
        AgentTool(
            "outline",
            "List what a Python file defines, with signatures.",
            {"path": _same("path", "outline")},
            {"outline": Way("outline")},
            is_paged=True,
            answers="string path digest next_cursor; array items; boolean complete",
        ),
        AgentTool(
            "references",
            "Every occurrence of a symbol with evidence: certain, likely, possible (undecidable), mention (comments, strings), "
            "unrelated; says if complete.",
            {
                "place": _same(
                    "place",
                    "refs",
                    "callers",
                    "callees",
                    "implementations",
                    "hierarchy",
                    "def",
                    says="FILE:LINE:COL, FILE::Class.method, pkg.mod.Class.method or a unique name",
                ),
                "classes": _same("classes", "refs", "callers"),
                "only": _same("only", "refs", says="FILE or FILE:LINE"),
                "why": _same("why", "refs", says="show derivations"),
                "infer": _same("infer", "refs", says="seconds to ask jedi about what is possible"),
            },
            {
                "references": Way("refs"),
                "definition": Way("def"),
                "calls": Way("refs", {"calls": True}),
                "callers": Way("callers"),
                "callees": Way("callees"),
                "implementations": Way("implementations"),
                "hierarchy": Way("hierarchy"),
            },
            selector="find",
            selector_says="calls: with their arguments",
            required=("place",),
            is_paged=True,
            answers="object symbol counts; array files incomplete_because; integer total; boolean complete; string next_cursor",
        ),
        AgentTool(
            "rename",
            "Rename a symbol with all references, overrides, imports, keywords, or move it to another module; proved, all or nothing.",
            {
                "place": _same("place", "rename", "move", says="as in references"),
                "new_name": _same("new_name", "rename"),
                "module": _same("module", "move", says="instead of new_name: move it there"),
                "possible": _same("possible", "rename", "move", says="what cannot be known"),
                "mentions": _same("mentions", "rename", "move", says="also in comments and strings"),
                "infer": _same("infer", "rename", says="as in references"),
                **_safety("rename", "move"),
            },
            {"rename": Way("rename"), "move": Way("move")},
            choose=lambda arguments: "move" if "module" in arguments else "rename",
            required=("place",),
            is_paged=True,
            destructive=True,
            idempotent=False,
            answers="boolean applied proved complete; string plan diff undo next_cursor; integer edits; array files left_alone",
        ),
        AgentTool(
            "edit",
            "Change a file that was read: `path` with `old_str` (exact, unique) and `new_str`; or lines `start` to `end` (end = "
            "start - 1 inserts); or the definition at `symbol`. `edits`: several of the first or second form, all or none.",
            {
                "path": _same("path", "edit", "edit-lines"),
                "old_str": _same("old_str", "edit"),
                "new_str": Given("", {"edit": "new_str", "edit-lines": "new_text", "edit-symbol": "text"}),
                "replace_all": _same("replace_all", "edit"),
                "expected_count": _same("expected_count", "edit", says="replace exactly so many"),
                "edits": _same(
                    "edits", "edit", "edit-lines", says="{old_str,new_str} or {start,end,new_str}"
                ),
                "start": _same("start", "edit-lines"),
                "end": _same("end", "edit-lines"),
                "symbol": Given("place of a definition", {"edit-symbol": "place"}),
                "action": _same("action", "edit-symbol"),
                **_safety("edit", "edit-lines", "edit-symbol"),
            },
            {"text": Way("edit"), "lines": Way("edit-lines"), "symbol": Way("edit-symbol")},
            choose=_edit_way,
            destructive=True,
            idempotent=False,
            answers="boolean applied; string plan diff undo; array files notes",
        ),
        AgentTool(
            "write",
            "Create a file, or replace all of one that was read.",
            {
                "path": _same("path", "write", "candidate"),
                "content": _same("content", "write", "candidate"),
                "regions": _same("regions", "candidate", says="only these lines may differ: `12-20`"),
                "allow_omissions": _same("allow_omissions", "write", says="allow `... rest unchanged`"),
                **_safety("write", "candidate"),
            },
            {"write": Way("write"), "candidate": Way("candidate")},
            choose=lambda arguments: "candidate" if "regions" in arguments else "write",
            required=("path", "content"),
            destructive=True,
            answers="boolean applied; string plan diff undo; array files notes",
        ),
        AgentTool(
            "patch",
            "Apply a unified diff or `*** Begin Patch` over several files, all or none.",
            {
                "patch": _same("patch", "patch"),
                "workspace_edit": Given("of LSP, instead", {"apply-edit": "edit"}),
                "accept": _same("accept", "apply-edit"),
                **_safety("patch", "apply-edit"),
            },
            {"patch": Way("patch"), "workspace_edit": Way("apply-edit")},
            choose=lambda arguments: "workspace_edit" if "workspace_edit" in arguments else "patch",
            is_paged=True,
            destructive=True,
            idempotent=False,
            answers="boolean applied; string plan diff undo; array files notes",
        ),
        AgentTool(
            "verify",
            "Say of a change (default: the last) what was checked and held, failed, or could not run.",
            {
                "id": _same("id", "verify", says="of a change"),
                "against": _same("against", "verify", says="git revision instead"),
                "rungs": _same(
                    "rungs",
                    "verify",
                    says="of scope,syntax,names,types,lint,tests,regression; the last four run programs",
                ),
                "reproduces": _same(
                    "reproduces", "verify", says="only: did FILE::TEST fail before, does it pass now"
                ),
                "timeout": _same("timeout", "verify", says="seconds a program"),
            },
            {"verify": Way("verify")},
            is_paged=True,
            answers="string verified standing; array verdicts",
        ),
        AgentTool(
            "undo",
            "Take back a change (default: the last), byte for byte; or list changes.",
            {"id": _same("id", "undo"), "file": _same("file", "undo", "history", says="only this file")},
            {"undo": Way("undo"), "list": Way("history")},
            choose=_undo_way,
            is_paged=True,
            destructive=True,
            idempotent=False,
            own={"list": ("boolean", "")},
            answers="boolean applied; string id undo; array files entries",
        ),
        AgentTool(
            "run",
            "Run a shell command in the workspace, with a time limit; ends all it started.",
            {
                "command": _same("command", "run"),
                "timeout": _same("timeout", "run", says="seconds"),
                "folder": _same("folder", "run"),
            },
            {"run": Way("run")},
            destructive=True,
            idempotent=False,
            open_world=True,
            own={"confirm": ("string", "the digest a refusal named, to run it all the same")},
            is_paged=True,
            answers="string text ending; integer exit_code; boolean truncated",
        ),
    )


APPLY = "apply"
"""The tool that no declared one is behind: it does what a preview has planned."""


@cache
def agent_tools() -> tuple[AgentTool, ...]:
    """All of them, in reading order; `apply` stands behind the tools that make plans."""
    made = _tools()
    at = next(number for number, tool in enumerate(made) if tool.name == "verify")
    apply = AgentTool(
        APPLY,
        "Do exactly the plan of a dry_run, or refuse it as stale.",
        {
            "verify": _same("verify", "patch", says="as in edit"),
            "keep": _same("keep", "patch"),
        },
        {},
        required=("plan",),
        destructive=True,
        own={"plan": ("string", "its id")},
        answers="boolean applied; string undo; array files",
    )
    return (*made[:at], apply, *made[at:])
