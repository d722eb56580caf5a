"""Why nothing was found, and what comes nearest: an empty answer that says neither is taken for proof of absence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from lsptools.errors import BadRequest
from lsptools.tools.base import Context
from lsptools.workspace.found import Case, Query

MOST_NAMES = 5
_SAMPLE = 2_000
"""Lines that are looked at for a name that comes near."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """What is said instead of places."""

    reason: str
    nearest: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """For a model."""
        near = ", ".join(f"`{name}`" for name in self.nearest)
        return (self.reason, f"nearest names: {near}") if near else (self.reason,)


_NONE = {
    "callers": "nothing in the workspace calls it, as far as this is known",
    "callees": "its body calls nothing",
    "implementations": "nothing in the workspace overrides it or is a subclass of it",
    "hierarchy": "it has no bases but `object`, and no subclass in the workspace",
}


def nothing(tool: str, arguments: Mapping[str, object], context: Context) -> Nothing | None:
    """Why a declared tool found nothing with these arguments; `None` for tools whose answer says so itself."""
    if tool == "search":
        return _no_text(arguments, context)
    if tool == "symbols":
        return _no_symbol(arguments, context)
    if tool == "refs":
        return Nothing(
            "no occurrence is of the classes, or at the place, that was asked for; the counts are of all"
        )
    if tool in _NONE:
        return Nothing(_NONE[tool])
    if tool == "def":
        return Nothing("the name has no definition that could be found, in the workspace or in a library")
    return None


def _no_text(arguments: Mapping[str, object], context: Context) -> Nothing:
    query, globs = str(arguments["query"]), _globs(arguments)
    n_files = len(context.snapshot.files(globs=globs))
    if not n_files:
        return Nothing(
            f"no file that is searched fits the globs {', '.join(globs)}"
            if globs
            else "there is no file to search"
        )
    where = f"{n_files} file{'' if n_files == 1 else 's'}" + (f" ({', '.join(globs)})" if globs else "")
    if arguments.get("structural"):
        return Nothing(f"the query matches nothing in the Python files among {where}")
    is_regex, word = bool(arguments.get("regex")), bool(arguments.get("word"))
    reasons = [f"{'no match of' if is_regex else 'no line with'} {query!r} in {where}"]
    if not arguments.get("ignore_case") and (
        n := _count(context, query, globs, not is_regex, word, Case.INSENSITIVE)
    ):
        reasons.append(f"with ignore_case there are {n}")
    if word and (n := _count(context, query, globs, not is_regex, False, Case.SENSITIVE)):
        reasons.append(f"without word there are {n}")
    may_be_regex = not is_regex and re.search(r"[\\.*+?\[\](){}|^$]", query) and _is_regex(query)
    if may_be_regex and (n := _count(context, query, globs, False, word, Case.SENSITIVE)):
        reasons.append(f'with mode="regex" there are {n}')
    return Nothing("; ".join(reasons), _near(query, context, globs))


def _no_symbol(arguments: Mapping[str, object], context: Context) -> Nothing:
    query = str(arguments["query"])
    kinds = arguments.get("kinds")
    of_kind = f" of kind {', '.join(map(str, kinds))}" if isinstance(kinds, list | tuple) and kinds else ""
    named = f"called `{query}`" if arguments.get("exact") else f"with `{query}` in its name"
    return Nothing(
        f"no definition{of_kind} {named}; locals and imports are not listed, and case counts",
        _near(query.rpartition(".")[2], context, ("*.py", "*.pyi"), defined=True),
    )


def _count(context: Context, query: str, globs: tuple[str, ...], fixed: bool, word: bool, case: Case) -> int:
    asked = Query(query, fixed=fixed, word=word, case=case, globs=globs, limit=1)
    try:
        return context.snapshot.search(asked).n_matches
    except BadRequest:
        return 0  # it is no expression


def _near(query: str, context: Context, globs: tuple[str, ...], *, defined: bool = False) -> tuple[str, ...]:
    """Names of the workspace that are spelled much alike; only those that begin alike are looked at."""
    words = re.findall(r"\w{3,}", query)
    if not words:
        return ()
    word = max(words, key=len)
    start = re.escape(word[:2])
    pattern = rf"(def|class)\s+_*{start}\w*" if defined else rf"\b{start}\w+"
    asked = Query(pattern, case=Case.INSENSITIVE, globs=globs, limit=_SAMPLE)
    hits = context.snapshot.search(asked)
    names = (line.text[begin:end].split()[-1] for line in hits.lines for begin, end in line.spans)
    return tuple(get_close_matches(word, _without(word, names), n=MOST_NAMES, cutoff=0.6))


def _without(word: str, names: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name != word]


def _is_regex(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True


def _globs(arguments: Mapping[str, object]) -> tuple[str, ...]:
    globs = arguments.get("globs")
    return tuple(map(str, globs)) if isinstance(globs, list | tuple) else ()
