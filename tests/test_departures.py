"""BERT with single departures: none of them is BERT itself, and all of a document's together are the document."""

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.analysis.alignment import find_layer_outputs, measure_difference, pair_steps
from bertviz_core.analysis.departures import run_departures
from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from bertviz_core.documents import DOCUMENTS
from bertviz_core.programs.departures import (
    ALWAYS_GELU,
    DEPARTURES,
    OF_DOCUMENTS,
    name_program,
    read_departures,
    write_departed,
)
from bertviz_core.ui.views.documents_departures import list_besides, mark_pair
from tests.departed import Departed
from tests.factory import random_checkpoint
from tests.often import often

TEXT, MASK = "the cat sat on the [MASK]", 8


@pytest.fixture(scope="module", params=["gelu", "relu"])
def model(request, tmp_path_factory):
    folder = random_checkpoint(tmp_path_factory.mktemp("departures"), hidden_act=request.param)
    return bv.load_model(folder, dtype=torch.float64)


def last(trace):
    return trace[find_layer_outputs(trace.program)[-1]]


def test_with_none_it_is_bert_bit_for_bit(model):
    written = write_departed("bert", model.config, frozenset(model.heads), model.dtype)
    assert written == model.program


@pytest.mark.parametrize(("name", "lacks", "adds"), [
    ("no-segment", ["embeddings.token_type_embeddings"], []),
    ("no-embedding-norm", ["embeddings.LayerNorm.weight", "embeddings.LayerNorm.normalized",
                           "embeddings.LayerNorm.bias"], []),
    ("no-bias", ["encoder.layer.0.attention.self.query.bias"], []),
    ("relu", [r"\mathrm{GELU}"], [r"\max"]),
    ("no-output-matrix", ["encoder.layer.0.attention.output.dense"], ["encoder.layer.0.attention.self.context"]),
    ("embedding-in-sums", ["encoder.layer.0.attention.output.LayerNorm"], ["embeddings.sum"]),
])  # fmt: skip
def test_what_the_row_of_a_departure_names_is_marked_and_no_more(bundled, name, lacks, adds):
    note = bundled.written("forward-pass-note")
    assert mark_pair(pair_steps(DEPARTURES[name].address, bundled.program, note)) == (lacks, adds)


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


@pytest.mark.parametrize(
    "name", often(DEPARTURES, ["no-segment", "sinusoids", "no-output-matrix", "norm-first", "relu", "third-term"], str)
)
def test_each_alone_is_what_numpy_makes_of_it(rome, name):
    """The cosine with BERT at [MASK] after the last layer, the answer there, and what is left of BERT's own."""
    *_, (done, found) = run_departures(rome, MASK, (name,))
    assert done == 1
    (one,) = found
    bert, departed = (Departed(BUNDLED_FOLDER, rome.model.config, *names) for names in ((), (name,)))
    ids = rome["input_ids"]
    x, y = bert.encode(ids)[MASK], departed.encode(ids)[MASK]
    assert one.cosine == pytest.approx(x @ y / np.linalg.norm(x) / np.linalg.norm(y), abs=1e-3)
    probs, best = departed.predict(ids, MASK), bert.predict(ids, MASK).argmax()
    own = probs.argmax()
    assert (one.word, one.probability) == (rome.model.tokenizer.token(int(own)), pytest.approx(probs[own], rel=1e-2))
    assert one.answer == pytest.approx(probs[best], rel=1e-2, abs=1e-6)


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
