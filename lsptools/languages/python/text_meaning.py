"""What an occurrence in text is, as a value: bound to something, or of a class of evidence by itself."""

from __future__ import annotations

from dataclasses import dataclass

from lsptools.languages.names import Evidence
from lsptools.languages.python.meaning import NOTHING, Meaning
from lsptools.languages.python.values import Types


@dataclass(frozen=True, slots=True)
class TextMeaning:
    """What an occurrence in text is: bound (`meaning` has roots), or of a class of its own."""

    evidence: Evidence | None
    """None: look at `meaning`."""
    reason: str
    meaning: Meaning = NOTHING
    receiver: Types | None = None
    """For `getattr(x, "name")`: the values of `x`."""
