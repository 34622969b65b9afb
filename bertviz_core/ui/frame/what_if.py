"""What if: the line of changes under the map, and what the docked strip offers to add to it."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import streamlit as st

from bertviz_core.analysis.change_names import name_change
from bertviz_core.analysis.labels import label_tokens
from bertviz_core.analysis.predictions import PROBS, find_answered
from bertviz_core.analysis.what_if import (
    Offer,
    change_epsilons,
    find_replaceable,
    list_shifts,
    offer_for_head,
    offer_for_layer,
    offer_for_token,
)
from bertviz_core.errors import InputError
from bertviz_core.formula.address import Address, Where
from bertviz_core.formula.numbers import choose_percent
from bertviz_core.formula.texts import name_token
from bertviz_core.programs.bert import TOKEN_IDS
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.changes import Changes, Listed, join_changes, read_changes, write_changes
from bertviz_core.tracing.planning import check_changes
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import choices, state, url
from bertviz_core.ui.frame.keys import CHANGES, SHOW, Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import AFTER, SHOWN, Outcome, Selection

_WORD, _EPSILON, _REPLACED = Key("what-if-word", ""), Key("what-if-epsilon", ""), Key("what-if-replaced", 0)
SLID = Key("what-if-slid", "")  # the address of what the strip is open for; none while it is closed
OFFERS, SLIDER = TABS = ("Word, head, layer", "Slide")  # of the strip
OFFERED = Key("what-if-tab", SLIDER)
_REMARK = Key("what-if-remark", "")
_TOP = 3


def run_changes(before: Trace, changes: Listed, run: Callable[..., Trace]) -> Outcome:
    """Run the pass again with changes, as far as they can be made."""
    good, wrong = check_changes(before.layout, before.encoding, changes)
    if not good:
        return Outcome(before, before, wrong)
    try:
        after = run(changes=good)
    except InputError as error:
        return Outcome(before, before, {**wrong, **dict.fromkeys(good, str(error))})
    return Outcome(before, after, wrong, read_shown())


def read_shown() -> str:
    """Which pass the panels show, as the URL has it."""
    show = state.read(SHOW)
    return show if show in SHOWN else AFTER


def show_line(found: Outcome, token: int) -> None:
    """One line: the changes, each with its undo; what they did to the answer; and which pass the panels show."""
    if not found.changed and not found.wrong:
        return
    with st.container(key="what-if-line", horizontal=True, vertical_alignment="center"):
        st.html("<b>What if</b>", width="content")
        _show_undo(found)
        if found.changed:
            with st.container(key="what-if-moves", width="stretch"):
                st.html(_render_moves(found, find_answered(found.before, token)))
            _choose_pass()
        if len(found.after.changes) + len(found.wrong) > 1:
            st.button("Undo all", key="undo-all", on_click=_write, args=({},), type="tertiary")
    for reason in dict.fromkeys(found.wrong.values()):
        st.warning(escape_markdown(f"A change cannot be made: {reason}"), icon=":material/warning:")


def _show_undo(found: Outcome) -> None:
    """Every change, and another model, as a button that takes it back."""
    for i, (where, label) in enumerate(_name_changes(found).items()):
        wrong = where in found.wrong
        st.button(
            escape_markdown(label),
            key=f"undo-{i}",
            icon=":material/warning:" if wrong else ":material/close:",
            on_click=undo_change,
            args=(where,),
            help=escape_markdown(f"Undo: {where}"),
        )
    if found.before.model is not found.after.model:
        label = f"{found.after.model.name} after, {found.before.model.name} before"
        st.button(
            escape_markdown(label),
            key="undo-models",
            icon=":material/close:",
            on_click=choices.compare_no_more,
            help="Compare with the other model no more",
        )


def _choose_pass() -> None:
    """Which pass the panels show."""
    url.bind(SHOW, SHOWN, AFTER)
    st.segmented_control(
        "Panels show",
        SHOWN,
        key=SHOW.name,
        required=True,
        label_visibility="collapsed",
        width="content",
        on_change=url.note_choice,
    )


def _name_changes(found: Outcome) -> dict[Where, str]:
    """The changes that were made, then those that cannot be, each as a label."""
    made = found.after.changes
    labels: dict[Where, str] = {where: name_change(found.before, where, value) for where, value in made.items()}
    return {**labels, **{where: str(where)[:60] for where in found.wrong}}


def _render_moves(found: Outcome, token: int) -> str:
    """What became of the likeliest words at a token: paired bars on one scale, after over before."""
    if PROBS not in found.after:
        return '<span class="bv-faint">This model predicts no words; the pages show what moved.</span>'
    every = list_shifts(found.before, found.after, token, _TOP)
    shifts = sorted(every, key=lambda shift: -max(shift.before, shift.after))[:_TOP]
    end = max((max(shift.before, shift.after) for shift in shifts), default=1.0) or 1.0
    moves = "".join(
        f'<span class="bv-move"><b>{escape(shift.word)}</b><span class="bv-pair" aria-hidden="true">'
        f'<i style="width:{shift.after / end:.1%}"></i><i style="width:{shift.before / end:.1%}"></i></span>'
        f"{write(shift.before)} → <b>{write(shift.after)}</b></span>"
        for shift in shifts
        for write in [choose_percent(shift.before, shift.after)]
    )
    return f'<div class="bv-moves"><span>at {escape(name_token(found.after.tokens, token))}</span> {moves}</div>'


def show_what_if(chosen: Selection) -> None:
    """The button of the bar: it opens the strip with the page's head, and closes it."""
    st.button("What if", key="what-if-open", type="tertiary", on_click=_turn_strip, args=(chosen,))


def _turn_strip(chosen: Selection) -> None:
    head = ATTENTION_WEIGHTS.in_layer(chosen.layer).fix(head=chosen.head)
    state.write(SLID, "" if state.read(SLID) else str(head))
    state.write(OFFERED, SLIDER)


def show_offers(trace: Trace, chosen: Selection) -> None:
    """What can be done to a word, at first the chosen token, to the head and to the layer."""
    token, of_head, of_layer = st.columns([5, 4, 7], gap="medium")
    with of_layer:
        with st.container(horizontal=True, vertical_alignment="center"):
            title = st.container(width="content")
            everywhere = st.checkbox("In every layer, the head too", key="what-if-everywhere")
        layers = list(range(trace.model.config.num_hidden_layers)) if everywhere else [chosen.layer]
        where = "every layer" if everywhere else f"layer {chosen.layer}"
        title.markdown(f"**{where.capitalize()}**")
        _offer_for_layer(trace, layers)
    with token:
        _offer_for_token(trace, chosen.token)
    with of_head:
        st.markdown(f"**Head {chosen.head} of {where}**")
        _show_buttons(offer_for_head(layers, chosen.head), "head")
        st.caption("Any other number: choose its cell, then “Change this number”.")


def _offer_for_token(trace: Trace, chosen: int) -> None:
    names, place = label_tokens(trace), _REPLACED.of(chosen, len(trace.tokens))
    st.markdown("**Replace a word**")
    with st.container(horizontal=True, vertical_alignment="center", wrap=False, key="what-if-replace"):
        token = st.selectbox(
            "Word to replace",
            range(len(names)),
            find_replaceable(trace, chosen),
            key=place.name,
            format_func=names.__getitem__,
            label_visibility="collapsed",
        )
        st.markdown("by", width="content")
        st.text_input(
            "Replace it by",
            max_chars=_WORD.longest,
            key=_WORD.name,
            on_change=_swap,
            args=(trace, place),
            placeholder="another word",
            label_visibility="collapsed",
        )
    remark = state.take(_REMARK)
    if remark:
        st.warning(escape_markdown(remark))
    _show_buttons(offer_for_token(trace, token), "token")


def _offer_for_layer(trace: Trace, layers: list[int]) -> None:
    _show_buttons(offer_for_layer(trace, layers), "layer")
    st.text_input(
        "Epsilon of its LayerNorms",
        max_chars=_EPSILON.longest,
        key=_EPSILON.name,
        on_change=_set_epsilon,
        args=(layers,),
        placeholder=f"ε of its LayerNorms, {trace.model.config.layer_norm_eps:g}",
        label_visibility="collapsed",
    )


def _show_buttons(offers: list[Offer], key: str) -> None:
    with st.container(horizontal=True):
        for i, offer in enumerate(offers):
            st.button(offer.label, key=f"what-if-{key}-{i}", on_click=take_offer, args=(offer.changes,))


def take_offer(changes: Changes) -> None:
    """Make changes that the strip offers, and close it: it does not cover what they did."""
    state.write(SLID, "")
    add_changes(changes, from_fragment=True)


def add_changes(changes: Changes, *, from_fragment: bool = False) -> None:
    """Put changes at the end of the list; a place that is in it already gets its new value there.

    from_fragment: only a part of the page runs again by itself; `choices.rerun_if_asked` then runs all of it.
    """
    _write(join_changes(read_asked(), {**changes}), from_fragment=from_fragment)


def open_strip(where: Address) -> None:
    """Open the strip for what stands at an address, from a part of the page that runs by itself."""
    state.write(SLID, str(where))
    state.write(OFFERED, SLIDER)
    choices.ask_for_rerun()


def undo_change(where: Where) -> None:
    """Take one change off the list."""
    _write({other: value for other, value in read_asked().items() if other != where})


def read_asked() -> Listed:
    """The changes that the URL asks for."""
    return read_changes(state.read(CHANGES))


def _write(changes: Listed, *, from_fragment: bool = False) -> None:
    choices.use_changes(write_changes(changes), from_fragment=from_fragment)


def _swap(trace: Trace, place: Key[int]) -> None:
    """Take what both fields say now: who chooses and types at once is ahead of what was drawn."""
    word, token = state.read(_WORD).strip(), state.read(place)
    state.write(_WORD, "")
    known = trace.model.tokenizer.id(word)
    pieces = (known,) if known is not None else trace.model.tokenizer.pieces(word)
    if len(pieces) == 1:
        take_offer({Address(TOKEN_IDS.address).fix(token=token): pieces[0]})
    elif word:
        names = " ".join(map(trace.model.tokenizer.token, pieces)) or "nothing"
        remark = f"“{word[:40]}” is not a single token but {names[:80]}. Choose a word that is one token."
        state.write(_REMARK, remark)


def _set_epsilon(layers: list[int]) -> None:
    text = state.read(_EPSILON).strip()
    state.write(_EPSILON, "")
    if text:
        take_offer(change_epsilons(layers, text))
