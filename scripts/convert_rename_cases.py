"""Turn a folder of JSON rename cases into `.case` files, one each, under the same name.

    python scripts/convert_rename_cases.py SOURCE [TARGET]

`SOURCE/<id>/case.json` says the place, the new name and what is expected; `SOURCE/<id>/before/` is the workspace. Written
is `TARGET/<id>.case` (default: tests/cases/python/rename). A case that is there already is left alone unless `--force` is
given, because expectations and settings are edited by hand afterwards.

Kept: the files byte for byte, the edits and moves (as the files they lead to), alternatives, uncertain sites, refusals (as
error kinds), the program and its least Python, feature rows and source. Not kept: permission bits other than "executable",
`must_not_touch` (everything that is not edited stays anyway) and `naive_edits` (they prove a refusal right, they expect
nothing).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "tests"))

import casefile  # noqa: E402
import casetree  # noqa: E402
from casefile import Case, Section  # noqa: E402
from casetree import BOMS, BREAK, File, Tree  # noqa: E402

KINDS = {
    "builtin": "shadows_builtin",
    "collision": "name_clash",
    "invalid_identifier": "invalid",
    "keyword": "keyword",
    "not_a_symbol": "not_a_symbol",
    "shadowing": "name_capture",
    "third_party": "library_symbol",
}
Json = dict[str, Any]  # the JSON of others; its README is the type


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path, nargs="?", default=REPOSITORY / "tests/cases/python/rename")
    parser.add_argument("--force", action="store_true", help="overwrite cases that are there")
    args = parser.parse_args()
    args.target.mkdir(parents=True, exist_ok=True)
    n_written = 0
    for source in sorted(args.source.glob("*/case.json")):
        target = args.target / f"{source.parent.name}.case"
        if args.force or not target.exists():
            target.write_text(converted(source.parent).text, "utf-8", newline="")
            n_written += 1
    print(f"{n_written} cases written to {args.target}")
    return 0


def converted(folder: Path) -> Case:
    """The case of one folder."""
    told: Json = json.loads((folder / "case.json").read_text("utf-8"))
    tree = files_of(folder / "before")
    at, expect = told["at"], told["expect"]
    inputs, place = inputs_with_cursor(tree, at["file"], at["line"], at["column"])
    expected = list(expectations(tree, expect))
    for number, other in enumerate(expect.get("alternatives") or (), start=2):
        told_there = {"possible": expect["possible"], **other}
        expected += [
            Section(section.header.replace("=> ", f"=> {number}: ", 1), section.body)
            for section in expectations(tree, told_there)
        ]
    step = f"rename {place} {told['new_name']} --possible skip --json"
    return casefile.build(prose(told), settings(told), [step], [*inputs, *expected])


def prose(told: Json) -> str:
    """Why, and what a reader should know about the files."""
    sentences = [told["why"]]
    if broken := told.get("unparsable"):
        sentences.append(f"Broken on purpose: {', '.join(broken)}.")
    if least := told.get("min_python"):
        sentences.append(f"The program needs Python {least}.")
    return "\n".join(sentences)


def settings(told: Json) -> dict[str, str]:
    """What a reader may want to select by, and the program with its least Python."""
    said = {
        "rows": ", ".join(told["rows"]),
        "source": "" if told["source"] == "derived" else told["source"],
        "run": " ".join(told.get("run") or ()),
        "python": told.get("min_python") or "",
    }
    return {key: value for key, value in said.items() if value}


def files_of(folder: Path) -> Tree:
    """The workspace; of the permission bits only "executable", for read-only copies of the cases are common."""
    tree = casetree.read_tree(folder)
    return {
        path: File(entry.data, 0o755 if entry.mode & 0o111 else 0o644) if isinstance(entry, File) else entry
        for path, entry in tree.items()
    }


def inputs_with_cursor(tree: Tree, file: str, line: int, column: int) -> tuple[list[Section], str]:
    """The input sections, the cursor's file first, and how the step names the place (`column` is 0-based)."""
    with_content = {path for path in tree if any(other.startswith(f"{path}/") for other in tree)}
    paths = sorted(tree.keys() - with_content, key=lambda path: (path != file, path))
    sections = [casefile.file_section(path, tree[path]) for path in paths]
    if "escaped" in sections[0].header or "base64" in sections[0].header:
        return sections, f"{file}:{line}:{column + 1}"
    lines = casetree.lines_of(sections[0].body)
    lines[line - 1] = f"{lines[line - 1][:column]}<|>{lines[line - 1][column:]}"
    return [Section(sections[0].header, "".join(lines)), *sections[1:]], "@cursor"


def expectations(tree: Tree, expect: Json) -> Iterator[Section]:
    """The sections of one right answer."""
    if reason := expect.get("refuse"):
        yield Section("=> error", f"refused: {KINDS[reason]}\n")
        return
    moves: dict[str, str] = expect.get("file_moves") or {}
    for old in moves:
        yield Section(f"=> gone {old}", "")
    for path in sorted(expect["edits"].keys() | moves.keys()):
        entry = edited(tree[path], expect["edits"].get(path, ()))
        like = None if path in moves else casetree.form_of(entry.data, mode=entry.mode)[0]
        yield casefile.file_section(moves.get(path, path), entry, prefix="=> ", like=like)
    sites = [
        f"{path}:{line}:{column + 1}\n"
        for path, places in expect["possible"].items()
        for line, column in places
    ]
    if sites:
        yield Section("=> possible", "".join(sites))


def edited(entry: casetree.Entry, edits: Any) -> File:  # [[line, column, old, new], …]
    """The file after the edits; lines are 1-based, columns 0-based and in code points."""
    assert isinstance(entry, File)
    form, _ = casetree.form_of(entry.data)
    bom = BOMS[form.encoding] if form.bom else b""
    text = entry.data.removeprefix(bom).decode(form.encoding)
    starts = [0, *(found.end() for found in BREAK.finditer(text))]
    for line, column, old, new in sorted(edits, reverse=True):
        at = starts[line - 1] + column
        assert text[at : at + len(old)] == old, f"line {line}, column {column}: not {old!r}"
        text = text[:at] + new + text[at + len(old) :]
    return File(bom + text.encode(form.encoding), entry.mode)


if __name__ == "__main__":
    sys.exit(main())
