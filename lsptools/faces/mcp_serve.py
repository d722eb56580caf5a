"""`lsptools mcp`: what has to be there, who may do what, and a server that ends with its client.

Standard output belongs to the protocol alone (the SDK takes it away from everybody else); logs go to standard error.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import socket
import sys
from typing import Any

from lsptools.errors import Unavailable
from lsptools.faces.agent import Desk, Permissions
from lsptools.faces.agent_commands import ServeAgents
from lsptools.faces.environment import Environment
from lsptools.faces.roots import Roots

LINE = "lsptools mcp: %(levelname)s: %(message)s"
PATIENCE_S = 3.0
"""How long to wait at the end for work that was told to stop."""


def serve(environment: Environment, wanted: ServeAgents) -> int:
    """Serve until the client leaves (or, over HTTP, until a signal); the exit code."""
    _check_installed()
    desk = desk_of(environment, wanted)
    logging.basicConfig(
        stream=sys.stderr, level=logging.DEBUG if environment.debug else logging.WARNING, format=LINE
    )
    import anyio

    from lsptools.faces.mcp import serve_stdio

    # The command line switches it off for its short life; this one may be long, and what is loaded stays.
    gc.freeze()
    gc.enable()
    if wanted.port is not None:
        _on_port(desk, wanted.port)
    else:
        signal.signal(signal.SIGTERM, lambda *_: _end(desk, 0))
        try:
            anyio.run(serve_stdio, desk)
        except BaseException as error:
            if not _is_broken_pipe(error):
                raise
    _end(desk, 0)
    return 0


def _is_broken_pipe(error: BaseException) -> bool:
    """Whether all that went wrong is that nobody reads any more; errors of tasks come in groups."""
    inner = getattr(error, "exceptions", None)
    return all(map(_is_broken_pipe, inner)) if inner else isinstance(error, BrokenPipeError)


def desk_of(environment: Environment, wanted: ServeAgents) -> Desk:
    """What the clients will share."""
    from lsptools.tools.run import rulings

    roots = [environment.root(given) for given in wanted.roots] or [environment.root(None)]
    return Desk(
        environment,
        Roots(roots),
        Permissions(wanted.read_only, wanted.allow_run, rulings(wanted.rules)),
    )


def _check_installed() -> None:
    try:
        import mcp_types  # noqa: F401
    except ImportError:
        raise Unavailable(
            "unavailable",
            "the MCP server needs the package mcp, version 2, which is not installed",
            hint="pip install 'lsptools[mcp]'",
        ) from None


def _end(desk: Desk, code: int) -> None:
    """Wait a little for work that was told to stop, and leave: threads that hang hold up nobody."""
    desk.stop(PATIENCE_S)
    sys.stderr.flush()
    os._exit(code)


def _on_port(desk: Desk, port: int) -> None:
    """HTTP for this machine only; the SDK refuses foreign hosts and origins."""
    import uvicorn

    from lsptools.faces.mcp import http_app

    with socket.create_server(("127.0.0.1", port)) as listening:
        sys.stderr.write(f"lsptools mcp: http://127.0.0.1:{listening.getsockname()[1]}/mcp\n")
        sys.stderr.flush()
        app: Any = http_app(desk)  # an ASGI application
        settings = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=2)
        uvicorn.Server(settings).run(sockets=[listening])
