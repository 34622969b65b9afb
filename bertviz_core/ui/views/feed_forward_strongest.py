"""The neurons that write most at one token: where else they speak, and what the answer is without each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path

import numpy as np
import streamlit as st

from bertviz_core.analysis.ablation import cut_place, find_outcomes
from bertviz_core.analysis.feed_forward import Neurons, measure_neurons
from bertviz_core.analysis.labels import tell_tokens_apart
from bertviz_core.analysis.neurons import ACTIVATION
from bertviz_core.analysis.pushes import WORDS, Push, Pushes, push_each
from bertviz_core.analysis.ranking import center_range
from bertviz_core.figures.tints import tint_cell
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number, format_percent, format_short, write_fixed
from bertviz_core.formula.steps import FFN
from bertviz_core.sharing.findings import Found
from bertviz_core.tracing.identity import name_pass
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.findings import WAITS, Wanted, show_finding, tell_progress
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import table_html
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.passes import show_passes_html, tell_ghosts, tell_words

SHOWN = 12  # neurons in the table
_TOKENS = 24  # of which a strip has room
_STYLE = read_css(Path(__file__).with_name("feed_forward.css"))


@dataclass(frozen=True)
class Without:
    """What the table has of the answer. name: of the column; changes: by how much it is more without each neuron;
    pushes: which words each neuron pushes, as HTML; none where the answer is no word."""

    name: str
    changes: Sequence[str]
    pushes: Sequence[str] = ()


def measure(view: View) -> Neurons:
    """The neurons of the chosen token in the chosen layer."""
    return measure_neurons(view.trace, view.chosen.layer, view.chosen.token)


def show_strongest(view: View) -> None:
    """The neurons that write the longest vectors, longest first, with what the answer is without each."""
    output, neurons = Address.in_layer(view.chosen.layer, "output.dense"), measure(view)
    top = neurons.strongest(SHOWN)
    answer = next(iter(find_outcomes(view.guide.trace, view.chosen.token).items()), None)
    after = f" after {view.outcome.yours}" if view.outcome.compared else ""
    see, says = f"The {len(top)} that write most", f"their vectors, longest first{after}"
    if not neurons.lengths.any():
        see, says = "None writes anything", f"{len(top)} of them: vectors of 0{after}"
    heading = Heading(
        see, f"{says}; and the answer without each" if answer else says, _write_written(view), "of neuron j"
    )
    with open_card(view, FFN, heading, output.enter("weight")):
        st.html(_STYLE)
        if answer is None:
            show_passes_html(view, [render_neurons(one, top) for one in view.passes])
            if before := _tell_before(view, top):
                st.caption(before)
        else:
            name, cell = answer
            asked = _ask_without(view, cell, top)
            show_finding("strongest", asked, partial(_draw_without, view, top, cut_place(name), cell))


def _ask_without(view: View, answer: Address, top: list[int]) -> Wanted[tuple[Pushes, ...]]:
    """The finding: the answer with each of these neurons set to 0 at the chosen token, in every pass shown."""
    cells, traces = _list_activations(view, top), tuple(one.trace for one in view.passes)
    return Wanted(
        ("neurons", answer, cells, *map(name_pass, traces)), view.trace, partial(push_each, traces, answer, cells)
    )


def _list_activations(view: View, neurons: list[int]) -> tuple[Address, ...]:
    after = ACTIVATION.in_layer(view.chosen.layer).fix(token=view.chosen.token)
    return tuple(after.fix(intermediate=i) for i in neurons)


def _draw_without(view: View, top: list[int], name: str, answer: Address, found: Found[tuple[Pushes, ...]]) -> None:
    """The table as far as it is known, and under it how much the answer has with all neurons."""
    known, cells = found.value or ({},) * len(view.passes), _list_activations(view, top)
    bodies = []
    for one, pushes in zip(view.passes, known, strict=True):
        value, each = float(one.trace.recomputed(answer)), [pushes.get(cell, WAITS) for cell in cells]
        words = [_render_push(one, push) for push in each] if WORDS in answer.at else []
        without = Without(f"{name} without it", [_write_change(push, value) for push in each], words)
        bodies.append(render_neurons(one, top, without))
    show_passes_html(view, bodies)
    value = format_percent(float(view.trace.recomputed(answer)))
    whole = "as changed" if view.trace.changes else "with all neurons"  # which a change may have set to 0 as well
    moved = " ↑ falls most without it, ↓ rises most."
    st.caption(
        tell_progress(found, "the neurons set to 0")
        or f"{_tell_before(view, top)}{tell_words(view)}{escape_markdown(name)} has {value} {whole}; "
        f"pt: percentage points.{moved if WORDS in answer.at else ''}"
    )


def _write_change(push: Push | str | None, value: float) -> str:
    """By how much the answer is more without a neuron, in percentage points: `+0.55 pt`, `−2.28 pt`; a dash
    where it cannot be set to 0."""
    if push is None:
        return "–"
    if isinstance(push, str):
        return push
    points = 100 * (push.without - value)
    return f"{'+' * (points >= 0.005)}{write_fixed(points, 2)} pt"


def _render_push(view: View, push: Push | str | None) -> str:
    """The words that a neuron pushes up and down most: `↑ people ↓ king`."""
    if not isinstance(push, Push):
        return push or "–"
    name = view.trace.model.tokenizer.name
    moved = [(sign, name(i)) for sign, i in (("↑", push.up), ("↓", push.down)) if i is not None]
    shown = (f'<i title="{escape(word)}">{sign}\N{NO-BREAK SPACE}{escape(word)}</i>' for sign, word in moved)
    return " ".join(shown) or "–"


def _write_written(view: View) -> str:
    """What one neuron, j, writes: its activation times its row of the second matrix; and how long that is."""
    step = view.trace.step(Address.in_layer(view.chosen.layer, "output.dense"))
    g, w, _ = (leaf.latex(style.make_painter(view.colors)) for leaf in step.leaves)
    return rf"\lvert {g}_{{j}}\, {{{w}}}_{{j,:}} \rvert = \lvert {g}_{{j}} \rvert\, \lvert {{{w}}}_{{j,:}} \rvert"


def render_neurons(view: View, top: list[int], without: Without | None = None) -> str:
    """One row a neuron: where it speaks, what comes out at the chosen token, what it writes.

    without: what is known of the answer without each; by default the last column is the share of the sum.
    """
    found, token = measure(view), view.chosen.token
    now, was = _read_lengths(view, top).tolist()
    after = ACTIVATION.in_layer(view.chosen.layer).fix(token=token)
    strips, end = _render_strips(view, top)
    longest = max(*now, *was) or 1.0
    given = without or Without("share of sum", [format_percent(float(found.shares[i])) for i in top])
    rows = []
    for row, i in enumerate(top):
        cell = after.fix(intermediate=i)
        pushed = [f'<td class="bv-pushes">{given.pushes[row]}</td>'] if given.pushes else []
        rows.append(
            table_html.write_row(
                f'<button data-cell="{cell}">{i}</button>',
                (
                    f'<td class="bv-fires"><div>{strips[row]}</div></td>',
                    f'<td><button data-cell="{cell}">{format_number(float(found.after[i]))}</button></td>',
                    f"<td>{_render_length(now[row], was[row], longest, view.colors.cells[FFN])}</td>",
                    *pushed,
                    f"<td>{given.changes[row]}</td>",
                ),
            )
        )
    names = ("neuron", f"at each token, ±{format_short(end)}", "activation", "length written")
    heads = table_html.write_heads((*names, *["pushes most"] * bool(given.pushes), escape(given.name)))
    table = table_html.write_table(heads, rows)
    return table_html.write_region("The neurons that write most", table, "bv-neurons", picture=True)


def _read_lengths(view: View, top: list[int]) -> np.ndarray:
    """(2, neuron) how long the vectors are that these neurons write, and before the changes; twice the same where that
    is not shown."""
    now = measure(view).lengths[top]
    return np.stack([now, now if view.ghost is None else measure(view.unchanged).lengths[top]])


def _render_length(length: float, was: float, longest: float, ink: str) -> str:
    """A bar, and below it, thin, what it was before the changes."""
    ghost = f'<u style="width:{was / longest:.0%}"></u>' if was != length else ""
    long = f'<i class="bv-long"><b style="width:{length / longest:.0%};background:{ink}"></b>{ghost}</i>'
    return f"{long}{format_short(length)}"


def _tell_before(view: View, top: list[int]) -> str:
    """To stand in the caption of lengths with bars of what they were."""
    now, was = _read_lengths(view, top)
    return tell_ghosts(None if np.array_equal(now, was) else was)


def _render_strips(view: View, top: list[int]) -> tuple[list[str], float]:
    """The activations of these neurons at each token, or at those around the chosen one, as a row of cells each; and
    the end of their scale."""
    trace, token = view.trace, view.chosen.token
    after, words = ACTIVATION.in_layer(view.chosen.layer), tell_tokens_apart(trace, range(len(trace.tokens)))
    shown = center_range(token, _TOKENS, len(trace.tokens))
    values = trace[after][shown.start : shown.stop, top].astype(np.float64).T
    end = float(np.abs(values).max(initial=0.0)) or 1.0
    strips = [
        "".join(
            f'<i data-cell="{after.fix(token=at, intermediate=i)}"{_own(at == token)} '
            f'title="{escape(words[at])}: {format_short(float(x))}" '
            f'style="background:{tint_cell(float(x) / end, FFN, view.colors).back}"></i>'
            for at, x in zip(shown, row, strict=True)
        )
        for i, row in zip(top, values, strict=True)
    ]
    return strips, end


def _own(chosen: bool) -> str:
    return ' class="bv-own"' if chosen else ""
