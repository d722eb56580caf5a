"""The faces that run a case's steps: each takes a command line's words and says what came of them.

A new face is one class with the four methods of `Face` and an entry in `FACES`. Everything a step may touch lies in one
temporary folder (`Place`), so nothing of the user's is read or written; in the same process the environment and the current
folder are replaced for the length of a call. Where it stops: the command line in the same process shares module state
between cases; `--case-subprocess` runs each step as a process of its own.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from unittest import mock

import casetree
import lspface
import mcpface
from casetree import Tree

if TYPE_CHECKING:
    from lsptools import References, Span, ToolError

TIME_LIMIT = 60.0
"""Seconds that a step may take in a process of its own."""
FOLDERS = {
    "HOME": "home",
    "XDG_STATE_HOME": "state",
    "XDG_CONFIG_HOME": "config",
    "XDG_CACHE_HOME": "cache",
    "XDG_DATA_HOME": "data",
    "TMPDIR": "tmp",
}
OURS = ("LSPTOOLS_", "_LSPTOOLS_", "XDG_", "NO_COLOR", "FORCE_COLOR", "COLUMNS")
"""Variables that would change what is printed or read."""


@dataclass(frozen=True, slots=True)
class Place:
    """One case's folders."""

    root: Path
    """The workspace."""
    side: Path
    """Its parent; nothing else may appear in it."""
    user: Path
    """What stands for the user's folders."""

    @staticmethod
    def below(folder: Path) -> Place:
        """New, empty folders."""
        place = Place(folder / "side" / "workspace", folder / "side", folder / "user")
        for each in (place.root, *(place.user / name for name in FOLDERS.values())):
            each.mkdir(parents=True)
        return place

    def environment(self) -> dict[str, str]:
        """The variables that a step sees."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        return kept | {variable: str(self.user / name) for variable, name in FOLDERS.items()}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step answered."""

    exit: int
    out: str | None
    """Standard output; `None` for a face that prints nothing."""
    err: str
    answer: Mapping[str, Any] | None
    """The JSON object, where the step asked for one. (Judged member by member.)"""
    error_kind: str | None
    error_text: str | None
    """A refusal or failure as people read it."""
    changed: bool | None
    """Whether the face says that it changed something; `None` where it does not say."""


class Face(Protocol):
    """A door to the program."""

    @property
    def name(self) -> str:
        """As in `faces:` of a case."""

    def knows(self, arguments: Sequence[str]) -> bool:
        """Whether the face can say this step."""

    def run(self, arguments: Sequence[str], at: Place) -> Outcome:
        """Do the step."""

    def preview(self, arguments: Sequence[str], at: Place) -> str | None:
        """What the step would change, as a diff, without changing it; `None` where there is no such thing."""

    def undo(self, at: Place) -> Outcome:
        """Take back the last change."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """`lsptools …`: in this process, or each step as a process of its own."""

    name: str = "cli"
    by_subprocess: bool = False

    def knows(self, arguments: Sequence[str]) -> bool:
        return True

    def run(self, arguments: Sequence[str], at: Place) -> Outcome:
        code, out, err = self._call(arguments, at)
        asked_for_json = "--json" in arguments
        answer = _json_object(out) if asked_for_json else None
        error_kind = error_text = None
        if code != 0:
            # A call that was not done is made again in the other form: both forms of one refusal are judged.
            other = (
                [word for word in arguments if word != "--json"] if asked_for_json else [*arguments, "--json"]
            )
            other_code, other_out, other_err = self._call(other, at)
            assert other_code == code, f"exit code {code} for {arguments}, but {other_code} for {other}"
            told = answer if asked_for_json else _json_object(other_out)
            error_kind = _error_kind(told)
            error_text = (other_err if asked_for_json else err) if error_kind else None
        changed = answer.get("applied") if answer is not None else None
        return Outcome(code, out, err, answer, error_kind, error_text, changed)

    def preview(self, arguments: Sequence[str], at: Place) -> str | None:
        if arguments[0] not in ("rename", "move", "signature") or {"--diff", "--check"} & set(arguments):
            return None
        words = [word for word in arguments if word != "--json"]
        code, out, _ = self._call([*words, "--diff"], at)
        return out if code == 0 else None

    def undo(self, at: Place) -> Outcome:
        return self.run(["undo"], at)

    def _call(self, arguments: Sequence[str], at: Place) -> tuple[int, str, str]:
        return (_in_a_process if self.by_subprocess else _in_this_process)(arguments, at)


def _in_this_process(arguments: Sequence[str], at: Place) -> tuple[int, str, str]:
    from lsptools.faces.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True) for _ in range(2))
    with standing_in(at, at.root), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(arguments))
    return code, _text(out.buffer.getvalue()), _text(err.buffer.getvalue())


def _in_a_process(arguments: Sequence[str], at: Place) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-I", "-X", "utf8", "-m", "lsptools", *arguments],  # -I: no module of the workspace
        cwd=at.root,
        env=at.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIME_LIMIT,
        check=False,
    )
    return done.returncode, _text(done.stdout), _text(done.stderr)


@contextlib.contextmanager
def standing_in(at: Place, folder: Path) -> Iterator[None]:
    """`folder` is the current folder, and the environment is the case's."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        with mock.patch.dict(os.environ, at.environment(), clear=True):
            yield
    finally:
        os.chdir(before)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _json_object(text: str) -> Mapping[str, Any] | None:
    try:
        answer = json.loads(text)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


def _error_kind(answer: Mapping[str, Any] | None) -> str | None:
    error = answer.get("error") if answer else None
    return error["kind"] if isinstance(error, dict) else None


@dataclass(frozen=True, slots=True)
class Python:
    """`lsptools.open_workspace(…)`; its values are put into the words of the JSON contract, so the same laws judge them."""

    name: str = "api"

    def knows(self, arguments: Sequence[str]) -> bool:
        options = {word for word in arguments[1:] if word.startswith("-")}
        decisions = {"--json", "--possible", "--mentions"}
        sayable = {"rename": decisions, "move": decisions, "refs": {"--json"}, "undo": {"--json"}}
        return arguments[0] in sayable and options <= sayable[arguments[0]]

    def run(self, arguments: Sequence[str], at: Place) -> Outcome:
        match arguments[0]:
            case "rename" | "move":
                return self._change(arguments, at)
            case "refs":
                return self._references(arguments[1], at)
            case _:
                return self.undo(at, *(word for word in arguments[1:2] if word != "--json"))

    def preview(self, arguments: Sequence[str], at: Place) -> str | None:
        from lsptools import ToolError, open_workspace

        if arguments[0] not in ("rename", "move"):
            return None
        with standing_in(at, at.user):
            workspace = open_workspace(at.root)
            with contextlib.suppress(ToolError):
                plan_for = workspace.plan_rename if arguments[0] == "rename" else workspace.plan_move
                plan = plan_for(*arguments[1:3], **_decisions(arguments))
                diff: str = plan.change.diff(workspace.snapshot())
                return diff
        return None

    def undo(self, at: Place, *change: str) -> Outcome:
        from lsptools import ToolError, open_workspace

        with standing_in(at, at.user):
            try:
                open_workspace(at.root).undo(*change)
            except ToolError as error:
                return _failed(error, {})
        return Outcome(0, None, "", None, None, None, True)

    def _references(self, place: str, at: Place) -> Outcome:
        from lsptools import ToolError, open_workspace

        with standing_in(at, at.user):
            try:
                found = open_workspace(at.root).references(place)
            except ToolError as error:
                return _failed(error, {})
        return Outcome(0, None, "", _references_json(casetree.read_tree(at.root), found), None, None, None)

    def _change(self, arguments: Sequence[str], at: Place) -> Outcome:
        from lsptools import References, Refused, ToolError, open_workspace

        before = casetree.read_tree(at.root)
        with standing_in(at, at.user):
            try:
                workspace = open_workspace(at.root)
                do = workspace.rename if arguments[0] == "rename" else workspace.move
                done = do(*arguments[1:3], **_decisions(arguments))
            except ToolError as error:
                details = error.details if isinstance(error, Refused) else None
                known = _references_json(before, details) if isinstance(details, References) else {}
                return _failed(error, known)
        change = done.plan.change
        answer = _references_json(before, done.plan.references) | {
            "edits": [
                {**_located(before, file.path, edit.span), "old": _spanned(before, file.path, edit.span)}
                | {"new": edit.new_text}
                for file in change.edits
                for edit in file.edits
            ],
            "moves": [{"old": move.old, "new": move.new} for move in change.moves],
            "applied": True,
        }
        return Outcome(0, None, "", answer, None, None, True)


def _decisions(arguments: Sequence[str]) -> dict[str, Any]:
    """The keyword arguments that the options stand for."""
    options = list(arguments[3:])
    possible = {"possible": options[options.index("--possible") + 1]} if "--possible" in options else {}
    return possible | {"mentions": "--mentions" in options}


def _failed(error: ToolError, answer: dict[str, Any]) -> Outcome:
    from lsptools.faces.render import Look, error_text

    return Outcome(error.exit_code, None, "", answer or None, error.kind, error_text(error, Look()), False)


def _references_json(tree: Tree, found: References) -> dict[str, Any]:
    occurrences = [
        {**_located(tree, each.path, each.span), "class": each.evidence.value} for each in found.occurrences
    ]
    return {"schema": 1, "complete": found.complete, "occurrences": occurrences}


def _located(tree: Tree, path: str, span: Span) -> dict[str, Any]:
    text = _text_at(tree, path)
    line, column = casetree.user_position(text, span.start)
    return {
        "path": path,
        "line": line,
        "column": column,
        "range": {"start": casetree.utf16_position(text, line, column)},
    }


def _spanned(tree: Tree, path: str, span: Span) -> str:
    return _text_at(tree, path)[span.start : span.end]


def _text_at(tree: Tree, path: str) -> str:
    entry = casetree.File(Path(path).read_bytes()) if Path(path).is_absolute() else tree[path]
    assert isinstance(entry, casetree.File)
    return casetree.text_of(entry)


@dataclass(frozen=True, slots=True)
class Editor:
    """`textDocument/rename` through the protocol, applied as an editor does it.

    Asked in all three encodings, with the documents open and closed: the outcome has to be the same bytes. Places that the user
    would have to confirm are left, as with `--possible skip`.
    """

    name: str = "lsp"
    _undo: dict[Path, Tree] = field(default_factory=dict, repr=False, compare=False)
    """What was there before the last change."""

    def knows(self, arguments: Sequence[str]) -> bool:
        if arguments[0] != "rename" or not _POSITION.fullmatch(arguments[1]):
            return False
        return sorted(arguments[3:]) == ["--json", "--possible", "skip"]

    def run(self, arguments: Sequence[str], at: Place) -> Outcome:
        before = casetree.read_tree(at.root)
        answers, answer = lspface.rename(at, before, *arguments[1:3])
        first, *others = answers
        for other in others:
            assert other.kind == first.kind, f"{other.way}: {other.kind}, but {first.way}: {first.kind}"
            assert other.tree == first.tree, f"{other.way} has another outcome than {first.way}"
        after, kind = first.tree, first.kind
        if kind is not None:
            return Outcome(1, None, "", answer, kind, f"refused: {kind}", False)
        self._undo[at.root] = before
        lspface.put(at.root, before, after)
        return Outcome(0, None, "", answer, None, None, None)

    def preview(self, arguments: Sequence[str], at: Place) -> str | None:
        return None

    def undo(self, at: Place) -> Outcome:
        lspface.put(at.root, casetree.read_tree(at.root), self._undo.pop(at.root))
        return Outcome(0, None, "", None, None, None, True)


@dataclass(frozen=True, slots=True)
class Agent:
    """Tool calls over the Model Context Protocol, with the SDK's own client."""

    name: str = "mcp"

    def knows(self, arguments: Sequence[str]) -> bool:
        return mcpface.agent_call(arguments) is not None

    def run(self, arguments: Sequence[str], at: Place) -> Outcome:
        call = mcpface.agent_call(arguments)
        assert call is not None
        with standing_in(at, at.user):
            connection = mcpface.LINE.to(at)
            result = connection.call(call.name, call.arguments)
            answer = mcpface.answer(connection, result)
        data = result.structured_content
        if result.is_error:
            return Outcome(1, None, "", answer, data["error"]["kind"], mcpface.told(result), False)
        code = 0 if mcpface.found(result) else 1
        return Outcome(code, None, "", answer, None, None, data.get("applied"))

    def preview(self, arguments: Sequence[str], at: Place) -> str | None:
        call = mcpface.agent_call(arguments)
        if call is None or call.name != "rename" or "dry_run" in call.arguments:
            return None
        with standing_in(at, at.user):
            connection = mcpface.LINE.to(at)
            result = connection.call("rename", {**call.arguments, "dry_run": True})
            if result.is_error:
                return None
            diff: str = connection.whole(result.structured_content)["diff"]
        return diff

    def undo(self, at: Place) -> Outcome:
        return self.run(["undo"], at)


_POSITION = re.compile(r".+:\d+:\d+")

FACES: tuple[Face, ...] = (CommandLine(), Python(), Editor(), Agent())
"""Every case runs through each of them that knows its steps."""
