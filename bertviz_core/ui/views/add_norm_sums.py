"""What a sublayer adds to every token, as lengths and angles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import streamlit as st

from bertviz_core.analysis.add_norm import ATTENTION, SUBLAYERS, Sums, measure_sums
from bertviz_core.analysis.claims import Claim, Part, Relation, Said, say
from bertviz_core.analysis.ranking import center_range
from bertviz_core.figures.add_norm import draw_triangle
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_degrees, format_short
from bertviz_core.formula.steps import NORM, RESIDUAL
from bertviz_core.formula.texts import name_token
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import state, style, url
from bertviz_core.ui.frame.keys import WHERE
from bertviz_core.ui.frame.labels import escape_markdown, label_tokens
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import table_html
from bertviz_core.ui.panels.card import open_card
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.panels.passes import show_passes_chart, show_passes_html, tell_words
from bertviz_core.ui.panels.pictures import write_picture
from bertviz_core.ui.panels.put import tell_put
from bertviz_core.ui.panels.said import tell_degrees, tell_short, tell_token
from bertviz_core.ui.panels.tables import Column, render_table

_MODULES = {name: module for module, name in SUBLAYERS.items()}  # as the URL has them
_KINDS = {ATTENTION: "attention"}  # the other one is the feed-forward network's
_ROWS, _ROW = 16, 26  # tokens shown; pixels of a row
_STYLE = read_css(Path(__file__).with_name("add_norm.css"))
_WORDS = ((25, "almost the same way"), (84, "partly the same way"), (95, "almost a right angle"),
          (155, "partly against it"), (181, "almost the opposite way"))  # fmt: skip


def read_where() -> str:
    """After which sublayer, as chosen: the module that adds."""
    return _MODULES[state.read(WHERE)]


def write_headline(view: View) -> Said:
    """How much the sublayer adds to the chosen token, and in which direction."""
    url.bind(WHERE, _MODULES, SUBLAYERS[ATTENTION])
    where, token = read_where(), view.chosen.token
    sums = measure_sums(view.trace, view.chosen.layer, where)
    skip, added, angle = float(sums.skip[token]), float(sums.added[token]), float(sums.angles[token])
    parts = {
        "added": tell_short(added),
        "by": Part(SUBLAYERS[where].capitalize()),
        "word": tell_token(view.trace.tokens, token),
    }
    if not skip:
        form = "{by} gives **{added}** at {word}, and its input is not added to that"
        return say(Claim("sum without a skip", form, parts, Relation.NONE, np.array([skip])))
    parts = {**parts, "skip": tell_short(skip)}
    told = Claim("adds", "{by} adds **{added}** to {word}, **{skip}** long", parts)
    if not math.isfinite(angle):
        return say(told, ": there is no angle between them")
    way = Part(name_direction(angle))
    return say(told, Claim("adds at", ", at **{angle}**: {way}", {"angle": tell_degrees(angle), "way": way}))


def name_direction(angle: float) -> str:
    """An angle of 0 to 180 degrees in words; one way for all that are written alike."""
    return next(words for end, words in _WORDS if round(angle) <= end)


def show_sums(view: View) -> None:
    """The lead: skip and added end to end, and the sum, for every token; the chosen one's triangle."""
    where, layer = read_where(), view.chosen.layer
    sums, residual = measure_sums(view.trace, layer, where), Address.in_layer(layer, where).enter("residual")
    see = "Add: the skip, and what is added"
    with open_card(view, RESIDUAL, see, residual) as tools:
        with tools:
            st.segmented_control("After", list(_MODULES), key=WHERE.name, required=True, label_visibility="collapsed",
                                 format_func=lambda name: f"after {name}")  # fmt: skip
            matrix = np.stack([sums.skip, sums.added, sums.total, sums.angles], axis=1)
            show_values("sums", Values(matrix, label_tokens(view.trace), ["skip", "added", "sum", "angle"]))
        every, own = st.columns([14, 6], gap="medium", vertical_alignment="center")
        with every:
            st.html(_STYLE)
            shown = _choose_rows(view)
            inks = _list_inks(view, where)
            show_passes_html(
                view, [_render_sums(one, measure_sums(one.trace, layer, where), shown, inks) for one in view.passes]
            )
            st.caption(_note_rows(view, sums, shown, tell_put(view, residual)))
        with own:
            _show_triangle(view, residual, inks)


def _choose_rows(view: View) -> list[int]:
    """The tokens around the chosen one; padding only where that is chosen itself."""
    token = view.chosen.token
    kept = sorted({*view.guide.trace.encoding.real, token})
    around = center_range(kept.index(token), _ROWS, len(kept))
    return kept[around.start : around.stop]


def _note_rows(view: View, sums: Sums, shown: Sequence[int], put: str) -> str:
    """How to read the bars: which row has a scale of its own, which rows are shown. put: what is said of the sums."""
    tokens, (_, apart) = view.trace.tokens, _find_end(sums, shown)
    own = "" if apart is None else (
        f" {apart} “{escape_markdown(tokens[apart])}” is over twice as long as all others shown: it has a scale of its "
        "own."
    )  # fmt: skip
    count = len(view.trace.encoding.real)
    part = f" Shown: tokens {shown[0]}–{shown[-1]} of {count}." if len(shown) < count else ""
    return f"{tell_words(view)}Lengths of the vectors: skip and added end to end, their sum below.{put}{own}{part}"


def _list_inks(view: View, where: str) -> tuple[str, str, str]:
    kinds = view.colors.kinds
    return kinds[RESIDUAL], kinds[_KINDS.get(where, "ffn")], kinds[NORM]


def _measure_triangle(view: View) -> tuple[float, float, float, float]:
    """The lengths of the chosen token's skip, of what is added and of their sum; the angle between the first two."""
    sums, token = measure_sums(view.trace, view.chosen.layer, read_where()), view.chosen.token
    return float(sums.skip[token]), float(sums.added[token]), float(sums.total[token]), float(sums.angles[token])


def _show_triangle(view: View, residual: Address, inks: tuple[str, str, str]) -> None:
    token, (skip, added, total, _) = view.chosen.token, _measure_triangle(view)
    st.markdown(f"**{escape_markdown(name_token(view.trace.tokens, token))}**, true to length and angle: "
                f"${view.typeset(view.trace.step(residual))}$")  # fmt: skip
    show_passes_chart(view, [draw_triangle(*_measure_triangle(one), view.colors, inks) for one in view.passes], "sums",
                      f"The residual sum of {view.trace.tokens[token]} as a triangle")  # fmt: skip
    put = tell_put(view, residual.fix(token=token))
    st.caption(f"{tell_words(view)}{tell_reach(skip, added, total)}{put}")


def tell_reach(skip: float, added: float, total: float) -> str:
    """How long the sum of two vectors could be, by their lengths, and how long it is."""
    if not (skip and added):
        return f"One of the two has no length, so the sum is as long as the other; here {format_short(total)}."
    return (
        f"Two vectors of these lengths could add up to anything from {format_short(abs(skip - added))} (opposed) "
        f"through {format_short(math.hypot(skip, added))} (at a right angle) to {format_short(skip + added)} (the same "
        f"way); here {format_short(total)}."
    )


def _find_end(sums: Sums, shown: Sequence[int]) -> tuple[float, int | None]:
    """The end of the scale; and the token over twice as long as all others, if any, which gets a scale of its own."""
    spans = np.maximum(sums.skip + sums.added, sums.total)[list(shown)]
    *_, second, longest = np.sort(np.append(0.0, spans)).tolist()
    if longest > 2 * second > 0:
        return second, shown[int(spans.argmax())]
    return longest or 1.0, None


def _render_sums(view: View, sums: Sums, shown: Sequence[int], inks: Sequence[str]) -> str:
    """One row a token. The bars of all rows are one picture, which hangs down from the head of their column."""
    end, _ = _find_end(sums, shown)
    bars = f'<img alt="" src="{_draw_bars(sums, shown, inks)}" style="--rows:{len(shown)}">'
    heads = (
        f'<th scope="col">token</th><th scope="col" class="bv-lengths">{bars}0 to {format_short(end)}</th>'
        f'<th scope="col" style="color:{inks[0]}">skip</th><th scope="col" style="color:{inks[1]}">added</th>'
        f'<th scope="col" style="color:{inks[2]}">sum</th><th scope="col">angle</th>'
    )
    table = table_html.write_table(heads, (_render_row(view, sums, i) for i in shown))
    return table_html.write_region("Lengths by token", table, "bv-sums", picture=True)


def _draw_bars(sums: Sums, shown: Sequence[int], inks: Sequence[str]) -> str:
    """Skip and added end to end, the sum below them, row by row under the head."""
    end, apart = _find_end(sums, shown)
    drawn = []
    for row, i in enumerate(shown):
        skip, added, total = (float(each[i]) for each in (sums.skip, sums.added, sums.total))
        unit = 1000 / (skip + added if i == apart else end)
        top = (row + 1) * _ROW
        drawn += [
            f'<rect x="{x * unit:.1f}" y="{top + y}" width="{length * unit:.1f}" height="9" fill="{ink}"/>'
            for x, y, length, ink in zip((0, skip, 0), (3, 3, 13), (skip, added, total), inks, strict=True)
        ]
    return write_picture(1000, (len(shown) + 1) * _ROW, "".join(drawn), stretched=True)


def _render_row(view: View, sums: Sums, i: int) -> str:
    skip, added, total, angle = (float(each[i]) for each in (sums.skip, sums.added, sums.total, sums.angles))
    dial = f'<i class="bv-dial" style="--turn:{-angle:.1f}deg"></i>' if math.isfinite(angle) else ""
    inside = ("", *map(format_short, (skip, added, total)), f"{dial}{format_degrees(angle)}")
    name = style.render_token_name(view.trace, i)
    here = "bv-here" if i == view.chosen.token else ""
    return table_html.write_row(name, table_html.write_cells(inside), here)


def show_all_layers(view: View) -> None:
    """The chosen token's lengths and angles at both places of every layer."""
    token, kinds = view.chosen.token, view.colors.kinds
    inks = {"skip": kinds[RESIDUAL], "added": kinds["attention"], "sum": kinds[NORM], "angle in degrees": ""}
    see = f"Lengths and angles of {name_token(view.trace.tokens, token)} at every residual sum"
    with open_card(view, RESIDUAL, see, "every residual sum") as tools:
        tables = [_measure_layers(one) for one in view.passes]
        show_passes_html(view, [_render_layers(view, table, inks) for table in tables])
        with tools:
            show_values("sums-of-layers", Values(np.array(list(tables[-1].values())), list(tables[-1]), list(inks)))


def _measure_layers(view: View) -> dict[str, list[float]]:
    """Lengths of the chosen token's skip, addend and sum, and the angle, by the place where they are added."""
    return {
        f"layer {layer}, {name}": [float(each[view.chosen.token])
                                   for each in (sums.skip, sums.added, sums.total, sums.angles)]
        for layer in range(view.trace.model.config.num_hidden_layers)
        for module, name in SUBLAYERS.items()
        for sums in [measure_sums(view.trace, layer, module)]
    }  # fmt: skip


def _render_layers(view: View, table: Mapping[str, Sequence[float]], inks: Mapping[str, str]) -> str:
    matrix, rows = np.array(list(table.values())), list(table)
    ends = float(np.nanmax(matrix[:, :3]))
    columns = [Column(name, [x if math.isfinite(x) else None for x in column], ink, end=ends)
               for (name, ink), column in zip(inks.items(), matrix.T.tolist(), strict=True)]  # fmt: skip
    here = rows.index(f"layer {view.chosen.layer}, {SUBLAYERS[read_where()]}")
    return render_table("after", rows, columns, chosen={here})
