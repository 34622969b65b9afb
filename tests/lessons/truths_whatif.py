"""What the lesson on changes must say of a scene: from the recorded tensors of runs with changes, in NumPy."""

from functools import cache

import numpy as np

from bertviz_core.formula.numbers import format_percent, write_fixed
from bertviz_core.tracing.rewrites import Rule
from tests.lessons.truths_attention import name, read
from tests.lessons.truths_words import word

PROBS = "encoder.layer.{}.attention.self.probs[head={}]"


def predict(trace, token):
    """The probabilities at a token from the vector that the LM head compares with each row: (vocab) in float64."""
    vector = trace["cls.predictions.transform.LayerNorm"][token]
    logits = vector @ trace["cls.predictions.decoder.weight"] + trace["cls.predictions.decoder.bias"]
    powers = np.exp(logits.astype(np.float64) - logits.max())
    return powers / powers.sum()


def run(scene, changes):
    return predict(scene.trace.with_changes(changes), scene.token)


@cache
def without_heads(scene):
    """(layer, head) the likeliest word's probability without each head, and what it is with all."""
    shares = predict(scene.trace, scene.token)
    best, config = int(shares.argmax()), scene.model.config
    heads = np.ndindex(config.num_hidden_layers, config.num_attention_heads)
    rows = [run(scene, {PROBS.format(*head): 0.0})[best] for head in heads]
    return np.array(rows).reshape(config.num_hidden_layers, -1), float(shares[best]), best


@cache
def without_words(scene):
    """By position: the likeliest word's probability with each word masked out."""
    special = ("[CLS]", "[SEP]", "[MASK]", "[UNK]", "[PAD]")
    best = int(predict(scene.trace, scene.token).argmax())
    places = [i for i, text in enumerate(scene.trace.tokens) if text not in special and i != scene.token]
    return {i: run(scene, {f"attention_mask[token={i}]": 0.0})[best] for i in places}


def head_name(head):
    return f"head {int(head[1])} of layer {int(head[0])}"


def points(part):
    return write_fixed(100 * part, 2)


def common(scene):
    shares = predict(scene.trace, scene.token)
    best = {"word": word(scene, shares.argmax()), "p0": format_percent(shares.max())}
    return {"here": name(scene, scene.token), **best}


def ranked(scene):
    """The heads, the one that is needed most first, and what is lost without each."""
    without, answer, _ = without_heads(scene)
    losses = answer - without
    order = sorted(np.ndindex(*losses.shape), key=lambda head: -losses[head])
    return order, losses


def looks(scene):
    shares, weights = predict(scene.trace, scene.token), read(scene, "probs")[scene.token]
    best = int(shares.argmax())
    after = run(scene, {PROBS.format(scene.layer, scene.head): 0.0})[best]
    ratio = after / shares[best]
    return (0 if ratio <= 0.9 else 2 if ratio >= 1.1 else 1), {
        **common(scene),
        "own": head_name((scene.layer, scene.head)),
        "target": name(scene, weights.argmax()),
        "w": format_percent(weights.max()),
        "p1": format_percent(after),
        "f0": format_percent(shares[best]),
    }


def worst(scene):
    order, losses = ranked(scene)
    assert losses[order[0]] > 0
    after = run(scene, {PROBS.format(*order[0]): 0.0})
    best = int(predict(scene.trace, scene.token).argmax())
    leads = int(after.argmax())
    return order[0][0] * losses.shape[1] + order[0][1], {
        **common(scene),
        "count": str(losses.size),
        "worst": head_name(order[0]),
        "p1": format_percent(after[best]),
        "points": points(losses[order[0]]),
        "leads": f"{word(scene, best)} still leads" if leads == best else f"{word(scene, leads)} takes the lead",
    }


def looked(scene):
    layer, head = ranked(scene)[0][0]
    layers = range(scene.model.config.num_hidden_layers)
    weights = np.stack([scene.trace[f"encoder.layer.{i}.attention.self.probs"][:, scene.token] for i in layers])
    largest = weights.max(axis=2)
    place, key = 1 + int((largest > largest[layer, head]).sum()), int(weights[layer, head].argmax())
    eye = f"By its largest weight at {name(scene, scene.token)} it is number {place} of {largest.size} heads"
    ends = (". It need not be: what is sharp and what is needed are two questions.",
            ": the experiment found it, not its sharpness.")  # fmt: skip
    return key, {
        **common(scene),
        "worst": head_name((layer, head)),
        "k": name(scene, key),
        "w": format_percent(float(weights[layer, head, key])),
        "found": eye + ends[place > 1],
    }


def both(scene):
    order, losses = ranked(scene)
    _, answer, best = without_heads(scene)
    needed = [head for head in order if losses[head] > 0.02 * answer]
    pairs = [(a, b) for i, a in enumerate(needed) for b in needed[i + 1 :] if losses[a] + losses[b] < 0.9 * answer]
    a, b = pairs[0]
    after = run(scene, {PROBS.format(*a): 0.0, PROBS.format(*b): 0.0})[best]
    total, lost = losses[a] + losses[b], answer - after
    return (0 if abs(lost - total) < 0.05 * total else 2 if lost > total else 1), {
        **common(scene),
        "a": head_name(a),
        "b": head_name(b),
        "la": points(losses[a]),
        "lb": points(losses[b]),
        "sum": f"{sum(round(100 * part, 2) for part in (losses[a], losses[b])):.2f}",
        "p1": format_percent(after),
        "both": f"it {'loses' if lost > 0 else 'gains'} {points(abs(lost))} points",
    }


def without(scene):
    shares, own = predict(scene.trace, scene.token), (scene.layer, scene.head)
    best = int(shares.argmax())
    zeroed, spread = (run(scene, {PROBS.format(*own): value})[best] for value in (0.0, Rule("uniform")))
    return (1 if abs(spread - zeroed) < 0.05 * max(zeroed, spread) else 2 if spread > zeroed else 0), {
        **common(scene),
        "own": head_name(own),
        "z": format_percent(zeroed),
        "u": format_percent(spread),
        "f0": format_percent(zeroed),
        "points": points(abs(spread - zeroed)),
    }


def token(scene):
    found = without_words(scene)
    first, second = sorted(found, key=found.__getitem__)[:2]
    assert found[first] < predict(scene.trace, scene.token).max()
    after = run(scene, {f"attention_mask[token={first}]": 0.0})
    tops = [int(i) for i in np.argsort(-after)[:2]]
    return first, {
        **common(scene),
        "w": name(scene, first),
        "p1": format_percent(found[first]),
        "next": name(scene, second),
        "p2": format_percent(found[second]),
        "tops": ", ".join(f"{word(scene, i)} {format_percent(after[i])}" for i in tops),
    }


def own(scene):
    return 0, common(scene)


TRUTHS = {step.__name__: step for step in (looks, worst, looked, both, without, token, own)}
