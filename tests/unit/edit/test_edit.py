"""`edit`, `write` and `edit-lines` by example: what is refused, in which order, and what is told."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from editing import after, memory, snapshot, workspace

from lsptools.edit.candidate import plan_candidate
from lsptools.edit.lines import LineEdit, plan_lines
from lsptools.edit.patch import plan_patch
from lsptools.edit.placeholders import is_placeholder
from lsptools.edit.plan import Plan
from lsptools.edit.read import read
from lsptools.edit.replace import Replacement, plan_edit
from lsptools.edit.session import Session
from lsptools.edit.write import plan_write
from lsptools.errors import ToolError
from lsptools.text.document import digest_of
from lsptools.workspace.anchored import AnchoredOperations
from lsptools.workspace.disk import LARGEST
from lsptools.workspace.operations import LocalOperations
from lsptools.workspace.paths import Root
from lsptools.workspace.snapshot import Snapshot


def error_of(attempt: Callable[[], object]) -> ToolError:
    with pytest.raises(ToolError) as caught:
        attempt()
    return caught.value


def edit(data: bytes | str, *pairs: tuple[str, str], name: str = "f", **options: object) -> bytes:
    view, session = workspace({name: data})
    edits = [Replacement(old, new, **options) for old, new in pairs]  # type: ignore[arg-type]  # as the test says
    return after(plan_edit(view, session, name, edits), name)


@pytest.mark.parametrize(
    ("data", "pairs", "wanted"),
    [
        ("a b\n", [("a", "b"), ("b", "a")], "b a\n"),
        ("abcdef", [("abc", "abcX"), ("def", "Ydef")], "abcXYdef"),
        ("one\ntwo", [("two", "two\nthree")], "one\ntwo\nthree"),
        ("one", [("one", "one\r\ntwo")], "one\r\ntwo"),  # no style to follow
        ("a\r\n", [("a", "$& \\1 \\n")], "$& \\1 \\n\r\n"),
        ("a\r\nb\nc\r\nd\r\n", [("a\nb\nc", "a\nB\nc")], "a\r\nB\nc\r\nd\r\n"),
        ("a\r\nb\nc\r\nd\r\n", [("b\nc", "b\nc\nc2")], "a\r\nb\nc\r\nc2\r\nd\r\n"),
        ("a\rb\rc", [("b\nc", "b\nx\nc")], "a\rb\rx\rc"),
        ("5%\r6%\r7%\rdone\n", [("done", "done\nover")], "5%\r6%\r7%\rdone\nover\n"),  # `\r` is data here
        ("“q”  \nx\n", [('"q"\nx', '"q"\ny')], "“q”  \ny\n"),
        ("“q”\nx\n", [('"q"\nx', '"r"\nx')], '"r"\nx\n'),
        ("\ufeffa\n", [("\ufeffa", "\ufeffb")], "\ufeffb\n"),
        ("a\n", [("a\n", "")], ""),
        ("x\u2028y\n", [("y", "z")], "x\u2028z\n"),
    ],
)
def test_what_becomes_of_a_text(data: str, pairs: list[tuple[str, str]], wanted: str) -> None:
    assert edit(data, *pairs).decode() == wanted


@pytest.mark.parametrize(
    ("data", "pairs", "kind", "says"),
    [
        ("x\ny\nx\n", [("x", "z")], "ambiguous", "2 times in 'f': on lines 1, 3"),
        ("aaa", [("aa", "b")], "ambiguous", "2 times"),
        ("a\n", [("b", "c")], "not_found", "not in 'f'"),
        ("a\n", [("a", "a")], "no_change", "stay as it is"),
        ("a\n", [], "invalid", "no edits"),
        ("abcd", [("abc", "1"), ("cd", "2")], "overlap", "edit 1 and edit 2"),
        ("a\n", [("a", "b"), ("x", "y"), ("z", "y")], "not_found", "edit 2: the text is not in 'f'"),
        ("a\n", [("", "b")], "invalid", "empty `old_str`"),
        ("a\n", [("a", "\ud800")], "encoding", "U+D800"),
        (b"# coding: latin-1\nx = '\xe9'\n", [("x", "€")], "encoding", "U+20AC"),
        ("a\0b", [("a", "b")], "binary", "binary"),
    ],
)
def test_what_is_refused(data: bytes | str, pairs: list[tuple[str, str]], kind: str, says: str) -> None:
    error = error_of(lambda: edit(data, *pairs))
    assert error.kind == kind
    assert says in error.message
    assert error.hint


def test_every_edit_without_a_place_is_told() -> None:
    error = error_of(lambda: edit("a\n", ("x", "1"), ("a", "2"), ("y", "3")))
    assert "edit 1" in error.message and "edit 3" in error.message and "edit 2" not in error.message


def test_places_of_an_ambiguous_text() -> None:
    error = error_of(lambda: edit("one x\ntwo\nx three\n", ("x", "y")))
    assert [(site.line, site.column, site.says) for site in error.sites] == [
        (1, 5, "one x"),
        (3, 1, "x three"),
    ]


def test_counts() -> None:
    assert edit("x x\n", ("x", "y"), expected_count=2) == b"y y\n"
    assert edit("x x\n", ("x", "y"), replace_all=True) == b"y y\n"
    assert edit("aaa", ("aa", "b"), replace_all=True) == b"ba"
    assert error_of(lambda: edit("x x\n", ("x", "y"), expected_count=3)).kind == "ambiguous"
    assert error_of(lambda: edit("x x\n", ("x", "y"), expected_count=1)).kind == "ambiguous"
    assert error_of(lambda: edit("x\n", ("x", "y"), expected_count=0)).kind == "invalid"


def test_a_folded_match_is_told() -> None:
    view, session = workspace({"f": "“a”\n"})
    plan = plan_edit(view, session, "f", [Replacement('"a"', '"b"')])
    assert plan.files[0].tier == "folded"
    assert "folding" in plan.notes[0]


# The order of checks


def test_the_boundary_comes_first() -> None:
    view, session = workspace({"f": "a"}, {"l": "/etc/hostname", "d": "/etc"})
    for path in ("../x", "/etc/hostname", "l", "d/new"):
        for attempt in (
            lambda path=path: plan_edit(view, session, path, [Replacement("a", "b")]),
            lambda path=path: plan_write(view, session, path, "x"),
        ):
            assert error_of(attempt).kind == "outside_workspace", path
    assert error_of(lambda: plan_write(view, session, "f\0", "x")).kind == "invalid"
    assert error_of(lambda: plan_write(view, session, "\ud800", "x")).kind == "invalid"
    assert error_of(lambda: plan_write(view, session, "", "x")).kind == "invalid"


def test_then_the_file_then_the_session_then_the_text() -> None:
    view, session = snapshot(memory({"f": "a", "b": "\0", "d/x": ""})), Session()
    wanted = [Replacement("zzz", "y")]
    assert error_of(lambda: plan_edit(view, session, "nope", wanted)).kind == "not_found"
    assert error_of(lambda: plan_edit(view, session, "d", wanted)).kind == "is_directory"
    assert error_of(lambda: plan_edit(view, session, "b", wanted)).kind == "binary"
    assert error_of(lambda: plan_edit(view, session, "f", wanted)).kind == "unread"
    session.see("/nowhere/ws/f", digest_of(b"other"), b"other")
    error = error_of(lambda: plan_edit(view, session, "f", wanted))
    assert error.kind == "stale" and "-other" in error.message and "+a" in error.message
    session.see("/nowhere/ws/f", digest_of(b"a"))
    assert error_of(lambda: plan_edit(view, session, "f", wanted)).kind == "not_found"


def test_a_digest_stands_for_having_read() -> None:
    view = snapshot(memory({"f": "a"}))
    plan = plan_edit(view, Session(), "f", [Replacement("a", "b")], expect=digest_of(b"a"))
    assert after(plan, "f") == b"b"


@pytest.mark.parametrize(
    ("expect", "kind"),
    [
        (digest_of(b"a")[:8], None),
        (digest_of(b"a")[:31].upper(), None),
        (digest_of(b"b"), "stale"),
        (digest_of(b"b")[:8], "stale"),
        (digest_of(b"a")[:7], "invalid"),
        ("123", "invalid"),
        (digest_of(b"a") + "0", "invalid"),
        ("not a digest", "invalid"),
    ],
)
def test_the_beginning_of_a_digest_is_enough(expect: str, kind: str | None) -> None:
    view = snapshot(memory({"f": "a"}))
    wanted = [Replacement("a", "b")]
    if kind is None:
        assert after(plan_edit(view, Session(), "f", wanted, expect=expect), "f") == b"b"
    else:
        assert error_of(lambda: plan_edit(view, Session(), "f", wanted, expect=expect)).kind == kind


WITH_NUL: list[Callable[[Snapshot, Session], Plan]] = [
    lambda view, session: plan_edit(view, session, "f", [Replacement("one", "o\0e")]),
    lambda view, session: plan_edit(view, session, "new", [Replacement("", "\0")]),
    lambda view, session: plan_lines(view, session, "f", [LineEdit(1, 1, "\0")]),
    lambda view, session: plan_write(view, session, "f", "one\0"),
    lambda view, session: plan_write(view, session, "new", "\0"),
    lambda view, session: plan_candidate(view, session, "f", "one\0two\n"),
    lambda view, session: plan_patch(view, session, "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+o\0e\n"),
    lambda view, session: plan_patch(view, session, "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+\0\n"),
]


@pytest.mark.parametrize("plan", WITH_NUL)
def test_a_text_with_a_nul_is_refused(plan: Callable[[Snapshot, Session], Plan]) -> None:
    view, session = workspace({"f": "one\ntwo\n"})
    error = error_of(lambda: plan(view, session))
    assert error.kind == "invalid" and "NUL character on line 1" in error.message


def test_a_text_that_has_a_nul_may_have_more() -> None:
    before = "a" * 9000 + "\0one\n"  # further on than where it makes a file binary
    view, session = workspace({"f": before})
    plan = plan_edit(view, session, "f", [Replacement("one", "\0")])
    assert after(plan, "f") == before.replace("one", "\0").encode()


def test_names_that_are_none() -> None:
    view, session = workspace({"f": "a"})
    for name in ("x" * 256, "é" * 128, f"d/{'x' * 300}/f", f"{'x' * 200}/{'é' * 128}"):
        for error in (
            error_of(lambda name=name: read(view, session, name)),  # type: ignore[misc]  # bound here
            error_of(lambda name=name: plan_write(view, session, name, "x")),  # type: ignore[misc]  # bound here
        ):
            assert error.kind == "invalid" and "too long" in error.message
    assert plan_write(view, session, "é" * 127, "x").change
    error = error_of(lambda: plan_write(view, session, "newdir/", "x"))
    assert error.kind == "is_directory" and "names a folder, and there is none" in error.message


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(LARGEST + 1)
    (tmp_path / "link").symlink_to("huge")

    def never(descriptor: int, n_bytes: int) -> bytes:
        raise AssertionError("it was read")

    monkeypatch.setattr(os, "read", never)
    for operations in (LocalOperations(), AnchoredOperations(Root.of(tmp_path))):
        view = Snapshot(Root.of(tmp_path), operations)
        for name in ("huge", "link"):
            error = error_of(lambda view=view, name=name: read(view, Session(), name))  # type: ignore[misc]  # bound here
            assert error.kind == "invalid" and "files of more than 32 MB" in error.message


def test_a_circle_of_links_is_told(tmp_path: Path) -> None:
    (tmp_path / "l").symlink_to("l2")
    (tmp_path / "l2").symlink_to("l")
    view = Snapshot(Root.of(tmp_path), LocalOperations())
    error = error_of(lambda: read(view, Session(), "l"))
    assert error.kind == "invalid" and "round in a circle" in error.message


def test_a_name_that_comes_close() -> None:
    view, session = workspace({"app/models.py": ""})
    assert (
        "app/models.py"
        in error_of(lambda: plan_edit(view, session, "app/model.py", [Replacement("a", "b")])).hint
    )


# Python


@pytest.mark.parametrize(
    ("before", "old", "new", "is_fine"),
    [
        ("x = 1\n", "1", "(1", False),
        ("if x:\n    a\n    b\n", "    b", "  b", False),
        ("def f(:\n    pass\nx = 1\n", "x = 1", "x = (", True),  # it could not be parsed before
        ("x = 1\n", "x = 1", "return 1", True),  # read, though it makes no sense
        ("x = '1'\n", "'1'", r"'\d'", True),
        ("# coding: latin-1\nx = 1\n", "x = 1", "x = 'é'", True),
        ("\ufeffx = 1\r\n", "1", "2", True),
    ],
)
def test_a_python_file_that_parsed_must_still(before: str, old: str, new: str, is_fine: bool) -> None:
    def attempt() -> bytes:
        return edit(before, (old, new), name="m.py")

    if is_fine:
        attempt()
        return
    error = error_of(attempt)
    assert error.kind == "syntax"
    assert "m.py:" in error.message and "no longer parse" in error.message


def test_broken_is_written_on_request_and_told() -> None:
    view, session = workspace({"m.py": "x = 1\n"})
    plan = plan_edit(view, session, "m.py", [Replacement("1", "(")], allow_broken=True)
    assert "no longer parse" in plan.notes[0]


def test_the_project_says_which_python() -> None:
    files = {"pyproject.toml": '[project]\nrequires-python = ">=3.8"\n', "m.py": "x = 1\n"}
    view, session = workspace(files)
    new = "match x:\n    case 1: pass"
    assert error_of(lambda: plan_edit(view, session, "m.py", [Replacement("x = 1", new)])).kind == "syntax"


def test_a_newer_python_than_ours_has_a_second_witness() -> None:
    pytest.importorskip("libcst")
    files = {"pyproject.toml": '[project]\nrequires-python = ">=3.99"\n', "m.py": "x = 1\n"}
    view, session = workspace(files)
    plan_edit(view, session, "m.py", [Replacement("x = 1", "type X = int")])
    assert error_of(lambda: plan_edit(view, session, "m.py", [Replacement("1", "(")])).kind == "syntax"


def test_other_languages_are_told_not_refused() -> None:
    view, session = workspace({"a.json": '{"a": 1}', "b.json": "{"})
    assert "not JSON" in plan_edit(view, session, "a.json", [Replacement("1", "1,")]).notes[0]
    assert not plan_edit(view, session, "b.json", [Replacement("{", "{{")]).notes


def test_toml_is_told() -> None:
    pytest.importorskip("tomllib")
    view, session = workspace({"a.toml": "[x]\ny = 1\n", "b.toml": "x = "})
    for old, new, place in (("1", "", "2:5"), ("[x]", "[x", "1:3"), ("1\n", "[1,\n", "2:8")):
        (said,) = plan_edit(view, session, "a.toml", [Replacement(old, new)]).notes
        assert said.startswith(f"a.toml:{place}: it is not TOML any more: ") and "(at" not in said
    assert not plan_edit(view, session, "a.toml", [Replacement("1", "2")]).notes
    assert not plan_edit(view, session, "b.toml", [Replacement("x", "y")]).notes
    assert "not TOML: " in plan_write(view, session, "c.toml", "[").notes[0]


def test_what_is_nested_too_deeply_for_python_is_said_so() -> None:
    view, session = workspace({"m.py": "x = 1\n", "a.json": "[]"})
    deep = Replacement("1", "-" * 50_000 + "1")
    refusal = error_of(lambda: plan_edit(view, session, "m.py", [deep]))
    assert refusal.kind == "syntax" and "too deeply nested for Python" in refusal.message
    notes = plan_edit(view, session, "a.json", [Replacement("[]", "[" * 100_000)]).notes
    assert "too deeply nested for JSON" in notes[0]


# Writing


def write(data: bytes | str | None, content: str, **options: bool) -> Plan:
    view, session = workspace({} if data is None else {"f": data})
    return plan_write(view, session, "f", content, **options)


def test_a_new_file_is_as_given() -> None:
    plan = write(None, "a\r\nb")
    assert plan.files[0].action == "created"
    assert plan.change.creations[0].text == "a\r\nb"


def test_a_file_that_is_there_keeps_its_manners() -> None:
    assert (
        after(write(b"\xef\xbb\xbfa\r\nb\nc\r\n", "a\nB\nc\nd\n"), "f") == b"\xef\xbb\xbfa\r\nB\nc\r\nd\r\n"
    )
    assert after(write("é\n".encode("utf-16"), "ö\n"), "f") == "ö\n".encode("utf-16")
    assert write("a\r\n", "a\n").files[0].action == "unchanged"
    assert not write("a\r\n", "a\n").change


def test_very_many_places_take_no_more_than_their_number() -> None:
    """Each place is looked at once; the whole text is not counted again for each of them."""
    from lsptools.edit import splice

    n_counted = 0
    count = splice.Styles.__init__

    def counted(self: splice.Styles, text: str) -> None:
        nonlocal n_counted
        n_counted += 1
        count(self, text)

    text = "a text\n" * 2_000
    view, session = workspace({"f": text})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splice.Styles, "__init__", counted)
        plan = plan_edit(view, session, "f", [Replacement("text", "TEXT", replace_all=True)])
    assert after(plan, "f").decode() == text.replace("text", "TEXT")
    assert n_counted < 10


def test_what_is_not_overwritten() -> None:
    view = snapshot(memory({"f": "a", "d/x": "", "b": "\0"}))
    assert error_of(lambda: plan_write(view, Session(), "f", "a")).kind == "unread"
    assert error_of(lambda: plan_write(view, Session(), "d", "a")).kind == "is_directory"
    assert error_of(lambda: plan_write(view, Session(), "new/", "a")).kind == "is_directory"
    assert error_of(lambda: plan_write(view, Session(), "b", "a")).kind == "binary"
    gone = Session(digests={"/nowhere/ws/gone": "1"})
    assert error_of(lambda: plan_write(view, gone, "gone", "a")).kind == "stale"


def test_a_link_to_nothing_leads_to_the_new_file() -> None:
    view, session = workspace({"a": ""}, {"l": "sub/new"})
    plan = plan_write(view, session, "l", "x")
    assert plan.change.creations[0].path == "sub/new"


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        ("// ... existing code ...", True),
        ("# ... rest of the code unchanged ...", True),
        ("# ... (rest of the file remains the same)", True),
        ("<!-- ... rest of the content ... -->", True),
        ("/* ... other methods ... */", True),
        ("// rest of code ...", True),
        ("-- ... remaining functions unchanged", True),
        ("(rest of methods ...)", True),
        ("# … unchanged …", True),
        ("# wait for the rest of the code to load...", False),
        ("print('loading ...')", False),
        ("def f(*args): ...", False),
        ("...", False),
        ("# TODO: handle the rest", False),
        ("// rest of the code", False),
        ("x[..., 0]", False),
        ("The rest of the story...", False),
        ("{...rest}", False),
        ("...rest,", False),
        ("const [first, ...others] = all;", False),
        ("f(...remaining);", False),
        ("...rest...", True),
        ("// ...rest", True),
        ("# rest unchanged", True),
        ("# rest of the code unchanged", True),
        ("# [rest of file unchanged]", True),
        ("# (remaining code omitted for brevity)", True),
        ("# The rest of the file remains the same.", True),
        ("// existing code", True),
        ("<!-- other sections unchanged -->", True),
        ("# existing code paths are tested here", False),
        ("# the rest is history", False),
        ("# other imports", False),
        ("rest unchanged", False),
        ("# keep the rest of the list", False),
        ("# remaining lines", False),
    ],
)
def test_lines_that_stand_for_others(line: str, is_one: bool) -> None:
    assert is_placeholder(line) == is_one


def test_omissions_are_refused_unless_they_are_the_files_own() -> None:
    line = "# ... rest of the code unchanged ...\n"
    assert error_of(lambda: write("a\nb\n", f"a\n{line}")).kind == "invalid"
    assert error_of(lambda: write(None, line)).kind == "invalid"
    assert error_of(lambda: edit("a\n", ("a", f"b\n{line}"))).kind == "invalid"
    assert after(write(f"a\n{line}", f"b\n{line}"), "f") == f"b\n{line}".encode()
    assert after(write("a\n", line, allow_omissions=True), "f") == line.encode()


# Lines


@pytest.mark.parametrize(
    ("data", "edits", "wanted"),
    [
        ("1\n2\n3\n", [(2, 2, "two")], "1\ntwo\n3\n"),
        ("1\r\n2\r\n3", [(2, 3, "two\n2.5\n")], "1\r\ntwo\r\n2.5"),
        ("1\n2\n3\n", [(2, 3, "")], "1\n"),
        ("1\n2\n3", [(3, 3, "")], "1\n2\n"),
        ("1\n2\n", [(1, 0, "0")], "0\n1\n2\n"),
        ("1\n2\n", [(3, 2, "3")], "1\n2\n3\n"),
        ("1\n2", [(3, 2, "3\n")], "1\n2\n3"),
        ("", [(1, 0, "1")], "1\n"),
        ("1\n2\n3\n4\n", [(4, 4, "four"), (1, 2, "one\ntwo"), (3, 2, "2.5")], "one\ntwo\n2.5\n3\nfour\n"),
        ("a\n\fb\nc\n", [(2, 2, "B")], "a\nB\nc\n"),
        ("a\rb\rc", [(2, 2, "B")], "a\rB\rc"),
        # Lines that stay keep their line ends.
        ("a\r\nb\nc\r\n", [(1, 2, "a\nb\nz")], "a\r\nb\nz\r\nc\r\n"),
        ("q\r\na\r\nb\nc\r\n", [(2, 3, "a")], "q\r\na\r\nc\r\n"),
        ("a\r\nb\nc", [(1, 3, "a\nb\nc\nd")], "a\r\nb\nc\r\nd"),
        ("a\nb\r\nc\nd\n", [(1, 3, "z\nb\nc")], "z\nb\r\nc\nd\n"),
        ("a\rb\nc\n", [(1, 1, "a\nz")], "a\rz\nb\nc\n"),
        # The last line changes, and something is put behind it.
        ("a\nb\nc", [(3, 3, ""), (4, 3, "Z")], "a\nb\nZ"),
        ("a\nb\nc", [(3, 3, "C"), (4, 3, "Z\n")], "a\nb\nC\nZ"),
        ("a\r\nb\r\n", [(2, 2, ""), (3, 2, "Z")], "a\r\nZ\r\n"),
        ("a\nb\n", [(1, 2, ""), (3, 2, "Z\n")], "Z\n"),
        ("a\nb", [(2, 2, "B\n"), (3, 2, "\n")], "a\nB\n"),
    ],
)
def test_lines(data: str, edits: list[tuple[int, int, str]], wanted: str) -> None:
    view, session = workspace({"f": data})
    assert after(plan_lines(view, session, "f", [LineEdit(*each) for each in edits]), "f").decode() == wanted


@pytest.mark.parametrize(
    ("edits", "kind"),
    [
        ([], "invalid"),
        ([(0, 1, "x")], "invalid"),
        ([(2, 4, "x")], "invalid"),
        ([(3, 1, "x")], "invalid"),
        ([(5, 4, "x")], "invalid"),
        ([(1, 2, "x"), (2, 3, "y")], "overlap"),
        ([(2, 1, "x"), (2, 1, "y")], "overlap"),
        ([(1, 1, "1")], "no_change"),
    ],
)
def test_lines_that_are_refused(edits: list[tuple[int, int, str]], kind: str) -> None:
    view, session = workspace({"f": "1\n2\n3\n"})
    assert error_of(lambda: plan_lines(view, session, "f", [LineEdit(*each) for each in edits])).kind == kind
