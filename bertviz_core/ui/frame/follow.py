"""A page that shows one component of a vector goes on to show the one that is clicked in it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bertviz_core.formula.address import Address, Where
from bertviz_core.ui.frame import choices, lesson, state
from bertviz_core.ui.frame.keys import Key

_Choice = Mapping[Key[str], str]  # what is chosen beside an index, and the index as ""
_FOLLOWED: Key[tuple[tuple[Address, str, _Choice], ...]] = Key("vectors-followed", ())
_NOTED: Key[Mapping[str, Key[str]]] = Key("axes-noted", {})


def forget_followed() -> None:
    """Another run of a page begins: it says anew what it follows."""
    state.write(_FOLLOWED, ())
    state.write(_NOTED, {})


def follow(vector: Address, axis: str, key: Key[str], also: _Choice = MappingProxyType({})) -> None:
    """Make the index of a clicked component what the URL names by a key.

    vector: all axes fixed but this one; also: what else the click chooses.
    """
    state.write(_FOLLOWED, (*state.read(_FOLLOWED), (vector, axis, {**also, key: ""})))


def note(axis: str, key: Key[str]) -> None:
    """Make the index on an axis, of whatever cell is clicked, what the URL names by a key.

    The page draws it by itself: it is not run for that.
    """
    state.write(_NOTED, {**state.read(_NOTED), axis: key})


def explain_clicked(cell: Where) -> None:
    """Explain a cell that was clicked, and choose it on the page that follows its vector; or propose it as the answer
    to what is asked."""
    if isinstance(cell, Address) and lesson.propose(cell):
        return
    choices.open_drawer([cell])
    if not isinstance(cell, Address):
        return
    for axis, key in state.read(_NOTED).items():
        if axis in cell.at:
            choices.choose({key: str(cell.at[axis])})
    for vector, axis, says in state.read(_FOLLOWED):
        if cell.path == vector.path and axis in cell.at and cell.without(axis).at == vector.at:
            _choose({key: text or str(cell.at[axis]) for key, text in says.items()})


def _choose(says: _Choice) -> None:
    if any(state.read(key) != text for key, text in says.items()):
        choices.choose(says)
        choices.ask_for_rerun()
