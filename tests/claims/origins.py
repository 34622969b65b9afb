"""Oracles of what is said of a number's parts, carried forwards, and of hidden tokens, one pass each."""

import numpy as np

from bertviz_core.analysis.carried import carry_forward, read_carried
from bertviz_core.formula.address import Address
from tests.claims.answers import find_span
from tests.claims.truths import Truth, oracle, softmax
from tests.derived.origins import rank


def find_target(scene):
    """The number that the page opens with."""
    trace, token = scene.trace, scene.token
    if "cls.predictions.probs" in trace:
        return Address("cls.predictions.decoder").fix(token=token, vocab=int(scene.probs.argmax()))
    if "classifier" in trace:
        here = Address("classifier").fix(token=token) if "token" in trace.dims("classifier") else Address("classifier")
        return here.fix(label=int(trace[here].argmax()))
    if "qa_outputs" in trace:
        return Address("qa_outputs.start").fix(start=find_span(trace)[0])
    last = Address(f"encoder.layer.{scene.config.num_hidden_layers - 1}.output.LayerNorm").fix(token=token)
    return last.fix(hidden=int(np.abs(trace[last]).argmax()))


def carry(scene):
    """(source,) the target's parts, from the embeddings on; those of the words' matrix by hand, as it is large."""
    target, doubled = find_target(scene), read_carried(scene.trace)
    if "vocab" not in target.at:
        ((_, parts),) = carry_forward(doubled, {target.path})
        return parts[(slice(None), *(i for _, i in target.index))].numpy()
    ((_, parts),) = carry_forward(doubled, {"cls.predictions.transform.LayerNorm"})
    word = target.at["vocab"]
    found = parts[:, scene.token].numpy() @ np.asarray(scene.trace["cls.predictions.decoder.weight"])[:, word]
    found[-1] += float(scene.trace["cls.predictions.decoder.bias"][word])
    return found


@oracle("carried most", "none carried more")
def _(scene, name):
    parts = carry(scene)
    best = int(parts[:-1].argmax())
    values = {"part": parts[best], "whole": parts.sum(), "token": {scene.name(i) for i in find_as_large(parts, best)}}
    return Truth(values, "LARGEST" if name == "carried most" else "HIGHEST", parts[:-1], best)


def find_as_large(parts, best):
    """The tokens whose parts are that of the largest but for rounding: either way may put another one first."""
    return np.flatnonzero(parts[:-1] >= parts[best] - 1e-9 * max(1, abs(parts[best])))


@oracle("orders alike", "orders partly alike", "orders apart", "order’s exception")
def _(scene, name):
    trace, target = scene.trace, find_target(scene)
    parts, mask = carry(scene)[:-1], trace.model.tokenizer.mask_id
    tokens = [i for i in trace.encoding.real if trace.encoding.ids[i] != mask]
    if len(parts) > 30:
        tokens = [i for i in tokens if i in np.argsort(-np.abs(parts), kind="stable")[:24]]
    falls = [
        measure(trace, target) - measure(trace.with_changes({f"input_ids[token={i}]": mask}), target) for i in tokens
    ]
    one, other = rank(parts[tokens]), rank(np.array(falls))
    rho, gaps = np.corrcoef(one, other)[0, 1], np.abs(one - other)
    if name == "order’s exception":
        most = int(gaps.argmax())
        return Truth({"gap": gaps[most], "name": scene.name(tokens[most])}, "LARGEST", gaps, most)
    assert {"orders alike": rho >= 0.6, "orders partly alike": 0.3 <= rho < 0.6, "orders apart": rho < 0.3}[name], rho
    return Truth({"rho": rho})


def measure(trace, target):
    """The logarithm of its probability, where there is one."""
    axis, i = target.index[-1]
    row = np.asarray(trace.recomputed(target.without(axis)), dtype=np.float64)
    return row[i] if axis == "hidden" else float(np.log(softmax(row)[i]))
