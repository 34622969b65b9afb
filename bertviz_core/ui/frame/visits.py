"""How many visitors are connected: Streamlit's runtime knows that, and offers it nowhere."""

from __future__ import annotations

from streamlit import runtime


def count_visits() -> int:
    """Sessions of this process whose browser is connected; 0 where no server runs."""
    manager = getattr(runtime.get_instance(), "_session_mgr", None) if runtime.exists() else None
    return manager.num_active_sessions() if manager is not None else 0
