"""Sizes, settings, ids and texts that a document prints, beside what they are in a trace."""

from __future__ import annotations

from dataclasses import dataclass

from bertviz_core.analysis.predictions import SCORES, choose_first
from bertviz_core.checkpoint.weights import is_stored_turned
from bertviz_core.documents.printed import HELLO, Fact
from bertviz_core.errors import AddressError
from bertviz_core.formula.dims import KEY, QUERY, TOKEN
from bertviz_core.tracing.trace import Trace

_ALWAYS = {"model_type": "bert", "position_embedding_type": "absolute"}  # other checkpoints are refused
_OF_SENTENCE = {"ids", "length", "column", "row", "answer"}


@dataclass(frozen=True)
class Checked:
    """A printed fact beside ours; ours is None where this model has no such thing, or nothing reads it."""

    fact: Fact
    ours: str | None

    @property
    def same(self) -> bool:
        return self.ours == self.fact.printed


def check_fact(trace: Trace, fact: Fact) -> Checked:
    """Look a fact up in a trace and its model."""
    kind, _, argument = fact.of.partition(":")
    found = _find_in_model(trace, kind, argument) if kind not in {"shape", *_OF_SENTENCE} else None
    if kind == "shape":
        found = _find_shape(trace, argument, fact.printed)
    elif kind in _OF_SENTENCE:
        found = _find_in_input(trace, kind, argument)
    return Checked(fact, found)


def needs_sentence(fact: Fact) -> bool:
    """Whether ours depends on the sentence."""
    kind, _, argument = fact.of.partition(":")
    return kind in _OF_SENTENCE or (kind == "shape" and not argument.endswith((".weight", ".bias")))


def _find_shape(trace: Trace, address: str, printed: str) -> str | None:
    """A shape, with a 1 in front where the print has a batch of one."""
    try:
        sizes = list(trace.shape(address))
    except AddressError:
        return None
    return str([1] * (printed.count(",") + 1 - len(sizes)) + sizes)


def _find_in_model(trace: Trace, kind: str, argument: str) -> str | None:
    model = trace.model
    match kind:
        case "config":
            return _find_setting(trace, argument)
        case "names":  # those that this checkpoint has too
            return " ".join(name for name in argument.split() if name.removeprefix("bert.") in model.parameters)
        case "stored" | "cut" | "full" | "learned":
            return _find_of_tensor(trace, kind, argument)
        case "heads":
            return str([model.config.num_attention_heads, model.config.head_dim])
        case "encode" | "decode":
            ids = model.tokenizer.encode(HELLO).ids
            return model.tokenizer.decode(ids) if kind == "decode" else str(list(ids))
    return None


def _find_of_tensor(trace: Trace, kind: str, address: str) -> str | None:
    match kind:
        case "learned":
            return str(trace.program.symbol(address) is not None)
        case "full":
            return _find_full_shape(trace, address)
        case "cut":  # the columns of one head
            return str([trace.shape(address)[0], trace.model.config.head_dim])
    return _find_stored_shape(trace, address)


def _find_full_shape(trace: Trace, address: str) -> str:
    """A shape as it is of an input that is as long as the longest."""
    longest, along = trace.model.config.max_position_embeddings, {axis.name for axis in (TOKEN, QUERY, KEY)}
    sizes = zip(trace.dims(address), trace.shape(address), strict=True)
    return str([longest if name in along else size for name, size in sizes])


def _find_stored_shape(trace: Trace, address: str) -> str | None:
    """A parameter's shape as the file has it."""
    symbol = trace.program.symbol(address)
    if symbol is None:
        return None
    sizes = trace.shape(address)
    return str(list(reversed(sizes) if is_stored_turned(symbol) else sizes))


def _find_setting(trace: Trace, name: str) -> str | None:
    config = trace.model.config
    if name == "pad_token_id":
        return str(trace.model.tokenizer.pad_id)
    if name == "architectures":
        return " ".join(config.architectures)
    return str(getattr(config, name)) if hasattr(config, name) else _ALWAYS.get(name)


def _find_in_input(trace: Trace, kind: str, argument: str) -> str | None:
    read = trace.encoding
    match kind:
        case "ids":
            return str(list(read.ids if argument == "input_ids" else read.segments))
        case "length":
            return str(len(read))
        case "column":
            return str([len(read), 1])
        case "row":
            return str([1, len(read)])
    return trace.model.tokenizer.decode(choose_first(trace)) if SCORES in trace else None
