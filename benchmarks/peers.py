"""The language servers measured against: versions, start commands, settings, installation."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.archives import WORK

FOLDER = WORK / "peers"

# What the editor extension of pyright and its kin sends by default. Answering `{}` instead makes it miss most references.
_ANALYSIS = {"autoSearchPaths": True, "useLibraryCodeForTypes": True, "diagnosticMode": "openFilesOnly"}


@dataclass(frozen=True, slots=True)
class Peer:
    """A server: how pip knows it, how it starts, what it is told when it asks for `workspace/configuration`."""

    name: str
    package: str
    version: str
    arguments: tuple[str, ...]
    """Program in the peers' environment, and its arguments."""
    settings: Mapping[str, object] = field(default_factory=dict)
    beside: tuple[str, ...] = ()
    """Packages it uses where they are installed."""

    @property
    def command(self) -> list[str]:
        program, *rest = self.arguments
        return [str(FOLDER / "bin" / program), *rest]


PEERS = (
    Peer("ty", "ty", "0.0.108", ("ty", "server")),
    Peer(
        "basedpyright",
        "basedpyright",
        "1.40.2",
        ("basedpyright-langserver", "--stdio"),
        {"python": {"analysis": _ANALYSIS}, "basedpyright": {"analysis": _ANALYSIS}},
    ),
    # By default it indexes 2,000 files at most, and for ever answers from the opened file alone in a larger project.
    Peer(
        "pyrefly",
        "pyrefly",
        "1.5.0",
        ("pyrefly", "lsp", "--workspace-indexing-limit", "100000"),
        {"python": {"analysis": _ANALYSIS}},
    ),
    Peer("zuban", "zuban", "0.10.2", ("zuban", "server")),
    Peer("jedi-ls", "jedi-language-server", "0.47.0", ("jedi-language-server",)),
    Peer("pylsp", "python-lsp-server", "1.15.0", ("pylsp",), beside=("pylsp-rope",)),
)


def install(python: str = sys.executable) -> dict[str, str]:
    """Puts the peers into one environment made with `python`; returns name → installed version.

    A pinned version that the registry does not have is replaced by the newest it does have; the table says which ran.
    """
    pip = [str(FOLDER / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    if not (FOLDER / "bin" / "python").exists():
        subprocess.run([python, "-m", "venv", str(FOLDER)], check=True)
    versions = _installed(pip)
    for peer in PEERS:
        if all(package in versions for package in (peer.package, *peer.beside)):
            continue
        print(f"installing {peer.package} {peer.version}", flush=True)
        install = [*pip, "install", "--quiet", *peer.beside]
        pinned = subprocess.run([*install, f"{peer.package}=={peer.version}"], check=False)
        if pinned.returncode:
            subprocess.run([*install, peer.package], check=True)
    versions = _installed(pip)
    return {peer.name: versions[peer.package] for peer in PEERS}


def environment(folder: Path, first_on_path: Path, path: str) -> dict[str, str]:
    """Variables for one run: nothing of the caller's but the program path, and a home in which nothing is cached yet."""
    places = {name: str(folder / name.lower()) for name in ("HOME", "TMPDIR")}
    xdg = {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA", "STATE")}
    for place in (*places.values(), *xdg.values()):
        Path(place).mkdir(parents=True, exist_ok=True)
    return {"PATH": f"{first_on_path}:{path}", "LANG": "C.UTF-8", **places, **xdg}


def _installed(pip: list[str]) -> dict[str, str]:
    listing = subprocess.run(
        [*pip, "list", "--format=freeze"], check=True, capture_output=True, text=True
    ).stdout
    return dict(line.split("==", 1) for line in listing.split("\n") if "==" in line)
