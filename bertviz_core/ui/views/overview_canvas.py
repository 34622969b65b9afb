"""The whole pass as one instrument: what its component is given to draw, and what it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, TypeGuard

import streamlit as st

from bertviz_core.analysis.canvas import (
    LAYER,
    LEVELS,
    WHOLE,
    Faces,
    Spot,
    choose_rows,
    count_rows,
)
from bertviz_core.analysis.fingerprint import fingerprint
from bertviz_core.analysis.openings import open_head
from bertviz_core.analysis.predictions import PROBS
from bertviz_core.analysis.walk import find_beginnings
from bertviz_core.errors import AddressError
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import TOKEN_AXES
from bertviz_core.lessons.catalogue import LESSONS
from bertviz_core.showing.canvas import Place, draw_place, write_place
from bertviz_core.showing.canvas_stops import NAMES
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.components.colors import list_all_colors
from bertviz_core.ui.components.loading import load_component
from bertviz_core.ui.frame import choices, keys, site, state, url
from bertviz_core.ui.frame.controls import EXAMPLES, LONGEST_TEXT
from bertviz_core.ui.frame.follow import note
from bertviz_core.ui.frame.keys import CHANGES, COMPONENT, HEAD, LESSON, STEP, STORY_OF, TOKEN, WALK, WINDOW, Key
from bertviz_core.ui.frame.level import LEVEL, PLAY, read_level
from bertviz_core.ui.frame.place import read_index
from bertviz_core.ui.frame.resources import get_drawn
from bertviz_core.ui.frame.state import Sent
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.walked import read_explained

_CANVAS: Key[Sent] = Key("canvas", None)
_ASKED: Key[Mapping[str, int] | None] = Key("canvas-asked", None)  # the word whose story is asked for: token, id
_BEST = 5
_WORDS = 50_000  # bytes of what is drawn beside its numbers, roughly
_STREAM = "hidden"  # the axis of the components of the residual stream
_canvas = load_component("canvas", isolated=False)
_STRIP = Key("strip", "")


def show_canvas(view: View) -> None:
    """Draw the pass; what is chosen in it the URL says, and with it every other page."""
    place, remarks = read_place(view)
    for remark in remarks:
        st.info(remark, icon=":material/info:")
    _link_story(view)
    _link_lesson()
    note(_STREAM, COMPONENT)
    _canvas(
        key=_CANVAS.name,
        data=make_data(view, place),
        on_go_change=state.on_event(
            _CANVAS, "go", lambda wish: choices.go(read_wish(wish, view, place)), state.is_record
        ),
        on_example_change=state.on_event(_CANVAS, "example", use_example, state.is_record),
        on_story_change=state.on_event(_CANVAS, "story", lambda word: state.write(_ASKED, word), state.is_record),
    )


def _link_story(view: View) -> None:
    """A link to the story of the word that was clicked, which the canvas follows: one step of the browser's history."""
    asked, chosen = state.take(_ASKED), view.chosen
    name = find_story(view.trace, asked) if asked else None
    with st.container(key="canvas-story"):
        if asked and name:
            place = {keys.LAYER: str(chosen.layer), HEAD: str(chosen.head), TOKEN: str(asked["token"]), STORY_OF: name}
            site.show_link(site.get_page("story"), query=place)


def _link_lesson() -> None:
    """A link to the first lesson, which the canvas follows at the end of the walk: to a pass without changes."""
    first = LESSONS[0]
    with st.container(key="canvas-lesson"):
        query = {LESSON: first.name, STEP: "1", CHANGES: "", WALK: ""}
        site.show_link(site.get_page(first.steps[0].page), first.title, query=query)


def find_story(trace: Trace, asked: Mapping[str, object]) -> str | None:
    """What the page of stories calls that of a word at a token; None where it does not tell it. asked: token, id."""
    token, word = asked.get("token"), asked.get("id")
    if not _is_index(token, len(trace.tokens)):
        return None
    offered = find_beginnings(trace, token)
    return next(
        (name for name, start in offered.items() if start.path == PROBS.path and start.at["vocab"] == word), None
    )


def read_place(view: View) -> tuple[Place, list[str]]:
    """The place, and what the URL asked for that is not there; that, and what it does not name, has its usual value."""
    remarks: list[str] = []
    config, chosen = view.trace.model.config, view.chosen
    total, (level, stop) = len(view.trace.tokens), read_level()
    url.bind(COMPONENT)
    url.bind(WINDOW)
    url.bind(_STRIP, ("", *WHOLE))
    strip = state.read(_STRIP) if level == LAYER and not stop else ""
    start = read_index(WINDOW, total, "input", remarks)
    component, cell = read_index(COMPONENT, config.hidden_size, "model", remarks), _find_cell(view.trace)
    window, row = choose_rows(chosen.token, total, start, count_rows(config, strip)), _find_row(cell)
    if start is None and not stop and row is not None and row not in window:
        window = choose_rows(row, total, None, len(window))
    spot = Spot(chosen.layer, chosen.head, chosen.token, component, window, cell)
    return Place(level, spot, stop, strip), remarks


def _find_cell(trace: Trace) -> Address | None:
    """The cell that the drawer explains; None where there is none, or it cannot be explained: the drawer says so."""
    cell = read_explained()
    if not isinstance(cell, Address):
        return None
    with suppress(AddressError):
        trace.explain(cell)
        return cell
    return None


def _find_row(cell: Address | None) -> int | None:
    """The token in whose row a cell stands."""
    return next((index for axis, index in cell.index if axis in TOKEN_AXES), None) if cell else None


def read_wish(wish: Mapping[str, object], view: View, place: Place) -> dict[Key[Any], str | int]:
    """Where the canvas asks to look, as the URL names it; what is not there is left out."""
    config, spot, total = view.trace.model.config, place.spot, len(view.trace.tokens)
    sizes: dict[Key[Any], int] = {
        keys.LAYER: config.num_hidden_layers,
        HEAD: config.num_attention_heads,
        TOKEN: total,
        COMPONENT: config.hidden_size,
        WINDOW: total,
        PLAY: len(NAMES) + 1,
    }
    said = {key: wish.get("stop" if key is PLAY else key.name) for key in sizes}
    found: dict[Key[Any], str | int] = {
        key: index if key is PLAY else str(index) for key, index in said.items() if _is_index(index, sizes[key])
    }
    if "component" in wish and wish["component"] is None:
        found[COMPONENT] = ""
    if "strip" in wish:
        found[_STRIP] = str(wish["strip"]) if wish["strip"] in WHOLE else ""
    if wish.get("level") in LEVELS:
        found[LEVEL] = str(wish["level"])
    if found.keys() & {keys.LAYER, HEAD, TOKEN}:  # a rule chooses no other head for another token
        found = {keys.LAYER: str(spot.layer), HEAD: str(spot.head), **found}
    if TOKEN in found and len(spot.window) < total:
        found.setdefault(WINDOW, str(spot.window.start) if int(found[TOKEN]) in spot.window else "")
    return found


def _is_index(value: object, size: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < size


def use_example(example: Mapping[str, object]) -> None:
    """Run another sentence, as far as the field for it would take it."""
    text, pair = (str(example.get(key) or "")[:LONGEST_TEXT] for key in ("text", "pair"))
    choices.use_sentence(text, pair)


def make_data(view: View, place: Place) -> dict[str, object]:
    """All that the canvas draws, and its words."""
    faces = Faces(view.outcome.before, view.outcome.after, view.outcome.show.lower())
    key = fingerprint(faces, place.spot)
    return {
        "key": key,
        "sentence": view.text,
        "pair": view.pair or "",
        "place": write_place(place),
        "changed": view.outcome.changed,
        "why": _tell_choice(view),
        "whole": WHOLE,
        "lesson": LESSONS[0].title,
        "letters": _list_letters(view, place.spot.window),
        "colors": list_all_colors(view.colors),
        "examples": [asdict(example) for example in EXAMPLES],
        **_share_numbers(place, faces, key),
    }


def _list_letters(view: View, window: range) -> list[dict[str, object] | None]:
    """What was typed where each token of the window stands, and whether blanks lie before it; None for nothing."""
    tokenizer, texts = view.trace.model.tokenizer, (view.text, view.pair or "")
    places = tokenizer.locate(view.text, view.pair or None)
    ends = [(0, 0), *((place[0], place[2]) if place else (0, 0) for place in places)]
    return [
        {"text": texts[place[0]][place[1] : place[2]], "apart": ends[i] != place[:2]} if place else None
        for i, place in ((i, places[i] if i < len(places) else None) for i in window)
    ]


def _share_numbers(place: Place, faces: Faces, key: str) -> dict[str, Any]:
    """What is drawn at a place of a pass; worked out once for all sessions."""
    drawn, at = get_drawn(), ("canvas", key, place.spot.layer, place.spot.head, place.strip)
    found = drawn.get(at)
    if found is None:
        found = draw_place(faces, place)
        drawn.put(at, found, len(found["bytes"]) + _WORDS)
    return found


def _tell_choice(view: View) -> str:
    """Why this layer and head are shown, where it is not the visitor who chose them."""
    if state.read(keys.LAYER) or state.read(HEAD):
        return ""
    return open_head(view.outcome.before, view.chosen.token).reason
