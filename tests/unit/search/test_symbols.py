"""Definitions by name: what counts as a hit, and in which order."""

from pathlib import Path

import pytest

from lsptools.errors import BadRequest
from lsptools.search.symbols import symbols
from lsptools.workspace.operations import LocalOperations
from lsptools.workspace.paths import Root
from lsptools.workspace.ripgrep import Rg
from lsptools.workspace.snapshot import Snapshot

SHOP = """\
TOTAL = 1
class Order:
    total: int
    def total_of(self): ...
    def subtotal(self):
        total = 1
def total(): ...
type Totals = list[int]
"""


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "uses.py").write_text("from shop import total\ntotal()\n")
    (tmp_path / "notes.txt").write_text("def total(): ...\n")
    (tmp_path / "stub.pyi").write_text("def total() -> int: ...\n")
    return Snapshot(Root.of(tmp_path), LocalOperations(), Rg(None))


@pytest.mark.parametrize(
    ("query", "options", "expected"),
    [
        (
            "total",
            {},
            [
                "shop.py attribute Order.total",
                "shop.py function total",
                "stub.pyi function total",
                "shop.py method Order.total_of",
                "shop.py method Order.subtotal",
            ],
        ),
        (
            "total",
            {"exact": True},
            ["shop.py attribute Order.total", "shop.py function total", "stub.pyi function total"],
        ),
        ("total", {"kinds": frozenset({"function"})}, ["shop.py function total", "stub.pyi function total"]),
        ("Order.total", {"exact": True}, ["shop.py attribute Order.total"]),
        ("Order.total", {}, ["shop.py attribute Order.total", "shop.py method Order.total_of"]),
        ("Total", {}, ["shop.py type Totals"]),
        ("TOTAL", {}, ["shop.py variable TOTAL"]),
        ("nothing", {}, []),
    ],
)
def test_symbols(snapshot: Snapshot, query: str, options: dict[str, object], expected: list[str]) -> None:
    found = symbols(snapshot, query, **options)  # type: ignore[arg-type]  # the options of a test
    assert [f"{each.path} {each.item.kind} {each.qualified}" for each in found.definitions] == expected


@pytest.mark.parametrize("query", ["", ".", "a..b", "Order."])
def test_what_is_no_name(snapshot: Snapshot, query: str) -> None:
    with pytest.raises(BadRequest):
        symbols(snapshot, query)


def test_an_unsaved_text_counts(snapshot: Snapshot) -> None:
    unsaved = snapshot.with_overlays({"shop.py": "def grand_total(): ...\n", "stub.pyi": None})
    assert [each.qualified for each in symbols(unsaved, "total").definitions] == ["grand_total"]
