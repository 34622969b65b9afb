"""One step of a training: what it hid, what that cost before and after, and where its gradient is long."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
import streamlit as st

from bertviz_core.checkpoint.tokenizer import Tokenizer
from bertviz_core.errors import TrainingError
from bertviz_core.figures.palette import Palette
from bertviz_core.formula.numbers import format_number, format_percent
from bertviz_core.formula.steps import PREDICTION
from bertviz_core.formula.texts import write_count
from bertviz_core.learning import Hosted, StepRecord, Training
from bertviz_core.learning.plan import Plan
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import table_html
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.views.training_run import Run
from bertviz_core.ui.views.training_told import find_largest, name_length, name_loss, name_term

_SUMS = r"J = -\sum_j \log P_j, \quad \lVert \nabla J \rVert = \sqrt{\sum_i g_i^2}"
_ROWS = 8  # hidden tokens that the table lists
_KINDS = {"embeddings": "embedding", "attention": "attention", "feed-forward": "ffn"}


def show_step(view: View, run: Run, training: Hosted | Training) -> None:
    """The step that was made last; or the first one, before it is taken. training: the one that knows its numbers."""
    record = training.record()
    tokens = run.tokens(record.sentence)
    coming = "" if run.records else ", to come"
    says = f"sentence {record.sentence}, {count_hidden(training, record)}"
    with open_card(
        view,
        PREDICTION,
        Heading(f"Step {record.number}{coming}", says, _SUMS),
        name_loss(record),
        f"pass {record.turn} of {run.asked.settings.passes}",
        name="training-step",
    ) as tools:
        st.html(render_hiding(tokens, training.before.tokenizer, record))
        left, right = st.columns([11, 10], gap="medium")
        with left:
            st.html(render_terms(tokens, record))
            said = say_after(record, run.asked.settings.practised)
            # the largest would be worked out every second, beside the training
            largest = "" if run.live else _render_largest(training, record)
            st.html(f'<p class="bv-after"><span>{said}</span>{largest}</p>')
        with right:
            st.html(render_lengths(record, view.colors))
        with tools:
            show_values(f"training-step-{record.number}", list_values(tokens, record))


def count_hidden(training: Plan, record: StepRecord) -> str:
    """How many tokens of its sentence a step hid, of how many."""
    maskable = training.before.tokenizer.maskable(training.encodings[record.sentence - 1])
    of = write_count(len(maskable), "token that is not special", "tokens that are not special")
    return f"{len(record.hidden)} hidden of {of}"


def _render_largest(training: Hosted | Training, record: StepRecord) -> str:
    try:
        weight, address = find_largest(training, record)
    except TrainingError as error:
        return escape(str(error))
    return f'<button data-cell="{address}" title="{weight.path}">Largest gradient worked out ›</button>'


def render_hiding(tokens: Sequence[str], tokenizer: Tokenizer, record: StepRecord) -> str:
    """The sentence as this step read it; what is asked for stands out, with the word that was there."""
    chips = "".join(
        f'<span class="bv-mask" title="hidden: {escape(token)}">{escape(tokenizer.token(record.masked_ids[i]))}</span>'
        if i in record.hidden
        else f"<span{' class=bv-special' if token in tokenizer.special_tokens else ''}>{escape(token)}</span>"
        for i, token in enumerate(tokens)
    )
    return f'<div class="bv-hiding">{chips}</div>'


def render_terms(tokens: Sequence[str], record: StepRecord) -> str:
    """Each hidden token's probability before the step, its term of the loss, its probability after; and the sums."""
    shown = sorted(range(len(record.hidden)), key=lambda i: -record.terms[i])[:_ROWS]
    rows = [
        _render_row(
            escape(tokens[record.hidden[i]]),
            format_percent(record.before[i]),
            _render_button(name_term(record, record.hidden[i]), record.terms[i]),
            _render_after(record.before[i], record.after[i]),
        )
        for i in sorted(shown, key=lambda i: record.hidden[i])
    ]
    rest = sum(record.terms) - sum(record.terms[i] for i in shown)
    if more := len(record.hidden) - len(shown):
        rows.append(_render_row(write_count(more, "other"), "", format_number(rest), ""))
    heads = table_html.write_heads(("hidden", "P before", "−log P", "P after"))
    return table_html.write_table(heads, [*rows, *_render_sums(record)], "bv-terms")


def _render_sums(record: StepRecord) -> list[str]:
    """J, before the step and after; as printed too where that is another sum."""
    loss, after = _render_button(name_loss(record), record.loss), f"J {format_number(record.loss_after)}"
    if record.as_printed:
        return [_render_row("J, their sum", "", loss, after)]
    printed = _render_row("J as printed", "", format_number(record.printed), "")
    return [printed, _render_row("J as meant", "", loss, after)]


def _render_row(name: str, *inside: str) -> str:
    return table_html.write_row(name, table_html.write_cells(inside))


def _render_after(before: float, after: float) -> str:
    """The probability after the step; bold where it rose."""
    shown = format_percent(after)
    return f"<b>{shown}</b>" if after > before else shown


def _render_button(address: str, value: float) -> str:
    return f'<button class="bv-number" data-cell="{escape(address)}">{format_number(value)}</button>'


def say_after(record: StepRecord, practised: bool) -> str:
    """What the step made of J. practised: AdamW made it, which does not go against this step's gradient alone."""
    if format_number(record.loss_after) == format_number(record.loss):
        return "With the same tokens hidden, J is written with the same digits after the step."
    if record.loss_after > record.loss:
        why = "a step of AdamW need not lower it" if practised else "the step was too long for this gradient"
        return f"With the same tokens hidden J is higher after the step: {why}."
    how = "of AdamW" if practised else "against this sentence's own gradient"
    return f"One step {how}; with the same tokens hidden, J is lower after it."


def render_lengths(record: StepRecord, colors: Palette) -> str:
    """The gradient's length by layer and kind, as bars on one scale."""
    norms = record.gradient_norms
    end = max(norms.values(), default=0.0) or 1.0
    rows = "".join(
        f'<div style="--kind:{_choose_color(name, colors)}"><span>{escape(name)}</span>'
        f'<i aria-hidden="true" style="width:{norm / end:.1%}"></i>'
        f"<b>{_render_button(name_length(record, i), norm)}</b></div>"
        for i, (name, norm) in enumerate(norms.items())
    )
    return (
        f'<div class="bv-lengths"><div class="bv-total"><span>Length of the gradient</span><span></span>'
        f"<b>{format_number(record.gradient_norm)}</b></div>{rows}</div>"
    )


def _choose_color(name: str, colors: Palette) -> str:
    kind = next((kind for part, kind in _KINDS.items() if part in name), "prediction")
    return colors.cells[kind]


def list_values(tokens: Sequence[str], record: StepRecord) -> Values:
    """The table's numbers, to download."""
    matrix = np.array([record.before, record.terms, record.after], dtype=np.float64).T
    return Values(matrix, [tokens[i] for i in record.hidden], ["P before", "-log P", "P after"])
