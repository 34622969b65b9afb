"""Where pages open: every rule against loops over the recorded tensors, its fallbacks, and the sentence it gives."""

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.analysis import openings
from bertviz_core.analysis.layers import Lens
from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number, format_percent
from bertviz_core.formula.texts import name_token
from tests.factory import random_checkpoint


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = random_checkpoint(tmp_path_factory.mktemp("openings"), num_hidden_layers=3, num_attention_heads=4)
    return bv.load_model(folder, dtype=torch.float64)


@pytest.fixture(scope="module")
def double(model):
    return bv.run(model, "The cat sat on the mat.", "Playing in Rome?", pad_to=16)


@pytest.fixture(scope="module")
def single(model):
    """One token, and nothing around it."""
    return bv.run(model, Encoding(("z",), ids=(30,), segments=(0,), mask=(1,)))


@pytest.mark.parametrize(
    ("text", "place", "token", "rule"),
    [
        ("the cat [MASK] on [MASK] mat.", 3, "[MASK]", openings.FIRST_MASK),
        ("the cat sat on the mat.", 6, "mat", openings.LAST_WORD),
        ("playing!?", 2, "##ing", openings.LAST_WORD),
        ("...", 1, ".", openings.NO_WORD),
    ],
)
def test_the_token_is_a_mask_or_a_word(model, text, place, token, rule):
    found = openings.open_token(bv.run(model, text, pad_to=12))
    assert (found.token, found.text, found.rule) == (place, token, rule)
    assert found.reason.startswith(f"“{token}” at position {place} is shown, ") and rule in found.reason


def test_a_pair_opens_at_the_last_word_of_the_second_sentence(double, single):
    assert openings.open_token(double).text == "rome"
    assert openings.open_token(single).token == 0


def list_weights(trace, token, allowed):
    """(weight, layer, head, key) of all heads, keys as allowed."""
    for layer in range(trace.model.config.num_hidden_layers):
        probs = trace[f"encoder.layer.{layer}.attention.self.probs"]
        for head, key in np.ndindex(len(probs), len(trace.tokens)):
            if allowed(key, trace.tokens[key]):
                yield float(probs[head, token, key]), layer, head, key


def test_the_head_looks_hardest_at_a_word_that_is_not_near(double, rome):
    special = {"[CLS]", "[SEP]", "[MASK]", "[PAD]", "[UNK]"}
    for trace in (double, rome):
        for token in range(len(trace.tokens)):
            best, *place = max(
                list_weights(trace, token, lambda k, text, t=token: text not in special and k not in (t - 1, t, t + 1))
            )
            found = openings.open_head(trace, token)
            assert [found.layer, found.head, found.key] == place and found.rule == openings.FAR
            assert found.weight == pytest.approx(best, abs=1e-5)
            assert [found.name, found.key_name] == [name_token(trace.tokens, i) for i in (token, found.key)]


def test_in_a_short_sentence_the_head_looks_at_any_other_token(model, single):
    trace = bv.run(model, "cat")  # between [CLS] and [SEP] nothing is far
    found = openings.open_head(trace, 1)
    best, *place = max(list_weights(trace, 1, lambda k, _: k != 1))
    assert [found.layer, found.head, found.key] == place and found.weight == pytest.approx(best)
    assert found.reason.endswith(f"on another token, {100 * best:.0f}\xa0% on {found.key_name}.")
    alone = openings.open_head(single, 0)
    assert (alone.layer, alone.head, alone.key, alone.weight) == (0, 0, 0, pytest.approx(1))
    assert "on itself" in alone.reason


def test_the_only_head_is_compared_with_no_other(tmp_path):
    folder = random_checkpoint(tmp_path, num_hidden_layers=1, num_attention_heads=1)
    found = openings.open_head(bv.run(bv.load_model(folder), "the cat sat"), 1)
    assert found.reason == "Layer 0, head 0 is shown: this model has no other head."


def test_the_head_moves_when_it_is_zeroed(rome):
    found = openings.open_head(rome, 8)
    weight = rome[f"encoder.layer.{found.layer}.attention.self.probs"][found.head, 8, found.key]
    assert found.reason == (
        f"Layer {found.layer}, head {found.head} is shown: of all heads it gives the largest attention weight of "
        "“[MASK]” on a token that is neither special, nor itself, nor next to it, "
        f"{100 * weight:.0f}\xa0% on {name_token(rome.tokens, found.key)}."
    )
    zeroed = {f"encoder.layer.{found.layer}.attention.self.probs[head={found.head}]": 0.0}
    other = openings.open_head(rome.with_changes(zeroed), 8)
    assert (other.layer, other.head) != (found.layer, found.head) and other.weight < found.weight


def test_the_key_is_a_word_with_at_least_an_even_share(double, rome):
    rules, special = set(), double.model.tokenizer.special_tokens
    for trace in (double, rome):
        real = sum(trace.encoding.mask)
        for layer, head, token in np.ndindex(2, 4, real):
            row = trace[f"encoder.layer.{layer}.attention.self.probs"][head, token].tolist()
            words = [k for k, text in enumerate(trace.tokens) if text not in special and k != token]
            best = max(words, key=row.__getitem__)
            expected = best if row[best] >= 1 / real else row.index(max(row))
            found = openings.open_key(trace, layer, head, token)
            assert (found.key, found.weight) == (expected, row[expected])
            assert found.word == (row[best] >= 1 / real)
            rules.add(found.word)
    assert rules == {True, False}
    found = openings.open_key(rome, 2, 0, 8)
    weight = f"{100 * found.weight:.0f}\xa0%"
    assert found.shown == f"“{rome.tokens[found.key]}” at position {found.key} is shown, with {weight}"


def test_of_even_weights_every_word_has_an_even_share(bundled):
    """Also where that is no number in single precision: a 25th is stored as less."""
    text = (
        "one two three four five six seven eight nine ten red blue green black white dog cat bird fish tree leaf "
        "root sun"
    )
    trace = bv.run(bundled, text, changes={"encoder.layer.2.attention.self.probs[head=1]": "uniform"})
    found = openings.open_key(trace, 2, 1, 5)
    assert len(trace.tokens) == 25 and found.word and found.key == 1


def test_a_token_alone_opens_at_itself(single):
    assert (openings.open_key(single, 0, 0, 0).key, openings.open_key(single, 0, 0, 0).word) == (0, False)


def test_a_head_that_changes_silence_keeps_its_key(rome):
    before = openings.open_key(rome, 2, 0, 8)
    after = openings.open_key(rome.with_changes({"encoder.layer.2.attention.self.probs[head=0]": 0.0}), 2, 0, 8)
    assert before.key != 0 and (after.key, after.weight) == (before.key, 0.0)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("embeddings.sum", "the sum of the embeddings"),
        ("encoder.layer.2.attention.output.dense", "the attention output"),
        ("encoder.layer.2.output.dense", "the feed-forward output"),
        ("encoder.layer.5.output.LayerNorm", "encoder.layer.5.output.LayerNorm"),
    ],
)
def test_the_component_is_the_largest_in_size(rome, address, name):
    row = [abs(float(x)) for x in rome[address][8]]
    found = openings.open_component(rome, Address(address), 8)
    assert found.component == row.index(max(row)) and found.value == rome[address][8, found.component]
    assert found.reason == (
        f"Component {found.component} is shown: there {name} of “[MASK]” is largest in size, "
        f"{format_number(found.value)}."
    )


def test_the_product_brings_most_to_the_dot_product(double, rome):
    for layer, head, key in np.ndindex(3, 4, 5):
        own = f"encoder.layer.{layer}.attention.self"
        q, k = double[f"{own}.query"][head, 2].tolist(), double[f"{own}.key"][head, key].tolist()
        products = [a * b for a, b in zip(q, k, strict=True)]
        found = openings.open_product(double, layer, head, 2, key)
        most = (max if sum(products) >= 0 else min)(products)
        assert found.component == products.index(most) and found.product == pytest.approx(most)
        assert (found.query, found.key) == (q[found.component], k[found.component])
        assert found.total == pytest.approx(sum(products))
    found = openings.open_product(rome, 2, 0, 8, 6)
    assert found.reason == (
        f"Component {found.component} is shown: it brings most to the dot product of “[MASK]” and “as”, "
        f"{format_number(found.product)} of {format_number(found.total)}."
    )


def test_the_layer_is_where_the_answer_takes_the_lead_for_good(double, rome):
    for trace in (double, rome):
        for token in range(len(trace.tokens)):
            found = openings.open_layer_for_answer(trace, token)
            leaders = [int(probs.argmax()) for probs in Lens(trace, token).probs]
            stage = found.layer + 1
            assert set(leaders[stage:]) == {leaders[-1]}
            assert found.led == (set(leaders) == {leaders[-1]})
            assert found.led or leaders[stage - 1] != leaders[-1]
            assert found.word == trace.model.tokenizer.token(leaders[-1])
    late, early = openings.open_layer_for_answer(rome, 8), openings.open_layer_for_answer(rome, 6)
    assert late.reason == (
        f"Layer {late.layer} is shown: after it “{late.word}” leads, with {format_percent(late.probability)}, and does "
        "so to the end."
    )
    share = format_percent(early.probability)
    assert early.reason == f"Layer 0 is shown: “as” leads from the embeddings on, with {share} after it."


def test_without_a_language_model_head_the_last_layer_is_shown(tmp_path):
    trace = bv.run(bv.load_model(random_checkpoint(tmp_path, kind="base")), "the cat")
    found = openings.open_layer_for_answer(trace, 1)
    assert (found.layer, found.word, found.probability) == (1, None, None)
    assert found.reason == "Layer 1, the last one, is shown: this checkpoint has no LM head to read the layers."


def set_rows(trace, *heads):
    """All of a token's attention is on one key, in these heads: weights that are equal, or written alike."""
    probs = "encoder.layer.{}.attention.self.probs[head={},query=8]"
    return trace.with_changes(
        {
            **{f"encoder.layer.{layer}.attention.self.probs": 0.0 for layer in range(6)},
            **{f"{probs.format(layer, head)[:-1]},key={key}]": weight for layer, head, key, weight in heads},
        }
    )


@pytest.mark.parametrize("second", [0.5, 0.499])
def test_of_weights_that_are_written_alike_none_is_called_the_largest(rome, second):
    trace = set_rows(rome, (1, 3, 5, 0.5), (4, 2, 3, second), (1, 3, 6, 0.5))
    head = openings.open_head(trace, 8)
    assert (head.layer, head.head) == (1, 3) and not head.alone
    assert head.reason.endswith("nor next to it than it, 50\xa0% on “do” at position 5.")
    assert head.reason.startswith("Layer 1, head 3 is shown: no head gives a larger attention weight of “[MASK]” on")
    trace = set_rows(rome, (1, 3, 5, 0.5), (4, 2, 3, 0.4))
    assert "of all heads it gives the largest" in openings.open_head(trace, 8).reason


def test_where_no_head_gives_any_weight_none_is_called_the_largest(rome):
    reason = openings.open_head(set_rows(rome), 8).reason
    assert reason == (
        "Layer 0, head 0 is shown: no head gives an attention weight other than 0 of “[MASK]” on a token that is "
        "neither special, nor itself, nor next to it."
    )


def test_of_components_that_are_written_alike_none_is_called_the_largest(rome):
    address = "encoder.layer.2.attention.output.dense"
    trace = rome.with_changes({address: 0.0, f"{address}[hidden=7]": 2.0, f"{address}[hidden=9]": -2.0})
    found = openings.open_component(trace, Address(address), 8)
    assert found.reason == (
        "Component 7 is shown: nowhere is the attention output of “[MASK]” larger in size than there, 2.0000."
    )
    query = "encoder.layer.2.attention.self.query[head=0]"
    none = openings.open_product(rome.with_changes({query: 0.0}), 2, 0, 8, 5)
    assert "none brings more to the dot product of “[MASK]” and “do” at position 5, 0 of 0." in none.reason
