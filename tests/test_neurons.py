"""Neurons over many texts: their largest values as NumPy finds them in all at once, and nothing held of the rest."""

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis import neurons
from tests.factory import random_checkpoint

TEXTS = ["The cat sat.", "It didn't purr, said Ann.", "A dog!", "The cat sat.", "She saw it", "Then he sat", "No"]
VALUES = "encoder.layer.{}.intermediate.activation"


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    model = bv.load_model(random_checkpoint(tmp_path_factory.mktemp("neurons")))
    return [bv.run(model, text, pad_to=20) for text in TEXTS]


def test_the_largest_values_are_those_of_all_texts(traces):
    found = bv.neurons(iter(traces), k=3)
    assert found.texts == len(TEXTS)
    for layer in range(2):
        values = [trace[VALUES.format(layer)][: sum(trace.encoding.mask)] for trace in traces]
        most = np.stack([each.max(axis=0) for each in values])
        order = np.argsort(-most, axis=0, kind="stable")[:3]
        np.testing.assert_array_equal(found.found[layer], order.T)
        np.testing.assert_array_equal(found.values[layer], np.take_along_axis(most, order, 0).T)
        every = np.concatenate(values).astype(np.float64)
        np.testing.assert_allclose(found.means[layer], every.mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(found.active[layer], (every > 0).mean(axis=0))


def test_a_value_is_a_cell_of_its_trace(traces):
    found = bv.neurons(traces, k=2)
    for layer, neuron in ((0, 3), (1, 17)):
        for firing in found.top(layer, neuron):
            trace = traces[firing.text]
            assert firing.value == trace[f"{VALUES.format(layer)}[token={firing.token},intermediate={neuron}]"]
            assert firing.tokens == tuple(trace.tokens) and trace.encoding.mask[firing.token]
            assert f"«{trace.tokens[firing.token]}»" in str(firing)


def test_fewer_texts_than_asked_for_are_all(traces):
    assert bv.neurons(traces[:2], k=5).values.shape[-1] == 2 == len(bv.neurons(traces[:2]).top(0, 0))


def test_of_texts_that_no_neuron_fires_at_most_nothing_is_held(traces, monkeypatch):
    monkeypatch.setattr(neurons, "_OFTEN", 2)
    found = bv.neurons(traces * 3, k=1)
    assert set(found.sentences) == set(np.unique(found.found).tolist()) <= set(range(len(TEXTS)))


def test_its_table_has_a_row_for_each_neuron_and_place(traces):
    found = bv.neurons(traces, k=2)
    table = found.table()
    layers, every, ranks = found.values.shape
    assert len(table) == layers * every * ranks == 2 * found.means.size
    row = table[(table["layer"] == 1) & (table["intermediate"] == 4) & (table["rank"] == 2)].iloc[0]
    firing = found.top(1, 4)[1]
    assert (row["value"], row["text"], row["token"]) == (firing.value, firing.text, firing.token)
    assert row["token_text"] == firing.tokens[firing.token] and row["mean"] == found.means[1, 4]


@pytest.mark.parametrize(
    "ask",
    [
        lambda traces: bv.neurons([]),
        lambda traces: bv.neurons(None),
        lambda traces: bv.neurons(["The cat"]),
        lambda traces: bv.neurons(traces, k=0),
        lambda traces: bv.neurons(traces, k=2.5),
        lambda traces: bv.neurons(traces).top(9, 0),
        lambda traces: bv.neurons(traces).top(0, "x"),
    ],
)
def test_what_is_not_there_is_refused(traces, ask):
    with pytest.raises(bv.InputError):
        ask(traces)
