"""What happened, and when."""


def latest(entries: list[str], limit: int | None = None) -> list[str]:
    """The newest entries, all of them or at most `limit`."""
    ordered = sorted(entries, reverse=True)
    if not limit:
        return ordered
    return ordered[:limit]
