"""Slips in the documents, each with the numbers that show it on the sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import chain
from typing import NamedTuple

import numpy as np
import streamlit as st

from bertviz_core.analysis import playground, slips
from bertviz_core.analysis.claims import Part, Said, say_largest
from bertviz_core.analysis.layers import compute_cosine, compute_norms
from bertviz_core.analysis.printed import Verdict, judge_cut
from bertviz_core.documents import NOTE, examples
from bertviz_core.figures.bars import draw_bars
from bertviz_core.figures.base import Chart
from bertviz_core.figures.stages import draw_by_stage
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex, format_number
from bertviz_core.formula.steps import ATTENTION, NORM, RESIDUAL
from bertviz_core.formula.texts import name_token
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.programs.notebook import EPSILON_OF_CELL_46, EPSILON_OF_CELLS
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import site
from bertviz_core.ui.frame.resources import get_store
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived
from bertviz_core.ui.panels.said import tell_nowhere
from bertviz_core.ui.panels.tables import Column, render_table
from bertviz_core.ui.panels.worked import write_cosine

_TWO_POINTS = "Each layer has two points: after attention, and after the feed-forward network."
_PRINTED, _MEANT = "σ as printed", "standard deviation"


def show_cards(view: View) -> None:
    """The four slips in a line each: what is printed, what it should be, what shows it."""
    cards = (_judge_digit(), _judge_root(view), _judge_epsilon(view), _judge_sum(view))
    st.html(
        '<div class="bv-slips">'
        + "".join(
            f"<div><small>{where}</small><b>{title}</b><p><s>{wrong}</s> → {right}</p>{why}</div>"
            for title, where, wrong, right, why in cards
        )
        + "</div>"
    )


class _Card(NamedTuple):
    """A slip in a line. wrong: as printed; right: as it should be."""

    title: str
    where: str
    wrong: str
    right: str
    why: str


def _judge_digit() -> _Card:
    share = float(playground.apply_softmax(np.array(examples.SCORES))[0, 0])
    why = "Its own scores give the second number: the printed one is 30 times that."
    return _Card("One digit too many", "004, softmax", "72.40e−06", format_number(share), why)


def _judge_root(view: View) -> _Card:
    token, layer = view.chosen.token, view.chosen.layer
    total = view.trace[Address.in_layer(layer, "attention.output.residual").fix(token=token)][None]
    printed, meant = (float(work(total)[0]) for work in (slips.compute_printed_sigma, slips.compute_deviation))
    word = escape(name_token(view.trace.tokens, token))
    why = f"σ as printed at {word} after attention in layer {layer}, and a standard deviation."
    return _Card("The root ends too early", "003, σ", format_number(printed), format_number(meant), why)


def _judge_epsilon(view: View) -> _Card:
    seen = slips.measure_printed_epsilon(view.trace)
    why = (
        f"Run here, In [49] prints {seen.count} numbers after it. They change by up to {format_number(seen.largest)}, "
        f"{_tell_changed(seen)} in the printed digits."
    )
    return _Card("One ε for another", "001, In [46]", "10⁻⁵", "10⁻¹²", why)


def _judge_sum(view: View) -> _Card:
    token, layer, note = view.chosen.token, view.chosen.layer, _run_note(view)
    meant = slips.list_meant(note)[1][layer]
    cosine = float(compute_cosine(note[slips.X.fix(token=token)], note[meant.fix(token=token)]))
    why = (
        f"Meant is the sub-layer's input. In the second sum of layer {layer} the two have a cosine of "
        f"{format_number(cosine)}."
    )
    return _Card("X in every sum", "000, residual sum", "X", "Z", why)


def _tell_changed(seen: slips.Seen) -> str:
    """How many of the numbers that the notebook prints another epsilon changes, rounded as they are there."""
    return f"{seen.changed or 'none'} of them"


@derived
def show_sigma(view: View) -> Derived:
    """The formula post's σ beside a standard deviation, at every sum that a LayerNorm reads."""
    token, sums = view.chosen.token, slips.list_norm_inputs(view.trace)
    x = np.stack([view.trace[address.fix(token=token)] for address in sums.values()])
    found = {_PRINTED: slips.compute_printed_sigma(x), _MEANT: slips.compute_deviation(x)}
    here = 1 + 2 * view.chosen.layer  # the sum after attention
    printed, meant = (float(line[here]) for line in found.values())
    width, squares = x.shape[1], meant**2 * x.shape[1]
    return Derived(
        "slip-sigma",
        "Formula post: σ as printed is not a standard deviation",
        draw_by_stage(found, list(sums), view.colors, view.colors.kinds[NORM], name="σ", words=_label_sums(sums)),
        Origin(
            f"{Address.in_layer(view.chosen.layer, 'attention.output.residual')} and every LayerNorm input",
            NORM,
            r"\begin{aligned} \sigma_{\text{printed}} &= \sqrt{\tfrac{1}{H}} \textstyle\sum_i (x_i - \mu)^2 \\ "
            r"\sigma &= \sqrt{\tfrac{1}{H} \textstyle\sum_i (x_i - \mu)^2} \end{aligned}",
            f"The root in the printed σ covers only 1/H. For {name_token(view.trace.tokens, token)} after "
            f"attention in layer {view.chosen.layer} it is {format_number(printed)}; the standard deviation is "
            f"{format_number(meant)}. "
            f"After division by it the variance is {format_number((meant / printed) ** 2)} instead of 1.",
            rf"\sigma_{{\text{{printed}}}} = \sqrt{{\frac{{1}}{{{width}}}}} \cdot {format_latex(squares)} = "
            rf"{format_latex(printed)} \quad\text{{but}}\quad \sqrt{{\frac{{{format_latex(squares)}}}{{{width}}}}}="
            rf"{format_latex(meant)}",
            "formula post (003); Ba et al. 2016",
        ),
        values=Values(np.stack(list(found.values()), axis=1), list(sums), list(found)),
        note=f"Every LayerNorm input of BERT, for the chosen token. {_TWO_POINTS} The lines meet only where the "
        "squared deviations sum to 1.",
    )


def _run_note(view: View) -> Trace:
    return view.run_as(NOTE.program, get_store())


@derived
def show_residual(view: View) -> Derived:
    """The forward-pass note's X beside what is meant in each layer, both in the note's own pass."""
    trace, token, layer = _run_note(view), view.chosen.token, view.chosen.layer
    x = trace[slips.X.fix(token=token)]
    names, both = ("first sum", "second sum"), slips.list_meant(trace)
    vectors = {
        name: np.stack([trace[address.fix(token=token)] for address in addresses])
        for name, addresses in zip(names, both, strict=True)
    }
    found = {name: compute_cosine(x, rows) for name, rows in vectors.items()}
    layers = [f"L{i}" for i in range(trace.model.config.num_hidden_layers)]
    lengths = {f"length, {name}": compute_norms(rows) for name, rows in vectors.items()}
    return Derived(
        "slip-residual",
        "Forward-pass note: every residual sum adds X instead of the sub-layer's input",
        _draw_cosines(view, found, layers),
        Origin(
            f"{slips.X} and {both[1][layer]}, in the note's own pass",
            RESIDUAL,
            r"\begin{aligned} \text{printed:}\ \bar{Z}_l &= \mathrm{LayerNorm}(X + \tilde{Z}_l) & "
            r"Z_l &= \mathrm{LayerNorm}(X + Z_l^{\mathrm{out}}) \\ "
            r"\text{meant:}\ \bar{Z}_l &= \mathrm{LayerNorm}(Z_{l-1} + \tilde{Z}_l) & "
            r"Z_l &= \mathrm{LayerNorm}(\bar{Z}_l + Z_l^{\mathrm{out}}) \end{aligned}",
            "The note adds the input embeddings X in both sums of every layer. A residual connection adds what its "
            f"sub-layer reads. {_tell_cosines(layer, found)} X has length {format_number(float(compute_norms(x)))}, "
            f"what is meant in the second sum {format_number(float(lengths['length, second sum'][layer]))}.",
            write_cosine(x, vectors[names[1]][layer], rf"X_{{{token}}}, \bar{{Z}}_{{{layer + 1},\,{token}}}"),
            "forward-pass note (000); Vaswani et al. 2017, sec. 3.1",
        ),
        values=Values(np.stack([*found.values(), *lengths.values()], axis=1), layers, [*found, *lengths]),
        note="Cosine of X with what is meant: in the first sum the layer's input, in the second the first LayerNorm's "
        "output. In the first sum of L0 X is what is meant, and the line is at 1. All vectors are those of the "
        "note's own pass with this model's weights; the output matrix, which BERT has besides, plays no part.",
    )


def _draw_cosines(view: View, found: Mapping[str, np.ndarray], layers: Sequence[str]) -> Chart:
    """Cosines (layer,) by sum."""
    lowest = min(0.0, *(float(line.min()) for line in found.values()))
    ink = view.colors.kinds[RESIDUAL]
    return draw_by_stage(found, layers, view.colors, ink, name="cosine with X", ends=(lowest, 1.0))


def _tell_cosines(layer: int, found: Mapping[str, np.ndarray]) -> str:
    """How near X is to what is meant in a layer's two sums. found: cosines (layer,) by sum."""
    first, second = (format_number(float(line[layer])) for line in found.values())
    if not layer:
        return (
            "In layer 0 the first sum is right, since Z_0 is X; in the second X and the first LayerNorm's output have "
            f"a cosine of {second}."
        )
    return (
        f"In layer {layer}, X and the layer's input have a cosine of {first}, and X and the first "
        f"LayerNorm's output {second}."
    )


@derived
def show_epsilon(view: View) -> Derived:
    """What the notebook's one other epsilon changes, at every sum."""
    trace, layer, sums = view.trace, view.chosen.layer, slips.list_norm_inputs(view.trace)
    inputs = (trace[address][list(trace.encoding.real)] for address in sums.values())
    found = np.array([slips.measure_epsilon(x, EPSILON_OF_CELLS, EPSILON_OF_CELL_46) for x in inputs])
    here, seen = Address.in_layer(layer, "attention.output.residual"), slips.measure_printed_epsilon(trace)
    variance = float(slips.compute_deviation(trace[here.fix(token=view.chosen.token)]) ** 2)
    return Derived(
        "slip-epsilon",
        "Notebook: ε = 10⁻⁵ in one cell, 10⁻¹² in all others",
        draw_by_stage(
            {"largest change": found},
            list(sums),
            view.colors,
            view.colors.kinds[NORM],
            name="largest change",
            words=_label_sums(sums),
        ),
        Origin(
            f"{here} and every LayerNorm input",
            NORM,
            r"\left|\, \frac{x_i - \mu}{\sqrt{\sigma^2 + 10^{-5}}} - "
            r"\frac{x_i - \mu}{\sqrt{\sigma^2 + 10^{-12}}} \,\right|",
            r"In \[46\] uses the default ε of PyTorch's `layer_norm`, 10⁻⁵. In \[49\] is the first cell after it "
            f"that prints numbers, with four decimals: here {seen.count} pre-activations of layer 0. The other ε "
            f"changes them by at most {format_number(seen.largest)}, {seen.changed} of them in the printed digits.",
            rf"\sqrt{{{format_latex(variance)} + 10^{{-5}}}} = {np.sqrt(variance + EPSILON_OF_CELL_46):.8f} \neq "
            rf"{np.sqrt(variance + EPSILON_OF_CELLS):.8f}",
            "notebook (001), In [46] and In [57]",
        ),
        values=Values(found[:, None], list(sums), ["largest change"]),
        note="The largest change of a normalized sum over all tokens, before γ and β, if every cell had this ε. "
        f"{_TWO_POINTS} A smaller variance gives ε more weight{tell_most_changed(found, list(sums))}.",
    )


def tell_most_changed(found: np.ndarray, sums: Sequence[str]) -> Said:
    """Where another epsilon changes most. found: the change at each sum."""
    most = int(found.argmax())
    parts = {"change": tell_nowhere(found[most]), "sum": Part(sums[most])}
    return say_largest(
        ("changed most", ": here most at {sum}"),
        ("changed no more", ": here nowhere more than at {sum}"),
        parts,
        found,
        (most,),
    )


def show_softmax(view: View) -> None:
    """One row of the article's softmax table over the same computed here, and how many rows sum to 1."""
    _show_softmax(view)
    site.show_link(site.get_page("playground"), "Edit all six rows on the Playground page", ":material/toys:")


@derived
def _show_softmax(view: View) -> Derived:
    words = examples.WORDS
    matrix = playground.apply_softmax(np.array(examples.SCORES))
    computed, printed = matrix[0], np.array(examples.SHARES[0], dtype=np.float64)
    columns = [
        Column("printed", [text.replace("-", "\N{MINUS SIGN}") for text in examples.SHARES[0]]),
        Column("computed", [float(value) for value in computed]),
    ]
    return Derived(
        "slip-softmax",
        "Encoder article: one attention weight is 30 times too large, and 6 rows have 7 sums",
        draw_bars(printed / computed, words, view.colors, view.colors.kinds[ATTENTION], name="printed / computed"),
        Origin(
            "the article's first row, “Hello”",
            ATTENTION,
            r"A_{i,j} = \frac{e^{S_{i,j}}}{\sum_{v} e^{S_{i,v}}}, \qquad \sum_j A_{i,j} = 1",
            f"{_tell_digits(matrix)} {_tell_sums(view)}",
            rf"A_{{0,0}} = \frac{{e^{{78.49 - 91.43}}}}"
            rf"{{{format_latex(float(np.exp(np.array(examples.SCORES[0]) - 91.43).sum()))}}}"
            rf" = {format_latex(float(computed[0]))}",
            "encoder article (004)",
        ),
        values=Values(
            np.stack([printed / computed, printed, computed], axis=1),
            words,
            ["printed / computed", "printed", "computed"],
        ),
        note="1: the printed and the computed number agree, but for the digits that were cut off or rounded.",
        table=render_table("key", words, columns),
    )


def _tell_digits(computed: np.ndarray) -> str:
    """What is wrong in the article's matrix, and why the sums of its rows do not show it."""
    verdicts = [judge_cut(text, x) for text, x in zip(chain(*examples.SHARES), computed.ravel().tolist(), strict=True)]
    right = np.array(examples.SHARES[1:], dtype=np.float64).sum(axis=1)
    return (
        f"72.40e−06 should be {format_number(float(computed[0, 0]))}: one 7 too many. Of the others "
        f"{verdicts.count(Verdict.CUT)} are cut after two decimals and {verdicts.count(Verdict.SAME)} is rounded up, "
        f"to 1: rows without a mistake sum to {right.min():.5f} to {right.max():.5f}, so a row's sum shows none."
    )


def _tell_sums(view: View) -> str:
    layer, head = view.chosen.layer, view.chosen.head
    sums = view.trace[ATTENTION_WEIGHTS.in_layer(layer).fix(head=head)].sum(axis=-1, dtype=np.float64)
    least, largest = (f"{end:.6f}" for end in (sums.min(), sums.max()))
    ends = f"each {least}" if least == largest else f"from {least} to {largest}"
    return (
        f"Beside {len(examples.SHARES)} rows the article prints {examples.ONES} sums of 1; on your sentence (layer "
        f"{layer}, head {head}) {len(sums)} rows of weights have {len(sums)} sums, {ends}."
    )


def _label_sums(sums: Iterable[str]) -> list[str]:
    """The sums as an axis calls them: of a layer's two only the first is named."""
    return [name.removesuffix(" attention") if not name.endswith("FFN") else "" for name in sums]
