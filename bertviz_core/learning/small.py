"""A small model made on the spot, for the sentences that it is to learn."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence, Set

import torch
from torch import Tensor

from bertviz_core.checkpoint.model import Model
from bertviz_core.checkpoint.weights import TIED
from bertviz_core.errors import InputError, TrainingError
from bertviz_core.formula.nodes import Symbol
from bertviz_core.learning.settings import encode_sentences
from bertviz_core.programs import PROGRAMS
from bertviz_core.programs.bert import MLM, write_bert
from bertviz_core.programs.config import BertConfig

LAYERS, WIDTH, HEADS, NEURONS = 2, 32, 4, 64
ROOM = 64  # tokens that it reads at least
SPREAD = 0.1  # standard deviation of the embeddings; of a matrix 1 / sqrt of its inputs


def make_small_model(
    tokenizer_of: Model,
    sentences: Sequence[str],
    seed: int = 0,
    dtype: torch.dtype = torch.float64,
    program: str = "bert",
) -> Model:
    """A random model with an LM head: 2 layers, 32 wide, 4 heads, and no other vocabulary than the sentences' pieces.

    tokenizer_of: the model whose tokenizer cuts the sentences; program: the one that it is made for. Its matrices
    are random; of what BERT as released has besides, segments and biases are 0, and γ is 1. The same seed gives the
    same weights. Raises TrainingError for sentences that nothing can be learned from.
    """
    encodings = encode_sentences(tokenizer_of, sentences)
    try:
        tokenizer = tokenizer_of.tokenizer.narrow(sentences)
    except InputError as error:
        raise TrainingError(str(error)) from error
    config = BertConfig(
        vocab_size=len(tokenizer.vocabulary),
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=NEURONS,
        max_position_embeddings=max(ROOM, *map(len, encodings)),
        architectures=("BertForMaskedLM",),
        tie_word_embeddings=program == "bert",
    )
    bert = write_bert(config, frozenset({MLM}), dtype)
    own = {symbol.address for symbol in PROGRAMS[program](config, frozenset({MLM}), dtype).parameters}
    said = repr((tokenizer.vocabulary, config, seed))
    return Model(
        name="small",
        revision=hashlib.sha256(said.encode()).hexdigest()[:40],
        config=config,
        tokenizer=tokenizer,
        program=bert,
        parameters=_draw_all(bert.parameters, own, config, seed, dtype),
        heads=(MLM,),
        unused=(),
        dtype=dtype,
    )


def _draw_all(
    symbols: Iterable[Symbol], own: Set[str], config: BertConfig, seed: int, dtype: torch.dtype
) -> dict[str, Tensor]:
    """The parameters by their addresses. own: which of them the program has, and are random."""
    generator = torch.Generator().manual_seed(seed)
    with torch.inference_mode(False):
        drawn = {
            symbol.address: _draw(symbol, config, generator if symbol.address in own else None).to(dtype)
            for symbol in symbols
        }
        for name, source in TIED.items():
            if source in drawn and config.tie_word_embeddings:
                drawn[name] = drawn[source].mT
    return drawn


def _draw(symbol: Symbol, config: BertConfig, generator: torch.Generator | None) -> Tensor:
    """generator: None for what is not random."""
    shape = [config.sizes[axis.name] for axis in symbol.axes]
    if len(shape) == 1 or generator is None:
        return torch.full(shape, float("LayerNorm.weight" in symbol.address), dtype=torch.float64)
    spread = SPREAD if symbol.address.startswith("embeddings.") else 1 / math.sqrt(shape[0])
    return spread * torch.randn(shape, generator=generator, dtype=torch.float64)
