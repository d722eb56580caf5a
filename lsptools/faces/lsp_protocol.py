"""The conversation: what may be said when, which handler answers, and how an answer or an error is sent.

`pygls` brings the types, their conversion from and to JSON, and the bookkeeping of our own requests. Dispatch is ours,
since a handler of pygls may block the reader, since params that do not fit would get no answer, and since before
`initialize` and after `shutdown` other errors are due. Invariant: every request with an id is answered exactly once.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from cattrs import Converter
from cattrs.errors import ClassValidationError
from cattrs.v import transform_error
from lsprotocol import types
from pygls.protocol import JsonRPCProtocol, default_converter
from pygls.server import JsonRPCServer

from lsptools.faces import lsp_errors
from lsptools.faces.lsp_errors import Rejected, log, rejected
from lsptools.faces.lsp_wire import Unreadable, Writer, framed

if TYPE_CHECKING:
    from collections.abc import Hashable

Tell = Callable[[object, BaseException | None], None]
Begin = Callable[["Hashable", Any, Tell], None]
"""Begins a request: takes its id, its params, and whom to tell. Params are those of the method."""


@dataclass(frozen=True, slots=True)
class Handlers:
    """What the server does, by method."""

    requests: Mapping[str, Begin]
    notifications: Mapping[str, Callable[[Any], None]]
    leave: Callable[[Hashable], bool]
    """The client does not want the answer to a request any more."""


@cache
def _converter() -> Converter:
    """It learns each type when it meets it first, which is worth keeping."""
    converter: Converter = default_converter()  # type: ignore[no-untyped-call]  # pygls has no annotation there
    for kind in (int, str, bool):
        converter.register_structure_hook(kind, _exactly)
    converter.register_structure_hook(types.ProgressToken | None, _token)
    return converter


def _token(value: Any, _kind: object) -> Any:  # any JSON
    """A token, if there is one: a number or a text. An object could not be told from another when it comes back."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, str))):
        raise TypeError(f"{value!r:.40} is no token")
    return value


def _exactly(value: Any, kind: type[Any]) -> Any:  # any JSON
    """A number, text or truth value as it is: `"0"` is no number, though it could be read as one. `2.0` is the number 2.

    What an enumeration does not have yet is kept as it is: a newer client may name what we have not heard of.
    """
    if kind not in _JSON_NAMES:  # an enumeration of such values
        is_known = any(value == member.value for member in kind)
        return kind(value) if is_known else _exactly(value, int if issubclass(kind, int) else str)
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"{value!r:.40} is no {_JSON_NAMES[kind]}")
    return value


_JSON_NAMES = {int: "integer", str: "string", bool: "boolean"}


class Conversation(JsonRPCProtocol):
    """One client, from its first message to its last."""

    def __init__(self, handlers: Handlers, writer: Writer) -> None:
        super().__init__(JsonRPCServer(JsonRPCProtocol, _converter), _converter())
        self.set_writer(writer)
        self._handlers = handlers
        self._lock = threading.Lock()
        self._open: dict[Hashable, int | str] = {}
        self.stage = "new"
        """`new`, `running`, `shut`, `over`."""
        self.exit_code = 1
        """0 once the client has said `shutdown`."""

    # What comes in

    def take(self, message: object) -> None:
        """Deal with one message. Never raises for what a client may send."""
        if isinstance(message, Unreadable):
            self.refuse(None, Rejected(lsp_errors.PARSE_ERROR, message.says))
        elif not isinstance(message, dict) or message.get("jsonrpc", "2.0") != "2.0":
            self.refuse(None, Rejected(lsp_errors.INVALID_REQUEST, "not a JSON-RPC 2.0 message"))
        elif "method" not in message:
            self._take_response(message)
        elif not isinstance(message["method"], str):
            self.refuse(message.get("id"), Rejected(lsp_errors.INVALID_REQUEST, "`method` is a string"))
        elif "id" in message:
            self._take_request(message)
        else:
            self._take_notification(message["method"], message)

    def _take_request(self, message: dict[str, Any]) -> None:
        ident, method = message["id"], message["method"]
        if isinstance(ident, bool) or not isinstance(ident, (int, str)):
            self.refuse(None, Rejected(lsp_errors.INVALID_REQUEST, "`id` is a number or a string"))
            return
        try:
            self._check_stage(method)
            begin = self._handlers.requests.get(method)
            if begin is None:
                raise Rejected(lsp_errors.METHOD_NOT_FOUND, f"there is no method {method}")
            params = self._params(message)
        except Rejected as error:
            self.refuse(ident, error)
            return
        who = (type(ident), ident)
        with self._lock:
            if who in self._open:
                return  # its answer is on its way; a second one could not be told from it
            self._open[who] = ident
        try:
            begin(who, params, lambda answer, error: self._answer(who, answer, error))
        except Exception as error:  # noqa: BLE001  # whatever it was, the client waits
            self._answer(who, None, error)

    def _take_notification(self, method: str, message: dict[str, Any]) -> None:
        if method == types.EXIT:
            self.stage = "over"
            return
        if self.stage != "running":
            return
        if method == types.CANCEL_REQUEST:
            self._cancel(message.get("params"))
            return
        handler = self._handlers.notifications.get(method)
        if handler is None:
            return
        try:
            handler(self._params(message))
        except Exception as error:  # noqa: BLE001  # nobody waits for an answer, and the next message is another matter
            log.warning("%s: %s", method, error, exc_info=not isinstance(error, Rejected))

    def _cancel(self, params: object) -> None:
        ident = params.get("id") if isinstance(params, dict) else None
        who = (type(ident), ident)
        if not isinstance(ident, (int, str)) or who not in self._open:
            return
        self._handlers.leave(who)
        self._answer(who, None, Rejected(lsp_errors.CANCELLED, "cancelled"))

    def _check_stage(self, method: str) -> None:
        if self.stage == "new" and method != types.INITIALIZE:
            raise Rejected(lsp_errors.NOT_INITIALIZED, f"{method} before initialize")
        if self.stage != "new" and method == types.INITIALIZE:
            raise Rejected(lsp_errors.INVALID_REQUEST, "initialize may be sent once")
        if self.stage in ("shut", "over"):
            raise Rejected(lsp_errors.INVALID_REQUEST, f"{method} after shutdown")

    def _params(self, message: dict[str, Any]) -> Any:  # those of the method, or plain JSON
        method = message["method"]
        kind = self.get_message_type(method)
        if kind is None:
            return message.get("params")
        try:
            return self._converter.structure(message, kind).params
        except ClassValidationError as error:
            says = "; ".join(transform_error(error, path=method)[:3])
        except Exception as error:  # noqa: BLE001  # a converter meets anything
            says = f"{type(error).__name__}: {error}"
        raise Rejected(lsp_errors.INVALID_PARAMS, f"the params of {method} do not fit: {says}")

    def _take_response(self, message: dict[str, Any]) -> None:
        ident = message.get("id")
        future = self._request_futures.pop(ident, None) if isinstance(ident, (int, str)) else None
        if future is None or future.cancelled():
            return
        error = message.get("error")
        if error is None:
            future.set_result(message.get("result"))
        else:
            future.set_exception(Rejected(lsp_errors.FAILED, str(error)))

    # What goes out

    def _answer(self, who: Hashable, answer: object, error: BaseException | None) -> None:
        with self._lock:
            ident = self._open.pop(who, None)
        if ident is None:
            return
        if error is not None:
            self.refuse(ident, rejected(error))
            return
        try:
            self._send({"jsonrpc": "2.0", "id": ident, "result": answer})
        except Exception as problem:  # noqa: BLE001  # an answer that cannot be said is an error to be told
            self.refuse(ident, rejected(problem))

    def refuse(self, ident: object, error: Rejected) -> None:
        """Answer with an error; without an id it is nobody's in particular."""
        ident = ident if isinstance(ident, (int, str)) else None
        self._send({"jsonrpc": "2.0", "id": ident, "error": error.response})

    def _send(self, message: dict[str, object]) -> None:
        body = json.dumps(message, default=self._serialize_message, separators=(",", ":"))
        assert isinstance(self.writer, Writer)
        self.writer.write(framed(body.encode("ascii")))

    def tell(self, method: str, params: object) -> None:
        """Send a notification."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: object) -> Future[Any]:
        """Send a request; the future holds the client's result as plain JSON, or raises `Rejected`."""
        with self._lock:
            self._n_asked = getattr(self, "_n_asked", 0) + 1
            ident = f"lsptools-{self._n_asked}"
        future: Future[Any] = Future()
        self._request_futures[ident] = future
        self._send({"jsonrpc": "2.0", "id": ident, "method": method, "params": params})
        return future

    def get_message_type(self, method: str) -> type[Any] | None:
        """The type of a method's messages."""
        known = types.METHOD_TO_TYPES.get(method)
        return known[0] if known else None
