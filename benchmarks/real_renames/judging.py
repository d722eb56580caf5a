"""Whether a program is still right after a rename: every changed file compiles, and the package's own tests end as before.

The tests are a floor and no proof: an `ok` may have missed a place that no test reaches. A failure that names neither the
old name nor the new is run again before it counts.
"""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from benchmarks.real_renames.answers import Answer, Tree
from benchmarks.real_renames.projects import Project, Suite, laid_out, run_suite
from benchmarks.real_renames.symbols import Symbol
from benchmarks.real_renames.tools import Named


class Outcome(str, Enum):
    """What became of a question."""

    OK = "ok"
    BROKE = "broke"
    """The tool said yes, and the program is wrong."""
    REFUSED = "refused"
    NO_OP = "no-op"
    """Nothing was changed, or the definition kept its name and nothing broke."""
    UNTESTED = "untested"
    """The tests do not notice when the definition alone is renamed."""


@dataclass(frozen=True, slots=True)
class Site:
    """A line of a traceback, where it stands in the tree before the rename; from 1."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """`sites` are the frames of the first failure inside of the tree."""

    outcome: Outcome
    why: str = ""
    sites: tuple[Site, ...] = ()


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges answers about one tree, whose tests end like `baseline`."""

    project: Project
    tree: Tree
    baseline: Suite

    def verdict(self, symbol: Symbol, new: str, answer: Answer) -> Verdict:
        if not answer:
            return Verdict(Outcome.NO_OP, "no edits")
        if fault := uncompiled(answer, self.tree):
            return Verdict(Outcome.BROKE, fault)
        suite, root = self._run(answer)
        if not suite.agrees_with(self.baseline) and not {symbol.name, new} & set(
            re.findall(r"\w+", suite.output)
        ):
            suite, root = self._run(answer)
        if not suite.agrees_with(self.baseline):
            sites = sites_of(suite.output, root, self.tree, answer.moves)
            return Verdict(Outcome.BROKE, reason_of(suite), sites)
        if not renames(answer, symbol, new):
            return Verdict(Outcome.NO_OP, "the definition kept its name")
        return Verdict(Outcome.OK)

    def _run(self, answer: Answer) -> tuple[Suite, Path]:
        with tempfile.TemporaryDirectory(prefix="judged-") as scratch:
            root = laid_out(self.tree, Path(scratch).resolve() / self.project.key)
            answer.apply(root)
            limit = 3 * self.baseline.seconds + 30
            return run_suite(self.project, root, Path(scratch) / "home", limit=limit), root


def uncompiled(answer: Answer, before: Tree) -> str:
    """The first file that compiled before and does not now; the files that stay are what they were."""
    for path, content in sorted(answer.written.items()):
        if (
            path.endswith(".py")
            and (fault := _fault(content))
            and not (path in before and _fault(before[path]))
        ):
            return f"{path} does not compile: {fault}"
    return ""


def renames(answer: Answer, symbol: Symbol, new: str) -> bool:
    """Has the definition got the name?"""
    if symbol.module:
        return symbol.module in answer.deleted and any(Path(path).stem == new for path in answer.written)
    content = answer.written.get(answer.moves.get(symbol.path, symbol.path))
    if content is None:
        return False
    lines = re.split(r"\r\n|\n|\r", content.decode("utf-8", "surrogateescape"))
    return symbol.line <= len(lines) and new in re.findall(r"\w+", lines[symbol.line - 1])


def sites_of(output: str, root: Path, tree: Tree, moves: Mapping[str, str]) -> tuple[Site, ...]:
    """The frames that pytest shows (`PATH:LINE: …`), and Python where a file cannot be imported (`File "PATH", line LINE`)."""
    before = {new: old for old, new in moves.items()}
    found = []
    for match in re.finditer(
        r'^(?:E\s+)?(?:File "(.+?)", line (\d+)|([^\s:"]+\.py):(\d+): )', output, re.MULTILINE
    ):
        path, line = match[1] or match[3], int(match[2] or match[4])
        path = path.removeprefix(f"{root}/")
        if (path := before.get(path, path)) in tree:
            found.append(Site(path, line))
    return tuple(dict.fromkeys(found))


def is_named(sites: Iterable[Site], named: Collection[Named]) -> bool:
    """Does the answer list a doubtful occurrence on a line of the traceback?"""
    told = {(each.path, each.line) for each in named}
    return any((site.path, site.line) in told for site in sites)


def reason_of(suite: Suite) -> str:
    """The first line of the failure that says something, without this machine's folders."""
    errors = re.findall(r"^E\s+(.+)$", suite.output, re.MULTILINE)
    last = suite.output.rstrip().rsplit("\n", 1)[-1]
    return re.sub(r"/\S*/", "…/", errors[0] if errors else last)[:200]


def _fault(content: bytes) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(content, "file", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return str(error)
    return ""
