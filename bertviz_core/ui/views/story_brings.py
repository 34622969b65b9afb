"""Who brings what, where the story goes over to another token: attention, value and their product, token by token."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import streamlit as st

from bertviz_core.analysis.labels import tell_tokens_apart
from bertviz_core.analysis.parts import TERM
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number, format_percent, format_short
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.formula.texts import name_token
from bertviz_core.programs.names import ATTENTION_WEIGHTS, CONTEXT, VALUES
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.passes import tell_pass
from bertviz_core.ui.panels.tables import Column, render_table
from bertviz_core.ui.views.story_way import Story
from bertviz_core.ui.walk.explain import work_out

_MOST = 12  # tokens; of more, those that bring most


@dataclass(frozen=True, eq=False)
class Brought:
    """What a component of a head's output is the sum of. cell: that; weights, values: one a token that is looked at,
    terms: their products; followed: the place of the token to which the way goes over."""

    cell: Address
    weights: tuple[Address, ...]
    values: tuple[Address, ...]
    terms: np.ndarray
    followed: int

    @property
    def tokens(self) -> list[int]:
        return [weight.at["key"] for weight in self.weights]


def find_brought(view: View, story: Story, stop: int) -> Brought | None:
    """What is collected at the next change of token on the way from a stop, else at the last one before; None where
    the way stays at one token, or a change has made something else of attention."""
    cells = [turn.cell for turn in story.turns]
    places = [
        i for i, (one, other) in enumerate(pairwise(cells)) if (one.leaf, other.leaf) == (CONTEXT.path, VALUES.path)
    ]
    if not places:
        return None
    place = next((i for i in places if i >= story.stops[stop]), places[-1])
    found = work_out(view, cells[place]).found
    pairs = [tuple(_find(part.operands, leaf) for leaf in (ATTENTION_WEIGHTS.path, VALUES.path)) for part in found]
    if found.measure is not TERM or not all(weight and value for weight, value in pairs):
        return None
    weights, values = zip(*pairs, strict=True)
    return Brought(cells[place], weights, values, found.amounts, values.index(cells[place + 1]))


def _find(operands: tuple[Address, ...], leaf: str) -> Address | None:
    return next((one for one in operands if one.leaf == leaf), None)


def show_brought(view: View, brought: Brought) -> None:
    """A row a token: how much of it is taken, what it has, and what so arrives; marked: where the way goes on."""
    trace, cell = view.trace, brought.cell
    step, at = trace.step(cell), brought.cell.at
    head, component = divmod(at["concat"], trace.model.config.head_dim)
    says = f"layer {cell.layer}, head {head}, component {component}; marked: where the way goes on"
    see = f"Who brings what to {name_token(trace.tokens, at['token'])}"
    heading = Heading(see, says, view.typeset(step), step.source, cell)
    with open_card(view, ATTENTION, heading, cell, name="story-brings"):
        st.html(_render_brought(view, brought))
        count = len(brought.terms)
        more = f" The {_MOST} that bring most of {count} are listed." if count > _MOST else ""
        st.caption(f"{tell_pass(view)}All of it together: {format_number(float(trace[cell]))}.{more}")


def _render_brought(view: View, brought: Brought) -> str:
    trace, kinds = view.trace, view.colors.kinds
    shown = sorted(np.argsort(-np.abs(brought.terms), kind="stable")[:_MOST].tolist())
    weights, values = ([cells[i] for i in shown] for cells in (brought.weights, brought.values))
    taken, has = ([float(trace[cell]) for cell in cells] for cells in (weights, values))
    tokens = [brought.tokens[i] for i in shown]
    names = [tell_tokens_apart(trace, range(i, i + 1))[0] for i in tokens]
    columns = [
        Column("attention A", taken, kinds[ATTENTION], cells_of=weights, write=format_percent),
        Column("value V", has, kinds["value"], signed=True, cells_of=values, write=format_short),
        Column("A · V", brought.terms[shown].tolist(), kinds["value"], signed=True, write=format_short),
    ]
    return render_table("token asked", names, columns, {shown.index(brought.followed)}, ("token", tokens))
