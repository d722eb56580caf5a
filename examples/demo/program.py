"""Draws with the `rich` that comes first on the path, and says of which classes its drawings are made.

A program that knows nothing of the rename: it names no class that is renamed.
"""

import importlib
import io
import pkgutil

import rich
from rich.console import Console
from rich.markdown import Markdown
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

ELSEWHERE = {"rich._win32_console", "rich._windows_renderer", "rich.jupyter", "rich.__main__"}
"""Modules for other systems, and one that does more than define."""


def imported() -> int:
    """Import every module of the package; how many there are."""
    names = [module.name for module in pkgutil.iter_modules(rich.__path__, "rich.")]
    wanted = [name for name in names if name not in ELSEWHERE]
    for name in wanted:
        importlib.import_module(name)
    return len(wanted)


def drawn() -> str:
    """Something of everything, in colour."""
    console = Console(
        file=io.StringIO(), width=60, force_terminal=True, color_system="truecolor", record=True
    )
    table = Table("who", "pays", title="a table", row_styles=["bold", "italic #aa5500"])
    table.add_row("Ada", Text("50.70", style="green on black"))
    table.add_row("Grace", "[on blue]13.28[/]")
    console.print(Panel(table, border_style="magenta"), Markdown("# A page\n\n* with *style*\n* `and code`"))
    return console.export_text(styles=True)


style = rich.get_console().get_style("bold red")
print(f"{imported()} modules of {rich.__name__} are imported; {len(drawn())} characters are drawn")
print(f"{style!s} is an instance of class {type(style).__name__}")
print("from", "the copy" if rich.__file__.startswith(__import__("os").getcwd()) else "elsewhere")
