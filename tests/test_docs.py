"""The reference pages say what the declarations say."""

import importlib.util
from pathlib import Path
from types import ModuleType

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
