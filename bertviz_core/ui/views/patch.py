"""The page Patch's headline: which head, else which cell, carries most of the difference between two passes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bertviz_core.analysis.claims import Claim, Part, Relation, Said, say, say_largest
from bertviz_core.analysis.patching import OF_ATTENTION, OF_FEED_FORWARD, OF_HEADS, Patching
from bertviz_core.analysis.predictions import PROBS
from bertviz_core.errors import InputError
from bertviz_core.ui.frame.example import is_example
from bertviz_core.ui.frame.findings import Wanted
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.said import name_word, tell_count, tell_percent, tell_short, tell_token
from bertviz_core.ui.views.patch_both import LIKELY, UNNAMED, WORDS, Both, bind_choices, read_both
from bertviz_core.ui.views.patch_number import WARNINGS

_ENOUGH = 0.2  # of the way, for a head to stand for the whole
_HALF = 0.5  # of what a cell of a sub-layer carries at most: a head with less is not the answer
_OF = {OF_ATTENTION: "the attention output", OF_FEED_FORWARD: "the feed-forward"}


def find_both(view: View) -> Both | None:
    """Both passes; None where there is none, or nothing to be patched: the page says why."""
    try:
        return read_both(view)
    except InputError:
        return None


def ask(view: View) -> Wanted[Patching] | None:
    """The finding that the headline waits for."""
    bind_choices()
    both = find_both(view)
    return None if both is None or both.same else both.wanted


def write_headline(view: View) -> Said:
    """What carries most of the way from one pass to the other, once that is known."""
    both = find_both(view)
    if both is None:
        return say("What carries the difference between two passes?")
    if both.same:
        return say("Twice the same pass: there is no difference to carry")
    question = tell_question(both)
    found = both.wanted.look()
    if found.value is None or not found.whole:
        return say(question, "Each number is put into the other pass in turn")
    if not found.value.has_way:
        return say(question, tell_no_way(found.value))
    return say(question, tell_most(both, found.value))


def write_warning(view: View) -> str:
    """What must not be read out of a patch, whose drawer says why; nothing where there is none."""
    both = find_both(view)
    if both is None or both.same:
        return ""
    return f"{'An example. ' if is_example() else ''}{WARNINGS[both.restore].partition(':')[0]}."


def tell_question(both: Both) -> Said:
    """What is asked of two sentences that differ in one word which makes another one likely; or of any other two."""
    hidden = both.source.trace.model.tokenizer.special_tokens
    named = not {both.source.name, both.target.name} & {*hidden, *UNNAMED}
    if both.kind == WORDS and named and _becomes_likely(both):
        token, word = name_word(both.source.name), name_word(both.names[0 if both.restore else 1])
        return say(f"Where does {token} become {word}? ")
    return say("What carries the difference? ")


def _becomes_likely(both: Both) -> bool:
    """Whether the word of the pass that numbers are taken from is likely in it, and not the likeliest in the other."""
    word = both.measure.cells[0 if both.restore else 1].at["vocab"]
    there, here = (side.trace.recomputed(PROBS.fix(token=side.token)) for side in (both.source, both.target))
    return bool(there[word] >= LIKELY and here.argmax() != word)


def tell_no_way(found: Patching) -> Said:
    """That both passes have the same measure, and the patch that moves it farthest."""
    parts = {"source": tell_short(found.source), "target": tell_short(found.target)}
    return say(
        Claim(
            "no way to go",
            "The measure is {source} in one pass and {target} in the other: **there is nothing to restore**. "
            "The grids show by how much each patch moves it",
            parts,
        )
    )


def tell_most(both: Both, found: Patching) -> Said:
    """The head that moves the measure farthest; where a sub-layer's cell goes much farther, that cell."""
    heads = found.moved(OF_HEADS)
    every = np.nan_to_num(np.concatenate([heads.ravel(), *(found.moved(grid).ravel() for grid in _OF)]))
    if not every.any():
        form = "**No head’s and no sub-layer’s output** carries any of it"
        return say(Claim("nothing patched moves it", form, {}, Relation.NONE, every))
    layer, head = find_farthest(heads)
    grid, cells = _choose_cells(found)
    farthest = float(np.nanmax(np.abs(cells), initial=0.0))
    if abs(heads[layer, head]) >= max(_ENOUGH, _HALF * farthest):
        parts = {"share": tell_percent(heads[layer, head]), "layer": tell_count(layer), "head": tell_count(head)}
        return _tell_farthest(
            "head", "in layer {layer}, head {head} alone carries **{share}** of the way", parts, heads
        )
    layer, token = find_farthest(cells)
    parts = {
        "share": tell_percent(cells[layer, token]),
        "layer": tell_count(layer),
        "token": tell_token(both.target.trace.tokens, token),
        "of": Part(_OF[grid]),
    }
    return _tell_farthest("cell", "in layer {layer}, {of} at {token} carries **{share}** of the way", parts, cells)


def _tell_farthest(what: str, form: str, parts: Mapping[str, Part], values: np.ndarray) -> Said:
    """Of numbers that are compared by their size, one that is not below 0 or that is."""
    known = np.where(np.isfinite(values), values, 0.0).ravel()
    at = (int(np.abs(known).argmax()),)
    told = f"{form[0].upper()}{form[1:]}"
    if known[at[0]] < 0:
        back = told.replace("carries **{share}** of the way", "goes **{share}** of the way: farther off")
        return say(Claim(f"patched {what} back", back, parts, Relation.LOWEST, known, at))
    return say_largest((f"patched {what} most", told), (f"patched {what} as much", told), parts, known, at)


def _choose_cells(found: Patching) -> tuple[str, np.ndarray]:
    """The grid of a sub-layer's outputs in which a cell moves the measure farthest. The residual holds them all."""
    grids = {grid: found.moved(grid) for grid in _OF}
    grid = max(grids, key=lambda name: float(np.nanmax(np.abs(grids[name]), initial=0.0)))
    return grid, grids[grid]


def find_farthest(values: np.ndarray) -> tuple[int, int]:
    """The row and column of the number that is farthest from 0."""
    known = np.where(np.isfinite(values), np.abs(values), -1.0)
    row, column = np.unravel_index(int(known.argmax()), values.shape)
    return int(row), int(column)
