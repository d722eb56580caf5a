"""What an agent gets as structure is what `--json` gives: the same facts, places grouped by file, and what is empty left out.

Each tool is asked twice, on two copies of an example: on the command line and over the Model Context Protocol. What the command line
answers is put into an agent's words here, by the contract of docs/json.md alone, and has to be the other answer, member for member.
Only agents get what `ONLY_AGENTS` names; what an agent is not told stands in the words of each tool below: ranges in UTF-16, what
follows from something else that is told, and what a name says already.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from casefaces import CommandLine, Place, standing_in
from mcpface import Connection, agent_call

from lsptools.tools.agents import agent_tools

EXAMPLE = Path(__file__).parents[2] / "examples" / "shop"
ONLY_AGENTS = {"source", "plan", "resource", "reason", "nearest", "try"}
"""What an answer was found with, how to go on, why it is empty."""
PRICING = "1a7031d86508a0949b1337e2d55b2437"
"""The digest of shop/pricing.py."""
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """The same question in the words of both."""

    words: Sequence[str]
    name: str = ""
    """The agent's tool, where the declarations do not tell."""
    arguments: Json = field(default_factory=dict)
    file: str = ""
    """What stands in the file that is FILE on the command line."""

    def call(self) -> tuple[str, Json]:
        if self.name:
            return self.name, self.arguments
        call = agent_call(self.words)
        assert call is not None, self.words
        return call.name, call.arguments


PATCH = "--- a/shop/pricing.py\n+++ b/shop/pricing.py\n@@ -5 +5 @@\n-    return net * 19 // 100\n+    return net * 7 // 100\n"
VAT = "def vat(net: int) -> int:\n    return net * 7 // 100\n"
EXPECT = ("--expect", PRICING)
ALSO: Json = {"path": "shop/pricing.py", "expect": PRICING}
READING = [
    Step(["search", "gross"]),
    Step(["search", "user.*id", "--regex"]),
    Step(["search", "(call function: (identifier) @f) @c", "--structural"]),
    Step(["search", "nowhere"]),
    Step(["symbols", "e"]),
    Step(["symbols", "nowhere"]),
    Step(["outline", "shop/models.py"]),
    Step(["def", "shop.models.Order"]),
    Step(["refs", "shop.models.Order"]),
    Step(["refs", "shop/models.py::User.valid", "--why"]),
    Step(["refs", "shop.payments.Provider.fee"]),
    Step(["refs", "shop.pricing.gross", "--calls"]),
    Step(["refs", "no.such"]),
    Step(["callers", "shop.report.find"]),
    Step(["callees", "shop.payments.Provider.collect"]),
    Step(["callees", "shop.report.newest"]),
    Step(["implementations", "shop.payments.Provider.fee"]),
    Step(["hierarchy", "shop.payments.Provider"]),
    Step(["hierarchy", "shop.payments.Card"]),
    Step(["read", "shop/pricing.py"]),
    Step(["read", "shop/models.py", "--offset", "3", "--limit", "4"]),
    Step(["history"]),
    Step(["undo"]),
    Step(["verify"]),
    Step(["rename", "shop.pricing.gross", "brutto", "--diff"]),
    Step(["rename", "shop.pricing.gross", "total"]),
    Step(["move", "shop.pricing.vat", "shop/report.py", "--diff"]),
    Step(["edit", "shop/pricing.py", "--old", "19 //", "--new", "20 //", *EXPECT, "--diff"]),
    Step(["edit", "shop/pricing.py", "--old", "net", "--new", "n", *EXPECT]),
    Step(["edit", "shop/pricing.py", "--old", "19 //", "--new", "20 //"]),
]
"""Nothing of this changes a file."""
CHANGING = [
    Step(
        [
            "edit",
            "shop/pricing.py",
            "--old",
            "19 //",
            "--new",
            "20 //",
            *EXPECT,
            "--verify=scope,syntax,names",
        ]
    ),
    Step(
        ["edit", "shop/pricing.py", "--old", "+ vat(net)", "--new", "+ vta(net)", *EXPECT, "--verify=names"]
    ),
    Step(
        ["edit-lines", "shop/pricing.py", "--start", "4", "--end", "5", "--new", "", *EXPECT],
        "edit",
        {**ALSO, "start": 4, "end": 5, "new_str": ""},
    ),
    Step(
        ["edit-symbol", "shop/pricing.py::vat", "FILE", *EXPECT],
        "edit",
        {"symbol": "shop/pricing.py::vat", "expect": PRICING, "new_str": VAT},
        VAT,
    ),
    Step(["write", "notes/new.txt", "FILE"], "write", {"path": "notes/new.txt", "content": PATCH}, PATCH),
    Step(
        ["patch", "FILE", f"--expect=shop/pricing.py={PRICING}"],
        "patch",
        {"patch": PATCH, "expect": [f"shop/pricing.py={PRICING}"]},
        PATCH,
    ),
    Step(["rename", "shop.pricing.gross", "brutto"]),
    Step(["rename", "shop/models.py::User.valid", "checked", "--verify=scope,syntax"]),
    Step(["move", "shop.pricing.vat", "shop/report.py"]),
]
"""Each is done, verified, listed and undone."""
AFTERWARDS = [Step(["verify", "--rungs", "scope,syntax,names"]), Step(["history"]), Step(["undo"])]


@pytest.fixture
def places(tmp_path: Path) -> tuple[Place, Place]:
    """Two workspaces with the same files."""
    made = Place.below(tmp_path / "a"), Place.below(tmp_path / "b")
    for place in made:
        shutil.copytree(EXAMPLE, place.root, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    return made


def on_command_line(step: Step, at: Place) -> Json:
    """Its answer with `--json`."""
    file = at.user / "given"
    file.write_text(step.file)
    words = [str(file) if word == "FILE" else word for word in step.words]
    answer = CommandLine().run([*words, "--json"], at).answer
    assert answer is not None, words
    return dict(answer)


def as_agent(connection: Connection, step: Step, at: Place) -> Json:
    """Its structured answer, all pages of it."""
    name, arguments = step.call()
    with standing_in(at, at.user):
        found: Json = connection.call(name, arguments).structured_content
    assert "next_cursor" not in found, "let it be short enough for one page"
    return found


def check(step: Step, told: Json, found: Json, root: Path) -> None:
    assert _comparable(found) == _comparable(in_an_agents_words(told, root)), step.words


def _comparable(found: Json) -> Json:
    """Without what only agents get, and with ids that are those of each workspace made equal."""
    if "error" in found:
        return {"error": _without(found["error"], "hint", *ONLY_AGENTS)}
    kept = _without(found, *ONLY_AGENTS, *(["digest"] if "items" in found else []))
    for name in {"undo", "id"} & kept.keys():
        kept[name] = "an id"
    if "files" in kept and kept["files"] and isinstance(kept["files"][0], dict):
        kept["files"] = [_without(file, "digest") for file in kept["files"]]
    if "entries" in kept:
        kept["entries"] = [{**each, "id": "an id"} for each in kept["entries"]]
    return kept


@pytest.mark.parametrize("step", READING, ids=lambda step: " ".join(step.words)[:60])
def test_what_is_read(step: Step, places: tuple[Place, Place]) -> None:
    one, other = places
    with standing_in(other, other.user):
        connection = Connection.to(other.root)
    try:
        check(step, on_command_line(step, one), as_agent(connection, step, other), one.root)
    finally:
        connection.close()


@pytest.mark.parametrize("step", CHANGING, ids=lambda step: " ".join(step.words)[:60])
def test_what_is_changed_and_undone(step: Step, places: tuple[Place, Place]) -> None:
    one, other = places
    with standing_in(other, other.user):
        connection = Connection.to(other.root)
    try:
        for each in (step, *AFTERWARDS):
            check(each, on_command_line(each, one), as_agent(connection, each, other), one.root)
    finally:
        connection.close()


def test_what_a_command_has_done(places: tuple[Place, Place]) -> None:
    one, other = places
    with standing_in(other, other.user):
        connection = Connection.to(other.root, run=True)
    try:
        for command in ("echo said; exit 3", "kill -9 $$", "true"):
            step = Step(["run", command], "run", {"command": command})
            told, found = on_command_line(step, one), as_agent(connection, step, other)
            told["seconds"] = found["seconds"]
            check(step, told, found, one.root)
    finally:
        connection.close()


def test_every_tool_is_asked() -> None:
    asked = {step.call()[0] for step in (*READING, *CHANGING)}
    assert asked | {"run", "apply"} == {tool.name for tool in agent_tools()}
    declared = {step.words[0] for step in (*READING, *CHANGING)} | {"run"}
    behind = {way.tool for tool in agent_tools() for way in tool.ways.values()}
    assert behind - declared == {"candidate", "apply-edit"}, "their answers are those of `write` and `patch`"


# ------------------------------------------------------------------------------- from the contract to an agent's words


def in_an_agents_words(told: Json, root: Path) -> Json:
    """The structured answer that says the same as one of the command line."""
    if "error" in told:
        members = ("kind", "message", "sites", "conflicts")
        return {"error": {name: told["error"][name] for name in members if told["error"][name]}}
    return _kept(_WORDS[told["tool"]](told, root))


def _search(told: Json, root: Path) -> Json:
    def match(each: Json) -> Json:
        line = (root / each["path"]).read_text().split("\n")[each["line"] - 1]
        captures = [
            {"name": capture["name"], "text": capture["text"].split("\n")[0]}
            for capture in each.get("captures", ())
        ]
        return {**_place(each), "line_text": line, "captures": captures}

    return {**_whole(told), "total": told["total"], "files": _grouped(told["matches"], "matches", match)}


def _symbols(told: Json, root: Path) -> Json:
    files = _grouped(told["symbols"], "symbols", _of("kind", "qualified", "signature"))
    return {**_whole(told), "total": told["total"], "files": files}


def _outline(told: Json, root: Path) -> Json:
    def items(nested: Iterable[Json]) -> Iterator[Json]:
        for each in nested:
            first = {"first_line": each["first_line"]} if each["first_line"] != each["line"] else {}
            yield {**_of("last_line", "kind", "qualified", "signature")(each), **first}
            yield from items(each["children"])

    return {"path": told["path"], "complete": True, "items": list(items(told["items"]))}


def _definition(told: Json, root: Path) -> Json:
    files = _grouped(told["definitions"], "definitions", _of("kind", "qualified"))
    return {"complete": True, "total": len(told["definitions"]), "files": files}


def _references(told: Json, root: Path) -> Json:
    if "calls" in told:
        return {
            **_about(told, told["calls"], "calls", _bound_call),
            "signature": told["signature"],
        }
    shown = [each for each in told["occurrences"] if each["class"] != "unrelated"]
    n_unrelated = told["counts"]["unrelated"]
    return {
        **_about(told, shown, "occurrences", _occurrence),
        "counts": told["counts"],
        "hidden": {"unrelated": n_unrelated} if n_unrelated else None,
    }


def _occurrence(each: Json) -> Json:
    return {**_of("class", "role", "reason")(each), "why": [_step(step) for step in each.get("steps", ())]}


def _step(step: Json) -> str:
    if step.get("line"):
        return f"{step['says']} ({_place_text(step)})"
    return f"{step['says']} ({step['path']})" if step.get("path") else step["says"]


def _bound_call(each: Json) -> Json:
    given = [f"{one['parameter']}={one['text']}" for one in each["arguments"] if one["how"] != "object"]
    return {**_of("class", "role", "reason")(each), "given": given}


def _callers(told: Json, root: Path) -> Json:
    uses = [{**use, "caller": caller["qualified"]} for caller in told["callers"] for use in caller["uses"]]
    return _about(told, uses, "calls", _of("class", "role", "reason", "via", "caller"))


def _callees(told: Json, root: Path) -> Json:
    def call(each: Json) -> Json:
        return {**_of("class", "text", "reason")(each), "callees": [_symbol(one) for one in each["callees"]]}

    return _about(told, told["calls"], "calls", call)


def _implementations(told: Json, root: Path) -> Json:
    of = _of("qualified", "kind", "relation", "abstract")
    return _about(told, told["implementations"], "symbols", of)


def _hierarchy(told: Json, root: Path) -> Json:
    related = [
        *({**each, "relation": "above"} for each in reversed(told["supertypes"])),
        *({**each, "relation": "below"} for each in told["subtypes"]),
    ]
    related.sort(key=lambda each: str(each["path"]))
    return {
        **_about(
            told, related, "symbols", _of("qualified", "kind", "relation", "depth", "via", "unknown_bases")
        ),
        "order": [each["qualified"] for each in told["order"]],
        "unknown_bases": told["unknown_bases"],
    }


def _refactored(told: Json, root: Path) -> Json:
    edited = {(each["path"], each["line"], each["column"]) for each in told["edits"]}
    left = told.get("left_alone") or [
        each for each in told["occurrences"] if (each["path"], each["line"], each["column"]) not in edited
    ]
    left = [
        {"place": _place_text(each), **{name: each[name] for name in ("class", "role", "reason")}}
        for each in left
        if told["tool"] == "rename"
    ]
    is_preview = "diff" in told
    return {
        **_whole(told),
        "applied": told["applied"],
        "undo": told["undo"],
        "edits": len(told["edits"]),
        "files": [
            {"path": path, "lines": sorted({each["line"] for each in edits})}
            for path, edits in groupby(told["edits"], lambda each: str(each["path"]))
        ],
        "moves": told.get("moves"),
        "proved": all(line["ok"] for line in told["proof"]),
        "notes": told["notes"],
        "verification": _report(told["verification"], root) if told["verification"] else None,
        "diff": told.get("diff", "").removesuffix("\n"),
        "left_alone": [] if is_preview else left,
    }


def _change(told: Json, root: Path) -> Json:
    if "diff" in told:
        files = [{name: file[name] for name in ("path", "action", "digest_before")} for file in told["files"]]
    else:
        files = [
            {name: value for name, value in file.items() if value and name != "encoding"}
            for file in told["files"]
        ]
    return {
        "applied": told["applied"],
        "undo": told["undo"],
        "files": files,
        "notes": told["notes"],
        "verification": _report(told["verification"], root) if told["verification"] else None,
        "diff": told.get("diff", "").removesuffix("\n"),
    }


def _report(told: Json, root: Path) -> Json:
    verdicts = [
        {
            **{name: each[name] for name in ("rung", "standing", "says", "proves_not")},
            "problems": [_kept(problem) for problem in each["problems"]],
            "n_problems": len(each["problems"]),
        }
        for each in told["verdicts"]
    ]
    shown = [{name: value for name, value in each.items() if value} for each in verdicts]
    return {"verified": told["verified"], "standing": told["standing"], "verdicts": shown}


def _read(told: Json, root: Path) -> Json:
    members = {
        name: value for name, value in told.items() if name not in ("schema", "tool", "output") and value
    }
    lines = told["output"].split("\n")
    n_lines = told["last_line"] - told["first_line"] + 1
    more = {"truncated": True, "total": told["lines"]} if told["truncated"] or told["go_on"] else {}
    return {**members, "text": "\n".join(lines[:n_lines]), **more}


def _undo(told: Json, root: Path) -> Json:
    return _without(told, "schema", "tool")


def _history(told: Json, root: Path) -> Json:
    entries = [_without(each, "when") for each in told["entries"]]
    return {"total": len(entries), "entries": entries}


def _run(told: Json, root: Path) -> Json:
    members = ("ending", "exit_code", "signal", "seconds", "output_file", "folder", "notes", "background")
    text = told["output"].removesuffix("\n")
    return {
        **{name: told[name] for name in members if told[name] not in (None, [], "")},
        "total": told["bytes"],
        "text": text,
    }


_WORDS: dict[str, Callable[[Json, Path], Json]] = {
    "search": _search,
    "symbols": _symbols,
    "outline": _outline,
    "def": _definition,
    "refs": _references,
    "callers": _callers,
    "callees": _callees,
    "implementations": _implementations,
    "hierarchy": _hierarchy,
    "read": _read,
    "rename": _refactored,
    "move": _refactored,
    "edit": _change,
    "edit-lines": _change,
    "edit-symbol": _change,
    "write": _change,
    "patch": _change,
    "verify": _report,
    "undo": _undo,
    "history": _history,
    "run": _run,
}


def _about(told: Json, places: Sequence[Json], member: str, of: Callable[[Json], Json]) -> Json:
    files = _grouped(places, member, of)
    return {**_whole(told), "symbol": _symbol(told["symbol"]), "total": len(places), "files": files}


def _whole(told: Json) -> Json:
    return {"complete": told["complete"], "incomplete_because": told["incomplete_because"]}


def _symbol(told: Json) -> Json:
    place = {"place": _place_text(told)} if "path" in told else {}
    return {"qualified": told["qualified"], "kind": told["kind"], **place}


def _place_text(each: Json) -> str:
    return f"{each['path']}:{each['line']}:{each['column']}"


def _place(each: Json) -> Json:
    return {"line": each["line"], "column": each["column"]}


def _of(*members: str) -> Callable[[Json], Json]:
    """An entry with its place and some of its members."""
    return lambda each: {**_place(each), **{name: each.get(name) for name in members}}


def _grouped(places: Iterable[Json], member: str, of: Callable[[Json], Json]) -> list[Json]:
    """The places of one file together."""
    return [
        {"path": path, member: [_kept(of(each)) for each in listed]}
        for path, listed in groupby(places, lambda each: str(each["path"]))
    ]


def _kept(members: Json) -> Json:
    """Without those that are empty; what is false or 0 by nature stays."""
    stays = ("applied", "complete", "total", "proved", "files", "exit_code", "undone")
    return {name: value for name, value in members.items() if value or (name in stays and value is not None)}


def _without(members: Json, *names: str) -> Json:
    return {name: value for name, value in members.items() if name not in names}
