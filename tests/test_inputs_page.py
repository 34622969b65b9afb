"""The tokenization and embeddings pages: hiding tokens by a click, padding, the two searches."""

import base64
import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.formula.numbers import format_percent
from bertviz_core.sharing.findings import Findings, Found
from tests.settling import settle

ROOT = Path(__file__).parent.parent


def opened(page, **query):
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.query_params.update(query)
    at.run()
    at.switch_page(f"pages/{page}.py")
    at.query_params.update(query)
    return checked(at.run())


def checked(at):
    assert not at.exception and not at.error
    return at


def html(at):
    return [unescape(element.proto.body) for element in at.get("html")]


def rows(at, name):
    """The cells of the table whose rows have this name."""
    table = next(text for text in html(at) if f'aria-label="Table by {name}"' in text)
    lines = re.findall(r"<tr[ >].*?</tr>", table.partition("<tbody>")[2])
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line) for line in lines]


def tokens(at):
    return at.session_state["view"].trace.tokens


def chips(at):
    """The tokens of the first picture: text, id, segment, position; and what a click would put into the URL."""
    body = next(text for text in html(at) if 'class="bv-cut' in text)
    cards = re.split('<div class="bv-cut-token"[^>]*>', body)[1:]
    found = [re.findall(r"<(?:button|span)[^>]*>([^<]*)<", card)[:4] for card in cards]
    return found, [(re.search(r'data-choose="mask=([^"]*)"', card) or [None, None])[1] for card in cards]


def test_a_click_hides_a_token_and_another_shows_it():
    """The link that a click makes is opened anew, as the browser does it."""
    sentence = {"text": "the cat sat", "pair": "in rome"}
    at = opened("tokenization", **sentence)
    shown, offered = chips(at)
    assert [token for token, *_ in shown] == tokens(at)
    assert tokens(at) == ["[CLS]", "the", "cat", "sat", "[SEP]", "in", "rome", "[SEP]"]
    read = at.session_state["view"].trace.encoding
    assert [each[1:] for each in shown] == [[str(read.ids[i]), str(read.segments[i]), str(i)] for i in range(8)]
    assert offered == [None, "1", "2", "3", None, "5", "6", None]

    at = opened("tokenization", **sentence, mask=offered[6], open="padding")
    assert tokens(at)[6] == "[MASK]" and at.session_state["view"].chosen.token == 6
    assert rows(at, "token")[6] == ["6 [MASK]", "103", "6", "1", "1", "rome"]
    assert "“rome” at position 6" in caption(at)
    shown, offered = chips(at)
    assert shown[6] == ["[MASK]", "103", "1", "6"] and offered[6] == "" and offered[2] == "2,6"

    at = opened("tokenization", **sentence, mask=offered[2])
    assert [i for i, token in enumerate(tokens(at)) if token == "[MASK]"] == [2, 6]
    assert chips(at)[1][6] == "2"


def test_the_headline_tells_what_is_guessed_where_a_word_is_hidden(rome):
    at = opened("tokenization", mask="3", token="3")
    probs = at.session_state["view"].trace["cls.predictions.probs[token=3]"]
    best, own = int(probs.argmax()), rome.encoding.ids[3]
    rank = 1 + sum(p > probs[own] for p in probs.tolist())
    title = at.title[0].value.replace("\\", "")
    assert "Hidden: “rome”" in title and f"guesses “{rome.model.tokenizer.token(best)}”" in title
    assert f"**{100 * probs[best]:.1f}\N{NO-BREAK SPACE}%**" in title and f"number **{rank:,}**" in title


def test_every_token_is_guessed_without_being_asked_for(rome):
    at = opened("tokenization", text="the cat sat")
    assert settle()
    cards = cut_cards(checked(at.run()))
    guesses = [re.search(r"<b>(.*?)</b>.*</i>([\d.]+)", card) for card in cards]
    assert [guess is not None for guess in guesses] == [False, True, True, True, False]
    for i, words in ((1, "[MASK] cat sat"), (2, "the [MASK] sat"), (3, "the cat [MASK]")):
        probs = bv.run(rome.model, words)[f"cls.predictions.probs[token={i}]"]
        assert guesses[i][1].removesuffix(" ✓") == rome.model.tokenizer.token(int(probs.argmax()))
        assert format_percent(float(probs.max())).startswith(guesses[i][2])


def cut_cards(at):
    body = next(text for text in html(at) if 'class="bv-cut' in text)
    return re.split('<div class="bv-cut-token"[^>]*>', body)[1:]


def test_a_guess_that_is_not_known_yet_has_its_room(monkeypatch):
    monkeypatch.setattr(Findings, "ask", lambda *_: Found())
    cards = cut_cards(opened("tokenization", text="the cat ran"))
    assert ["<b>…</b>" in card for card in cards] == [False, True, True, True, False]


def test_why_there_is_no_guess_is_said(monkeypatch):
    monkeypatch.setattr(Findings, "ask", lambda *_: Found(error="The server is [busy].", over=True))
    assert "The server is [busy]." in caption(opened("tokenization", text="the cat ran"))


def test_the_search_of_a_word_stands_in_full():
    at = opened("tokenization", text="Unbelievably, tokenizers work.", split="electroencephalography")
    body = next(text for text in html(at) if 'class="bv-stairs"' in text)
    found = re.findall(r'class="bv-found">(.*?)</b>(\d+)', body)
    tokenizer = at.session_state["view"].trace.model.tokenizer
    assert [piece for piece, _ in found] == ["electro", "##ence", "##pha", "##log", "##raphy"]
    assert [int(i) for _, i in found] == list(tokenizer.pieces("electroencephalography"))
    struck = re.findall(r'<s data-cut="(·*)">(.*?)</s>', body)
    assert ("·", "electroencephalograph") in struck and ("", "##encephalography") in struck
    assert [len(cut) for cut, candidate in struck if candidate.startswith("electro")] == list(range(15))
    counts = f"{len(struck) + len(found)} candidates: {len(struck)} rejected, {len(found)} found."
    assert len(struck) > len(found) == 5 and counts in caption(at)
    buttons = re.findall(r'data-choose="split=(\w+)"', " ".join(html(at)))
    assert set(buttons) == {"unbelievably", "tokenizers"}


def test_a_word_that_is_not_cut_is_told_to_be_an_entry():
    assert "an entry of V: it is not cut" in caption(opened("tokenization", split="unbelievable"))
    assert "an entry of V: it is not cut" not in caption(opened("tokenization", split="unhappiness"))


def test_what_a_segment_is_and_what_a_second_sentence_changes_stands_by_the_picture():
    for pair, told in {
        "": "written under the pencil, would be segment 1",
        "in rome": "its tokens get another segment",
    }.items():
        at = opened("tokenization", text="the cat sat", pair=pair)
        texts = [re.sub(r'<span role="tooltip">.*?</span>|<[^>]*>', "", text) for text in html(at)]
        assert any("The sentence, cut into tokens" in text and told in text for text in texts), told
        assert any("segment: 0 in a first sentence, 1 in a second" in text for text in texts)
        (labels,) = re.findall(r'<div class="bv-cut-labels">.*?</div>', " ".join(html(at)))
        assert re.search(r'class="bv-term"[^>]*>segment<span role="tooltip">Which of the two sentences', labels)


def caption(at):
    return " ".join(element.value.replace("\\", "") for element in at.caption)


def test_padding_shows_up_and_gets_no_attention():
    asked = {"text": "the cat sat", "layer": "2", "head": "3", "token": "1", "open": "padding"}
    at = opened("tokenization", **asked)
    assert len(tokens(at)) == 5 and "No padding" in caption(at)
    checked(at.number_input(key="pad-here").set_value(16).run())
    at = opened("tokenization", **asked, pad=at.session_state["pad"])
    assert tokens(at)[5:] == ["[PAD]"] * 11
    assert [row[4] for row in rows(at, "token")] == ["1"] * 5 + ["0"] * 11

    trace, row = at.session_state["view"].trace, "encoder.layer.2.attention.self.{}[head=3,query=1]"
    shares = trace[row.format("probs")]
    assert (shares[5:] == 0).all() and shares.sum() == pytest.approx(1)
    best, first, together = rows(at, "1 the attends to")
    assert best[4] == f"{shares.max():.4f}" and best[2] == best[3]
    assert first[0] == "5 [PAD] (first padding)" and first[1] == "0" and first[3] == "−3.403·10³⁸"
    assert float(first[2].replace("−", "-")) == pytest.approx(trace[row.format("scaled")][5], abs=5e-5)
    assert together[-1] == "0" and together[0] == "all 11 padding tokens together"

    checked(at.number_input(key="pad-here").set_value(5).run())
    assert len(tokens(opened("tokenization", **asked, pad=at.session_state["pad"]))) == 5


def test_an_input_of_full_length_has_no_room_for_padding():
    at = opened("tokenization", text="a " * 510, open="padding")
    assert len(tokens(at)) == 512 and "no room for padding" in caption(at)
    assert sum(mask is not None for mask in chips(at)[1]) == 510 and len(rows(at, "token")) == 512


def test_the_vocabulary_is_searched():
    at = opened("tokenization", text="the cat sat", search="cat", open="vocabulary")
    found = rows(at, "entry")
    vocabulary = at.session_state["view"].trace.model.tokenizer.vocabulary
    expected = [entry for entry in vocabulary if entry.startswith("cat")]
    assert found[0] == ["cat", "4937", "whole word or sign", "position 2"]
    assert sorted(row[0] for row in found) == sorted(expected)
    at = opened("tokenization", open="vocabulary", search="2000-2002", **{"search-by": "id"})
    assert [row[:2] for row in rows(at, "entry")] == [[vocabulary[i], str(i)] for i in (2000, 2001, 2002)]
    at = opened("tokenization", open="vocabulary", search="<b>", **{"search-by": "contains"})
    assert "No entry contains" in at.info[0].value and "\\<b\\>" in at.info[0].value
    at = opened("tokenization", open="vocabulary", search="cat", **{"search-by": "id"})
    assert "whole number" in at.info[0].value


def test_a_search_beyond_the_last_id_names_the_last():
    found = opened("tokenization", open="vocabulary", search="999999", **{"search-by": "id"}).info[0].value
    last = re.search(r"Ids go from 0 to (\d+)", found)[1]
    at = opened("tokenization", open="vocabulary", search=f"{last}-999999", **{"search-by": "id"})
    assert [row[1] for row in rows(at, "entry")] == [last]


def bars(at):
    """The neighbours' chart: names with ids, and cosines."""
    chart = next(chart for chart in at.get("plotly_chart") if chart.proto.id.endswith("chart-neighbours"))
    bar = json.loads(chart.proto.spec)["data"][0]
    return bar["customdata"], np.frombuffer(base64.b64decode(bar["x"]["bdata"]), dtype=bar["x"]["dtype"])


@pytest.mark.parametrize(("entry", "token_id"), [("", 4937), ("Dog", 3899), ("##ing", 2075)])
def test_the_neighbours_are_those_of_the_matrix(entry, token_id):
    at = opened("embeddings", text="the cat sat", token="2", entry=entry, open="neighbours")
    names, cosines = bars(at)
    matrix = at.session_state["view"].trace["embeddings.word_embeddings.weight"].astype(np.float64)
    directions = matrix / np.linalg.norm(matrix, axis=1)[:, None]
    expected = directions @ directions[token_id]
    best = np.argsort(-expected)[1:11]
    assert [int(name.split()[-1]) for name in names] == best.tolist()
    np.testing.assert_allclose(cosines, expected[best], atol=1e-6)


def test_what_is_no_entry_is_cut_into_its_pieces():
    at = opened("embeddings", open="neighbours", entry="electroencephalography")
    assert "electro, ##ence, ##pha, ##log, ##raphy" in at.info[0].value.replace("\\", "")


def test_the_embeddings_page_follows_the_ringed_component():
    """Every number that is offered is of the component that somebody rings."""
    at = opened("embeddings", text="the cat sat", token="2", component="7", open="lengths")
    offered = re.findall(r'class="bv-worked" data-cell="(.*?)"', " ".join(html(at)))
    assert len(offered) == 3 and all(cell.endswith("[token=2,hidden=7]") for cell in offered)
