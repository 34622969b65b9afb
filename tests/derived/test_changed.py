"""What-if on screen: what moved and by how much, against Hugging Face's own pass with the same change."""

import re

import numpy as np
import pytest
import torch

from bertviz_core.ui.panels.head_maps import read_heads
from bertviz_core.ui.views.heads_ablation import ask_worth, measure_worth
from bertviz_core.ui.views.heads_worth import list_marks
from tests.derived.checks import check_cell
from tests.derived.heads import zero_heads
from tests.derived.reading import find_numbers, open_pages, read_html
from tests.derived.truth import Scene, best, softmax
from tests.factory import VOCABULARY, random_checkpoint
from tests.settling import settle

pytestmark = pytest.mark.xdist_group("derived: changed")
LAYER, HEAD, TOKEN, SWAPPED, WORD = 1, 2, 5, 2, 64
BLANK = 6  # of which the line tells, whichever token is chosen
ASKED = {"text": "the cat sat on the [MASK]", "layer": str(LAYER), "head": str(HEAD), "token": str(TOKEN)}
SWAP = f"input_ids[token={SWAPPED}]:{WORD}"


@pytest.fixture(scope="module", autouse=True)
def checkpoint(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        folder = random_checkpoint(tmp_path_factory.mktemp("changed"), seed=6, vocab_size=len(VOCABULARY))
        patch.setenv("BERTVIZ_MODELS", str(folder))
        yield


@pytest.fixture(scope="module")
def swapped():
    return Scene(
        open_pages({**ASKED, "changes": SWAP, "vectors": "sum"}, ["predictions", "embeddings", "attention_output"]),
        ASKED,
    )


@torch.inference_mode()
def read_probs(scene: Scene, ids) -> np.ndarray:
    read = scene.trace.encoding
    found = scene.hf(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([read.segments]))
    return softmax(found.prediction_logits[0].double().numpy())


@pytest.fixture(scope="module")
def both(swapped):
    """Probabilities for every token before and after, by Hugging Face."""
    after = list(swapped.trace.encoding.ids)
    before = [*after]
    assert after[SWAPPED] == WORD
    before[SWAPPED] = swapped.shown.view.outcome.before.encoding.ids[SWAPPED]
    return read_probs(swapped, before), read_probs(swapped, after)


def test_probabilities_before_and_after(swapped, both):
    before, after = (probs[TOKEN] for probs in both)
    table = swapped.shown.find("predictions", f"What moved at position {TOKEN}").tables[0]
    shown = list(dict.fromkeys([*best(before, 10), *best(after, 10)]))
    assert table.rows == [f"{swapped.word(i)}  {i}" for i in shown]
    expected = {"before": before, "after": after, "after − before": after - before}
    assert list(table.columns) == list(expected)
    for name, numbers in expected.items():
        for cell, i in zip(table.columns[name], shown, strict=True):
            assert abs(find_numbers(cell)[0].value - numbers[i]) <= find_numbers(cell)[0].slack + 1e-6, (name, i)


def test_the_line_under_the_changes_tells_the_same(swapped, both):
    before, after = (probs[BLANK] for probs in both)
    _, at = open_pages({**ASKED, "changes": SWAP}, [], keep=True)
    line = next(element.proto.body for element in at.get("html") if "bv-moves" in element.proto.body)
    shown = sorted({*best(before, 3), *best(after, 3)}, key=lambda i: -max(before[i], after[i]))[:3]
    told = find_numbers(re.sub(r"<[^>]*>|at position \d+", " ", line))
    assert len(told) == 2 * len(shown)
    for i, pair in zip(shown, zip(told[::2], told[1::2], strict=True), strict=True):
        assert all(
            abs(number.value - probs[i]) <= number.slack + 1e-6
            for number, probs in zip(pair, (before, after), strict=True)
        )


@pytest.mark.parametrize(("page", "address"), [
    ("embeddings", "embeddings.sum"), ("attention_output", f"encoder.layer.{LAYER}.attention.output.dense"),
])  # fmt: skip
def test_how_far_a_tensor_moved(swapped, page, address):
    outcome = swapped.shown.view.outcome
    old, new = (np.array(trace[address], dtype=np.float64) for trace in (outcome.before, outcome.after))
    text = next(text for text in swapped.shown.find(page, address).texts if "What if" in text)
    *_, before, after = [number for number in find_numbers(text) if not number.exact]
    place = np.unravel_index(np.abs(new - old).argmax(), old.shape)
    for number, expected in ((before, old[place]), (after, new[place])):
        check_cell(number.text, float(expected), text)
    assert f"component {place[1]}" in text.partition("Most changes")[2]


def test_every_head_zeroed_on_the_map():
    shown, at = open_pages(ASKED, ["heads"], keep=True)
    assert settle()
    at.run()
    scene = Scene(shown, ASKED)
    probs = softmax(scene.hf_run.prediction_logits[0, TOKEN].double().numpy())
    words = best(probs, 5)
    without = zero_heads(scene)[..., words]
    worth = 100 * (probs[words[0]] - without[..., 0])
    view = at.session_state["view"]
    marks = list_marks(measure_worth(view, read_heads(view.trace), ask_worth(view).look()), view.colors)
    power = int(np.floor(np.log10(np.abs(worth).max()))) if np.abs(worth).max() < 0.1 else 0
    power -= power == -5  # which has no name
    assert len(marks) == worth.size
    for mark, expected in zip(marks, worth.ravel(), strict=True):
        printed = float(mark["text"].replace("\N{MINUS SIGN}", "-"))
        assert abs(printed - expected / 10.0**power) < 0.0501 + 0.01 * (power < 0)
    tables = [table for element in at.get("html") for table in read_html(element.proto.body)[0]]
    (table,) = [table for table in tables if list(table.columns)[-2:] == ["without", "with"]]
    for word, without_it, with_it, name in zip(
        words, *(table.columns[c] for c in ("without", "with")), table.rows, strict=True
    ):
        assert name == f"“{scene.word(word)}”"
        check_cell(without_it, float(without[LAYER, HEAD][words.index(word)]), name)
        check_cell(with_it, float(probs[word]), name)
