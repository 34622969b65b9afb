"""A number of every address explained on a page, opened by a link: what stands there is what the trace holds."""

import json
import random
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.analysis.parts import take_apart
from bertviz_core.formula.numbers import format_number, format_percent
from bertviz_core.ui.walk import drawer
from bertviz_core.ui.walk.way import OFFERED
from tests.test_explain import random_cell, scale
from tests.test_pages import APP, decoded

LAYER = "encoder.layer.2"
NUMBER = r"−?[\d.,]+(?:e[+−]\d+)?"
TITLE = re.compile(rf'class="bv-address">(?P<address>[^<]+)<.+class="bv-value"[^>]*>(?P<value>{NUMBER})<', re.DOTALL)
EXACT = re.compile(
    rf"Recorded: (?P<recorded>{NUMBER})\. Recomputed in double precision from (?P<count>[\d,]+) (?P<noun>operands?): "
    rf"(?P<recomputed>{NUMBER})\. Difference: (?P<difference>{NUMBER})\."
)


class Table(HTMLParser):
    """Reads the table of parts: its headings, its rows of (operands, numbers), and what stands in no row.

    rows: the addresses of the operands of each row, and the texts of its cells; beside: addresses below the table.
    """

    def __init__(self, body):
        super().__init__()
        self.titles, self.rows, self.beside, self._tag, self._inside = [], [], [], "", False
        self.feed(body)

    def handle_starttag(self, tag, attributes):
        self._tag = tag
        if tag == "tr":
            self._inside = True
            self.rows.append(([], []))
        elif tag == "td":
            self.rows[-1][1].append("")
        if "data-step" in (found := dict(attributes)):
            (self.rows[-1][0] if self._inside else self.beside).append(found["data-step"])

    def handle_endtag(self, tag):
        self._inside = self._inside and tag != "table"

    def handle_data(self, text):
        if self._inside and self._tag == "th":
            self.titles.append(text)
        elif self._inside and self.rows[-1][1]:
            self.rows[-1][1][-1] += text


@pytest.fixture(scope="module")
def page():
    at = AppTest.from_file(APP, default_timeout=60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawer, "_HEAD_START_S", 0.0)  # nobody waits for a chart here
        yield at


def opened(page, address):
    """The page after a link that explains this cell: its text, its operands, its chart."""
    page.query_params["walk"] = address
    page._finished_page_script_hash = ""  # otherwise the page alone is run, without the app around it
    page.run()
    assert not page.exception
    bodies = [element.proto.body for element in page.get("html")]
    value, here, table = (
        next(body for body in bodies if kind in body) for kind in ("bv-value", "bv-address", "bv-onward")
    )
    exact = next(element.value for element in page.markdown if EXACT.search(element.value))
    charts = [json.loads(chart.proto.spec) for chart in page.get("plotly_chart") if "chart-operands" in chart.proto.id]
    return f"{here}{value}{exact}", Table(table), charts[0]["data"]


def test_a_link_may_walk_over_what_is_no_address(page):
    """Such a step stands as it was written, and the rest of the walk is worked out."""
    cell = f"{LAYER}.output.residual[token=3,hidden=7]"
    walk = ["<b>nonsense", "embeddings.sum[token=99,hidden=0]", f"{LAYER}.output.LayerNorm[token=3,hidden=7]", cell]
    text, _, _ = opened(page, "~".join(walk))
    (crumbs,) = (element.proto.body for element in page.get("html") if 'class="bv-crumbs"' in element.proto.body)
    assert TITLE.search(text)["address"] == cell
    assert re.findall(r'data-keep="[1-9]">([^<]+) ›<', crumbs) == [
        "&lt;b&gt;nonsense", walk[1], "layer 2 · output.LayerNorm · 3 rome · 7"]  # fmt: skip


def number(text):
    return float(text.replace("−", "-").replace(",", ""))


@pytest.mark.slow
def test_a_number_of_every_address_stands_on_the_page_as_in_the_trace(page, rome):
    chance = random.Random(20170612)
    for path in rome.addresses:
        address = random_cell(rome, path, chance)
        text, table, chart = opened(page, address)
        why, title, exact = rome.explain(address), TITLE.search(text), EXACT.search(text)
        assert title["address"] == address
        assert title["value"] == exact["recorded"] == format_number(rome[address].item())
        assert exact["recomputed"] == format_number(why.recomputed) and number(exact["count"]) == len(why.operands)
        assert exact["noun"] == ("operand" if len(why.operands) == 1 else "operands")
        assert number(exact["difference"]) <= 1e-5 * scale(rome, why), address
        assert_parts(rome, why, table)
        assert chart


def assert_parts(trace, why, table):
    """The parts on the page are those that count most, with recorded values and the amounts that the heading names."""
    found = take_apart(trace, why)
    expected = [found[i] for i in found.strongest(OFFERED)]
    rows = [row for row in table.rows if row[0]]
    measure = found.measure
    assert table.titles == ["operand", measure.operand, *measure.columns, *filter(None, [measure.heading])], why.address
    assert [operands for operands, _ in rows] == [[str(o) for o in part.operands] for part in expected], why.address
    assert table.beside == [str(operand) for operand in found.shared]
    for (operands, (_, value, *numbers)), part in zip(rows, expected, strict=True):
        assert value == " × ".join(format_number(trace[operand].item()) for operand in operands)
        amounts = [] if part.amount is None else [part.amount]
        assert numbers == [format_number(number) for number in (*part.columns, *amounts)], why.address


def test_a_weights_table_says_what_it_would_be_without_each_key(page, rome):
    """No huge number, no amount that is none: the score, its power, its share, and the weight without it."""
    cell = f"{LAYER}.attention.self.probs[head=1,query=8,key=3]"
    _, table, _ = opened(page, cell)
    assert table.titles == ["operand", "score", "e^(score − max)", "share", "the result without it"]
    own = next(cells for operands, cells in table.rows if operands and operands[0].endswith("key=3]"))
    assert own[-2:] == [format_number(rome[cell].item()), "0.0000"]
    _, table, _ = opened(page, cell.replace("probs", "scores"))
    assert table.titles[-1] == "summand"
    assert table.rows[-1] == (["attention_mask[token=3]"], ["attention_mask · 3 rome", "1.0000", "0.0000"])


@pytest.mark.parametrize(
    ("cell", "drawn"),
    [
        (f"{LAYER}.attention.self.probs[head=1,query=8,key=3]", {
            (0, "x"): f"{LAYER}.attention.self.scores[head=1,query=8]",
            (1, "x"): f"{LAYER}.attention.self.probs[head=1,query=8]"}),
        (f"{LAYER}.output.LayerNorm.mean[token=3]", {(0, "y"): f"{LAYER}.output.residual[token=3]"}),
        (f"{LAYER}.output.LayerNorm.variance[token=3]", {(0, "y"): f"{LAYER}.output.residual[token=3]"}),
        (f"{LAYER}.output.LayerNorm.normalized[token=3,hidden=7]", {
            (0, "y"): f"{LAYER}.output.residual[token=3]", (1, "y"): f"{LAYER}.output.residual[token=3,hidden=7]"}),
        (f"{LAYER}.intermediate.activation[token=3,intermediate=7]", {
            (2, "x"): f"{LAYER}.intermediate.dense[token=3,intermediate=7]",
            (2, "y"): f"{LAYER}.intermediate.activation[token=3,intermediate=7]"}),
        ("embeddings.position_embeddings[token=3,hidden=7]", {
            (0, "y"): "embeddings.position_embeddings.weight[position=3]",
            (1, "y"): "embeddings.position_embeddings[token=3,hidden=7]"}),
    ],
)  # fmt: skip
def test_the_chart_shows_what_the_formula_reads(page, rome, cell, drawn):
    _, _, traces = opened(page, cell)
    for (place, side), address in drawn.items():
        np.testing.assert_allclose(decoded(traces[place][side]), np.atleast_1d(rome[address]), rtol=1e-6)


def test_the_parts_of_a_sum_are_laid_end_to_end(page, rome):
    address = f"{LAYER}.output.residual[token=3,hidden=7]"
    _, _, (bars, *_) = opened(page, address)
    parts = [
        rome[f"{LAYER}.{leaf}[token=3,hidden=7]"].item() for leaf in ("attention.output.LayerNorm", "output.dense")
    ]
    np.testing.assert_allclose(decoded(bars["x"]), [*parts, sum(parts)], rtol=1e-6)
    np.testing.assert_allclose(decoded(bars["base"]), [0, parts[0], 0], rtol=1e-6)


def test_the_terms_of_a_product_are_sorted_and_summed(page, rome):
    address = f"{LAYER}.attention.self.products[head=1,query=8,key=3]"
    _, _, (bars, line) = opened(page, address)
    query, key = (
        rome[f"{LAYER}.attention.self.query[head=1,query=8]"],
        rome[f"{LAYER}.attention.self.key[head=1,key=3]"],
    )
    terms = sorted(query * key, key=abs, reverse=True)
    np.testing.assert_allclose(decoded(bars["y"]), terms, rtol=1e-5)
    np.testing.assert_allclose(decoded(line["y"]), np.cumsum(terms), rtol=1e-4, atol=1e-5)


def test_a_weight_is_told_with_its_score_and_how_far_that_is_from_the_next_or_the_largest(page, rome):
    scores, tokens = rome[f"{LAYER}.attention.self.scores[head=1,query=8]"].astype(float), rome.tokens
    best, second = (int(key) for key in np.argsort(-scores)[:2])
    for key, other, where in ((best, second, "above the next"), (second, best, "below the largest")):
        cell = f"{LAYER}.attention.self.probs[head=1,query=8,key={key}]"
        opened(page, cell)
        told = next(each.value for each in page.markdown if " attends to " in each.value).replace("\\", "")
        gap = format_number(abs(scores[key] - scores[other]))
        assert tokens[key] == tokens[other] == "do"
        assert told == (
            f"In head 1, “{tokens[8]}” attends to “do” at position {key} with weight "
            f"{format_percent(rome[cell].item())}: the score is {format_number(scores[key])}, "
            f"{gap} {where}, “do” at position {other}."
        )
