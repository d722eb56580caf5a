"""`python -m benchmarks.decided`: how much of what stands behind a dot is decided, by lsptools and by others.

For each package method names are drawn by lot; every occurrence of such a name behind a dot in code counts. lsptools has decided about
one that it calls `certain`, `likely` or `unrelated`, and not about a `possible` one; a language server has if it knows a definition
(`textDocument/definition`), of which nobody says that it is the right one or the only one. Packages are the published wheels: what they
import from others is not installed, for nobody.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import peers
from benchmarks.archives import unpacked_wheel
from benchmarks.client import Client
from benchmarks.connection import NoAnswer
from lsptools import Evidence, ToolError, open_workspace

TYPED = (
    *("rich==15.0.0", "httpx==0.28.1", "starlette==1.10.0", "pydantic==2.14.4", "attrs==26.1.0"),
    *("click==8.5.1", "aiohttp==3.14.5", "mypy==2.4.1", "SQLAlchemy==2.1.9"),
)
UNTYPED = ("Django==5.2", "sympy==1.13.3")
_BEHIND_A_DOT = re.compile(r"\.\s*\Z")


@dataclass(frozen=True, slots=True)
class Site:
    """An occurrence behind a dot: path, line and character from 0 (UTF-16 units), and what lsptools says of it."""

    path: str
    line: int
    character: int
    evidence: Evidence


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.decided", description=__doc__.split("\n\n")[0]
    )
    parser.add_argument("--names", type=int, default=40, help="method names per package")
    parser.add_argument(
        "--sites", type=int, default=300, help="occurrences per package that servers are asked about"
    )
    parser.add_argument(
        "--infer", type=int, default=120, help="seconds per name that jedi may be asked by lsptools"
    )
    parser.add_argument("--tools", default="ty,basedpyright,jedi-ls", help="servers")
    parser.add_argument("--only", default="", help="packages whose name has this in it")
    parser.add_argument("--seed", type=int, default=4)
    options = parser.parse_args()
    wanted = [peer for peer in peers.PEERS if peer.name in options.tools.split(",")]
    if wanted:
        peers.install()
    heads = ["package", "sites", "lsptools", "lsptools --infer", *(peer.name for peer in wanted)]
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}", flush=True)
    trees = Path(tempfile.gettempdir(), "lsptools-decided")
    for package in (*TYPED, *UNTYPED):
        if options.only.lower() in package.lower():
            root = unpacked_wheel(package, trees / package.replace("==", "-"))
            names = list(drawn(root, options.names, options.seed))
            plain, asked = (sites(root, names, infer) for infer in (0, options.infer))
            some = random.Random(options.seed).sample(plain, min(len(plain), options.sites))
            cells = [share(plain), share(asked), *(told_by(peer, root, some) for peer in wanted)]
            print(f"| {package} | {len(plain)} | {' | '.join(cells)} |", flush=True)


def share(found: Sequence[Site]) -> str:
    """How much is decided, and how many are not."""
    counts = Counter(site.evidence for site in found)
    return percent(len(found) - counts[Evidence.POSSIBLE], len(found))


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def drawn(root: Path, n_names: int, seed: int) -> Iterator[str]:
    """Methods by lot, one for each name, as places."""
    found: dict[str, str] = {}
    definitions = [
        (path.relative_to(root).as_posix(), cls.name, each.name)
        for path in sorted(root.rglob("*.py"))
        for cls in classes_in(path)
        for each in cls.body
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) and not each.name.startswith("__")
    ]
    random.Random(seed).shuffle(definitions)
    for path, cls_name, name in definitions:
        found.setdefault(name, f"{path}::{cls_name}.{name}")
    return iter(list(found.values())[:n_names])


def classes_in(path: Path) -> Iterator[ast.ClassDef]:
    """The classes at the top of a module; of one that this Python does not parse, none."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return iter(())
    return (node for node in tree.body if isinstance(node, ast.ClassDef))


def sites(root: Path, places: Sequence[str], infer: int) -> list[Site]:
    """Every occurrence of these methods' names behind a dot."""
    workspace = open_workspace(root)
    snapshot = workspace.snapshot()
    found = []
    for place in places:
        try:
            references = workspace.references(place, infer=infer)
        except ToolError:
            continue  # a name that is there more than once
        for each in references.occurrences:
            if each.evidence is Evidence.MENTION or not each.path.endswith(".py"):
                continue
            document = snapshot.document(each.path)
            if _BEHIND_A_DOT.search(document.text, max(0, each.span.start - 200), each.span.start):
                at = document.lines.lsp_from_offset(each.span.start)
                found.append(Site(each.path, at.line, at.character, each.evidence))
    return found


def told_by(peer: peers.Peer, root: Path, asked: Sequence[Site]) -> str:
    """Of how many of the places a server knows a definition."""
    n_known, opened = 0, set[str]()
    with tempfile.TemporaryDirectory() as scratch:
        env = peers.environment(Path(scratch), peers.FOLDER / "bin", os.environ["PATH"])
        client = Client(peer.command, root, env, peer.settings)
        deadline = time.perf_counter() + 60 + 2 * len(asked)
        try:
            client.initialize(deadline)
            for site in asked:
                path = root / site.path
                if site.path not in opened:
                    opened.add(site.path)
                    client.open(path)
                position = {"line": site.line, "character": site.character}
                params = {"textDocument": {"uri": path.as_uri()}, "position": position}
                _, message = client.request("textDocument/definition", params, deadline)
                n_known += bool(message.get("result"))
        except NoAnswer as reason:
            return str(reason)
        finally:
            client.close()
    return percent(n_known, len(asked))


if __name__ == "__main__":
    main()
