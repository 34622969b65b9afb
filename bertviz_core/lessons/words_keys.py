"""The keys of the lesson on predictions, each worked out from a pass."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bertviz_core.analysis.predictions import PROBS, SCORES, count_holding, find_masks
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number, format_percent, write_fixed
from bertviz_core.formula.texts import spell_controls, write_count
from bertviz_core.lessons.lesson import Tried, Verdict, Worked
from bertviz_core.lessons.scene import Scene
from bertviz_core.lessons.typed import read_entry, read_sentence
from bertviz_core.tracing.remember import remember

FIRST = 10  # entries among which a guess counts as found
WITHIN = 0.01  # of a logit that is added up with two decimals
NEAR = 0.02  # of a ratio with two decimals
LISTED = 40  # positions in the page's table of the likeliest entries
HALF = 0.5
_LARGEST_RATIO, _LEAST_RATIO = 20.0, 1.05  # of two entries that are compared
RANKED = 12  # entries among which two are looked for
_LEAST_SHARE, _MOST_SHARE = 0.01, 0.36  # of an entry whose logit is raised by 1: e times as much is below 1
_ROW, _BIAS = Address("cls.predictions.decoder.weight"), Address("cls.predictions.decoder.bias")
_VECTOR = Address("cls.predictions.transform.LayerNorm")


def quote_entry(scene: Scene, vocab: int) -> str:
    """An entry of the vocabulary in quotation marks."""
    return f"“{spell_controls(scene.model.tokenizer.name(vocab))}”"


def rank_entries(scene: Scene, count: int) -> list[int]:
    """The likeliest entries at the token that is looked at, best first."""
    return [int(i) for i in np.argsort(-scene.read_shares(), kind="stable")[:count]]


def find_top(scene: Scene) -> int:
    """The likeliest entry at the token that is looked at."""
    return rank_entries(scene, 1)[0]


def has_predictions(scene: Scene) -> bool:
    return PROBS in scene.trace


def is_hidden(scene: Scene) -> bool:
    """Whether the token that is looked at is [MASK]."""
    return scene.token in find_masks(scene.trace)


def find_rank(shares: np.ndarray, vocab: int) -> int:
    """1 for the likeliest entry."""
    return int((shares > shares[vocab]).sum()) + 1


def work_expect(scene: Scene) -> Worked:
    shares, top = scene.read_shares(), find_top(scene)
    numbers = {"here": scene.here, "vocab": f"{len(shares):,}", "first": str(FIRST)}
    return Worked(find_rank(shares, top), numbers, PROBS.fix(token=scene.token, vocab=top))


def check_expected(scene: Scene, word: str, _: str) -> Verdict:
    """A word, right if the model has it among its first ones."""
    vocab = read_entry(scene, word)
    if isinstance(vocab, Verdict):
        return vocab
    shares = scene.read_shares()
    rank, share = find_rank(shares, vocab), format_percent(float(shares[vocab]))
    placed = f"{quote_entry(scene, vocab)} is number {rank:,} of {len(shares):,}, with {share}"
    if rank <= FIRST:
        tops = scene.tell_tops(3)
        return Verdict(True, f"{placed}. On top: {tops}. These numbers say what the model expects, not what is right.")
    above = write_count(rank - 1, "entry is", "entries are")
    return Verdict(False, f"{placed}: {above} likelier. Which word would stand there in very many texts?")


def _multiply(scene: Scene) -> np.ndarray:
    """(hidden,) the products that make up the logit of the likeliest entry."""
    vector = scene.trace[_VECTOR.fix(token=scene.token)].astype(np.float64)
    return vector * scene.trace[_ROW.fix(vocab=find_top(scene))]


def read_parts(scene: Scene) -> tuple[float, float, float]:
    """Of the likeliest entry's logit: the products above 0, those below, and the bias."""
    terms = _multiply(scene)
    bias = float(scene.trace[_BIAS.fix(vocab=find_top(scene))])
    return float(terms[terms > 0].sum()), float(terms[terms < 0].sum()), bias


def work_logit(scene: Scene) -> Worked:
    terms, cell = _multiply(scene), SCORES.fix(token=scene.token, vocab=find_top(scene))
    up, down, bias = read_parts(scene)
    logit, most = float(scene.trace[cell]), float(np.abs(terms).max())
    few = most < max(up, -down) / 2
    numbers = {
        "word": quote_entry(scene, find_top(scene)),
        "d": f"{len(terms):,}",
        "up": write_fixed(up, 4),
        "down": write_fixed(down, 4),
        "b": write_fixed(bias, 4),
        "l": write_fixed(logit, 4),
        "nob": write_fixed(up + down, 2),
        "most": write_fixed(most, 2),
        "decides": "No single product decides" if few else "One product stands out",
    }
    return Worked(logit, numbers, cell)


def is_without_bias(tried: Tried) -> bool:
    up, down, _ = read_parts(tried.scene)
    return abs(tried.answer - up - down) <= WITHIN


def is_all_added(tried: Tried) -> bool:
    """Whether the products below 0 were added as if they were above."""
    up, down, bias = read_parts(tried.scene)
    return min(abs(tried.answer - up + down - bias), abs(tried.answer - up + down - abs(bias))) <= WITHIN


def find_pair(scene: Scene) -> tuple[int, int] | None:
    """The first two neighbours in the ranking of which one is likelier by a factor that can be worked out."""
    shares, ranked = scene.read_shares(), rank_entries(scene, RANKED)
    pairs = pairwise(ranked)
    return next((p for p in pairs if shares[p[1]] > 0 and _is_comparable(shares[p[0]] / shares[p[1]])), None)


def _is_comparable(ratio: float) -> bool:
    return _LEAST_RATIO <= ratio <= _LARGEST_RATIO


def has_pair(scene: Scene) -> bool:
    return find_pair(scene) is not None


def _read_logits(scene: Scene) -> tuple[float, float]:
    """Those of the two entries that are compared."""
    scores = scene.trace[SCORES.fix(token=scene.token)].astype(np.float64)
    a, b = find_pair(scene) or (0, 0)
    return float(scores[a]), float(scores[b])


def work_times(scene: Scene) -> Worked:
    shares, (a, b) = scene.read_shares(), find_pair(scene) or (0, 0)
    la, lb = _read_logits(scene)
    ratio = float(np.exp(la - lb))
    numbers = {
        "a": quote_entry(scene, a),
        "b": quote_entry(scene, b),
        "la": write_fixed(la, 4),
        "lb": write_fixed(lb, 4),
        "difference": write_fixed(round(la, 4) - round(lb, 4), 4),
        "r": write_fixed(ratio, 2),
        "quotient": write_fixed(la / lb, 2) if lb else "–",
        "pa": format_percent(float(shares[a])),
        "pb": format_percent(float(shares[b])),
        "others": f"{len(shares) - 2:,}",
    }
    return Worked(ratio, numbers, PROBS.fix(token=scene.token, vocab=a))


def is_quotient(tried: Tried) -> bool:
    la, lb = _read_logits(tried.scene)
    return lb != 0 and abs(tried.answer - la / lb) < 0.006


def is_difference(tried: Tried) -> bool:
    la, lb = _read_logits(tried.scene)
    return abs(tried.answer - (la - lb)) < 0.006


def is_other_way(tried: Tried) -> bool:
    return abs(tried.answer - 1 / tried.worked.key) < 0.006


def find_raised(scene: Scene) -> int | None:
    """The entry whose logit is raised: the second, or the next whose probability leaves room; the first as a last."""
    shares, ranked = scene.read_shares(), rank_entries(scene, RANKED)
    order = [*ranked[1:], *ranked[:1]]
    return next((i for i in order if _LEAST_SHARE <= shares[i] <= _MOST_SHARE), None)


def has_raised(scene: Scene) -> bool:
    return find_raised(scene) is not None


def raise_logit(scene: Scene) -> dict[Address, float]:
    cell = SCORES.fix(token=scene.token, vocab=find_raised(scene) or 0)
    return {cell: float(scene.trace[cell]) + 1.0}


def _write_share(share: float, places: int = 2) -> str:
    """With two decimals, since what follows differs by less than a percent."""
    return f"{write_fixed(100 * share, places)} %"


def _write_fall(was: float, now: float) -> tuple[str, str]:
    """Two shares, with as many decimals as tell them apart."""
    pairs = [(_write_share(was, places), _write_share(now, places)) for places in range(2, 7)]
    return next((pair for pair in pairs if len({*pair}) == 2), pairs[0])


def work_plusone(scene: Scene) -> Worked:
    shares, word = scene.read_shares(), find_raised(scene) or 0
    after = scene.change(raise_logit(scene)).read_shares()
    other = next(i for i in rank_entries(scene, 2) if i != word)
    share = float(shares[word])
    outcomes = np.array([share + 0.01, share * np.e / (1 + share * (np.e - 1)), share * np.e])
    was, now = _write_fall(float(shares[other]), float(after[other]))
    numbers = {
        "word": quote_entry(scene, word),
        "p": _write_share(share),
        "add": _write_share(float(outcomes[0])),
        "new": _write_share(float(outcomes[1])),
        "times": _write_share(float(outcomes[2])),
        "other": quote_entry(scene, other),
        "was": was,
        "now": now,
    }
    key = int(np.abs(outcomes - after[word]).argmin())
    return Worked(key, numbers, PROBS.fix(token=scene.token, vocab=word))


def is_open(scene: Scene) -> bool:
    """Whether no entry holds half of the probability."""
    return bool(scene.read_shares().max() < HALF)


def work_half(scene: Scene) -> Worked:
    shares = scene.read_shares()
    best = np.sort(shares)[::-1]
    count = count_holding(shares, HALF)
    numbers = {
        "word": quote_entry(scene, find_top(scene)),
        "p": format_percent(float(best[0])),
        "vocab": f"{len(shares):,}",
        "n": f"{count:,}",
        "ten": format_percent(float(best[:10].sum())),
        "hundred": format_percent(float(best[:100].sum())),
    }
    key = 0 if count <= 10 else 1 if count <= 100 else 2
    return Worked(key, numbers, PROBS.fix(token=scene.token, vocab=find_top(scene)))


def find_visible(scene: Scene) -> list[int]:
    """The positions of the tokens that are neither special nor hidden."""
    special = scene.model.tokenizer.special_tokens
    return [i for i, token in enumerate(scene.tokens) if token not in special]


def measure_sure(scene: Scene) -> dict[int, float]:
    """What the likeliest entry has at each visible token."""
    return remember(
        scene.trace,
        "lesson words sure",
        lambda: {i: float(scene.read_shares(i).max()) for i in find_visible(scene)},
    )


def has_least_sure(scene: Scene) -> bool:
    """Whether one of at least two visible tokens is least sure, and the page's table shows it."""
    if len(scene.tokens) > LISTED or len(find_visible(scene)) < 2:
        return False
    first, second = sorted(measure_sure(scene).values())[:2]
    return format_number(first) != format_number(second)


def work_visible(scene: Scene) -> Worked:
    sure = measure_sure(scene)
    least, most = min(sure, key=sure.__getitem__), max(sure, key=sure.__getitem__)
    numbers = {
        "sure": scene.quote(most),
        "says": quote_entry(scene, int(scene.read_shares(most).argmax())),
        "most": format_percent(sure[most]),
        "w": scene.quote(least),
        "leads": _tell_least(scene, least),
    }
    return Worked(least, numbers, PROBS.fix(token=least, vocab=int(scene.read_shares(least).argmax())))


def _tell_least(scene: Scene, token: int) -> str:
    """What leads at a visible token, and what the entry has that stands there."""
    shares, own = scene.read_shares(token), scene.trace.encoding.ids[token]
    top = int(shares.argmax())
    leads, its = (quote_entry(scene, i) for i in (top, own))
    share = format_percent(float(shares[top]))
    if top == own:
        return f"{leads} itself leads, with no more than {share}"
    return f"{leads} leads with {share}, before {its} itself with {format_percent(float(shares[own]))}"


def is_invisible(tried: Tried) -> bool:
    return int(tried.answer) not in find_visible(tried.scene)


def tell_sure(tried: Tried) -> dict[str, str]:
    token = int(tried.answer)
    shares = tried.scene.read_shares(token)
    return {
        "picked": tried.scene.quote(token),
        "reads": quote_entry(tried.scene, int(shares.argmax())),
        "has": format_percent(float(shares.max())),
    }


def work_own(scene: Scene) -> Worked:
    top = find_top(scene)
    numbers = {
        "here": scene.here,
        "word": quote_entry(scene, top),
        "p": format_percent(float(scene.read_shares()[top])),
    }
    return Worked(HALF, numbers, PROBS.fix(token=scene.token, vocab=top))


def check_own(scene: Scene, text: str, guess: str) -> Verdict:
    """A sentence in which one word has more than half at [MASK], and that word."""
    vocab = read_entry(scene, guess)
    if isinstance(vocab, Verdict):
        return vocab
    own = read_sentence(scene, text)
    if isinstance(own, Verdict):
        return own
    shares, top = own.read_shares(), find_top(own)
    share = format_percent(float(shares[top]))
    if shares[top] <= HALF:
        what = "What else would fit there? Add a word that rules it out."
        return Verdict(False, f"{quote_entry(own, top)} leads with {share}, which is not more than half. {what}")
    if vocab != top:
        mine = f"{quote_entry(own, vocab)} has {format_percent(float(shares[vocab]))}"
        return Verdict(False, f"One word has more than half, {share}, but another than yours: {mine}. Which one?")
    return Verdict(True, f"{quote_entry(own, top)}, {share}. Now change one word and watch it fall or rise.")
