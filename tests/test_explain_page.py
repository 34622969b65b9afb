"""A number of every address explained on a page, opened by a link: what stands there is what the trace holds."""

import random
import re
from html import escape, unescape

import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.analysis import openings
from bertviz_core.analysis.parts import take_apart
from bertviz_core.formula.numbers import format_number, format_short
from bertviz_core.ui.frame import overflow, shell
from bertviz_core.ui.frame.site import PAGES
from bertviz_core.ui.frame.walked import write_walk
from bertviz_core.ui.walk import drawer
from tests.test_explain import random_cell, scale
from tests.test_pages import APP

LAYER = "encoder.layer.2"
_POWERS = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"
NUMBER = rf"−?[\d.,]+(?:·10[{_POWERS}]+)?"
ADDRESS = re.compile(r'class="bv-address">(?P<address>[^<]+)<')
VALUE = re.compile(rf'class="bv-value"[^>]*><b>(?P<value>{NUMBER})<')
EXACT = re.compile(
    rf"Recorded: (?P<recorded>{NUMBER})\. Recomputed in double precision from (?P<count>[\d,]+) (?P<noun>operands?): "
    rf"(?P<recomputed>{NUMBER})\. Difference: (?P<difference>{NUMBER})\."
)


@pytest.fixture(scope="module")
def page():
    return AppTest.from_file(APP, default_timeout=60)


def opened(page, address, name=""):
    """All HTML of a page after a link that explains this cell; on the first page unless told."""
    if name:
        page.switch_page(f"pages/{name}.py")
    page.query_params["walk"] = address
    page._finished_page_script_hash = ""  # otherwise the page alone is run, without the app around it
    page.run()
    assert not page.exception
    return "\n".join(element.proto.body for element in page.get("html"))


def test_a_link_may_walk_over_what_is_no_address(page, rome):
    """Such a step stands as it was written, and the rest of the walk is worked out."""
    cell = f"{LAYER}.output.residual[token=3,hidden=7]"
    walk = ["<b>nonsense", "embeddings.sum[token=99,hidden=0]", f"{LAYER}.output.LayerNorm[token=3,hidden=7]", cell]
    text = opened(page, "~".join(walk))
    assert ADDRESS.search(text)["address"] == cell
    crumbs = re.findall(r'<button data-keep="(\d)">(.*?)</button>', text)
    assert [(i, re.sub("<[^>]*>", "", crumb)) for i, crumb in crumbs] == [
        ("1", "&lt;b&gt;nonsense"),
        ("3", f"LayerNorm {format_short(rome[walk[2]].item())}"),
    ]


def test_at_the_end_of_a_walk_each_step_of_the_way_leads_back_to_itself(page):
    walk = [f"embeddings.{part}[token=8,hidden=267]" for part in ("LayerNorm", "sum", "word_embeddings")]
    text = opened(page, "~".join([*walk, "input_ids[token=8]"]))
    way = re.findall(r'<tr data-keep="(\d)"><td><button data-keep="(\d)">(.*?)</button>', text)
    names = ["LayerNorm output, component 267", "Embedding sum, component 267", "Word embedding, component 267"]
    assert way == [(str(i), str(i), name) for i, name in enumerate(names, 1)]


@pytest.mark.parametrize("steps", [79, 80, 81, 3000])
def test_a_walk_has_a_longest_way_and_a_link_that_holds_more_is_told(page, steps):
    text = opened(page, "~".join(["x"] * (steps - 1) + ["input_ids[token=2]"]))
    cut = [one.value for one in page.caption if "left out" in one.value]
    told = "This link holds more than the 80 numbers that a walk may have. The rest was left out."
    assert cut == ([] if steps <= 80 else [told])
    assert (text.count('data-keep="79"') == 2) == (steps >= 80)  # one step back, and the last crumb
    assert (ADDRESS.search(text) is not None) == (steps <= 80)


def test_who_walks_on_for_long_goes_on_and_the_first_steps_are_forgotten():
    way = [f"input_ids[token={i}]" for i in range(100)]
    assert write_walk(way) == "~".join(way[20:]) and write_walk(way[:80]) == "~".join(way[:80])


def number(text):
    digits, _, power = text.replace("−", "-").replace(",", "").partition("·10")
    return float(digits) * 10.0 ** int(power.translate(str.maketrans(_POWERS, "-0123456789")) or 0)


@pytest.mark.rare
def test_a_number_of_every_address_stands_on_the_page_as_in_the_trace(page, rome):
    chance = random.Random(20170612)
    for path in rome.addresses:
        address = random_cell(rome, path, chance)
        text = opened(page, address)
        why, exact = rome.explain(address), EXACT.search(text)
        assert ADDRESS.search(text)["address"] == address
        assert VALUE.search(text)["value"] == exact["recorded"] == format_number(rome[address].item())
        assert exact["recomputed"] == format_number(why.recomputed) and number(exact["count"]) == len(why.operands)
        assert exact["noun"] == ("operand" if len(why.operands) == 1 else "operands")
        assert number(exact["difference"]) <= 1e-5 * scale(rome, why), address


def test_the_parts_that_count_most_are_listed_with_steps(page, rome):
    address = f"{LAYER}.attention.self.products[head=1,query=8,key=3]"
    text = opened(page, address)
    found = take_apart(rome, rome.explain(address))
    firsts = [str(found[i].operands[0]) for i in found.strongest(5)]
    assert re.findall(r'<tr class="[^"]*" data-step="([^"]+)"', text)[:5] == firsts


def test_a_page_explains_its_own_number_until_another_one_is_clicked(rome):
    text = opened(AppTest.from_file(APP, default_timeout=60), "", "attention")
    assert "This page’s number" in text and 'data-close="yes"' not in text
    found = openings.open_head(rome, 8)
    cell = f"encoder.layer.{found.layer}.attention.self.probs[head={found.head},query=8,key={found.key}]"
    assert f">{cell}<" in text


# Of a sentence that was not filled in, of Markdown that was not read, of a number or an object that was not written.
UNWRITTEN = re.compile(r"\{\w*\}|\*\*|\bnan\b|\binf\b|object at 0x")
HEAD = f"{LAYER}.attention.self.probs[head=0]"
STATES = {
    "as it is": {},
    "changed": {"changes": f"{HEAD}:0"},
    "a padded pair": {"text": "It rains.", "pair": "We stay here.", "pad": "16", "changes": f"{HEAD}:uniform"},
    "hardly known": {
        "text": "๛ ๛ [MASK] ๛",
        "changes": f"{LAYER}.output.LayerNorm:skip~{LAYER}.intermediate.activation:0",
    },
}
IN_STATES = pytest.mark.parametrize(
    "state", ["as it is", "changed", *(pytest.param(each, marks=pytest.mark.slow) for each in [*STATES][2:])]
)
ON_PAGES = pytest.mark.parametrize("name", [info.name for info in PAGES])


def open_app(state):
    at = AppTest.from_file(APP, default_timeout=60)
    for key, value in STATES[state].items():
        at.query_params[key] = value
    return at


def list_texts(at):
    """What is read on a page: HTML and Markdown without tags, formulas and marks of bold."""
    tags = re.compile(r"<style>.*?</style>|<(math|svg)\b.*?</\1>|<[^>]*>", re.S)
    written = [element.value for kind in (at.caption, at.markdown, at.info, at.error) for element in kind]
    plain = [re.sub(r"\*\*(.+?)\*\*", r"\1", re.sub(r"\$.*?\$", "", each, flags=re.S)) for each in written]
    return [tags.sub(" ", each) for each in (*(element.proto.body for element in at.get("html")), *plain)]


@IN_STATES
@ON_PAGES
def test_no_page_shows_words_of_a_template(name, state):
    at = open_app(state)
    assert "bv-" in opened(at, "", "" if name == PAGES[0].name else name)
    assert [each for each in list_texts(at) if UNWRITTEN.search(each)] == []


@pytest.mark.slow
@IN_STATES
@ON_PAGES
def test_a_number_of_every_kind_on_a_page_opens_in_words(name, state):
    here = "" if name == PAGES[0].name else name
    cells = map(unescape, re.findall(r'data-cell="([^"]+)"', opened(open_app(state), "", here)))
    kinds = {re.sub(r"\d+", "0", cell): cell for cell in cells if "{" not in cell}
    for cell in kinds.values():
        at = open_app(state)
        assert f">{escape(cell)}<" in opened(at, cell, here), cell
        assert [each for each in list_texts(at) if UNWRITTEN.search(each)] == [], cell


def test_a_number_that_was_clicked_is_not_the_pages_own(page):
    text = opened(page, f"{LAYER}.attention.self.probs[head=0,query=8,key=6]")
    assert "This page’s number" not in text and 'data-close="yes"' in text


@pytest.mark.parametrize("before", [
    "embeddings.sum", "embeddings.sum[token=1]", "nonsense.path[x=1]", "embeddings.sum[token=99,hidden=0]",
    "grad:embeddings.word_embeddings.weight[vocab=19,hidden=2]", "J", "embeddings.word_embeddings.weight",
])  # fmt: skip
@pytest.mark.parametrize("last", ["input_ids[token=0]", "embeddings.LayerNorm[token=0,hidden=0]"])
def test_a_step_that_is_no_number_of_this_pass_stands_as_it_was_written(page, before, last):
    """Such as a tensor, or a number of a longer sentence than the one that is read now."""
    text = opened(page, f"{before}~{last}")
    assert f'<button data-keep="1">{before}</button>' in text
    assert ADDRESS.search(text)["address"] == last


@pytest.mark.parametrize("changes", ["embeddings.sum:1e18", "embeddings.sum[token=1]:1e17", "embeddings.sum:-3e37"])
def test_a_vector_of_one_huge_number_is_explained(changes):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params["changes"] = changes
    for cell in ("embeddings.LayerNorm.mean[token=1]", "embeddings.LayerNorm[token=1,hidden=0]"):
        assert ADDRESS.search(opened(at, cell))["address"] == cell


def test_what_is_not_finite_keeps_the_drawer_from_drawing_and_no_more(monkeypatch):
    """Also where only the drawer runs: a sentence, and no traceback."""

    def fail(*_):
        raise ValueError("cannot convert float NaN to integer")

    monkeypatch.setattr(drawer, "explain_number", fail)
    monkeypatch.setattr(overflow, "find_overflow", lambda _: "somewhere")
    monkeypatch.setattr(shell, "tell_overflow", lambda _: ())
    at = AppTest.from_file(APP, default_timeout=60)
    opened(at, "embeddings.LayerNorm.mean[token=1]")
    assert any("cannot be drawn from numbers that are not finite" in error.value for error in at.error)


def test_signs_that_turn_or_split_text_are_spelled(page):
    text = opened(page, "\u202eabc\n\n**x**~embeddings.sum[token=1,hidden=1]")
    crumbs = text[text.index("bv-crumbs") :]
    assert "\u202e" not in crumbs and "⟨U+202E⟩abc" in crumbs and "\n\n" not in crumbs[: crumbs.index("</nav>")]


def test_of_a_vector_without_a_direction_that_is_said_and_nothing_else_is_meant():
    page, inner = AppTest.from_file(APP, default_timeout=60), "encoder.layer.1.attention.self"
    page.query_params["changes"] = f"{inner}.query[head=1]:0"
    opened(page, f"{inner}.products.angle[head=1,query=2,key=1]")
    (said,) = (message.value.replace("\\", "") for message in page.info)
    assert said == "A vector of length 0 has no direction, so there is no cosine with it."


@pytest.mark.parametrize(("token", "why"), [(3, "masked out"), (8, "[MASK]")])
def test_why_a_token_cannot_be_hidden(token, why):
    page = AppTest.from_file(APP, default_timeout=60)
    page.query_params["changes"] = "attention_mask[token=3]:0"
    opened(page, f"cls.predictions.decoder.fall[token=8,vocab=2111,source={token}]")
    (said,) = (message.value.replace("\\", "") for message in page.info)
    assert said.endswith(f"cannot be hidden: it is {why} already.")


def test_where_no_number_is_one_spelled_like_it_is_a_button_and_so_is_the_way_back():
    for label, walk in (("Show embeddings.sum", "embeddings.sum[token=3,hidden=5]"), ("Back to", "")):
        page = AppTest.from_file(APP, default_timeout=60)
        opened(page, "embeddings[token=3,hidden=5]")
        said = [message.value.replace("\\", "") for message in page.info]
        assert said == ["There is no number at this address, but at one spelled like it."]
        next(each for each in page.button if each.label.replace("\\", "").startswith(label)).click().run()
        assert not page.exception and page.session_state["walk"] == walk
