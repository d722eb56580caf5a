"""Nothing outside of the workspace is read or written: not through names, not through links, not by those who swap them."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from casefaces import FOLDERS
from changing import quick_folder

from lsptools.errors import ToolError
from lsptools.faces.environment import Environment
from lsptools.faces.workspace import Workspace
from lsptools.workspace.anchored import IS_POSSIBLE, AnchoredOperations
from lsptools.workspace.paths import Root

SECRET = "secret\n"


@pytest.fixture
def folder() -> Iterator[Path]:
    """`ws` is the workspace, `outside` is beside it."""
    with tempfile.TemporaryDirectory() as usual, quick_folder(Path(usual)) as quick:
        base = Path(quick).resolve()
        (base / "ws" / "d").mkdir(parents=True)
        (base / "ws" / "d" / "f").write_text("inside 0\n")
        (base / "outside").mkdir()
        (base / "outside" / "f").write_text(SECRET)
        variables = {variable: str(base / "user" / name) for variable, name in FOLDERS.items()}
        with mock.patch.dict(os.environ, variables):
            yield base


def workspace(folder: Path) -> Workspace:
    return Workspace(Environment(), Environment().root(str(folder / "ws")))


def is_untouched(folder: Path) -> bool:
    return {path.name: path.read_text() for path in (folder / "outside").iterdir()} == {"f": SECRET}


def test_names_that_lead_out(folder: Path) -> None:
    ws = folder / "ws"
    (ws / "link").symlink_to("../outside/f")
    (ws / "dir").symlink_to("../outside")
    (ws / "dangling").symlink_to("../outside/new")
    (ws / "d" / "up").symlink_to("../../outside")
    opened = workspace(folder)
    names = [
        "../outside/f",
        str(folder / "outside" / "f"),
        "link",
        "dir/f",
        "dangling",
        "d/up/f",
        "d/../../outside/f",
    ]
    patches = [
        f"*** Begin Patch\n*** Add File: {name}2\n+x\n*** End Patch" for name in names if name != "link"
    ]
    attempts = [
        *(lambda name=name: opened.read(name) for name in names),
        *(lambda name=name: opened.edit(name, "secret", "x", expect="1") for name in names),
        *(lambda name=name: opened.write(name, "x") for name in names),
        *(lambda patch=patch: opened.patch(patch) for patch in patches if "dangling" not in patch),
    ]
    for attempt in attempts:
        with pytest.raises(ToolError) as caught:
            attempt()
        assert caught.value.kind == "outside_workspace"
        assert "secret" not in caught.value.message.replace("'secret'", "")
    assert is_untouched(folder)


def test_a_hard_link_is_a_file_of_the_workspace_and_its_other_name_stays(folder: Path) -> None:
    os.link(folder / "outside" / "f", folder / "ws" / "hard")
    opened = workspace(folder)
    opened.read("hard")
    done = opened.edit("hard", "secret", "open")
    assert any("hard links" in note for note in done.notes)
    assert (folder / "ws" / "hard").read_text() == "open\n"
    assert is_untouched(folder)


def test_devices_and_pipes_are_no_files(folder: Path) -> None:
    os.mkfifo(folder / "ws" / "pipe")
    opened = workspace(folder)
    for attempt in (
        lambda: opened.read("pipe"),
        lambda: opened.write("pipe", "x"),
        lambda: opened.edit("pipe", "a", "b", expect="1"),
    ):
        with pytest.raises(ToolError) as caught:
            attempt()
        assert caught.value.kind == "invalid"


@pytest.mark.skipif(not IS_POSSIBLE, reason="the system cannot open a file in an open folder")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the one who swaps is a process of its own")
def test_a_folder_that_is_swapped_for_a_link_leads_nowhere(folder: Path) -> None:
    """While a process puts a link to outside in the place of a folder and takes it away again, as fast as it can."""
    swapper = os.fork()
    if not swapper:
        swap_for_ever(folder / "ws")
    try:
        kinds = set()
        opened = workspace(folder)
        began = time.monotonic()
        n_done = 0
        # Long enough to meet the link, and as long as it takes to come through at all beside the swapper.
        while (passed := time.monotonic() - began) < 4 or (not n_done and passed < 120):
            try:
                shown = opened.read("d/f")
                assert "secret" not in str(shown.to_json())
                opened.edit("d/f", "inside", "inside of")
                opened.edit("d/f", "inside of", "inside")
                opened.write(f"d/new{n_done}", "new")
                n_done += 1
            except ToolError as error:
                kinds.add(error.kind)
    finally:
        os.kill(swapper, 9)
        os.waitpid(swapper, 0)
    assert kinds <= {
        "outside_workspace",
        "not_found",
        "stale",
        "unavailable",
        "invalid",
        "exists",
        "unread",
    }, kinds
    assert is_untouched(folder)
    assert n_done, "the swapper was too fast for anything to be tried"


def swap_for_ever(ws: Path) -> None:
    while True:
        os.rename(ws / "d", ws / "aside")  # noqa: PTH104
        os.symlink("../outside", ws / "d")  # noqa: PTH211
        time.sleep(0.0001)
        os.unlink(ws / "d")  # noqa: PTH108
        os.rename(ws / "aside", ws / "d")  # noqa: PTH104
        time.sleep(0.0005)


@pytest.mark.skipif(not IS_POSSIBLE, reason="the system cannot open a file in an open folder")
def test_no_call_passes_a_link(folder: Path) -> None:
    ws = folder / "ws"
    (ws / "out").symlink_to("../outside")
    (ws / "file").write_text("x")
    operations = AnchoredOperations(Root.of(ws))
    out, file = str(ws / "out"), str(ws / "file")
    attempts = [
        lambda: operations.read_unlinked(f"{out}/f"),
        lambda: operations.write_new(f"{out}/new", b""),
        lambda: operations.write_atomic(f"{out}/f", b""),
        lambda: operations.replace(file, f"{out}/f"),
        lambda: operations.rename(file, f"{out}/g"),
        lambda: operations.rename(f"{out}/f", f"{ws}/g"),
        lambda: operations.link(file, f"{out}/g"),
        lambda: operations.link(f"{out}/f", f"{ws}/g"),
        lambda: operations.unlink(f"{out}/f"),
        lambda: operations.mkdir(f"{out}/g"),
        lambda: operations.rmdir(f"{out}/f"),
        lambda: operations.chmod(f"{out}/f", 0o777),
        lambda: operations.keep_owner(file, f"{out}/f"),
    ]
    for attempt in attempts:
        with pytest.raises(OSError):
            attempt()
    assert is_untouched(folder)
    assert sorted(path.name for path in ws.iterdir()) == ["d", "file", "out"]
