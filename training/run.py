"""A training run: the same weights in the end, bit for bit, however often it is killed and started again."""

from __future__ import annotations

import fcntl
import math
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from bertviz_core.errors import CheckpointError, InputError
from training.batches import PAIRS, SINGLES, Batch, Deck, make_pairs, make_singles
from training.corpus import Document, digest_documents, read_documents, split_documents
from training.examples import Examples, cap_glosses, make_examples, mend_documents
from training.feed import feed
from training.log import Log, Pacer, Progress
from training.model import (
    WEIGHTS,
    check_sizes,
    digest_file,
    measure_losses,
    predict,
    read_model,
    read_record,
    write_model,
)
from training.optimizer import make_optimizer, set_rates
from training.relations import Question, digest_questions, make_questions, read_relations
from training.settings import BEFORE, EARLIER, Settings, compare_settings, describe_run, list_before, list_paces
from training.state import State, read_state, write_state
from training.vocabulary import Vocabulary, read_vocabulary

STATE, LOG, MODEL = "state.safetensors", "log.jsonl", "model"
Questions = Sequence[Sequence[Question]]  # of each fact every way to ask it
_KINDS = (SINGLES, PAIRS)  # in turns
_AVERAGE, _OPTIMIZER, _WEIGHT = "average.", "optimizer.", "weight."


class Data:
    """The batches of a run, by the number of the step."""

    def __init__(self, examples: Examples, questions: Questions, vocabulary: Vocabulary, settings: Settings) -> None:
        self._examples, self._vocabulary, self._settings = examples, vocabulary, settings
        self._questions = questions
        asked = round(settings.fact_share * settings.singles) if questions else 0
        singles = examples.singles[:, 1] - examples.singles[:, 0]
        pairs = examples.pairs[:, 3] - examples.pairs[:, 0]
        self._decks = (
            Deck(singles, settings.singles - asked, settings.bucket, (settings.seed, 0)),
            Deck(pairs, settings.pairs, settings.bucket, (settings.seed, 1)),
        )
        self._facts = Deck(np.zeros(len(questions)), asked, 1, (settings.seed, 3)) if asked else None

    def draw(self, step: int) -> tuple[str, Batch]:
        """The kind and the batch of a step, counted from the start of the run."""
        step += self._settings.skip
        number, turn = divmod(step, len(_KINDS))
        chosen = self._decks[turn].draw(number)
        rng = np.random.default_rng([self._settings.seed, 2, step])
        words = self._settings.whole_words
        if _KINDS[turn] == PAIRS:
            return PAIRS, make_pairs(self._examples, chosen, self._vocabulary, rng, words)
        return SINGLES, make_singles(self._examples, chosen, self._vocabulary, rng, words, self._ask(number))

    def _ask(self, number: int) -> list[Question]:
        """The questions of a batch: facts in an order of their own, each in one of its sentences."""
        if self._facts is None:
            return []
        rng = np.random.default_rng([self._settings.seed, 4, number])
        asked = [self._questions[fact] for fact in self._facts.draw(number)]
        return [several[rng.integers(len(several))] for several in asked]


class Training:
    """The module, its optimizer and the running average of its weights, after some number of steps."""

    def __init__(self, start: Path, settings: Settings) -> None:
        torch.manual_seed(settings.seed)
        self.settings = settings
        self.model, self.anew = read_model(start, settings.attention, anew=True, device=settings.device)
        self.model.train()
        self.optimizer = make_optimizer(self.model, settings)
        self.average = {name: one.detach().clone() for name, one in self._named()} if settings.average else {}

    def _named(self) -> Iterator[tuple[str, Tensor]]:
        yield from self.model.named_parameters()

    @property
    def result(self) -> dict[str, Tensor]:
        """The weights that a run gives: their running average, where there is one."""
        return self.average or {name: one.detach() for name, one in self._named()}

    def learn(self, step: int, batch: Batch) -> dict[str, float]:
        """One step. Gives what is logged of it. Raises InputError where the loss is no number any more."""
        rate, device = set_rates(self.optimizer, step, self.settings), self.settings.device
        batch = batch.to(device)
        with torch.autocast(device, torch.bfloat16, enabled=self.settings.precision == "bf16"):
            masked, follows = measure_losses(predict(self.model, batch), batch)
        losses = {"loss": masked} if follows is None else {"loss": masked, "next": follows}
        self.optimizer.zero_grad()
        torch.stack(tuple(losses.values())).sum().backward()
        losses["norm"] = clip_grad_norm_(self.model.parameters(), self.settings.clip)
        told = torch.stack([one.detach() for one in losses.values()]).tolist()  # at once: a device is waited for here
        measured = dict(zip(losses, told, strict=True))
        if not math.isfinite(total := measured["loss"] + measured.get("next", 0.0)):
            raise InputError(f"The loss is {total} at step {step + 1}. Begin anew with a lower --rate.")
        self.optimizer.step()
        self._move_average(step)
        return {**measured, "rate": rate}

    @torch.no_grad()
    def _move_average(self, step: int) -> None:
        decay = min(self.settings.average, (step + 1) / (step + 10))  # a short past at first
        for name, one in self._named() if self.average else ():
            self.average[name].lerp_(one.detach(), 1 - decay)

    def tensors(self) -> dict[str, Tensor]:
        """All that changes from step to step, by name."""
        kept = {_WEIGHT + name: one.detach() for name, one in self._named()}
        kept |= {_AVERAGE + name: one for name, one in self.average.items()}
        for index, entries in self.optimizer.state_dict()["state"].items():
            kept |= {f"{_OPTIMIZER}{index}.{key}": value for key, value in entries.items()}
        return {name: one.cpu() for name, one in kept.items()}

    @torch.no_grad()
    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Put back what `tensors` gave."""
        for name, one in self._named():
            one.copy_(tensors[_WEIGHT + name])
        for name, one in self.average.items():
            one.copy_(tensors[_AVERAGE + name])
        entries: dict[int, dict[str, Tensor]] = {}
        for name in (name for name in tensors if name.startswith(_OPTIMIZER)):
            index, _, key = name.removeprefix(_OPTIMIZER).partition(".")
            entries.setdefault(int(index), {})[key] = tensors[name]
        self.optimizer.load_state_dict({"state": entries, "param_groups": self.optimizer.state_dict()["param_groups"]})


@dataclass(frozen=True)
class Sitting:
    """How much of a run is done at once; of what the weights end at, only a changed pace decides something.

    minutes, until: stop after as long, or after this step, keeping the place; 0 is no limit. save_every: steps from one
    kept place to the next. repace: go on although the steps in all, or the threads, are others than before. within: be
    through after about as many minutes: at each kept place the steps in all become as many as the speed since the last
    one allows, and the record says so; 0 leaves them. workers: processes that draw batches ahead; 0 is none.
    """

    minutes: float = 0
    until: int = 0
    save_every: int = 200
    repace: bool = False
    within: float = 0
    workers: int = 0


@dataclass(frozen=True)
class Sources:
    """What a run reads: files of text, a folder of relations or none, and the checkpoint it starts from."""

    corpus: Sequence[Path]
    facts: Path | None
    start: Path


def run(sources: Sources, out: Path, settings: Settings, sitting: Sitting) -> bool:
    """Train, or go on where the run in `out` stands; True once it is through and `out`/model is written.

    Raises InputError or CheckpointError where the run was begun otherwise, or a file cannot be read.
    """
    out.mkdir(parents=True, exist_ok=True)
    with _settle(settings.threads), _hold(out):
        documents = read_documents(*sources.corpus)
        vocabulary = read_vocabulary(start := sources.start)
        questions = make_questions(read_relations(sources.facts), vocabulary) if sources.facts else []
        training = Training(start, settings)
        digests = digest_documents(documents), digest_questions(questions), digest_file(start / WEIGHTS)
        about = describe_run(settings, *digests)
        check_sizes(training.model, vocabulary, settings.pair_length)
        step, about[EARLIER] = _find_place(out, about, training, sitting.repace or sitting.within > 0)
        if step < settings.steps:
            data = Data(_make_examples(documents, vocabulary, settings), questions, vocabulary, settings)
            step = _learn_on(training, data, out, about, step, sitting)
        if done := step == training.settings.steps:
            record = {**about, "made_anew": training.anew, BEFORE: list_before(read_record(start))}
            write_model(out / MODEL, training.model, training.result, start, record)
    return done


@contextmanager
def _settle(threads: int) -> Iterator[None]:
    """Let torch give the same bits each time: a fixed number of threads, and no operation that does not."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # what CUDA's products need for that
    before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        torch.use_deterministic_algorithms(before[1])


@contextmanager
def _hold(out: Path) -> Iterator[None]:
    """Keep a second run out of the folder; the system lets go when the process ends, however it ends."""
    with (out / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"Another run is at work in {out}. Wait for it, or give another --out.") from None
        yield


def _make_examples(documents: Sequence[Document], vocabulary: Vocabulary, settings: Settings) -> Examples:
    kept, _ = split_documents(documents, settings.split, settings.held_out)
    examples = make_examples(mend_documents(kept) if settings.mend else kept, vocabulary, settings.pair_length)
    return cap_glosses(examples, settings.gloss_share, settings.seed, settings.gloss_pairs)


def _find_place(out: Path, about: dict[str, Any], training: Training, repace: bool) -> tuple[int, list[dict[str, int]]]:
    """How many steps are done, and the paces that the run has had before this one; the training is put there."""
    if not (out / STATE).is_file():
        return 0, []
    state = read_state(out / STATE)
    changed = compare_settings(state.run, about, repace)
    if changed:
        raise InputError(
            f"The run in {out} was begun otherwise: {'; '.join(changed)}. Go on with what it was begun with, or give "
            "another --out. (Other --steps or --threads on the way: --repace.)"
        )
    if state.step > about["steps"]:
        raise InputError(f"--steps is {about['steps']}, and the run in {out} has done {state.step} already.")
    try:
        training.restore(dict(state.tensors))
    except (KeyError, RuntimeError) as error:
        raise CheckpointError(f"The place kept in {out} is of another model ({error}). Give another --out.") from error
    return state.step, list_paces(state.run, about, state.step)


def _learn_on(training: Training, data: Data, out: Path, about: dict[str, Any], step: int, sitting: Sitting) -> int:
    """Learn to the last step, the last of the sitting or the last minute; gives how many steps are done."""
    first, kept, begun = step, step, time.monotonic()
    end, pacer = begun + (sitting.minutes * 60 or math.inf), Pacer(begun + sitting.within * 60, step, begun)
    log, progress = Log(out / LOG, step), Progress(step, training.settings.steps)
    last = sitting.until or math.inf
    batches = feed(data.draw, step, sitting.workers)
    while step < min(last, steps := training.settings.steps) and (step == first or time.monotonic() < end):
        kind, batch = next(batches)
        measured = training.learn(step, batch)
        step += 1
        log.write({"step": step, "kind": kind, **measured, **progress.advance(int(batch.mask.sum()), measured["loss"])})
        if step % sitting.save_every == 0 or step == steps:
            if sitting.within and step < steps:
                _repace(training, about, step, pacer.pace(step, time.monotonic()))
                progress.steps = training.settings.steps
            write_state(out / STATE, State(step, about, training.tensors()))
            kept = step
    if step > kept:
        write_state(out / STATE, State(step, about, training.tensors()))
    progress.finish()
    return step


def _repace(training: Training, about: dict[str, Any], step: int, steps: int) -> None:
    """Make a run as long as is said, from here on, and note up to where it was to be of another length."""
    now = replace(training.settings, steps=max(steps, training.settings.frozen_steps + 1))
    about[EARLIER] = list_paces(about, asdict(now), step)
    about["steps"], training.settings = now.steps, now
