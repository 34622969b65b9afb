"""What each head is worth: every head zeroed in turn, against Hugging Face's model with the head zeroed by a hook."""

from collections import deque
from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest
from transformers import BertForPreTraining

import bertviz_core as bv
from bertviz_core.analysis.ablation import (
    drop_zeroed,
    list_outcomes,
    read_cells,
    run_without_cell,
    run_without_head,
    zero_each,
    zero_head,
    zero_heads,
)
from bertviz_core.formula.address import Address
from bertviz_core.tracing.changes import take_changes
from bertviz_core.tracing.stacked import FEW, list_blocks
from bertviz_core.ui.panels.head_maps import read_heads
from bertviz_core.ui.views.heads_ablation import ask_worth, measure_worth
from bertviz_core.ui.views.heads_worth import list_marks
from tests.factory import random_checkpoint
from tests.settling import settle

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
    words = (word, 5)
    every = list(zero_heads(trace, [Address("cls.predictions.probs").fix(token=token, vocab=word) for word in words]))
    blocks = [len(block) for block in reversed(list_blocks(HEADS, len(trace.tokens), FEW))] * LAYERS
    assert [done for done, _ in every] == pytest.approx(np.cumsum(blocks) / (LAYERS * HEADS))
    found = every[-1][1]
    np.testing.assert_allclose(found.values, trace["cls.predictions.probs"][token, list(words)], atol=1e-12)
    for which, word in enumerate(words):
        without = [[theirs(trace, i, j, token, word) for j in range(HEADS)] for i in range(LAYERS)]
        np.testing.assert_allclose(found.without[which], without, rtol=0, atol=1e-10)
        np.testing.assert_allclose(found.measure_worth(which), found.values[which] - without, rtol=0, atol=1e-10)
        assert (np.abs(found.measure_worth(which)) > 1e-9).all()


@pytest.mark.parametrize(("change", "cut"), [
    ("encoder.layer.3.attention.output.dense", [3]),
    ("encoder.layer.5.output.LayerNorm[token=8]", range(6)),
    ("encoder.layer.4.attention.self.context[token=8]", []),
    ("encoder.layer.5.output.LayerNorm.normalized[token=8]", range(6)),  # as each is computed, but rounded otherwise
])  # fmt: skip
def test_a_head_that_cannot_reach_the_answer_is_worth_nothing_to_the_last_digit(rome, change, cut):
    trace = rome.with_changes({change: 0.0})
    *_, (_, found) = zero_heads(trace, [*list_outcomes(trace, 8, 3).values()])
    for which in range(3):
        counts = found.measure_worth(which) != 0
        assert counts.any(axis=1).tolist() == counts.all(axis=1).tolist() == [i not in cut for i in range(6)]


def test_the_last_layer_goes_first_and_what_was_told_before_stays_as_it_was(trace):
    steps = zero_heads(trace, list(list_outcomes(trace, 2, 1).values()))
    first, second = next(steps)[1], next(steps)[1]
    known = list_blocks(HEADS, len(trace.tokens), FEW)[-1].start
    assert np.isfinite(first.without[:, 1, known:]).all() and np.isnan(first.without[:, 0]).all()
    assert np.isfinite(second.without).sum() > np.isfinite(first.without).sum()
    with pytest.raises(ValueError, match="read-only"):
        first.without[:] = 0


def test_a_head_that_hands_on_nothing_changes_no_bit_and_one_alone_is_told_the_very_number(trace):
    """Who asks for one before all are known sees the same afterwards."""
    first = run_without_head(trace, (cell := Address("cls.predictions.probs").fix(token=1, vocab=5),), 0, 1)
    deque(zero_heads(trace, [cell]), maxlen=0)
    np.testing.assert_array_equal(run_without_head(trace, (cell,), 0, 1), first)
    weights = "encoder.layer.1.attention.self.probs[head=2]"
    changed = trace.with_changes({weights: 0.0})
    cells = tuple(list_outcomes(changed, 2, 3).values())
    *_, (_, found) = zero_heads(changed, cells)
    np.testing.assert_array_equal(found.without[:, 1, 2], found.values)
    assert (found.without[:, 1, 1] != found.values).any()
    for layer, head in np.ndindex(LAYERS, HEADS):
        alone = run_without_head(changed, cells, layer, head)
        np.testing.assert_array_equal(alone, found.without[:, layer, head])
        both = changed.with_changes(zero_head(layer, head))
        np.testing.assert_allclose(found.without[:, layer, head], read_cells(both, cells), rtol=0, atol=1e-12)


def test_a_long_text_has_its_heads_zeroed_in_blocks(trace, monkeypatch):
    monkeypatch.setattr("bertviz_core.analysis.ablation.FEW", most := 2 * len(trace.tokens))
    cell = Address("cls.predictions.probs").fix(token=1, vocab=5)
    steps = list(zero_heads(trace, [cell]))
    assert [*map(len, list_blocks(HEADS, len(trace.tokens), most))] == [2, 1] and len(steps) == 2 * LAYERS
    both = trace.with_changes(zero_head(0, 1))
    np.testing.assert_allclose(steps[-1][1].without[0, 0, 1], both.recomputed(cell), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "first", "count"),
    [("pretraining", "cls.predictions.probs", 7), ("sequence-classification", "classifier.probs[label=", 2),
     ("token-classification", "classifier.probs[token=1,label=", 2),
     ("question-answering", "qa_outputs.start.probs[start=", 2), ("base", "", 0)],
)  # fmt: skip
def test_what_a_head_could_matter_to(tmp_path, kind, first, count):
    trace = bv.run(bv.load_model(random_checkpoint(tmp_path, kind=kind)), PAIR[0])
    found = list(list_outcomes(trace, 1, 5).values())
    assert len(found) == count
    shares = [trace.recomputed(address) for address in found]
    if count:
        assert str(found[0]).startswith(first) and all(0 <= share <= 1 for share in shares)
        assert all(one == sorted(one, reverse=True) for one in (shares[:5], shares[5:]))  # words, and what follows them


def test_zeroed_heads_are_no_part_of_the_pass_in_which_heads_are_zeroed(trace):
    first = "encoder.layer.0.attention.self.probs"
    kept = {
        f"{first}[head=1,query=2,key=1]": 0.0,
        "input_ids[token=1]": 7,
        f"{first}[head=1]": "uniform",
        "encoder.layer.1.attention.self.context[token=2,concat=3]": 0.0,
    }
    changed = trace.with_changes({**kept, **zero_head(1, 2), f"{first}[head=0]": 0})
    assert len(changed.changes) == len(kept) + 2 and drop_zeroed(changed) == take_changes(kept)


def test_a_number_without_one_on_the_way_to_it(trace):
    answer = Address("cls.predictions.probs").fix(token=3, vocab=5)
    cell = Address.in_layer(1, "attention.self.context").fix(token=3, concat=4)
    expected = trace.with_changes({str(cell): 0.0})["cls.predictions.probs"][3, 5]
    assert run_without_cell(trace, answer, cell) == pytest.approx(expected, abs=1e-12)
    assert expected != trace["cls.predictions.probs"][3, 5]
    assert run_without_cell(trace, answer, answer) is None
    assert run_without_cell(trace, answer, Address("input_ids").fix(token=3)) is None


def test_each_number_set_to_0_in_two_passes_comes_one_by_one(trace):
    answer = Address("cls.predictions.probs").fix(token=3, vocab=5)
    cells = [answer, *(Address.in_layer(1, "intermediate.activation").fix(token=3, intermediate=i) for i in (2, 7))]
    other = trace.with_changes({str(cells[1]): 0.0})
    steps = list(zero_each([trace, other], answer, cells))
    assert [done for done, _ in steps] == pytest.approx([i / 6 for i in range(1, 7)])
    assert [list(map(len, found)) for _, found in steps] == [[1, 0], [2, 0], [3, 0], [3, 1], [3, 2], [3, 3]]
    first, second = steps[-1][1]
    assert first[answer] is second[answer] is None
    for i in (1, 2):
        for found, already in ((first, {}), (second, {str(cells[1]): 0.0})):
            plain = bv.run(trace.model, *PAIR, changes={**already, str(cells[i]): 0.0})
            assert found[cells[i]] == pytest.approx(plain["cls.predictions.probs"][3, 5], abs=1e-12)
    assert first[cells[2]] != second[cells[2]]


def read_map(at):
    """The numbers under the heads' pictures."""
    view = at.session_state["view"]
    found = measure_worth(view, read_heads(view.trace), ask_worth(view).look())
    return [float(mark["text"].replace("−", "-")) for mark in list_marks(found, view.colors) if mark["text"]]


def open_heads(**query):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update({"text": "the [MASK]", "layer": "1", "head": "8", **query})
    at.run()
    at.switch_page("pages/heads.py").run()
    assert not at.exception and settle()
    return at.run()


def test_the_map_stays_when_a_head_is_left_out():
    at = open_heads()
    made = read_map(at)
    assert len(made) == 72 and "falls from" in at.title[0].value
    trace = at.session_state["view"].trace
    word = int(trace["cls.predictions.probs[token=2]"].argmax())
    for layer, head in ((1, 8), (0, 3), (5, 11)):
        without = trace.with_changes({f"encoder.layer.{layer}.attention.self.probs[head={head}]": 0.0})
        worth = 100 * float(trace["cls.predictions.probs"][2, word] - without["cls.predictions.probs"][2, word])
        assert made[12 * layer + head] == pytest.approx(worth, abs=0.051), (layer, head)
    at.button("ablation-look").click().run()
    assert not at.exception
    assert at.session_state["changes"].startswith("encoder.layer.1.attention.self.probs[head=8]:0")
    changed = open_heads(changes=at.session_state["changes"])
    assert changed.session_state["view"].trace.changes and read_map(changed) == made
    assert changed.button("ablation-look").disabled
