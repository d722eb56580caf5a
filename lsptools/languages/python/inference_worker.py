"""jedi, in a process of its own: it is run as a script, and the only module that knows jedi.

Standard input has one JSON object per line: first where things are (`root`, `search_path`, `cache`), then one for each file (`path`,
absolute; `text`; `places`, a list of [line, column]). Each place is answered by one line as soon as it is known (`place`,
`found`: a list of [path, line, column, name]; path null for what has no file), and after the last place of a file comes one
line with the files that were looked at for it (`looked_at`). Lines count from 1, columns are code points and count from 0.

Nothing of the workspace is executed: jedi gets the search path as data, uses the interpreter it runs in for what is compiled and
built in, and does not load extension modules of the workspace. Parameters are not guessed from their calls.
"""

from __future__ import annotations

import json
import os
import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any, TextIO


def main(asked: TextIO, told: TextIO) -> None:
    """Answer until the input ends."""
    import jedi
    from parso.file_io import FileIO

    warnings.simplefilter("ignore")  # about extension modules that are not loaded
    setup = json.loads(asked.readline())
    jedi.settings.cache_directory = setup["cache"]
    jedi.settings.dynamic_params = False
    jedi.settings.auto_import_modules = []  # the modules that jedi would import instead of reading them
    looked_at: set[str] = set()
    _watch(FileIO, looked_at)
    environment = jedi.api.environment.InterpreterEnvironment()
    project = jedi.Project(
        setup["root"], sys_path=setup["search_path"], smart_sys_path=False, load_unsafe_extensions=False
    )
    for line in asked:
        file = json.loads(line)
        looked_at.clear()
        script = jedi.Script(file["text"], path=file["path"], project=project, environment=environment)
        for place in file["places"]:
            _tell(told, {"place": place, "found": list(_found(script, *place))})
        _tell(told, {"looked_at": sorted(looked_at)})


def _found(script: Any, line: int, column: int) -> Iterator[tuple[str | None, int, int, str]]:
    try:
        names = script.goto(line, column, follow_imports=True)
    except Exception:  # noqa: BLE001  # whatever goes wrong in jedi: it does not know
        return
    for name in names:
        path = name.module_path
        yield (
            None if path is None else os.fspath(path),
            name.line or 0,
            name.column or 0,
            name.full_name or name.name,
        )


def _watch(kind: Any, looked_at: set[str]) -> None:
    """Note every file that is read, or of which a kept tree is used (which is when jedi asks for its time)."""
    read, get_last_modified = kind.read, kind.get_last_modified

    def noted_read(self: Any) -> Any:
        looked_at.add(os.fspath(self.path))
        return read(self)

    def noted_time(self: Any) -> Any:
        looked_at.add(os.fspath(self.path))
        return get_last_modified(self)

    kind.read, kind.get_last_modified = noted_read, noted_time


def _end_with(parent: int) -> None:
    """End when the process is gone that asked: jedi may be deep in thought, and would not read that its input has ended."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _tell(told: TextIO, what: object) -> None:
    told.write(json.dumps(what) + "\n")
    told.flush()


if __name__ == "__main__":
    # Whatever prints by mistake shall not print into the answers.
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    main(os.fdopen(os.dup(0), encoding="utf-8"), answers)
