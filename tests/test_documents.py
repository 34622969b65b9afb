"""The tables of the documents: generated, complete, and pointing at pages and addresses that exist."""

from pathlib import Path

import pytest

from bertviz_core.documents import DOCUMENTS, find_document, write_tables
from bertviz_core.documents.names import OF_DOCUMENTS
from bertviz_core.programs import DOCUMENT_PROGRAMS
from bertviz_core.programs.bert import ALL_HEADS, TOKEN_CLASSIFIER, write_bert
from bertviz_core.programs.config import BertConfig
from bertviz_core.ui.frame import site
from tests.documents_formulas import FORMULAS
from tests.latex import balanced

TABLES = Path(__file__).parents[1] / "docs" / "documents.md"
PROGRAM = write_bert(BertConfig(num_hidden_layers=1), frozenset(ALL_HEADS) - {TOKEN_CLASSIFIER})
PLACES = [(document, place) for document in DOCUMENTS for place in document.places]

# the notebook's cells, by the number printed beside each
CELLS = (
    "2 3 4 5 6 7 8 9 10 None 12 15 14 16 21 25 26 27 29 30 31 32 33 34 37 39 40 45 41 42 43 44 46 48 49 50 51 52 53 54 "
    "56 57 58 59 60 61 62 63 64 65 66 67 68 69"
)


def filled(address):
    return address.replace("{i}", "0")


def test_what_is_written_down_is_what_is_generated():
    assert TABLES.read_text(encoding="utf-8") == write_tables()


def test_every_program_has_its_document_and_every_document_its_program_and_its_names():
    assert {name: find_document(name) for name in DOCUMENT_PROGRAMS if find_document(name) is None} == {}
    assert [document.name for document in DOCUMENTS if document.program not in DOCUMENT_PROGRAMS] == []
    names = {"note": "forward-pass note", "definition": "definition", "post": "formula post"}
    assert {name: OF_DOCUMENTS[name] for name in names} == names and len(OF_DOCUMENTS) == len(DOCUMENTS)


def test_every_document_has_its_rows():
    assert [document.number for document in DOCUMENTS] == list(FORMULAS)
    for document in DOCUMENTS:
        assert len(document.places) == len(FORMULAS[document.number]), document.name
        assert document.what.endswith(".") and document.differs.endswith(".")


def test_every_cell_of_the_notebook_has_a_row_of_its_own():
    places = [place.place for place in DOCUMENTS[1].places]
    assert sorted(places) == sorted(f"`In [{number}]`" for number in CELLS.split())


def test_no_row_stands_twice_in_a_document():
    for document in DOCUMENTS:
        places = [place.place for place in document.places]
        assert len(places) == len(set(places)), document.name


@pytest.mark.parametrize(("document", "place"), PLACES, ids=[f"{d.number}-{i}" for i, (d, _) in enumerate(PLACES)])
def test_a_row_is_full_and_points_at_what_exists(document, place):
    assert place.place and place.what and place.page
    assert "|" not in place.place + place.what + place.remark and balanced(place.place.replace(r"\lbrace", ""))
    assert place.place.count("$") % 2 == 0
    page = next(info for info in site.PAGES if info.name == place.page)
    for address in place.addresses:
        assert PROGRAM.symbol(filled(address)) is not None, address
    if place.addresses and page.stage:  # a page of the computation shows what it is said to show, or some of it
        assert page.stage in {PROGRAM.stages[filled(address)] for address in place.addresses}, place


# What a document does not read of BERT, and how its summary calls that
SAID = {
    "token_type_ids": "segments", "attention_mask": "padding mask",
    "embeddings.token_type_embeddings.weight": "segments",
    "embeddings.LayerNorm.weight": "LayerNorm on the embeddings",
    "embeddings.LayerNorm.bias": "LayerNorm on the embeddings",
    "embeddings.position_embeddings.weight": "Sinusoidal positions",
    "encoder.layer.0.attention.self.query.bias": "no bias for queries, keys",
    "encoder.layer.0.attention.self.key.bias": "no bias for queries, keys",
    "encoder.layer.0.attention.self.value.bias": "no bias for queries, keys",
    "encoder.layer.0.attention.output.dense.weight": "output matrix",
    "encoder.layer.0.attention.output.dense.bias": ("output matrix", "attention output"),
    "pooler.dense.bias": "no bias in the pooler",
    "cls.predictions.decoder.bias": "no bias in the unembedding",
}  # fmt: skip


@pytest.mark.parametrize("document", DOCUMENTS, ids=[document.number for document in DOCUMENTS])
def test_the_summary_names_all_that_a_document_leaves_out(document):
    """Of the parts of BERT that it goes through."""
    config = BertConfig(num_hidden_layers=1)
    program = DOCUMENT_PROGRAMS[document.program](config, frozenset(ALL_HEADS) - {TOKEN_CLASSIFIER})
    reached = {step.stage for step in program.steps}
    left_out = {
        address
        for step in PROGRAM.steps
        if step.stage in reached
        for leaf in step.leaves
        if (address := leaf.address) in PROGRAM.leaves and address not in program.leaves
    }
    told = document.differs.lower()
    for address in left_out - OWN_CLASSES:
        words = SAID[address]
        assert any(word.lower() in told for word in ([words] if isinstance(words, str) else words)), address


# the post and the article end before any classes, the note takes one head of two
OWN_CLASSES = {
    f"{head}.{leaf}" for head in ("classifier", "cls.seq_relationship", "qa_outputs") for leaf in ("weight", "bias")
}
BY_HAND = {
    "000": ["padding mask", "pooler"],
    "001": ["segments are 0", "twelve tokens"],
    "002": ["padding mask"],
    "003": ["segments are 0", "queries, keys and values", "third term", "padding mask"],
    "004": ["queries, keys, values and attention output"],
}


@pytest.mark.parametrize("document", DOCUMENTS, ids=[document.number for document in DOCUMENTS])
def test_the_summary_names_what_stands_in_the_document(document):
    assert [words for words in BY_HAND[document.number] if words not in document.differs] == []


def test_what_no_step_computes_is_listed_beside_the_places():
    """Counted by hand: pictures of the notebook, the post and the article, letters of the definition, sizes."""
    counted = {"000": 2, "001": 6, "002": 14, "003": 12, "004": 10}
    assert {document.number: len(document.others) for document in DOCUMENTS} == counted
    for document in DOCUMENTS:
        for other in document.others:
            assert other.page in [info.name for info in site.PAGES] and other.what and not other.addresses
            assert "|" not in other.place + other.what and balanced(
                other.place.replace(r"\lbrace", "").replace(r"\rbrace", "")
            )
        assert not {other.place for other in document.others} & {place.place for place in document.places}
