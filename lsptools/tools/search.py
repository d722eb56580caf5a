"""`search`: text, or structure by a tree-sitter query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsptools.errors import BadRequest
from lsptools.tools.base import Context, Example, Positions, Tool, arg, checked_limit, unsearched

if TYPE_CHECKING:
    from lsptools.search.text import Match, Matches


@dataclass(frozen=True, slots=True)
class Params:
    query: str = arg(
        "the text; with --regex an expression; with --structural a tree-sitter query", positional=True
    )
    structural: bool = arg("QUERY is a tree-sitter query for Python", default=False, group="Query")
    regex: bool = arg(
        "QUERY is a regular expression, in ripgrep's syntax", default=False, group="Query", short="e"
    )
    word: bool = arg("match whole words only", default=False, group="Query", short="w")
    ignore_case: bool = arg("match letters of either case", default=False, group="Query", short="i")
    globs: tuple[str, ...] = arg(
        "search only files that match, as in ripgrep (`*.py`, `!tests/**`); repeat it for several",
        default=(),
        name="glob",
        group="Query",
        short="g",
    )
    context: int = arg("show N lines around each match", default=0, metavar="N", group="Output", short="C")
    limit: int = arg("list at most N matches", default=1000, metavar="N", group="Output")


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """What was found, as far as the limit allowed."""

    matches: Matches
    context: int
    positions: Positions
    is_structural: bool = False
    """Whether the syntax was searched, not the text."""

    @property
    def found(self) -> bool:
        return bool(self.matches.matches)

    @property
    def incomplete_because(self) -> tuple[str, ...]:
        """Files that could not be searched."""
        return unsearched(self.matches.skipped)

    def to_json(self) -> dict[str, object]:
        found = self.matches
        return {
            "complete": not self.incomplete_because,
            "incomplete_because": list(self.incomplete_because),
            "total": found.n_matches,
            "files": found.n_files,
            "truncated": len(found.matches) < found.n_matches,
            "matches": [self._match_json(match) for match in found.matches],
            "skipped": [{"path": skipped.path, "reason": skipped.reason} for skipped in found.skipped],
        }

    def _match_json(self, match: Match) -> dict[str, object]:
        text = self.positions.lines(match.path).text
        found = {
            **self.positions.located(match.path, match.span),
            "text": text[match.span.start : match.span.end],
        }
        if match.captures:
            found["captures"] = [
                {
                    "name": capture.name,
                    **self.positions.located(match.path, capture.span),
                    "text": text[capture.span.start : capture.span.end],
                }
                for capture in match.captures
            ]
        return found


def run(context: Context, params: Params) -> SearchAnswer:
    """Search the workspace."""
    snapshot, limit = context.snapshot, checked_limit(params.limit)
    if params.structural:
        from lsptools.search.structure import search_structure

        _check_structural(params)
        found = search_structure(snapshot, params.query, globs=params.globs, limit=limit)
    else:
        from lsptools.search.text import search_text
        from lsptools.workspace.ripgrep import Case, Query

        query = Query(
            params.query,
            fixed=not params.regex,
            word=params.word,
            case=Case.INSENSITIVE if params.ignore_case else Case.SENSITIVE,
            globs=params.globs,
            limit=limit,
        )
        found = search_text(snapshot, query)
    return SearchAnswer(found, params.context, context.positions, params.structural)


def _check_structural(params: Params) -> None:
    if params.regex or params.word or params.ignore_case:
        raise BadRequest(
            "invalid",
            "--structural goes with neither --regex, --word nor --ignore-case",
            hint='say it in the query: (#match? @name "(?i)^get")',
        )


TOOL = Tool(
    name="search",
    summary="Search the workspace for text, or for structure with a tree-sitter query.",
    guide=(
        "A text hit is a candidate, not a reference: for the uses of a symbol ask `refs`. QUERY is taken literally unless "
        "--regex or --structural is given. Ignored files (.gitignore), virtual environments and binary files are left "
        "out. A structural query finds Python code by its shape, e.g. '(call function: (identifier) @f (#eq? @f \"eval\"))'; "
        "each capture is printed with its place."
    ),
    params=Params,
    run=run,
    writes=False,
    examples=(
        Example("search 'price(' --glob '*.py'", "the text, taken literally"),
        Example("search --regex 'def test_\\w+_price'", "a regular expression"),
        Example("search --structural '(except_clause !value) @bare'", "every bare `except:`"),
    ),
    found="something was found",
    not_found="nothing was",
)
