"""Oracles of what is said of patches: every one made anew, as an array put into the other pass by hand.

Which passes, tokens and words are looked at is the page's choice; that such an array does what a hook in Hugging Face's
model does is tested in test_patching.
"""

from functools import lru_cache

import numpy as np

from bertviz_core.formula.texts import spell_controls
from bertviz_core.ui.views.patch_both import read_both
from tests.claims.truths import Truth, oracle

OUTPUTS = {"the attention output": "attention.output.dense", "the feed-forward": "output.dense"}
ENOUGH, HALF = 0.2, 0.5  # a head's part of the way that is enough, also of what a cell has of it
LEAST = 0.01  # the way that there must be


def is_enough(scene, share):
    """Whether the head that goes farthest stands for the whole: by itself, and beside the outputs of sub-layers."""
    cells = max(np.abs(move_cells(*name_both(scene), leaf)).max() for leaf in OUTPUTS.values())
    return share >= max(ENOUGH, HALF * cells)


@oracle("no way to go")
def _(scene):
    both = read_both(scene.view)
    source, target = read(both.source.trace, both.there), read(both.target.trace, both.measure)
    assert abs(source - target) < LEAST
    return Truth({"source": source, "target": target})


@oracle("patched head most", "patched head as much", "patched head back")
def _(scene, name):
    heads = move_heads(*name_both(scene))
    best = int(np.abs(heads).argmax())
    assert is_enough(scene, abs(heads.flat[best])) and (heads.flat[best] < 0) == name.endswith("back")
    layers, those = find_as_far(heads, heads.flat[best])
    values = {"share": heads.flat[best], "layer": {*layers}, "head": {*those}}
    return Truth(values, relate(name), heads.ravel(), best)


@oracle("nothing patched moves it")
def _(scene):
    both = name_both(scene)
    every = [move_heads(*both), *(move_cells(*both, leaf) for leaf in OUTPUTS.values())]
    return Truth({}, "NONE", np.concatenate([values.ravel() for values in every]))


@oracle("patched cell most", "patched cell as much", "patched cell back")
def _(scene, name):
    both = name_both(scene)
    assert not is_enough(scene, np.abs(move_heads(*both)).max()), "a head goes far enough"
    grids = {of: move_cells(*both, leaf) for of, leaf in OUTPUTS.items()}
    of = max(grids, key=lambda each: np.abs(grids[each]).max())
    best, tokens = int(np.abs(grids[of]).argmax()), both[1].tokens
    far = {each: find_as_far(grid, grids[of].flat[best]) for each, grid in grids.items()}
    values = {
        "share": grids[of].flat[best],
        "layer": {layer for layers, _ in far.values() for layer in layers},
        "token": {name_token(tokens, i) for _, those in far.values() for i in those},
        "of": {each for each, (layers, _) in far.items() if layers},
    }
    return Truth(values, relate(name), grids[of].ravel(), best)


def find_as_far(values, farthest):
    """The rows and columns of what lies as far from 0 as the farthest but for rounding: either may be named."""
    rows, columns = np.nonzero(np.abs(values) >= abs(farthest) - 1e-5)
    return rows.tolist(), columns.tolist()


def name_token(tokens, i):
    twice = tokens.count(tokens[i]) > 1
    return f"“{spell_controls(tokens[i])}” at position {i}" if twice else tokens[i]


def relate(name):
    return {"most": "LARGEST", "much": "HIGHEST", "back": "LOWEST"}[name.rpartition(" ")[2]]


def name_both(scene):
    both = read_both(scene.view)
    return both.source.trace, both.target.trace, both.pairs, both.there, both.measure


def read(trace, measure):
    """A measure of a pass: a number, or one less another."""
    first, *others = (float(trace.recomputed(cell)) for cell in measure.cells)
    return first - sum(others)


def put(target, path, numbers):
    """The target's pass with an array in place of a tensor; what was changed in it stays so."""
    return (target.before or target).with_changes({**target.changes, path: numbers})


def tell_way(values, source, target, there, measure):
    start, end = read(target, measure), read(source, there)
    assert abs(end - start) >= LEAST
    return (np.array(values) - start) / (end - start)


@lru_cache(maxsize=2)
def move_heads(source, target, pairs, there, measure):
    """(layer, head) parts of the way, of a head's output at all tokens that are matched."""
    config, values = target.model.config, []
    for layer in range(config.num_hidden_layers):
        path = f"encoder.layer.{layer}.attention.self.context"
        for head in range(config.num_attention_heads):
            numbers, own = target[path].copy(), slice(head * config.head_dim, (head + 1) * config.head_dim)
            for here, other in pairs:
                numbers[here, own] = source[path][other, own]
            values.append(read(put(target, path, numbers), measure))
    shape = (config.num_hidden_layers, config.num_attention_heads)
    return tell_way(values, source, target, there, measure).reshape(shape)


@lru_cache(maxsize=4)
def move_cells(source, target, pairs, there, measure, leaf):
    """(layer, token) parts of the way, 0 where no token is matched."""
    found = []
    for layer in range(target.model.config.num_hidden_layers):
        path = f"encoder.layer.{layer}.{leaf}"
        row = np.zeros(len(target.tokens))
        for here, other in pairs:
            numbers = target[path].copy()
            numbers[here] = source[path][other]
            value = read(put(target, path, numbers), measure)
            row[here] = tell_way([value], source, target, there, measure)[0]
        found.append(row)
    return np.stack(found)
