"""The whole pass on one canvas: tokens are rows, stages are columns, the answer stands at the end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

import streamlit as st

from bertviz_core.analysis.predictions import rank_words
from bertviz_core.analysis.ranking import center_range
from bertviz_core.figures.thumbnails import draw_thumbnail, sample_columns
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.charts import find_robust_limit

ROWS, SAMPLES = 32, 48
_ROW_PX = 24


@dataclass(frozen=True)
class Column:
    """One stage: its name, the address that is drawn, and the beginning of the paths of the parameters it uses."""

    name: str
    address: Address
    uses: str
    wide: bool = False
    share: bool = False


def show_canvas(view: View) -> None:
    """Draw every stage's real vectors, row by row beside the token they belong to."""
    rows = center_range(view.chosen.token, ROWS, len(view.trace.tokens))
    columns = list(_list_columns(view))
    answers = _list_answers(view, rows)
    widths = " ".join("62px" if column.wide else "36px" for column in columns)
    html = [
        f'<div class="bv-canvas" data-picture tabindex="0" role="group" aria-label="The forward pass" '
        f'style="grid-template-columns:max-content {widths} max-content;'
        f'grid-template-rows:auto repeat({len(rows)},{_ROW_PX}px)">'
        f'<div class="bv-head">token</div>'
    ]
    html += [_render_head(view, column) for column in columns]
    html.append(f'<div class="bv-head">{"top prediction" if answers else ""}</div>')
    html += [_render_token(view, i, row) for row, i in enumerate(rows, 2)]
    html += [_render_picture(view, column, place, rows) for place, column in enumerate(columns, 2)]
    html += [_render_cell(text, row, len(columns) + 2) for row, text in enumerate(answers, 2)]
    chosen = view.chosen.token - rows.start + 2
    html.append(f'<div class="bv-chosen-row" style="grid-row:{chosen};grid-column:1/-1"></div></div>')
    st.html("".join(html))
    st.caption(_write_legend(view, rows))


def _write_legend(view: View, rows: range) -> str:
    total, layer = len(view.trace.tokens), view.chosen.layer
    part = f" Rows {rows.start} to {rows.stop - 1} of {total}." if len(rows) < total else ""
    return (
        f"Each row of a picture is one token's vector at that stage: {SAMPLES} of its components (or half as "
        "many), on a scale symmetric around 0, one scale per column. Under the name: the shape and the number of "
        f"learned parameters. Attention weights: head {view.chosen.head}, 0 to 1, one column per key. Layer {layer} "
        f"is shown in full; of the other layers, L0, L1, … , only the output.{part}"
    )


def _list_columns(view: View) -> Iterable[Column]:
    config, layer, head = view.trace.model.config, view.chosen.layer, view.chosen.head
    yield Column("embed&shy;ding", Address("embeddings.LayerNorm"), "embeddings.", wide=True)
    for i in range(config.num_hidden_layers):
        if i == layer:
            own = Address.in_layer(i, "attention.self")
            for name, leaf in (("Q", "query"), ("K", "key"), ("V", "value")):
                yield Column(name, own.enter(leaf).fix(head=head), f"{own}.{leaf}.")
            yield Column("attention weights", own.enter("probs").fix(head=head), "", wide=True, share=True)
            yield Column("concat&shy;enated heads", own.enter("context"), "", wide=True)
            output = Address.in_layer(i, "attention.output")
            yield Column("add &amp; norm", output.enter("LayerNorm"), f"{output}.", wide=True)
            inner = Address.in_layer(i, "intermediate")
            yield Column("neurons", inner.enter("activation"), f"{inner}.", wide=True)
        output = Address.in_layer(i, "output")
        yield Column(
            f"layer {i}" if i == layer else f"L{i}",
            output.enter("LayerNorm"),
            f"{output}." if i == layer else f"encoder.layer.{i}.",
            wide=i == layer,
        )


def _render_head(view: View, column: Column) -> str:
    path = column.address.path
    color = view.colors.kinds[view.trace.step(column.address).kind]
    sizes = "×".join(str(size) for size in view.trace.shape(column.address.whole))
    learned = sum(
        tensor.numel() for address, tensor in view.trace.model.parameters.items()
        if column.uses and address.startswith(column.uses)
    )  # fmt: skip
    lines = [f"<b>{column.name}</b>", sizes if column.wide else "", _format_count(learned)]
    return f'<div class="bv-head" style="border-color:{color}" title="{escape(path)}">{"<br>".join(lines)}</div>'


def _format_count(learned: int) -> str:
    """How many numbers were learned for a stage, short."""
    if not learned:
        return "–"
    return f"{learned / 1e6:.1f} M" if learned >= 1e6 else f"{learned / 1e3:.0f} k"


def _render_picture(view: View, column: Column, place: int, rows: range) -> str:
    values = view.trace[column.address][rows.start : rows.stop]
    if column.share:
        values = values[:, rows.start : rows.stop]
        image = draw_thumbnail(values, view.colors, share=True, end=1.0)
    else:
        values = sample_columns(values, SAMPLES if column.wide else SAMPLES // 2)
        image = draw_thumbnail(values, view.colors, end=find_robust_limit(values))
    path = escape(str(column.address))
    return f'<img src="{image}" alt="{path}" title="{path}" style="grid-column:{place};grid-row:2/span {len(rows)}">'


def _list_answers(view: View, rows: range) -> list[str]:
    """The most probable word at each position, where the checkpoint has a language model head."""
    if "cls.predictions.probs" not in view.trace:
        return []
    best = [rank_words(view.trace, i, 1)[0] for i in rows]
    return [f"<b>{escape(word)}</b> {format_number(share)}" for word, share, _ in best]


def _render_token(view: View, i: int, row: int) -> str:
    token = view.trace.tokens[i]
    special = " bv-special" if token in view.trace.model.tokenizer.special_tokens else ""
    tint = style.choose_tint(view.trace.encoding, i, view.colors)
    return _render_cell(
        f'<span class="bv-token{special}" style="background:{tint}"><small>{i}</small>{escape(token)}</span>', row, 1
    )


def _render_cell(html: str, row: int, column: int) -> str:
    stick = " bv-stick" if column == 1 else ""
    return f'<div class="bv-cell{stick}" style="grid-row:{row};grid-column:{column}">{html}</div>'
