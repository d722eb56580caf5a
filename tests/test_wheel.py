"""What is shipped works by itself: the wheel, in an environment of its own, outside the source tree.

Needs no network: the build backend and the dependencies are those of the environment that runs the tests. Where it stops:
the dependencies are seen through a path file, so it does not show that the wheel asks for all of them by itself.
"""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent
pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this source tree without leaving anything in it."""
    folder = tmp_path_factory.mktemp("wheel")
    done = run(
        *(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, REPOSITORY),
        cwd=folder,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The scripts of an environment that holds the wheel, and sees the dependencies but not the source tree."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "venv", with_pip=False)
    python = scripts_of(folder / "venv") / "python"
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
    done = run(*pip, "install", "--no-index", "--no-deps", "--no-compile", wheel, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    # Path files in a folder that is added by a path file are not read: an editable install stays out of sight.
    (purelib_of(python, folder) / "dependencies.pth").write_text(
        f"{sysconfig.get_path('purelib')}\n", "utf-8"
    )
    yield scripts_of(folder / "venv")


def scripts_of(environment: Path) -> Path:
    return Path(sysconfig.get_path("scripts", "venv", vars={"base": str(environment)}))


def purelib_of(python: Path, folder: Path) -> Path:
    return Path(
        run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).stdout.strip()
    )


def test_the_wheel_holds_the_package_and_its_grammars_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    sources = {
        path.relative_to(REPOSITORY).as_posix()
        for path in (REPOSITORY / "lsptools").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    grammars = {
        f"lsptools/{path.relative_to(REPOSITORY).as_posix()}"
        for path in (REPOSITORY / "grammars").rglob("*.scm")
    }
    assert grammars
    assert {name for name in names if ".dist-info/" not in name} == sources | grammars


def test_it_runs_from_where_it_was_installed(installed: Path, tmp_path: Path) -> None:
    done = run(installed / "python", "-c", "import lsptools.version as v; print(v.__file__)", cwd=tmp_path)
    assert Path(done.stdout.strip()).is_relative_to(installed.parent), done.stdout + done.stderr
    assert run(installed / "lsptools", "--version", cwd=tmp_path).stdout.startswith("lsptools ")


def test_the_installed_program_renames(installed: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "net.py").write_bytes(b"def get(url):\r\n    return url\r\n")
    (workspace / "main.py").write_bytes(b'from net import get\nprint(get("get"))\n')
    state = {"HOME": str(tmp_path / "home"), "XDG_STATE_HOME": str(tmp_path / "state")}
    done = run(installed / "lsptools", "rename", "net.py:1:5", "fetch", cwd=workspace, **state)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (workspace / "net.py").read_bytes() == b"def fetch(url):\r\n    return url\r\n"
    assert (workspace / "main.py").read_bytes() == b'from net import fetch\nprint(fetch("get"))\n'
    assert sorted(path.name for path in workspace.iterdir()) == ["main.py", "net.py"]


def test_the_installed_program_finds_its_grammars(installed: Path, tmp_path: Path) -> None:
    names = [path.stem for path in (REPOSITORY / "grammars/python").glob("*.scm")]
    program = f"from lsptools.syntax.queries import grammar_query\nfor name in {names}: grammar_query('python', name)"
    done = run(installed / "python", "-c", program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
