"""The keys of the lesson on attention, each worked out from a pass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number, format_percent, write_fixed
from bertviz_core.formula.texts import spell_controls, write_count
from bertviz_core.lessons.lesson import Tried, Verdict, Worked
from bertviz_core.lessons.scene import Scene
from bertviz_core.lessons.sentences import find_token
from bertviz_core.programs.names import SELF_ATTENTION

_MASKED = -10_000.0  # a score that takes a token out
_LEAST_DIFFERENCE, _LARGEST_DIFFERENCE = 0.5, 2.0  # of two scores that are compared


def _rank(row: np.ndarray) -> tuple[int, int]:
    """The places of the two largest numbers."""
    first, second = np.argsort(-row, kind="stable")[:2]
    return int(first), int(second)


def name_keys(scene: Scene) -> tuple[str, ...]:
    return tuple(f"{i} {token}" for i, token in enumerate(scene.tokens))


def _is_weight(scene: Scene, cell: Address) -> bool:
    weights = scene.find_attention("probs")
    return cell.path == weights.path and cell.at.get("head") == scene.head and {"query", "key"} <= cell.at.keys()


def find_key(scene: Scene, cell: Address) -> int | str | None:
    """The key of a weight in the row that is asked about; or the token itself, where that is clicked."""
    token = find_token(scene, cell)
    if token is not None:
        return token
    if not _is_weight(scene, cell):
        return None
    if cell.at["query"] != scene.token:
        other = scene.quote(cell.at["query"])
        return f"That is the row of {other}: there {other} asks. Stay in the row of {scene.here}."
    return cell.at["key"]


def locate_key(scene: Scene, key: int) -> Address:
    return scene.find_attention("probs", query=scene.token, key=key)


def tell_key(tried: Tried) -> dict[str, str]:
    key = int(tried.answer)
    share = float(tried.scene.read_row("probs")[key])
    return {"picked": tried.scene.quote(key), "its": format_percent(share)}


def work_row(scene: Scene) -> Worked:
    row = scene.read_row("probs")
    first, second = _rank(row)
    numbers = {
        "here": scene.here,
        "top": scene.quote(first),
        "w": format_percent(float(row[first])),
        "next": scene.quote(second),
        "w2": format_percent(float(row[second])),
    }
    return Worked(first, numbers, scene.find_attention("probs", query=scene.token, key=first))


def find_pair(scene: Scene, cell: Address) -> int | str | None:
    """A row and a column; a token alone is neither."""
    if find_token(scene, cell) is not None:
        return "A token alone says nothing of two: choose a cell of the matrix."
    return cell.at["query"] * len(scene.tokens) + cell.at["key"] if _is_weight(scene, cell) else None


def locate_pair(scene: Scene, pair: int) -> Address:
    query, key = divmod(pair, len(scene.tokens))
    return scene.find_attention("probs", query=query, key=key)


def name_pairs(scene: Scene) -> tuple[str, ...]:
    names = name_keys(scene)
    return tuple(f"row {query}, column {key}" for query in names for key in names)


def _choose_other(scene: Scene) -> int:
    """The key that gets most of the row, if that is another token than the one that asks; else the next one."""
    first, second = _rank(scene.read_row("probs"))
    return second if first == scene.token else first


def work_direction(scene: Scene) -> Worked:
    other, count = _choose_other(scene), len(scene.tokens)
    weights = scene.trace[scene.find_attention("probs")]
    numbers = {
        "here": scene.here,
        "other": scene.quote(other),
        "row": str(other),
        "column": str(scene.token),
        "w": format_percent(float(weights[scene.token, other])),
        "back": format_percent(float(weights[other, scene.token])),
    }
    why = scene.find_attention("probs", query=other, key=scene.token)
    return Worked(other * count + scene.token, numbers, why)


def asks_here(tried: Tried) -> bool:
    return int(tried.answer) // len(tried.scene.tokens) == tried.scene.token


def tell_pair(tried: Tried) -> dict[str, str]:
    query, key = divmod(int(tried.answer), len(tried.scene.tokens))
    return {"asks": tried.scene.quote(query), "asked": tried.scene.quote(key)}


def _find_negative(scene: Scene) -> int | None:
    """The key with the lowest dot product, if that is below 0."""
    products = scene.read_row("products")
    return int(products.argmin()) if products.min() < 0 and all(scene.trace.encoding.mask) else None


def has_negative(scene: Scene) -> bool:
    return _find_negative(scene) is not None


def work_negative(scene: Scene) -> Worked:
    key = _find_negative(scene) or 0
    products, scores, row = (scene.read_row(leaf) for leaf in ("products", "scores", "probs"))
    power = float(np.exp(scores[key] - scores.max()))
    numbers = {
        "here": scene.here,
        "key": scene.quote(key),
        "d": write_fixed(float(products[key]), 2),
        "p": format_percent(float(row[key])),
        "power": format_number(power),
    }
    why = scene.find_attention("probs", query=scene.token, key=key)
    return Worked(2 if row[key] > 0 else 1, numbers, why)


def has_ratio(scene: Scene) -> bool:
    """Whether two scores as they are shown, with two decimals, give the ratio of their weights to one."""
    return _find_compared(scene) is not None


def _find_compared(scene: Scene) -> tuple[int, int] | None:
    """The highest two scores that are neither level nor far apart, the higher one first."""
    scores = scene.read_row("scores")
    order = np.argsort(-scores, kind="stable")
    pairs = (
        (int(a), int(b))
        for i, a in enumerate(order)
        for b in order[i + 1 :]
        if _LEAST_DIFFERENCE <= scores[a] - scores[b] <= _LARGEST_DIFFERENCE
    )
    return next(pairs, None)


def work_ratio(scene: Scene) -> Worked:
    scores, row = scene.read_row("scores"), scene.read_row("probs")
    a, b = _find_compared(scene) or _rank(scores)
    difference = round(float(scores[a]), 2) - round(float(scores[b]), 2)
    ratio = float(np.exp(scores[a] - scores[b]))
    numbers = {
        "here": scene.here,
        "a": scene.quote(a),
        "b": scene.quote(b),
        "sa": write_fixed(float(scores[a]), 2),
        "sb": write_fixed(float(scores[b]), 2),
        "difference": write_fixed(difference, 2),
        "ratio": write_fixed(ratio, 2),
        "quotient": write_fixed(float(scores[a] / scores[b]), 2),
        "wa": f"{write_fixed(100 * float(row[a]), 2)} %",
        "wb": f"{write_fixed(100 * float(row[b]), 2)} %",
    }
    return Worked(ratio, numbers, scene.find_attention("probs", query=scene.token, key=a))


def _read_scores(scene: Scene) -> tuple[float, float]:
    scores = scene.read_row("scores")
    a, b = _find_compared(scene) or _rank(scores)
    return float(scores[a]), float(scores[b])


def is_quotient(tried: Tried) -> bool:
    a, b = _read_scores(tried.scene)
    return b != 0 and abs(tried.answer - a / b) < 0.06


def is_difference(tried: Tried) -> bool:
    a, b = _read_scores(tried.scene)
    return abs(tried.answer - (a - b)) < 0.02


def list_weighed(scene: Scene) -> tuple[int, ...]:
    """The keys whose weights are asked about, or give an answer away: of the negative dot product, and of a ratio."""
    negative = _find_negative(scene)
    pair = _find_compared(scene) or ()
    return tuple(sorted({*pair, *(() if negative is None else (negative,))}))


def mask_out(scene: Scene) -> dict[Address, float]:
    first, _ = _rank(scene.read_row("probs"))
    return {scene.find_attention("scores", query=scene.token, key=first): _MASKED}


def work_mask(scene: Scene) -> Worked:
    row = scene.read_row("probs")
    a, b = _rank(row)
    masked = scene.change(mask_out(scene))
    after = masked.read_row("probs")[b]
    outcomes = (row[b], row[b] / (1 - row[a]), row[a] + row[b])
    numbers = {
        "a": scene.quote(a),
        "b": scene.quote(b),
        "wa": format_percent(float(row[a])),
        "wb": format_percent(float(row[b])),
        "grown": format_percent(float(outcomes[1])),
        "all": format_percent(float(outcomes[2])),
        "factor": write_fixed(float(1 / (1 - row[a])), 2),
    }
    key = int(np.abs(np.array(outcomes) - after).argmin())
    return Worked(key, numbers, scene.find_attention("probs", query=scene.token, key=b))


def is_maskable(scene: Scene) -> bool:
    """Whether the three answers to what is masked out differ on screen."""
    row = scene.read_row("probs")
    a, b = _rank(row)
    return row[a] < 0.98 and row[a] > 0.05 and row[b] > 0.02


def _measure_taken(scene: Scene) -> tuple[np.ndarray, np.ndarray]:
    """Each key's weight, and its weight times the length of its value, in the chosen token's row: (key) each."""
    row = scene.read_row("probs")
    lengths = np.linalg.norm(scene.trace[scene.find_attention("value")].astype(np.float64), axis=1)
    return row, row * lengths


def find_crossed(scene: Scene) -> tuple[int, int] | None:
    """Two keys of which the first gets more weight and the second gives more: those that are furthest apart."""
    row, taken = _measure_taken(scene)
    pairs = [
        (float(row[a] / row[b] * taken[b] / taken[a]), a, b)
        for a in range(len(row))
        for b in range(len(row))
        if row[a] > 1.2 * row[b] > 0 and taken[b] > 1.2 * taken[a] > 0 and row[b] > 0.005
    ]
    return max(pairs)[1:] if pairs else None


def has_crossed(scene: Scene) -> bool:
    return find_crossed(scene) is not None


def work_taken(scene: Scene) -> Worked:
    row, taken = _measure_taken(scene)
    a, b = find_crossed(scene) or (0, 1)
    numbers = {
        "here": scene.here,
        "a": scene.quote(a),
        "b": scene.quote(b),
        "wa": format_percent(float(row[a])),
        "wb": format_percent(float(row[b])),
        "la": write_fixed(float(taken[a] / row[a]), 2),
        "lb": write_fixed(float(taken[b] / row[b]), 2),
        "ta": format_number(float(taken[a])),
        "tb": format_number(float(taken[b])),
        "times": write_fixed(float(taken[b] / taken[a]), 1),
    }
    value = scene.trace[scene.find_attention("value", key=b)]
    most = scene.head * len(value) + int(np.abs(value).argmax())  # the component in which it is felt most
    why = SELF_ATTENTION.enter("context").in_layer(scene.layer).fix(token=scene.token, concat=most)
    return Worked(1, numbers, why)


def check_own(scene: Scene, text: str, guess: str) -> Verdict:
    """A sentence with one [MASK], and the token that is expected to get most of its row."""
    own = replace(scene.read(text), layer=scene.layer, head=scene.head)
    mask = _find_mask(own)
    if mask is None:
        return Verdict(False, "Write a sentence with one [MASK].", counted=False)
    if own.trace.encoding.ids == scene.trace.encoding.ids:
        return Verdict(False, "That is the sentence on screen, whose weights can be seen: write another one.", False)
    own = replace(own, token=mask)
    row = own.read_row("probs")
    wanted = guess.strip().lower() or " "
    found = [i for i, token in enumerate(own.tokens) if wanted in (token.lower(), str(i))]
    if not found:
        return Verdict(False, f"“{spell_controls(guess)}” is no token of it. Its tokens: {' '.join(own.tokens)}", False)
    first = int(row.argmax())
    said = f"{own.quote(first)} gets most, {format_percent(float(row[first]))}. {_tell_habit(scene, own)}"
    if first in found:
        return Verdict(True, said)
    return Verdict(False, f"{own.quote(found[0])} gets {format_percent(float(row[found[0]]))}. {said}")


def _find_mask(scene: Scene) -> int | None:
    """Where [MASK] stands, if there is one and no more."""
    places = [i for i, each in enumerate(scene.trace.encoding.ids) if each == scene.model.tokenizer.mask_id]
    return places[0] if len(places) == 1 else None


def _tell_habit(before: Scene, own: Scene) -> str:
    """Whether the head did in the sentence before what it does in one's own."""
    mask = _find_mask(before)
    if mask is None:
        return "One sentence shows a case; others tell whether it is a habit."
    old = int(replace(before, token=mask).read_row("probs").argmax())
    new = int(own.read_row("probs").argmax())
    was, now = _tell_distance(old - mask), _tell_distance(new - own.token)
    if was == now:
        return f"In the sentence before, too, it was {was}: that speaks for a habit."
    if before.tokens[old] == own.tokens[new]:
        return f"In the sentence before, too, it was {before.quote(old)}: that speaks for a habit."
    named = was if old == mask else f"{before.quote(old)}, {was}"
    return f"Here that is {now}; in the sentence before it was {named}: that speaks against a habit."


def _tell_distance(distance: int) -> str:
    if distance == 0:
        return "[MASK] itself"
    return f"the token {write_count(abs(distance), 'place')} {'before' if distance < 0 else 'behind'} [MASK]"


def work_own(scene: Scene) -> Worked:
    first = int(scene.read_row("probs").argmax())
    why = scene.find_attention("probs", query=scene.token, key=first)
    return Worked(0, {"layer": str(scene.layer), "head": str(scene.head)}, why)
