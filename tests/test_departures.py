"""BERT with single departures: none of them is BERT itself, and all of a document's together are the document."""

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.analysis.alignment import find_layer_outputs, measure_difference
from bertviz_core.analysis.departures import run_departures
from bertviz_core.documents import DOCUMENTS
from bertviz_core.programs.departures import (
    ALWAYS_GELU,
    DEPARTURES,
    OF_DOCUMENTS,
    name_program,
    read_departures,
    write_departed,
)
from bertviz_core.ui.views.documents_departures import list_besides
from tests.factory import random_checkpoint

TEXT, MASK = "the cat sat on the [MASK]", 8
# On "When in Rome, do as the [MASK] do.", worked out once by another pass with twelve switches: the cosine with BERT at
# [MASK] after the last layer, the answer there, and what "people" has of 6.6 %.
ALONE = {
    "no-segment": (0.41, "to", 0.16, 0.014), "no-embedding-norm": (0.11, "the", 0.047, 0.0007),
    "no-bias": (0.92, "people", 0.090, 0.090), "no-output-matrix": (-0.06, "being", 0.056, 0.0001),
    "relu": (0.52, "children", 0.043, 0.027), "embedding-in-sums": (-0.08, "with", 0.044, 0.0001),
    "no-unembedding-bias": (1.00, "people", 0.028, 0.028), "early-root": (-0.01, ".", 0.67, 0.0),
    "norm-first": (0.16, "fellow", 0.029, 0.002), "third-term": (0.25, ",", 0.019, 0.002),
    "sinusoids": (0.01, "system", 0.13, 0.0009), "no-output-bias": (0.97, "people", 0.068, 0.068),
}  # fmt: skip


@pytest.fixture(scope="module", params=["gelu", "relu"])
def model(request, tmp_path_factory):
    folder = random_checkpoint(tmp_path_factory.mktemp("departures"), hidden_act=request.param)
    return bv.load_model(folder, dtype=torch.float64)


def last(trace):
    return trace[find_layer_outputs(trace.program)[-1]]


def test_with_none_it_is_bert_bit_for_bit(model):
    written = write_departed("bert", model.config, frozenset(model.heads), model.dtype)
    assert written == model.program


def test_of_every_document_it_is_said_in_what_it_departs():
    assert list(OF_DOCUMENTS) == [document.program for document in DOCUMENTS]


@pytest.mark.parametrize("document", OF_DOCUMENTS)
def test_with_all_of_a_documents_it_is_the_document(model, document):
    if document in ALWAYS_GELU and model.config.hidden_act != "gelu":
        pytest.skip("these documents have GELU, whatever the checkpoint has")
    theirs, ours = (bv.run(model, TEXT, program=one) for one in (document, name_program(OF_DOCUMENTS[document])))
    assert np.abs(last(bv.run(model, TEXT)) - last(theirs)).max() > 1e-3 or not OF_DOCUMENTS[document]
    np.testing.assert_allclose(last(ours), last(theirs), rtol=0, atol=1e-9)
    if "cls.predictions.probs" in theirs:
        np.testing.assert_allclose(ours["cls.predictions.probs"], theirs["cls.predictions.probs"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("document", OF_DOCUMENTS)
def test_what_a_document_does_otherwise_on_another_input_is_told(model, document):
    """Where nothing is told, the document is BERT with its departures on this input too."""
    if model.config.hidden_act != "gelu":
        assert bool(list_besides(bv.run(model, TEXT), document)) == (document in ALWAYS_GELU)
        return
    for pair, pad_to in ((None, None), (None, 14), ("a mat", None), ("a mat", 16)):
        bert = bv.run(model, TEXT, pair, pad_to=pad_to)
        theirs, ours = (
            bv.run(model, TEXT, pair, pad_to=pad_to, program=one)
            for one in (document, name_program(OF_DOCUMENTS[document]))
        )
        same = measure_difference(theirs, ours, str(find_layer_outputs(theirs.program)[-1])) < 1e-9
        assert same == (not list_besides(bert, document)), (document, pair, pad_to)


@pytest.mark.parametrize("name", DEPARTURES)
def test_each_alone_is_as_worked_out_before(rome, name):
    *_, (done, found) = run_departures(rome, MASK, (name,))
    assert done == 1
    (one,), (cosine, word, share, answer) = found, ALONE[name]
    assert one.cosine == pytest.approx(cosine, abs=0.0051)
    assert (one.word, one.probability) == (word, pytest.approx(share, rel=0.06))
    assert one.answer == pytest.approx(answer, rel=0.06, abs=4.5e-4)


def test_every_departure_changes_something_and_belongs_to_a_document(model):
    plain = bv.run(model, TEXT)
    for name in DEPARTURES:
        departed = bv.run(model, TEXT, program=f"bert+{name}")
        moved = max(
            np.abs(last(plain) - last(departed)).max(),
            np.abs(plain["cls.predictions.probs"] - departed["cls.predictions.probs"]).max(),
        )
        assert moved > 1e-6 or (name == "relu" and model.config.hidden_act == "relu"), name
    assert set(DEPARTURES) == {name for names in OF_DOCUMENTS.values() for name in names}


def test_names_of_programs_are_read_in_one_order_only():
    assert read_departures("bert") is None and read_departures("notebook") is None
    assert read_departures("bert+no-segment+relu") == ("no-segment", "relu")
    assert read_departures("bert+relu+no-segment") is None and read_departures("bert+anything") is None


def test_a_program_of_no_such_departure_is_refused(model):
    with pytest.raises(bv.InputError, match="There is no program"):
        bv.run(model, TEXT, program="bert+relu+relu")
