"""For `attribution.py`: held-out sentences with a blank, and what becomes of the model's word without other words.

The passes are Hugging Face's, many at once, and owe nothing to the code whose amounts they are compared with.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import BertForPreTraining

sys.path.insert(0, str(Path(__file__).parent.parent))

import bertviz_core as bv
from bertviz_core.analysis.predictions import PROBS, SCORES
from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import BertvizError, InputError
from bertviz_core.formula.address import Address
from bertviz_core.tracing.trace import Trace
from training.corpus import is_held_out, read_documents

SHORTEST, LONGEST = 8, 16  # tokens of a sentence, [CLS] and [SEP] counted
BINS = (0.01, 0.05, 0.1, 0.2, 0.5)  # of the words, rounded up (DeYoung et al. 2020, sec. 5)
_AT_ONCE = 2048  # tokens of a batch


@dataclass(frozen=True, eq=False)
class Case:
    """A sentence with one word hidden, and the word that the model then puts there.

    token: where it stands; word: its entry; words: the other tokens that are no special ones.
    """

    trace: Trace
    token: int
    word: int
    words: tuple[int, ...]

    @property
    def target(self) -> Address:
        """The word's logit."""
        return SCORES.fix(token=self.token, vocab=self.word)


def draw_cases(model: Model, corpus: Sequence[Path], split: int, one_in: int, count: int, seed: int) -> list[Case]:
    """One sentence from each of so many held-out documents. Raises InputError where the corpus has fewer."""
    random = np.random.default_rng(seed)
    held = [document for document in read_documents(*corpus) if is_held_out(document, split, one_in)]
    found: list[Case] = []
    for place in random.permutation(len(held)).tolist():
        sentences = held[place].sentences
        made = (_make_case(model, sentences[i], random) for i in random.permutation(len(sentences)).tolist())
        found += [case for case in [next(filter(None, made), None)] if case]
        if len(found) == count:
            return found
    raise InputError(
        f"Of {len(held)} held-out documents {len(found)} gave a sentence, of {count}. Give a larger corpus."
    )


def _make_case(model: Model, sentence: str, random: np.random.Generator) -> Case | None:
    """The sentence with one whole word of letters hidden; None for one that is too short or too long, or has none."""
    tokenizer = model.tokenizer
    try:
        encoding = tokenizer.encode(sentence)
    except BertvizError:
        return None
    tokens, words = encoding.tokens, tokenizer.maskable(encoding)
    whole = [i for i in words if tokens[i].isalpha() and not tokens[i + 1].startswith("##")]
    if not SHORTEST <= len(tokens) <= LONGEST or not whole:
        return None
    token = int(random.choice(whole))
    trace = bv.run(model, tokenizer.masked(encoding, [token]))
    return Case(trace, token, int(trace[PROBS.fix(token=token)].argmax()), tuple(i for i in words if i != token))


@dataclass(frozen=True, eq=False)
class Experiments:
    """By how much the logarithm of the word's probability falls, each (token,), NaN where a token has no such pass.

    hidden: [MASK] in its place; deleted: nothing attends to it, as with an attention mask of 0; replaced: the likeliest
    other word in its place, as the model sees it with the token hidden.
    """

    hidden: np.ndarray
    deleted: np.ndarray
    replaced: np.ndarray


class Passes:
    """Passes of one sentence with other ids, and with fewer tokens, each at its own position."""

    def __init__(self, library: BertForPreTraining, case: Case) -> None:
        self._library, self._case = library, case

    def run(self, ids: Tensor, positions: Tensor, at: Tensor) -> Iterator[Tensor]:
        """Batches (variant, vocab) of the logarithms of probabilities at one place of each variant.

        ids, positions: (variant, place); a token that is not among them is one that nothing attends to.
        """
        library: Any = self._library
        for rows in torch.arange(len(ids)).split(max(1, _AT_ONCE // ids.shape[1])):
            with torch.inference_mode():
                states = library.bert(input_ids=ids[rows], position_ids=positions[rows]).last_hidden_state
                yield library.cls.predictions(states[torch.arange(len(rows)), at[rows]]).log_softmax(-1)

    def read(self, ids: Tensor) -> np.ndarray:
        """(variant,) the logarithm of the word's probability, with other ids (variant, token)."""
        at = torch.full((len(ids),), self._case.token)
        places = torch.arange(ids.shape[1]).expand_as(ids)
        return np.concatenate([logs[:, self._case.word].double().numpy() for logs in self.run(ids, places, at)])

    @cached_property
    def ids(self) -> Tensor:
        """(token,) of the sentence as it stands."""
        return torch.tensor(self._case.trace.encoding.ids)

    @cached_property
    def before(self) -> float:
        """The logarithm of the word's probability in the sentence as it stands."""
        return float(self.read(self.ids[None])[0])

    def experiment(self) -> Experiments:
        """All three, at every token but the blank; special tokens are not replaced."""
        case, count = self._case, len(self.ids)
        each = torch.arange(count)
        hidden, other = self.ids.repeat(count, 1), self.ids.repeat(count, 1)
        hidden[each, each] = case.trace.model.tokenizer.mask_id or 0
        other[each, each] = self._guess_others(hidden)
        one_less = [frozenset({i}) for i in range(count) if i != case.token]
        without, deleted = self.delete_sets(one_less), np.full(count, np.nan)
        for (i,) in one_less:
            deleted[i] = self.before - np.log(without[frozenset({i})])
        falls = [self.before - self.read(hidden), deleted, self.before - self.read(other)]
        falls[0][case.token] = np.nan
        falls[2][[i for i in range(count) if i not in case.words]] = np.nan
        return Experiments(*falls)

    def _guess_others(self, hidden: Tensor) -> Tensor:
        """(token,) the likeliest entry where each token is hidden, but for the one that was there and special ones."""
        each = torch.arange(len(hidden))
        logs = torch.cat([*self.run(hidden, each.expand_as(hidden), each)])
        tokenizer = self._case.trace.model.tokenizer
        logs[:, [i for i in map(tokenizer.id, tokenizer.special_tokens) if i is not None]] = -torch.inf
        logs[each, self.ids] = -torch.inf
        return logs.argmax(-1)

    def delete_sets(self, sets: Collection[frozenset[int]]) -> dict[frozenset[int], float]:
        """The word's probability with each of these sets of tokens deleted. Those that are as large are run at once."""
        found: dict[frozenset[int], float] = {}
        for size in {len(deleted) for deleted in sets}:
            alike = [deleted for deleted in sets if len(deleted) == size]
            kept = torch.tensor([[i for i in range(len(self.ids)) if i not in deleted] for deleted in alike])
            at = (kept == self._case.token).int().argmax(-1)
            logs = np.concatenate(
                [each[:, self._case.word].double().numpy() for each in self.run(self.ids[kept], kept, at)]
            )
            found |= dict(zip(alike, np.exp(logs).tolist(), strict=True))
        return found


def list_cuts(case: Case, amounts: np.ndarray) -> tuple[list[frozenset[int]], list[frozenset[int]]]:
    """The words with the largest amounts, one set for each of BINS; and with each set all other words."""
    order = sorted(case.words, key=lambda i: -amounts[i])
    first = [frozenset(order[: int(np.ceil(share * len(order)))]) for share in BINS]
    return first, [frozenset(order) - each for each in first]
