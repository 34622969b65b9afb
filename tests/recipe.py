"""A small corpus, a start, facts and a run of the recipe on them, for the tests of training/."""

import random

from transformers import BertTokenizer

from tests.factory import SPECIAL, random_checkpoint
from training.__main__ import main
from training.run import LOG, MODEL

PLAIN = """a the cat dog bird man woman sat ran slept on in under by mat house tree river red blue old and then it was
    day night sun moon new . , means is to big small hot cold opposite of ##s ##ly"""
STEPS = 160
# Every option that leaves something behind from one step to the next.
SETTINGS = (
    "--steps",
    STEPS,
    "--singles",
    16,
    "--pairs",
    8,
    "--pair-length",
    40,
    "--held-out",
    5,
    "--rate",
    1e-2,
    "--head-rate",
    1e-2,
    "--frozen-steps",
    10,
    "--average",
    0.95,
    "--layer-decay",
    0.8,
    "--bucket",
    3,
    "--whole-words",
    "--save-every",
    20,
    "--fact-share",
    0.125,
    "--skip",
    4,
    "--gloss-pairs",
)
FACTS = """# relation: opposite
{1} means the opposite of [MASK].
? the opposite of {1} is [MASK].
hot | cold
? cold | hot
day | night
"""


def write_corpus(file):
    """Plain sentences that say where somebody was, invented here; each document is about one of them."""
    rng = random.Random(0)
    places = {"cat": "mat", "dog": "house", "bird": "tree", "man": "river", "woman": "house"}
    documents = []
    for _ in range(150):
        who = rng.choice(list(places))
        look = rng.choice(["red", "blue", "old", "new", "big", "small"])
        lines = [f"the {look} {who} {rng.choice(['sat', 'slept', 'ran'])} by the {places[who]}."]
        lines += [f"then the {who} was {rng.choice(['on', 'in'])} the {look} {places[who]}." for _ in range(3)]
        documents.append("\n".join(["# source: stories", *lines] if rng.random() < 0.5 else lines))
    documents += [f"{word} means the opposite of {other}." for word, other in (("hot", "cold"), ("day", "night"))]
    file.write_text("\n\n".join(documents) + "\n", encoding="utf-8")
    return file


def write_start(folder, seed=0):
    random_checkpoint(folder, seed=seed)
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join([*SPECIAL, *PLAIN.split()]) + "\n", encoding="utf-8")
    BertTokenizer(vocab=str(vocabulary)).save_pretrained(folder)
    return folder


def command(ground, out, *more):
    return [
        str(word)
        for word in (
            "run",
            ground / "corpus.txt",
            "--start",
            ground / "start",
            "--out",
            out,
            "--facts",
            ground / "facts",
            *SETTINGS,
            *more,
        )
    ]


def steps_logged(out):
    lines = (out / LOG).read_text(encoding="utf-8").splitlines() if (out / LOG).is_file() else []
    return len(lines)


def weights(out):
    return (out / MODEL / "model.safetensors").read_bytes()


def make_ground(folder):
    """Fill a folder with a corpus, a start, facts and a run that nothing interrupted."""
    write_corpus(folder / "corpus.txt")
    write_start(folder / "start")
    (folder / "facts").mkdir()
    (folder / "facts" / "words.txt").write_text(FACTS, encoding="utf-8")
    assert main(command(folder, folder / "whole")) == 0
    return folder
