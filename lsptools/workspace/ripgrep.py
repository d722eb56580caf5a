"""Text search in the workspace: the only module that runs ripgrep, and the door to the search in Python.

The workspace may be hostile and the user's settings unknown, so ripgrep runs without the configuration of either, and
nothing is taken for an option: patterns come by standard input or in `--regexp=…`, paths stand behind `--` and begin
with `./`. Which files are searched is said in `walk.py`. Files that are binary, large or unreadable and folders that are
left out are reported, not lost; that some could not be read does not make the rest unknown.

`--text` is always on. Without it ripgrep gives up on a file at the first NUL, wherever that is, and a name before or
behind it would be lost. Instead, files that match are looked at by the same rule as everywhere (`is_binary`).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from codecs import BOM_UTF8
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, Thread
from typing import IO

from lsptools.errors import BadRequest, Unavailable
from lsptools.workspace import python_search
from lsptools.workspace.found import Case, Found, Hits, Line, Query, Search, Skipped, Why
from lsptools.workspace.gathering import Gathering, has_binary_head
from lsptools.workspace.globs import checked_globs, is_wanted, quoted
from lsptools.workspace.operations import LocalOperations, Operations
from lsptools.workspace.paths import Root
from lsptools.workspace.survey import (
    HOPELESS,
    LIMIT,
    NOTHING_SURVEYED,
    Survey,
    Tree,
    binary,
    large,
    survey,
    unsearched,
)
from lsptools.workspace.walk import FOREIGN, VERSION_CONTROL
from lsptools.workspace.words import checked_words, python_pattern, rust_patterns

if sys.platform == "linux":
    import fcntl

__all__ = ["Case", "Found", "Hits", "Line", "Query", "Rg", "Skipped", "Why", "find_executable"]

LOCAL: Operations = LocalOperations()
OLDEST = 13
"""The first ripgrep that knows every option used here."""


@dataclass(frozen=True, slots=True)
class Rg:
    """How text is searched: by ripgrep, or in Python if there is none.

    All searches take `globs` (see `globs.is_wanted`), `everywhere` (environments and installed packages too), the
    `operations` to read with (only Python can search what is not on the local disk), and a `survey` if one was made.
    """

    executable: Path | None
    why: str = ""
    """Why there is no ripgrep, or what is known about it."""
    timeout: float = 60.0
    """Seconds after which a search is given up; a pipe in the place of an ignore file would stop ripgrep for good."""
    checkpoint: Callable[[], None] | None = field(default=None, repr=False, compare=False)
    """Called while ripgrep runs; what it raises ends ripgrep and goes to the caller."""

    @classmethod
    def find(cls, setting: str | None, path: str | None, *, distrusted: Root | None = None) -> Rg:
        """The ripgrep of `find_executable`, unless it is too old."""
        executable = find_executable(setting, path, distrusted=distrusted)
        if executable is None:
            return cls(None, "no ripgrep was found")
        if executable == _program_in(_own_folders(), "rg"):
            return cls(executable)  # installed with us, in a version that our own requirements name
        version = _version(executable)
        if version is None:
            return cls(None, f"{executable} does not say that it is ripgrep")
        if version[0] < OLDEST:
            numbers = ".".join(map(str, version))
            return cls(None, f"ripgrep {numbers} at {executable} is too old, {OLDEST} or newer is needed")
        return cls(executable, "ripgrep " + ".".join(map(str, version)))

    @property
    def explain(self) -> str:
        """One sentence for people: who searches, and that it is slow if it is."""
        if self.executable is None:
            return f"searching in Python, which is slow: {self.why or 'no ripgrep was given'}"
        return f"searching with {self.why or 'ripgrep'} at {self.executable}"

    def files(
        self,
        root: Root,
        *,
        globs: Sequence[str] = (),
        everywhere: bool = False,
        operations: Operations = LOCAL,
        survey: Survey | None = None,
    ) -> Iterator[str]:
        """All files that are searched, whatever is in them, sorted."""
        tree = _tree(root, globs, everywhere, operations, survey)
        if not self._runs(operations):
            return iter(sorted(python_search.files(tree)))
        done = self._run(root, [*_options(tree), "--files", "--", "./"])
        return iter(sorted(path for path in _paths(done.stdout) if is_wanted(path, globs)))

    def files_with(
        self,
        root: Root,
        words: Sequence[str],
        *,
        whole_words: bool = True,
        marks: Sequence[str] = (),
        globs: Sequence[str] = (),
        everywhere: bool = False,
        operations: Operations = LOCAL,
        survey: Survey | None = None,
    ) -> Found:
        """The files that have one of `words` in them or perhaps one of `marks`, as `words.py` understands both."""
        words = checked_words(words)
        tree = _tree(root, globs, everywhere, operations, survey)
        if not self._runs(operations):
            return python_search.files_with(
                tree, python_pattern(words, whole=whole_words, marks=marks).search
            )
        patterns = "\n".join(rust_patterns(words, whole=whole_words, marks=marks)).encode()
        what = ["--file=-", "--files-with-matches"]
        done = self._run(root, [*_options(tree), f"--max-filesize={LIMIT}", *what, "--", "./"], patterns)
        files, binaries = _texts(root, [path for path in _paths(done.stdout) if is_wanted(path, globs)])
        skipped = {*unsearched(tree), *done.skipped, *binaries, *self._large(tree, what, patterns)}
        return Found(tuple(sorted(files)), tuple(sorted(skipped)))

    def begin_sweep(
        self,
        root: Root,
        words: Sequence[str],
        *,
        whole_words: bool = True,
        marks: Sequence[str] = (),
        globs: Sequence[str] = (),
    ) -> Search[Found]:
        """Begin what `files_with` does on the local disk.

        There is no survey first: half the time on a workspace of ten thousand files. So what is skipped is said only of files
        that match: those beyond the limit, binary ones, those that could not be read, those in a virtual environment. Where not
        only files with certain suffixes are wanted, those beyond `HOPELESS` bytes are left out without a word.
        """
        words = checked_words(words)
        tree = Tree(root, LOCAL, NOTHING_SURVEYED, checked_globs(globs), False)
        patterns = "\n".join(rust_patterns(words, whole=whole_words, marks=marks)).encode()
        options = [*_options(tree), "--file=-", "--files-with-matches"]
        if not any(option.startswith("--type=") for option in options):
            options.append(f"--max-filesize={HOPELESS}")
        running = self._begin(root, [*options, "--", "./"], patterns)
        return Search(lambda: _swept(tree, running.done()), running.cancel)

    def count_occurrences(
        self,
        root: Root,
        word: str,
        *,
        globs: Sequence[str] = (),
        everywhere: bool = False,
        operations: Operations = LOCAL,
        survey: Survey | None = None,
    ) -> Mapping[str, int]:
        """How often `word` stands in each text file, whole by Unicode's rules: a count made by somebody else, for tests."""
        (word,) = checked_words([word])
        tree = _tree(root, globs, everywhere, operations, survey)
        if not self._runs(operations):
            return python_search.count_occurrences(tree, word)
        what = ["--count-matches", "--word-regexp", "--fixed-strings", f"--regexp={word}"]
        done = self._run(root, [*_options(tree), f"--max-filesize={LIMIT}", *what, "--", "./"])
        counts = {
            os.fsdecode(path): int(count) for path, count in re.findall(rb"\./([^\0]+)\0(\d+)\n", done.stdout)
        }
        texts, _ = _texts(root, [path for path in counts if is_wanted(path, globs)])
        return {path: counts[path] for path in sorted(texts)}

    def search(
        self,
        root: Root,
        query: Query,
        *,
        everywhere: bool = False,
        operations: Operations = LOCAL,
        survey: Survey | None = None,
        without: Container[str] = (),
    ) -> Hits:
        """The lines that match `query`, but not in the files `without`."""
        tree = _tree(root, query.globs, everywhere, operations, survey)
        if not self._runs(operations):
            return python_search.search(tree, query, without)
        what = _query_options(query)
        hits = Gathering(root, query, without=without)
        options = [*_options(tree), f"--max-filesize={LIMIT}", *what, "--json", f"--context={query.context}"]
        unread = self._stream(root, [*options, "--", "./"], hits.add)
        large_ones = self._large(tree, [*what, "--files-with-matches"])
        skipped = {*unsearched(tree), *unread, *hits.binaries, *large_ones}
        return replace(
            hits.hits(), skipped=tuple(sorted(each for each in skipped if each.path not in without))
        )

    def begin_some_line(
        self, root: Root, query: Query, *, everywhere: bool = False, operations: Operations = LOCAL
    ) -> Search[Line | None]:
        """Begin to look for a line that matches. Which one is left to chance; the result, if awaited, ends the search."""
        query = replace(query, context=0, limit=1)
        tree = Tree(root, operations, NOTHING_SURVEYED, checked_globs(query.globs), everywhere)
        if not self._runs(operations):
            return Search(lambda: next(iter(python_search.search(tree, query, ()).lines), None), lambda: None)
        hits = Gathering(root, query)
        options = [
            *_options(tree),
            f"--max-filesize={LIMIT}",
            *_query_options(query),
            "--json",
            "--max-count=1",
        ]
        process = self._started(root, [*options, "--", "./"], subprocess.PIPE)

        def result() -> Line | None:
            self._follow(process, hits.add, enough=lambda: hits.has_lines)
            return next(iter(hits.hits().lines), None)

        return Search(result, _Running(self, process).cancel)

    def search_text(self, root: Root, path: str, text: str, query: Query) -> Hits:
        """The lines that match `query` in a text that is not on the disk like this."""
        data = text.encode("utf-8", "surrogatepass")
        if self.executable is None:
            return python_search.search_text(path, data, query)
        hits = Gathering(root, query, path=path)
        options = [*_ALWAYS, *_query_options(query), "--json", f"--context={query.context}"]
        # A byte order mark in front, so that what the text begins with is not taken for one.
        self._stream(root, [*options, "--", "-"], hits.add, BOM_UTF8 + data)
        return hits.hits()

    def _runs(self, operations: Operations) -> bool:
        return self.executable is not None and operations.is_local

    def _large(self, tree: Tree, what: Sequence[str], patterns: bytes = b"") -> Iterator[Skipped]:
        """Notes on the large files that match; they have a run of their own, which names them."""
        sizes = {path: size for path, size in tree.survey.large if is_wanted(path, tree.globs)}
        if sizes:
            done = self._run(tree.root, [*_ALWAYS, *what, "--", *(f"./{path}" for path in sizes)], patterns)
            matching, binaries = _texts(tree.root, list(_paths(done.stdout)))
            yield from (large(path, sizes[path]) for path in matching)
            yield from (*binaries, *done.skipped)

    def _run(self, root: Root, arguments: Sequence[str], given: bytes = b"") -> _Done:
        """Run ripgrep in the root to its end."""
        return self._begin(root, arguments, given).done()

    def _begin(self, root: Root, arguments: Sequence[str], given: bytes) -> _Running:
        """Start ripgrep in the root."""
        process = self._started(root, arguments, subprocess.PIPE)
        assert process.stdin is not None
        running = _Running(self, process)
        try:
            # Patterns are all that it reads, before it writes anything.
            _give(process.stdin, given)
        except BaseException:
            running.cancel()
            raise
        process.stdin = None
        return running

    def _started(self, root: Root, arguments: Sequence[str], stdin: int) -> subprocess.Popen[bytes]:
        try:
            process = subprocess.Popen(
                [str(self.executable), *arguments],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=root.path,
                creationflags=_NO_WINDOW,
            )
        except OSError as error:
            raise self._cannot_start(error) from None
        assert process.stdout is not None
        _enlarge(process.stdout)
        return process

    def _stream(
        self,
        root: Root,
        arguments: Sequence[str],
        take: Callable[[bytes], None],
        given: bytes = b"",
    ) -> tuple[Skipped, ...]:
        """Run ripgrep in the root, hand its lines to `take`, and answer what could not be read."""
        return self._follow(self._started(root, arguments, subprocess.PIPE), take, given)

    def _follow(
        self,
        process: subprocess.Popen[bytes],
        take: Callable[[bytes], None],
        given: bytes = b"",
        *,
        enough: Callable[[], bool] = lambda: False,
    ) -> tuple[Skipped, ...]:
        """Hand ripgrep's lines to `take` until it has `enough`, and answer what could not be read."""
        stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
        assert stdin and stdout and stderr  # they are pipes
        complaints: list[bytes] = []
        others = (
            Thread(target=_give, args=(stdin, given), daemon=True),
            Thread(target=lambda: complaints.append(stderr.read()), daemon=True),
        )
        with process:
            alarm = _Alarm(self.timeout, process.kill, self.checkpoint)
            for thread in others:
                thread.start()
            try:
                for line in stdout:
                    take(line)
                    if enough():
                        process.kill()
                        return ()
            except BaseException:
                process.kill()
                raise
            finally:
                for thread in others:
                    thread.join()
                alarm.cancel()
                alarm.join()  # whoever wants to fork wants to be alone
        if alarm.raised is not None:
            raise alarm.raised
        if alarm.has_rung:
            raise self._too_slow()
        return _skipped(process.returncode, b"".join(complaints))

    def _cannot_start(self, error: OSError) -> Unavailable:
        return Unavailable(
            "unavailable",
            f"ripgrep at {self.executable} cannot be run in the workspace: {error.strerror}",
            hint="see that both are there, or set another ripgrep",
        )

    def _too_slow(self) -> Unavailable:
        return Unavailable(
            "timed_out",
            f"ripgrep did not come to an end in {self.timeout:g} s",
            hint="exclude folders by an ignore file, or allow more time",
        )


def find_executable(setting: str | None, path: str | None, *, distrusted: Root | None = None) -> Path | None:
    """The ripgrep to use: what is set (a path or a name), else `rg` on `path`, else the one installed with us.

    `path` is the value of `PATH`. Entries that are not absolute, which would depend on the current directory, and
    those inside the `distrusted` workspace do not count: who opens a project did not ask for its programs.
    """
    if setting and not os.path.isabs(setting) and Path(setting).name != setting:
        raise BadRequest(
            "invalid",
            f"the ripgrep set is {setting!r}, which depends on where we are",
            hint="set an absolute path",
        )
    if setting and os.path.isabs(setting):
        found: Path | None = Path(setting) if _is_program(setting) else None
    else:
        folders = [folder for folder in (path or "").split(os.pathsep) if os.path.isabs(folder)]
        trusted = [folder for folder in folders if distrusted is None or not distrusted.holds(folder)]
        found = _program_in(trusted, setting or "rg")
    if setting and found is None:
        raise Unavailable(
            "unavailable",
            f"the ripgrep set, {setting!r}, is no program",
            hint="correct the setting, or remove it",
        )
    return found or _program_in(_own_folders(), "rg")


@dataclass(frozen=True, slots=True)
class _Done:
    stdout: bytes
    skipped: tuple[Skipped, ...]


_PIPE_BYTES = 1 << 20
"""So much of its answer ripgrep can write while nobody reads (Linux)."""


def _enlarge(pipe: IO[bytes]) -> None:
    """Make room in a pipe, if we may: all pipes of a user have only so many pages together, and a small one does, too."""
    if sys.platform == "linux":
        with suppress(OSError):
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


class _Running:
    """ripgrep at work."""

    def __init__(self, rg: Rg, process: subprocess.Popen[bytes]) -> None:
        self._rg = rg
        self._process = process

    def done(self) -> _Done:
        """Wait for its end. Whatever stops the wait (the checkpoint, the time limit, the user's Ctrl-C) ends it, too."""
        try:
            stdout, stderr = self._said()
        except BaseException:
            self.cancel()
            raise
        return _Done(stdout, _skipped(self._process.returncode, stderr))

    def _said(self) -> tuple[bytes, bytes]:
        """What it has written, when it has come to its end."""
        rg, end = self._rg, time.monotonic() + self._rg.timeout
        while True:
            left = max(0.0, end - time.monotonic())
            try:
                return self._process.communicate(timeout=left if rg.checkpoint is None else min(left, _BEAT))
            except subprocess.TimeoutExpired:
                if time.monotonic() >= end:
                    raise rg._too_slow() from None
            if rg.checkpoint is not None:
                rg.checkpoint()

    def cancel(self) -> None:
        """End it; nobody needs what it finds."""
        self._process.kill()
        self._process.communicate()


class _Alarm(Thread):
    """Acts when the time is over or the checkpoint raises, unless it is cancelled before; it knows which it was."""

    def __init__(
        self, seconds: float, act: Callable[[], None], checkpoint: Callable[[], None] | None = None
    ) -> None:
        super().__init__(daemon=True)
        self.has_rung = False
        self.raised: BaseException | None = None
        self._end = time.monotonic() + seconds
        self._act = act
        self._checkpoint = checkpoint
        self._over = Event()
        self.start()

    def cancel(self) -> None:
        self._over.set()

    def run(self) -> None:
        while not self._over.wait(min(_BEAT, self._left()) if self._checkpoint else self._left()):
            if self._checkpoint is not None:
                try:
                    self._checkpoint()
                except BaseException as error:  # noqa: BLE001  # raised where ripgrep was started
                    self.raised = error
                    break
            if self._left() <= 0:
                self.has_rung = True
                break
        else:
            return
        self._act()

    def _left(self) -> float:
        return max(0.0, self._end - time.monotonic())


_BEAT = 0.05
"""Seconds between two looks at the checkpoint."""


_NO_WINDOW: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # Windows would open a console

_ALWAYS = ("--no-config", "--color=never", "--text", "--null", "--path-separator=/")
_FILES = (
    # Which files: see `walk.py`.
    "--hidden",
    "--no-require-git",
    "--no-ignore-global",
    "--no-ignore-exclude",
    "--no-ignore-parent",
    "--no-ignore-messages",
    *(f"--glob=!{name}" for name in VERSION_CONTROL),
)


def _tree(
    root: Root, globs: Sequence[str], everywhere: bool, operations: Operations, known: Survey | None
) -> Tree:
    globs = checked_globs(globs)
    return Tree(root, operations, known or survey(root, operations, everywhere=everywhere), globs, everywhere)


def _swept(tree: Tree, done: _Done) -> Found:
    wanted = (path for path in _paths(done.stdout) if is_wanted(path, tree.globs))
    ours, skipped = _apart_from_environments(tree.root, wanted)
    files: list[str] = []
    top = os.path.join(tree.root.path, "")
    for path in ours:
        size = LOCAL.size(top + path)
        if size > LIMIT:
            skipped.append(large(path, size))
        else:
            files.append(path)
    texts, binaries = _texts(tree.root, files)
    return Found(tuple(sorted(texts)), tuple(sorted({*skipped, *binaries, *done.skipped})))


def _apart_from_environments(root: Root, paths: Iterable[str]) -> tuple[list[str], list[Skipped]]:
    """The files that lie in no virtual environment, and one note for each environment with a match."""
    known: dict[str, str] = {"": ""}

    def environment(folder: str) -> str:
        """The outermost folder with a `pyvenv.cfg` at or above this one; empty: none."""
        if folder not in known:
            above = environment(folder.rpartition("/")[0])
            marked = above or os.path.exists(os.path.join(root.path, folder, "pyvenv.cfg"))
            known[folder] = above or (folder if marked else "")
        return known[folder]

    ours: list[str] = []
    notes: dict[str, Skipped] = {}
    for path in paths:
        inside = environment(path.rpartition("/")[0])
        if inside:
            notes[inside] = Skipped(inside, "left out: a virtual environment", Why.LEFT_OUT)
        else:
            ours.append(path)
    return ours, list(notes.values())


def _options(tree: Tree) -> list[str]:
    """How to search the files of the tree, and perhaps some more; `is_wanted` has the last word on globs."""
    options = [*_ALWAYS, *_FILES]
    # ripgrep refuses an unclosed `[` here, and takes it for a character in an ignore file, as we do.
    options += [f"--glob={glob}" for glob in tree.globs if glob.startswith("!") and "[" not in glob]
    if not tree.everywhere:
        options += [f"--glob=!{name}/" for name in FOREIGN]
        options += [f"--glob=!{quoted(path)}/" for path in tree.survey.environments]
    # A positive `--glob` would bring back what ignore files exclude. Types do not, but know only names of files.
    wanted = [glob for glob in tree.globs if not glob.startswith("!")]
    if wanted and all(_BY_SUFFIX.fullmatch(glob) for glob in wanted):
        options += [f"--type-add=wanted:{glob}" for glob in wanted]
        options.append("--type=wanted")
    return options


_BY_SUFFIX = re.compile(r"\*(\.\w+)+", re.ASCII)


def _query_options(query: Query) -> list[str]:
    options = [f"--regexp={query.pattern}", "--crlf", _CASES[query.case]]
    if query.fixed:
        options.append("--fixed-strings")
    if query.word:
        options.append("--word-regexp")
    return options


_CASES = {
    Case.SENSITIVE: "--case-sensitive",
    Case.INSENSITIVE: "--ignore-case",
    Case.SMART: "--smart-case",
}


def _paths(stdout: bytes) -> Iterator[str]:
    return (os.fsdecode(path.removeprefix(b"./")) for path in stdout.split(b"\0") if path)


def _texts(root: Root, paths: Sequence[str]) -> tuple[list[str], list[Skipped]]:
    """Those of the files that are text, and notes on the others."""
    top = os.path.join(root.path, "")
    texts: list[str] = []
    others: list[Skipped] = []
    for path in paths:
        try:
            is_text = not has_binary_head(top + path)
        except FileNotFoundError:
            continue  # gone meanwhile
        except OSError as error:
            others.append(Skipped(path, error.strerror or str(error)))
            continue
        if is_text:
            texts.append(path)
        else:
            others.append(binary(path))
    return texts, others


_COMPLAINT = re.compile(
    rb"^rg: \./(?P<path>.*?)(?:: IO error for operation on \./.*?)?: (?P<reason>[^\n:]+) \(os error (?P<code>\d+)\)$",
    re.MULTILINE | re.DOTALL,  # a path may have a line end in it
)
_IN_A_PATTERN = (b"regex parse error", b"is not allowed in a regex", b"size limit")


def _skipped(code: int, stderr: bytes) -> tuple[Skipped, ...]:
    """What ripgrep says it could not read. Other failures are errors; to match nothing is none."""
    if code in (0, 1):
        return ()
    complaints = list(_COMPLAINT.finditer(stderr))
    if code == 2 and complaints:
        return tuple(
            Skipped(os.fsdecode(complaint["path"]) or ".", complaint["reason"].decode("utf-8", "replace"))
            for complaint in complaints
            if complaint["code"] != b"2"  # gone meanwhile
        )
    says = stderr.decode("utf-8", "replace").strip()
    if any(part in stderr for part in _IN_A_PATTERN):
        raise BadRequest(
            "invalid",
            says.removeprefix("rg: ").replace("\n", " "),
            hint="correct the expression, or search for a fixed text",
        )
    raise Unavailable(
        "unavailable",
        f"ripgrep failed ({code}): {says or 'it says nothing'}",
        hint="run it by hand, or set another ripgrep",
    )


def _give(pipe: IO[bytes], data: bytes) -> None:
    try:
        pipe.write(data)
        pipe.close()
    except OSError:
        pass  # ripgrep ended before it had read all; its exit code tells why


def _version(executable: Path) -> tuple[int, ...] | None:
    try:
        done = subprocess.run(
            [executable, "--no-config", "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
            creationflags=_NO_WINDOW,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.match(rb"ripgrep (\d+)\.(\d+)\.(\d+)", done.stdout)
    return tuple(int(number) for number in found.groups()) if found else None


def _own_folders() -> Iterator[str]:
    """Where installers put programs of packages in our environment; `pip --target` makes a `bin` beside the packages."""
    if sys.executable:
        yield str(Path(sys.executable).parent)
    yield os.path.join(Path(__file__).parents[2], "bin")
    import sysconfig  # takes a millisecond, and the first place is nearly always right

    yield sysconfig.get_path("scripts")


def _program_in(folders: Iterable[str], name: str) -> Path | None:
    names = [name, f"{name}.exe"] if os.name == "nt" else [name]
    candidates = (os.path.join(folder, each) for folder in folders for each in names)
    return next((Path(candidate) for candidate in candidates if _is_program(candidate)), None)


def _is_program(path: str) -> bool:
    return Path(path).is_file() and os.access(path, os.X_OK)
