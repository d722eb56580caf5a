"""`lsptools lsp`: the language server, on standard input and output or, to look into it, on a local TCP port.

Standard output belongs to the protocol alone: it is taken away before anything else runs, so that whatever prints by
mistake prints to standard error. The exit code is 0 after `shutdown` and `exit`, and 1 when the editor left without them.
"""

from __future__ import annotations

import gc
import logging
import os
import socket
import sys
from collections.abc import Callable
from typing import BinaryIO

from lsptools.errors import Unavailable
from lsptools.faces.environment import Environment

LINE = "lsptools lsp: %(levelname)s: %(message)s"


def serve(environment: Environment, *, port: int | None = None) -> int:
    """Serve one client until it leaves; the exit code."""
    _check_installed()
    logging.basicConfig(
        stream=sys.stderr, level=logging.DEBUG if environment.debug else logging.WARNING, format=LINE
    )
    # The command line switches it off for its short life; this one may be long.
    gc.enable()
    gc.set_threshold(20_000, 50, 50)
    if port is not None:
        return _on_port(environment, port)
    return converse(environment, *_standard_streams(), on_orphaned=_end_now)


def report(environment: Environment) -> int:
    """Print what an editor would see."""
    _check_installed()
    from lsptools.faces.lsp_check import lines

    sys.stdout.write("".join(f"{line}\n" for line in lines(environment)))
    return 0


def _check_installed() -> None:
    try:
        import pygls  # noqa: F401
    except ImportError:
        raise Unavailable(
            "unavailable",
            "the language server needs pygls, which is not installed",
            hint="pip install 'lsptools[lsp]'",
        ) from None


def _standard_streams() -> tuple[BinaryIO, BinaryIO]:
    reader = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    writer = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return reader, writer


def _on_port(environment: Environment, port: int) -> int:
    with socket.create_server(("127.0.0.1", port)) as listening:
        sys.stderr.write(f"lsptools lsp: waiting on 127.0.0.1:{listening.getsockname()[1]}\n")
        sys.stderr.flush()
        connection, _ = listening.accept()
        with connection, connection.makefile("rb") as reader, connection.makefile("wb") as writer:
            return converse(environment, reader, writer, on_orphaned=_end_now)


def _end_now() -> None:
    """The reader may be waiting for input that will never come, so nothing less ends the process."""
    os._exit(1)


def converse(
    environment: Environment, reader: BinaryIO, stream: BinaryIO, *, on_orphaned: Callable[[], None]
) -> int:
    """Serve the client at the other end of two streams; `on_orphaned` is called when its process is gone."""
    from lsptools.faces.lsp_errors import log
    from lsptools.faces.lsp_server import Server
    from lsptools.faces.lsp_wire import Writer, messages

    writer = Writer(stream)
    server = Server(environment, writer, on_orphaned)
    conversation = server.conversation

    for message in messages(reader, lambda says: log.warning("passed over: %s", says)):
        conversation.take(message)
        if conversation.stage == "over" or writer.broken:
            break
    server.close()
    writer.close()
    sys.stderr.flush()
    return conversation.exit_code
