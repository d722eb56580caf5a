"""A plugin for pytest, loaded by name in the project's own interpreter: it runs the selected tests and says what came of each.

Options: `--lsptools-report FILE`, to which it appends a line of JSON for each thing that happens, at once, so that a run that is
ended has told what was under way; `--lsptools-select FILE`, with the tests to run, a line each: an id without parameters.
Nothing of lsptools is imported here, and any pytest from 6 on will do. `Any` are the values of pytest, which is the project's.
"""

from __future__ import annotations

import json
import os
from typing import Any


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("lsptools")
    group.addoption("--lsptools-report", default=None)
    group.addoption("--lsptools-select", default=None)


def pytest_configure(config: Any) -> None:
    if config.getoption("--lsptools-report") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Report(config.getoption("--lsptools-report"), config))


def pytest_collection_modifyitems(config: Any, items: Any) -> None:
    name = config.getoption("--lsptools-select")
    if not name:
        return
    with open(name, encoding="utf-8") as file:  # noqa: PTH123
        wanted = {line.rstrip("\n") for line in file}
    kept: list[Any] = []
    left: list[Any] = []
    for item in items:
        nodeid = _from_here(config, item.nodeid)
        parts = nodeid.partition("[")[0].split("::")
        above = {"::".join(parts[:n]) for n in range(1, len(parts) + 1)}
        (kept if above & wanted or nodeid in wanted else left).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept


def _from_here(config: Any, nodeid: Any) -> Any:
    """An id from the folder that pytest was started in; pytest's own are from that of its settings, which may lie below."""
    root = os.path.relpath(str(getattr(config, "rootpath", None) or config.rootdir))
    path, colons, rest = nodeid.partition("::")
    if root == "." or not path:
        return nodeid
    return os.path.normpath(os.path.join(root, path)).replace(os.sep, "/") + colons + rest


class _Report:
    def __init__(self, path: Any, config: Any) -> None:
        self.config = config
        self.file = open(path, "a", encoding="utf-8", errors="backslashreplace")  # noqa: PTH123, SIM115

    def say(self, **facts: Any) -> None:
        self.file.write(json.dumps(facts) + "\n")
        self.file.flush()

    def pytest_runtest_logstart(self, nodeid: Any, location: Any) -> None:
        self.say(kind="start", id=_from_here(self.config, nodeid))

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.outcome not in ("passed", "failed", "skipped"):
            return  # a plugin runs it again, and will say what came of it
        if report.when == "call" or report.outcome != "passed":
            where, message = _crash(report)
            self.say(
                kind="result",
                id=_from_here(self.config, report.nodeid),
                when=report.when,
                outcome=report.outcome,
                seconds=report.duration,
                where=where,
                message=message,
            )

    def pytest_collectreport(self, report: Any) -> None:
        if report.outcome == "failed":
            where, message = _crash(report)
            self.say(
                kind="uncollected", id=_from_here(self.config, report.nodeid), where=where, message=message
            )

    def pytest_sessionfinish(self, session: Any, exitstatus: Any) -> None:
        self.say(kind="end", exit_code=int(exitstatus))


def _crash(report: Any) -> tuple[list[Any] | None, str]:
    """Where it happened, and what; as far as the report says."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return [str(crash.path), crash.lineno], str(crash.message)
    if isinstance(report.longrepr, tuple):
        return [str(report.longrepr[0]), report.longrepr[1]], str(report.longrepr[2])
    return None, str(report.longrepr or "")
