"""Small drawings in tables: SVG as the source of a picture, since HTML in a page may hold none as it is."""

from __future__ import annotations

from base64 import b64encode


def write_picture(width: float, height: float, inside: str, stretched: bool = False) -> str:
    """An SVG of this size as the source of a picture. stretched: to whatever size the picture gets."""
    ratio, each = (' preserveAspectRatio="none"', ' vector-effect="non-scaling-stroke"') if stretched else ("", "")
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}"{ratio} fill="none" '
        f'stroke-width="1">{inside.replace("<path", f"<path{each}")}</svg>'
    )
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"
