"""What the language model head would say at every layer, and attention followed back through all layers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from bertviz_core.analysis import layers
from bertviz_core.analysis.add_norm import tell_cut
from bertviz_core.analysis.labels import label_tokens, tell_tokens_apart
from bertviz_core.analysis.made_from import is_put
from bertviz_core.analysis.predictions import PROBS
from bertviz_core.analysis.ranking import center_range, rank_top
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.figures.lines import draw_shares_by_stage
from bertviz_core.formula.address import Address
from bertviz_core.formula.nodes import Symbol
from bertviz_core.formula.numbers import format_latex, format_number
from bertviz_core.formula.steps import ATTENTION, PREDICTION
from bertviz_core.formula.tex import write_products
from bertviz_core.formula.texts import name_token
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.spreadsheet import quote_formula
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.charts import CELLS, draw_share_bars
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived
from bertviz_core.ui.panels.passes import show_passes
from bertviz_core.ui.panels.put import tell_put
from bertviz_core.ui.panels.tables import Column, render_table
from bertviz_core.ui.views.layers import name_stages

WORDS = 3
_BARS = 16
_READ = 12  # tokens whose vectors the head reads at every stage
_READ_FROM = "the steps of cls.predictions, applied to the token's vector at every stage"


@derived
def show_lens(view: View) -> Derived:
    """How probable the final words are at every stage."""
    trace, stages = view.trace, name_stages(view)
    seen = layers.Lens(trace, view.chosen.token)
    final = rank_top(view.guide.trace[PROBS.fix(token=view.chosen.token)], WORDS)
    word = [trace.model.tokenizer.name(i) for i in final]
    figure = draw_shares_by_stage(
        {f"{w} {i}": seen.probs[:, i] for w, i in zip(word, final, strict=True)},
        stages,
        view.colors,
        view.colors.kinds[PREDICTION],
    )
    stage = view.chosen.layer + 1
    return Derived(
        "lens",
        f"The final top predictions for {name_token(trace.tokens, view.chosen.token)}, layer by layer",
        figure,
        Origin(
            _READ_FROM,
            PREDICTION,
            _write_head(view, seen),
            "The LM head was trained on the last layer only. Applied to an earlier one, it shows how far "
            "the vector already points to the prediction. After the last layer, this is the model's prediction.",
            _write_probability(view, seen, stage, final[0]),
            "nostalgebraist 2020, interpreting GPT: the logit lens",
        ),
        values=Values(seen.probs, stages, trace.model.tokenizer.vocabulary),
        note=f"With numbers: “{escape_markdown(word[0])}” after {stages[stage]}.{tell_put(view, *seen.places)}",
    )


def _write_probability(view: View, seen: layers.Lens, stage: int, word: int) -> str:
    """One probability with its numbers; and what a change puts in its place, where one does."""
    worked, gives = seen.worked(stage, word)
    put = PROBS.fix(token=view.chosen.token, vocab=word)
    own = rf", \ \text{{but a change puts }} P = {format_latex(float(seen.probs[stage, word]))}"
    return f"P = {worked} = {format_latex(gives)}{own if is_put(view.trace, put) else ''}"


@derived
def show_lens_everywhere(view: View) -> Derived:
    """The head's best word at every stage, for the tokens around the chosen one, masked or not."""
    trace, token, stages = view.trace, view.chosen.token, name_stages(view)
    shown = center_range(token, _READ, len(trace.tokens))
    names, entry = tell_tokens_apart(trace, shown), trace.model.tokenizer.name
    found, shares = layers.read_first_choices(trace, shown)
    sides = Side("token", names, shown.start), Side("after", stages, angle=0)
    part = f" Shown: tokens {shown.start}–{shown.stop - 1} of {len(trace.tokens)}."
    return Derived(
        "lens-everywhere",
        "Top prediction at every token and stage, with its probability",
        draw_heatmap(shares, *sides, view.colors, PREDICTION, share=True, end=1.0, selected=token),
        Origin(
            _READ_FROM,
            PREDICTION,
            r"\hat{w}^{(i)}_t = \underset{v}{\mathrm{argmax}}\; P^{(i)}_{t,v}",
            "The LM head, applied at every token and stage; only the top prediction is shown. "
            f"{_tell_starts(trace, shown, found[:, 0])}A masked token must be predicted from the other tokens, "
            "layer by layer.",
        ),
        values=Values(shares, names, stages),
        note=f"1 is certain. The table gives the predicted entry.{part * (len(shown) < len(trace.tokens))}"
        f"{tell_put(view, *(Address(place.path) for place in layers.Lens(trace, token).places))}",
        table=render_table(
            "token",
            names,
            [Column(stage, [entry(i) for i in column.tolist()]) for stage, column in zip(stages, found.T, strict=True)],
            chosen={token - shown.start},
        ),
    )


def _tell_starts(trace: Trace, shown: range, first: np.ndarray) -> str:
    """How many tokens the head reads as themselves before the first layer. first: its best entry for those shown."""
    special, ids = trace.model.tokenizer.special_tokens, trace["input_ids"]
    alike = [
        int(ids[i]) == entry for i, entry in zip(shown, first.tolist(), strict=True) if trace.tokens[i] not in special
    ]
    if not alike:
        return ""
    if all(alike):
        return f"{'Every' if len(alike) > 1 else 'The one'} token shown that is not special starts as itself. "
    if len(alike) == 1:
        return "The one token shown that is not special does not start as itself. "
    many = f"Of {len(alike)} tokens shown that are not special"
    if sum(alike) < 2:
        return f"{many} {'one' if any(alike) else 'none'} starts as itself. "
    return f"{many} {sum(alike)} start as themselves. "


def show_words(view: View) -> None:
    """The head's three best words at every stage, and the final one's place there."""
    final = int(view.guide.trace[PROBS.fix(token=view.chosen.token)].argmax())
    show_passes(view, lambda one: _show_words(one, final))


def _show_words(view: View, final: int) -> None:
    stages, seen = name_stages(view), layers.Lens(view.trace, view.chosen.token)
    word = view.trace.model.tokenizer.name(final)
    ranks, name = seen.ranks(final), view.trace.model.tokenizer.name
    rows = []
    for stage, probs in zip(stages, seen.probs, strict=True):
        best = [f"{quote_formula(name(i))} {format_number(float(probs[i]))}" for i in rank_top(probs, WORDS)]
        rows.append(
            {
                "after": stage,
                **{f"top {k + 1}": text for k, text in enumerate(best)},
                f"“{word}”": format_number(float(probs[final])),
                "its rank": f"{ranks[len(rows)]:,}",
            }
        )
    st.dataframe(rows, hide_index=True, height="content")


def _write_head(view: View, seen: layers.Lens) -> str:
    """The head's own formulas, with the vectors after layer i - 1 where the last ones stand."""
    last = view.trace.program.symbol(layers.list_stages(view.trace)[-1].path)
    paint = style.make_painter(view.colors)

    def painted(symbol: Symbol) -> str:
        return paint(replace(symbol, tex="X^{(i)}") if symbol == last else symbol)

    lines = r" \\ ".join(step.typeset(painted).replace(" = ", " &= ", 1) for step in seen.steps)
    return rf"\footnotesize\begin{{aligned}} {lines} \end{{aligned}}"


@derived
def show_rollout(view: View) -> Derived:
    """Attention followed back to the input, for all tokens."""
    token, names = view.chosen.token, label_tokens(view.trace)
    found = layers.roll_out_attention(view.trace)
    side = center_range(token, int(CELLS**0.5), len(names))
    part, words = found[-1, side.start : side.stop, side.start : side.stop], [names[i] for i in side]
    end = float(found[-1, view.trace.encoding.real].max())
    figure = draw_heatmap(
        part,
        Side("token", words, side.start),
        Side("input token", words, side.start),
        view.colors,
        ATTENTION,
        share=True,
        end=end,
        selected=token,
    )
    sums = "Each row sums to 1" if np.allclose(found[-1].sum(axis=-1), 1, atol=1e-4) else "Not every row sums to 1"
    return Derived(
        "rollout",
        "Attention rollout: which input tokens each token draws on",
        figure,
        _make_origin(view, found),
        values=Values(found[-1], names, names),
        note=f"{sums}; the scale ends at the largest weight, {format_number(end)}."
        + (f" Shown: tokens {side.start}–{side.stop - 1} of {len(names)}." if len(side) < len(names) else ""),
    )


@derived
def show_rollout_of_token(view: View) -> Derived:
    """Attention followed back to the input, for the chosen token layer by layer."""
    trace, token, names = view.trace, view.chosen.token, label_tokens(view.trace)
    found = layers.roll_out_attention(trace)
    shown, real = _choose_drawn_on(view), trace.encoding.real
    order = f"The {_BARS} largest weights, in sentence order." if len(real) > _BARS else "In sentence order."
    own = found[:, token, token]
    last = f" and {format_number(float(own[-1]))} after layer {len(own) - 1}" if len(own) > 1 else ""
    return Derived(
        "rollout-token",
        f"Attention rollout of {name_token(trace.tokens, token)}: which input tokens it draws on",
        draw_share_bars(view, found[-1, token, shown], [names[i] for i in shown], ATTENTION, "weight"),
        _make_origin(view, found),
        values=Values(found[:, token].T, names, name_stages(view)[1:]),
        note=f"{order} Its own weight is {format_number(float(own[0]))} after layer 0{last}.",
    )


def _choose_drawn_on(view: View) -> list[int]:
    """The tokens that the chosen one draws on most, in sentence order; padding only where that is chosen itself."""
    trace, token = view.guide.trace, view.chosen.token
    kept = sorted({*trace.encoding.real, token})
    return sorted(kept[i] for i in rank_top(layers.roll_out_attention(trace)[-1, token, kept], _BARS))


def _make_origin(view: View, found: np.ndarray) -> Origin:
    a, mixed = rf"\textcolor{{{view.colors.kinds[ATTENTION]}}}{{A^{{(l)}}_h}}", r"\hat{A}^{(l)}"
    half = rf"\tfrac{{1}}{{2H}} \textstyle\sum_{{h=1}}^{{H}} {a} + \tfrac{{1}}{{2}}\, I"
    whole = all(np.allclose(layer.sum(axis=-1), 1, atol=1e-4) for layer in layers.average_attention(view.trace))
    mixing = (
        rf"{mixed} &= {half}"
        if whole
        else (rf"M^{{(l)}} &= {half} \\ {mixed}_{{t,u}} &= M^{{(l)}}_{{t,u}} \big/ \textstyle\sum_v M^{{(l)}}_{{t,v}}")
    )
    divided = "" if whole else f" As changed, not all attention weights sum to 1: {_tell_division(view)}."
    cut = f" {said}" if (said := tell_cut(view.trace)) else ""
    return Origin(
        f"{ATTENTION_WEIGHTS.in_layers('{i}')} of all layers",
        ATTENTION,
        rf"\begin{{aligned}} {mixing} \\ R^{{(l)}} &= {mixed} R^{{(l-1)}} \\ R^{{(-1)}} &= I \end{{aligned}}",
        "Each layer counts half as attention weights, averaged over heads, and half as residual connection; the "
        f"layers are multiplied.{divided}{cut} This is an approximation: values, feed-forward networks and LayerNorms "
        "are left out.",
        _write_worked(view, found),
        "Abnar & Zuidema 2020, Quantifying Attention Flow in Transformers",
    )


def _tell_division(view: View) -> str:
    """What is done about rows of attention weights that do not sum to 1."""
    attention = layers.average_attention(view.trace)
    some = any(layers.find_cancelled(layers.add_residual(layer)).any() for layer in attention)
    none = ", but a row whose sum is 0 stays as it is" if some else ""
    return f"each row of the two halves together is divided by its sum, so that they are no longer halves{none}"


def _write_worked(view: View, found: np.ndarray) -> str:
    """The chosen token's share of itself, from the last layer's mixing and the rollout before it."""
    token, last = view.chosen.token, len(found) - 1
    *_, attention = layers.average_attention(view.trace)
    mixed = layers.mix_with_residual(attention.astype(np.float64))[token]
    before = found[last - 1][:, token] if last else np.eye(len(mixed))[token]
    total = write_products(mixed.tolist(), before.tolist(), brace=False)
    result = format_latex(float(found[last, token, token]))
    return rf"R_{{{token},{token}}} = \textstyle\sum_u \hat{{A}}_{{{token},u}}\, R_{{u,{token}}} = {total} = {result}"
