"""A second reader of Python: libcst, a parser of its own, if it is installed. What it reads it can write back, byte for byte.

It is a witness and no judge: where Python itself reads a file and libcst does not, libcst is behind. Where a file needs a newer
Python than the one that runs us, it may know more than `ast` does.
"""

from __future__ import annotations

from enum import Enum


class Witnessed(str, Enum):
    """What libcst says of a file."""

    SAME = "read, and written back the same"
    DIFFERENT = "read, and written back otherwise"
    UNREAD = "not read"
    ABSENT = "libcst is not installed"


def witnessed(source: bytes) -> Witnessed:
    """What libcst says of these bytes of a file."""
    try:
        import libcst
    except ImportError:
        return Witnessed.ABSENT
    try:
        back = libcst.parse_module(source).bytes
    except BaseException as error:  # whatever libcst says no with, it is a no; its native part may panic
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            return Witnessed.UNREAD
        raise
    return Witnessed.SAME if back == source else Witnessed.DIFFERENT


def is_read(source: bytes) -> bool:
    """Whether libcst is there and reads them."""
    return witnessed(source) in (Witnessed.SAME, Witnessed.DIFFERENT)
