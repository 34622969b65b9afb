"""What the lessons on tokens, embeddings and a layer ask, worked out once more: from recorded tensors, in NumPy."""

import math
import re
from functools import cache

import numpy as np

import bertviz_core as bv
from bertviz_core.formula.numbers import format_degrees, format_number, format_percent, write_fixed

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
EXAMPLES = ("banana", "snowboarding", "photosynthesis", "unhappiness", "electroencephalography")
PARTS = (("un", "happi", "ness"), ("re", "read", "ing"), ("heart", "less", "ness"), ("un", "read", "able"))


def two(x):
    return write_fixed(float(x), 2)


def read(scene, address):
    return scene.trace[address].astype(np.float64)


def name(scene, i):
    tokens = scene.trace.tokens
    return f"“{tokens[i]}”" + (f" at position {i}" if tokens.count(tokens[i]) > 1 else "")


def cut(scene, word):
    """WordPiece, written out: from the left the longest entry."""
    entries, pieces, start = set(scene.model.tokenizer.vocabulary), [], 0
    while start < len(word):
        ends = (e for e in range(len(word), start, -1) if ("##" if start else "") + word[start:e] in entries)
        end = next(ends, None)
        if end is None:
            return ["[UNK]"]
        pieces.append(("##" if start else "") + word[start:end])
        start = end
    return pieces


def rarest(scene, *without):
    """The whole word of three letters or more whose id is highest."""
    tokens, ids = [*scene.trace.tokens, ""], scene.trace["input_ids"]
    found = [
        (int(ids[i]), -i)
        for i, token in enumerate(tokens[:-1])
        if re.fullmatch("[A-Za-z]{3,}", token) and not tokens[i + 1].startswith("##") and i not in without
    ]
    return -max(found)[1]


def repeated(scene):
    ids = [int(i) for i in scene.trace["input_ids"]]
    first = next(i for i in ids if ids.count(i) > 1 and scene.model.tokenizer.token(i) not in SPECIAL)
    return [i for i, each in enumerate(ids) if each == first]


def entry(scene, i):
    """What an id stands for; by its number where the vocabulary does not say."""
    return scene.model.tokenizer.token(int(i)) or f"id {int(i)}"


def tops(scene, probs):
    best = np.argsort(-probs, kind="stable")[:3]
    return ", ".join(f"“{entry(scene, i)}” {format_percent(float(probs[i]))}" for i in best)


def answer(scene, changes, token=None):
    token = scene.token if token is None else token
    trace = scene.trace.with_changes(changes) if changes else scene.trace
    return trace[f"cls.predictions.probs[token={token}]"].astype(np.float64)


@cache
def word_rows(model):
    """The rows of the word matrix in float64, each of length 1; a row of zeros stays."""
    rows = model.parameters["embeddings.word_embeddings.weight"].numpy().astype(np.float64)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def nearest(scene, token, count):
    own = int(scene.trace["input_ids"][token])
    cosines = word_rows(scene.model) @ word_rows(scene.model)[own]
    return [(int(i), float(cosines[i])) for i in np.argsort(-cosines, kind="stable")[: count + 1] if i != own][:count]


def count(scene, text):
    tokens, n = scene.trace.tokens, len(scene.trace["input_ids"])
    plain = text.replace("[MASK]", "MASK")
    words, marks = (len(re.findall(pattern, plain)) for pattern in (r"\w+", r"[^\w\s]"))
    pieces = len([token for token in tokens if token.startswith("##")])
    whole = len([i for i, token in enumerate(tokens[1:]) if token.startswith("##") and not tokens[i].startswith("##")])
    told = f" Of the words here {whole} are no entries: they are cut into {pieces + whole} pieces."
    one = f" One of the words here is no entry: it is cut into {pieces + 1} pieces."
    return n, {
        "vocab": f"{len(scene.model.tokenizer.vocabulary):,}",
        "cut": ("", one, told)[min(whole, 2)],
        "words": f"{words} word{'s' * (words != 1)}",
        "marks": f"{marks} punctuation mark{'s' * (marks != 1)}",
        "mask": "; [MASK] counts as a word" if "[MASK]" in text else "",
        "n": str(words + marks + pieces + 2),
        "plain": str(n - 2),
        "first": "[CLS]",
        "last": "[SEP]",
    }


def same(scene, _):
    a, b = repeated(scene)[:2]
    token = scene.trace.tokens[a]
    return b, {"a": name(scene, a), "b": name(scene, b), "word": token, "id": str(scene.trace["input_ids"][b])}


def capitals(scene, _):
    i = rarest(scene)
    word, entries = scene.trace.tokens[i], scene.model.tokenizer.vocabulary
    lowered = "lowercase" in scene.model.tokenizer.rules.changes
    pieces = cut(scene, word.upper().lower() if lowered else word.upper())
    key = 3 if pieces == ["[UNK]"] else 0 if pieces == [word] else 1 if len(pieces) == 1 else 2
    return key, {
        "word": word,
        "capitals": word.upper(),
        "id": str(scene.trace["input_ids"][i]),
        "unknown": "[UNK]",
        "cut": " ".join(pieces),
        "other": str(entries.index(pieces[0])),
    }


def pieces(scene, _):
    told = [(parts, cut(scene, "".join(parts))) for parts in PARTS]
    grammar = {parts: " ".join([parts[0], *(f"##{part}" for part in parts[1:])]) for parts in PARTS}
    parts, found = next((p, c) for p, c in told if len(c) > 1 and " ".join(c) != grammar[p])
    shown = {"cut": " ".join(found), "k": str(len(found)), "first": found[0]}
    return 1, {"word": "".join(parts), "grammar": grammar[parts], "unknown": "[UNK]", **shown}


def three(scene, _):
    counts = {word: len(cut(scene, word)) for word in EXAMPLES}
    return 3, {"examples": ", ".join(f"{word} {n}" for word, n in counts.items() if n != 3)}


def hidden(scene, text):
    tokens = [*scene.trace.tokens, ""]
    words = [
        i
        for i, token in enumerate(tokens[:-1])
        if re.fullmatch(r"\w+", token) and not tokens[i + 1].startswith("##") and tokens.count(token) == 1
    ]
    i = words[len(words) // 2]
    probs = bv.run(scene.model, text, masked=[i])[f"cls.predictions.probs[token={i}]"].astype(np.float64)
    remembered = int(probs.argmax()) == scene.trace["input_ids"][i]
    mask = str(scene.model.tokenizer.mask_id)
    return 2 - remembered, {"word": tokens[i], "name": "[MASK]", "mask": mask, "guesses": tops(scene, probs)}


def rows(scene):
    names = ("word_embeddings", "position_embeddings", "token_type_embeddings")
    return np.stack([read(scene, f"embeddings.{each}[token={scene.token}]") for each in names])


def size(scene, _):
    width = scene.trace["embeddings.sum"].shape[1]
    return width, {"here": name(scene, scene.token), "width": f"{width:,}", "three": f"{3 * width:,}"}


def component(scene, _):
    total = rows(scene).sum(axis=0)
    c = int(np.abs(scene.trace[f"embeddings.sum[token={scene.token}]"]).argmax())
    first, *others = (format_number(float(x)) for x in rows(scene)[:, c])
    minus = int((rows(scene)[:, c] < 0).sum())
    summed = scene.trace[f"embeddings.sum[token={scene.token},hidden={c}]"]
    normal = scene.trace[f"embeddings.LayerNorm.normalized[token={scene.token},hidden={c}]"]
    assert math.isclose((total[c] - total.mean()) / total.std(), normal, rel_tol=1e-3)
    return total[c], {
        "here": name(scene, scene.token),
        "c": str(c),
        "parts": " + ".join([first, *(f"({x})" if x.startswith("−") else x for x in others)]),
        "signs": {0: "None is", 1: "One is", 2: "Two are", 3: "All three are"}[minus] + " negative",
        "off": "What is negative is taken off" if minus else "The sum is larger than each of the three",
        "sum": format_number(float(summed)),
        "normal": format_number(float(normal)),
    }


def longest(scene, _):
    lengths = np.sqrt((rows(scene) ** 2).sum(axis=1))
    word, position, segment = map(two, lengths)
    told = {"word": word, "position": position, "segment": segment}
    return int(lengths.argmax()), {"here": name(scene, scene.token), **told}


def near(scene, _):
    i, entries = rarest(scene), scene.model.tokenizer.vocabulary
    word, own, found = scene.trace.tokens[i], int(scene.trace["input_ids"][i]), nearest(scene, i, 4)
    best = found[0][0]
    beside = own - 1 if best == own + 1 or own + 1 == len(entries) else own + 1
    others = [j for j in range(len(entries)) if j not in (own, best, beside)]
    for letters in range(len(word), 0, -1):
        begun = [j for j in others if entries[j].startswith(word[:letters])]
        if begun:
            break
    alike = min(begun, key=lambda j: (abs(len(entries[j]) - len(word)), j))
    return 1, {
        "word": word,
        "id": str(own),
        "beside": entries[beside] or f"id {beside}",
        "other": str(beside),
        "best": entries[best],
        "alike": entries[alike],
        "list": ", ".join(f"“{entries[j]}” {two(cosine)}" for j, cosine in found),
    }


def order(scene, _):
    was = answer(scene, None)
    probs = answer(scene, {"embeddings.position_embeddings": 0.0})
    top = entry(scene, was.argmax())
    told = {"here": name(scene, scene.token), "top": top, "guesses": tops(scene, probs)}
    return int(was.argmax() != probs.argmax()), told


def cosine(rows, a, b):
    return float(rows[a] @ rows[b] / np.linalg.norm(rows[a]) / np.linalg.norm(rows[b]))


def context(scene, _):
    a, b = repeated(scene)[:2]
    before = cosine(read(scene, "embeddings.LayerNorm"), a, b)
    after = cosine(read(scene, f"encoder.layer.{scene.layer}.output.LayerNorm"), a, b)
    key = 0 if after - before > 0.05 else 2 if before - after > 0.05 else 1
    told = {"before": two(before), "after": two(after), "layer": str(scene.layer)}
    return key, {"token": scene.trace.tokens[a], "a": str(a), "b": str(b), **told}


def apart(scene, _):
    return 0, {"last": str(scene.model.config.num_hidden_layers - 1), "apart": "0.2"}


def sums(scene):
    """What was there, what attention adds, and their sum, for every token."""
    i = scene.layer
    was = read(scene, f"encoder.layer.{i - 1}.output.LayerNorm" if i else "embeddings.LayerNorm")
    return was, read(scene, f"encoder.layer.{i}.attention.output.dense")


def add(scene, _):
    was, added = (each[scene.token] for each in sums(scene))
    x, o, r = (float(np.linalg.norm(each)) for each in (was, added, was + added))
    angle = math.degrees(math.acos(float(was @ added) / x / o))
    way = "about that" if 85 <= angle <= 95 else "less" if angle < 90 else "more"
    three = {"was": two(x), "added": two(o), "sum": two(r), "less": two(abs(x - o))}
    three["straight"] = two(round(x, 2) + round(o, 2))
    root = two(math.sqrt(x * x + o * o))
    return 1, {"here": name(scene, scene.token), "angle": format_degrees(angle), "root": root, "way": way, **three}


def most(scene, _):
    lengths = np.linalg.norm(sums(scene)[1], axis=1)
    i = int(lengths.argmax())
    return i, {"top": name(scene, i), "added": two(lengths[i]), "mean": two(lengths.mean())}


def norm(scene, _):
    total = sum(sums(scene))[scene.token]
    told = {"width": f"{len(total):,}", "length": two(len(total) ** 0.5), "before": two(np.linalg.norm(total))}
    return len(total) ** 0.5, {"here": name(scene, scene.token), **told}


def moves(scene, _):
    i = rarest(scene, scene.token)
    other = nearest(scene, i, 1)[0][0]
    changed = scene.trace.with_changes({f"input_ids[token={i}]": other})
    at = f"encoder.layer.0.attention.output.dense[token={scene.token}]"
    told = {"word": name(scene, i), "other": entry(scene, other)}
    far = format_number(float(np.abs(changed[at] - scene.trace[at]).max()))
    return 2, {"here": name(scene, scene.token), "apart": far, **told}


def neurons(scene, _):
    inner = f"encoder.layer.{scene.layer}.intermediate"
    before, after = (read(scene, f"{inner}.{leaf}[token={scene.token}]") for leaf in ("dense", "activation"))
    rows = np.linalg.norm(read(scene, f"encoder.layer.{scene.layer}.output.dense.weight"), axis=1)
    active, wrote = int((before > 0).sum()), np.abs(after) * rows
    share = active / len(before)
    told = {"neuron": str(int(wrote.argmax())), "length": two(wrote.max()), "layer": str(scene.layer)}
    counts = {"n": f"{len(before):,}", "active": f"{active:,}", "share": format_percent(share)}
    return int(share <= 0.75) + int(share < 0.25), {"here": name(scene, scene.token), **counts, **told}


def skip(scene, _):
    last = scene.model.config.num_hidden_layers - 1
    was, probs = answer(scene, None), answer(scene, {f"encoder.layer.{last}.attention.output.residual": "no-residual"})
    top, first = (entry(scene, each.argmax()) for each in (was, probs))
    key = 0 if top == first else 1 if first in scene.trace.tokens else 2
    return key, {"here": name(scene, scene.token), "top": top, "last": str(last), "guesses": tops(scene, probs)}


def lens(scene):
    """The LM head, written out, after every stage: the logits, (stage, vocab)."""
    trace, layers = scene.trace, scene.model.config.num_hidden_layers
    stages = ["embeddings.LayerNorm", *(f"encoder.layer.{i}.output.LayerNorm" for i in range(layers))]
    x = np.stack([read(scene, f"{stage}[token={scene.token}]") for stage in stages])
    head = {leaf: read(scene, f"cls.predictions.transform.{leaf}") for leaf in ("dense.weight", "dense.bias")}
    x = x @ head["dense.weight"] + head["dense.bias"]
    x = x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))
    x = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-12)
    scale, shift = (read(scene, f"cls.predictions.transform.LayerNorm.{leaf}") for leaf in ("weight", "bias"))
    return (x * scale + shift) @ trace["cls.predictions.decoder.weight"] + trace["cls.predictions.decoder.bias"]


def ordinal(n):
    return f"{n:,}" + ("th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th"))


def when(scene, _):
    logits = lens(scene)
    final = int(logits[-1].argmax())
    ranks = [int((row > row[final]).sum()) + 1 for row in logits]
    stage = ranks.index(1)
    told = "leads" if set(ranks[stage:]) == {1} else "leads, though not after every later layer"
    places = {"rank": ordinal(ranks[0]), "place": ordinal(ranks[stage - 1]), "stays": told}
    layers = {"layer": str(stage - 1), "last": str(len(ranks) - 2)}
    return stage - 1, {"here": name(scene, scene.token), "top": entry(scene, final), **layers, **places}


def nothing(*_):
    return 0, {}


def last(scene, _):
    return 0, {"last": str(scene.model.config.num_hidden_layers - 1)}


ORACLES = {
    "tokens": {
        "count": count, "same": same, "capitals": capitals, "pieces": pieces, "three": three, "hidden": hidden,
        "own": nothing,
    },
    "embeddings": {
        "size": size, "component": component, "longest": longest, "near": near, "order": order, "context": context,
        "own": apart,
    },
    "layer": {
        "sum": add, "most": most, "norm": norm, "moves": moves, "neurons": neurons, "skip": skip, "when": when,
        "own": last,
    },
}  # fmt: skip
