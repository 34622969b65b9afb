"""What a model knows of facts as data: those it was trained on, in sentences it was not, and those held out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from transformers import BertForPreTraining

from training.prompts import TOP
from training.relations import Question, make_questions, read_relations
from training.vocabulary import Vocabulary

_AT_ONCE = 64  # sentences of one length
_KINDS = {  # what is held out: the fact, the sentence
    "facts trained, sentences held out": (False, True),
    "facts held out, sentences trained": (True, False),
    "facts held out, sentences held out": (True, True),
}


@dataclass(frozen=True, eq=False)
class Asked:
    """Questions of one kind about one relation, and of each model the rank of the best right word, from 1."""

    kind: str
    relation: str
    ranks: tuple[np.ndarray, ...]


def ask_facts(models: Sequence[BertForPreTraining], folder: Path, vocabulary: Vocabulary) -> list[Asked]:
    """Ask every fact of a folder of relations in every way that a run does not."""
    asked = []
    for relation in read_relations(folder):
        for kind, (held_facts, held_templates) in _KINDS.items():
            several = make_questions([relation], vocabulary, held_facts=held_facts, held_templates=held_templates)
            questions = _ask_once([one for each in several for one in each])
            if questions:
                ranks = tuple(rank_answers(model, questions, vocabulary) for model in models)
                asked.append(Asked(kind, relation.name, ranks))
    return asked


def _ask_once(questions: Sequence[Question]) -> list[Question]:
    """Of the sentences that differ in the right word alone, the first."""
    first: dict[tuple[int, ...], Question] = {}
    for one in questions:
        first.setdefault((*one.pieces[: one.place], -1, *one.pieces[one.place + 1 :]), one)
    return list(first.values())


@torch.no_grad()
def rank_answers(model: BertForPreTraining, questions: Sequence[Question], vocabulary: Vocabulary) -> np.ndarray:
    """The rank of the best right word for each question, from 1."""
    ranks = np.zeros(len(questions), dtype=np.int64)
    lengths = np.array([len(one.pieces) for one in questions])
    for length in np.unique(lengths):
        same = np.flatnonzero(lengths == length)
        for rows in (same[i : i + _AT_ONCE] for i in range(0, len(same), _AT_ONCE)):
            ranks[rows] = _rank(model, [questions[row] for row in rows], vocabulary)
    return ranks


def _rank(model: BertForPreTraining, questions: Sequence[Question], vocabulary: Vocabulary) -> list[int]:
    ids = torch.tensor([[vocabulary.cls, *one.pieces.tolist(), vocabulary.sep] for one in questions])
    rows, places = torch.arange(len(questions)), torch.tensor([one.place + 1 for one in questions])
    ids[rows, places] = vocabulary.mask
    logits = model.cls.predictions(model.bert(input_ids=ids).last_hidden_state[rows, places])
    best = [logit[list(one.answers)].max() for logit, one in zip(logits, questions, strict=True)]
    return [int((logit > one).sum()) + 1 for logit, one in zip(logits, best, strict=True)]


def share_known(asked: Sequence[Asked]) -> Iterator[tuple[str, int, tuple[float, ...]]]:
    """Lines for a table: of each kind the share answered first and among the first few, then of each relation.

    Relations are shown by their trained facts in held-out sentences.
    """
    for kind, reach in ((kind, reach) for kind in _KINDS for reach in (1, TOP)):
        ranks = [one.ranks for one in asked if one.kind == kind]
        if ranks:
            name = f"{kind}: first" if reach == 1 else f"{kind}: in the first {reach}"
            yield name, *_share([np.concatenate(several) for several in zip(*ranks, strict=True)], reach)
    first = next(iter(_KINDS))
    for one in asked:
        if one.kind == first:
            yield f"{first}: first, {one.relation}", *_share(one.ranks, 1)


def _share(ranks: Sequence[np.ndarray], reach: int) -> tuple[int, tuple[float, ...]]:
    return len(ranks[0]), tuple(float((one <= reach).mean()) for one in ranks)
