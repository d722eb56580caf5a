"""Edit cases: a workspace, the calls of one session, and how it ends. Read, laid out, run and judged.

One JSON file is one case. `files` is the workspace (`text` exact UTF-8, `b64` bytes, `symlink`, `mode`; a name with `../` lies beside
it), `steps` are calls in order (`{"parallel": […]}`: at the same time), and `expect` has the `outcome` of the last step (`ok` or
`error:<kind>`), `files` afterwards (null: there must be none) and, about the reply, `result`. `or` has other endings that are
right, too. A step of the tool `bash` is another program that changes files behind the session's back.

Besides what a case expects, these always hold: nothing is left behind in the workspace or beside it, and after a refusal, or
when only reading, every file has its bytes and permission bits.
"""

from __future__ import annotations

import base64
import json
import os
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lsptools.errors import KINDS

CASES = Path(__file__).parent / "cases" / "edit"
WRITING = ("edit", "write", "patch")

Json = dict[str, Any]  # the case as its file has it; the text above is the type
Reply = Mapping[str, Any]
"""`{"ok": True, "result": …}` or `{"ok": False, "error": …}`."""
Calls = Callable[[Sequence[Json]], list[Reply]]
"""Makes these calls at the same time and waits for all."""


def cases() -> Iterator[Json]:
    for path in sorted(CASES.glob("*.json")):
        yield json.loads(path.read_text("utf-8"))


def run(case: Json, root: Path, call: Calls) -> list[str]:
    """What is wrong with how the case ends; `root` is an empty workspace in a folder of its own."""
    lay_out(root, case["files"])
    last: list[Reply] = []
    for step in case["steps"]:
        if step.get("tool") == "bash":
            subprocess.run(["bash", "-c", step["args"]["command"]], cwd=root, check=True, timeout=60)
        else:
            last = call(step.get("parallel", [step]))
    found = [_complaints(case, ending, last, root) for ending in _endings(case["expect"])]
    return [] if [] in found else found[0]


def lay_out(root: Path, files: Mapping[str, Json]) -> None:
    for name, entry in files.items():
        path = Path(os.path.normpath(root / name))
        path.parent.mkdir(parents=True, exist_ok=True)
        if "symlink" in entry:
            path.symlink_to(entry["symlink"])
        else:
            path.write_bytes(_content(entry))
            path.chmod(_mode(entry))


def _content(entry: Json) -> bytes:
    return base64.b64decode(entry["b64"]) if "b64" in entry else entry["text"].encode()


def _mode(entry: Json) -> int:
    return int(entry.get("mode", "0644"), 8)


def _endings(expect: Json) -> Iterator[Json]:
    yield expect
    for other in expect.get("or", []):
        yield {**expect, **other, "files": {**expect.get("files", {}), **other.get("files", {})}}


def _complaints(case: Json, ending: Json, last: Sequence[Reply], root: Path) -> list[str]:
    found = []
    for reply in last:
        outcome = "ok" if reply["ok"] else f"error:{reply['error']['kind']}"
        if outcome != ending["outcome"]:
            found.append(f"{outcome}, not {ending['outcome']}: {json.dumps(reply)[:300]}")
        if not reply["ok"] and (reply["error"]["kind"] not in KINDS or not reply["error"]["message"]):
            found.append("an error without a known kind and a message")
        found += _about_output(ending.get("result", {}), reply)
    wanted = dict(ending.get("files", {}))
    if case["kind"] == "read" or ending["outcome"] != "ok":
        wanted = case["files"] | wanted
    for name, entry in wanted.items():
        if entry is not None and "mode" not in entry and "mode" in case["files"].get(name, {}):
            entry = entry | {"mode": case["files"][name]["mode"]}
        found += _about_file(root, name, entry)
    if case["kind"] in WRITING:
        found += [f"{name} was left behind" for name in _left_behind(root, {*case["files"], *wanted})]
    return found


def _about_output(wanted: Json, reply: Reply) -> Iterator[str]:
    if reply["ok"]:
        output = reply["result"].get("output", "")
    else:
        output = json.dumps(reply["error"], ensure_ascii=False)
    yield from (
        f"the output lacks {text!r}" for text in wanted.get("output_contains", []) if text not in output
    )
    yield from (f"the output has {text!r}" for text in wanted.get("output_excludes", []) if text in output)
    most = wanted.get("output_max_bytes")
    if most and len(output.encode("utf-8", "surrogatepass")) > most:
        yield f"the output has more than {most} bytes"
    if most and len(json.dumps(reply)) > 2 * most:
        yield "the reply is much longer than its output"


def _about_file(root: Path, name: str, entry: Json | None) -> Iterator[str]:
    path = Path(os.path.normpath(root / name))
    there = os.path.lexists(path)
    if entry is None or not there:
        if there or entry is not None:
            yield f"{name} is {'there' if there else 'missing'}"
    elif "symlink" in entry:
        if not path.is_symlink() or str(path.readlink()) != entry["symlink"]:
            yield f"{name} is no longer a link to {entry['symlink']}"
    elif path.is_symlink() or not path.is_file():
        yield f"{name} is no regular file"
    else:
        if path.read_bytes() != _content(entry):
            yield f"{name} holds {path.read_bytes()[:200]!r}"
        if stat.S_IMODE(path.stat().st_mode) != _mode(entry):
            yield f"{name} has mode {stat.S_IMODE(path.stat().st_mode):04o}"


def _left_behind(root: Path, names: set[str]) -> Iterator[str]:
    known = {Path(os.path.normpath(root / name)) for name in names} | {root}
    folders = {parent for path in known for parent in path.parents}
    for folder, inner, files in os.walk(root.parent):
        for name in (*inner, *files):
            path = Path(folder) / name
            if path not in known and path not in folders:
                yield os.path.relpath(path, root)
