"""Arguments become calls, wrong ones are told what would work, and help follows from the declarations."""

import shlex

import pytest

from lsptools.errors import BadRequest
from lsptools.faces.commands import Call, Text, parse
from lsptools.tools import registry
from lsptools.tools.base import parameters
from lsptools.version import __version__


def call(line: str) -> Call:
    parsed = parse(shlex.split(line))
    assert isinstance(parsed, Call), parsed
    return parsed


def text(line: str) -> Text:
    parsed = parse(shlex.split(line))
    assert isinstance(parsed, Text), parsed
    return parsed


@pytest.mark.parametrize(
    ("line", "tool", "values"),
    [
        ("outline a.py", "outline", {"path": "a.py"}),
        (
            "symbols x --kind class --kind method",
            "symbols",
            {"query": "x", "kinds": ("class", "method"), "limit": 200},
        ),
        (
            "search 'a b' -e -w -i -g '*.py' -C 3",
            "search",
            {"query": "a b", "regex": True, "word": True, "context": 3},
        ),
        ("search --structural '(call)'", "search", {"query": "(call)", "structural": True, "globs": ()}),
        ("search -- --json", "search", {"query": "--json"}),
        ("def a.py:1:2", "def", {"place": "a.py:1:2"}),
        (
            "refs a.B.c --class possible --why",
            "refs",
            {"place": "a.B.c", "classes": ("possible",), "why": True},
        ),
        ("refs a --only b.py:3", "refs", {"only": "b.py:3", "classes": (), "why": False}),
        (
            "rename a.py:1:2 b --possible skip --json",
            "rename",
            {
                "place": "a.py:1:2",
                "new_name": "b",
                "possible": "skip",
                "mentions": False,
                "diff": False,
                "check": False,
            },
        ),
        (
            "rename --diff a b --mentions",
            "rename",
            {"place": "a", "new_name": "b", "possible": "refuse", "diff": True},
        ),
        ("undo", "undo", {"id": None}),
        ("undo 3-ab", "undo", {"id": "3-ab"}),
        ("history", "history", {}),
    ],
)
def test_a_call(line: str, tool: str, values: dict[str, object]) -> None:
    parsed = call(line)
    assert parsed.tool.name == tool
    assert {name: parsed.values[name] for name in values} == values


def test_the_common_options() -> None:
    plain, full = call("history"), call("history --json --color never --root x")
    assert (plain.as_json, plain.colour, plain.root) == (False, "auto", None)
    assert (full.as_json, full.colour, full.root) == (True, "never", "x")


@pytest.mark.parametrize(
    ("line", "says", "hint"),
    [
        ("outlin a.py", "there is no command 'outlin'", "did you mean outline"),
        ("xyz", "there is no command 'xyz'", "the commands are search, outline"),
        ("outline --jsn a.py", "there is no option --jsn", "did you mean --json?"),
        ("outline --zzzzz a.py", "there is no option --zzzzz", "lsptools outline --help"),
        ("--zzz", "there is no option --zzz", "lsptools --help"),
        ("outline", "missing argument 'FILE'", "lsptools outline --help"),
        ("rename a", "missing argument 'NEW'", "lsptools rename --help"),
        (
            "rename a b --possible maybe",
            "'maybe' is not one of 'refuse', 'include', 'skip'",
            "lsptools rename --help",
        ),
        ("undo 1 2", "unexpected extra argument (2)", "lsptools undo --help"),
        ("symbols x --limit many", "'many' is not a valid integer", "lsptools symbols --help"),
        ("completion tcsh", "'tcsh' is not one of", "lsptools completion --help"),
    ],
)
def test_what_is_rejected(line: str, says: str, hint: str) -> None:
    with pytest.raises(BadRequest) as caught:
        call(line)
    assert says in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize("name", registry.names())
def test_help_says_everything_the_declaration_says(name: str) -> None:
    tool = registry.tool(name)
    words = " ".join(text(f"{name} --help").text.split())
    assert words.startswith(f"Usage: lsptools {name} [OPTIONS]")
    for part in (tool.summary, *(example.does for example in tool.examples), tool.found, tool.not_found):
        assert " ".join(part.split()) in words
    for each in parameters(tool):
        assert (each.metavar if each.positional else f"--{each.name}") in words
    for always in ("--json", "--color", "--root", "Exit codes: 0", "130 interrupted"):
        assert always in words


def test_help_comes_before_what_is_missing() -> None:
    assert "Usage: lsptools rename" in text("rename --help").text
    assert "Usage: lsptools rename" in text("rename a --help").text


def test_the_overview() -> None:
    overview = text("--help").text
    for name in registry.names():
        assert f"\n  {name} " in overview
    assert text("").text == overview
    assert (text("--help").exit_code, text("").exit_code) == (0, 2)


def test_the_version() -> None:
    assert text("--version").text == f"lsptools {__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    assert "_LSPTOOLS_COMPLETE" in text(f"completion {shell}").text
