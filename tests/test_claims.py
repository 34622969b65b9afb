"""Every sentence with numbers, on every page, in random states: true of the pass, by oracles in plain NumPy."""

import ast
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.claims import Claim, Part, Relation, choose, say
from bertviz_core.analysis.heads import summarize
from bertviz_core.sharing.findings import Found
from bertviz_core.ui import panels, views
from bertviz_core.ui.frame import site
from bertviz_core.ui.frame.findings import Wanted
from bertviz_core.ui.views import heads_numbers
from tests.claims import answers, captions, inside, origins, pairs, patches, rare  # noqa: F401 - they register oracles
from tests.claims.phrases import ELSEWHERE, PHRASES
from tests.claims.states import PLACES, enter, list_states
from tests.claims.truths import ORACLES, Scene, find_faults
from tests.claims.wording import find_slips
from tests.factory import random_checkpoint
from tests.settling import settle

SEED = 3
LOOK, RECALL = Wanted.look, Wanted.recall
DEAR = {"heads", "where_from", "patch"}  # a pass for each head, token or patch
KINDS = (
    "pretraining",
    "masked-lm",
    "base-without-pooler",
    "sequence-classification",
    "token-classification",
    "question-answering",
)
# Claims that not every machine's states reach, or none of these, and why.
SELDOM = {
    "two compared": "a cosine must lie so near to the limit that both are written alike: its last digits decide",
    "none raises more": "a sum below 0 that two equal parts raise most: test_said_of_ties.py has one",
    "printed numbers": "of BERT-base’s sizes and the notebook’s sentence alone: test_printed.py has both",
}


def list_tellers():
    """Every function of a page that says something of a view: by the page's name and its own."""
    pages = sorted((info.name for info in site.PAGES), key=len, reverse=True)
    found = {}
    for module in pkgutil.iter_modules(views.__path__, f"{views.__name__}."):
        leaf = module.name.rpartition(".")[2]
        page = next(name for name in pages if leaf == name or leaf.startswith(f"{name}_"))
        for name, tell in vars(importlib.import_module(module.name)).items():
            if inspect.isfunction(tell) and tell.__module__ == module.name and is_teller(tell):
                found[leaf, name] = page, tell
    return found


def is_teller(tell):
    takes = [parameter.annotation for parameter in inspect.signature(tell).parameters.values()]
    return tell.__annotations__.get("return") == "Said" and takes == ["View"]


# What a page says only where the pass has a tensor.
NEEDS = dict.fromkeys(
    [("predictions_reason", "tell_largest"), ("predictions_words", "tell_half")], "cls.predictions.probs"
)
# What says something of other things than a view, and how a page calls it.
OTHERS = {
    ("heads_numbers", "tell_extremes"): (
        "heads",
        lambda view: heads_numbers.tell_extremes(summarize(view.trace, 8).numbers["self"]),
    ),
}
TELLERS = list_tellers() | OTHERS


@pytest.fixture(scope="module")
def models(bundled, tmp_path_factory):
    folders = (random_checkpoint(tmp_path_factory.mktemp("claims"), kind=kind, seed=i) for i, kind in enumerate(KINDS))
    return [bundled, *map(bv.load_model, folders)]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return rare.load_models(tmp_path_factory.mktemp)


def test_all_that_pages_say_is_true(models, monkeypatch):
    assert tell_all(list_states(models, 12, SEED), monkeypatch, 10 * PLACES) <= set(ORACLES)


def test_all_that_pages_say_of_rare_states_is_true(small, monkeypatch):
    assert tell_all(list_rare(small, 24), monkeypatch, 1) <= set(ORACLES)


@pytest.mark.rare
def test_all_that_pages_say_of_300_states_is_true_and_each_claim_is_seen(models, small, monkeypatch):
    said = tell_all(list_states(models, 300, SEED), monkeypatch, PLACES)
    said |= tell_all(list_rare(small, 600), monkeypatch, 1)
    assert set(ORACLES) - said <= set(SELDOM), "each is seen, where a comparison holds and where it does not"


def list_rare(small, states):
    return list_states(small, states, SEED, rare.draw_pass, rare.TEXTS)


def tell_all(states, monkeypatch, every):
    """Say all that the pages say in these states, none of it false; the names of the claims that were said.

    every: in one of so many states what is dear is known.
    """
    said, wrong = set(), []
    for shown in states:
        changed, unchanged = (Scene(shown, view) for view in (shown.view, shown.view.unchanged))
        for (module, name), (page, tell) in TELLERS.items():
            enter(monkeypatch, shown, page)
            scene = unchanged if site.get_page(page).unchanged else changed
            view = scene.view
            know(monkeypatch, page not in DEAR or shown.number % every == 1 % every)
            if NEEDS.get((module, name), "embeddings.sum") not in view.trace:
                continue
            told = tell(view)
            wrong += [f"{shown}: {module}.{name}: {why}" for why in find_slips(told.text)]
            for claim in told.claims:
                said.add(claim.name)
                wrong += [f"{shown}: {module}.{name}: {why}" for why in find_faults(claim, scene)]
    assert not wrong, "\n".join([f"{len(wrong)} are wrong:", *wrong[:40]])
    return said


def know(monkeypatch, settled):
    """Whatever is worked out beside the page is known; or nothing new of it, however fast this machine is."""

    def look(asked):
        found = LOOK(asked) if settled else RECALL(asked) or Found()
        if settled and not found.over:
            assert settle()
            found = LOOK(asked)
        return found

    monkeypatch.setattr(Wanted, "look", look)
    monkeypatch.setattr(Wanted, "recall", look if settled else RECALL)  # as if its picture had been drawn


# Claims themselves.


def claim(relation, *values, others=(), at=(), write="{:.0f}".format):
    parts = {f"p{i}": Part(value, write) for i, value in enumerate(values)}
    return Claim("c", " ".join(f"{{{name}}}" for name in parts), parts, relation, np.array(others), at)


HOLDS = [
    claim(Relation.SAYS, 1.0), claim(Relation.LARGEST, 3.0, others=[1, 3, 2], at=(1,)), claim(Relation.LARGEST, 3.0),
    claim(Relation.SMALLEST, 1.0, others=[1, 3, 2], at=(0,)), claim(Relation.HIGHEST, 3.0, others=[3, 3, 2], at=(0,)),
    claim(Relation.LOWEST, 2.0, others=[3, 3, 2.0], at=(2,)), claim(Relation.ABOVE, 2.0, 1.0, 9.0),
    claim(Relation.TIED, 3.0, others=[3, 3, 2], at=(0,)),
    claim(Relation.SAME, 2.4, 1.6), claim(Relation.ONLY, 2.0, others=[0, 2, 0], at=(1,)),
    claim(Relation.NONE, others=[0, 0]), claim(Relation.NONE, 5, others=[0.0]),
]  # fmt: skip
FAILS = [
    claim(Relation.SAYS, np.nan), claim(Relation.SAYS, np.inf), claim(Relation.HIGHEST, 3.0, others=[np.nan]),
    claim(Relation.LARGEST, 3.0, others=[4.0, 3.0], at=(1,)), claim(Relation.LARGEST, 3.0, others=[3.0, 3.0], at=(1,)),
    claim(Relation.LARGEST, 3.4, others=[2.6, 3.4], at=(1,)), claim(Relation.SMALLEST, 2.6, others=[3.4]),
    claim(Relation.SMALLEST, 3.0, others=[2.0]), claim(Relation.HIGHEST, 3.0, others=[3.1]),
    claim(Relation.LOWEST, 3.0, others=[2.9]), claim(Relation.ABOVE, 1.0, 2.0), claim(Relation.ABOVE, 2.4, 1.6),
    claim(Relation.TIED, 3.0, others=[3, 2], at=(0,)), claim(Relation.TIED, 3.0),
    claim(Relation.TIED, 2.0, others=[3, 2]),
    claim(Relation.SAME, 2.0, 3.0), claim(Relation.ONLY, 2.0, others=[1, 2], at=(1,)),
    claim(Relation.ONLY, 0.0, others=[0, 0], at=(1,)), claim(Relation.NONE, others=[0, 1e-30]),
]  # fmt: skip


@pytest.mark.parametrize("one", HOLDS, ids=lambda one: f"{one.relation.name} {one.text} of {one.others}")
def test_a_comparison_that_is_true_holds(one):
    assert one.holds


@pytest.mark.parametrize("one", FAILS, ids=lambda one: f"{one.relation.name} {one.text} of {one.others}")
def test_one_that_is_not_true_or_not_as_it_is_written_does_not(one):
    assert not one.holds


def test_every_relation_is_tried_on_both_sides():
    assert {one.relation for one in HOLDS} == set(Relation) == {one.relation for one in FAILS}


def test_the_first_way_that_holds_is_chosen_and_the_last_stands_in():
    wrong, right = claim(Relation.ABOVE, 1.0, 2.0), claim(Relation.SAYS, 7.0)
    assert choose(wrong, right).text == "7" and choose(right, wrong).text == "7"
    assert choose(wrong, claim(Relation.SAYS, np.nan)).text == "nan"
    assert choose(say("it is ", wrong), say()).text == ""
    assert say("a ", say("b ", right), " c").text == "a b 7 c" and len(say(say(right), right).claims) == 2


def test_a_word_in_braces_stays_one():
    assert Claim("c", "{word} is {n}", {"word": Part("{n}"), "n": Part(3)}).text == "{n} is 3"


# Words that compare stand in claims.

ROOMS = [Path(views.__file__).parent, Path(panels.__file__).parent]
COMPARES = re.compile(
    r"\b(largest|smallest|highest|lowest|longest|nearest|strongest|likeliest|best|most|only|alone|first|leads|"
    r"more than|no other|as printed)\b",
    re.IGNORECASE,
)


def list_comparing(source):
    """The texts with such a word of a module that are in no claim: neither in a call that makes one, nor in a function
    that returns what is said, nor what documents the code."""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    told = [node for node in functions if isinstance(node.returns, ast.Name) and node.returns.id == "Said"]
    told += [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("say", "choose", "Claim", "say_largest", "say_smallest")
    ]
    told += [
        node.body[0]
        for node in (tree, *functions, *(n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)))
        if ast.get_docstring(node) is not None
    ]
    free = {id(inner) for node in told for inner in ast.walk(node)}
    texts = (
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in free
    )
    return [text for text in texts if COMPARES.search(text)]


def find_free(texts, phrases):
    """Of texts those in which such a word stands outside of every phrase; and the phrases that are in none."""
    stripped = list(texts)
    for phrase in sorted(phrases, key=len, reverse=True):
        stripped = [text.replace(phrase, " ") for text in stripped]
    unused = [phrase for phrase in phrases if not any(phrase in text for text in texts)]
    return [text for text, rest in zip(texts, stripped, strict=True) if COMPARES.search(rest)], unused


@pytest.mark.parametrize(
    "file", [file for room in ROOMS for file in sorted(room.glob("*.py"))], ids=lambda one: one.stem
)
def test_what_compares_is_a_claim_or_listed_with_its_reason(file):
    if file.stem not in ELSEWHERE:
        phrases = [phrase for modules in PHRASES.values() for phrase in modules.get(file.stem, ())]
        assert all(COMPARES.search(phrase) for phrase in phrases)
        assert find_free(list_comparing(file.read_text(encoding="utf-8")), phrases) == ([], [])


def test_a_comparison_outside_of_claims_is_found():
    source = 'def show(view):\n    """The largest."""\n    st.caption(f"{a} is the largest")\n    say("the best")\n'
    assert list_comparing(source) == [" is the largest"]
    assert find_free([" is the largest of the best"], ["the best", "no phrase"]) == (
        [" is the largest of the best"],
        ["no phrase"],
    )
