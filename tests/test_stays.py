"""A number that was clicked stays in the drawer on pages that are about it; the others open with their own number."""

import re
from types import SimpleNamespace

import pytest

from bertviz_core.formula.address import parse
from bertviz_core.ui.frame import choices, state
from bertviz_core.ui.frame.keys import VIEW, WALK
from bertviz_core.ui.frame.site import PAGES
from bertviz_core.ui.frame.walked import read_walk
from bertviz_core.ui.walk.way import render_crumbs
from tests import test_history

visit = test_history.visit  # a fixture

SELF = "encoder.layer.3.attention"
NORM = "encoder.layer.3.output.LayerNorm[token=8,hidden=3]"
WEIGHT = f"{SELF}.self.probs[head=5,query=8,key=0]"


@pytest.mark.parametrize(("cell", "page"), [
    (WEIGHT, "attention"),
    (f"{SELF}.self.key[head=5,key=8,head_dim=3]", "query_key_value"),
    (f"{SELF}.output.dense[token=8,hidden=3]", "attention_output"),
    (NORM, "add_norm"),
    ("encoder.layer.3.intermediate.activation[token=8,intermediate=3]", "feed_forward"),
    ("embeddings.LayerNorm[token=8,hidden=3]", "embeddings"),
    ("cls.predictions.probs[token=8,vocab=3]", "predictions"),
    ("pooler.dense[pooled=3]", "sentence"),
    ("input_ids[token=8]", "tokenization"),
    ("J[step=1]", "training"),
    ("nonsense", ""),
])  # fmt: skip
def test_links_take_a_number_along_to_the_pages_that_are_about_it(visit, rome, cell, page):
    state.write(VIEW, SimpleNamespace(trace=rome))
    whole = {"overview"} if page not in ("training", "") else set()
    for info in PAGES:
        visit(page="heads", walk=cell)
        visit(page=info.name, walk=cell, layer="1")  # a link that says so
        assert state.read(WALK) == cell
        visit(page="heads", walk=cell)
        kept = "walk" in visit(page=info.name, walk=cell)  # one that says what was on screen
        assert kept == (info.name in {page, *whole, "heads"}), info.name


@pytest.mark.usefixtures("visit")
@pytest.mark.parametrize(("cell", "moved", "said"), [
    (WEIGHT, WEIGHT.replace("layer.3", "layer.4").replace("head=5", "head=1"), "Moved along to layer 4, head 1"),
    (NORM, NORM.replace("layer.3", "layer.4"), "Moved along to layer 4"),
    ("embeddings.sum[token=8,hidden=3]", "embeddings.sum[token=8,hidden=3]", "From the page"),
])  # fmt: skip
def test_a_number_that_moves_along_with_the_head_says_so_until_one_is_clicked(rome, cell, moved, said):
    def read():
        return state.read(WALK), re.sub("<[^>]*>|✕", "", render_crumbs(rome, read_walk()))

    choices.open_drawer([parse(cell)])
    assert read() == (cell, "From the page")
    choices.choose_head(4, 1)
    assert read() == (moved, said)
    choices.open_drawer([parse(moved)])
    assert read() == (moved, "From the page")
