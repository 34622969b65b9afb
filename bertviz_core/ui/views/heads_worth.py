"""What each head is worth, as marks under their pictures; the words without one head; the heads that matter most."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from bertviz_core.analysis.ranking import rank_top
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.tints import tint_cell
from bertviz_core.formula.numbers import format_percent
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.ui.panels import table_html
from bertviz_core.ui.panels.worth import Worth

_LISTED = 3  # heads at each end


def list_marks(worth: Worth, colors: Palette) -> list[dict[str, str]]:
    """What stands under each head's picture, in order: its worth, in the colours of that; nothing where not known."""
    return [_mark(worth, float(one), colors) for one in worth.of_heads.ravel()]


def _mark(worth: Worth, one: float, colors: Palette) -> dict[str, str]:
    if np.isnan(one):
        return {"text": "", "back": colors.zero, "ink": colors.text}
    tint = tint_cell(one / worth.end, ATTENTION, colors)
    return {"text": worth.write(one), "back": tint.back, "ink": tint.ink}


def render_words(worth: Worth) -> str:
    """The probabilities without and with the chosen head: a bar without it, and a mark where it stood with it."""
    layer, head = worth.chosen
    end = 1.0
    known = worth.found is not None and bool(worth.write_both(layer, head))
    if worth.found is not None and known:
        places = [i for i, _ in worth.beside]
        end = float(max(worth.found.without[places, layer, head].max(), worth.found.values[places].max())) or 1.0
    rows = (_render_word(worth, i, name, end if known else None) for i, name in worth.beside)
    heads = table_html.write_heads(("answer", '<span class="bv-hidden">bars</span>', "without", "with"))
    return table_html.write_table(heads, rows, "bv-words")


def _render_word(worth: Worth, i: int, name: str, end: float | None) -> str:
    """One probability's row. end: of the bars; None as long as nothing is known."""
    if worth.found is None or end is None:
        return table_html.write_row(escape(name), table_html.write_cells((_write_bar(0, 0), "…", "…")))
    without, value = float(worth.found.without[(i, *worth.chosen)]), float(worth.found.values[i])
    cells = _write_bar(without / end, value / end), f"<b>{format_percent(without)}</b>", format_percent(value)
    return table_html.write_row(escape(name), table_html.write_cells(cells))


def _write_bar(part: float, mark: float) -> str:
    return f'<i class="bv-bar" aria-hidden="true" style="--part:{part:.1%};--mark:{mark:.1%}"></i>'


def render_ranking(worth: Worth, whole: bool) -> str:
    """The heads that the answer needs most, and those most in its way, each a button. whole: all have been zeroed."""
    known = np.nan_to_num(worth.of_heads).ravel()
    needed = [int(i) for i in rank_top(known, _LISTED) if known[i] > 0]
    hinders = [int(i) for i in rank_top(-known, _LISTED) if known[i] < 0]
    so_far = "" if whole else " so far"
    lists = "".join(
        _render_list(worth, title + so_far, places)
        for title, places in (("Needed most", needed), ("In the way", hinders))
    )
    return f'<div class="bv-both-ends">{lists}</div>'


def _render_list(worth: Worth, title: str, places: Sequence[int]) -> str:
    heads = worth.of_heads.shape[1]
    rows = "".join(
        f'<button data-head="{layer},{head}" class="{kind}"><span>layer {layer}, head {head}</span>'
        f"<small><span>{escape(worth.name_role(layer, head))}</span></small>"
        f'<i aria-hidden="true"><s style="width:{abs(one) / worth.end:.0%}"></s></i>'
        f"<b>{worth.write(one)}</b></button>"
        for place in places
        for layer, head in [divmod(place, heads)]
        for one in [float(worth.of_heads[layer, head])]
        for kind in ["bv-needed" if one > 0 else "bv-hinders"]
    )
    return f'<div><p class="bv-worth-title"><b>{title}</b></p><div class="bv-ranked">{rows}</div></div>'
