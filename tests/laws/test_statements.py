"""A file parsed statement by statement says of every name what it says when it is parsed as a whole."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from laws.packages import files_of, nightly_packages

from lsptools.languages.python.scopes import Scope, Site, Source
from lsptools.languages.python.statements import beginnings
from lsptools.text.document import Document

FLOORS = {"click": 25_000, "rich": 25_000, "_pytest": 60_000, "packaging": 8_000, "pathspec": 2_000}
"""How many occurrences there must be at least."""


def said(source: Source, site: Site) -> object:
    def scope(one: Scope | None) -> object:
        return one and (one.kind, one.name, one.start, one.end, scope(one.parent))

    path = [(node.type, node.start_byte, node.end_byte, field) for node, field in site.path]
    owner = source.names(site.spelling).scope_at(site) if site.spelling == source.text_of(site) else None
    return site.start, site.end, site.role, site.spelling, scope(site.scope), scope(owner), path


def differences(data: bytes, path: str) -> tuple[int, list[str]]:
    """How many occurrences there are, and those of which the two say something else; none in files that do not parse."""
    document = Document.decode(data)
    whole, parts = Source(path, document), Source(path, document, whole=False)
    if whole.is_broken:
        return 0, []
    wrong, n_occurrences = [], 0
    for name in sorted(set(re.findall(r"[^\W\d]\w*", document.text))):
        one = [said(whole, site) for site in whole.sites(name)]
        other = [said(parts, site) for site in parts.sites(name)]
        n_occurrences += len(one)
        if one != other:
            wrong.append(f"{path}: `{name}`")
    return n_occurrences, wrong


@pytest.mark.parametrize("package", [*FLOORS, *nightly_packages(FLOORS)])
def test_of_installed_packages(package: str, record_property: Callable[[str, object], None]) -> None:
    found = [differences(path.read_bytes(), str(path)) for path in files_of(package)]
    n_occurrences = sum(number for number, _ in found)
    wrong = [each for _, some in found for each in some]
    record_property("law", f"{package}: {n_occurrences} occurrences, parsed in parts and as a whole")
    assert not wrong, "\n".join(wrong[:40])
    assert n_occurrences >= FLOORS.get(package, 1)


SEVERAL = {
    "statements": "import a\nb = a\ndef f(): pass\n",
    "decorators": "@a\n# comment\n@b(\n1,\n)\nclass A: pass\nc = 1\n",
    "clauses": "if a:\n    b\nelif c:\n    d\nelse:\n    e\ntry:\n    f\nexcept g:\n    h\nfinally:\n    i\nj = 1\n",
    "a bracket": "a = [\nb,\nc, d\n]\ne(\nf=1)\ng = 2\n",
    "brackets that are none": 'a = "("\nb = 1  # :)\nc = {"[": "}"}\nd = f"{a}("\ne = 1\n',
    "a string": 'a = """\nb = 1\ndef c(): pass\n"""\nd = 2\n',
    "other quotes in it": "a = '''\nb = \"\"\"\nc = 1\n'''\nd = 2\n",
    "a string in a bracket": 'a(\n"""\nb = 1\n""", c)\nd = 2\n',
    "continued": "a = b + \\\nc\nd = 'x\\\ne = 1'\nf = 2\n",
    "continued, with other line ends": "a = b + \\\r\nc\r\nd = 2\r\n",
    "no spaces": "if a: b\nelse: c\nfor d in e: f\nelse: g\nh = 1\n",
    "names that begin like clauses": "elsewhere = 1\nexcepted = elsewhere\nfinally_ = excepted\n",
    "no last line end": "a = 1\nb = a",
    "other letters": "ä = 1\nß = ä\nprint(ß)\n",
    "an assignment to an attribute of a class": "a = 1\ntype(a).b = 2\ntype(a).c = 3\n",
}


@pytest.mark.parametrize("kind", SEVERAL)
def test_of_several_statements(kind: str) -> None:
    data = SEVERAL[kind].encode()
    compile(data, kind, "exec", 0x400)
    assert len(beginnings(data)) > 1, "nothing is tested"
    assert differences(data, f"{kind}.py")[1] == []


ONE = {
    "a quote in front": "a = ['x', '''\nb = 1\n''']\nc = 2\n",
    "quotes in a comment": 'a = 1  # """\nb = 2  # """\nc = 3\n',
    "quotes in a string": 'a = \'"""\'\nb = 1\nc = \'"""\'\n',
    "a backslash before the end": 'a = """\n\\"""\nb = 1\n"""\nc = 2\n',
    "a bracket too many": "a = 1)\nb = 2\n",
    "a bracket left open": "a = (1\nb = 2\nc = 3\n",
    "a string left open": 'a = """\nb = 2\nc = 3\n',
}


@pytest.mark.parametrize("kind", ONE)
def test_of_what_is_not_sure_all_is_one_part(kind: str) -> None:
    assert beginnings(ONE[kind].encode()) == [0]


def test_an_error_in_a_part_that_is_looked_at_is_one_of_the_file() -> None:
    source = Source("a.py", Document.decode(b"a = 1\ndef f(x:]): [a\nb = a\n"), whole=False)
    assert [site.start for site in source.sites("b")]
    assert not source.is_broken
    assert [site.start for site in source.sites("a")]
    assert source.is_broken
