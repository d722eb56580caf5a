"""The laws of editing, on random files: what is not announced does not change, and what is planned is what is written.

Files mix line ends, have byte order marks, six encodings and bytes that are no text; edits are parts of them in some form.
"""

from __future__ import annotations

import codecs
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path

import pytest
from changing import quick_folder
from editing import ROOT, memory, snapshot, workspace
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from lsptools.edit.lines import LineEdit, plan_lines
from lsptools.edit.plan import FilePlan, Plan
from lsptools.edit.replace import Replacement, plan_edit
from lsptools.edit.session import Session
from lsptools.edit.write import plan_write
from lsptools.errors import ToolError
from lsptools.text.document import Document, bytes_after, digest_of
from lsptools.text.edits import Edits, TextEdit
from lsptools.text.lines import Offset, Span
from lsptools.text.match import folded
from lsptools.workspace.apply import apply
from lsptools.workspace.journal import undo
from lsptools.workspace.paths import Root
from lsptools.workspace.snapshot import Snapshot
from lsptools.workspace.state import State

# In `make test` 500, in the nightly profile what that says, if it is more.
many = settings(max_examples=max(500, settings.default.max_examples if settings.default else 0))

LINES = st.lists(
    st.tuples(st.text('ab \t“"é', max_size=6), st.sampled_from(["\n", "\n", "\r\n", "\r\n", "\r", ""])),
    max_size=8,
)
ENCODINGS = [
    ("utf-8", b"", ""),
    ("utf-8", codecs.BOM_UTF8, ""),
    ("utf-16-le", codecs.BOM_UTF16_LE, ""),
    ("utf-16-be", codecs.BOM_UTF16_BE, ""),
    ("iso8859-1", b"", "# coding: latin-1\n"),
    ("cp1252", b"", "# coding: cp1252\r\n"),
    ("shift_jis", b"", "# coding: shift_jis\n"),
]


@dataclass(frozen=True)
class Asked:
    """A file and edits of it."""

    data: bytes
    edits: tuple[Replacement, ...]


@st.composite
def files(draw: st.DrawFn) -> bytes:
    encoding, mark, head = draw(st.sampled_from(ENCODINGS))
    text = head + "".join(line + end for line, end in draw(LINES))
    data = mark + text.encode(encoding, "ignore")
    if encoding == "utf-8" and draw(st.booleans()):
        at = draw(st.integers(len(mark), len(data)))
        data = data[:at] + draw(st.sampled_from([b"\xe9", b"\xff\xfe", b"\x80"])) + data[at:]
    assume(b"\0" not in data or mark)
    return data


@st.composite
def asked(draw: st.DrawFn) -> Asked:
    """Parts of the text, as they are or in another form that matches, and what shall stand there."""
    data = draw(files())
    text = Document.decode(data).text
    borders = sorted(draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=6)))
    new = st.text("abX \n“é", max_size=6) | st.sampled_from(["x\r\ny\n", "$1 \\1 \\n", ""])
    forms = st.sampled_from([str, str, folded, lambda part: part.replace("\r\n", "\n")])
    edits = [
        Replacement(
            old, draw(new | st.just(old + "\nnew") | st.just(old.replace("a", "A"))), draw(st.booleans())
        )
        for start, end in list(pairwise(borders))[::2]
        if (old := draw(forms)(text[start:end]))
    ]
    return Asked(data, tuple(edits))


def planned(asked: Asked) -> tuple[Plan, Document]:
    view, session = workspace({"f": asked.data})
    assume(asked.edits)
    try:
        plan = plan_edit(view, session, "f", asked.edits)
    except ToolError as error:
        assert error.kind in ("ambiguous", "no_change", "overlap", "encoding", "not_found"), error
        assume(False)
    return plan, Document.decode(asked.data)


def unannounced(document: Document, plan: FilePlan) -> Iterator[tuple[bytes, bytes]]:
    """The bytes between the announced spans, before and after."""
    assert plan.after is not None
    at, shift = 0, 0
    for edit in [*plan.edits, None]:
        end = len(document.text) if edit is None else edit.span.start
        before = document.text[at:end]
        later = plan.after.text[at + shift : end + shift]
        yield encoded(document, before), encoded(plan.after, later)
        if edit is not None:
            at, shift = edit.span.end, shift + edit.shift


def encoded(document: Document, text: str) -> bytes:
    return text.encode(document.encoding, document.errors)


@many
@given(asked())
@example(Asked(b"a\r\nb\n", (Replacement("a\nb", "a\nc"),)))
@example(Asked("“a”\nb\n".encode(), (Replacement('"a"\nb', '"a"\nc'),)))
def test_bytes_that_are_not_announced_do_not_change(asked: Asked) -> None:
    plan, document = planned(asked)
    (file,) = plan.files
    assert all(before == after for before, after in unannounced(document, file))
    assert file.after is not None and file.after.text == file.edits.apply(document.text)
    data = file.after.encode()
    assert data.startswith(document.bom)
    reread = Document.decode(data)
    assert reread.digest == file.after.digest
    if document.errors == "strict" and not data.isascii():  # ASCII may lose its declaration
        assert (reread.encoding, reread.bom) == (document.encoding, document.bom)


@many
@given(st.text("ab\n“", max_size=12), st.integers(0, 12), st.integers(1, 4), st.text("abX\n“", max_size=4))
def test_one_line_end_and_exact_is_plain_replacement(text: str, start: int, size: int, new: str) -> None:
    old = text[start : start + size]
    view, session = workspace({"f": text})
    is_once = bool(old) and text.find(old) == start and text.find(old, start + 1) < 0
    try:
        (file,) = plan_edit(view, session, "f", [Replacement(old, new)]).files
    except ToolError as error:
        assert not is_once or (error.kind, old) == ("no_change", new)
        return
    assert is_once and file.after is not None
    assert file.after.text == text.replace(old, new)


@many
@given(st.text("abcdefgh\r\n“", max_size=16), st.lists(st.integers(0, 16), min_size=4, max_size=4), st.data())
def test_edits_compose(text: str, borders: list[int], draw: st.DataObject) -> None:
    """Two edits at once are the same as one after the other, if the second finds the same place then."""
    assume("\r" not in text.replace("\r\n", ""))  # one that comes to stand before a `\n` becomes one with it
    a, b, c, d = sorted(borders)
    news = st.text("XYZ\n", max_size=4)
    first, second = (Replacement(old, draw.draw(news)) for old in (text[a:b], text[c:d]))
    data = text.encode()
    together = outcome(data, [first, second]) if first.old_str and second.old_str else None
    one = outcome(data, [first]) if together is not None else None
    both = outcome(one, [second]) if one is not None else None
    if together is not None and both is not None:
        # Which line end the file has most of may change in between, so line ends do not count here.
        assert normal(together) == normal(both)


def normal(data: bytes) -> str:
    return Document.decode(data).text.replace("\r\n", "\n").replace("\r", "\n")


def outcome(data: bytes, edits: list[Replacement]) -> bytes | None:
    view, session = workspace({"f": data})
    try:
        (file,) = plan_edit(view, session, "f", edits).files
    except ToolError:
        return None
    return file.after.encode() if file.after else None


@many
@given(files(), LINES)
def test_a_written_file_says_what_was_written(data: bytes, lines: list[tuple[str, str]]) -> None:
    view, session = workspace({"f": data})
    content = "".join(line + end for line, end in lines)
    assume("\r\r\n" not in content)  # a lone `\r` at the end of a line; before `\n` it is none any more
    document = Document.decode(data)
    try:
        (file,) = plan_write(view, session, "f", content).files
    except ToolError as error:
        assert error.kind == "encoding"
        return
    assert file.after is not None
    if not ("\r" in document.text and "\n" not in document.text):
        assert file.after.text.replace("\r\n", "\n") == content.replace("\r\n", "\n")
    if file.after.text == document.text:
        assert file.action == "unchanged"


@many
@given(files(), st.data())
def test_lines_by_number_are_lines_by_number(data: bytes, draw: st.DataObject) -> None:
    view, session = workspace({"f": data})
    document = Document.decode(data)
    lines = document.lines
    n = lines.n_lines if lines.line_span(lines.n_lines - 1).length else lines.n_lines - 1
    # A line end put right behind a lone `\r` becomes one with it.
    assume(n and "\r" not in document.text.replace("\r\n", ""))
    start = draw.draw(st.integers(1, n))
    end = draw.draw(st.integers(start, n))
    new = draw.draw(st.lists(st.text("xy", max_size=3), min_size=1, max_size=3))
    old_lines = [lines.line_text(number) for number in range(n)]
    wanted = [*old_lines[: start - 1], *new, *old_lines[end:]]
    assume(wanted != old_lines and any(new))
    try:
        (file,) = plan_lines(view, session, "f", [LineEdit(start, end, "\n".join(new) + "\n")]).files
    except ToolError as error:
        assert error.kind == "encoding"  # the declaration went
        return
    assert file.after is not None
    found = file.after.lines
    n_found = found.n_lines if found.line_span(found.n_lines - 1).length else found.n_lines - 1
    there = [found.line_text(number) for number in range(n_found)]
    while wanted and not wanted[-1]:
        wanted.pop()  # an empty last line is seen as none where no line end follows
    while there and not there[-1]:
        there.pop()
    assert there == wanted


@many
@given(files() | st.binary(max_size=30), st.data())
@example(b"# coding: utf-7\n+2AA-", None)
def test_bytes_after_edits_are_those_of_the_text_after_them(data: bytes, draw: st.DataObject | None) -> None:
    document = Document.decode(data)
    borders = [0, 2] if draw is None else draw.draw(st.lists(st.integers(0, len(document.text)), max_size=5))
    new = "x" if draw is None else draw.draw(st.text("aé\n", max_size=3))
    pairs = pairwise(sorted(set(borders)))
    edits = Edits.of(TextEdit(Span(Offset(a), Offset(b)), new) for a, b in list(pairs)[::2])
    try:
        wanted = document.encode(edits.apply(document.text))
    except ToolError:
        with pytest.raises(ToolError):
            bytes_after(data, edits, digest=document.digest)
        return
    assert bytes_after(data, edits, digest=document.digest) == wanted


@pytest.mark.parametrize("size", [0, 99_999, 100_000, 4_000_000, 4_000_001])
def test_digests_of_large_contents_are_theirs(size: int) -> None:
    """Contents that were asked for before are compared, not computed again; many of one size are kept apart."""
    contents = [bytes([number]) * size for number in range(5)]
    for data in [*contents, *contents[::-1], bytearray(contents[0])]:
        assert digest_of(bytes(data)) == blake2b(data, digest_size=16).hexdigest()


@pytest.fixture(scope="module")
def states() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as usual, quick_folder(Path(usual)) as folder:
        yield folder


@many
@given(asked())
def test_the_plan_is_the_result_and_undo_takes_it_back(states: Path, asked: Asked) -> None:
    assume(asked.edits)
    operations = memory({"f": asked.data})
    view, session = snapshot(operations), Session()
    document = view.document("f")
    session.see(f"{ROOT}/f", document.digest)
    try:
        plan = plan_edit(view, session, "f", asked.edits)
    except ToolError:
        assume(False)
    root = Root(Path(ROOT))
    with tempfile.TemporaryDirectory(dir=states) as folder:
        state = State(Path(folder))
        done = apply(view, plan.change, state)
        (file,) = plan.files
        assert file.after is not None
        assert operations.read_bytes(f"{ROOT}/f") == file.after.encode()
        assert [(each.digest_before, each.digest_after) for each in done.files] == [
            (document.digest, file.after.digest)
        ]
        assert (
            plan.change.after(Snapshot(root, memory({"f": asked.data}))).document("f").text == file.after.text
        )
        undo(root, state, done.undo_id, operations=operations)
        assert operations.read_bytes(f"{ROOT}/f") == asked.data
        assert operations.list_dir(ROOT) == ("f",)
