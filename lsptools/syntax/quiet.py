"""Reading Python without its warnings: an odd escape in a string is read all the same, and standard error is not ours to fill."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_one_at_a_time = Lock()
"""`warnings.catch_warnings` is for the whole process."""


@contextmanager
def quiet() -> Iterator[None]:
    """Inside, `ast.parse` and `compile` warn of nothing. Not to be nested."""
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
