"""A refactoring is not written any more when whoever asked for it has left."""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lsptools.errors import Unavailable
from lsptools.faces.environment import Environment
from lsptools.tools import move, rename, signature
from lsptools.tools.refactoring import carry_out
from lsptools.tools.writing import Writing
from lsptools.workspace.paths import Root

SOURCE = "def f(a):\n    return a\n\n\nprint(f(1))\n"


@pytest.mark.parametrize(
    ("tool", "asked"),
    [
        (rename, {"place": "m.py::f", "new_name": "g"}),
        (move, {"place": "m.py::f", "module": "n.py"}),
        (signature, {"place": "m.py::f", "add": ("b=2",)}),
    ],
    ids=["rename", "move", "signature"],
)
def test_who_has_left_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: ModuleType, asked: dict[str, Any]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root = tmp_path / "ws"
    root.mkdir()
    (root / "m.py").write_text(SOURCE)
    (root / "n.py").write_text("")
    has_left = False

    def checkpoint() -> None:
        if has_left:
            raise Unavailable("cancelled", "the caller has left", hint="")

    context = Environment().context(Root.of(root)).renewed(checkpoint)
    answer = tool.run(context, tool.Params(**asked, check=True))
    has_left = True
    with pytest.raises(Unavailable, match="has left"):
        carry_out(context, answer, Writing())
    assert (root / "m.py").read_text() == SOURCE and (root / "n.py").read_text() == ""
    has_left = False
    assert carry_out(context, answer, Writing()).applied is not None
    assert (root / "m.py").read_text() != SOURCE
