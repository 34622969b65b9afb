"""What the lesson on attention must say of a scene: from the recorded tensors, in NumPy."""

import itertools

import numpy as np

from bertviz_core.formula.numbers import format_number, format_percent, write_fixed
from bertviz_core.formula.texts import name_token


def read(scene, leaf):
    return scene.trace[f"encoder.layer.{scene.layer}.attention.self.{leaf}"][scene.head].astype(np.float64)


def name(scene, position):
    return name_token(scene.trace.tokens, int(position))


def softmax(scores):
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def rank(row):
    return [int(i) for i in np.lexsort((np.arange(len(row)), -row))]


def row(scene):
    weights = read(scene, "probs")[scene.token]
    first, second = rank(weights)[:2]
    return first, {
        "here": name(scene, scene.token),
        "top": name(scene, first),
        "w": format_percent(weights[first]),
        "next": name(scene, second),
        "w2": format_percent(weights[second]),
    }


def direction(scene):
    weights = read(scene, "probs")
    other = next(i for i in rank(weights[scene.token]) if i != scene.token)
    return other * len(weights) + scene.token, {
        "here": name(scene, scene.token),
        "other": name(scene, other),
        "row": str(other),
        "column": str(scene.token),
        "w": format_percent(weights[scene.token, other]),
        "back": format_percent(weights[other, scene.token]),
    }


def negative(scene):
    products, scores, weights = (read(scene, leaf)[scene.token] for leaf in ("products", "scores", "probs"))
    key = int(products.argmin())
    assert products[key] < 0
    return 2 if weights[key] > 0 else 1, {
        "here": name(scene, scene.token),
        "key": name(scene, key),
        "d": write_fixed(products[key], 2),
        "p": format_percent(weights[key]),
        "power": format_number(float(np.exp(scores[key] - scores.max()))),
    }


def ratio(scene):
    scores, weights = read(scene, "scores")[scene.token], read(scene, "probs")[scene.token]
    pairs = itertools.permutations(range(len(scores)), 2)
    near = [(a, b) for a, b in pairs if 0.5 <= scores[a] - scores[b] <= 2]
    a, b = max(near, key=lambda pair: (scores[pair[0]], scores[pair[1]]))
    return np.exp(scores[a] - scores[b]), {
        "here": name(scene, scene.token),
        "a": name(scene, a),
        "b": name(scene, b),
        "sa": write_fixed(scores[a], 2),
        "sb": write_fixed(scores[b], 2),
        "difference": write_fixed(round(scores[a], 2) - round(scores[b], 2), 2),
        "ratio": write_fixed(np.exp(scores[a] - scores[b]), 2),
        "quotient": write_fixed(scores[a] / scores[b], 2),
        "wa": format_percent(weights[a]),
        "wb": format_percent(weights[b]),
    }


def scale(scene):
    products = read(scene, "products")[scene.token]
    key, width = int(products.argmax()), scene.model.config.head_dim
    tried = np.linspace(0.01, 40, 400_000)
    others = np.delete(products, key) - products[key]
    shares = 1 / (1 + sum(np.exp(other / tried) for other in others))
    divisor = tried[np.abs(shares - 0.9).argmin()]
    return divisor, {
        "a": name(scene, key),
        "width": str(width),
        "root": write_fixed(width**0.5, 2),
        "w": format_percent(softmax(products / width**0.5)[key]),
        "one": format_percent(softmax(products)[key]),
        "divisor": write_fixed(divisor, 2),
    }


def mask(scene):
    scores, weights = read(scene, "scores")[scene.token], read(scene, "probs")[scene.token]
    a, b = rank(weights)[:2]
    after = np.exp(scores[b]) / np.exp(np.delete(scores, a)).sum()
    assert np.isclose(after, weights[b] / (1 - weights[a]), rtol=1e-3)
    return 1, {
        "a": name(scene, a),
        "b": name(scene, b),
        "wa": format_percent(weights[a]),
        "wb": format_percent(weights[b]),
        "grown": format_percent(after),
        "all": format_percent(weights[a] + weights[b]),
        "factor": write_fixed(1 / (1 - weights[a]), 2),
    }


def taken(scene):
    weights = read(scene, "probs")[scene.token]
    lengths = np.sqrt((read(scene, "value") ** 2).sum(axis=1))
    had = weights * lengths
    ratios = np.outer(weights, 1 / weights) * np.outer(1 / had, had)
    fit = (np.outer(weights, 1 / weights) > 1.2) & (np.outer(1 / had, had) > 1.2) & (weights > 0.005)[None]
    a, b = (int(i) for i in np.unravel_index(np.where(fit, ratios, 0).argmax(), ratios.shape))
    assert fit[a, b]
    return 1, {
        "here": name(scene, scene.token),
        "a": name(scene, a),
        "b": name(scene, b),
        "wa": format_percent(weights[a]),
        "wb": format_percent(weights[b]),
        "la": write_fixed(lengths[a], 2),
        "lb": write_fixed(lengths[b], 2),
        "ta": format_number(float(had[a])),
        "tb": format_number(float(had[b])),
        "times": write_fixed(had[b] / had[a], 1),
    }


def own(scene):
    return 0, {"layer": str(scene.layer), "head": str(scene.head)}


TRUTHS = {step.__name__: step for step in (row, direction, negative, ratio, scale, mask, taken, own)}
