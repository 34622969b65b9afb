"""The documents page: every pair of documents, its numbers against NumPy's; and that no place of a document is lost."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.analysis.document_runs import run_documents
from bertviz_core.documents import DOCUMENTS, find_document
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number, format_percent
from bertviz_core.programs import DOCUMENT_PROGRAMS, PROGRAMS
from bertviz_core.ui.frame.site import PAGES
from bertviz_core.ui.views.documents_told import find_cosine, tell
from tests.latex import balanced
from tests.often import often
from tests.test_pages import decoded

APP = str(Path(__file__).parent.parent / "app.py")
TEXT = "When in Rome, do as the [MASK] do."
MASK, LAYER = 8, 3


def opened(**query):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update({"open": "all", "layer": str(LAYER), **query})
    at.run()
    at.switch_page("pages/documents.py")
    return at.run()


@pytest.fixture(scope="module")
def page():
    return opened()


def chosen(page, document, beside):
    page.selectbox(key="document").set_value(document)
    page.selectbox(key="beside").set_value(beside)
    return page.run()


def words(page):
    return "\n".join(element.value for element in (*page.markdown, *page.caption))


def entries(page):
    """The steps shown: address to relation."""
    found = re.findall(r"^- \*\*. (\w+)\*\* &ensp; `([\w.]+)`", words(page), re.M)
    return {address: relation for relation, address in found}


def near(program, layer):
    """The steps that the page shows of a program."""
    found = {step.address: Address(step.address).layer for step in program.steps}
    return {
        address
        for address, own in found.items()
        if own == layer or (own is None and not address.startswith("single_layer."))
    }


@pytest.mark.parametrize("beside", often(PROGRAMS, ["bert", "definition", "encoder-article"], str))
@pytest.mark.parametrize("document", DOCUMENT_PROGRAMS)
def test_every_pair_of_documents_is_shown_step_by_step(page, bundled, document, beside):
    at = chosen(page, document, beside)
    assert [element.value for element in (*at.exception, *at.error)] == []
    shown, (left, right) = entries(at), (bundled.written(name) for name in (beside, document))
    one, other = near(left, LAYER), near(right, LAYER)
    assert set(shown) == one | other
    for address, relation in shown.items():
        assert (relation == "missing") == (address not in other) and (relation == "extra") == (address not in one)
        for program in (left, right):
            step = program.by_address.get(address)
            assert step is None or (step.source in words(at) and step.meaning in words(at))
    for formula in re.findall(r"\$\\displaystyle (.+?)\$  $", words(at), re.M):
        assert balanced(formula), formula


def test_the_chart_shows_the_cosines_of_two_runs(page, bundled):
    at = chosen(page, "formula-post", "bert")
    runs = {name: bv.run(bundled, TEXT, program=name) for name in ("bert", "formula-post")}
    last = {name: "residual" if name == "formula-post" else "LayerNorm" for name in runs}
    pairs = (
        (runs[name][f"encoder.layer.{i}.output.{last[name]}"][MASK].astype(np.float64) for name in runs)
        for i in range(6)
    )
    expected = [x @ y / np.linalg.norm(x) / np.linalg.norm(y) for x, y in pairs]
    np.testing.assert_allclose(decoded(line_of(at, "post")["y"]), expected, atol=1e-6)


def line_of(at, name):
    """The line of a document in the first chart."""
    return next(line for line in json.loads(at.get("plotly_chart")[0].proto.spec)["data"] if line["name"] == name)


def test_every_documents_answer_and_distance_are_those_of_its_own_run(bundled, rome):
    *_, (done, found) = run_documents(rome, MASK, lambda name: bv.run(bundled, TEXT, program=name))
    assert done == 1 and [one.program for one in found] == list(DOCUMENT_PROGRAMS)
    x = rome["encoder.layer.5.output.LayerNorm"][MASK].astype(np.float64)
    for one in found:
        trace = bv.run(bundled, TEXT, program=one.program)
        y = trace[f"encoder.layer.5.output.{'residual' if one.program == 'formula-post' else 'LayerNorm'}"][MASK]
        cosine = x @ y / np.linalg.norm(x) / np.linalg.norm(y.astype(np.float64))
        assert one.cosines[-1] == pytest.approx(cosine, abs=1e-6)
        if "cls.predictions.decoder" in trace:
            scores = trace[f"cls.predictions.decoder[token={MASK}]"].astype(np.float64)
            powers = np.exp(scores - scores.max())
            assert one.word == bundled.tokenizer.token(int(scores.argmax()))
            assert one.probability == pytest.approx(powers.max() / powers.sum(), rel=1e-5)


def test_the_drawer_works_out_the_cosine_of_the_document_that_is_looked_at(page, rome, bundled):
    view = chosen(page, "forward-pass-note", "bert").session_state["view"]
    told = tell(view, find_cosine(DOCUMENTS[0], MASK))
    y = bv.run(bundled, TEXT, program="forward-pass-note")["encoder.layer.5.output.LayerNorm"][MASK].astype(np.float64)
    x = rome["encoder.layer.5.output.LayerNorm"][MASK].astype(np.float64)
    assert told.value == format_number(float(x @ y / np.linalg.norm(x) / np.linalg.norm(y)))
    up, down = int((x * y > 0).sum()), int((x * y < 0).sum())
    assert f"Of {len(x)} products {up} raise the cosine, {down} lower it" in str(told.card.sentence)
    assert len(told.parts) == len(x)
    assert tell(view, Address("cls.predictions.probs")) is None
    for wrong in (Address("documents.cosine"), Address("documents.cosine").fix(document=9, token=MASK)):
        with pytest.raises(bv.AddressError, match="names no document and token"):
            tell(view, wrong)


def test_relations_and_notations_are_chosen_in_the_url():
    at = opened(document="definition", beside="notebook", relation="missing", notation="column")
    assert set(entries(at).values()) == {"missing"} and entries(at)["embeddings.token_type_embeddings"]
    rows = words(opened(document="definition", notation="row"))
    columns = words(opened(document="definition"))  # as the definition itself writes
    functions = words(opened(document="definition", notation="function"))
    assert r"\mathbf{1}^{\top}" in columns and r"\mathbf{1}^{\top}" not in rows
    assert r"\mathrm{Linear}" in functions and r"\mathrm{Linear}" not in rows + columns


def test_what_the_url_asks_wrongly_is_not_followed():
    at = opened(document="nobody", beside="<b>", relation="x", notation="y")
    assert not at.exception and at.selectbox(key="document").value == "forward-pass-note"
    assert at.selectbox(key="beside").value == "bert" and set(entries(at).values()) >= {"same", "different", "missing"}


@pytest.mark.parametrize("name", DOCUMENT_PROGRAMS)
def test_every_place_of_a_document_is_listed(page, name):
    """Under a link to the page that shows it."""
    document, at = find_document(name), chosen(page, name, "bert")
    icons = {info.name: info.icon for info in PAGES}
    blocks = [block for block in (element.value for element in at.markdown) if block.startswith("- ")]
    pages = [info.name for info in PAGES if any(place.page == info.name for place in document.places)]
    lists = [
        [
            f"- {place.place} &ensp; {place.what}{f' ({place.remark})' if place.remark else ''}"
            for place in document.places
            if place.page == name
        ]
        for name in pages
    ]
    assert ["\n".join(lines) for lines in lists] == [block for block in blocks if block.split("\n") in lists]
    links = [link.proto.icon for link in at.get("page_link")]
    assert links[-len(pages) :] == [icons[name] for name in pages]


def test_steps_that_differ_stand_first_with_links_to_their_pages(page, bundled):
    at = chosen(page, "forward-pass-note", "bert")
    rows = re.findall(r"^\| `([\w.]+)` \|", words(at), re.M)
    assert rows == [
        "embeddings.sum",
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
        "attention.self.probs",
        "attention.output.residual",
        "output.residual",
        "intermediate.activation",
        "pooler.dense",
    ]
    assert "Only in BERT as released: `attention.output.dense`" in words(at)
    labels = [link.proto.label for link in at.get("page_link")]
    assert {"Embeddings", "Query, key, value", "Attention output", "Add & Norm", "Sentence"} <= set(labels)


def test_the_headline_tells_how_far_apart_the_two_end(page, bundled):
    title = chosen(page, "forward-pass-note", "bert").title[0].value
    one, other = (
        bv.run(bundled, TEXT, program=name)["encoder.layer.5.output.LayerNorm"][MASK].astype(np.float64)
        for name in ("bert", "forward-pass-note")
    )
    cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
    best = bv.run(bundled, TEXT)["cls.predictions.probs"][MASK].max()
    assert f"**{cosine:.4f}**".replace("-", "−") in title and f"“people” **{format_percent(best)}**" in title


def test_documents_read_what_bert_reads_masked_and_padded(bundled):
    text, pair = "He sat by the river.", "It was cold."
    at = opened(text=text, pair=pair, mask="3", pad="16", token="3", document="definition", beside="notebook")
    runs = [bv.run(bundled, text, pair, pad_to=16, masked=[3], program=name) for name in ("bert", "definition")]
    x, y = (run["encoder.layer.5.output.LayerNorm"][3].astype(np.float64) for run in runs)
    line = line_of(at, "definition")
    assert not at.exception and runs[0].tokens[3] == "[MASK]" and len(runs[0].tokens) == 16
    assert decoded(line["y"])[5] == pytest.approx(x @ y / np.linalg.norm(x) / np.linalg.norm(y), abs=1e-6)


def test_in_the_first_layer_the_notes_first_sum_is_right():
    """There Z_0 is X: the slip is in all sums after it."""
    at = opened(layer="0")
    assert "In layer 0 the first sum is right, since Z_0 is X" in words(at)
    chart = next(
        json.loads(chart.proto.spec)["data"] for chart in at.get("plotly_chart") if "first sum" in chart.proto.spec
    )
    first, second = (decoded(line["y"]) for line in chart)
    assert first[0] == pytest.approx(1) and max(first[1:]) < 0.9 and max(second) < 0.9


def test_of_a_pair_it_is_said_what_one_segment_changes(bundled):
    """Under the two documents that look up segment 0 for every token, and under no other; of one sentence nothing."""
    pair = ("He sat by the river.", "It was cold.")
    scores = [
        bv.run(bundled, *pair, changes=changes)["cls.predictions.decoder"].astype(np.float64)
        for changes in (None, {"token_type_ids": 0})
    ]
    changed = (scores[0].argmax(-1) != scores[1].argmax(-1)).sum()
    largest = np.abs(scores[0] - scores[1]).max()
    apart = f"up to {largest:.4f}, and gives another best word at {changed} of {len(scores[0])} tokens"
    both, single = opened(text=pair[0], pair=pair[1]), opened(text=pair[0])
    for document in DOCUMENTS:
        told = [
            "\n".join(element.value for element in chosen(at, document.program, "bert").caption)
            for at in (both, single)
        ]
        assert ("gives both sentences segment 0" in told[0]) == (document.number in ("001", "003")), document.name
        assert (apart in told[0]) == (document.number in ("001", "003")) and "both sentences" not in told[1]


def test_where_one_segment_changes_no_best_word_it_is_not_counted(bundled):
    pair = ("They went home by train.", "The children played in the garden.")
    best = [
        bv.run(bundled, *pair, changes=changes)["cls.predictions.decoder"].argmax(-1)
        for changes in (None, {"token_type_ids": 0})
    ]
    assert (best[0] == best[1]).all()
    told = [caption.value for caption in chosen(opened(text=pair[0], pair=pair[1]), "notebook", "bert").caption]
    said = next(text for text in told if "gives both sentences segment 0" in text)
    assert said.endswith(", and changes no token's best word.") and "another best word" not in said


def test_slips_are_told_with_the_numbers_of_the_sentence(page, bundled, rome):
    told = words(chosen(page, "forward-pass-note", "bert"))
    row = rome[f"encoder.layer.{LAYER}.attention.output.residual"][MASK].astype(np.float64)
    printed, meant = np.sqrt(1 / 384) * ((row - row.mean()) ** 2).sum(), row.std()
    assert f"{printed:.4f}; the standard deviation is {meant:.4f}" in told
    note = bv.run(bundled, TEXT, program="forward-pass-note")
    x, first, second = (
        note[path][MASK].astype(np.float64)
        for path in (
            "embeddings.sum",
            f"encoder.layer.{LAYER - 1}.output.LayerNorm",
            f"encoder.layer.{LAYER}.attention.output.LayerNorm",
        )
    )
    cosines = [x @ y / np.linalg.norm(x) / np.linalg.norm(y) for y in (first, second)]
    texts = [f"{cosine:.4f}".replace("-", "−") for cosine in cosines]
    assert f"X and the layer's input have a cosine of {texts[0]}" in told
    assert f"X and the first LayerNorm's output {texts[1]}" in told
    assert "Of the others 34 are cut after two decimals and 1 is rounded up" in told
    assert "72.40e−06 should be 2.400·10⁻⁶" in told and "prints 7 sums of 1" in told


def test_every_slip_is_listed_under_its_document(page):
    told = words(page)
    for document in DOCUMENTS:
        for slip in document.slips:
            assert f"- **{slip.where}**\n  - ~~{slip.says}~~ → {slip.right}\n  - {slip.shows}" in told, slip.name


def test_the_slips_of_one_document_can_be_asked_for():
    told = words(opened(slips_of="002"))
    shown = {document.number for document in DOCUMENTS for slip in document.slips if slip.shows in told}
    assert shown == {"002"}
