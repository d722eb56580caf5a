"""Text for people, exactly as it is printed."""

import pytest
from faces.handmade import GET, plan, references_answer, snapshot

from lsptools.errors import BadRequest, Conflict, InternalError, Refused, Site, Stale, ToolError, Unavailable
from lsptools.faces.render import Look, answer_text, error_text
from lsptools.languages.names import Symbol
from lsptools.search.text import Capture, Match, Matches
from lsptools.syntax.outline import outline
from lsptools.text.lines import Offset, Span
from lsptools.tools.base import Answer, Positions
from lsptools.tools.definition import DefinitionAnswer
from lsptools.tools.history import HistoryAnswer
from lsptools.tools.outline import OutlineAnswer
from lsptools.tools.references import Params
from lsptools.tools.rename import RenameAnswer
from lsptools.tools.search import SearchAnswer
from lsptools.tools.undo import UndoAnswer
from lsptools.workspace.apply import Applied, AppliedFile
from lsptools.workspace.change import Move
from lsptools.workspace.journal import Entry
from lsptools.workspace.ripgrep import Skipped

PLAIN = Look()


def check(tool: str, answer: Answer, expected: str, look: Look = PLAIN) -> None:
    assert answer_text(tool, answer, look) == expected


def test_references() -> None:
    check(
        "refs",
        references_answer(),
        "main.py:1:17: certain import: imports `get` from net\n"
        "main.py:2:13: certain call: bound by the import at 1:17\n"
        "main.py:2:18: mention string: in a string\n"
        "net.py:1:5: certain definition: the symbol itself\n"
        "other.py:3:3: mention comment: in a comment\n"
        "other.py:4:3: possible attribute: nobody knows what `x` is\n"
        "function net.get: 3 certain, 0 likely, 1 possible, 2 mention, 1 unrelated in 3 files\n"
        "complete\n",
    )


def test_references_of_a_class_of_evidence_and_why_it_is_not_all() -> None:
    check(
        "refs",
        references_answer(Params("net.get", classes=("unrelated",)), complete=False),
        "other.py:2:5: unrelated definition: an attribute of other.A\n"
        "function net.get: 3 certain, 0 likely, 1 possible, 2 mention, 1 unrelated in 3 files\n"
        "not complete: star import of an unknown module in main.py\n",
    )


@pytest.mark.parametrize(
    "only", ["main.py:1:17", "main.py:1:19", "main.py:1", "./main.py:1", "/shop/main.py:1:17"]
)
def test_the_derivation_of_one_occurrence(only: str) -> None:
    check(
        "refs",
        references_answer(Params("net.get", only=only, why=True)),
        "main.py:1:17: certain import: imports `get` from net\n"
        "    1. imported from net (main.py:1:17)\n"
        "    2. net is net.py (net.py)\n"
        "    3. that is all\n"
        "function net.get: 3 certain, 0 likely, 1 possible, 2 mention, 1 unrelated in 3 files\n"
        "complete\n",
    )


def test_paths_are_spelled_as_the_caller_spells_them() -> None:
    text = answer_text("refs", references_answer(), Look(shown=lambda path: f"../{path}"))
    assert text.startswith("../main.py:1:17: ")


def test_definitions() -> None:
    outside = Symbol("x", "class", "net.py", Span(Offset(0), Offset(0)), "net")
    check(
        "def",
        DefinitionAnswer((GET, outside), Positions(snapshot())),
        "net.py:1:5: function net.get\nnet.py:1:1: class net\n",
    )
    check("def", DefinitionAnswer((), Positions(snapshot())), "")


def renamed(applied: Applied | None, diff: str | None = None) -> RenameAnswer:
    return RenameAnswer(plan(), applied, diff, Positions(snapshot()), new_name="fetch")  # type: ignore[arg-type]  # a stand-in


APPLIED = Applied(
    "7-ab", (AppliedFile("net.py", "1", "2"),), (), ("written for a test", "net.py has other names")
)

LEFT_ALONE = """\
main.py:2:18: left alone, mention string: in a string
other.py:3:3: left alone, mention comment: in a comment
other.py:4:3: left alone, possible attribute: nobody knows what `x` is
"""


def test_a_rename() -> None:
    check(
        "rename",
        renamed(APPLIED),
        "renamed function `get` to `fetch`: 3 edits in 2 files\n"
        "proof: 3 of 3 occurrences are bound as before\n"
        "note: written for a test\n"
        "note: net.py has other names\n" + LEFT_ALONE + "undo: lsptools undo 7-ab\n",
    )


def test_a_rename_that_is_only_checked() -> None:
    check(
        "rename",
        renamed(None),
        "would rename function `get` to `fetch`: 3 edits in 2 files\n"
        "proof: 3 of 3 occurrences are bound as before\n"
        "note: written for a test\n" + LEFT_ALONE,
    )


DIFF = "--- a/net.py\n+++ b/net.py\n@@ -1 +1 @@\n-get\x1b\r\n+fetch\x1b\r\n"


def test_a_diff_stays_a_diff() -> None:
    check("rename", renamed(None, DIFF), DIFF)


def test_a_diff_on_a_terminal() -> None:
    text = answer_text("rename", renamed(None, DIFF), Look(colour=True, terminal=True))
    assert text == (
        "\x1b[1m--- a/net.py\x1b[0m\n\x1b[1m+++ b/net.py\x1b[0m\n\x1b[36m@@ -1 +1 @@\x1b[0m\n"
        "\x1b[31m-get\\x1b\r\x1b[0m\n\x1b[32m+fetch\\x1b\r\x1b[0m\n"
    )


def test_undo_and_history() -> None:
    moves = (Move("new", "old"),)
    check(
        "undo",
        UndoAnswer(Applied("8-cd", APPLIED.files, moves, ("careful",))),
        "restored: net.py\nmoved: new -> old\nnote: careful\n",
    )
    entries = (
        Entry("8-cd", 0.0, "undo rename", ("a", "b"), False),
        Entry("7-ab", 0.0, "rename", ("a",), True),
    )
    first, second = answer_text("history", HistoryAnswer(entries), PLAIN).splitlines()
    assert first.startswith("8-cd  19") and first.endswith("undo rename, 2 files")
    assert second.endswith("rename, 1 file (undone)")


def test_an_outline() -> None:
    files = snapshot()
    check(
        "outline",
        OutlineAnswer("other.py", outline(files.document("other.py")), Positions(files)),
        "other.py:1:7: class A\nother.py:2:5:   get = 1\n",
    )


def test_a_search() -> None:
    at, call = GET.span, Span(Offset(29), Offset(44))
    captures = (Capture("all", Span(Offset(0), Offset(28))), Capture("f", at))
    found = Matches(
        (Match("net.py", at, captures), Match("main.py", call)), 5, 2, (Skipped("b", "not readable"),)
    )
    check(
        "search",
        SearchAnswer(found, 0, Positions(snapshot())),
        "net.py:1:5: def get(url):\n"
        "  net.py:1:1: @all def get(url): …\n"
        "  net.py:1:5: @f get\n"
        'main.py:2:9: "😀é"; print(get("get"))\n'
        "2 of 5 are listed; --limit 5 lists all\n"
        "not complete: b: not readable\n",
    )


def test_a_search_with_lines_around() -> None:
    found = Matches((Match("net.py", GET.span), Match("other.py", Span(Offset(21), Offset(23)))), 2, 2)
    check(
        "search",
        SearchAnswer(found, 1, Positions(snapshot())),
        "net.py:1:5: def get(url):\n"
        "net.py-2-     return url\n"
        "--\n"
        "other.py-2-     get = 1\n"
        "other.py:3:1: # get\n"
        "other.py-4- x.get\n",
    )


def check_error(error: ToolError, expected: str) -> None:
    assert error_text(error, PLAIN) == expected


def test_a_refusal() -> None:
    sites = (
        Site("bill.py", 2, 5, "renaming local `sum_` to `total`"),
        Site("bill.py", 3, 9, "would merge it with the loop variable bound here"),
    )
    check_error(
        Refused(
            "name_clash",
            "`total` is taken",
            hint="choose a name that is free in `price`, or rename `total` first",
            conflicts=(Conflict("name_clash", "merges", sites), Conflict("keyword", "no place for this one")),
        ),
        "refused: name_clash, keyword\n"
        "bill.py:2:5: renaming local `sum_` to `total`\n"
        "bill.py:3:9:   would merge it with the loop variable bound here\n"
        "no place for this one\n"
        "hint: choose a name that is free in `price`, or rename `total` first\n",
    )


def test_a_place_of_a_conflict_is_told_once() -> None:
    here, there = Site("a.py", 1, 1, "renaming this"), Site("b.py", 2, 2, "is in the way")
    conflicts = (Conflict("name_clash", "`b` exists", (here,)),)
    check_error(
        Refused("name_clash", "`b` exists", sites=(here, there), conflicts=conflicts),
        "refused: name_clash\nb.py:2:2: is in the way\na.py:1:1: renaming this\n",
    )


def test_a_refusal_without_conflicts() -> None:
    check_error(
        Refused("library_symbol", "`print` belongs to Python", sites=(Site("a.py", 1, 1, "used here"),)),
        "refused: library_symbol\n`print` belongs to Python\na.py:1:1: used here\n",
    )


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            BadRequest("not_found", "there is no file 'x'", hint="list"),
            "error: there is no file 'x'\nhint: list\n",
        ),
        (Stale("stale", "'x' changed"), "stale: 'x' changed\n"),
        (Unavailable("timed_out", "it took too long"), "timed_out: it took too long\n"),
        (BadRequest("invalid", "no \x1b[31m\nescapes"), "error: no \\x1b[31m\nescapes\n"),  # lines stay lines
    ],
)
def test_errors(error: ToolError, expected: str) -> None:
    check_error(error, expected)


def test_a_bug() -> None:
    assert error_text(InternalError("x is y"), PLAIN).startswith(
        "internal error: x is y\nhint: this is a bug in lsptools"
    )


def test_colour_is_ansi() -> None:
    text = answer_text("refs", references_answer(), Look(colour=True))
    assert text.startswith("\x1b[1mmain.py:1:17\x1b[0m: \x1b[32mcertain\x1b[0m import: ")
