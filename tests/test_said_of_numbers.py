"""Checkpoints that compare no classes: fine-tuned on numbers, or on classes of which several can hold at once."""

import re

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex, format_number, format_percent
from bertviz_core.ui.views import sentence
from tests.canvas import look
from tests.factory import random_checkpoint
from tests.menus import code_open, read_plain  # noqa: F401 - opened for the whole module
from tests.test_put import opened
from tests.test_said_after_changes import read_all

TEXT = "the cat sat"
CLASSES = Address("classifier")
SEVERAL = "multi_label_classification"


def read_page(folder, monkeypatch, **config):
    """The page of the whole input: its title, all that it says, and the pass that it shows."""
    path = random_checkpoint(folder, **config)
    monkeypatch.setenv("BERTVIZ_MODELS", str(path))
    at = opened("sentence", {}, TEXT, layer="0", head="0", token="2")
    return at.title[0].value.replace("\\", ""), read_all(at), bv.run(bv.load_model(path), TEXT)


@pytest.mark.parametrize(("config", "asked"), [
    ({"num_labels": 1}, "Which number? **LABEL_0**, {most}"),
    ({"num_labels": 3, "problem_type": "regression"}, "Which numbers? Highest **LABEL_{best}**, {most}"),
])  # fmt: skip
def test_a_number_that_is_the_answer_has_no_probability(tmp_path, monkeypatch, config, asked):
    title, said, trace = read_page(tmp_path, monkeypatch, kind="sequence-classification", **config)
    scores = trace["classifier"]
    assert title == asked.format(best=int(scores.argmax()), most=format_number(float(scores.max())))
    assert "of which no probabilities are made" in said and "one per number that the checkpoint" in said
    assert "one per class" not in said.replace("one logit per class.", "")  # what the note's last line is compared with
    assert not re.search("softmax (probabilities|makes|depends)", said)


@pytest.mark.parametrize(("kind", "asked"), [
    ("sequence-classification", "Which classes? Likeliest **LABEL_{best}**, {share}"),
    ("token-classification", "Which classes has each token?"),
])  # fmt: skip
def test_classes_that_are_decided_alone_are_compared_with_no_other(tmp_path, monkeypatch, kind, asked):
    title, said, trace = read_page(tmp_path, monkeypatch, kind=kind, num_labels=3, problem_type=SEVERAL)
    shares = 1 / (1 + np.exp(-trace["classifier"].astype(np.float64)))
    share = format_percent(float(shares.max())) if shares.ndim == 1 else ""
    assert title == asked.format(best=int(shares.argmax()), share=share)
    assert "The sigmoid makes each of them a probability." in said
    assert "A softmax depends only on such differences" not in said


def test_what_is_split_adds_up_to_the_logit_where_nothing_is_compared(tmp_path):
    model = bv.load_model(
        random_checkpoint(tmp_path, kind="sequence-classification", num_labels=2, problem_type=SEVERAL)
    )
    trace = bv.run(model, TEXT)
    shown = sentence._show_evidence.__wrapped__(look(trace, token=0, head=(0, 0)), CLASSES, model.labels)
    best = int(trace["classifier"].argmax())
    parts = trace["pooler.activation"].astype(np.float64) * trace["classifier.weight"][:, best]
    np.testing.assert_allclose(shown.values.matrix[:, 0], parts, atol=1e-6)
    assert parts.sum() + trace["classifier.bias"][best] == pytest.approx(float(trace["classifier"][best]), abs=1e-5)
    assert shown.origin.worked.endswith(f" = {format_latex(float(trace['classifier'][best]))}")
    assert shown.origin.meaning == "The highest logit, split by component. It is compared with no other."
