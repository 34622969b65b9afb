"""A picture for print as a PDF: vectors, and the fonts that every reader of PDF has, so that none is embedded."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from math import cos, radians, sin

import numpy as np
from PIL import ImageColor

from bertviz_core.errors import InputError
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.sheet import MONO, Map, Rect, Sheet, Text, find_color, paint_map

_FONTS = {"sans": "Helvetica", "bold": "Helvetica-Bold", "mono": "Courier", "symbol": "Symbol"}
_SYMBOLS = {  # what Windows' alphabet lacks and the font Symbol has, by the byte that it has there
    "−": 0x2D, "≤": 0xA3, "≥": 0xB3, "√": 0xD6, "∞": 0xA5, "∕": 0xA4, "→": 0xAE, "≈": 0xBB, "≠": 0xB9, "∂": 0xB6,
    "Σ": 0x53, "Π": 0x50, "Δ": 0x44, "α": 0x61, "β": 0x62, "γ": 0x67, "ε": 0x65, "ϵ": 0x65, "η": 0x68, "λ": 0x6C,
    "μ": 0x6D, "π": 0x70, "σ": 0x73, "θ": 0x71,
}  # fmt: skip
# Of Helvetica, in thousandths of its size: the letters from the blank to the tilde (Adobe's metrics of its base fonts).
_WIDTHS = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
)  # fmt: skip
_OTHER, _FIXED = 0.6, 0.6  # of its size: the width of any other letter, and of each one of Courier


def measure_printed(text: str, size: float, face: str = "sans") -> float:
    """Points that a text takes in a line."""
    if face == MONO:
        return size * _FIXED * len(text)
    return size * sum(_WIDTHS[ord(each) - 32] / 1000 if " " <= each <= "~" else _OTHER for each in text)


def write_pdf(sheet: Sheet, colors: Palette, title: str = "") -> bytes:
    """The picture as a PDF of one page of its size.

    Raises InputError for a letter that the fonts of every reader lack.
    """
    maps = [item for item in sheet.items if isinstance(item, Map)]
    drawn = "\n".join(_draw(sheet, colors, maps)).encode("latin-1")
    fonts = " ".join(f"/{name} {5 + i} 0 R" for i, name in enumerate(_FONTS))
    pictures = " ".join(f"/Map{i} {5 + len(_FONTS) + i} 0 R" for i in range(len(maps)))
    resources = f"<< /Font << {fonts} >> /XObject << {pictures} >> >>"
    page = (
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {sheet.width:.2f} {sheet.height:.2f}] /Contents 4 0 R "
        f"/Resources {resources} >>"
    )
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        page.encode(),
        _write_stream(drawn),
        *(_write_font(name, base) for name, base in _FONTS.items()),
        *(_write_image(item, colors) for item in maps),
        b"<< /Title <FEFF" + title.encode("utf-16-be").hex().upper().encode() + b"> >>",
    ]
    return _put_together(parts)


def _put_together(parts: list[bytes]) -> bytes:
    """The objects with the table of where each begins; the last one is about the document."""
    out, places = bytearray(b"%PDF-1.7\n"), list[int]()
    for number, part in enumerate(parts, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + part + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"xref\n0 {len(parts) + 1}\n0000000000 65535 f \n{table}"
    end += f"trailer\n<< /Size {len(parts) + 1} /Root 1 0 R /Info {len(parts)} 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return bytes(out + end.encode())


def _write_stream(content: bytes, about: str = "") -> bytes:
    packed = zlib.compress(content, 9)
    head = f"<< /Length {len(packed)} /Filter /FlateDecode {about}>>\nstream\n".encode()
    return head + packed + b"\nendstream"


def _write_font(name: str, base: str) -> bytes:
    letters = "" if name == "symbol" else " /Encoding /WinAnsiEncoding"
    return f"<< /Type /Font /Subtype /Type1 /BaseFont /{base}{letters} >>".encode()


def _write_image(item: Map, colors: Palette) -> bytes:
    pixels = paint_map(item, colors)
    height, width, _ = pixels.shape
    about = (
        f"/Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace /DeviceRGB /BitsPerComponent 8 "
    )
    return _write_stream(np.ascontiguousarray(pixels).tobytes(), about)


def _draw(sheet: Sheet, colors: Palette, maps: list[Map]) -> Iterator[str]:
    for item in sheet.items:
        if isinstance(item, Rect):
            yield from _draw_rect(item, sheet.height, colors)
        elif isinstance(item, Text):
            yield _draw_text(item, sheet.height, colors)
        else:
            place = f"{item.width:.2f} 0 0 {item.height:.2f} {item.x:.2f} {sheet.height - item.y - item.height:.2f}"
            yield f"q {place} cm /Map{maps.index(item)} Do Q"


def _draw_rect(rect: Rect, height: float, colors: Palette) -> Iterator[str]:
    place = f"{rect.x:.2f} {height - rect.y - rect.height:.2f} {rect.width:.2f} {rect.height:.2f} re"
    if rect.fill:
        yield f"{_mix(rect.fill, rect.opacity, colors)} rg {place} f"
    if rect.edge:
        yield f"{_mix(rect.edge, 1, colors)} RG {rect.line:.2f} w {place} S"


def _mix(name: str, opacity: float, colors: Palette) -> str:
    """A colour over that of 0, which all cells lie on."""
    ends = (ImageColor.getrgb(find_color(each, colors)) for each in ("zero", name))
    return " ".join(f"{(low + opacity * (high - low)) / 255:.4f}" for low, high in zip(*ends, strict=True))


def _draw_text(text: Text, height: float, colors: Palette) -> str:
    face = "bold" if text.bold else text.face
    back = {"start": 0, "middle": 0.5, "end": 1}[text.anchor] * measure_printed(text.text, text.size, text.face)
    turned = radians(-text.angle)
    across, up = cos(turned), sin(turned)
    x, y = text.x - back * across, height - text.y - back * up
    runs = " ".join(f"/{font} {text.size:.2f} Tf <{codes.hex()}> Tj" for font, codes in _split(text.text, face))
    matrix = f"{across:.5f} {up:.5f} {-up:.5f} {across:.5f} {x:.2f} {y:.2f}"
    return f"BT {_mix(text.color, 1, colors)} rg {matrix} Tm {runs} ET"


def _split(text: str, face: str) -> Iterator[tuple[str, bytes]]:
    """The text in runs of one font each, as the bytes that its letters have there."""
    font, codes = face, b""
    for letter in text:
        code = bytes([_SYMBOLS[letter]]) if letter in _SYMBOLS else _encode(letter)
        own = "symbol" if letter in _SYMBOLS else face
        if own != font and codes:
            yield font, codes
            codes = b""
        font, codes = own, codes + code
    if codes:
        yield font, codes


def _encode(letter: str) -> bytes:
    try:
        return letter.encode("cp1252")
    except UnicodeEncodeError:
        raise InputError(
            f"The fonts that every reader of PDF has lack “{letter}”. Save the picture as .svg: a browser prints that "
            "to a PDF with the fonts that it has."
        ) from None
