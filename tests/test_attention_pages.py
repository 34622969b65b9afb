"""The three attention pages: what they work out for one token, against plain NumPy on the recorded tensors."""

import base64
import itertools
import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import ImageColor
from streamlit.testing.v1 import AppTest

from bertviz_core.figures.palette import PALETTES
from bertviz_core.formula.texts import name_token
from bertviz_core.ui.frame.view import Selection
from bertviz_core.ui.views.attention_output_taken import write_headline
from tests.derived.reading import open_pages
from tests.menus import code_open  # noqa: F401 - of the whole module
from tests.test_thumbnails import pixels

APP = str(Path(__file__).parent.parent / "app.py")
LAYER, HEAD, TOKEN, KEY, WIDTH = 3, 5, 7, 4, 32
LIGHT = PALETTES["light"]
OWN = f"encoder.layer.{LAYER}.attention.self"
OUTPUT = f"encoder.layer.{LAYER}.attention.output.dense"


def opened(page, **query):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update({"layer": str(LAYER), "head": str(HEAD), "token": str(TOKEN), "open": "all", **query})
    at.run()
    at.switch_page(f"pages/{page}.py").run()
    at.session_state["open"] = "all"  # every fold
    at.run()
    assert not at.exception
    return at


def draw(at, name):
    """One derived chart: its traces as `data`, and its `layout`."""
    return next(
        json.loads(element.proto.spec)
        for element in at.get("plotly_chart")
        if element.proto.id.endswith(f"-chart-{name}")
    )


def chart(at, name):
    """The data of one derived chart, trace by trace."""
    return draw(at, name)["data"]


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
    order = [int(component) for component in bars["customdata"]]
    assert bars["x"] == line["x"] == list(range(len(order)))
    np.testing.assert_allclose(numbers(bars["y"]), terms[order], atol=1e-6)
    assert (np.diff(np.abs(numbers(bars["y"]))) <= 0).all()
    assert numbers(line["y"])[-1] == pytest.approx(rome[f"{OWN}.products"][HEAD, TOKEN, KEY], abs=1e-5)


REASON = r'bv-says"><span class="bv-term"[^>]*>Key.*?“([^”]*)” at position \d+ is shown'


def picked(at):
    """The keys whose rows are marked in the tables of rows."""
    return [int(key) for key in re.findall(r'data-choose="key_token=(\d+)" aria-pressed="true"', html(at))]


@pytest.mark.parametrize(("layer", "head", "token", "word"), [(2, 0, 8, True), (LAYER, HEAD, TOKEN, False)])
def test_without_a_chosen_key_it_is_the_word_most_looked_at_if_that_has_an_even_share(rome, layer, head, token, word):
    row = rome[f"encoder.layer.{layer}.attention.self.probs"][head, token]
    words = [i for i, text in enumerate(rome.tokens) if text not in ("[CLS]", "[SEP]", "[MASK]") and i != token]
    best = max(words, key=lambda i: row[i])
    assert (row[best] >= 1 / len(row)) == word
    at = opened("attention", layer=str(layer), head=str(head), token=str(token))
    assert picked(at) == [best if word else row.argmax()]
    (reason,) = re.findall(REASON, html(at))
    assert reason == rome.tokens[picked(at)[0]]


def test_a_chosen_key_is_the_one_that_is_worked_out(scores):
    assert picked(scores) == [KEY] and not re.search(REASON, html(scores))


def test_the_headline_is_the_row_in_a_sentence(rome):
    row, (title,) = rome[f"{OWN}.probs"][HEAD, TOKEN], opened("attention").title
    most = int(row.argmax())
    said = f"looks hardest at **“{re.escape(rome.tokens[most])}”: {100 * row[most]:.0f}\N{NO-BREAK SPACE}%**"
    assert said in title.value and title.value.startswith(f"*Who looks at whom?* “{rome.tokens[TOKEN]}”")


def test_the_chosen_row_has_its_percents_in_its_cells(rome):
    (element,) = [
        one for one in opened("attention").get("plotly_chart") if one.proto.id.endswith(f"probs[head={HEAD}]")
    ]
    layout, row = json.loads(element.proto.spec)["layout"], rome[f"{OWN}.probs"][HEAD, TOKEN]
    _, *written = layout["annotations"]
    assert {note["x"]: note["text"] for note in written} == {
        i: f"{100 * row[i]:.0f}" for i in range(len(row)) if row[i] >= 0.005
    }
    assert {note["y"] for note in written} == {TOKEN}
    frames = [[shape[side] for side in ("x0", "x1", "y0", "y1")] for shape in layout["shapes"]]
    assert frames == [[-0.5, len(row) - 0.5, TOKEN - 0.5, TOKEN + 0.5]]


def test_of_a_long_text_a_window_is_drawn_and_an_overview_beside_it():
    at = opened("attention", text="a " * 300 + "[MASK]", token="150")
    weights = at.session_state["view"].trace[f"{OWN}.probs"][HEAD]
    (shown,) = chart(at, f"{OWN}.probs[head={HEAD}]")
    assert (shown["x0"], shown["y0"]) == (138, 138) and shown["zmax"] == pytest.approx(weights[138:162, 138:162].max())
    np.testing.assert_array_equal(numbers(shown["z"]), weights[138:162, 138:162])
    (blocks,) = chart(at, "weights-overview")
    expected = [[weights[i : i + 5, j : j + 5].max() for j in range(0, 303, 5)] for i in range(0, 303, 5)]
    np.testing.assert_array_equal(numbers(blocks["z"]), expected)
    said = np.array(blocks["customdata"])
    np.testing.assert_array_equal(weights[said[..., 0], said[..., 1]], expected)
    assert blocks["meta"] == f"{OWN}.probs[head={HEAD},query={{q}},key={{k}}]"
    assert (blocks["x0"], blocks["dx"], blocks["zmax"]) == (2, 5, pytest.approx(weights.max()))


def test_of_more_tokens_than_can_be_named_the_map_is_square_and_the_row_lies_on_the_sentence():
    at = opened("attention", text="the cat sat on the mat and " * 9 + "[MASK]", token="20")
    weights = at.session_state["view"].trace[f"{OWN}.probs"][HEAD]
    assert len(weights) == 66
    drawn = draw(at, f"{OWN}.probs[head={HEAD}]")
    np.testing.assert_array_equal(numbers(drawn["data"][0]["z"]), weights)
    layout = drawn["layout"]
    assert layout["yaxis"]["scaleanchor"] == "x" and layout["xaxis"]["showticklabels"]
    assert 8 < len(layout["xaxis"]["ticktext"]) <= len(layout["yaxis"]["ticktext"]) < 33
    body = next(element.proto.body for element in at.get("html") if "bv-row-tokens" in element.proto.body)
    chips = re.findall(r'data-cell="([^"]+)" title="[^"]+: ([^"]+)" aria-label="[^"]+" style="background:(#\w+);', body)
    assert [cell for cell, _, _ in chips] == [f"{OWN}.probs[head={HEAD},query=20,key={i}]" for i in range(66)]
    ends = [np.array(ImageColor.getrgb(color)) for color in (LIGHT.zero, LIGHT.cells["attention"])]
    for (_, said, back), weight in zip(chips, weights[20].tolist(), strict=True):
        told = 0.0005 if said.startswith("<") else float(said.removesuffix("\N{NO-BREAK SPACE}%")) / 100
        assert told == pytest.approx(weight, abs=0.0051)
        np.testing.assert_allclose(ImageColor.getrgb(back), ends[0] + weight * (ends[1] - ends[0]), atol=0.51)


def test_every_number_of_the_steps_leads_to_its_cell(rome, scores):
    body = next(element.proto.body for element in scores.get("html") if "bv-aligned" in element.proto.body)
    cells = re.findall(r'data-cell="([^"]+)">([^<]+)<', body)
    assert len(cells) == 4 * len(rome.tokens)
    for address, text in cells:
        value = float(rome[address])
        if text.endswith("%"):
            number = text.removesuffix("\N{NO-BREAK SPACE}%")
            assert value < 0.001 if number == "< 0.1" else value == pytest.approx(float(number) / 100, abs=0.0051)
        else:
            assert value == pytest.approx(float(text.replace("−", "-")), abs=0.0051)


def test_a_low_window_has_the_rows_of_the_keys_most_looked_at_and_offers_the_others(rome, scores):
    body = next(element.proto.body for element in scores.get("html") if "bv-aligned" in element.proto.body)
    rows = re.findall(r'<tr(?: class="([^"]*)")?><th scope="row"><button[^>]*key_token=(\d+)"', body)
    best = set(np.argsort(-rome[f"{OWN}.probs"][HEAD, TOKEN], kind="stable")[:6].tolist())
    assert {int(key) for look, key in rows if look != "bv-late"} == best | {KEY}
    assert f">{len(rows) - len(best | {KEY})} more rows</button>" in body


def test_the_steps_can_be_saved(rome):
    shown = open_pages({"layer": str(LAYER), "head": str(HEAD), "token": str(TOKEN)}, ["attention", "query_key_value"])
    row = f"{OWN}.{{}}[head={HEAD},query={TOKEN}]"
    steps = np.stack([rome[row.format(name)] for name in ("products", "scaled", "scores", "probs")], axis=1)
    np.testing.assert_array_equal(shown.held(f"steps-{row.format('probs')}"), steps)
    q, keys = rome[row.format("query")].astype(float), rome[f"{OWN}.key[head={HEAD}]"].astype(float)
    sizes = np.sqrt((keys**2).sum(axis=1))
    fit = np.column_stack([q * keys, keys @ q, keys @ q / sizes / np.sqrt(q @ q), sizes, steps[:, 3]])
    np.testing.assert_allclose(shown.held("fit"), fit, atol=1e-5)


def test_strips_of_products_stand_in_order_of_fit(rome):
    at = opened("query_key_value")
    body = next(element.proto.body for element in at.get("html") if "bv-aligned" in element.proto.body)
    q, keys = rome[f"{OWN}.query"][HEAD, TOKEN], rome[f"{OWN}.key"][HEAD]
    order = sorted(range(len(keys)), key=lambda i: -float(q @ keys[i]))
    assert [int(key) for key in re.findall(r'data-choose="key_token=(\d+)"', body)] == order
    end = max(float(np.abs(q * k).max()) for k in keys)
    strips = [pixels(url) for url in re.findall(r'<img src="([^"]+)"', body)]
    ends = [ImageColor.getrgb(tint) for _, tint in LIGHT.shade("attention")]
    for i, strip in zip(order, strips, strict=True):
        place = np.clip((q * keys[i] / end + 1) / 2, 0, 1)
        expected = [np.interp(place, (0, 0.5, 1), channel) for channel in zip(*ends, strict=True)]
        np.testing.assert_allclose(strip[0].T, expected, atol=1)


def test_any_component_can_be_worked_out(rome):
    at = opened("query_key_value", projection="key")
    (menu,) = (box for box in at.selectbox if box.label == "Component")
    menu.select(9).run()
    assert at.session_state["of_head"] == "9"
    x, weights, bars = chart(at, "one-number")
    column = rome[f"{OWN}.key.weight"][:, HEAD * WIDTH + 9]
    np.testing.assert_array_equal(numbers(weights["z"])[0], column)
    np.testing.assert_allclose(numbers(bars["y"]), numbers(x["z"])[0] * column, atol=1e-6)
    total = numbers(bars["y"]).sum() + rome[f"{OWN}.key.bias"][HEAD * WIDTH + 9]
    assert total == pytest.approx(rome[f"{OWN}.key"][HEAD, TOKEN, 9], abs=1e-4)


def test_blocks_stand_side_by_side_on_one_scale(rome):
    drawn = chart(opened("query_key_value"), "blocks")
    assert [block["name"] for block in drawn] == ["Query", "Key", "Value"]
    for block, name in zip(drawn, ("query", "key", "value"), strict=True):
        np.testing.assert_array_equal(numbers(block["z"]), rome[f"{OWN}.{name}"][HEAD])
        assert block["meta"].startswith(f"{OWN}.{name}[head={HEAD},")
    assert len({(block["zmin"], block["zmax"]) for block in drawn}) == 1


def test_cosines_of_the_chosen_query_with_every_key(rome, scores):
    q, keys = rome[f"{OWN}.query"][HEAD, TOKEN], rome[f"{OWN}.key"][HEAD]
    expected = [float(q @ k / np.sqrt(q @ q) / np.sqrt(k @ k)) for k in keys]
    np.testing.assert_allclose(numbers(chart(scores, "query-key-cosines")[0]["x"]), expected, atol=1e-5)


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
    assert html(at).count(">masked out<") == 3 * 4  # four padded keys, in the steps and in two columns of the softmax
    powers = numbers(chart(at, "softmax")[0]["x"])
    assert (powers[12:] == 0).all() and (powers[:12] > 0).all()


def test_every_tokens_share_of_the_values_and_their_sum(rome, output):
    *rows, total = numbers(chart(output, "brought")[0]["z"])
    for row, share, value in zip(rows, rome[f"{OWN}.probs"][HEAD, TOKEN], rome[f"{OWN}.value"][HEAD], strict=True):
        np.testing.assert_allclose(row, share * value, atol=1e-6)
    np.testing.assert_allclose(total, rome[f"{OWN}.context"][TOKEN, HEAD * WIDTH : (HEAD + 1) * WIDTH], atol=1e-5)


def test_the_formula_of_the_sum_and_what_is_offered_below_it_are_one_number(rome, output):
    total = rome[f"{OWN}.context"][TOKEN, HEAD * WIDTH : (HEAD + 1) * WIDTH]
    column = HEAD * WIDTH + int(np.abs(total).argmax())
    cell = f"{OWN}.context[token={TOKEN},concat={column}]"
    card = html(output).partition("Weighted values of head")[2]
    assert re.search(r'class="bv-worked" data-cell="(.*?)"', card)[1] == cell


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
    *parts, total = numbers(chart(output, "head-parts")[2]["z"])
    own = slice(HEAD * WIDTH, (HEAD + 1) * WIDTH)
    expected = rome[f"{OWN}.context"][TOKEN, own] @ rome[f"{OUTPUT}.weight"][own]
    np.testing.assert_allclose(parts[HEAD], expected, atol=1e-5)
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
    assert f"**{taken[0].max():.2f}** from **{name_token(rome.tokens, int(most))}** in head 0" in said
    share = f"**{100 * weights[missed]:.0f}\N{NO-BREAK SPACE}%** of head {missed[0]}"
    assert f"{name_token(rome.tokens, int(missed[1]))} has {share} and brings **{taken[missed]:.2f}**" in said


def test_less_is_taken_from_what_the_headline_says_brings_only_so_much(rome):
    contrasts = 0
    for layer, head, token in itertools.product(range(6), range(12), range(12)):
        said = write_headline(SimpleNamespace(trace=rome, chosen=Selection(layer, head, token))).text
        first, *second = [float(text) for text in re.findall(r"(\d+\.\d+)\*\*", said)]
        own = f"encoder.layer.{layer}.attention.self"
        lengths = np.linalg.norm(rome[f"{own}.value"][head].astype(np.float64), axis=-1)
        assert first == pytest.approx((rome[f"{own}.probs"][head, token] * lengths).max(), abs=0.0051)
        assert all(brought < first for brought in second), said
        contrasts += len(second)
    assert contrasts > 50


def test_why_scores_are_divided_is_said_where_the_page_begins(scores):
    (intro,) = re.findall(r"<p><strong>Attention\.</strong>.*?</p>", html(scores))
    assert re.search(r'class="bv-term"[^>]*>√d<sub>k</sub><span role="tooltip">[^<]*one key takes all', intro)
    assert "so that large ones do not take all" in intro


def test_entropy_can_be_pointed_at_where_it_is_told(scores):
    explained = re.compile('class="bv-term"[^>]*>Entropy<span role="tooltip">How evenly attention is spread')
    assert explained.search(html(scores))
    assert any(explained.search(each.value) for each in opened("heads").caption)


def test_the_wheel_moves_the_page_over_every_chart():
    at = opened("layers", open="paths")
    configs = [json.loads(chart.proto.config) for chart in at.get("plotly_chart")]
    assert len(configs) > 2 and not any(config["scrollZoom"] for config in configs)
