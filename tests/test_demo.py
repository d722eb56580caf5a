"""The demo keeps what it promises, its picture in the README is fresh, and it fails where something is not as promised."""

import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent
PICTURE = REPOSITORY / "docs" / "demo.svg"


def demo(folder: Path, home: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the demo that lies in a folder, as a user whose home folder is `home`."""
    ours = ("PYTHON", "XDG_", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LSPTOOLS_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    environment |= {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "TMPDIR": str(home / "tmp")}
    environment |= {"PYTHONIOENCODING": "utf-8", "PYTHONDONTWRITEBYTECODE": "1"}
    (home / "tmp").mkdir(parents=True)
    return subprocess.run(
        [sys.executable, "-m", "examples.demo", *arguments],
        cwd=folder,
        env=environment | variables,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the demo prints where there is no terminal, and the folder of its user and its picture."""
    home = tmp_path_factory.mktemp("home")
    done = demo(REPOSITORY, home, "--svg", str(home / "demo.svg"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr
    return done.stdout, home


def test_every_promise_is_kept(shown: tuple[str, Path]) -> None:
    out, _ = shown
    assert re.search(r"^\d+ promises, all kept", out.splitlines()[-1])
    assert int(out.splitlines()[-1].split()[0]) == out.count("✓ ") > 30
    assert "✗" not in out


def test_it_can_be_read_anywhere(shown: tuple[str, Path]) -> None:
    out, home = shown
    assert "\x1b" not in out
    assert str(home) not in out and str(REPOSITORY) not in out


def test_it_leaves_nothing_behind(shown: tuple[str, Path]) -> None:
    _, home = shown
    assert sorted(path.name for path in home.rglob("*")) == ["demo.svg", "tmp"]


def test_the_picture_is_fresh(shown: tuple[str, Path]) -> None:
    _, home = shown
    again = (home / "demo.svg").read_text("utf-8")
    assert words(again) == words(PICTURE.read_text("utf-8")), (
        "run: python -m examples.demo --svg docs/demo.svg"
    )


def test_the_picture_loads_nothing_from_elsewhere() -> None:
    svg = PICTURE.read_text("utf-8")
    assert not re.search(r"""(href|src)=|url\((?!#)|@import""", svg)


def words(svg: str) -> list[str]:
    """What a picture says, line by line, without spaces: how text is cut into pieces depends on the version of rich."""
    lines: dict[str, str] = {}
    for height, text in re.findall(r'<text [^>]*\by="([\d.]+)"[^>]*>(.*?)</text>', svg):
        lines[height] = lines.get(height, "") + "".join(html.unescape(text).split())
    return [lines[height] for height in sorted(lines, key=float)]


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("__main__.py", "USERS = [", "USERS = []\n[", "it runs"),
        (
            "__main__.py",
            "newest(USERS).name",
            "newest(USERS).name, newest([order for order, _ in DAY]).net",
            "prints what it printed before",
        ),
        ("report.py", "tax", "levy", "should have been refused"),
    ],
)
def test_it_fails_where_something_is_not_as_promised(
    tmp_path: Path, file: str, old: str, new: str, says: str
) -> None:
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    broken = tmp_path / "examples" / "shop" / "shop" / file
    assert old in broken.read_text("utf-8")
    broken.write_text(broken.read_text("utf-8").replace(old, new), "utf-8")
    done = demo(tmp_path, tmp_path / "home")
    assert (done.returncode, done.stderr) == (1, "")
    assert says in done.stdout.partition("not as promised: ")[2]
