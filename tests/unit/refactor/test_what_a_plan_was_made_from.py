"""A plan holds as long as every file that was read for it is what it was, not only the files it edits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from changing import Bench, bench

from lsptools.errors import Stale
from lsptools.faces.environment import Environment
from lsptools.languages.names import FilePosition
from lsptools.languages.python.parallel import ENOUGH
from lsptools.refactor.move import plan_move
from lsptools.refactor.move_file import plan_move_file
from lsptools.refactor.rename import Policy, plan_rename
from lsptools.refactor.signature_renames import plan_parameters
from lsptools.refactor.signature_request import parse_edit
from lsptools.text.lines import Offset
from lsptools.workspace.change import Change
from lsptools.workspace.snapshot import Snapshot

READ = {
    "shape.py": b"class Shape:\n    def area(self): ...\n",
    "use.py": b"from made import make\n\nmake().area()\n",
    "made.py": b"from shape import Shape\n\n\ndef make():\n    return Shape()\n",
    "other.py": b"class Other:\n    def area(self): ...\n",
    "fresh.py": b"surface = 1\n",
    "apart.py": b"x = 1\n",
}
MANY = {f"many/m{number}.py": b"import shape\n\nshape.Shape().area()\n" for number in range(2 * ENOUGH)}


def planned(at: Bench, path: str, before: bytes, new_name: str) -> Change:
    """The rename of what stands at `before` in a file."""
    snapshot = Environment().context(at.root).snapshot
    place = FilePosition(path, Offset((at.ws / path).read_bytes().index(before)))
    return plan_rename(snapshot, place, new_name).change


@pytest.mark.parametrize("name", ["made.py", "other.py", "fresh.py"])
@pytest.mark.parametrize("more", [{}, MANY], ids=["few", "many"])
def test_a_file_that_decided_what_names_mean_has_changed(
    tmp_path: Path, name: str, more: dict[str, bytes]
) -> None:
    at = bench(tmp_path, READ | more)
    change = planned(at, "shape.py", b"area", "surface")
    before = at.tree
    assert name not in {file.path for file in change.edits}
    (at.ws / name).write_bytes(READ[name] + b"\n")
    with pytest.raises(Stale) as caught:
        at.apply(change)
    assert [site.path for site in caught.value.sites] == [name]
    (at.ws / name).write_bytes(READ[name])
    assert at.tree == before
    at.apply(change)
    assert b"surface" in (at.ws / "use.py").read_bytes()


def test_files_that_have_nothing_to_do_with_it_may_change(tmp_path: Path) -> None:
    at = bench(tmp_path, READ)
    change = planned(at, "shape.py", b"area", "surface")
    (at.ws / "apart.py").write_bytes(b"y = 1\n")
    at.apply(change)
    assert b"surface" in (at.ws / "use.py").read_bytes()


def test_of_two_plans_one_of_which_reads_what_the_other_edits_only_one_is_done(tmp_path: Path) -> None:
    files = {
        "a.py": b"from b import g\n\n\ndef f():\n    return g()\n",
        "b.py": b"def g():\n    return f\n\n\nf = 1\n",
    }
    at = bench(tmp_path, files)
    first = planned(at, "a.py", b"f():", "h")
    second = planned(at, "b.py", b"f = 1", "h")
    assert [file.path for file in first.edits] == ["a.py"]
    assert [file.path for file in second.edits] == ["b.py"]
    at.apply(first)
    with pytest.raises(Stale):
        at.apply(second)


ADDED = parse_edit(["size=1"], [], "", ["size=2"])
NOTHING_ADDED = parse_edit([], [], "", [])
OTHER_PLANS: dict[str, tuple[dict[str, bytes], str, Callable[[Snapshot], Change]]] = {
    "move": (
        {
            "a.py": b"from c import g\n\n\ndef f():\n    return g()\n",
            "b.py": b"from d import g\n",
            "c.py": b"def g():\n    pass\n",
            "d.py": b"from c import g\n",
        },
        "d.py",
        lambda view: plan_move(view, FilePosition("a.py", Offset(22)), "b").change,
    ),
    "signature": (
        READ,
        "made.py",
        lambda view: plan_parameters(view, AREA, ADDED, [], Policy()).change,
    ),
    "signature with a rename": (
        READ | {"shape.py": b"class Shape:\n    def area(self, x=1): ...\n"},
        "made.py",
        lambda view: plan_parameters(view, AREA, ADDED, [("x", "y")], Policy()).change,
    ),
    "only a rename": (
        READ
        | {"shape.py": b"class Shape:\n    def area(self, x=1): ...\n"}
        | {"use.py": b"from made import make\n\nmake().area(x=2)\n"},
        "made.py",
        lambda view: plan_parameters(view, AREA, NOTHING_ADDED, [("x", "y")], Policy()).change,
    ),
    "moved file": (
        {
            "app/__init__.py": b"",
            "app/m.py": b"from .k import x\n",
            "app/k.py": b"x = 1\n",
            "lib/__init__.py": b"",
            "use.py": b"from app.m import x\n",
        },
        "app/k.py",
        lambda view: plan_move_file(view, "app/m.py", "lib/m.py"),
    ),
}
AREA = FilePosition("shape.py", Offset(READ["shape.py"].index(b"area")))


@pytest.mark.parametrize("what", OTHER_PLANS)
def test_so_do_other_plans(tmp_path: Path, what: str) -> None:
    files, name, plan = OTHER_PLANS[what]
    at = bench(tmp_path, files)
    before = at.tree
    change = plan(Environment().context(at.root).snapshot)
    assert name not in {file.path for file in change.edits}
    (at.ws / name).write_bytes(files[name] + b"\n")
    with pytest.raises(Stale) as caught:
        at.apply(change)
    assert [site.path for site in caught.value.sites] == [name]
    (at.ws / name).write_bytes(files[name])
    assert at.tree == before
    at.apply(change)
    assert at.tree != before
