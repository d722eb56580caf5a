"""The architecture as a gate: imports point left only, and what is deliberately absent is absent.

All names are read from the source, resolved through its imports (relative, aliased, deferred into functions, under
`TYPE_CHECKING`, `import_module("…")`), and judged by the tables below. The gate does not see names that are put together at
run time. Each rule is tried on planted violations, so that a green run means something.
"""

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "lsptools"

LAYERS = [
    {"errors", "version"},
    {"text"},
    {"workspace"},
    {"syntax"},
    {"languages"},
    {"search", "edit", "refactor", "verify"},
    {"tools"},
    {"faces"},
]
FREE = {"__init__", "__main__"}
"""The package's own front doors."""
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}

LANGUAGE_SERVER = [
    "faces/lsp_requests/",
    *(
        f"faces/lsp_{part}.py"
        for part in ("client", "edits", "errors", "notebooks", "progress", "protocol", "server", "view")
    ),
]
RESERVED: Mapping[str, Sequence[str]] = {
    # What is named in one place only: a third-party package (or a way to start processes), and that place.
    # In a process of its own, which `inference.py` starts.
    "jedi": ["languages/python/inference_worker.py"],
    "parso": ["languages/python/inference_worker.py"],
    # What rewrites Python, and the second witness of whether Python reads a text.
    "libcst": ["languages/python/rewrite.py", "syntax/witness.py"],
    "rapidfuzz": ["edit/nearest.py"],
    "PIL": ["edit/pictures.py"],
    "tree_sitter": ["syntax/"],
    "tree_sitter_python": ["syntax/"],
    "pygls": ["faces/lsp.py", "faces/lsp_protocol.py"],
    "lsprotocol": LANGUAGE_SERVER,
    "mcp": ["faces/mcp.py"],
    "mcp_types": ["faces/mcp.py", "faces/mcp_serve.py"],
    "anyio": ["faces/mcp.py", "faces/mcp_serve.py"],
    "uvicorn": ["faces/mcp_serve.py"],
    "click": ["faces/"],
    "rich": ["faces/"],
    "platformdirs": ["faces/environment.py"],
    "filelock": ["workspace/"],
    # Only where there is no guard; on Linux it is not even installed.
    "psutil": ["workspace/process_tree.py"],
    "subprocess": [
        "workspace/ripgrep.py",
        "workspace/program.py",
        "workspace/process.py",  # commands of the caller's
        "languages/server.py",
        "languages/python/inference.py",
    ],
    "pty": [],
    "os.system": [],
    "os.popen": [],
    # The guard is a process between us and a command; it must itself be the command's parent.
    "os.fork": ["languages/python/parallel.py", "workspace/guard.py"],
    "os.exec": ["workspace/guard.py"],
    "os.spawn": [],
    "os.posix_spawn": [],
    "asyncio.create_subprocess_exec": ["languages/server.py"],
    "asyncio.create_subprocess_shell": [],
}
SURROUNDINGS = [
    # The environment and the current directory: read in faces/ (faces/environment.py) and nowhere else.
    "os.environ",
    "os.environb",
    "os.getenv",
    "os.getenvb",
    "os.getcwd",
    "os.getcwdb",
    "os.chdir",
    "os.path.expanduser",
    "os.path.expandvars",
    "os.path.abspath",
    "pathlib.Path.cwd",
    "pathlib.Path.home",
    "getpass.getuser",
    "tempfile.gettempdir",
]
READS_SURROUNDINGS = ["faces/"]
INPUT_AND_OUTPUT = [
    # What text/ does without. (`io.BytesIO` and `codecs` are computing, not input or output.)
    "os",
    "pathlib",
    "shutil",
    "tempfile",
    "socket",
    "subprocess",
    "urllib",
    "sqlite3",
    "threading",
    "time",
    "open",
    "io.open",
    "codecs.open",
]
WRITING = [
    # Changing files.
    OPEN_TO_WRITE := "open(…) to write",
    "os.open",
    "os.replace",
    "os.rename",
    "os.renames",
    "os.remove",
    "os.unlink",
    "os.rmdir",
    "os.removedirs",
    "os.mkdir",
    "os.makedirs",
    "os.symlink",
    "os.link",
    "os.chmod",
    "os.truncate",
    "os.utime",
    "shutil.move",
    "shutil.rmtree",
    "shutil.copy",
    "shutil.copy2",
    "shutil.copyfile",
    "shutil.copytree",
    "tempfile",
]
WRITING_METHODS = {
    *(
        "write_text",
        "write_bytes",
        "touch",
        "symlink_to",
        "hardlink_to",
        "mkdir",
        "rmdir",
        "unlink",
        "chmod",
    ),  # Path
    *("write_new", "write_atomic"),  # workspace/operations.py
}
WRITES = [
    "workspace/operations.py",  # the file system interface, on the disk
    "workspace/anchored.py",  # the same, past no link
    "workspace/apply.py",  # who changes the workspace with it
    "workspace/journal.py",  # who keeps the journal in the user's state folder
    "workspace/state.py",
    "workspace/cache.py",  # who keeps there what can be made again
    "workspace/output.py",  # who keeps long outputs there
    "workspace/guard.py",  # connects itself with the null device, to hold no pipe
    "workspace/bench.py",  # who copies the workspace elsewhere, for programs to run in
    "verify/plugin/lsptools_selection.py",  # runs in pytest, and reports to a file on the bench
    "workspace/sessions.py",  # who keeps there what named sessions have seen
    "faces/environment.py",  # sends output to the null device when nobody reads it
]


@dataclass(frozen=True, slots=True)
class Named:
    """A dotted name in a module, resolved through its imports."""

    name: str
    line: int
    imported: bool
    """In an import statement, not in an expression."""


def named(path: Path, package: Path) -> list[Named]:
    """Every module and every dotted name that a file of the package names."""
    tree = ast.parse(path.read_bytes())
    home = (package.name, *path.relative_to(package).with_suffix("").parts[:-1])
    imports = list(_imports(tree, home))
    aliases = {alias: target for _, alias, target in imports if alias}
    found = [Named(target, line, True) for line, _, target in imports]
    inner = {node.value for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name) and node not in inner:
            first, *rest = dotted(node)
            found.append(Named(".".join([aliases.get(first, first), *rest]), node.lineno, False))
        elif isinstance(node, ast.Call) and dotted(node.func)[-1] == "open" and _may_write(node):
            found.append(Named(OPEN_TO_WRITE, node.lineno, False))
        elif isinstance(node, ast.Call) and dotted(node.func)[-1] in ("import_module", "__import__"):
            texts = [arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant)]
            found += [Named(text, node.lineno, True) for text in texts if isinstance(text, str)]
    return found


def _imports(tree: ast.AST, home: tuple[str, ...]) -> Iterator[tuple[int, str, str]]:
    """(line, local name, absolute target) wherever in the file the import stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                yield node.lineno, alias.asname or first, alias.name if alias.asname else first
                yield node.lineno, "", alias.name
        elif isinstance(node, ast.ImportFrom):
            base = home[: len(home) + 1 - node.level] if node.level else ()
            stem = ".".join([*base, *filter(None, [node.module])])
            for alias in node.names:
                yield node.lineno, alias.asname or alias.name, f"{stem}.{alias.name}"


def dotted(node: ast.AST) -> list[str]:
    """`a.b.c` as a list; what is not a name at the left end is left out (`f().b` is `["", "b"]`)."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id if isinstance(node, ast.Name) else "", *reversed(parts)]


def _may_write(call: ast.Call) -> bool:
    """Whether `open(path, mode)` or `path.open(mode)` may write; a mode that is not spelled out may."""
    if dotted(call.func)[0] in ("os", "io", "codecs"):
        return dotted(call.func)[0] != "os"  # `os.open` is named in the table
    at = 0 if isinstance(call.func, ast.Attribute) else 1
    modes = [*call.args[at : at + 1], *(each.value for each in call.keywords if each.arg == "mode")]
    return any(not isinstance(mode, ast.Constant) or set(str(mode.value)) & set("wax+") for mode in modes)


def within(name: str, names: Sequence[str]) -> bool:
    """Whether a dotted name is one of `names` or lies in one of them."""
    return any(name == each or name.startswith(f"{each}.") for each in names)


def allowed(path: str, places: Sequence[str]) -> bool:
    return any(path == place or (place.endswith("/") and path.startswith(place)) for place in places)


# ------------------------------------------------------------------------------------------------------- the rules
def wrong_direction(path: str, used: Sequence[Named], package: str) -> Iterator[str]:
    """Imports of a layer to the right, of a sibling, or of the package's own front door."""
    here = layer(path)
    if here in FREE:
        return
    if here not in RANK:
        yield f"{path} is in no layer"
        return
    for use in used:
        first, *rest = use.name.split(".")
        there = rest[0] if rest else ""
        if use.imported and first == package and there != here and RANK.get(there, 99) >= RANK[here]:
            yield f"{path}:{use.line} imports {use.name}"


def out_of_place(path: str, used: Sequence[Named], package: str) -> Iterator[str]:
    """Packages and ways to start processes that are named elsewhere than in their one place."""
    for use in used:
        for name, places in RESERVED.items():
            # `os.exec` and `os.spawn` are families: os.execv, os.execvp, …
            family = name in ("os.exec", "os.spawn", "os.posix_spawn") and use.name.startswith(name)
            if (family or within(use.name, [name])) and not allowed(path, places):
                yield f"{path}:{use.line} names {use.name}, which belongs to {' and '.join(places) or 'nobody'}"


def surroundings(path: str, used: Sequence[Named], package: str) -> Iterator[str]:
    """The environment or the current directory, below the faces or at the front doors."""
    if allowed(path, READS_SURROUNDINGS):
        return
    for use in used:
        if within(use.name, SURROUNDINGS) or use.name.endswith(".expanduser"):
            yield f"{path}:{use.line} reads {use.name}"


def impure_text(path: str, used: Sequence[Named], package: str) -> Iterator[str]:
    """In text/ and errors: third-party imports, input or output."""
    if layer(path) not in ("text", "errors", "version"):
        return
    for use in used:
        if use.imported and use.name.partition(".")[0] not in {
            *sys.stdlib_module_names,
            package,
            "__future__",
        }:
            yield f"{path}:{use.line} imports {use.name}, which is not in the standard library"
        if within(use.name, INPUT_AND_OUTPUT):
            yield f"{path}:{use.line} names {use.name}, which does input or output"


def writers(path: str, used: Sequence[Named], package: str) -> Iterator[str]:
    """Changes of files by others than those few modules of workspace/."""
    if allowed(path, WRITES):
        return
    for use in used:
        _, dot, attribute = use.name.rpartition(".")
        # In a face, `write_text` is click's.
        method = layer(path) != "faces" and bool(dot) and attribute in WRITING_METHODS and not use.imported
        if within(use.name, WRITING) or method:
            yield f"{path}:{use.line} changes files: {use.name}"


RULES = [wrong_direction, out_of_place, surroundings, impure_text, writers]


def layer(path: str) -> str:
    """The folder or module of the package that a relative path belongs to."""
    return Path(path.partition("/")[0]).stem


def violations(package: Path) -> list[str]:
    """Everything that breaks a rule, in all modules of a package."""
    found: list[str] = []
    for path in sorted(package.rglob("*.py")):
        relative = path.relative_to(package).as_posix()
        used = named(path, package)
        for rule in RULES:
            found += rule(relative, used, package.name)
    return found


def test_the_package_keeps_its_layers() -> None:
    wrong = violations(PACKAGE)
    assert not wrong, "\n".join(wrong)


# -------------------------------------------------------------------------------------------------------- the gate
def planted(tmp_path: Path, path: str, source: str) -> list[str]:
    package = tmp_path / "lsptools"
    (package / path).parent.mkdir(parents=True, exist_ok=True)
    (package / path).write_text(source, "utf-8")
    return violations(package)


@pytest.mark.parametrize(
    ("path", "source", "says"),
    [
        # Upward: absolute, aliased, in a function, for type checkers, relative, by import_module.
        ("text/a.py", "import lsptools.workspace.paths", "imports lsptools.workspace.paths"),
        ("text/a.py", "from lsptools.faces import cli as c", "imports lsptools.faces.cli"),
        (
            "text/a.py",
            "def f():\n    from lsptools.tools import rename",
            "a.py:2 imports lsptools.tools.rename",
        ),
        (
            "syntax/a.py",
            "from typing import *\nif TYPE_CHECKING:\n    import lsptools.edit.b",
            "a.py:3 imports",
        ),
        ("workspace/a.py", "from ..syntax import tree", "imports lsptools.syntax.tree"),
        ("languages/python/a.py", "from ...tools.b import x", "imports lsptools.tools.b.x"),
        ("errors.py", "from . import text", "imports lsptools.text"),
        (
            "text/a.py",
            "import importlib\nimportlib.import_module('lsptools.edit.b')",
            "imports lsptools.edit.b",
        ),
        # Between siblings, and through the package's own front door.
        ("refactor/a.py", "from lsptools.search.references import references", "imports lsptools.search"),
        ("search/a.py", "from ..edit import b", "imports lsptools.edit.b"),
        ("tools/a.py", "import lsptools", "imports lsptools"),
        ("tools/a.py", "from lsptools import open_workspace", "imports lsptools.open_workspace"),
        ("utils/a.py", "x = 1", "is in no layer"),
        ("helpers.py", "x = 1", "is in no layer"),
        # What is named in one place only.
        ("languages/python/references.py", "import jedi", "names jedi"),
        ("refactor/a.py", "def f():\n    from libcst.metadata import x", "names libcst.metadata.x"),
        ("languages/python/a.py", "from tree_sitter import Node", "names tree_sitter.Node"),
        ("tools/a.py", "from lsprotocol import types", "names lsprotocol.types"),
        ("faces/cli.py", "from mcp.server import Server", "names mcp.server"),
        ("verify/a.py", "import subprocess as s\ns.run([])", "names subprocess"),
        (
            "workspace/a.py",
            "from importlib import import_module\nimport_module('subprocess')",
            "names subprocess",
        ),
        ("workspace/a.py", "import os\nos.execvp('x', [])", "names os.execvp"),
        ("workspace/a.py", "from os import system as s\ns('x')", "names os.system"),
        # The environment and the current directory.
        ("workspace/a.py", "import os\nx = os.environ['X']", "reads os.environ"),
        ("workspace/a.py", "import os as o\nx = o.getenv('X')", "reads os.getenv"),
        ("tools/a.py", "from os import getcwd", "reads os.getcwd"),
        ("search/a.py", "from pathlib import Path as P\nP.cwd()", "reads pathlib.Path.cwd"),
        ("search/a.py", "import pathlib\npathlib.Path.home()", "reads pathlib.Path.home"),
        ("search/a.py", "from pathlib import Path\nPath('~').expanduser()", "expanduser"),
        ("__init__.py", "import os\nroot = os.getcwd()", "reads os.getcwd"),
        # text/ alone with the standard library, without input or output.
        ("text/a.py", "import regex", "not in the standard library"),
        ("text/a.py", "from pathlib import Path", "names pathlib.Path"),
        ("text/a.py", "open('x')", "names open"),
        # Few change files.
        ("refactor/a.py", "from pathlib import Path\nPath('x').write_text('')", "changes files"),
        ("tools/a.py", "import os\nos.replace('x', 'y')", "changes files"),
        ("verify/a.py", "from shutil import rmtree", "changes files"),
        ("workspace/snapshot.py", "def f(path):\n    path.unlink()", "changes files"),
        ("faces/cli.py", "with open('x', 'w') as f: pass", "changes files"),
        ("search/a.py", "from pathlib import Path\nPath('x').open(mode='ab')", "changes files"),
        ("search/a.py", "def f(mode):\n    open('x', mode)", "changes files"),
    ],
)
def test_a_planted_violation_is_seen(tmp_path: Path, path: str, source: str, says: str) -> None:
    found = planted(tmp_path, path, source)
    assert any(says in each for each in found), found


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("text/lines.py", "import re, io, codecs\nfrom ..errors import bug\nfrom . import edits"),
        (
            "workspace/ripgrep.py",
            "import subprocess\nfrom lsptools.text.lines import Span\nsubprocess.run([])",
        ),
        ("workspace/apply.py", "import os, filelock\nos.replace('a', 'b')"),
        ("syntax/tree.py", "from tree_sitter import Node"),
        ("languages/python/inference_worker.py", "def f():\n    import jedi"),
        ("refactor/rename.py", "from lsptools.languages.names import x\n'a'.replace('b', 'c')\nos = 1"),
        ("tools/rename.py", "def f():\n    from lsptools.refactor.rename import plan_rename"),
        ("faces/environment.py", "import os\nos.environ, os.getcwd()"),
        ("faces/mcp.py", "from mcp import types"),
        ("syntax/queries.py", "from pathlib import Path\nopen('x', 'rb'), open('x'), Path('x').open('r')"),
        ("__init__.py", "from lsptools.faces.api import open_workspace"),
        ("__main__.py", "def main():\n    from lsptools.faces.cli import main"),
    ],
)
def test_what_is_allowed_passes(tmp_path: Path, path: str, source: str) -> None:
    assert planted(tmp_path, path, source) == []
