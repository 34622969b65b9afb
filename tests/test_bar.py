"""The bar: whose numbers all pages show, and what a shared link leaves out."""

import re
import shutil
from html import escape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.documents.glossary import GLOSSARY
from bertviz_core.ui.frame.controls import EXAMPLES
from tests.factory import random_checkpoint
from tests.menus import open_menus

APP = str(Path(__file__).parents[1] / "app.py")
OWN = "yours, 30 steps"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(random_checkpoint(tmp_path_factory.mktemp("model") / "my <model>"))


def opened(**query):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update(query)
    at.session_state["share"] = True  # the menu is open
    at.run()
    assert not at.exception
    return at


def badge(at):
    """What the bar says about the model: what is read, and the whole name."""
    (brand,) = (each.proto.body for each in at.get("html") if 'class="bv-brand"' in each.proto.body)
    found = re.search(r'class="bv-model".* title="(.*?)" aria-label="(.*?)">(.*?)<', brand)
    assert "BERT" in brand and (found is None or found[1] == found[2])
    return found and (found[3], found[1])


def shared(at):
    """What the menu says of the link, and its warnings."""
    (told,) = (each.value for each in at.markdown if "in this link" in each.value)
    return told, [each.value.replace("\\", "") for each in at.warning]


def test_the_bundled_model_needs_no_name_and_its_link_holds_all():
    at = opened()
    told, warnings = shared(at)
    assert badge(at) is None and told.startswith("All that you see stands in this link") and not warnings


def test_a_trained_model_is_named_and_its_link_says_that_it_is_not_in_it():
    at = opened(model=OWN)
    told, (warning,) = shared(at)
    assert badge(at) == (OWN, f"Model: {OWN}") and "but the model stands in this link" in told
    assert f"“{OWN}”: trained here, and gone when this visit ends" in warning and "page Training" in warning


def test_a_comparison_with_a_trained_model_says_so_too():
    told, (warning,) = shared(opened(against="yours, untrained"))
    assert "but the model" in told and "“yours, untrained”" in warning


def test_a_folder_is_named_by_its_last_part_and_its_link_leads_only_where_it_is(folder):
    opened(model=folder)  # loads it, below the menu
    at = opened(model=folder)
    _, (warning,) = shared(at)
    assert badge(at) == (escape(Path(folder).name), escape(f"Model: {folder}"))
    assert warning == f"“{folder}” is a folder where this app runs: the link works only there."


def test_nothing_is_told_about_folders_that_are_not_models_of_this_server(folder, monkeypatch, tmp_path):
    other = shutil.copytree(folder, tmp_path / "other")
    monkeypatch.setenv("BERTVIZ_MODELS", "bundled")
    at = opened(model=str(other))
    assert badge(at) == ("other", f"Model: {other}") and shared(at)[1] == []


def test_tokens_stand_in_the_bar_as_they_are():
    (chips,) = (
        each.proto.body for each in opened(text="a < b & c").get("html") if 'class="bv-chips"' in each.proto.body
    )
    found = re.findall(r'aria-label="token \d+ (.*?)">(.*?)</button>', chips)
    assert [name for name, _ in found] == [shown for _, shown in found]
    assert [shown for _, shown in found][1:-1] == ["a", "&lt;", "b", "&amp;", "c"]


def test_a_special_token_in_the_bar_says_what_it_is_and_a_word_of_the_glossary_does_not():
    (chips,) = (each.proto.body for each in opened(text="head").get("html") if 'class="bv-chips"' in each.proto.body)
    assert re.findall(r'title="(.*?)"', chips) == [escape(GLOSSARY["[CLS]"]), escape(GLOSSARY["[SEP]"])]


def test_one_can_type_into_the_editor_the_moment_it_opens_and_the_rest_is_made_then():
    closed = opened(text="A robin is not a [MASK].")
    fields = {one.label: one.value for one in closed.text_input}
    assert fields == {"Sentence": "A robin is not a [MASK].", "Second sentence (optional)": ""}
    with open_menus("editor"):
        at = opened(text="A robin is not a [MASK].", formulas="column")
        menus = {one.label: one.value for one in at.selectbox if "-field-" in str(one.key)}
        assert menus == {"Model": "bundled", "Pad to": "off", "Formulas with tokens as": "column"}
        assert not {one.label for one in closed.selectbox} & menus.keys()
        at.button(key="example-1").click().run()
    assert at.session_state["text"] == EXAMPLES[1].text
