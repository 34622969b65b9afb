"""From how near the first page looks at the pass, and at which stop of its walk it stands; both are in its URL."""

from __future__ import annotations

from bertviz_core.analysis.canvas import LEVELS, PASS
from bertviz_core.showing.canvas_stops import NAMES, STOPS
from bertviz_core.ui.frame import state, url
from bertviz_core.ui.frame.keys import Key

LEVEL, PLAY = Key("level", PASS), Key("play", 0)


def read_level() -> tuple[str, int]:
    """One of LEVELS, and the stop, from 1; 0 for none."""
    url.bind(LEVEL, LEVELS)
    url.bind(PLAY, range(len(NAMES) + 1))
    return state.read(LEVEL), state.read(PLAY)


def looks_at_whole() -> bool:
    """Whether the first page draws the pass as a whole, also at its stop: no single head is in the picture."""
    level, stop = read_level()
    return (STOPS[stop - 1].level if stop else level) == PASS
