"""Progress of a request, and its result in parts, for a client that sent the tokens for them."""

from __future__ import annotations

from collections.abc import Callable

from lsprotocol import types

PART = 400
"""So many items of a list are sent at once."""


class Progress:
    """The progress of one request. Without tokens nothing is sent."""

    def __init__(self, tell: Callable[[str, object], None], params: object) -> None:
        self._tell = tell
        self._work_done = getattr(params, "work_done_token", None)
        self._partial_result = getattr(params, "partial_result_token", None)

    def begin(self, title: str) -> None:
        """The work starts."""
        self._progress(self._work_done, types.WorkDoneProgressBegin(title=title, cancellable=True))

    def end(self) -> None:
        """The work is over, whatever came of it."""
        self._progress(self._work_done, types.WorkDoneProgressEnd())

    def told_in_parts(self, answer: object) -> object:
        """Send a list in parts, if they are wanted; then nothing is left to answer."""
        if self._partial_result is None or not isinstance(answer, list):
            return answer
        for start in range(0, len(answer), PART):
            self._progress(self._partial_result, answer[start : start + PART])
        return []

    def _progress(self, token: int | str | None, value: object) -> None:
        if token is not None:
            self._tell(types.PROGRESS, types.ProgressParams(token, value))
