"""The feed-forward network's and LayerNorm's numbers, against plain transcriptions."""

import itertools
import math
import re
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.analysis.add_norm import (
    ATTENTION,
    FEED_FORWARD,
    SUBLAYERS,
    follow_direct_path,
    measure_sums,
    normalize_with,
)
from bertviz_core.analysis.feed_forward import (
    ACTIVATIONS,
    measure_neurons,
    sum_contributions,
)
from bertviz_core.analysis.walk import sample_function
from bertviz_core.figures.palette import PALETTES
from bertviz_core.figures.tints import mix
from bertviz_core.formula.steps import FFN
from bertviz_core.sharing.findings import Findings, Found
from bertviz_core.ui.frame.view import Selection
from bertviz_core.ui.views.feed_forward import write_headline
from tests.derived.reading import find_numbers
from tests.factory import random_checkpoint
from tests.settling import settle


@pytest.fixture(scope="module")
def double(tmp_path_factory):
    """A random checkpoint in float64."""
    folder = random_checkpoint(tmp_path_factory.mktemp("sublayers"))
    return bv.run(bv.load_model(folder, dtype=torch.float64), "The cat sat on the mat.")


@pytest.mark.parametrize("function", ACTIVATIONS, ids=ACTIVATIONS.get)
def test_activations_follow_their_formulas(function):
    formulas = {
        "GELU (erf)": lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))),
        "GELU (tanh)": lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
        "ReLU": lambda x: max(0.0, x),
    }
    x = np.linspace(-6, 6, 41)
    expected = [formulas[ACTIVATIONS[function]](v) for v in x]
    assert np.allclose(sample_function(function, x), expected, atol=1e-12)


def test_all_neurons_and_the_bias_add_up_to_the_output(rome):
    here = "encoder.layer.2"
    strength, directions = rome[f"{here}.intermediate.activation[token=8]"], rome[f"{here}.output.dense.weight"]
    parts = strength[:, None] * directions
    groups = [[0, 5, 1535], list(range(1, 5)), list(range(6, 1535))]
    sums = sum_contributions(strength.astype(np.float64), directions, groups)
    assert np.allclose(sums, [parts[members].sum(axis=0, dtype=np.float64) for members in groups], atol=1e-6)
    total = sums.sum(axis=0) + rome[f"{here}.output.dense.bias"]
    assert np.allclose(total, rome[f"{here}.output.dense[token=8]"], atol=1e-4)
    lengths = np.linalg.norm(parts, axis=1)
    found = measure_neurons(rome, 2, 8)
    assert found.strongest(4) == list(np.argsort(-lengths)[:4])


def test_every_neuron_writes_a_part_of_the_sum(double):
    path, token = "encoder.layer.1", 4
    before, after = (double[f"{path}.intermediate.{leaf}[token={token}]"] for leaf in ("dense", "activation"))
    directions, bias = double[f"{path}.output.dense.weight"], double[f"{path}.output.dense.bias"]
    found, output = measure_neurons(double, 1, token), double[f"{path}.output.dense[token={token}]"]
    for i, row in enumerate(directions):
        part = after[i] * row
        assert found.lengths[i] == pytest.approx(math.sqrt(math.fsum(part**2)))
        assert found.shares[i] == pytest.approx(part @ output / (output @ output))
        assert found.active[i] == (before[i] > 0)
    assert found.bias == pytest.approx(bias @ output / (output @ output))
    lengths = np.linalg.norm(after[:, None] * directions, axis=1)
    everyone = np.argsort(-lengths).tolist()  # those with negative activations too
    assert found.strongest(len(after)) == everyone
    shown = found.strongest(5)
    assert found.shares[shown].sum() + found.rest(shown) + found.bias == pytest.approx(1)
    assert found.rest(shown) == pytest.approx(sum(s for i, s in enumerate(found.shares) if i not in shown))
    assert measure_neurons(double, 1, token) is found and not found.shares.flags.writeable


def test_neurons_that_are_all_silent_leave_the_bias(double):
    silent = double.with_changes({"encoder.layer.1.intermediate.activation[token=2]": 0.0})
    found = measure_neurons(silent, 1, 2)
    assert not found.shares.any() and found.bias == pytest.approx(1)


def test_few_of_the_bundled_models_neurons_are_active_and_write_most(rome):
    """What the page is about: a token's neurons are mostly silent."""
    found = measure_neurons(rome, 2, 8)
    before = rome["encoder.layer.2.intermediate.dense[token=8]"]
    assert found.active.sum() == (before > 0).sum() and 0.05 < found.active.mean() < 0.35
    assert found.shares[found.active].sum() > 0.6


@pytest.mark.parametrize("sublayer", SUBLAYERS)
def test_a_sublayer_adds_at_an_angle(double, sublayer):
    inputs = {ATTENTION: "encoder.layer.0.output.LayerNorm", FEED_FORWARD: "encoder.layer.1.attention.output.LayerNorm"}
    skip, added = double[inputs[sublayer]], double[f"encoder.layer.1.{sublayer}.dense"]
    found = measure_sums(double, 1, sublayer)
    for token, (x, y) in enumerate(zip(skip, added, strict=True)):
        a, b = math.hypot(*x), math.hypot(*y)
        assert (found.was[token], found.added[token]) == (pytest.approx(a), pytest.approx(b))
        assert found.total[token] == pytest.approx(math.hypot(*(x + y)))
        assert found.angles[token] == pytest.approx(math.degrees(math.acos(x @ y / (a * b))))


def test_angles_of_vectors_without_length_are_unknown(double):
    cut = double.with_changes({"encoder.layer.1.output.residual": "no-residual"})
    found = measure_sums(cut, 1, FEED_FORWARD)
    assert not found.was.any() and np.isnan(found.angles).all()
    np.testing.assert_array_equal(found.added, found.total)
    stopped = measure_sums(double.with_changes({"encoder.layer.1.output.dense[token=2]": 0.0}), 1, FEED_FORWARD)
    assert np.flatnonzero(np.isnan(stopped.angles)).tolist() == [2]


def test_angles_reach_both_ends(double):
    skip = double["encoder.layer.1.attention.output.LayerNorm"]
    for factor, angle in ((1e-3, 0.0), (-0.5, 180.0)):
        changed = double.with_changes({"encoder.layer.1.output.dense": factor * skip})
        np.testing.assert_allclose(measure_sums(changed, 1, FEED_FORWARD).angles, angle, atol=1e-9)


def test_normalizing_again_with_the_models_epsilon_gives_the_trace(rome):
    path = "encoder.layer.1.output"
    own = normalize_with(rome[f"{path}.residual[token=3]"], rome.model.config.layer_norm_eps)
    assert np.allclose(own, rome[f"{path}.LayerNorm.normalized[token=3]"], atol=1e-5)


def test_the_direct_path_divides_once_at_every_place(rome):
    names, factors = follow_direct_path(rome, 3)
    layers = rome.model.config.num_hidden_layers
    product = 1.0
    for layer in range(layers):
        for module in ("attention.output", "output"):
            product /= math.sqrt(float(rome[f"encoder.layer.{layer}.{module}.LayerNorm.variance[token=3]"]) + 1e-12)
    assert len(names) == 2 * layers
    assert factors[-1] == pytest.approx(product, rel=1e-6)


def open_strongest(token):
    """The page at a token of layer 2: its trace, and all of its HTML."""
    at = AppTest.from_file(str(Path(__file__).parent.parent / "app.py"), default_timeout=60)
    at.query_params.update({"layer": "2", "token": str(token)})
    at.run().switch_page("pages/feed_forward.py").run()
    assert not at.exception
    return at.session_state["view"].trace, "".join(each.proto.body for each in at.get("html"))


def test_every_neuron_of_the_table_offers_its_activation():
    trace, body = open_strongest(3)
    cells = re.findall(r'<td><button data-cell="([^"]*)">([^<]*)</button></td>', body)
    assert [cell.split(".")[4].partition("[")[0] for cell, _ in cells] == ["activation"] * 12
    for cell, number in cells:
        assert float(number.replace("\N{MINUS SIGN}", "-")) == pytest.approx(float(trace[cell]), abs=5e-5)


def test_every_neuron_of_the_table_has_a_cell_for_each_token_with_its_activation_there():
    trace, body = open_strongest(3)
    after = trace["encoder.layer.2.intermediate.activation"]
    top = measure_neurons(trace, 2, 3).strongest(12)
    cells = re.findall(
        r'<i data-cell="([^"]*)"( class="bv-own")? title="(.*?): (\S*)" style="background:(\S*)"></i>', body
    )
    places = [(i, at) for i in top for at in range(len(trace.tokens))]
    assert [cell for cell, *_ in cells] == [
        f"encoder.layer.2.intermediate.activation[token={at},intermediate={i}]" for i, at in places
    ]
    end = np.abs(after[:, top]).max()
    colors = PALETTES["light"]
    for (i, at), (_, own, word, number, back) in zip(places, cells, strict=True):
        assert bool(own) is (at == 3) and unescape(word).endswith(trace.tokens[at])
        (written,) = find_numbers(number)
        assert written.tells(float(after[at, i]))
        ink = colors.cells[FFN] if after[at, i] > 0 else colors.negative
        assert back == mix(colors.zero, ink, abs(float(after[at, i]) / end))
    (told,) = re.findall(r">at each token, ±([\d.]+)<", body)
    assert find_numbers(told)[0].tells(end)


def test_of_a_long_text_the_tokens_around_the_chosen_one_have_their_cells():
    at = AppTest.from_file(str(Path(__file__).parent.parent / "app.py"), default_timeout=60)
    at.query_params.update({"text": "the cat sat on a mat " * 8 + "[MASK]", "layer": "1", "token": "30"})
    at.run().switch_page("pages/feed_forward.py").run()
    assert not at.exception
    body = next(each.proto.body for each in at.get("html") if 'class="bv-neurons"' in each.proto.body)
    first = re.findall(r'<i data-cell="[^"]*token=(\d+),', body)[:24]
    assert first == [str(i) for i in range(18, 42)]


def test_the_card_says_what_neurons_that_are_not_active_bring():
    at = AppTest.from_file(str(Path(__file__).parent.parent / "app.py"), default_timeout=60)
    at.query_params.update({"layer": "5", "token": "8"})
    at.run().switch_page("pages/feed_forward.py").run()
    assert not at.exception
    told = " ".join(re.sub("<[^>]*>", "", each.proto.body) for each in at.get("html"))
    count, share, most = re.search(
        r"The other ([\d,]+) together make up (\S+\s%) of the sum, at most (\S+\s%) each", told
    ).groups()
    found = measure_neurons(at.session_state["view"].trace, 5, 8)
    quiet = found.shares[found.before <= 0]
    assert count == f"{len(quiet):,}" and quiet.sum() > 0.01
    for text, part in ((share, quiet.sum()), (most, abs(quiet).max())):
        (number,) = find_numbers(text)
        assert number.tells(part), (text, part)


def test_the_headline_names_the_neuron_that_writes_the_longest_vector(rome):
    for layer, token in itertools.product(range(6), range(len(rome.tokens))):
        said = write_headline(SimpleNamespace(trace=rome, chosen=Selection(layer, 0, token))).text
        here = f"encoder.layer.{layer}"
        after = rome[f"{here}.intermediate.activation[token={token}]"].astype(np.float64)
        parts = after[:, None] * rome[f"{here}.output.dense.weight"]
        total, lengths = parts.sum(axis=0) + rome[f"{here}.output.dense.bias"], np.linalg.norm(parts, axis=1)
        neuron, share = re.search(
            r"neuron (\d+)\*\* writes the longest vector, \*\*(.*?\N{NO-BREAK SPACE}%)", said
        ).groups()
        assert int(neuron) == lengths.argmax()
        (number,) = find_numbers(share)
        assert number.tells(parts[int(neuron)] @ total / (total @ total)), (share, layer, token)


def test_where_all_neurons_are_0_the_headline_says_so(bundled):
    changes = {"encoder.layer.1.intermediate.activation": 0.0}
    trace = bv.run(bundled, "the cat sat", changes=changes)
    said = write_headline(SimpleNamespace(trace=trace, chosen=Selection(1, 0, 2))).text
    assert said.endswith("and none writes anything")


def open_neurons(**query):
    """The page, after all that it works out in the background, as far as it does."""
    at = AppTest.from_file(str(Path(__file__).parent.parent / "app.py"), default_timeout=60)
    at.query_params.update({"layer": "2", "token": "8", **query})
    at.run().switch_page("pages/feed_forward.py").run()
    assert settle()
    at.run()
    assert not at.exception
    return at


def read_strongest(at):
    """Of each table of the neurons that write most: the last column's name, and by neuron what stands there."""
    bodies = [each.proto.body for each in at.get("html") if 'class="bv-neurons"' in each.proto.body]
    return [
        (
            unescape(re.findall(r"<th [^>]*>([^<]*)</th>", body)[-1]),
            dict(re.findall(r'intermediate=(\d+)\]">\d+</button></th>.*?<td>([^<]*)</td></tr>', body)),
        )
        for body in bodies
    ]


def test_what_the_answer_is_without_each_neuron_comes_unasked(bundled, rome):
    at = open_neurons()
    ((name, found),) = read_strongest(at)
    assert any(
        f"has {100 * rome['cls.predictions.probs[token=8]'].max():.1f}\N{NO-BREAK SPACE}% with all neurons;"
        in each.value
        for each in at.caption
    )
    probs, after = rome["cls.predictions.probs[token=8]"], "encoder.layer.2.intermediate.activation"
    best = int(probs.argmax())
    assert name == f"“{bundled.tokenizer.token(best)}” without it"
    assert [int(i) for i in found] == measure_neurons(rome, 2, 8).strongest(12)
    for neuron, text in found.items():
        changes = {f"{after}[token=8,intermediate={neuron}]": 0.0}
        plain = bv.run(bundled, "When in Rome, do as the [MASK] do.", changes=changes)
        points = 100 * float(plain["cls.predictions.probs[token=8]"][best] - probs[best])
        assert float(text.removesuffix(" pt").replace("−", "-")) == pytest.approx(points, abs=0.0051)
    texts = list(found.values())
    assert all(text[0] in "+−" or text == "0.00 pt" for text in texts) and len({text[0] for text in texts}) > 1


def test_a_neuron_that_is_0_already_changes_nothing_and_both_passes_are_told(bundled, rome):
    first = measure_neurons(rome, 2, 8).strongest(1)[0]
    cell = f"encoder.layer.2.intermediate.activation[token=8,intermediate={first}]"
    changes = {"encoder.layer.1.attention.self.probs[head=2]": 0.0, cell: 0.0}
    at = open_neurons(changes="~".join(f"{where}:{value}" for where, value in changes.items()), show="Difference")
    trace = at.session_state["view"].trace
    told = " ".join(each.value for each in at.caption)
    assert " as changed; pt:" in told and "with all neurons" not in told
    best = int(trace["cls.predictions.probs[token=8]"].argmax())
    tables = read_strongest(at)
    assert {name for name, _ in tables} == {f"“{bundled.tokenizer.token(best)}” without it"}
    for (_, found), already in zip(tables[-2:], ({}, changes)[-len(tables) :], strict=True):
        for neuron in list(found)[:2]:
            one = f"encoder.layer.2.intermediate.activation[token=8,intermediate={neuron}]"
            was, now = (
                float(
                    bv.run(bundled, "When in Rome, do as the [MASK] do.", changes=each)[
                        "cls.predictions.probs[token=8]"
                    ][best]
                )
                for each in (already, {**already, one: 0.0})
            )
            assert float(found[neuron].removesuffix(" pt").replace("−", "-")) == pytest.approx(
                100 * (now - was), abs=0.0051
            )


def test_what_is_not_known_yet_keeps_its_room_and_what_fails_is_said(monkeypatch):
    for given, told in ((Found(), "of the neurons set to 0"), (Found(error="No [room].", over=True), "No [room].")):
        monkeypatch.setattr(Findings, "ask", lambda *_, given=given: given)
        at = open_neurons()
        ((name, found),) = read_strongest(at)
        assert name.endswith(" without it") and {text.strip() for text in found.values()} == {"…"} and len(found) == 12
        assert any(told in caption.value.replace("\\", "") for caption in at.caption)


def test_without_an_answer_each_neuron_has_its_share(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTVIZ_MODELS", str(random_checkpoint(tmp_path, kind="base-without-pooler")))
    at = open_neurons(text="the cat sat", layer="1", token="2")
    ((name, found),) = read_strongest(at)
    shares = measure_neurons(at.session_state["view"].trace, 1, 2).shares
    assert name == "share of sum"
    for neuron, text in found.items():
        (number,) = find_numbers(text)
        assert number.tells(shares[int(neuron)])
