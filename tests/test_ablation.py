"""What each head is worth: every head zeroed in turn, against Hugging Face's model with the head zeroed by a hook."""

from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest
from transformers import BertForPreTraining

import bertviz_core as bv
from bertviz_core.analysis.ablation import Ablation, list_outcomes
from bertviz_core.formula.address import Address
from bertviz_core.ui.views import heads_ablation
from tests.factory import random_checkpoint

APP = str(Path(__file__).parent.parent / "app.py")
PAIR = ("The cat sat on the mat.", "Do as Romans do in Rome.")
LAYERS, HEADS, WIDTH = 2, 3, 8


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    folder = random_checkpoint(tmp_path_factory.mktemp("ablation"))
    return bv.run(bv.load_model(folder, dtype=torch.float64), *PAIR)


@torch.inference_mode()
def theirs(trace, layer, head, token, word):
    hf = BertForPreTraining.from_pretrained(trace.model.name, dtype=torch.float64, attn_implementation="eager").eval()

    def zeroed(_, given):
        context = given[0].clone()
        context[..., head * WIDTH : (head + 1) * WIDTH] = 0
        return (context,)

    hf.bert.encoder.layer[layer].attention.output.dense.register_forward_pre_hook(zeroed)
    row = trace.encoding
    found = hf(input_ids=torch.tensor([row.ids]), token_type_ids=torch.tensor([row.segments]))
    return found.prediction_logits[0, token].softmax(-1)[word].item()


def test_every_head_zeroed_gives_what_hugging_face_gives(trace):
    token, word = 3, int(trace["cls.predictions.probs[token=3]"].argmax())
    found = Ablation(trace, Address("cls.predictions.probs").fix(token=token, vocab=word))
    assert found.value == pytest.approx(trace["cls.predictions.probs"][token, word], abs=1e-12)
    for left in range(LAYERS * HEADS, 0, -1):
        assert found.left == left
        found.step(trace)
    assert found.left == 0
    expected = [[theirs(trace, i, j, token, word) - found.value for j in range(HEADS)] for i in range(LAYERS)]
    np.testing.assert_allclose(found.change, expected, rtol=0, atol=1e-10)
    assert (np.abs(found.change) > 1e-9).all()


def test_the_last_layer_goes_first_and_more_steps_than_heads_do_no_harm(trace):
    found = Ablation(trace, next(iter(list_outcomes(trace, 2, 1).values())))
    found.step(trace)
    assert np.isfinite(found.change[-1, -1]) and found.left == LAYERS * HEADS - 1
    for _ in range(LAYERS * HEADS + 2):
        found.step(trace)
    assert found.left == 0


@pytest.mark.parametrize(
    ("kind", "first", "count"),
    [("pretraining", "cls.predictions.probs", 7), ("sequence-classification", "classifier.probs[label=0]", 2),
     ("token-classification", "classifier.probs[token=1,label=0]", 2), ("base", "", 0)],
)  # fmt: skip
def test_what_a_head_could_matter_to(tmp_path, kind, first, count):
    trace = bv.run(bv.load_model(random_checkpoint(tmp_path, kind=kind)), PAIR[0])
    found = list(list_outcomes(trace, 1, 5).values())
    assert len(found) == count
    shares = [trace.recomputed(address) for address in found]
    if count:
        assert str(found[0]).startswith(first) and all(0 <= share <= 1 for share in shares)
        assert shares[:5] == sorted(shares[:5], reverse=True) or kind != "pretraining"


def test_the_page_makes_the_map_and_offers_the_pass_without_the_strongest_head(monkeypatch):
    monkeypatch.setattr(heads_ablation, "_AT_ONCE_S", 60)
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update({"text": "the [MASK]"})
    at.run()
    at.switch_page("pages/heads.py").run()
    at.button("ablation-start").click().run()
    assert not at.exception
    assert "head-ablation" in " ".join(chart.proto.id for chart in at.get("plotly_chart"))
    at.button("ablation-look").click().run()
    assert not at.exception
    assert ".attention.self.probs[head=" in at.session_state["changes"]
