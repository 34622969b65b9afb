"""The heads of a layer beside the chosen one's weights: each a picture of its own, a click away."""

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

import bertviz_core as bv
from bertviz_core.figures.thumbnails import draw_thumbnail
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.tracing.rewrites import Rule
from tests.factory import random_checkpoint
from tests.settling import settle
from tests.test_attention_pages import opened

BUTTON = re.compile(
    r'<button data-head="(\d+),(\d+)" aria-pressed="(\w+)"[^>]*><img src="data:image/png;base64,([^"]+)" alt="">(\d+)<'
)
WEIGHTS = "encoder.layer.3.attention.self.probs"
LAST = "encoder.layer.5.attention.self.probs"
CONTEXT, ROME = "encoder.layer.5.attention.self.context", "When in Rome, do as the [MASK] do."


def list_buttons(at):
    bodies = [each.proto.body for each in at.get("html") if '<div class="bv-layer-heads' in each.proto.body]
    return [BUTTON.findall(body) for body in bodies]


def read_shades(image):
    """How dark each cell is, from 0 to 1, on the scale of a picture's lightest and darkest one."""
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(image))).convert("RGB")).astype(float).sum(axis=-1)
    return (pixels.max() - pixels) / np.ptp(pixels)


def test_every_head_of_the_layer_is_a_button_with_its_own_weights():
    at = opened("attention", text="the cat sat on the [MASK]", layer="3", head="5")
    trace = at.session_state["view"].trace
    (buttons,) = list_buttons(at)
    assert [(layer, head, name) for layer, head, _, _, name in buttons] == [("3", str(i), str(i)) for i in range(12)]
    assert [head for _, head, pressed, *_ in buttons if pressed == "true"] == ["5"]
    for _, head, _, image, _ in buttons:
        weights, shades = trace[f"{WEIGHTS}[head={head}]"], read_shades(image)
        assert shades.shape == weights.shape
        order = np.argsort(weights, axis=None)
        assert np.all(np.diff(shades.ravel()[order]) > -0.02), head  # the larger, the darker


def test_under_each_map_stands_what_the_head_is_worth_to_the_answer(bundled):
    opened("attention", text=ROME, layer="5", token="8")
    assert settle()
    at = opened("attention", text=ROME, layer="5", token="8")
    (body,) = (each.proto.body for each in at.get("html") if '<div class="bv-layer-heads' in each.proto.body)
    found = [float(text.replace("\N{MINUS SIGN}", "-")) for text in re.findall(r"<small>([^<]*)</small>", body)]
    trace, probs = bv.run(bundled, ROME), "cls.predictions.probs[token=8]"
    best = int(trace[probs].argmax())
    for head, worth in enumerate(found):
        context = trace[CONTEXT].copy()
        context[:, 32 * head : 32 * head + 32] = 0
        without = trace.with_changes({CONTEXT: context})[probs]
        assert worth == pytest.approx(100 * (trace[probs][best] - without[best]), abs=0.06), head
    assert len(found) == 12
    assert body.endswith("<p>in percentage points</p>")


def test_where_no_head_is_worth_much_the_unit_is_a_smaller_one(bundled):
    changes = {"cls.predictions.decoder": Rule("scale=0.01")}  # all words are nearly alike
    asked = {"text": ROME, "layer": "5", "token": "8", "changes": "cls.predictions.decoder:scale=0.01"}
    opened("attention", **asked)
    assert settle()
    at = opened("attention", **asked)
    (body,) = (each.proto.body for each in at.get("html") if '<div class="bv-layer-heads' in each.proto.body)
    found = [float(text.replace("\N{MINUS SIGN}", "-")) for text in re.findall(r"<small>([^<]*)</small>", body)]
    usual, probs = bv.run(bundled, ROME), "cls.predictions.probs[token=8]"
    with_all = usual.with_changes(changes)[probs]
    best = int(with_all.argmax())
    without = [usual.with_changes({**changes, f"{LAST}[head={i}]": 0.0})[probs][best] for i in range(12)]
    (unit,) = re.findall(r"<p>in (.*)</p>$", body)
    of = {"ten-thousandths of a point": 1e-6, "millionths of a point": 1e-8}[unit]
    assert found == pytest.approx([float(with_all[best] - each) / of for each in without], abs=0.06)


def test_of_a_change_the_heads_differences_are_shown():
    at = opened("attention", text="the cat sat", layer="3", changes=f"{WEIGHTS}[head=5]:0", show="Difference")
    (buttons,) = list_buttons(at)
    pictures = {head: picture for _, head, _, picture, _ in buttons}
    view = at.session_state["view"]
    weights = -view.outcome.before[f"{WEIGHTS}[head=5]"].astype(np.float64)
    drawn = (draw_thumbnail(each, view.colors, ATTENTION) for each in (np.round(weights * 255) / 255, 0 * weights))
    changed, same = (each.partition(",")[2] for each in drawn)
    assert pictures.pop("5") == changed and set(pictures.values()) == {same}


@pytest.mark.parametrize(("text", "told"), [("a " * 40, "For 42 tokens"), ("the cat", "")])
def test_where_tokens_are_pooled_that_is_said(text, told):
    at = opened("attention", text=text)
    assert any(told in caption.value for caption in at.caption)
    assert any("For " in caption.value and "neighbouring" in caption.value for caption in at.caption) == bool(told)


def test_a_layer_with_one_head_has_nothing_to_choose_from(monkeypatch, tmp_path):
    folder = random_checkpoint(tmp_path, num_attention_heads=1)
    monkeypatch.setenv("BERTVIZ_MODELS", str(folder))
    assert list_buttons(opened("attention", text="the cat sat")) == []
