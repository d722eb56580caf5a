"""What a project says of itself in its settings, as far as verification asks.

Read as text, not run. The settings are looked for where tools look for them: `pyproject.toml`, and the files of their own. Only the
names of sections and one version are needed; what is commented out does not count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lsptools.errors import BadRequest
from lsptools.workspace.snapshot import Snapshot

OLDEST = (3, 10)
"""What is assumed where a project does not say."""
_REQUIRES = re.compile(
    r"^\s*(?:requires-python|python_requires)\s*=\s*[\"']?[^\d\n]*?>=\s*(\d+)\.(\d+)", re.MULTILINE
)
_CONFIGURED = {
    # The files and the sections (of which files) by which a tool is configured.
    "mypy": (("mypy.ini", ".mypy.ini"), {"pyproject.toml": "tool.mypy", "setup.cfg": "mypy"}),
    "basedpyright": ((), {"pyproject.toml": "tool.basedpyright"}),
    "pyright": (("pyrightconfig.json",), {"pyproject.toml": "tool.pyright"}),
    "ty": (("ty.toml",), {"pyproject.toml": "tool.ty"}),
    "pyrefly": (("pyrefly.toml",), {"pyproject.toml": "tool.pyrefly"}),
    "ruff": (("ruff.toml", ".ruff.toml"), {"pyproject.toml": "tool.ruff"}),
}


def least_python(snapshot: Snapshot) -> tuple[int, int]:
    """The oldest Python that the project promises to run on; `OLDEST` where it does not say."""
    for name in ("pyproject.toml", "setup.cfg"):
        found = _REQUIRES.search(_text(snapshot, name))
        if found is not None:
            return int(found[1]), int(found[2])
    return OLDEST


def is_configured(snapshot: Snapshot, tool: str) -> bool:
    """Whether the project has settings for a tool."""
    files, sections = _CONFIGURED[tool]
    if any(snapshot.is_file(name) for name in files):
        return True
    return any(_has_section(_text(snapshot, name), section) for name, section in sections.items())


def configured(snapshot: Snapshot, tools: Sequence[str]) -> tuple[str, ...]:
    """Those of the tools that the project has settings for."""
    return tuple(tool for tool in tools if is_configured(snapshot, tool))


def setting(snapshot: Snapshot, name: str) -> str | None:
    """A text that `[tool.lsptools]` in `pyproject.toml` sets; of one line, in plain quotes of either kind."""
    section = re.search(
        r"^[ \t]*\[tool\.lsptools\][ \t]*(?:#[^\n]*)?$(.*?)(?=^[ \t]*\[|\Z)",
        _text(snapshot, "pyproject.toml").replace("\r", ""),
        re.M | re.S,
    )
    if section is None:
        return None
    found = re.search(
        rf"^[ \t]*{re.escape(name)}[ \t]*=[ \t]*(?:\"((?:[^\"\\\n]|\\.)*)\"|'([^'\n]*)')",
        section[1],
        re.M,
    )
    if found is None:
        return None
    return re.sub(r"\\([\"\\])", r"\1", found[1]) if found[1] is not None else found[2]


def _has_section(text: str, section: str) -> bool:
    return re.search(rf"^\s*\[+{re.escape(section)}[\].]", text, re.MULTILINE) is not None


def _text(snapshot: Snapshot, path: str) -> str:
    try:
        return snapshot.document(path).text if snapshot.is_file(path) else ""
    except BadRequest:
        return ""
