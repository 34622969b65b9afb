"""Whether a run was asked for by Back or Forward, which Streamlit knows, and tells only its own widgets."""

from __future__ import annotations

from streamlit.runtime.scriptrunner import get_script_run_ctx


def is_history_navigation() -> bool:
    """Whether it is the browser's Back or Forward that this run answers."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and context.is_history_navigation
