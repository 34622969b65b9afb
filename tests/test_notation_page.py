"""Notation: one quantity in every source's words, and how another one is chosen."""

import re

import pytest

from bertviz_core.documents.names import SOURCES, find_names
from tests.test_put import opened

CHOICE = re.compile(r'data-choose="quantity=([^"]+)" aria-pressed="(true|false)"')


def read(at):
    (tiles,) = (each.value for each in at.markdown if 'class="bv-one"' in each.value)
    chosen = {key for each in at.markdown for key, pressed in CHOICE.findall(each.value) if pressed == "true"}
    return tiles, chosen


def count_tiles(tiles):
    return dict(re.findall(r"<small>([^<]+)</small><span>(.*?)</span></span>", tiles))


@pytest.mark.parametrize(
    ("asked", "address"),
    [
        ({}, "encoder.layer.1.attention.self.query"),
        ({"quantity": "no such thing"}, "encoder.layer.1.attention.self.query"),
        ({"quantity": "encoder.layer.{i}.attention.self.probs"}, "encoder.layer.1.attention.self.probs"),
        ({"quantity": "pooler.dense.weight"}, "pooler.dense.weight"),
    ],
    ids=["to begin with", "nonsense", "a step", "a parameter"],
)
def test_one_quantity_stands_there_in_every_sources_words(asked, address):
    at = opened("notation", {}, "the cat sat", layer="1", **asked)
    tiles, _ = read(at)
    told, names = count_tiles(tiles), find_names(address)
    assert f"<code>{address}</code>" in told["here"].replace("<wbr>", "").replace("\\", "")
    assert {name: text != "–" for name, text in told.items() if name != "here"} == {
        name: bool(getattr(names, source)) for source, name in SOURCES.items()
    }


def test_the_meaning_of_a_row_chooses_it_in_any_layer():
    at = opened(
        "notation", {}, "the cat sat", layer="1", find="hook_pattern", quantity="encoder.layer.{i}.attention.self.probs"
    )
    assert read(at)[1] == {"encoder.layer.{i}.attention.self.probs"}
    assert (
        "encoder.layer.0.attention.self.probs"
        in read(opened("notation", {}, "the cat sat", layer="0", quantity="encoder.layer.{i}.attention.self.probs"))[0]
    )
