"""A frozen view of the workspace: the disk, with unsaved or planned texts laid over it.

A `Snapshot` never changes, and what it has read stays as it was at the first read; `digests` says what that was.
`with_overlays` makes another view, which shares what was read. A text laid over the disk wins, whether it is an
editor's unsaved file or the result of a planned change; `None` laid over means that the file is gone.

Where it stops: files are read when asked for, not all at once, so two files may be from two moments. Whoever writes
compares digests first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path

from lsptools.errors import BadRequest, Refused
from lsptools.text.document import Document, digest_of
from lsptools.workspace.disk import Derived, Disk, not_found
from lsptools.workspace.found import Found, Hits, Query, Search
from lsptools.workspace.globs import is_wanted
from lsptools.workspace.operations import LocalOperations, Operations
from lsptools.workspace.paths import Root
from lsptools.workspace.ripgrep import Rg
from lsptools.workspace.words import word_test

PYTHON_SEARCH = Rg(None)


def go_on() -> None:
    """The checkpoint of work that nobody interrupts."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The workspace at one moment. Paths are relative to the root with `/`; other spellings are understood too."""

    root: Root
    operations: Operations = field(default_factory=LocalOperations)
    rg: Rg = PYTHON_SEARCH
    overlays: Mapping[str, str | None] = field(default_factory=dict)
    """Text by path, or `None` for a file that is gone. Not to be changed."""
    search_path: tuple[str, ...] = ()
    """Folders of installed packages outside the workspace, absolute: what imports lead to, never edited."""
    checkpoint: Callable[[], None] = field(default=go_on, repr=False, compare=False)
    """Called again and again during long work; it raises to stop it (`Unavailable`, `cancelled`)."""
    derived: dict[str, Derived] | None = field(default=None, repr=False, compare=False)
    """By path, what was made of a document of an earlier snapshot, for who compares digests before using it again (an editor
    asks all day about the same files). None: nothing outlives the snapshot."""
    _disk: Disk = field(init=False, repr=False, compare=False)
    _laid_in: dict[str, set[str]] = field(default_factory=dict, init=False, repr=False, compare=False)
    """For each folder with overlays somewhere below: the names in it that have some, or are one. The root is empty."""
    _peopled: set[str] = field(default_factory=set, init=False, repr=False, compare=False)
    """The folders with an overlay below that is a text."""
    _documents: dict[str, Document] = field(default_factory=dict, init=False, repr=False, compare=False)
    """The answers of `document` so far."""

    def __post_init__(self) -> None:
        named = {self.root.relative(path): text for path, text in self.overlays.items()}
        object.__setattr__(self, "overlays", named)
        for path, text in named.items():
            while path:
                path, _, base = path.rpartition("/")
                self._laid_in.setdefault(path, set()).add(base)
                if text is not None:
                    self._peopled.add(path)
        object.__setattr__(self, "_disk", Disk(self.root, self.operations, self.derived or {}))

    def document(self, path: str) -> Document:
        """The text of a file. `not_found`, `is_directory` and `binary` are `BadRequest`."""
        document = self._documents.get(path)
        if document is None:
            name = self._disk.name_of(path)
            document = self._laid_over(name) if name in self.overlays else self._disk.document(name)
            self._documents[name] = document
        return document

    def bytes(self, path: str) -> bytes:
        """The content of a file, which may be binary."""
        name = self._disk.name_of(path)
        if name in self.overlays or name in self._disk.documents:
            return self.document(name).encode()
        return self._disk.read(name)

    def exists(self, path: str) -> bool:
        """Is there a file or folder?"""
        return self.is_file(path) or self.is_dir(path)

    def is_file(self, path: str) -> bool:
        """Is there a regular file, perhaps behind a link that stays inside the workspace?"""
        try:
            name = self._disk.name_of(path)
        except BadRequest:
            return False
        if name in self.overlays:
            return self.overlays[name] is not None
        folder, _, base = name.rpartition("/")
        return self._disk.kinds(folder).get(base) == "file"

    def is_dir(self, path: str) -> bool:
        """Is there a folder? One whose last file is laid over with `None` is gone."""
        try:
            name = self._disk.name_of(path)
        except BadRequest:
            return False
        if name == ".":
            return True
        if name in self._peopled:
            return True
        folder, _, base = name.rpartition("/")
        is_on_disk = self._disk.kinds(folder).get(base) == "folder"
        return is_on_disk and (name not in self._laid_in or bool(self.list_dir(name)))

    def entries(self, path: str) -> tuple[tuple[str, bool], ...]:
        """The files and folders in a folder: name, and whether it is a folder. As `list_dir`, in one step."""
        if not self.overlays:
            kinds = self._disk.kinds(self._disk.name_of(path))
            return tuple((name, kind == "folder") for name, kind in kinds.items() if kind != "other")
        prefix = "" if path == "." else f"{path}/"
        return tuple((name, self.is_dir(prefix + name)) for name in self.list_dir(path))

    def list_dir(self, path: str) -> tuple[str, ...]:
        """The names in a folder, sorted; none if there is no such folder."""
        name = self._disk.name_of(path)
        prefix = "" if name == "." else name + "/"
        names = set(self._disk.kinds(name))
        laid_over = self._laid_in.get(prefix[:-1], set())
        there = {base for base in laid_over if self.exists(prefix + base)}
        return tuple(sorted((names - laid_over) | there))

    def files(self, *, globs: Sequence[str] = ()) -> tuple[str, ...]:
        """All files a search looks into, sorted; see `walk.py` for which those are, and `globs.is_wanted` for globs."""
        on_disk = self.rg.files(self.root, globs=globs, operations=self.operations, survey=self._disk.survey)
        there = (path for path in on_disk if path not in self.overlays)
        return tuple(sorted((*there, *self._laid_over_files(globs))))

    def files_with(
        self,
        words: Sequence[str],
        *,
        whole_words: bool = True,
        marks: Sequence[str] = (),
        globs: Sequence[str] = (),
    ) -> Found:
        """The files with one of `words` in them, or perhaps one of `marks` (see `words.py`).

        A text laid over the disk is searched instead of what is below it.
        """
        return self.begin_files_with(words, whole_words=whole_words, marks=marks, globs=globs).result()

    def begin_files_with(
        self,
        words: Sequence[str],
        *,
        whole_words: bool = True,
        marks: Sequence[str] = (),
        globs: Sequence[str] = (),
    ) -> Search[Found]:
        """The same, begun now if ripgrep can do it meanwhile."""
        if self.rg.executable is not None and self.operations.is_local:
            search = self.rg.begin_sweep(self.root, words, whole_words=whole_words, marks=marks, globs=globs)
        else:
            result = partial(
                self.rg.files_with,
                self.root,
                words,
                whole_words=whole_words,
                marks=marks,
                globs=globs,
                operations=self.operations,
                survey=self._disk.survey,
            )
            search = Search(result, lambda: None)
        if not self.overlays:
            return search
        counts = word_test(words, whole=whole_words, marks=marks)
        return replace(search, result=lambda: self._with_laid_over(search.result(), counts, globs))

    def _with_laid_over(self, found: Found, counts: Callable[[str], bool], globs: Sequence[str]) -> Found:
        on_disk = (path for path in found.files if path not in self.overlays)
        laid_over = (path for path, text in self._laid_over_files(globs).items() if counts(text))
        skipped = tuple(skipped for skipped in found.skipped if skipped.path not in self.overlays)
        return Found(tuple(sorted((*on_disk, *laid_over))), skipped)

    def search(self, query: Query) -> Hits:
        """The lines that match; a text laid over the disk is searched instead of what is below it."""
        hits = self.rg.search(
            self.root,
            query,
            operations=self.operations,
            survey=self._disk.survey,
            without=self.overlays.keys(),
        )
        laid_over = self._laid_over_files(query.globs)
        return hits.joined(
            [self.rg.search_text(self.root, path, text, query) for path, text in laid_over.items()],
            query.limit,
        )

    def with_overlays(self, overlays: Mapping[str, str | None]) -> Snapshot:
        """This view with further texts laid over it; `None` means that the file is gone."""
        added = {self._disk.name_of(path): text for path, text in overlays.items()}
        snapshot = replace(self, overlays={**self.overlays, **added})
        object.__setattr__(snapshot, "_disk", self._disk)
        snapshot._documents.update(
            (path, document) for path, document in self._documents.items() if path not in added
        )
        return snapshot

    def external_document(self, absolute: Path) -> Document:
        """A file outside the workspace, to read only: the standard library, installed packages."""
        path = str(absolute)
        if path not in self._disk.external and self.root.holds(path):
            return self.document(path)
        return self._disk.external_document(path)

    @property
    def digests(self) -> Mapping[str, str]:
        """Digest of each file read from the disk so far, as it was then."""
        return {path: document.digest for path, document in self._disk.documents.items()}

    @property
    def n_read(self) -> int:
        """How many files were read from the disk so far."""
        return len(self._disk.documents)

    def read_since(self, n_read: int) -> tuple[tuple[str, str], ...]:
        """Path and digest of the files that were read from the disk after the first `n_read`."""
        documents = self._disk.documents
        new = islice(reversed(documents.items()), len(documents) - n_read)
        return tuple((path, document.digest) for path, document in new)

    def changed_on_disk(self) -> tuple[str, ...]:
        """Which of the files read so far are not on the disk any more as they were read."""
        return tuple(
            path for path, digest in sorted(self.digests.items()) if self._digest_now(path) != digest
        )

    def _laid_over_files(self, globs: Sequence[str]) -> dict[str, str]:
        """The texts laid over the disk that a search of the disk would come to, if they were files there."""
        return {
            path: text
            for path, text in self.overlays.items()
            if text is not None and is_wanted(path, globs) and self._disk.is_searched(path)
        }

    def _digest_now(self, name: str) -> str | None:
        try:
            return digest_of(self._disk.read(name))
        except BadRequest:
            return None

    def _laid_over(self, name: str) -> Document:
        text = self.overlays[name]
        if text is None:
            raise not_found(name)
        try:
            below = self._disk.document(name)
        except BadRequest:
            below = _EMPTY
        document = replace(below, text=text)
        try:
            data = document.encode()
        except Refused:
            # It cannot be written like this, which `encode` will say; it can be read all the same.
            data = text.encode("utf-8", "surrogatepass")
        return replace(document, digest=digest_of(data))


_EMPTY = Document.decode(b"")
