"""How the tokens' vectors move through the layers, panel by panel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from bertviz_core.analysis import layers
from bertviz_core.analysis.claims import Claim, Part, Said, say, say_largest, say_smallest
from bertviz_core.analysis.ranking import center_range
from bertviz_core.figures.base import Chart
from bertviz_core.figures.heatmap import CLEAR, Side, draw_heatmap
from bertviz_core.figures.paths import draw_paths
from bertviz_core.figures.resemblance import draw_resemblance
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex, format_percent, format_short
from bertviz_core.formula.steps import NORM
from bertviz_core.formula.tex import write_products
from bertviz_core.formula.texts import name_token
from bertviz_core.ui.frame import state, style, url
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.labels import label_tokens
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import open_card
from bertviz_core.ui.panels.charts import CELLS
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived, show_values
from bertviz_core.ui.panels.passes import show_passes_chart, tell_words
from bertviz_core.ui.panels.said import name_word, tell_short
from bertviz_core.ui.panels.worked import write_cosine

SIDES = ("before", "after")
_PATHS = 24  # more would be a thicket
_OF_ALL = "embeddings.LayerNorm and every encoder.layer.{i}.output.LayerNorm"
_COMPONENTS = (
    "Principal components: the directions along which the vectors of all tokens at all stages vary most. All stages "
    "use one basis, so each line shows how the layers move one token."
)
_SIDE = Key("side", SIDES[1])
NO_DIRECTION = "A vector of length 0 has no direction: a cosine with it is undefined, and left out."


def name_stages(view: View) -> list[str]:
    """The stages as axes call them: the embeddings, then the layers."""
    return ["emb", *(f"L{i}" for i in range(view.trace.model.config.num_hidden_layers))]


@derived
def show_lengths(view: View) -> Derived:
    """The length of every token's vector at every stage."""
    states, token, stage = layers.stack_vectors(view.trace), view.chosen.token, view.chosen.layer + 1
    found = layers.compute_norms(states)
    x = states[stage, token]
    length = format_latex(float(found[stage, token]))
    squares = write_products(x.tolist(), x.tolist(), brace=False)
    worked = rf"\lVert {_write_row(stage, token)} \rVert = \sqrt{{{squares}}} = {length}"
    mean = found[:, view.trace.encoding.real].mean(axis=1)
    return Derived(
        "norms",
        "Norm of each token's vector at every stage",
        _draw_by_stage(view, found, share=True),
        Origin(
            _OF_ALL,
            NORM,
            rf"\lVert x \rVert = \sqrt{{\textstyle\sum_j x_j^2}}, \quad x = {_write_x(view, 'i')}_{{t,:}}",
            "The Euclidean norm of each row of X. Every stage ends with a LayerNorm, so the norm depends mostly "
            "on its γ.",
            worked,
        ),
        values=Values(found.T, label_tokens(view.trace), name_stages(view)),
        note=f"One row per token, one column per stage: the embeddings, then after each layer. The mean norm goes from "
        f"{format_short(float(mean[0]))} to {format_short(float(mean[-1]))}.",
    )


@derived
def show_turns(view: View) -> Derived:
    """How much each layer turned each token's vector."""
    states, token, stage = layers.stack_vectors(view.trace), view.chosen.token, view.chosen.layer + 1
    found = layers.compute_turns(states)
    now, before = states[stage, token], states[stage - 1, token]
    return Derived(
        "turns",
        "Cosine similarity of each token's vector before and after each layer",
        _draw_by_stage(view, found, names=name_stages(view)[1:]),
        Origin(
            _OF_ALL,
            NORM,
            _write_cosine(_write_x(view, "i+1") + "_{t,:}", _write_x(view, "i") + "_{t,:}"),
            "The cosine similarity of a token's vector after a layer with the one before it: 1 for the same "
            "direction, 0 for a perpendicular one.",
            write_cosine(now, before, f"{_write_row(stage, token)}, {_write_row(stage - 1, token)}"),
        ),
        values=Values(found.T, label_tokens(view.trace), name_stages(view)[1:]),
        note=tell_turns(view).text,
    )


def tell_turns(view: View) -> Said:
    """Which layer turns the tokens most on average."""
    found = layers.compute_turns(layers.stack_vectors(view.trace))[:, view.trace.encoding.real]
    known = ~np.isnan(found)
    measured = np.flatnonzero(known.any(axis=1))
    if not len(measured):
        return say(NO_DIRECTION)
    means = np.array([found[layer, known[layer]].mean() for layer in measured])
    most = int(means.argmin())
    parts = {"cosine": tell_short(means[most]), "layer": Part(int(measured[most]))}
    said = say_smallest(
        ("lowest cosine", "Layer {layer} has the lowest cosine: {cosine} on average."),
        ("no lower cosine", "No layer has a lower cosine than layer {layer}: {cosine} on average."),
        parts,
        means,
        (most,),
    )
    return said if known.all() else say(said, f" {NO_DIRECTION}")


def _read_side(view: View) -> int:
    """The stage that is looked at: before or after the chosen layer, as chosen."""
    url.bind(_SIDE, SIDES)
    return view.chosen.layer + SIDES.index(state.read(_SIDE))


def show_resemblance(view: View) -> None:
    """Which tokens point the same way before or after the chosen layer, as chosen."""
    layer, names = view.chosen.layer, label_tokens(view.trace)
    stage, side = _read_side(view), state.read(_SIDE)
    address = layers.list_stages(view.trace)[stage]
    found = layers.compute_cosines(view.trace[address])
    see = "Who comes together"
    with open_card(view, NORM, see, f"from {address}") as tools:
        with tools:
            show_values("cosines", Values(found, names, names))
        st.segmented_control("Vectors", SIDES, key=_SIDE.name, required=True, label_visibility="collapsed",
                             format_func=lambda one: f"{one} layer {layer}")  # fmt: skip
        shown = center_range(view.chosen.token, int(CELLS**0.5), len(names))
        show_passes_chart(view, [_draw_resemblance(one, address, shown) for one in view.passes], "cosines",
                          f"Cosine similarity of the tokens {side} layer {layer}")  # fmt: skip
        _describe_resemblance(view, found, address, shown)


def _draw_resemblance(view: View, address: Address, shown: range) -> Chart:
    words, own = label_tokens(view.trace, shown), slice(shown.start, shown.stop)
    part = layers.compute_cosines(view.trace[address])[own, own]
    return draw_heatmap(part, Side("token", words, shown.start), Side("", words, shown.start), view.colors, NORM,
                        end=1.0, selected=view.chosen.token)  # fmt: skip


def _describe_resemblance(view: View, found: np.ndarray, address: Address, shown: range) -> None:
    """What the map says in words, and its formula with the numbers of the chosen token and the nearest one."""
    token, names = view.chosen.token, label_tokens(view.trace)
    part_of = f" Shown: tokens {shown.start}–{shown.stop - 1} of {len(names)}." if len(shown) < len(names) else ""
    near, rows = layers.find_nearest(found, view.trace, token), view.trace[address]
    apart = layers.average_apart(found, view.trace)
    st.caption(
        f"{tell_words(view)}{tell_nearest(view)} "
        f"Cosine: 1 is the same direction. {_tell_apart(apart, found, view)}{part_of}"
    )
    stage = layers.list_stages(view.trace).index(address)
    st.latex(style.break_lines(
        write_cosine(rows[token], rows[near], f"{_write_row(stage, token)}, {_write_row(stage, near)}")
    ))  # fmt: skip


def _tell_apart(apart: float, found: np.ndarray, view: View) -> str:
    """The mean of the cosines that are defined. found: (token, token)."""
    own = found[np.ix_(view.trace.encoding.real, view.trace.encoding.real)]
    missing = f" {NO_DIRECTION}" if np.isnan(own).any() else ""
    return (
        missing.strip() if np.isnan(apart) else f"Mean over pairs of different tokens: {format_short(apart)}.{missing}"
    )


def tell_nearest(view: View) -> Said:
    """Which other token's vector points most the same way, where one stage is looked at."""
    found = layers.compute_cosines(view.trace[layers.list_stages(view.trace)[_read_side(view)]])
    return _tell_nearest(view, found, "nearest", "{token} is nearest to {near}: {cosine}.",
                         "None is nearer to {token} than {near}: {cosine}.")  # fmt: skip


def tell_nearest_on_the_way(view: View) -> Said:
    """Which other token's vector points most the same way after the chosen layer."""
    found = layers.compute_cosines(view.guide.trace[layers.list_stages(view.trace)[view.chosen.layer + 1]])
    return _tell_nearest(view, found, "bold line",
                         "The bold line is {near}, the nearest after layer {layer}: {cosine}.",
                         "The bold line is {near}; none is nearer after layer {layer}: {cosine}.")  # fmt: skip


def _tell_nearest(view: View, found: np.ndarray, name: str, form: str, other: str) -> Said:
    """found: cosines (token, token); form, other: where one is nearer than all others, and where several are alike."""
    token, names = view.chosen.token, label_tokens(view.trace)
    near = layers.find_nearest(found, view.trace, token)
    parts = {"cosine": tell_short(found[token, near]), "near": name_word(names[near]),
             "token": name_word(names[token]), "layer": Part(view.chosen.layer)}  # fmt: skip
    if near == token and np.isnan(found[token]).any():
        return say(Claim(f"{name}, undefined", "{token} is nearest to none.", {"token": parts["token"]}),
                   f" {NO_DIRECTION}")  # fmt: skip
    if near == token:
        return say(Claim(f"{name}, alone", "{token} is the only token.", {"token": parts["token"]}))
    compared = [i for i in layers.list_others(view.trace, token) if not np.isnan(found[token, i])]
    others, at = found[token, compared], (compared.index(near),)
    return say_largest((name, form), (f"{name}, with others", other), parts, others, at)


def _compare_on_the_way(view: View) -> np.ndarray:
    """(token, stage) the cosine of the chosen token's vector with every one."""
    states = layers.stack_vectors(view.trace)
    return np.stack([layers.compute_cosines(rows)[view.chosen.token] for rows in states], axis=1)


@derived
def show_resemblance_on_the_way(view: View) -> Derived:
    """The chosen token's cosine with every other one, from stage to stage."""
    token, names, stages = view.chosen.token, label_tokens(view.trace), name_stages(view)
    found = _compare_on_the_way(view)
    others = layers.list_others(view.guide.trace, token)
    at = view.chosen.layer + 1
    near = int(np.nan_to_num(_compare_on_the_way(view.guide)[others, at], nan=-np.inf).argmax())
    other = others[near]
    rows = layers.stack_vectors(view.trace)[at]
    return Derived(
        "resemblance", f"Cosine similarity of {name_token(view.trace.tokens, token)} with every other token",
        draw_resemblance(found[others], [names[i] for i in others], stages, near, at, view.colors,
                         view.colors.kinds[NORM]),
        Origin(_OF_ALL, NORM, _write_cosine(f"{_write_x(view, 'i')}_{{t,:}}", f"{_write_x(view, 'i')}_{{u,:}}"),
               "The cosine similarity of the vectors of two tokens: 1 if they point in the same direction.",
               write_cosine(rows[token], rows[other], f"{_write_row(at, token)}, {_write_row(at, other)}")),
        values=Values(found[others], [names[i] for i in others], stages),
        note=tell_nearest_on_the_way(view).text,
    )  # fmt: skip


def show_ways(view: View) -> None:
    """Every token's path through the layers, in the two and three directions that show most of it."""
    for count, name in ((2, "two"), (3, "three")):
        _show_paths(view, count, name)


@derived
def _show_paths(view: View, count: int, name: str) -> Derived:
    names, stages = label_tokens(view.trace), name_stages(view)
    found = layers.project_stages(view.trace)
    shown = center_range(view.chosen.token, _PATHS, len(names))
    titles = [f"component {k + 1} ({format_percent(float(share))})" for k, share in enumerate(found.shares)]
    part = f" Shown: tokens {shown.start}–{shown.stop - 1} of {len(names)}." if len(shown) < len(names) else ""
    stage = view.chosen.layer + 1
    values = Values(found.points.transpose(1, 0, 2).reshape(-1, layers.COMPONENTS),
                    [f"{token}, {stage_name}" for token in names for stage_name in stages], titles)  # fmt: skip
    figure = draw_paths(
        found.points[:, shown.start : shown.stop, :count], [names[i] for i in shown], stages, titles, view.colors,
        view.colors.kinds[NORM], chosen=view.chosen.token - shown.start, at=stage,
    )  # fmt: skip
    return Derived(
        f"paths-{count}", f"Path of every token through the layers, in {name} dimensions", figure,
        Origin(_OF_ALL, NORM, _write_components(view), _COMPONENTS, _write_component(view, found, count - 1),
               "Pearson 1901; computed by singular value decomposition"),
        values=values, note=_describe(name, stages, stage, found.shares[:count]) + part,
    )  # fmt: skip


def _describe(name: str, stages: Sequence[str], stage: int, shares: np.ndarray) -> str:
    turn = " Drag to rotate." if name == "three" else ""
    seen = shares.sum()
    return (
        f"The bold line is the chosen token's path from {stages[0]} to {stages[-1]}. Names mark the tokens "
        f"after {stages[stage]} where there is room; hover over a dot for its name. These {name} "
        f"directions explain {format_percent(seen)} of the variance; {format_percent(1 - seen)} is not visible.{turn}"
    )


def _draw_by_stage(view: View, found: np.ndarray, names: Sequence[str] = (), share: bool = False) -> Chart:
    """A map of tokens against stages."""
    columns = Side("after", names or name_stages(view), angle=0, standoff=CLEAR)
    rows = Side("token", label_tokens(view.trace))
    return draw_heatmap(
        found.T, rows, columns, view.colors, NORM, share=share, end=None if share else 1.0, selected=view.chosen.token
    )


def _write_x(view: View, stage: str) -> str:
    return rf"\textcolor{{{view.colors.kinds[NORM]}}}{{X^{{({stage})}}}}"


def _write_cosine(left: str, right: str) -> str:
    return (
        r"\begin{aligned} \cos(x, y) &= \frac{x \cdot y}{\lVert x \rVert\, \lVert y \rVert} "
        rf"\\ x &= {left} \\ y &= {right} \end{{aligned}}"
    )


def _write_row(stage: int, token: int) -> str:
    return rf"X^{{({stage})}}_{{{token},:}}"


def _write_components(view: View) -> str:
    return (
        rf"\begin{{aligned}} X &= \left[{_write_x(view, '0')}; \dots; {_write_x(view, 'L')}\right] \\ X - \bar{{x}} "
        r"&= U\,\Sigma\,V^{\top} \\ z_k &= v_k \cdot (x - \bar{x}) \\ "
        r"\text{fraction}_k &= \sigma_k^2 \big/ \textstyle\sum_j \sigma_j^2 \end{aligned}"
    )


def _write_component(view: View, found: layers.Projection, k: int) -> str:
    """One coordinate of the chosen token after the chosen layer, with its numbers."""
    stage, token = view.chosen.layer + 1, view.chosen.token
    x = layers.stack_vectors(view.trace)[stage, token] - found.mean
    product = write_products(found.directions[k].tolist(), x.tolist(), brace=False)
    return (
        rf"z_{{{k + 1}}} = v_{{{k + 1}}} \cdot ({_write_row(stage, token)} - \bar{{x}}) = {product} = "
        rf"{format_latex(float(found.points[stage, token, k]))}"
    )
