"""The first page: its question and answer, its place in the URL; and the page of all formulas."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.analysis.openings import open_head
from bertviz_core.documents.glossary import GLOSSARY
from bertviz_core.formula.numbers import format_number, format_short
from bertviz_core.ui.frame import choices, state
from bertviz_core.ui.frame.keys import HEAD, LAYER, TOKEN, WINDOW
from bertviz_core.ui.frame.level import LEVEL, PLAY
from bertviz_core.ui.views import formulas, overview
from bertviz_core.ui.views.overview_canvas import _CANVAS, use_example
from tests.canvas import look
from tests.derived.truth import softmax
from tests.factory import random_checkpoint

APP = str(Path(__file__).parent.parent / "app.py")
HEADLINES = [
    ("When in Rome, do as the [MASK] do.", None, 8,
     r"How does BERT fill the blank? “When in Rome\, do as the ▒▒▒ do\.” → **people "),
    ("When in Rome, do as the [MASK] do.", None, 3, r"What does BERT expect at “rome”? “When in Rome\, do as the \["),
    ("When in Rome, do as the [MASK] do.", None, 0, r"What does BERT expect at “\[CLS\]”? → **"),
    ("He sat by the bank of the river.", "The bank lent him the [MASK].", 16,
     r"How does BERT fill the blank? “He sat by the bank of the river\. \/ The bank lent him the ▒▒▒\.” → **"),
    ("A *star* and the [MASK].", None, 7, r"“A \*star\* and the ▒▒▒\.” → **"),
]  # fmt: skip


def test_a_token_that_nobody_typed_is_explained_where_it_is_chosen(bundled):
    trace = bv.run(bundled, "When in Rome.")
    first, *typed, last = (overview.tell_more(look(trace, token=i)) for i in range(len(trace.tokens)))
    assert first.endswith(f". [CLS]: {GLOSSARY['[CLS]']}") and last.endswith(f". [SEP]: {GLOSSARY['[SEP]']}")
    assert set(typed) == {"Choose a predicted word, and the way to it is shown."}


def test_without_predictions_no_click_on_a_word_is_spoken_of(tmp_path):
    classifier = bv.load_model(str(random_checkpoint(tmp_path, kind="sequence-classification")))
    assert overview.tell_more(look(bv.run(classifier, "When in Rome."), token=1)) == ""


def headline(model, text, pair, token):
    trace = bv.run(model, text, pair)
    return overview.write_headline(replace(look(trace, token=token), text=text, pair=pair)).text, trace


@pytest.mark.parametrize(("text", "pair", "token", "begins"), HEADLINES)
def test_the_question_is_put_in_its_sentence_and_answered(bundled, text, pair, token, begins):
    said, trace = headline(bundled, text, pair, token)
    said = said.replace("\N{NO-BREAK SPACE}", " ")
    assert begins in said
    shares = softmax(trace["cls.predictions.decoder"][token])
    assert f"{trace.model.tokenizer.token(int(shares.argmax()))} " in said.rpartition("**")[0].rpartition("**")[2]
    share = 100 * shares.max()
    assert said.endswith((f" {share:.0f} %**", f" {share:.1f} %**", "> 99.9 %**"))


def test_of_a_long_text_whole_words_around_the_token_are_quoted(bundled):
    said, _ = headline(bundled, f"{'the river rose ' * 20}and [MASK] {'over the town ' * 20}", None, 62)
    quoted = said.partition("“")[2].partition("”")[0]
    assert quoted.startswith("… ") and quoted.endswith(" …") and "rose and ▒▒▒ over the" in quoted
    assert len(quoted) < 140 and set(quoted.split()) == {*["…", "the", "river", "rose", "and", "▒▒▒", "over", "town"]}


def test_without_an_lm_head_the_first_page_asks_how_a_token_is_read(tmp_path):
    model = bv.load_model(random_checkpoint(tmp_path, kind="base"))
    assert headline(model, "the cat", None, 2)[0].startswith("How does BERT read “cat”? As **24 numbers**")


def test_a_token_that_a_change_put_there_is_the_one_that_is_quoted(rome):
    id_of = rome.model.tokenizer.id
    swapped = rome.with_changes({"input_ids[token=3]": id_of("paris")})
    view = replace(look(rome, swapped, token=3), text="When in Rome, do as the [MASK] do.")
    assert "expect at “paris”? “When in paris" in overview.write_headline(view).text
    hidden = rome.with_changes({"input_ids[token=3]": rome.model.tokenizer.mask_id})
    view = replace(look(rome, hidden, token=3), text="When in Rome, do as the [MASK] do.")
    assert "fill the blank? “When in ▒▒▒" in overview.write_headline(view).text


SWAPPED = [
    ("O Romeo, Juliet, Tybalt-Mercutio; well-known!", None),
    ("I do, you don't", "unbelievably, he did(as told)"),
    ("\u6211\u7231\u5317\u4eac", "the [MASK], [MASK]."),
]


@pytest.mark.parametrize(("text", "pair"), SWAPPED)
@pytest.mark.parametrize("word", ["and", "[MASK]"])
def test_no_word_that_a_change_puts_there_is_glued_to_its_neighbours(bundled, text, pair, word):
    before = bv.run(bundled, text, pair)
    typed = [i for i, place in enumerate(bundled.tokenizer.locate(text, pair)) if place]
    for i in typed:
        after = before.with_changes({f"input_ids[token={i}]": bundled.tokenizer.id(word)})
        end = next(j for j in range(i + 1, len(before.tokens)) if not before.tokens[j].startswith("##"))
        whole = word + "".join(token.removeprefix("##") for token in before.tokens[i + 1 : end])
        for chosen in {typed[0], i - 1, i + 1} & set(typed) - {i}:
            quoted = overview.quote_around(replace(look(before, after, token=chosen), text=text, pair=pair))
            said = quoted.replace(overview.BLANK, "[MASK]")
            assert re.search(rf"(?<!\w|\]){re.escape(whole)}(?![\w[])", said), said


def test_what_is_typed_without_a_blank_is_quoted_as_it_is_typed(bundled):
    for i, (text, pair) in enumerate(SWAPPED):
        view = replace(look(bv.run(bundled, text, pair), token=1), text=text, pair=pair)
        quoted = overview.quote_around(view)
        assert quoted == f"{text} / {pair}" if pair else quoted == text, i


def test_formulas_and_numbers_are_counted(rome):
    view = look(rome)
    inside = [address for address in rome.addresses if ".layer." not in address or ".layer.0." in address]
    numbers = sum(math.prod(rome.shape(address)) for address in rome.addresses)
    assert np.sum([rome[address].size for address in rome.addresses]) == numbers
    said = formulas.write_headline(view).text
    assert said == (
        f"What is a pass made of? **{len(inside)} formulas**, those of a layer used 6 times, give {numbers:,} numbers"
    )


def test_every_formula_stands_with_a_number_of_its_own(rome):
    at = AppTest.from_file(APP, default_timeout=60)
    at.switch_page("pages/formulas.py").run()
    assert not at.exception
    html = "".join(element.proto.body for element in at.get("html"))
    shown = dict(re.findall(r'class="bv-row" data-cell="([^"]+)".*?<b[^>]*>(.+?)</b>', html))
    opened = open_head(rome, 8).layer
    steps = [step.address for step in rome.program.steps if step.layer in (None, opened)]
    assert [cell.partition("[")[0] for cell in shown] == steps
    for cell, value in shown.items():
        assert value == format_number(float(rome[cell])), cell


def test_a_strip_whose_row_has_an_outlier_says_that_its_colours_end_before_it(rome):
    view = look(rome)
    told = {step.address: formulas.render_step(view, step) for step in rome.program.steps if step.layer is None}
    ends = {address: re.search(r"drawn: [^\"]*, ([^,\"]*)\"", row)[1] for address, row in told.items()}
    row = np.abs(rome["embeddings.LayerNorm.normalized[token=8]"])
    end = format_short(np.quantile(row, 0.99))
    assert row.max() > 16 and ends["embeddings.LayerNorm.normalized"] == f"±{end} and more"
    plain = np.abs(rome["cls.predictions.transform.activation[token=8]"])
    assert np.quantile(plain, 0.99) > plain.max() / 2
    assert ends["cls.predictions.transform.activation"] == f"±{format_short(plain.max())}"
    row = rome["embeddings.LayerNorm.variance"]
    assert (row > 0).all() and ends["embeddings.LayerNorm.variance"].startswith("0 … ")


def open_app(**query):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update(query)
    at.run()
    assert not at.exception
    return at


def read_canvas(at):
    (canvas,) = (one for one in at.get("bidi_component") if one.proto.component_name == "bertviz.canvas")
    return json.loads(canvas.proto.json)


PLACE = {"level": "head", "layer": "3", "head": "5", "token": "2", "component": "200", "play": "4"}
ELSEWHERE = {"level": "cell", "strip": "query", "component": "9999", "play": "11", "window": "512"}


def test_the_url_says_the_place_of_the_canvas():
    at = open_app(**PLACE)
    place = read_canvas(at)["place"]
    assert place == {
        "level": "head",
        "layer": 3,
        "head": 5,
        "token": 2,
        "component": 200,
        "stop": 4,
        "window": 0,
        "strip": None,
    }
    assert read_canvas(at)["why"] == ""


def test_a_strip_is_seen_whole_in_a_layer_alone():
    assert read_canvas(open_app(level="layer", strip="sum2"))["place"]["strip"] == "sum2"
    assert read_canvas(open_app(level="head", strip="sum2"))["place"]["strip"] is None
    assert read_canvas(open_app(level="layer", strip="sum2", play="7"))["place"]["strip"] is None


def test_what_the_url_says_wrongly_has_its_usual_value(rome):
    data, usual = read_canvas(open_app(**ELSEWHERE)), open_head(rome, 8)
    nothing = dict.fromkeys(("component", "strip")) | dict.fromkeys(("stop", "window"), 0)
    assert data["place"] == {"level": "pass", "layer": usual.layer, "head": usual.head, "token": 8, **nothing}
    assert data["why"] == usual.reason


def test_the_explained_cell_and_its_operands_are_marked():
    cell = "encoder.layer.3.attention.self.context[token=2,concat=161]"
    data = read_canvas(open_app(walk=cell, layer="3", head="5"))
    assert data["cell"] == cell and len(data["operands"]) == 24
    assert set(data["operands"]) > {"encoder.layer.3.attention.self.value[head=5,key=2,head_dim=1]"}
    assert read_canvas(open_app(walk="nothing[at=all]"))["operands"] == []


@pytest.fixture
def session(monkeypatch):
    """What a session remembers, without one."""
    monkeypatch.setattr(state.st, "session_state", {})
    return state.st.session_state


def test_going_elsewhere_is_one_choice_and_the_explained_cell_goes_along(session):
    session["walk"] = "embeddings.sum[token=1,hidden=2]~encoder.layer.2.attention.self.probs[head=0,query=1,key=2]"
    choices.go({LEVEL: "head", LAYER: "3", HEAD: "5", PLAY: 4})
    assert session == {
        "level": "head",
        "layer": "3",
        "head": "5",
        "play": 4,
        "url-chose": True,
        "walk": "encoder.layer.3.attention.self.probs[head=5,query=1,key=2]",
        "walk-moved": "encoder.layer.3.attention.self.probs[head=5,query=1,key=2]",
    }


def test_another_token_or_sentence_has_its_own_window(session):
    session.update(window="40", play=3, key_token="6")
    choices.choose_token(90)
    assert (session["token"], session["window"], session["play"]) == ("90", "", 3)
    assert session["key_token"] == ""
    choices.go({TOKEN: "91", WINDOW: "70"})
    choices.use_sentence("the cat sat")
    assert (session["token"], session["window"], session["text"]) == ("", "", "the cat sat")


def test_an_example_of_the_canvas_is_run_as_far_as_the_field_would_take_it(session):
    use_example({"text": "a" * 7000, "pair": None})
    assert (len(session["text"]), session["pair"]) == (6000, "")


def test_a_padding_token_can_be_chosen():
    at = open_app(pad="16", token="13", level="head")
    assert read_canvas(at)["place"]["token"] == 13
    assert r"expect at “\[PAD\]” at position 13?" in at.title[0].value


def test_what_arrives_from_a_component_that_is_gone_is_forgotten(session):
    taken = []
    take = state.on_event(_CANVAS, "go", taken.append, state.is_record)
    take()
    assert taken == []
    session["canvas"] = {"go": {"layer": 3}}
    take()
    assert taken == [{"layer": 3}]
