"""Copy a folder of JSON language-server cases into the project's own, one file each, under the same name.

    python scripts/convert_lsp_cases.py SOURCE [TARGET]

Written is `TARGET/<id>.json` (default: tests/cases/lsp), with the members in a fixed order and nothing changed in them. Only cases
of the role `server` are taken. A case that is there already is left alone unless `--force` is given.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
MEMBERS = ("id", "title", "role", "source", "tags", "client", "files", "steps", "expect")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path, nargs="?", default=REPOSITORY / "tests/cases/lsp")
    parser.add_argument("--force", action="store_true", help="overwrite cases that are there")
    args = parser.parse_args()
    args.target.mkdir(parents=True, exist_ok=True)
    n_written = 0
    for source in sorted(args.source.glob("*.json")):
        case = json.loads(source.read_text("utf-8"))
        target = args.target / f"{case['id']}.json"
        if case["role"] == "server" and (args.force or not target.exists()):
            target.write_text(converted(case), "utf-8", newline="\n")
            n_written += 1
    print(f"{n_written} cases written to {args.target}")
    return 0


def converted(case: dict[str, object]) -> str:
    """The case as the project keeps it: ASCII, one member a line."""
    order = [*MEMBERS, *sorted(set(case) - set(MEMBERS))]
    members = {name: case[name] for name in order if name in case}
    return json.dumps(members, indent=1, ensure_ascii=True) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
