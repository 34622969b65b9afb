"""Programs side by side: what is the same, different, missing and extra; and how far their traces are apart."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import BertForPreTraining

import bertviz_core as bv
from bertviz_core.analysis.alignment import (
    align_programs,
    find_layer_outputs,
    guess_words,
    has_own_scores,
    measure_difference,
    measure_layers,
    measure_scores,
    normalize_structure,
)
from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import HIDDEN, LABEL, TOKEN
from bertviz_core.formula.functions import GELU, MAX_ZERO, RELU, Apply, Square, Sum
from bertviz_core.formula.nodes import Constant, Symbol
from bertviz_core.programs import DOCUMENT_PROGRAMS, PROGRAMS
from tests.factory import random_checkpoint

TEXT = "When in Rome, do as the [MASK] do."
SELF, OUT = "attention.self.", "attention.output."
PROJECTIONS = {f"{SELF}query", f"{SELF}key", f"{SELF}value"}
OPEN = {f"{SELF}probs"}  # no document has a padding mask

# in a layer of the bundled model: where each document's formula is another, and what it has beside
DIFFERENT = {
    "forward-pass-note": PROJECTIONS | OPEN | {f"{OUT}residual", "intermediate.activation", "output.residual"},
    "notebook": OPEN,
    "definition": OPEN,
    "formula-post": PROJECTIONS | OPEN | {f"{OUT}residual", "intermediate.dense", "output.residual"},
    "encoder-article": PROJECTIONS | OPEN | {f"{OUT}dense", "intermediate.activation"},
    "encoder-article-dropout": PROJECTIONS | OPEN | {
        f"{OUT}dense", f"{OUT}residual", "intermediate.activation", "output.residual"},
}  # fmt: skip
PARTS = {"mean", "variance", "normalized", ""}
POST_EXTRA = {"sigma", "mean", "normalized", ""}


def norms(path, leaves):
    return {f"{path}.{leaf}".removesuffix(".") for leaf in leaves}


MISSING = {key: {f"{SELF}scores"} for key in DOCUMENT_PROGRAMS} | {
    "forward-pass-note": {f"{SELF}scores", f"{OUT}dense"},
    "formula-post": {f"{SELF}scores"} | norms(f"{OUT}LayerNorm", PARTS) | norms("output.LayerNorm", PARTS),
}
EXTRA = {key: {f"{SELF}heads"} for key in DOCUMENT_PROGRAMS} | {
    "formula-post": {f"{SELF}heads"} | norms("attention.LayerNorm", POST_EXTRA) | norms(
        "intermediate.LayerNorm", POST_EXTRA),
    "encoder-article-dropout": {f"{SELF}heads", f"{OUT}dropout", "output.dropout"},
}  # fmt: skip


def leaf(name, *axes):
    return Symbol(name, name, axes, name, "residual")


A, B, C = leaf("a", TOKEN, HIDDEN), leaf("b", TOKEN, HIDDEN), leaf("c", HIDDEN)
W = leaf("w", HIDDEN, LABEL)


def inside(pairs, relation, layer):
    found = (Address(pair.address) for pair in pairs if pair.relation == relation)
    return {where.leaf for where in found if where.layer == layer}


@pytest.mark.parametrize("name", DOCUMENT_PROGRAMS)
def test_a_document_differs_from_bert_where_it_says_so(bundled, name):
    pairs = align_programs(bundled.program, bundled.written(name))
    for layer in (1, 5):
        assert inside(pairs, "different", layer) == DIFFERENT[name]
        assert inside(pairs, "missing", layer) == MISSING[name]
        assert inside(pairs, "extra", layer) == EXTRA[name]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_the_same_as_itself_under_other_symbols(bundled, name):
    program = bundled.written(name)
    assert {pair.relation for pair in align_programs(program, program)} == {"same"}
    steps = tuple(replace(step, output=replace(step.output, tex="y", variable="y")) for step in program.steps)
    assert {pair.relation for pair in align_programs(program, replace(program, steps=steps))} == {"same"}


@pytest.mark.parametrize("left", PROGRAMS)
@pytest.mark.parametrize("right", PROGRAMS)
def test_every_step_of_two_programs_stands_in_one_pair(bundled, left, right):
    one, other = bundled.written(left), bundled.written(right)
    pairs = align_programs(one, other)
    assert len({pair.address for pair in pairs}) == len(pairs)
    assert [pair.left for pair in pairs if pair.left] == list(one.steps)
    assert sorted(pair.address for pair in pairs if pair.right) == sorted(other.by_address)
    for pair in pairs:
        assert pair.left is one.by_address.get(pair.address) and pair.right is other.by_address.get(pair.address)
        assert (pair.right is None) == (pair.relation == "missing")
        assert (pair.left is None) == (pair.relation == "extra")
        assert pair.left is None or pair.right is None or pair.left.dims == pair.right.dims


def test_what_only_one_has_stands_after_the_step_it_follows(bundled):
    addresses = [pair.address for pair in align_programs(bundled.program, bundled.written("notebook"))]
    heads = addresses.index("encoder.layer.2.attention.self.heads")
    assert addresses[heads - 1] == "encoder.layer.2.attention.self.probs"
    assert addresses[heads + 1] == "encoder.layer.2.attention.self.context"


def test_a_pair_names_what_only_one_formula_reads(bundled):
    pairs = {pair.address: pair for pair in align_programs(bundled.program, bundled.written("forward-pass-note"))}
    query, residual = (f"encoder.layer.3.{leaf}" for leaf in ("attention.self.query", "output.residual"))
    assert (pairs[query].lacks, pairs[query].adds) == ((f"{query}.bias",), ())
    assert pairs[residual].lacks == ("encoder.layer.3.attention.output.LayerNorm",)
    assert pairs[residual].adds == ("embeddings.sum",)


def test_another_epsilon_is_another_formula(tmp_path):
    model = bv.load_model(random_checkpoint(tmp_path, layer_norm_eps=1e-3))
    pairs = {pair.address: pair for pair in align_programs(model.program, model.written("notebook"))}
    assert pairs["embeddings.LayerNorm.normalized"].relation == "different"
    assert pairs["embeddings.LayerNorm.variance"].relation == "same"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (A + B, B + A),
        (A + B + C, C + (B + A)),
        (A * B * C, C * A * B),
        (Apply(A, RELU), Apply(A, MAX_ZERO)),
        (A, replace(A, tex="x", variable="x")),
        (A / Constant("2", 2), A / Constant("n", 2)),
        (Square(A + B), Square(B + A)),
    ],
)
def test_formulas_that_compute_the_same(one, other):
    assert normalize_structure(one) == normalize_structure(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (A - B, B - A),
        (A / B, B / A),
        (A + B, A * B),
        (A + B, A + B + B),
        (A @ W, A),
        (Apply(A, RELU), Apply(A, GELU)),
        (A / Constant("2", 2), A / Constant("2", 3)),
        (Sum(A, HIDDEN), Sum(A, TOKEN)),
    ],
)
def test_formulas_that_compute_something_else(one, other):
    assert normalize_structure(one) != normalize_structure(other)


def test_a_part_that_stands_elsewhere_is_read_as_if_it_stood_here():
    total = leaf("t", TOKEN, HIDDEN)
    assert normalize_structure(Square(total), {"t": A + B}) == normalize_structure(Square(B + A))
    assert normalize_structure(total + C, {"t": A + B}) == normalize_structure(C + A + B)
    assert normalize_structure(Square(total)) != normalize_structure(Square(A + B))


@pytest.fixture(scope="module")
def traces(bundled):
    return {name: bv.run(bundled, TEXT, program=name) for name in PROGRAMS}


def test_without_padding_the_notebook_is_bert(traces):
    for address in traces["notebook"].addresses:
        if address in traces["bert"]:
            assert measure_difference(traces["bert"], traces["notebook"], address) < 1e-5, address
    for distance in measure_layers(traces["bert"], traces["notebook"]):
        assert distance.largest < 1e-5 and distance.cosines == pytest.approx(1, abs=1e-6)


def test_a_pair_sets_the_notebook_apart_from_bert_by_the_segment_alone(bundled):
    """It gives every token segment 0: as far as Hugging Face is from itself when it is told so."""
    pair = ("He sat by the river.", "It was cold.")
    bert, notebook = (bv.run(bundled, *pair, program=name) for name in ("bert", "notebook"))
    hf = BertForPreTraining.from_pretrained(BUNDLED_FOLDER, attn_implementation="eager").float().eval()
    ids, segments = torch.tensor([bert.encoding.ids]), torch.tensor([bert.encoding.segments])
    with torch.inference_mode():
        told, zero = (hf(ids, token_type_ids=given).prediction_logits[0] for given in (segments, torch.zeros_like(ids)))
    np.testing.assert_allclose(notebook["cls.predictions.decoder"], zero, atol=2e-4)
    apart = measure_scores(bert, notebook)
    assert apart.largest == pytest.approx(float((told - zero).abs().max()), rel=1e-3) and apart.largest > 0.5
    assert apart.changed == int((told.argmax(-1) != zero.argmax(-1)).sum()) and apart.tokens == len(bert.tokens)


def test_scores_are_compared_where_a_token_stands(bundled):
    one, other = (bv.run(bundled, TEXT, pad_to=20, changes=changes) for changes in (None, {"token_type_ids": 1}))
    found = measure_scores(one, other)
    both = [trace["cls.predictions.decoder"][:12].astype(np.float64) for trace in (one, other)]
    assert found.largest == pytest.approx(np.abs(both[0] - both[1]).max(), rel=1e-5) and found.tokens == 12
    assert found.changed == (both[0].argmax(-1) != both[1].argmax(-1)).sum()
    assert measure_scores(one, bv.run(bundled, TEXT, pad_to=20, program="formula-post")) is None


def test_padding_sets_the_notebook_apart_from_bert(bundled):
    bert, notebook = (bv.run(bundled, TEXT, pad_to=20, program=name) for name in ("bert", "notebook"))
    distances, largest = measure_layers(bert, notebook), []
    for distance in distances:
        where = f"encoder.layer.{distance.layer}.output.LayerNorm"
        apart = np.abs(bert[where].astype(np.float64) - notebook[where])
        assert distance.largest == pytest.approx(apart[:12].max()) and distance.largest > 0.1
        assert distance.lowest == distance.cosines[:12].min()
        largest.append(apart.max())
    assert any(distance.largest < every for distance, every in zip(distances, largest, strict=True))
    assert any(distance.lowest > distance.cosines.min() for distance in distances)


@pytest.mark.parametrize("name", DOCUMENT_PROGRAMS)
def test_distances_are_those_of_the_layers_outputs(traces, name):
    end = "output.residual" if name == "formula-post" else "output.LayerNorm"
    distances = measure_layers(traces["bert"], traces[name])
    assert [distance.layer for distance in distances] == list(range(6))
    for distance in distances:
        ours = traces["bert"][f"encoder.layer.{distance.layer}.output.LayerNorm"].astype(np.float64)
        theirs = traces[name][f"encoder.layer.{distance.layer}.{end}"].astype(np.float64)
        assert distance.largest == pytest.approx(np.abs(ours - theirs).max())
        cosines = [a @ b / (np.linalg.norm(a) * np.linalg.norm(b)) for a, b in zip(ours, theirs, strict=True)]
        np.testing.assert_allclose(distance.cosines, cosines, atol=1e-12)


def test_the_outputs_of_the_layers(bundled):
    assert find_layer_outputs(bundled.program)[2] == Address("encoder.layer.2.output.LayerNorm")
    assert find_layer_outputs(bundled.written("formula-post"))[2] == Address("encoder.layer.2.output.residual")


@pytest.mark.parametrize("name", PROGRAMS)
def test_guesses_are_the_best_of_the_scores(traces, name):
    trace, bert = traces[name], traces["bert"].program
    assert has_own_scores(trace) == (name in ("bert", "notebook", "definition"))
    if has_own_scores(trace):
        scores = trace["cls.predictions.decoder[token=9]"]
    else:  # the head of BERT, on all tokens of the last layer
        env = {
            **trace.model.parameters,
            find_layer_outputs(bert)[-1].path: torch.tensor(trace[find_layer_outputs(trace.program)[-1]]),
        }
        for step in bert.steps:
            if step.address.startswith("cls.predictions"):
                env[step.address] = step.expr.value(env)
        scores = env["cls.predictions.decoder"][9].numpy()
    probabilities = torch.tensor(scores).double().softmax(0).numpy()
    found = guess_words(trace, 9)
    assert [guess.id for guess in found] == np.argsort(-probabilities)[:5].tolist()
    np.testing.assert_allclose([guess.probability for guess in found], np.sort(probabilities)[:-6:-1], rtol=1e-4)
    assert [guess.token for guess in found] == [trace.model.tokenizer.token(guess.id) for guess in found]


def test_without_a_language_model_head_nothing_is_guessed(tmp_path):
    model = bv.load_model(random_checkpoint(tmp_path, kind="base"))
    assert guess_words(bv.run(model, "the cat", program="formula-post"), 0) == ()


@pytest.mark.parametrize("other", [{"text": "Rome"}, {"text": TEXT, "pad_to": 14}])
def test_only_passes_over_one_input_are_compared(bundled, traces, other):
    with pytest.raises(bv.InputError, match="one model over one input"):
        measure_layers(traces["bert"], bv.run(bundled, **other))


def test_only_passes_of_one_model_are_compared(tmp_path):
    one, other = (bv.load_model(random_checkpoint(tmp_path / str(seed), seed=seed)) for seed in (1, 2))
    with pytest.raises(bv.InputError, match="one model over one input"):
        measure_difference(bv.run(one, "the cat"), bv.run(other, "the cat"), "embeddings.sum")
