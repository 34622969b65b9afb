"""Oracles of the headlines of pages that look inside the pass, and of documents."""

import math

import numpy as np

from bertviz_core.documents import DOCUMENTS
from bertviz_core.documents.printed import TENSORS
from bertviz_core.tracing.rewrites import Rule
from bertviz_core.ui.frame.resources import get_store
from tests.claims.truths import Truth, angle, length, oracle, softmax

WAYS = {
    "almost the same way": (0, 25),
    "partly the same way": (25, 79),
    "almost a right angle": (79, 100),
    "partly against it": (100, 155),
    "almost the opposite way": (155, 180.1),
}


@oracle("looks at nothing")
def _(scene):
    return Truth({"asks": scene.name(scene.token)}, "NONE", scene.row)


@oracle("looks hardest", "looks as hard")
def _(scene, name):
    values, row, most = _look(scene)
    values["asks"] = scene.name(scene.token)
    return Truth(values, {"looks hardest": "LARGEST", "looks as hard": "HIGHEST"}[name], row, most)


def _look(scene):
    """The key with the largest weight and that weight, the weights of all keys that count, and its place there."""
    keys = scene.counted
    row = scene.row[keys]
    most = int(row.argmax())
    return {"key": scene.name(keys[most]), "weight": row[most]}, row, most


@oracle("weights below 0")
def _(scene):
    row = scene.row[scene.counted]
    return Truth({"asks": scene.name(scene.token), "count": int((row < 0).sum()), "all": len(row)})


@oracle("largest beside weights below 0", "none larger beside weights below 0")
def _(scene, name):
    relation = {"l": "LARGEST", "n": "HIGHEST"}[name[0]]
    values, row, most = _look(scene)
    return Truth(values, relation, row, most)


@oracle("worked key")
def _(scene):
    key, _ = scene.key
    return Truth({"key": scene.name(key), "weight": scene.row[key]})


@oracle("hardest of the other words")
def _(scene):
    key, by_rule = scene.key
    assert by_rule
    values = {"key": scene.name(key), "weight": scene.row[key]}
    return Truth(values, "LARGEST", scene.row[scene.other_words], scene.other_words.index(key))


def _add(scene):
    """Lengths of what a sublayer is given and adds, their angle."""
    where = {"feed-forward": "output"}.get(scene.shown.says.get("where"), "attention.output")
    below = scene["embeddings.LayerNorm"] if not scene.layer else scene.own("output.LayerNorm", scene.layer - 1)
    given = below if where == "attention.output" else scene.own("attention.output.LayerNorm")
    cut = scene.changed_to(f"encoder.layer.{scene.layer}.{where}.residual") == "no-residual"
    skip, added = (0 if cut else 1) * given[scene.token], scene.own(f"{where}.dense")[scene.token]
    names = {"attention.output": "Attention", "output": "Feed-forward"}
    values = {"by": names[where], "word": scene.name(scene.token), "skip": length(skip), "added": length(added)}
    return values, angle(skip, added)


@oracle("sum without a skip")
def _(scene):
    values, _ = _add(scene)
    return Truth(values, "NONE", np.array([values["skip"]]))


@oracle("adds")
def _(scene):
    values, _ = _add(scene)
    assert values["skip"]
    return Truth(values)


@oracle("adds at")
def _(scene):
    _, between = _add(scene)
    return Truth({"angle": between, "way": next(way for way, (_, end) in WAYS.items() if round(between) <= end)})


def _take(scene):
    lengths = np.sqrt((scene.own("attention.self.value") ** 2).sum(axis=-1))
    return np.abs(scene.weights) * lengths, lengths


@oracle("takes nothing")
def _(scene):
    return Truth({"asks": scene.name(scene.token), "head": scene.head}, "NONE", _take(scene)[0][scene.head])


@oracle("takes most", "takes as much")
def _(scene, name):
    row = _take(scene)[0][scene.head]
    most = int(row.argmax())
    values = {"asks": scene.name(scene.token), "head": scene.head, "taken": row[most], "gives": scene.name(most)}
    return Truth(values, {"takes most": "LARGEST", "takes as much": "HIGHEST"}[name], row, most)


@oracle("longest weighted value", "no longer weighted value")
def _(scene, name):
    row = _take(scene)[0][scene.head]
    most = int(row.argmax())
    assert scene.weights.min() < 0
    way = "taken off, as its weight is below 0" if scene.row[most] < 0 else "added"
    values = {
        "asks": scene.name(scene.token),
        "head": scene.head,
        "length": row[most],
        "key": scene.name(most),
        "way": way,
    }
    return Truth(values, {"l": "LARGEST", "n": "HIGHEST"}[name[0]], row, most)


@oracle("takes less")
def _(scene):
    taken, lengths = _take(scene)
    missed = scene.weights * (1 - lengths / lengths[:, scene.real].max())
    head, key = np.unravel_index(missed.argmax(), missed.shape)
    assert missed.max() >= 0.5
    values = {
        "most": taken[scene.head].max(),
        "less": taken[head, key],
        "key": scene.name(key),
        "weight": scene.weights[head, key],
        "other": int(head),
    }
    return Truth(values, "ABOVE")


@oracle("the head adds", "no head adds", "head adds most", "no head adds more")
def _(scene, name):
    context, weight = scene.own("attention.self.context")[scene.token], scene.own("attention.output.dense.weight")
    parts = (context[:, None] * weight).reshape(scene.config.num_attention_heads, -1, weight.shape[1]).sum(axis=1)
    total = parts.sum(axis=0) + scene.own("attention.output.dense.bias")
    shares = parts @ total / (total @ total or 1.0)
    most = int(shares.argmax())
    values = {} if name == "no head adds" else {"share": shares[most], "head": most}
    relation = {"no head adds": "NONE", "head adds most": "LARGEST", "no head adds more": "HIGHEST"}.get(name, "SAYS")
    return Truth(values, relation, *(() if relation == "SAYS" else (shares, most)))


def _sides(scene):
    says = scene.shown.says
    return [says.get("beside", "bert"), says["document"]]


def _end(scene, program):
    """A program's run, and its last layer's vector of the chosen token."""
    trace = _run_side(scene, program)
    layer, kept = scene.config.num_hidden_layers - 1, trace.program.spine
    *_, last = (step.address for step in trace.program.steps if step.layer == layer and step.address in kept)
    return trace, np.asarray(trace[last], dtype=np.float64)[_find_row(scene, trace)]


def _find_row(scene, trace):
    """Where the chosen token stands in a run of a program: one document has the padding in front of the text."""
    real, count = len(scene.real), len(scene.tokens)
    if trace.encoding.mask[0] or real == count:
        return scene.token
    return scene.token + (count - real if scene.token < real else -real)


def _run_side(scene, program):
    return scene.view.run_as(program, get_store())


@oracle("two agree", "two differ", "two compared", "two differ but for the word")
def _(scene, name):
    if name == "two differ but for the word":
        one, other = (_guess(scene, program)["guess"] for program in _sides(scene))
        assert one == other, "each puts another word first"
    one, other = (_end(scene, program)[1] for program in _sides(scene))
    sizes = length(one) * length(other)
    cosine = float(one @ other / sizes) if sizes else 0.0
    relation = "SAYS" if name == "two compared" else "ABOVE"
    return Truth({"cosine": cosine, "limit": 0.9999, "word": scene.name(scene.token)}, relation)


@oracle("answer of the left", "answer of the right")
def _(scene, name):
    return Truth(_guess(scene, _sides(scene)[name == "answer of the right"]))


def _guess(scene, program):
    """The word that a program puts first at the chosen token."""
    trace, vector = _end(scene, program)
    if "cls.predictions.decoder" in trace.program.by_address:
        scores = np.asarray(trace["cls.predictions.decoder"], dtype=np.float64)
        shares = softmax(scores)[_find_row(scene, trace)]
    else:  # it ends before the head: BERT's reads its last layer
        shares = scene.read_words(vector[None])[0]
    most = int(shares.argmax())
    return {"share": shares[most], "guess": scene.entry(most)}


@oracle("three rows", "asks")
def _(scene, _name):
    return Truth({"word": scene.name(scene.token)})


@oracle("active neurons")
def _(scene):
    before = scene.own("intermediate.dense")[scene.token]
    return Truth({"active": float((before > 0).mean()), "count": len(before), "word": scene.name(scene.token)})


@oracle("neurons above 0 before")
def _(scene):
    path = f"encoder.layer.{scene.view.chosen.layer}.intermediate.dense"
    return Truth({"was": int((scene.view.outcome.before[f"{path}[token={scene.token}]"] > 0).sum())})


@oracle("no neuron writes", "longest neuron", "no longer neuron")
def _(scene, name):
    parts = scene.own("intermediate.activation")[scene.token][:, None] * scene.own("output.dense.weight")
    total = parts.sum(axis=0) + scene.own("output.dense.bias")
    lengths = np.sqrt((parts**2).sum(axis=1))
    most = int(lengths.argmax())
    values = {"length": lengths[most], "neuron": most, "share": float(parts[most] @ total / (total @ total or 1.0))}
    relation = {"no neuron writes": "NONE", "longest neuron": "LARGEST", "no longer neuron": "HIGHEST"}[name]
    return Truth(values, relation, lengths, most)


@oracle("formulas", "formulas and changes")
def _(scene, name):
    steps = [step.address for step in scene.trace.program.steps]
    mine = [a for a in steps if not a.startswith("encoder.layer.") or a.startswith(f"encoder.layer.{scene.layer}.")]
    rules = any(isinstance(value, Rule) for value in scene.trace.changes.values())
    assert name == "formulas and changes" or not rules
    return Truth(
        {
            "formulas": len(mine),
            "layers": scene.config.num_hidden_layers,
            "numbers": sum(math.prod(scene.trace.shape(a)) for a in steps),
        }
    )


def _fit(scene):
    """The dot products of the chosen token's query with every key that is no padding."""
    return scene.own("attention.self.products")[scene.head, scene.token][scene.real]


@oracle("fits best", "fits as well", "only key")
def _(scene, name):
    row = _fit(scene)
    most = int(row.argmax())
    values = {"product": row[most], "key": scene.name(scene.real[most]), "count": len(row)}
    return Truth(values, "LARGEST" if name == "fits best" else "HIGHEST", row, most)


@oracle("component brings")
def _(scene):
    key = scene.real[int(_fit(scene).argmax())]
    query, keys = (scene.own(f"attention.self.{name}")[scene.head] for name in ("query", "key"))
    terms = query[scene.token] * keys[key]
    toward = -terms if terms.sum() < 0 else terms
    most = int(toward.argmax())
    same = set(np.flatnonzero(toward == toward[most]))
    return Truth({"brings": terms[most], "component": same}, "HIGHEST", toward, most)


@oracle("printed numbers")
def _(scene):
    assert any(document.name == "notebook" for document in DOCUMENTS)
    every = [text for printed in TENSORS for row in printed.digits for text in row]
    return Truth({"numbers": len(every), "cells": len(TENSORS), "compared": len(TENSORS)})


@oracle("printed numbers that follow")
def _(scene):
    """GELU nowhere rises faster than by 1.13; each print is off by half of its last digit, at most."""
    digits = {one.cell: [text for row in one.digits for text in row] for one in TENSORS}
    follow = sum(
        abs(_gelu(float(a)) - float(b)) <= 1.13 * _half(a) + _half(b) + abs(float(a)) * 2.0**-22
        for a, b in zip(digits["49"], digits["51"], strict=True)
    )
    return Truth({"numbers": sum(map(len, digits.values())), "follow": follow})


def _gelu(x):
    return x * (1 + math.erf(x / math.sqrt(2))) / 2


def _half(text):
    """Half of the last digit of a print such as −4.8812e−05."""
    digits, _, power = text.partition("e")
    return 0.5 * 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
