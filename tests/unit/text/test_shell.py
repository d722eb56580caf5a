"""Reading command lines: what runs, in which pipeline, and what is only text."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsptools.text.shell import ShellError, script


def check(text: str, *pipelines: str) -> None:
    """Each pipeline as its commands joined by ` | `, of words joined by blanks."""
    read = [
        " | ".join(" ".join(word.text for word in each.words) for each in pipeline.commands)
        for pipeline in script(text)
    ]
    assert read == list(pipelines)


@pytest.mark.parametrize(
    ("text", "pipelines"),
    [
        ("", []),
        ("# only a comment", []),
        ("ls -la", ["ls -la"]),
        ("a; b && c || d & e", ["a", "b", "c", "d", "e"]),
        ("a | b |& c\nd", ["a | b | c", "d"]),
        ("echo 'a; b' \"c | d\" e\\;f", ["echo a; b c | d e;f"]),
        ("r'm' -r\"f\" x", ["rm -rf x"]),
        ("X=1 Y='a b' cmd z=3", ["cmd z=3"]),
        ("if true; then a; else b; fi", ["true", "a", "b"]),
        ("{ a; }; ! b; (c; d)", ["a", "b", "c", "d"]),
        ("a > out 2>&1 < in", ["a"]),
        ("echo $(b -c) `d`", ["echo $(b -c) `d`", "b -c", "d"]),
        ('echo "$(a "$(b)")"', ['echo $(a "$(b)")', "a $(b)", "b"]),
        ("cat <(a) >(b)", ["cat <(a) >(b)", "a", "b"]),
        ("cat <<'E' && c\n$(a)\nE\nd", ["cat", "c", "d"]),
        ("cat <<-E\n\t$(a)\n\tE\nd", ["cat", "d", "a"]),
        ("echo ${x:-$(a)}", ["echo ${x:-$(a)}", "a"]),
        ("echo $((1 + (2)))", ["echo $((1 + (2)))"]),
        ("echo a#b #c", ["echo a#b"]),
        ("a \\\n b", ["a b"]),
        ("echo $'a b'", ["echo a b"]),
    ],
)
def test_what_runs(text: str, pipelines: list[str]) -> None:
    check(text, *pipelines)


@pytest.mark.parametrize(
    ("word", "is_open"),
    [
        ("a", False),
        ("'$a'", False),
        ("$a", True),
        ('"$a"', True),
        ("*.py", True),
        ("'*'", False),
        ("a\\*", False),
    ],
)
def test_a_word_knows_whether_it_depends_on_the_run(word: str, is_open: bool) -> None:
    assert script(f"x {word}")[0].commands[0].words[1].is_open is is_open


@pytest.mark.parametrize(
    "text", ["echo 'a", 'echo "a', "echo $(a", "echo `a", "cat <<E\nx", "echo ${a", "a >"]
)
def test_what_does_not_end_is_refused(text: str) -> None:
    with pytest.raises(ShellError):
        script(text)


def test_redirections_that_write() -> None:
    ((command,),) = (pipeline.commands for pipeline in script("a <in >out 2>>log 2>&1 &>all >&- >|f"))
    assert [each.target.text for each in command.redirections if each.writes] == ["out", "log", "all", "f"]


@given(st.text(alphabet="ab$(){}`'\"\\ ;|&<>\n#=*E-", max_size=40))
def test_it_reads_or_refuses_and_ends(text: str) -> None:
    with suppress(ShellError):
        script(text)
