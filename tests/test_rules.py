"""Every rule of a change is compared with Hugging Face; every activation function in place of another."""

from functools import partial

import numpy as np
import pytest
import torch
from torch.nn.functional import gelu, relu

import bertviz_core as bv
from bertviz_core.tracing.changes import RULES
from tests.factory import random_checkpoint
from tests.test_what_if import KINDS, LAYER, PAIR, observed, output

FUNCTIONS = {
    "gelu": gelu, "gelu_new": partial(gelu, approximate="tanh"), "gelu_pytorch_tanh": partial(gelu, approximate="tanh"),
    "relu": relu,
}  # fmt: skip
LOGITS = "cls.predictions.decoder"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_activation_in_place_of_another_equals_the_same_one_in_hugging_face(tmp_path, name):
    folder = random_checkpoint(tmp_path, num_hidden_layers=3, hidden_act="gelu" if name == "relu" else "relu")
    trace = bv.run(bv.load_model(folder, dtype=torch.float64), *PAIR)
    hook = output(f"bert.{LAYER}.intermediate.intermediate_act_fn", lambda given, _: FUNCTIONS[name](given[0]))
    theirs = observed(folder, trace, [hook])[LOGITS]
    ours = trace.with_changes({f"{LAYER}.intermediate.activation": name})[LOGITS]
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10 * float(np.abs(theirs).max()))
    assert float(np.abs(ours - trace[LOGITS]).max()) > 1e-3


def name_rules(values):
    """The rules among values that something is changed to, without their arguments."""
    return {value.partition("=")[0] for value in values if isinstance(value, str)}


def test_every_rule_is_compared_with_hugging_face():
    compared = name_rules(value for changes, _ in KINDS.values() for value in changes.values())
    assert name_rules(RULES) == compared | set(FUNCTIONS)
