"""The walk back: operands once each with their effects, sums taken apart, the story from a prediction to the input."""

from itertools import pairwise

import numpy as np
import pytest

from bertviz_core.analysis.walk import choose_stops, split_addends, split_terms, tell_story, weigh_operands
from bertviz_core.formula.address import Address

PREDICTION = Address("cls.predictions.probs").fix(token=8, vocab=2111)  # people
LAYER = "encoder.layer.2"


@pytest.mark.parametrize(
    ("address", "count"),
    [
        (f"{LAYER}.attention.self.products[head=1,query=8,key=3]", 32),
        (f"{LAYER}.attention.self.context[token=8,concat=40]", 12),
        (f"{LAYER}.intermediate.dense[token=3,intermediate=5]", 385),
        (f"{LAYER}.output.residual[token=3,hidden=7]", 2),
        (f"{LAYER}.output.LayerNorm[token=3,hidden=7]", 2),
        ("embeddings.sum[token=3,hidden=7]", 3),
        ("cls.predictions.decoder[token=8,vocab=2111]", 385),
    ],
)
def test_a_sum_is_taken_apart_into_its_terms(rome, address, count):
    why = rome.explain(address)
    found = weigh_operands(rome, why)
    parts = split_terms(why, found)
    assert len(parts.places) == count
    assert parts.values.sum() == pytest.approx(why.value, rel=1e-5, abs=1e-6)


def test_the_terms_of_a_dot_product_are_its_products(rome):
    why = rome.explain(f"{LAYER}.attention.self.products[head=1,query=8,key=3]")
    expected = rome[f"{LAYER}.attention.self.query[head=1,query=8]"] * rome[f"{LAYER}.attention.self.key[head=1,key=3]"]
    np.testing.assert_allclose(split_terms(why, weigh_operands(rome, why)).values, expected, rtol=1e-5)


@pytest.mark.parametrize(
    "leaf", ["attention.self.probs[head=0,query=1,key=2]", "intermediate.activation[token=1,intermediate=3]"]
)
def test_what_is_no_sum_is_not_taken_apart(rome, leaf):
    why = rome.explain(f"{LAYER}.{leaf}")
    assert split_terms(why, weigh_operands(rome, why)) is None


@pytest.mark.parametrize(
    ("address", "leaves"),
    [
        ("embeddings.sum[token=3,hidden=7]", ["word_embeddings", "position_embeddings", "token_type_embeddings"]),
        (f"{LAYER}.attention.output.residual[token=3,hidden=7]", ["LayerNorm", "dense"]),
        (f"{LAYER}.output.LayerNorm[token=3,hidden=7]", ["weight normalized", "bias"]),
        (f"{LAYER}.attention.self.scores[head=1,query=8,key=0]", ["scaled", "attention_mask"]),
        (f"{LAYER}.attention.self.query[head=1,query=8,head_dim=0]", ["LayerNorm weight", "bias"]),
    ],
)
def test_the_parts_of_a_sum_add_up_to_it(rome, address, leaves):
    why = rome.explain(address)
    parts = split_addends(rome, why)
    assert [" ".join(s.address.rsplit(".", 1)[-1] for s in part.symbols) for part in parts] == leaves
    assert sum(part.value for part in parts) == pytest.approx(why.recomputed, rel=1e-12)
    single = {s.address: part.value for part in parts for s in part.symbols if len(part.symbols) == 1}
    for operand, value in why.operands:
        path = operand.partition("[")[0]
        assert path not in single or path == "attention_mask" or single[path] == value


def test_operands_stand_once_each_and_are_those_of_the_explanation(rome):
    for address in rome.addresses[:40]:
        cell = ",".join(f"{axis}=0" for axis in rome.dims(address))
        why = rome.explain(f"{address}[{cell}]")
        found = weigh_operands(rome, why)
        assert list(map(str, found)) == list(dict.fromkeys(operand for operand, _ in why.operands))
        assert dict(zip(map(str, found), found.values, strict=True)) == dict(why.operands)
        groups = found.group_by_path()
        assert sorted(i for places in groups.values() for i in places) == list(range(len(found)))
        assert all(found[int(i)].path == path for path, places in groups.items() for i in places)
        assert found.strongest(3) == sorted(range(len(found.values)), key=lambda i: -abs(found.effects[i]))[:3]


def test_of_two_factors_the_first_in_the_formula_comes_first(rome):
    for i in range(20):
        found = weigh_operands(rome, rome.explain(f"encoder.layer.1.intermediate.dense[token=3,intermediate={i}]"))
        order = [found[place] for place in found.strongest(len(found))]
        factors = [where for where in order if not where.path.endswith("bias")]
        for x, weight in zip(factors[::2], factors[1::2], strict=True):
            assert x.path == "encoder.layer.1.attention.output.LayerNorm" and weight.path.endswith("dense.weight")
            assert x.at["hidden"] == weight.at["hidden"]


def test_a_parameter_is_made_from_nothing(rome):
    found = weigh_operands(rome, rome.explain("embeddings.LayerNorm.weight[hidden=3]"))
    assert len(found) == 0 and list(found) == []


def test_the_story_goes_from_operand_to_operand_down_to_what_the_pass_is_given(rome):
    told = tell_story(rome, PREDICTION)
    assert told[0] == PREDICTION
    for here, there in pairwise(told):
        assert there in list(weigh_operands(rome, rome.explain(here)))
    last = told[-1].path
    assert last in rome.model.parameters or last == "input_ids"
    layers = [cell.layer for cell in told if cell.layer is not None]
    assert layers == sorted(layers, reverse=True) and set(layers) == set(range(6))


def test_stops_are_few_and_where_the_place_changes(rome):
    told = tell_story(rome, PREDICTION)
    stops = choose_stops(rome, told)
    assert stops[0] == 0 and stops[-1] == len(told) - 1 and len(stops) < len(told) / 3
    for i in range(1, len(told) - 1):
        first = told[i].path.startswith("embeddings.") and not told[i - 1].path.startswith("embeddings.")
        assert (i in stops) == (told[i].at != told[i - 1].at or first)
