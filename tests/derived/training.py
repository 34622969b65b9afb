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
    return [
        piece for text in SENTENCES for piece in tokenizer.encode(text).tokens if piece not in tokenizer.special_tokens
    ]


@truth("training", "E-Training")
def training_lines(_: Scene) -> Truth:
    """Nothing is trained."""
    return Truth()


def count_weights(s: Scene) -> list[int]:
    """The weights of the small E-Transformer: those of Hugging Face's BERT for the pieces of the sentences, but for
    segments, the embeddings' LayerNorm and the decoder's bias, and with a decoder that is not the word embeddings; and
    those of positions and words that no sentence has."""
    words, width, positions = len(set(list_pieces(s))) + SPECIAL, 32, 64
    config = BertConfig(
        vocab_size=words,
        hidden_size=width,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=positions,
    )
    longest = max(len(s.trace.model.tokenizer.encode(text)) for text in SENTENCES)
    weights = sum(parameter.numel() for parameter in BertForMaskedLM(config).parameters())
    weights += words * width - words - 2 * width - 2 * width
    padding_and_unknown = [0, 1]
    unread = (positions - longest + len(padding_and_unknown)) * width
    return [weights - unread, weights, unread, *padding_and_unknown, longest, positions - 1]


@truth("training", "training-loss")
def training_loss(s: Scene) -> Truth:
    averaged_over = 12
    asked = len(list_pieces(s))
    return Truth([Nothing(), Nothing()], told=[averaged_over, asked])


@truth("training", "training-words")
def training_words(s: Scene) -> Truth:
    return Truth([Nothing()] * len(list_pieces(s)))


@truth("training", "page")
def training_page(s: Scene) -> Truth:
    masked_of_ten, eta, steps, warm_up = 8, 0.003, 240, 24
    rates = [eta / warm_up, eta, eta / (steps - warm_up + 1), warm_up, steps]
    return Truth(told=[masked_of_ten, *rates, *count_weights(s)], may=[5])  # line 5
