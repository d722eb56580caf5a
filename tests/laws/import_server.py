"""Imports all modules of a package as they are on the disk and says what came of it, again and again.

A script, run as `python -B import_server.py PACKAGE` in the folder that holds the package: for each line of standard
input one line of JSON. Each answer is of a fork, so that nothing is left of it; what the package imports from elsewhere
is loaded before the fork, and the code of files that have not changed is compiled once. Where there is no fork, the
process answers once and ends.

The answer: for each module whether it could be imported, and the namespaces that came to be. A namespace is a list of
words: the names of a module and what they hold; the members of a class, each with the class above that has a member of
that name too; the abstract members; what `__all__` lists. No value is shown.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import inspect
import json
import os
import pkgutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

SECONDS = 60
"""For one answer."""

_code: dict[tuple[str, bytes], CodeType] = {}
_compiled = importlib.machinery.SourceFileLoader.source_to_code


def source_to_code(loader: Any, data: Any, path: Any, **options: Any) -> CodeType:
    """In place of the loader's own: code that was compiled once is kept."""
    key = (str(path), bytes(data)) if isinstance(data, (bytes, memoryview)) else None
    if key is not None and key in _code:
        return _code[key]
    code = _compiled(loader, data, path, **options)
    if key is not None:
        _code[key] = code
    return code


def serve(package: str) -> None:
    importlib.machinery.SourceFileLoader.source_to_code = source_to_code  # type: ignore[method-assign, assignment] # that is the point
    out = os.dup(1)
    with Path(os.devnull).open("w") as nowhere:  # modules print when they are imported
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    is_warm = False
    for _ in sys.stdin:
        if not hasattr(os, "fork"):
            os.write(out, _line(answer(package)))
            return
        if not is_warm:
            _load_others(package)
            is_warm = True
        os.write(out, in_fork(package))


def in_fork(package: str) -> bytes:
    """The answer of a child of this process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        try:
            said = _line(answer(package))
        except BaseException as error:  # noqa: BLE001 # the child has to say what it is, and to end
            said = _line({"failed": repr(error)})
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(said)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said or _line({"failed": "it died"})


def _line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


def answer(package: str) -> dict[str, object]:
    importlib.invalidate_caches()
    outcome = _imported(package)
    if outcome != "imported":
        return {"imported": {package: outcome}, "namespaces": {}, "others": []}
    found = sys.modules[package]
    names = sorted(each.name for each in pkgutil.walk_packages(found.__path__, f"{package}.", lambda _: None))
    imported = {name: _imported(name) for name in names if not name.endswith(".__main__")}
    ours = {name: module for name, module in sys.modules.items() if _is_ours(name, package)}
    spaces: dict[str, list[str]] = {}
    for name, module in sorted(ours.items()):
        spaces.update(_of_module(name, module, package))
    others = [name for name in sys.modules if not _is_ours(name, package)]
    return {"imported": imported, "namespaces": spaces, "others": others}


def _is_ours(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _imported(module: str) -> str:
    try:
        importlib.import_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 # whatever a module raises, it cannot be imported
        return type(error).__name__
    return "imported"


def _of_module(name: str, module: ModuleType, package: str) -> Iterator[tuple[str, list[str]]]:
    names = vars(module)
    yield name, [f"{each} = {_kind(value)}" for each, value in names.items() if not _is_dunder(each)]
    listed = names.get("__all__", ())
    yield f"{name}.__all__", [f"{each} {each in names}" for each in listed if isinstance(each, str)]
    for value in list(names.values()):
        if isinstance(value, type) and value.__module__ == name:
            yield from _of_class(value, package)


def _of_class(cls: type, package: str) -> Iterator[tuple[str, list[str]]]:
    members = [f"{name} over {_above(cls, name)}" for name in vars(cls) if name not in _OF_EVERY_CLASS]
    abstract = [f"{name} is abstract" for name in getattr(cls, "__abstractmethods__", ())]
    order = " ".join(_called(each) for each in cls.__mro__)
    yield _called(cls), [order, *members, *abstract]
    for value in list(vars(cls).values()):
        inner = isinstance(value, type) and value.__qualname__.startswith(f"{cls.__qualname__}.")
        if inner and _is_ours(value.__module__, package):
            yield from _of_class(value, package)


def _above(cls: type, name: str) -> str:
    return next((_called(each) for each in cls.__mro__[1:] if name in vars(each)), "")


_OF_EVERY_CLASS = frozenset({"__module__", "__doc__", "__dict__", "__weakref__", "__annotations__"})


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _kind(value: object) -> str:
    if isinstance(value, type) or inspect.isfunction(value):
        return _called(value)
    return type(value).__name__


def _called(value: Any) -> str:
    return f"{value.__module__}:{value.__qualname__}"


def _load_others(package: str) -> None:
    """What the package imports from elsewhere, unless that imports the package; and the code of its files."""
    said = json.loads(in_fork(package))
    for name in said.get("others", ()):
        there = set(sys.modules)
        with contextlib.suppress(Exception):  # what raises here does so in the fork, too
            importlib.import_module(name)
        if package in sys.modules:
            for each in set(sys.modules) - there:
                del sys.modules[each]
    for path in Path.cwd().rglob("*.py"):
        try:
            _code[str(path), path.read_bytes()] = compile(
                path.read_bytes(), str(path), "exec", dont_inherit=True
            )
        except (SyntaxError, ValueError):
            continue


if __name__ == "__main__":
    sys.path[:1] = [str(Path.cwd())]
    serve(sys.argv[1])
