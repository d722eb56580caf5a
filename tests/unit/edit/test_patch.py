"""Patches by example: how they are read, where hunks go, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from editing import memory, snapshot, workspace
from hypothesis import given
from hypothesis import strategies as st

from lsptools.edit.patch import plan_patch
from lsptools.edit.session import Session
from lsptools.errors import ToolError
from lsptools.text.diff import unified_diff
from lsptools.text.document import digest_of
from lsptools.text.patch import HunkLine, parse_patch


def error_of(attempt: Callable[[], object]) -> ToolError:
    with pytest.raises(ToolError) as caught:
        attempt()
    return caught.value


def patched(files: dict[str, str], patch: str) -> dict[str, str | None]:
    """What becomes of the files that the patch is about, by their names after it."""
    view, session = workspace(files)
    plan = plan_patch(view, session, patch)
    gone = {file.target.name: None for file in plan.files if file.after is None or file.moved_to is not None}
    there = {file.name: file.after.text for file in plan.files if file.after is not None}
    return {**gone, **there}


NEW_FILE = "diff --git a/n b/n\nnew file mode {}\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n"


@pytest.mark.parametrize(("mode", "bits"), [("100644", None), ("100755", 0o755), ("100600", 0o600)])
def test_a_new_file_has_the_mode_that_git_says(mode: str, bits: int | None) -> None:
    view, session = workspace({})
    plan = plan_patch(view, session, NEW_FILE.format(mode))
    (creation,) = plan.change.creations
    assert creation.mode == bits
    assert ("new file mode 100755" in plan.change.diff(view)) == (mode == "100755")


@pytest.mark.parametrize(
    ("patch", "says"),
    [
        (NEW_FILE.format("120000"), "links"),
        (NEW_FILE.format("160000"), "submodules"),
        (NEW_FILE.format("040000"), "'040000' is no mode of a file"),
        (NEW_FILE.format("rwx"), "'rwx' is no mode of a file"),
        ("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n", "mode of files that are there"),
        (
            "diff --git a/f b/f\nold mode 100644\nnew mode 100755\nindex 1..2\n"
            "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n",
            "mode of files that are there",
        ),
        ("diff --git a/f b/g\nsimilarity index 100%\ncopy from f\ncopy to g\n", "copies of files"),
        ("diff --git a/f b/f\nindex 1..2 120000\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "links"),
        (
            "diff --git a/f b/f\ndeleted file mode 120000\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
            "links",
        ),
    ],
)
def test_what_git_says_and_is_not_done_is_named(patch: str, says: str) -> None:
    view, session = workspace({"f": "a\n"})
    error = error_of(lambda: plan_patch(view, session, patch))
    assert error.kind == "invalid" and says in error.message, error.message


def udiff(name: str, body: str) -> str:
    return f"--- a/{name}\n+++ b/{name}\n{body}"


def begin(body: str, name: str = "f") -> str:
    return f"*** Begin Patch\n*** Update File: {name}\n{body}*** End Patch\n"


@pytest.mark.parametrize(
    ("before", "patch", "after"),
    [
        # By lines, whatever the numbers and counts say.
        ("a\nb\nc\n", udiff("f", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"), "a\nB\nc\n"),
        ("a\nb\nc\n", udiff("f", "@@ -70,3 +70,3 @@\n a\n-b\n+B\n c\n"), "a\nB\nc\n"),
        ("a\nb\nc\n", udiff("f", "@@ -1,9 +1,2 @@\n a\n-b\n+B\n c\n"), "a\nB\nc\n"),
        ("a\nb\nc\n", udiff("f", "@@ @@\n a\n-b\n+B\n"), "a\nB\nc\n"),
        ("a\n-- b\nc\n", udiff("f", "@@ -1,3 +1,2 @@\n a\n--- b\n c\n"), "a\nc\n"),
        ("a\n\nb\n", udiff("f", "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n"), "a\n\nc\n"),
        ("a\nb\n", udiff("f", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n").replace("\n", "\r\n"), "a\nc\n"),
        ("a\nb\n", "```diff\n" + udiff("f", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n") + "```\n", "a\nc\n"),
        # Equal places: the number decides, if it is exact; or what is named above; or the order.
        ("x\ny\nx\n", udiff("f", "@@ -3 +3 @@\n-x\n+z\n"), "x\ny\nz\n"),
        (
            "class A:\n  x\nclass B:\n  x\n",
            begin("@@ class B:\n-  x\n+  y\n"),
            "class A:\n  x\nclass B:\n  y\n",
        ),
        (
            "class A:\n def f:\n  x\n def g:\n  x\nclass B:\n def g:\n  x\n",
            begin("@@ class A:\n@@  def g:\n-  x\n+  y\n"),
            "class A:\n def f:\n  x\n def g:\n  y\nclass B:\n def g:\n  x\n",
        ),
        ("x\nmid\nx\n", begin("@@\n-mid\n+MID\n@@\n-x\n+y\n"), "x\nMID\ny\n"),
        ("x\nx\n", begin("@@\n-x\n+y\n*** End of File\n"), "x\ny\n"),
        # Line ends: of the line that is replaced, else the file's.
        ("a\r\nb\r\n", begin("@@\n a\n-b\n+B\n+C\n"), "a\r\nB\r\nC\r\n"),
        ("a\r\nb\nc\r\nd\r\n", begin("@@\n-b\n+B\n c\n"), "a\r\nB\nc\r\nd\r\n"),
        ("a\rb\r", begin("@@\n a\n-b\n+B\n"), "a\rB\r"),
        # The end of the file.
        ("a\nb", begin("@@\n-a\n+A\n b\n"), "A\nb"),
        ("a\nb", begin("@@\n b\n+c\n"), "a\nb\nc"),
        ("a\nb\n", udiff("f", "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n"), "a\nb"),
        ("a\nb", udiff("f", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"), "a\nb\n"),
        ("a\nb", udiff("f", "@@ -1,2 +1 @@\n a\n-b\n\\ No newline at end of file\n"), "a\n"),
        ("a\nb\n", udiff("f", "@@ -1,2 +1 @@\n-a\n-b\n+a\n\\ No newline at end of file\n"), "a"),
        ("a\n\n", begin("@@\n-a\n+A\n"), "A\n\n"),
        ("", udiff("f", "@@ -0,0 +1 @@\n+a\n"), "a\n"),
        ("a\nb\n", udiff("f", "@@ -1,0 +2 @@\n+mid\n"), "a\nmid\nb\n"),
        ("a\nb\n", begin("@@ a\n+mid\n"), "a\nmid\nb\n"),
        # Folded, and what stays keeps its bytes.
        ("“a”  \nb\n", begin('@@\n "a"\n-b\n+B\n'), "“a”  \nB\n"),
        ("a\n\fb\nc\n", udiff("f", "@@ -2 +2 @@\n-\fb\n+B\n"), "a\nB\nc\n"),
    ],
)
def test_one_file(before: str, patch: str, after: str) -> None:
    assert patched({"f": before}, patch) == {"f": after}


@pytest.mark.parametrize(
    ("patch", "wanted"),
    [
        ("*** Begin Patch\n*** Add File: d/n\n+a\n+b\n*** End Patch", {"d/n": "a\nb\n"}),
        ("*** Begin Patch\n*** Delete File: f\n*** End Patch", {"f": None}),
        (begin("*** Move to: g\n@@\n-a\n+b\n"), {"f": None, "g": "b\n"}),
        (begin("*** Move to: g\n"), {"f": None, "g": "a\n"}),
        ("--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n", {"n": "x\n"}),
        ("--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", {"f": None}),
        ("diff --git a/n b/n\nnew file mode 100644\nindex 000..e69\n", {"n": ""}),
        ("diff --git a/f b/g\nsimilarity index 100%\nrename from f\nrename to g\n", {"f": None, "g": "a\n"}),
        ("--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n", {"f": "b\n"}),
        ("--- a/f\t2020-01-01\n+++ b/f\t2020-01-02\n@@ -1 +1 @@\n-a\n+b\n", {"f": "b\n"}),
        ('--- /dev/null\n+++ "b/\\303\\266 \\"x\\""\n@@ -0,0 +1 @@\n+x\n', {'ö "x"': "x\n"}),
        (
            udiff("f", "@@ -1 +1 @@\n-a\n+b\n") + udiff("h", "@@ -1 +1 @@\n-h\n+i\n"),
            {"f": "b\n", "h": "i\n"},
        ),
    ],
)
def test_several_files(patch: str, wanted: dict[str, str | None]) -> None:
    assert patched({"f": "a\n", "h": "h\n"}, patch) == wanted


@pytest.mark.parametrize(
    ("patch", "kind"),
    [
        ("", "invalid"),
        ("hello", "invalid"),
        ("*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n", "invalid"),
        ("*** Begin Patch\n*** End Patch", "invalid"),
        (begin("what is this\n"), "invalid"),
        (begin("@@\n a\n"), "invalid"),
        ("*** Begin Patch\n*** Add File: n\nx\n*** End Patch", "invalid"),
        ("*** Begin Patch\n*** Delete File: f\n+x\n*** End Patch", "invalid"),
        (begin("@@\n-a\n+b\n").replace("*** End", "*** Delete File: f\n*** End"), "invalid"),
        ("@@ -1 +1 @@\n-a\n+b\n", "invalid"),
        ("diff --git a/f b/f\nGIT binary patch\nliteral 1\n", "invalid"),
        (begin("@@\n-nope\n+b\n"), "not_found"),
        (begin("@@\n-a\n+b\n", "nope"), "not_found"),
        (begin("@@\n-x\n+b\n", "twice"), "ambiguous"),
        (begin("@@\n+b\n", "twice"), "ambiguous"),
        (udiff("twice", "@@ -9 +9 @@\n-x\n+y\n"), "ambiguous"),
        (begin("@@\n-a\n+a\n"), "no_change"),
        ("*** Begin Patch\n*** Add File: f\n+x\n*** End Patch", "exists"),
        (begin("*** Move to: twice\n@@\n-a\n+b\n"), "exists"),
        (begin("@@\n-a\n+b\n", "d"), "is_directory"),
        ("*** Begin Patch\n*** Add File: ../n\n+x\n*** End Patch", "outside_workspace"),
        (begin("*** Move to: ../n\n"), "outside_workspace"),
        ("--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-other\n", "not_found"),
        ("--- a/twice\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", "invalid"),
        ("--- a/two\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", "invalid"),
        ("diff --git a/f b/f\ndeleted file mode 100644\nindex e69de29..0000000\n", "invalid"),
        (udiff("f", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"), "not_found"),
        (udiff("m.py", "@@ -1 +1 @@\n-x = 1\n+x = (\n"), "syntax"),
    ],
)
def test_what_is_refused(patch: str, kind: str) -> None:
    files = {"f": "a\n", "twice": "x\nx\n", "d/x": "", "m.py": "x = 1\n", "two": "one\nprecious\n"}
    view, session = workspace(files)
    error = error_of(lambda: plan_patch(view, session, patch))
    assert error.kind == kind and error.message and error.hint


def test_the_mark_in_front_of_the_first_line_is_no_text() -> None:
    view, session = workspace({"f": b"\xef\xbb\xbfone\ntwo\n"})
    patch = udiff("f", "@@ -1,2 +1,2 @@\n-\ufeffone\n+\ufeffONE\n two\n")
    (file,) = plan_patch(view, session, patch).files
    assert file.after is not None
    assert file.after.encode() == b"\xef\xbb\xbfONE\ntwo\n"


def test_that_a_hunk_is_shorter_than_it_says_is_said() -> None:
    view, session = workspace({"f": "one\ntwo\nthree\n"})
    (note,) = plan_patch(view, session, udiff("f", "@@ -1,3 +1,3 @@\n one\n-two\n")).notes
    assert "hunk 1 has 1 line fewer than it says" in note
    assert not plan_patch(view, session, udiff("f", "@@ -1,3 +1,2 @@\n one\n-two\n three\n")).notes


def test_an_empty_file_is_deleted_by_its_name_alone() -> None:
    empty = "diff --git a/f b/f\ndeleted file mode 100644\nindex e69de29..0000000\n"
    assert patched({"f": ""}, empty) == {"f": None}


def test_each_file_must_have_been_read_as_it_is() -> None:
    view = snapshot(memory({"f": "a\n"}))
    patch = begin("@@\n-a\n+b\n")
    assert error_of(lambda: plan_patch(view, Session(), patch)).kind == "unread"
    other = {"f": digest_of(b"b\n")}
    assert error_of(lambda: plan_patch(view, Session(), patch, expect=other)).kind == "stale"
    assert error_of(lambda: plan_patch(view, Session(), patch, expect={"f": "1"})).kind == "invalid"
    assert plan_patch(view, Session(), patch, expect={"f": digest_of(b"a\n")}).change


def test_every_hunk_without_a_place_is_told() -> None:
    view, session = workspace({"f": "a\nb\nc\n", "g": "x\nx\n"})
    patch = begin("@@\n-q\n+Q\n@@\n-b\n+B\n@@\n-r\n+R\n").replace(
        "*** End Patch", "*** Update File: g\n@@\n-x\n+y\n*** End Patch"
    )
    error = error_of(lambda: plan_patch(view, session, patch))
    assert "hunk 1" in error.message and "hunk 3" in error.message and "'g'" in error.message
    assert "hunk 2" not in error.message


def test_line_ends_of_a_hunk_without_its_last_count() -> None:
    (file,) = parse_patch(udiff("f", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b"))
    assert file.hunks[0].lines == (HunkLine("-", "a", False), HunkLine("+", "b"))


@given(st.text("ab\n", max_size=14), st.text("ab\n", max_size=14))
def test_our_own_diffs_apply(old: str, new: str) -> None:
    """The diff of two texts leads from one to the other; the numbers it has tell equal places apart."""
    diff = unified_diff(old, new, old_path="f", new_path="f", context=1)
    if diff:
        assert patched({"f": old}, diff) == {"f": new}


@given(st.text("ab\r\n", max_size=14), st.text(max_size=60))
def test_nonsense_is_refused_or_understood(old: str, patch: str) -> None:
    view, session = workspace({"f": old})
    for text in (patch, udiff("f", patch), begin(patch)):
        try:
            plan_patch(view, session, text)
        except ToolError as error:
            assert error.kind in ("invalid", "not_found", "ambiguous", "no_change")
