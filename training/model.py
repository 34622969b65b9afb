"""The trained module, and its checkpoint folder read and written.

transformers' BertForPreTraining is trained, not the app's own formulas: it reads and writes the files that the app
loads, and the tests hold the two equal already, so that the app's formulas are measured against what others run.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from transformers import BertForPreTraining

from bertviz_core.errors import CheckpointError, InputError
from training.batches import Batch
from training.examples import LONGEST
from training.vocabulary import TOKENIZER_FILES, Vocabulary

WEIGHTS, RECORD = "model.safetensors", "training.json"
_DROPOUTS = ("hidden_dropout_prob", "attention_probs_dropout_prob")


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a model makes of a batch: logits of the hidden pieces (hidden, vocab) and of what follows (row, 2)."""

    logits: Tensor
    follows: Tensor


def read_model(
    folder: Path, attention: str = "eager", anew: bool = False, device: str = "cpu"
) -> tuple[BertForPreTraining, list[str]]:
    """A checkpoint in float32 on a device, without dropout, and what it lacks: these parameters are drawn if `anew`.

    Raises CheckpointError where it cannot be read, or lacks what may not be drawn.
    """
    if not (folder / WEIGHTS).is_file():
        raise CheckpointError(f"There is no {WEIGHTS} in {folder}. Give the folder of a BERT checkpoint.")
    try:
        loaded: Any = BertForPreTraining.from_pretrained(
            folder,
            dtype=torch.float32,
            attn_implementation=attention,
            output_loading_info=True,
            local_files_only=True,
            **dict.fromkeys(_DROPOUTS, 0.0),
        )
    except Exception as error:  # the library raises many kinds
        raise CheckpointError(f"The checkpoint in {folder} cannot be read ({error}). Fetch it again.") from error
    model, report = loaded
    missing = sorted(report["missing_keys"])
    foreign = [name for name in missing if not is_head(name)]
    if foreign or (missing and not anew):
        raise CheckpointError(f"The checkpoint in {folder} lacks {', '.join((foreign or missing)[:3])}.")
    return model.to(device), missing


def check_sizes(model: BertForPreTraining, vocabulary: Vocabulary, pair_length: int) -> None:
    """Raise CheckpointError or InputError where a model has too few rows or positions for what it is to read."""
    if len(vocabulary.tokens) > model.config.vocab_size:
        raise CheckpointError("The tokenizer has more pieces than the model. Give the files of one checkpoint.")
    longest = max(pair_length, LONGEST + 2)
    if longest > model.config.max_position_embeddings:
        raise InputError(
            f"The model reads {model.config.max_position_embeddings} tokens at most; {longest} are asked for. Give a "
            f"lower --pair-length, and a model of {LONGEST + 2} positions or more."
        )


def is_head(name: str) -> bool:
    """Whether a parameter belongs to the pooler or to a head, and not to the encoder."""
    return name.startswith(("cls.", "bert.pooler."))


def predict(model: BertForPreTraining, batch: Batch) -> Outcome:
    """The model's scores for a batch; of the vocabulary's only those of hidden pieces, which are all that is asked."""
    states = model.bert(input_ids=batch.ids, attention_mask=batch.mask, token_type_ids=batch.segments)
    logits = model.cls.predictions(states.last_hidden_state[batch.hidden])
    return Outcome(logits.float(), model.cls.seq_relationship(states.pooler_output).float())


def measure_losses(outcome: Outcome, batch: Batch) -> tuple[Tensor, Tensor | None]:
    """The mean of -log P over the hidden pieces, and over what follows; None for single sentences."""
    masked = functional.cross_entropy(outcome.logits, batch.answers)
    return masked, None if batch.follows is None else functional.cross_entropy(outcome.follows, batch.follows)


def digest_file(file: Path) -> str:
    """A short name for exactly these bytes."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def write_model(
    folder: Path, model: BertForPreTraining, weights: dict[str, Tensor], start: Path, record: dict[str, Any]
) -> None:
    """A checkpoint folder in float16, as the app loads it, with the start's tokenizer and how it was made."""
    fresh = folder.with_name(f"{folder.name}.tmp")
    shutil.rmtree(fresh, ignore_errors=True)
    written = deepcopy(model)
    with torch.no_grad():
        for name, parameter in written.named_parameters():
            parameter.copy_(weights[name])
    begun = json.loads((start / "config.json").read_text(encoding="utf-8"))
    for name in _DROPOUTS:
        setattr(written.config, name, begun.get(name, 0.1))
    written.half().save_pretrained(fresh)
    (fresh / WEIGHTS).chmod(0o644)  # safetensors lets nobody else read it, and an app may run as somebody else
    for name in TOKENIZER_FILES:
        if (start / name).is_file():
            shutil.copy(start / name, fresh)
    (fresh / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)


def read_record(folder: Path) -> dict[str, Any]:
    """How a checkpoint was made, as `write_model` left it; empty for one made otherwise. Raises CheckpointError."""
    file = folder / RECORD
    try:
        return dict(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else {}
    except (OSError, ValueError, TypeError) as error:
        raise CheckpointError(f"{file} cannot be read ({error}). Copy it again, or delete it.") from error
