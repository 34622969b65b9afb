"""The checkpoint's config.json, checked: which BERT this is."""

from __future__ import annotations

import json
import math
import reprlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bertviz_core.errors import CheckpointError
from bertviz_core.formula.functions import GELU, GELU_TANH, RELU, Function

ACTIVATIONS: dict[str, Function] = {"gelu": GELU, "gelu_new": GELU_TANH, "gelu_pytorch_tanh": GELU_TANH, "relu": RELU}

OF_HEADS = frozenset(("architectures", "id2label", "problem_type", "tie_word_embeddings"))  # none is the encoder's
PROBLEM_TYPES = ("regression", "single_label_classification", "multi_label_classification")

_POSITIVE = (
    "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
    "max_position_embeddings", "type_vocab_size",
)  # fmt: skip
_LARGEST = 1_000_000_000
_LONGEST_FILE = 20_000_000  # bytes; the longest tokenizer.json of a BERT, of 501,000 entries, has 10 million


@dataclass(frozen=True)
class BertConfig:
    """BERT's sizes and switches, under Hugging Face's names."""

    vocab_size: int = 30522
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    hidden_act: str = "gelu"
    layer_norm_eps: float = 1e-12
    architectures: tuple[str, ...] = ()
    id2label: dict[int, str] = field(default_factory=dict)
    problem_type: str | None = None
    tie_word_embeddings: bool = True

    def __post_init__(self) -> None:
        for name in _POSITIVE:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _LARGEST:
                raise _complain(f"{name} must be a whole number from 1 to a billion, not {reprlib.repr(value)}")
        if self.hidden_size % self.num_attention_heads:
            raise _complain(f"hidden_size {self.hidden_size} cannot be split over {self.num_attention_heads} heads")
        if not isinstance(self.hidden_act, str) or self.hidden_act not in ACTIVATIONS:
            raise CheckpointError(
                f"The activation {reprlib.repr(self.hidden_act)} in config.json is not supported. Choose a model with "
                f"one of these: {', '.join(ACTIVATIONS)}."
            )
        epsilon = self.layer_norm_eps
        if isinstance(epsilon, bool) or not isinstance(epsilon, int | float) or not 0 < epsilon < math.inf:
            raise _complain(f"layer_norm_eps must be a positive number, not {reprlib.repr(epsilon)}")
        if self.problem_type not in (None, *PROBLEM_TYPES):
            raise _complain(
                f"problem_type must be one of {', '.join(PROBLEM_TYPES)}, not {reprlib.repr(self.problem_type)}"
            )
        if not isinstance(self.tie_word_embeddings, bool):
            raise _complain(f"tie_word_embeddings must be true or false, not {reprlib.repr(self.tie_word_embeddings)}")

    @property
    def head_dim(self) -> int:
        return self.hidden_size // self.num_attention_heads

    @property
    def activation(self) -> Function:
        return ACTIVATIONS[self.hidden_act]

    @property
    def sizes(self) -> dict[str, int]:
        """The size of every axis that the config fixes, by axis name. `label` comes from the checkpoint."""
        return {
            "hidden": self.hidden_size,
            "concat": self.hidden_size,
            "transform": self.hidden_size,
            "pooled": self.hidden_size,
            "head": self.num_attention_heads,
            "head_dim": self.head_dim,
            "intermediate": self.intermediate_size,
            "vocab": self.vocab_size,
            "relation": 2,
            "position": self.max_position_embeddings,
            "segment": self.type_vocab_size,
            "bound": 2,
        }


def check_length(path: Path) -> None:
    """Raises CheckpointError for a file of text that is longer than any of a BERT's: in memory it takes a multiple."""
    try:
        length = path.stat().st_size
    except OSError as error:
        raise CheckpointError(f"{path.name} cannot be read ({error.strerror}). Fetch the file again.") from error
    if length > _LONGEST_FILE:
        raise CheckpointError(
            f"{path.name} has {length / 1e6:,.0f} MB; no BERT needs more than {_LONGEST_FILE / 1e6:.0f} for it. Fetch "
            "the file again, or choose another model."
        )


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in one of a checkpoint's files. Raises CheckpointError where the file is broken or too long."""
    check_length(path)
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{path.name} cannot be read as JSON ({error}). Fetch the file again.") from error
    if not isinstance(raw, dict):
        raise CheckpointError(f"{path.name} is not a JSON object. Fetch the file again.")
    return raw


def read_config(path: Path) -> BertConfig:
    """Read config.json. Raises CheckpointError where it is broken or not BERT's."""
    return parse_config(read_json(path))


def parse_config(raw: dict[str, Any]) -> BertConfig:
    """The config as Hugging Face writes it. Raises CheckpointError for what is not a BERT encoder."""
    kind = raw.get("model_type")
    if kind != "bert":
        named = f"a {reprlib.repr(kind)} model" if kind else "a model that does not say its type"
        raise CheckpointError(
            f'config.json describes {named}; this explorer runs BERT. Choose a model whose model_type is "bert".'
        )
    if raw.get("position_embedding_type", "absolute") != "absolute":
        raise CheckpointError(
            "This checkpoint has relative position embeddings. Choose one with BERT's own, absolute ones."
        )
    if raw.get("is_decoder"):
        raise CheckpointError("This checkpoint is set up as a decoder (is_decoder). Choose a BERT encoder.")
    known = {key: raw[key] for key in BertConfig.__dataclass_fields__ if raw.get(key) is not None}
    known["architectures"] = _read_names(known.get("architectures", []))
    known["id2label"] = _read_labels(known.get("id2label", {}))
    return BertConfig(**known)


def _read_names(raw: Any) -> tuple[str, ...]:
    if not isinstance(raw, list) or not all(isinstance(name, str) for name in raw):
        raise _complain(f"architectures must be a list of names, not {reprlib.repr(raw)}")
    return tuple(raw)


def _read_labels(raw: Any) -> dict[int, str]:
    try:
        return {int(key): str(value) for key, value in dict(raw).items()}
    except (TypeError, ValueError):
        raise _complain("id2label must map whole numbers to names") from None


def _complain(what: str) -> CheckpointError:
    return CheckpointError(f"config.json: {what}. Correct it, or fetch the file again.")
