"""`run`: a command of the shell, run so that it ends, and so that its end is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsptools.errors import BadRequest, Conflict, Refused, ToolError
from lsptools.tools.base import Context, Example, Tool, arg

if TYPE_CHECKING:
    from lsptools.workspace.policy import Finding, Ruling
    from lsptools.workspace.shell import Ran

LIMIT_S = 120


@dataclass(frozen=True, slots=True)
class Params:
    command: str = arg("the command line, for a shell", positional=True, metavar="COMMAND")
    timeout: int = arg("end it, with everything it started, after N seconds", default=LIMIT_S, metavar="N")
    folder: str | None = arg(
        "the folder of the workspace in which it runs; otherwise where the last command of the session left off",
        default=None,
        kind="path",
        metavar="DIR",
    )
    yes: bool = arg("run it although a rule would ask first", default=False, group="Safety")
    rule: tuple[str, ...] = arg(
        "what becomes of commands that a rule finds: NAME=allow, NAME=ask or NAME=deny; repeat it",
        default=(),
        metavar="NAME=RULING",
        group="Safety",
    )


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """How a command ended, and what it wrote."""

    ran: Ran
    is_streamed: bool
    """Whether the output was shown already, while it came."""
    n_ended: int = 0
    """What it had left in the background and was ended, since nobody stays to end it later."""

    @property
    def found(self) -> bool:
        return self.ran.finished.exit_code == 0

    @property
    def output(self) -> str:
        """What it wrote, and under it how it ended, unless that was well."""
        text, said = self.ran.shown.text, "; ".join(self.notes)
        newline = "" if not text or text.endswith("\n") else "\n"
        return f"{text}{newline}[{said}]\n" if said else text

    @property
    def notes(self) -> tuple[str, ...]:
        """What people should know, one sentence each; nothing where it ended well."""
        finished, notes = self.ran.finished, []
        if finished.ending.value == "timed_out":
            notes.append(f"timed out after {finished.seconds:.1f} s; it was ended with all its processes")
        elif finished.ending.value == "cancelled":
            notes.append(f"cancelled after {finished.seconds:.1f} s; it was ended with all its processes")
        elif finished.signal is not None:
            notes.append(f"ended by {finished.signal}")
        elif finished.exit_code:
            notes.append(f"exit code {finished.exit_code}")
        if finished.n_unended:
            notes.append(f"{finished.n_unended} processes of another user could not be ended")
        if finished.background is not None and not self.n_ended:
            notes.append(f"left in the background: {_counted(finished.background.n_processes)}")
        if self.n_ended:
            notes.append(f"what it had left in the background was ended: {_counted(self.n_ended)}")
        if self.ran.has_left:
            notes.append(
                f"the folder is outside of the workspace; the next command starts in {self.ran.folder}"
            )
        return tuple(notes)

    def to_json(self) -> dict[str, object]:
        finished, shown = self.ran.finished, self.ran.shown
        return {
            "output": self.output,
            "ending": finished.ending.value,
            "exit_code": finished.exit_code,
            "signal": finished.signal,
            "timed_out": finished.ending.value == "timed_out",
            "seconds": round(finished.seconds, 3),
            "bytes": shown.n_bytes,
            "truncated": shown.is_cut,
            "output_file": shown.file,
            "folder": self.ran.folder,
            "folder_after": self.ran.folder_after,
            "background": 0 if finished.background is None else finished.background.n_processes,
            "notes": list(self.notes),
        }


def _counted(number: int) -> str:
    return f"{number} {'process' if number == 1 else 'processes'}"


def run(context: Context, params: Params) -> RunAnswer:
    """Judge it, run it, and wait for its end."""
    from lsptools.workspace.output import Files
    from lsptools.workspace.shell import confined_folder, run_in_shell

    root, shell = context.snapshot.root, context.shell
    if params.timeout < 1:
        raise BadRequest("invalid", f"{params.timeout} s is no time limit", hint="pass one second or more")
    _check(findings(context, params), is_asked=params.yes)
    folder = confined_folder(root, shell.folder if params.folder is None else params.folder)
    ran = run_in_shell(
        root,
        shell,
        params.command,
        folder=folder,
        limit_s=params.timeout,
        files=Files(context.state.folder / "output"),
        is_cancelled=lambda: is_cancelled(context),
    )
    n_ended = 0
    if ran.finished.background is not None and not context.is_lasting:
        n_ended = ran.finished.background.n_processes
        shell.end()
    return RunAnswer(ran, shell.stream is not None, n_ended)


def findings(context: Context, params: Params) -> tuple[Finding, ...]:
    """What the rules have against the command, the worst first."""
    from lsptools.workspace.policy import Policy
    from lsptools.workspace.shell import confined_folder

    root = context.snapshot.root
    if "\0" in params.command:
        raise BadRequest("invalid", "a command has no NUL in it", hint="write it as an escape of the shell")
    folder = confined_folder(root, context.shell.folder if params.folder is None else params.folder)
    return Policy(rulings(params.rule)).judge(params.command, root, str(root.path / folder))


def is_cancelled(context: Context) -> bool:
    """Whether whoever called wants no answer any more."""
    try:
        context.snapshot.checkpoint()
    except ToolError:
        return True
    return False


def rulings(rules: tuple[str, ...]) -> dict[str, Ruling]:
    """What becomes of commands by the name of the rule that finds them, from NAME=RULING."""
    from lsptools.workspace.policy import RULES, Ruling

    found = {}
    for each in rules:
        name, _, ruling = each.partition("=")
        if name not in RULES or ruling not in {known.value for known in Ruling}:
            raise BadRequest(
                "invalid",
                f"{each!r} is not a rule with a ruling",
                hint=f"write NAME=allow, NAME=ask or NAME=deny; the rules are {', '.join(RULES)}",
            )
        found[name] = Ruling(ruling)
    return found


def _check(found: tuple[Finding, ...], *, is_asked: bool) -> None:
    """Refuse what is denied, and what is to be asked for while nobody has said yes."""
    from lsptools.workspace.policy import Ruling

    denied = [each for each in found if each.ruling is Ruling.DENY]
    if denied:
        raise Refused(
            "invalid",
            f"the command is denied: {denied[0]}",
            hint=f"do it by other means, or pass --rule {denied[0].rule}=allow",
            conflicts=tuple(Conflict("invalid", f"denied: {each}") for each in denied),
        )
    if found and not is_asked:
        raise Refused(
            "undecided",
            f"the command was not run, for you may not want it: {found[0]}",
            hint="pass --yes if it shall be run",
            conflicts=tuple(Conflict("undecided", str(each)) for each in found),
        )


TOOL = Tool(
    name="run",
    summary="Run a command in the shell, with a time limit, and end everything it started.",
    guide=(
        "The command runs in a shell of its own, without a terminal and with nothing on standard input, in a folder of the "
        "workspace. The answer comes when the shell ends; what it leaves in the background does not hold it, and goes on until "
        "the session ends. At the time limit everything it started ends, in whatever group or session. "
        "Standard output and standard error come together: at most 2,000 lines or 50 kB, the end and a bit of the beginning; "
        "all of a longer output is in a file that the answer names. A failing command is an answer, not an error. A command "
        "that deletes trees, writes outside of the workspace, overwrites a remote's history, throws away changes, runs what it "
        "fetches, or changes privileges is refused (`undecided`) until `--yes` decides; it is read as the shell reads it, so "
        "quoted text does not count. What a script does that it starts is not looked into."
    ),
    params=Params,
    run=run,
    writes=True,
    examples=(
        Example("run 'python -m pytest -q tests/unit'", "a test run"),
        Example("run 'make -j2' --timeout 600 --folder native", "longer, in a folder"),
        Example("run 'rm -rf build' --yes", "a command that would be asked for"),
        Example("run 'rm -rf build' --rule delete-tree=deny", "never, whoever says yes"),
    ),
    found="it ended with exit code 0",
    not_found="it failed, was ended at its time limit, or is refused; --json tells these apart",
    streams=True,
)
