"""How the tokens' vectors move through the layers, panel by panel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from bertviz_core.analysis import layers
from bertviz_core.analysis.add_norm import gives_normalized
from bertviz_core.analysis.claims import Claim, Part, Said, say, say_largest, say_smallest
from bertviz_core.analysis.labels import label_tokens, tell_tokens_apart
from bertviz_core.analysis.made_from import is_put
from bertviz_core.analysis.ranking import center_range
from bertviz_core.figures.base import Chart
from bertviz_core.figures.heatmap import CLEAR, Side, draw_heatmap, has_room
from bertviz_core.figures.paths import draw_paths
from bertviz_core.figures.resemblance import draw_resemblance
from bertviz_core.figures.weights import NAMED
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex, format_percent, format_short
from bertviz_core.formula.steps import NORM
from bertviz_core.formula.tex import write_products
from bertviz_core.formula.texts import name_token
from bertviz_core.ui.frame.labels import read_escaped
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.charts import MANY_CELLS
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived, show_values
from bertviz_core.ui.panels.passes import show_passes_chart, tell_words
from bertviz_core.ui.panels.said import tell_short, tell_token
from bertviz_core.ui.panels.worked import write_cosine
from bertviz_core.ui.walk.worked_out import pick_cosines

_PATHS = 24  # more would be a thicket
_OF_ALL = "embeddings.LayerNorm and every encoder.layer.{i}.output.LayerNorm"
_HEIGHT = 268  # pixels of the pictures in the second row
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
            f"The Euclidean norm of each row of X. {_tell_normalized(view)}",
            worked,
        ),
        values=Values(found.T, label_tokens(view.trace), name_stages(view)),
        note="One row per token, one column per stage: the embeddings, then after each layer. The mean norm "
        f"{_tell_ends(*(format_short(float(mean[i])) for i in (0, -1)))}.",
    )


def _tell_ends(first: str, last: str) -> str:
    """From what to what a number goes, as both are written."""
    return f"is {first} at both ends" if first == last else f"goes from {first} to {last}"


def _tell_normalized(view: View) -> str:
    """What the norms depend on: of stages that a change lets end otherwise this is not said."""
    norms = [Address.in_layer(i, "output.LayerNorm") for i in range(view.trace.model.config.num_hidden_layers)]
    every = (Address("embeddings.LayerNorm"), *norms)
    parts = (*every, *(norm.enter(part) for norm in every for part in ("mean", "variance", "normalized")))
    if all(gives_normalized(view.trace, each) for each in norms) and not any(is_put(view.trace, x) for x in parts):
        return "Every stage ends with a LayerNorm, so the norm depends mostly on its γ."
    return "Where a stage ends with a LayerNorm, the norm depends mostly on its γ; a change lets some end otherwise."


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
    if len(found) == 1:
        only = Claim("only cosine", "In the only layer it is {cosine} on average.", parts)
        return say(only) if known.all() else say(only, f" {NO_DIRECTION}")
    said = say_smallest(
        ("lowest cosine", "Layer {layer} has the lowest cosine: {cosine} on average."),
        ("no lower cosine", "No layer has a lower cosine than layer {layer}: {cosine} on average."),
        parts,
        means,
        (most,),
    )
    return said if known.all() else say(said, f" {NO_DIRECTION}")


def show_resemblance(view: View) -> None:
    """Which tokens point the same way after the chosen layer."""
    names, address = label_tokens(view.trace), layers.list_stages(view.trace)[view.chosen.layer + 1]
    found = layers.compute_cosines(view.trace[address])
    shown = center_range(view.chosen.token, int(MANY_CELLS**0.5), len(names))
    numbers = has_room(len(shown)) and not view.outcome.compared
    own = f", in hundredths for {name_token(view.trace.tokens, view.chosen.token)}" if numbers else ""
    after = f"after layer {view.chosen.layer}{own}"
    heading = Heading("Who comes together", after, _write_pair(view), layers.OF_ANGLES)
    with open_card(view, NORM, heading, f"from {address}", name="cosines") as tools:
        with tools:
            show_values("cosines", Values(found, names, names))
        show_passes_chart(
            view,
            [_draw_resemblance(one, address, shown, numbers=numbers) for one in view.passes],
            "cosines",
            f"Cosine similarity of the tokens after layer {view.chosen.layer}",
        )
        part = f"Shown: tokens {shown.start}–{shown.stop - 1} of {len(names)}." if len(shown) < len(names) else ""
        if told := " ".join(filter(None, (tell_words(view).strip(), part, _tell_missing(view, found)))):
            st.caption(told)


def _draw_resemblance(view: View, address: Address, shown: range, *, numbers: bool) -> Chart:
    """The cosines as square cells; a token's with itself, always 1, would only bleach the others. numbers: those of the
    chosen one stand in its row."""
    words, own = tell_tokens_apart(view.trace, shown), slice(shown.start, shown.stop)
    part = layers.compute_cosines(view.trace[address])[own, own].copy()
    np.fill_diagonal(part, np.nan)
    return draw_heatmap(
        part,
        Side("", words, shown.start),
        Side("", words, shown.start, labelled=len(shown) <= NAMED),
        view.colors,
        NORM,
        end=1.0,
        selected=view.chosen.token,
        square=True,
        height=_HEIGHT,
        numbers=numbers,
    ).offer(pick_cosines(address))


def _tell_missing(view: View, found: np.ndarray) -> str:
    """That some cosines are undefined, where some are. found: (token, token)."""
    real = view.trace.encoding.real
    return NO_DIRECTION if np.isnan(found[np.ix_(real, real)]).any() else ""


def _write_pair(view: View) -> str:
    x, y = (rf"{_write_x(view, str(view.chosen.layer + 1))}_{{{axis},:}}" for axis in "tu")
    return rf"\cos({x}, {y})"


def tell_nearest_on_the_way(view: View) -> Said:
    """Which other token's vector points most the same way after the chosen layer."""
    token, tokens, layer = view.chosen.token, view.trace.tokens, view.chosen.layer
    found = layers.compute_cosines(view.guide.trace[layers.list_stages(view.trace)[layer + 1]])
    near = layers.find_nearest(found, view.trace, token)
    parts = {"cosine": tell_short(found[token, near]), "near": tell_token(tokens, near), "layer": Part(layer)}
    own = {"token": tell_token(tokens, token)}
    if near == token and np.isnan(found[token]).any():
        return say(Claim("bold line, undefined", "{token} is nearest to none.", own), f" {NO_DIRECTION}")
    if near == token:
        return say(Claim("bold line, alone", "{token} is the only token.", own))
    compared = [i for i in layers.list_others(view.trace, token) if not np.isnan(found[token, i])]
    return say_largest(
        ("bold line", "bold: {near}, nearest after layer {layer} ({cosine})"),
        ("bold line, with others", "bold: {near}; none is nearer after layer {layer} ({cosine})"),
        parts,
        found[token, compared],
        (compared.index(near),),
    )


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
        "resemblance",
        "Who comes near",
        draw_resemblance(
            found[others],
            tell_tokens_apart(view.trace, others),
            _name_shortly(stages),
            near,
            at,
            view.colors,
            view.colors.kinds[NORM],
        ),
        Origin(
            _OF_ALL,
            NORM,
            rf"\cos({_write_x(view, 'i')}_{{t,:}}, {_write_x(view, 'i')}_{{u,:}})",
            read_escaped(tell_nearest_on_the_way(view).text),
            write_cosine(rows[token], rows[other], f"{_write_row(at, token)}, {_write_row(at, other)}"),
            layers.OF_ANGLES,
        ),
        values=Values(found[others], [names[i] for i in others], stages),
    )


def _name_shortly(stages: Sequence[str]) -> list[str]:
    """The stages as a narrow chart calls them: E for the embeddings, then the layers' numbers."""
    return ["E", *map(str, range(len(stages) - 1))]


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
    values = Values(
        found.points.transpose(1, 0, 2).reshape(-1, layers.COMPONENTS),
        [f"{token}, {stage_name}" for token in names for stage_name in stages],
        titles,
    )
    figure = draw_paths(
        found.points[:, shown.start : shown.stop, :count],
        [names[i] for i in shown],
        stages,
        titles,
        view.colors,
        view.colors.kinds[NORM],
        chosen=view.chosen.token - shown.start,
        at=stage,
    )
    return Derived(
        f"paths-{count}",
        f"Path of every token through the layers, in {name} dimensions",
        figure,
        Origin(
            _OF_ALL,
            NORM,
            _write_components(view),
            _tell_components(view),
            _write_component(view, found, count - 1),
            "Pearson 1901; computed by singular value decomposition",
        ),
        values=values,
        note=_describe(name, stages, stage, found.shares[:count]) + part,
    )


def _tell_components(view: View) -> str:
    """What the directions are, and of which tokens: those that count in no mean have points, but no part in them."""
    some = "" if all(view.trace.encoding.mask) else " with attention mask 1"
    return (
        f"Principal components: the directions along which the vectors of all tokens{some} at all stages vary most. "
        "All stages use one basis, so each line shows how the layers move one token."
    )


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
