"""The slips of the documents: all there, told in full, shown by numbers that NumPy finds too, and written down."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

import bertviz_core as bv
from bertviz_core.analysis.slip_numbers import MEASURES, Spot, measure_slip
from bertviz_core.analysis.slip_table import LAYER, TEXT, TOKEN, make_spot, write_slips
from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from bertviz_core.documents import DOCUMENTS
from bertviz_core.documents.printed import FACTS, TENSORS
from bertviz_core.documents.slips import NUMBER
from bertviz_core.formula.nodes import Constant
from bertviz_core.formula.steps import walk_nodes
from bertviz_core.ui.frame.site import PAGES
from tests.derived.reading import find_numbers
from tests.documents import TRANSCRIBED, Weights
from tests.factory import random_checkpoint
from tests.latex import balanced
from tests.slips import expect_numbers

ROOT = Path(__file__).parents[1]
SLIPS = [(document, slip) for document in DOCUMENTS for slip in document.slips]
CELL = re.compile(r"In \[\d+\]")
COUNTED = {"000": 8, "001": 33, "002": 12, "003": 24, "004": 18}  # by hand, reading the documents


@pytest.fixture(scope="module")
def spot():
    return make_spot()


def test_every_document_has_its_slips():
    assert {document.number: len(document.slips) for document in DOCUMENTS} == COUNTED
    names = [slip.name for _, slip in SLIPS]
    assert len(set(names)) == len(names)
    assert set(MEASURES) <= set(names)
    assert {slip.name for _, slip in SLIPS if slip.proof is NUMBER} <= set(MEASURES)


@pytest.mark.parametrize(("document", "slip"), SLIPS, ids=[slip.name for _, slip in SLIPS])
def test_a_slip_is_told_in_full_and_points_at_what_exists(document, slip):
    parts = (slip.where, slip.says, slip.right, slip.shows)
    assert all(parts) and slip.says != slip.right and slip.shows.endswith(".")
    for part in parts:
        assert "|" not in part and part.count("$") % 2 == 0 and part.count("`") % 2 == 0
        assert all(balanced(formula) for formula in re.findall(r"\$(.+?)\$", part))
    if slip.place:
        page, fold = slip.place
        assert page in [info.name for info in PAGES]
        assert not fold or f'fold("{fold}"' in (ROOT / "pages" / f"{page}.py").read_text(encoding="utf-8")


def test_a_bias_below_0_is_the_largest_in_size_alone(spot):
    (told,), bias = measure_slip("bias-twice", spot), spot.trace["cls.predictions.decoder.bias"]
    assert bias.max() < told.value == abs(bias.min()) and told.what.endswith(", in size")


def test_cells_named_by_the_notebooks_slips_are_cells_of_it():
    cells = {place.place.strip("`") for place in DOCUMENTS[1].places}
    for slip in DOCUMENTS[1].slips:
        named = set(re.findall(r"In \[\w+\]", " ".join((slip.where, slip.says, slip.right, slip.shows))))
        assert named and named <= cells, slip.name


@pytest.fixture(scope="module")
def notebook(bundled):
    return bv.run(bundled, TEXT, program="notebook")


def find_slip(name):
    return next(slip for _, slip in SLIPS if slip.name == name)


def test_cells_that_read_an_epsilon_are_those_that_the_slip_names(notebook):
    """As the pass has them, which NumPy computes too; In [29] is where they have their LayerNorm from."""
    named = re.search(r"The name `eps` stands in (.+?), as the parameter", find_slip("unused-settings").shows)[1]
    read = {1e-12: set(), 1e-5: set()}
    for step in notebook.program.steps:
        if step.address.endswith("LayerNorm.normalized"):
            (epsilon,) = (node.amount for node in walk_nodes(step.expr) if isinstance(node, Constant))
            read[epsilon] |= set(CELL.findall(step.source))
    assert set(CELL.findall(named)) == read[1e-12] and len(read[1e-12]) == 5
    assert read[1e-5] == {find_slip("epsilon").where} == {find_slip("own-norm").where}


def test_of_cells_that_stand_before_an_earlier_one_only_one_pair_is_a_slip(notebook):
    """In [14] shows what In [15] above it makes; In [45] prints the shape of what In [41] below it makes."""
    cells = [int(cell) for cell in re.findall(r"In \[(\d+)\]", " ".join(place.place for place in DOCUMENTS[1].places))]
    turned = [(one, other) for one, other in pairwise(cells) if one > other]
    assert turned == [(15, 14), (45, 41)]
    slip, made = find_slip("cell-order"), {}
    for step in reversed(notebook.program.steps):
        made |= dict.fromkeys(CELL.findall(step.source), step.address)
    assert slip.where == "In [45] and In [41]" and CELL.findall(slip.shows) == ["In [45]", "In [41]", "In [40]"]
    assert next(one.address for one in TENSORS if one.cell == "14") == made["In [15]"]
    (printed,) = (fact.printed for fact in FACTS if fact.cell == "45")
    last = {cell: one.address for one in notebook.program.steps for cell in CELL.findall(one.source)}
    four, three = (1 + len(notebook.shape(last[cell])) for cell in ("In [40]", "In [41]"))  # the first is the batch's
    assert (four, three) == (4, len(printed.split(","))) == (4, 3)


def test_the_extra_term_stands_in_as_many_formulas_of_the_post_as_its_slip_says():
    (post,) = (document for document in DOCUMENTS if document.number == "003")
    (slip,) = (slip for slip in post.slips if slip.name == "third-term")
    formulas = [place.place for place in post.places if re.search(r"(f_\{LN\}|LN)\((f_\{LN\}|LN)\(", place.place)]
    assert len(formulas) == 5 and "all five formulas" in slip.where


def test_what_is_written_down_is_what_is_measured():
    """Words as they are; numbers but for what another processor rounds."""
    number = re.compile(r"−?\d[\d,]*\.\d+(?:·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?")
    old, new = (ROOT / "docs" / "slips.md").read_text(encoding="utf-8"), write_slips()
    assert number.sub("#", old) == number.sub("#", new)
    pairs = zip(number.findall(old), number.findall(new), strict=True)
    for one, other in pairs:
        x, y = (find_numbers(text)[0].value for text in (one, other))
        assert x == pytest.approx(y, rel=2e-3, abs=2e-4), (one, other)


def test_the_table_tells_of_each_slip_where_the_app_shows_it():
    table = (ROOT / "docs" / "slips.md").read_text(encoding="utf-8")
    rows = [row for row in table.splitlines() if re.match(r"\| 00\d \|", row)]
    assert len(rows) == sum(COUNTED.values())
    for row, (document, slip) in zip(rows, SLIPS, strict=True):
        number, where, said, shown, measured, places = row.strip("| ").split(" | ")
        assert (number, where, said) == (document.number, slip.where, f"{slip.says} → {slip.right}")
        assert shown.endswith(slip.shows) and places.startswith(f"Documents, “Slips in the {document.name}”")
        assert (measured == "–") == (slip.name not in MEASURES), slip.name


def test_every_measured_number_is_that_of_plain_arithmetic(bundled, spot):
    w = Weights(BUNDLED_FOLDER)

    def run(name, more=0):
        return TRANSCRIBED[name](w, bv.run(bundled, TEXT, pad_to=len(spot.trace.tokens) + more, program=name))

    expected = dict(expect_numbers(spot.trace, LAYER, TOKEN, run))
    assert set(expected) == set(MEASURES)
    for name, values in expected.items():
        found = measure_slip(name, spot)
        assert [one.value for one in found] == pytest.approx(values, rel=1e-4, abs=1e-6), name
        assert all(one.what for one in found)


@pytest.mark.parametrize("sizes", [{"num_hidden_layers": 1}, {"kind": "sequence-classification"}])
def test_a_checkpoint_or_an_input_without_the_thing_has_no_number_for_it(tmp_path, sizes):
    model = bv.load_model(random_checkpoint(tmp_path, **sizes))
    trace = bv.run(model, "the cat sat")
    here = Spot(trace, 0, 1, lambda program, more: None if more else bv.run(model, "the cat sat", program=program))
    empty = {name for name in MEASURES if not measure_slip(name, here)}
    assert empty >= {"typed-mask", "unmasked-pads"}
    assert ({"residual-x", "no-index"} <= empty) == ("num_hidden_layers" in sizes)
    assert ("missing-i" in empty) == ("kind" in sizes)
