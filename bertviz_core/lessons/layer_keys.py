"""The keys of the lesson on a layer, each worked out from a pass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bertviz_core.analysis.add_norm import ATTENTION, SHOWN, Sums, measure_sums
from bertviz_core.analysis.feed_forward import measure_neurons
from bertviz_core.analysis.layers import Winner, list_winners
from bertviz_core.analysis.vocabulary import find_nearest
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_degrees, format_number, format_percent, write_fixed
from bertviz_core.formula.texts import write_ordinal
from bertviz_core.lessons.lesson import Tried, Verdict, Worked
from bertviz_core.lessons.scene import Scene
from bertviz_core.lessons.sentences import find_rarest, find_token, read_own, read_whole
from bertviz_core.programs.names import ATTENTION_WEIGHTS, SELF_ATTENTION
from bertviz_core.tracing.changes import Changes
from bertviz_core.tracing.rewrites import NO_RESIDUAL, Rule

_LEAST, _MOST = 25.0, 155.0  # degrees: between these a sum is neither nearly straight nor nearly cancelled
_RIGHT = 5.0  # degrees from a right angle that are hardly seen
_FEW, _MANY = 0.25, 0.75  # shares of active neurons
_SEEN = 0.005  # of a length: less is not seen in two decimals
_SAME = 1e-6  # of the largest number: less is rounding
_TWINS = 0.999  # cosine of two entries from which on one is as good as the other
_ATTENDED = 0.01  # attention on a token that is replaced, so that it makes a difference


def measure_tokens(scene: Scene) -> Sums:
    return measure_sums(scene.trace, scene.layer, ATTENTION)


def read_sum(scene: Scene) -> tuple[float, float, float, float]:
    """Lengths of what the chosen token was, of what attention adds, and of the sum; the angle of the first two."""
    sums, token = measure_tokens(scene), scene.token
    return float(sums.was[token]), float(sums.added[token]), float(sums.total[token]), float(sums.angles[token])


def _find_output(scene: Scene, leaf: str) -> Address:
    return Address.in_layer(scene.layer, f"{ATTENTION}.{leaf}").fix(token=scene.token, hidden=0)


def is_triangle(scene: Scene) -> bool:
    """Whether the three answers to how long the sum is differ on screen."""
    was, added, total, angle = read_sum(scene)
    apart = min(abs(was + added - total), abs(total - abs(was - added)))
    return _LEAST <= angle <= _MOST and apart > 0.02


def work_sum(scene: Scene) -> Worked:
    was, added, total, angle = read_sum(scene)
    way = "about that" if abs(angle - 90) <= _RIGHT else "less" if angle < 90 else "more"
    numbers = {
        "here": scene.here,
        "was": write_fixed(was, 2),
        "added": write_fixed(added, 2),
        "sum": write_fixed(total, 2),
        "straight": write_fixed(round(was, 2) + round(added, 2), 2),
        "less": write_fixed(abs(was - added), 2),
        "angle": format_degrees(angle),
        "root": write_fixed(float(np.hypot(was, added)), 2),
        "way": way,
    }
    return Worked(1, numbers, _find_output(scene, "residual"))


def is_short(scene: Scene) -> bool:
    """Whether the page shows all tokens at once."""
    return 1 < len(scene.tokens) <= SHOWN


def find_added(scene: Scene, cell: Address) -> int | None:
    """The token of a number that attention's sum is made from, or of a chip."""
    module = Address.in_layer(scene.layer, ATTENTION)
    mine = {module.enter(leaf).path for leaf in ("dense", "residual", "LayerNorm")}
    return cell.at.get("token") if cell.path in mine else find_token(scene, cell)


def work_most(scene: Scene) -> Worked:
    added = measure_tokens(scene).added
    most = int(added.argmax())
    numbers = {
        "top": scene.quote(most),
        "added": write_fixed(float(added[most]), 2),
        "mean": write_fixed(float(added.mean()), 2),
    }
    return Worked(most, numbers, Address.in_layer(scene.layer, f"{ATTENTION}.dense").fix(token=most, hidden=0))


def is_longest_bar(tried: Tried) -> bool:
    sums = measure_tokens(tried.scene)
    return tried.answer == int((sums.was + sums.added).argmax())


def tell_added(tried: Tried) -> dict[str, str]:
    picked = int(tried.answer)
    its = write_fixed(float(measure_tokens(tried.scene).added[picked]), 2)
    return {"picked": tried.scene.quote(picked), "its": its}


def _measure_normalized(scene: Scene) -> float:
    """The length of what LayerNorm makes of the sum, before γ and β."""
    vector = scene.trace[_find_output(scene, "LayerNorm.normalized").without("hidden")]
    return float(np.linalg.norm(vector.astype(np.float64)))


def is_normal(scene: Scene) -> bool:
    """Whether its variance is 1; that of equal numbers cannot be."""
    return abs(_measure_normalized(scene) - scene.model.config.hidden_size**0.5) < _SEEN


def work_norm(scene: Scene) -> Worked:
    normalized, length = _find_output(scene, "LayerNorm.normalized"), _measure_normalized(scene)
    numbers = {
        "here": scene.here,
        "width": f"{scene.model.config.hidden_size:,}",
        "length": write_fixed(length, 2),
        "before": write_fixed(read_sum(scene)[2], 2),
    }
    return Worked(length, numbers, normalized)


def is_one(tried: Tried) -> bool:
    return tried.answer == 1


def is_square(tried: Tried) -> bool:
    return tried.answer == tried.scene.model.config.hidden_size


def _find_replaced(scene: Scene) -> int | None:
    """The word that another one is put in place of: not the chosen token, and one that this looks at."""
    token = find_rarest(scene, scene.token)
    near = () if token is None else find_nearest(scene.model, scene.trace.encoding.ids[token], 1)
    if token is None or not near or near[0].cosine > _TWINS:
        return None
    weights = scene.trace[ATTENTION_WEIGHTS.in_layer(0).fix(query=scene.token, key=token)]
    return token if weights.max() > _ATTENDED else None


def has_other(scene: Scene) -> bool:
    """Whether another word than the chosen token could be replaced."""
    return find_rarest(scene, scene.token) is not None


def is_replaceable(scene: Scene) -> bool:
    return _find_replaced(scene) is not None


def _find_other(scene: Scene) -> int:
    """The entry that is put there: the one nearest to it."""
    return find_nearest(scene.model, scene.trace.encoding.ids[_find_replaced(scene) or 0], 1)[0].id


def replace_word(scene: Scene) -> Changes:
    return {Address("input_ids").fix(token=_find_replaced(scene) or 0): float(_find_other(scene))}


_OUTPUT = Address.in_layer(0, "attention.output.dense")  # of the first attention


def _list_places(scene: Scene) -> tuple[Address, ...]:
    """The chosen token's numbers in the order in which they are worked out, up to the end of layer 0."""
    inner = SELF_ATTENTION.in_layer(0)
    return (
        Address("embeddings.LayerNorm").fix(token=scene.token),
        inner.enter("query").fix(query=scene.token),
        _OUTPUT.fix(token=scene.token),
        Address.in_layer(0, "output.dense").fix(token=scene.token),
    )


def work_moves(scene: Scene) -> Worked:
    changed, places, token = scene.change(replace_word(scene)), _list_places(scene), _find_replaced(scene) or 0
    apart = [float(np.abs(changed.trace[place] - scene.trace[place]).max()) for place in places]
    sizes = [float(np.abs(scene.trace[place]).max()) for place in places]
    first = next((i for i, each in enumerate(apart) if each > _SAME * sizes[i]), len(places) - 1)
    numbers = {
        "here": scene.here,
        "word": scene.quote(token),
        "other": scene.model.tokenizer.name(_find_other(scene)),
        "apart": format_number(apart[first]),
    }
    return Worked(first, numbers, _OUTPUT.fix(token=scene.token, hidden=0))


def work_neurons(scene: Scene) -> Worked:
    found = measure_neurons(scene.trace, scene.layer, scene.token)
    share, first = float(found.active.mean()), found.strongest(1)[0]
    numbers = {
        "here": scene.here,
        "layer": str(scene.layer),
        "n": f"{len(found.active):,}",
        "active": f"{int(found.active.sum()):,}",
        "share": format_percent(share),
        "neuron": str(first),
        "length": write_fixed(float(found.lengths[first]), 2),
    }
    inner = Address.in_layer(scene.layer, "intermediate.activation")
    key = 0 if share > _MANY else 1 if share >= _FEW else 2
    return Worked(key, numbers, inner.fix(token=scene.token, intermediate=first))


def _find_last(scene: Scene) -> int:
    return scene.model.config.num_hidden_layers - 1


def cut_residual(scene: Scene) -> Changes:
    return {Address.in_layer(_find_last(scene), f"{ATTENTION}.residual"): Rule(NO_RESIDUAL)}


def work_skip(scene: Scene) -> Worked:
    without = scene.change(cut_residual(scene))
    before, after = scene.name_top(), without.name_top()
    numbers = {
        "here": scene.here,
        "top": before,
        "last": str(_find_last(scene)),
        "guesses": without.tell_tops(3),
    }
    key = 0 if before == after else 1 if after in scene.tokens else 2
    why = Address.in_layer(_find_last(scene), f"{ATTENTION}.residual").fix(token=scene.token, hidden=0)
    return Worked(key, numbers, why)


def _list_winners(scene: Scene) -> Sequence[Winner]:
    """Who leads at the chosen token: before the first layer, then after every one."""
    return list_winners(scene.trace, scene.token)


def find_lead(winners: Sequence[Winner]) -> int:
    """The first layer after which the entry that leads in the end does; -1 where it does before any."""
    return next(i for i, winner in enumerate(winners) if winner.id == winners[-1].id) - 1


def has_lead(scene: Scene) -> bool:
    """Whether the entry that leads in the end does not do so from the start."""
    return find_lead(_list_winners(scene)) >= 0


def work_when(scene: Scene) -> Worked:
    winners = _list_winners(scene)
    lead, last = find_lead(winners), winners[-1]
    stays = all(winner.id == last.id for winner in winners[lead + 1 :])
    numbers = {
        "here": scene.here,
        "top": last.word,
        "rank": write_ordinal(winners[0].final_rank),
        "layer": str(lead),
        "last": str(_find_last(scene)),
        "stays": "leads" if stays else "leads, though not after every later layer",
        "place": write_ordinal(winners[lead].final_rank),
    }
    why = Address("cls.predictions.probs").fix(token=scene.token, vocab=last.id)
    return Worked(lead, numbers, why)


def is_no_layer(tried: Tried) -> bool:
    return tried.answer not in range(_find_last(tried.scene) + 1)


def is_late(tried: Tried) -> bool:
    return tried.answer > tried.worked.key


def tell_leader(tried: Tried) -> dict[str, str]:
    """Who leads after the layer that was typed."""
    winners = _list_winners(tried.scene)
    layer = 0 if is_no_layer(tried) else int(tried.answer)
    return {"typed": str(layer), "there": winners[layer + 1].word}


def check_own(scene: Scene, text: str, guess: str) -> Verdict:
    """A sentence with one [MASK], and the layer after which its answer is expected to lead; one off will do."""
    layer, last = read_whole(guess), _find_last(scene)
    if layer is None or not 0 <= layer <= last:
        return Verdict(False, f"Write the number of a layer, from 0 to {last}.", counted=False)
    own = read_own(scene, text)
    if isinstance(own, Verdict):
        return own
    mask = scene.model.tokenizer.mask_id
    if mask is None or list(own.trace.encoding.ids).count(mask) != 1:
        return Verdict(False, "Write a sentence with one [MASK].", counted=False)
    winners = _list_winners(own)
    lead, final = find_lead(winners), winners[-1]
    end = f"in the end it has {format_percent(final.probability)}"
    where = f"after layer {lead}" if lead >= 0 else "before the first layer"
    if abs(layer - lead) <= 1:
        return Verdict(True, f"“{final.word}” leads first {where}; {end}. What was easy or hard about this blank?")
    if layer > lead:
        return Verdict(False, f"“{final.word}” leads already {where}; {end}.")
    there = winners[layer + 1].word
    return Verdict(False, f"“{final.word}” leads only {where}; after layer {layer} it is “{there}”.")


def work_own(scene: Scene) -> Worked:
    why = Address.in_layer(_find_last(scene), "output.LayerNorm").fix(token=scene.token, hidden=0)
    return Worked(0, {"last": str(_find_last(scene))}, why)
