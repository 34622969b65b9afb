"""What is said where a change makes numbers equal, zero, opposite or huge."""

import re

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.add_norm import normalize_with
from bertviz_core.analysis.layers import Lens, list_stages
from bertviz_core.analysis.openings import open_product
from bertviz_core.analysis.ranking import MASKED, find_robust_limit
from bertviz_core.formula.address import Address, parse
from bertviz_core.formula.markup import write_html
from bertviz_core.ui.panels import moved
from bertviz_core.ui.views import embeddings_said, feed_forward, heads_told, patch_both, query_key_value
from tests.canvas import look
from tests.test_put import opened
from tests.test_said_after_changes import read_all

TEXT = "Paris is the capital of [MASK]."
PROBS = "cls.predictions.probs"


@pytest.fixture(scope="module")
def paris(bundled):
    return bv.run(bundled, TEXT)


def test_of_equal_numbers_none_lies_apart_from_their_mean(paris):
    for value in (0.1, 0.3, 7.0):
        changed = paris.with_changes({"embeddings.sum": value})
        assert "from 0 in the sum to 0" in embeddings_said.tell_deviation(look(changed, token=2)).text
        assert not normalize_with(changed["embeddings.sum[token=2]"], 0).any()
    said = read_all(opened("embeddings", {"embeddings.sum": 0.1}, TEXT, token="2"))
    assert "The sum lies at the vector's mean; γ and β scale and shift that." in said and "nan" not in said


def test_a_scale_of_nothing_but_masked_scores_ends_at_zero():
    assert find_robust_limit(np.full((3, 4), 2 * MASKED)) == 0 == find_robust_limit(np.zeros(0))


def test_where_all_words_tie_none_is_called_most_likely():
    at = opened("compare", {"cls.predictions.decoder": 0.0}, TEXT, token="6", layer="5", head="1")
    said = read_all(at)
    assert "In the first nothing is likelier than" in said and "is most likely" not in said


def test_the_lens_has_what_changes_put_into_the_head_after_every_layer(paris):
    """As if the pass ended there: with the layer's vector in place of the last one, the pass gives the same."""
    changes = {
        "cls.predictions.transform.dense[token=6]": "scale=0.5",
        "cls.predictions.decoder[token=6,vocab=2003]": 30.0,
        "cls.predictions.decoder[token=3]": 0.0,  # of another token
    }
    lens = Lens(paris.with_changes(changes), 6)
    stages = list_stages(paris)
    for stage, address in enumerate(stages):
        ended = paris.with_changes({stages[-1].fix(token=6): paris[address.fix(token=6)], **changes})
        np.testing.assert_allclose(lens.probs[stage], ended[f"{PROBS}[token=6]"], rtol=2e-4, atol=1e-7)
    assert lens.ranks(2003)[0] == 1 != Lens(paris, 6).ranks(2003)[0]


def test_where_probabilities_are_zero_it_is_not_the_tokens_that_are_few():
    put = {f"{PROBS}[token=2]": 0.0, f"{PROBS}[token=6,vocab=2003]": 0.9, "encoder.layer.2.output.residual": 0.0}
    said = read_all(opened("where_from", put, TEXT, token="2", layer="2", head="3"))
    assert "so few tokens" not in said


def test_no_backslash_stands_before_a_token_in_the_sentence_below_the_rows():
    said = read_all(opened("attention", {}, "The river was cold.", token="4", layer="2", head="3"))
    assert re.search(r"Without the division by √32 .* “\[CLS\]”", said)


def test_the_component_that_brings_most_is_on_the_side_of_the_sum(paris):
    for layer, token, key in ((5, 6, 3), (2, 2, 0), (0, 4, 1)):
        own = f"encoder.layer.{layer}.attention.self"
        for sign in (1, -1):
            changed = paris.with_changes({f"{own}.query[head=1]": f"scale={sign}"})
            terms = changed[f"{own}.query[head=1,query={token}]"] * changed[f"{own}.key[head=1,key={key}]"]
            found = open_product(changed, layer, 1, token, key)
            most = terms.argmax() if terms.sum() > 0 else terms.argmin()
            assert found.component == most
    said = query_key_value.write_headline(look(paris.with_changes({"embeddings.LayerNorm": 0.1}), token=2, head=(2, 3)))
    assert re.search(r"\*\*−[\d.]+\*\*; component \d+ alone brings \*\*−", said.text)


@pytest.mark.parametrize("word", ["##ze", "”", "co-op", "?"])
def test_the_formula_of_a_patch_names_words_as_they_are(word):
    assert f">{word}<" in write_html(rf"L_{{\text{{{patch_both._tex(word)}}}}}")


@pytest.mark.parametrize("word", ['"on', "<b>", "a&b", "$x$", "{", "\\", "^_~%"])
def test_what_latex_or_html_reads_stays_out_of_the_formula_of_a_patch(word):
    assert not {*'<>&${}\\^_~%"'} & {*patch_both._tex(word)}


def test_a_tiny_worth_of_a_head_is_written_in_digits():
    assert heads_told._write_points(3.9) == "3.9" and heads_told._write_points(0.0) == "0.0"
    assert heads_told._write_points(-2.088e-4) == "−0.0002"


def test_of_two_answers_the_one_that_no_change_moves_stays(rome, monkeypatch):
    heard = []
    monkeypatch.setattr(moved.st, "caption", heard.append)
    panel = Address("cls.seq_relationship.probs")
    moved.show_moved(look(rome, rome.with_changes({f"{panel}[relation=0]": 0.2})), panel, parse(f"{panel}[relation=0]"))
    assert heard[0].replace("\\", "").endswith(" The other stays.") and "“B follows A”: " in heard[0]


def test_neurons_that_add_nothing_are_not_said_to_make_up_a_share(paris):
    relu = {"encoder.layer.2.intermediate.activation": "relu"}
    said = feed_forward.tell_quiet(look(paris.with_changes(relu), token=2, head=(2, 0))).text
    assert re.search(r" The other [\d,]+ add nothing to the sum\.$", said)
    said = feed_forward.tell_quiet(
        look(paris.with_changes({"encoder.layer.2.intermediate.dense": 0.0}), token=2, head=(2, 0))
    ).text
    assert said == "0 of 1,536 neurons are active: their pre-activation is above 0. They add nothing to the sum."
