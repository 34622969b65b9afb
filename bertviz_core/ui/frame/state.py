"""What a session remembers, and what its URL says: the one module that touches either. All others ask it, by verbs.

A widget that is bound to the URL has its parameter's name as its key, so that what is written here stands in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
    from bertviz_core.ui.frame.view import View

_LONGEST_WALK = 80  # steps that a link may hold
_WALK, _PANEL, _STEP = "walk", "panel", "~"
_OF_TOKENS = ("token", "key_token", "mask")  # positions: they mean nothing once there are other tokens
_VIEW, _CHANGES, _SHOW, _AGAIN = "view", "changes", "show", "again"


# What is run, and the place in it that is looked at.


def use_sentence(text: str, pair: str = "") -> None:
    """Run another sentence, or pair of sentences."""
    st.session_state.update(text=text, pair=pair)
    forget_tokens()


def forget_tokens() -> None:
    """There are other tokens: nothing is chosen or masked among them."""
    st.session_state.update(dict.fromkeys(_OF_TOKENS, ""))


def choose_model(name: str) -> None:
    st.session_state["model"] = name


def choose_head(layer: int, head: int) -> None:
    st.session_state.update(layer=layer, head=head)


def choose_token(position: int, key: str = "token") -> None:
    st.session_state[key] = str(position)


def mask_tokens(positions: Iterable[int]) -> None:
    """Put [MASK] at these positions, and nowhere else."""
    st.session_state["mask"] = ",".join(map(str, sorted(positions)))


def pad_to(length: str) -> None:
    """Fill the input up, as the control for it writes a length."""
    st.session_state["pad"] = length


# The changes of a what-if, as one line of text.


def read_changes() -> str:
    return st.session_state.get(_CHANGES, "")


def use_changes(line: str, *, from_fragment: bool = False) -> None:
    """Run the pass with these changes. from_fragment: only a part of the page runs; `rerun_if_asked` runs the rest."""
    st.session_state[_CHANGES] = line
    if from_fragment:
        st.session_state[_AGAIN] = True


def rerun_if_asked() -> None:
    """To stand at the top of a fragment that uses other changes."""
    if st.session_state.pop(_AGAIN, False):
        st.rerun()


def read_shown() -> str | None:
    """Which pass the panels show, as asked for; the control stands below what needs to know."""
    return st.session_state.get(_SHOW) or st.query_params.get(_SHOW)


# The drawer: one number explained, and the walk that led to it.


def read_drawer(panel: str) -> tuple[str, ...]:
    """The cells walked through in a panel, as text; none where the drawer is closed or belongs to another panel."""
    if st.query_params.get(_PANEL) != panel:
        return ()
    return tuple(st.query_params.get(_WALK, "").split(_STEP))[:_LONGEST_WALK]


def open_drawer(panel: str, way: Sequence[object]) -> None:
    """Explain the last of these cells, addresses or text, in a panel; no cells close the drawer."""
    if way:
        st.query_params.update({_PANEL: panel, _WALK: _STEP.join(map(str, way))})
    else:
        close_drawer()


def close_drawer() -> None:
    for key in (_PANEL, _WALK):
        st.query_params.pop(key, None)


# What the app hands to the page that it runs.


def keep_view(view: View) -> None:
    st.session_state[_VIEW] = view


def read_view() -> View | None:
    """What the page draws from; None on a deep link into a server that has just started."""
    return st.session_state.get(_VIEW)


# Widgets and components.


def read(key: str, default: Any = None) -> Any:
    """A widget's value, or what else is remembered under a key."""
    return st.session_state.get(key, default)


def write(key: str, value: Any) -> None:
    """Set a widget that is drawn later in this run or in the next one, or remember something else."""
    st.session_state[key] = value


def take(key: str, default: Any = None) -> Any:
    """`read`, and forget it."""
    return st.session_state.pop(key, default)


def keep(*keys: str) -> None:
    """Keep values whose widgets are not drawn everywhere; another page would lose them, in the URL as well."""
    for key in keys:
        if key in st.session_state:
            st.session_state[key] = st.session_state[key]


def read_url(key: str) -> str | None:
    """A parameter as the URL gives it, before any widget has taken it."""
    return st.query_params.get(key)


def read_event(component: str, name: str) -> Any:
    """What a component of ours has just sent, in the function that is called for it."""
    return st.session_state[component][name]
