"""Sentences about weights, vectors and probabilities that no formula gives, which a change put there: none is false."""

import re
from math import erf

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

import bertviz_core as bv
from bertviz_core.analysis.heads import are_shares, find_roles, has_shares, summarize
from bertviz_core.formula.numbers import format_short
from bertviz_core.ui.panels.looks import tell_hardest
from bertviz_core.ui.panels.worked import write_cosine
from tests.factory import random_checkpoint
from tests.settling import settle
from tests.test_put import opened
from tests.test_said_after_changes import read_all

SNOW = "Snow fell on the old bridge."
OWN = "encoder.layer.3.attention.self"
PLACE = {"text": SNOW, "layer": "3", "head": "7", "token": "5"}
BELOW = {f"{OWN}.probs[head=7]": -0.5}
ONE_BELOW = {f"{OWN}.probs[head=7,query=5,key=1]": -0.5}
CANCELLED = {
    f"{OWN}.probs[head=7]": 0.0,
    f"{OWN}.probs[head=7,query=5,key=1]": 0.5,
    f"{OWN}.probs[head=7,query=5,key=2]": -0.5,
}
MORE = {f"{OWN}.probs[head=7]": 0.3}


def test_shares_are_none_below_0_and_together_1():
    rows = np.array(
        [[0.5, 0.5, 0], [1, 0, 0], [0, 0, 0], [0.9, 0.9, 0], [1.5, -0.5, 0], [-1, 1, 1], [0.33333, 0.33333, 0.33334]]
    )
    assert are_shares(rows).tolist() == [True, True, False, False, False, False, True]
    assert are_shares(rows[:6].reshape(2, 3, 3).astype(np.float32)).tolist() == [[True, True, False], [False] * 3]


@pytest.mark.parametrize("changes", [{}, BELOW, MORE, {f"{OWN}.probs[head=7]": 0.0}, ONE_BELOW])
def test_only_heads_whose_weights_are_shares_have_entropy_distance_and_role(bundled, changes):
    trace = bv.run(bundled, SNOW, changes=changes)
    found = summarize(trace, 8)
    for layer, head in np.ndindex(found.pictures.shape[:2]):
        numbers = found.of(layer, head)
        shared = not (changes and (layer, head) == (3, 7))
        assert has_shares(numbers) == shared
        assert all(np.isnan(numbers[name]) != shared for name in ("entropy", "evenness", "distance"))
        assert shared or find_roles(numbers) == []
    plain = trace[f"{OWN}.probs[head=0]"].astype(np.float64)
    assert found.of(3, 0)["entropy"] == pytest.approx(-(plain * np.log2(plain)).sum(axis=1).mean())


def test_a_row_that_happens_to_sum_to_0_is_not_said_to_have_no_weights(bundled):
    text = read_all(opened("heads", CANCELLED, **PLACE))
    assert "Not all weights of this head are shares" in text and "All weights of this head are 0" not in text


# The page, what is changed, what has to be said, and what must not be.
SAID = {
    "entropy below 0": ("heads", BELOW, "So it has neither an entropy nor a distance, and no role.",
                        "tokens shared the attention evenly"),
    "a head of 0.3": ("heads", MORE, "Not all weights of this head are shares", "tokens shared the attention evenly"),
    "rows alike": ("attention", BELOW, "as changed, each row sums to −4.5000.", "a row sums to −4.5000 to −4.5000"),
    "rows of 0 that are not 0": ("attention", CANCELLED, "as changed, each row sums to 0.", "sums to 0.0000"),
    "rows apart": ("attention", ONE_BELOW, "as changed, a row sums to ", "each row sums to 1. Click"),
    "looking below 0": ("attention", BELOW, "has 9 of 9 weights below 0, which a change puts ", "looks at no token"),
    "one below 0": (
        "attention", ONE_BELOW, "has 1 of 9 weights below 0, which a change puts there; the largest is that on",
        "looks hardest",
    ),
    "taken off": ("attention_output", BELOW, "taken off, as its weight is below 0", "From no token more than"),
    "the longest of what is taken off": ("attention_output", BELOW, "whose values it takes off. Position ",
                                         "because its value is longer"),
    "signs": ("attention_output", ONE_BELOW, "Where a change puts a weight below 0, the value is taken off", None),
}  # fmt: skip


@pytest.mark.parametrize("name", SAID)
def test_weights_that_no_softmax_gives_are_not_told_as_shares(name):
    page, changes, said, not_said = SAID[name]
    text = re.sub(r"\\(?=[!-/:-@\[-`{-~])", "", read_all(opened(page, changes, **PLACE)))
    assert said in text
    assert not_said is None or not_said not in text


def test_a_weight_of_0_is_none_below_0():
    said = tell_hardest(np.array([-0.5, 0.0, 0.75, 0.0]), 1, ["a", "b", "c", "d"], range(4)).text
    assert said.startswith(
        "“b” has 1 of 4 weights below 0, which a change puts there; the largest is that on **“c”: 75"
    )


def test_what_a_weight_below_0_takes_off_is_as_long_as_its_weighted_value(bundled):
    trace = bv.run(bundled, SNOW, changes=BELOW)
    values = trace[f"{OWN}.value[head=7]"].astype(np.float64)
    longest = np.linalg.norm(-0.5 * values, axis=1)
    title = opened("attention_output", BELOW, **PLACE).title[0].value
    assert f"{trace.tokens[int(longest.argmax())]}”: {format_short(longest.max())}**, taken off" in title.replace(
        "\\", ""
    )


# Vectors of length 0.

L3 = "encoder.layer.3"
ALL, ONE = {f"{L3}.output.LayerNorm": 0.0}, {f"{L3}.output.LayerNorm[token=5]": 0.0}
OTHER = {f"{L3}.output.LayerNorm[token=2]": 0.0}
LEFT_OUT = "A vector of length 0 has no direction: a cosine with it is undefined, and left out."
DIRECTIONS = {
    "the chosen one": (ONE, LEFT_OUT, "The bold line is “"),
    "all": (ALL, LEFT_OUT, "no lower cosine"),
    "another": (OTHER, LEFT_OUT, "is nearest to none"),
}  # fmt: skip


@pytest.mark.parametrize("name", DIRECTIONS)
def test_a_cosine_with_a_vector_of_length_0_is_undefined(name):
    changes, said, not_said = DIRECTIONS[name]
    text = re.sub(r"\\(?=[!-/:-@\[-`{-~])", "", read_all(opened("layers", changes, **PLACE)))
    assert said in text and not_said not in text


def test_a_cosine_that_is_undefined_is_not_worked_out():
    assert "undefined: a vector of length 0 has no direction" in write_cosine(np.zeros(2), np.ones(2), "x, y")
    assert "undefined" not in write_cosine(np.ones(2), np.ones(2), "x, y")


def test_the_layer_with_the_lowest_cosine_is_one_of_those_that_have_any(bundled):
    trace = bv.run(bundled, SNOW, changes=ALL)
    stages = [trace["embeddings.LayerNorm"], *(trace[f"encoder.layer.{i}.output.LayerNorm"] for i in range(6))]
    units = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in stages if rows.any()]
    means = {
        0: (units[0] * units[1]).sum(axis=1).mean(),
        1: (units[1] * units[2]).sum(axis=1).mean(),
        2: (units[2] * units[3]).sum(axis=1).mean(),
        5: (units[4] * units[5]).sum(axis=1).mean(),
    }
    lowest = min(means, key=means.get)
    text = read_all(opened("layers", ALL, **PLACE))
    assert f"Layer {lowest} has the lowest cosine: {format_short(means[lowest])} on average. {LEFT_OUT}" in text


def test_the_vector_of_a_text_of_zeros_is_compared_with_nothing():
    text = read_all(opened("sentence", {"encoder.layer.5.output.LayerNorm": 0.0}, **PLACE))
    assert "undefined, as a vector of length 0 has no direction" in text


def test_a_query_of_length_0_has_no_angle_to_any_key_and_a_key_of_length_0_none_to_any_query(bundled):
    trace = bv.run(bundled, SNOW)
    query, keys = (trace[f"{OWN}.{name}"].astype(np.float64) for name in ("query[head=7,query=5]", "key[head=7]"))
    degrees = np.degrees(np.arccos(keys @ query / np.linalg.norm(keys, axis=1) / np.linalg.norm(query)))
    for changes, known in (
        ({f"{OWN}.query[head=7]": 0.0}, []),
        ({f"{OWN}.key[head=7,key=3]": 0.0}, [0, 1, 2, 4, 5, 6, 7, 8]),
        ({}, range(9)),
    ):
        text = read_all(opened("query_key_value", changes, **PLACE))
        assert sorted(re.findall(r">(\d+)°<", text)) == sorted(f"{degrees[i]:.0f}" for i in known)
        text = read_all(opened("attention", changes, **PLACE))
        assert ("A vector of length 0 has no direction, and no cosine." in text) == (len(known) < 9)


# Probabilities.


QUOTIENTS = {
    "none": ({}, r"divided by [\d.]+", "“old” comes to"),
    "all": ({"cls.predictions.probs[token=5]": 0.0}, "probability, put by a change", "would come to"),
    "one that is shown": ({"cls.predictions.probs[token=5,vocab=2214]": 0.5}, r"divided by [\d.]+, or put by a change",
                          "“old” would come to"),
    "one that is not": ({"cls.predictions.probs[token=5,vocab=7]": 0.9}, r"divided by [\d.]+", "“old” comes to"),
}  # fmt: skip


@pytest.mark.parametrize("name", QUOTIENTS)
def test_probabilities_that_a_change_put_are_not_said_to_come_of_the_division(name):
    changes, head, comes = QUOTIENTS[name]
    text = read_all(opened("predictions", changes, **PLACE))
    assert re.search(f"<th[^>]*>{head}</th>", text) and comes in text


# Tokens that are written alike.

TITLE = re.compile(r'<div class="bv-panel-title"[^>]*><span class="bv-said"><b>(.*?)</b>')
NAMING = ("add_norm", "attention", "attention_output", "embeddings", "layers", "query_key_value")


@pytest.mark.parametrize("page", NAMING)
def test_a_title_tells_a_token_from_those_that_are_written_alike(page):
    text = read_all(opened(page, {}, "the cat saw the cat", layer="3", head="7", token="4"))
    naming = [title for title in TITLE.findall(text) if "“the”" in title or "“cat”" in title]
    naming = [title for title in naming if not title.startswith("Nearest to ")]  # an entry of the vocabulary
    assert naming and all(re.search("“(the|cat)” at position [0-9]", title) for title in naming), naming
    assert all(title.count("“the”") + title.count("“cat”") == title.count(" at position ") for title in naming), naming


# One head, one layer.


def test_a_model_of_one_head_in_one_layer_has_one_head_and_its_layer_is_used_once(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTVIZ_MODELS", str(random_checkpoint(tmp_path, num_hidden_layers=1, num_attention_heads=1)))
    place = {"text": "the the the the", "layer": "0", "head": "0"}
    for page in ("attention_output", "formulas", "heads", "query_key_value"):
        at = opened(page, {}, **place)
        if page == "heads":
            settle()
            at.run()
        text = "\n".join([read_all(at), *(fold.label for fold in at.expander)])
        wrong = re.findall(r"(?:[Aa]ll |of |^|>|\*)1 (?:heads|layers)\b|\b1 (?:times|passes)\b", text)
        assert not wrong, (page, wrong)
        assert ("Two heads left out" not in text and "Without the only head" in text) or page != "heads"
    changed = read_all(opened("formulas", {"encoder.layer.0.intermediate.activation": "relu"}, **place))
    assert "some in its one layer; as changed" in changed


def test_the_only_layer_is_compared_with_no_other(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTVIZ_MODELS", str(random_checkpoint(tmp_path, kind="base", num_hidden_layers=1)))
    text = read_all(opened("layers", {}, text="the cat sat", layer="0", head="0", token="2"))
    assert re.search(r"How does “cat” move\?\* In the only layer it turns by \*\*\d+°\*\*", text)
    assert re.search(r"In the only layer it is [−\d.]+ on average\.", text)
    assert "lowest cosine" not in text and "turns most" not in text


# Words that the LM head does not read as themselves before the first layer.


@pytest.mark.parametrize(("text", "pad", "changes"), [
    (SNOW, "9", {}), (SNOW, "9", {f"embeddings.word_embeddings[token={i}]": 0.0 for i in (1, 5)}), ("old", "3", {}),
    ("old", "3", {"embeddings.word_embeddings[token=1]": 0.0}), ("[MASK]", "12", {}),
])  # fmt: skip
def test_only_words_that_start_as_themselves_are_said_to(bundled, text, pad, changes):
    trace = bv.run(bundled, text, changes=changes)
    own = trace["embeddings.LayerNorm"].astype(np.float64)
    inner = own @ trace["cls.predictions.transform.dense.weight"] + trace["cls.predictions.transform.dense.bias"]
    inner = np.array([[0.5 * x * (1 + erf(x / 2**0.5)) for x in row] for row in inner])
    inner = (inner - inner.mean(axis=1, keepdims=True)) / inner.std(axis=1, keepdims=True)
    inner = inner * trace["cls.predictions.transform.LayerNorm.weight"]
    inner = inner + trace["cls.predictions.transform.LayerNorm.bias"]
    best = (inner @ trace["cls.predictions.decoder.weight"] + trace["cls.predictions.decoder.bias"]).argmax(axis=1)
    alike = [int(best[i]) == int(trace["input_ids"][i]) for i, token in enumerate(trace.tokens) if token[0] != "["]
    said = read_all(opened("layers", changes, text, pad=pad, token="1"))
    number = "one starts as itself" if sum(alike) == 1 else "none starts as itself"
    expected = (
        f"Of {len(alike)} tokens shown that are not special {sum(alike)} start as themselves."
        if 1 < sum(alike) < len(alike)
        else f"Of {len(alike)} tokens shown that are not special {number}."
        if 1 < len(alike) > sum(alike)
        else "Every token shown that is not special starts as itself."
        if len(alike) > 1
        else ""
        if not alike
        else "The one token shown that is not special starts as itself."
        if alike[0]
        else "The one token shown that is not special does not start as itself."
    )
    assert expected in said and "unmasked token starts" not in said
    assert alike or "as itself" not in said


def test_of_a_vector_of_length_0_documents_give_no_cosine(tmp_path, monkeypatch):
    file = random_checkpoint(tmp_path) / "model.safetensors"
    tensors = load_file(file)
    for leaf in ("weight", "bias"):
        tensors[f"bert.encoder.layer.1.output.LayerNorm.{leaf}"] *= 0
    save_file(tensors, file, {"format": "pt"})
    monkeypatch.setenv("BERTVIZ_MODELS", str(tmp_path))
    at = opened("documents", {}, "the cat sat", layer="1", head="0", token="2")
    assert settle()
    text = read_all(at.run())
    assert "A vector of “cat” has length 0 after the last layer, and so no cosine" in at.title[0].value
    assert not re.search(r"\bnan\b|cosine \*\*0\.0000|>0\.00<|at \*\*–", text)


def test_a_vector_of_zeros_is_added_all_the_same():
    at = opened("add_norm", {"embeddings.LayerNorm[token=2]": 0.0}, text=SNOW, layer="0", token="2")
    assert "and a vector of zeros is what it is added to" in at.title[0].value
    cut = opened(
        "add_norm", {"encoder.layer.0.attention.output.residual": "no-residual"}, text=SNOW, layer="0", token="2"
    )
    assert "and its input is not added to that" in cut.title[0].value
