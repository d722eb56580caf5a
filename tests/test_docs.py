"""The reference pages say what the declarations say."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

from casefaces import Place

from lsptools.faces.environment import Environment
from lsptools.faces.lsp_check import lines

ROOT = Path(__file__).parent.parent


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_of_the_tools_is_fresh() -> None:
    docs = script("make_docs")
    assert docs.PAGE.read_text("utf-8") == docs.page(), "run: python scripts/make_docs.py"


def test_the_features_of_the_language_server_are_listed_whole(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "editors.md").read_text("utf-8")
    row = next(line for line in page.splitlines() if line.startswith("| `disable` |"))
    told = next(
        line
        for line in lines(Environment(Place.below(tmp_path).environment()))
        if line.startswith("features: ")
    )
    assert re.findall(r"`(\w+)`", row)[1:] == told.removeprefix("features: ").split(", ")
