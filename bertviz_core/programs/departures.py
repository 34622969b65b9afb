"""BERT with single departures: what one document does otherwise, alone or with others, in BERT's own forward pass.

Each departure rewrites the steps of BERT's program. None of them leaves BERT, bit for bit; all of a document's make
its pass, up to the vectors of the last layer, of a text without padding and without a second sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import torch

from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import CONCAT, HIDDEN
from bertviz_core.formula.document_nodes import Sinusoid
from bertviz_core.formula.functions import MAX_ZERO, Apply, Sqrt, Square, Sum
from bertviz_core.formula.nodes import Add, Constant, Expr, Symbol
from bertviz_core.formula.shapes import Rename
from bertviz_core.formula.steps import PARAMETER, Program, Step, replace_nodes, walk_nodes
from bertviz_core.programs.bert import POSITION_IDS, write_bert
from bertviz_core.programs.config import BertConfig

BETWEEN = "+"  # of the departures in the name of a program: `bert+no-segment+relu`
_PARTS = "mean", "variance", "normalized", ""  # of a LayerNorm, in order
_IN, _OUT = "attention.output.LayerNorm", "output.LayerNorm"  # of a layer, after its first and second sum


@dataclass
class _Pass:
    """A program while it is rewritten: its steps by address, in the order in which they run, and its spine."""

    config: BertConfig
    dtype: torch.dtype
    steps: dict[str, Step]
    spine: set[str]

    @property
    def layers(self) -> range:
        return range(self.config.num_hidden_layers)

    def symbol(self, address: str) -> Symbol:
        return self.steps[address].output

    def put(self, address: str, expr: Expr) -> None:
        """Another formula for a step."""
        self.steps[address] = replace(self.steps[address], expr=expr)

    def drop_bias(self, address: str) -> None:
        """Leave out what is added to a product with a matrix."""
        sums = (node for node in walk_nodes(self.steps[address].expr) if isinstance(node, Add))
        total = next(node for node in sums if isinstance(node.parts[1], Symbol) and node.parts[1].kind == PARAMETER)
        self.put(address, replace_nodes(self.steps[address].expr, {total: total.parts[0]}))

    def list_norms(self) -> list[str]:
        """The LayerNorms up to the last layer's."""
        ends = [_at(layer, leaf) for layer in self.layers for leaf in (_IN, _OUT)]
        return ["embeddings.LayerNorm", *ends]

    def copy_norm(self, norm: str, path: str, x: Symbol, before: str) -> Symbol:
        """The LayerNorm of an address, with its γ and β, of another x, under another address, before another step."""
        inside, new = next(iter(self.steps[_part(norm, "mean")].leaves)), dict[Expr, Expr]()
        new[inside] = x
        copies: dict[str, Step] = {}
        for name in _PARTS:
            step = self.steps[_part(norm, name)]
            output = replace(step.output, address=_part(path, name))
            copies[output.address] = replace(step, output=output, expr=replace_nodes(step.expr, new))
            new[step.output] = output
        place = list(self.steps).index(before)
        every = list(self.steps.items())
        self.steps = dict([*every[:place], *copies.items(), *every[place:]])
        return copies[path].output

    def swap(self, address: str, new: Mapping[Expr, Expr]) -> None:
        """Read something else in a step."""
        self.put(address, replace_nodes(self.steps[address].expr, new))

    def drop_norms(self, layer: int) -> None:
        """Leave out both LayerNorms that stand after a layer's sums."""
        for norm in (_IN, _OUT):
            for name in _PARTS:
                del self.steps[_part(_at(layer, norm), name)]


def _at(layer: int, leaf: str) -> str:
    return Address.in_layer(layer, leaf).path


def _part(norm: str, name: str) -> str:
    return f"{norm}.{name}" if name else norm


def _drop_segment(p: _Pass) -> None:
    word, position = (p.symbol(f"embeddings.{name}_embeddings") for name in ("word", "position"))
    p.put("embeddings.sum", word + position)


def _drop_embedding_norm(p: _Pass) -> None:
    p.put("embeddings.LayerNorm", p.symbol("embeddings.sum"))


def _drop_qkv_bias(p: _Pass) -> None:
    for layer in p.layers:
        for name in ("query", "key", "value"):
            p.drop_bias(_at(layer, f"attention.self.{name}"))


def _drop_output_matrix(p: _Pass) -> None:
    for layer in p.layers:
        context = p.symbol(_at(layer, "attention.self.context"))
        p.put(_at(layer, "attention.output.dense"), Rename(context, CONCAT, HIDDEN))


def _use_relu(p: _Pass) -> None:
    for layer in p.layers:
        before = p.symbol(_at(layer, "intermediate.dense"))
        p.put(_at(layer, "intermediate.activation"), Apply(before, MAX_ZERO))


def _add_embedding(p: _Pass) -> None:
    x = p.symbol("embeddings.LayerNorm")
    for layer in p.layers:
        for path in ("attention.output", "output"):
            p.put(_at(layer, f"{path}.residual"), x + p.symbol(_at(layer, f"{path}.dense")))


def _drop_unembedding_bias(p: _Pass) -> None:
    if "cls.predictions.decoder" in p.steps:
        p.drop_bias("cls.predictions.decoder")


def _end_root_early(p: _Pass) -> None:
    one, size = Constant("1", 1), Constant("H", p.config.hidden_size)
    for norm in p.list_norms():
        x, mean = p.steps[f"{norm}.mean"].leaves[0], p.symbol(f"{norm}.mean")
        sigma = Sqrt(one / size) * Sum(Square(x - mean), HIDDEN)
        p.put(f"{norm}.variance", Square(sigma))


def _norm_first(p: _Pass) -> None:
    """A layer's first LayerNorm before attention, its second before the feed-forward network, none after the sums."""
    for layer in p.layers:
        x = p.symbol("embeddings.LayerNorm" if layer == 0 else _at(layer - 1, "output.residual"))
        queries, dense = _at(layer, "attention.self.query"), _at(layer, "intermediate.dense")
        inside, out = (p.symbol(_at(layer, f"{path}.residual")) for path in ("attention.output", "output"))
        old, last = p.symbol(_at(layer, _IN)), p.symbol(_at(layer, _OUT))
        first = p.copy_norm(_at(layer, _IN), _at(layer, "attention.LayerNorm"), x, queries)
        for name in ("query", "key", "value"):
            p.swap(_at(layer, f"attention.self.{name}"), {x: first})
        second = p.copy_norm(_at(layer, _OUT), _at(layer, "intermediate.LayerNorm"), inside, dense)
        p.swap(dense, {old: second})
        p.put(out.address, inside + p.symbol(_at(layer, "output.dense")))
        p.drop_norms(layer)
        for address in p.steps:
            p.swap(address, {last: out})
        p.spine = (p.spine - {last.address}) | {out.address}


def _add_normalized(p: _Pass) -> None:
    """The sub-layer's input once more, normalized, in the first sum of each layer; not in the second one."""
    for layer in p.layers:
        total, brought = _at(layer, "attention.output.residual"), p.symbol(_at(layer, "attention.output.dense"))
        x = next(leaf for leaf in p.steps[total].leaves if leaf != brought)
        path = _at(layer, "attention.LayerNorm")
        third = p.symbol(path) if path in p.steps else p.copy_norm(_at(layer, _IN), path, x, total)
        p.put(total, third + brought + x)
        if path in p.steps and _at(layer, "intermediate.LayerNorm") in p.steps:
            p.put(_at(layer, "output.residual"), brought + x + p.symbol(_at(layer, "output.dense")))


def _use_sinusoids(p: _Pass) -> None:
    size = Constant("d", p.config.hidden_size)
    p.put("embeddings.position_embeddings", Sinusoid(POSITION_IDS, HIDDEN, size, p.dtype))


def _drop_output_bias(p: _Pass) -> None:
    for layer in p.layers:
        p.drop_bias(_at(layer, "attention.output.dense"))


@dataclass(frozen=True)
class Departure:
    """One thing that a document does otherwise than BERT.

    name: in that of a program; title, what: where it is, and what is done instead; address: the step that shows it, of
    layers the first one's; rewrite: does it.
    """

    name: str
    title: str
    what: str
    address: str
    rewrite: Callable[[_Pass], None]


# In the order in which several are made: of one step, the later one knows what the earlier one did.
DEPARTURES = {each.name: each for each in (
    Departure("no-segment", "Embedding: segment", "its row is left out", "embeddings.sum", _drop_segment),
    Departure("sinusoids", "Embedding: position", "sines and cosines, not learned", "embeddings.position_embeddings",
              _use_sinusoids),
    Departure("early-root", "LayerNorm: σ", "the root ends before the sum", "embeddings.LayerNorm.normalized",
              _end_root_early),
    Departure("no-embedding-norm", "Embedding: LayerNorm", "the sum goes on as it is", "embeddings.LayerNorm",
              _drop_embedding_norm),
    Departure("no-bias", "Query, key, value: bias", "left out in all three",
              "encoder.layer.0.attention.self.query", _drop_qkv_bias),
    Departure("no-output-matrix", "Heads: output matrix", "heads are added unmixed",
              "encoder.layer.0.attention.output.residual", _drop_output_matrix),
    Departure("no-output-bias", "Heads: output bias", "left out", "encoder.layer.0.attention.output.dense",
              _drop_output_bias),
    Departure("embedding-in-sums", "Both sums: what is added", "always the embedding",
              "encoder.layer.0.output.residual", _add_embedding),
    Departure("norm-first", "LayerNorm: where", "before each sub-layer", "encoder.layer.0.attention.self.query",
              _norm_first),
    Departure("third-term", "First sum: a third term", "the normalized input too",
              "encoder.layer.0.attention.output.residual", _add_normalized),
    Departure("relu", "Feed-forward: activation", "ReLU", "encoder.layer.0.intermediate.activation", _use_relu),
    Departure("no-unembedding-bias", "Logits: bias", "left out", "cls.predictions.decoder", _drop_unembedding_bias),
)}  # fmt: skip

_NOTE_AND_ARTICLE = "no-segment", "no-embedding-norm", "no-bias", "relu"
# Of each document, all that changes a vector of the last layer or a word; the others repeat BERT.
OF_DOCUMENTS: Mapping[str, tuple[str, ...]] = {
    "forward-pass-note": (*_NOTE_AND_ARTICLE, "no-output-matrix", "embedding-in-sums"),
    "notebook": (),
    "definition": ("no-segment", "no-embedding-norm", "no-unembedding-bias"),
    "formula-post": ("no-bias", "early-root", "norm-first", "third-term"),
    "encoder-article": (*_NOTE_AND_ARTICLE, "sinusoids", "no-output-bias"),
}
ALWAYS_GELU = frozenset({"notebook", "definition"})  # whatever the model's activation is


def name_program(names: Iterable[str]) -> str:
    """The name of BERT's program with these departures, in their own order."""
    asked = set(names)
    return BETWEEN.join(["bert", *(name for name in DEPARTURES if name in asked)])


def read_departures(program: str) -> tuple[str, ...] | None:
    """The departures in a program's name; None where it is not the name of one with any."""
    names = tuple(program.split(BETWEEN)[1:])
    return names if names and name_program(names) == program else None


def write_departed(name: str, config: BertConfig, heads: frozenset[str], dtype: torch.dtype) -> Program:
    """BERT's program with the departures in its name."""
    plain = write_bert(config, heads, dtype)
    written = _Pass(config, dtype, dict(plain.by_address), set(plain.spine))
    for departure in read_departures(name) or ():
        DEPARTURES[departure].rewrite(written)
    return Program(name, tuple(written.steps.values()), frozenset(written.spine))
