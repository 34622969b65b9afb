"""Numbers too large for their precision: the first step that is not finite is named, and every page stays usable."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.analysis.overflow import find_overflow
from bertviz_core.ui.frame import overflow
from bertviz_core.ui.frame.site import PAGES
from tests.factory import random_checkpoint

APP = str(Path(__file__).parent.parent / "app.py")
TEXT = "the cat sat"
LAYER = "encoder.layer.1"
WORDS = "bert.embeddings.word_embeddings.weight"
QUERY_AND_KEY = [f"bert.{LAYER}.attention.self.{part}.weight" for part in ("query", "key")]


def enlarged(folder, size, *names):
    """The checkpoint with these parameters of this size."""
    stored = load_file(folder / "model.safetensors")
    for name in names:
        stored[name] = torch.sign(stored[name]) * size
    save_file(stored, folder / "model.safetensors")
    return folder


def find_first(trace):
    """The first step that is not finite, looked for in all of them; scores of padding may be infinite."""
    for address in trace.addresses:
        values = trace[address]
        if trace.dims(address)[-1:] == ("key",):
            values = values[..., np.array(trace.encoding.mask) > 0]
        if not np.isfinite(values).all():
            return address
    return None


@pytest.mark.parametrize(
    ("names", "size", "first"),
    [
        ([WORDS], 1e30, "embeddings.LayerNorm.variance"),
        (QUERY_AND_KEY, 1e30, f"{LAYER}.attention.self.products"),
        ([f"bert.{LAYER}.output.dense.weight"], 1e30, f"{LAYER}.output.LayerNorm.variance"),
        (["cls.predictions.transform.dense.weight"], 1e30, "cls.predictions.transform.LayerNorm.variance"),
        (["bert.pooler.dense.weight"], 3e38, "pooler.dense"),
        ([WORDS], 1e4, None),
        ([], 1.0, None),
    ],
)  # fmt: skip
def test_the_first_step_of_a_pass_that_is_not_finite_is_found(tmp_path, names, size, first):
    trace = bv.run(bv.load_model(enlarged(random_checkpoint(tmp_path / "wild"), size, *names)), TEXT, pad_to=8)
    assert find_first(trace) == first
    assert (where := find_overflow(trace)) == first or str(where) == first


@pytest.mark.parametrize(
    ("changes", "first"),
    [
        ({f"{LAYER}.output.dense[token=1]": 1e30}, f"{LAYER}.output.LayerNorm.variance"),
        ({f"{LAYER}.attention.self.query": -1e30, f"{LAYER}.attention.self.key": 1e30},
         f"{LAYER}.attention.self.products"),
        ({"cls.predictions.transform.dense[token=0,transform=1]": 1e25},
         "cls.predictions.transform.LayerNorm.variance"),
        ({"embeddings.sum[token=1]": np.full(24, 5.0), f"{LAYER}.output.LayerNorm.normalized": "epsilon=1e-40"}, None),
        ({"encoder.layer.0.output.LayerNorm": 999.0}, None),
    ],
)  # fmt: skip
def test_the_first_step_that_a_change_makes_infinite_is_found(tmp_path, changes, first):
    model = bv.load_model(random_checkpoint(tmp_path / "model"))
    plain = bv.run(model, TEXT)
    try:
        changed = plain.with_changes(changes)
    except bv.InputError as error:  # where a vector that is kept is reached, the change is refused
        assert "no longer finite" in str(error) and first
        return
    assert find_first(changed) == first
    where = find_overflow(changed)
    assert (None if where is None else str(where)) == first
    assert find_overflow(plain) is None


@pytest.mark.parametrize("size", [1.0, 999.0])
def test_what_is_not_looked_into_is_finite(tmp_path, size):
    folder = random_checkpoint(tmp_path / "model", hidden_act="gelu_new")
    names = load_file(folder / "model.safetensors")
    model = bv.load_model(enlarged(folder, size, *names))
    assert model.largest == pytest.approx(size)
    assert find_first(bv.run(model, TEXT, pad_to=8)) is None


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e39"])
def test_no_change_puts_a_number_that_is_not_finite(rome, value):
    with pytest.raises(bv.InputError, match=r"can only be set to finite numbers, up to 3\.4e"):
        rome.with_changes({"embeddings.sum[token=1]": float(value)})


def opened(folder, monkeypatch, **query):
    monkeypatch.setenv("BERTVIZ_MODELS", str(folder))
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update({"open": "all", "text": "the cat sat on the mat", "layer": "1", **query})
    return at.run()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of arithmetic with infinite numbers, which nobody sees
def test_a_page_says_where_the_numbers_end_and_every_page_is_drawn(tmp_path, monkeypatch):
    at = opened(enlarged(random_checkpoint(tmp_path / "wild"), 1e30, WORDS), monkeypatch)
    (said,) = [told.value.replace("\\", "") for told in at.info]
    assert said.startswith("The numbers are not finite from Embeddings on: embeddings.LayerNorm.variance is the first")
    for info in PAGES:
        at.switch_page(f"pages/{info.name}.py").run()  # what the page draws, without what stands around it
        assert not at.exception and not at.error, (info.name, [found.value for found in (*at.exception, *at.error)])
        for chart in at.get("plotly_chart"):
            assert not re.search(r"\b(NaN|Infinity)\b", chart.proto.spec), info.name  # no browser could read it
            json.loads(chart.proto.spec)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_pass_whose_vectors_are_not_finite_is_refused_with_the_first_step(tmp_path, monkeypatch):
    folder = enlarged(random_checkpoint(tmp_path / "wild"), 1e30, *QUERY_AND_KEY)
    at = opened(folder, monkeypatch)
    (said,) = [error.value.replace("\\", "") for error in at.error]
    assert said.startswith(f"The numbers are not finite from Attention on: {LAYER}.attention.self")
    assert "Try again" in [button.label for button in at.button] and not at.exception  # no other model is offered


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_change_that_makes_an_infinite_number_is_told(tmp_path, monkeypatch):
    folder = random_checkpoint(tmp_path / "model")
    at = opened(folder, monkeypatch, changes=f"{LAYER}.output.dense[token=1]:1e30")
    (said,) = [info.value for info in at.info if "not finite" in info.value]
    assert said.endswith("Undo the change\\, or give a smaller number\\.") and not at.exception and not at.error


def test_what_cannot_be_drawn_is_said_only_where_numbers_are_not_finite(tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr(overflow.st, "error", lambda text, icon: said.append(text))
    tame = bv.run(bv.load_model(random_checkpoint(tmp_path / "tame")), TEXT)
    wild = bv.run(bv.load_model(enlarged(random_checkpoint(tmp_path / "wild"), 1e30, WORDS)), TEXT)
    with overflow.kept_usable(wild):
        raise ValueError("no such number")
    with pytest.raises(ValueError, match="a mistake"), overflow.kept_usable(tame):
        raise ValueError("a mistake")
    assert len(said) == 1 and "not finite" in said[0]
