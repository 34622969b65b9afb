"""Another model beside this one: what both have is compared on every page, and what is not comparable is told."""

import weakref
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from tests.factory import random_checkpoint

APP = str(Path(__file__).parents[1] / "app.py")
TEXT = "The cat sat on a [MASK]."
PAGES = ("embeddings", "attention", "feed_forward", "predictions", "sentence", "layers", "heads", "story")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = {}

    def make(kind, **config):
        key = (kind, *map(repr, config.items()))
        if key not in made:
            place = tmp_path_factory.mktemp("against") / f"model-{len(made)}"
            made[key] = str(random_checkpoint(place, kind=kind, seed=len(made), **config))
        return made[key]

    return make


def opened(model, against, **query):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update({"model": model, "against": against, "text": TEXT, "open": "all", **query})
    at.run()
    assert not at.exception and not at.error
    return at


def told(at):
    return " ".join(each.value for each in at.info).replace("\\", "")


@pytest.mark.parametrize("show", ["After", "Before", "Difference"])
@pytest.mark.parametrize("kinds", [("pretraining", "masked-lm"), ("masked-lm", "pretraining")], ids=" beside ".join)
def test_two_checkpoints_of_one_encoder_are_compared_in_what_both_have(folder, kinds, show):
    model, against = map(folder, kinds)
    at = opened(model, against, show=show)
    outcome = at.session_state["view"].outcome
    assert (outcome.after.model.name, outcome.before.model.name) == (model, against) and outcome.show == show
    place = "cls.predictions.probs[token=6]"
    for trace, name in ((outcome.after, model), (outcome.before, against)):
        np.testing.assert_array_equal(trace[place], bv.run(bv.load_model(name), TEXT)[place])
    more = Path(folder("pretraining")).name
    assert f"only {more} has a head for “pooler and next sentence”" in told(at) and at.button(key="undo-models")


@pytest.mark.parametrize("page", PAGES)
def test_every_page_shows_the_difference_of_what_both_have(folder, page):
    at = opened(folder("pretraining"), folder("masked-lm"), show="Difference")
    at.switch_page(f"pages/{page}.py").run()
    assert not at.exception and not at.error and at.get("html")


def test_a_change_is_made_in_the_model_that_is_compared_and_its_weights_are_the_same(folder):
    model, against = folder("pretraining"), folder("masked-lm")
    at = opened(model, against, changes="encoder.layer.0.attention.self.probs[head=1]:0")
    outcome = at.session_state["view"].outcome
    assert outcome.after.changes and not outcome.before.changes
    assert outcome.after.model.digest == bv.load_model(model).digest
    assert "other weights" not in told(at)


def test_other_classes_are_not_compared(folder):
    labels = {"id2label": {0: "a", 1: "b"}, "label2id": {"a": 0, "b": 1}}
    one, other = folder("sequence-classification", **labels), folder("sequence-classification")
    at = opened(one, other, show="Difference")
    assert at.session_state["view"].outcome.compared and "their classifiers tell other classes apart" in told(at)


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"num_hidden_layers": 3}, "num_hidden_layers is 2 here and 3 there"),
        ({"num_attention_heads": 4}, "num_attention_heads is 3 here and 4 there"),
        ({"hidden_act": "relu"}, "hidden_act is gelu here and relu there"),
    ],
    ids=str,
)
def test_what_is_not_comparable_is_told(folder, config, why):
    at = opened(folder("pretraining"), folder("pretraining", **config))
    assert not at.session_state["view"].outcome.changed
    assert "Only the page Compare sets" in told(at) and why in told(at)


def test_another_vocabulary_is_told(folder):
    config = bv.load_model("bundled").config
    sizes = ("hidden_size", "num_attention_heads", "num_hidden_layers", "intermediate_size", "max_position_embeddings")
    own = {size: getattr(config, size) for size in ("vocab_size", *sizes)}
    at = opened("bundled", folder("pretraining", **own))
    assert not at.session_state["view"].outcome.changed
    assert "other vocabularies" in told(at)


def test_a_model_without_some_heads_gives_the_same_numbers_and_is_forgotten_with_the_whole_one(folder):
    whole = bv.load_model(folder("pretraining"))
    part = whole.keep_heads({"masked language model"})
    assert part.heads == ("masked language model",) and part.digest == whole.digest
    assert part is whole.keep_heads(["masked language model"]) and whole.keep_heads(whole.heads) is whole
    store = bv.TraceStore()
    first, second = store.get(whole, TEXT), store.get(part, TEXT)
    more = {address for address in first.addresses if address.startswith(("pooler", "cls.seq"))}
    assert more and set(first.addresses) - set(second.addresses) == more
    for address in second.addresses:
        np.testing.assert_array_equal(first[address], second[address])
    kept = weakref.ref(second)
    del first, second
    assert kept() is not None
    store.forget_model(whole)
    assert kept() is None
