"""Everything that decides the weights a run ends at, apart from the corpus and the start: written down with them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import torch

from bertviz_core.errors import InputError


def _option(default: Any, text: str, choices: tuple[str, ...] = ()) -> Any:
    return field(default=default, metadata={"help": text, "choices": choices})


@dataclass(frozen=True)
class Settings:
    """The recipe. Each field is an option of `python -m training run`, with its line of help here."""

    steps: int = _option(4400, "steps in all, single sentences and pairs in turns")
    seed: int = _option(0, "decides order, masks, pairs and what of the model is made anew")
    split: int = _option(0, "decides, with the text of a document, whether it is held out")
    held_out: int = _option(60, "one document in this many is held out")
    singles: int = _option(128, "single sentences in a batch")
    pairs: int = _option(32, "pairs of passages in a batch")
    pair_length: int = _option(128, "tokens of a pair at most, [CLS] and both [SEP] counted")
    whole_words: bool = _option(False, "hide whole words, not pieces: no piece is given away by its neighbours")
    gloss_share: float = _option(0.15, "largest share of the single sentences that may be a dictionary's; 1 takes all")
    gloss_pairs: bool = _option(False, "let pairs too be from a dictionary, up to the same share")
    fact_share: float = _option(0.08, "share of the single sentences that ask a fact of --facts")
    mend: bool = _option(True, "mend the articles of a dictionary's definitions")
    bucket: int = _option(1, "sort examples by length among this many batches: less padding, more words a second")
    skip: int = _option(0, "steps whose examples were read before this run: go on in the text behind them")
    rate: float = _option(2e-4, "highest learning rate of the encoder; falls linearly to 0 at the last step")
    head_rate: float = _option(1e-3, "highest learning rate of the heads and the pooler")
    warm_up: float = _option(0.03, "share of the steps in which the rates rise from 0")
    frozen_steps: int = _option(0, "first steps in which only the heads learn: for heads that are new")
    frozen_rate: float = _option(2e-3, "learning rate of the heads in these steps")
    layer_decay: float = _option(1.0, "each layer's rate as a share of that of the layer above: lower layers keep more")
    weight_decay: float = _option(0.01, "of the encoder's matrices")
    clip: float = _option(1.0, "largest norm of all gradients together")
    average: float = _option(0.0, "decay of a running average of the weights, which is then the result; 0 is none")
    precision: str = _option("bf16", "numbers of the products; the weights are float32", ("bf16", "float32"))
    attention: str = _option("eager", "softmax(QK^T)V as three operations, or one fused call", ("eager", "sdpa"))
    threads: int = _option(1, "processor threads: another number gives other last bits")
    device: str = _option("cpu", "where the model learns; another one gives other last bits", ("cpu", "cuda"))

    def __post_init__(self) -> None:
        check_options(self)
        if self.device == "cuda" and not torch.cuda.is_available():
            raise InputError("--device is 'cuda', and there is no such accelerator here. Leave the option out.")
        if self.frozen_steps >= self.steps:
            raise InputError(f"--frozen-steps is {self.frozen_steps}; it must be less than --steps, {self.steps}.")


EARLIER = "earlier"  # in a run's record: its paces before the last
BEFORE = "before"  # there: the records of the runs whose result it started from, the first of all first
_PACE = ("steps", "threads")  # what may be changed on the way
_FROM_0 = ("skip", "seed", "split", "frozen_steps", "rate", "head_rate", "frozen_rate", "weight_decay")
_SHARES = {
    "gloss_share": (0.0, 1.0),
    "fact_share": (0.0, 0.5),
    "warm_up": (0.0, 0.9),
    "average": (0.0, 0.9999),
    "layer_decay": (0.1, 1.0),
}
_LEAST = {"held_out": 2, "pair_length": 8, "clip": 1e-3}


def check_options(options: Any) -> None:
    """Raise InputError for the first field of a dataclass whose value is out of its bounds."""
    for one in fields(options):
        _check(one.name, getattr(options, one.name), one.metadata.get("choices", ()))


def _check(name: str, value: Any, choices: tuple[str, ...]) -> None:
    option = name_option(name)
    if choices and value not in choices:
        raise InputError(f"{option} is {value!r}; choose one of {', '.join(choices)}.")
    if value is None or isinstance(value, bool | str | Path):
        return
    low, high = _SHARES.get(name, (0 if name in _FROM_0 else _LEAST.get(name, 1), float("inf")))
    if not low <= value <= high or value == float("inf"):
        reach = f"from {low:g} to {high:g}" if name in _SHARES else f"{low:g} or more, and finite"
        raise InputError(f"{option} is {value}; it must be {reach}.")


def name_option(name: str) -> str:
    """What a field is called on the command line."""
    return f"--{name.replace('_', '-')}"


def compare_settings(begun: dict[str, Any], asked: dict[str, Any], repace: bool = False) -> list[str]:
    """Where a run was begun otherwise than is asked now, in words; `repace`: its pace may differ."""
    names = {*begun, *asked} - {EARLIER} - ({*_PACE} if repace else set())
    return [
        f"{name_option(name)} was {begun.get(name)}, now {asked.get(name)}"
        for name in sorted(names)
        if begun.get(name) != asked.get(name)
    ]


def list_paces(begun: dict[str, Any], asked: dict[str, Any], step: int) -> list[dict[str, int]]:
    """The paces that a run had before the one asked now, each with the step up to which it was kept."""
    before = [*begun.get(EARLIER, ())]
    pace = {name: begun[name] for name in _PACE}
    return before if all(asked[name] == pace[name] for name in _PACE) else [*before, {**pace, "until": step}]


def describe_run(settings: Settings, corpus: str, facts: str, start: str) -> dict[str, Any]:
    """All that decides where a run ends: its settings, and digests of the corpus, the facts and the first weights."""
    return {**asdict(settings), "corpus": corpus, "facts": facts, "start": start}


def list_before(start: dict[str, Any]) -> list[dict[str, Any]]:
    """The records of the runs that led to a start, from the record beside its weights; empty where none is there."""
    own = {name: value for name, value in start.items() if name != BEFORE}
    return [*start.get(BEFORE, ()), *([own] if own else [])]
