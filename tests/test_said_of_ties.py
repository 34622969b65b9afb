"""Where several are alike none is named as if it were alone; what is counted is what the page says that it counts."""

import re

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.canvas import Spot, choose_rows
from bertviz_core.formula.address import parse
from bertviz_core.sharing import findings
from bertviz_core.showing.canvas_stops import list_stops
from bertviz_core.ui.views import where_from
from bertviz_core.ui.walk.templates.ranks import tell_match, tell_rank
from tests.canvas import look
from tests.settling import settle
from tests.test_put import opened
from tests.test_said_after_changes import read_all

LA, TWO = 2474, 2475  # la and ##2 in the bundled vocabulary
ALIKE = {f"cls.predictions.decoder[vocab={entry}]": 100.0 for entry in (LA, TWO)}
PLACE = {"text": "b [MASK]", "layer": "0", "head": "5", "token": "2"}


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """However slow this machine is, all of a finding is worked out."""
    for limit in ("WANTED_S", "MOST_S"):
        monkeypatch.setattr(findings, limit, 1200.0)


def show(page, changes, **query):
    at = opened(page, changes, **query)
    if page in ("heads", "tokenization", "story"):
        assert settle(120)
        at.run()
    return read_all(at)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "said"),
    [
        pytest.param(
            "heads", "None: without any one of them “la”, one of 2 that tie, stays at 50", marks=pytest.mark.rare
        ),
        ("story", "Where does “la”, one of 2 that tie, lead back to?"),
        ("layers", "Words that tie for the first place stand in the order of the vocabulary."),
        ("predictions", "Where several tie, at 4, the first of them in the vocabulary stands here."),
        ("tokenization", "2 tie"),
    ],
)
def test_a_word_that_is_one_of_several_is_called_that(bundled, page, said):
    probs = np.asarray(bv.run(bundled, PLACE["text"], changes=ALIKE)["cls.predictions.probs"])
    assert (probs == probs.max(axis=1, keepdims=True)).sum(axis=1).tolist() == [2] * 4
    assert said in show(page, ALIKE, **PLACE)
    plain = show(page, {}, **PLACE)
    assert "that tie" not in plain and " tie for the first place" not in plain and "Where several tie" not in plain


def tell_asked(trace, layer, head, token):
    spot = Spot(layer, head, token, None, choose_rows(token, len(trace.tokens)))
    asked = next(stop for stop in list_stops(trace, spot) if stop["name"].startswith("ask"))
    return "".join(text for text, _ in asked["sentence"])


def test_weights_that_are_written_alike_have_no_first(bundled):
    row = "encoder.layer.1.attention.self.scores[head=1,query=3"
    near = {f"{row},key=1]": 20.0, f"{row},key=2]": 20.00001}
    changed = bv.run(bundled, "la la la la").with_changes(near)
    weights = np.asarray(changed["encoder.layer.1.attention.self.probs"])[1, 3]
    assert 0 < weights[2] - weights[1] < 1e-4 and " looks at none more than at “la”" in tell_asked(changed, 1, 1, 3)
    plain = bv.run(bundled, "Go home.")
    assert " looks most at “.”" in tell_asked(plain, 0, 4, 1)


@pytest.mark.parametrize("leaf", ["products", "scaled", "scores"])
def test_the_place_of_a_match_is_among_what_is_read(bundled, leaf):
    address = f"encoder.layer.2.attention.self.{leaf}"
    trace = bv.run(bundled, "Tea and cake.", pad_to=12)
    real = trace.tokens.index("[PAD]")
    for head in range(12):
        row = np.asarray(trace[address], dtype=np.float64)[head, 2, :real]
        for key in range(real):
            place = int((row > row[key]).sum()) + 1
            said = tell_match(trace, parse(f"{address}[head={head},query=2,key={key}]")).text
            told = re.search(r"(?:best|worst) match of (?:the )?(\d+)\.|None of (\d+) is before it", said)
            assert int(told[1] or told[2]) == real
            assert (f"{place}" in said.split(" best match")[0]) == (place > 1)
        assert tell_match(trace, parse(f"{address}[head={head},query=2,key={real}]")).text == ""


def test_how_often_a_source_has_a_name_is_not_how_many_names_there_are():
    said = show("notation", {}, text="Go home.")
    counts, names = [], []
    for where in ("formulas", "code"):
        at = opened("notation", {}, text="Go home.", names=where)
        rows = [row for each in at.markdown if "bv-names" in each.value for row in each.value.split("\n")]
        cells = [re.split(r"(?<!\\)\|", row)[2:-1] for row in rows if row.startswith("| <span")]
        counts.append(len(cells))
        names += [(where, i, name.strip()) for row in cells for i, name in enumerate(row) if name.strip() != "–"]
    assert f"**{counts[0]}** quantities, named **{len(names)}** times in 5 documents and 3 code bases" in said
    assert counts[0] == counts[1] and len(set(names)) < len(names)


def test_numbers_that_are_not_compared_are_not_said_to_stand_beside_ours():
    said = show("notebook", {}, text="Go home.")
    assert "beside ours" not in said and re.search(r"To compare all \d+ with ours, this page needs the model", said)


def test_numbers_that_share_a_place_are_counted(bundled):
    """All 32 components of a head that is set to zero are 0: none of them alone has a place."""
    own = "encoder.layer.3.attention.self"
    trace = bv.run(bundled, "Go home.", changes={f"{own}.probs[head=2]": 0.0})
    row = np.abs(np.asarray(trace[f"{own}.context"])[2])
    assert ((row == 0) == (np.arange(384) // 32 == 2)).all()
    for i in (64, 95):
        assert tell_rank(trace, parse(f"{own}.context[token=2,concat={i}]")).text == (
            " It is the 353rd largest in size of 384, like 31 others."
        )
    place = int((row > row[100]).sum()) + 1
    assert re.fullmatch(
        rf" It is the {place}\w\w largest in size of 384\.",
        tell_rank(trace, parse(f"{own}.context[token=2,concat=100]")).text,
    )


@pytest.mark.parametrize(("head", "also"), [(1, True), (11, False)])
def test_a_share_that_is_written_as_before_is_said_to_be_one(bundled, head, also):
    """Nor is a token told twice that is the same before and after."""
    changes = {f"encoder.layer.4.attention.self.probs[head={head}]": 0.0}
    text = "The doctor told the nurse that [MASK] was tired."
    at = opened("predictions", changes, text=text, token="7")
    trace = bv.run(bundled, text, changes=changes)
    probs = [float(one["cls.predictions.probs"][7].max()) for one in (trace.before, trace)]
    assert (f"{probs[0]:.2f}" == f"{probs[1]:.2f}") == also
    assert (", also " in at.title[0].value) == also and " before your change; " in at.title[0].value
    [told] = [each.value for each in at.caption if each.value.startswith("Entries in the top")]
    assert told == "Entries in the top 10 before or after your change."


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([0.5, 0.5, -2.0], "; none raises it more than “[CLS]”: +0.50"),
        ([0.5, 0.25, -2.0], "; “[CLS]” raises it most: +0.50"),
        ([-0.5, -0.5, 2.0], "; none lowers it more than “[CLS]”: −0.50"),
    ],
)
def test_parts_that_move_a_sum_alike_the_other_way(monkeypatch, bundled, parts, said):
    view = look(bv.run(bundled, "a"))
    monkeypatch.setattr(where_from, "read_counted", lambda *_: (range(3), np.array(parts)))
    monkeypatch.setattr(where_from, "sum_up", lambda _: sum(parts))
    assert str(where_from._tell_other_way(view, None)).replace("\\", "") == said
