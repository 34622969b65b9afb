"""What a page does about a pass whose numbers became too large."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import numpy as np
import streamlit as st

from bertviz_core.analysis.overflow import find_overflow
from bertviz_core.errors import CheckpointError
from bertviz_core.formula.address import Address
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.labels import escape_markdown


def check_kept(trace: Trace) -> None:
    """Raise CheckpointError where vectors that the next layer reads are not finite: nothing after them can be drawn."""
    where = find_overflow(trace)
    if where and not all(np.isfinite(trace[kept]).all() for kept in trace.program.spine):
        raise CheckpointError(f"{_say(trace, where)} Choose another model.")


def tell_overflow(trace: Trace) -> list[str]:
    """A sentence, as Markdown, that names the first step whose result is not finite, where there is one."""
    where = find_overflow(trace)
    remedy = "Undo the change, or give a smaller number." if trace.changes else "Choose another model."
    return [] if where is None else [escape_markdown(f"{_say(trace, where)} {remedy}")]


def _say(trace: Trace, where: Address) -> str:
    return (
        f"The numbers are not finite from {trace.step(where).stage.title} on: {where} is the first result that is "
        "larger than its precision can hold, and what is worked out from it means nothing."
    )


@contextmanager
def kept_usable(trace: Trace) -> Generator[None]:
    """Say so in place of a part of the page that cannot be drawn from numbers that are not finite."""
    try:
        yield
    except Exception:  # whatever arithmetic makes of them, somewhere; what it is has been told above
        if find_overflow(trace) is None:
            raise
        st.error(
            "The rest of this page cannot be drawn from numbers that are not finite. Open another page.",
            icon=":material/error:",
        )
