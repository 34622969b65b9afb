"""Tables of many passes: each row is a number of a trace, means are NumPy's, and pandas is asked for only then."""

import builtins

import numpy as np
import pytest

import bertviz_core as bv
from tests.factory import random_checkpoint

TEXTS = ("The cat sat.", "It did n't purr, said Ann.", "A dog!")
WEIGHTS = "encoder.layer.{i}.attention.self.probs"


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    model = bv.load_model(random_checkpoint(tmp_path_factory.mktemp("tables")))
    return [bv.run(model, text, pad_to=20) for text in TEXTS]


def test_a_row_is_a_number_of_a_trace_and_padding_has_none(traces):
    table = bv.table(traces, WEIGHTS)
    assert list(table) == ["text", "layer", "head", "query", "query_text", "key", "key_text", "value"]
    sizes = [sum(trace.encoding.mask) for trace in traces]
    config = traces[0].model.config
    assert len(table) == sum(n * n for n in sizes) * config.num_hidden_layers * config.num_attention_heads
    for row in table.sample(20, random_state=1).itertuples():
        cell = f"{WEIGHTS.format(i=row.layer)}[head={row.head},query={row.query},key={row.key}]"
        trace = traces[row.text]
        assert row.value == trace[cell]
        assert (row.query_text, row.key_text) == (trace.tokens[row.query], trace.tokens[row.key])


def test_axes_disappear_in_the_order_given_as_numpy_has_it(traces):
    table = bv.table(iter(traces), WEIGHTS, {"key": "max", "query": "mean"})
    assert list(table) == ["text", "layer", "head", "value"]
    for (text, layer), rows in table.groupby(["text", "layer"]):
        real = list(traces[text].encoding.real)
        shares = traces[text][WEIGHTS.format(i=layer)][np.ix_(range(3), real, real)].astype(np.float64)
        np.testing.assert_allclose(rows.sort_values("head")["value"], shares.max(axis=2).mean(axis=1))


@pytest.mark.parametrize(
    ("way", "numpy"),
    [("mean", np.mean), ("sum", np.sum), ("min", np.min), ("max", np.max), ("std", np.std), ("count", len)],
)
def test_texts_disappear_too(traces, way, numpy):
    table = bv.table(traces, "encoder.layer.1.output.LayerNorm", {"hidden": "norm", "token": "mean", "text": way})
    lengths = [
        np.linalg.norm(trace["encoder.layer.1.output.LayerNorm"][: sum(trace.encoding.mask)].astype(float), axis=1)
        for trace in traces
    ]
    assert list(table) == ["layer", "value"] and len(table) == 1
    np.testing.assert_allclose(table["value"], numpy([each.mean() for each in lengths]))


def test_several_addresses_stand_below_one_another(traces):
    asked = ["embeddings.LayerNorm[token=1]", "encoder.layer.{i}.output.LayerNorm[token=1]"]
    table = bv.table(traces, asked, {"hidden": np.ptp})
    assert list(table) == ["text", "address", "layer", "token", "token_text", "value"]
    assert table["layer"].isna().sum() == len(TEXTS) and str(table["layer"].dtype) == "Int64"
    first = table[table["address"] == "embeddings.LayerNorm"]
    assert list(first["token_text"]) == [trace.tokens[1] for trace in traces]
    np.testing.assert_allclose(first["value"], [np.ptp(trace[asked[0]].astype(float)) for trace in traces])


@pytest.mark.xdist_group("rome")
def test_entries_are_called_by_their_names(rome):
    words = rome.table("cls.predictions.probs[token=8]").nlargest(3, "value")
    assert list(words["vocab_text"]) == ["people", "men", "prophets"] and set(words["token_text"]) == {"[MASK]"}
    answer = rome.table("cls.seq_relationship.probs")
    assert list(answer["relation_text"]) == ["B follows A", "B is a random sentence"]
    cell = rome.table("cls.predictions.probs[token=8,vocab=2111]")
    assert cell.to_dict("records")[0]["value"] == rome["cls.predictions.probs[token=8,vocab=2111]"]


@pytest.mark.xdist_group("rome")
def test_what_was_worked_out_has_tables_too(rome, bundled):
    heads = bv.roles(rome)
    table = heads.table()
    assert len(table) == 72 and table.loc[2 * 12 + 5, "previous"] == heads.numbers["previous"][2, 5]
    assert table.loc[5, "roles"] == ", ".join(heads.of(0, 5))
    look = bv.lens(rome, 8)
    words = look.table(2)
    assert len(words) == 14 and list(words["rank"][:2]) == [1, 2]
    assert words["vocab_text"].iloc[-2] == "people" and words["probability"].iloc[-2] == look.probs[-1].max()
    cell = "cls.predictions.probs[token=8,vocab=2111]"
    parts = bv.attribute(rome, cell.replace("probs", "decoder")).table()
    assert list(parts["token_text"])[-1] == "biases" and len(parts) == 13
    worth = bv.ablation(rome, cell)
    row = worth.table().iloc[3 * 12 + 4]
    assert (row["layer"], row["head"], row["worth"]) == (3, 4, worth.measure_worth(0)[3, 4])


def test_a_function_of_a_trace_is_asked_for_each(traces):
    table = bv.table(traces, bv.roles)
    assert list(table)[:3] == ["text", "layer", "head"] and len(table) == 3 * len(bv.roles(traces[0]).table())
    pieces = bv.table(traces, lambda trace: trace.table("embeddings.sum", {"hidden": "mean"}).drop(columns="text"))
    assert len(pieces) == sum(sum(trace.encoding.mask) for trace in traces)
    arcs = [(0, 1, "x")]
    labels = bv.roles(traces[2], parses=[(["A", "dog!"], arcs)]).label_table()
    assert set(labels["direction"]) == {"dependent to head", "head to dependent"} and set(labels["baseline"]) == {1.0}


def test_no_text_is_an_empty_table(traces):
    assert len(bv.table([], WEIGHTS)) == 0


REFUSED = {
    "an axis that is not there": (WEIGHTS, {"token": "mean"}, "has no axis 'token' to reduce; it has head, query, key"),
    "a way that there is not": (WEIGHTS, {"key": "loud"}, "Choose one of these: mean, sum"),
    "a median of texts": (WEIGHTS, {"key": "max", "query": "max", "text": "median"}, "Choose one of these: mean"),
    "texts of other tokens": (WEIGHTS, {"key": "max", "text": "mean"}, "reduce query before"),
    "a function of more": (WEIGHTS, {"key": lambda x, axis: x}, "must give one number"),
    "ways as text": (WEIGHTS, "mean", "must be a mapping"),
    "ways of a function": (bv.roles, {"key": "max"}, "a function was given"),
    "no address": ([], None, "There is no address"),
    "a number": (5, None, "is not an address"),
    "nothing": (None, None, "is not an address"),
    "an address that is not there": ("encoder.layer.{i}.nowhere", None, "is not in this trace"),
    "a function that gives a number": (lambda trace: 5, None, "must be a table, or have one"),
}


@pytest.mark.parametrize(("what", "reduce", "says"), REFUSED.values(), ids=REFUSED)
def test_what_no_table_can_be_made_of_is_refused(traces, what, reduce, says):
    with pytest.raises(bv.BertvizError, match=says):
        bv.table(traces, what, reduce)


@pytest.mark.parametrize("traces", [["The cat sat."], "The cat sat.", None, 5, [None]], ids=repr)
def test_a_table_of_no_traces_is_refused(traces):
    with pytest.raises(bv.ArgumentError, match="must be"):
        bv.table(traces, WEIGHTS)


def test_without_pandas_it_is_said_what_to_install(traces, monkeypatch):
    known = builtins.__import__

    def without(name, *more):
        if name == "pandas":
            raise ModuleNotFoundError(name)
        return known(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(bv.BertvizError, match=r"pip install \"bert-every-number\[table\]\""):
        bv.table(traces, WEIGHTS)
