"""What the documents point to exists: links, headings, files, tests, and commands that the real command line understands."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from lsptools.errors import BadRequest
from lsptools.faces.commands import parse

REPOSITORY = Path(__file__).parent.parent
PAGES = sorted(
    path.relative_to(REPOSITORY).as_posix()
    for path in [
        *REPOSITORY.glob("*.md"),
        *(REPOSITORY / "docs").glob("*.md"),
        *(REPOSITORY / "examples").rglob("*.md"),
        REPOSITORY / "benchmarks" / "README.md",
    ]
)
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
PLACE = re.compile(
    r"(?<![\w/.])(?:lsptools|tests|docs|examples|grammars|scripts|benchmarks)/[\w./-]*\w(?:::\w+)?"
)
COMMAND = re.compile(r"^(?:    |\$ )(lsptools .*)$|`(lsptools [^`]+)`", re.MULTILINE)


@pytest.fixture(params=PAGES)
def page(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def text_of(page: str) -> str:
    return (REPOSITORY / page).read_text("utf-8")


def test_links_lead_somewhere(page: str) -> None:
    wrong = [target for target in LINK.findall(FENCE.sub("", text_of(page))) if not leads(page, target)]
    assert not wrong


def leads(page: str, target: str) -> bool:
    """Whether a link of a page leads to a file, and there to a heading. What lies on the web is not looked at."""
    if target.startswith("https://"):
        return True
    path, _, heading = target.partition("#")
    file = (REPOSITORY / page).parent / path if path else REPOSITORY / page
    return file.exists() and (not heading or heading in headings(file.read_text("utf-8")))


def headings(text: str) -> set[str]:
    """The anchors of a page's headings."""
    found = re.findall(r"^#+ (.+)$", FENCE.sub("", text), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in found}


def test_files_and_tests_that_are_named_exist(page: str) -> None:
    assert not [place for place in PLACE.findall(text_of(page)) if not exists(place)]


def exists(place: str) -> bool:
    """Whether a path, and in it a function, is there. `NAME` stands for one that a reader will choose."""
    if "NAME" in place:
        return True
    path, _, function = place.partition("::")
    file = REPOSITORY / path
    return file.exists() and (not function or f"def {function}(" in file.read_text("utf-8"))


def commands(text: str) -> Iterator[list[str]]:
    """The command lines on a page, without `lsptools`. A command alone is a name; brackets are what may be left out."""
    for shown, quoted in COMMAND.findall(text):
        _, *words = shlex.split((shown or quoted).replace("[OPTIONS]", ""), comments=True)
        is_name = len(words) == 1 and bool(quoted)
        yield [*(word.strip("[]") for word in words), *(["--help"] if is_name else [])]


def test_commands_are_understood(page: str) -> None:
    for arguments in commands(text_of(page)):
        try:
            parse(arguments)
        except BadRequest as error:
            pytest.fail(f"lsptools {shlex.join(arguments)}: {error.message}")


def test_the_architecture_names_every_folder() -> None:
    text = text_of("docs/architecture.md")
    folders = {path.parent.name for path in (REPOSITORY / "lsptools").glob("*/*.py")}
    missing = [folder for folder in sorted(folders) if f"`lsptools/{folder}/`" not in text]
    assert not missing, "the code map of docs/architecture.md has no row for these"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[a](no-such-page.md)", "link"),
        ("[a](docs/guarantees.md#no-such-heading)", "link"),
        ("`lsptools/no_such_file.py`", "place"),
        ("`tests/test_docs.py::test_no_such`", "place"),
        ("`lsptools rename only-a-place`", "command"),
        ("    lsptools refs a.py:1:1 --no-such-option", "command"),
    ],
)
def test_the_checks_see_what_is_wrong(text: str, says: str) -> None:
    wrong = {
        "link": any(not leads("README.md", target) for target in LINK.findall(text)),
        "place": any(not exists(place) for place in PLACE.findall(text)),
        "command": any(not is_understood(arguments) for arguments in commands(text)),
    }
    assert [name for name, is_wrong in wrong.items() if is_wrong] == [says]


def is_understood(arguments: list[str]) -> bool:
    try:
        parse(arguments)
    except BadRequest:
        return False
    return True
