"""``python -m examples.demo [--svg FILE]``: show it, and perhaps keep the picture of it."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from examples.demo import scenes
from examples.demo.stage import Broken, Stage
from lsptools.errors import ToolError
from lsptools.faces.environment import be_lenient


def main() -> int:
    """Run the demo; 1 if anything was not as promised."""
    parser = argparse.ArgumentParser(prog="python -m examples.demo", description="A rename to watch.")
    parser.add_argument("--svg", metavar="FILE", type=Path, help="write the picture of the README, too")
    arguments = parser.parse_args()
    be_lenient(sys.stdout)
    stage = Stage()
    try:
        with tempfile.TemporaryDirectory(prefix="lsptools-demo-") as home:
            stage.title("lsptools: find with evidence, rename with proof, undo")
            scenes.shop(stage, Path(home))
            picture = stage.svg()
            with stage.out_of_picture():
                scenes.package(stage, Path(home))
    except (Broken, ToolError) as error:
        stage.failure(f"not as promised: {error}")
        return 1
    if arguments.svg:
        arguments.svg.write_text(picture, encoding="utf-8", newline="\n")
    stage.tell(f"{stage.n_kept} promises, all kept. Everything was done on copies, which are gone now.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
