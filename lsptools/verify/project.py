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


_OF_MYPY = re.compile(
    r"^\s*\[(?:tool\.)?mypy\][^\n]*$(?:(?!^\s*\[)[\s\S])*?^\s*(?:files|packages|modules)\s*=", re.MULTILINE
)


def says_what_mypy_checks(snapshot: Snapshot) -> bool:
    """Whether the settings of mypy say which files it is to look at."""
    files = (*_CONFIGURED["mypy"][0], *_CONFIGURED["mypy"][1])
    return any(_OF_MYPY.search(_text(snapshot, name)) is not None for name in files)


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
    """A text that `[tool.lsptools]` in `pyproject.toml` sets, as a TOML string of any kind; another value is `invalid`."""
    text = _text(snapshot, "pyproject.toml").replace("\r", "")
    section = _SECTION.search(text)
    if section is None:
        return None
    end = next(_NEXT_SECTION.finditer(text, section.end())).start()
    key = re.compile(rf"^[ \t]*([\"']?){re.escape(name)}\1[ \t]*=[ \t]*", re.MULTILINE)
    found = key.search(text, section.end(), end)
    if found is None:
        return None
    value = _STRING.match(text, found.end())
    if value is None:
        raise BadRequest(
            "invalid",
            f"{name!r} in [tool.lsptools] of pyproject.toml is no string",
            hint=f'write it as {name} = "…"',
        )
    return _said(value)


_SECTION = re.compile(r"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*lsptools[ \t]*\][ \t]*(?:#[^\n]*)?$", re.MULTILINE)
_NEXT_SECTION = re.compile(r"^[ \t]*\[|\Z", re.MULTILINE)
_STRING = re.compile(
    r'''(?:"""\n?(?P<long>(?:[^\\]|\\.)*?"{0,2})"""(?!")'''
    r"|'''\n?(?P<long_literal>.*?'{0,2})'''(?!')"
    r'''|"(?P<basic>(?:[^"\\\n]|\\[^\n])*)"'''
    r"|'(?P<literal>[^'\n]*)')[ \t]*(?:#[^\n]*)?(?:\n|\Z)",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(?:[ \t]*\n\s*|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}


def _said(value: re.Match[str]) -> str:
    """What a TOML string says."""
    for kind in ("long_literal", "literal"):
        if value[kind] is not None:
            return value[kind]
    written = value["long"] if value["long"] is not None else value["basic"]
    return _ESCAPED.sub(_character, written)


def _character(escaped: re.Match[str]) -> str:
    """What an escape stands for; a line end with the blanks around it for nothing."""
    code = escaped[1] or escaped[2]
    if code is not None:
        return chr(int(code, 16)) if int(code, 16) < 0x110000 else escaped[0]
    return _ESCAPES.get(escaped[3], escaped[3]) if escaped[3] else ""


def _has_section(text: str, section: str) -> bool:
    return re.search(rf"^\s*\[+{re.escape(section)}[\].]", text, re.MULTILINE) is not None


def _text(snapshot: Snapshot, path: str) -> str:
    try:
        return snapshot.document(path).text if snapshot.is_file(path) else ""
    except BadRequest:
        return ""
