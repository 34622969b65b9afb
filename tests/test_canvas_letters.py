"""The letters that the first stop lets flow into pieces: those that were typed, each where its token stands."""

from dataclasses import replace

import pytest

import bertviz_core as bv
from tests.canvas import draw, look

TYPED = {
    "words": ("When in Rome", None, "|When| in| Rome|"),
    "one word": ("Unbelievably!", None, "|Un|bel|ie|va|bly|!|"),
    "a mask": ("the [MASK].", None, "|the| [MASK]|.|"),
    "a pair": ("a cat", "A dog", "|a| cat|| A| dog|"),
}


def list_letters(bundled, text, pair, **more):
    trace = bv.run(bundled, text, pair, **more)
    return trace, draw(replace(look(trace, token=0), text=text, pair=pair))["letters"]


@pytest.mark.parametrize("name", TYPED)
def test_each_piece_has_its_letters_and_blanks_before_it(bundled, name):
    text, pair, expected = TYPED[name]
    trace, letters = list_letters(bundled, text, pair)
    written = "|".join((" " if each["apart"] else "") + each["text"] if each else "" for each in letters)
    assert written == expected and len(letters) == len(trace.tokens)


def test_padding_has_no_letters(bundled):
    _, letters = list_letters(bundled, "the cat", None, pad_to=10)
    assert [each and each["text"] for each in letters] == [None, "the", "cat", *[None] * 7]
