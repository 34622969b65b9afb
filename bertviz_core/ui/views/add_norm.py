"""Residual sums and LayerNorms on screen."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bertviz_core.analysis.add_norm import (
    follow_direct_path,
    gives_normalized,
    is_normal,
    is_skipped,
    measure_moments,
    normalize_with,
    read_epsilon,
)
from bertviz_core.analysis.openings import open_component
from bertviz_core.figures.add_norm import Strip, draw_aligned
from bertviz_core.figures.bars import draw_bars
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number, format_short
from bertviz_core.formula.steps import NORM, RESIDUAL
from bertviz_core.formula.texts import name_token
from bertviz_core.ui.frame import url
from bertviz_core.ui.frame.follow import follow
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.place import read_index
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.charts import draw_tensor
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived, show_values
from bertviz_core.ui.panels.moments import show_moments
from bertviz_core.ui.panels.panel import show_panel
from bertviz_core.ui.panels.passes import show_passes_chart, show_passes_html, tell_words, write_passes
from bertviz_core.ui.panels.put import tell_put, tell_skipped
from bertviz_core.ui.views.add_norm_sums import read_where

EPSILONS = (1e-12, 1e-5, 1e-3)
_NORMED = Key("normed", "")
_SIGMA = '<abbr title="standard deviation">σ</abbr>'
_TINTED = ("sum", "normalized")  # the strips with a band around the mean
_LEARNED = (".weight", ".bias")
_LITTLE = 0.01  # of a standard deviation: what is hardly anything
_ROUNDED = 1e-6  # what single precision may leave of a mean of 0, of numbers about as large as 1


def show_norm(view: View) -> None:
    """LayerNorm of the chosen token: the sum, normalized, gamma, beta and the result, component under component."""
    trace, token, where = view.trace, view.chosen.token, read_where()
    module = Address.in_layer(view.chosen.layer, where)
    norm, word = module.enter("LayerNorm"), name_token(trace.tokens, token)
    chosen, reason = _choose_component(view, where)
    steps = [trace.step(address) for address in (norm.enter("normalized"), norm)]
    heading = Heading(
        f"Norm: LayerNorm of {word}",
        f"{reason} {_tell_result(view, norm)}".strip(),
        r" \quad ".join(map(view.typeset, steps)),
        steps[0].source,
        norm.fix(token=token, hidden=chosen),
    )
    with open_card(view, NORM, heading, norm.enter("normalized")) as tools:
        strips = _read_strips(view, module)
        with tools:
            show_values(
                "strips",
                Values(
                    np.stack([strip.values for strip in strips]),
                    [strip.name for strip in strips],
                    [str(i) for i in range(len(strips[0].values))],
                ),
            )
        show_passes_html(view, [_render_moments(one, module) for one in view.passes])
        charts = [draw_aligned(_read_strips(one, module), chosen, view.colors) for one in view.passes]
        show_passes_chart(view, charts, "strips", f"LayerNorm of {word}, step by step")
        put = tell_put(view, norm.fix(token=token), norm.enter("normalized").fix(token=token))
        if note := f"{tell_words(view)}{put}".strip():
            st.caption(note)


def _tell_result(view: View, norm: Address) -> str:
    """That a change leaves the norm out of the result; nothing usually, as the formula says the rest."""
    if not gives_normalized(view.trace, norm):
        return "A change makes the result the layer's input."
    return tell_skipped(view.trace, view.chosen.layer)


def _read_strips(view: View, module: Address) -> list[Strip]:
    """The chosen token's vectors on their way through a LayerNorm, as far as the program goes that way."""
    trace, token, cells, norm = view.trace, view.chosen.token, view.colors.cells, module.enter("LayerNorm")
    rows = {
        "sum": ("", module.enter("residual").fix(token=token), cells[RESIDUAL]),
        "normalized": ("", norm.enter("normalized").fix(token=token), cells[NORM]),
        "γ": ("×", norm.enter("weight"), view.colors.faint),
        "β": ("+", norm.enter("bias"), view.colors.faint),
        "result": ("=", norm.fix(token=token), cells[NORM]),
    }
    return [
        Strip(
            name,
            trace[address],
            picks.pick_every(trace, address),
            ink,
            sign,
            measure_moments(trace[address]) if name in _TINTED else None,
            address.path.endswith(_LEARNED),
        )
        for name, (sign, address, ink) in rows.items()
        if address in trace
    ]


def _render_moments(view: View, module: Address) -> str:
    """Mean and standard deviation of the chosen token's vector: of the sum, once it is normalized, and of the result.

    Those of the sum are made of the LayerNorm's own steps, mean and variance, which a click works out.
    """
    trace, token, norm = view.trace, view.chosen.token, module.enter("LayerNorm")
    mean, variance = (
        f'<button class="bv-number" data-cell="{cell}" title="Work it out">{format_short(float(trace[cell]))}</button>'
        for cell in (norm.enter(leaf).fix(token=token) for leaf in ("mean", "variance"))
    )
    _, spread = measure_moments(trace[module.enter("residual").fix(token=token)])
    told = [f"<b>sum</b> mean {mean}&ensp;{_SIGMA}² {variance}&ensp;{_SIGMA} <i>{format_short(spread)}</i>"]
    told += [
        f"<b>{name}</b> mean <i>{format_short(0.0 if abs(center) < _ROUNDED else center)}</i>&ensp;"
        f"{_SIGMA} <i>{format_short(spread)}</i>"
        for name, address in (("normalized", norm.enter("normalized")), ("result", norm))
        if address in trace
        for center, spread in [measure_moments(trace[address.fix(token=token)])]
    ]
    return f'<div class="bv-moments">{"".join(f"<span>{each}</span>" for each in told)}</div>'


def _choose_component(view: View, where: str) -> tuple[int, str]:
    """The component whose numbers are written, and why it is that one, if nobody asked for it."""
    url.bind(_NORMED)
    module = Address.in_layer(view.chosen.layer, where)
    norm = module.enter("LayerNorm")
    for vector in (module.enter("residual"), norm.enter("normalized"), norm):
        follow(vector.fix(token=view.chosen.token), "hidden", _NORMED)
    for parameter in (norm.enter("weight"), norm.enter("bias")):
        follow(parameter, "hidden", _NORMED)
    asked = read_index(_NORMED, view.trace.model.config.hidden_size, "vector", [])
    if asked is not None:
        return asked, f"Component {asked} is framed."
    found = open_component(view.trace, module.enter("dense"), view.chosen.token)
    return found.component, found.reason


def show_forgotten(view: View) -> None:
    """Mean and variance, which LayerNorm takes out of the chosen token's vector."""
    norm = Address.in_layer(view.chosen.layer, read_where()).enter("LayerNorm")
    st.markdown(_tell_forgotten(view, norm) + tell_put(view, norm.enter("normalized").fix(token=view.chosen.token)))
    show_moments(view, norm)


def _tell_forgotten(view: View, norm: Address) -> str:
    rows = view.trace[norm.enter("normalized")].astype(np.float64)
    if is_normal(rows):
        return (
            "After normalizing, every vector has mean 0 and variance 1. Whatever a layer wrote into the mean or the "
            "length of a vector is gone, and these two numbers are all that is lost."
        )
    own = rows[view.chosen.token]
    mean = float(own.mean())
    centred = abs(mean) < _ROUNDED  # what rounding leaves of 0 is no mean
    return (
        "LayerNorm is there to give every vector mean 0 and variance 1, but here not all have them. This token's has "
        f"mean {format_number(0.0 if centred else mean)} and variance {format_number(float(own.var()))}."
    )


def show_maps(view: View) -> None:
    """The residual sum and the LayerNorm's result of all tokens."""
    module = Address.in_layer(view.chosen.layer, read_where())
    for address, see in (
        (module.enter("residual"), "Residual sum, for all tokens"),
        (module.enter("LayerNorm"), "LayerNorm output, for all tokens"),
    ):
        figure, note = draw_tensor(view, address)
        show_panel(view, address, see, figure, note=note)


def show_epsilon(view: View) -> None:
    """What epsilon changes: the same sum normalized with three of them."""
    rows = []
    for value in EPSILONS:
        flat = normalize_with(np.array([1e-5, -1e-5]), value)
        rows.append(
            {
                "epsilon": f"{value:g}",
                "largest change here": _measure_epsilon(view, value),
                "(0.00001, −0.00001) becomes": ", ".join(format_number(float(v)) for v in flat),
            }
        )
    with st.container(border=True):
        st.markdown(
            f"ε avoids a division by 0 if the variance is 0. {_tell_epsilon(view)}; on a vector of two tiny numbers it "
            "decides whether they are scaled up to ±1."
        )
        st.dataframe(rows, hide_index=True, width="stretch")


def _tell_epsilon(view: View) -> str:
    """What the ε of the pass does to the chosen token's residual sum."""
    where = Address.in_layer(view.chosen.layer, read_where())
    total = view.trace[where.enter("residual").fix(token=view.chosen.token)].astype(np.float64)
    if not total.var():
        return "This token's residual sum has variance 0, so that the root is that of ε"
    apart = np.abs(normalize_with(total, read_epsilon(view.trace, where.enter("LayerNorm"))) - normalize_with(total, 0))
    if apart.max() < _LITTLE:
        return "On this token's residual sum it changes almost nothing"
    return f"On this token's residual sum it changes a number by up to {format_number(float(apart.max()))}"


def _measure_epsilon(view: View, value: float) -> str:
    """How far another epsilon moves the chosen token's normalized sum at most; of two passes, in both."""
    where = Address.in_layer(view.chosen.layer, read_where())
    address, norm = where.enter("residual").fix(token=view.chosen.token), where.enter("LayerNorm")
    sums = ((one.trace[address], read_epsilon(one.trace, norm)) for one in view.passes)
    return write_passes(float(np.abs(normalize_with(x, value) - normalize_with(x, own)).max()) for x, own in sums)


@derived
def show_post_or_pre(view: View) -> Derived:
    """Post-LayerNorm, as in BERT, against pre-LayerNorm: what is left of the embedding on the direct path."""
    trace, token = view.trace, view.chosen.token
    names, factors = follow_direct_path(trace, token)
    cut = "" if factors.all() else " Behind a place where a change cuts this path, nothing of the embedding is left: 0."
    if any(is_skipped(trace, layer) for layer in range(trace.model.config.num_hidden_layers)):
        cut += " Where a change skips a layer, its input goes on, with the factor from before it."
    return Derived(
        "direct-path",
        f"How LayerNorm scales the embedding of {name_token(trace.tokens, token)}",
        draw_bars(factors, names, view.colors, view.colors.kinds[NORM], name="factor on the embedding"),
        Origin(
            "the variance in every LayerNorm so far",
            NORM,
            r"\begin{aligned} \text{post:}\ y &= \mathrm{LN}(x + f(x)) \\ \text{pre:}\ y &= x + f(\mathrm{LN}(x)) "
            r"\\ \text{factor} &= \textstyle\prod 1 / \sqrt{\sigma^2 + \varepsilon} \end{aligned}",
            "BERT normalizes after adding (post-LayerNorm), so each LayerNorm divides the embedding by "
            "√(σ² + ε). With pre-LayerNorm the residual connection leaves it unchanged: factor 1. The chart "
            f"multiplies all factors so far, following residual connections only and leaving out γ.{cut}",
        ),
        values=Values(np.array([factors]), ["factor"], names),
    )
