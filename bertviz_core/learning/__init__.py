"""Sentences in, a trained Model and each step's numbers out.

A `training` is a `course` of steps with all that can be asked of it. In the app it goes on in a process of its own:
`hosted`, `host` and `link` are this side of the pipe, `worker` is the other, `queue` says who is next.
"""

from bertviz_core.learning.ahead import Ahead, take_ahead
from bertviz_core.learning.explaining import WeightUpdate
from bertviz_core.learning.host import Host
from bertviz_core.learning.hosted import Hosted
from bertviz_core.learning.looking import MovedHead, Ranked
from bertviz_core.learning.queue import Queue, Standing, Ticket
from bertviz_core.learning.records import Answer, PassRecord, StepRecord
from bertviz_core.learning.save import pack_zip, save_safetensors
from bertviz_core.learning.settings import Settings, check_numbers, check_settings, suggest_settings
from bertviz_core.learning.small import make_small_model
from bertviz_core.learning.training import Training
from bertviz_core.learning.weights import copy_model, name_head

__all__ = [
    "Ahead", "Answer", "Host", "Hosted", "MovedHead", "PassRecord", "Queue", "Ranked", "Settings", "Standing",
    "StepRecord", "Ticket", "Training", "WeightUpdate", "check_numbers", "check_settings", "copy_model",
    "make_small_model", "name_head", "pack_zip", "save_safetensors", "suggest_settings", "take_ahead",
]  # fmt: skip
