"""What the lesson on predictions must say of a scene: from the recorded tensors, in NumPy."""

import numpy as np

from bertviz_core.formula.numbers import format_percent, write_fixed
from tests.lessons.truths_attention import name, rank


def read(scene, leaf="probs", token=None):
    where = scene.token if token is None else token
    return scene.trace[f"cls.predictions.{leaf}"][where].astype(np.float64)


def word(scene, vocab):
    return f"“{scene.model.tokenizer.name(int(vocab))}”"


def points(share):
    return f"{write_fixed(100 * share, 2)} %"


def expect(scene):
    return 1, {"here": name(scene, scene.token), "vocab": f"{len(read(scene)):,}", "first": "10"}


def logit(scene):
    best = int(read(scene).argmax())
    products = read(scene, "transform.LayerNorm") * scene.trace["cls.predictions.decoder.weight"][:, best]
    bias = float(scene.trace["cls.predictions.decoder.bias"][best])
    up, down, most = products[products > 0].sum(), products[products < 0].sum(), np.abs(products).max()
    return up + down + bias, {
        "word": word(scene, best),
        "d": str(len(products)),
        "up": write_fixed(up, 4),
        "down": write_fixed(down, 4),
        "b": write_fixed(bias, 4),
        "l": write_fixed(up + down + bias, 4),
        "nob": write_fixed(up + down, 2),
        "most": write_fixed(most, 2),
        "decides": "One product stands out" if 2 * most >= max(up, -down) else "No single product decides",
    }


def times(scene):
    shares, logits = read(scene), read(scene, "decoder")
    ranked = rank(shares)[:12]
    fit = [i for i in range(11) if 1.05 <= shares[ranked[i]] / shares[ranked[i + 1]] <= 20]
    a, b = ranked[fit[0]], ranked[fit[0] + 1]
    return np.exp(logits[a] - logits[b]), {
        "a": word(scene, a),
        "b": word(scene, b),
        "la": write_fixed(logits[a], 4),
        "lb": write_fixed(logits[b], 4),
        "difference": write_fixed(logits[a] - logits[b], 4),
        "r": write_fixed(np.exp(logits[a] - logits[b]), 2),
        "quotient": write_fixed(logits[a] / logits[b], 2),
        "pa": format_percent(shares[a]),
        "pb": format_percent(shares[b]),
        "others": f"{len(shares) - 2:,}",
    }


def plusone(scene):
    logits, shares = read(scene, "decoder"), read(scene)
    ranked = rank(shares)[:12]
    fit = [i for i in ranked[1:] + ranked[:1] if 0.01 <= shares[i] <= 0.36]
    raised = logits.copy()
    raised[fit[0]] += 1
    after = np.exp(raised - raised.max())
    after /= after.sum()
    other = ranked[1] if ranked[0] == fit[0] else ranked[0]
    assert after[other] < shares[other]
    return 1, {
        "word": word(scene, fit[0]),
        "p": points(shares[fit[0]]),
        "add": points(shares[fit[0]] + 0.01),
        "new": points(after[fit[0]]),
        "times": points(shares[fit[0]] * np.e),
        "other": word(scene, other),
        "was": points(shares[other]),
        "now": points(after[other]),
    }


def half(scene):
    shares = np.sort(read(scene))[::-1]
    count = next(i for i in range(1, len(shares) + 1) if shares[:i].sum() >= 0.5 * shares.sum())
    assert count > 1
    return (0 if count <= 10 else 1 if count <= 100 else 2), {
        "word": word(scene, read(scene).argmax()),
        "p": format_percent(shares[0]),
        "vocab": f"{len(shares):,}",
        "n": str(count),
        "ten": format_percent(shares[:10].sum()),
        "hundred": format_percent(shares[:100].sum()),
    }


def visible(scene):
    special = ("[CLS]", "[SEP]", "[MASK]", "[UNK]", "[PAD]")
    shares = {i: read(scene, token=i) for i, token in enumerate(scene.trace.tokens) if token not in special}
    least = min(shares, key=lambda i: shares[i].max())
    most = max(shares, key=lambda i: shares[i].max())
    assert sorted(row.max() for row in shares.values())[1] > shares[least].max()
    first, own = int(shares[least].argmax()), int(scene.trace["input_ids"][least])
    told, its = (format_percent(shares[least][i]) for i in (first, own))
    says = f"{word(scene, first)} leads with {told}, before {word(scene, own)} itself with {its}"
    return least, {
        "sure": name(scene, most),
        "says": word(scene, shares[most].argmax()),
        "most": format_percent(shares[most].max()),
        "w": name(scene, least),
        "leads": f"{word(scene, own)} itself leads, with no more than {told}" if first == own else says,
    }


def own(scene):
    shares = read(scene)
    best = {"word": word(scene, shares.argmax()), "p": format_percent(shares.max())}
    return 0.5, {"here": name(scene, scene.token), **best}


TRUTHS = {step.__name__: step for step in (expect, logit, times, plusone, half, visible, own)}
