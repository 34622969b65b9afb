"""What a URL can hold: values as text, and long texts compressed."""

import random
from urllib.parse import quote

import pytest

from bertviz_core.ui.frame.controls import LONGEST_TEXT
from bertviz_core.ui.frame.packing import LONGEST, pack, read_as, unpack, write_value

LONG = "When in Rome, do as the Romans do. " * 40
SCRIPT = "".join(map(chr, range(0x1D4EA, 0x1D504)))  # small letters of four bytes each, which people write in as well
RARE = "".join(map(chr, random.Random(0).choices(range(0x20000, 0x2A6DF), k=LONGEST_TEXT)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Rome",
        "z.",
        "z.Rome",
        LONG,
        "z." + LONG,
        "é\N{SNOWMAN}" * 300,
        f"{SCRIPT} {SCRIPT}, " * (LONGEST_TEXT // 55),
        RARE,
    ],
    ids=range(9),
)
def test_what_is_packed_is_unpacked_to_the_same(text):
    assert unpack(pack(text)) == text


def test_only_what_is_long_or_looks_packed_is_compressed():
    assert pack("Rome") == "Rome" and len(pack(LONG)) < 100
    assert pack(pack(LONG)) != pack(LONG), "a text that a link would unpack is packed"


def test_what_only_looks_packed_stays():
    assert unpack("z.Rome") == "z.Rome" and unpack("z.%") == "z.%" and unpack("z.") == "z."


@pytest.mark.parametrize(("usual", "text", "value"), [
    (True, "true", True), (True, "FALSE", False), (True, "yes", True), (False, "yes", False), (True, "", True),
    (7, "12", 12), (7, "-1", 7), (7, "1.5", 7), (7, "١", 7), (7, "9" * 10, 7), ("a", "12", "12"),
])  # fmt: skip
def test_a_parameter_is_read_as_the_usual_ones_type(usual, text, value):
    assert read_as(usual, text) == value and type(read_as(usual, text)) is type(usual)


@pytest.mark.parametrize("value", [True, False, 0, 12, "Rome"])
def test_a_value_is_read_back(value):
    assert read_as(value, write_value(value)) == value


def test_what_is_longer_than_any_link_of_ours_is_cut():
    assert len(unpack("x" * 60_000)) == len(unpack(pack("x" * 60_000))) == 20_000
    assert len(unpack("z." + "x" * 60_000)) == 20_000, "nor is what only looks packed"
    assert unpack(pack(SCRIPT * 4000)) == (SCRIPT * 4000)[:20_000], "in the middle of no character"


def test_nothing_grows_by_being_packed():
    """A link that was short enough to be read stays so."""
    dense = "".join(
        random.Random(0).choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", k=19_900)
    )
    for text in (dense, dense[:5_000], "a" * 5_000, dense + "é"):
        assert len(pack(text)) <= len(quote(text)) and unpack(pack(text)) == text[:LONGEST]
