"""The heads of a layer beside the chosen one's weights: each a picture of its weights, and what it is worth."""

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from bertviz_core.ui.frame.resources import get_findings
from tests.factory import random_checkpoint
from tests.test_pages import APP

BUTTON = re.compile(
    r'<button data-head="(\d+),(\d+)" aria-pressed="(\w+)"[^>]*><img src="data:image/png;base64,([^"]+)" alt="">'
    r"<span>(\d+)</span>(?:<b [^>]*>([^<]*)</b>)?</button>"
)
TEXT = "the cat sat on the [MASK]"


def opened(**place):
    at = AppTest.from_file(APP, default_timeout=120)
    at.query_params.update(place)
    at.run()
    at.switch_page("pages/attention.py")
    at.query_params.update(place)
    at.run()
    assert get_findings().settle(60)
    at.run()
    assert not at.exception
    return at


def read_buttons(at):
    (body,) = (element.proto.body for element in at.get("html") if "bv-layer-heads" in element.proto.body
               and "<button" in element.proto.body)  # fmt: skip
    return BUTTON.findall(body)


def test_every_head_of_the_layer_is_a_button_with_its_worth_and_its_weights():
    at = opened(text=TEXT, layer="3", head="5")
    trace = at.session_state["view"].trace
    token = trace.tokens.index("[MASK]")
    answer = int(trace["cls.predictions.probs"][token].argmax())
    cell = f"cls.predictions.probs[token={token},vocab={answer}]"
    buttons = read_buttons(at)
    assert [(layer, head, name) for layer, head, _, _, name, _ in buttons] == [("3", str(i), str(i)) for i in range(12)]
    assert [head for _, head, pressed, *_ in buttons if pressed == "true"] == ["5"]
    for _, head, _, image, _, worth in buttons:
        without = trace.with_changes({f"encoder.layer.3.attention.self.probs[head={head}]": 0.0})
        points = 100 * (float(trace[cell]) - float(without[cell]))
        assert float(worth.replace("\N{MINUS SIGN}", "-")) == pytest.approx(points, abs=0.051), head
        weights = trace[f"encoder.layer.3.attention.self.probs[head={head}]"]
        pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(image))).convert("RGB")).astype(int).sum(axis=-1)
        assert pixels.shape == weights.shape
        rows = np.arange(len(weights))  # on a light ground the largest weight of a row is the darkest
        assert (weights[rows, pixels.argmin(axis=1)] >= weights.max(axis=1) - 1 / 255).all()


def test_the_head_that_the_answer_needs_most_is_named_when_all_are_known():
    at = opened(text=TEXT, layer="3", head="5")
    (told,) = (caption.value for caption in at.caption if caption.value.startswith("Of all 72 heads:"))
    layer, head = re.search(r"layer (\d+), head (\d+)", told).groups()
    trace = at.session_state["view"].trace
    token = trace.tokens.index("[MASK]")
    answer = int(trace["cls.predictions.probs"][token].argmax())
    cell = f"cls.predictions.probs[token={token},vocab={answer}]"
    without = {
        (i, j): float(trace.with_changes({f"encoder.layer.{i}.attention.self.probs[head={j}]": 0.0})[cell])
        for i in range(6) for j in range(12)
    }  # fmt: skip
    assert min(without, key=without.get) == (int(layer), int(head))


def test_a_checkpoint_that_answers_nothing_shows_its_heads_alone(monkeypatch, tmp_path):
    monkeypatch.setenv("BERTVIZ_MODELS", str(random_checkpoint(tmp_path, kind="base-without-pooler")))
    buttons = read_buttons(opened(text="the cat sat"))
    assert len(buttons) > 1 and not any(worth for *_, worth in buttons)
