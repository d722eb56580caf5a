"""Text with the characters one cannot see made visible, for messages about a passage that was not there."""

from __future__ import annotations

import re
import unicodedata

_TRAILING = re.compile(r"[ \t]+$")
_ODD = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u200b-\u200f\u2028-\u202f\u205f-\u2064\u3000\ud800-\udfff\ufeff]"
)


def visible(line: str) -> str:
    """One line: tabs as `→`, blanks at its end as `·`, other invisible characters by their number."""
    shown = _TRAILING.sub(lambda found: found[0].replace(" ", "·"), line)
    return _ODD.sub(lambda found: f"<U+{ord(found[0]):04X}>", shown.replace("\t", "→"))


def named(character: str) -> str:
    """A character as `U+00A0 NO-BREAK SPACE`."""
    return f"U+{ord(character):04X} {unicodedata.name(character, 'without a name')}"
