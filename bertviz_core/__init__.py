"""BERT's forward pass with every intermediate recorded, addressed and explained."""

from bertviz_core.errors import AddressError, BertvizError, CheckpointError, DimsError, InputError
from bertviz_core.explanation import Explanation
from bertviz_core.model import Model, load_model
from bertviz_core.notebook_export import notebook
from bertviz_core.script import script
from bertviz_core.steps import Program, Step
from bertviz_core.store import TraceStore
from bertviz_core.trace import Trace, run

__all__ = [
    "AddressError", "BertvizError", "CheckpointError", "DimsError", "Explanation", "InputError", "Model", "Program",
    "Step", "Trace", "TraceStore", "load_model", "notebook", "run", "script",
]  # fmt: skip
