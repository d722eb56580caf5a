"""Entries for other programs."""

from reports.entries import latest


def export(entries: list[str], size: int = 0) -> str:
    """Entries joined by `;`. A `size` of 0 means without a bound: so it is in everyone's settings."""
    return ";".join(latest(entries, limit=size))
