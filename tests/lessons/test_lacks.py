"""Why a step is not asked of a sentence: what is said is so, also where a step needs several things."""

from collections import Counter

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.lessons.catalogue import LESSONS, find_lesson
from bertviz_core.lessons.handout import Handout, write_handout
from bertviz_core.lessons.marking import is_ready, tell_lack
from bertviz_core.lessons.scene import Scene
from bertviz_core.tracing.rewrites import Rule
from tests.factory import random_checkpoint

SPECIAL = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}


@pytest.fixture(scope="module")
def scenes(models, tmp_path_factory):
    """Passes that lack this or that: padding and unknown words, one short word four times, many tokens, one head, no LM
    head, a pair."""
    one = {"num_hidden_layers": 1, "num_attention_heads": 1, "hidden_size": 8}
    folder = tmp_path_factory.mktemp("lacks")
    alone = bv.load_model(random_checkpoint(folder / "one", kind="masked-lm", seed=3, **one))
    classes = bv.load_model(random_checkpoint(folder / "classes", kind="token-classification", seed=3, **one))
    bundled, random = models["bundled"], models["random"]
    level = {"embeddings.position_embeddings": Rule("scale=0")}
    runs = {
        "padded": (bv.run(bundled, "🙂🙂 tea 🙂", pad_to=10), 2, 6, 3),
        "four times": (bv.run(bundled, "la la la la"), 1, 1, 3),
        "level": (bv.run(bundled, "la la la la").with_changes(level), 1, 1, 3),
        "small": (bv.run(random, "the cat sat on the mat."), 1, 2, 3),
        "one head": (bv.run(alone, "the cat sat on the mat."), 0, 0, 3),
        "no words": (bv.run(classes, "the cat [MASK]"), 0, 0, 3),
        "long": (bv.run(bundled, "One sheep, two sheep. " * 16), 3, 4, 20),
        "pair": (bv.run(bundled, "The cat saw the cat.", "The dog saw the cat.", masked=[2, 12]), 3, 8, 2),
    }
    return {name: Scene(*run) for name, run in runs.items()}


def read_row(scene, leaf):
    address = f"encoder.layer.{scene.layer}.attention.self.{leaf}"
    return np.asarray(scene.trace[address], dtype=np.float64)[scene.head, scene.token]


def share_of_first(products, divisor):
    powers = np.exp((products - products.max()) / divisor)
    return powers.max() / powers.sum()


def list_single(scene):
    """Words that are one token and stand once."""
    tokens = [*scene.tokens, ""]
    counts = Counter(tokens)
    return [
        each
        for i, each in enumerate(scene.tokens)
        if each.isalpha() and counts[each] == 1 and not tokens[i + 1].startswith("##")
    ]


def is_long(word):
    return len(word) >= 3 and word.isascii() and word.isalpha()


# What is said, and whether it is so, by counting and NumPy alone.
SO = {
    "there is padding": lambda s: "[PAD]" in s.tokens,
    "no token stands twice here, but for special ones": lambda s: (
        not {each for each, count in Counter(s.tokens).items() if count > 1} - SPECIAL
    ),
    "no token here has a dot product below 0": lambda s: read_row(s, "products").min() >= 0,
    "no divisor from 0.2 to twice the usual one gives one token 90 % here": lambda s: (
        all(
            share_of_first(read_row(s, "products"), divisor) < 0.9
            for divisor in np.linspace(0.2, 2 * s.model.config.head_dim**0.5)
        )
        or all(
            share_of_first(read_row(s, "products"), divisor) > 0.9
            for divisor in np.linspace(0.2, 2 * s.model.config.head_dim**0.5)
        )
    ),
    "no word of 3 or more letters from a to z is one token here": lambda s: not any(map(is_long, s.tokens)),
    "besides the chosen token no word of 3 or more letters from a to z is one token here": lambda s: (
        not any(is_long(each) for i, each in enumerate(s.tokens) if i != s.token)
    ),
    "no word that is one token stands only once here": lambda s: not list_single(s),
    "this model has no LM head to ask": lambda s: "cls.predictions.decoder" not in s.trace,
    "this model has one head alone": lambda s: (
        s.model.config.num_hidden_layers * s.model.config.num_attention_heads == 1
    ),
    "the sentence has more than 64 tokens": lambda s: len(s.tokens) > 64,
    "there are more tokens than the page shows at once, or only one": lambda s: len(s.tokens) > 12,
    "the token that is looked at is not hidden": lambda s: s.tokens[s.token] != "[MASK]",
    "there is a second sentence, an unknown word or another special token": lambda s: (
        np.asarray(s.trace["token_type_ids"]).any() or "[UNK]" in s.tokens
    ),
    "one word holds half of the probability": lambda s: (
        np.asarray(s.trace["cls.predictions.probs"])[s.token].max() >= 0.5
    ),
    "the rarest word has a row of zeros, or too few entries begin as it does": lambda s: (
        len(s.model.tokenizer.vocabulary) < 200
    ),
}


def test_why_a_step_is_not_asked_is_so(scenes):
    told = set()
    for name, scene in scenes.items():
        for lesson in LESSONS:
            for step in lesson.steps:
                if is_ready(step, scene):
                    continue
                why = tell_lack(step, scene)
                told.add(why)
                if why in SO:
                    assert SO[why](scene), (name, lesson.name, step.name, why)
    assert set(SO) - told == set()


@pytest.mark.parametrize(
    ("scene", "lesson", "step", "why"),
    [
        ("padded", "tokens", "same", "no token stands twice here, but for special ones"),
        ("padded", "attention", "negative", "there is padding"),
        ("padded", "attention", "scale", "there is padding"),
        ("padded", "layer", "most", "there is padding"),
        ("four times", "tokens", "hidden", "no word that is one token stands only once here"),
        ("no words", "words", "expect", "this model has no LM head to ask"),
        ("no words", "whatif", "worst", "this model has no LM head to ask"),
        ("one head", "whatif", "worst", "this model has one head alone"),
    ],
)
def test_what_is_missing_is_what_a_step_says(scenes, scene, lesson, step, why):
    asked = next(one for one in find_lesson(lesson).steps if one.name == step)
    assert tell_lack(asked, scenes[scene]) == why
    assert f"{asked.title}: not asked of this sentence, as {why}." in write_handout(
        Handout(find_lesson(lesson), scenes[scene], "")
    ).replace("&#x27;", "'")
