"""The feed-forward network, neuron by neuron."""

from __future__ import annotations

import numpy as np

from bertviz_core.analysis.ranking import rank_top
from bertviz_core.analysis.walk import sample_function
from bertviz_core.programs.config import ACTIVATIONS as FUNCTIONS

# The functions worth comparing: name in the config, and what to call it.
ACTIVATIONS = {"gelu": "GELU (erf)", "gelu_new": "GELU (tanh)", "relu": "ReLU"}


def apply_activation(name: str, x: np.ndarray) -> np.ndarray:
    """An activation function, by its name in the config, of every number of `x`."""
    return sample_function(FUNCTIONS[name], x)


def compute_contributions(strength: np.ndarray, directions: np.ndarray, neurons: list[int]) -> np.ndarray:
    """What single neurons add to the output: (neuron, hidden). Over all neurons, the rows and the bias sum to it.

    strength: (intermediate,) activations of one token; directions: (intermediate, hidden), the second matrix.
    """
    return strength[neurons, None] * directions[neurons]


def rank_neurons(strength: np.ndarray, directions: np.ndarray, k: int) -> list[int]:
    """The k neurons that add the longest vectors, longest first."""
    return rank_top(np.abs(strength) * np.linalg.norm(directions, axis=1), k)
