"""The three attention pages: what they work out for one token, against plain NumPy on the recorded tensors."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

APP = str(Path(__file__).parent.parent / "app.py")
LAYER, HEAD, TOKEN, KEY, WIDTH = 3, 5, 7, 4, 32
OWN = f"encoder.layer.{LAYER}.attention.self"
OUTPUT = f"encoder.layer.{LAYER}.attention.output.dense"


def opened(page, **query):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update({"layer": str(LAYER), "head": str(HEAD), "token": str(TOKEN), **query})
    at.run()
    at.switch_page(f"pages/{page}.py").run()
    at.session_state["open"] = "all"  # every fold
    at.run()
    assert not at.exception
    return at


def chart(at, name):
    """The data of one derived chart, trace by trace."""
    return next(
        json.loads(element.proto.spec)["data"]
        for element in at.get("plotly_chart")
        if element.proto.id.endswith(f"-chart-{name}")
    )


def numbers(array):
    shape = [int(size) for size in array.get("shape", "-1").split(",")]
    return np.frombuffer(base64.b64decode(array["bdata"]), dtype=array["dtype"]).reshape(shape)


def html(at):
    return "".join(element.proto.body for element in at.get("html"))


@pytest.fixture(scope="module")
def scores():
    return opened("attention", key_token=str(KEY))


@pytest.fixture(scope="module")
def output():
    return opened("attention_output")


@pytest.mark.parametrize("name", ["query", "key", "value"])
def test_a_projection_is_the_vector_times_the_heads_weights_plus_the_bias(rome, name):
    x, weights, results = (
        numbers(part["z"]) for part in chart(opened("query_key_value", projection=name), f"projection-{name}")
    )
    own = slice(HEAD * WIDTH, (HEAD + 1) * WIDTH)
    np.testing.assert_array_equal(x[0], rome[f"encoder.layer.{LAYER - 1}.output.LayerNorm"][TOKEN])
    np.testing.assert_array_equal(weights, rome[f"{OWN}.{name}.weight"][:, own].T)
    product, bias, result = results.T
    np.testing.assert_allclose(product, weights @ x[0], atol=1e-5)
    np.testing.assert_array_equal(bias, rome[f"{OWN}.{name}.bias"][own])
    np.testing.assert_array_equal(result, rome[f"{OWN}.{name}"][HEAD, TOKEN])


def test_the_long_vector_is_cut_into_heads(rome):
    long, rows = (numbers(part["z"]) for part in chart(opened("query_key_value"), "split-query"))
    x = rome[f"encoder.layer.{LAYER - 1}.output.LayerNorm"][TOKEN]
    np.testing.assert_allclose(long[0], x @ rome[f"{OWN}.query.weight"] + rome[f"{OWN}.query.bias"], atol=1e-5)
    np.testing.assert_array_equal(rows, rome[f"{OWN}.query"][:, TOKEN])


def test_products_of_the_chosen_pair_add_up_to_the_recorded_one(rome, scores):
    bars, line = chart(scores, "dot-product")
    terms = rome[f"{OWN}.query"][HEAD, TOKEN] * rome[f"{OWN}.key"][HEAD, KEY]
    order = [int(component) for component in bars["x"]]
    np.testing.assert_allclose(numbers(bars["y"]), terms[order], atol=1e-6)
    assert (np.diff(np.abs(numbers(bars["y"]))) <= 0).all()
    assert numbers(line["y"])[-1] == pytest.approx(rome[f"{OWN}.products"][HEAD, TOKEN, KEY], abs=1e-5)


def test_without_a_chosen_key_it_is_the_one_most_looked_at(rome, scores):
    menu = opened("attention").selectbox(key="key_token-menu")
    assert menu.value == rome[f"{OWN}.probs"][HEAD, TOKEN].argmax() != KEY
    assert scores.selectbox(key="key_token-menu").value == KEY


def test_choosing_a_key_changes_the_products_and_the_url():
    at = opened("attention")
    before = numbers(chart(at, "dot-product")[0]["y"])
    at.selectbox(key="key_token-menu").select(KEY).run()
    assert at.session_state["key_token"] == str(KEY)
    assert not np.array_equal(numbers(chart(at, "dot-product")[0]["y"]), before)


def test_cosines_of_the_chosen_query_with_every_key(rome, scores):
    q, keys = rome[f"{OWN}.query"][HEAD, TOKEN], rome[f"{OWN}.key"][HEAD]
    expected = [float(q @ k / np.sqrt(q @ q) / np.sqrt(k @ k)) for k in keys]
    np.testing.assert_allclose(numbers(chart(scores, "cosines")[0]["x"]), expected, atol=1e-5)


def test_the_softmax_grows_to_its_denominator(rome, scores):
    row = rome[f"{OWN}.scores"][HEAD, TOKEN].astype(float)
    bars, line = chart(scores, "softmax")
    powers = [np.exp(s - max(row)) for s in row]
    np.testing.assert_allclose(numbers(bars["x"]), powers, rtol=1e-5)
    np.testing.assert_allclose(np.array(bars["base"]) + numbers(bars["x"]), numbers(line["x"]), rtol=1e-5)
    assert numbers(line["x"])[-1] == pytest.approx(sum(powers), rel=1e-5)
    share = numbers(bars["x"])[KEY] / numbers(line["x"])[-1]
    assert share == pytest.approx(rome[f"{OWN}.probs"][HEAD, TOKEN, KEY], rel=1e-4)


def test_padding_is_hidden_before_the_softmax():
    at = opened("attention", pad="16")
    assert html(at).count(">masked out<") == 2 * 4  # four padded keys, in two columns
    powers = numbers(chart(at, "softmax")[0]["x"])
    assert (powers[12:] == 0).all() and (powers[:12] > 0).all()


def test_every_tokens_share_of_the_values_and_their_sum(rome, output):
    *rows, total = numbers(chart(output, "brought")[0]["z"])
    for row, share, value in zip(rows, rome[f"{OWN}.probs"][HEAD, TOKEN], rome[f"{OWN}.value"][HEAD], strict=True):
        np.testing.assert_allclose(row, share * value, atol=1e-6)
    np.testing.assert_allclose(total, rome[f"{OWN}.context"][TOKEN, HEAD * WIDTH : (HEAD + 1) * WIDTH], atol=1e-5)


def test_what_is_not_drawn_of_a_long_text_is_added_up():
    at = opened("attention_output", text="a " * 509 + "[MASK]", token="300")
    trace = at.session_state["view"].trace
    *rows, rest, total = numbers(chart(at, "brought")[0]["z"])
    assert len(rows) == 17  # the 16 that bring most, and the token itself
    np.testing.assert_allclose(np.sum(rows, axis=0) + rest, total, atol=1e-4)
    np.testing.assert_allclose(total, trace[f"{OWN}.context"][300, HEAD * WIDTH : (HEAD + 1) * WIDTH], atol=1e-4)


def test_heads_end_to_end_are_the_context(rome, output):
    long, rows = (numbers(part["z"]) for part in chart(output, "merged"))
    np.testing.assert_array_equal(long[0], rome[f"{OWN}.context"][TOKEN])
    np.testing.assert_allclose(rows[HEAD], rome[f"{OWN}.probs"][HEAD, TOKEN] @ rome[f"{OWN}.value"][HEAD], atol=1e-6)


def test_heads_and_bias_add_up_to_the_output(rome, output):
    *parts, total = numbers(chart(output, "head-parts")[0]["z"])
    along = np.array([part @ total for part in parts[:-1]])
    assert (np.diff(along) <= 1e-4).all()  # the largest part of the sum first
    own = slice(HEAD * WIDTH, (HEAD + 1) * WIDTH)
    expected = rome[f"{OWN}.context"][TOKEN, own] @ rome[f"{OUTPUT}.weight"][own]
    assert min(np.abs(part - expected).max() for part in parts) < 1e-5
    np.testing.assert_array_equal(parts[-1], rome[f"{OUTPUT}.bias"])
    np.testing.assert_allclose(np.sum(parts, axis=0), total, atol=1e-5)
    np.testing.assert_array_equal(total, rome[OUTPUT][TOKEN])


def test_the_headline_says_that_looking_is_not_taking(rome):
    at = opened("attention_output", layer="2", head="0", token="8")
    own = "encoder.layer.2.attention.self"
    weights, lengths = rome[f"{own}.probs"][:, 8], np.linalg.norm(rome[f"{own}.value"], axis=-1)
    taken = weights * lengths
    most, missed = taken[0].argmax(), np.unravel_index((weights * (1 - lengths / lengths.max())).argmax(), taken.shape)
    said = at.title[0].value.replace("\\", "")
    assert f"**{taken[0].max():.2f}** from **“{rome.tokens[most]}”** in head 0" in said
    assert f"only **{taken[missed]:.2f}** from “{rome.tokens[missed[1]]}”" in said
    assert f"**{100 * weights[missed]:.0f}\N{NO-BREAK SPACE}%** of head {missed[0]}" in said
