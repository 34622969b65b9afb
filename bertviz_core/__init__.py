"""BERT's forward pass with every intermediate recorded, addressed and explained."""

from bertviz_core.analysis.asked import ablation, lens, neighbours
from bertviz_core.analysis.attribution import attribute
from bertviz_core.analysis.comparing import compare
from bertviz_core.analysis.neurons import neurons
from bertviz_core.analysis.patching import patch
from bertviz_core.analysis.roles import roles
from bertviz_core.analysis.tables import table
from bertviz_core.checkpoint.model import Model, load_model
from bertviz_core.errors import (
    AddressError,
    ArgumentError,
    BertvizError,
    BusyError,
    CheckpointError,
    InputError,
    TrainingError,
)
from bertviz_core.export.ipynb import write_ipynb
from bertviz_core.export.script import write_script
from bertviz_core.showing import show_pass  # from here on values show themselves in notebooks
from bertviz_core.tracing.many import run_many
from bertviz_core.tracing.saved import load_trace
from bertviz_core.tracing.store import TraceStore
from bertviz_core.tracing.trace import Trace, run
from bertviz_core.version import __version__

__all__ = [  # noqa: RUF022 - by what they are
    # what is asked
    "ablation", "attribute", "compare", "lens", "load_model", "load_trace", "neighbours", "neurons", "patch", "roles",
    "run", "run_many", "show_pass", "table", "write_ipynb", "write_script",
    # what is held
    "Model", "Trace", "TraceStore",
    # what is raised: the first is the family of the others
    "BertvizError", "AddressError", "ArgumentError", "BusyError", "CheckpointError", "InputError", "TrainingError",
    "__version__",
]  # fmt: skip
