"""Spellings that Python folds into one name: identifiers are compared in the normal form NFKC.

`ﬁle` is `file`, `𝐱` is `x`. A search for the letters of a name does not find such spellings; every one of them has a
character that folds to a part of the name, and those characters can be searched for.
"""

from __future__ import annotations

import sys
import unicodedata
from functools import cache, lru_cache


def folded(name: str) -> str:
    """The name as Python reads it."""
    return name if name.isascii() else unicodedata.normalize("NFKC", name)


@lru_cache(maxsize=256)
def marks_of(name: str) -> tuple[str, ...]:
    """Characters of which every other spelling of `name` has one: those that fold to a part of it, and its own letters
    taken apart."""
    apart = unicodedata.normalize("NFKD", name)
    ranges = _ASCII if name.isascii() else _RANGES
    marks = {mark for part, spellings in _spellings(ranges).items() if part in name for mark in spellings}
    if apart != name:
        marks.update(character for character in apart if character not in name and not character.isascii())
    return tuple(sorted(marks))


@cache
def _spellings(ranges: tuple[tuple[int, int], ...]) -> dict[str, tuple[str, ...]]:
    """For each text of letters, digits and underscores: the single characters that fold to it."""
    found: dict[str, list[str]] = {}
    for first, last in ranges:
        for code in range(first, min(last, sys.maxunicode) + 1):
            character = chr(code)
            normal = unicodedata.normalize("NFKC", character)
            if normal != character and f"a{character}".isidentifier() and f"a{normal}".isidentifier():
                found.setdefault(normal, []).append(character)
    return {normal: tuple(characters) for normal, characters in found.items()}


_RANGES = (
    *((0xAA, 0x17F), (0x1C4, 0x1CC), (0x1F1, 0x1F3), (0x2B0, 0x2E4), (0x340, 0x387), (0x3D0, 0x3F9)),
    *(
        (0x587, 0x587),
        (0x675, 0x678),
        (0x958, 0x9DF),
        (0xA33, 0xA5E),
        (0xB5C, 0xB5D),
        (0xE33, 0xE33),
        (0xEB3, 0xEDD),
    ),
    *((0xF0C, 0xFB9), (0x10FC, 0x10FC), (0x1D2C, 0x1DBF), (0x1E9A, 0x1E9B), (0x1F71, 0x1FFC)),
    *((0x2071, 0x209C), (0x2102, 0x2149), (0x2160, 0x2188), (0x2C7C, 0x2C7D), (0x2D6F, 0x2D6F)),
    *((0x2E9F, 0x2FD5), (0x3038, 0x303A), (0x309F, 0x30FF), (0x3131, 0x318E), (0xA69C, 0xA69D)),
    *((0xA770, 0xA770), (0xA7F2, 0xA7F9), (0xAB5C, 0xAB69), (0xF900, 0xFAD9), (0xFB00, 0xFBB1)),
    *((0xFBD3, 0xFDFB), (0xFE33, 0xFE4F), (0xFE70, 0xFEFC), (0xFF10, 0xFFDC), (0x10780, 0x107BA)),
    *((0x1D400, 0x1D7FF), (0x1EE00, 0x1EEBB), (0x1CCD6, 0x1CCF9), (0x1FBF0, 0x1FBF9), (0x2F800, 0x2FA1D)),
)
"""Where such characters lie; other parts of Unicode have none."""

_ASCII = (
    *((0xAA, 0xBA), (0x132, 0x133), (0x17F, 0x17F), (0x1C7, 0x1CC), (0x1F1, 0x1F3), (0x2B0, 0x2B8)),
    *((0x2E1, 0x2E3), (0x1D2C, 0x1D65), (0x1D9C, 0x1DA0), (0x1DBB, 0x1DBB), (0x2071, 0x209C)),
    *((0x2102, 0x217F), (0x2C7C, 0x2C7D), (0xA7F2, 0xA7F4), (0xFB00, 0xFB06), (0xFE33, 0xFE34)),
    *((0xFE4D, 0xFE4F), (0xFF10, 0xFF5A), (0x107A5, 0x107A5), (0x1CCD6, 0x1CCF9), (0x1D400, 0x1D6A3)),
    *((0x1D7CE, 0x1D7FF), (0x1FBF0, 0x1FBF9)),
)
"""Where those lie that fold to ASCII."""
