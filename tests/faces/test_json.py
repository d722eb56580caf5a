"""JSON for programs: the contract of docs/json.md, and that the page knows every member."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from faces.graph import graph_answers
from faces.handmade import GET, OCCURRENCES, plan, references, references_answer, snapshot

from lsptools.edit.pictures import Picture
from lsptools.edit.plan import FilePlan, Plan
from lsptools.edit.read import Reading
from lsptools.edit.target import Target
from lsptools.errors import BadRequest, Conflict, Refused, Site
from lsptools.faces.json import answer_text, error_text
from lsptools.search.symbols import Definition, Symbols
from lsptools.search.text import Capture, Match, Matches
from lsptools.syntax.outline import flat, outline
from lsptools.text.edits import Edits
from lsptools.tools import registry
from lsptools.tools.apply_edit import ApplyEditAnswer
from lsptools.tools.base import Answer, Context, Positions
from lsptools.tools.changes import ChangeAnswer
from lsptools.tools.definition import DefinitionAnswer
from lsptools.tools.history import HistoryAnswer
from lsptools.tools.move import MoveAnswer
from lsptools.tools.outline import OutlineAnswer
from lsptools.tools.read import PictureAnswer, ReadAnswer
from lsptools.tools.recover import RecoverAnswer
from lsptools.tools.references import Params
from lsptools.tools.rename import RenameAnswer
from lsptools.tools.run import RunAnswer
from lsptools.tools.search import SearchAnswer
from lsptools.tools.symbols import SymbolsAnswer
from lsptools.tools.undo import UndoAnswer
from lsptools.tools.verify import VerifyAnswer
from lsptools.verify.ladder import Report
from lsptools.verify.verdict import Problem, Standing, Verdict
from lsptools.workspace.apply import Applied, AppliedFile
from lsptools.workspace.change import Change, Move
from lsptools.workspace.journal import Entry, Repaired
from lsptools.workspace.output import Shown
from lsptools.workspace.process import Ending, Finished
from lsptools.workspace.ripgrep import Skipped, Why
from lsptools.workspace.shell import Ran

PAGE = Path(__file__).parents[2] / "docs" / "json.md"
APPLIED = Applied("7-ab", (AppliedFile("net.py", "1", "2"),), (Move("new", "old"),), ("careful",))


def said(tool: str, answer: Answer) -> dict[str, Any]:  # JSON
    text = answer_text(tool, answer)
    assert text.endswith("}\n") and text.isascii() and text.count("\n") == 1
    found: dict[str, Any] = json.loads(text)
    assert (found["schema"], found["tool"]) == (1, tool)
    return found


def test_an_occurrence() -> None:
    found = said("refs", references_answer())
    assert len(found["occurrences"]) == len(OCCURRENCES)
    assert found["occurrences"][1] == {
        "path": "main.py",
        "line": 2,
        "column": 13,
        "class": "certain",
        "role": "call",
        "reason": "bound by the import at 1:17",
        "range": {"start": {"line": 1, "character": 13}, "end": {"line": 1, "character": 16}},
    }
    assert (found["complete"], found["incomplete_because"], found["files"]) == (True, [], 3)
    assert found["counts"] == {"certain": 3, "likely": 0, "possible": 1, "mention": 2, "unrelated": 1}
    assert found["symbol"]["qualified"] == "net.get"


def test_steps_are_there_on_request() -> None:
    found = said("refs", references_answer(Params("net.get", only="main.py:1", why=True), complete=False))
    (occurrence,) = found["occurrences"]
    assert [step["says"] for step in occurrence["steps"]] == [
        "imported from net",
        "net is net.py",
        "that is all",
    ]
    assert (occurrence["steps"][0]["line"], occurrence["steps"][0]["column"]) == (1, 17)
    assert found["counts"]["certain"] == 3
    assert not found["complete"] and found["incomplete_because"]


PROBLEM = Problem("a.py", 3, 1, "gone", "`x` means nothing now")
REPORT = Report(
    "rename",
    (
        Verdict("scope", Standing.PASSED, "it holds", "that it is right"),
        Verdict("names", Standing.FAILED, "it does not", "all", "1 file", (PROBLEM,), ("x",), 1, 0.5),
    ),
)


def moved() -> MoveAnswer:
    made = plan()
    plan_of_a_move = SimpleNamespace(
        symbol=made.symbol,
        module="main.py",
        references=made.references,
        change=made.change,
        proof=made.proof,
        undecided=OCCURRENCES[-1:],
    )
    return MoveAnswer(plan_of_a_move, APPLIED, "diff", Positions(snapshot()))  # type: ignore[arg-type]  # a stand-in


def renamed(applied: Applied | None, diff: str | None = None) -> RenameAnswer:
    return RenameAnswer(plan(), applied, diff, Positions(snapshot()), new_name="fetch")  # type: ignore[arg-type]  # a stand-in


def test_a_rename() -> None:
    found = said("rename", renamed(APPLIED))
    assert (found["applied"], found["undo"], found["complete"]) == (True, "7-ab", True)
    assert [
        (edit["path"], edit["line"], edit["column"], edit["old"], edit["new"]) for edit in found["edits"]
    ] == [
        ("main.py", 1, 17, "get", "fetch"),
        ("main.py", 2, 13, "get", "fetch"),
        ("net.py", 1, 5, "get", "fetch"),
    ]
    assert len(found["occurrences"]) == len(OCCURRENCES)
    assert "diff" not in found


def test_a_rename_that_is_only_shown() -> None:
    found = said("rename", renamed(None, "--- a\n"))
    assert (found["applied"], found["undo"], found["diff"]) == (False, None, "--- a\n")
    assert len(found["edits"]) == 3


def refused(details: object) -> dict[str, Any]:  # JSON
    sites = (Site("net.py", 1, 5, "renaming"),)
    error = Refused(
        "undecided",
        "decide",
        hint="pass --possible",
        conflicts=(Conflict("undecided", "x", sites),),
        details=details,
    )
    beside = registry.tool("rename").known(Context(snapshot(), lambda: None), error)  # type: ignore[arg-type, return-value]  # not asked for
    found: dict[str, Any] = json.loads(error_text("rename", error, beside))
    return found


def test_a_refusal_tells_what_was_found() -> None:
    found = refused(references())
    assert found["error"] == {
        "kind": "undecided",
        "message": "decide",
        "hint": "pass --possible",
        "sites": [],
        "conflicts": [
            {
                "kind": "undecided",
                "message": "x",
                "sites": [{"path": "net.py", "line": 1, "column": 5, "says": "renaming"}],
            }
        ],
    }
    assert (found["applied"], found["edits"], found["moves"], found["undo"]) == (False, [], [], None)
    assert len(found["occurrences"]) == len(OCCURRENCES) and found["complete"]


def test_a_refusal_that_found_nothing() -> None:
    found = refused(None)
    assert (found["occurrences"], found["complete"], found["incomplete_because"]) == ([], False, ["decide"])


def test_an_error() -> None:
    found = json.loads(error_text(None, BadRequest("invalid", "no \udcff"), {}))
    assert found["error"]["message"] == "no \udcff"
    assert found["tool"] is None


def answers() -> dict[str, Answer]:
    """One answer of each tool, with something in every member."""
    files = snapshot()
    positions = Positions(files)
    items = outline(files.document("other.py"))
    found = Symbols(tuple(Definition("other.py", name, item) for name, item in flat(items)))
    match = Match("net.py", GET.span, (Capture("f", GET.span),))
    target = Target("main.py", "/w/main.py", "main.py")
    document = files.document("main.py")
    edited = FilePlan(target, "edited", document, document, Edits(), None, "exact", 1)
    change = ChangeAnswer(Plan(Change(), (edited,), ("careful",)), APPLIED, files, True, True)
    picture = Picture(target, "image/png", 1, 2, 3, b"png")
    reading = Reading(target, document, "1│", 1, 1, 1, True, "go on")
    return {
        **graph_answers(),
        "read": ReadAnswer(reading),
        "read a picture": PictureAnswer(picture, True),
        **dict.fromkeys(("edit", "write", "edit-lines", "edit-symbol", "patch", "candidate"), change),
        "apply-edit": ApplyEditAnswer(change.plan, APPLIED, files, True, True, buffers={"a.py": "new"}),
        "recover": RecoverAnswer((Repaired("7-ab", "rename", False, ("a.py",)),)),
        "search": SearchAnswer(
            Matches((match,), 1, 1, (Skipped(".venv", "an environment", Why.LEFT_OUT),)), 0, positions
        ),
        "outline": OutlineAnswer("other.py", items, positions),
        "symbols": SymbolsAnswer(found, 1, positions),
        "def": DefinitionAnswer((GET,), positions),
        "refs": references_answer(Params("net.get", why=True), complete=False),
        "rename": renamed(APPLIED, "diff"),
        "move": moved(),
        "run": RunAnswer(
            Ran(Finished(Ending.FAILED, 3, None, 0.5, None), Shown("a\n", 2, False, None), ".", "sub", False),
            is_streamed=False,
        ),
        "verify": VerifyAnswer(REPORT),
        "undo": UndoAnswer(APPLIED),
        "history": HistoryAnswer((Entry("7-ab", 0.0, "rename", ("a",), True),)),
    }


def members(value: object) -> set[str]:
    """The names of all members, at any depth; those of `counts` and `buffers` are values."""
    if isinstance(value, list):
        return {name for each in value for name in members(each)}
    if not isinstance(value, dict):
        return set()
    plain = {key: each for key, each in value.items() if key not in ("counts", "buffers")}
    return set(value) | {name for each in plain.values() for name in members(each)}


@pytest.mark.parametrize("tool", registry.names())
def test_the_page_knows_every_member(tool: str) -> None:
    page = PAGE.read_text("utf-8")
    section = page.split(f"\n## {tool}\n")[1].split("\n## ")[0]
    general = page.split("\n## refs\n")[0] + page.split("\n## refs\n")[1].split("\n## ")[0] * (
        tool in ("rename", "move")
    )
    found = [answer for name, answer in answers().items() if name.partition(" ")[0] == tool]
    assert found
    for answer in found:
        unknown = {name for name in members(said(tool, answer)) if f"`{name}`" not in section + general}
        assert not unknown


def test_left_out_on_purpose_is_not_a_gap() -> None:
    found = said("search", answers()["search"])
    assert found["complete"] and found["skipped"] == [{"path": ".venv", "reason": "an environment"}]


def test_ten_thousand_occurrences_are_one_pass_over_each_file() -> None:
    """Not the time is judged but the work: each file's lines are asked for once per run of its occurrences."""
    asked: list[str] = []

    class Counting(Positions):
        def lines(self, path: str):  # type: ignore[no-untyped-def]  # as in the base class
            asked.append(path)
            return super().lines(path)

    many = tuple(each for each in OCCURRENCES for _ in range(1000))
    from lsptools.tools.references import occurrences_json

    assert len(occurrences_json(many, Counting(snapshot()))) == len(many)
    assert asked == ["main.py", "net.py", "other.py"]
