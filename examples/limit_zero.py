"""The defect of docs/limit-zero.md, worked through in a copy of examples/reports: each command of the page, and what it prints.

python -m examples.limit_zero
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
PAGE = REPOSITORY / "docs" / "limit-zero.md"


def commands() -> Iterator[str]:
    """The command lines of the page, in order."""
    for block in re.findall(r"^```console\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL):
        yield from re.findall(r"^\$ (.*)$", block, re.MULTILINE)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "reports"
        shutil.copytree(REPOSITORY / "examples" / "reports", copy)
        surroundings = {"XDG_STATE_HOME": f"{folder}/state", "VIRTUAL_ENV": sys.prefix}
        for command in commands():
            print(f"$ {command}", flush=True)
            words = [sys.executable, "-m", *shlex.split(command)]
            subprocess.run(words, cwd=copy, env={**os.environ, **surroundings}, check=False)


if __name__ == "__main__":
    main()
