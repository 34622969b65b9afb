"""How sentences are written: nothing is glued together, no plural of one; on every page as it is recorded."""

import re
from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.ui.frame.pages_menu import count
from bertviz_core.ui.frame.site import PAGES
from tests.canvas import look
from tests.claims.wording import find_miscounts, find_slips
from tests.factory import random_checkpoint
from tests.often import one_in
from tests.settling import settle
from tests.test_pages import APP

RECORDS = sorted((Path(__file__).parent / "recorded").glob("*.txt"))
BODY = re.compile(r"^ *body=([^<\n]+)$", re.MULTILINE)  # what is no HTML

SLIPS = [
    "It is“here”.", "“here”is it.", "two  blanks", "a token , of all", "a token;of all", "so it is.. Or", "of 1 tokens",
    "of 3 token", "It is None.", "It is {name}.", "“a” and “b”and “c”",
    "1 of 48 neurons are active", "The other 1 together make up 2 %",
]  # fmt: skip
SOUND = [
    "“a  ,b” is it.", "1,201 tokens", "layer 1 has it", "layers 3–4: **2 tokens**, 7 %", "2.1 tokens …",
    "None is larger.",
]  # fmt: skip


@pytest.mark.parametrize("text", SLIPS)
def test_a_slip_of_the_pen_is_found(text):
    assert len(find_slips(text)) == 1


@pytest.mark.parametrize("text", SOUND)
def test_in_what_is_well_written_none_is_found(text):
    assert find_slips(text) == []


@pytest.mark.parametrize("file", RECORDS, ids=lambda file: file.stem)
def test_what_pages_say_is_well_written(file):
    said = set(BODY.findall(file.read_text(encoding="utf-8")))
    assert len(said) > 5 and [slip for text in said for slip in find_slips(text)] == []


ONE = {"num_hidden_layers": 1, "num_attention_heads": 1, "hidden_size": 4, "intermediate_size": 1}


@pytest.mark.rare
@pytest.mark.parametrize("kind", ["pretraining", "sequence-classification"])
def test_where_there_is_one_of_each_no_page_says_many(tmp_path, kind):
    at = AppTest.from_file(APP, default_timeout=120)
    at.query_params.update(text="a", model=str(random_checkpoint(tmp_path, kind=kind, **ONE)), open="all")
    at.run()
    found = set()
    for info in PAGES:
        at.switch_page(f"pages/{info.name}.py").run()
        settle()
        at.run()
        assert not at.exception
        said = [each.value for each in (*at.caption, *at.title)]
        drawn = [part for each in at.get("html") for part in re.findall(">([^<>]+)<", each.proto.body)]
        drawn += [each.value for each in at.markdown]  # tables too
        slips = [slip for text in said for slip in find_slips(text)]
        slips += [slip for text in drawn for slip in find_miscounts(unescape(text))]
        found |= {f"{info.name}: {slip}" for slip in slips}
    assert not found, "\n".join(sorted(found))


def test_the_menu_counts_heads_as_one_says_it(tmp_path):
    told = []
    for heads, layers in ((1, 1), (1, 2), (3, 1)):
        shape = {**ONE, "num_attention_heads": heads, "num_hidden_layers": layers, "hidden_size": 12}
        folder = random_checkpoint(tmp_path / f"{heads} {layers}", kind="base", **shape)
        numbers = count(look(bv.run(bv.load_model(folder), "the cat")))
        told.append([info.line.format_map(numbers) for info in PAGES if info.name in ("attention_output", "heads")])
    assert told == [
        ["brought home by 1 head", "what the only head does"],
        ["brought home by 1 head", "what each of 2 heads does"],
        ["brought home by 3 heads", "what each of 3 heads does"],
    ]


@pytest.mark.parametrize("record", one_in(4, RECORDS, lambda path: path.stem))
def test_what_is_asked_of_a_reader_can_be_done_with_a_finger_and_with_keys_too(record):
    told = re.findall(r"[^.\n]*\bclick(?:s|ed|ing)?\b[^.\n]*", record.read_text(encoding="utf-8"), re.IGNORECASE)
    assert [text for text in told if "data-" not in text and "_click" not in text] == []
