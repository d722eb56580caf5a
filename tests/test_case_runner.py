"""The runner itself, tried with a toy program: right outcomes pass, every kind of wrong one is seen and said."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import casefile
import caselaws
import casetree
import pytest
from casefaces import Outcome, Place
from casetree import File, Tree

CASE = """\
Every `get` of the workspace is the same thing here.

$ rename @cursor fetch --json
-- a.py crlf --
def get<|>(): pass
get()
-- b.py mode=755 --
target = 1  # get
-- empty empty folder --
-- => a.py --
def fetch(): pass
fetch()
-- => possible --
b.py:1:15
"""


@dataclass
class Toy:
    """A program that replaces a word in all `.py` files, leaves comments, and can be made to do one thing wrong."""

    fault: str = ""
    name: str = "toy"
    undo_to: list[Tree] = field(default_factory=list)

    def knows(self, arguments: Sequence[str]) -> bool:
        return True

    def run(self, arguments: Sequence[str], at: Place) -> Outcome:
        before = casetree.read_tree(at.root)
        path, line, column = arguments[1].rsplit(":", 2)
        answer, after = self.planned(before, path, int(line), int(column), arguments[2])
        if not arguments[2].isidentifier():
            if self.fault == "refuses and writes":
                (at.root / path).write_bytes(b"")
            text = "refused: keyword\nnot a name\n"
            return Outcome(1, "", text, answer | {"applied": False}, "keyword", text, False)
        self.undo_to.append(before)
        self.write(at, after)
        match self.fault:
            case "writes too much":
                (at.root / "b.py").write_bytes(b"target = 1  # fetch\n")
            case "writes too little":
                (at.root / "a.py").write_bytes(b"def fetch(): pass\r\nget()\r\n")
            case "changes a mode":
                (at.root / "b.py").chmod(0o644)
            case "drops a folder":
                (at.root / "empty").rmdir()
            case "leaves a file":
                (at.root / "a.py.tmp").write_bytes(b"")
            case "leaves a file beside":
                (at.side / "journal").write_bytes(b"")
            case "leaves a file at home":
                (at.user / "home" / ".toy").write_bytes(b"")
            case "crashes":
                return Outcome(70, "", "crash", None, None, None, None)
        applied = self.fault != "says it did nothing"
        return Outcome(0, "", "", answer | {"applied": applied}, None, None, applied)

    def planned(
        self, tree: Tree, path: str, line: int, column: int, new: str
    ) -> tuple[dict[str, object], Tree]:
        entry = tree[path]
        assert isinstance(entry, File)
        text = entry.data.decode().split("\n")[line - 1]
        old = re.findall(r"\w+", text[: column - 1])[-1]
        edits, occurrences, after = [], [], dict(tree)
        for name, file in tree.items():
            if not isinstance(file, File):
                continue
            lines = re.split(r"(?<=\n)", file.data.decode())
            for number, content in enumerate(lines):
                for found in re.finditer(rf"\b{old}\b", content):
                    edits_it = "#" not in content[: found.start()]
                    if self.fault == "edits one less" and number == 1:
                        edits_it = False
                    start = {"line": number, "character": found.start() + (self.fault == "miscounts")}
                    place = {
                        "path": name,
                        "line": number + 1,
                        "column": found.start() + 1,
                        "range": {"start": start},
                    }
                    occurrences.append(
                        {**place, "class": "certain" if edits_it else "possible", "reason": ""}
                    )
                    edits += [{**place, "old": old, "new": new}] if edits_it else []
                if all(each["path"] != name or each["line"] != number + 1 for each in edits):
                    continue
                lines[number] = re.sub(rf"\b{old}\b(?!.*#)", new, content)
            after[name] = replace(file, data="".join(lines).encode())
        if self.fault in ("lists nothing", "lists twice"):
            occurrences = occurrences * (2 if self.fault == "lists twice" else 0)
        if self.fault == "answers other edits":
            edits.pop()
        return {"schema": 1, "complete": True, "occurrences": occurrences, "edits": edits, "moves": []}, after

    def preview(self, arguments: Sequence[str], at: Place) -> str | None:
        if arguments[0] != "rename" or not arguments[2].isidentifier():
            return None
        if self.fault == "previews by doing":
            (at.root / "b.py").chmod(0o600)
        new = arguments[2] if self.fault != "previews another thing" else "other"
        head = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n"
        return f"{head}-def get(): pass\r\n-get()\r\n+def {new}(): pass\r\n+{new}()\r\n"

    def undo(self, at: Place) -> Outcome:
        if self.fault == "cannot undo" or not self.undo_to:
            return Outcome(1, "", "nothing to undo", None, "not_found", "nothing to undo", None)
        self.write(at, self.undo_to.pop())
        if self.fault == "undoes other bytes":
            (at.root / "a.py").write_bytes(b"def get(): pass\nget()\n")
        return Outcome(0, "", "", None, None, None, True)

    def write(self, at: Place, tree: Tree) -> None:
        for name, entry in tree.items():
            if isinstance(entry, File):
                (at.root / name).write_bytes(entry.data)


def complaint(text: str, fault: str, folder: Path) -> str:
    case = casefile.parse(text)
    return caselaws.complaint(case, caselaws.run(case, Toy(fault), Place.below(folder)))


def refusing(text: str) -> str:
    return text.partition("-- =>")[0].replace("fetch", "1st")


def test_a_right_outcome_has_no_complaint(tmp_path: Path) -> None:
    assert complaint(CASE, "", tmp_path) == ""


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("writes too much", "-target = 1  # get\n+target = 1  # fetch"),
        ("writes too little", "-fetch()\n+get()"),
        ("changes a mode", "flags b.py: mode=755 => plain"),
        ("drops a folder", "- empty "),
        ("leaves a file", "+ a.py.tmp (0 bytes"),
        ("leaves a file beside", "left beside the workspace: journal"),
        ("leaves a file at home", "left in the user's home: .toy"),
        ("crashes", "exit code is 70"),
        ("lists nothing", "b.py:1:15 is not listed as uncertain, but as nothing"),
        ("lists twice", "a.py:1:5 is listed twice"),
        ("miscounts", "a.py:1:5 is not at {'line': 0, 'character': 5}"),
        ("answers other edits", "the edits of the answer are not what was done"),
        ("says it did nothing", "says applied=False, but something was changed"),
        ("previews by doing", "the preview of ['rename'"),
        ("previews another thing", "the preview is not what was done"),
        ("cannot undo", "undo ended with 1: nothing to undo"),
        ("undoes other bytes", "undo did not restore everything:\nflags a.py: crlf => plain"),
    ],
)
def test_a_wrong_outcome_is_said(fault: str, says: str, tmp_path: Path) -> None:
    assert says in complaint(CASE, fault, tmp_path)


def test_refusals_are_judged_by_kind_or_by_text(tmp_path: Path) -> None:
    def check(expectation: str, says: str, fault: str = "") -> None:
        found = complaint(refusing(CASE) + expectation, fault, tmp_path / str(len(list(tmp_path.iterdir()))))
        assert says in found if says else not found, found

    check("-- => error --\nrefused: keyword\n", "")
    check("-- => error --\nrefused: name_clash | keyword\n", "")
    check("-- => error --\nrefused: keyword\nnot a name\n", "")
    check("-- => error --\nrefused: name_clash\n", "refused as keyword, not as name_clash")
    check(
        "-- => error --\nrefused: keyword\nanother text\n",
        "not the expected refusal, but:\nrefused: keyword\nnot a",
    )
    check("", "not done: refused: keyword")
    check("-- => error --\nrefused: keyword\n", "but something was changed", "refuses and writes")


def test_a_case_that_expects_nothing_must_change_nothing(tmp_path: Path) -> None:
    assert "not the expected files" in complaint(CASE.partition("-- =>")[0], "", tmp_path)


def test_one_right_outcome_of_several_is_enough(tmp_path: Path) -> None:
    first = CASE.replace("-- => ", "-- => 2: ") + "-- => gone a.py --\n"
    assert complaint(first, "", tmp_path / "fits the second") == ""
    neither = complaint(first.replace("gone a", "gone b"), "writes too little", tmp_path / "fits neither")
    assert "+ b.py" in neither, "the complaint is about the first"


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("", "the case passes exactly: remove `needs:`"),
        ("edits one less", ""),  # the place it leaves is listed as possible
        ("writes too little", "wrong without a word:\n--- a/a.py"),
        ("writes too much", "wrong without a word"),
        ("lists nothing", ""),  # the tree is right
        ("crashes", "neither done nor refused"),
    ],
)
def test_a_case_beyond_the_resolver_may_be_left_undone_but_not_silently(
    fault: str, says: str, tmp_path: Path
) -> None:
    case = casefile.parse(CASE.replace("\n$ ", "\nneeds: inference of it\n\n$ ", 1))
    # Only the judgement is of interest; the toy's faults break laws, too.
    seen = replace(caselaws.run(case, Toy(fault), Place.below(tmp_path)), broken=())
    found = caselaws.complaint(case, seen)
    assert says in found if says else not found, found


def test_known_wrong_behaviour_is_asserted_as_it_is(tmp_path: Path) -> None:
    known = CASE.replace("here.", "here. FIXME: refused today.").replace(
        "\n$ ", "\nexpected: refused\n\n$ ", 1
    )
    assert complaint(known.replace("cursor fetch", "cursor 1st"), "", tmp_path / "as it is") == ""
    assert "remove `expected:`" in complaint(known, "", tmp_path / "repaired")
    assert "-fetch()" in complaint(known, "writes too little", tmp_path / "otherwise wrong")


def test_expectations_are_updated_only_where_they_are_not_met(tmp_path: Path) -> None:
    def check(text: str, expected: str, fault: str = "") -> None:
        case = casefile.parse(text)
        seen = caselaws.run(case, Toy(fault), Place.below(tmp_path / str(len(list(tmp_path.iterdir())))))
        assert caselaws.updated(case, seen).text == expected

    inputs = CASE.partition("-- =>")[0]
    check(CASE, CASE)
    check(inputs + "-- => possible --\nb.py:1:1\n", inputs + "-- => possible --\nb.py:1:15\n" + expected_a())
    check(inputs, inputs + expected_a())
    check(refusing(CASE), refusing(CASE) + "-- => error --\nrefused: keyword\nnot a name\n")
    brief = refusing(CASE) + "-- => error --\nrefused: "
    check(brief + "name_clash\n", brief + "keyword\n")
    check(refusing(CASE) + expected_a(), refusing(CASE) + "-- => error --\nrefused: keyword\nnot a name\n")
    needy = CASE.replace("\n$ ", "\nneeds: inference of it\n\n$ ", 1)
    check(needy, needy, "edits one less")


@pytest.mark.slow
def test_pytest_rewrites_the_expectations_of_a_folder_of_cases(tmp_path: Path) -> None:
    text = "What a file defines.\n\n$ outline a.py\n-- a.py --\nclass A: ...\n-- => out --\n"
    path = tmp_path / "outline" / "class.case"
    path.parent.mkdir()

    def run(*options: str) -> int:
        tests = Path(__file__).with_name("test_cases.py")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--cases",
            str(tmp_path),
            *options,
            str(tests),
        ]
        return subprocess.run(command, cwd=tests.parent.parent, capture_output=True, check=False).returncode

    path.write_text(text, "utf-8")
    assert run() != 0
    assert path.read_text("utf-8") == text
    assert run("--update-cases") == 0
    assert re.fullmatch(re.escape(text) + r"a\.py:1:7: .*\n", path.read_text("utf-8"))
    assert run("--case-subprocess") == 0


def expected_a() -> str:
    return "-- => a.py --\ndef fetch(): pass\nfetch()\n"


def test_several_steps_are_a_session_that_is_taken_back_as_a_whole(tmp_path: Path) -> None:
    steps = "$ rename @cursor fetch\n$ rename a.py:2:6 got\n"
    text = CASE.replace("$ rename @cursor fetch --json\n", steps).partition("-- =>")[0]
    expected = "-- => a.py --\ndef got(): pass\ngot()\n"
    case = casefile.parse(text + expected)
    seen = caselaws.run(case, Toy(), Place.below(tmp_path))
    assert caselaws.problems(case, seen) == []
    assert [each for each in seen.broken if "preview" not in each] == []


def test_a_diff_of_git_is_applied_as_git_does() -> None:
    tree: Tree = {
        "a.py": File(b"1\r\n2\r\n3\r\n", 0o755),
        "bom.py": File(b"\xef\xbb\xbfx\ny\n"),
        "gone": File(b""),
        "old name": File("# coding: latin-1\n\u00e9".encode("latin-1")),
    }
    diff = (
        "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,1 +0,0 @@\n-1\r\n@@ -3 +2,2 @@\n 3\r\n+4\n"
        "\\ No newline at end of file\n"
        "diff --git a/bom.py b/bom.py\n--- a/bom.py\n+++ b/bom.py\n@@ -1 +1 @@\n-\ufeffx\n+\ufeffz\n"
        "diff --git a/gone b/gone\ndeleted file mode 100644\n"
        "diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+1\n"
        "diff --git a/old name b/name\nrename from old name\nrename to name\n--- a/old name\t\n+++ b/name\n"
        "@@ -2 +2 @@\n-\u00e9\n\\ No newline at end of file\n+\u00e8\n"
    )
    assert caselaws.patched(tree, diff) == {
        "a.py": File(b"2\r\n3\r\n4", 0o755),
        "bom.py": File(b"\xef\xbb\xbfz\ny\n"),
        "new": File(b"1\n"),
        "name": File("# coding: latin-1\n\u00e8\n".encode("latin-1")),
    }
    with pytest.raises(ValueError, match="line 1 is"):
        caselaws.patched(tree, diff.replace("-1\r\n", "-1\n"))
    with pytest.raises(ValueError, match="does not begin"):
        caselaws.patched(tree, json.dumps(diff))
