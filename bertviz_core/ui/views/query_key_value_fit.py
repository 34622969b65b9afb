"""Which keys fit a query: each one's products with it, their sum, its angle, its length and the weight it gets."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bertviz_core.analysis.attention import Angles
from bertviz_core.analysis.labels import label_tokens
from bertviz_core.analysis.made_from import is_put
from bertviz_core.figures.thumbnails import draw_thumbnail
from bertviz_core.formula.numbers import format_number, write_column
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.ui.frame import site
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.aligned import Numbers, show_rows
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.panels.passes import read_ghost, show_passes, tell_ghosts
from bertviz_core.ui.panels.put import tell_way
from bertviz_core.ui.views.query_key_value import Place, locate, locate_products, measure_fit, read_word
from bertviz_core.ui.walk.worked_lengths import find_length
from bertviz_core.ui.walk.worked_out import find_angle

FITTING = 16  # keys in order of fit


def show_fit(view: View, place: Place) -> None:
    """The keys in order of how well they fit the chosen token's query: products, dot product, angle, length, weight."""
    trace, products = view.trace, view.trace[locate_products(view)]
    real = np.flatnonzero(trace.encoding.mask)
    order = sorted(real.tolist(), key=lambda i: (-products[i], i))
    shown = order if len(order) <= FITTING + 1 else order[:FITTING]
    if place.key not in shown:
        shown.append(place.key)
    step = trace.step(locate_products(view))
    heading = Heading(f"Which keys fit what {read_word(view)} asks?", "", view.typeset(step), step.source)
    with open_card(
        view, ATTENTION, heading, f"{locate(view, 'query', view.chosen.token)} and {locate(view, 'key')}"
    ) as tools:
        show_passes(view, lambda one: _show_fit(one, shown, place.key))
        with tools:
            terms, parts = measure_fit(view)
            weights = trace[locate(view, "probs", view.chosen.token)]
            show_values(
                "fit",
                Values(
                    np.column_stack([terms, parts.products, parts.known, parts.key_norms, weights]),
                    label_tokens(trace),
                    [
                        *(f"product {i}" for i in range(terms.shape[1])),
                        "dot product",
                        "cosine",
                        "length of k",
                        "weight",
                    ],
                ),
            )
        site.show_link(site.get_page("attention"), "Attention: the weights")


def _show_fit(view: View, shown: list[int], key: int) -> None:
    terms, parts = measure_fit(view)
    show_rows(view.trace, "key", shown, _list_fit(view, shown, terms, parts), key)
    _note_fit(view, shown, terms, parts)


def _list_fit(view: View, shown: list[int], terms: np.ndarray, parts: Angles) -> list[Numbers]:
    """The columns. Strips of products on one scale; the dot products are the recorded ones."""
    trace, color = view.trace, view.colors.kinds[ATTENTION]
    products, weights = trace[locate_products(view)], trace[locate(view, "probs", view.chosen.token)]
    angles = np.degrees(np.arccos(np.clip(parts.known, -1, 1)))
    fits = [locate_products(view).fix(key=i) for i in shown]
    gives = [locate(view, "probs", view.chosen.token).fix(key=i) for i in shown]
    strips = [
        draw_thumbnail(terms[i][None], view.colors, ATTENTION, end=float(np.abs(terms[shown]).max())) for i in shown
    ]
    dots = [float(products[i]) for i in shown]
    before, was = (() if ghost is None else ghost[shown].tolist() for ghost in _read_ghosts(view))
    return [
        Numbers(
            f"{terms.shape[1]} products", "q times k, component by component", [""] * len(shown), fits, pictures=strips
        ),
        Numbers(
            "Dot product",
            tell_way(view, locate_products(view), "their sum: how well it fits"),
            write_column(dots, "short"),
            fits,
            dots,
            max(map(abs, (*dots, *before))),
            color,
            before,
        ),
        Numbers(
            "Angle",
            "between q and k",
            ["–" if np.isnan(angles[i]) else f"{angles[i]:.0f}°" for i in shown],
            [cell if np.isnan(angles[i]) else find_angle(cell) for i, cell in zip(shown, fits, strict=True)],
        ),
        Numbers(
            "Length",
            "of k",
            write_column([float(parts.key_norms[i]) for i in shown], "short"),
            [find_length(locate(view, "key").fix(key=i)) for i in shown],
        ),
        Numbers(
            "Weight",
            tell_way(view, locate(view, "probs", view.chosen.token), _tell_weighing(view)),
            write_column([float(weights[i]) for i in shown], "percent"),
            gives,
            [float(weights[i]) for i in shown],
            1.0,
            color,
            was,
        ),
    ]


def _read_ghosts(view: View) -> list[np.ndarray | None]:
    """The dot products and the weights before a change."""
    return [read_ghost(view, place) for place in (locate_products(view), locate(view, "probs", view.chosen.token))]


def _note_fit(view: View, shown: list[int], terms: np.ndarray, parts: Angles) -> None:
    total = len(view.trace.encoding.real)
    end = float(np.abs(terms[shown]).max())
    after = f" after {view.outcome.yours}" if view.outcome.half else ""
    st.caption(
        f"{tell_ghosts(*_read_ghosts(view))}Best fit first{after}; choose a key to compare with that one. "
        f"The query's length is {format_number(parts.query_norm)}. {_tell_scale(end)}"
        + (f" Shown: {len(shown)} of {total} keys." if len(shown) < total else "")
    )


def _tell_scale(end: float) -> str:
    ends = f"Products are coloured from {format_number(-end)} to {format_number(end)}."
    return ends if end else "All products here are 0."


def _tell_weighing(view: View) -> str:
    """How a weight comes about from the dot product, unless a change puts other scores between them."""
    between = (locate(view, name, view.chosen.token) for name in ("scaled", "scores"))
    put = any(is_put(view.trace, each) for each in between)
    return "by softmax, of scores that a change puts" if put else "after scaling and softmax"
