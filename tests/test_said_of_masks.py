"""What is masked out is called padding only where it is padding: a change can mask out a word as well."""

import pytest

from tests.test_put import opened
from tests.test_said_after_changes import SNOW, read_all


@pytest.mark.parametrize(
    ("changes", "place", "masked"),
    [
        ({}, {"pad": "16"}, "padding is"),
        ({"attention_mask[token=2]": 0}, {}, "tokens with mask 0 are"),
        ({"attention_mask[token=2]": 0}, {"pad": "16"}, "tokens with mask 0 are"),
    ],
)
def test_a_word_that_a_change_masks_out_is_not_called_padding(changes, place, masked):
    said = read_all(opened("attention", changes, text=SNOW, layer="3", head="7", token="5", **place))
    assert f"{masked} masked out" in said and f"{masked[0].upper()}{masked[1:]} left out." in said
    assert ("adding is" in said) == (masked == "padding is")
