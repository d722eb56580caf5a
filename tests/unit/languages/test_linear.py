"""What grows with the size of a statement or a hierarchy grows no faster than it: steps are counted, not seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from changing import bench

from lsptools import open_workspace
from lsptools.faces.environment import Environment
from lsptools.languages.python import given
from lsptools.languages.python.closure import Groups
from lsptools.languages.python.meaning import Root
from lsptools.languages.python.mentions import OtherFile
from lsptools.languages.python.modules import Project, literal_string

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


class Read(str):
    """A text that counts how much of it is taken out or searched backwards."""

    n_read = 0

    def __getitem__(self, key: Any) -> str:
        part = super().__getitem__(key)
        Read.n_read += len(part)
        return part

    def rfind(self, sub: str, *between: Any) -> int:
        Read.n_read += len(range(len(self))[slice(*between)])
        return super().rfind(sub, *between)


@pytest.mark.parametrize(
    ("name", "before", "between", "after"),
    [
        ("notes.txt", "", " ", ""),
        ("data.json", '["', '", "', '"]'),
        ("page.html", "{{ ", " ", " }}"),
        ("setup.cfg", "", " = ", ""),
    ],
)
def test_a_word_in_a_long_line_is_looked_at_alone(name: str, before: str, between: str, after: str) -> None:
    text = Read(f"{before}{between.join(['value'] * N)}{after}\n")
    file = OtherFile(name, text, "m", lambda _: False)
    Read.n_read = 0
    step = len("value" + between)
    for start in range(len(before), len(before) + N * step, step):
        assert text.startswith("value", start)
        file.meaning(start, start + 5)
    assert Read.n_read < 600 * N


def test_the_keys_of_a_display_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n_read = 0

    def counted(*asked: Any) -> str | None:
        nonlocal n_read
        n_read += 1
        return literal_string(*asked)

    monkeypatch.setattr(given, "literal_string", counted)
    keys = '", "'.join(["value"] * N).replace(",", ": 1,")
    tmp_path.joinpath("m.py").write_text("def f(value): ...\n\nf(**unknown)\n", "utf-8")
    tmp_path.joinpath("a.py").write_text(f'rows = {{"{keys}": 1}}\n', "utf-8")
    found = open_workspace(tmp_path).references("m.py::f.value")
    assert len(found.occurrences) >= N
    assert N <= n_read < 10 * N
