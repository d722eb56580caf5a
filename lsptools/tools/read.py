"""`read`: what a file says, with line numbers, and as the ground for editing it."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsptools.tools.base import Context, Example, Tool, arg

if TYPE_CHECKING:
    from lsptools.edit.pictures import Picture
    from lsptools.edit.read import Reading


@dataclass(frozen=True, slots=True)
class Params:
    path: str = arg("the file", positional=True, kind="path")
    offset: int = arg("start at line N", default=1, metavar="N", group="Range", short="o")
    limit: int | None = arg("show at most N lines", default=None, metavar="N", group="Range", short="n")
    column: int = arg(
        "start each line at column N; for the rest of a line that was cut",
        default=1,
        metavar="N",
        group="Range",
    )
    raw: bool = arg("show a notebook as the JSON it is, not as cells", default=False, group="Output")
    image_data: bool = arg(
        "put a picture's data (base64) into the JSON answer, scaled down if it is large",
        default=False,
        group="Output",
    )


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """Lines of a text file."""

    reading: Reading

    @property
    def found(self) -> bool:
        return True

    @property
    def output(self) -> str:
        """What a caller is shown."""
        shown, reading = self.reading.shown, self.reading
        said = "the file is empty" if not reading.n_lines else reading.go_on
        return shown + ("\n" if shown else "") + (f"[{said}]\n" if said else "")

    def to_json(self) -> dict[str, object]:
        reading, document = self.reading, self.reading.document
        return {
            "path": reading.target.name,
            "output": self.output,
            "first_line": reading.first_line,
            "last_line": reading.last_line,
            "lines": reading.n_lines,
            "truncated": reading.is_cut,
            "go_on": reading.go_on,
            "digest": document.digest,
            "encoding": document.encoding,
            "bom": bool(document.bom),
            "stray_bytes": document.errors != "strict",
            "newline": _NEWLINES[document.newline]
            if "\n" in document.text or "\r" in document.text
            else None,
            "mixed_newlines": document.mixed_newlines,
            "notebook": reading.is_notebook,
        }


@dataclass(frozen=True, slots=True)
class PictureAnswer:
    """A file that is a picture."""

    picture: Picture
    with_data: bool

    @property
    def found(self) -> bool:
        return True

    @property
    def output(self) -> str:
        """What a caller is shown that cannot look at pictures."""
        return f"[picture: {self.picture.described}]\n"

    def to_json(self) -> dict[str, object]:
        picture = self.picture
        found: dict[str, object] = {
            "path": picture.target.name,
            "output": self.output,
            "media_type": picture.media_type,
            "width": picture.width,
            "height": picture.height,
            "bytes": picture.n_bytes,
        }
        if self.with_data and (shown := picture.to_show()) is not None:
            found["image"] = {"media_type": shown[0], "data": b64encode(shown[1]).decode("ascii")}
        return found


_NEWLINES = {"\n": "lf", "\r\n": "crlf", "\r": "cr"}


def run(context: Context, params: Params) -> ReadAnswer | PictureAnswer:
    """Read, and remember that the caller has."""
    from lsptools.edit.pictures import Picture
    from lsptools.edit.read import read

    reading = read(
        context.snapshot,
        context.session,
        params.path,
        offset=params.offset,
        limit=params.limit,
        column=params.column,
        raw=params.raw,
    )
    if isinstance(reading, Picture):
        return PictureAnswer(reading, params.image_data)
    return ReadAnswer(reading)


TOOL = Tool(
    name="read",
    summary="Show a file, or a range of its lines, with line numbers.",
    guide=(
        "The number of each line stands in a column of its own (`12│`); what is right of the bar is the line as it stands "
        "in the file, to be quoted without the number. At most 2,000 lines and 50 kB are shown; where several lines "
        "are, each is cut after 2,000 characters, and a line alone where the 50 kB end; the answer says how to go on. Lines end "
        "at LF, CRLF or a lone CR; line ends and a byte order mark are not shown. A file of more than 32 MB is not read as text. "
        "A notebook is shown as cells, a picture is described. Having read a file is what "
        "`edit`, `write` and the others ask for; the digest that is printed can be passed to them as `--expect`."
    ),
    params=Params,
    run=run,
    writes=False,
    examples=(
        Example("read app/models.py", "the whole file, if it is not too long"),
        Example("read app/models.py --offset 120 --limit 40", "forty lines"),
        Example("read app/models.py --session review", "remember for later calls of the session `review`"),
    ),
    found="shown",
    not_found="never",
    files=lambda params: (params.path,),
    session=True,
)
