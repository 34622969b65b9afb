"""The checkpoint as data: every tensor once, counted right; histograms, blocks and summaries against plain sums."""

import json
import math
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from safetensors import safe_open
from streamlit.testing.v1 import AppTest

from bertviz_core.analysis import parameters as analysis
from bertviz_core.checkpoint.hub import locate, read_summary
from bertviz_core.checkpoint.model import load_model
from tests.factory import KINDS, SIZES, random_checkpoint

RNG = np.random.default_rng(11)
MATRIX = RNG.normal(size=(7, 10)).astype(np.float32)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return load_model(random_checkpoint(tmp_path_factory.mktemp("parameters")))


def test_the_inventory_holds_every_tensor_of_the_file_once(bundled):
    with safe_open(locate("bundled").folder / "model.safetensors", framework="np") as file:
        stored = {name.removeprefix("bert."): math.prod(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    tensors = analysis.list_tensors(bundled)
    assert len({tensor.address for tensor in tensors}) == len(tensors)
    counted = {tensor.address: tensor.counted for tensor in tensors if tensor.counted}
    renamed = {"cls.predictions.bias": "cls.predictions.decoder.bias"}
    assert counted == {renamed.get(name, name): size for name, size in stored.items()}


def test_a_tied_tensor_is_listed_but_counted_once(bundled):
    tensors = {tensor.address: tensor for tensor in analysis.list_tensors(bundled)}
    decoder = tensors["cls.predictions.decoder.weight"]
    assert decoder.same_as == "embeddings.word_embeddings.weight" and decoder.counted == 0
    assert decoder.size == tensors[decoder.same_as].counted == 30522 * 384
    assert [tensor.address for tensor in tensors.values() if tensor.same_as] == [decoder.address]


def test_an_untied_decoder_is_counted(tmp_path):
    model = load_model(random_checkpoint(tmp_path, tie_word_embeddings=False))
    assert all(tensor.same_as == "" for tensor in analysis.list_tensors(model))


def test_totals_of_the_parts_add_up_to_the_whole(model):
    d, ff, vocab = SIZES["hidden_size"], SIZES["intermediate_size"], 101
    layer = 4 * (d * d + d) + (d * ff + ff) + (ff * d + d) + 2 * 2 * d
    assert analysis.count_parts(analysis.list_tensors(model)) == {
        "embeddings": (vocab + SIZES["max_position_embeddings"] + 2) * d + 2 * d,
        "layer 0": layer,
        "layer 1": layer,
        "masked language model": d * d + d + 2 * d + vocab,
        "pooler": d * d + d,
        "next sentence": 2 * d + 2,
    }
    assert sum(analysis.count_parts(analysis.list_tensors(model)).values()) == model.parameter_count


@pytest.mark.parametrize("kind", KINDS)
def test_groups_add_up_to_the_whole_model(tmp_path, kind):
    model = load_model(random_checkpoint(tmp_path, kind=kind))
    groups = analysis.count_groups(analysis.list_tensors(model))
    assert sum(groups.values()) == model.parameter_count
    heads = [head.removeprefix("token ") for head in model.heads]
    assert list(groups) == ["embeddings", "attention", "LayerNorm", "feed-forward", *heads]


def test_groups_run_through_all_layers(model):
    d, ff, layers = SIZES["hidden_size"], SIZES["intermediate_size"], SIZES["num_hidden_layers"]
    tensors = analysis.list_tensors(model)
    groups, parts = analysis.count_groups(tensors), analysis.count_parts(tensors)
    assert groups["attention"] == layers * 4 * (d * d + d)
    assert groups["feed-forward"] == layers * (d * ff + ff + ff * d + d)
    assert groups["LayerNorm"] == layers * 2 * 2 * d
    assert {name: size for name, size in groups.items() if name in parts} == {
        name: size for name, size in parts.items() if not name.startswith("layer ")
    }


@pytest.mark.parametrize("kind", KINDS)
def test_the_sizes_of_a_group_multiply_to_its_count(tmp_path, kind):
    tensors = analysis.list_tensors(load_model(random_checkpoint(tmp_path, kind=kind)))
    products = analysis.write_products(tensors)
    worked = {
        group: sum(math.prod(int(size.replace(",", "")) for size in part.split("·")) for part in text.split(" + "))
        for group, text in products.items()
    }
    assert worked == analysis.count_groups(tensors)


def test_sizes_that_are_alike_are_counted_and_the_largest_sum_comes_first(bundled):
    products = analysis.write_products(analysis.list_tensors(bundled))
    assert products["feed-forward"] == "12·1,536·384 + 6·1,536 + 6·384"


def test_shapes_are_those_of_the_arrays_with_the_names_of_their_axes(model):
    for tensor in analysis.list_tensors(model):
        assert tensor.shape == tuple(model.parameters[tensor.address].shape)
        assert tensor.size == math.prod(tensor.shape)
    shapes = {tensor.address: tensor.named_shape for tensor in analysis.list_tensors(model)}
    assert shapes["embeddings.word_embeddings.weight"] == "vocab 101 × hidden 24"
    assert shapes["encoder.layer.1.intermediate.dense.bias"] == "intermediate 40"


def test_readers_are_the_steps_whose_formula_names_the_parameter(model):
    def read(address):
        return [step.address for step in analysis.find_readers(model.program, address)]

    assert read("encoder.layer.1.attention.self.key.bias") == ["encoder.layer.1.attention.self.key"]
    assert read("pooler.dense.weight") == ["pooler.dense"]
    assert all(read(tensor.address) for tensor in analysis.list_tensors(model))


@pytest.mark.parametrize(
    ("tex", "written"),
    [
        (r"W_{Q}^{(3)}", "W_Q⁽³⁾"), (r"b_{1}^{(11)}", "b_1⁽¹¹⁾"), (r"W_{\mathrm{word}}", "W_word"),
        (r"\gamma_{\tilde{T}}", "γ_T̃"), (r"W_{h,l}^Q", "W_h,l^Q"), (r"\mathcal{W}^l", "W^l"), (r"\beta^l_2", "β^l_2"),
        ("layer_0_output_norm_bias", "layer_0_output_norm_bias"), ("W_l^{ffnn}", "W_l^ffnn"),
    ],
)  # fmt: skip
def test_symbols_can_be_written_without_typesetting(tex, written):
    assert analysis.write_plain_symbol(tex) == written


def test_a_summary_is_what_plain_sums_give():
    values = np.concatenate([MATRIX.ravel(), [0, 0, 1000]]).astype(np.float32)
    plain = [float(x) for x in values]
    found, mean = analysis.summarize(values), fmean(plain)
    assert (found.low, found.high, found.zeros) == (min(plain), 1000.0, 2)
    assert found.mean == pytest.approx(mean, rel=1e-12)
    assert found.deviation == pytest.approx(math.sqrt(fmean([(x - mean) ** 2 for x in plain])), rel=1e-12)


def test_a_summary_of_more_than_one_chunk(monkeypatch):
    monkeypatch.setattr(analysis, "_CHUNK", 8)
    assert analysis.summarize(MATRIX).deviation == pytest.approx(float(MATRIX.astype(np.float64).std()), rel=1e-12)


def test_a_histogram_counts_every_number_once():
    counts, edges = analysis.count_sizes(MATRIX, 9)
    assert counts.sum() == MATRIX.size and len(edges) == 10
    for i, count in enumerate(counts):
        last = i == 8
        inside = [x for x in MATRIX.ravel() if edges[i] <= x and (x < edges[i + 1] or (last and x == edges[i + 1]))]
        assert count == len(inside)


@pytest.mark.parametrize("most", [(7, 10), (3, 4), (2, 3), (1, 1), (100, 100), (7, 1)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_block_is_the_root_mean_square_of_its_cells(most, order):
    found = analysis.pool_blocks(np.asarray(MATRIX, order=order), *most)
    height, width = found.height, found.width
    assert all(count <= limit for count, limit in zip(found.values.shape, most, strict=True))
    assert found.values.shape == (-(-7 // height), -(-10 // width))
    for i, j in np.ndindex(found.values.shape):
        cells = MATRIX[i * height : (i + 1) * height, j * width : (j + 1) * width].ravel()
        assert found.values[i, j] == pytest.approx(math.sqrt(fmean([float(x) ** 2 for x in cells])), rel=1e-12)


def test_the_config_says_what_each_of_its_numbers_decides(model):
    rows = {row["name"]: row for row in analysis.list_config(model.config)}
    assert rows["hidden_size"]["value"] == "24" and rows["head_dim"]["value"] == "8"
    assert rows["layer_norm_eps"]["value"] == "1e-12" and rows["tie_word_embeddings"]["value"] == "True"
    assert rows["architectures"]["value"] == "BertForPreTraining" and "problem_type" not in rows
    assert all(row["what it decides"] for row in rows.values())


@pytest.mark.parametrize(
    ("name", "count", "first"),
    [
        ("W_Q", 6, "encoder.layer.2.attention.self.query.weight"),
        ("W^Q", 6, "encoder.layer.2.attention.self.query.weight"),
        ("blocks.0.attn.W_Q", 1, "encoder.layer.0.attention.self.query.weight"),
        ("encoder.layer.0.attention.self.query.weight", 1, "encoder.layer.0.attention.self.query.weight"),
        ("bert/encoder/layer_3/output/dense/kernel", 1, "encoder.layer.3.output.dense.weight"),
        ("W_E", 1, "embeddings.word_embeddings.weight"),
        ("query layer.4", 2, "encoder.layer.4.attention.self.query.weight"),
        ("nothing is called so", 0, ""),
    ],
)
def test_a_tensor_is_found_by_any_of_its_names(bundled, name, count, first):
    found = analysis.find_tensors(analysis.list_tensors(bundled), name, 2)
    assert len(found) == count and (not count or found[0].address == first)


def test_the_shape_in_the_file_is_told(bundled):
    with safe_open(locate("bundled").folder / "model.safetensors", framework="np") as file:
        stored = {name.removeprefix("bert."): tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    for tensor in analysis.list_tensors(bundled):
        if tensor.address in stored:
            assert tensor.stored_shape == stored[tensor.address], tensor.address


def test_kinds_add_up_to_their_groups(model):
    tensors = analysis.list_tensors(model)
    sums = {group: sum(kinds.values()) for group, kinds in analysis.count_kinds(tensors).items()}
    assert sums == analysis.count_groups(tensors)


def test_who_asks_where_the_numbers_come_from_reads_the_bundled_models_card(model):
    told = {}
    for name in ("bundled", model.name):
        at = AppTest.from_file(str(Path(__file__).parent.parent / "app.py"), default_timeout=60)
        at.query_params.update({"model": str(name), "open": "card"})
        at.switch_page("pages/parameters.py").run()
        assert not at.exception and not at.error
        intro = " ".join(
            each.proto.body for each in at.get("html") if "<strong>Parameters.</strong>" in each.proto.body
        )
        assert (read_summary() in intro) == (name == "bundled"), "who trained it, on what, is said without a click"
        told[name] = [each.value for each in at.markdown if "all-MiniLM-L6-v2" in each.value]
    (card,) = told["bundled"]
    assert "Licence: Apache-2.0" in card and "AdamW" in card
    assert "](" not in card and "training.json" in card, "no link to a file that is not served"
    assert not told[model.name]


NEXT = "tensor", "embeddings.position_embeddings.weight"


@pytest.mark.parametrize(
    ("asked", "row"),
    [
        ({}, "2043 when"),  # the chosen token is [MASK]
        ({"token": "3"}, "4199 rome"),
        ({"entry-row": "7"}, "7 [unused6]"),
        ({"text": "[MASK]"}, "103 [MASK]"),
        (dict([NEXT]), "0"),
    ],
    ids=str,
)
def test_a_window_of_the_vocabulary_opens_at_a_word_of_the_sentence(asked, row):
    at = AppTest.from_file(str(Path(__file__).parent.parent / "app.py"), default_timeout=60)
    at.query_params.update({"text": "When in Rome, do as the [MASK] do.", **asked})
    at.switch_page("pages/parameters.py").run()
    assert not at.exception and not at.error
    first = at.number_input[0]
    assert first.label == "From row" and str(first.value) == row.split()[0]
    if "[" in row or " " in row:
        (chart,) = (each for each in at.get("plotly_chart") if "Values of the tensor" in each.proto.alt)
        assert json.loads(chart.proto.spec)["layout"]["yaxis"]["ticktext"][0] == row
