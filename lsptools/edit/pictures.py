"""Pictures: told by their first bytes, described by their size, scaled down for those who look at them.

Known are PNG, JPEG, GIF and WebP. Scaling needs Pillow (an extra); without it a picture is handed on as it is, or, when it is too
large for that, described only.
"""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass

from lsptools.edit.target import Target

MOST_PIXELS = 2_000
"""Width and height of a picture that is handed on."""
MOST_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Picture:
    """A file that is a picture."""

    target: Target
    media_type: str
    width: int
    """In pixels."""
    height: int
    n_bytes: int
    data: bytes

    @property
    def described(self) -> str:
        return f"{self.target.name}: {self.media_type}, {self.width} x {self.height} pixels, {self.n_bytes} bytes"

    def to_show(self) -> tuple[str, bytes] | None:
        """Media type and bytes of a picture of bearable size; `None` if that cannot be had."""
        if max(self.width, self.height) <= MOST_PIXELS and self.n_bytes <= MOST_BYTES:
            return self.media_type, self.data
        return _scaled(self.data)


def picture_of(at: Target, data: bytes) -> Picture | None:
    """The picture these bytes are, or `None`."""
    for media_type, size in _FORMATS:
        found = size(data)
        if found is not None and min(found) > 0:
            return Picture(at, media_type, *found, len(data), data)
    return None


def _png(data: bytes) -> tuple[int, int] | None:
    if not data.startswith(b"\x89PNG\r\n\x1a\n") or data[12:16] != b"IHDR" or len(data) < 33:
        return None
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def _gif(data: bytes) -> tuple[int, int] | None:
    if data[:6] not in (b"GIF87a", b"GIF89a") or len(data) < 13:
        return None
    width, height = struct.unpack("<HH", data[6:10])
    return width, height


def _jpeg(data: bytes) -> tuple[int, int] | None:
    if not data.startswith(b"\xff\xd8\xff"):
        return None
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        kind = data[at + 1]
        if kind == 0xFF:
            at += 1
            continue
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP" or len(data) < 30:
        return None
    if data[12:16] == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if data[12:16] == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if data[12:16] == b"VP8 ":
        width, height = struct.unpack("<HH", data[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None


_FORMATS = (("image/png", _png), ("image/jpeg", _jpeg), ("image/gif", _gif), ("image/webp", _webp))


def _scaled(data: bytes) -> tuple[str, bytes] | None:
    try:
        from PIL import Image
        from PIL.Image import open as picture_in
    except ImportError:
        return None
    try:
        with picture_in(io.BytesIO(data)) as image:
            image.thumbnail((MOST_PIXELS, MOST_PIXELS))
            made = io.BytesIO()
            image.convert("RGBA" if "A" in image.getbands() else "RGB").save(made, "PNG", optimize=True)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None  # broken, or made to be too large
    scaled = made.getvalue()
    return ("image/png", scaled) if len(scaled) <= MOST_BYTES else None
