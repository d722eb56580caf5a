"""``python -m lsptools`` and the console script ``lsptools``: hands over to the command line."""

import sys


def main() -> None:
    import gc

    from lsptools.faces.cli import main as run

    gc.disable()  # a short life with many small values: looking for cycles would only cost a tenth of it

    _leave(run())


def _leave(code: int) -> None:
    """End the process; where nothing is left to wait for, without freeing first, value by value, what goes with it at once.

    A daemon thread is not waited for: one that still computes would only take turns with whoever frees.
    """
    import os

    threading = sys.modules.get("threading")
    if threading is not None and any(
        not thread.daemon and thread is not threading.main_thread() for thread in threading.enumerate()
    ):
        sys.exit(code)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(code)
    os._exit(code)


if __name__ == "__main__":
    main()
