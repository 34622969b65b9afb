"""The parts of a number: what their heading names, worked out here by other means, for every step of every program."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.analysis.parts import (
    ALONE,
    LARGEST,
    LOOKED_UP,
    NOTHING,
    POSITION,
    SLOPE,
    SUMMAND,
    TERM,
    WITHOUT,
    take_apart,
)
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import HIDDEN
from bertviz_core.formula.functions import GELU, Apply, Mean, Sqrt, Square
from bertviz_core.formula.nodes import Constant
from bertviz_core.programs import DOCUMENT_PROGRAMS
from tests.factory import random_checkpoint
from tests.often import together

PAIR = ("the cat sat", "on the [MASK]")
LAYER = "encoder.layer.2"
CASES = {
    "pretraining": (None, {"hidden_size": 21, "intermediate_size": 34}),
    "sequence-classification": (
        19,
        {"hidden_act": "relu", "num_labels": 4, "layer_norm_eps": 1e-3, "problem_type": "multi_label_classification"},
    ),
    "token-classification": (14, {"hidden_act": "gelu_new", "num_hidden_layers": 1}),
    "question-answering": (None, {"num_hidden_layers": 1}),
}
MEASURES = {
    TERM: {
        "query",
        "key",
        "value",
        "products",
        "heads",
        "dense",
        "decoder",
        "classifier",
        "seq_relationship",
        "qa_outputs",
    },
    SUMMAND: {"sum", "residual", "LayerNorm", "scores", "normalized", "mean", "variance", "sigma", "spans"},
    ALONE: {"scaled", "dropout", "input", "start", "end"},
    WITHOUT: {"probs"},
    SLOPE: {"activation"},
    LOOKED_UP: {"word_embeddings", "position_embeddings", "token_type_embeddings"},
    LARGEST: {"argmax"},
}
STEP = 1e-6


@pytest.fixture(scope="module", params=CASES)
def model(request, tmp_path_factory):
    pad_to, config = CASES[request.param]
    folder = random_checkpoint(tmp_path_factory.mktemp("model"), kind=request.param, seed=len(request.param), **config)
    return bv.load_model(folder, dtype=torch.float64), pad_to


@pytest.fixture(
    scope="module",
    params=together("parts", ("bert", *DOCUMENT_PROGRAMS), ("bert", "definition", "formula-post")),
)
def cells(request, model):
    """Some cells of every step, taken apart."""
    checkpoint, pad_to = model
    trace = bv.run(checkpoint, *PAIR, pad_to=pad_to, program=request.param)
    generator = np.random.default_rng(7)
    return [
        (trace, why, take_apart(trace, why))
        for address in trace.addresses
        for _ in range(3)
        for why in [trace.explain(draw_cell(trace, address, generator))]
    ]


def draw_cell(trace, address, generator):
    sizes = zip(trace.dims(address), trace.shape(address), strict=True)
    return Address(address, tuple((axis, int(generator.integers(size))) for axis, size in sizes))


def expect_measure(trace, why):
    name = why.cell.name
    several = trace.model.config.problem_type == "multi_label_classification" and trace.program.name == "bert"
    if several and why.cell.path == "classifier.probs":
        return SLOPE
    if name == "context":  # of BERT as released the weighted sum, in the documents the heads laid side by side
        return TERM if trace.program.name == "bert" else ALONE
    if name == "position_embeddings" and trace.program.name.startswith("encoder-article"):
        return POSITION
    return next(measure for measure, names in MEASURES.items() if name in names)


def value(trace, operand):
    return trace[operand].item()


def expect_amounts(trace, why, found):
    """What stands under the heading, from the recorded numbers and the address alone."""
    values = [[value(trace, operand) for operand in part.operands] for part in found]
    special = {
        "mean": over_the_width,
        "variance": squares,
        "sigma": squares,
        "normalized": over_the_root,
        "scores": with_the_mask,
    }
    general = {WITHOUT: without_each, SLOPE: two_sided_difference, ALONE: lambda *_: [why.value]}
    products = lambda *_: [np.prod(row) for row in values]  # noqa: E731
    return special.get(why.cell.name, general.get(found.measure, products))(trace, why, values)


def over_the_width(trace, why, values):
    return np.array(values)[:, 0] / len(values)


def squares(trace, why, values):
    """Of a variance over the width; of the post's sigma, over its root."""
    mean = value(trace, Address(f"{why.cell.path.rpartition('.')[0]}.mean", why.cell.index))
    return (np.array(values)[:, 0] - mean) ** 2 / len(values) ** (1 if why.cell.name == "variance" else 0.5)


def over_the_root(trace, why, values):
    norm = why.cell.path.rpartition(".")[0]
    printed = 1e-5 if norm == "single_layer.attention.output.LayerNorm" else 1e-12
    epsilon = printed if trace.program.name == "notebook" else trace.model.config.layer_norm_eps
    power = 1 if f"{norm}.variance" in trace else 2
    spread = value(trace, Address(f"{norm}.{'variance' if power == 1 else 'sigma'}").fix(token=why.cell.at["token"]))
    (x,), (mean,) = values
    return np.array([x, -mean]) / np.sqrt(spread**power + epsilon)


def with_the_mask(trace, why, values):
    (scaled,), (seen,) = values
    return [scaled, 0.0 if seen else np.finfo(np.float64).min]


def two_sided_difference(trace, why, values):
    ((x,),) = values
    at = torch.tensor([x + STEP, x - STEP], dtype=torch.float64)
    high, low = why.step.expr.function.of(at).tolist()
    return [(high - low) / (2 * STEP)]


def without_each(trace, why, values):
    scores = [score for (score,) in values]
    own = why.cell.index[-1][1]
    return [leave_out(scores, j, own) for j in range(len(scores))]


def leave_out(scores, j, own):
    """The share of one score, worked out again without another."""
    if j == own:
        return 0.0
    powers = np.array(
        [
            0.0 if i == j else np.exp(score - max(s for k, s in enumerate(scores) if k != j))
            for i, score in enumerate(scores)
        ]
    )
    return powers[own] / powers.sum()


def test_every_amount_is_what_its_heading_says(cells):
    for trace, why, found in cells:
        assert found.measure == expect_measure(trace, why), why.address
        if not found.measure.heading:
            assert all(part.amount is None for part in found), why.address
            continue
        amounts = [part.amount for part in found]
        np.testing.assert_array_equal(amounts, found.amounts)
        expected = expect_amounts(trace, why, found)
        loose = {"rtol": 1e-5, "atol": 1e-8} if found.measure is SLOPE else {"rtol": 1e-9, "atol": 1e-12}
        np.testing.assert_allclose(amounts, expected, **loose, err_msg=why.address)


def test_terms_and_summands_add_up_to_the_value(cells):
    seen = set()
    for _, why, found in cells:
        if found.measure.sums:
            scale = np.abs(found.amounts).sum()
            assert abs(found.amounts.sum() - why.value) <= 1e-9 * scale, why.address
            seen.add(found.measure)
    assert {TERM, SUMMAND, ALONE} <= seen


def test_every_operand_stands_in_one_part_or_in_all(cells):
    for _, why, found in cells:
        named = [*found.shared, *(operand for part in found for operand in part.operands)]
        assert sorted(map(str, named)) == sorted({operand for operand, _ in why.operands}), why.address
        assert all(part.operands for part in found)


def test_the_first_are_those_with_the_most_under_the_heading(cells):
    for trace, why, found in cells:
        sizes = {
            WITHOUT: lambda part, why=why: abs(part.amount - why.recomputed),
            LOOKED_UP: lambda _: 0.0,
            POSITION: lambda _: 0.0,
            LARGEST: lambda part, t=trace: value(t, part.operands[0]),
        }
        sized = [sizes.get(found.measure, lambda part: abs(part.amount))(part) for part in found]
        order = found.strongest(len(found))
        np.testing.assert_allclose([sized[i] for i in order], sorted(sized, reverse=True), rtol=0, atol=1e-14)
        assert sorted(order) == list(range(len(found)))
        for k in (0, 1, 5):
            assert found.strongest(k) == order[:k], why.address


def test_a_softmax_says_each_power_and_share(rome):
    why = rome.explain(f"{LAYER}.attention.self.probs[head=1,query=8,key=3]")
    powers, shares = np.array([part.columns for part in take_apart(rome, why)]).T
    scores = rome[f"{LAYER}.attention.self.scores[head=1,query=8]"].astype(float)
    np.testing.assert_allclose(powers, np.exp(scores - scores.max()), rtol=1e-12)
    np.testing.assert_allclose(shares, rome[f"{LAYER}.attention.self.probs[head=1,query=8]"], rtol=1e-5)
    assert len(take_apart(rome, why).measure.columns) == 2


@pytest.mark.parametrize("word", ["people", "the"])
def test_without_a_word_the_others_of_the_vocabulary_share_the_whole(rome, word):
    """Also without the likeliest, next to which all others are small."""
    own, row = rome.model.tokenizer.id(word), rome["cls.predictions.decoder[token=8]"].astype(float)
    found = take_apart(rome, rome.explain(f"cls.predictions.probs[token=8,vocab={own}]"))
    for j in (int(row.argmax()), int(row.argmin()), own, 2500, 7):
        expected = 0.0 if j == own else np.exp(row[own]) / np.delete(np.exp(row), j).sum()
        assert found[j].amount == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("scores", [[3.0], [2.0, 2.0], [800.0, 1.0, -3.0], [0.0, -1e30, -1e30]])
def test_a_score_may_be_alone_or_leave_nothing_but_small_ones(rome, scores):
    """The largest left out, the others are weighed against each other."""
    row = f"{LAYER}.attention.self.scores[head=0,query=0]"
    tokens = len(rome.tokens)
    values = [*scores, *[-1e30] * (tokens - len(scores))]
    changed = rome.with_changes({f"{row[:-1]},key={i}]": score for i, score in enumerate(values)})
    exact = changed[row].astype(float)
    for own in range(min(3, tokens)):
        found = take_apart(changed, changed.explain(f"{LAYER}.attention.self.probs[head=0,query=0,key={own}]"))
        expected = [leave_out(exact, j, own) for j in range(tokens)]
        np.testing.assert_allclose(found.amounts, expected, rtol=1e-9)


def test_without_padding_the_mask_adds_nothing_and_stands_last(rome):
    for key in range(len(rome.tokens)):
        found = take_apart(rome, rome.explain(f"{LAYER}.attention.self.scores[head=1,query=8,key={key}]"))
        last = found[found.strongest(2)[-1]]
        assert [operand.path for operand in last.operands] == ["attention_mask"]
        assert last.amount == 0 and not np.signbit(last.amount)


def test_what_every_part_is_divided_by_or_compared_with_is_named_once(rome):
    norm = f"{LAYER}.output.LayerNorm"
    for leaf, shared in (("normalized[token=3,hidden=7]", "variance"), ("variance[token=3]", "mean")):
        found = take_apart(rome, rome.explain(f"{norm}.{leaf}"))
        assert list(map(str, found.shared)) == [f"{norm}.{shared}[token=3]"]
    assert take_apart(rome, rome.explain(f"{norm}[token=3,hidden=7]")).shared == ()


def test_a_product_names_both_factors_in_one_part(rome):
    found = take_apart(rome, rome.explain(f"{LAYER}.intermediate.dense[token=3,intermediate=5]"))
    assert len(found) == 385
    for part in list(found)[:384]:
        x, weight = part.operands
        assert x.path == f"{LAYER}.attention.output.LayerNorm" and weight.path.endswith("dense.weight")
        assert x.at["hidden"] == weight.at["hidden"]
    assert [str(operand) for operand in found[384].operands] == [f"{LAYER}.intermediate.dense.bias[intermediate=5]"]


@pytest.mark.parametrize("address", ["embeddings.LayerNorm.weight[hidden=3]", "input_ids[token=1]"])
def test_what_is_given_has_no_parts(rome, address):
    found = take_apart(rome, rome.explain(address))
    assert found.measure is NOTHING and list(found) == [] and found.strongest(3) == []


def test_a_number_that_was_put_there_has_no_parts(rome):
    address = f"{LAYER}.output.residual[token=3,hidden=7]"
    changed = rome.with_changes({address: 1.0})
    assert take_apart(changed, changed.explain(address)).measure is NOTHING


def test_formulas_that_no_program_has_are_taken_apart_as_well(rome):
    """Sums within sums, a function or a constant inside one, a divided sum of sums."""
    residual = f"{LAYER}.output.residual"
    why = rome.explain(f"{residual}[token=3,hidden=7]")
    x, y = (rome.program.symbol(leaf.address) for leaf in why.step.leaves)
    a, b = (value(rome, operand) for operand, _ in why.operands)
    two, gelu = Constant("2", 2), torch.nn.functional.gelu(torch.tensor(b, dtype=torch.float64)).item()
    for expr, expected in (
        (x - (y - x), [a, -b, a]),
        (x + Apply(y, GELU), [a, gelu]),
        ((x + two) * two - y * two, [2 * (a + 2), -2 * b]),
        ((x + y) / Sqrt(Square(x)), [a / abs(a), b / abs(a)]),
    ):
        found = take_apart(rome, replace(why, step=replace(why.step, expr=expr)))
        assert found.measure is SUMMAND
        np.testing.assert_allclose(found.amounts, expected, rtol=1e-6)


def test_a_mean_times_a_constant_is_taken_apart_like_a_mean(rome):
    norm = f"{LAYER}.output.LayerNorm"
    why = rome.explain(f"{norm}.variance[token=3]")
    x, mean = (rome.program.symbol(path) for path in (f"{LAYER}.output.residual", f"{norm}.mean"))
    row, two = rome[f"{x.address}[token=3]"].astype(float) - value(rome, f"{norm}.mean[token=3]"), Constant("2", 2)
    for expr in (two * Mean(Square(x - mean), HIDDEN), Mean(Square(x - mean), HIDDEN) * two):
        found = take_apart(rome, replace(why, step=replace(why.step, expr=expr)))
        np.testing.assert_allclose(found.amounts, 2 * row**2 / len(row), rtol=1e-9)
