"""BERT's forward pass with every intermediate recorded, addressed and explained."""

from bertviz_core.analysis.attribution import Attribution, attribute
from bertviz_core.analysis.comparing import Comparison, compare
from bertviz_core.analysis.patching import Patched, patch
from bertviz_core.checkpoint.model import Model, load_model
from bertviz_core.errors import (
    AddressError,
    ArgumentError,
    BertvizError,
    BusyError,
    CheckpointError,
    DimsError,
    InputError,
    TrainingError,
)
from bertviz_core.export.ipynb import write_ipynb
from bertviz_core.export.script import write_script
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.steps import Program, Step
from bertviz_core.showing import show_pass  # from here on values show themselves in notebooks
from bertviz_core.tracing.store import TraceStore
from bertviz_core.tracing.trace import Trace, run
from bertviz_core.version import __version__

__all__ = [
    "AddressError", "ArgumentError", "Attribution", "BertvizError", "BusyError", "CheckpointError", "Comparison",
    "DimsError", "Explanation", "InputError", "Model", "Patched", "Program", "Step", "Trace", "TraceStore",
    "TrainingError", "__version__", "attribute", "compare", "load_model", "patch", "run", "show_pass", "write_ipynb",
    "write_script",
]  # fmt: skip
