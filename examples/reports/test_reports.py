from reports.entries import latest
from reports.export import export
from reports.page import page

ENTRIES = ["2026-01-01 a", "2026-01-03 c", "2026-01-02 b"]


def test_the_newest_come_first():
    assert latest(ENTRIES, limit=2) == ["2026-01-03 c", "2026-01-02 b"]


def test_all_without_a_limit():
    assert len(latest(ENTRIES)) == 3


def test_a_page_says_how_many():
    assert page(ENTRIES, limit=1) == "2026-01-03 c\n1 of 3"


def test_an_export_has_no_bound_unless_one_is_set():
    assert export(ENTRIES) == "2026-01-03 c;2026-01-02 b;2026-01-01 a"
    assert export(ENTRIES, size=1) == "2026-01-03 c"
