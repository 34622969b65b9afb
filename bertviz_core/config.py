"""The checkpoint's config.json, checked: which BERT this is."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bertviz_core.errors import CheckpointError
from bertviz_core.operations import GELU, GELU_TANH, RELU, Function

ACTIVATIONS: dict[str, Function] = {"gelu": GELU, "gelu_new": GELU_TANH, "gelu_pytorch_tanh": GELU_TANH, "relu": RELU}

_POSITIVE = (
    "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
    "max_position_embeddings", "type_vocab_size",
)  # fmt: skip


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
    pad_token_id: int = 0
    architectures: tuple[str, ...] = ()
    id2label: dict[int, str] = field(default_factory=dict)
    problem_type: str | None = None

    def __post_init__(self) -> None:
        for name in _POSITIVE:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise CheckpointError(f"config.json: {name} must be a whole number of at least 1, not {value!r}.")
        if self.hidden_size % self.num_attention_heads:
            raise CheckpointError(
                f"config.json: hidden_size {self.hidden_size} cannot be split over {self.num_attention_heads} heads."
            )
        if self.hidden_act not in ACTIVATIONS:
            raise CheckpointError(
                f"config.json: activation {self.hidden_act!r} is not supported; known: {', '.join(ACTIVATIONS)}."
            )
        if not isinstance(self.layer_norm_eps, int | float) or not self.layer_norm_eps > 0:
            raise CheckpointError(
                f"config.json: layer_norm_eps must be a positive number, not {self.layer_norm_eps!r}."
            )

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
            "hidden": self.hidden_size, "concat": self.hidden_size, "transform": self.hidden_size,
            "pooled": self.hidden_size, "head": self.num_attention_heads, "head_dim": self.head_dim,
            "intermediate": self.intermediate_size, "vocab": self.vocab_size, "relation": 2,
            "position": self.max_position_embeddings, "segment": self.type_vocab_size,
        }  # fmt: skip


def read_config(path: Path) -> BertConfig:
    """Read config.json. Raises CheckpointError where it is missing, broken or not BERT's."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CheckpointError(
            f"There is no config.json in {path.parent}: this is not a Hugging Face checkpoint."
        ) from None
    except (OSError, ValueError) as error:
        raise CheckpointError(f"config.json cannot be read: {error}") from error
    if not isinstance(raw, dict):
        raise CheckpointError("config.json is not a JSON object.")
    return config_from_dict(raw)


def config_from_dict(raw: dict[str, Any]) -> BertConfig:
    """The config as Hugging Face writes it. Raises CheckpointError for what is not a BERT encoder."""
    kind = raw.get("model_type")
    if kind != "bert":
        named = f"a {kind!r} model" if kind else "a model that does not say its type"
        raise CheckpointError(f'config.json describes {named}; this explorer runs BERT (model_type "bert").')
    if raw.get("position_embedding_type", "absolute") != "absolute":
        raise CheckpointError(
            "This checkpoint has relative position embeddings; only BERT's absolute ones are supported."
        )
    if raw.get("is_decoder"):
        raise CheckpointError(
            "This checkpoint is set up as a decoder (is_decoder); only the BERT encoder is supported."
        )
    known = {key: raw[key] for key in BertConfig.__dataclass_fields__ if raw.get(key) is not None}
    known["architectures"] = tuple(known.get("architectures", ()))
    known["id2label"] = _labels(known.get("id2label", {}))
    return BertConfig(**known)


def _labels(raw: Any) -> dict[int, str]:
    try:
        return {int(key): str(value) for key, value in dict(raw).items()}
    except (TypeError, ValueError):
        raise CheckpointError("config.json: id2label must map whole numbers to names.") from None
