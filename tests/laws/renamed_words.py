"""Two lists of lines, made before and after a rename: what is in one only, but for the new name in place of the old one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_WORD = re.compile(r"\w+|[^\w\s]")


def unmatched(before: Iterable[str], after: Iterable[str], old: str, new: str) -> tuple[list[str], list[str]]:
    """The lines that are gone, and those that are new."""
    was, now = Counter(before), Counter(after)
    come = now - was
    gone = []
    for one in (was - now).elements():
        other = next((each for each in come if come[each] and may_become(one, each, old, new)), None)
        if other is None:
            gone.append(one)
        else:
            come[other] -= 1
    return gone, list(come.elements())


def may_become(one: str, other: str, old: str, new: str) -> bool:
    """Are they the same words, but that some with the old name in them have the new one there?"""
    if one == other:
        return True
    bare, bare_new = (
        old.lstrip("_") or old,
        new.lstrip("_") or new,
    )  # a private name has that of its class in front
    words, others = _WORD.findall(one), _WORD.findall(other)
    return len(words) == len(others) and all(
        word == now or (bare in word and bare_new in now) for word, now in zip(words, others, strict=True)
    )
