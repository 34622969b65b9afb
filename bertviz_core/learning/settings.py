"""What a training is asked for, and what of it can be done: every limit by its name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import InputError, TrainingError
from bertviz_core.programs.training import TRAINED
from bertviz_core.tracing.inputs import encode

MAX_STEPS = 2000  # n T
MAX_SENTENCES = 8
MAX_TOKENS = 512  # of one sentence
MAX_ETA = 10.0
MAX_SEED = 2**31 - 1


@dataclass(frozen=True)
class Settings:
    """The quantities of E-Training's first line.

    passes: T, over all n sentences; eta: the learning rate η, above 0; p_mask: with which probability a token is
    hidden, between 0 and 1; seed: of the draws; program: what line 5 runs, one of `TRAINED`; practised: as BERT is
    trained in practice instead of as printed:

    - a drawn token becomes [MASK] in 8 of 10 cases, any piece in 1, and is left as it is in 1; its own word is
      asked for in all of them;
    - AdamW instead of the plain step, with a weight decay of 0.01 on matrices;
    - η rises in a line over the first tenth of the steps, and falls in a line over the others, to 0 one step after the
      last.

    What the document leaves open is done the same way in both: [CLS], [SEP], [PAD] and other special tokens are never
    hidden; a draw that hides nothing is drawn again, from the same generator; J is the sum over the hidden tokens, as
    printed, where in practice the mean is taken; the sentences come in order, 1 to n, in every pass, and one at a time.
    """

    passes: int = 80
    eta: float = 0.015
    p_mask: float = 0.3
    seed: int = 0
    practised: bool = False
    program: str = "bert"


# T and η, as printed and as practised, with which -log P falls to a tenth on three sentences of up to 10 words.
# A copy that runs as the definition's program, for which its weights were not learned, comes to half at most.
_SMALL = Settings(), Settings(passes=100, eta=0.003, practised=True)
_HEAD = Settings(passes=20, eta=0.03), Settings(passes=20, eta=0.003, practised=True)
_ALL = Settings(passes=20, eta=0.0015), Settings(passes=20, eta=0.0003, practised=True)
_SMALL_WEIGHTS = 100_000


def suggest_settings(model: Model, *, head_alone: bool = False, practised: bool = False) -> Settings:
    """T and η to begin with, found by trying: on the small model, on a large one, and on its LM head alone."""
    small = model.parameter_count < _SMALL_WEIGHTS
    return (_SMALL if small else _HEAD if head_alone else _ALL)[practised]


def check_settings(model: Model, sentences: Sequence[str], settings: Settings) -> None:
    """Raise TrainingError for what cannot be trained with: the rule, what came, and what to do."""
    check_numbers(settings)
    encodings = encode_sentences(model, sentences)
    steps = settings.passes * len(encodings)
    if steps > MAX_STEPS:
        raise TrainingError(
            f"A training has at most {MAX_STEPS:,} steps, n times T. {len(encodings)} times {settings.passes:,} are "
            f"{steps:,}. Choose a T of at most {MAX_STEPS // len(encodings):,}."
        )


def encode_sentences(model: Model, sentences: Sequence[str]) -> tuple[Encoding, ...]:
    """The sentences' tokens. Raises TrainingError where there are none, too many, or nothing in one can be hidden."""
    if not 1 <= len(sentences) <= MAX_SENTENCES:
        raise TrainingError(
            f"A training reads 1 to {MAX_SENTENCES} sentences, not {len(sentences)}. "
            f"{'Leave some out.' if sentences else 'Type one.'}"
        )
    return tuple(_encode(model, number, text) for number, text in enumerate(sentences, start=1))


def _encode(model: Model, number: int, text: str) -> Encoding:
    try:
        encoding = encode(model, text)
    except InputError as error:
        raise TrainingError(f"Sentence {number}: {error}") from error
    if len(encoding) > MAX_TOKENS:
        raise TrainingError(
            f"A sentence has at most {MAX_TOKENS} tokens; sentence {number} has {len(encoding)}. Shorten it."
        )
    if not model.tokenizer.maskable(encoding):
        lacks = model.tokenizer.mask_id is None
        raise TrainingError(
            "This model's vocabulary has no mask token, so nothing can be hidden. Choose another model."
            if lacks
            else f"Nothing in sentence {number} can be hidden: it holds no word of the vocabulary, only special "
            "tokens such as [UNK]. Type other words."
        )
    return encoding


def check_numbers(settings: Settings) -> None:
    """Raise TrainingError for a setting outside of its range, whatever is trained with it."""
    passes, eta, p_mask, seed = settings.passes, settings.eta, settings.p_mask, settings.seed
    if not (_is_whole(passes) and 1 <= passes <= MAX_STEPS):
        rule = f"must be a whole number from 1 to {MAX_STEPS:,}"
        raise _refuse("T, the number of passes,", passes, rule, "Choose 80")
    if not (_is_number(eta) and 0 < eta <= MAX_ETA):
        raise _refuse("η", eta, f"must be above 0 and at most {MAX_ETA:g}", "Choose 0.01, or less")
    if not (_is_number(p_mask) and 0 < p_mask < 1):
        rule = "must be above 0, or nothing is hidden, and below 1, or nothing is left to read"
        raise _refuse("p_mask", p_mask, rule, "Choose 0.15 to 0.5")
    if not (_is_whole(seed) and 0 <= seed <= MAX_SEED):
        raise _refuse("The seed", seed, f"must be a whole number from 0 to {MAX_SEED:,}", "Choose 0")
    if settings.program not in TRAINED:
        rule = f"must be one of {', '.join(TRAINED)}"
        raise _refuse("The program", settings.program, rule, f"Choose {TRAINED[0]}")


def _refuse(name: str, came: object, rule: str, remedy: str) -> TrainingError:
    return TrainingError(f"{name} {rule}; it is {came!r}. {remedy}.")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
