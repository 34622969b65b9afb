"""What a visitor chooses: what is run, the place in it that is looked at, its changes, and the number explained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from bertviz_core.formula.address import Address, Where
from bertviz_core.ui.frame import state, url
from bertviz_core.ui.frame.keys import (
    AGAINST,
    CHANGES,
    HEAD,
    KEY_TOKEN,
    LAYER,
    MODEL,
    OF_TOKENS,
    PAIR,
    PAIRS,
    TEXT,
    TOKEN,
    VIEW,
    WALK,
    WINDOW,
    WITH,
    Key,
)
from bertviz_core.ui.frame.walked import note_moved, read_explained, read_walk, write_walk

_AGAIN = Key("again", False)  # whether a widget of a fragment changed more than that


def choose(says: Mapping[Key[Any], object]) -> None:
    """Set what widgets that are drawn later say, or what the URL says: one step of the browser's history."""
    for key, value in says.items():
        state.write(key, value)
    url.note_choice()


def use_sentence(text: str, pair: str = "") -> None:
    """Run another sentence, or pair of sentences."""
    choose({TEXT: text, PAIR: pair})
    forget_tokens()


def forget_tokens() -> None:
    """There are other tokens: nothing is chosen or masked among them."""
    choose(dict.fromkeys(OF_TOKENS, ""))


def choose_model(name: str, against: str = "") -> None:
    """Run another model. against: the one that its passes are compared with, if any."""
    choose({MODEL: name, AGAINST: against})
    forget_tokens()


def compare_with(text: str = "", model: str = "") -> None:
    """Set another pass beside that on screen: of another sentence, or of the same one read by another model."""
    choose({WITH: text, AGAINST: model, PAIRS: ""})


def compare_no_more() -> None:
    compare_with()


def choose_head(layer: int, head: int) -> None:
    """Look at another head. The number that is explained is then the same one of that head."""
    choose({LAYER: str(layer), HEAD: str(head)})
    cell = read_explained()
    if isinstance(cell, Address):
        moved = cell.move(layer, head)
        open_drawer([moved])
        note_moved(None if moved == cell else moved)


def choose_key(position: int) -> None:
    """Look at another key. Whoever explains a number of a pair, or has walked on from one, gets that of this key."""
    choose({KEY_TOKEN: str(position)})
    pairs = [cell for cell in read_walk() if isinstance(cell, Address) and {"query", "key"} <= cell.at.keys()]
    if pairs:
        open_drawer([pairs[-1].fix(key=position)])


def choose_token(position: int) -> None:
    """Look at another token, of the same head; with the key that it opens with, not with another token's."""
    view = state.read(VIEW)
    if view is not None:
        choose({LAYER: str(view.chosen.layer), HEAD: str(view.chosen.head)})
    choose({TOKEN: str(position), KEY_TOKEN: "", WINDOW: ""})


def go(place: Mapping[Key[Any], str | int]) -> None:
    """Look elsewhere, in one step of the browser's history. A layer has its head with it."""
    if LAYER in place:
        choose_head(int(place[LAYER]), int(place[HEAD]))
    choose(place)


def use_changes(line: str, *, from_fragment: bool = False) -> None:
    """Run the pass with these changes. from_fragment: only a part of the page runs; `rerun_if_asked` runs the rest."""
    choose({CHANGES: line})
    if from_fragment:
        ask_for_rerun()


def open_drawer(way: Sequence[Where]) -> None:
    """Explain the last of these cells; no cells close the drawer."""
    choose({WALK: write_walk(way)})
    note_moved(None)


def ask_for_rerun() -> None:
    """Of the whole page, in the function that is called for a widget of a fragment."""
    state.write(_AGAIN, True)


def rerun_if_asked() -> None:
    """To stand at the top of a fragment whose widgets change more than that."""
    if state.take(_AGAIN):
        st.rerun()
