"""A picture for print: rectangles, texts and, of large matrices, images, each at its place in points.

What a chart draws is laid out anew (`figures/printed.py`): a page has a width in millimetres, a chart one in pixels.
`write_svg` and `figures/pdf.py` write it. Colours are names, so that a picture in a notebook follows its theme.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from dataclasses import dataclass
from html import escape

import numpy as np
from PIL import Image, ImageColor

from bertviz_core.figures.palette import DARK, LIGHT, PALETTES, Palette

POINT = 72 / 25.4  # points a millimetre
DPI = 300  # pixels an inch of an image, at least
SANS, MONO = "sans", "mono"
FAMILIES = {
    SANS: "'Source Sans', 'Source Sans 3', Helvetica, Arial, sans-serif",
    MONO: "'Source Code Pro', ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace",
}


@dataclass(frozen=True)
class Rect:
    """A rectangle from its upper left corner.

    fill, edge: names of colours; opacity: of the fill; says: at the pointer.
    """

    x: float
    y: float
    width: float
    height: float
    fill: str = ""
    opacity: float = 1.0
    edge: str = ""
    line: float = 0.0
    says: str = ""


@dataclass(frozen=True)
class Text:
    """A text on its baseline.

    anchor: "start", "middle" or "end", what of it stands at x; angle: in degrees, clockwise; long: how long it is made
    in an SVG, whose reader may have wider letters; 0 for as long as it is.
    """

    x: float
    y: float
    text: str
    size: float
    color: str = "text"
    anchor: str = "start"
    face: str = SANS
    angle: float = 0.0
    bold: bool = False
    long: float = 0.0


@dataclass(frozen=True, eq=False)
class Map:
    """The cells of a matrix that are too many for rectangles.

    parts: (row, column) of the scale, -1 to 1; fill: the colour of those above 0.
    """

    x: float
    y: float
    width: float
    height: float
    parts: np.ndarray
    fill: str


@dataclass(frozen=True)
class Sheet:
    """A picture of this size, in points."""

    width: float
    height: float
    items: tuple[Rect | Text | Map, ...]


def find_color(name: str, colors: Palette) -> str:
    """A colour by its name: a field of the palette, or `cell-query` and `kind-query` for those of a kind of vector."""
    group, _, kind = name.partition("-")
    if kind:
        return (colors.cells if group == "cell" else colors.kinds)[kind]
    return getattr(colors, name)


def name_color(color: str, colors: Palette) -> str:
    """The name of a palette's colour. Raises KeyError for one that it has not."""
    plain = {getattr(colors, name): name for name in ("text", "faint", "line", "zero", "negative", "surface", "paper")}
    return {
        **{each: f"kind-{kind}" for kind, each in colors.kinds.items()},
        **{each: f"cell-{kind}" for kind, each in colors.cells.items()},
        **plain,
    }[color]


def list_variables(colors: Palette) -> str:
    """A palette as custom properties of CSS, by the names that `write_svg` gives them."""
    names = ["text", "faint", "line", "zero", "negative", "surface", "paper"]
    names += [f"{group}-{kind}" for kind in colors.kinds for group in ("kind", "cell")]
    return "".join(f"--bv-{name}:{find_color(name, colors)};" for name in names)


def write_svg(sheet: Sheet, colors: Palette | None = None) -> str:
    """The picture as SVG of its size in millimetres, that opens by itself. colors: None for one that stands in a page
    which has `list_variables`, and is as wide as there is room."""

    def paint(name: str) -> str:
        return find_color(name, colors) if colors else f"var(--bv-{name})"

    size = f'viewBox="0 0 {sheet.width:g} {sheet.height:g}"'
    if colors:
        size += f' width="{sheet.width / POINT:.2f}mm" height="{sheet.height / POINT:.2f}mm"'
    else:
        size += f' style="width:100%;max-width:{sheet.width * 4 / 3:.0f}px;height:auto"'
    body = "".join(_write_item(item, paint, colors) for item in sheet.items)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{body}</svg>'


def _write_item(item: Rect | Text | Map, paint: Callable[[str], str], colors: Palette | None) -> str:
    if isinstance(item, Rect):
        return _write_rect(item, paint)
    if isinstance(item, Text):
        turned = f' transform="rotate({item.angle:g} {item.x:.2f} {item.y:.2f})"' if item.angle else ""
        weight = ' font-weight="600"' if item.bold else ""
        anchor = f' text-anchor="{item.anchor}"' if item.anchor != "start" else ""
        made = f' textLength="{item.long:.2f}" lengthAdjust="spacingAndGlyphs"' if item.long else ""
        place = f'x="{item.x:.2f}" y="{item.y:.2f}"{turned}{anchor}{weight}{made}'
        font = f'font-family="{FAMILIES[item.face]}" font-size="{item.size:g}"'
        return f'<text {place} {font} fill="{paint(item.color)}">{escape(item.text, quote=False)}</text>'
    if colors:
        return _write_map(item, colors, "")
    return "".join(_write_map(item, PALETTES[theme], f' class="bv-{theme}"') for theme in (LIGHT, DARK))


def _write_rect(rect: Rect, paint: Callable[[str], str]) -> str:
    place = f'x="{rect.x:.2f}" y="{rect.y:.2f}" width="{rect.width:.2f}" height="{rect.height:.2f}"'
    look = f'fill="{paint(rect.fill)}"' if rect.fill else 'fill="none"'
    if rect.opacity < 1:
        look += f' fill-opacity="{rect.opacity:.4f}"'
    if rect.edge:
        look += f' stroke="{paint(rect.edge)}" stroke-width="{rect.line:g}"'
    if rect.says:
        return f"<rect {place} {look}><title>{escape(rect.says, quote=False)}</title></rect>"
    return f"<rect {place} {look}/>"


def _write_map(item: Map, colors: Palette, more: str) -> str:
    out = io.BytesIO()
    Image.fromarray(paint_map(item, colors)).save(out, "PNG", optimize=True)
    place = f'x="{item.x:.2f}" y="{item.y:.2f}" width="{item.width:.2f}" height="{item.height:.2f}"'
    data = base64.b64encode(out.getvalue()).decode()
    return f'<image{more} {place} preserveAspectRatio="none" href="data:image/png;base64,{data}"/>'


def paint_map(item: Map, colors: Palette) -> np.ndarray:
    """(row, column, 3) pixels of a map, at least `DPI` of them an inch: each cell is whole pixels."""
    zero, above, below = (
        np.array(ImageColor.getrgb(find_color(name, colors))) for name in ("zero", item.fill, "negative")
    )
    part = np.clip(np.nan_to_num(item.parts), -1, 1)[..., None]
    pixels = np.rint(zero + np.abs(part) * (np.where(part > 0, above, below) - zero)).astype(np.uint8)
    down, across = (
        max(1, int(np.ceil(length / 72 * DPI / count)))
        for length, count in zip((item.height, item.width), item.parts.shape, strict=True)
    )
    return pixels.repeat(down, axis=0).repeat(across, axis=1)
