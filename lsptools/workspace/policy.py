"""Which commands run as they are, which only on the caller's word, and which never.

A command line is read as the shell would read it (`text/shell.py`), through what wraps a command (`env`, `xargs`, `bash -c "…"`,
`find -exec`), and judged by rules, each with a name. What a rule finds is allowed, asked for, or denied; the caller may set
that per rule. To be asked is answered by the caller's word, never guessed; what is denied stays so.

This keeps accidents away, not attackers: a script that is run may do what it likes, and nobody reads it here. Folders are
followed through `cd` as far as they are written out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from lsptools.text.shell import Pipeline, ShellError, Simple, Word, script
from lsptools.workspace.paths import Root, realpath


class Ruling(str, Enum):
    """What becomes of a command; the last is the worst."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


RULES: Mapping[str, tuple[Ruling, str]] = {
    "delete-tree": (Ruling.ASK, "deletes folders with all that is in them"),
    "delete-root": (Ruling.DENY, "deletes the whole disk or the home folder"),
    "outside": (Ruling.ASK, "writes outside of the workspace"),
    "force-push": (Ruling.ASK, "overwrites or deletes history in a remote repository"),
    "discard": (Ruling.ASK, "throws away changes that are not committed"),
    "piped-code": (Ruling.ASK, "runs what comes from the network"),
    "privilege": (Ruling.ASK, "changes privileges or owners"),
    "device": (Ruling.DENY, "writes to a device, or makes or ends a system"),
    "fork-bomb": (Ruling.DENY, "starts itself without end"),
    "unreadable": (Ruling.ASK, "cannot be judged before it runs"),
}
"""Each rule: what it does by default, and what it finds, as the end of a sentence."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a command line that a rule is about."""

    rule: str
    ruling: Ruling
    what: str
    """The part of the command line."""

    def __str__(self) -> str:
        return f"`{self.what}` {RULES[self.rule][1]} ({self.rule})"


@dataclass(frozen=True, slots=True)
class Policy:
    """What the caller has set, by the name of the rule; the rest is as in `RULES`."""

    rulings: Mapping[str, Ruling] = field(default_factory=dict)

    def judge(self, command: str, root: Root, folder: str) -> tuple[Finding, ...]:
        """What is to be asked for or denied in a command that runs in `folder` (absolute), the worst first."""
        found = {
            Finding(rule, self.rulings.get(rule, RULES[rule][0]), what)
            for rule, what in _findings(command, _Where(str(root.path), folder))
        }
        order = [Ruling.DENY, Ruling.ASK]
        kept = [each for each in found if each.ruling is not Ruling.ALLOW]
        return tuple(sorted(kept, key=lambda each: (order.index(each.ruling), each.rule, each.what)))


Findings = Iterator[tuple[str, str]]


@dataclass(slots=True)
class _Where:
    """Where a command runs; `None`: that depends on the run."""

    root: str
    folder: str | None

    def is_inside(self, word: Word) -> bool:
        """Whether a path, as it is written, lies in the workspace, or is a stream."""
        text = word.text
        if text in _STREAMS or text.startswith("/dev/fd/"):
            return True
        fixed = re.split(r"[$`*?\[{]", text, maxsplit=1)[0] if word.is_open else text
        if text.startswith("~") and not word.is_quoted:
            return False
        if word.is_open and not fixed:
            # `*.o` stays in its folder; `$X` may lead anywhere.
            return text[:1] in "*?[" and ".." not in text and self._holds(".")
        return self._holds(fixed) and ".." not in text[len(fixed) :]

    def _holds(self, path: str) -> bool:
        if self.folder is None and not os.path.isabs(path):
            return False
        real = realpath(os.path.join(self.folder or "/", path))
        return real == self.root or real.startswith(self.root.rstrip(os.sep) + os.sep)

    def go(self, words: tuple[Word, ...]) -> None:
        """Follow a `cd`."""
        plain = [word for word in words[1:] if not word.text.startswith("-") or word.text == "-"]
        if not plain or plain[0].is_open or plain[0].text == "-" or plain[0].text.startswith("~"):
            self.folder = None
        elif self.folder is not None or os.path.isabs(plain[0].text):
            self.folder = os.path.join(self.folder or "/", plain[0].text)


_STREAMS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "-"})
_BOMB = re.compile(r"(\S+)\s*\(\)\s*\{\s*\1\s*\|\s*\1\s*&\s*\}\s*;\s*\1")
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "ash"})
_INTERPRETERS = _SHELLS | {"python", "python2", "python3", "perl", "ruby", "node", "php"}
_FETCHERS = frozenset({"curl", "wget", "fetch", "aria2c", "http", "https"})
_PRIVILEGE = frozenset(
    {"sudo", "su", "doas", "pkexec", "runuser", "chown", "chgrp", "setcap", "passwd", "visudo"}
    | {"usermod", "useradd", "userdel", "chroot", "nsenter", "setpriv"}
)
_SYSTEM = re.compile(r"mkfs(\..+)?|mkswap|fdisk|parted|shutdown|reboot|poweroff|halt|wipefs|swapoff")
_WRAPPERS: Mapping[str, frozenset[str]] = {
    # What runs another command, and its options that take a value of their own.
    "env": frozenset({"-u", "--unset", "-C", "--chdir"}),
    "nohup": frozenset(),
    "nice": frozenset({"-n", "--adjustment"}),
    "ionice": frozenset({"-c", "-n"}),
    "timeout": frozenset({"-k", "-s", "--kill-after", "--signal"}),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "setsid": frozenset(),
    "command": frozenset(),
    "builtin": frozenset(),
    "exec": frozenset({"-a"}),
    "xargs": frozenset({"-I", "-n", "-P", "-L", "-d", "-s", "-a", "-E"}),
    "sudo": frozenset({"-u", "-g", "-h", "-p", "-C", "-T"}),
    "doas": frozenset({"-u", "-C"}),
    "watch": frozenset({"-n", "--interval"}),
    "chronic": frozenset(),
    "unbuffer": frozenset(),
}


def _findings(command: str, where: _Where) -> Findings:
    if _BOMB.search(command):
        yield "fork-bomb", command.strip()
    try:
        pipelines = script(command)
    except ShellError as error:
        yield "unreadable", f"{command.strip()[:80]}: {error}"
        return
    except RecursionError:
        yield "unreadable", f"{command.strip()[:80]}: it is nested too deep"
        return
    for pipeline in pipelines:
        yield from _of_pipeline(pipeline, where)


def _of_pipeline(pipeline: Pipeline, where: _Where) -> Findings:
    has_fetched = False
    for command in pipeline.commands:
        names = [_name(words) for words in _commands_in(command.words)]
        if has_fetched and any(name in _INTERPRETERS for name in names):
            yield "piped-code", " | ".join(map(_written, pipeline.commands))
        has_fetched |= any(name in _FETCHERS for name in names)
        yield from _of_simple(command, where)


def _of_simple(command: Simple, where: _Where) -> Findings:
    for redirection in command.redirections:
        target = redirection.target
        if redirection.writes:
            what = f"{redirection.operator} {target.text}"
            if target.text.startswith("/dev/") and target.text not in _STREAMS and _is_disk(target.text):
                yield "device", what
            elif not where.is_inside(target):
                yield "outside", what
    for words in _commands_in(command.words):
        yield from _of_words(words, where)
    if _runs_fetched(command):
        yield "piped-code", _written(command)
    if _name(command.words) in ("cd", "pushd"):
        where.go(command.words)


def _runs_fetched(command: Simple) -> bool:
    """`bash <(curl …)`, `sh -c "$(curl …)"`, `eval "$(curl …)"`, `source <(curl …)`."""
    if not any(
        _name(words) in _INTERPRETERS | {"eval", "source", "."} for words in _commands_in(command.words)
    ):
        return False
    inner = (each for word in command.words for each in word.substitutions)
    return any(_fetches(each) for each in inner)


def _fetches(text: str) -> bool:
    try:
        return any(_name(each.words) in _FETCHERS for line in script(text) for each in line.commands)
    except ShellError:
        return True


def _commands_in(words: tuple[Word, ...]) -> Iterator[tuple[Word, ...]]:
    """The command, and what it wraps."""
    while words:
        yield words
        options = _WRAPPERS.get(_name(words))
        if options is None:
            if _name(words) == "find":
                yield from _executed_by_find(words)
            return
        words = _after_options(words, options)


def _after_options(words: tuple[Word, ...], with_value: frozenset[str]) -> tuple[Word, ...]:
    at = 1
    while at < len(words):
        text = words[at].text
        if text == "--":
            return words[at + 1 :]
        is_option = text.startswith("-") and len(text) > 1
        is_assignment = _name(words) == "env" and "=" in text
        is_duration = _name(words) == "timeout" and bool(re.fullmatch(r"[\d.]+[smhd]?", text))
        if not (is_option or is_assignment or is_duration):
            return words[at:]
        at += 2 if text in with_value else 1
    return ()


def _executed_by_find(words: tuple[Word, ...]) -> Iterator[tuple[Word, ...]]:
    for at, word in enumerate(words):
        if word.text in ("-exec", "-execdir", "-ok", "-okdir"):
            rest = words[at + 1 :]
            end = next((n for n, each in enumerate(rest) if each.text in (";", "+")), len(rest))
            yield rest[:end]


def _of_words(words: tuple[Word, ...], where: _Where) -> Findings:
    name = _name(words)
    if not words[0].is_quoted and words[0].is_open and not words[0].text.startswith(("*", "?", "[")):
        yield "unreadable", _spelled(words)
        return
    if name in _PRIVILEGE or (name == "chmod" and any(_sets_id(word.text) for word in words[1:])):
        yield "privilege", _spelled(words)
    if _SYSTEM.fullmatch(name) or (name == "dd" and any(_is_disk(_value(word, "of=")) for word in words)):
        yield "device", _spelled(words)
    yield from _of_nested_text(words, where)
    for rule in (_deletes, _git, _writes):
        yield from rule(name, words, where)


def _of_nested_text(words: tuple[Word, ...], where: _Where) -> Findings:
    """A command inside of an argument: `bash -c TEXT`, `eval TEXT…`."""
    name = _name(words)
    nested: Word | None = None
    if name in _SHELLS:
        at = next((n for n, word in enumerate(words[1:], 1) if re.fullmatch(r"-\w*c", word.text)), None)
        nested = words[at + 1] if at is not None and at + 1 < len(words) else None
    elif name == "eval":
        is_open = any(word.is_open for word in words[1:])
        nested = Word(" ".join(word.text for word in words[1:]), is_open)
    if nested is None:
        return
    if nested.is_open:
        yield "unreadable", _spelled(words)
    yield from _findings(nested.text, _Where(where.root, where.folder))


def _deletes(name: str, words: tuple[Word, ...], where: _Where) -> Findings:
    if name == "find" and any(word.text == "-delete" for word in words):
        yield "delete-tree", _spelled(words)
    if name != "rm":
        return
    options, targets = _options_and_targets(words)
    recursive = bool(options & {"r", "R", "--recursive"})
    if recursive and any(_is_everything(word) for word in targets):
        yield "delete-root", _spelled(words)
    if recursive and (options & {"f", "--force"} or any(_is_wide(word) for word in targets)):
        yield "delete-tree", _spelled(words)


def _git(name: str, words: tuple[Word, ...], _where: _Where) -> Findings:
    if name != "git":
        return
    rest = _after_options(words, frozenset({"-C", "-c", "--git-dir", "--work-tree"}))
    verb = rest[0].text if rest else ""
    options, targets = _options_and_targets(rest or words)
    if verb == "push":
        forced = options & {"f", "d", "--force", "--force-with-lease", "--mirror", "--delete", "--prune"}
        if forced or any(word.text.startswith(("+", ":")) for word in targets):
            yield "force-push", _spelled(words)
    hard = verb == "reset" and "--hard" in options
    cleaned = verb == "clean" and bool(options & {"f", "--force"})
    restored = verb in ("checkout", "restore") and (bool(options & {"f", "--force"}) or any(
        word.text in (".", ":/") for word in targets
    ))  # fmt: skip
    dropped = verb == "stash" and any(word.text in ("drop", "clear") for word in targets)
    if hard or cleaned or restored or dropped:
        yield "discard", _spelled(words)


_WRITE_ALL = frozenset(
    {"tee", "mkdir", "touch", "truncate", "rm", "rmdir", "unlink", "shred", "chmod", "mktemp"}
)
_WRITE_LAST = frozenset({"cp", "ln", "install", "rsync", "scp", "mv"})


def _writes(name: str, words: tuple[Word, ...], where: _Where) -> Findings:
    for word in _written_paths(name, words):
        if not where.is_inside(word):
            yield "outside", _spelled(words)
            return


def _written_paths(name: str, words: tuple[Word, ...]) -> Iterator[Word]:
    """The arguments that name what is written, for the commands that everyone has."""
    _, targets = _options_and_targets(words)
    if name == "chmod":
        targets = targets[1:]
    if name in _WRITE_ALL or name == "mv":
        yield from targets
    elif name in _WRITE_LAST:
        into = next((n for n, word in enumerate(words) if word.text in ("-t", "--target-directory")), None)
        if into is not None and into + 1 < len(words):
            yield words[into + 1]
        elif len(targets) > 1:
            yield targets[-1]
    elif name == "sed" and any(re.match(r"-\w*i|--in-place", word.text) for word in words[1:]):
        yield from targets[1:]
    elif name == "dd":
        yield from (Word(value, word.is_open) for word in words if (value := _value(word, "of=")))
    elif name in ("curl", "wget", "gcc", "cc", "clang", "sort"):
        flags = {"wget": ("-O", "-P")}.get(name, ("-o",))
        yield from (words[n + 1] for n, word in enumerate(words[:-1]) if word.text in flags)
    elif name == "tar":
        yield from (words[n + 1] for n, word in enumerate(words[:-1]) if word.text in ("-C", "--directory"))


def _options_and_targets(words: tuple[Word, ...]) -> tuple[set[str], tuple[Word, ...]]:
    """Letters and long names of the options, and the other arguments."""
    options: set[str] = set()
    targets = []
    is_over = False
    for word in words[1:]:
        text = word.text
        if is_over or not text.startswith("-") or text == "-":
            targets.append(word)
        elif text == "--":
            is_over = True
        elif text.startswith("--"):
            options.add(text.partition("=")[0])
        else:
            options |= set(text[1:])
    return options, tuple(targets)


def _is_everything(word: Word) -> bool:
    text = re.sub(r"/+", "/", word.text)
    return text in ("/", "/*", "/.", "~", "~/", "~/*", "$HOME", "${HOME}", "$HOME/", "$HOME/*")


def _is_wide(word: Word) -> bool:
    return word.is_open or word.text in (".", "./", "..", "../", "~")


def _is_disk(path: str) -> bool:
    return bool(re.match(r"/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|loop|mapper/|md)", path))


def _sets_id(mode: str) -> bool:
    return bool(re.fullmatch(r"[2467]\d{3}|[ugoa]*\+[rwxX]*s\w*", mode))


def _value(word: Word, prefix: str) -> str:
    return word.text.removeprefix(prefix) if word.text.startswith(prefix) else ""


def _name(words: tuple[Word, ...]) -> str:
    """The command without its folder, and a Python without its version."""
    if not words:
        return ""
    name = words[0].text.rpartition("/")[2]
    return re.sub(r"^(python\d?)\.\d+$", r"\1", name)


def _spelled(words: tuple[Word, ...]) -> str:
    return " ".join(word.text for word in words)[:200]


def _written(command: Simple) -> str:
    return _spelled(command.words)


Judge = Callable[[str, Root, str], tuple[Finding, ...]]
