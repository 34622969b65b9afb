"""States of what is rare: small models with few heads or with equal ones, short texts, and changes that level things.

A pass of them takes little, so that in each all is known that is dear to work out.
"""

import bertviz_core as bv
from bertviz_core.errors import InputError
from bertviz_core.tracing.inputs import encode
from tests.claims.states import draw_change
from tests.factory import random_checkpoint, repeat

TEXTS = (
    ("do as the [MASK] do.", None),
    ("the the the the", None),
    ("the cat sat on the mat", None),
    ("do as do", "as do"),
    ("the [MASK] sat on the [MASK]", None),
    ("the cat sat", "where?"),
    ("a", None),
)
ONE = {"num_hidden_layers": 1, "num_attention_heads": 1}
KINDS = (
    {"kind": "pretraining", **ONE},
    {"kind": "masked-lm", "num_attention_heads": 2},
    {"kind": "sequence-classification", "num_labels": 1, **ONE},
    {"kind": "question-answering", "num_attention_heads": 2},
)
EQUAL = {"kind": "pretraining", "num_attention_heads": 2, "intermediate_size": 48}
_PERIOD = 6  # of its components, neurons and those of a head


def load_models(make_folder):
    """One of each kind, and one whose parameters repeat themselves. make_folder: makes an empty one of a name."""
    folders = [random_checkpoint(make_folder(f"rare{i}"), seed=20 + i, **kind) for i, kind in enumerate(KINDS)]
    folders.append(repeat(random_checkpoint(make_folder("equal"), seed=30, **EQUAL), _PERIOD))
    return [bv.load_model(folder) for folder in folders]


def draw_pass(rng, models):
    """A text read by a model, before and after a change; drawn anew where the model cannot read it so."""
    while True:
        (text, pair), model = rng.choice(TEXTS), rng.choice(models)
        typed = encode(model, text, pair)
        hidden = model.tokenizer.maskable(typed) if rng.random() < 0.4 else ()
        masked = rng.sample(list(hidden), min(len(hidden), rng.choice((1, 2))))
        pad = len(typed) + 2 if rng.random() < 0.2 else None
        before = bv.run(model, text, pair, pad_to=pad, masked=masked)
        change = rng.choice((_draw_rare, _draw_rare, draw_change, lambda *_: {}))
        try:
            changes = change(rng, before)
            after = before.with_changes(changes) if changes else before
        except InputError:
            continue
        return text, pair, model, before, changes, after


def _draw_rare(rng, trace):
    """A change that levels what would differ, or takes away what there would be."""
    config, tokens = trace.model.config, range(len(trace.tokens))
    here = f"encoder.layer.{rng.randrange(config.num_hidden_layers)}"
    own, token = f"{here}.attention.self", rng.choice(tokens)
    head = rng.randrange(config.num_attention_heads)
    weights = f"{own}.probs[head={head}"
    alike = {"embeddings.position_embeddings": 0.0, "embeddings.token_type_embeddings": 0.0}
    kinds = [
        {"embeddings.LayerNorm.normalized": "epsilon=0.5"},
        {f"attention_mask[token={i}]": 0 for i in tokens if i != token},
        alike,
        {**alike, f"{weights}]": "uniform"},
        {**alike, f"{weights}]": -0.5},
        {**alike, f"{own}.probs": -0.5},
        {**alike, f"{weights}]": "uniform", f"{weights},query={token},key={rng.choice(tokens)}]": -0.5},
        {f"{weights}]": "uniform", f"{weights},query={token},key={rng.choice(tokens)}]": -0.5},
        {f"{weights},query={token},key={rng.choice(tokens)}]": -0.5},
        {f"{here}.output.LayerNorm": 0.0},
        {f"{own}.probs": 0.0},
    ]
    of_words = [
        {"cls.predictions.decoder": 1.0},
        {"cls.predictions.transform.LayerNorm": 0.0},
        {"cls.predictions.probs": 0.0},
    ]
    return rng.choice(of_words if "cls.predictions.probs" in trace and rng.random() < 0.3 else kinds)
