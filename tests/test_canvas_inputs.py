"""The canvas of the first page for inputs and checkpoints of all sizes: whole, readable, and without an error."""

import pytest

from tests.browser import PHONE, WIDE, visit
from tests.canvas import BLEMISHES
from tests.factory import random_checkpoint

pytestmark = pytest.mark.slow

WORDS = "the old man went to the sea and looked at the ships "
LARGE = {"num_hidden_layers": 24, "num_attention_heads": 16, "hidden_size": 1024, "intermediate_size": 256}
INPUTS = {
    "one token": {"text": "a"},
    "a pair": {"text": "He sat by the river.", "pair": "The [MASK] was cold."},
    "padding": {"pad": "24"},
    "64 tokens": {"text": WORDS * 5 + "in the", "token": "40"},
    "512 tokens": {"text": WORDS * 42 + "in the cold morning light now", "token": "300"},
    "BERT base": {"model": "base_sized"},
    "BERT large": {"model": "large"},
    "without an LM head": {"model": "headless"},
}
ON_PHONES = ("a pair", "padding", "512 tokens", "BERT large")
ON_A_PHONE = "{} on a phone"
SELDOM = (
    "one token",
    "a pair",
    "64 tokens",
    "BERT base",
    "BERT large",
    "without an LM head",
    *(ON_A_PHONE.format(name) for name in ("a pair", "padding", "512 tokens")),
    ON_A_PHONE.format("BERT large"),
)
LEVELS = ("pass", "layer", "head")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return random_checkpoint(tmp_path_factory.mktemp("large"), **LARGE)


@pytest.fixture
def headless(tmp_path):
    return random_checkpoint(tmp_path, kind="base")


def name_input(name, size, called="{}"):
    """An input; rare, and in a group of whatever reads a large checkpoint, which is made once."""
    called, model = called.format(name), INPUTS[name].get("model")
    marks = [pytest.mark.rare] * (called in SELDOM) + ([pytest.mark.xdist_group(model)] if model else [])
    return pytest.param(name, size, id=called, marks=marks)


@pytest.mark.parametrize(
    ("name", "size"),
    [*(name_input(name, WIDE) for name in INPUTS), *(name_input(name, PHONE, ON_A_PHONE) for name in ON_PHONES)],
)
def test_every_input_is_drawn_whole(chromium, server, request, name, size):
    query = dict(INPUTS[name])
    if "model" in query:
        query["model"] = str(request.getfixturevalue(query["model"]))
    with visit(chromium, server, size, motion="reduce") as app:
        app.open(**query)
        for level in LEVELS:
            if level != "pass":
                with app.rerun():
                    app.page.locator(".bvc-stage").press("Enter")
            assert app.page.locator(".bvc").get_attribute("data-level") == level
            assert app.page.evaluate(BLEMISHES) == [], level
            assert app.page.evaluate("document.querySelector('.bvc-cells').getBoundingClientRect().width") > 300
        if name == "BERT base":
            check_components(app, query)


def check_components(app, query):
    """Of one head, and of a strip that is seen whole, every component is drawn."""
    texts = app.page.locator(".bvc-drawn text")
    if app.page.viewport_size == WIDE:
        assert texts.filter(has_text="64 numbers").count() == 4  # Q, K, V and the result
    app.open(level="layer", strip="norm", **query)
    app.page.wait_for_function("() => document.querySelector('.bvc-drawn').textContent.includes('768 numbers')")
    assert app.page.evaluate(BLEMISHES) == []
    address = "encoder.layer.0.attention.output.LayerNorm[token=1,hidden={}]"
    assert app.page.evaluate(
        """address => [...Array(768).keys()].every(i =>
            document.querySelector('.bvc').readCell(address.replace('{}', i)) !== undefined)""",
        address.replace(".0.", f".{app.chosen()[0].removeprefix('Layer ')}."),
    )
