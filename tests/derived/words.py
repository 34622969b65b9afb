"""The predictions page: words, logits and the softmax."""

import itertools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch

from tests.derived.reading import Panel, find_numbers
from tests.derived.truth import Scene, Truth, best, moments, points, softmax, truth


def read_scores(s: Scene) -> np.ndarray:
    """Hugging Face's scores over the vocabulary, (token, vocab)."""
    return s.hf_run.prediction_logits[0].double().numpy()


def name_entry(s: Scene, i: int) -> str:
    return f"{s.word(i)}  {i}"


@truth("predictions", "Most likely words")
def best_words(s: Scene) -> Truth:
    probs = softmax(read_scores(s)[s.token])
    top = best(probs, 12)
    columns = {"word": [s.word(i) for i in top], "probability": [probs[i] for i in top]}
    return Truth(
        told=[len(probs) - 12, 1 - sum(probs[i] for i in top)],
        tables=[columns],
        rows=[f"{1 + sum(p > probs[i] for p in probs):,}" for i in top],
    )


@truth("predictions", "Every token hidden, one at a time")
def hidden_in_turn(s: Scene) -> Truth:
    """Hugging Face's guesses over the same ids with [MASK] at one place, and the place of what was typed there."""
    read, typed = s.trace.encoding, s.shown.view.typed
    mask = s.trace.model.tokenizer.mask_id
    special = {0, *(i for i, token in enumerate(typed.tokens) if token == "[SEP]")}
    columns: dict[str, list] = {"guess": [], "sure": [], "rank of what was typed": []}
    places = [i for i in range(len(typed)) if i not in special]
    for i in places:
        ids = [mask if j == i else each for j, each in enumerate(read.ids)]
        given = {"input_ids": ids, "token_type_ids": read.segments, "attention_mask": read.mask}
        with torch.no_grad():
            scores = s.hf(**{name: torch.tensor([each]) for name, each in given.items()}).prediction_logits[0, i]
        probs = softmax(scores.double().numpy())
        own, top = typed.ids[i], int(probs.argmax())
        rank = 1 + int((probs > probs[own]).sum())
        columns["guess"].append(f"{s.word(top)}{' ✓' * (top == own)}")
        columns["sure"].append(probs[top])
        columns["rank of what was typed"].append("–" if own == mask else rank)
    return Truth(tables=[columns], rows=[typed.tokens[i] for i in places])


@truth("predictions", "rank-curve")
def rank_curve(s: Scene) -> Truth:
    scores = read_scores(s)[s.token]
    probs, own = softmax(scores), looked_up(s)
    falling, rank = np.sort(probs)[::-1], 1 + int((scores > scores[own]).sum())
    drawn = sorted({round(x) for x in np.geomspace(1, len(probs), 240)})
    marks = list({s.word(int(probs.argmax())): 1, s.word(own): rank}.values())
    half = 1 + next(i for i, total in enumerate(itertools.accumulate(falling)) if total >= 0.5)
    columns = {"id": [own], "rank": [rank], "logit": [scores[own]], "probability": [probs[own]]}
    return Truth(
        [points(x=drawn, y=[falling[i - 1] for i in drawn]), points(x=marks, y=[falling[i - 1] for i in marks])],
        told=[rank, rank - 1, *count_held(half, falling[:half].sum())],
        tables=[columns],
        rows=[s.word(own)],
    )


def count_held(count: int, share: float) -> list[float]:
    """What is said of the top entries: how many they are, where there are several, and what they hold."""
    return [count, share] if count > 1 else [share]


@truth("predictions", "score-terms")
def score_terms(s: Scene) -> Truth:
    top, next_ = best(read_scores(s)[s.token], 2)
    vector = s["cls.predictions.transform.LayerNorm"][s.token]
    row, other = (s["cls.predictions.decoder.weight"][:, i] for i in (top, next_))
    terms, others = (np.array([x * y for x, y in zip(vector, each, strict=True)]) for each in (row, other))
    biases = [s["cls.predictions.decoder.bias"][i] for i in (top, next_)]
    most = int(terms.argmax())
    return Truth(
        [Falling(terms, biases[0]), Falling(others, biases[1], 1)],
        np.stack([vector, row, terms, other, others], axis=1),
        told=[most, vector[most], row[most], terms[most]],
        worked=[read_scores(s)[s.token, top]],
    )


@dataclass(frozen=True)
class Falling:
    """Bars of a sum's terms, largest first; beside them what raises it, what lowers it, the bias and all together, and
    how many do. place: which of the chart's sums it is."""

    terms: np.ndarray
    bias: float
    place: int = 0

    def check(self, panel: Panel, trace: Mapping, why: object) -> None:
        points(x=range(len(self.terms)), y=np.sort(self.terms)[::-1]).check(panel, trace, why)
        _, total, counts = panel.figure["layout"]["annotations"][3 * self.place :][:3]
        up, down = self.terms[self.terms > 0].sum(), self.terms[self.terms <= 0].sum()
        first, second, sign, third, result = re.fullmatch(_TOLD, total["text"]).groups()
        said = [read_number(each) for each in (first, second, third, result)]
        signed = -self.bias if sign == "−" else self.bias
        assert np.allclose(said, [up, -down, signed, up + down + self.bias], rtol=0.02, atol=0.006), why
        assert [each.value for each in find_numbers(counts["text"])] == [sum(self.terms > 0), sum(self.terms < 0)], why


_TOLD = r"(\S+) [+−] (\S+) ([+−]) (\S+) = (\S+)"


def read_number(text: str) -> float:
    return find_numbers(text)[0].value


@truth("predictions", "scores-of-all")
def all_scores(s: Scene) -> Truth:
    scores = read_scores(s)[s.token]
    top = best(scores, 12)
    width = (scores.max() - scores.min()) / 72
    edges = scores.min() + width * np.arange(73)
    recorded = np.array(s.trace["cls.predictions.decoder"][s.token], dtype=np.float64)  # an edge may part two libraries
    counts = np.histogram(recorded, bins=72)[0]
    assert counts.sum() == len(scores) and abs(counts - np.histogram(scores, edges)[0]).sum() <= 6
    apart, heights = scores[top[0]] - scores[top[1]], [0.8 * max(counts), *[0.25 * max(counts)] * (len(top) - 1)]
    return Truth(
        [points(x=(edges[:-1] + edges[1:]) / 2, y=counts), points(x=[scores[i] for i in top], y=heights)],
        np.stack([edges[:-1], edges[1:], counts], axis=1),
        told=[apart, math.exp(apart)],
        worked=[math.exp(apart)],
    )


@truth("predictions", "softmax-stack")
def softmax_stack(s: Scene) -> Truth:
    falling = np.sort(softmax(read_scores(s)[s.token]))[::-1]
    ends = [end for end in (30, 100, 1000) if end < len(falling)] + [len(falling)]
    groups = [falling[start:end].sum() for start, end in zip([7, *ends], ends, strict=False)]
    parts = [*falling[:7], *groups]
    assert math.isclose(sum(parts), 1)
    return Truth([points(x=parts)], np.array([parts]), told=[falling[0]], worked=[falling[0]], may=[3])


@truth("predictions", "From logits to probabilities for *")
def logits_to_probabilities(s: Scene, place: str) -> Truth:
    scores = read_scores(s)[s.token]
    probs, top = softmax(scores), best(scores, 10)
    terms = [math.exp(scores[i] - scores[top[0]]) for i in top]
    z = float(np.exp(scores - scores.max()).sum())
    columns = {
        "logit": [scores[i] for i in top],
        "logit − max": [scores[i] - scores[top[0]] for i in top],
        "e^(logit − max)": terms,
        "sum so far": list(itertools.accumulate(terms)),
        f"divided by {z:.4f}": [probs[i] for i in top],
    }
    return Truth(tables=[columns], rows=[name_entry(s, i) for i in top])


@truth("predictions", "denominator")
def denominator(s: Scene) -> Truth:
    scores = np.sort(read_scores(s)[s.token])[::-1]
    terms = np.exp(scores - scores[0])
    sums = np.array(list(itertools.accumulate(terms)))
    shares = sums / sums[-1]
    half, most, nearly = (1 + next(i for i, x in enumerate(shares) if x >= share) for share in (0.5, 0.9, 0.99))
    marks = dict.fromkeys((half, most, nearly))
    drawn = sorted({round(x) for x in np.geomspace(1, len(shares), 400)})
    return Truth(
        [points(x=drawn, y=[shares[i - 1] for i in drawn]), points(x=[*marks], y=[shares[i - 1] for i in marks])],
        np.stack([terms, sums, shares], axis=1),
        worked=[sums[-1]],
        told=[sums[-1], *(x for count in dict.fromkeys((half, nearly)) for x in count_held(count, shares[count - 1]))],
    )


def looked_up(s: Scene) -> int:
    """What stands at the chosen position, as it was typed; the likeliest entry where that is [MASK]."""
    typed = s.shown.view.typed
    own = typed.ids[s.token] if s.token < len(typed) else s.trace.encoding.ids[s.token]
    return int(read_scores(s)[s.token].argmax()) if s.word(own) == "[MASK]" else own


@truth("predictions", "Top prediction at every position, read as one text")
def one_text(s: Scene) -> Truth:
    chosen = read_scores(s).argmax(axis=-1)
    return Truth(told=[sum(int(chosen[i]) == s.trace.encoding.ids[i] for i in s.real), len(s.real)])


@truth("predictions", "page")
def five_best(s: Scene) -> Truth:
    probs = softmax(read_scores(s))
    shown = [i for i, token in enumerate(s.trace.tokens) if i < 40 or token == "[MASK]"]
    top = {i: best(probs[i], 5) for i in shown}
    columns = {f"top {k + 1}": [(s.saved(top[i][k]), probs[i, top[i][k]]) for i in shown] for k in range(5)}
    spread = moments(s["cls.predictions.transform.activation"][s.token], s.config.layer_norm_eps)
    return Truth(
        frames=[{"token": [s.names[i] for i in shown], **columns}],
        told=[40] if len(shown) < len(s.names) else [],
        worked=spread,
    )
