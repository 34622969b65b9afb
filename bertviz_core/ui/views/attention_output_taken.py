"""What one token takes from every other: weight times length of value, in the chosen head and in all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from bertviz_core.analysis.attention import share_sum
from bertviz_core.analysis.claims import Claim, Part, Relation, Said, choose, say
from bertviz_core.analysis.labels import label_tokens, tell_tokens_apart
from bertviz_core.figures.base import Chart
from bertviz_core.figures.taken import BarColumn, Squares, draw_bar_columns, draw_taken_squares
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import Form, format_latex, format_short, write_column
from bertviz_core.formula.steps import ATTENTION, VALUE
from bertviz_core.formula.texts import name_token, write_count
from bertviz_core.programs.names import CONTEXT, SELF_ATTENTION
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.panels.passes import show_passes_chart, tell_ghosts
from bertviz_core.ui.panels.put import tell_put
from bertviz_core.ui.panels.said import tell_others, tell_percent, tell_short, tell_token
from bertviz_core.ui.views.attention_output_bringing import SHOWN, Bringing, Contrast, read_bringing
from bertviz_core.ui.walk.worked_lengths import find_length, find_taken


def list_outputs(view: View) -> list[Address]:
    """The cells of the chosen head's output at the chosen token."""
    context, width = CONTEXT.in_layer(view.chosen.layer), view.trace.model.config.head_dim
    first = view.chosen.head * width
    return [context.fix(token=view.chosen.token, concat=i) for i in range(first, first + width)]


def write_headline(view: View) -> Said:
    """Of which token the chosen head takes most; and which much larger weight brings less than that."""
    found, tokens = read_bringing(view), view.trace.tokens
    row = found.taken[found.head]
    if (found.found.weights < 0).any() and row.any():
        return _tell_below(found, view.chosen.token, tokens)
    asks, head = tell_token(tokens, view.chosen.token), Part(found.head)
    most = tell_short(row[found.best])
    parts = {"taken": most, "asks": asks, "gives": tell_token(tokens, found.best), "head": head}
    first = choose(
        Claim(
            "takes nothing", "{asks} takes **nothing** in head {head}", {"asks": asks, "head": head}, Relation.NONE, row
        ),
        Claim(
            "takes most",
            "{asks} takes **{taken}** from **{gives}** in head {head}",
            parts,
            Relation.LARGEST,
            row,
            (found.best,),
        ),
        Claim(
            "takes as much",
            "{asks} takes from no token more than from **{gives}: {taken}** in head {head}",
            parts,
            Relation.HIGHEST,
            row,
            (found.best,),
        ),
    )
    return first if found.contrast is None else say(first, _tell_contrast(found.contrast, tokens, most))


def _tell_below(found: Bringing, token: int, tokens: Sequence[str]) -> Said:
    """Of a change's weights below 0, whose values are taken off and not taken: which weighted value is longest."""
    row, weight = found.taken[found.head], float(found.found.weights[found.head, found.best])
    parts = {
        "length": tell_short(row[found.best]),
        "asks": tell_token(tokens, token),
        "key": tell_token(tokens, found.best),
        "head": Part(found.head),
        "way": Part("taken off, as its weight is below 0" if weight < 0 else "added"),
    }
    asks, which = "What does {asks} take? ", "that of **{key}: {length}**, {way}"
    return choose(
        Claim(
            "longest weighted value",
            f"{asks}The longest weighted value in head {{head}} is {which}",
            parts,
            Relation.LARGEST,
            row,
            (found.best,),
        ),
        Claim(
            "no longer weighted value",
            f"{asks}No weighted value in head {{head}} is longer than {which}",
            parts,
            Relation.HIGHEST,
            row,
            (found.best,),
        ),
    )


def _tell_contrast(other: Contrast, tokens: Sequence[str], most: Part) -> Said:
    """That of a much larger weight less is taken than the most that the chosen head takes."""
    less = {
        "most": most,
        "less": tell_short(other.taken),
        "key": tell_token(tokens, other.key),
        "weight": tell_percent(other.weight),
        "other": Part(other.head),
    }
    form = ". Weight is not all: {key} has **{weight}** of head {other} and brings **{less}**"
    return choose(Claim("takes less", form, less, Relation.ABOVE), say())


def show_taken(view: View) -> None:
    """Per token: weight, length of value, taken, part of the sum; beside it the same in all heads, on the same rows."""
    found = read_bringing(view)
    one, every = st.columns([8, 5], gap="small")
    with one:
        _show_one(view, found)
    with every:
        _show_every(view, found)


def _show_one(view: View, found: Bringing) -> None:
    """The chosen head, as columns of bars."""
    token, own = name_token(view.trace.tokens, view.chosen.token), SELF_ATTENTION.in_layer(view.chosen.layer)
    context = view.trace.step(own.enter("context"))
    weights = own.enter("probs").fix(head=found.head, query=view.chosen.token)
    heading = Heading(
        f"What {token} takes from each token",
        f"head {found.head}: weight × length of value",
        _write_formula(view, found),
        context.source,
        find_taken(weights.fix(key=found.best)),
        _write_worked(view, found),
    )
    with open_card(view, VALUE, heading, f"from {own.enter('probs')} and {own.enter('value')}"):
        show_passes_chart(
            view,
            [_draw_one(one, read_bringing(one)) for one in view.passes],
            "taken",
            f"What {token} takes from each token in head {found.head}",
        )
        ghosts = tell_ghosts(*_read_ghosts(view, found, rest=False))
        if note := f"{ghosts}{_note_rows(view, found)}{tell_put(view, *list_outputs(view))}".strip():
            st.caption(note)


def _show_every(view: View, found: Bringing) -> None:
    """All heads, as squares: framed the weight, filled what is taken."""
    own = SELF_ATTENTION.in_layer(view.chosen.layer)
    every = f"all {len(found.taken)} heads" if len(found.taken) > 1 else "the only head"
    heading = Heading(f"The same in {every}", "", _write_result(view), "frame: weight; filled: taken")
    with open_card(view, VALUE, heading, own.enter("value")) as tools:
        with tools:
            heads = [f"head {i}" for i in range(len(found.taken))]
            show_values("taken-by-head", Values(found.taken.T, label_tokens(view.trace), heads))
        charts = [_draw_every(one, read_bringing(one)) for one in view.passes]
        show_passes_chart(view, charts, "taken-by-head", "What the chosen token takes from each token in every head")


def _list_rows(view: View, found: Bringing) -> list[str]:
    """The drawn tokens, and what the others are together."""
    names, others = tell_tokens_apart(view.trace, found.shown), found.others
    return names + ([write_count(others, "other")] if others else [])


def _draw_one(view: View, found: Bringing) -> Chart:
    names = _list_rows(view, found)
    rest = len(names) > len(found.shown)
    total = float(np.linalg.norm(found.parts.sum(axis=0)))
    attention, value = view.colors.kinds[ATTENTION], view.colors.kinds[VALUE]
    weight, length, taken, part = _list_columns(found, found.shown, rest)
    ghosts = _read_ghosts(view, found, rest)
    sums = found.sum_of_weights, np.nan, total, 1.0 if total else 0.0
    longest = max(found.found.longest, float(found.found.lengths[:, found.shown].max()))
    given, long, brought = _list_cells(view, found, 1 + rest)
    return draw_bar_columns(
        [*names, "sum"],
        [
            BarColumn(
                "weight",
                weight,
                _write(weight, "percent", sums[0]),
                attention,
                1.0,
                given,
                percent=True,
                ghosts=ghosts[0],
            ),
            BarColumn("× length", length, _write(length, "short", sums[1]), value, longest, long, ghosts=ghosts[1]),
            BarColumn("= taken", taken, _write(taken, "short", sums[2]), value, None, brought, ghosts=ghosts[2]),
            BarColumn("of the sum", part, _write(part, "percent", sums[3]), value, percent=True, ghosts=ghosts[3]),
        ],
        view.colors,
        marked=[found.shown.index(found.best)],
        last=True,
    )


def _list_columns(found: Bringing, shown: Sequence[int], rest: bool) -> list[np.ndarray]:
    """The weights of the chosen head, the lengths of the values, what is taken, and its shares of the sum. Each (row,):
    the shown tokens, where there are others these together, NaN for the sum."""
    shares, weights, taken = share_sum(found.parts), found.found.weights[found.head], found.taken[found.head]
    others = np.delete(found.parts, shown, axis=0).sum(axis=0)
    columns = (
        (weights, np.delete(weights, shown).sum()),
        (found.found.lengths[found.head], np.nan),
        (taken, np.linalg.norm(others)),
        (shares, np.delete(shares, shown).sum()),
    )
    return [np.array([*row[shown], *([other] if rest else []), np.nan], dtype=np.float64) for row, other in columns]


def _read_ghosts(view: View, found: Bringing, rest: bool) -> list[np.ndarray | None]:
    """The same columns before a change, each None where it is no other."""
    after = _list_columns(found, found.shown, rest)
    if view.ghost is None:
        return [None] * len(after)
    before = _list_columns(read_bringing(view.unchanged), found.shown, rest)
    return [None if np.array_equal(was, now, equal_nan=True) else was for was, now in zip(before, after, strict=True)]


def _list_cells(view: View, found: Bringing, sums: int) -> tuple[list[str], list[str], list[str]]:
    """Of every drawn token its weight, the length of its value, and what is taken. sums: rows behind these."""
    own = SELF_ATTENTION.in_layer(view.chosen.layer)
    weights = [own.enter("probs").fix(head=found.head, query=view.chosen.token, key=key) for key in found.shown]
    values = [own.enter("value").fix(head=found.head, key=key) for key in found.shown]
    columns = weights, map(find_length, values), map(find_taken, weights)
    given, long, brought = ([*map(str, column), *[""] * sums] for column in columns)
    return given, long, brought


def _write(numbers: np.ndarray, form: Form, last: float) -> list[str]:
    """A column of numbers as texts, nothing for what is none. last: in place of the last one."""
    every = np.append(numbers[:-1], last)
    known = iter(write_column(every[~np.isnan(every)].tolist(), form))
    return ["" if np.isnan(x) else next(known) for x in every]


def _draw_every(view: View, found: Bringing) -> Chart:
    own = SELF_ATTENTION.in_layer(view.chosen.layer)
    names = tell_tokens_apart(view.trace, found.shown)
    cells = [
        str(own.enter("probs").fix(head=head, query=view.chosen.token, key=key))
        for head in range(len(found.taken))
        for key in found.shown
    ]
    sums = [f"{length:.1f}" if length < 100 else f"{length:.0f}" for length in found.sums.tolist()]
    shown = Squares(found.found.weights[:, found.shown], found.taken[:, found.shown], sums, cells)
    return draw_taken_squares(shown, names, found.head, view.colors)


def _note_rows(view: View, found: Bringing) -> str:
    """Which tokens are drawn, if not all; and what weights below 0 do, where a change put any."""
    shown = ""
    if found.others:
        taken = found.taken[found.head]
        others = tell_others(view.trace, taken, found.shown, SHOWN)
        most = f"Shown: {len(found.shown)}, those of which head {found.head} takes most{others}."
        same = f"Shown: {len(found.shown)}; of each token head {found.head} takes {format_short(float(taken[0]))}."
        shown = most if np.ptp(taken[list(found.found.real)]) else same
    if not (found.found.weights < 0).any():
        return shown
    signs = "Where a change puts a weight below 0, the value is taken off: lengths and areas are those of its size."
    return f"{signs} {shown}".strip()


def _write_symbols(view: View, found: Bringing) -> tuple[str, str]:
    """The weight and the value of which most is taken, in letters."""
    own = SELF_ATTENTION.in_layer(view.chosen.layer)
    a, v = (style.make_painter(view.colors)(view.trace.step(own.enter(name)).output) for name in ("probs", "value"))
    i, t, u = found.head, view.chosen.token, found.best
    return rf"{a}_{{{i},{t},{u}}}", rf"{v}_{{{i},{u},:}}"


def _read_best(found: Bringing) -> tuple[float, float]:
    """That weight, and how long that value is."""
    weights, lengths = found.found.weights, found.found.lengths
    return float(weights[found.head, found.best]), float(lengths[found.head, found.best])


def _write_formula(view: View, found: Bringing) -> str:
    """The taken length as a product, of the token of which most is taken."""
    share, vector = _write_symbols(view, found)
    size = rf"\lvert {share} \rvert" if _read_best(found)[0] < 0 else share
    return rf"\lVert {share}\,{vector} \rVert = {size}\,\lVert {vector} \rVert"


def _write_worked(view: View, found: Bringing) -> str:
    """The same with its numbers."""
    weight, length = map(abs, _read_best(found))
    worked = rf"{format_latex(weight)} \cdot {format_latex(length)} = {format_latex(weight * length)}"
    return style.break_lines(f"{_write_formula(view, found)} = {worked}")


def _write_result(view: View) -> str:
    """What every head gives: the sum of all values by their weights."""
    own, t = SELF_ATTENTION.in_layer(view.chosen.layer), view.chosen.token
    a, v = (style.make_painter(view.colors)(view.trace.step(own.enter(name)).output) for name in ("probs", "value"))
    return rf"z_{{h}} = {a}_{{h,{t},:}}\, {v}_{{h}}"
