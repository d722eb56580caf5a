"""What grows with the size of a statement or a hierarchy grows no faster than it: steps are counted, not seconds."""

from __future__ import annotations

from pathlib import Path

import pytest
from changing import bench

from lsptools.faces.environment import Environment
from lsptools.languages.python.closure import Groups
from lsptools.languages.python.meaning import Root
from lsptools.languages.python.modules import Project

N = 3000


class Counting(str):
    """A path that counts how often it is hashed."""

    n_hashed = 0

    def __hash__(self) -> int:
        Counting.n_hashed += 1
        return super().__hash__()


@pytest.mark.parametrize("operator", ["+", "and", "or", "* -"])
def test_paths_are_short_in_a_statement_of_many_operators(tmp_path: Path, operator: str) -> None:
    text = f"x = {f' {operator} '.join(['a.m()'] * N)}\n"
    at = bench(tmp_path, {"a.py": text.encode()})
    source = Project(Environment().context(at.root).snapshot).source("a.py")
    assert source is not None
    sites = source.sites("m")
    assert len(sites) == N
    assert max(len(site.path) for site in sites) < 20
    assert {site.path[-2][0].type for site in sites} == {"attribute"}


@pytest.mark.parametrize("overriding", ["each its base", "all the same base", "in a chain"])
def test_thousands_of_overrides_become_one_group(overriding: str) -> None:
    def root(number: int) -> Root:
        return Root("member", Counting("a.py"), number, "m")

    above = {
        "each its base": lambda n: n // 2,
        "all the same base": lambda n: 0,
        "in a chain": lambda n: n - 1,
    }
    groups = Groups()
    Counting.n_hashed = 0
    for number in range(N, 0, -1):
        groups.join((root(number), root(above[overriding](number))))
    assert groups.members(root(0)) == {root(number) for number in range(N + 1)}
    assert Counting.n_hashed < 60 * N
