"""What if one explained number were different: the way to the strip, and what changes already did to it."""

from __future__ import annotations

import streamlit as st

from bertviz_core.errors import AddressError
from bertviz_core.formula.address import Address, Where
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.numbers import format_number
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.what_if import open_strip
from bertviz_core.ui.walk.worked_out import MAKERS


def describe_change(view: View, why: Explanation) -> str:
    """The number in the pass without changes and in the one with them, if these move it."""
    found = view.outcome
    if not found.changed:
        return ""
    before, after = (trace[why.cell].item() for trace in (found.before, found.after))
    if before == after:
        return ""
    return f"before {format_number(before)}, after {format_number(after)}, difference {format_number(after - before)}"


def describe_worked_out(view: View, where: Where) -> str:
    """A number that no step computes in the pass without changes and in the one with them, if these move it; nothing of
    one that takes long to work out, or that one of the two has not."""
    found = view.outcome
    if not found.changed or not isinstance(where, Address) or where.name not in MAKERS:
        return ""
    of = Address(where.path.rpartition(".")[0], where.index)
    try:
        before, after = (MAKERS[where.name](trace, of).value for trace in (found.before, found.after))
    except AddressError:
        return ""
    return f"before {before}, after {after}" if before != after else ""


def show_button(view: View, why: Explanation) -> None:
    """A button that opens the strip of What if for the explained number; a parameter cannot be changed."""
    if why.cell.path not in view.trace.model.parameters:
        st.button("Change this number", key="what-if-cell", on_click=open_strip, args=(why.cell,))
