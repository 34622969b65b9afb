"""The documents' programs: each step is its document's formula, and keeps every guarantee of BERT's steps."""

import math
import random
import re

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from bertviz_core.documents import find_document
from bertviz_core.formula import numbers, tex
from bertviz_core.formula.address import parse
from bertviz_core.formula.document_nodes import Argmax
from bertviz_core.formula.shapes import Lookup
from bertviz_core.programs import DOCUMENT_PROGRAMS
from tests.documents import TRANSCRIBED, Weights
from tests.factory import random_checkpoint
from tests.latex import balanced, evaluated
from tests.test_explain import Leaves, assert_recomputed, random_cell, sample
from tests.test_script import assert_same, executed, tensors

PAIR = ("The cat sat on the mat.", "Playing in Rome?")
TOLERANCE = 1e-8

# kind of checkpoint, tokens to pad to, config: all sizes differ, and no switch stands where the documents have theirs
CASES = {
    "bundled": None,
    "gelu_new, odd width, pretraining": ("pretraining", 21, {
        "hidden_act": "gelu_new", "hidden_size": 21, "num_attention_heads": 3, "num_hidden_layers": 2,
        "intermediate_size": 34, "layer_norm_eps": 1e-3}),
    "relu, three layers, classifier": ("sequence-classification", None, {
        "hidden_act": "relu", "hidden_size": 20, "num_attention_heads": 5, "num_hidden_layers": 3,
        "intermediate_size": 27, "num_labels": 4, "layer_norm_eps": 1e-5}),
    "gelu, one layer, masked language model": ("masked-lm", 18, {
        "hidden_size": 12, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 17,
        "tie_word_embeddings": False}),
}  # fmt: skip


@pytest.fixture(scope="module", params=CASES)
def case(request, tmp_path_factory):
    """Model, weights, and the input's ids, segments and length to pad to."""
    if CASES[request.param] is None:
        folder, pad_to = BUNDLED_FOLDER, None
    else:
        kind, pad_to, config = CASES[request.param]
        folder = random_checkpoint(tmp_path_factory.mktemp("documents"), kind=kind, seed=len(request.param), **config)
    return bv.load_model(folder, dtype=torch.float64), Weights(folder), pad_to


@pytest.mark.parametrize("program", DOCUMENT_PROGRAMS)
def test_every_step_of_a_program_is_the_documents_formula(case, program):
    model, weights, pad_to = case
    trace = bv.run(model, *PAIR, pad_to=pad_to, program=program)
    expected = TRANSCRIBED[program](weights, trace)
    assert set(expected) == set(trace.addresses)
    for address in trace.addresses:
        scale = max(1.0, float(np.abs(expected[address]).max()))
        np.testing.assert_allclose(trace[address], expected[address], rtol=0, atol=TOLERANCE * scale, err_msg=address)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return random_checkpoint(tmp_path_factory.mktemp("guarantees"), seed=11, hidden_act="gelu_new")


@pytest.fixture(scope="module", params=DOCUMENT_PROGRAMS)
def padded(request, checkpoint):
    return bv.run(bv.load_model(checkpoint, dtype=torch.float64), *PAIR, pad_to=19, program=request.param)


def test_cells_are_recomputed_from_operands_that_were_there_before(padded):
    order = {address: i for i, address in enumerate(padded.addresses)}
    leaves = Leaves(padded)
    for address in sample(padded, 300):
        why = padded.explain(address)
        assert_recomputed(why, leaves, 1e-14)
        assert why.value == padded[why.address].item() and balanced(why.latex), address
        assert all(order.get(path.partition("[")[0], -1) < order[parse(address).path] for path, _ in why.operands)
        path, value = why.operands[0]
        assert padded[path].item() == value


def test_the_worked_formula_gives_the_number(padded, monkeypatch):
    monkeypatch.setattr(tex, "_SHOWN_TERMS", 10**6)
    monkeypatch.setattr(numbers, "_split", lambda value: [f"{value:.15f}"])
    chance = random.Random(4)
    for path in padded.addresses:
        if isinstance(padded.step(path).expr, Lookup | Argmax):
            continue  # a row of a table, or the place of the largest number: nothing to calculate
        why = padded.explain(random_cell(padded, path, chance))
        assert float(evaluated(why.latex.split(" = ")[1])) == pytest.approx(why.value, rel=1e-6, abs=1e-9), path


@pytest.mark.parametrize("program", DOCUMENT_PROGRAMS)
def test_the_code_of_each_line_and_the_whole_script_give_the_recorded_tensors(checkpoint, program):
    trace = bv.run(bv.load_model(checkpoint), *PAIR, pad_to=19, program=program)
    lines = {"torch": torch, "math": math, **tensors(trace)}
    whole = executed(bv.write_script(trace, str(checkpoint / "model.safetensors")))
    for step in trace.program.steps:
        exec(step.code, lines)
        for known in (lines, whole):
            assert_same(known[step.output.variable], trace[step.address], step.address)
        lines[step.output.variable] = torch.tensor(trace[step.address])


def test_a_best_entry_names_the_row_it_was_chosen_from(checkpoint):
    trace = bv.run(bv.load_model(checkpoint), PAIR[0], program="notebook")
    why = trace.explain("cls.predictions.argmax[token=2]")
    row = trace["cls.predictions.decoder[token=2]"]
    assert why.value == why.recomputed == row.argmax() and len(why.operands) == len(row)
    assert why.latex.endswith(rf"{numbers.format_latex(float(row[-1]))}\right) = {row.argmax()}")


def test_dropout_drops_one_number_in_ten_the_same_in_every_run_and_others_in_every_sublayer(bundled):
    first, second = (bv.run(bundled, "the cat sat " * 40, program="encoder-article-dropout") for _ in range(2))
    dropped = {}
    for address in (address for address in first.addresses if address.endswith(".dropout")):
        sublayer, result = first[address.replace("dropout", "dense")], first[address]
        dropped[address] = result == 0
        assert np.array_equal(result, second[address])
        assert dropped[address].mean() == pytest.approx(0.1, abs=0.005)
        np.testing.assert_allclose(result[~dropped[address]], sublayer[~dropped[address]] / 0.9, rtol=1e-6)
    assert len(dropped) == 12 and len({mask.tobytes() for mask in dropped.values()}) == 12


def test_dropout_drops_the_same_numbers_whatever_the_dtype(checkpoint):
    single, double = (
        bv.run(bv.load_model(checkpoint, dtype=dtype), PAIR[0], program="encoder-article-dropout")
        for dtype in (torch.float32, torch.float64)
    )
    address = "encoder.layer.0.output.dropout"
    assert np.array_equal(single[address] == 0, double[address] == 0)


def test_the_cell_with_another_epsilon_is_a_little_off_the_loop(bundled):
    trace = bv.run(bundled, PAIR[0], program="notebook")
    for leaf in ("attention.output.LayerNorm", "output.LayerNorm"):
        cell, loop = trace[f"single_layer.{leaf}"], trace[f"encoder.layer.0.{leaf}"]
        assert 0 < np.abs(cell - loop).max() < 1e-3


@pytest.mark.parametrize("program", DOCUMENT_PROGRAMS)
def test_every_source_is_a_place_in_the_table_of_its_document(bundled, program):
    document = find_document(program)
    places = {re.sub(r"^`(In \[\d+\])`$", r"\1", place.place) for place in document.places}
    for step in bundled.written(program).steps:
        name, _, source = step.source.partition(", ")
        assert name.lower() == document.name and set(source.split("; ")) <= places, step.source


@pytest.mark.parametrize(
    ("program", "address", "words"),
    [
        ("forward-pass-note", "encoder.layer.1.output.residual", "As printed: X"),
        ("notebook", "single_layer.attention.output.LayerNorm", "1e-5"),
        ("definition", "encoder.layer.0.attention.output.LayerNorm", "ε"),
        ("formula-post", "encoder.layer.0.attention.LayerNorm.sigma", "As printed"),
        ("encoder-article", "encoder.layer.0.output.residual", "Dropout is off"),
        ("encoder-article-dropout", "encoder.layer.0.output.dropout", "seed"),
        ("notebook", "embeddings.token_type_embeddings", "every token segment 0"),
        ("notebook", "encoder.layer.0.attention.self.query", "12 heads of 64"),
        ("notebook", "encoder.layer.0.attention.self.products", "t_query_states"),
        ("notebook", "encoder.layer.0.attention.self.context", "12 tokens"),
        ("notebook", "encoder.layer.1.attention.self.context", "12 tokens"),
        ("definition", "encoder.layer.0.attention.self.probs", "argument 1"),
        ("definition", "encoder.layer.0.attention.self.probs", "over the keys"),
        ("definition", "encoder.layer.0.attention.self.context", "How the heads are put together"),
        ("definition", "cls.predictions.probs", "over the vocabulary"),
        ("formula-post", "encoder.layer.0.attention.LayerNorm", "E_o"),
        ("formula-post", "encoder.layer.0.attention.output.residual", "E_o"),
        ("formula-post", "encoder.layer.0.output.residual", "E_o"),
        ("encoder-article", "encoder.layer.0.output.LayerNorm", "defines it in words"),
        ("forward-pass-note", "encoder.layer.0.output.LayerNorm", "named but not defined"),
    ],
)
def test_a_choice_stands_beside_its_step(bundled, program, address, words):
    assert words in bundled.written(program).by_address[address].choice


def test_what_a_document_defines_or_reads_later_is_not_said_to_be_open(bundled):
    """Only the note names LayerNorm without a word of what it is; only the first block reads the ids, as printed."""
    for name in DOCUMENT_PROGRAMS:
        undefined = [step.address for step in bundled.written(name).steps if "named but not defined" in step.choice]
        assert bool(undefined) == (name == "forward-pass-note"), name
    for leaf in ("attention.LayerNorm", "attention.output.residual", "output.residual"):
        assert "E_o" not in bundled.written("formula-post").by_address[f"encoder.layer.1.{leaf}"].choice


def test_bert_leaves_no_choice_open(bundled):
    assert not any(step.choice for step in bundled.program.steps)


@pytest.mark.parametrize(
    ("kind", "options", "ends"),
    [
        ("pretraining", {}, ["cls.seq_relationship", "cls.seq_relationship.probs"]),
        ("sequence-classification", {"num_labels": 3}, ["classifier", "classifier.probs"]),
        ("sequence-classification", {"num_labels": 1}, ["classifier"]),  # a regression: there is no class
        ("base", {}, ["pooler.dense", "pooler.activation"]),
        ("token-classification", {}, ["encoder.layer.1.output.LayerNorm"]),
    ],
)
def test_the_note_ends_with_the_classes_that_the_checkpoint_has(tmp_path, kind, options, ends):
    program = bv.load_model(random_checkpoint(tmp_path, kind=kind, **options)).written("forward-pass-note")
    assert [step.address for step in program.steps][-len(ends) :] == ends


def test_a_head_that_a_checkpoint_lacks_has_no_steps(tmp_path):
    model = bv.load_model(random_checkpoint(tmp_path, kind="base-without-pooler"))
    for name in DOCUMENT_PROGRAMS:
        assert not [path for path in model.written(name).by_address if path.startswith(("cls", "pooler", "classifier"))]
