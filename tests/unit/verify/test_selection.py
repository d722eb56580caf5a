"""Which tests reach a change: through mentions, imports, fixtures, base classes and set-ups; and which are chosen of many."""

from __future__ import annotations

from pathlib import Path

import pytest
from planting import planned, workspace

from lsptools.verify.selection import ENOUGH, select

FILES = {
    "app/__init__.py": "",
    "app/core.py": "LIMIT = 3\n\n\ndef low(x):\n    return x\n\n\nclass Base:\n    def run(self):\n        return low(1)\n",
    "app/high.py": "from app.core import Base\n\n\nclass Child(Base):\n    pass\n\n\ndef other():\n    return 2\n",
    "tests/conftest.py": "import pytest\nfrom app.high import Child\n\n\n@pytest.fixture\ndef child():\n    return Child()\n",
    "tests/test_high.py": (
        "import unittest\nfrom unittest import mock\nfrom app.high import other\nfrom app.core import low as deep\n\n\n"
        "def test_by_fixture(child):\n    assert child.run()\n\n\ndef test_other():\n    assert other() == 2\n\n\n"
        "def test_alias():\n    assert deep(1)\n\n\ndef test_patched():\n    with mock.patch('app.core.low'):\n        assert True\n\n\n"
        "class TestSet(unittest.TestCase):\n    def setUp(self):\n        self.child = deep(2)\n\n    def test_in_class(self):\n        assert self.child\n"
    ),
    "apart/test_apart.py": "def low():\n    return 1\n\n\ndef test_of_the_same_name():\n    assert low()\n",
}
HIGH = "tests/test_high.py"


@pytest.mark.parametrize(
    ("path", "old", "new", "wanted"),
    [
        (
            "app/core.py",
            "return x",
            "return x + 1",
            {"test_by_fixture", "test_alias", "test_patched", "TestSet"},
        ),
        ("app/high.py", "return 2", "return 3", {"test_other"}),
        ("app/core.py", "LIMIT = 3", "LIMIT = 4", set()),
        (HIGH, "other() == 2", "other() == 4", {"test_other"}),
    ],
)
def test_what_reaches_a_change(tmp_path: Path, path: str, old: str, new: str, wanted: set[str]) -> None:
    assert old in FILES[path]
    found = select(planned(workspace(tmp_path, FILES), {path: FILES[path].replace(old, new)}))
    assert set(found.ids) == {f"{HIGH}::{each}" for each in wanted}
    assert found.n_tests == 6 and not found.silent


def test_of_many_the_nearest_and_those_that_speak_of_it_are_chosen(tmp_path: Path) -> None:
    tests = "".join(f"def test_{number}():\n    assert through()\n\n\n" for number in range(100))
    files = {
        "app/__init__.py": "",
        "app/deep.py": "def rare_thing():\n    return 1\n\n\ndef middle():\n    return rare_thing()\n\n\ndef through():\n    return middle()\n",
        "tests/test_all.py": "from app.deep import middle, rare_thing, through\n\n\n"
        + tests
        + "def test_near():\n    assert rare_thing()\n\n\ndef test_the_rare_thing_from_far():\n    assert through()\n",
    }
    found = select(
        planned(workspace(tmp_path, files), {"app/deep.py": files["app/deep.py"].replace("1", "2")})
    )
    assert found.n_reaching == 102 and len(found.ids) == ENOUGH
    assert {"tests/test_all.py::test_near", "tests/test_all.py::test_the_rare_thing_from_far"} <= set(
        found.ids
    )


def test_a_method_that_nobody_names_is_reached_through_its_class(tmp_path: Path) -> None:
    files = {
        "app.py": "class Fields:\n    def get(self, name):\n        return getattr(self, f'_get_{name}')()\n\n"
        "    def _get_size(self):\n        return 1\n",
        "test_app.py": "from app import Fields\n\n\ndef test_size():\n    assert Fields().get('size') == 1\n",
    }
    found = select(planned(workspace(tmp_path, files), {"app.py": files["app.py"].replace("1", "2")}))
    assert found.ids == ("test_app.py::test_size",)
