"""Trainings of a small random checkpoint, for the tests of what is learned."""

import pytest
import torch

import bertviz_core as bv
from bertviz_core.learning import Settings, Training
from tests.factory import random_checkpoint

SENTENCES = ("The cat sat on the mat.", "Do as the romans do, cat?", "Playing in Rome.")


@pytest.fixture(scope="session")
def learner(tmp_path_factory):
    """A model with one layer, every parameter random."""
    folder = random_checkpoint(tmp_path_factory.mktemp("learner"), kind="masked-lm", num_hidden_layers=1)
    return bv.load_model(folder, dtype=torch.float64)


@pytest.fixture(scope="session")
def trained(learner):
    """A training of six steps, all taken."""
    return take_all(Training(learner, SENTENCES, Settings(passes=2, eta=0.01)))


def take_all(training):
    while not training.finished:
        training.advance()
    return training


def take_steps(training, count):
    for _ in range(count):
        training.advance()
    return training
