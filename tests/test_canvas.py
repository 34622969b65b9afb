"""The canvas of the first page: what it draws is what the trace recorded, whatever the input, the model or the face."""

import json
import random

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.analysis.canvas import BEFORE, DIFFERENCE, WHOLE, choose_rows
from bertviz_core.analysis.walk import find_beginnings
from bertviz_core.formula.address import parse
from bertviz_core.ui.frame.controls import EXAMPLES
from bertviz_core.ui.frame.keys import WINDOW
from bertviz_core.ui.frame.view import SHOWN
from bertviz_core.ui.views.overview_canvas import Place, Spot, find_story, read_wish
from tests.canvas import Drawn, draw, look, pick
from tests.factory import random_checkpoint
from tests.often import often, seldom

ROME = "When in Rome, do as the [MASK] do."
CHANGE = {"encoder.layer.2.attention.self.probs[head=0]": 0.0}
STRIPS = ("input", "query", "key", "value", "weights", "context", "added", "sum", "norm", "sum2")
HEAD = ("query", "key", "value", "context", "weights", "scores")


@pytest.fixture(scope="module")
def inputs(bundled, tmp_path_factory):
    """Traces of all lengths and shapes."""

    def load(name, **config):
        return bv.load_model(random_checkpoint(tmp_path_factory.mktemp(name), **config))

    deep = {"num_hidden_layers": 24, "num_attention_heads": 16, "hidden_size": 256, "intermediate_size": 64}
    return {
        "one letter": bv.run(bundled, "a"),
        "12 tokens": bv.run(bundled, ROME),
        "64 tokens": bv.run(bundled, "in rome " * 30 + "the [MASK]"),
        "512 tokens": bv.run(bundled, "a " * 509 + "[MASK]"),
        "a pair": bv.run(bundled, "He sat by the river.", "The [MASK] was cold."),
        "padding": bv.run(bundled, ROME, pad_to=40),
        "no LM head": bv.run(load("plain", kind="base"), "the cat sat on the mat"),
        "one head, wide": bv.run(load("wide", num_attention_heads=1, hidden_size=160), "the cat sat"),
        "24 layers": bv.run(load("deep", **deep), "the cat sat on the mat"),
    }


@pytest.fixture(
    scope="module",
    params=[
        "one letter",
        "12 tokens",
        seldom("64 tokens", name="64 tokens"),
        seldom("512 tokens", name="512 tokens"),
        seldom("a pair", name="a pair"),
        "padding",
        "no LM head",
        seldom("one head, wide", name="one head, wide"),
        seldom("24 layers", name="24 layers"),
    ],
)
def trace(request, inputs):
    return inputs[request.param]


def test_500_cells_of_all_levels_are_the_traces_own_bit_for_bit(trace):
    token = len(trace.tokens) - 2
    drawn = Drawn(draw(look(trace, token=token), component=trace.model.config.hidden_size - 1))
    for name, place, address in pick(drawn, 500):
        value = drawn.values(name).ravel()[place]
        assert value.tobytes() == trace[address].tobytes(), (name, address)
        trace.explain(address)


def test_every_stage_is_there_with_its_cells(trace):
    data = draw(look(trace))
    drawn, layers = Drawn(data), range(trace.model.config.num_hidden_layers)
    every = [
        "embedding",
        *(f"{name}.{i}" for i in layers for name in ("output", "neurons", "ribbons")),
        *STRIPS,
        *(f"head.{name}" for name in HEAD),
    ]
    assert list(drawn.stages) == every
    for name, stage in drawn.stages.items():
        assert stage["at"] % 4 == 0 and stage["limit"] >= 0 and np.isfinite(stage["limit"]), name
        if not name.startswith("ribbons."):
            assert drawn.values(name).size == len(list(drawn.cells(name))) > 0, name
            assert stage["size"][-2:] == [len(data["tokens"]), len(stage["columns"])], name
            assert len(set(stage["columns"])) == len(stage["columns"]), name
            assert len(stage["columns"]) <= 65 or stage["level"] == "head", name
            assert stage["total"] == trace.shape(stage["address"].partition("[")[0])[-1], name


def test_of_one_head_all_components_are_drawn(trace):
    drawn, width = Drawn(draw(look(trace))), trace.model.config.head_dim
    for name in ("query", "key", "value"):
        assert drawn.stages[f"head.{name}"]["columns"][:width] == list(range(width))
    head = drawn.data["place"]["head"]
    assert drawn.stages["head.context"]["columns"] == list(range(head * width, (head + 1) * width))


def test_ribbons_are_the_mean_of_the_heads_weights_and_what_lies_outside_is_told(trace):
    drawn = Drawn(draw(look(trace)))
    window, place = drawn.data["window"], drawn.data["place"]
    rows = slice(window["start"], window["stop"])
    for layer in range(trace.model.config.num_hidden_layers):
        every = trace[f"encoder.layer.{layer}.attention.self.probs"][:, place["token"]].astype(np.float64)
        check_ribbon(drawn, str(layer), every.mean(axis=0), rows)
        np.testing.assert_allclose(drawn.values(f"ribbons.{layer}"), every.mean(axis=0)[rows], atol=1e-6)
    own = trace[f"encoder.layer.{place['layer']}.attention.self.probs"][place["head"], place["token"]]
    check_ribbon(drawn, "head", own, rows)


def check_ribbon(drawn, name, weights, rows):
    outside = drawn.data["outside"][name]
    np.testing.assert_allclose(outside["before"], weights[: rows.start].sum(), atol=1e-5)
    np.testing.assert_allclose(outside["after"], weights[rows.stop :].sum(), atol=1e-5)
    np.testing.assert_allclose(outside["before"] + outside["after"] + weights[rows].sum(), 1, atol=1e-5)


def test_the_token_that_is_looked_at_most_is_told_wherever_it_stands(trace):
    most = draw(look(trace))["most"]
    weights = trace[f"encoder.layer.{most['layer']}.attention.self.probs[head={most['head']},query={most['token']}]"]
    assert most["key"] == weights.argmax() and most["share"] == pytest.approx(float(weights.max()), rel=1e-5)
    assert most["text"] == trace.tokens[most["key"]]


def test_the_strongest_neurons_of_the_chosen_token_stand_first_then_each_other_tokens(trace):
    drawn = Drawn(draw(look(trace)))
    token, window = drawn.data["place"]["token"], drawn.data["window"]
    others = [i for i in range(window["start"], window["start"] + len(drawn.data["tokens"])) if i != token]
    for layer in range(trace.model.config.num_hidden_layers):
        sizes = np.abs(trace[f"encoder.layer.{layer}.intermediate.activation"])
        stage = drawn.stages[f"neurons.{layer}"]
        own = np.argsort(-sizes[token], kind="stable")[:3].tolist()
        assert stage["columns"][:3] == own and not stage["signed"]
        loudest = sorted(((float(sizes[i].max()), int(sizes[i].argmax())) for i in others), key=lambda each: -each[0])
        wanted = list(dict.fromkeys([*own, *(neuron for _, neuron in loudest)]))
        shown = stage["columns"][: len(wanted)]
        assert shown == wanted[: len(shown)]
        assert len({*stage["columns"]}) == len(stage["columns"])


def test_the_chosen_component_is_drawn_in_the_whole_residual_stream(inputs):
    drawn = Drawn(draw(look(inputs["12 tokens"]), component=380))
    stream = ["embedding", "input", "added", "sum", "norm", "sum2", *(f"output.{i}" for i in range(6))]
    for name in stream:
        assert drawn.stages[name]["columns"] == [*range(64), 380], name


@pytest.mark.parametrize("strip", WHOLE)
def test_a_strip_that_is_seen_whole_has_every_component_at_the_scale_of_its_part(inputs, strip):
    for name in ("12 tokens", "512 tokens", "24 layers"):
        trace = inputs[name]
        part, drawn = Drawn(draw(look(trace))), Drawn(draw(look(trace), strip=strip))
        stage, values = drawn.stages[f"whole.{strip}"], drawn.values(f"whole.{strip}")
        assert stage["columns"] == list(range(stage["total"]))
        assert drawn.data["window"]["stop"] - drawn.data["window"]["start"] == len(values)
        for place, address in random.Random(0).sample(list(enumerate(drawn.cells(stage["id"]))), 50):
            assert values.ravel()[place].tobytes() == trace[address].tobytes(), address
        own = f"{strip}.{drawn.data['place']['layer']}" if strip in ("neurons", "output") else strip
        assert stage["limit"] == drawn.stages[own]["limit"]
        if len(values) == len(part.data["tokens"]):
            assert stage["limit"] == part.stages[own]["limit"]


@pytest.mark.rare
@pytest.mark.slow
@pytest.mark.xdist_group("base_sized")
@pytest.mark.parametrize("strip", ["norm", seldom("neurons")])
def test_a_strip_that_is_seen_whole_adds_little(base_sized, strip):
    view = look(bv.run(bv.load_model(base_sized), "a " * 510))
    whole, part = (len(json.dumps(draw(view, component=700, strip=name))) for name in (strip, ""))
    assert whole - part <= 200_000


@pytest.mark.parametrize(
    ("name", "most"), [("12 tokens", 300_000), ("one letter", 300_000), ("64 tokens", 400_000), ("512 tokens", 400_000),
                       ("24 layers", 400_000)]
)  # fmt: skip
def test_the_message_is_small(inputs, name, most):
    assert len(json.dumps(draw(look(inputs[name]), component=200))) <= most


@pytest.mark.rare
@pytest.mark.xdist_group("base_sized")
def test_the_message_of_512_tokens_of_bert_base_is_small(base_sized):
    trace = bv.run(bv.load_model(base_sized), "a " * 510)
    assert len(json.dumps(draw(look(trace), component=700))) <= 400_000


def test_words_are_the_likeliest_of_each_row(trace):
    words = draw(look(trace))["words"]
    if "cls.predictions.probs" not in trace:
        assert words is None
        return
    view = look(trace)
    window = choose_rows(view.chosen.token, len(trace.tokens))
    for word, i in zip(words["top"], window, strict=True):
        probs = trace[f"cls.predictions.probs[token={i}]"]
        best = int(probs.argmax())
        assert (word["word"], word["share"]) == (trace.model.tokenizer.token(best) or f"id {best}", float(probs.max()))
    for word in words["best"]:
        assert word["share"] == float(trace[word["address"]])
        assert word["address"].startswith(f"cls.predictions.probs[token={view.chosen.token},vocab={word['id']}]")


@pytest.mark.parametrize("show", often(SHOWN, ["Difference"], str))
def test_faces_and_marks_of_a_change(inputs, show):
    before = inputs["12 tokens"]
    after = before.with_changes(CHANGE)
    data = draw(look(before, after, show))
    drawn = Drawn(data)
    assert (data["face"], data["changed"]) == (show.lower(), True)
    for name in drawn.stages:
        if name.startswith("ribbons."):
            continue
        was, now = (np.array([each[address] for address in drawn.cells(name)]) for each in (before, after))
        shown = {BEFORE: was, DIFFERENCE: now - was}.get(show.lower(), now)
        np.testing.assert_array_equal(drawn.values(name).ravel(), shown, name)
        np.testing.assert_array_equal(drawn.marks(name).ravel(), was != now, name)
        assert drawn.stages[name]["signed"] or show != "Difference"
    assert drawn.marks("weights")[0].all() and not drawn.marks("weights")[1:].any()


def test_without_changes_nothing_is_marked(trace):
    data = draw(look(trace))
    assert not data["changed"] and {stage["mark"] for stage in data["stages"]} == {None}


def test_a_window_holds_32_rows_and_begins_where_it_is_asked_to():
    assert choose_rows(8, 12) == range(12) and choose_rows(8, 12, 5) == range(12)
    assert choose_rows(100, 512) == range(84, 116)
    assert choose_rows(0, 512) == range(32) and choose_rows(511, 512) == range(480, 512)
    assert choose_rows(0, 512, 300) == range(300, 332) and choose_rows(0, 512, 511) == range(480, 512)


def test_counts_of_operands_and_uses_are_those_of_the_formulas(tmp_path):
    """By brute force: every cell of every step is explained, and whatever it names is counted."""
    folder = random_checkpoint(tmp_path, hidden_size=6, num_attention_heads=2, intermediate_size=5, vocab_size=101)
    trace = bv.run(bv.load_model(folder), "the cat")
    uses = {}
    for address in trace.addresses:
        if address.startswith(("embeddings", "encoder")):
            for place in np.ndindex(trace.shape(address)):
                at = ",".join(f"{axis}={i}" for axis, i in zip(trace.dims(address), place, strict=True))
                for operand in dict(trace.explain(f"{address}[{at}]").operands):
                    uses[operand] = uses.get(operand, 0) + 1
    drawn = Drawn(draw(look(trace, token=1, head=(0, 1))))
    for name, stage in drawn.stages.items():
        if name.startswith("ribbons."):
            continue
        cell = next(drawn.cells(name))
        assert read_count(stage["from"]) == len(trace.explain(cell).operands), name
        assert read_count(stage["used"]) == uses.get(cell, 0), name


def read_count(text):
    return int(text.partition(" ")[0].replace(",", "") or 0)


def test_double_precision_is_drawn_in_single(tmp_path):
    trace = bv.run(bv.load_model(random_checkpoint(tmp_path), dtype=torch.float64), "the cat sat")
    drawn = Drawn(draw(look(trace)))
    for name, place, address in pick(drawn, 60):
        assert drawn.values(name).ravel()[place] == np.float32(trace[address]), address


WISHES = [
    ({"level": "head", "layer": 3, "head": 5}, {"level": "head", "layer": "3", "head": "5"}),
    ({"layer": 3}, {"layer": "3", "head": "0"}),
    ({"head": 4}, {"layer": "2", "head": "4"}),
    ({"token": 2}, {"layer": "2", "head": "0", "token": "2"}),
    ({"component": 70}, {"component": "70"}),
    ({"component": None}, {"component": ""}),
    ({"stop": 4, "level": "head"}, {"play": 4, "level": "head"}),
    ({"stop": 0}, {"play": 0}),
    ({"strip": "norm"}, {"strip": "norm"}),
    ({"strip": None, "level": "head"}, {"strip": "", "level": "head"}),
    ({"strip": "query"}, {"strip": ""}),
    ({"layer": 6, "head": 12, "token": 12, "component": 384, "stop": 11, "window": 12}, {}),
    ({"layer": -1, "head": True, "token": "2", "component": 1.5, "level": "cell", "other": 1}, {}),
]  # fmt: skip


@pytest.mark.parametrize(("wish", "taken"), WISHES)
def test_of_what_the_browser_asks_for_only_what_is_there_is_taken(inputs, wish, taken):
    view = look(inputs["12 tokens"], head=(2, 0))
    found = read_wish(wish, view, Place("pass", Spot(2, 0, 8, None, range(12)), 0))
    assert {key.name: value for key, value in found.items()} == taken


@pytest.mark.parametrize(
    ("wish", "window"), [({"token": 110}, "84"), ({"token": 300}, ""), ({"token": 300, "window": 290}, "290")]
)
def test_a_window_stays_while_the_chosen_token_is_in_it(inputs, wish, window):
    view = look(inputs["512 tokens"], token=100)
    place = Place("pass", Spot(view.chosen.layer, view.chosen.head, 100, None, range(84, 116)), 0)
    assert read_wish(wish, view, place)[WINDOW] == window


def test_the_story_of_every_word_that_is_drawn_is_told(trace):
    words = draw(look(trace))["words"]
    for word in [*words["top"], *words["best"]] if words else []:
        address = parse(word["address"])
        name = find_story(trace, {"token": address.at["token"], "id": word["id"]})
        assert find_beginnings(trace, address.at["token"])[name] == address


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"token": 12, "id": 2111},
        {"token": -1, "id": 2111},
        {"token": True, "id": 0},
        {"token": 8, "id": 101},
        {"token": "8", "id": "2111"},
    ],
)
def test_no_story_is_told_of_what_is_not_drawn(inputs, asked):
    assert find_story(inputs["12 tokens"], asked) is None


def test_the_scale_of_neurons_ends_where_most_active_ones_are(trace):
    drawn = Drawn(draw(look(trace)))
    layers = range(trace.model.config.num_hidden_layers)
    (limit,) = {drawn.stages[f"neurons.{i}"]["limit"] for i in layers}
    active = np.sort(np.concatenate([drawn.values(f"neurons.{i}").ravel() for i in layers]))
    active = active[active > 0]
    assert 0.96 <= (active < limit).mean() <= 0.98 or len(active) < 100


def test_the_key_tells_all_apart_that_decides_the_numbers_but_layer_and_head(inputs):
    before = inputs["12 tokens"]
    after, other = (before.with_changes(dict.fromkeys(CHANGE, 0.5)) for _ in range(2))
    views = [
        look(before),
        look(inputs["padding"]),
        look(before, token=3),
        look(before, before.with_changes(CHANGE)),
        look(before, after),
        *(look(before, after, show=show) for show in SHOWN[1:]),
    ]
    keys = [draw(view)["key"] for view in views] + [draw(look(before), component=70)["key"]]
    assert len(set(keys)) == len(keys)
    assert draw(look(before, head=(3, 5)))["key"] == keys[0] and draw(look(before, other))["key"] == keys[4]


def test_an_example_is_called_by_what_it_shows():
    names = [example.name for example in EXAMPLES]
    assert all(1 <= len(name.split()) <= 3 and len(name) <= 16 for name in names)
    assert len(set(names)) == len(names)
