"""The lines by which a model leaves something out ("… rest unchanged …"), which are never meant to be written.

A line counts if it is a comment, or stands in brackets, or is nothing else, has an ellipsis, and speaks of a rest that stays. Without
an ellipsis it has to be a comment, and to say both: what is left out, and that it stays or was omitted.
One that stands in the old text, or in the file, is the file's own. Dots that touch one name are the spread of JavaScript
(`{...rest}`), and no words.
"""

from __future__ import annotations

import re

from lsptools.errors import BadRequest

_WHAT = r"(?:code|file|lines?|methods?|functions?|class(?:es)?|imports?|contents?|implementation|logic|body|definitions?|text|tests?|module|document|content|sections?|config(?:uration)?|script|component|props|styles?|fields?|entries|items)"
_STAYS = r"(?:unchanged|(?:remains?|stays?|is|are)?\s*(?:unchanged|the same|as (?:is|before|it was|they were))|same as (?:before|above)|omitted(?: for brevity)?|goes? here|here|not shown)"
_SPEAKS = re.compile(
    rf"(?:the\s+)?(?:"
    rf"(?:rest|remainder)(?:\s+of\s+(?:the\s+|this\s+|your\s+)?(?:\w+\s+){{0,2}}{_WHAT})?(?:\s+{_STAYS})?"
    rf"|(?:existing|remaining|previous|original|other|unchanged|same)\s+(?:\w+\s+)?{_WHAT}(?:\s+{_STAYS})?"
    rf"|(?:\w+\s+)?{_WHAT}\s+{_STAYS}"
    rf"|(?:unchanged|omitted for brevity|no changes?|same as before|keep (?:the )?(?:existing|rest).*)"
    rf")",
    re.IGNORECASE,
)
_REST = rf"(?:the\s+)?(?:rest|remainder)(?:\s+of\s+(?:the\s+|this\s+|your\s+)?(?:\w+\s+){{0,2}}{_WHAT})?"
_SAYS_PLAINLY = re.compile(
    rf"{_REST}\s+{_STAYS}"
    rf"|(?:the\s+)?(?:existing|remaining|previous|original|other)\s+(?:\w+\s+)?{_WHAT}\s+{_STAYS}"
    rf"|(?:the\s+)?(?:existing|remaining)\s+(?:code|implementation)",
    re.IGNORECASE,
)
"""What needs no ellipsis to be understood."""
_LEADERS = re.compile(r"^(?:#+|//+|--+|;+|%+|\*+|/\*+|<!--+|\{/\*+|\"\"\"|''')\s*")
_TRAILERS = re.compile(r"\s*(?:\*+/\}?|--+>|\"\"\"|''')$")
_ELLIPSIS = re.compile(r"\.{3,}|…")
_HINT = re.compile(
    r"\.{3}|…|\b(?:rest|remainder|existing|remaining|previous|original|other)\b", re.IGNORECASE
)
"""Without any of these, no line has to be looked at."""
_SPREAD = re.compile(r"[\[({]*\s*\.{3}(?!unchanged|omitted)[A-Za-z_$][\w$]*(?:\.[\w$]+)*\s*[\])}]*[,;]?")


def check_no_placeholder(new: str, *known: str) -> None:
    """`invalid` if `new` has such a line and none of the known texts has it."""
    if not _HINT.search(new):
        return
    for number, line in enumerate(re.split(r"\r\n|\n|\r", new), 1):
        words = line.strip()
        if is_placeholder(words) and not any(words in text for text in known):
            raise BadRequest(
                "invalid",
                f"line {number} of the new text stands for text that was left out: {words[:80]}",
                hint="send the whole text, or an edit of only what changes",
            )


def is_placeholder(line: str) -> bool:
    """Is a line, without blanks around it, one of these?"""
    if len(line) > 120 or _SPREAD.fullmatch(line):
        return False
    bare = _TRAILERS.sub("", _LEADERS.sub("", line))
    is_comment = bare != line
    bare = bare.strip(" ()[]{}<>")
    if not _ELLIPSIS.search(line):
        words = re.sub(r"\s+", " ", bare.rstrip(".")).strip()
        return is_comment and _SAYS_PLAINLY.fullmatch(words) is not None
    inner = _ELLIPSIS.sub(" ", bare).strip(" ,;:()[]-–—.").strip()
    begins_or_ends = _ELLIPSIS.match(bare) or _ELLIPSIS.search(bare[-4:])
    if not inner or not begins_or_ends:
        return False
    is_alone = is_comment or line[:1] in "([<{.…"
    return is_alone and _SPEAKS.fullmatch(re.sub(r"\s+", " ", inner)) is not None
