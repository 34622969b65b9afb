"""The tokenization and embeddings pages: hiding tokens by a click, padding, the two searches."""

import base64
import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parent.parent


def opened(page, **query):
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.query_params.update(query)
    at.run()
    return checked(at.switch_page(f"pages/{page}.py").run())


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


def pills(at):
    return next(group for group in at.get("button_group") if group.key == "hidden-tokens")


def test_a_click_hides_a_token_and_another_shows_it():
    """The link that a click makes is opened anew: on a page of its own, AppTest leaves the app around it out."""
    sentence = {"text": "the cat sat", "pair": "in rome"}
    at = opened("tokenization", **sentence)
    assert tokens(at) == ["[CLS]", "the", "cat", "sat", "[SEP]", "in", "rome", "[SEP]"]
    names = [option.content for option in pills(at).proto.options]
    assert [name.rpartition(" ")[2] for name in names] == ["the", "cat", "sat", "in", "rome"]

    checked(pills(at).select(6).run())
    at = opened("tokenization", **sentence, mask=at.session_state["mask"])
    assert tokens(at)[6] == "[MASK]" and at.session_state["view"].chosen.token == 6 and pills(at).value == [6]
    assert rows(at, "token")[6] == ["6 [MASK]", "103", "6", "1", "1", "rome"]
    assert "“rome” at position 6" in caption(at)

    checked(pills(at).select(2).run())
    at = opened("tokenization", **sentence, mask=at.session_state["mask"])
    assert [i for i, token in enumerate(tokens(at)) if token == "[MASK]"] == [2, 6]

    checked(pills(at).unselect(6).run())
    at = opened("tokenization", **sentence, mask=at.session_state["mask"])
    assert tokens(at)[2] == "[MASK]" and tokens(at)[6] == "rome" and pills(at).value == [2]


def caption(at):
    return " ".join(element.value.replace("\\", "") for element in at.caption)


def test_padding_shows_up_and_gets_no_attention():
    asked = {"text": "the cat sat", "layer": "2", "head": "3"}
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
    assert first[0] == "5 [PAD] (first padding)" and first[1] == "0" and first[3] == "−3.403e+38"
    assert float(first[2].replace("−", "-")) == pytest.approx(trace[row.format("scaled")][5], abs=5e-5)
    assert together[-1] == "0.0000" and together[0] == "all 11 padding tokens together"

    checked(at.number_input(key="pad-here").set_value(5).run())
    assert len(tokens(opened("tokenization", **asked, pad=at.session_state["pad"]))) == 5


def test_an_input_of_full_length_has_no_room_for_padding():
    at = opened("tokenization", text="a " * 510)
    assert len(tokens(at)) == 512 and "no room for padding" in caption(at)
    assert len(pills(at).proto.options) == 510 and len(rows(at, "token")) == 512


def test_the_vocabulary_is_searched():
    at = opened("tokenization", text="the cat sat", search="cat")
    found = rows(at, "entry")
    vocabulary = at.session_state["view"].trace.model.tokenizer.vocabulary
    expected = [entry for entry in vocabulary if entry.startswith("cat")]
    assert found[0] == ["cat", "4937", "whole word or sign", "position 2"]
    assert sorted(row[0] for row in found) == sorted(expected)
    at = opened("tokenization", search="2000-2002", **{"search-by": "id"})
    assert [row[:2] for row in rows(at, "entry")] == [[vocabulary[i], str(i)] for i in (2000, 2001, 2002)]
    at = opened("tokenization", search="<b>", **{"search-by": "contains"})
    assert "No entry contains" in at.info[0].value and "\\<b\\>" in at.info[0].value
    at = opened("tokenization", search="cat", **{"search-by": "id"})
    assert "whole number" in at.info[0].value


def bars(at):
    """The neighbours' chart: names with ids, and cosines."""
    chart = next(chart for chart in at.get("plotly_chart") if chart.proto.id.endswith("chart-neighbours"))
    bar = json.loads(chart.proto.spec)["data"][0]
    return bar["customdata"], np.frombuffer(base64.b64decode(bar["x"]["bdata"]), dtype=bar["x"]["dtype"])


@pytest.mark.parametrize(("entry", "token_id"), [("", 4937), ("Dog", 3899), ("##ing", 2075)])
def test_the_neighbours_are_those_of_the_matrix(entry, token_id):
    at = opened("embeddings", text="the cat sat", token="2", entry=entry)
    names, cosines = bars(at)
    matrix = at.session_state["view"].trace["embeddings.word_embeddings.weight"].astype(np.float64)
    directions = matrix / np.linalg.norm(matrix, axis=1)[:, None]
    expected = directions @ directions[token_id]
    best = np.argsort(-expected)[1:11]
    assert [int(name.split()[-1]) for name in names] == best.tolist()
    np.testing.assert_allclose(cosines, expected[best], atol=1e-6)


def test_what_is_no_entry_is_cut_into_its_pieces():
    at = opened("embeddings", entry="electroencephalography")
    assert "electro, ##ence, ##pha, ##log, ##raphy" in at.info[0].value.replace("\\", "")
