"""The page of training: its fields, its controls, its numbers explained, and the trained model on other pages."""

import base64
import json
import re
import runpy
import time
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote_plus

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.learning import Hosted, presence
from bertviz_core.ui.frame import site
from bertviz_core.ui.views.training_told import find_largest, name_length, name_loss, name_term
from tests.menus import open_menus
from tests.often import seldom
from tests.settling import settle

ROOT = Path(__file__).parents[1]
APP = str(ROOT / "app.py")


@pytest.fixture(scope="module", autouse=True)
def page():
    """Whichever page is to be shown stands in the app: by itself AppTest runs it without the app around it."""
    shown, declare = {"name": "training"}, site.declare_pages

    def declare_shown():
        declare()
        file = ROOT / "pages" / f"{shown['name']}.py"
        return site.get_page(shown["name"]), SimpleNamespace(run=lambda: runpy.run_path(str(file)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "declare_pages", declare_shown)
        whole = property(lambda at: "", lambda at, finished: None)
        patch.setattr(AppTest, "_finished_page_script_hash", whole, raising=False)
        patch.setattr(presence, "GONE_S", 1e9)  # nobody is connected here
        yield shown


def opened(**query):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update(query)
    return at.run()


def press(at, key):
    """Press a button, and wait until the queue has done what was asked for."""
    at.button(key=key).click().run()
    run = at.session_state["training-run"]
    deadline = time.monotonic() + 60
    while run.going:
        assert time.monotonic() < deadline
        for ticket in run.tickets:
            ticket.touch()
        time.sleep(0.01)
    return at.run()


@pytest.fixture(scope="module")
def trained():
    return press(opened(passes="2", texts="The cat sat.\nA dog sat there."), "training-go")


def texts(at):
    return " ".join(element.proto.body for element in at.get("html"))


def errors(at):
    assert not at.exception, at.exception
    return " ".join(element.value for element in at.error).replace("\\", "")


def test_at_rest_nothing_is_trained_and_the_page_says_so():
    at = opened(seed="11")  # that no other test has worked out
    run = at.session_state["training-run"]
    assert not errors(at) and not run.records and not run.going
    assert "Nothing is trained yet: 3 sentences, 240 steps. Press **Start**" in at.title[0].value
    assert at.button(key="training-go").label == "Start"
    assert "<b>Now, and still to come</b>" in texts(at), "its card comes later than the others, and moves what is below"
    assert "not the steps" in " ".join(caption.value for caption in at.caption)
    assert len(at.get("plotly_chart")) == 3  # two of the page, one of the drawer


@pytest.mark.parametrize(
    ("key", "typed", "said"),
    [
        ("seed", "18446744073709551616", "The seed must be a whole number from 0 to"),
        ("eta", "1e9", "η must be above 0 and at most 10"),
        ("eta", "nan", "η must be above 0"),
        ("eta", "fast", "η is a number; 'fast' is none"),
        ("passes", "2.5", "T is a whole number"),
        ("passes", "5000", "T, the number of passes,"),
        ("passes", "1999", "at most 2,000 steps"),
        ("p_mask", "0", "p_mask must be above 0"),
        ("p_mask", "1", "p_mask must be above 0"),
        ("seed", "-1", "The seed must be a whole number"),
        ("texts", " \n ", "1 to 8 sentences, not 0"),
        ("texts", "\n".join("abcdefghi"), "1 to 8 sentences, not 9"),
        ("texts", "[SEP] [CLS]", "Nothing in sentence 1 can be hidden"),
        ("texts", "a " * 600, "Sentence 1"),
    ],
)
def test_bad_settings_meet_a_message_and_the_page_lives_on(key, typed, said):
    at = opened(**{key: typed})
    assert said in errors(at)
    widget = at.text_area(key=key) if key == "texts" else at.text_input(key=key)
    usual = {"texts": "The cat sat.", "eta": "0.03", "passes": "2", "p_mask": "0.3", "seed": "0"}[key]
    widget.set_value(usual).run()
    at.run()
    assert not errors(at) and not at.session_state["training-run"].records


def test_a_step_that_gives_no_number_breaks_off_with_a_message():
    at = press(opened(eta="10", passes="200"), "training-go")
    run = at.session_state["training-run"]
    assert "η 10" in errors(at) and run.ended
    assert at.button(key="training-go").disabled and not at.button(key="training-reset").disabled


def test_the_headline_begins_and_ends_where_its_line_does(trained):
    losses = next(
        json.loads(element.proto.spec)["data"][0]["y"]
        for element in trained.get("plotly_chart")
        if element.proto.id.endswith("-chart-training-loss")
    )
    line = np.frombuffer(base64.b64decode(losses["bdata"]), dtype=losses["dtype"])
    told = f"per hidden word was **{line[0]:.2f}** in the first and **{line[-1]:.2f}** over all of them"
    assert told in trained.title[0].value and len(line) == 4


@pytest.mark.parametrize("program", ["definition", "bert"])
def test_one_step_and_all_of_its_numbers(program):
    at = press(opened(program=program), "training-step")
    run = at.session_state["training-run"]
    (record,) = run.records
    assert at.button(key="training-go").label == "Go on"
    before = run.training.before
    trace = bv.run(before, run.training.sentences[0], masked=record.hidden, program=program)
    probs = [trace[f"cls.predictions.probs[token={i},vocab={record.ids[i]}]"].item() for i in record.hidden]
    np.testing.assert_allclose(record.before, probs, rtol=1e-6)
    shown = texts(at)
    for i, prob in zip(record.hidden, probs, strict=True):
        assert f'data-cell="{name_term(record, i)}">{-np.log(prob):.4f}<' in shown
    assert f'data-cell="{name_loss(record)}">{-np.log(probs).sum():.4f}<' in shown
    assert f"Step {record.number} took J from **{record.loss:.4f}**" in at.title[0].value
    assert f"{len(record.hidden)} hidden" in shown and "i = 1" in shown


@pytest.mark.slow
@pytest.mark.parametrize("learner", [seldom("copy"), "heads"])
def test_a_copy_learns_and_the_shared_model_stays_as_it_is(learner, page):
    at = opened(learner=learner, passes="1", texts="A cat.")
    shared = at.session_state["view"].trace.model
    before = {name: tensor.clone() for name, tensor in shared.parameters.items()}
    press(at, "training-step")
    run = at.session_state["training-run"]
    assert run.training.before is shared and len(run.records) == 1 and not errors(at)
    assert all(bool((tensor == shared.parameters[name]).all()) for name, tensor in before.items())
    learned = {
        name
        for name, tensor in run.training.fetch_model().parameters.items()
        if not bool((tensor == before[name]).all())
    }
    heads = {name for name in learned if name.startswith("cls.predictions.")}
    assert heads and (heads == learned) == (learner == "heads")


def test_reset_leaves_nothing_and_the_same_steps_come_again():
    at = press(opened(passes="1"), "training-go")
    run = at.session_state["training-run"]
    losses = [record.loss for record in run.records]
    at.button(key="training-reset").click().run()
    assert not run.records and re.search("Nothing is trained yet|Forecast: in ", at.run().title[0].value)
    press(at, "training-go")
    assert [record.loss for record in run.records] == losses


@pytest.mark.slow
def test_what_start_will_do_is_shown_before_and_comes_so():
    at = opened(passes="2", texts="The cat sat.\nA dog sat there.")
    assert settle()
    at.run()
    charts, ahead = read_charts(at), (run := at.session_state["training-run"]).ahead
    assert not errors(at) and not run.records and len(ahead.records) == 4 and len(ahead.passes) == 3
    coming = r"in 4 steps −log P per hidden word is \*\*(.*?)\*\* in the first and \*\*(.*?)\*\* over all"
    told = re.search(coming, at.title[0].value)
    assert told and "On grey ground is still to come" in texts(at) and ">after all steps</small>" in texts(at)
    press(at, "training-go")
    assert [record.loss for record in run.records] == [record.loss for record in ahead.records]
    assert [found.probabilities for found in run.training.passes] == [one.probabilities for one in ahead.passes]
    assert f"was **{told[1]}** in the first and **{told[2]}** over all" in at.title[0].value
    taken = read_charts(at)
    for name in ("training-loss", "training-words"):
        assert [one["y"] for one in taken[name]["data"]] == [one["y"] for one in charts[name]["data"]]
        shapes = (one[name]["layout"].get("shapes", []) for one in (charts, taken))
        assert [[shape["x0"] for shape in each if shape["type"] == "rect"] for each in shapes] == [[0.5], []]
    ends = [one["training-loss"]["data"][-1]["marker"]["opacity"][-1] for one in (charts, taken)]
    assert ends[0] < ends[1] == 1, "no step is the last one that was taken before the first is"
    for (sentence, token), ranked in zip(run.training.words, ahead.ranked, strict=True):
        for found, known in zip(run.training.rank_words(sentence, token, 3), ranked, strict=True):
            assert [word for word, _ in found] == [word for word, _ in known]
            np.testing.assert_allclose([p for _, p in found], [p for _, p in known], rtol=1e-6)
    at.button(key="training-reset").click().run()
    assert at.session_state["training-run"].ahead is ahead or at.run().session_state["training-run"].ahead is ahead


def read_charts(at):
    found = {element.proto.id: json.loads(element.proto.spec) for element in at.get("plotly_chart")}
    return {name.rpartition("-chart-")[2]: chart for name, chart in found.items()}


def test_another_setting_is_another_training(trained):
    at = press(opened(passes="1"), "training-go")
    before = at.session_state["training-run"]
    at.text_input(key="seed").set_value("7").run()
    at.run()
    after = at.session_state["training-run"]
    assert after is not before and not after.records and after.asked.settings.seed == 7


def explain(at, address):
    at.query_params["walk"] = address
    at.run()
    assert not at.exception
    drawer = texts(at)
    assert re.search(r'<code class="bv-address">(.*?)</code>', drawer)[1] == address
    value = re.search(r'class="bv-value"[^>]*><b>(.*?)</b>', drawer)[1]
    return value, re.findall(r'class="bv-line"><span>(.*?)</span></p>', drawer), drawer


def test_every_kind_of_number_is_explained(trained):
    run = trained.session_state["training-run"]
    record = run.records[-1]
    minus = str.maketrans("-", "\N{MINUS SIGN}")
    value, formulas, drawer = explain(trained, name_loss(record))
    assert value == f"{record.loss:.4f}" and "Σ" in formulas[0]
    assert all(f'data-step="{name_term(record, i)}"' in drawer for i in record.hidden)
    value, _, _ = explain(trained, name_term(record, record.hidden[0]))
    assert value == f"{-np.log(record.before[0]):.4f}"
    for i, norm in enumerate(record.gradient_norms.values()):
        assert explain(trained, name_length(record, i))[0] == f"{norm:.4f}"
    _, largest = find_largest(run.training, record)
    value, formulas, drawer = explain(trained, largest)
    why = run.training.explain(largest.replace(f"step={record.number},", ""), record.number)
    assert value == f"{why.old - 0.015 * why.gradient:.4f}".translate(minus)
    assert f"{why.gradient:.4f}".translate(minus) in drawer and "η" in formulas[0]


def test_what_does_not_come_in_time_is_a_sentence_and_the_page_stays_usable(monkeypatch):
    at = press(opened(passes="1", texts="A cat."), "training-step")
    record = at.session_state["training-run"].records[-1]

    def be_late(training, what, *given):
        raise bv.TrainingError("A step is being taken that lasts long. Ask again in a moment.")

    with monkeypatch.context() as patch:
        patch.setattr(Hosted, "_ask", be_late)
        patch.setattr(Hosted, "_fetch", be_late)
        at.query_params.update({"open": "attention,use", "walk": name_loss(record)})
        at.run()
        assert not errors(at) and "lasts long" in " ".join(shown.value for shown in (*at.caption, *at.warning))
        assert "lasts long" in " ".join(shown.value for shown in at.info)  # the drawer
        at.button(key="training-use-False").click().run()
        assert "lasts long" in errors(at)
    at.run()
    assert f"{record.loss:.4f}" in texts(at) and not errors(at)


@pytest.mark.parametrize(("address", "why"), [
    *((one, "has not been taken")
      for one in ("J[step=3]", "J.term[step=99,token=1]", "J.gradient_length[step=2,group=99]")),
    *((one, "of its own") for one in ("J", "update:nope")),
])  # fmt: skip
def test_a_link_to_no_step_that_was_taken_says_why(address, why):
    at = opened(walk=address)
    said = " ".join(element.value for element in at.info)
    assert not at.exception and "cannot be explained" in texts(at) and why in said and "step" in said


def test_the_drawer_of_a_step_closes_where_its_page_is_left(page):
    at = press(opened(passes="1", texts="A cat."), "training-step")
    explain(at, name_loss(at.session_state["training-run"].records[-1]))
    page["name"] = "notation"
    at.run()
    page["name"] = "training"
    assert 'id="bv-drawer-title"' not in texts(at) and "walk" not in at.query_params


@pytest.mark.parametrize("address", ["J[step=6]", "update:cls.predictions.bias[step=1,vocab=7]"])
def test_a_link_to_a_step_on_another_page_says_where_it_is_told(page, address):
    page["name"] = "notation"
    at = opened(walk=address)
    page["name"] = "training"
    said = " ".join(element.value for element in at.info).replace("\\", "")
    assert not at.exception and f"{address} is a number of the page Training" in said
    (link,) = [one for one in at.get("page_link") if one.proto.label == "Page: Training"]
    assert f"walk={quote_plus(address)}" in link.proto.query_string and at.query_params["walk"] == address


def test_the_trained_model_is_chosen_on_other_pages_and_compared_with_the_untrained(trained, page):
    run, name = trained.session_state["training-run"], "yours, 4 steps"
    assert len(run.records) == 4
    trained.query_params.update({"open": "use", "walk": ""})
    trained.run()
    trained.button(key="training-use-True").click().run()
    page["name"] = "predictions"
    trained.run()
    outcome = trained.session_state["view"].outcome
    assert not errors(trained) and (outcome.after.model.name, outcome.before.model.name) == (name, "yours, untrained")
    place = f"cls.predictions.probs[token={trained.session_state['view'].chosen.token}]"
    for trace, model in ((outcome.after, run.training.fetch_model()), (outcome.before, run.training.before)):
        np.testing.assert_array_equal(trace[place], bv.run(model, trained.session_state["view"].text)[place])
    trained.segmented_control(key="show").set_value("Difference").run()
    assert trained.session_state["view"].outcome.compared
    trained.button(key="undo-models").click().run()
    assert not trained.session_state["view"].outcome.changed
    page["name"] = "training"
    trained.run()
    assert trained.session_state["training-run"] is run and len(run.records) == 4  # what is used is not what is trained


def test_another_model_in_the_editor_is_compared_with_none(trained):
    trained.query_params.update({"open": "use", "walk": ""})
    trained.run()
    with open_menus("editor"):
        trained.button(key="training-use-True").click().run()
        assert trained.query_params["against"] == "yours, untrained"
        next(one for one in trained.selectbox if one.label == "Model").set_value("bundled").run()
    assert not errors(trained) and "against" not in trained.query_params
    assert trained.query_params["model"] == "bundled"  # a model that was named once stays named


def test_a_model_of_another_visit_is_not_there_and_the_app_says_what_to_do():
    at = opened(model="yours, 4 steps")
    assert "it was trained in another visit" in errors(at)
    assert "Use the bundled model" in [button.label for button in at.button]


@pytest.mark.parametrize("label", ["Use the bundled model", "Open Training"])
def test_a_page_that_cannot_be_run_keeps_its_parameters(label):
    at = opened(model="yours, 15 steps", passes="5", texts="The cat sat.")
    assert "is not there" in errors(at)
    assert (at.query_params["passes"], at.query_params["texts"]) == ("5", "The cat sat.")
    next(button for button in at.button if button.label == label).click().run()
    assert not errors(at) and at.session_state["training-run"].asked.settings.passes == 5
    assert (at.query_params["passes"], at.query_params["texts"]) == ("5", "The cat sat.")
    assert at.query_params["model"] == at.session_state["view"].trace.model.name == "bundled"
