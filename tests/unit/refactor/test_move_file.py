"""A module's file in another folder: who imports it, and what it imports."""

from __future__ import annotations

import pytest
from editing import memory, snapshot

from lsptools.errors import Refused
from lsptools.refactor import move_file
from lsptools.refactor.move_file import plan_move_file


def after(files: dict[str, str], old: str = "app/m.py", new: str = "lib/n.py") -> dict[str, str]:
    """The texts that change, by their names afterwards; other line ends make no difference."""
    changed = _after(files, old, new)
    for end in ("\r\n", "\r") if not any("\r" in text for text in files.values()) else ():
        ended = _after({name: text.replace("\n", end) for name, text in files.items()}, old, new)
        assert ended == {name: text.replace("\n", end) for name, text in changed.items()}
    return changed


def _after(files: dict[str, str], old: str, new: str) -> dict[str, str]:
    view = snapshot(memory(files))
    change = plan_move_file(view, old, new)
    there = change.after(view)
    assert not there.exists(old)
    texts = {change.path_after(name): there.document(change.path_after(name)).text for name in files}
    return {name: text for name, text in texts.items() if files.get(name) != text}


def package(**files: str) -> dict[str, str]:
    own = {"app/__init__.py": "", "app/m.py": "x = 1\n", "lib/__init__.py": "", "app/k.py": ""}
    return own | {f"{name.replace('__', '/')}.py": text for name, text in files.items()}


def test_its_own_relative_imports_follow() -> None:
    files = package() | {
        "app/m.py": "from . import k\nfrom .k import (\n    y as z,  # why\n)\n",
        "app/k.py": "y = 1\n",
    }
    assert after(files) == {
        "lib/n.py": "from app import k\nfrom app.k import (\n    y as z,  # why\n)\n",
    }
    assert after(files, new="app/sub/m.py") == {
        "app/sub/m.py": "from .. import k\nfrom ..k import (\n    y as z,  # why\n)\n",
    }


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("from app.m import x\nprint(x)\n", "from lib.n import x\nprint(x)\n"),
        ("from app import m\nprint(m.x)\n", "from lib import n as m\nprint(m.x)\n"),
        ("from app import m as q\r\nprint(q.x)\r\n", "from lib import n as q\r\nprint(q.x)\r\n"),
        ("import app.m as q\nprint(q.x)\n", "import lib.n as q\nprint(q.x)\n"),
        ("if 1:\n    from app import k, m\n    m.x\n", "if 1:\n    from lib import n as m\n    from app import k\n    m.x\n"),
        ("from app import m, k\n", "from lib import n as m\nfrom app import k\n"),
        ("from app import (\n    k,  # one\n    m,  # other\n)\n", "from lib import n as m\nfrom app import (\n    k,  # one\n)\n"),
    ],
)  # fmt: skip
def test_importers_follow(before: str, text: str) -> None:
    assert after(package(use=before))["use.py"] == text


def test_relative_importers_follow() -> None:
    files = package(app__use="from .m import x\nfrom . import m\n")
    assert after(files)["app/use.py"] == "from lib.n import x\nfrom lib import n as m\n"
    files["app/sub/__init__.py"] = ""
    assert after(files, new="app/sub/m.py")["app/use.py"] == "from .sub.m import x\nfrom .sub import m\n"


def test_other_ways_to_name_it_are_refused_with_the_place() -> None:
    with pytest.raises(Refused) as refused:
        after(package(use="import app.m\nprint(app.m.x)\n"))
    assert {site.path for conflict in refused.value.conflicts for site in conflict.sites} == {"use.py"}


def test_a_statement_that_imports_it_twice_is_refused() -> None:
    with pytest.raises(Refused) as refused:
        after(package(use="from app import m, m as q, k\n"))
    assert {site.path for conflict in refused.value.conflicts for site in conflict.sites} == {"use.py"}


def test_strings_that_may_name_it_are_told() -> None:
    view = snapshot(memory(package(use="import importlib\nimportlib.import_module('app.m')\n")))
    (note,) = plan_move_file(view, "app/m.py", "lib/n.py").notes
    assert note.startswith("left as it is: use.py:2:30 (")


@pytest.mark.parametrize("use", ["from app.m import x\n", "from app import m\n", "import app.m as q\n"])
def test_an_import_that_would_lead_elsewhere_is_not_done(use: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(move_file, "spelled", lambda *_: "app.k")
    with pytest.raises(Refused) as refused:
        after(package(use=use))
    assert (refused.value.kind, refused.value.message) == (
        "name_capture",
        "use.py would not import lib/n.py any more",
    )


def test_neither_is_a_file_that_would_not_find_what_it_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(move_file, "spelled", lambda *_: "app.z")
    with pytest.raises(Refused) as refused:
        after(package() | {"app/m.py": "from .k import y\n", "app/k.py": "y = 1\n"})
    assert (refused.value.kind, refused.value.message) == (
        "name_capture",
        "app/m.py would not import app/k.py any more",
    )


def test_a_place_that_is_taken_is_refused() -> None:
    with pytest.raises(Refused) as refused:
        after(package(), new="app/k.py")
    assert refused.value.kind == "exists"


def test_a_module_with_a_stub_is_refused() -> None:
    files = package() | {"app/m.pyi": "x: int\n"}
    for old, beside in (("app/m.py", "app/m.pyi"), ("app/m.pyi", "app/m.py")):
        with pytest.raises(Refused) as refused:
            after(files, old, old.replace("app/m", "lib/n"))
        assert (refused.value.kind, beside in refused.value.message) == ("undecided", True)
