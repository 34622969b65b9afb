"""The pages of the answers: the sentence, the overview and the story."""

import itertools
import math
import re
from dataclasses import replace

import numpy as np
import torch

import bertviz_core as bv
from bertviz_core.tracing.trace import Trace
from tests.derived.truth import (
    ELSEWHERE,
    Bars,
    Map,
    Rows,
    Scene,
    Truth,
    cosine,
    points,
    softmax,
    strongest,
    truth,
)
from tests.derived.words import Falling

NEXT = ("B follows A", "B is a random sentence")


def read_cell(address: str) -> tuple[str, dict[str, int]]:
    """An address of one cell as its path and its indices by axis."""
    path, _, index = address.partition("[")
    return path, {axis: int(i) for axis, i in re.findall(r"(\w+)=(\d+)", index)}


@truth("sentence", "one-vector")
def one_vector(s: Scene) -> Truth:
    rows, read = s.states[-1], s.trace.encoding
    kinds = sorted({kind for kind, real in zip(read.segments, read.mask, strict=True) if real})
    vectors = {s.trace.tokens[0]: rows[0]}
    for kind in kinds:
        of = [i for i in range(len(rows)) if read.mask[i] and read.segments[i] == kind]
        vectors[f"mean of {'AB'[kind]}" if len(kinds) > 1 else "mean"] = sum(rows[i] for i in of) / len(of)
    found = list(vectors.values())
    told = [cosine(a, b) for a, b in itertools.combinations(found, 2)]
    return Truth([Rows(vectors)], np.stack(found), told=told, worked=[cosine(found[-2], found[-1])])


def pool(s: Scene) -> tuple[np.ndarray, np.ndarray]:
    """The pooler before and after its tanh, from the last vector at [CLS]."""
    before = s.states[-1][0] @ s["pooler.dense.weight"] + s["pooler.dense.bias"]
    return before, np.tanh(before)


@truth("sentence", "pooler.dense")
def pooler(s: Scene) -> Truth:
    before, after = pool(s)
    return Truth([Rows({"dense": before, "tanh": after})], before, worked=[before[strongest(before)]])


@truth("sentence", "pooler.activation")
def tanh_curve(s: Scene) -> Truth:
    before, after = pool(s)
    reach = max(float(np.abs(before).max()), 3.0) + 0.5
    grid = np.linspace(-reach, reach, 160)
    told = [sum(abs(x) > 0.9 for x in after) / len(after), 0.9]
    return Truth(
        [points("this model", x=grid, y=np.tanh(grid)), points("this token", x=before, y=after)],
        after,
        told=told,
        worked=[after[strongest(after)]],
    )


def classify(s: Scene, address: str) -> np.ndarray:
    return pool(s)[1] @ s[f"{address}.weight"] + s[f"{address}.bias"]


def name_classes(s: Scene, address: str) -> tuple[str, ...]:
    return NEXT if address == "cls.seq_relationship" else s.trace.model.labels


@truth("sentence", "The verdict")
def next_sentence(s: Scene) -> Truth:
    """A row an answer."""
    logits = classify(s, "cls.seq_relationship")
    shares = softmax(logits)
    return Truth(tables=[{"probability": shares, "logit": logits}], rows=list(NEXT))


@truth("sentence", "Is it B that decides?")
def other_pairs(s: Scene) -> Truth:
    """What Hugging Face's head says of other pairs with the same first sentence, by Hugging Face's tokenizer."""
    a, b = s.shown.view.text, s.shown.view.pair
    report, words = "The committee published its annual report.", (b or a).split()
    pairs = {
        "as written": (a, b),
        **({"the same, turned around": (b, a)} if b else {}),
        "A again": (a, a),
        "another subject": (a, report),
        **({} if b else {"another subject, turned around": (report, a)}),
        "perhaps the same scene": (a, "They were very tired."),
        **({"words in disorder": (a, " ".join(reversed(words)))} if words != words[::-1] else {}),
    }
    shares = [follow(s, *pair) for pair in pairs.values()]
    return Truth(tables=[{"number": shares}], rows=list(pairs))


@torch.inference_mode()
def follow(s: Scene, first: str, second: str | None) -> float | str:
    """How likely the second sentence follows the first."""
    given = s.hf_tokenizer(first, second, return_tensors="pt")
    if given["input_ids"].shape[1] > s.config.max_position_embeddings:
        return "too long"
    return float(softmax(s.hf(**given).seq_relationship_logits[0].double().numpy())[0])


@truth("sentence", "classifier*")
def classes(s: Scene, rest: str) -> Truth:
    if "token" in s.trace.dims("classifier"):
        return token_classes(s, rest)
    return scores_of(s, "classifier", rest)


def scores_of(s: Scene, address: str, probs: str) -> Truth:
    scores = classify(s, address)
    found = softmax(scores) if probs else scores
    bars = dict(zip(name_classes(s, address), found, strict=True))
    worked = found[strongest(found)]
    return Truth([Bars(bars)], found, worked=[worked])


def token_classes(s: Scene, rest: str) -> Truth:
    scores = s.states[-1] @ s["classifier.weight"] + s["classifier.bias"]
    found = softmax(scores) if rest.startswith(".probs") else scores
    row = found[s.token]
    if "[" in rest:
        return Truth([Bars(dict(zip(s.trace.model.labels, row, strict=True)))], row, worked=[row[strongest(row)]])
    return Truth([Map(found)], found, worked=[row[strongest(row)]])


@truth("sentence", "evidence-*")
def evidence(s: Scene, address: str) -> Truth:
    pooled, weight, bias = pool(s)[1], s[f"{address}.weight"], s[f"{address}.bias"]
    label = int(classify(s, address).argmax())
    others = [i for i in range(len(bias)) if i != label]
    parts = np.array([pooled[j] * (weight[j, label] - np.mean(weight[j, others])) for j in range(len(pooled))])
    own = bias[label] - np.mean(bias[others])
    lead = classify(s, address)[label] - np.mean(classify(s, address)[others])
    assert math.isclose(parts.sum() + own, lead)
    return Truth(
        [Falling(parts, own)],
        parts[:, None],
        told=[len(parts), own, lead],
        worked=[lead],
    )


@truth("overview", "page")
def overview(s: Scene) -> Truth:
    return Truth(told=[sum(p.numel() for p in s.hf.parameters())])  # a tied one is a single parameter


@truth("story", "The way back")
def story(s: Scene) -> Truth:
    """What the number becomes with that token hidden which moves it most."""
    start, *_, end = s.shown.find("story", "All steps").cells
    path, at = read_cell(end)
    if path != "input_ids" or at["token"] not in list_words(s):
        return Truth()
    value, moved = read_probability(s.trace, start), {i: hide(s, start, i) for i in list_words(s)}
    most = max(moved, key=lambda i: abs(moved[i] - value))
    twice = s.trace.tokens.count(s.trace.tokens[most]) > 1
    return Truth(told=[*([most] if twice else []), len(moved), value, moved[most]])


def list_words(s: Scene) -> list[int]:
    return [i for i in s.real if s.trace.tokens[i] not in s.trace.model.tokenizer.special_tokens]


def hide(s: Scene, start: str, token: int) -> float:
    """The story's number in a pass over the same tokens, one of them hidden."""
    ids = list(s.trace.encoding.ids)
    ids[token] = s.trace.model.tokenizer.mask_id
    hidden = bv.run(s.trace.model, replace(s.trace.encoding, ids=tuple(ids)))
    return read_probability(hidden, start)


@truth("story", "With each token hidden")
def story_hidden(s: Scene) -> Truth:
    """The same for every token that is a word; of many, in tables side by side."""
    start = s.shown.find("story", "All steps").cells[0]
    words, tables = list_words(s), len(s.shown.find("story", "With each token hidden").tables)
    size = -(-len(words) // tables)
    parts = [words[first : first + size] for first in range(0, len(words), size)]
    return Truth(
        tables=[{"with it hidden": [hide(s, start, i) for i in part]} for part in parts],
        rows=[s.names[i] for i in parts[0]],
    )


@truth("story", "Who brings what to *")
def story_brings(s: Scene, name: str) -> Truth:
    """Of a component of a head's output: each token's weight, its value, and their product; and what all add up to."""
    panel = s.shown.find("story", f"Who brings what to {name}")
    path, at = read_cell(panel.of)
    head, j = divmod(at["concat"], s.config.head_dim)
    query, layer = at["token"], int(path.split(".")[2])
    own = path.removesuffix("context")
    weights, values = s[f"{own}probs"][head, query], s[f"{own}value"][head, :, j]
    terms = weights * values
    shown = sorted(np.argsort(-np.abs(terms), kind="stable")[:12].tolist())
    some = [len(shown), len(terms)] if len(shown) < len(terms) else []
    columns = {"attention A": weights, "value V": values, "A · V": terms}
    return Truth(
        told=[layer, head, j, float(weights @ values), *some],
        tables=[{title: column[shown] for title, column in columns.items()}],
        may=[query],
    )


@truth("story", "All steps")
def story_steps(s: Scene) -> Truth:
    """Each number of the story, by the address that its button opens; and how many steps and stops there are."""
    values, stops = list_values(s), s.shown.find("story", "Without each stop").tables[0].rows
    return Truth(
        told=[len(values) - 1, len(stops)], tables=[{"value": values}], rows=[str(i + 1) for i in range(len(values))]
    )


def list_values(s: Scene) -> list[float]:
    """The story's numbers, step by step; the last one, a token's id, is whole."""
    values = [
        float(s[path][tuple(at.values())]) for path, at in map(read_cell, s.shown.find("story", "All steps").cells)
    ]
    return [int(x) if i + 1 == len(values) else x for i, x in enumerate(values)]


@truth("story", "Without each stop")
def story_without(s: Scene) -> Truth:
    """The story's number where a stop is 0; not of the number itself, and not of the token's id."""
    panel = s.shown.find("story", "Without each stop")
    start, *stops = panel.cells
    without = [None, *(read_probability(s.trace.with_changes({stop: 0.0}), start) for stop in stops[:-1]), None]
    return Truth(tables=[{"without it": without}])


def read_probability(trace: Trace, start: str) -> float:
    """In double precision from the logits: a change may be smaller than what a probability is rounded by."""
    path, at = read_cell(start)
    assert path == "cls.predictions.probs"
    return float(softmax(trace["cls.predictions.decoder"][at["token"]])[at["vocab"]])


@truth("story", "operands-story-*")
def story_stop(s: Scene, number: str) -> Truth:
    """One number of the story: its value, and the largest of the terms that make it or what is not drawn of them."""
    panel = s.shown.find("story", f"operands-story-{number}")
    path, at = read_cell(panel.of)
    place = tuple(at.values())
    value = float(s[path][place])
    if path.endswith(".probs"):
        told = told_of_softmax(s, path, place)
    else:
        terms = list_terms(s, path, place)
        told = [len(terms), max(terms, key=abs), sum(terms)] if terms else []
    return Truth([ELSEWHERE] * len(panel.traces), told=[value, *told], worked=[value], may=name_places(s, at, number))


def name_places(s: Scene, at: dict[str, int], number: str) -> list[int]:
    """The whole numbers that a stop may name: indices, layers, heads, and how many steps lead to it."""
    return [*at.values(), int(number) + 1, *range(max(64, 8 * len(s.layers), s.config.hidden_size))]


def list_terms(s: Scene, path: str, place: tuple[int, ...]) -> list[float]:
    """The terms whose sum a cell is; none where it is no sum of products."""
    layer, leaf = re.fullmatch(r"(encoder\.layer\.\d+\.)?(.*)", path).groups()
    stage = int(layer.split(".")[2]) if layer else 0
    if leaf.endswith("LayerNorm"):
        return [s[f"{path}.weight"][place[-1]] * s[f"{path}.normalized"][place], s[f"{path}.bias"][place[-1]]]
    if leaf.endswith("context"):
        head, j = divmod(place[1], s.config.head_dim)
        probs, value = s[f"{layer}attention.self.probs"][head, place[0]], s[f"{layer}attention.self.value"][head, :, j]
        return list(probs * value)
    if leaf.startswith("attention.self.") and leaf.endswith(("query", "key", "value")):
        head, token, j = place
        column = head * s.config.head_dim + j
        return [*(s.states[stage][token] * s[f"{path}.weight"][:, column]), s[f"{path}.bias"][column]]
    if leaf.endswith("residual"):
        module = leaf.removesuffix(".residual")
        before = s.states[stage] if module == "attention.output" else s[f"{layer}attention.output.LayerNorm"]
        return [before[place], s[f"{layer}{module}.dense"][place]]
    assert leaf.endswith((".activation", ".mean", ".variance", ".normalized")), f"the story stops at {path}"
    return []


def told_of_softmax(s: Scene, path: str, place: tuple[int, ...]) -> list[float]:
    """Of the vocabulary what the smallest share together; of attention the score and its lead over the next."""
    if path == "cls.predictions.probs":
        row = np.sort(softmax(s["cls.predictions.decoder"][place[0]]))[::-1]
        return [10, row[10:].sum()]
    scores = s[path.replace("probs", "scores")][place[:2]]
    return [scores[place[2]], scores[place[2]] - max(np.delete(scores, place[2]))]


@truth("story", "*. input_ids*")
def story_end(s: Scene, number: str, rest: str) -> Truth:
    panel = s.shown.find("story", f"{number}. input_ids{rest}")
    _, at = read_cell(panel.of)
    return Truth(told=[s.trace.encoding.ids[at["token"]], int(number)], may=name_places(s, at, number))


@truth("story", "*. *")
def story_parameter(s: Scene, number: str, rest: str) -> Truth:
    panel = s.shown.find("story", f"{number}. {rest}")
    path, at = read_cell(panel.of)
    return Truth(told=[float(s[path][tuple(at.values())])], may=name_places(s, at, number))
