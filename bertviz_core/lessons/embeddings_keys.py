"""The keys of the lesson on embeddings, each worked out from a pass."""

from __future__ import annotations

import numpy as np

from bertviz_core.analysis.layers import compute_cosine, list_stages
from bertviz_core.analysis.ranking import find_strongest
from bertviz_core.analysis.vocabulary import find_nearest
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number, write_fixed, write_plain_sum
from bertviz_core.lessons.lesson import Tried, Verdict, Worked
from bertviz_core.lessons.scene import Scene
from bertviz_core.lessons.sentences import find_rarest, read_own
from bertviz_core.tracing.changes import Changes

WITHIN = 0.006  # of the sum of three numbers: two decimals, and what is lost by rounding to them
ALIKE = 0.05  # by how much two cosines differ that are about the same
APART = 0.2  # by how much two vectors are to come apart
_NEAR = 4  # neighbours that are told
_ROWS = ("word_embeddings", "position_embeddings", "token_type_embeddings")
_SUM, _NORM = Address("embeddings.sum"), Address("embeddings.LayerNorm")
_POSITIONS = Address("embeddings.position_embeddings")


def read_rows(scene: Scene) -> np.ndarray:
    """The three rows that are added for the chosen token, in float64: (row, hidden)."""
    rows = [scene.trace[Address(f"embeddings.{name}").fix(token=scene.token)] for name in _ROWS]
    return np.stack(rows).astype(np.float64)


def find_component(scene: Scene) -> int:
    """The component that the page rings: nowhere is the sum larger in size."""
    return find_strongest(scene.trace[_SUM.fix(token=scene.token)])


def _find_cell(scene: Scene) -> Address:
    return _SUM.fix(token=scene.token, hidden=find_component(scene))


def work_size(scene: Scene) -> Worked:
    width = scene.model.config.hidden_size
    numbers = {"here": scene.here, "width": f"{width:,}", "three": f"{3 * width:,}"}
    return Worked(width, numbers, _find_cell(scene))


def is_three_widths(tried: Tried) -> bool:
    return tried.answer == 3 * tried.scene.model.config.hidden_size


def is_count(tried: Tried) -> bool:
    """Whether it is the number of rows that are added, or that of the tokens."""
    return tried.answer in (len(_ROWS), len(tried.scene.tokens))


def _read_parts(scene: Scene) -> list[float]:
    return read_rows(scene)[:, find_component(scene)].tolist()


def _tell_signs(scene: Scene) -> str:
    negative = sum(part < 0 for part in _read_parts(scene))
    return ("None is", "One is", "Two are", "All three are")[negative] + " negative"


def _tell_off(scene: Scene) -> str:
    taken = any(part < 0 for part in _read_parts(scene))
    return "What is negative is taken off" if taken else "The sum is larger than each of the three"


def work_component(scene: Scene) -> Worked:
    cell = _find_cell(scene)
    total = float(scene.trace[cell])
    numbers = {
        "here": scene.here,
        "c": str(find_component(scene)),
        "parts": write_plain_sum(_read_parts(scene)),
        "signs": _tell_signs(scene),
        "off": _tell_off(scene),
        "sum": format_number(total),
        "normal": format_number(float(scene.trace[_NORM.enter("normalized").fix(**cell.at)])),
    }
    return Worked(total, numbers, cell)


def is_without_signs(tried: Tried) -> bool:
    return abs(tried.answer - sum(map(abs, _read_parts(tried.scene)))) <= 2 * WITHIN


def lacks_one(tried: Tried) -> bool:
    """Whether it is the sum of two of the three."""
    parts = _read_parts(tried.scene)
    return any(abs(tried.answer - (sum(parts) - part)) <= 2 * WITHIN for part in parts)


def work_longest(scene: Scene) -> Worked:
    lengths = np.linalg.norm(read_rows(scene), axis=1)
    numbers = {
        "here": scene.here,
        "word": write_fixed(float(lengths[0]), 2),
        "position": write_fixed(float(lengths[1]), 2),
        "segment": write_fixed(float(lengths[2]), 2),
    }
    return Worked(int(lengths.argmax()), numbers, _find_cell(scene))


def _find_word(scene: Scene) -> int | None:
    """The word of which the nearest one is asked for: of those whose row points anywhere."""
    token = find_rarest(scene)
    return token if token is not None and find_nearest(scene.model, scene.trace.encoding.ids[token], 1) else None


def has_word(scene: Scene) -> bool:
    """Whether there is such a word, and enough entries that begin as it does."""
    token = _find_word(scene)
    first = "" if token is None else scene.tokens[token][0]
    return bool(first) and sum(entry[:1] == first for entry in scene.model.tokenizer.vocabulary) > _NEAR


def _count_shared(a: str, b: str) -> int:
    """With how many of the same letters two texts begin."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _find_spelled_alike(scene: Scene, entry: int, *without: int) -> int:
    """The entry that begins with most of the letters of this one; of several, one that is about as long."""
    vocabulary = scene.model.tokenizer.vocabulary
    word = vocabulary[entry]

    def measure(i: int) -> tuple[int, int, int]:
        return _count_shared(word, vocabulary[i]), -abs(len(vocabulary[i]) - len(word)), -i

    return max((i for i in range(len(vocabulary)) if i not in (entry, *without)), key=measure)


def work_near(scene: Scene) -> Worked:
    token = _find_word(scene) or 0
    entry, tokenizer = scene.trace.encoding.ids[token], scene.model.tokenizer
    near = find_nearest(scene.model, entry, _NEAR)
    best = near[0].id
    beside = next(i for i in (entry + 1, entry - 1) if i < len(tokenizer.vocabulary) and i != best)
    alike = _find_spelled_alike(scene, entry, best, beside)
    numbers = {
        "word": scene.tokens[token],
        "id": str(entry),
        "beside": tokenizer.name(beside),
        "other": str(beside),
        "best": near[0].token,
        "alike": tokenizer.name(alike),
        "list": ", ".join(f"“{each.token}” {write_fixed(each.cosine, 2)}" for each in near),
    }
    return Worked(1, numbers, Address("embeddings.word_embeddings").fix(token=token, hidden=0))


def drop_positions(_: Scene) -> Changes:
    return {_POSITIONS: 0.0}


def work_order(scene: Scene) -> Worked:
    without = scene.change(drop_positions(scene))
    numbers = {"here": scene.here, "top": scene.name_top(), "guesses": without.tell_tops(3)}
    changed = int(without.read_shares().argmax()) != int(scene.read_shares().argmax())
    return Worked(int(changed), numbers, _find_cell(scene))


def _compare(scene: Scene, stage: int, first: int, second: int) -> float:
    """The cosine of two tokens' vectors at a stage: 0 before the first layer, 1 after layer 0."""
    rows = scene.trace[list_stages(scene.trace)[stage]].astype(np.float64)
    return float(compute_cosine(rows[first], rows[second]))


def work_context(scene: Scene) -> Worked:
    first, second, *_ = scene.list_repeated()
    before, after = (_compare(scene, stage, first, second) for stage in (0, scene.layer + 1))
    key = 2 if after < before - ALIKE else 0 if after > before + ALIKE else 1
    numbers = {
        "token": scene.tokens[first],
        "a": str(first),
        "b": str(second),
        "layer": str(scene.layer),
        "before": write_fixed(before, 2),
        "after": write_fixed(after, 2),
    }
    return Worked(key, numbers, Address.in_layer(scene.layer, "output.LayerNorm").fix(token=second, hidden=0))


def work_own(scene: Scene) -> Worked:
    last = scene.model.config.num_hidden_layers - 1
    why = Address.in_layer(last, "output.LayerNorm").fix(token=scene.token, hidden=0)
    return Worked(0, {"last": str(last), "apart": write_fixed(APART, 1)}, why)


def _find_furthest(scene: Scene) -> tuple[str, float, float]:
    """Of what stands twice, the token whose first two come apart most; their cosines at the start and at the end."""
    tokens, last = scene.tokens, scene.model.config.num_hidden_layers
    found: list[tuple[str, float, float]] = []
    for token in dict.fromkeys(tokens):
        first, *others = (i for i, each in enumerate(tokens) if each == token)
        if others and token not in scene.model.tokenizer.special_tokens:
            before, after = (_compare(scene, stage, first, others[0]) for stage in (0, last))
            found.append((token, before, after))
    return max(found, key=lambda each: each[1] - each[2])


def check_own(scene: Scene, text: str, _: str) -> Verdict:
    """A sentence with one word twice, whose two vectors come apart."""
    own = read_own(scene, text)
    if isinstance(own, Verdict):
        return own
    if not own.list_repeated():
        return Verdict(False, "No token stands there twice, but for special ones. Repeat a word.", counted=False)
    token, before, after = _find_furthest(own)
    told = f"“{token}”: {write_fixed(before, 2)} before the first layer, {write_fixed(after, 2)} after the last."
    if round(before, 2) - round(after, 2) > APART - WITHIN:
        return Verdict(True, f"{told} One row of the table, and in the end two different vectors.")
    return Verdict(False, f"{told} Use the word in two ways, such as once as a verb and once as a noun.")
