"""A page that shows one component of a vector goes on to show the one that is clicked in it."""

from __future__ import annotations

from contextlib import suppress

from bertviz_core.errors import AddressError
from bertviz_core.formula.address import Address, read_address
from bertviz_core.ui.frame import state

_FOLLOWED, _NOTED = "vectors-followed", "axes-noted"


def forget_followed() -> None:
    """Another run of a page begins: it says anew what it follows."""
    state.write(_FOLLOWED, [])
    state.write(_NOTED, {})


def follow(vector: Address, axis: str, key: str, **also: str) -> None:
    """Make the index of a clicked component what the URL names by a key.

    vector: all axes fixed but this one; also: what else the click chooses, by key.
    """
    state.read(_FOLLOWED).append((vector, axis, {**also, key: ""}))


def note(axis: str, key: str) -> None:
    """Make the index on an axis, of whatever cell is clicked, what the URL names by a key.

    The page draws it by itself: it is not run for that.
    """
    state.read(_NOTED)[axis] = key


def explain_clicked(text: str) -> None:
    """Explain a cell that was clicked, and choose it on the page that follows its vector."""
    state.open_drawer([text])
    with suppress(AddressError):
        cell = read_address(text)
        for axis in cell.at.keys() & state.read(_NOTED, {}).keys():
            state.choose(state.read(_NOTED)[axis], str(cell.at[axis]))
        for vector, axis, keys in state.read(_FOLLOWED, ()):
            if cell.path == vector.path and axis in cell.at and cell.without(axis).at == vector.at:
                _choose({key: value or str(cell.at[axis]) for key, value in keys.items()})


def _choose(wanted: dict[str, str]) -> None:
    if any(state.read(key) != value for key, value in wanted.items()):
        for key, value in wanted.items():
            state.choose(key, value)
        state.ask_for_rerun()
