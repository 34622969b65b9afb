"""The keys of the lesson on changes: what becomes of the likeliest word without a head, or without a token.

All heads are zeroed, one by one, once for all steps that ask about them.
"""

from __future__ import annotations

import re
from collections import deque

import numpy as np

from bertviz_core.analysis.ablation import Ablation, zero_head, zero_heads
from bertviz_core.analysis.predictions import PROBS
from bertviz_core.analysis.token_attention import read_weights
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import choose_percent, format_percent, write_fixed
from bertviz_core.lessons.lesson import Tried, Verdict, Worked
from bertviz_core.lessons.scene import Scene
from bertviz_core.lessons.typed import read_sentence
from bertviz_core.lessons.words_keys import find_top, has_predictions, quote_entry
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.changes import Changes
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.rewrites import UNIFORM, Rule

PART = 0.1  # of a probability, from which on it is said to move
NEARLY = 0.05  # of a probability or of a loss, within which two are said to be about the same
_MOST_LOST = 0.9  # of the probability, that two heads may lose one by one
_LEAST_LOST = 0.02  # of it, that each of them loses
MOST_TOKENS = 64  # of a sentence in which every head or every word is tried: of 500 tokens that took ten minutes
_PLACE = re.compile(r"\D*(\d{1,4})\D+(\d{1,4})\D*")
_MASK = Address("attention_mask")

Head = tuple[int, int]  # layer, head


def name_head(head: Head) -> str:
    return f"head {head[1]} of layer {head[0]}"


def find_answer(scene: Scene) -> Address:
    """The probability that the lesson follows: of the likeliest word at the token that is looked at."""
    return PROBS.fix(token=scene.token, vocab=find_top(scene))


def read_answer(scene: Scene, changes: Changes | None = None) -> float:
    """That probability, with these changes."""
    trace = scene.trace.with_changes(changes) if changes else scene.trace
    return float(trace.recomputed(find_answer(scene)))


def name_answer(scene: Scene) -> dict[str, str]:
    """What every step says: the token that is looked at, the word there, and its probability."""
    return {
        "here": scene.here,
        "word": quote_entry(scene, find_top(scene)),
        "p0": format_percent(read_answer(scene)),
    }


def _name_two(part: float, other: float, name: str) -> dict[str, str]:
    """Two probabilities that an answer compares, told apart where they are not the same: one by its name, and f0."""
    write = choose_percent(part, other)
    return {name: write(part), "f0": write(other)}


def write_points(part: float) -> str:
    """A difference of two probabilities in percentage points."""
    return write_fixed(100 * part, 2)


def zero_own(scene: Scene) -> Changes:
    return zero_head(scene.layer, scene.head)


def work_looks(scene: Scene) -> Worked:
    row, answer = scene.read_row("probs"), read_answer(scene)
    without = read_answer(scene, zero_own(scene))
    key = int(row.argmax())
    numbers = {
        **name_answer(scene),
        "own": name_head((scene.layer, scene.head)),
        "target": scene.quote(key),
        "w": format_percent(float(row[key])),
        **_name_two(without, answer, "p1"),
    }
    moved = without - answer
    outcome = 1 if abs(moved) < PART * answer else 0 if moved < 0 else 2
    return Worked(outcome, numbers, find_answer(scene))


def measure_heads(scene: Scene) -> np.ndarray:
    """(layer, head) what the word loses without each head, in float64; below 0 where it gains. Measured once."""
    answer = find_answer(scene)
    return remember(scene.trace, f"lesson heads lose of {answer}", lambda: _measure_heads(scene, answer))


def _measure_heads(scene: Scene, answer: Address) -> np.ndarray:
    found: deque[tuple[float, Ablation]] = deque(zero_heads(scene.trace, [answer]), maxlen=1)
    return lock(found[0][1].measure_worth(0))


def rank_heads(scene: Scene) -> list[Head]:
    """All heads, the one without which the word loses most first."""
    losses = measure_heads(scene)
    order = np.argsort(-losses, axis=None, kind="stable").tolist()
    return [divmod(i, losses.shape[1]) for i in order]


def is_short(scene: Scene) -> bool:
    """Whether all heads or all words can be tried while somebody waits."""
    return len(scene.tokens) <= MOST_TOKENS


def has_heads(scene: Scene) -> bool:
    """Whether there are heads to choose from."""
    return scene.model.config.num_hidden_layers * scene.model.config.num_attention_heads > 1


def has_needed(scene: Scene) -> bool:
    """Whether there are heads to choose from, and without one of them the word loses."""
    able = is_short(scene) and has_predictions(scene) and has_heads(scene)
    return able and bool(measure_heads(scene).max() > 0)


def _tell_without(scene: Scene, head: Head) -> tuple[float, str]:
    """What the word has without a head, and which word leads then."""
    changed = scene.change(zero_head(*head))
    return read_answer(scene, zero_head(*head)), quote_entry(changed, find_top(changed))


def work_worst(scene: Scene) -> Worked:
    worst = rank_heads(scene)[0]
    without, leads = _tell_without(scene, worst)
    word = quote_entry(scene, find_top(scene))
    numbers = {
        **name_answer(scene),
        "count": str(measure_heads(scene).size),
        "worst": name_head(worst),
        "p1": format_percent(without),
        "points": write_points(float(measure_heads(scene)[worst])),
        "leads": f"{word} still leads" if leads == word else f"{leads} takes the lead",
    }
    return Worked(_place(scene, worst), numbers, find_answer(scene))


def _place(scene: Scene, head: Head) -> int:
    return head[0] * measure_heads(scene).shape[1] + head[1]


def name_heads(scene: Scene) -> tuple[str, ...]:
    config = scene.model.config
    return tuple(
        f"layer {layer}, head {head}"
        for layer in range(config.num_hidden_layers)
        for head in range(config.num_attention_heads)
    )


def find_head(scene: Scene, cell: Address) -> int | None:
    """The head of a picture, or of a weight in one."""
    if cell.layer is None or cell.leaf != ATTENTION_WEIGHTS.path or "head" not in cell.at:
        return None
    return cell.layer * scene.model.config.num_attention_heads + cell.at["head"]


def _read_loss(tried: Tried) -> tuple[Head, float]:
    losses = measure_heads(tried.scene)
    layer, head = divmod(int(tried.answer), losses.shape[1])
    return (layer, head), float(losses[layer, head])


def is_gain(tried: Tried) -> bool:
    return _read_loss(tried)[1] < 0


def tell_head(tried: Tried) -> dict[str, str]:
    head, loss = _read_loss(tried)
    return {"picked": name_head(head), "its": write_points(abs(loss))}


def tell_worth(tried: Tried) -> str:
    """What the head that was picked is worth, in points; below 0 where it is in the way."""
    return write_points(_read_loss(tried)[1])


def _read_worst_row(scene: Scene) -> np.ndarray:
    """(key) the weights of the token that is looked at, in the head that the word needs most."""
    return read_weights(scene.trace, scene.token)[rank_heads(scene)[0]].astype(np.float64)


def work_looked(scene: Scene) -> Worked:
    (layer, head), row = rank_heads(scene)[0], _read_worst_row(scene)
    sharpest = read_weights(scene.trace, scene.token).max(axis=2)
    rank, key = int((sharpest > sharpest[layer, head]).sum()) + 1, int(row.argmax())
    by_eye = f"By its largest weight at {scene.here} it is number {rank} of {sharpest.size} heads"
    numbers = {
        **name_answer(scene),
        "worst": name_head((layer, head)),
        "k": scene.quote(key),
        "w": format_percent(float(row[key])),
        "found": f"{by_eye}: the experiment found it, not its sharpness."
        if rank > 1
        else f"{by_eye}. It need not be: what is sharp and what is needed are two questions.",
    }
    why = ATTENTION_WEIGHTS.in_layer(layer).fix(head=head, query=scene.token, key=key)
    return Worked(key, numbers, why)


def tell_looked(tried: Tried) -> dict[str, str]:
    key = int(tried.answer)
    return {"picked": tried.scene.quote(key), "its": format_percent(float(_read_worst_row(tried.scene)[key]))}


def find_two(scene: Scene) -> tuple[Head, Head] | None:
    """The two heads that the word needs most, of those whose losses together leave something of it."""
    losses, answer = measure_heads(scene), read_answer(scene)
    needed = [head for head in rank_heads(scene) if losses[head] > _LEAST_LOST * answer]
    pairs = ((a, b) for i, a in enumerate(needed) for b in needed[i + 1 :])
    return next((p for p in pairs if losses[p[0]] + losses[p[1]] < _MOST_LOST * answer), None)


def has_two(scene: Scene) -> bool:
    return find_two(scene) is not None


def zero_two(scene: Scene) -> Changes:
    a, b = find_two(scene) or ((0, 0), (0, 0))
    return {**zero_head(*a), **zero_head(*b)}


def work_both(scene: Scene) -> Worked:
    losses, (a, b) = measure_heads(scene), find_two(scene) or ((0, 0), (0, 0))
    together = float(losses[a] + losses[b])
    without = read_answer(scene, zero_two(scene))
    lost = read_answer(scene) - without
    numbers = {
        **name_answer(scene),
        "a": name_head(a),
        "b": name_head(b),
        "la": write_points(float(losses[a])),
        "lb": write_points(float(losses[b])),
        "sum": write_fixed(sum(round(100 * float(losses[head]), 2) for head in (a, b)), 2),
        "p1": format_percent(without),
        "both": f"it loses {write_points(lost)} points" if lost > 0 else f"it gains {write_points(-lost)} points",
    }
    apart = lost - together
    outcome = 0 if abs(apart) < NEARLY * together else 1 if apart < 0 else 2
    return Worked(outcome, numbers, find_answer(scene))


def spread_own(scene: Scene) -> Changes:
    """The head that is looked at looks at all tokens alike."""
    return {ATTENTION_WEIGHTS.in_layer(scene.layer).fix(head=scene.head): Rule(UNIFORM)}


def work_without(scene: Scene) -> Worked:
    zeroed, spread = (read_answer(scene, changes) for changes in (zero_own(scene), spread_own(scene)))
    numbers = {
        **name_answer(scene),
        "own": name_head((scene.layer, scene.head)),
        "z": format_percent(zeroed),
        **_name_two(spread, zeroed, "u"),
        "points": write_points(abs(spread - zeroed)),
    }
    apart = spread - zeroed
    outcome = 1 if abs(apart) < NEARLY * max(zeroed, spread) else 0 if apart < 0 else 2
    return Worked(outcome, numbers, find_answer(scene))


def find_words(scene: Scene) -> list[int]:
    """The positions of the words that can be taken out: neither special nor the token that is looked at."""
    special, real = scene.model.tokenizer.special_tokens, scene.trace.encoding.real
    return [i for i in real if scene.tokens[i] not in special and i != scene.token]


def measure_words(scene: Scene) -> np.ndarray:
    """(token) what the answer is without each of these words, NaN for other tokens. Measured once."""
    answer = find_answer(scene)
    return remember(scene.trace, f"lesson words masked for {answer}", lambda: _measure_words(scene))


def _measure_words(scene: Scene) -> np.ndarray:
    found = np.full(len(scene.tokens), np.nan)
    for i in find_words(scene):
        found[i] = read_answer(scene, {_MASK.fix(token=i): 0.0})
    return lock(found)


def has_words(scene: Scene) -> bool:
    """Whether there are words to choose from."""
    return len(find_words(scene)) > 1


def has_needed_word(scene: Scene) -> bool:
    """Whether without one of the words the answer falls."""
    return bool(np.nanmin(measure_words(scene)) < read_answer(scene))


def work_token(scene: Scene) -> Worked:
    without = measure_words(scene)
    first, second = (int(i) for i in np.argsort(without, kind="stable")[:2])  # NaN is last
    leads = scene.change({_MASK.fix(token=first): 0.0}).tell_tops(2)
    numbers = {
        **name_answer(scene),
        "w": scene.quote(first),
        "p1": format_percent(float(without[first])),
        "next": scene.quote(second),
        "p2": format_percent(float(without[second])),
        "tops": leads,
    }
    return Worked(first, numbers, find_answer(scene))


def is_no_word(tried: Tried) -> bool:
    return int(tried.answer) not in find_words(tried.scene)


def is_in_the_way(tried: Tried) -> bool:
    """Whether the answer does not fall without the word."""
    return bool(measure_words(tried.scene)[int(tried.answer)] >= read_answer(tried.scene))


def tell_token(tried: Tried) -> dict[str, str]:
    token = int(tried.answer)
    without = float(measure_words(tried.scene)[token])
    return {"picked": tried.scene.quote(token), "its": format_percent(without)}


def work_own(scene: Scene) -> Worked:
    return Worked(0, name_answer(scene), find_answer(scene))


def check_own(scene: Scene, text: str, guess: str) -> Verdict:
    """A sentence with one [MASK], and a head without which another word leads there."""
    place, config = _PLACE.fullmatch(guess.strip()), scene.model.config
    sizes = (config.num_hidden_layers, config.num_attention_heads)
    head = (int(place[1]), int(place[2])) if place else sizes
    if head[0] >= sizes[0] or head[1] >= sizes[1]:
        says = f"Name a head as layer.head: layers 0 to {sizes[0] - 1}, heads 0 to {sizes[1] - 1}."
        return Verdict(False, says, counted=False)
    own = read_sentence(scene, text)
    if isinstance(own, Verdict):
        return own
    word, share = quote_entry(own, find_top(own)), format_percent(read_answer(own))
    without, leads = _tell_without(own, head)
    if leads == word:
        says = f"{word} still leads, with {format_percent(without)} in place of {share}."
        return Verdict(False, f"{says} Try a head that the map says is needed more, or a closer race.")
    return Verdict(True, f"Without {name_head(head)} {word} becomes {leads}. Does it tip other sentences too?")
