"""The checkpoint as data: an inventory of its tensors, and one tensor as a histogram, as blocks, as four numbers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bertviz_core.analysis.notation import spell
from bertviz_core.checkpoint.model import Model
from bertviz_core.checkpoint.weights import is_stored_turned
from bertviz_core.documents.names import SOURCES, find_names
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import list_names
from bertviz_core.formula.nodes import Symbol
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.steps import Program, Step
from bertviz_core.programs.bert import CLASSIFIER, MLM, NEXT_SENTENCE, POOLER, QUESTION_ANSWERING
from bertviz_core.programs.config import BertConfig
from bertviz_core.programs.names import KEYS, QUERIES, VALUES
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.trace import Trace

_CHUNK = 1 << 20  # numbers that are widened to float64 at a time
_GROUPS = {
    Stage.EMBEDDINGS: "embeddings",
    Stage.QUERY_KEY_VALUE: "attention",
    Stage.ATTENTION: "attention",
    Stage.ATTENTION_OUTPUT: "attention",
    Stage.FEED_FORWARD: "feed-forward",
    Stage.ADD_NORM: "LayerNorm",
}  # what the layers' stages are made of; the rest are heads
_HEADS = {
    "cls": NEXT_SENTENCE,
    "pooler": POOLER,
    "classifier": CLASSIFIER,
    "qa_outputs": QUESTION_ANSWERING,
}  # but the LM head, by their modules
_KINDS = {
    "embeddings.word_embeddings": "word embeddings",
    "embeddings.position_embeddings": "position embeddings",
    "embeddings.token_type_embeddings": "segment embeddings",
    "embeddings.LayerNorm": "LayerNorm",
    QUERIES.path: "query",
    KEYS.path: "key",
    VALUES.path: "value",
    "attention.output.dense": "output",
    "intermediate.dense": "into the neurons",
    "output.dense": "out of the neurons",
}  # by module, in every layer; the rest are called as their group is
_GREEK = {r"\gamma": "γ", r"\beta": "β", r"\tilde{T}": "T̃"}
_LAYER_MARK = re.compile(r"\^\{?\(\d+\)\}?|[_^]l\b|,l(?=\})")  # in anybody's notation
_FONTS = re.compile(r"\\(mathrm|mathcal)|[{}]")
_RAISED = str.maketrans("0123456789()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾")


@dataclass(frozen=True)
class Tensor:
    """One line of the inventory.

    size: how many numbers it holds; part: embeddings, a layer or a head; group: embeddings, attention, feed-forward,
    LayerNorm (the layers' own; others count where they stand) or a head; same_as: the tensor listed before whose
    numbers these are, where the two are tied.
    """

    symbol: Symbol
    shape: tuple[int, ...]
    size: int
    part: str
    group: str
    same_as: str = ""

    @property
    def address(self) -> str:
        return self.symbol.address

    @property
    def counted(self) -> int:
        """How many numbers it adds to the checkpoint: none where it is tied."""
        return 0 if self.same_as else self.size

    @cached_property
    def kind(self) -> str:
        """What it does in its group: word embeddings, query, out of the neurons and so on."""
        return _KINDS.get(Address(self.address).leaf.rpartition(".")[0], self.group)

    @property
    def turned(self) -> bool:
        """Whether the file holds it as (out, in): all matrices but tables are."""
        return is_stored_turned(self.symbol)

    @property
    def stored_shape(self) -> tuple[int, ...]:
        """The shape in the file."""
        return self.shape[::-1] if self.turned else self.shape

    @property
    def named_shape(self) -> str:
        """The shape with the names of its axes, as in `hidden 384 × concat 384`."""
        return " × ".join(
            f"{axis} {size:,}" for axis, size in zip(list_names(self.symbol.axes), self.shape, strict=True)
        )


def read_tensors(trace: Trace) -> tuple[Tensor, ...]:
    """The tensors of the model that a pass was run by, listed once."""
    return remember(trace, "tensors", lambda: tuple(list_tensors(trace.model)))


def list_tensors(model: Model) -> list[Tensor]:
    """Every parameter in the order in which the pass reads them."""
    owners: dict[int, str] = {}
    tensors = []
    for symbol in model.program.parameters:
        values = model.parameters[symbol.address]
        owner = owners.setdefault(values.data_ptr(), symbol.address)
        same_as = "" if owner == symbol.address else owner
        part = _name_part(model.program, symbol)
        group = _GROUPS.get(model.program.stages[symbol.address], part)
        tensors.append(Tensor(symbol, tuple(values.shape), values.numel(), part, group, same_as))
    return tensors


def _name_part(program: Program, symbol: Symbol) -> str:
    """Where in the model a parameter belongs: the embeddings, a layer, or a head by name."""
    stage, where = program.stages[symbol.address], Address(symbol.address)
    if stage is Stage.SENTENCE:
        return _HEADS[where.path.partition(".")[0]]
    return {Stage.EMBEDDINGS: "embeddings", Stage.PREDICTIONS: MLM}.get(stage, f"layer {where.layer}")


def count_parts(tensors: Iterable[Tensor]) -> dict[str, int]:
    """How many numbers each part holds, tied ones counted where they stand first."""
    return _count(tensors, lambda tensor: tensor.part)


def count_groups(tensors: Iterable[Tensor]) -> dict[str, int]:
    """How many numbers each group holds over all layers, counted likewise; together the model's `parameter_count`."""
    return _count(tensors, lambda tensor: tensor.group)


def write_products(tensors: Iterable[Tensor]) -> dict[str, str]:
    """How each group's count comes about: its tensors' sizes, those of one size together, the largest sum first."""
    shapes: dict[str, Counter[tuple[int, ...]]] = {}
    for tensor in tensors:
        shape = tuple(sorted(tensor.shape, reverse=True))
        shapes.setdefault(tensor.group, Counter()).update([shape] * bool(tensor.counted))
    return {group: " + ".join(_list_products(counts)) for group, counts in shapes.items()}


def _list_products(shapes: Mapping[tuple[int, ...], int]) -> list[str]:
    """The shapes and how often each occurs, as in `12·1,536·384`."""
    products = [(count, *shape) if count > 1 else shape for shape, count in shapes.items()]
    texts = [(-math.prod(factors), "·".join(f"{size:,}" for size in factors)) for factors in products]
    return [text for _, text in sorted(texts)]


def count_kinds(tensors: Iterable[Tensor]) -> dict[str, dict[str, int]]:
    """How many numbers each group holds over all layers, by what they do there."""
    held = list(tensors)
    return {
        group: _count([tensor for tensor in held if tensor.group == group], lambda tensor: tensor.kind)
        for group in count_groups(held)
    }


def find_tensors(tensors: Sequence[Tensor], text: str, layer: int) -> list[Tensor]:
    """The tensors that are called so anywhere: here, in a document, in Hugging Face, TransformerLens or TensorFlow.

    Those with exactly this name alone, if there are any; otherwise those in whose names every word occurs. Of the
    layers, which are alike, the given one comes first.
    """
    named = {tensor.address: [spell(name) for name in _list_names(tensor)] for tensor in tensors}
    whole, words = spell(text), [spell(word) for word in text.split()]
    exact = [tensor for tensor in tensors if any(_is_called(name, whole) for name in named[tensor.address])]
    loose = [tensor for tensor in tensors if all(word in "\n".join(named[tensor.address]) for word in words)]
    return sorted(exact if whole and exact else loose, key=lambda found: Address(found.address).layer != layer)


def _is_called(name: str, asked: str) -> bool:
    """Whether a name is the one that is asked for, or ends in it after a dot or slash: `attn.W_Q`, `W_Q`."""
    return name == asked or name.endswith((f".{asked}", f"/{asked}"))


def _list_names(tensor: Tensor) -> list[str]:
    """Every name of a tensor; of a formula with a layer in it also the one without."""
    names = find_names(tensor.address)
    others = [getattr(names, source) for source in SOURCES]
    bare = [_LAYER_MARK.sub("", name) for name in (tensor.symbol.tex, *others)]
    return [tensor.address, tensor.symbol.tex, *others, *bare]


def _count(tensors: Iterable[Tensor], key: Callable[[Tensor], str]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for tensor in tensors:
        sums[key(tensor)] = sums.get(key(tensor), 0) + tensor.counted
    return sums


def find_readers(program: Program, address: str) -> list[Step]:
    """The steps whose formula reads a parameter."""
    return [step for step in program.steps if any(leaf.address == address for leaf in step.leaves)]


def write_plain_symbol(tex: str) -> str:
    """A parameter's symbol in anybody's notation, without typesetting: `W_Q⁽³⁾` for `W_{Q}^{(3)}`."""
    for command, sign in _GREEK.items():
        tex = tex.replace(command, sign)
    tex = re.sub(r"\^\{(\(\d+\))\}", lambda match: match[1].translate(_RAISED), tex)
    return _FONTS.sub("", tex)


@dataclass(frozen=True)
class Summary:
    """A tensor's extremes, its mean, the root of its mean squared distance from that mean, and how many are 0."""

    low: float
    high: float
    mean: float
    deviation: float
    zeros: int


def summarize(values: np.ndarray) -> Summary:
    """Four numbers for a tensor, summed in double precision without a copy of the whole."""
    flat = values.ravel(order="K")
    parts = [flat[start : start + _CHUNK] for start in range(0, flat.size, _CHUNK)]
    mean = sum(chunk.sum(dtype=np.float64) for chunk in parts) / flat.size
    squares = sum(np.square(chunk.astype(np.float64) - mean).sum() for chunk in parts)
    return Summary(
        float(flat.min()),
        float(flat.max()),
        float(mean),
        float(np.sqrt(squares / flat.size)),
        flat.size - int(np.count_nonzero(flat)),
    )


def count_sizes(values: np.ndarray, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """How many of a tensor's numbers fall into each of `bins` equal intervals, and the intervals' edges."""
    return np.histogram(values.ravel(order="K"), bins=bins)


@dataclass(frozen=True)
class Blocks:
    """A matrix in blocks of `height` × `width` cells; values: the root mean square of each."""

    values: np.ndarray
    height: int
    width: int


def pool_blocks(matrix: np.ndarray, rows: int, columns: int) -> Blocks:
    """A matrix in at most `rows` × `columns` equal blocks; the last ones may be smaller."""
    if not matrix.flags.c_contiguous and matrix.T.flags.c_contiguous:  # read memory in its order: ten times as fast
        lying = pool_blocks(matrix.T, columns, rows)
        return Blocks(lying.values.T, lying.width, lying.height)
    height, width = (-(-size // most) for size, most in zip(matrix.shape, (rows, columns), strict=True))
    starts = [np.arange(0, size, step) for size, step in zip(matrix.shape, (height, width), strict=True)]
    sizes = [np.diff([*start, size]) for start, size in zip(starts, matrix.shape, strict=True)]
    down = [np.square(matrix[start : start + height], dtype=np.float64).sum(axis=0) for start in starts[0]]
    sums = np.add.reduceat(np.stack(down), starts[1], axis=1)
    return Blocks(np.sqrt(sums / np.multiply.outer(*sizes)), height, width)


CONFIG_MEANINGS = {
    "vocab_size": "entries of the vocabulary",
    "hidden_size": "components of a token's vector (hidden size)",
    "num_hidden_layers": "encoder layers",
    "num_attention_heads": "attention heads in each layer",
    "intermediate_size": "neurons in each feed-forward network",
    "max_position_embeddings": "tokens in the longest input",
    "type_vocab_size": "token types, such as first and second sentence",
    "hidden_act": "the activation function",
    "layer_norm_eps": "added to every variance before its square root",
    "architectures": "the class that saved the checkpoint",
    "id2label": "names of the classes",
    "problem_type": "how the class logits become probabilities",
    "tie_word_embeddings": "whether the decoder reuses the word embeddings",
}


def list_config(config: BertConfig) -> list[dict[str, str]]:
    """The config as a table: name, value, meaning; what the checkpoint leaves open is left out."""
    values = {"head_dim": (config.head_dim, "components of a query, a key or a value")}
    shown = {name: (getattr(config, name), meaning) for name, meaning in CONFIG_MEANINGS.items()}
    return [
        {"name": name, "value": _write(value), "what it decides": meaning}
        for name, (value, meaning) in {**shown, **values}.items()
        if value not in (None, (), {})
    ]


def _write(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {name}" for key, name in value.items())
    if isinstance(value, tuple):
        return ", ".join(str(name) for name in value)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
