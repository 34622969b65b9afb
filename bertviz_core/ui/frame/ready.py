"""What must be there before the first page of a process is drawn.

Libraries import parts of themselves when these are first needed, and look at what others have imported. Two sessions
that come at once to a cold server would see such parts half made. So all of it is imported here, for the first, while
the others wait.
"""

from __future__ import annotations

import importlib
import pkgutil
from contextlib import suppress
from pathlib import Path

from PIL import Image
from threadpoolctl import threadpool_limits  # pyright: ignore[reportMissingTypeStubs] - there are none

from bertviz_core.errors import BertvizError
from bertviz_core.figures.plotly_inside import import_plotly
from bertviz_core.sharing.machine import ask_for_files, settle_allocator
from bertviz_core.sharing.threads import settle_switching
from bertviz_core.ui.frame.controls import EXAMPLES
from bertviz_core.ui.frame.files import fit_files
from bertviz_core.ui.frame.gate import fit_gate
from bertviz_core.ui.frame.late import pass_over_late_requests
from bertviz_core.ui.frame.resources import BUNDLED, get_model, get_store, get_watch, list_models
from bertviz_core.ui.frame.streamlit_costs import cut_costs
from bertviz_core.ui.frame.streamlit_inside import import_late_parts
from edge.inside import say_settings_once

_INTERFACE = Path(__file__).parents[1]  # the parts of all pages, by their files: the frame knows none of them


def prepare_process() -> None:
    """Import what is imported late, load the bundled model and run the examples. To be called by one session alone."""
    settle_allocator()
    settle_switching()
    ask_for_files()
    threadpool_limits(1, "blas")  # NumPy's threads wait for more work at full speed: a product of 1 ms costs 100
    fit_gate()
    fit_files()
    cut_costs()
    say_settings_once()
    pass_over_late_requests()  # before the gate, which would merge what comes late with what it is late for
    for found in pkgutil.walk_packages([str(_INTERFACE)], "bertviz_core.ui."):
        importlib.import_module(found.name)
    import_plotly()
    Image.preinit()
    import_late_parts()
    with suppress(BertvizError):  # the page will say it
        get_watch().start()
        if BUNDLED in list_models()[0]:
            for example in EXAMPLES:
                get_store().get(get_model(BUNDLED), example.text, example.pair or None)
