"""Every kind of number that no step computes opens in the drawer, its formula written out, on a page that shows it."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.formula.address import read_address
from bertviz_core.ui.views.patch_number import PATCHED
from bertviz_core.ui.walk import worked_out
from tests.settling import settle

APP = str(Path(__file__).parents[1] / "app.py")
ROME = {"text": "When in Rome, do as the [MASK] do.", "token": "8"}
TWO = {"text": "The river bank is green.", "with": "The old bank is closed."}
WEIGHTS, OUTPUT = "encoder.layer.2.attention.self.probs", "encoder.layer.5.output.LayerNorm"
LOGIT, OF = "cls.predictions.decoder", "token=8,vocab=2111"
SHOWN = {
    f"{WEIGHTS}.entropy[head=0,query=8]": ("attention", ROME),
    f"{OUTPUT}.cosine[token=1,other=8]": ("layers", ROME),
    "encoder.layer.2.attention.self.products.angle[head=0,query=8,key=6]": ("query_key_value", ROME),
    "encoder.layer.2.output.residual.angle[token=8]": ("add_norm", ROME),
    f"{OUTPUT}.norm[token=8]": ("layers", ROME),
    f"{WEIGHTS}.taken[head=0,query=8,key=6]": ("attention_output", ROME),
    "encoder.layer.2.attention.output.dense.share[token=8,head=11]": ("attention_output", ROME),
    f"{WEIGHTS}.averaged[query=8,key=6]": ("where_from", ROME),
    f"{WEIGHTS}.rollout[query=8,key=6]": ("where_from", ROME),
    "encoder.layer.5.attention.output.dense.brought[token=8,source=6]": ("where_from", ROME),
    f"{LOGIT}.part[{OF},source=6]": ("where_from", ROME),
    f"{LOGIT}.biases[{OF}]": ("where_from", ROME),
    f"{LOGIT}.parts[{OF}]": ("where_from", ROME),
    f"{LOGIT}.hidden[{OF},source=6]": ("where_from", ROME),
    f"{LOGIT}.fall[{OF},source=6]": ("where_from", ROME),
    f"{LOGIT}.integrated[{OF},source=6]": ("where_from", ROME),
    f"{LOGIT}.head[{OF},layer=5,head=5]": ("where_from", ROME),
    f"{LOGIT}.block[{OF},layer=5]": ("where_from", ROME),
    f"{OUTPUT}.length[token=8,source=6]": ("where_from", ROME),
    f"{OUTPUT}.across[token=3]": ("compare", TWO),
    f"{WEIGHTS}.across[head=1]": ("compare", TWO),
    f"{OUTPUT}.patched[token=3]": ("patch", TWO),
}


@pytest.mark.parametrize("cell", SHOWN)
def test_a_number_that_no_step_computes_is_worked_out_in_the_drawer(cell):
    page, asked = SHOWN[cell]
    visit(page, cell, **asked)
    assert settle()  # what is worked out meanwhile
    at = visit(page, cell, **asked)
    (shown,) = (each.proto.body for each in at.get("html") if '<p class="bv-line"' in each.proto.body)
    assert "</i>" in shown, "its formula in letters"


def visit(page, cell, **query):
    at = AppTest.from_file(APP, default_timeout=120)
    at.query_params.update({**query, "walk": cell})
    at.switch_page(f"pages/{page}.py").run()
    assert not at.exception and not at.error
    return at


def test_all_kinds_are_shown():
    kinds = {*worked_out.MAKERS, *worked_out._OF_PARTS, worked_out.ACROSS, PATCHED}
    assert {read_address(cell).name for cell in SHOWN} == kinds
