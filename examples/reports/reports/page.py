"""Entries for people."""

from reports.entries import latest


def page(entries: list[str], limit: int | None = None) -> str:
    """One entry a line, and how many there are."""
    shown = latest(entries, limit=limit)
    return "\n".join([*shown, f"{len(shown)} of {len(entries)}"])
