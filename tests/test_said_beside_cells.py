"""What stands around the cells, in states in which it was not true: names of tokens, formulas, of which tokens."""

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForMaskedLM, BertTokenizer

import bertviz_core as bv
from bertviz_core.analysis.hiding import read_hidden, read_hidden_row
from bertviz_core.analysis.slip_numbers import Spot, measure_slip
from bertviz_core.formula.address import Address, read_address
from bertviz_core.learning.plan import Plan
from bertviz_core.ui.views import layers, notebook, where_from_methods
from bertviz_core.ui.views.compare_both import Both
from bertviz_core.ui.views.compare_heads import _find_end, _read_maps
from bertviz_core.ui.views.playground_examples import _tell_evenness
from bertviz_core.ui.views.predictions import _name_untrained
from bertviz_core.ui.views.training_still import say_never_hidden
from bertviz_core.ui.walk.worked_out import find_worked_out
from tests.canvas import look
from tests.factory import random_checkpoint
from tests.test_patch_page import DOCTOR, LONGER, NURSE
from tests.test_patch_page import opened as open_patch

WORDS = ("<pad>", "<unk>", "<s>", "</s>", "<mask>", "the", "cat", "sat")
LOGIT = "cls.predictions.decoder[token=8,vocab=2111{}]"


@pytest.fixture(scope="module")
def otherwise(tmp_path_factory):
    """A checkpoint whose special tokens have other names."""
    folder = tmp_path_factory.mktemp("otherwise")
    torch.manual_seed(0)
    sizes = {"hidden_size": 12, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    BertForMaskedLM(BertConfig(vocab_size=len(WORDS), **sizes)).save_pretrained(folder)
    names = {
        "pad_token": "<pad>",
        "unk_token": "<unk>",
        "cls_token": "<s>",
        "sep_token": "</s>",
        "mask_token": "<mask>",
    }
    BertTokenizer(vocab={word: i for i, word in enumerate(WORDS)}, **names).save_pretrained(folder)
    return bv.load_model(folder)


def test_tokens_at_which_nothing_was_learned_have_the_names_that_the_tokenizer_gives_them(bundled, otherwise):
    plain = _name_untrained(bv.run(bundled, "the [MASK] \N{GRINNING FACE} sat")).replace("\\", "")
    padded = _name_untrained(bv.run(bundled, "the cat", "sat", pad_to=9)).replace("\\", "")
    other = _name_untrained(bv.run(otherwise, "the cat", pad_to=6)).replace("\\", "")
    assert (plain, padded, other) == ("[CLS] and [SEP]", "[CLS], [SEP] and [PAD]", "<s>, </s> and <pad>")
    none = bv.run(bundled, "cat").with_changes({"input_ids[token=0]": 2111, "input_ids[token=2]": 2111})
    assert _name_untrained(bv.run(bundled, "cat")) and not _name_untrained(none)


def test_a_training_names_all_tokens_that_no_step_hides(bundled, otherwise):
    assert say_never_hidden(Plan(bundled, ["the cat sat", "a [MASK] \N{GRINNING FACE} sat"])) == (
        "Never hidden: [CLS], [SEP], [MASK], [UNK]."
    )
    assert say_never_hidden(Plan(otherwise, ["the cat"])) == "Never hidden: <s>, </s>."


def test_a_slip_of_a_typed_mask_is_measured_whatever_the_mask_is_called(otherwise):
    trace = bv.run(otherwise, "the <mask> sat")
    assert trace.tokens[2] == "<mask>"
    found = measure_slip(
        "typed-mask", Spot(trace, 0, 0, lambda name, _: bv.run(otherwise, "the <mask> sat", program=name))
    )
    share = trace["cls.predictions.probs[token=2]"][WORDS.index("<mask>")]
    assert [one.what for one in found] == ["in the definition's own pass", "in BERT's"]
    assert found[1].value == pytest.approx(-np.log(share), rel=1e-5)


def test_the_curve_spans_the_printed_inputs_whatever_they_are():
    for x in (np.array([-4.2322, 0.6086]), np.array([[-6.7, 2.2], [0.0, 3.51]])):
        line = notebook._span(x)
        assert line[0] <= x.min() < line[0] + 0.5 and line[-1] - 0.5 < x.max() <= line[-1]
        np.testing.assert_allclose(np.diff(line), 0.05)
    said = notebook._tell_lowest(*notebook._read_pair())
    assert "At x = −4.2322 the notebook prints −4.8812e−05; in exact arithmetic it is −4.897·10⁻⁵:" in said


def test_the_drawer_hides_a_token_as_the_page_does(rome):
    cell, shares = (
        Address("cls.predictions.decoder").fix(token=8, vocab=2111),
        Address("cls.predictions.probs").fix(token=8),
    )
    for j in (3, 9):
        number = find_worked_out(look(rome), read_address(LOGIT.replace("[", ".hidden[").format(f",source={j}"))).number
        fall = find_worked_out(look(rome), read_address(LOGIT.replace("[", ".fall[").format(f",source={j}"))).number
        (hidden,) = read_hidden(rome, [shares.fix(vocab=2111)], j)
        row = read_hidden_row(rome, shares, j)
        changed = rome.with_changes({f"input_ids[token={j}]": rome.model.tokenizer.mask_id})
        assert number == np.exp(np.log(hidden)) and row[2111] == hidden
        assert fall == float(np.log(rome.recomputed(shares.fix(vocab=2111)))) - float(np.log(hidden))
        np.testing.assert_allclose(row, changed[shares], atol=1e-6)
        np.testing.assert_allclose(read_hidden(rome, [cell], j), changed[cell], rtol=1e-5)


def test_what_attention_brings_is_centered_in_its_formula_where_layernorm_is_counted(tmp_path):
    """The formula as it is written, by hand: ‖center(Σ A V W + [i = j] x) γ / σ‖."""
    trace = bv.run(bv.load_model(random_checkpoint(tmp_path)), "the cat sat on the mat")
    w = {name: tensor.double().numpy() for name, tensor in trace.model.parameters.items()}
    at, i = "encoder.layer.1", 2
    x = trace["encoder.layer.0.output.LayerNorm"].astype(float)
    value = x @ w[f"{at}.attention.self.value.weight"] + w[f"{at}.attention.self.value.bias"]
    total = trace[f"{at}.attention.output.residual"][i].astype(float)
    scaled = w[f"{at}.attention.output.LayerNorm.weight"] / total.std()
    for j in (2, 5):
        weights = trace[f"{at}.attention.self.probs"][:, i, j].repeat(8)
        brought = (weights * value[j]) @ w[f"{at}.attention.output.dense.weight"] + (i == j) * x[i]
        address = read_address(f"{at}.attention.output.LayerNorm.brought[token={i},source={j}]")
        told = find_worked_out(look(trace), address)
        assert told.number == pytest.approx(np.linalg.norm((brought - brought.mean()) * scaled), rel=1e-4)
        assert told.number != pytest.approx(np.linalg.norm(brought * scaled), rel=1e-3), "another number, not centered"
        assert r"\mathrm{center}(" in told.line.right and "center: each number less their mean" in told.card.note


def test_principal_components_say_of_which_tokens_they_are(bundled):
    for pad, said in ((None, "of all tokens at all stages"), (16, "of all tokens with attention mask 1 at all stages")):
        view = look(bv.run(bundled, "the cat sat on the mat", pad_to=pad))
        assert said in layers._tell_components(view)


def test_a_patched_head_says_at_which_tokens(bundled):
    def read(page):
        return " ".join(each.proto.body for each in page.get("html"))

    assert "its output at all tokens" in read(open_patch(text=DOCTOR, **{"with": NURSE}))
    longer = read(open_patch(text=DOCTOR, **{"with": LONGER}))
    assert "its output at all matched tokens" in longer and "its output at all tokens" not in longer


def test_matched_tokens_have_their_number_in_the_sentence(bundled):
    one, other = (bv.run(bundled, text) for text in ("The cat sat on the mat.", "A dog lay on the mat."))
    pairs = bv.compare(one, other).pairs
    names = dict(zip(pairs, Both(one, other, pairs, "").names, strict=True))
    assert one.tokens[5] == "the" and names[(5, 5)] == "the (2nd)"


def test_the_darkest_cell_of_the_maps_is_the_largest_that_is_drawn(bundled):
    one, other = (bv.run(bundled, f"{first} {'the old man and ' * 12}slept") for first in ("today", "here"))
    both = Both(one, other, bv.compare(one, other).pairs, "")
    maps = _read_maps(both, ((0, 0), (3, 4)))
    assert all(len(each) == 32 for pair in maps.values() for each in pair)
    assert _find_end(maps) == max(each.max() for pair in maps.values() for each in pair)


def test_a_divisor_makes_nothing_more_even_where_all_scores_are_equal():
    assert "the more even" in _tell_evenness(np.array([1.0, 2.0])) and "equal" in _tell_evenness(np.full(6, 5.0))


def test_roll_out_says_on_both_pages_that_a_skipped_layer_is_counted_as_before(bundled):
    encoding = bv.run(bundled, "A robin is not a [MASK].")
    skipped = bv.run(bundled, "A robin is not a [MASK].", changes={"encoder.layer.3.output.LayerNorm": "skip"})
    for trace, said in ((encoding, False), (skipped, True)):
        assert ("skipped layers, are counted as before" in where_from_methods._tell_roll_out(trace, "0.37")) == said
