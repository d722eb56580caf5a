"""Differences lead from one text to the other: by our edits, by a reader of diffs written here, by git and by patch."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lsptools.text.diff import edits_between, unified_diff
from lsptools.text.lines import Lines

lines = st.sampled_from(
    ["a\n", "b\n", "\n", "a b\n", "a c\n", "  a b\n", "a\r\n", "b\r", "\f", "é\u2028\n", "\udcff\n"]
)
last_lines = st.sampled_from(["", "", "a", "b\r", "c"])
texts = st.builds(lambda body, last: "".join(body) + last, st.lists(lines, max_size=25), last_lines)
pairs = st.tuples(texts, texts)


@st.composite
def neighbours(draw: st.DrawFn) -> tuple[str, str]:
    """A text of many lines, and the same with a few of them changed, put in, taken out."""
    old = [f"line {n % 17} of {n}\n" if n % 3 else "\n" for n in range(draw(st.integers(0, 60)))]
    new = list(old)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(new)))
        new[at : at + draw(st.integers(0, 3))] = draw(st.lists(lines, max_size=3))
    return "".join(old) + draw(last_lines), "".join(new) + draw(last_lines)


def is_inside(text: str, at: int) -> bool:
    """Of a word or a `\\r\\n`."""
    return at > 0 and re.match(r"\w\w|\r\n", text[at - 1 : at + 1]) is not None


@given(pairs | neighbours() | st.tuples(st.text("a_ é\r\n", max_size=30), st.text("a_ é\r\n", max_size=30)))
@example(("", ""))
@example(("a\r\nb", "a\nb"))
@example(("a\r", "a\r\n"))
@example(("\n", "\r\n"))
@example(("aa", "aaa"))
def test_edits_lead_from_old_to_new(pair: tuple[str, str]) -> None:
    old, new = pair
    edits = edits_between(old, new)
    assert edits.apply(old) == new
    assert bool(edits) is (old != new)
    for edit in edits:
        assert edit.new_text != old[edit.span.start : edit.span.end]
        for border in (edit.span.start, edit.span.end):
            assert not is_inside(old, border)
            # So an editor can be told of it.
            assert Lines(old).offset_from_lsp(Lines(old).lsp_from_offset(border)) == border
    for edit in edits.inverse(old):
        assert not is_inside(new, edit.span.start)
        assert not is_inside(new, edit.span.end)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("x = get(1)\n", "x = fetch(1)\n", [("get", "fetch")]),
        ("foo", "foobar", [("foo", "foobar")]),
        ("foobar", "foo", [("foobar", "foo")]),
        ("foobar", "bar", [("foobar", "bar")]),
        ("a, b\n", "c, d\n", [("a", "c"), ("b", "d")]),
        ("one\ntwo\nthree\n", "one\nthree\n", [("two\n", "")]),
        ("one\nthree\n", "one\ntwo\nthree\n", [("", "two\n")]),
        ("a\r\nb\r\n", "a\nb\n", [("\r\n", "\n"), ("\r\n", "\n")]),
        ("a", "a\n", [("", "\n")]),
        ("x\n" * 9, "x\n" * 8, [("x\n", "")]),
        ("f(“a”, 1)\n", "f(“a”, 2)\n", [("1", "2")]),
    ],
)
def test_edits_are_small_and_of_whole_words(old: str, new: str, expected: list[tuple[str, str]]) -> None:
    edits = edits_between(old, new)
    assert [(old[edit.span.start : edit.span.end], edit.new_text) for edit in edits] == expected


def patched(old: str, diff: str) -> str:
    """What a strict reader makes of a diff: no context may differ, no number be wrong."""
    header = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n")
    old_lines = re.findall(r"[^\n]*\n|[^\n]+", old)
    diff_lines = re.findall(r"[^\n]*\n", diff)
    assert "".join(diff_lines) == diff
    if not diff_lines:
        return old
    assert diff_lines[0].startswith("--- ")
    assert diff_lines[1].startswith("+++ ")
    result: list[str] = []
    at, index = 0, 2
    while index < len(diff_lines):
        found = header.fullmatch(diff_lines[index])
        assert found, diff_lines[index]
        old_start, n_old, new_start, n_new = (int(part) if part else 1 for part in found.groups())
        first = old_start - 1 if n_old else old_start
        assert first >= at
        result += old_lines[at:first]
        at = first
        assert len(result) == (new_start - 1 if n_new else new_start)
        index += 1
        while index < len(diff_lines) and not diff_lines[index].startswith("@@"):
            mark, line = diff_lines[index][0], diff_lines[index][1:]
            index += 1
            if index < len(diff_lines) and diff_lines[index].startswith("\\"):
                assert diff_lines[index] == "\\ No newline at end of file\n"
                line, index = line[:-1], index + 1
            if mark in " -":
                assert old_lines[at] == line
                at, n_old = at + 1, n_old - 1
            if mark in " +":
                result.append(line)
                n_new -= 1
        assert (n_old, n_new) == (0, 0)
    return "".join(result + old_lines[at:])


@given(pairs | neighbours(), st.integers(0, 4))
@example(("a", "a\n"), 3)
@example(("", "a"), 3)
@example(("a\rb\n", "a\rc\n"), 3)
@example(("a\rb", "a\rb\r"), 3)
def test_a_strict_reader_of_the_diff_arrives_at_the_new_text(pair: tuple[str, str], context: int) -> None:
    old, new = pair
    diff = unified_diff(old, new, old_path="x", new_path="x", context=context)
    assert patched(old, diff) == new
    assert bool(diff) is (old != new)


HERMETIC = {
    "PATH": os.environ.get("PATH", ""),
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CEILING_DIRECTORIES": "/",
    "LC_ALL": "C",
}
GIT = ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-"]
PATCH = ["patch", "--binary", "--batch", "--fuzz=0", "--strip=1", "--silent"]


def check_applied(command: list[str], folder: Path, files: dict[str, tuple[str, str]]) -> None:
    """One diff of many files, applied by another program."""
    diff = ""
    for path, (old, new) in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(old.encode("utf-8", "surrogateescape"))
        diff += unified_diff(old, new, old_path=path, new_path=path)
    if diff:
        data = diff.encode("utf-8", "surrogateescape")
        done = subprocess.run(command, cwd=folder, input=data, env=HERMETIC, capture_output=True, check=False)
        assert done.returncode == 0, (done.stderr, diff)
    for path, (_, new) in files.items():
        assert (folder / path).read_bytes() == new.encode("utf-8", "surrogateescape"), path


def others() -> list[object]:
    return [
        pytest.param(
            command,
            id=command[0],
            marks=pytest.mark.skipif(
                shutil.which(command[0]) is None, reason=f"{command[0]} is not installed"
            ),
        )
        for command in (GIT, PATCH)
    ]


@pytest.mark.parametrize("command", others())
def test_other_programs_take_our_diffs(command: list[str], tmp_path: Path) -> None:
    contents = pairs | neighbours()
    folders = iter(range(10**9))

    @settings(max_examples=max(5, settings().max_examples // 20))
    @given(st.lists(contents, min_size=10, max_size=40))
    def check(some: list[tuple[str, str]]) -> None:
        folder = tmp_path / str(next(folders))
        folder.mkdir()
        check_applied(command, folder, {f"f{n}": pair for n, pair in enumerate(some)})
        shutil.rmtree(folder)

    check()


AWKWARD_NAMES = [
    "plain.py",
    "with blank.py",
    "été.py",
    'quo"te.py',
    "back\\slash.py",
    "tab\t.py",
    "new\nline.py",
    "a/b/c.py",
]


@pytest.mark.skipif(os.name == "nt", reason="these are no file names on Windows")
@pytest.mark.parametrize("command", others())
@pytest.mark.parametrize("name", AWKWARD_NAMES)
def test_other_programs_find_the_file(command: list[str], name: str, tmp_path: Path) -> None:
    check_applied(command, tmp_path, {name: ("a\n", "b\n")})


@pytest.mark.parametrize("command", others())
def test_creation_and_deletion(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "gone").write_bytes(b"a\n")
    diff = unified_diff("", "b", old_path="/dev/null", new_path="made") + unified_diff(
        "a\n", "", old_path="gone", new_path="/dev/null"
    )
    subprocess.run(command, cwd=tmp_path, input=diff.encode(), env=HERMETIC, check=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made"]
    assert (tmp_path / "made").read_bytes() == b"b"


def test_a_diff_as_people_see_it() -> None:
    old = "import os\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return f()\n"
    new = "import os\n\n\ndef f():\n    return 1\n\n\ndef h():\n    return 3\n\n\ndef g():\n    return f() + h()"
    assert unified_diff(old, new, old_path="a.py", new_path="b c.py", context=1) == (
        "--- a/a.py\n"
        "+++ b/b c.py\t\n"
        "@@ -7,3 +7,7 @@\n"
        " \n"
        "+def h():\n"
        "+    return 3\n"
        "+\n"
        "+\n"
        " def g():\n"
        "-    return f()\n"
        "+    return f() + h()\n"
        "\\ No newline at end of file\n"
    )


@pytest.mark.parametrize(("n_between", "n_hunks"), [(3, 1), (4, 1), (5, 2)])
def test_hunks_whose_context_meets_are_one(n_between: int, n_hunks: int) -> None:
    between = "".join(f"{n}\n" for n in range(n_between))
    diff = unified_diff(f"a\n{between}a\n", f"b\n{between}b\n", old_path="x", new_path="x", context=2)
    assert diff.count("@@ -") == n_hunks


def random_lines(seed: int, choices: list[str], n: int) -> str:
    return "".join(random.Random(seed).choices(choices, k=n))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # What takes difflib, or Myers without a budget, minutes to hours.
        pytest.param("a\nb\n" * 20_000, "b\na\n" * 20_000, id="two lines in turn"),
        pytest.param(
            random_lines(1, ["x\n"] * 9 + ["y\n"], 60_000),
            random_lines(2, ["x\n"] * 9 + ["y\n"], 60_000),
            id="few",
        ),
        pytest.param("a b c " * 40_000, "a b d " * 40_000, id="one line"),
        pytest.param("a" * 1_000_000, "a" * 500_000 + "b" + "a" * 500_000, id="one word"),
        pytest.param(
            "".join(f"{n} a\n" for n in range(30_000)), "".join(f"{n} b\n" for n in range(30_000)), id="all"
        ),
        pytest.param(
            "".join(f"{n}\n}}\n" for n in range(10_000)),
            "".join(f"-{n}\n}}\n" for n in range(10_000)),
            id="braces",
        ),
    ],
)
def test_large_texts_take_a_moment(old: str, new: str) -> None:
    assert edits_between(old, new).apply(old) == new
    assert patched(old, unified_diff(old, new, old_path="x", new_path="x")) == new


def test_one_change_in_a_large_text_is_one_small_edit() -> None:
    old = "".join(f"line {n}\n" for n in range(100_000))
    (edit,) = edits_between(old, old.replace("line 50000\n", "LINE 50000\n"))
    assert edit.new_text == "LINE"
