"""Every place of the documents: the step that is said to be its formula computes it, from what the formula has."""

import re

import pytest

from bertviz_core.documents import DOCUMENTS, find_document
from bertviz_core.formula.address import Address
from bertviz_core.programs import DOCUMENT_PROGRAMS
from tests.documents_formulas import FORMULAS


def spread(row, layers):
    """A row's clauses as (result, operands), with whole addresses; what is declared has no result."""
    at = {"L": 0, "M": 1, "Y": layers - 2, "Z": layers - 1}

    def read(words):
        for word in words.split():
            head, _, rest = word.partition(".")
            path = f"encoder.layer.{at[head]}.{rest}" if head in at else word
            yield from (f"{path[:-1]}{leaf}" for leaf in ("weight", "bias")) if path.endswith("*") else (path,)

    for clause in filter(None, row.split("; ")):
        result, _, operands = clause.partition("<-" if "<-" in clause else "=")
        yield "".join(read(result)), frozenset(read(operands))


def reads(program, result, operands):
    """What the step at `result` is computed from, looking no further than the operands."""
    found, seen, ahead = set(), set(), [result]
    while ahead:
        step = program.by_address[ahead.pop()]
        for address in {leaf.address for leaf in step.leaves} - seen:
            seen.add(address)
            ends = address in operands or address not in program.by_address
            (found.add if ends else ahead.append)(address)
    return found


def program_of(bundled, document):
    """The program that has every formula of a document, dropout too."""
    return bundled.written([name for name in DOCUMENT_PROGRAMS if find_document(name) is document][-1])


def name_place(place):
    return re.sub(r"^`(In \[\d+\])`$", r"\1", place)


def list_printing(number, leaf, layers):
    """The places of a document that print one result, as sources name them."""
    firsts = {place: next(spread(row, layers))[0] for place, row in FORMULAS[number].items() if row}
    return {name_place(place) for place, first in firsts.items() if first and Address(first).leaf == leaf}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.number)
def test_the_places_are_those_that_were_counted_by_hand(document):
    assert [place.place for place in document.places if place.place not in FORMULAS[document.number]] == []


ROWS = [(document, place, row) for document in DOCUMENTS for place, row in FORMULAS[document.number].items() if row]


@pytest.mark.parametrize(("document", "place", "row"), ROWS, ids=[f"{d.number}-{i}" for i, (d, *_) in enumerate(ROWS)])
def test_the_step_of_a_formula_is_the_one_that_computes_it(bundled, document, place, row):
    """From exactly the operands that the formula has, and naming it or a place that prints the same result."""
    program, layers = program_of(bundled, document), bundled.config.num_hidden_layers
    clauses = list(spread(row, layers))
    for result, operands in clauses:
        if result:
            assert reads(program, result, operands) == operands, (place, result)
        else:
            assert operands <= set(program.leaves), place
    first = clauses[0][0]
    if first:
        sources = set(program.by_address[first].source.partition(", ")[2].split("; "))
        assert sources & list_printing(document.number, Address(first).leaf, layers), (place, sources)


@pytest.mark.parametrize(
    ("program", "row"),
    [
        ("notebook", "embeddings.token_type_embeddings <- embeddings.token_type_embeddings.weight token_type_ids"),
        ("forward-pass-note", "M.output.LayerNorm <- M.attention.output.LayerNorm M.output.dense M.output.LayerNorm.*"),
        ("definition", "embeddings.LayerNorm <- embeddings.sum embeddings.LayerNorm.*"),
        ("formula-post", "L.output.residual <- L.attention.output.dense input_ids L.output.dense"),
        ("encoder-article", "L.attention.output.dense <- L.attention.self.heads L.attention.output.dense.*"),
    ],
)
def test_another_formula_is_not_what_a_step_computes(bundled, program, row):
    """As BERT, or another document, has it."""
    written = bundled.written(program)
    ((result, operands),) = spread(row, bundled.config.num_hidden_layers)
    assert result not in written.by_address or reads(written, result, operands) != operands
