"""The map of what each head is worth, as buttons; the words without one head; the heads that matter most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape

import numpy as np

from bertviz_core.analysis.ablation import Ablation
from bertviz_core.analysis.heads import Summary, find_roles
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.formula.numbers import format_percent
from bertviz_core.ui.panels import table_html

_LISTED = 5  # heads at each end
_STRONG = 0.55  # part of the scale above which a cell's text is drawn light on dark
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, eq=False)
class Worth:
    """What every head is worth to one of several probabilities.

    which, names: the one that is looked at, and all of them; chosen: the layer and head that pages look at.
    """

    found: Ablation
    which: int
    names: tuple[str, ...]
    all_heads: Summary
    chosen: tuple[int, int]

    @property
    def name(self) -> str:
        return self.names[self.which]

    @cached_property
    def change(self) -> np.ndarray:
        """(layer, head) without the head minus with it, NaN where that is not known."""
        return self.found.change(self.which)

    @cached_property
    def end(self) -> float:
        """The largest change in size: the end of the scale."""
        return float(np.nanmax(np.abs(self.change))) or 1.0

    @cached_property
    def power(self) -> int:
        """The power of ten, of percentage points, in which changes are written: 0, or less where they are tiny."""
        largest = 100 * self.end
        return 0 if largest >= 0.1 else int(np.floor(np.log10(largest)))

    @property
    def unit(self) -> str:
        return "percentage points" if not self.power else f"10{str(self.power).translate(_SUPERSCRIPTS)} points"

    def write(self, change: float) -> str:
        """A change in that unit: `+1.1`, `−5.4`, `0.0`."""
        text = f"{100 * change / 10.0**self.power:+.1f}"
        return "0.0" if float(text) == 0 else text.replace("-", "\N{MINUS SIGN}")

    def name_role(self, layer: int, head: int) -> str:
        return ", ".join(role.name for role in find_roles(self.all_heads.of(layer, head)))


def render_head_grid(worth: Worth) -> str:
    """All heads, layer under layer, each a button with the change: purple where the answer needs the head."""
    layers, heads = worth.change.shape
    top = "".join(f"<span>{head}</span>" for head in range(heads))
    rows = "".join(
        f"<span>{layer}</span>" + "".join(_render_cell(worth, layer, head) for head in range(heads))
        for layer in range(layers)
    )
    end = worth.write(worth.end)
    return (
        f'<p class="bv-worth-title"><b>Change in {worth.unit}</b> without the head'
        f'<span class="bv-worth-scale">{end}<i></i>{worth.write(-worth.end)}</span></p>'
        f'<div class="bv-worth" style="--heads:{heads}"><span></span>{top}{rows}</div>'
    )


def _render_cell(worth: Worth, layer: int, head: int) -> str:
    change = float(worth.change[layer, head])
    if np.isnan(change):
        return '<button disabled aria-label="not zeroed yet"></button>'
    part = abs(change) / worth.end
    kinds = ["bv-needed" if change < 0 else "bv-hinders", *(["bv-strong"] if part > _STRONG else [])]
    kinds += ["bv-chosen"] if (layer, head) == worth.chosen else []
    said = escape(f"layer {layer}, head {head}: {_write_both(worth, layer, head)}")
    return (
        f'<button data-head="{layer},{head}" class="{" ".join(kinds)}" style="--part:{part:.0%}" title="{said}" '
        f'aria-label="{said}">{worth.write(change)}</button>'
    )


def _write_both(worth: Worth, layer: int, head: int) -> str:
    value, without = worth.found.values[worth.which], worth.found.without[worth.which, layer, head]
    return f"{worth.name} {format_percent(float(value))} with it, {format_percent(float(without))} without"


def render_words(worth: Worth) -> str:
    """The probabilities without and with the chosen head, as paired bars on one scale."""
    layer, head = worth.chosen
    path = worth.found.addresses[worth.which].path
    shown = [i for i, address in enumerate(worth.found.addresses) if address.path == path]
    pairs = [(worth.names[i], float(worth.found.without[i, layer, head]), float(worth.found.values[i])) for i in shown]
    title = f'<p class="bv-worth-title"><b>Without layer {layer}, head {head}</b></p>'
    if np.isnan([without for _, without, _ in pairs]).any():
        return f'{title}<p class="bv-faint">This head has not been zeroed yet.</p>'
    end = max(max(without, value) for _, without, value in pairs) or 1.0
    rows = (
        table_html.write_row(escape(name), table_html.write_cells((
            f'<span class="bv-pair" aria-hidden="true"><i style="width:{without / end:.1%}"></i>'
            f'<i style="width:{value / end:.1%}"></i></span>',
            f"<b>{format_percent(without)}</b>", format_percent(value),
        )))
        for name, without, value in pairs
    )  # fmt: skip
    return title + table_html.write_table(table_html.write_heads(("word", "", "without", "with")), rows, "bv-words")


def render_ranking(worth: Worth) -> str:
    """The heads that the answer needs most, and those most in its way, each a button."""
    known = np.nan_to_num(worth.change).ravel()
    needed = [int(i) for i in rank_top(-known, _LISTED) if known[i] < 0]
    hinders = [int(i) for i in rank_top(known, _LISTED) if known[i] > 0]
    return _render_list(worth, "Needed most", "it falls", needed) + _render_list(
        worth, "In the way", "it rises", hinders
    )


def _render_list(worth: Worth, title: str, what: str, places: Sequence[int]) -> str:
    heads = worth.change.shape[1]
    rows = "".join(
        f'<button data-head="{layer},{head}" class="{kind}"><span>{layer}.{head}</span>'
        f"<small>{escape(worth.name_role(layer, head))}</small>"
        f'<i aria-hidden="true"><s style="width:{abs(change) / worth.end:.0%}"></s></i>'
        f"<b>{worth.write(change)}</b></button>"
        for place in places
        for layer, head in [divmod(place, heads)]
        for change in [float(worth.change[layer, head])]
        for kind in ["bv-needed" if change < 0 else "bv-hinders"]
    )
    return f'<p class="bv-worth-title"><b>{title}</b> {what}</p><div class="bv-ranked">{rows}</div>'
