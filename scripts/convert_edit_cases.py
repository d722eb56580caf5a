"""Copy a folder of JSON cases about edits into the project's own, one file each, under the same name.

    python scripts/convert_edit_cases.py SOURCE

Written are sessions of tool calls to tests/cases/edit, and WorkspaceEdits (cases with the role `engine`) to
tests/cases/workspace_edit, with the members in a fixed order and nothing changed in them. Left out are cases of the kind
`bash`, which are about running commands, and those of other roles. A case that is there already is left alone unless `--force`
is given.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
CASES = REPOSITORY / "tests" / "cases"
MEMBERS = ("id", "title", "kind", "role", "source", "files", "edit", "steps", "expect")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("--force", action="store_true", help="overwrite cases that are there")
    args = parser.parse_args()
    n_written = 0
    for source in sorted(args.source.glob("*.json")):
        case = json.loads(source.read_text("utf-8"))
        folder = folder_of(case)
        if folder is None:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"{case['id']}.json"
        if args.force or not target.exists():
            target.write_text(converted(case), "utf-8", newline="\n")
            n_written += 1
    print(f"{n_written} cases written")
    return 0


def folder_of(case: dict[str, object]) -> Path | None:
    """Where the case belongs; `None` if it is left out."""
    if "role" in case:
        return CASES / "workspace_edit" if case["role"] == "engine" else None
    return CASES / "edit" if case["kind"] != "bash" else None


def converted(case: dict[str, object]) -> str:
    """The case as the project keeps it: ASCII, one member a line."""
    order = [*MEMBERS, *sorted(set(case) - set(MEMBERS))]
    members = {name: case[name] for name in order if name in case}
    return json.dumps(members, indent=1, ensure_ascii=True) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
