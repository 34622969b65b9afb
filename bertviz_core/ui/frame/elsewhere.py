"""What pages of one pass say of a second one: where the two are compared, and what of that can be shown here."""

from __future__ import annotations

import streamlit as st

from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.errors import BertvizError
from bertviz_core.formula.address import Address, Where
from bertviz_core.formula.texts import shorten, write_count
from bertviz_core.tracing.changes import Value, write_changes
from bertviz_core.tracing.inputs import encode
from bertviz_core.ui.frame import choices, site, state, url
from bertviz_core.ui.frame.keys import CHANGES, PAIRS, SHOW, WITH
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.second import WITH_CHANGES
from bertviz_core.ui.frame.view import AFTER, DIFFERENCE, SHOWN, View

_LONGEST = 44  # characters of the other sentence
_MOST = 24  # tokens that differ, each of which is a change in the link


def show_elsewhere(view: View) -> None:
    """A line that names the second pass, if there is one, with the pages that compare it; and where the two differ by
    changes alone, a button that makes these, of which every page shows before, after and the difference."""
    asked = state.read(WITH)
    if not asked:
        return
    line, why = _read_as_changes(view, asked)
    name = "the same sentence, changed" if asked.startswith(WITH_CHANGES) else f"“{shorten(asked, _LONGEST)}”"
    with st.container(key="second-elsewhere", horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(escape_markdown(f"Beside it: {name} · {why}"))
        for page in ("compare", "patch"):
            site.show_link(site.get_page(page))
        if line:
            url.bind(SHOW, SHOWN, AFTER)  # the choice is drawn once there are changes
            st.button("Difference on every page", key="second-here", on_click=_make_changes, args=(line,))


def _read_as_changes(view: View, asked: str) -> tuple[str, str]:
    """The second pass as changes of the first one, "" where it is none; and why, or what that is good for."""
    if state.read(CHANGES):
        return "", "What this page shows besides are the changes."
    if asked.startswith(WITH_CHANGES):
        return asked.removeprefix(WITH_CHANGES), "As changes, they are shown on every page."
    here = view.outcome.before.encoding
    try:
        other = encode(view.outcome.before.model, asked, view.pair)
    except BertvizError as error:
        return "", str(error)
    apart = {i: new for i, (old, new) in enumerate(zip(here.ids, other.ids, strict=False)) if old != new}
    if why := _tell_apart(view, other, len(apart)):
        return "", why
    swaps: dict[Where, Value] = {Address("input_ids").fix(token=i): new for i, new in apart.items()}
    return write_changes(swaps), f"It differs in {write_count(len(apart), 'token')}."


def _tell_apart(view: View, other: Encoding, apart: int) -> str:
    """Why the passes differ by more than swapped tokens, or by nothing; "" where it is these. apart: how many."""
    count = len(view.typed)
    if count != len(other):
        return (
            f"This page shows one sentence: {write_count(count, 'token')} here and {len(other)} there do not pair up."
        )
    if other.segments != view.typed.segments:
        return "This page shows one sentence: the two are parted into sentences A and B at other places."
    if apart > _MOST:
        return f"This page shows one sentence: {apart} of {count} tokens differ, more than {_MOST}."
    return "" if apart else "It has the same tokens."


def _make_changes(line: str) -> None:
    """The second pass as changes of the first, in place of a second one."""
    choices.choose({CHANGES: line, WITH: "", PAIRS: "", SHOW: DIFFERENCE})
