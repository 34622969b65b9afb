"""Where a logit comes from: what each token of the sentence carried to it, and what the biases did."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bertviz_core.analysis.attribution import Attribution, attribute
from bertviz_core.analysis.carried import measure_carried
from bertviz_core.analysis.labels import label_tokens
from bertviz_core.analysis.predictions import SCORES
from bertviz_core.errors import InputError
from bertviz_core.figures.operands import draw_sum_of_parts
from bertviz_core.formula.numbers import format_latex, format_number
from bertviz_core.formula.steps import PREDICTION
from bertviz_core.formula.tex import bracket_negative, take_ends, write_sum
from bertviz_core.formula.texts import write_count
from bertviz_core.tracing.remember import remember
from bertviz_core.ui.frame.resources import take_turn
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived

_ROWS = 24  # tokens with a bar of their own; of more, those whose parts are largest
_MOST_BYTES = 64_000_000  # for the time of one answer
_SOURCE = "Kobayashi et al. 2021; Modarressi et al. 2023, DecompX"


def show_where_from(view: View, vocab: int) -> None:
    """The parts of an entry's logit; where there are none, why."""
    try:
        for one in view.passes:
            _find_parts(one, vocab)
    except InputError as error:
        st.info(str(error), icon=":material/info:")
    else:
        _show_parts(view, vocab)


@derived
def _show_parts(view: View, vocab: int) -> Derived:
    """The logit as a sum: one part for each token, one for all biases."""
    trace, found = view.trace, _find_parts(view, vocab)
    word, names = trace.model.tokenizer.name(vocab), label_tokens(trace)
    rows, amounts = _choose_rows(found, names)
    ink = view.colors.kinds[PREDICTION]
    inks = [*view.colors.ink(amounts[:-1], ink), view.colors.faint, ink]
    return Derived(
        "carried",
        f"Where the logit of “{word}” comes from: {write_count(len(names), 'token')} and the biases",
        draw_sum_of_parts(rows, amounts.tolist(), inks, view.colors, "logit").offer(str(found.target)),
        Origin(
            found.target,
            PREDICTION,
            r"L_{i,w} = \sum_{j} c_{i,j} + c_{i,\mathrm{biases}}",
            "What a token carried, with attention weights, LayerNorm's deviations and slopes of activations held as "
            "they are. It does not say what would change without the token.",
            _write_sum(found),
            _SOURCE,
        ),
        values=Values(
            np.append(found.parts, [found.biases, found.parts.sum() + found.biases])[:, None],
            [*names, "biases", "logit"],
            ["part"],
        ),
        note=f"The parts and the biases: {format_number(found.parts.sum() + found.biases)}; "
        f"the recorded logit: {format_number(float(trace[found.target]))}.",
        start=found.target,
    )


def _find_parts(view: View, vocab: int) -> Attribution:
    """The parts of the logit at the chosen token. Remembered. Raises InputError where that would take much memory."""
    trace, target = view.trace, SCORES.fix(token=view.chosen.token, vocab=vocab)
    size = measure_carried(trace)
    if size > _MOST_BYTES:
        raise InputError(
            f"To tell apart what {len(trace.tokens)} tokens carried takes {size / 1e6:,.0f} MB, and a page may take "
            f"{_MOST_BYTES / 1e6:,.0f}. Choose a shorter text, or use bv.attribute in Python."
        )
    with take_turn():
        return remember(trace, f"carried to {target}", lambda: attribute(trace, target))


def _choose_rows(found: Attribution, names: list[str]) -> tuple[list[str], np.ndarray]:
    """The rows to draw in sentence order, the biases last: of many tokens the largest, the others in one row."""
    largest = np.sort(np.argsort(-np.abs(found.parts), kind="stable")[:_ROWS])
    others = np.delete(found.parts, largest)
    rest = {f"{len(others)} others": float(others.sum())} if len(others) else {}
    rows = [names[i] for i in largest]
    return [*rows, *rest, "biases"], np.array([*found.parts[largest], *rest.values(), found.biases])


def _write_sum(found: Attribution) -> str:
    """The sum with its numbers, as LaTeX."""
    terms = [*found.parts.tolist(), found.biases]
    shown = [bracket_negative(format_latex(term)) for term in take_ends(terms)]
    return f"L_{{i,w}} = {write_sum(shown, len(terms), brace=False)} = {format_latex(sum(terms))}"
