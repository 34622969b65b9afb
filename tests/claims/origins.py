"""Oracles of what is said of a number's parts, carried forwards, and of hidden tokens, one pass each."""

import re
from functools import lru_cache

import numpy as np

from bertviz_core.analysis.carried import carry_forward, read_carried
from bertviz_core.formula.address import Address, read_address
from tests.claims.answers import find_span
from tests.claims.truths import Truth, oracle, softmax
from tests.derived.origins import rank
from tests.token_parts import SLOPES, transcribe, transcribe_last

TRANSCRIBED = 24  # tokens at most
NOT_LINEAR = re.compile(r"^(input_ids|attention_mask|token_type_ids|embeddings\.)|\.(query|key|scores|probs)$")


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


def find_rival(scene):
    """The number that the page takes off, if any."""
    asked = scene.shown.says.get("instead", "")
    rival = read_address(asked) if asked else None
    return None if rival == find_target(scene) else rival


def carry(scene):
    """(source,) the parts of the number, of a lead those of the one less those of the other."""
    parts, rival = carry_one(scene.trace, find_target(scene)), find_rival(scene)
    lead = parts if rival is None else parts - carry_one(scene.trace, rival)
    return np.where(np.abs(lead) < 1e-12, 0.0, lead)  # rounding carries nothing


@lru_cache(maxsize=8)
def carry_one(trace, target):
    """(source,) a number's parts by the transcription in NumPy, where the pass is of BERT as the transcription has it
    and short; else by the project's own way forwards, those of the words' matrix by hand, as it is large."""
    if can_transcribe(trace):
        if "hidden" not in target.at:
            return transcribe(trace, str(target))
        states = transcribe_last(trace)
        return states[target.at["token"], :, target.at["hidden"]]
    doubled = read_carried(trace)
    if "vocab" not in target.at:
        ((_, parts),) = carry_forward(doubled, {target.path})
        return parts[(slice(None), *(i for _, i in target.index))].numpy()
    ((_, parts),) = carry_forward(doubled, {"cls.predictions.transform.LayerNorm"})
    word = target.at["vocab"]
    found = parts[:, target.at["token"]].numpy() @ np.asarray(trace["cls.predictions.decoder.weight"])[:, word]
    found[-1] += float(trace["cls.predictions.decoder.bias"][word])
    return found


def can_transcribe(trace):
    """Whether it is short, and no change reaches what is linear in it."""
    plain = all(NOT_LINEAR.search(str(where).partition("[")[0]) for where in trace.changes)
    return plain and len(trace.tokens) <= TRANSCRIBED and trace.model.config.hidden_act in SLOPES


def name_as_large(scene, tokens, amounts, best):
    """The tokens whose amounts are the largest but for rounding: either way may put another one first."""
    near = np.flatnonzero(amounts >= amounts[best] - 1e-9 * max(1, abs(amounts[best])))
    return {scene.name(tokens[i]) for i in near}


@oracle("carried most", "none carried more", "carried most below 0", "none carried more below 0")
def _(scene, name):
    parts, tokens = carry(scene), scene.counted
    own, below = parts[tokens], name.endswith("below 0")
    assert below == (parts.sum() < 0) and ((own < 0) if below else (own > 0)).any()
    amounts = -own if below else own
    best = int(amounts.argmax())
    values = {"part": own[best], "whole": parts.sum(), "token": name_as_large(scene, tokens, amounts, best)}
    relations = ("SMALLEST", "LOWEST") if below else ("LARGEST", "HIGHEST")
    return Truth(values, relations["none" in name], own, best)


@oracle("none carried towards it")
def _(scene):
    parts = carry(scene)
    own = parts[scene.counted]
    towards = np.minimum(own, 0) if parts.sum() < 0 else np.maximum(own, 0)
    return Truth({"biases": parts[-1], "whole": parts.sum()}, "NONE", np.abs(towards))


@oracle("lowers most", "none lowers more", "raises most", "none raises more")
def _(scene, name):
    parts, tokens, lowers = carry(scene), scene.counted, "lowers" in name
    own = parts[tokens]
    amounts = -own if lowers else own
    best = int(amounts.argmax())
    assert amounts[best] > 0 and lowers == (parts.sum() >= 0)
    relations = ("SMALLEST", "LOWEST") if lowers else ("LARGEST", "HIGHEST")
    values = {"part": own[best], "token": name_as_large(scene, tokens, amounts, best)}
    return Truth(values, relations["none" in name], own, best)


@oracle("speaks most for", "none speaks more for", "speaks most against", "none speaks more against")
def _(scene, name):
    tokens, against = scene.counted, name.endswith("against")
    own = carry(scene)[tokens]
    amounts = -own if against else own
    best = int(amounts.argmax())
    assert amounts[best] > 0
    values = {"part": own[best], "token": name_as_large(scene, tokens, amounts, best)}
    relations = ("SMALLEST", "LOWEST") if against else ("LARGEST", "HIGHEST")
    return Truth(values, relations["none" in name], own, best)


@oracle("none speaks for", "none speaks against")
def _(scene, name):
    own = carry(scene)[scene.counted]
    return Truth({}, "NONE", np.minimum(own, 0) if name.endswith("against") else np.maximum(own, 0))


@oracle("orders alike", "orders partly alike", "orders apart", "orders opposed", "order’s exception")
def _(scene, name):
    trace, asked = scene.trace, (find_target(scene), find_rival(scene))
    parts, mask = carry(scene)[:-1], trace.model.tokenizer.mask_id
    tokens = [i for i in trace.encoding.real if trace.encoding.ids[i] != mask]
    if len(parts) > 30:
        tokens = [i for i in tokens if i in np.argsort(-np.abs(parts), kind="stable")[:24]]
    falls = [
        measure(trace, *asked) - measure(trace.with_changes({f"input_ids[token={i}]": mask}), *asked) for i in tokens
    ]
    one, other = rank(parts[tokens]), rank(np.array(falls))
    rho, gaps = np.corrcoef(one, other)[0, 1], np.abs(one - other)
    if name == "order’s exception":
        most = int(gaps.argmax())
        return Truth({"gap": gaps[most], "name": scene.name(tokens[most])}, "LARGEST", gaps, most)
    ends = {"alike": (0.6, 2), "partly alike": (0.3, 0.6), "apart": (-0.6 + 1e-12, 0.3), "opposed": (-2, -0.6 + 1e-12)}
    least, most = ends[name.removeprefix("orders ")]
    assert least <= rho < most, rho
    return Truth({"rho": rho})


def measure(trace, target, rival):
    """The logarithm of its probability, where there is one; how far it lies above another one, where that is asked."""
    axis, i = target.index[-1]
    row = np.asarray(trace.recomputed(target.without(axis)), dtype=np.float64)
    if rival is not None:
        return row[i] - row[rival.index[-1][1]]
    number = axis == "hidden" or (target.path == "classifier" and "classifier.probs" not in trace)
    return row[i] if number else float(np.log(softmax(row)[i]))
