"""A number that was clicked stays in the drawer on pages that are about it; the others open with their own number."""

import re
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.formula.address import parse
from bertviz_core.ui.frame import choices, state
from bertviz_core.ui.frame.keys import VIEW, WALK
from bertviz_core.ui.frame.site import PAGES
from tests import test_history
from tests.test_explain_page import opened
from tests.test_pages import APP

visit = test_history.visit  # a fixture

SELF = "encoder.layer.3.attention"
WEIGHT = f"{SELF}.self.probs[head=5,query=8,key=0]"


@pytest.mark.parametrize(("cell", "page"), [
    (WEIGHT, "attention"),
    (f"{SELF}.self.key[head=5,key=8,head_dim=3]", "query_key_value"),
    (f"{SELF}.output.dense[token=8,hidden=3]", "attention_output"),
    ("encoder.layer.3.output.LayerNorm[token=8,hidden=3]", "add_norm"),
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


def test_a_number_that_moves_along_with_the_head_says_so_until_another_is_clicked():
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update(layer="3", head="5")
    text = opened(at, WEIGHT, "attention")

    def read_crumbs(text):
        return re.sub("<[^>]*>|✕", "", re.search('<nav class="bv-crumbs.*?</nav>', text).group())

    assert read_crumbs(text) == "From the page"
    at._finished_page_script_hash = ""
    at.button(key="next-layer").click().run()
    text = "".join(each.proto.body for each in at.get("html"))
    moved = WEIGHT.replace("layer.3", "layer.4")
    assert at.query_params["walk"] in (moved, [moved]) and moved in text
    assert read_crumbs(text) == "Moved along to layer 4, head 5"
    assert read_crumbs(opened(at, WEIGHT.replace("key=0", "key=1"))) == "From the page"


def test_what_has_no_head_moves_to_its_layer_and_what_has_neither_stays(visit):
    for cell in ("encoder.layer.3.output.LayerNorm[token=8,hidden=3]", "embeddings.sum[token=8,hidden=3]"):
        choices.open_drawer([parse(cell)])
        choices.choose_head(2, 1)
        assert state.read(WALK) == cell.replace("layer.3", "layer.2")
