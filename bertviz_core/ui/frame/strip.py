"""The strip of What if, docked below the page: something at a part of its strength, and the answers while one drags."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import streamlit as st

from bertviz_core.analysis.ablation import cut_place, list_outcomes
from bertviz_core.analysis.change_names import name_place
from bertviz_core.analysis.predictions import PROBS, find_answered
from bertviz_core.analysis.strengths import STEPS, Strengths, scale, try_strengths
from bertviz_core.figures.palette import Palette
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_percent
from bertviz_core.formula.texts import name_token
from bertviz_core.sharing.findings import Found
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.components.colors import list_colors
from bertviz_core.ui.components.loading import load_component
from bertviz_core.ui.frame import choices, state
from bertviz_core.ui.frame.findings import Wanted, look_again, tell_progress
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.state import Sent
from bertviz_core.ui.frame.strip_fields import show_fields
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.walked import read_cell
from bertviz_core.ui.frame.what_if import OFFERED, OFFERS, SLID, TABS, add_changes, read_asked, show_offers

_STRIP: Key[Sent] = Key("what-if-slider", None)
_ANSWERS = 6
_READING = "bar: now · outline: as it is · every step is a pass of its own"
_strip = load_component("what_if")


@st.fragment
def show_strip(view: View) -> None:
    """The strip, where it is open; it closes where the pass has no such place, or nothing that could change."""
    choices.rerun_if_asked()
    place = _read_place(view.outcome.after)
    if place is None:
        return
    with st.container(key="what-if-strip", gap=None):
        if _choose_tab() == OFFERS:
            _show_offers(view)
            return
        where = show_fields(view.outcome.after, place)
        found, outcomes = _look(view, where)
        _draw(view, where, outcomes, found)
        if not found.over:
            look_again("strip")


def _choose_tab() -> str | None:
    """What is offered: changes of a word, and of the head and the layer that are looked at, or the slider."""
    with st.container(key="what-if-tabs", width="content"):
        state.write(OFFERED, state.read(OFFERED))  # which outlives the strip, unlike what only its control says
        return st.segmented_control(
            "What is changed", TABS, key=OFFERED.name, required=True, label_visibility="collapsed", width="content"
        )


def _show_offers(view: View) -> None:
    with st.container(key="what-if-offers", gap=None):
        with st.container(key="what-if-offered", horizontal=True, vertical_alignment="center"):
            st.html("<b>What if</b>", width="stretch")
            st.button("Close", key="what-if-close", on_click=_cancel)
        show_offers(view.outcome.after, view.chosen)


def _look(view: View, where: Address) -> tuple[Found[Strengths], Mapping[str, Address]]:
    """What is known of the answers while this is scaled, and which these are; none of what cannot be scaled."""
    trace, token = _take_back(view, where), find_answered(view.outcome.before, view.chosen.token)
    outcomes = remember(trace, f"answers at {token}", partial(list_outcomes, trace, token, _ANSWERS))
    addresses = tuple(outcomes.values())[:_ANSWERS]
    if not addresses or not _slides(trace, where):
        return Found(over=True, done=1.0), outcomes
    wanted = Wanted(("strengths", where, addresses), trace, partial(try_strengths, trace, where, addresses))
    return wanted.look(), outcomes


def _slides(trace: Trace, where: Address) -> bool:
    """Whether it can be scaled: an input is a whole number."""
    return where.path in trace.program.by_address


def _read_place(trace: Trace) -> Address | None:
    place = read_cell(state.read(SLID))
    there = isinstance(place, Address) and place in trace and place.path not in trace.model.parameters
    return place if isinstance(place, Address) and there else None


def _take_back(view: View, where: Address) -> Trace:
    """The pass as it is but for what was changed at this address."""
    after = view.outcome.after
    others = {each: value for each, value in after.changes.items() if each != where}
    if len(others) == len(after.changes):
        return after
    return view.outcome.before.with_changes(others)


def _draw(view: View, where: Address, outcomes: Mapping[str, Address], found: Found[Strengths]) -> None:
    names = [cut_place(name) for name in outcomes][:_ANSWERS]
    values = np.full((STEPS + 1, len(names)), np.nan) if found.value is None else found.value.values
    end = float(np.nan_to_num(values).max()) or 1.0
    _strip(
        key=_STRIP.name,
        data={
            "where": str(where),
            "slides": _slides(view.outcome.before, where),
            "what": name_place(view.outcome.before, where),
            "step": _read_step(where),
            "answers": [_list_answer(*each, end) for each in zip(names, values.T, strict=True)],
            "note": tell_progress(found, "the passes run") or _tell_reading(view),
            "colors": _list_colors(view.colors),
        },
        on_apply_change=state.on_event(_STRIP, "apply", partial(_apply, where), state.is_number),
        on_cancel_change=_cancel,
    )


def _tell_reading(view: View) -> str:
    """How the bars are read, and where their words are predicted."""
    before = view.outcome.before
    at = f"at {name_token(before.tokens, find_answered(before, view.chosen.token))} · " if PROBS in before else ""
    return f"{at}{_READING}"


def _list_colors(palette: Palette) -> dict[str, str]:
    return {**list_colors(palette), "track": palette.zero, "bar": palette.cells["prediction"]}


def _read_step(where: Address) -> int:
    """Where the slider stands at first: at what was changed already, else at full strength."""
    asked = read_asked().get(where)
    if asked == 0:  # as it is switched off elsewhere
        return 0
    named = {str(change[where]): step for step in range(STEPS) for change in [scale(where, step)]}
    return named.get(str(asked), STEPS)


def _list_answer(name: str, shares: np.ndarray, end: float) -> dict[str, object]:
    """One answer at every strength."""
    known = [None if np.isnan(share) else float(share) for share in shares]
    full = known[STEPS]
    return {
        "name": name,
        "parts": [None if share is None else share / end for share in known],
        "texts": ["…" if share is None else format_percent(share) for share in known],
        "differences": ["" if share is None or full is None else _write_difference(share - full) for share in known],
    }


def _write_difference(part: float) -> str:
    """A difference of two shares in percentage points: `−1.0`; nothing where it is written as 0."""
    text = f"{100 * part:+.1f}"
    return "" if float(text) == 0 else text.replace("-", "\N{MINUS SIGN}")


def _apply(where: Address, step: int) -> None:
    state.write(SLID, "")
    if 0 <= step < STEPS:
        add_changes(scale(where, step), from_fragment=True)
    choices.ask_for_rerun()


def _cancel() -> None:
    state.write(SLID, "")
    choices.ask_for_rerun()
