"""``python -m lsptools`` and the console script ``lsptools``: hands over to the command line."""

import sys


def main() -> None:
    from lsptools.faces.cli import main as run

    sys.exit(run())


if __name__ == "__main__":
    main()
