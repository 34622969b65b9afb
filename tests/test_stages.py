"""A step says its stage; each stage has a page, and that page really shows the step, in every program."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.formula.address import Address
from bertviz_core.formula.stages import Stage
from bertviz_core.programs import DOCUMENT_PROGRAMS
from bertviz_core.ui.frame.site import PAGES, find_link, find_page
from tests.factory import random_checkpoint
from tests.often import often
from tests.test_documents_page import entries

APP = str(Path(__file__).parent.parent / "app.py")
TEXT, PAIR, LAYER = "He sat by the river.", "The [MASK] was cold.", 3

# By the last parts of their paths, in the programs that have them: what is easily put into the wrong stage.
EXPECTED = {
    "embeddings.LayerNorm.mean": Stage.EMBEDDINGS,
    "encoder.input": Stage.EMBEDDINGS,
    "attention.self.value": Stage.QUERY_KEY_VALUE,
    "attention.self.probs": Stage.ATTENTION,
    "attention.self.heads": Stage.ATTENTION_OUTPUT,
    "attention.self.context": Stage.ATTENTION_OUTPUT,
    "attention.output.dense": Stage.ATTENTION_OUTPUT,
    "attention.output.dropout": Stage.ADD_NORM,
    "attention.LayerNorm.sigma": Stage.ADD_NORM,
    "intermediate.LayerNorm.sigma": Stage.ADD_NORM,
    "output.LayerNorm.variance": Stage.ADD_NORM,
    "output.residual": Stage.ADD_NORM,
    "output.dropout": Stage.ADD_NORM,
    "intermediate.activation": Stage.FEED_FORWARD,
    "output.dense": Stage.FEED_FORWARD,
    "single_layer.intermediate.dense": Stage.FEED_FORWARD,
    "single_layer.output.residual": Stage.ADD_NORM,
    "cls.predictions.transform.LayerNorm.mean": Stage.PREDICTIONS,
    "cls.predictions.argmax": Stage.PREDICTIONS,
    "pooler.activation": Stage.SENTENCE,
    "cls.seq_relationship.probs": Stage.SENTENCE,
    "classifier": Stage.SENTENCE,
}


# What one page shows after the other, by what its URL says.
SWITCHES = {
    Stage.EMBEDDINGS: [{}, {"vectors": "normalized"}],
    Stage.ADD_NORM: [{"where": "attention"}, {"where": "feed-forward"}],
}


def opened(page, **query):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update({"text": TEXT, "pair": PAIR, "layer": str(LAYER), "open": "all", **query})
    at.run()
    at.switch_page(f"pages/{page}.py").run()
    assert [element.value for element in (*at.exception, *at.error)] == []
    return at


@pytest.mark.parametrize("name", ["bert", *DOCUMENT_PROGRAMS])
def test_every_step_says_the_stage_that_it_belongs_to(tmp_path, bundled, name):
    models = [bundled, bv.load_model(random_checkpoint(tmp_path, kind="sequence-classification"))]
    found = {Address(step.address).leaf: step.stage for model in models for step in model.written(name).steps}
    known = EXPECTED.keys() & found.keys()
    assert {leaf: found[leaf] for leaf in known} == {leaf: EXPECTED[leaf] for leaf in known} and len(known) >= 9
    for model in models:
        for step in model.written(name).steps:
            assert step.stage.in_layer == (step.layer is not None or step.address.startswith("single_layer."))


def test_every_leaf_that_is_expected_is_in_some_program(tmp_path, bundled):
    model = bv.load_model(random_checkpoint(tmp_path, kind="sequence-classification"))
    programs = [one.written(name) for one in (bundled, model) for name in ("bert", *DOCUMENT_PROGRAMS)]
    assert EXPECTED.keys() <= {Address(step.address).leaf for program in programs for step in program.steps}


def test_parameters_belong_to_the_stage_that_reads_them_first_and_inputs_to_the_input(bundled):
    for name in ("bert", *DOCUMENT_PROGRAMS):
        program = bundled.written(name)
        assert {program.stages[symbol.address] for symbol in program.inputs} == {Stage.INPUT}
        for symbol in program.parameters:
            reader = next(step for step in program.steps if symbol in step.leaves)
            assert program.stages[symbol.address] is reader.stage


def test_every_stage_has_one_page_called_as_it_is():
    assert [info.stage for info in PAGES if info.stage] == list(Stage)
    for stage in Stage:
        assert find_page(stage).stage is stage and find_page(stage).title in (stage.title, "Tokenization")


def written(at):
    """All that a page shows as text: headings with addresses, Markdown, tables; and what charts are of."""
    charts = [chart.proto.id.partition("-chart-")[2] for chart in at.get("plotly_chart")]
    texts = [*(element.value for element in at.markdown), *(one.proto.body for one in at.get("html"))]
    return "\n".join([*texts, *charts])


def names(text, address):
    """Whether an address stands in a text, whole or with indices, and not only as a part of a longer path."""
    return re.search(rf"(?<![\w.]){re.escape(address)}(?![\w.])", text)


@pytest.mark.parametrize("stage", [stage for stage in Stage if stage is not Stage.INPUT], ids=lambda stage: stage.name)
def test_the_page_of_a_stage_shows_every_step_of_it(bundled, stage):
    text = "\n".join(written(opened(find_page(stage).name, **query)) for query in SWITCHES.get(stage, [{}]))
    own = [step.address for step in bundled.program.steps if step.stage is stage and step.layer in (None, LAYER)]
    assert own and [address for address in own if not names(text, address)] == []


def test_the_page_of_the_input_shows_every_row_that_comes_in(bundled):
    text = written(opened(find_page(Stage.INPUT).name))
    assert all(names(text, symbol.address) for symbol in bundled.program.inputs)


@pytest.mark.parametrize("kind", ["sequence-classification", "token-classification", "question-answering"])
def test_classes_and_answers_are_shown_on_their_page(tmp_path, monkeypatch, kind):
    folder = random_checkpoint(tmp_path, kind=kind)
    monkeypatch.setenv("BERTVIZ_MODELS", str(folder))
    at = opened(find_page(Stage.SENTENCE).name, text="the cat sat", pair="", layer="1", token="0")
    own = [step for step in bv.load_model(folder).program.steps if step.stage is Stage.SENTENCE]
    assert own and all(names(written(at), step.address) for step in own)


@pytest.mark.parametrize("name", often(DOCUMENT_PROGRAMS, ["forward-pass-note", "encoder-article"], str))
def test_what_only_a_document_has_is_linked_to_its_list_of_steps_which_shows_it(bundled, name):
    trace = bv.run(bundled, TEXT, PAIR, program=name)
    links = {address: find_link(trace, Address(address)) for address in trace.addresses}
    own = {address: link for address, link in links.items() if address not in bundled.program.by_address}
    assert own and {link.page.name for link in own.values()} == {"documents"}
    assert all(links[address].page.stage is bundled.program.stages[address] for address in links.keys() - own.keys())
    for query in {tuple(link.query.items()) for link in own.values()}:
        says = {key.name: text for key, text in query}
        shown = entries(opened("documents", **says))
        asked = {address for address, link in own.items() if tuple(link.query.items()) == query}
        assert asked <= shown.keys() and says["document"] == name


def test_there_is_no_link_to_what_is_not_there(rome):
    with pytest.raises(bv.AddressError, match=r"did you mean embeddings\.sum\?"):
        find_link(rome, Address("embeddings.summ"))
