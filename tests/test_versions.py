"""In every panel: how the documents write its step, and what running one changes."""

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.documents import DOCUMENTS
from tests.test_pages import decoded, json

APP = str(Path(__file__).parent.parent / "app.py")
ADDRESS = "encoder.layer.0.attention.output.residual"
CARD = f"{ADDRESS}-Residual sum, for all tokens"


@pytest.fixture
def opened():
    """The page of residual sums with the documents opened in its first panel."""
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update({"open": "all", "layer": "0", "head": "0"})
    at.run()
    at.session_state[f"code-{CARD.replace('.0.', '..')}"] = True  # the menu that they stand in is open
    at.switch_page("pages/add_norm.py").run()
    return at.toggle(key=f"versions-{CARD}").set_value(True).run()


def test_every_document_is_there_with_its_formula(opened):
    texts = [element.value for element in opened.markdown]
    for document in DOCUMENTS:
        there = [text for text in texts if f"({document.number}): " in text]
        assert any("$" in text or "leaves" in text for text in there), document.name
    assert any("(001): the same formula" in text for text in texts)
    assert any("(003): a different formula" in text for text in texts)


@pytest.mark.parametrize(("number", "program"), [("000", "forward-pass-note"), ("001", "notebook")])
def test_running_a_document_shows_how_far_it_is_from_bert(opened, rome, number, program):
    opened.button(key=f"run-{CARD}-{number}").click().run()
    assert not opened.exception
    other = bv.run(rome.model, "When in Rome, do as the [MASK] do.", program=program)
    expected = other[ADDRESS] - rome[ADDRESS]
    charts = [chart for chart in opened.get("plotly_chart") if "difference" in chart.proto.id]
    assert np.array_equal(decoded(json.loads(charts[0].proto.spec)["data"][0]["z"]), expected[:, : expected.shape[1]])
    largest = next(text.value for text in opened.markdown if "Largest difference" in text.value)
    assert (float(np.abs(expected).max()) < 1e-5) == ("·10⁻" in largest or "**0**" in largest)
