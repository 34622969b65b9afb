"""Bad input as the page receives it: a table of cases, each with its message. The session stays usable afterwards."""

import random
import re
import shutil
from pathlib import Path

import pytest
from huggingface_hub import constants
from streamlit.testing.v1 import AppTest

from bertviz_core.checkpoint import model
from bertviz_core.sharing import memory
from bertviz_core.ui.frame import keys
from bertviz_core.ui.frame.controls import EXAMPLES
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.packing import pack
from bertviz_core.ui.frame.resources import get_shelf, get_store, get_watch
from bertviz_core.ui.frame.site import PAGES
from tests.factory import random_checkpoint
from tests.menus import open_menus
from tests.often import often
from tests.test_bad_checkpoints import CONFIG, FILES, TENSORS, TOKENIZER
from tests.test_pages import title_of

APP = str(Path(__file__).parent.parent / "app.py")
GOOD = "a good sentence"
NO_MODEL = "neither a folder with a BERT checkpoint that this app can read nor"
LONG = "The text has 602 tokens; this model reads at most 512"

# What the URL holds, and the message that stands in the page.
REFUSED = {
    "no text": ({"text": ""}, "The sentence is empty"),
    "blanks": ({"text": "   "}, "The sentence is empty"),
    "invisible characters": ({"text": "\u200b\u200d\ufeff"}, "The text is empty once"),
    "600 tokens": ({"text": "word " * 600}, LONG),
    "a pair of 600 tokens": ({"text": "word " * 300, "pair": "word " * 299}, "602 tokens"),
    "no such model": ({"model": "no such model"}, NO_MODEL),
    "a URL for a model": (
        {"model": "https://huggingface.co/bert-base-uncased"},
        NO_MODEL,
    ),
    "markup for a model": ({"model": "<script>alert(1)</script>"}, NO_MODEL),
    "no network": ({"model": "google-bert/bert-large-uncased"}, "could not be reached"),
    "a folder without a model": ({"model": "/"}, NO_MODEL),
}
REMARKED = {
    "a layer too many": ({"layer": "6"}, "There is no layer 6 in this model, only 0 to 5"),
    "a layer below 0": ({"layer": "-1"}, "There is no layer -1"),
    "a layer in words": ({"layer": "first"}, "There is no layer first"),
    "markup for a layer": ({"layer": "<script>"}, "There is no layer <script>"),
    "a head too many": ({"head": "12"}, "There is no head 12 in this model, only 0 to 11"),
    "a broken head": ({"head": "1.5"}, "There is no head 1.5"),
    "a token too many": ({"token": "12"}, "There is no token 12 in this input, only 0 to 4"),
    "a token in words": ({"token": "rome"}, "There is no token rome"),
    "a very long token": ({"token": "9" * 5000}, "There is no token 9999999999999999999…"),
    "a component too many": ({"component": "767"}, "There is no component 767 in this model, only 0 to 383"),
    "a component in words": ({"component": "x"}, "There is no component x"),
    "a window below 0": ({"window": "-5"}, "There is no window -5 in this input"),
    "padding in words": ({"pad": "all"}, "“Pad to” takes a whole number"),
    "padding too short": ({"pad": "2"}, "The input has 5 tokens already"),
    "padding too long": ({"pad": "1000"}, "reads at most 512 tokens; the input is padded to 512"),
    "padding below 0": ({"pad": "-4"}, "“Pad to” takes a whole number"),
    "masks in words": ({"mask": "a;b"}, "Masked positions are whole numbers"),
    "masks outside": ({"mask": "0,99"}, "Only words and word pieces can be masked"),
}
BLANKS = {
    "[mask]": (
        {"text": "I [mask] you."},
        "“[mask]” was read as the characters it is made of. To hide a word, write [MASK].",
    ),
    "[Mask] in the pair": ({"pair": "You [Mask] me."}, "“[Mask]” was read"),
    "a line": ({"text": "I ____ you."}, "“____” was read"),
}
NO_BLANKS = {
    "a real one": {"text": "I [MASK] you, you ____ me."},
    "a token hidden": {"text": "I ___ you.", "mask": "1"},
    "names with underscores": {"text": "snake_case and __init__, a mask [masked]"},
}
SHOWN = {
    "emoji": {"text": "I ❤️ 🤗 and 👩🏽‍🚀"},
    "right to left": {"text": "שלום עולם مرحبا"},
    "no script of ours": {"text": "东京 हिन्दी ไทย"},
    "markup": {"text": "<script>alert(1)</script><b>bold</b>"},
    "Markdown and LaTeX": {"text": "**b** $x$ \\frac{1} :red[r] [l](http://x.y) `c` # h", "pair": "| a | b |\n|---|"},
    "control characters": {"text": "a\x00b\x07c\x1bd"},
    "a word without end": {"text": "x" * 3000},
    "special tokens": {"text": "[CLS] [SEP] [PAD] [MASK] [UNK]"},
    "parameters that nobody knows": {"nonsense": "1", "page": "../../etc/passwd", "layer": ["2", "3"]},
}
SPOILT = {
    f"{family}: {name}": cases[name]
    for family, cases, names in (
        ("config", CONFIG, ("missing", "not JSON", "another model", "heads that do not divide", "a billion words")),
        ("file", FILES, ("a pickle only", "cut in the middle", "a web page", "a missing shard")),
        ("tensor", TENSORS, ("a missing tensor", "a wrong shape", "not a number", "whole numbers")),
        ("tokenizer", TOKENIZER, ("no files", "no vocabulary", "larger than the model")),
    )
    for name in names
}


@pytest.fixture(scope="module")
def good_model(tmp_path_factory):
    return random_checkpoint(tmp_path_factory.mktemp("good"), kind="sequence-classification")


@pytest.fixture
def app(monkeypatch, tmp_path):
    """The app as a browser finds it that follows a link; without a network."""
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))

    def follow(query):
        at = AppTest.from_file(APP, default_timeout=30)
        at.query_params.update({"text": GOOD, **query})
        return at.run()

    return follow


def said(at):
    """All messages of the page."""
    assert at.exception.len == 0, at.exception
    return [message.value for kind in (at.error, at.warning, at.info) for message in kind]


def refused(at):
    """The messages that something went wrong, without those that explain a page."""
    assert at.exception.len == 0, at.exception
    return [message.value for kind in (at.error, at.warning) for message in kind]


def field(widgets, label):
    return next(one for one in widgets if one.label == label)


def run_again(at):
    """Run all of the app, and not only the page that it was on last, as its test client does from then on."""
    at._page_hash = at._finished_page_script_hash = ""
    return at.run()


def press(at, label):
    next(button for button in at.button if button.label.replace("\\", "") == label).click()
    return run_again(at)


def still_usable(at):
    field(at.text_input, "Sentence").set_value(GOOD)
    field(at.text_input, "Second sentence (optional)").set_value("")
    with open_menus("editor"):
        run_again(at)
        field(at.selectbox, "Model").set_value("bundled")
        run_again(at)
    assert said(at) == [] and at.session_state["view"].text == GOOD
    for info in PAGES[1:3]:
        at.switch_page(f"pages/{info.name}.py").run()
        assert (refused(at), len(at.title), title_of(at)) == ([], 1, info.title)


@pytest.mark.parametrize(("query", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_run_is_refused(app, query, message):
    at = app(query)
    assert len(said(at)) == 1 and escape_markdown(message) in said(at)[0], said(at)
    assert field(at.text_input, "Sentence").value == query.get("text", GOOD), "what was typed is lost"
    stands_in = at.session_state["view"]
    assert stands_in.trace.model.name == "bundled" and len(at.title) == 1
    assert stands_in.text == (GOOD if "model" in query else EXAMPLES[0].text), "another page than is told stands below"
    assert any(escape_markdown(stands_in.text) in caption.value for caption in at.caption)
    still_usable(at)


# What the URL holds, the remedy that is pressed, and what is read then.
MENDED = {
    "600 tokens": ({"text": "word " * 600}, "Cut to 512 tokens", ("word " * 510).strip(), None),
    "a pair that is too long": (
        {"text": "word " * 300, "pair": "bird " * 300}, "Cut to 512 tokens", "word " * 300, ("bird " * 209).strip(),
    ),
    "a sentence that leaves no room": (
        {"text": "word " * 600, "pair": "bird"}, "Cut to 512 tokens", ("word " * 510).strip(), None,
    ),
    "a second sentence": ({"text": GOOD, "pair": "bird " * 600}, "Leave out the second sentence", GOOD, None),
    "no sentence": ({"text": " "}, f"Read “{EXAMPLES[0].text}”", EXAMPLES[0].text, None),
    "no model": ({"model": "no such model"}, "Use the bundled model", GOOD, None),
    "a line for a blank": ({"text": "I ____ you."}, "Put [MASK] in place of ____", "I [MASK] you.", None),
    "a blank in the pair": ({"pair": "You [Mask] me."}, "Put [MASK] in place of [Mask]", GOOD, "You [MASK] me."),
}  # fmt: skip


@pytest.mark.parametrize(("query", "label", "text", "pair"), MENDED.values(), ids=MENDED)
def test_a_press_on_a_remedy_mends_it(app, query, label, text, pair):
    at = app(query)
    press(at, label)
    view = at.session_state["view"]
    assert said(at) == [] and (view.text, view.pair, view.trace.model.name) == (text, pair, "bundled")
    assert len(view.trace.tokens) <= 512


def test_below_a_sentence_that_cannot_be_read_stands_the_one_before(app):
    at = app({"text": "a good one", "layer": "3"})
    field(at.text_input, "Sentence").set_value("word " * 600)
    run_again(at)
    assert len(said(at)) == 1 and at.session_state["view"].text == "a good one"


@pytest.mark.parametrize("name", ["/", "/etc/passwd", "/no/such/folder", "google-bert/bert-base-uncased", "<b>x</b>"])
def test_a_model_that_the_server_does_not_offer_is_refused_without_a_look(app, monkeypatch, name):
    looked, locate = [], model.locate
    monkeypatch.setattr(model, "locate", lambda wanted: looked.append(wanted) or locate(wanted))
    monkeypatch.setenv("BERTVIZ_MODELS", "bundled")
    at = app({"model": name})
    monkeypatch.undo()
    assert said(at) == [
        escape_markdown(
            "This server offers only these models: bundled. The link asks for another one. Use one of these, or run "
            "the explorer on your own machine without BERTVIZ_MODELS."
        )
    ]
    assert set(looked) <= {"bundled"}  # which is loaded before the first page, if nothing has loaded it yet
    assert at.session_state["view"].trace.model.name == "bundled"  # which stands in for it
    press(at, "Use the bundled model")
    assert said(at) == [] and at.session_state["view"].trace.model.name == "bundled"


def test_a_wrong_setting_of_the_server_is_said(app, monkeypatch):
    for shared in (get_shelf, get_store, get_watch):
        shared.clear()
    monkeypatch.setenv("BERTVIZ_MEMORY_MB", "much")
    monkeypatch.setattr(memory, "count_bytes", lambda: 2_000_000_000)
    at = app({})
    assert said(at) == [
        escape_markdown(
            "BERTVIZ_MEMORY_MB is 'much', but takes a positive number of megabytes, such as 1600. Whoever runs this "
            "server can mend that."
        )
    ]
    monkeypatch.undo()
    assert said(run_again(at)) == [] and at.session_state["view"].text == GOOD


def test_a_link_that_compares_with_a_model_that_is_gone_shows_its_own(app):
    at = app({"against": "yours, untrained"})
    assert len(at.info) == 1 and len(said(at)) == 1 and "Nothing is compared" in said(at)[0], said(at)
    assert at.session_state["view"].trace.model.name == "bundled" and "against" not in at.query_params


@pytest.mark.parametrize(("query", "message"), REMARKED.values(), ids=REMARKED)
def test_what_does_not_fit_is_remarked_upon(app, query, message):
    at = app(query)
    assert len(said(at)) == 1 and message in said(at)[0].replace("\\", ""), said(at)
    assert at.session_state["view"].text == GOOD


@pytest.mark.parametrize(("query", "message"), BLANKS.values(), ids=BLANKS)
def test_a_blank_that_hides_nothing_is_remarked_upon(app, query, message):
    (remark,) = said(app(query))
    assert message in remark.replace("\\", "")


@pytest.mark.parametrize("query", NO_BLANKS.values(), ids=NO_BLANKS)
def test_what_is_no_blank_is_not_remarked_upon(app, query):
    assert said(app(query)) == []


@pytest.mark.parametrize("name", often(SHOWN, ["emoji", "markup"], str))
def test_what_is_only_strange_is_shown_on_every_page(app, name):
    query = SHOWN[name]
    at = app(query)
    for info in PAGES:
        at.switch_page(f"pages/{info.name}.py").run()
        assert (refused(at), len(at.title), title_of(at)) == ([], 1, info.title)


@pytest.mark.parametrize(("spoil", "message"), SPOILT.values(), ids=SPOILT)
def test_a_checkpoint_that_cannot_be_loaded(app, good_model, tmp_path, monkeypatch, spoil, message):
    folder = shutil.copytree(good_model, tmp_path / "model")
    spoil(folder)
    monkeypatch.setenv("BERTVIZ_MODELS", str(folder))
    at = app({})
    assert len(said(at)) == 1 and escape_markdown(message) in said(at)[0], said(at)
    shutil.rmtree(folder)
    shutil.copytree(good_model, folder)
    press(at, "Try again")
    assert said(at) == [] and at.session_state["view"].trace.model.name == str(folder)


@pytest.mark.parametrize("address", ["https://a.example", "HTTP://a.example", "www.a.example", "who@a.example"])
def test_what_looks_like_an_address_is_no_link_in_markdown(address):
    written = escape_markdown(f"see {address} now")
    assert not re.search(r"https?\\?:\\?/\\?/|www\\?\.|\w\\?@\w", written, re.IGNORECASE)
    assert written.replace("\\", "").replace("\u2060", "") == f"see {address} now"


@pytest.mark.parametrize("put", ["1e10", "1e14", "-3e38", "0"])
def test_logits_that_are_all_alike_are_drawn_however_large(app, put):
    at = app({"changes": f"cls.predictions.decoder:{put}", "open": "all"})
    at.switch_page("pages/predictions.py").run()
    assert not at.exception and at.get("plotly_chart")


def test_a_field_in_a_link_is_read_as_far_as_one_can_type(app):
    at = app({"word": "a" * 60_000})
    at.switch_page("pages/predictions.py").run()
    assert not at.exception and 80 <= len(at.session_state["word"]) <= 200


@pytest.mark.parametrize(("key", "most"), [(keys.CHANGES, 24_002), (keys.KEY_TOKEN, 200)], ids=["long", "short"])
def test_an_address_holds_no_more_than_is_read_of_it(app, key, most):
    """Else the server would not hear the browser that comes back with it."""
    at = app({})
    at.session_state[key.name] = noise = random.Random(0).randbytes(60_000).hex()
    run_again(at)
    assert not at.exception and key.name in at.query_params
    assert len("".join(at.query_params[key.name])) <= most < len(pack(noise))
