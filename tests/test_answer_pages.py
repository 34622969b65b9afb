"""The pages of the answers: any word that is typed is looked up, and absent heads are told."""

import re
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.analysis.follows import list_pairs
from bertviz_core.analysis.openings import open_head, open_layer_for_answer
from bertviz_core.formula.address import read_address
from bertviz_core.sharing.findings import Found
from bertviz_core.ui.frame import place
from bertviz_core.ui.frame.controls import PAIR
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import Selection
from bertviz_core.ui.views import sentence_verdict
from tests.factory import random_checkpoint
from tests.settling import settle

APP = str(Path(__file__).parent.parent / "app.py")
MASK = 8


def opened(page, **query):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update(query)
    at.run()
    at.switch_page(f"pages/{page}.py")
    at.query_params.update(query)
    return at.run()


def html(at):
    return "\n".join(element.proto.body for element in at.get("html"))


@pytest.mark.parametrize(
    ("page", "says", "door"),
    [
        ("where_from", "without the head, all its weights at 0, is another", "Heads: the answer without each head"),
        ("heads", "with the head’s weights at 0, in all later layers too", "Where from: what each head carried"),
    ],
)
def test_what_a_head_is_strong_in_is_said_and_leads_to_the_other_measure(page, says, door):
    at = opened(page)
    for _ in range(100):  # until every head has been left out
        if any(says in each.value for each in at.caption):
            break
        time.sleep(0.1)
        at.run()
    assert any(says in each.value for each in at.caption)
    assert door in [link.proto.label for link in at.get("page_link")]


@pytest.fixture(scope="module")
def predictions():
    return opened("predictions", open="word")


@pytest.mark.parametrize(("word", "row"), [("romans", "romans"), ("  Romans", "romans"), ("##ing", "##ing")])
def test_a_typed_word_is_shown_with_its_rank_and_probability(predictions, rome, word, row):
    at = predictions.text_input(key="word").set_value(word).run()
    i, probs = rome.model.tokenizer.id(row), rome[f"cls.predictions.probs[token={MASK}]"]
    rank = 1 + sum(share > probs[i] for share in probs.tolist())
    assert f'<th scope="row">{row}</th><td>{i:,}</td><td>{rank:,}</td>' in html(at)
    assert any(caption.value.startswith(f"Rank {rank:,} of 30,522") for caption in at.caption)
    assert f'data-cell="cls.predictions.probs[token={MASK},vocab={i}]"' in html(at)
    assert probs[i] > 0 and not at.exception


@pytest.mark.parametrize(("word", "told"), [
    ("☃", "cannot spell this"), ("electroencephalography", "splits it into 5"), ("\u200b", "The text is empty"),
])  # fmt: skip
def test_words_that_the_vocabulary_does_not_have_are_told(predictions, word, told):
    at = predictions.text_input(key="word").set_value(word).run()
    assert any(told in caption.value for caption in at.caption) and not at.exception


def test_a_click_on_a_word_looks_it_up_and_on_its_number_works_it_out(rome):
    body, probs = html(opened("predictions")), rome[f"cls.predictions.probs[token={MASK}]"]
    words = body.partition('class="bv-words"')[2].partition("</table>")[0]
    best = np.argsort(-probs, kind="stable")[:12].tolist()
    names = [rome.model.tokenizer.token(i) for i in best]
    assert re.findall(r'data-choose="word=([^"]*)"', words) == names
    assert re.findall(r"vocab=(\d+)", words) == [str(i) for i in best]
    at = opened("predictions", word=names[3], open="softmax")
    assert f"Logit of “{names[3]}”" in html(at) and f"how “{names[3]}” comes to" in html(at)


def test_before_and_after_stand_beside_each_other(rome):
    asked = {"changes": "encoder.layer.1.attention.self.probs[head=9]:0"}
    changed = rome.with_changes({"encoder.layer.1.attention.self.probs[head=9]": 0})
    passes = [trace[f"cls.predictions.probs[token={MASK}]"] for trace in (changed, rome)]
    for show, shown, heads in (("After", passes[0], ["after", "before"]), ("Before", passes[1], ["before", "after"])):
        at = opened("predictions", **asked, show=show)
        words = html(at).partition('class="bv-words"')[2].partition("</table>")[0]
        assert re.findall(r"<th[^>]*>(after|before)</th>", words) == heads
        best = int(shown.argmax())
        written = re.findall(r"([\d.]+)\N{NO-BREAK SPACE}%(?:</b></button>)?</td>", words)
        ordered = passes if show == "After" else passes[::-1]
        for text, row in zip(written, ordered, strict=False):
            assert float(text) == pytest.approx(100 * float(row[best]), abs=0.051)
        assert len(written) == 24
        assert ("before your change" in at.title[0].value) == (show == "After")


def test_markup_stays_text(predictions):
    at = predictions.text_input(key="word").set_value("<img src=x>").run()
    assert "&lt;" in html(at) and "<img" not in html(at) and not at.exception


def test_a_hidden_word_is_looked_up_first():
    at = opened("predictions", text="When in Rome, do as the Romans do.", mask="8", open="word")
    assert at.text_input(key="word").placeholder == "romans" and '<th scope="row">romans</th>' in html(at)


def test_the_best_entry_everywhere_is_read_as_one_text(rome):
    ids = rome["cls.predictions.decoder"].argmax(axis=-1).tolist()
    assert f">{rome.model.tokenizer.decode(ids)}</p>" in html(opened("predictions", open="positions"))


def test_evidence_is_told_of_the_answer_given(rome):
    at = opened("sentence")
    best = ("B follows A", "B is a random sentence")[int(np.argmax(rome["cls.seq_relationship"]))]
    assert f"Components in favour of “{best}”" in html(at)


@pytest.mark.parametrize(("kind", "page", "told"), [
    ("base", "predictions", "no LM head (masked language model head)"),
    ("base", "sentence", "no next sentence, no classifier and no question answering"),
    ("masked-lm", "sentence", "no pooler"),
    ("base-without-pooler", "layers", "no LM head (masked language model head)"),
])  # fmt: skip
def test_a_head_that_the_checkpoint_does_not_have_is_told(tmp_path, monkeypatch, kind, page, told):
    monkeypatch.setenv("BERTVIZ_MODELS", str(random_checkpoint(tmp_path, kind=kind)))
    at = opened(page, text="the cat sat", open="absent")
    assert any(told in element.value for element in (*at.caption, *at.info)) and not at.exception


def test_a_single_sentence_is_offered_a_second_one_and_a_pair_is_not():
    for query, offers in (({}, 1), ({"text": PAIR.text, "pair": PAIR.pair}, 0)):
        at = opened("sentence", **query)
        assert sum(button.label == "use two sentences" for button in at.button) == offers
        assert any("write a second" in caption.value for caption in at.caption) == offers


def test_a_pair_that_has_not_been_run_waits_and_is_not_said_to_be_too_long(monkeypatch):
    pairs, drawn = list_pairs("The cat sat.", "It slept."), []
    monkeypatch.setattr(sentence_verdict, "open_card", lambda *_, **__: nullcontext())
    monkeypatch.setattr(sentence_verdict.st, "html", drawn.append)
    for known in ((), (replace(pairs[0], share=0.5), pairs[1])):
        sentence_verdict._draw(
            SimpleNamespace(masked=(), trace=SimpleNamespace(changes={})), pairs, Found(known, len(known) / len(pairs))
        )
    first, later = (re.findall("</span><b>(.*?)</b>", body) for body in drawn)
    assert first == ["…"] * len(pairs)
    assert later == ["50\N{NO-BREAK SPACE}%", "too long", *["…"] * (len(pairs) - 2)]


@pytest.mark.parametrize(("asked", "rival"), [(0, 1), (1, 0), (3, 0)])
def test_the_likeliest_other_word_is_offered_as_the_one_that_is_not_asked_about(rome, asked, rival):
    best = np.argsort(-rome["cls.predictions.probs"][MASK])
    target = f"cls.predictions.decoder[token={MASK},vocab={best[asked]}]"
    (choice,) = opened("where_from", token=str(MASK), of=target).get("button_group")
    name = rome.model.tokenizer.token(int(best[rival]))
    assert [option.content for option in choice.proto.options] == ["this one", f"instead of “{name}”"]


def test_a_bar_of_a_logit_reaches_from_the_middle_to_its_side():
    logits = np.array([1.5, -3.0])
    trace = {"cls.seq_relationship": logits, "cls.seq_relationship.probs": np.exp(logits) / np.exp(logits).sum()}
    body = sentence_verdict._render_verdict(
        SimpleNamespace(trace={read_address(name): row for name, row in trace.items()})
    )
    bars = re.findall(r'<i class="(\S*)" style="left:([\d.]+)%;width:([\d.]+)%">', body)
    assert bars == [("", "50.0", "25.0"), ("bv-less", "0.0", "50.0")]


@pytest.mark.parametrize(
    ("logits", "told"),
    [
        ([3.0, -3.0], [["B follows A", "99.8\u00a0%"], []]),
        ([0.0, 0.0], [["B follows A", "50\u00a0%"], ["B is a random sentence", "50\u00a0%"]]),
        ([0.0, 1.0], [["27\u00a0%"], ["B is a random sentence", "73\u00a0%"]]),
    ],
)
def test_both_answers_in_the_bar_have_their_numbers_where_these_have_room(logits, told):
    shares = np.exp(logits) / np.exp(logits).sum()
    trace = {"cls.seq_relationship": np.array(logits), "cls.seq_relationship.probs": shares}
    view = SimpleNamespace(trace={read_address(name): row for name, row in trace.items()})
    parts = re.findall(r'<i style="flex-grow:[^"]*">(.*?)</i>', sentence_verdict._render_verdict(view))
    assert [re.findall(r">([^<]+)<", part) for part in parts] == told


def test_that_there_is_no_second_sentence_is_said_in_its_place():
    for query, alone in (({}, True), ({"text": PAIR.text, "pair": PAIR.pair}, False)):
        said = html(opened("sentence", **query))
        assert ("there is none; the head answers all the same" in said) == alone


@pytest.mark.parametrize("second", [None, "It slept."])
def test_six_pairs_are_tried_whether_a_second_sentence_is_written_or_not(second):
    pairs = list_pairs("The cat sat.", second)
    assert len(pairs) == len({(pair.first, pair.second) for pair in pairs}) == 6
    assert (pairs[0].first, pairs[0].second) == ("The cat sat.", second or "")
    assert pairs[-1].second == ("slept. It" if second else "sat. cat The")


def test_the_heads_page_says_why_it_opens_at_its_head_and_only_there(rome, monkeypatch):
    monkeypatch.setattr(place, "recall_needed", lambda *_: None)  # as long as it is not known
    opening = open_head(rome, MASK)
    other = {"layer": str(opening.layer), "head": str((opening.head + 1) % 12)}
    told, silent = (" ".join(caption.value for caption in opened("heads", **query).caption) for query in ({}, other))
    assert escape_markdown(opening.reason) in told
    assert "is shown" not in silent


def test_the_heads_page_opens_at_the_head_that_its_headline_names(rome, monkeypatch):
    shares = [[run_without(rome, layer, head) for head in range(12)] for layer in range(6)]
    most = np.unravel_index(np.argmin(shares), (6, 12))
    opened("heads")  # asks for what its headline says
    assert settle()
    asked = {}
    monkeypatch.setattr(place.state, "read", lambda key: asked.get(key.name, key.usual))
    assert place.choose_place(rome, "heads")[0] == Selection(*most, MASK)
    usual = open_head(rome, MASK)
    assert (
        place.choose_place(rome, "attention")[0] == Selection(usual.layer, usual.head, MASK) != Selection(*most, MASK)
    )
    asked["lesson"] = "attention"
    assert place.choose_place(rome, "heads")[0] == Selection(usual.layer, usual.head, MASK)
    asked |= {"lesson": "", "layer": "0"}
    assert place.choose_place(rome, "heads")[0] == Selection(0, 0, MASK)


def run_without(trace, layer, head):
    """How likely the likeliest word is with one head's attention weights set to 0."""
    changed = trace.with_changes({f"encoder.layer.{layer}.attention.self.probs[head={head}]": 0.0})
    return changed["cls.predictions.probs"][MASK, trace["cls.predictions.probs"][MASK].argmax()]


def test_the_layers_open_where_the_answer_appears_and_other_pages_at_a_head(rome, monkeypatch):
    places = {t: (open_layer_for_answer(rome, t), open_head(rome, t)) for t in range(len(rome.tokens))}
    apart = [token for token, (opened, head) in places.items() if opened.layer != head.layer]
    assert len(apart) > 3  # else nothing could be told apart
    for token in apart:
        check_where_pages_open(rome, monkeypatch, token, *places[token])


def check_where_pages_open(rome, monkeypatch, token, opened, head):
    asked = {"token": str(token)}
    monkeypatch.setattr(place.state, "read", lambda key: asked.get(key.name, key.usual))
    assert place.choose_place(rome, "layers") == (Selection(opened.layer, head.head, token), [])
    assert place.choose_place(rome, "attention") == (Selection(head.layer, head.head, token), [])
    asked["layer"] = "0"
    assert place.choose_place(rome, "layers") == (Selection(0, 0, token), [])
