"""What a recorded number is called in words: "Attention weight", "Query, component 30 of 32", "Logit of “people”"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from bertviz_core.analysis.claims import stands_out
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import RELATION, TOKEN_AXES
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.texts import name_token
from bertviz_core.programs.names import SELF_ATTENTION
from bertviz_core.tracing.trace import Trace


@dataclass(frozen=True)
class Noun:
    """What the numbers of a tensor are called: as a title, and in a word or two.

    module: whose parameters make them, where that is called otherwise.
    """

    title: str
    short: str = ""
    module: str = ""

    @property
    def inside(self) -> str:
        """The title inside a sentence: a name keeps its capitals."""
        first = self.title.partition(" ")[0]
        return self.title if first[1:] != first[1:].lower() else f"{self.title[0].lower()}{self.title[1:]}"

    @property
    def word(self) -> str:
        """Where there is little room."""
        return self.short or self.inside

    @property
    def owner(self) -> str:
        """What the parameters that make these numbers are parameters of."""
        return self.module or self.word


# By the end of a tensor's path; of several that fit the longest.
NOUNS: Mapping[str, Noun] = MappingProxyType({
    "input_ids": Noun("Token id"),
    "position_ids": Noun("Position"),
    "token_type_ids": Noun("Segment"),
    "attention_mask": Noun("Attention mask", "mask"),
    "embeddings.word_embeddings": Noun("Word embedding"),
    "embeddings.position_embeddings": Noun("Position embedding"),
    "embeddings.token_type_embeddings": Noun("Segment embedding"),
    "embeddings.sum": Noun("Embedding sum"),
    "LayerNorm.mean": Noun("Mean of a vector", "mean"),
    "LayerNorm.variance": Noun("Variance of a vector", "variance"),
    "LayerNorm.sigma": Noun("σ as the post prints it", "σ"),
    "LayerNorm.normalized": Noun("Normalized vector", "normalized"),
    "LayerNorm": Noun("LayerNorm output", "LayerNorm"),
    "encoder.input": Noun("Input of the first layer", "layer input"),
    SELF_ATTENTION.enter("query").path: Noun("Query"),
    SELF_ATTENTION.enter("key").path: Noun("Key"),
    SELF_ATTENTION.enter("value").path: Noun("Value"),
    SELF_ATTENTION.enter("products").path: Noun("Dot product"),
    SELF_ATTENTION.enter("scaled").path: Noun("Scaled dot product", "scaled"),
    SELF_ATTENTION.enter("scores").path: Noun("Attention score", "score"),
    SELF_ATTENTION.enter("probs").path: Noun("Attention weight", "weight"),
    SELF_ATTENTION.enter("heads").path: Noun("Head output"),
    SELF_ATTENTION.enter("context").path: Noun("Head output"),
    "attention.output.dense": Noun("Attention output"),
    "attention.output.dropout": Noun("Attention output after dropout", "after dropout"),
    "attention.output.residual": Noun("Residual sum after attention", "residual sum"),
    "intermediate.dense": Noun("Pre-activation", "pre-activation"),
    "intermediate.activation": Noun("Activation"),
    "output.dense": Noun("Feed-forward output"),
    "output.dropout": Noun("Feed-forward output after dropout", "after dropout"),
    "output.residual": Noun("Residual sum after feed-forward", "residual sum"),
    "predictions.transform.dense": Noun("LM head, projected", "projected", "LM head"),
    "predictions.transform.activation": Noun("LM head, activation", "activation"),
    "predictions.transform.LayerNorm": Noun("LM head, after LayerNorm", "LM head"),
    "predictions.decoder": Noun("Logit", module="LM head"),
    "predictions.probs": Noun("Word probability", "probability"),
    "predictions.argmax": Noun("Id of the top prediction", "top id"),
    "pooler.dense": Noun("Pooler, projected", "projected", "pooler"),
    "pooler.activation": Noun("Pooler output"),
    "cls.seq_relationship": Noun("Next-sentence logit", "logit", "next-sentence classifier"),
    "cls.seq_relationship.probs": Noun("Next sentence", "probability"),
    "classifier": Noun("Class logit", "logit", "classifier"),
    "classifier.probs": Noun("Class probability", "probability"),
    "qa_outputs": Noun("Start and end logit", "logit", "span classifier"),
    "qa_outputs.start": Noun("Start logit"),
    "qa_outputs.start.probs": Noun("Start probability", "probability"),
    "qa_outputs.end": Noun("End logit"),
    "qa_outputs.end.probs": Noun("End probability", "probability"),
    "qa_outputs.spans": Noun("Score of an answer", "answer"),
})  # fmt: skip
BOUNDS = ("start", "end")  # of an answer: what the two logits of a token are for
_FOLLOWS = ("B follows A", "B is random")  # what the two next-sentence logits are for, where there is little room
_PARAMETERS = {"weight": Noun("Weight, learned", "weight"), "bias": Noun("Bias, learned", "bias")}
_OF_NORM = {"weight": Noun("Scale γ", "γ"), "bias": Noun("Shift β", "β")}


def find_noun(path: str) -> Noun:
    """What the numbers of a tensor are called; of a parameter what it does, of a table what it holds."""
    parts = path.split(".")
    known = next((noun for i in range(len(parts)) if (noun := NOUNS.get(".".join(parts[i:])))), None)
    if known:
        return known
    *module, name = parts
    if name not in _PARAMETERS:
        return Noun(" ".join(parts[-2:]).replace("_", " ").capitalize())
    if module[-1] == "LayerNorm":
        return _OF_NORM[name]
    if module[-1].endswith("embeddings"):
        owner = find_noun(".".join(module))
        return Noun(f"{owner.title}, learned", owner.word)
    return _PARAMETERS[name]


def name_number(trace: Trace, cell: Address) -> str:
    """The title of a cell: `Query, component 30 of 32`, `Neuron 572, the strongest of 1,536`, `Logit of “people”`."""
    noun, at = find_noun(cell.path), cell.at
    if "intermediate" in at and cell.path in trace.addresses:
        return _name_neuron(trace, cell, noun)
    if "vocab" in at and "token" in at:
        return f"{noun.title} of “{_name_word(trace, at['vocab'])}”"
    if cell.index and cell.index[-1][0] == RELATION.name and cell.path in trace.addresses:
        return f"{noun.word.capitalize()}: {_FOLLOWS[cell.index[-1][1] % 2]}"
    inside = _name_inside(trace, cell)
    return f"{noun.title}, {inside}" if inside else noun.title


def _name_neuron(trace: Trace, cell: Address, noun: Noun) -> str:
    number = cell.at["intermediate"]
    if not cell.path.endswith("activation"):
        return f"{noun.title} of neuron {number}"
    row = trace[cell.without("intermediate")]
    strongest = len(row) > 1 and stands_out(row, number, format_number)
    return f"Neuron {number}, the strongest of {len(row):,}" if strongest else f"Neuron {number} of {len(row):,}"


def _name_inside(trace: Trace, cell: Address) -> str:
    """Which number of its vector it is."""
    if cell.path in trace.model.parameters:
        return ", ".join(name_index(trace, axis, i) for axis, i in cell.index)
    axis, i = cell.index[-1] if cell.index else ("", 0)
    if axis == "label":
        return f"class {trace.model.labels[i]}"
    head, inside = divmod(i, trace.model.config.head_dim)
    names = {
        **dict.fromkeys(("hidden", "transform", "pooled"), f"component {i}"),
        "head_dim": f"component {i} of {trace.model.config.head_dim}",
        "concat": f"component {inside} of head {head}",
        "bound": BOUNDS[i % 2],
    }
    return names.get(axis, "")


def name_index(trace: Trace, axis: str, i: int) -> str:
    """An index in words: `component 7`, `“people”`."""
    if axis == "vocab":
        return f"“{_name_word(trace, i)}”"
    if axis == "relation":
        return f"“{_FOLLOWS[i]}”"
    words = {
        "hidden": "component",
        "head_dim": "component in the head",
        "concat": "concatenated component",
        "intermediate": "neuron",
        "transform": "component",
        "pooled": "component",
    }
    return f"{words.get(axis, axis)} {i}"


def _name_word(trace: Trace, i: int) -> str:
    return trace.model.tokenizer.name(i)


def name_crumb(trace: Trace, cell: Address) -> str:
    """A cell in a word or two: `weight`, `query`, `“people”`, `neuron 572`."""
    at = cell.at
    if cell.path in trace.model.parameters or cell.path not in trace.addresses:
        return find_noun(cell.path).word
    if "vocab" in at:
        return f"“{_name_word(trace, at['vocab'])}”"
    if "intermediate" in at and cell.path.endswith("activation"):
        return f"neuron {at['intermediate']}"
    return find_noun(cell.path).word


def tell_where(trace: Trace, cell: Address) -> str:
    """Whose number it is and where, to stand before what is said of it: `“[MASK]”, head 0 of layer 2: `; "" of one that
    is nobody's."""
    at, tokens = cell.at, trace.tokens
    named = [axis for axis, _ in cell.index if axis in TOKEN_AXES]
    between = " to " if "end" in named else " on "  # an answer reaches from one token to another
    whose = between.join(name_token(tokens, at[axis]) for axis in named)
    place = [f"head {at['head']}"] if "head" in at else []
    place += [f"layer {cell.layer}"] if cell.layer is not None else []
    parts = [part for part in (whose, " of ".join(place)) if part]
    return f"{', '.join(parts)}: " if parts else ""
