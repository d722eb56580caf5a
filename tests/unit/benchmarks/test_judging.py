"""What the tests of a package say about a rename: judged on packages made here, with the pytest that runs this."""

import sys
from pathlib import Path

import pytest

from benchmarks.real_renames.answers import Answer, difference
from benchmarks.real_renames.judging import Judge, Outcome, Site, is_named, renames, sites_of
from benchmarks.real_renames.projects import Project, Suite, counts_of, without_checkers
from benchmarks.real_renames.symbols import Symbol, candidates, definition_alone, draw, fresh_name
from benchmarks.real_renames.tools import Named

TREE = {
    "shop/__init__.py": b"",
    "shop/cart.py": b"""\
LIMIT = 3


class Cart:
    size = 2

    def __init__(self, items):
        self.items = items

    @property
    def full(self):
        return len(self.items) >= LIMIT

    def add(self, item):
        self.items.append(item)
        return self

    def never(self):
        return LIMIT
""",
    "tests/test_cart.py": b"""\
from shop.cart import Cart


def test_add():
    assert Cart([]).add(1).items == [1]
    assert not Cart([]).full
    assert getattr(Cart, "size") == 2
""",
}
EXECUTED = {"shop/cart.py": {1, 4, 5, 7, 8, 10, 11, 12, 14, 15, 16, 18}}
ADD = Symbol("shop/cart.py", 14, 9, "add", "method")


class Here(Project):
    """Runs its tests with the Python of these tests."""

    @property
    def python(self) -> Path:
        return Path(sys.executable)


def rewritten(**files: tuple[bytes, bytes]) -> Answer:
    """The tree with one text in place of another, in the cart or its tests."""
    after = dict(TREE)
    for path, (old, new) in files.items():
        name = {"cart": "shop/cart.py", "tests": "tests/test_cart.py"}[path]
        after[name] = after[name].replace(old, new)
    return difference(TREE, after)


@pytest.mark.parametrize(
    ("answer", "outcome", "why"),
    [
        (rewritten(cart=(b"add(", b"put("), tests=(b"add(", b"put(")), Outcome.OK, ""),
        (rewritten(cart=(b"add(", b"put(")), Outcome.BROKE, "'Cart' object has no attribute 'add'"),
        (rewritten(cart=(b"def add(", b"def put add(")), Outcome.BROKE, "does not compile"),
        (rewritten(cart=(b"LIMIT", b"MOST")), Outcome.NO_OP, "kept its name"),
        (rewritten(cart=(b"def add(", b"def put(:"), tests=(b"add", b"put")), Outcome.BROKE, "compile"),
        (Answer(), Outcome.NO_OP, "no edits"),
    ],
)
def test_outcomes(answer: Answer, outcome: Outcome, why: str) -> None:
    verdict = Judge(Here("shop", "", "shop"), TREE, Suite(True, {"passed": 1}, 5.0, "")).verdict(
        ADD, "put", answer
    )
    assert verdict.outcome == outcome
    assert why in verdict.why
    if why.startswith("'Cart'"):
        assert Site("tests/test_cart.py", 5) in verdict.sites


def test_a_suite_that_runs_fewer_tests_is_broken() -> None:
    assert not Suite(True, {"passed": 1}, 1.0, "").agrees_with(Suite(True, {"passed": 2}, 1.0, ""))


def test_the_last_line_counts() -> None:
    assert counts_of("2 failed\n=== 1 failed, 3 passed, 2 errors, 1 warning in 0.1s ===\n") == {
        "failed": 1,
        "passed": 3,
        "error": 2,
    }


def test_sites_are_told_as_they_stood_before() -> None:
    output = """\
src/new.py:3: in f
    g()
/project/tests/test_a.py:7: in <module>
E     File "/project/src/new.py", line 9
/usr/lib/python3/x.py:1: in h
"""
    sites = sites_of(
        output, Path("/project"), {"src/old.py": b"", "tests/test_a.py": b""}, {"src/old.py": "src/new.py"}
    )
    assert sites == (Site("src/old.py", 3), Site("tests/test_a.py", 7), Site("src/old.py", 9))
    assert is_named(sites, [Named("src/old.py", 9)])
    assert not is_named(sites, [Named("src/old.py", 8), Named("src/new.py", 3)])


def test_a_definition_alone() -> None:
    answer = definition_alone(TREE, ADD, "put")
    assert answer.written == {"shop/cart.py": TREE["shop/cart.py"].replace(b"def add", b"def put")}
    assert renames(answer, ADD, "put")
    module = Symbol("tests/test_cart.py", 1, 11, "cart", "module", "shop/cart.py")
    moved = definition_alone(TREE, module, "basket")
    assert (list(moved.written), list(moved.deleted)) == (["shop/basket.py"], ["shop/cart.py"])
    assert renames(moved, module, "basket") and not renames(answer, module, "basket")


def test_candidates() -> None:
    found = {(symbol.kind, symbol.name, symbol.place) for symbol in candidates(TREE, "shop", EXECUTED)}
    assert found == {
        ("class", "Cart", "shop/cart.py:4:7"),
        ("property", "full", "shop/cart.py:11:9"),
        ("method", "add", "shop/cart.py:14:9"),
        ("parameter", "items", "shop/cart.py:7:24"),
        ("parameter", "item", "shop/cart.py:14:19"),
        ("attribute", "items", "shop/cart.py:8:14"),
        ("variable", "LIMIT", "shop/cart.py:1:1"),
        ("module", "cart", "shop/cart.py::"),
    }


def test_columns_are_code_points() -> None:
    tree = {"p/m.py": "def f(é, name):\n    return 'ü', é, name\n\n\nf(1, name=2)\n".encode()}
    found = {symbol.name: symbol.column for symbol in candidates(tree, "p", {"p/m.py": {1, 2, 5}})}
    assert found == {"f": 5, "é": 7, "name": 10}


def test_a_draw_is_repeatable_and_mixed() -> None:
    found = candidates(TREE, "shop", EXECUTED)
    drawn = draw(found, 2, "seed")
    assert drawn == draw(list(reversed(found)), 2, "seed")
    assert len({symbol.name for symbol in drawn}) == len(drawn)
    kinds = [symbol.kind for symbol in drawn]
    assert len(set(kinds[: len(set(kinds))])) == len(set(kinds))


def test_a_fresh_name_keeps_the_style() -> None:
    def fresh(name: str, kind: str) -> str:
        return fresh_name({"a.py": b"taken_renamed = 1"}, Symbol("a.py", 1, 1, name, kind))

    assert fresh("LIMIT", "variable") == "LIMIT_RENAMED"
    assert fresh("Cart", "class") == "CartRenamed"
    assert fresh("_add", "method") == "_add_renamed"
    assert fresh("taken", "method") == "taken_renamed2"


def test_settings_of_type_checkers_are_left_out() -> None:
    settings = b'[tool.mypy]\nfiles = ["src"]\n\n[[tool.mypy.overrides]]\nx = 1\n\n[tool.pytest]\ny = 1\n'
    kept = without_checkers({"pyproject.toml": settings, "ty.toml": b"", "a.py": b""})
    assert kept == {"pyproject.toml": b"[tool.pytest]\ny = 1\n", "a.py": b""}
