"""Search in the workspace: what is found, what is reported as skipped, and that Python says what ripgrep says.

ripgrep is the witness for the search in Python, on generated trees and contents; the examples say what both are to answer.
"""

import errno
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lsptools.errors import BadRequest, ToolError, Unavailable
from lsptools.workspace.globs import is_wanted
from lsptools.workspace.operations import MemoryOperations
from lsptools.workspace.paths import Root
from lsptools.workspace.ripgrep import Case, Query, Rg, Skipped, Why, find_executable

RIPGREP = Rg.find(None, None)
PYTHON = Rg(None)


@pytest.fixture(params=[RIPGREP, PYTHON], ids=["ripgrep", "python"])
def search(request: pytest.FixtureRequest) -> Rg:
    chosen: Rg = request.param
    return chosen


Content = str | bytes


def root_with(folder: Path, files: Mapping[str, Content] | str) -> Root:
    """The files in a folder; given as one text, they are named in it, and each has the word `foo`."""
    contents = dict.fromkeys(files.split(), "foo\n") if isinstance(files, str) else files
    for path, content in contents.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return Root.of(folder)


def test_there_is_a_ripgrep_to_compare_with() -> None:
    assert RIPGREP.executable is not None
    assert RIPGREP.explain.startswith("searching with ripgrep ")


# Which files


IGNORE_RULES = [
    # ignore files, files that are there, files that are searched (ignore files themselves left away)
    ({".gitignore": "*.log\n!keep.log\n"}, "a.log keep.log b/c.log b/keep.log a", "a b/keep.log keep.log"),
    ({".gitignore": "/a\n"}, "a b/a", "b/a"),
    ({".gitignore": "b/a\n"}, "b/a c/b/a", "c/b/a"),
    ({".gitignore": "a/\n"}, "a/x b/a c/a/x", "b/a"),
    ({".gitignore": "a/**/z\n"}, "a/z a/b/z a/b/c/z z b/a/z", "b/a/z z"),
    ({".gitignore": "**/a\nx/**\n"}, "a b/a b/c/a x/y z", "z"),
    ({".gitignore": "x/**\n!x/y\n"}, "x/y x/z", "x/y"),
    ({".gitignore": "x\n!x/y\n"}, "x/y x/z a", "a"),
    ({".gitignore": "\\!a\n\\#b\n#c\n"}, "!a #b c", "c"),
    ({".gitignore": "a\\*\n[bc]?\n[!d]z\n"}, "a* aa bx cx dz ez", "aa dz"),
    ({".gitignore": "{a,b}.py\nc{\n"}, "a.py b.py c.py c{", "c.py c{"),
    ({".gitignore": "a  \r\nb\r\n\n   \n"}, "a b c", "c"),
    ({".gitignore": "a", "d/.gitignore": "!a\nb\n"}, "a b d/a d/b d/e/b", "b d/a"),
    ({".gitignore": "a\n", ".ignore": "!a\n", ".rgignore": ""}, "a b", "a b"),
    ({".gitignore": "!a\n", "d/.gitignore": "!a\n", ".ignore": "a\n"}, "a d/a b", "b"),
    ({".ignore": "!a\n", ".rgignore": "a\n"}, "a b", "b"),
    ({".gitignore": "é?\n"}, "éa éé e", "e éé"),  # `?` is one byte
    ({".gitignore": b"a\n\xff\nb\n"}, "a b", "b"),  # what is not UTF-8 ends the file
    ({".gitignore": "\ufeffa\n"}, "a b", "b"),
    ({".gitignore": "[a\n"}, "[a a", "a"),
]


@pytest.mark.parametrize(("rules", "there", "searched"), IGNORE_RULES)
def test_ignore_rules(
    tmp_path: Path, search: Rg, rules: Mapping[str, Content], there: str, searched: str
) -> None:
    root_with(tmp_path, rules)
    root = root_with(tmp_path, there)
    found = [
        path
        for path in search.files(root)
        if path.rpartition("/")[2] not in (".gitignore", ".ignore", ".rgignore")
    ]
    assert found == sorted(searched.split())
    assert list(search.files_with(root, ["foo"]).files) == found


def test_only_the_workspaces_own_ignore_files_count(
    tmp_path: Path, search: Rg, monkeypatch: pytest.MonkeyPatch
) -> None:
    root_with(
        tmp_path,
        {
            ".gitignore": "above.py\n",
            "home/.config/git/ignore": "global.py\n",
            "home/.gitconfig": "[core]\nexcludesFile = ~/excludes\n",
            "home/excludes": "global.py\n",
            "ripgreprc": "--glob=!configured.py\n--max-count=1\n",
        },
    )
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home/.config"))
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "ripgreprc"))
    files = "above.py global.py configured.py excluded.py .hidden.py .github/x.py .gitmodules"
    root = root_with(tmp_path / "work", files)
    root_with(
        tmp_path / "work",
        {
            ".git/info/exclude": "excluded.py\n",
            ".git/HEAD": "foo",
            ".ripgreprc": "--glob=!*.py\n",
            ".hg/x": "foo",
        },
    )
    assert search.files_with(root, ["foo"]).files == tuple(sorted(files.split()))
    assert search.search(root, Query("foo", fixed=True)).n_files == len(files.split())


def test_links_are_not_followed(tmp_path: Path, search: Rg) -> None:
    root_with(tmp_path, {"outside/secret.py": "foo"})
    root = root_with(tmp_path / "work", "a.py pkg/b.py")
    for name, target in {
        "l.py": "a.py",
        "k": "pkg",
        "out": "../outside",
        "loop": ".",
        "no": "nowhere",
    }.items():
        (root.path / name).symlink_to(target)
    assert search.files_with(root, ["foo"]).files == ("a.py", "pkg/b.py") == tuple(search.files(root))


def test_what_is_not_the_workspaces_own_is_left_out_with_a_note(tmp_path: Path, search: Rg) -> None:
    root = root_with(
        tmp_path,
        "a.py .venv/x.py sub/venv/x.py node_modules/k.js __pycache__/a.pyc sub/__pycache__/b.pyc"
        " env[1]/pyvenv.cfg env[1]/lib/x.py venv.py pyvenv.cfg deps/node_modules",
    )
    own = ("a.py", "deps/node_modules", "pyvenv.cfg", "venv.py")
    found = search.files_with(root, ["foo"])
    assert found.files == own == tuple(search.files(root))
    assert found.skipped == (
        Skipped(".venv", "left out: a virtual environment", Why.LEFT_OUT),
        Skipped("__pycache__", "left out: compiled files, like 1 more folders of this name", Why.LEFT_OUT),
        Skipped("env[1]", "left out: a virtual environment", Why.LEFT_OUT),
        Skipped("node_modules", "left out: installed packages", Why.LEFT_OUT),
        Skipped("sub/venv", "left out: a virtual environment", Why.LEFT_OUT),
    )
    assert search.search(root, Query("foo")).skipped == found.skipped
    everything = search.files_with(root, ["foo"], everywhere=True)
    assert len(everything.files) == 11
    assert everything.skipped == ()
    assert len(list(search.files(root, everywhere=True))) == 11


def test_what_is_ignored_needs_no_note(tmp_path: Path, search: Rg) -> None:
    root_with(tmp_path, {".gitignore": "node_modules\n.venv\nenv/\n"})
    root = root_with(tmp_path, "a.py node_modules/k.js .venv/x.py env/pyvenv.cfg env/x.py")
    assert search.files_with(root, ["foo"]) == replace(
        search.files_with(root, ["foo"]), files=("a.py",), skipped=()
    )


GLOBS = [
    ("*.py", "a.py src/b.py src/sub/c.py tests/d.py"),
    ("*.py *.pyi", "a.py a.pyi src/b.py src/sub/c.py tests/d.py"),
    ("src/*.py", "src/b.py"),
    ("/src/**/*.py", "src/b.py src/sub/c.py"),
    ("src/", "src/b.py src/sub/c.py src/x.txt"),
    ("!src/", "a.py a.pyi tests/d.py x.txt"),
    ("!src", "a.py a.pyi tests/d.py x.txt"),
    ("*.py !tests/ !src/sub", "a.py src/b.py"),
    ("!tests/ *.py", "a.py src/b.py src/sub/c.py"),
    ("{a,b}.py", "a.py src/b.py"),
    ("[ab].py", "a.py src/b.py"),
    ("![ab].py", "a.pyi src/sub/c.py src/x.txt tests/d.py x.txt"),
    ("nothing", ""),
    ("ignored.py", ""),
]


@pytest.mark.parametrize(("globs", "wanted"), GLOBS)
def test_globs(tmp_path: Path, search: Rg, globs: str, wanted: str) -> None:
    root_with(tmp_path, {".gitignore": "ignored.py\n.gitignore\n"})
    root = root_with(tmp_path, "a.py a.pyi src/b.py src/sub/c.py tests/d.py src/x.txt x.txt ignored.py")
    expected = tuple(wanted.split())
    assert search.files_with(root, ["foo"], globs=globs.split()).files == expected
    assert tuple(search.files(root, globs=globs.split())) == expected
    assert tuple(search.count_occurrences(root, "foo", globs=globs.split())) == expected
    hits = search.search(root, Query("foo", globs=tuple(globs.split())))
    assert tuple(line.path for line in hits.lines) == expected
    everything = ["a.py", "a.pyi", "src/b.py", "src/sub/c.py", "tests/d.py", "src/x.txt", "x.txt"]
    assert tuple(sorted(path for path in everything if is_wanted(path, globs.split()))) == expected


@pytest.mark.parametrize("glob", ["", "{a", "a}", "[b-a]", "a\\", "#a", "a\0"])
def test_what_is_no_glob(tmp_path: Path, search: Rg, glob: str) -> None:
    root = root_with(tmp_path, "")
    for ask in (
        lambda: search.files_with(root, ["foo"], globs=[glob]),
        lambda: list(search.files(root, globs=[glob])),
        lambda: Query("foo", globs=(glob,)),
    ):
        assert refusal(ask) == "invalid"


# Nothing is taken for an option


def test_odd_names_are_names(tmp_path: Path, search: Rg) -> None:
    names = [
        "-e",
        "--files",
        "-",
        "a b",
        "new\nline.py",
        "tab\t.py",
        "é.py",
        "*",
        "a\\b",
        "[x]",
        "sub/--pre=sh",
    ]
    root = root_with(tmp_path / "-x --hidden", dict.fromkeys(names, "foo"))
    name = os.fsdecode(b"bytes\xff.py")
    (root.path / name).write_text("foo")
    expected = tuple(sorted([*names, name]))
    assert search.files_with(root, ["foo"]).files == expected == tuple(search.files(root))
    assert tuple(search.count_occurrences(root, "foo")) == expected
    assert tuple(line.path for line in search.search(root, Query("foo")).lines) == expected


@pytest.mark.parametrize(
    "word", ["-e", "--files", "-foo", "--", "$(foo)", "a.b", "[x", "foo bar", "\\", "(?i)FOO", "'"]
)
def test_odd_words_are_words(tmp_path: Path, search: Rg, word: str) -> None:
    root = root_with(tmp_path, {"with.py": f" {word} \n", "without.py": "foo\naxb\nfiles\n"})
    assert search.files_with(root, [word]).files == ("with.py",)
    assert search.files_with(root, [word], whole_words=False).files == ("with.py",)
    assert search.count_occurrences(root, word) == {"with.py": 1}
    hits = search.search(root, Query(word, fixed=True))
    assert [(line.path, line.spans) for line in hits.lines] == [("with.py", ((1, 1 + len(word)),))]
    assert search.search(root, Query(word, fixed=True, word=True)).lines == hits.lines


@pytest.mark.parametrize("words", [[], [""], ["a", ""], ["a\nb"], ["a\r"], ["a\0b"], ["\ud800"]])
def test_what_is_no_word(tmp_path: Path, search: Rg, words: Sequence[str]) -> None:
    root = root_with(tmp_path, "")
    assert refusal(lambda: search.files_with(root, words)) == "invalid"
    if words:
        assert refusal(lambda: search.count_occurrences(root, words[-1])) == "invalid"


@pytest.mark.parametrize(
    ("pattern", "fixed"),
    [("", True), ("a\nb", True), ("a\\nb", False), ("\0", True), ("(a", False), ("\ud800", False)],
)
def test_what_is_no_pattern(tmp_path: Path, search: Rg, pattern: str, fixed: bool) -> None:
    root = root_with(tmp_path, "a.py")
    assert refusal(lambda: search.search(root, Query(pattern, fixed=fixed))) == "invalid"
    assert refusal(lambda: search.search_text(root, "a.py", "foo", Query(pattern, fixed=fixed))) == "invalid"


def test_one_string_is_not_a_sequence_of_words(tmp_path: Path, search: Rg) -> None:
    with pytest.raises(TypeError, match="not one string"):
        search.files_with(root_with(tmp_path, ""), "foo")
    with pytest.raises(TypeError, match="not one string"):
        search.files_with(root_with(tmp_path, ""), ["foo"], globs="*.py")


def test_thousands_of_words_are_one_search(tmp_path: Path, search: Rg) -> None:
    root = root_with(tmp_path, "a.py")
    words = [f"word_{number}_{'x' * 50}" for number in range(3000)]
    assert search.files_with(root, words).files == ()
    assert search.files_with(root, [*words, "foo"]).files == ("a.py",)


# What is in a file


WORDS = [
    # the word, the content, is it there whole, is it there at all
    ("foo", "foo", True, True),
    ("foo", "xfoo foo_ foo1", False, True),
    ("foo", "a.foo(b)", True, True),
    ("foo", "éfoo", True, True),  # more than Unicode's rules say, and no less in any encoding
    ("foo", b"\xabfoo\xbb", True, True),
    ("foo", b"# coding: latin-1\n\xe9.foo", True, True),
    *[("foo", f'"{escape}foo"', True, True) for escape in (r"\n", r"\0", r"\x1f", r"\u00e9", r"\U0001F600")],
    ("foo", r'"\nfoox" "nfoo" "\qfoo"', False, True),
    ("foo", "FOO", False, False),
    ("größe", "x.größe = 1", True, True),
    ("größe", "# coding: latin-1\ngröße = 1".encode("latin-1"), True, True),
    ("имя", "# coding: koi8-r\nимя = 1".encode("koi8-r"), True, True),
    ("名前", "# coding: shift_jis\n名前 = 1".encode("shift_jis"), True, True),
    ("größen", "größe", False, False),
    ("foo", "foo".encode("utf-16"), True, True),
    ("größe", b"\xfe\xff" + "größe".encode("utf-16-be"), True, True),
    ("foo", b"\xef\xbb\xbffoo", True, True),
    ("foo", "x" * 100_000 + " foo", True, True),
    ("foo", b"a" * 9000 + b"\0 foo", True, True),  # a NUL behind the first 8 kB does not make it binary
    ("foo", b"foo " * 5000 + b"\0", True, True),
    ("foo", "", False, False),
]


@pytest.mark.parametrize(("word", "content", "whole", "anywhere"), WORDS)
def test_words(tmp_path: Path, search: Rg, word: str, content: Content, whole: bool, anywhere: bool) -> None:
    root = root_with(tmp_path, {"a": content})
    assert bool(search.files_with(root, [word]).files) == whole
    assert bool(search.files_with(root, ["nowhere", word, word]).files) == whole
    assert bool(search.files_with(root, [word], whole_words=False).files) == anywhere


def test_occurrences_are_counted_by_unicodes_rules(tmp_path: Path, search: Rg) -> None:
    contents: dict[str, Content] = {
        "a": "foo foo.foo(foo) xfoo foo_\nfoo\r\nfoo",
        "none": "éfoo foo\u0301 \u24b6foo foo\u200d ٣foo",
        "some": "²foo (foo) foo-foo",
        "wide": "foo é foo".encode("utf-16"),
        "binary": b"\0foo",
        ".gitignore": "ignored",
        "ignored": "foo",
    }
    root = root_with(tmp_path, contents)
    assert search.count_occurrences(root, "foo") == {"a": 6, "some": 4, "wide": 2}
    assert search.count_occurrences(root, "Foo") == {}


def test_binary_files_that_match_are_reported(tmp_path: Path, search: Rg) -> None:
    binaries: dict[str, Content] = {
        "before": b"foo\n\0",
        "behind": b"\0\nfoo",
        "unmarked": "foo".encode("utf-16-le"),
    }
    root = root_with(tmp_path, binaries | {"text": "foo", "other": b"\0\0"})
    reported = tuple(Skipped(name, "binary file matches", Why.BINARY) for name in ("before", "behind"))
    found = search.files_with(root, ["foo"])
    assert (found.files, found.skipped) == (("text",), reported)
    hits = search.search(root, Query("foo", context=1))
    assert ([line.path for line in hits.lines], hits.n_files, hits.skipped) == (["text"], 1, reported)


def test_large_files_that_match_are_reported(tmp_path: Path, search: Rg) -> None:
    padding = b"x" * 79 + b"\n"
    root = root_with(
        tmp_path,
        {
            "small": "foo",
            "large": padding * 120_000 + b"foo\n",
            "-large.py": b"foo\n" + padding * 120_000,
            "large_without": padding * 120_000,
            "large_binary": b"\0" + padding * 120_000 + b"foo\n",
            "ignored": padding * 120_000 + b"foo\n",
            ".gitignore": "ignored\n",
        },
    )
    with (root.path / "huge").open("wb") as file:
        file.truncate(100 << 20)
    found = search.files_with(root, ["foo"])
    assert found.files == ("small",)
    large = "it matches, but has 9.2 MB; the limit is 8.0 MB"
    expected = [
        Skipped("-large.py", large, Why.LARGE),
        Skipped("huge", "not searched: it has 100.0 MB", Why.LARGE),
        Skipped("large", large, Why.LARGE),
        Skipped("large_binary", "binary file matches", Why.BINARY),
    ]
    assert list(found.skipped) == expected
    hits = search.search(root, Query("foo"))
    assert [line.path for line in hits.lines] == ["small"]
    assert list(hits.skipped) == expected
    assert search.count_occurrences(root, "foo") == {"small": 1}
    python_only = search.files_with(root, ["foo"], globs=["*.py"])
    assert list(python_only.skipped) == expected[:1]


def test_a_workspace_full_of_large_files_is_not_searched_for_ever(tmp_path: Path, search: Rg) -> None:
    root = root_with(tmp_path, "a.py")
    for number in range(9):
        with (root.path / f"{number}.csv").open("wb") as file:
            file.write(b"foo\n")
            file.truncate(40 << 20)
    found = search.files_with(root, ["foo"])
    assert found.files == ("a.py",)
    # The first six fit into the budget. They are binary, being mostly NUL.
    assert [skipped.why for skipped in found.skipped] == [Why.BINARY] * 6 + [Why.LARGE] * 3


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything"
)
def test_what_may_not_be_read_is_reported(tmp_path: Path, search: Rg) -> None:
    root = root_with(tmp_path, "a.py no/b.py c:%20d")
    (root.path / "no").chmod(0)
    (root.path / "c:%20d").chmod(0)
    try:
        found = search.files_with(root, ["foo"])
    finally:
        (root.path / "no").chmod(0o700)
    assert found.files == ("a.py",)
    assert found.skipped == (Skipped("c:%20d", "Permission denied"), Skipped("no", "Permission denied"))


LINES = [
    # the query, the text, the lines: number, where it starts, what it says, where it matches
    (Query("foo"), "a foo, foo\nb\nfoo", [(1, 0, "a foo, foo", [(2, 5), (7, 10)]), (3, 13, "foo", [(0, 3)])]),
    (Query("foo"), "é🐍 foo\r\nx\r\nfoo\r\n", [(1, 0, "é🐍 foo", [(3, 6)]), (3, 15, "foo", [(0, 3)])]),
    (Query("^b"), "a\rb\nb", [(1, 0, "a\rb", [(2, 3)]), (2, 4, "b", [(0, 1)])]),
    (Query("a$"), "a\r\na b\na", [(1, 0, "a", [(0, 1)]), (3, 7, "a", [(0, 1)])]),
    (Query("a.c", fixed=True), "abc a.c", [(1, 0, "abc a.c", [(4, 7)])]),
    (Query("a.c"), "abc a.c", [(1, 0, "abc a.c", [(0, 3), (4, 7)])]),
    (Query("foo", word=True), "xfoo foo éfoo foo", [(1, 0, "xfoo foo éfoo foo", [(5, 8), (14, 17)])]),
    (Query("foo", case=Case.INSENSITIVE), "FOO Foo", [(1, 0, "FOO Foo", [(0, 3), (4, 7)])]),
    (Query("foo", case=Case.SMART), "FOO foo", [(1, 0, "FOO foo", [(0, 3), (4, 7)])]),
    (Query("Foo", case=Case.SMART), "FOO Foo", [(1, 0, "FOO Foo", [(4, 7)])]),
    (Query(r"foo\S", case=Case.SMART), "FOOx", [(1, 0, "FOOx", [(0, 4)])]),
    (Query("größe", case=Case.INSENSITIVE), "GRÖßE", [(1, 0, "GRÖßE", [(0, 5)])]),
    (Query("b", context=1), "a\nb\nc\nd", [(1, 0, "a", []), (2, 2, "b", [(0, 1)]), (3, 4, "c", [])]),
    (Query("b", context=1, limit=2), "a\nb\nc\nd", [(1, 0, "a", []), (2, 2, "b", [(0, 1)])]),
    (Query("x*"), "ax", [(1, 0, "ax", [(0, 0), (1, 2)])]),
    (Query("z"), "a", []),
    (Query("a"), "", []),
]


@pytest.mark.parametrize(("query", "text", "lines"), LINES)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "in memory"])
def test_lines(
    tmp_path: Path,
    search: Rg,
    encoding: str,
    query: Query,
    text: str,
    lines: Sequence[tuple[int, int, str, list[tuple[int, int]]]],
) -> None:
    if encoding == "in memory":
        hits = search.search_text(root_with(tmp_path, ""), "a", text, query)
    else:
        hits = search.search(root_with(tmp_path, {"a": text.encode(encoding)}), query)
    assert [(line.number, line.at, line.text, list(line.spans)) for line in hits.lines] == lines
    assert hits.n_files == bool(lines)


def test_bytes_that_are_not_utf8_stay(tmp_path: Path, search: Rg) -> None:
    root = root_with(tmp_path, {"a": b"\xff\xc3 foo \xff\n"})
    (line,) = search.search(root, Query("foo")).lines
    assert (line.text, line.spans) == ("\udcff\udcc3 foo \udcff", ((3, 6),))


def test_a_limited_answer_is_the_first_lines_of_the_whole(tmp_path: Path, search: Rg) -> None:
    root = root_with(tmp_path, {f"{number:02}.py": "foo foo\nfoo\n" * 40 for number in range(30)})
    whole = search.search(root, Query("foo"))
    assert (len(whole.lines), whole.n_matches, whole.n_files, whole.is_cut) == (2400, 3600, 30, False)
    cut = search.search(root, Query("foo", limit=7))
    assert cut == replace(whole, lines=whole.lines[:7], is_cut=True)
    assert search.search(root, Query("foo", limit=2400)) == whole


def test_one_line_may_be_enough(tmp_path: Path, search: Rg) -> None:
    contents: dict[str, Content] = {f"{number}.py": "x\nfoo\n" * 2000 for number in range(200)}
    root = root_with(tmp_path, contents | {"binary.py": b"\0foo", ".venv/only.py": "bar"})
    line = search.begin_some_line(root, Query("fo+", context=3, globs=("*.py",))).result()
    assert line is not None
    assert (line.number, line.text, line.spans) == (2, "foo", ((0, 3),))
    assert search.begin_some_line(root, Query("foo", globs=("binary.py",))).result() is None
    assert search.begin_some_line(root, Query("bar")).result() is None
    assert search.begin_some_line(root, Query("bar"), everywhere=True).result() is not None


def test_files_that_others_lay_over_do_not_count(tmp_path: Path, search: Rg) -> None:
    root = root_with(tmp_path, {"a": "foo", "b": b"\0foo", "c": "foo"})
    hits = search.search(root, Query("foo"), without={"a", "b"})
    assert ([line.path for line in hits.lines], hits.n_matches, hits.n_files, hits.skipped) == (
        ["c"],
        1,
        1,
        (),
    )


def test_numbers_of_a_query_are_checked() -> None:
    assert refusal(lambda: Query("foo", context=-1)) == "invalid"
    assert refusal(lambda: Query("foo", limit=0)) == "invalid"


# The same answers, on what nobody thought of


NAMES = [
    "a",
    "b",
    "ab",
    "x.py",
    "y.py",
    "z.txt",
    "build",
    "src",
    "foo.bar",
    "é.py",
    "-x",
    " sp ace",
    "[k]",
    "#h",
    "!n",
]
LIKELY_RULES = [
    *(
        "*.py",
        "!x.py",
        "build/",
        "/src",
        "src/**",
        "**/a",
        "a/**/b",
        "!build",
        "*",
        "!*/",
        "/*",
        "x.*",
        "!é.py",
    ),
    *("[k]", "\\!n", "\\#h", "b", "foo.bar", "!/a", "a/", "**/b/**", "{a,b}/*.py", "!*.py", "?.py", "??.py"),
    *("-x", "sp*", "# a comment", "**"),
]
PIECES = [
    *(
        "*",
        "**",
        "?",
        "a",
        "b",
        "/",
        "/",
        "x.py",
        "*.py",
        "[ab]",
        "[!a]",
        "{a,b}",
        "src",
        "build",
        "\\a",
        "!",
    ),
    *("[", "]", "-", "é", "{", "}", ",", "\\", "#h", "foo.*", "y.*", "**/", "/**", " "),
]


def generate_tree(chance: random.Random, folder: Path, depth: int = 0) -> None:
    for name in chance.sample(NAMES, chance.randint(2, 6)):
        if depth < 3 and chance.random() < 0.45:
            (folder / name).mkdir()
            generate_tree(chance, folder / name, depth + 1)
        else:
            (folder / name).write_text("foo\n")
    for name in (".gitignore", ".gitignore", ".ignore", ".rgignore"):
        if chance.random() < (0.4 if depth == 0 else 0.15):
            rules = [generate_rule(chance) for _ in range(chance.randint(1, 4))]
            (folder / name).write_bytes(chance.choice(["\n", "\r\n"]).join(rules).encode())
    if chance.random() < 0.08:
        root_with(folder, chance.choice([".git/x", ".hg", "node_modules/k.js", "__pycache__", ".venv/x.py"]))
    if depth and chance.random() < 0.06:
        (folder / "pyvenv.cfg").write_text("")


def generate_rule(chance: random.Random) -> str:
    if chance.random() < 0.4:
        return chance.choice(LIKELY_RULES)
    return "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 5)))


GENERATED_GLOBS = [(), ("*.py",), ("!a",), ("src/**",), ("a/",), ("*.py", "!b/"), ("!*.txt", "x.py", "[[]k]")]


def check_tree(seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    folder.mkdir()
    generate_tree(chance, folder)
    root = Root.of(folder)
    globs = chance.choice(GENERATED_GLOBS)
    assert list(PYTHON.files(root)) == list(RIPGREP.files(root)), seed
    found = RIPGREP.files_with(root, ["foo"], globs=globs)
    assert PYTHON.files_with(root, ["foo"], globs=globs) == found, seed


def test_generated_trees(tmp_path: Path) -> None:
    for seed in range(40):
        check_tree(seed, tmp_path / str(seed))


@pytest.mark.slow
def test_many_generated_trees(tmp_path: Path) -> None:
    for seed in range(40, 240):
        check_tree(seed, tmp_path / str(seed))


ATOMS = [
    *(
        "foo",
        "Foo",
        "FOO",
        "foo_bar",
        "éfoo",
        "fooé",
        "größe",
        "\u0301",
        "\u200d",
        "²",
        "Ⓐ",
        "٣",
        "🐍",
        "𝐟𝐨𝐨",
    ),
    *("\n", "\n", "\n", "\r\n", "\r", " ", " ", ".", "(", ")", "-foo", "x"),
]
GENERATED_WORDS = [
    ["foo"],
    ["Foo", "größe"],
    ["-foo"],
    ["²"],
    ["foo", "x"],
    ["größe"],
    ["🐍"],
    ["éfoo"],
    ["\u0301"],
]
GENERATED_QUERIES = [
    Query("foo", fixed=True),
    Query("foo", word=True),
    Query("fo+[a-zA-Z ]", case=Case.INSENSITIVE),
    Query("^foo"),
    Query("foo$"),
    Query("Foo", fixed=True, case=Case.SMART),
    Query("foo", case=Case.SMART, context=1),
    Query("(", fixed=True, context=2, limit=5),
    Query("größe", case=Case.INSENSITIVE),
    Query("foo", fixed=True, word=True, context=3),
    Query("-foo", fixed=True),
    Query("[a-z]+_?", case=Case.SMART),
]


def generate_content(chance: random.Random) -> bytes:
    text = "".join(chance.choice(ATOMS) for _ in range(chance.randint(0, 30)))
    data = text.encode()
    # No bytes from 80 to bf, which go on a character of UTF-8: where there is none, ripgrep looks at what is before it.
    odd = list(text)
    for _ in range(3):
        odd.insert(chance.randint(0, len(odd)), chance.choice("\udcff\udce9\udcc3"))
    return chance.choice(
        [
            *(data, data, data),
            text.encode("utf-8-sig"),
            text.encode("utf-16"),
            b"\xfe\xff" + text.encode("utf-16-be"),
            text.replace("²", "").encode("latin-1", "replace"),
            data + b"\0" + data,
            b"x" * 9000 + data + b"\0" + data,
            "".join(odd).encode("utf-8", "surrogateescape"),
        ]
    )


def check_contents(seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    root = root_with(folder, {str(number): generate_content(chance) for number in range(12)})
    words, whole = chance.choice(GENERATED_WORDS), chance.random() < 0.7
    found = RIPGREP.files_with(root, words, whole_words=whole)
    assert PYTHON.files_with(root, words, whole_words=whole) == found, (seed, words)
    assert PYTHON.count_occurrences(root, words[0]) == RIPGREP.count_occurrences(root, words[0]), (
        seed,
        words,
    )
    query = chance.choice(GENERATED_QUERIES)
    assert PYTHON.search(root, query) == RIPGREP.search(root, query), (seed, query)
    text = generate_content(chance).decode("utf-8", "replace")
    hits = RIPGREP.search_text(root, "a", text, query)
    assert PYTHON.search_text(root, "a", text, query) == hits, (seed, query, text)


def test_generated_contents(tmp_path: Path) -> None:
    for seed in range(40):
        check_contents(seed, tmp_path / str(seed))


@pytest.mark.slow
def test_many_generated_contents(tmp_path: Path) -> None:
    for seed in range(40, 240):
        check_contents(seed, tmp_path / str(seed))


# Which ripgrep, and when it fails


def program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\nimport os, sys, time\n{script}\n")
    path.chmod(0o755)
    return path


def version_script(version: str) -> str:
    return f"print({version!r})"


def test_a_setting_goes_before_the_path_and_the_path_before_ours(tmp_path: Path) -> None:
    own = find_executable(None, None)
    assert own is not None
    set_one = program(tmp_path / "set/rg", "")
    on_path = program(tmp_path / "bin/rg", "")
    named = program(tmp_path / "bin/my-rg", "")
    path = os.pathsep.join(["", "bin", str(tmp_path / "nowhere"), str(tmp_path / "bin")])
    assert find_executable(str(set_one), path) == set_one
    assert find_executable("my-rg", path) == named
    assert find_executable(None, path) == find_executable("", path) == on_path
    assert find_executable(None, str(tmp_path)) == own


@pytest.mark.parametrize(
    ("setting", "kind"),
    [("{}/nowhere", "unavailable"), ("{}/rg", "unavailable"), ("my-rg", "unavailable"), ("./rg", "invalid")],
)
def test_a_wrong_setting_is_no_silent_fallback(tmp_path: Path, setting: str, kind: str) -> None:
    (tmp_path / "rg").write_text("not a program")
    assert refusal(lambda: find_executable(setting.format(tmp_path), str(tmp_path))) == kind


def test_a_program_of_the_workspace_does_not_run(tmp_path: Path) -> None:
    program(tmp_path / "work/bin/rg", "")
    (tmp_path / "linked").symlink_to("work/bin")
    path = os.pathsep.join([str(tmp_path / "work/bin"), str(tmp_path / "linked")])
    root = Root.of(tmp_path / "work")
    assert find_executable(None, path) == tmp_path / "work/bin/rg"
    assert find_executable(None, path, distrusted=root) == find_executable(None, None)


@pytest.mark.parametrize(
    ("script", "explanation"),
    [
        (
            version_script("ripgrep 12.1.1 (rev 7cb211378a)"),
            "ripgrep 12.1.1 at {} is too old, 13 or newer is needed",
        ),
        (version_script("ripgrep 13.0.0"), ""),
        (version_script("ripgrep 15.2.0 (rev e89fff89ac)\n\nfeatures:+pcre2"), ""),
        (version_script("something else 99.1.0"), "{} does not say that it is ripgrep"),
        ("sys.exit(1)", "{} does not say that it is ripgrep"),
    ],
)
def test_what_cannot_be_used_is_explained(tmp_path: Path, script: str, explanation: str) -> None:
    executable = program(tmp_path / "rg", script)
    found = Rg.find(str(executable), None)
    assert (found.executable is None) == bool(explanation)
    if explanation:
        assert found.explain == f"searching in Python, which is slow: {explanation.format(executable)}"
        assert found.files_with(root_with(tmp_path / "work", "a.py"), ["foo"]).files == ("a.py",)


def test_without_ripgrep_we_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lsptools.workspace.ripgrep._own_folders", list)
    found = Rg.find(None, None)
    assert found == Rg(None, "no ripgrep was found")
    assert found.explain == "searching in Python, which is slow: no ripgrep was found"


COMPLAINTS = """rg: ./no: Permission denied (os error 13)
rg: ./a: b: Permission denied (os error 13)
rg: ./new
line: Input/output error (os error 5)
rg: ./gone: No such file or directory (os error 2)
rg: ./odd: IO error for operation on ./odd: Stale file handle (os error 116)
"""


def test_what_ripgrep_could_not_read_is_skipped_and_the_rest_is_an_answer(tmp_path: Path) -> None:
    root = root_with(tmp_path / "work", "a.py b.py")
    script = f"sys.stdout.write('./a.py\\0')\nsys.stderr.write({COMPLAINTS!r})\nsys.exit(2)"
    found = Rg(program(tmp_path / "rg", script)).files_with(root, ["foo"])
    assert found.files == ("a.py",)
    assert found.skipped == (
        Skipped("a: b", "Permission denied"),
        Skipped("new\nline", "Input/output error"),
        Skipped("no", "Permission denied"),
        Skipped("odd", "Stale file handle"),
    )


@pytest.mark.parametrize(
    "script",
    ["sys.exit(3)", "print('rg: surprise', file=sys.stderr); sys.exit(2)", "os.kill(os.getpid(), 9)"],
)
def test_other_failures_are_errors(tmp_path: Path, script: str) -> None:
    root = root_with(tmp_path / "work", "a.py")
    search = Rg(program(tmp_path / "rg", script))
    for ask in asking(search, root):
        assert refusal(ask) == "unavailable"


def test_a_search_without_end_is_given_up(tmp_path: Path) -> None:
    root = root_with(tmp_path / "work", "a.py")
    search = Rg(program(tmp_path / "rg", "time.sleep(60)"), timeout=0.2)
    for ask in asking(search, root):
        assert refusal(ask) == "timed_out"


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, MemoryError])
def test_whatever_stops_the_wait_ends_ripgrep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: type[BaseException]
) -> None:
    """As Ctrl-C does, which comes while we wait and not at a checkpoint."""
    root = root_with(tmp_path / "work", "a.py")
    begun: list[subprocess.Popen[bytes]] = []
    communicate = subprocess.Popen.communicate

    def interrupted(self: subprocess.Popen[bytes], *arguments: Any, **named: Any) -> tuple[bytes, bytes]:
        if self in begun:
            return communicate(self, *arguments, **named)
        begun.append(self)
        raise stop

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    with pytest.raises(stop):
        Rg(program(tmp_path / "rg", "time.sleep(60)")).files_with(root, ["foo"])
    (process,) = begun
    try:
        assert process.returncode == -signal.SIGKILL
    finally:
        process.kill()
        process.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a pipe be made larger")
def test_a_pipe_that_may_not_be_made_larger_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All pipes of a user have so many pages together (`fs.pipe-user-pages-soft`), which others may have used up."""
    root = root_with(tmp_path, "a.py b.py")
    n_asked = 0
    fcntl = pytest.importorskip("fcntl")

    def refused(descriptor: int, command: int, *_: int) -> int:
        nonlocal n_asked
        assert command == fcntl.F_SETPIPE_SZ
        n_asked += 1
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(fcntl, "fcntl", refused)
    assert RIPGREP.files_with(root, ["foo"]).files == ("a.py", "b.py")
    assert n_asked == 1  # for what ripgrep writes; not for what it reads, nor for what it complains of


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a named pipe")
def test_a_pipe_for_an_ignore_file_does_not_stop_us_for_good(tmp_path: Path) -> None:
    root = root_with(tmp_path, "a.py")
    os.mkfifo(root.path / ".gitignore")
    assert refusal(lambda: replace(RIPGREP, timeout=0.5).files_with(root, ["foo"])) == "timed_out"
    assert PYTHON.files_with(root, ["foo"]).files == ("a.py",)


def test_a_ripgrep_or_a_workspace_that_is_gone(tmp_path: Path) -> None:
    root = root_with(tmp_path / "work", "a.py")
    for ask in asking(Rg(tmp_path / "nowhere/rg"), root):
        assert refusal(ask) == "unavailable"
    for ask in asking(RIPGREP, Root(tmp_path / "gone")):
        assert refusal(ask) == "unavailable"


def test_what_is_not_on_the_disk_is_searched_in_python() -> None:
    operations = MemoryOperations(
        {"/memory/a.py": b"foo", "/memory/b/c.py": b"foo", "/memory/b/.gitignore": b"c.py"}
    )
    root = Root(Path("/memory"))
    for search in (RIPGREP, PYTHON):
        assert search.files_with(root, ["foo"], operations=operations).files == ("a.py",)
        assert search.search(root, Query("foo"), operations=operations).n_files == 1


def asking(search: Rg, root: Root) -> list[Callable[[], object]]:
    return [
        lambda: search.files_with(root, ["foo"]),
        lambda: search.count_occurrences(root, "foo"),
        lambda: search.search(root, Query("foo")),
        lambda: search.begin_some_line(root, Query("foo")).result(),
        lambda: list(search.files(root)),
    ]


def refusal(ask: Callable[[], object]) -> str:
    """The kind of the error that is raised, which says what to do."""
    with pytest.raises(ToolError) as raised:
        ask()
    assert isinstance(raised.value, BadRequest if raised.value.kind == "invalid" else Unavailable)
    assert raised.value.message
    return raised.value.kind
