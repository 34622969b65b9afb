"""The corpus of plain facts: what it says of a country and of opposites, and what it leaves out."""

import json
import re

import pytest

from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from training.__main__ import main
from training.corpus import read_documents
from training.prompts import PROMPTS, read_prompts
from training.vocabulary import read_vocabulary

FRANCE = {
    "Introduction": {"Background": {"text": "France is a modern country. It helped to found NATO in\n 1949. No end"}},
    "Geography": {"Location": {"text": "Western Europe, between Belgium and Spain"}},
    "People and Society": {"Nationality": {"adjective": {"text": "French"}}},
    "Government": {
        "Country name": {"conventional short form": {"text": "France"}},
        "Capital": {"name": {"text": "Paris (old)"}},
    },
}
NOWHERE = {"Geography": {"Location": None}, "Government": {"Capital": {"name": {"text": "none; see note"}}}}
ADJECTIVES = """  1 This software and database is being provided
00000001 00 a 02 hot 0 warm(p) 1 002 ! 00000002 a 0101 & 00000001 a 0000 | of a high temperature; "hot ! 1"
00000002 00 a 01 cold 0 001 ! 00000001 a 0101 | of a low temperature
00000003 00 s 01 Old_World 0 001 ! 00000002 a 0101 | of Europe
"""


@pytest.fixture
def sources(tmp_path):
    for name, country in (("fr", FRANCE), ("xx", NOWHERE)):
        (tmp_path / "europe").mkdir(exist_ok=True)
        (tmp_path / "europe" / f"{name}.json").write_text(json.dumps(country))
    for kind in ("adj", "adv", "noun", "verb"):
        (tmp_path / f"data.{kind}").write_text(ADJECTIVES if kind == "adj" else "")
    return tmp_path


def make(folder):
    return main(["facts", "--factbook", str(folder), "--wordnet", str(folder), "--out", str(folder / "facts.txt")])


def test_facts_are_documents_with_their_source(sources):
    assert make(sources) == 0
    prose, facts, opposites = read_documents(sources / "facts.txt")
    assert prose.sentences == ("France is a modern country.", "It helped to found NATO in 1949.")
    assert (prose.source, facts.source, opposites.source) == ("factbook", "factbook", "opposites")
    assert {"Paris is the capital of France.", "The French capital is Paris."} < set(facts.sentences)
    assert facts.sentences[-1] == "France is in Western Europe, between Belgium and Spain."
    assert opposites.sentences[:2] == ("hot is the opposite of cold.", "cold and hot are opposites.")


def test_no_fact_is_said_in_the_words_of_a_prompt(sources):
    vocabulary = read_vocabulary(BUNDLED_FOLDER)
    make(sources)
    said = {one for document in read_documents(sources / "facts.txt") for one in document.sentences}
    forms = [re.escape(prompt.text).replace(r"\[MASK\]", r"\w+") for prompt in read_prompts(PROMPTS, vocabulary)]
    assert len(forms) == 20 and not [one for one in said for form in forms if re.fullmatch(form, one, re.IGNORECASE)]


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("europe/fr.json", "{", "fr.json is no country's JSON"),
        ("europe/fr.json", None, "holds no country"),
        ("data.verb", None, "data.verb cannot be read"),
    ],
)
def test_a_source_of_another_form_is_named(sources, capsys, file, content, message):
    if content is None:
        for one in (sources / file).parent.glob("*.json" if "json" in file else "data.verb"):
            one.unlink()
    else:
        (sources / file).write_text(content)
    assert make(sources) == 2
    assert message in capsys.readouterr().err
