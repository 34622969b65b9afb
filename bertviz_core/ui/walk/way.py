"""The walk from number to number: the URL holds it, and links lead along it, on to an operand or back.

Links are HTML, drawn together with the text beside them; what a click on one asks for, the listener sends.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from html import escape
from typing import Any, TypeGuard

from bertviz_core.analysis.made_from import find_made
from bertviz_core.analysis.naming import name_crumb
from bertviz_core.analysis.walk import choose_stops, tell_story
from bertviz_core.errors import AddressError
from bertviz_core.formula.address import Address, Where
from bertviz_core.formula.numbers import write_recorded
from bertviz_core.formula.texts import spell_controls
from bertviz_core.programs.bert import TOKEN_IDS
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.showing.provenance import tell_model
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.components.colors import list_colors
from bertviz_core.ui.components.loading import load_component
from bertviz_core.ui.frame import choices, lesson, site, state, url
from bertviz_core.ui.frame.follow import explain_clicked
from bertviz_core.ui.frame.keys import KEY_TOKEN, PAIR, TEXT, TRAINED, TRAINING_LOST, Key
from bertviz_core.ui.frame.resources import tell_if_busy, work_out_once
from bertviz_core.ui.frame.state import Sent
from bertviz_core.ui.frame.stepper import name_place
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.walked import is_moved, read_cell
from bertviz_core.ui.walk.worked_out import name_worked_out

_LISTENER: Key[Sent] = Key("listener", None)
_SESSION = Key("session", "")
_NUMBER = re.compile("[0-9]{1,6}")
_CRUMBS = 3  # of a walk, that are shown
_BACK = '<button data-keep="{}" aria-label="One step back" title="One step back"></button>'
_CLOSE = '<button data-close="yes" aria-label="Close" title="Close">✕</button>'
_FOLD = '<button class="bv-fold" data-fold="drawer" aria-label="Fold the drawer" title="Fold"></button>'

_listener = load_component("listener", isolated=False)


def listen(view: View, way: tuple[Where, ...], lit: Sequence[str], own: bool = False) -> None:
    """Listen to clicks on the whole page: on a cell, an operand, a crumb, a token, a head, or whatever else the
    URL names (`data-choose="word=rome"`); ring the chosen cell.

    lit: the operands that are outlined where a chart draws them; own: whether the cell is the page's own.
    """
    trace = view.trace

    def on(name: str, act: Callable[[Any], object], form: state.Form = state.is_text) -> Callable[[], None]:
        return state.on_event(_LISTENER, name, act, form)

    _listener(
        key=_LISTENER.name,
        data={
            "cell": str(way[-1]) if way else None,
            "operands": list(lit),
            "way": list(map(str, way)),
            "own": own,
            "token": view.chosen.token,
            "place": name_place(url.read_page(), view.chosen),
            "caption": {"checkpoint": tell_model(trace), "sentence": " / ".join(filter(None, (view.text, view.pair)))},
            "colors": list_colors(view.colors),
            "address": site.tell_address(),
            "kept": _list_kept(),
        },
        on_cell_change=on("cell", lambda said: explain_clicked(read_cell(said))),
        on_step_change=on("step", lambda said: choices.open_drawer([*way, read_cell(said)])),
        on_into_change=on("into", lambda said: choices.open_drawer(_go_forward(trace, way, said))),
        on_keep_change=on("keep", lambda said: choices.open_drawer(way[: int(said)]), is_number),
        on_close_change=lambda: choices.open_drawer([]),
        on_story_change=lambda: choices.open_drawer(take_story(trace, way)),
        on_head_change=on("head", _choose_head, is_head),
        on_token_change=on("token", _choose_token, is_number),
        on_choose_change=on("choose", _choose),
        on_lost_change=on("lost", _note_lost, lambda said: said is True),
    )


def _list_kept() -> dict[str, object]:
    """What ends with this session, and the name by which a browser tells it from the next one."""
    if not state.holds(_SESSION):
        state.write(_SESSION, secrets.token_hex(4))
    return {"session": state.read(_SESSION), "trained": state.read(TRAINED), "told": state.read(TRAINING_LOST)}


def _note_lost(_: bool) -> None:
    """A training of the browser's session before is gone."""
    state.write(TRAINING_LOST, True)
    choices.ask_for_rerun()


def _choose_head(said: str) -> None:
    """Look at a head; where a lesson asks for one, it is an answer that is proposed."""
    layer, head = map(int, said.split(","))
    if not lesson.propose(ATTENTION_WEIGHTS.in_layer(layer).fix(head=head)):
        choices.choose_head(layer, head)
        choices.ask_for_rerun()


def _choose_token(said: str | int) -> None:
    """The same with a token."""
    position = int(said)
    if not lesson.propose(Address(TOKEN_IDS.address).fix(token=position)):
        choices.choose_token(position)
        choices.ask_for_rerun()


def _choose(said: str) -> None:
    """What a link names, and its value."""
    name, _, value = said.partition("=")
    if name == KEY_TOKEN.name and is_number(value):
        choices.choose_key(int(value))
    else:
        url.choose_named(name, value)
        if name in (TEXT.name, PAIR.name):
            choices.forget_tokens()
    choices.ask_for_rerun()


def is_number(said: object) -> bool:
    """Whether it says which one, as a number or, as a page's HTML has it, as a text."""
    return state.is_number(said) or (isinstance(said, str) and _NUMBER.fullmatch(said) is not None)


def is_head(said: object) -> bool:
    return isinstance(said, str) and said.count(",") == 1 and all(map(_NUMBER.fullmatch, said.split(",")))


def render_crumbs(trace: Trace, way: tuple[Where, ...], own: bool = False) -> str:
    """The cells walked through, each a way back, and the way out; the first, the last few and here. own: of the page's
    own number, to which nobody walked."""
    places = [*range(1, len(way))]
    shown = places if len(places) < _CRUMBS else [1, *places[-_CRUMBS + 2 :]]
    crumbs = [f'<button data-keep="{i}">{_name_crumb(trace, way[i - 1])}</button>' for i in shown]
    if len(shown) < len(places):
        crumbs.insert(1, "…")
    back = _BACK.format(len(places)) if places else ""
    here = "This page’s number" if own else "<b>here</b>" if places else _tell_origin(way)
    return (
        f'<nav class="bv-crumbs{" bv-own-number" if own else ""}" aria-label="The walk so far">{back}'
        f"<span>{'<i>›</i>'.join([*crumbs, here])}</span>{'' if own else _CLOSE}{_FOLD}</nav>"
    )


def _tell_origin(way: tuple[Where, ...]) -> str:
    """How a number came into the drawer that no walk led to."""
    cell = way[-1]
    if not isinstance(cell, Address) or not is_moved(cell):
        return "From the page"
    head = f", head {cell.at['head']}" if "head" in cell.at else ""
    return f"Moved along to layer {cell.layer}{head}"


def is_cell(place: Where, trace: Trace) -> TypeGuard[Address]:
    """Whether a step of a walk names one number of a pass, and not a tensor, another pass's number, or nothing."""
    with suppress(AddressError):
        return isinstance(place, Address) and not trace.dims(place)
    return False


def _name_crumb(trace: Trace, place: Where) -> str:
    """What a cell is called, which gives way, with its value, which does not; what names no cell as it was written."""
    if not is_cell(place, trace):
        return escape(spell_controls(name_worked_out(place) or str(place)))
    written = write_recorded(trace[place].item(), "percent" if place.path.endswith("probs") else "short")
    return f"<span>{escape(spell_controls(name_crumb(trace, place)))}</span> <code>{escape(written)}</code>"


def _go_forward(trace: Trace, way: tuple[Where, ...], path: str) -> tuple[Where, ...]:
    """On to the number of a tensor that is made from the one explained, if one is."""
    cell = way[-1] if way else ""
    made = find_made(trace, cell, path) if is_cell(cell, trace) and path in trace.addresses else None
    return (*way, made) if made else way


def take_story(trace: Trace, way: tuple[Where, ...]) -> tuple[Where, ...]:
    """The way with the stops of its last number's story; as it is where it does not end at a number of the pass, and
    where there is no room for the work."""
    *before, cell = way or ("",)
    if not is_cell(cell, trace):
        return way
    with tell_if_busy():
        return (*before, *work_out_once(trace, f"stops from {cell}", lambda: _list_stops(trace, cell)))
    return way


def _list_stops(trace: Trace, cell: Address) -> tuple[Address, ...]:
    told = tell_story(trace, cell)
    return tuple(told[i] for i in choose_stops(trace, told))
