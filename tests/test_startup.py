"""Start-up matters to agents: asking for the version or importing the package loads nothing heavy.

What is judged is the list of loaded modules, not the time. And so is the end: nothing is freed that goes with the process.
"""

import subprocess
import sys

import pytest

HEAVY = {"jedi", "parso", "libcst", "pygls", "lsprotocol", "mcp", "rich", "tree_sitter", "asyncio"}

VERSION = """
import os, sys
os._exit = sys.exit  # to look around before the end
sys.argv = ["lsptools", "--version"]
from lsptools.__main__ import main
try:
    main()
except SystemExit as done:
    assert not done.code, done.code
"""


def loaded(program: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after `program`."""
    program += "\nimport sys\nprint('loaded', *sorted({name.partition('.')[0] for name in sys.modules}))\n"
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    last = done.stdout.rstrip("\n").rpartition("\n")[2]
    return set(last.split()[1:])


@pytest.mark.parametrize(
    ("what", "program"),
    [
        ("the version", VERSION),
        ("the package", "import lsptools"),
        ("the command line", "import lsptools.faces.cli"),
        ("the tools for agents", "import lsptools.faces.agent"),
    ],
)
def test_nothing_heavy_is_loaded(what: str, program: str) -> None:
    assert not loaded(program) & HEAVY, f"{what} loads them"


def test_a_server_for_agents_is_the_sdk_and_little_else() -> None:
    """It lists its tools before a parser or a reader of Python is loaded; those are for the first question that needs them."""
    listed = "from lsptools.tools.schemas import exported\nexported('mcp', may_run=True)"
    assert loaded(f"import lsptools.faces.mcp\n{listed}") & HEAVY == {"mcp", "asyncio"}


def test_the_version_needs_no_parser_of_arguments() -> None:
    assert "click" not in loaded(VERSION)


def test_the_check_would_see_a_heavy_module() -> None:
    assert loaded("import asyncio.events") & HEAVY == {"asyncio"}


ENDING = """
import atexit, threading, time
from lsptools.__main__ import _leave
atexit.register(print, "freed")
threading.Thread(target=lambda: time.sleep({seconds}), daemon={daemon}).start()
_leave(3)
"""


@pytest.mark.parametrize(("daemon", "seconds", "says"), [(True, 600, ""), (False, 0.3, "freed\n")])
def test_only_who_is_waited_for_holds_up_the_end(daemon: bool, seconds: float, says: str) -> None:
    program = ENDING.format(daemon=daemon, seconds=seconds)
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (3, says)
