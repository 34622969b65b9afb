"""A loaded checkpoint: config, tokenizer, program and parameters."""

from __future__ import annotations

import hashlib
import os
import reprlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from weakref import WeakValueDictionary

import numpy as np
import torch
from torch import Tensor

from bertviz_core.checkpoint.hub import locate
from bertviz_core.checkpoint.tokenizer import Tokenizer, load_tokenizer
from bertviz_core.checkpoint.weights import complete_config, detect_heads, find_unused, load_parameters, read_tensors
from bertviz_core.errors import ArgumentError, InputError
from bertviz_core.formula.steps import Program
from bertviz_core.formula.texts import write_count
from bertviz_core.programs import PROGRAMS
from bertviz_core.programs.bert import ALL_HEADS, CLASSIFIER, TOKEN_CLASSIFIER, write_bert
from bertviz_core.programs.config import BertConfig, read_config
from bertviz_core.programs.departures import read_departures, write_departed


@dataclass(frozen=True, eq=False)
class Model:
    """Everything that does not depend on the text.

    name, revision: what was asked for and which version it is; parameters: by address, matrices as (in, out);
    heads: those in the checkpoint, in the order they run; unused: tensors in the file that BERT does not read; whole:
    the model that this one is without some of the heads.
    """

    name: str
    revision: str
    config: BertConfig
    tokenizer: Tokenizer
    program: Program
    parameters: Mapping[str, Tensor]
    heads: tuple[str, ...]
    unused: tuple[str, ...]
    dtype: torch.dtype
    whole: Model | None = None
    _documents: dict[str, Program] = field(init=False, repr=False, default_factory=dict)
    # Each of them holds on to the whole model, which so counts as in use as long as one of them is.
    _parts: WeakValueDictionary[frozenset[str], Model] = field(
        init=False, repr=False, default_factory=WeakValueDictionary[frozenset[str], "Model"]
    )

    def __repr__(self) -> str:
        config = self.config
        return (
            f"<Model {self.name!r}: {write_count(config.num_hidden_layers, 'layer')} of "
            f"{write_count(config.num_attention_heads, 'head')}, hidden size {config.hidden_size}, "
            f"{self.parameter_count:,} parameters>"
        )

    def written(self, name: str) -> Program:
        """The forward pass by this name: "bert", as a document describes it, or BERT with single departures.

        Raises InputError for any other.
        """
        if name == self.program.name:
            return self.program
        departed = isinstance(name, str) and read_departures(name) is not None
        if not isinstance(name, str) or (name not in PROGRAMS and not departed):
            raise InputError(f"There is no program {reprlib.repr(name)}. Choose one of these: {', '.join(PROGRAMS)}.")
        known = self._documents.get(name)
        if known is None:  # whoever else writes it at the same time gets this one or gives theirs: all have the same
            write = partial(write_departed, name) if departed else PROGRAMS[name]
            known = self._documents.setdefault(name, write(self.config, frozenset(self.heads), self.dtype))
        return known

    def keep_heads(self, kept: Collection[str]) -> Model:
        """The same model without other heads than these; itself, where it has no others."""
        heads = frozenset(kept)
        if heads >= set(self.heads):
            return self
        known = self._parts.get(heads)
        if known is None:
            program = write_bert(self.config, heads, self.dtype)
            own = {symbol.address for symbol in program.parameters}
            found = replace(
                self,
                revision=f"{self.revision}, only {', '.join(sorted(heads))}",  # other passes, also in a store
                program=program,
                parameters={address: x for address, x in self.parameters.items() if address in own},
                heads=tuple(head for head in self.heads if head in heads),
                whole=self,
            )
            known = self._parts.setdefault(heads, found)
        return known

    @property
    def absent_heads(self) -> tuple[str, ...]:
        """Heads that BERT can have and this checkpoint has not."""
        has = set(self.heads) | ({CLASSIFIER} if TOKEN_CLASSIFIER in self.heads else set())
        return tuple(head for head in ALL_HEADS if head not in has and head != TOKEN_CLASSIFIER)

    @property
    def labels(self) -> tuple[str, ...]:
        """The classifier's class names; empty without a classifier."""
        bias = self.parameters.get("classifier.bias")
        count = 0 if bias is None else len(bias)
        return tuple(self.config.id2label.get(i, f"LABEL_{i}") for i in range(count))

    @property
    def parameter_count(self) -> int:
        """How many numbers were learned, a tied matrix counted once."""
        return sum({tensor.data_ptr(): tensor.numel() for tensor in self.parameters.values()}.values())

    @cached_property
    def largest(self) -> float:
        """The size of the largest number that was learned."""
        ends = [end.item() for tensor in self.parameters.values() if tensor.numel() for end in torch.aminmax(tensor)]
        return max(map(abs, ends), default=0.0)

    @cached_property
    def spread(self) -> float:
        """The standard deviation of all numbers of the word embeddings."""
        return float(self.parameters["embeddings.word_embeddings.weight"].double().std(correction=0))

    @cached_property
    def digest(self) -> str:
        """What tells these weights from others wherever the file lies: the first 12 digits of a SHA-256 of all."""
        if self.whole:
            return self.whole.digest
        found = hashlib.sha256()
        for address, tensor in sorted(self.parameters.items()):
            found.update(f"{address} {tuple(tensor.shape)} {tensor.dtype}".encode())
            found.update(np.ascontiguousarray(tensor.detach().numpy()).data)
        return found.hexdigest()[:12]

    @property
    def nbytes(self) -> int:
        """Bytes of memory the parameters take, a tied matrix counted once."""
        return sum({tensor.data_ptr(): tensor.nbytes for tensor in self.parameters.values()}.values())


def load_model(
    name: str | os.PathLike[str] = "bundled", dtype: torch.dtype = torch.float32, revision: str | None = None
) -> Model:
    """Load "bundled", a local folder or a Hugging Face model id.

    name: which; dtype: torch.float32, or torch.float64 for exact comparisons; revision: of a model of the hub,
    a commit, branch or tag, by default the newest, or the one downloaded. Matrices are (in, out), as formulas have
    them. Raises CheckpointError with what is wrong with the checkpoint and what to do; ArgumentError for no name.

        >>> model = bv.load_model("bundled")
        >>> model.config.num_hidden_layers, model.config.num_attention_heads
        (6, 12)
    """
    if not isinstance(name, str | os.PathLike):
        raise ArgumentError.of(
            "A model's name must be a text or a path", name, 'Give "bundled", a folder, or a Hugging Face model id.'
        )
    if dtype not in (torch.float32, torch.float64):
        raise ArgumentError.of("The dtype must be torch.float32 or torch.float64", dtype, "Choose one of the two.")
    if not isinstance(revision, str | None):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may have no types
        raise ArgumentError.of("A revision must be a text", revision, "Give a commit of the model's.")
    place = locate(os.fsdecode(name), revision)
    config = read_config(place.folder / "config.json")
    tensors = read_tensors(place.folder)
    config = complete_config(config, tensors)
    heads = detect_heads(tensors, config)
    program = write_bert(config, heads, dtype)
    parameters = load_parameters(program.parameters, tensors, config, dtype)
    return Model(
        name=place.name,
        revision=place.revision,
        config=config,
        tokenizer=load_tokenizer(place.folder, config.vocab_size),
        program=program,
        parameters=parameters,
        heads=tuple(head for head in ALL_HEADS if head in heads),
        unused=find_unused(tensors, parameters),
        dtype=dtype,
    )
