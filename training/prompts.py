"""Plain sentences with one word hidden, and the words that may stand there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import BertForPreTraining

from bertviz_core.errors import InputError
from training.vocabulary import Vocabulary

PROMPTS = Path(__file__).with_name("prompts.txt")
TOP = 5


@dataclass(frozen=True)
class Prompt:
    """A sentence with one [MASK], and the words of which each is right there."""

    text: str
    answers: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """What a model puts first, the rank of the best right word, from 1, and whether the first stands in the text."""

    first: str
    rank: int
    copied: bool


def read_prompts(file: Path, vocabulary: Vocabulary) -> list[Prompt]:
    """The prompts of a file, a line each: `text | words`. Raises InputError where one cannot be asked."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The prompts {file} cannot be read ({error}).") from None
    prompts = []
    for line in (line for line in lines if line.strip() and not line.startswith("#")):
        text, _, words = line.partition("|")
        prompt = Prompt(text.strip(), tuple(words.split()))
        unknown = [word for word in prompt.answers if word not in vocabulary.tokens]
        if unknown or not prompt.answers or text.count("[MASK]") != 1:
            raise InputError(f"{line!r} in {file} needs one [MASK], then | and words that are one piece each.")
        prompts.append(prompt)
    return prompts


@torch.no_grad()
def ask(model: BertForPreTraining, prompt: Prompt, vocabulary: Vocabulary) -> Answer:
    """How a model fills the hidden word."""
    ids = torch.tensor([[vocabulary.cls, *vocabulary.cut([prompt.text])[0], vocabulary.sep]])
    states = model.bert(input_ids=ids).last_hidden_state[ids == vocabulary.mask]
    logits = model.cls.predictions(states)[0]
    rows = torch.tensor([vocabulary.tokens.index(word) for word in prompt.answers])
    rank = int((logits > logits[rows].max()).sum()) + 1
    first = int(logits[: len(vocabulary.tokens)].argmax())
    return Answer(vocabulary.tokens[first], rank, first in ids[0].tolist())
