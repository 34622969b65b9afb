"""The drawer's numbers of where a number comes from, as a transcription in NumPy and passes of their own have them."""

import re

import numpy as np
import pytest

from bertviz_core.errors import AddressError
from bertviz_core.formula.address import read_address
from bertviz_core.ui.walk.card import render_table
from bertviz_core.ui.walk.worked_out import find_worked_out
from tests.canvas import look
from tests.token_parts import transcribe, transcribe_components, transcribe_layers

LOGIT = "cls.predictions.decoder{}[token=8,vocab=2111{}]"
LAST = "encoder.layer.5.output.LayerNorm"


def find(trace, where):
    return find_worked_out(look(trace), read_address(where))


@pytest.fixture(scope="module")
def parts(rome):
    return transcribe(rome, LOGIT.format("", ""))


def test_a_part_and_the_biases_are_those_of_a_transcription(rome, parts):
    for j in (3, 9):
        told = find(rome, LOGIT.format(".part", f",source={j}"))
        assert told.number == pytest.approx(parts[j], abs=1e-5)
    assert find(rome, LOGIT.format(".biases", "")).number == pytest.approx(parts[-1], abs=1e-5)
    assert find(rome, LOGIT.format(".parts", "")).number == pytest.approx(float(rome[LOGIT.format("", "")]), abs=1e-4)


def test_instead_of_another_word_is_the_difference_of_two_parts(rome, parts):
    other = transcribe(rome, LOGIT.format("", "").replace("2111", "2273"))
    told = find(rome, LOGIT.format(".part", ",against=2273,source=9"))
    assert told.number == pytest.approx(parts[9] - other[9], abs=1e-5)


def test_with_a_token_hidden_it_is_the_number_of_another_pass(rome):
    hidden = rome.with_changes({"input_ids[token=9]": rome.model.tokenizer.mask_id})
    told = find(rome, LOGIT.format(".hidden", ",source=9"))
    assert told.number == pytest.approx(float(hidden["cls.predictions.probs[token=8,vocab=2111]"]), rel=1e-5)


def test_heads_and_blocks_are_those_of_a_transcription(rome):
    _, heads, blocks, _ = transcribe_components(rome, LOGIT.format("", ""))
    for layer, head in ((5, 8), (2, 0)):
        told = find(rome, LOGIT.format(".head", f",layer={layer},head={head}"))
        assert told.number == pytest.approx(heads[layer, head], abs=1e-5)
    assert find(rome, LOGIT.format(".block", ",layer=4")).number == pytest.approx(blocks[4], abs=1e-5)


def test_a_share_of_lengths_is_that_of_a_transcription(rome):
    *_, states = transcribe_layers(rome)
    lengths = np.linalg.norm(states[8], axis=-1)
    told = find(rome, f"{LAST}.length[token=8,source=12]")
    assert told.number == pytest.approx(lengths[12] / lengths.sum(), abs=1e-5)


def test_every_operand_that_is_a_button_is_a_number(rome):
    for where in (LOGIT.format(".part", ",source=3"), LOGIT.format(".head", ",layer=5,head=8")):
        steps = re.findall(r'data-step="([^"]*)"', render_table(find(rome, where).card.table))
        assert len(steps) > 9 and all(not rome.dims(step) for step in steps)


@pytest.mark.parametrize(
    "where",
    [
        LOGIT.format(".part", ""),
        LOGIT.format(".part", ",source=12"),
        LOGIT.format(".head", ",layer=5,head=99"),
        LOGIT.format(".block", ",layer=6"),
        f"{LAST}.length[token=12,source=0]",
        f"{LAST}.part[source=1]",
    ],
)
def test_what_names_no_part_is_refused_in_words(rome, where):
    with pytest.raises(AddressError):
        find(rome, where)
