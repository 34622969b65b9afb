"""The training that a link opens: nothing is trained yet."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from transformers import BertConfig, BertForMaskedLM

from tests.derived.reading import Panel
from tests.derived.truth import Scene, Truth, truth

SENTENCES = ("When in Rome, do as the Romans do.", "The early bird catches the worm.", "All roads lead to Rome.")
SPECIAL = 5  # [PAD], [UNK], [CLS], [SEP], [MASK]


@dataclass(frozen=True)
class Nothing:
    """What has no point yet."""

    def check(self, panel: Panel, trace: Mapping, why: object) -> None:
        assert np.size(trace["x"]) == np.size(trace["y"]) == 0, why


def list_pieces(s: Scene) -> list[str]:
    tokenizer = s.trace.model.tokenizer
    return [piece for text in SENTENCES for piece in tokenizer.encode(text).tokens
            if piece not in tokenizer.special_tokens]  # fmt: skip


@truth("training", "E-Training")
def training_lines(s: Scene) -> Truth:
    """The weights of the small model, as Hugging Face builds it for the pieces of the sentences, and those of positions
    and segments that no sentence has."""
    config = BertConfig(
        vocab_size=len(set(list_pieces(s))) + SPECIAL, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=64, max_position_embeddings=64,
    )  # fmt: skip
    longest = max(len(s.trace.model.tokenizer.encode(text)) for text in SENTENCES)
    unread = (64 - longest) * 32 + 32
    weights = sum(parameter.numel() for parameter in BertForMaskedLM(config).parameters())
    return Truth(told=[weights, unread, longest, 63, 1], may=[5])  # line 5


@truth("training", "training-loss")
def training_loss(s: Scene) -> Truth:
    averaged_over = 12
    return Truth([Nothing(), Nothing()], told=[averaged_over])


@truth("training", "training-words")
def training_words(s: Scene) -> Truth:
    return Truth([Nothing()] * len(list_pieces(s)))


@truth("training", "page")
def training_page(s: Scene) -> Truth:
    masked_of_ten = 8
    return Truth(told=[masked_of_ten])
