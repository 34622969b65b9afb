"""What a sublayer adds to every token, as lengths and angles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np
import streamlit as st

from bertviz_core.analysis.add_norm import ATTENTION, SHOWN, SUBLAYERS, Sums, adds_input, measure_sums, name_direction
from bertviz_core.analysis.claims import Claim, Part, Relation, Said, say
from bertviz_core.analysis.labels import label_tokens, name_token_short
from bertviz_core.analysis.ranking import center_range
from bertviz_core.figures.triangle import draw_triangle
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_degrees, format_short, write_column
from bertviz_core.formula.steps import NORM, RESIDUAL, Step
from bertviz_core.formula.texts import name_token
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import state, style, url
from bertviz_core.ui.frame.keys import WHERE
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.lesson import is_covered
from bertviz_core.ui.frame.told import offer_number
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import table_html
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.panels.passes import read_ghost, show_passes_chart, show_passes_html, tell_ghosts, tell_words
from bertviz_core.ui.panels.pictures import write_picture
from bertviz_core.ui.panels.put import tell_put
from bertviz_core.ui.panels.said import tell_degrees, tell_short, tell_shown, tell_token
from bertviz_core.ui.panels.tables import Column, render_table
from bertviz_core.ui.panels.worked import LENGTH
from bertviz_core.ui.walk.worked_lengths import find_length
from bertviz_core.ui.walk.worked_out import find_angle

_DASHED = "Dashed: before. "
_MODULES = {name: module for module, name in SUBLAYERS.items()}  # as the URL has them
_KINDS = {ATTENTION: "attention"}  # the other one is the feed-forward network's
_ROW = 22  # pixels of a row
_STYLE = read_css(Path(__file__).with_name("add_norm.css"))


@dataclass(frozen=True)
class Ink:
    """The colours of a kind: of its texts and lines, and of its bars."""

    text: str
    cell: str


def read_where() -> str:
    """After which sublayer, as chosen: the module that adds."""
    return _MODULES[state.read(WHERE)]


def write_headline(view: View) -> Said:
    """How much the sublayer adds to the chosen token, and in which direction."""
    url.bind(WHERE, _MODULES, SUBLAYERS[ATTENTION])
    where, token = read_where(), view.chosen.token
    sums = measure_sums(view.trace, view.chosen.layer, where)
    was, added, angle = float(sums.was[token]), float(sums.added[token]), float(sums.angles[token])
    parts = {
        "added": tell_short(added),
        "by": Part(SUBLAYERS[where].capitalize()),
        "word": tell_token(view.trace.tokens, token),
    }
    if not was:
        adds = adds_input(view.trace, Address.in_layer(view.chosen.layer, where))
        skip = "a vector of zeros is what it is added to" if adds else "its input is not added to that"
        form = f"{{by}} gives **{{added}}** at {{word}}, and {skip}"
        return say(Claim("sum without a skip", form, parts, Relation.NONE, np.array([was])))
    parts = {**parts, "skip": tell_short(was)}
    told = Claim("adds", "{by} adds **{added}** to {word}, **{skip}** long", parts)
    if not math.isfinite(angle):
        return say(told, ": there is no angle between them")
    way = Part(name_direction(angle))
    return say(told, Claim("adds at", ", at **{angle}**: {way}", {"angle": tell_degrees(angle), "way": way}))


def show_sums(view: View) -> None:
    """The lead: was and added end to end, and the sum, for every token; beside it the chosen one's triangle."""
    st.html(_STYLE)  # of all cards of the page, also where the first is covered
    _offer_number(view)
    every, own = st.columns([17, 11.6], gap="small")
    with every:
        _show_lengths(view)
    with own:
        _show_triangle(view)


def _offer_number(view: View) -> None:
    """The drawer begins with the headline's angle; where there is none, with the length of what is added."""
    if is_covered("headline"):
        return
    module, token = Address.in_layer(view.chosen.layer, read_where()), view.chosen.token
    if adds_input(view.trace, module) and math.isfinite(_measure_triangle(view, view.trace)[-1]):
        offer_number(find_angle(module.enter("residual").fix(token=token)))
    else:
        offer_number(find_length(module.enter("dense").fix(token=token)))


def _find_cells(view: View, token: int) -> tuple[str, str, str, str]:
    """The addresses of what a token was, of what is added, of the sum, as lengths, and of the angle; "" for none."""
    module = Address.in_layer(view.chosen.layer, read_where())
    residual = module.enter("residual").fix(token=token)
    before, added = ("", *(leaf.address for leaf in view.trace.step(residual).leaves))[-2:]
    was, more = (str(find_length(Address(each).fix(token=token))) if each else "" for each in (before, added))
    return was, more, str(find_length(residual)), str(find_angle(residual)) if before else ""


def _find_residual(view: View) -> Address:
    return Address.in_layer(view.chosen.layer, read_where()).enter("residual")


def _show_lengths(view: View) -> None:
    where, layer, residual = read_where(), view.chosen.layer, _find_residual(view)
    sums, step = measure_sums(view.trace, layer, where), view.trace.step(residual)
    heading = Heading("Add: was, added, sum", "lengths", view.typeset(step), step.source)
    with open_card(view, RESIDUAL, heading, residual, chooses=True) as tools:
        with tools:
            st.segmented_control("After", list(_MODULES), key=WHERE.name, required=True, label_visibility="collapsed")
            matrix = np.stack([sums.was, sums.added, sums.total, sums.angles], axis=1)
            show_values("sums", Values(matrix, label_tokens(view.trace), ["was", "added", "sum", "angle"]))
        shown, inks, before = _choose_rows(view), _list_inks(view, where), _read_before(view)
        show_passes_html(
            view, [_render_sums(one, measure_sums(one.trace, layer, where), shown, inks, before) for one in view.passes]
        )
        if note := _note_rows(view, sums, shown, tell_put(view, residual), before):
            st.caption(note)


def _read_before(view: View) -> np.ndarray | None:
    """(token,) how long each sum was before a change that reaches any of them."""
    if read_ghost(view, _find_residual(view)) is None or view.ghost is None:
        return None
    return measure_sums(view.ghost, view.chosen.layer, read_where()).total


def _choose_rows(view: View) -> list[int]:
    """The tokens around the chosen one; padding only where that is chosen itself."""
    token = view.chosen.token
    kept = sorted({*view.guide.trace.encoding.real, token})
    around = center_range(kept.index(token), SHOWN, len(kept))
    return kept[around.start : around.stop]


def _note_rows(view: View, sums: Sums, shown: Sequence[int], put: str, before: np.ndarray | None) -> str:
    """Which row has a scale of its own, which rows are shown; "" for all of them. put: what is said of the sums;
    before: as in `_find_end`."""
    tokens, (_, apart) = view.trace.tokens, _find_end(sums, shown, before)
    own = ""
    if apart is not None:
        verb = "is" if before is None else "is or was"
        own = f" {apart} “{escape_markdown(tokens[apart])}” {verb} over twice as long as all others shown: it has a "
        own += "scale of its own."
    part = tell_shown(shown, len({*view.trace.encoding.real, *shown}))
    return f"{tell_ghosts(before)}{tell_words(view)}{put}{own} {part}".strip()


def _list_inks(view: View, where: str) -> tuple[Ink, Ink, Ink]:
    """Of what was there, of what is added and of the sum: three kinds, three hues."""

    def ink(kind: str) -> Ink:
        return Ink(view.colors.kinds[kind], view.colors.cells[kind])

    return ink(NORM), ink(_KINDS.get(where, "ffn")), ink(RESIDUAL)


def _measure_triangle(view: View, trace: Trace) -> tuple[float, float, float, float]:
    """The lengths of what the chosen token was, of what is added and of their sum; the angle between the first two."""
    sums, token = measure_sums(trace, view.chosen.layer, read_where()), view.chosen.token
    return float(sums.was[token]), float(sums.added[token]), float(sums.total[token]), float(sums.angles[token])


def _show_triangle(view: View) -> None:
    """The chosen token's sum, and how long a sum of two such lengths could be."""
    residual = _find_residual(view).fix(token=view.chosen.token)
    heading = Heading(
        "True to angle and length",
        "below, how long the sum could be",
        _write_law(view, view.trace.step(residual)),
        "law of cosines",
    )
    with open_card(view, RESIDUAL, heading, residual, name="triangle"):
        was, added, total = (ink.text for ink in _list_inks(view, read_where()))
        inks, cells = (was, added, total), _find_cells(view, view.chosen.token)[:-1]
        drawn = [_measure_triangle(view, one.trace) for one in view.passes]
        ghost = _measure_triangle(view, view.ghost) if view.ghost is not None else None
        before = ghost if ghost and not np.array_equal(ghost, drawn[-1], equal_nan=True) else None
        show_passes_chart(
            view,
            [draw_triangle(*one, view.colors, inks, cells, before) for one in drawn],
            "triangle",
            f"The residual sum of {name_token(view.trace.tokens, view.chosen.token)} as a triangle",
        )
        if note := f"{_DASHED if before else ''}{tell_words(view)}{tell_put(view, residual)}".strip():
            st.caption(note)


def _write_law(view: View, step: Step) -> str:
    """How long the sum is by the lengths of its one or two terms and the angle between these."""
    paint = style.make_painter(view.colors)
    total, terms = paint(step.output), [leaf.latex(paint) for leaf in step.leaves]
    squares = " + ".join(rf"\lvert {term} \rvert^{{2}}" for term in terms)
    product = r" + 2\, " + r" \cdot ".join(terms) if len(terms) > 1 else ""
    return rf"\lvert {total} \rvert^{{2}} = {squares}{product}"


def _find_end(sums: Sums, shown: Sequence[int], before: np.ndarray | None) -> tuple[float, int | None]:
    """The end of the scale; and the token over twice as long as all others, if any, which gets a scale of its own.

    before: (token,) how long the sums were before a change, if they are drawn as well.
    """
    spans = _list_spans(sums, before)[list(shown)]
    *_, second, longest = np.sort(np.append(0.0, spans)).tolist()
    if longest > 2 * second > 0:
        return second, shown[int(spans.argmax())]
    return longest or 1.0, None


def _list_spans(sums: Sums, before: np.ndarray | None) -> np.ndarray:
    """(token,) how far the longest bar of each row reaches."""
    spans = np.maximum(sums.was + sums.added, sums.total)
    return spans if before is None else np.maximum(spans, before)


def _render_sums(view: View, sums: Sums, shown: Sequence[int], inks: Sequence[Ink], before: np.ndarray | None) -> str:
    """One row a token. The bars of all rows are one picture, which hangs down from the head of their column."""
    end, _ = _find_end(sums, shown, before)
    bars = f'<img alt="" src="{_draw_bars(sums, shown, inks, before, view.colors.faint)}" style="--rows:{len(shown)}">'
    heads = (
        f'<th scope="col">token</th><th scope="col" class="bv-lengths">{bars}0 to {format_short(end)}</th>'
        f'<th scope="col" style="color:{inks[0].text}">was</th><th scope="col" style="color:{inks[1].text}">added</th>'
        f'<th scope="col" style="color:{inks[2].text}">sum</th><th scope="col">angle</th>'
    )
    lengths = (write_column(each[list(shown)].tolist(), "short") for each in (sums.was, sums.added, sums.total))
    rows = (_render_row(view, i, written, float(sums.angles[i])) for i, *written in zip(shown, *lengths, strict=True))
    table = table_html.write_table(heads, rows)
    return table_html.write_region("Lengths by token", table, "bv-sums", picture=True)


def _draw_bars(
    sums: Sums, shown: Sequence[int], inks: Sequence[Ink], before: np.ndarray | None = None, faint: str = ""
) -> str:
    """What was and what is added end to end, the sum below them, row by row under the head; thin below that, and faint,
    what the sum was before a change."""
    (end, apart), spans = _find_end(sums, shown, before), _list_spans(sums, before)
    drawn = []
    for row, i in enumerate(shown):
        was, added, total = (float(each[i]) for each in (sums.was, sums.added, sums.total))
        unit = 1000 / (float(spans[i]) if i == apart else end)
        top = (row + 1) * _ROW
        drawn += [
            f'<rect x="{x * unit:.1f}" y="{top + y}" width="{length * unit:.1f}" height="6" fill="{ink.cell}"/>'
            for x, y, length, ink in zip((0, was, 0), (4, 4, 12), (was, added, total), inks, strict=True)
        ]
        if before is not None:
            wide = float(before[i]) * unit
            drawn.append(f'<rect x="0" y="{top + 19}" width="{wide:.1f}" height="2" fill="{faint}"/>')
    return write_picture(1000, (len(shown) + 1) * _ROW, "".join(drawn), stretched=True)


def _render_row(view: View, i: int, lengths: Sequence[str], angle: float) -> str:
    """A token's row. lengths: of what it was, of what is added, and of the sum, as they are written."""
    dial = f'<i class="bv-dial" style="--turn:{-angle:.1f}deg"></i>' if math.isfinite(angle) else ""
    *cells, turned = _find_cells(view, i)
    offered = [*cells, turned if math.isfinite(angle) else ""]
    texts = (*lengths, f"{format_degrees(angle)}{dial}")
    inside = ("", *(_offer(text, cell) for text, cell in zip(texts, offered, strict=True)))
    name = style.render_token_name(i, name_token_short(view.trace, i))
    here = "bv-here" if i == view.chosen.token else ""
    return table_html.write_row(name, table_html.write_cells(inside), here)


def _offer(text: str, cell: str) -> str:
    """A number that a click explains, where it has an address."""
    return f'<button data-cell="{escape(cell)}">{text}</button>' if cell else text


def show_all_layers(view: View) -> None:
    """The chosen token's lengths and angles at both places of every layer."""
    token, kinds = view.chosen.token, view.colors.kinds
    inks = {"was": kinds[NORM], "added": kinds["attention"], "sum": kinds[RESIDUAL], "angle in degrees": ""}
    see = f"Lengths and angles of {name_token(view.trace.tokens, token)} at every residual sum"
    with open_card(view, RESIDUAL, Heading(see, "", LENGTH), "every residual sum") as tools:
        tables = [_measure_layers(one) for one in view.passes]
        show_passes_html(view, [_render_layers(view, table, inks) for table in tables])
        with tools:
            show_values("sums-of-layers", Values(np.array(list(tables[-1].values())), list(tables[-1]), list(inks)))


def _measure_layers(view: View) -> dict[str, list[float]]:
    """The lengths of the chosen token's input, addend and sum, and the angle, by the place where they are added."""
    return {
        f"layer {layer}, {name}": [
            float(each[view.chosen.token]) for each in (sums.was, sums.added, sums.total, sums.angles)
        ]
        for layer in range(view.trace.model.config.num_hidden_layers)
        for module, name in SUBLAYERS.items()
        for sums in [measure_sums(view.trace, layer, module)]
    }


def _render_layers(view: View, table: Mapping[str, Sequence[float]], inks: Mapping[str, str]) -> str:
    matrix, rows = np.array(list(table.values())), list(table)
    ends = float(np.nanmax(matrix[:, :3]))
    columns = [
        Column(name, [x if math.isfinite(x) else None for x in column], ink, end=ends)
        for (name, ink), column in zip(inks.items(), matrix.T.tolist(), strict=True)
    ]
    here = rows.index(f"layer {view.chosen.layer}, {SUBLAYERS[read_where()]}")
    return render_table("after", rows, columns, chosen={here})
