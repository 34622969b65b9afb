"""What is said where a change multiplies what is computed, or puts numbers where others are told of."""

import re

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.ablation import zero_heads
from bertviz_core.analysis.add_norm import follow_direct_path
from bertviz_core.analysis.attribution import Question
from bertviz_core.analysis.gradients import integrate_gradients
from bertviz_core.analysis.layers import Lens
from bertviz_core.analysis.made_from import find_factor, is_put, is_put_throughout, name_put
from bertviz_core.analysis.origins import find_origins
from bertviz_core.errors import InputError
from bertviz_core.formula.address import parse
from bertviz_core.ui.panels.put import tell_way
from tests.canvas import look
from tests.test_put import opened
from tests.test_said_after_changes import read_all

TEXT = "The bird built its [MASK] ."
NEST = "cls.predictions.decoder[token=5,vocab=9089]"
SUM = "encoder.layer.2.attention.output.residual"


@pytest.fixture(scope="module")
def bird(bundled):
    return bv.run(bundled, TEXT)


@pytest.mark.parametrize(
    ("changes", "factor", "how"),
    [
        ({SUM: "scale=0.5"}, 0.5, "multiplied by a change"),
        ({SUM: 0.25}, 0.0, "put there by a change"),
        ({SUM: "scale=0"}, 0.0, "multiplied by a change"),
        ({f"{SUM}[token=5,hidden=0]": 7.0}, 1.0, "put there by a change"),
    ],
)
def test_a_factor_is_told_from_a_number_in_place_of_another(bird, changes, factor, how):
    trace, row = bird.with_changes(changes), parse(f"{SUM}[token=5]")
    assert find_factor(trace, row) == factor and is_put_throughout(trace, row) == (factor == 0)
    assert name_put(trace, row.fix(hidden=0)) == how


def test_a_factor_of_one_puts_nothing(bird):
    trace = bird.with_changes({"encoder.layer.4.output.LayerNorm": "scale=1"})
    assert not is_put(trace, parse("encoder.layer.4.output.LayerNorm")) and trace.changes
    page = read_all(opened("layers", {"encoder.layer.4.output.LayerNorm": "scale=1"}, TEXT, token="5"))
    assert "lets some end otherwise" not in page


def test_behind_a_multiplied_sum_the_embedding_is_as_large_as_before(bird):
    """LayerNorm takes the factor off again, but for its epsilon."""
    before, after = (follow_direct_path(trace, 5)[1] for trace in (bird, bird.with_changes({SUM: "scale=0.5"})))
    np.testing.assert_allclose(after, before, rtol=1e-4)
    twice = follow_direct_path(bird.with_changes({"encoder.layer.2.output.LayerNorm": "scale=2"}), 5)[1]
    np.testing.assert_allclose(twice[:5], before[:5], rtol=1e-6)
    np.testing.assert_allclose(twice[5], 2 * before[5], rtol=1e-6)
    assert not follow_direct_path(bird.with_changes({SUM: 0.5}), 5)[1][4:].any()


@pytest.mark.parametrize("factor", [0.5, -2.0])
def test_tokens_carried_a_multiplied_logit_as_many_times(bird, factor):
    question = Question(parse(NEST))
    before, after = (find_origins(t, question) for t in (bird, bird.with_changes({NEST: f"scale={factor}"})))
    np.testing.assert_allclose(after.parts.parts, factor * before.parts.parts, rtol=1e-6)
    assert after.parts.biases == pytest.approx(factor * before.parts.biases)
    np.testing.assert_allclose(after.components.heads, factor * before.components.heads, rtol=1e-6)
    for nothing in ("scale=0", 3.0):
        with pytest.raises(InputError, match="A change put this number there"):
            find_origins(bird.with_changes({NEST: nothing}), question)


@pytest.mark.parametrize(
    "changes",
    [
        {"embeddings.word_embeddings": 0.0},
        {"embeddings.word_embeddings[token=2]": "scale=2"},
        {"embeddings.word_embeddings[token=3]": 0.1},
    ],
)
def test_gradients_begin_at_a_text_of_masks_that_has_the_changes(bird, changes):
    """What the difference is, is worked out by running that text, framed as this one is."""
    masks = bird.with_changes({**{f"input_ids[token={i}]": 103 for i in range(8)}, **changes})
    here = bird.with_changes(changes)
    found = integrate_gradients(here, {parse(NEST): 1.0}, 64)
    assert found.difference == pytest.approx(float(here[NEST] - masks[NEST]), abs=1e-3)
    assert found.parts.sum() == pytest.approx(found.difference, abs=0.02 + 0.02 * abs(found.difference))


def test_heads_whose_values_are_all_nothing_are_worth_nothing(bird):
    trace = bird.with_changes({"encoder.layer.1.attention.self.value": 0.0})
    *_, (_, found) = zero_heads(trace, [parse("cls.predictions.probs[token=5,vocab=9089]")])
    assert (found.without[0, 1] == found.values[0]).all() and (found.without[0, 0] != found.values[0]).any()


def test_the_lens_says_what_a_change_puts_into_the_head(bird):
    changes = {"cls.predictions.probs[token=5]": "scale=2"}
    worked, gives = (lens := Lens(bird.with_changes(changes), 5)).worked(6, 9089)
    assert worked and 2 * gives == pytest.approx(lens.probs[6, 9089], rel=1e-5)
    page = read_all(opened("layers", changes, TEXT, token="5", layer="5", open="lens"))
    assert "A change multiplies these numbers." in page
    plain = read_all(opened("layers", {}, TEXT, token="5", layer="5", open="lens"))
    assert "A change multiplies these numbers." not in plain


@pytest.mark.parametrize(
    ("page", "changes", "said", "not_said"),
    [
        (
            "sentence",
            {"pooler.activation": "scale=5"},
            r"0\s% of 384 components would be beyond ±0\.9",
            "21\N{NO-BREAK SPACE}% of 384",
        ),
        ("tokenization", {"attention_mask[token=1]": 0}, r"\*\*7 tokens\*\*, each a number: “bird”", "**8 tokens**"),
        ("story", {"cls.predictions.probs[token=5]": "scale=2"}, "is multiplied by a change", "in place of what"),
        ("where_from", {"cls.predictions.decoder": "scale=0.5"}, "Carried and needed", "nothing carried it"),
        ("attention_output", {"encoder.layer.2.attention.self.probs[head=6]": -1.0}, r"\\lvert", "= −4.38"),
    ],
)
def test_pages_tell_of_what_is_multiplied(page, changes, said, not_said):
    text = read_all(opened(page, changes, TEXT, token="5", layer="2", head="6", open="pooler"))
    assert re.search(said, text) and not_said not in text


def test_segments_that_a_change_puts_are_not_those_of_the_sentences():
    at = opened("tokenization", {"token_type_ids": 0}, "The bird built a nest .", pair="It was [MASK] .", token="10")
    assert "The second sentence is segment 1" not in read_all(at)


def test_padding_that_is_read_is_not_called_none():
    at = opened("attention", {"attention_mask": 1}, "Cold rain [MASK] .", pad="16", token="3", layer="2", head="1")
    page = read_all(at)
    assert "no padding: + 0" not in page and "none is masked: + 0" in page


def test_a_column_that_a_change_multiplies_says_so(bird):
    weights = "encoder.layer.2.attention.self.probs"
    seen = look(bird, bird.with_changes({weights: "scale=2"}), token=5)
    assert tell_way(seen, parse(f"{weights}[head=6,query=5]"), "softmax") == "softmax, multiplied by a change"
