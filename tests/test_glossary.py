"""The glossary: every quantity has its row, and the names in it are the ones that other code really has."""

import re
from functools import cache

import pytest
from transformers import BertConfig, BertForPreTraining, BertForQuestionAnswering, BertForSequenceClassification

from bertviz_core.analysis.notation import list_absent, list_axes, list_entries, list_of_model, search_entries
from bertviz_core.checkpoint.model import load_model
from bertviz_core.documents.names import AXIS_NAMES, FORMULAS, NAMES, SOURCES, find_key, find_names
from bertviz_core.formula.dims import AXES
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.steps import PARAMETER
from bertviz_core.programs.bert import ALL_HEADS, TOKEN_CLASSIFIER, write_bert
from bertviz_core.programs.config import BertConfig as Config
from tests.factory import SIZES, random_checkpoint
from tests.latex import balanced

COMPLETE = write_bert(Config(vocab_size=101, **SIZES), frozenset(ALL_HEADS) - {TOKEN_CLASSIFIER})

# variables of the released checkpoints, as google-research/bert names them (layer 1)
TENSORFLOW = {
    "bert/embeddings/word_embeddings", "bert/embeddings/position_embeddings", "bert/embeddings/token_type_embeddings",
    "bert/embeddings/LayerNorm/gamma", "bert/embeddings/LayerNorm/beta",
    *(f"bert/encoder/layer_1/attention/self/{name}/{leaf}" for name in ("query", "key", "value")
      for leaf in ("kernel", "bias")),
    "bert/encoder/layer_1/attention/output/dense/kernel", "bert/encoder/layer_1/attention/output/dense/bias",
    "bert/encoder/layer_1/attention/output/LayerNorm/gamma", "bert/encoder/layer_1/attention/output/LayerNorm/beta",
    "bert/encoder/layer_1/intermediate/dense/kernel", "bert/encoder/layer_1/intermediate/dense/bias",
    "bert/encoder/layer_1/output/dense/kernel", "bert/encoder/layer_1/output/dense/bias",
    "bert/encoder/layer_1/output/LayerNorm/gamma", "bert/encoder/layer_1/output/LayerNorm/beta",
    "bert/pooler/dense/kernel", "bert/pooler/dense/bias", "cls/predictions/transform/dense/kernel",
    "cls/predictions/transform/dense/bias", "cls/predictions/transform/LayerNorm/gamma",
    "cls/predictions/transform/LayerNorm/beta", "cls/predictions/output_bias", "cls/seq_relationship/output_weights",
    "cls/seq_relationship/output_bias", "output_weights", "output_bias", "cls/squad/output_weights",
    "cls/squad/output_bias",
}  # fmt: skip


@cache
def listed():
    return list_entries(COMPLETE, 1)


def addresses(entries):
    return [entry.symbol.address for entry in entries]


def test_an_entry_has_the_stage_that_its_program_gives_it():
    """An input is one of the stage of inputs, and not of that which is the first to read it."""
    assert {entry.symbol.address: entry.stage for entry in listed()} == {
        entry.symbol.address: COMPLETE.stages[entry.symbol.address] for entry in listed()
    }
    inputs = {entry.symbol.address for entry in listed() if entry.stage is Stage.INPUT}
    assert inputs == {symbol.address for symbol in COMPLETE.inputs}


def test_every_quantity_has_one_row_and_every_row_a_quantity():
    everything = [*(step.address for step in COMPLETE.steps), *COMPLETE.leaves]
    assert {find_key(address) for address in everything} == set(NAMES)
    assert set(AXIS_NAMES) == set(AXES)
    assert len(addresses(listed())) == len(set(addresses(listed()))) == len(NAMES)


def test_an_entry_says_what_it_means():
    for entry in (*listed(), *list_axes()):
        assert re.match(r"[A-Z0-9a-z].+", entry.meaning), entry.symbol.address
        assert any(getattr(entry.names, source) for source in SOURCES) or entry.symbol.address in (
            "relation",
            "cls.seq_relationship.probs",
            "qa_outputs.start.probs",
            "qa_outputs.end.probs",
            "qa_outputs.spans",
        ), entry.symbol.address


def test_a_layer_shows_its_own_names():
    names = find_names("encoder.layer.7.attention.self.query.weight")
    assert names.hugging_face == "bert.encoder.layer.7.attention.self.query.weight"
    assert names.lens == "blocks.7.attn.W_Q"
    assert names.tensorflow == "bert/encoder/layer_7/attention/self/query/kernel"
    assert names.note == "W_{h,l}^Q"
    assert all("{i}" not in getattr(entry.names, source) for entry in listed() for source in SOURCES)


def test_names_of_hugging_face_are_parameters_and_modules_of_its_models():
    config = BertConfig(vocab_size=101, **SIZES)
    parameters, modules = set(), set()
    for model in (BertForPreTraining(config), BertForSequenceClassification(config), BertForQuestionAnswering(config)):
        parameters |= set(model.state_dict())
        modules |= {name for name, _ in model.named_modules()}
    for entry in listed():
        name = entry.names.hugging_face
        if entry.symbol.kind == PARAMETER:
            assert name in parameters
        elif "." in name:
            assert name in modules
    named = {entry.names.hugging_face for entry in listed() if entry.symbol.kind == PARAMETER}
    assert {name for name in parameters if "layer.0" not in name} - named <= {
        "cls.predictions.bias",
        "bert.embeddings.position_ids",
        "bert.embeddings.token_type_ids",
    }


def test_tensorflow_names_are_the_variables_of_the_released_checkpoints():
    assert {entry.names.tensorflow for entry in listed() if entry.symbol.kind == PARAMETER} == TENSORFLOW


def test_formulas_of_the_documents_can_be_typeset():
    for entry in (*listed(), *list_axes()):
        for source in FORMULAS:
            assert balanced(getattr(entry.names, source)), (entry.symbol.address, source)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hook_pattern", ["encoder.layer.1.attention.self.probs"]),
        ("HOOK_PATTERN", ["encoder.layer.1.attention.self.probs"]),
        ("W_h,l^Q", ["encoder.layer.1.attention.self.query.weight"]),
        (r"W_{h,l}^Q", ["encoder.layer.1.attention.self.query.weight"]),
        ("Z_l^{ffnn}", ["encoder.layer.1.intermediate.activation"]),
        ("layer_1/intermediate kernel", ["encoder.layer.1.intermediate.dense.weight"]),
        ("no such name", []),
    ],
)
def test_a_name_from_anywhere_finds_its_quantity(text, expected):
    assert addresses(search_entries(listed(), text)) == expected


def test_greek_letters_are_found_by_sign_and_by_name():
    by_sign, by_name = search_entries(listed(), "γ"), search_entries(listed(), "gamma")
    assert addresses(by_sign) == addresses(by_name)
    assert addresses(by_name) == [a for a in addresses(listed()) if a.endswith(("LayerNorm", "LayerNorm.weight"))] != []


def test_nothing_asked_for_finds_everything():
    assert search_entries(listed(), "  ") == listed()


def test_an_axis_is_found_by_its_size_elsewhere():
    assert addresses(search_entries(list_axes(), "d_model")) == ["hidden", "transform", "pooled"]


def test_quantities_of_heads_that_a_checkpoint_lacks_are_named_apart(tmp_path):
    model = load_model(random_checkpoint(tmp_path, kind="masked-lm"))
    here, missing = addresses(list_entries(model.program, 0)), addresses(list_absent(model, 0))
    assert [addresses(entries) for entries in list_of_model(model, 0)] == [here, missing]
    assert list_of_model(model, 0)[0] is list_of_model(model, 0)[0] != list_of_model(model, 1)[0]
    assert set(here).isdisjoint(missing) and len(here) + len(missing) == len(NAMES)
    assert "pooler.activation" in missing and "classifier" in missing and "cls.predictions.decoder" in here
