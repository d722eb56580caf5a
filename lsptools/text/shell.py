"""What a shell command line would run, read as the shell reads it: quotes, pipes, redirections, substitutions, nested ones too.

`script(text)` is the list of pipelines, in the order of the text, with those inside of substitutions after the ones that
contain them. A `Word` whose text depends on the run (a variable, a substitution, a pattern) is `open`. Keywords of the shell
(`if`, `for`, `{`) are skipped, so that the commands between them are seen as they are; which branch is taken is not asked.

Where it stops: this is a reader for judging commands, not an interpreter. It refuses (`ShellError`) what does not end: a quote,
a substitution, a here-document may stay open. Aliases and functions are taken for the commands they are named like.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

_KEYWORDS = frozenset(
    {"if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "select"}
    | {"{", "}", "!", "time", "coproc", "function"}
)
_OPERATORS = (
    *("&&", "||", ";;&", ";;", ";&", "|&", "&>>", "&>", "<<<", "<<-", "<<", ">>", ">|", ">&", "<&", "<>"),
    *(";", "&", "|", "(", ")", "<", ">"),
)
_ENDS = frozenset({"&&", "||", ";", "&", ";;", ";&", ";;&", "(", ")", "\n"})
_REDIRECTIONS = frozenset({"&>>", "&>", ">>", ">|", ">&", "<>", "<&", "<", ">", "<<<", "<<", "<<-"})
_WRITING = frozenset({"&>>", "&>", ">>", ">|", ">&", "<>", ">"})
_PATTERN = frozenset("*?[")
_BLANK = frozenset(" \t")
_HELD = frozenset('"\\$`')


class ShellError(ValueError):
    """The text cannot be read as a command."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word after quotes are removed."""

    text: str
    is_open: bool = False
    """Whether it depends on the run what it says; `text` then has what is written."""
    is_quoted: bool = False
    substitutions: tuple[str, ...] = ()
    """The commands inside, as text."""


@dataclass(frozen=True, slots=True)
class Redirection:
    """Where a stream goes to or comes from."""

    operator: str
    target: Word

    @property
    def writes(self) -> bool:
        """Whether a file is written; `2>&1` writes none."""
        is_copy = self.operator == ">&" and (self.target.text.isdigit() or self.target.text == "-")
        return self.operator in _WRITING and not is_copy


@dataclass(frozen=True, slots=True)
class Simple:
    """A command with its arguments."""

    words: tuple[Word, ...]
    assignments: tuple[Word, ...] = ()
    redirections: tuple[Redirection, ...] = ()

    @property
    def all_words(self) -> Iterator[Word]:
        yield from (*self.words, *self.assignments, *(each.target for each in self.redirections))


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands whose output goes to the next one's input."""

    commands: tuple[Simple, ...]
    inside: str = ""
    """What it is nested in: nothing, or `substitution`."""


def script(text: str) -> tuple[Pipeline, ...]:
    """The pipelines of a command line."""
    reader = _Reader(text)
    found = list(reader.pipelines())
    nested = [
        each
        for pipeline in found
        for command in pipeline.commands
        for word in command.all_words
        for inner in word.substitutions
        for each in script(inner)
    ]
    nested += [each for body in reader.bodies for inner in body for each in script(inner)]
    return (*found, *(Pipeline(each.commands, "substitution") for each in nested))


@dataclass(slots=True)
class _Building:
    """A word under way."""

    text: list[str] = field(default_factory=list)
    is_open: bool = False
    is_quoted: bool = False
    substitutions: list[str] = field(default_factory=list)

    def word(self) -> Word:
        return Word("".join(self.text), self.is_open, self.is_quoted, tuple(self.substitutions))


class _Reader:
    """Reads from left to right; `at` is where it is."""

    def __init__(self, text: str) -> None:
        self.text = text.replace("\\\r\n", "").replace("\\\n", "").replace("\r\n", "\n")
        self.at = 0
        self.bodies: list[list[str]] = []
        """The substitutions in here-documents."""
        self._awaited: list[tuple[str, bool, bool]] = []
        """Delimiters of here-documents whose text comes after the line: with blanks removed? with substitutions?"""

    def pipelines(self) -> Iterator[Pipeline]:
        commands: list[Simple] = []
        while True:
            simple, end = self._simple()
            if simple is not None:
                commands.append(simple)
            if end in ("|", "|&"):
                continue
            if commands:
                yield Pipeline(tuple(commands))
                commands = []
            if end == "":
                return

    def _simple(self) -> tuple[Simple | None, str]:
        """The next command, and what ends it; nothing at the end of the text."""
        words: list[Word] = []
        assignments: list[Word] = []
        redirections: list[Redirection] = []
        while True:
            token = self._token()
            if isinstance(token, Word):
                if not words and not token.is_quoted and token.text in _KEYWORDS:
                    continue
                if not words and _is_assignment(token):
                    assignments.append(token)
                elif not (token.text.isdigit() and self.text[self.at : self.at + 1] in ("<", ">")):
                    words.append(token)  # a number right before `<` or `>` says which stream
            elif token in _REDIRECTIONS:
                redirections.append(self._redirection(token))
            elif token == "" or token in _ENDS or token in ("|", "|&"):
                found = Simple(tuple(words), tuple(assignments), tuple(redirections))
                return (found if words or assignments or redirections else None), token

    def _redirection(self, operator: str) -> Redirection:
        target = self._token()
        if not isinstance(target, Word):
            raise ShellError(f"{operator!r} leads nowhere")
        if operator in ("<<", "<<-"):
            self._awaited.append((target.text, operator == "<<-", not target.is_quoted))
        return Redirection(operator, target)

    def _token(self) -> Word | str:
        text = self.text
        while self.at < len(text) and text[self.at] in _BLANK:
            self.at += 1
        if self.at >= len(text):
            if self._awaited:
                raise ShellError(f"the here-document {self._awaited[0][0]!r} does not end")
            return ""
        if text[self.at] == "#":
            end = text.find("\n", self.at)
            self.at = len(text) if end < 0 else end
            return self._token()
        if text[self.at] == "\n":
            self.at += 1
            self._here_documents()
            return "\n"
        if text.startswith(("<(", ">("), self.at):
            return self._word()
        for operator in _OPERATORS:
            if text.startswith(operator, self.at):
                self.at += len(operator)
                return operator
        return self._word()

    def _here_documents(self) -> None:
        for delimiter, strips, expands in self._awaited:
            lines: list[str] = []
            while True:
                if self.at >= len(self.text):
                    raise ShellError(f"the here-document {delimiter!r} does not end")
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line, self.at = self.text[self.at : end], end + 1
                if (line.lstrip("\t") if strips else line) == delimiter:
                    break
                lines.append(line)
            if expands:
                inner = _Reader("\n".join(lines))
                building = _Building()
                while inner.at < len(inner.text):
                    inner._expansion_or_character(building, in_quotes=True)
                self.bodies.append(building.substitutions)
        self._awaited.clear()

    def _word(self) -> Word:
        building = _Building()
        text = self.text
        while self.at < len(text):
            character = text[self.at]
            if text.startswith(("<(", ">("), self.at):
                start, self.at = self.at, self.at + 2
                building.substitutions.append(self._until_closed("(", ")"))
                building.text.append(text[start : self.at])
                building.is_open = True
            elif character in " \t\n;&|<>()":
                break
            elif character == "'":
                self._single(building)
            elif character == '"':
                self._double(building)
            elif character == "\\":
                building.text.append(text[self.at + 1 : self.at + 2])
                building.is_quoted = True
                self.at += 2
            elif text.startswith("$'", self.at):
                self._dollar_single(building)
            else:
                building.is_open |= character in _PATTERN or (character == "{" and not building.text)
                self._expansion_or_character(building, in_quotes=False)
        return building.word()

    def _single(self, building: _Building) -> None:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise ShellError("a quote does not end")
        building.text.append(self.text[self.at + 1 : end])
        building.is_quoted = True
        self.at = end + 1

    def _dollar_single(self, building: _Building) -> None:
        self.at += 2
        start = self.at
        while self.text[self.at : self.at + 1] != "'":
            if self.at >= len(self.text):
                raise ShellError("a quote does not end")
            self.at += 2 if self.text[self.at] == "\\" else 1
        body = self.text[start : self.at]
        building.text.append(body)
        building.is_open |= "\\" in body
        building.is_quoted = True
        self.at += 1

    def _double(self, building: _Building) -> None:
        self.at += 1
        building.is_quoted = True
        while True:
            if self.at >= len(self.text):
                raise ShellError("a quote does not end")
            if self.text[self.at] == '"':
                self.at += 1
                return
            if self.text[self.at] == "\\" and self.text[self.at + 1 : self.at + 2] in _HELD:
                building.text.append(self.text[self.at + 1])
                self.at += 2
            else:
                self._expansion_or_character(building, in_quotes=True)

    def _expansion_or_character(self, building: _Building, *, in_quotes: bool) -> None:
        """One character, or what begins with `$` or a backquote."""
        text, start = self.text, self.at
        if in_quotes and text[start] == "\\":
            self.at += 2
        elif text[start] == "`":
            self.at += 1
            building.substitutions.append(self._backquoted())
            building.is_open = True
        elif text.startswith("$((", start):
            self.at += 3
            self._until_closed("(", ")")
            building.is_open = True
            if text[self.at : self.at + 1] == ")":
                self.at += 1
        elif text.startswith("$(", start):
            self.at += 2
            building.substitutions.append(self._until_closed("(", ")"))
            building.is_open = True
        elif text.startswith("${", start):
            self.at += 2
            inner = self._until_closed("{", "}")
            building.substitutions += _substitutions_in(inner)
            building.is_open = True
        else:
            building.is_open |= text[start] == "$" and text[start + 1 : start + 2] not in ("", " ", '"')
            self.at += 1
        building.text.append(text[start : self.at])

    def _backquoted(self) -> str:
        start = self.at
        while self.at < len(self.text):
            if self.text[self.at] == "`":
                self.at += 1
                return self.text[start : self.at - 1].replace("\\`", "`")
            self.at += 2 if self.text[self.at] == "\\" else 1
        raise ShellError("a backquote does not end")

    def _until_closed(self, opens: str, closes: str) -> str:
        """The text up to the bracket that closes; quotes and brackets inside are passed over."""
        start, depth = self.at, 1
        while self.at < len(self.text):
            character = self.text[self.at]
            if character in "'\"`":
                self._pass_over(character)
                continue
            if character == "\\":
                self.at += 1
            elif character == opens:
                depth += 1
            elif character == closes:
                depth -= 1
            self.at += 1
            if depth == 0:
                return self.text[start : self.at - 1]
        raise ShellError(f"{opens!r} is not closed")

    def _pass_over(self, quote: str) -> None:
        self.at += 1
        while self.at < len(self.text):
            if self.text[self.at] == "\\" and quote != "'":
                self.at += 1
            elif quote == '"' and self.text.startswith("$(", self.at):
                self.at += 2
                self._until_closed("(", ")")
                continue
            elif self.text[self.at] == quote:
                self.at += 1
                return
            self.at += 1
        raise ShellError("a quote does not end")


def _substitutions_in(text: str) -> list[str]:
    reader, building = _Reader(text), _Building()
    while reader.at < len(text):
        reader._expansion_or_character(building, in_quotes=True)
    return building.substitutions


def _is_assignment(word: Word) -> bool:
    name, equals, _ = word.text.partition("=")
    name = name.removesuffix("+").partition("[")[0]
    return bool(equals) and name.isidentifier() and name.isascii()
