"""The `.case` format: what a case says, how bytes are said, what is rejected, what is rewritten."""

import tempfile
from pathlib import Path

import casefile
import casetree
import pytest
from casefile import parse
from casetree import CaseError, File, Folder, Form, Link, Tree
from hypothesis import given
from hypothesis import strategies as st

IMPORTERS = """\
Importers follow a renamed function; a string with the same letters does not.

$ rename @cursor fetch
-- net.py --
def get<|>(url):
    return url
-- main.py crlf --
from net import get
print(get("get"))
-- => net.py --
def fetch(url):
    return url
-- => main.py --
from net import fetch
print(fetch("get"))
"""


def check_tree(text: str, expected: Tree) -> None:
    assert casefile.before(parse(f"Prose.\n\n$ outline\n{text}")) == expected


def test_a_case_says_prose_steps_files_and_expectations() -> None:
    case = parse(IMPORTERS)
    assert case.prose == "Importers follow a renamed function; a string with the same letters does not."
    assert casefile.arguments(case, case.steps[0]) == ["rename", "net.py:1:8", "fetch"]
    assert casefile.before(case)["main.py"] == File(b'from net import get\r\nprint(get("get"))\r\n')
    (wanted,) = casefile.wanted(case)
    assert wanted.tree == {
        "net.py": File(b"def fetch(url):\n    return url\n"),
        "main.py": File(b'from net import fetch\r\nprint(fetch("get"))\r\n'),
    }
    assert case.text == IMPORTERS


def test_several_steps_settings_and_named_markers() -> None:
    case = parse(
        "A sentence.\nAnd: a second one.\n\nfaces: cli api\nneeds: inference of a value\n\n"
        "$ rename @f g\n$ undo\n$ search @@home -- @span\n-- a.py bom --\nx\n\u00e9 <|f|>f <|span:xy|>z\n"
    )
    assert case.prose == "A sentence.\nAnd: a second one."
    assert case.settings == {"faces": "cli api", "needs": "inference of a value"}
    assert [casefile.arguments(case, step) for step in case.steps] == [
        ["rename", "a.py:2:3", "g"],
        ["undo"],
        ["search", "@home", "--", "a.py:2:5"],
    ]
    span = casefile.marks(case)["span"]
    assert (span.start, span.end) == (6, 8)
    assert casefile.before(case)["a.py"] == File("\ufeffx\n\u00e9 f xyz\n".encode())


def test_a_case_without_expectations_wants_nothing_changed() -> None:
    case = parse("Prose.\n\n$ outline\n-- a/b.py --\nx\n")
    assert [wanted.tree for wanted in casefile.wanted(case)] == [casefile.before(case)]


def test_flags_say_bytes_modes_links_and_folders() -> None:
    check_tree("-- a.py crlf no-eol --\nx\ny\n", {"a.py": File(b"x\r\ny")})
    check_tree("-- a.py cr mode=755 --\nx\n", {"a.py": File(b"x\r", 0o755)})
    check_tree("-- 'my a.py' latin-1 --\n\u00e9\n", {"my a.py": File(b"\xe9\n")})
    check_tree("-- a.py utf-16 --\nx\n", {"a.py": File(b"\xff\xfex\0\n\0")})
    check_tree("-- a.py utf-16-be bom --\nx\n", {"a.py": File(b"\xfe\xff\0x\0\n")})
    check_tree("-- a.py hex --\n00 ff\n0a\n", {"a.py": File(b"\0\xff\n")})
    check_tree("-- a.py base64 --\nAP8K\n", {"a.py": File(b"\0\xff\n")})
    check_tree("-- a.py escaped --\na\\r\\x2d\\\\\\udcff\n", {"a.py": File(b"a\r-\\\xff\n")})
    check_tree("-- b/l symlink=../a --\n", {"b": Folder(), "b/l": Link("../a")})
    check_tree("-- b empty folder --\n", {"b": Folder()})
    check_tree("-- a.py --\n-- b.py --\n\n", {"a.py": File(b""), "b.py": File(b"\n")})


def test_a_marker_in_a_file_with_escapes_or_crlf_counts_decoded_characters() -> None:
    case = parse("Prose.\n\n$ x @cursor\n-- a.py crlf escaped --\na\\rb\nc\\x41<|>\n")
    mark = casefile.marks(case)["cursor"]
    assert (mark.start, mark.place) == (7, "a.py:3:3")


def test_markers_can_look_otherwise_or_be_absent() -> None:
    case = parse("Prose.\n\nmarker: [[ ]]\n\n$ x @cursor @a\n-- a.ml --\nf <|> [[]]g [[a:b]]\n")
    assert casefile.arguments(case, case.steps[0]) == ["x", "a.ml:1:7", "a.ml:1:9"]
    assert casefile.before(case)["a.ml"] == File(b"f <|> g b\n")
    check_tree("-- a --\n", {"a": File(b"")})
    none = parse("Prose.\n\nmarker: none\n\n$ x\n-- a --\n<|>\n")
    assert casefile.before(none)["a"] == File(b"<|>\n")


def test_files_go_and_folders_go_with_them() -> None:
    case = parse(
        "Prose.\n\n$ x\n-- p/q/a.py crlf --\n-- p/b.py --\n-- l symlink=p --\n-- e empty folder --\n"
        "-- => gone p --\n-- => r/a.py crlf --\nx\n"
    )
    (wanted,) = casefile.wanted(case)
    assert wanted.tree == {"l": Link("p"), "e": Folder(), "r": Folder(), "r/a.py": File(b"x\r\n")}


def test_alternatives_are_complete_sets() -> None:
    case = parse(
        "Prose.\n\n$ x\n-- a --\n-- b --\n-- => a --\n1\n-- => 2: b plain --\n2\n-- => 2: possible --\nb:1:1\n"
        "-- => 3: error --\nrefused: undecided\n"
    )
    first, second, third = casefile.wanted(case)
    assert first.tree == {"a": File(b"1\n"), "b": File(b"")}
    assert second.tree == {"a": File(b""), "b": File(b"2\n")}
    assert (first.possible, second.possible) == (None, ("b:1:1",))
    assert (third.tree, third.error) == (casefile.before(case), "refused: undecided\n")


def test_a_diff_alone_says_everything() -> None:
    case = parse("Prose.\n\n$ x\n-- a --\n-- => diff --\n--- a/a\n")
    assert [(wanted.tree, wanted.diff) for wanted in casefile.wanted(case)] == [(None, "--- a/a\n")]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Prose.\n-- a --\n", "at least one step"),
        ("$ x\n-- a --\n", "begins with a sentence"),
        ("Prose.\n\n$ x @here\n-- a --\n", "@here is no marker"),
        ("Prose.\n\n$ x\n-- a --\n<|>\n-- b --\n<|>\n", "'cursor' stands in a:1:1 and in b:1:1"),
        ("Prose.\n\n$ x\n-- a --\n-- ./a --\n", "given twice"),
        ("Prose.\n\n$ x\n-- a crfl --\n", "unknown flag 'crfl'"),
        ("Prose.\n\n$ x\n-- a latin-1 bom --\n", "no byte order mark"),
        ("Prose.\n\n$ x\n-- ../a --\n", "no path inside"),
        ("Prose.\n\n$ x\n-- a --\nx", "no line end"),
        ("Prose.\n\n$ x\n-- => gone a --\n", "names no file"),
        ("Prose.\n\n$ x\n-- a --\n-- => a --\n-- => a crlf --\n", "expected twice"),
        ("Prose.\n\n$ x\n-- a symlink=b --\nx\n", "holds no text"),
        ("Prose.\n\nneed: inference\nrows: a\n\n$ x\n", "unknown one"),
        ("Prose.\n\nneeds: inference\n\n$ x\n", "and a reason"),
        ("Prose.\n\nexpected: refused\n\n$ x\n", "FIXME"),
    ],
)
def test_a_wrong_case_file_is_an_error(text: str, says: str) -> None:
    with pytest.raises(CaseError, match=says):
        parse(text)


def check_bytes(data: bytes, mode: int = 0o644) -> None:
    form, body = casetree.form_of(data, mode=mode)
    assert form.entry(body) == File(data, mode)
    section = casefile.file_section("a b.py", File(data, mode))
    assert casefile.before(parse("Prose.\n\n$ x\n" + section.text)) == {"a b.py": File(data, mode)}


LINES = st.sampled_from(
    [
        "\n",
        "\r\n",
        "\r",
        "-- x --",
        "x",
        "\\",
        "<|>",
        "<|a:b|>",
        "\f",
        "\x85",
        "\u2028",
        "\ufeff",
        "\U0001f600",
        "\udcff",
        "\udc00",
    ]
)


@given(st.binary(max_size=60))
def test_any_bytes_can_be_said(data: bytes) -> None:
    check_bytes(data)


@given(
    st.lists(LINES, max_size=12).map("".join), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32-be"])
)
def test_any_text_can_be_said(text: str, encoding: str) -> None:
    check_bytes(text.encode(encoding, "surrogatepass"), 0o600)


@pytest.mark.parametrize(
    ("data", "flags"),
    [
        (b"", ""),
        (b"x = 1\n", ""),
        (b"x", " no-eol"),
        (b"x\r\ny\r\n", " crlf"),
        (b"x\ry", " cr no-eol"),
        (b"x\r\ny\n", " escaped"),
        (b"x\n\fy\n", " escaped"),
        (b"\xef\xbb\xbfx\n", " bom"),
        (b"# coding: latin-1\nx = '\xe9'\n", " latin-1"),
        ("x = '\u00e9'\n".encode(), ""),
        (b"x = '\xe9'\n", " escaped"),
        (b"-- a --\n", " escaped"),
        ("a\n".encode("utf-16-le"), " no-eol escaped"),
        (b"\xff\xfea\0\n\0", " utf-16-le bom"),
    ],
)
def test_bytes_are_said_in_the_most_readable_form(data: bytes, flags: str) -> None:
    assert casetree.form_of(data)[0].flags() == flags


@given(st.dictionaries(st.sampled_from(["a", "b/c", "b/d e"]), st.binary(max_size=9), min_size=1))
def test_a_tree_on_disk_is_read_as_it_was_written(files: dict[str, bytes]) -> None:
    tree = casetree.with_folders({name: File(data, 0o640) for name, data in files.items()} | {"l": Link("b")})
    with tempfile.TemporaryDirectory() as folder:
        casetree.write_tree(Path(folder), tree)
        assert casetree.read_tree(Path(folder)) == tree


def check_rewritten(
    old: str, after: Tree, new: str, *, error: str | None = None, possible: tuple[str, ...] = ()
) -> None:
    head = "Prose.\n\n$ x\n"
    case = casefile.with_expectations(
        parse(head + old), after, error=error, brief_error="no: k\n", out="said\n", possible=possible
    )
    assert case.text == head + new


def test_expectations_are_rewritten_in_place() -> None:
    inputs = "-- a crlf --\n<|>x\n-- b mode=755 --\ny\n"
    files = casefile.before(parse("Prose.\n\n$ x\n" + inputs))
    # A missing expectation is added, in the form of the input.
    check_rewritten(inputs, files | {"a": File(b"z\r\n")}, inputs + "-- => a --\nz\n")
    # A changed one keeps its place; one that no longer applies goes; output and places only where asked for.
    check_rewritten(
        inputs + "-- => b --\nold\n-- => out --\n-- => a --\nold\n-- => possible --\n",
        files | {"a": File(b"z\n")},
        inputs + "-- => out --\nsaid\n-- => a plain --\nz\n-- => possible --\nb:1:1\n",
        possible=("b:1:1",),
    )
    # Moves are a file that is gone and a new one.
    moved = {"b": files["b"], "c": Folder(), "c/a": files["a"]}
    check_rewritten(inputs, moved, inputs + "-- => gone a --\n-- => c/a crlf --\nx\n")
    # A refusal is added whole, and kept brief where it was brief.
    check_rewritten(inputs, files, inputs + "-- => error --\nno: k\nwhy\n", error="no: k\nwhy\n")
    check_rewritten(
        inputs + "-- => error --\nno: other\n",
        files,
        inputs + "-- => error --\nno: k\n",
        error="no: k\nwhy\n",
    )
    # Where a diff is asked for, it is the only thing said about files; other sets stay.
    check_rewritten(
        inputs + "-- => diff --\n-- => 2: gone b --\n",
        files | {"a": File(b"x\r\nz\r\n")},
        inputs + "-- => diff --\n--- a/a\n+++ b/a\n@@ -1,0 +2 @@\n+z\n-- => 2: gone b --\n",
    )


def test_a_diff_shows_line_ends_modes_and_a_missing_last_line_end() -> None:
    old: Tree = {"a": File(b"x\r\ny\r\n"), "b": File(b"x\n"), "c": File(b"1\n"), "d": Link("a")}
    new: Tree = {"a": File(b"x\ny\n", 0o755), "b": File(b"x"), "e": File(b"1\n"), "d": Link("b")}
    assert casetree.diff_of(old, old) == ""
    assert casetree.diff_of(old, new) == (
        "flags a: crlf => mode=755\n"
        "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n+x\n\\ No newline at end of file\n"
        "--- a/c\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"
        "--- /dev/null\n+++ b/e\n@@ -0,0 +1 @@\n+1\n"
    )


def test_a_form_is_written_as_its_flags() -> None:
    form = Form(newline="\r\n", encoding="utf-16-le", bom=True, no_eol=True, escaped=True, mode=0o755)
    assert form.flags() == " crlf utf-16-le bom no-eol escaped mode=755"
    assert casetree.form_from_flags(form.flags().split()) == form
