"""``python -m lsptools`` and the console script ``lsptools``: hands over to the command line."""

import sys


def main() -> None:
    import gc

    from lsptools.faces.cli import main as run

    gc.disable()  # a short life with many small values: looking for cycles would only cost a tenth of it

    sys.exit(run())


if __name__ == "__main__":
    main()
