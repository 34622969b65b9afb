"""The tables of the five documents: generated, complete, and pointing at pages and addresses that exist."""

from pathlib import Path

import pytest

from bertviz_core.documents import DOCUMENTS, find_document, write_tables
from bertviz_core.documents.names import OF_DOCUMENTS
from bertviz_core.programs import DOCUMENT_PROGRAMS
from bertviz_core.programs.bert import ALL_HEADS, TOKEN_CLASSIFIER, write_bert
from bertviz_core.programs.config import BertConfig
from bertviz_core.ui.frame import site
from tests.latex import balanced

TABLES = Path(__file__).parents[1] / "docs" / "documents.md"
PROGRAM = write_bert(BertConfig(num_hidden_layers=1), frozenset(ALL_HEADS) - {TOKEN_CLASSIFIER})
PLACES = [(document, place) for document in DOCUMENTS for place in document.places]

# the notebook's cells, by the number printed beside each
CELLS = (
    "2 3 4 5 6 7 8 9 10 None 12 15 14 16 21 25 26 27 29 30 31 32 33 34 37 39 40 45 41 42 43 44 46 48 49 50 51 52 53 54 "
    "56 57 58 59 60 61 62 63 64 65 66 67 68 69"
)
ROWS = {"000": 29, "001": 54, "002": 28, "003": 30, "004": 38}  # counted by hand in each document


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
    assert [document.number for document in DOCUMENTS] == list(ROWS)
    assert {document.number: len(document.places) for document in DOCUMENTS} == ROWS
    for document in DOCUMENTS:
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
