"""What a checkpoint gets right on the documents that were held out: one model, or two side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from transformers import BertForPreTraining

from bertviz_core.errors import InputError
from training.batches import PAIRS, SINGLES, Batch, make_pairs, make_singles
from training.corpus import Document, read_documents, split_documents
from training.examples import Examples, make_examples
from training.knowledge import ask_facts, share_known
from training.model import check_sizes, predict, read_model, read_record
from training.prompts import PROMPTS, TOP, Answer, Prompt, ask, read_prompts
from training.settings import check_options
from training.vocabulary import Vocabulary, read_vocabulary

_AT_ONCE = 32  # texts
_BOUNDS = (300, 3_000, 30_000)  # occurrences in what is trained on
_CONTENT = 0.001  # of all pieces: a piece of letters that is rarer than this is a word with a content of its own
FREQUENCIES = ("under 300 times", "300 to 2,999 times", "3,000 to 29,999 times", "30,000 times and more")


@dataclass(frozen=True)
class Exam:
    """What is measured: how many held-out texts of each kind, of which split, with which masks."""

    split: int = 0
    held_out: int = 60
    seed: int = 0
    singles: int = 1024
    pairs: int = 512
    pair_length: int = 128
    threads: int = 1
    prompts: Path = PROMPTS
    facts: Path | None = None

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True, eq=False)
class Case:
    """A batch; of each hidden piece whether [MASK] is there, its frequency class and source; of a text its source.

    copied: whether the hidden piece is a content word that stands in its text a second time, not hidden.
    """

    kind: str
    batch: Batch
    masked: np.ndarray
    frequency: np.ndarray
    source: np.ndarray
    text_source: np.ndarray
    copied: np.ndarray


@dataclass(frozen=True)
class Row:
    """One line of the table: what is measured, on how many cases, and the figure of each model."""

    name: str
    cases: int
    figures: tuple[float, ...]
    share: bool = True


@dataclass(frozen=True)
class Report:
    """The figures, and the answers to the prompts, of the models in the order given."""

    models: tuple[str, ...]
    rows: tuple[Row, ...]
    answers: tuple[tuple[Prompt, tuple[Answer, ...]], ...]


def evaluate(folders: Sequence[Path], corpus: Sequence[Path], exam: Exam) -> Report:
    """Measure models on the same texts with the same pieces hidden.

    Raises InputError or CheckpointError where the models read other pieces, or one was trained on another split.
    """
    torch.set_num_threads(exam.threads)
    models = [read_model(folder)[0].eval() for folder in folders]
    vocabulary = _share_vocabulary(folders)
    for folder, model in zip(folders, models, strict=True):
        _check_split(folder, exam)
        check_sizes(model, vocabulary, exam.pair_length)
    prompts = read_prompts(exam.prompts, vocabulary)
    kept, held = split_documents(read_documents(*corpus), exam.split, exam.held_out)
    counts = _count_pieces(kept, vocabulary)
    content = find_content(counts, vocabulary)
    examples = make_examples(held, vocabulary, exam.pair_length)
    cases = list(_make_cases(examples, vocabulary, counts, content, exam))
    answers = tuple((prompt, tuple(ask(model, prompt, vocabulary) for model in models)) for prompt in prompts)
    known = share_known(ask_facts(models, exam.facts, vocabulary)) if exam.facts else ()
    measured = [_measure(model, cases, content) for model in models]
    rows = (*_tabulate(cases, measured), *(Row(*each) for each in known), *_count_answers(answers))
    return Report(_name_models(folders), rows, answers)


def _name_models(folders: Sequence[Path]) -> tuple[str, ...]:
    names = tuple(folder.resolve().name for folder in folders)
    return names if len(set(names)) == len(names) else tuple(str(folder) for folder in folders)


def _share_vocabulary(folders: Sequence[Path]) -> Vocabulary:
    first, *others = (read_vocabulary(folder) for folder in folders)
    if any(other.tokens != first.tokens for other in others):
        raise InputError("The two models have other vocabularies, so their masked pieces cannot be compared.")
    return first


def _check_split(folder: Path, exam: Exam) -> None:
    """Refuse to measure a model on what it was trained on, as far as its folder says."""
    record = read_record(folder)
    trained = (record.get("split", exam.split), record.get("held_out", exam.held_out))
    if trained != (exam.split, exam.held_out):
        raise InputError(
            f"{folder} was trained on another split. Measure it with --split {trained[0]} --held-out {trained[1]}."
        )


def _count_pieces(documents: Sequence[Document], vocabulary: Vocabulary) -> np.ndarray:
    counts = np.zeros(len(vocabulary.tokens), dtype=np.int64)
    lines = [sentence for document in documents for sentence in document.sentences]
    for start in range(0, len(lines), 10_000):
        pieces = [piece for ids in vocabulary.cut(lines[start : start + 10_000]) for piece in ids]
        counts += np.bincount(pieces, minlength=len(counts))
    return counts


def find_content(counts: np.ndarray, vocabulary: Vocabulary) -> np.ndarray:
    """(vocab,) whether a piece is a word with a content: it begins a word, is of letters, and is not very frequent."""
    letters = np.array([token.isalpha() for token in vocabulary.tokens])
    return letters & ~vocabulary.continues & (counts < _CONTENT * counts.sum())


def find_copies(batch: Batch, guesses: np.ndarray, content: np.ndarray) -> np.ndarray:
    """(hidden,) whether what is put for a hidden piece is a content word that stands in the text, not hidden."""
    rows = batch.hidden.nonzero()[:, 0].numpy()
    visible = np.where(batch.hidden.numpy(), -1, batch.ids.numpy())
    return content[guesses] & (visible[rows] == guesses[:, None]).any(1)


def _make_cases(
    examples: Examples, vocabulary: Vocabulary, counts: np.ndarray, content: np.ndarray, exam: Exam
) -> Iterator[Case]:
    kinds = (
        (SINGLES, len(examples.singles), exam.singles, make_singles),
        (PAIRS, len(examples.pairs), exam.pairs, make_pairs),
    )
    for number, (kind, there, wanted, make) in enumerate(kinds):
        chosen = np.random.default_rng([exam.seed, number]).permutation(there)[:wanted]
        for start in range(0, len(chosen), _AT_ONCE):
            rng = np.random.default_rng([exam.seed, number, start])
            batch = make(examples, chosen[start : start + _AT_ONCE], vocabulary, rng, whole_words=False)
            rows = batch.hidden.nonzero()[:, 0].numpy()
            origins = np.array([examples.sources[document] for document in batch.documents], dtype=object)
            yield Case(
                kind=kind,
                batch=batch,
                masked=(batch.ids[batch.hidden] == vocabulary.mask).numpy(),
                frequency=np.digitize(counts[batch.answers.numpy()], _BOUNDS),
                source=origins[rows],
                text_source=origins,
                copied=find_copies(batch, batch.answers.numpy(), content),
            )


@dataclass(frozen=True, eq=False)
class Measured:
    """Of each hidden piece of all cases: right, copied, -log P; of each pair: what follows right."""

    right: np.ndarray
    copied: np.ndarray
    loss: np.ndarray
    follows: np.ndarray


@torch.no_grad()
def _measure(model: BertForPreTraining, cases: Sequence[Case], content: np.ndarray) -> Measured:
    right, copied, loss, follows = [], [], [], []
    for case in cases:
        outcome = predict(model, case.batch)
        guesses = outcome.logits[:, : len(content)].argmax(-1)
        right.append((guesses == case.batch.answers).numpy())
        copied.append(find_copies(case.batch, guesses.numpy(), content))
        loss.append(torch.nn.functional.cross_entropy(outcome.logits, case.batch.answers, reduction="none").numpy())
        if case.batch.follows is not None:
            follows.append((outcome.follows.argmax(-1) == case.batch.follows).numpy())
    return Measured(*(np.concatenate(part) for part in (right, copied, loss, follows)))


def _tabulate(cases: Sequence[Case], measured: Sequence[Measured]) -> Iterator[Row]:
    kind = np.concatenate([np.full(len(case.masked), case.kind) for case in cases])
    masked, frequency, source, copied = (
        np.concatenate([getattr(case, name) for case in cases]) for name in ("masked", "frequency", "source", "copied")
    )
    for name in (SINGLES, PAIRS):
        here = kind == name
        yield _mean(f"masked pieces right, {name}", here, [one.right for one in measured])
        yield _mean(f"masked pieces right, {name}, [MASK] alone", here & masked, [one.right for one in measured])
        yield _mean(f"loss, {name}", here, [one.loss for one in measured], share=False)
        # The second row is the same for every model: what a model that copies no more than the text does would reach.
        yield _mean(f"first word copied, {name}, [MASK] alone", here & masked, [one.copied for one in measured])
        yield _mean(f"right word a copy, {name}, [MASK] alone", here & masked, [copied] * len(measured))
    groups = {f"piece seen {name}": frequency == number for number, name in enumerate(FREQUENCIES)}
    groups |= {f"source: {name}": source == name for name in sorted(set(source))}
    kinds = {"": kind != "", ", singles": kind == SINGLES, ", pairs": kind == PAIRS, ", [MASK] alone": masked}
    for name, here in groups.items():
        for more, among in kinds.items():
            if (here & among).any():
                yield _mean(f"masked pieces right, {name}{more}", here & among, [one.right for one in measured])
    follows = [one.follows for one in measured]
    yield _mean("next sentence right", np.ones(len(follows[0]), dtype=bool), follows)
    origins = np.concatenate([case.text_source for case in cases if case.kind == PAIRS])
    for name in sorted(set(origins)):
        yield _mean(f"next sentence right, source: {name}", origins == name, follows)


def _mean(name: str, here: np.ndarray, values: Sequence[np.ndarray], share: bool = True) -> Row:
    return Row(name, int(here.sum()), tuple(float(one[here].mean()) for one in values), share)


def _count_answers(answers: Sequence[tuple[Prompt, tuple[Answer, ...]]]) -> Iterator[Row]:
    for name, reach in (("prompts answered first", 1), (f"prompts answered in the first {TOP}", TOP)):
        ranks = np.array([[answer.rank for answer in given] for _, given in answers])
        if len(ranks):
            yield Row(name, len(ranks), tuple(float(share) for share in (ranks <= reach).mean(0)))
    copies = np.array([[answer.copied for answer in given] for _, given in answers])
    if len(copies):
        yield Row("prompts whose first word stands in them", len(copies), tuple(float(one) for one in copies.mean(0)))


def write_report(report: Report) -> str:
    """The report as two Markdown tables; the second has the prompts."""
    models = " | ".join(report.models)
    two = len(report.models) == 2
    lines = [f"| held-out documents | cases | {models} |{' difference |' if two else ''}"]
    lines.append("|---|" + "---|" * (len(report.models) + 1 + two))
    for row in report.rows:
        figures = [_write_figure(figure, row.share) for figure in row.figures]
        change = [f"{(row.figures[-1] - row.figures[0]) * (100 if row.share else 1):+.2f}"] if two else []
        lines.append(f"| {' | '.join([row.name, f'{row.cases:,}', *figures, *change])} |")
    lines += ["", f"| prompt | accepted | {models} |", "|---|---|" + "---|" * len(report.models)]
    for prompt, given in report.answers:
        said = [f"{answer.first} (rank of the answer {answer.rank})" for answer in given]
        lines.append(f"| {' | '.join([prompt.text, ', '.join(prompt.answers), *said])} |")
    return "\n".join(lines)


def _write_figure(figure: float, share: bool) -> str:
    return f"{figure:.1%}".replace("%", " %") if share else f"{figure:.3f}"
