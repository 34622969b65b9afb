"""Oracles of the headlines of pages about what comes out: layers, predictions, the sentence; and of tables."""

import re
from functools import lru_cache
from pathlib import Path

import numpy as np

from bertviz_core.documents.examples import WORDS
from bertviz_core.documents.names import AXIS_NAMES, SOURCES, find_names
from bertviz_core.formula.address import Address
from bertviz_core.formula.texts import spell_controls
from bertviz_core.programs.bert import MOST_HEADS, write_bert
from tests.claims.truths import Truth, angle, oracle, softmax

ROOT = Path(__file__).parents[2]


@oracle(
    "needed most", "needed as much", "none needed", "no head counts", "answer falls", "least in its way", "answer rises"
)
def _(scene, name):
    def zeroes(address, value):
        return address.endswith("]") and address.count("=") == 1 and ".probs[head=" in address and value == 0

    kept = {a: value for a, value in scene.trace.changes.items() if not zeroes(str(a), value)}
    start = scene.trace.before if scene.trace.changes else scene.trace
    base = start.with_changes(kept) if kept else start
    cell, word = _outcome(base, scene)
    places, without = _zero_each(scene.trace, tuple(kept.items()), cell)
    at = int(without.argmin())
    values = {
        "was": float(base[cell]),
        "without": float(without[at]),
        "name": word,
        "layer": places[at][0],
        "head": places[at][1],
    }
    if name == "no head counts":
        return Truth(values, "NONE", without - float(base.recomputed(cell)))
    relation = {"needed most": "SMALLEST", "answer falls": "ABOVE", "answer rises": "ABOVE"}.get(name, "LOWEST")
    return Truth(values, relation, None if relation == "ABOVE" else without, None if relation == "ABOVE" else at)


@lru_cache(maxsize=1)  # several claims of a state read it
def _zero_each(trace, kept, cell):
    """The places of all heads, and a cell without each of them."""
    base = (trace.before or trace).with_changes(dict(kept)) if kept else trace.before or trace
    config = trace.model.config
    places = list(np.ndindex(config.num_hidden_layers, config.num_attention_heads))
    heads = [str(Address.in_layer(layer, "attention.self.probs").fix(head=head)) for layer, head in places]
    return places, np.array([float(base.with_changes({head: 0.0}).recomputed(cell)) for head in heads])


def _outcome(trace, scene):
    """The probability that is looked at first, and what it is called."""
    if "cls.predictions.probs" in trace:
        row = np.asarray(trace[f"cls.predictions.probs[token={scene.token}]"])
        word = f"“{scene.entry(row.argmax())}”{_tell_ties(row)}"
        return f"cls.predictions.probs[token={scene.token},vocab={row.argmax()}]", word
    if "cls.seq_relationship.probs" in trace:
        best = int(trace["cls.seq_relationship.probs"].argmax())
        name = ("B follows A", "B is a random sentence")[best]
        return (
            f"cls.seq_relationship.probs[relation={best}]",
            f"{name}{_tell_ties(trace['cls.seq_relationship.probs'])}",
        )
    if "classifier.probs" in trace:
        of_token = f"token={scene.token}," if "token" in trace.dims("classifier") else ""
        here = f"classifier.probs[token={scene.token}]" if of_token else "classifier.probs"
        best = int(trace[here].argmax())
        return f"classifier.probs[{of_token}label={best}]", f"{trace.model.labels[best]}{_tell_ties(trace[here])}"
    start, _ = find_span(trace)
    place = f" at position {start}" if trace.tokens.count(trace.tokens[start]) > 1 else ""
    tied = _tell_ties(trace["qa_outputs.start.probs"])
    return f"qa_outputs.start.probs[start={start}]", f"an answer from “{trace.tokens[start]}”{place}{tied}"


def _tell_ties(row):
    """Behind a name, that others are as likely."""
    ties = int((row == row.max()).sum())
    return f", one of {ties:,} that tie," if ties > 1 else ""


def find_span(trace):
    """The span of the second text with the highest score; without one, the highest start and end but for padding."""
    coding, special = trace.encoding, {"[CLS]", "[SEP]", "[PAD]"}
    rows = zip(coding.tokens, coding.segments, coding.mask, strict=True)
    inside = [i for i, (token, second, real) in enumerate(rows) if second and real and token not in special]
    spans = np.asarray(trace["qa_outputs.spans"])
    found = [(i, j) for i in inside for j in inside if 0 <= j - i < 30]
    if not found:
        real = [i for i, one in enumerate(coding.mask) if one]
        return tuple(real[int(np.asarray(trace[f"qa_outputs.{side}"])[real].argmax())] for side in ("start", "end"))
    return max(found, key=lambda span: (spans[span], -span[0], -span[1]))


def _lens(scene):
    """Who leads at every stage of the chosen token's way, and with which probability; at the end as the pass has it."""
    shares = scene.read_words(scene.stages)
    shares[-1] = scene.probs
    leaders = shares.argmax(axis=1)
    since = next(stage for stage in range(len(leaders)) if (leaders[stage:] == leaders[-1]).all())
    return leaders, since, float(shares[-1].max())


@oracle("likeliest at first")
def _(scene):
    """All that lead before the last one does for good, which has led nowhere before."""
    leaders, since, _ = _lens(scene)
    assert leaders[-1] not in leaders[:since]
    words = [*dict.fromkeys(scene.entry(i) for i in leaders[:since])]
    quoted = [f"“{word}”" for word in words]
    told = ", ".join(quoted[:2]) + " …" if len(words) > 2 else " and ".join(quoted)
    return Truth({"names": told, "are": "is" if len(words) == 1 else "are"})


@oracle("likeliest from")
def _(scene):
    leaders, since, share = _lens(scene)
    assert leaders[-1] not in leaders[:since]
    return Truth({"word": scene.entry(leaders[-1]), "where": _name_stage(since), "share": share})


@oracle("likeliest again")
def _(scene):
    """The last one has led before as well, and lost the lead in between."""
    leaders, since, share = _lens(scene)
    first, *_ = np.flatnonzero(leaders == leaders[-1])
    lost, *_ = (stage for stage in range(first, since) if leaders[stage] != leaders[-1])
    stages = {"first": first, "lost": lost, "where": since}
    named = {name: _name_stage(stage) for name, stage in stages.items()}
    return Truth({"word": scene.entry(leaders[-1]), "share": share, **named})


def _name_stage(stage):
    return f"layer {stage - 1}" if stage else "the embeddings"


@oracle("turns most", "turns no more", "turns")
def _(scene, name):
    angles = np.nan_to_num([angle(x, y) for x, y in zip(scene.stages[1:], scene.stages[:-1], strict=True)])
    most = int(angles.argmax())
    values = {"angle": angles[most], "layer": most, "word": scene.name(scene.token)}
    if name == "turns":
        assert len(angles) == 1
        return Truth(values)
    return Truth(values, {"turns most": "LARGEST", "turns no more": "HIGHEST"}[name], angles, most)


@oracle("names")
def _(scene):
    """Every symbol of BERT with all its heads, of one layer, and the axes."""
    model = scene.trace.model

    def list_addresses(program):
        read = {leaf.address for step in program.steps for leaf in step.leaves}
        found = {*read, *(step.address for step in program.steps)}
        return {a for a in found if Address(a).layer in (None, scene.layer)}

    mine = list_addresses(model.program)
    absent = {a for a in list_addresses(write_bert(model.config, MOST_HEADS)) if model.program.symbol(a) is None}
    names = [*(find_names(a) for a in (*mine, *absent)), *AXIS_NAMES.values()]
    told = sum(bool(getattr(one, source)) for one in names for source in SOURCES)
    return Truth({"quantities": len(names), "names": told})


@oracle("lessons")
def _(scene):
    notes = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
    counts = [len(re.findall(pattern, notes, re.M)) for pattern in (r"^### \d+\. ", r"^\| \d+ \| .+?(?: \| .+){3} \|$")]
    return Truth(dict(zip(("lessons", "steps"), counts, strict=True)))


@oracle("token as numbers")
def _(scene):
    return Truth({"word": scene.name(scene.token), "size": scene.config.hidden_size})


@oracle("expected word")
def _(scene):
    most = int(scene.probs.argmax())
    return Truth({"share": scene.probs[most], "word": scene.entry(most)}, "HIGHEST", scene.probs, most)


@oracle("parameters")
def _(scene):
    parameters = scene.trace.model.parameters
    total = sum({values.data_ptr(): values.numel() for values in parameters.values()}.values())  # what is tied once
    size = f"{total / 1e6:.1f} million" if total >= 1e6 else f"{total:,}"
    return Truth({"total": size, "words": parameters["embeddings.word_embeddings.weight"].numel() / total})


@oracle("article's row", "article's row, tied")
def _(scene, name):
    scores, word = scene.article_row
    shares = softmax(scores / scene.article_divisor)
    most = int(shares.argmax())
    *first, last = [f"“{key}”" for key, share in zip(WORDS, shares, strict=True) if share == shares[most]]
    assert bool(first) == name.endswith("tied")
    keys = f"{', '.join(first)} and {last}" if first else last
    relation = "TIED" if first else "HIGHEST"
    return Truth({"weight": shares[most], "asks": word, "keys": keys}, relation, shares, most)


@oracle("article's row, undivided")
def _(scene):
    scores, _ = scene.article_row
    assert scene.article_divisor > 1
    return Truth({"weight": softmax(scores)[int(scores.argmax())]})


@oracle("likeliest", "next likeliest")
def _(scene, name):
    order = np.argsort(-scene.probs, kind="stable")[:2]
    rank = int(name == "next likeliest")
    others = np.delete(scene.probs, order[0]) if rank else scene.probs
    at = order[rank] - (rank and order[1] > order[0])
    return Truth({"share": scene.probs[order[rank]], "word": scene.entry(order[rank])}, "HIGHEST", others, int(at))


def _tie(row):
    most = int(row.argmax())
    return Truth({"count": int((row == row.max()).sum()), "all": len(row), "share": row.max()}, "TIED", row, most)


@oracle("likeliest tie", "expected words tie", "words tie at the end")
def _(scene, _name):
    return _tie(scene.probs)


@oracle("next tie")
def _(scene):
    return _tie(np.delete(scene.probs, scene.probs.argmax()))


@oracle("half held")
def _(scene):
    """The fewest entries that hold half of all: as many as have to be taken, the largest first."""
    left, held, total = sorted(scene.probs), 0.0, scene.probs.sum()
    while held < total / 2:
        held += left.pop()
    assert held
    return Truth({"count": len(scene.probs) - len(left), "share": held / total, "sum": total})


@oracle("nothing held")
def _(scene):
    return Truth({}, "NONE", scene.probs)


@oracle("likeliest before")
def _(scene):
    before = scene.view.outcome.before[f"cls.predictions.probs[token={scene.token}]"]
    return Truth({"was": float(before[scene.probs.argmax()])})


@oracle("next sentence")
def _(scene):
    return Truth({"share": float(softmax(scene["cls.seq_relationship"])[0])})


@oracle("classes tie")
def _(scene):
    return _tie(scene["classifier.probs"])


@oracle("class")
def _(scene):
    shares = scene["classifier.probs"]
    most = int(shares.argmax())
    return Truth({"share": shares[most], "name": scene.trace.model.labels[most]}, "HIGHEST", shares, most)


@oracle("score")
def _(scene):
    scores = scene["classifier"]
    most = int(scores.argmax())
    return Truth({"score": scores[most], "name": scene.trace.model.labels[most]}, "HIGHEST", scores, most)


@oracle("best answer")
def _(scene):
    start, end = find_span(scene.trace)
    first, last = (scene[f"qa_outputs.{side}"] for side in ("start", "end"))
    share = softmax(first)[start] * softmax(last)[end]
    answer, place = _letters(scene, start, end), _place(scene, start, end)
    return Truth({"score": first[start] + last[end], "share": share, "answer": answer, "place": place})


def _place(scene, start, end):
    """The positions of a span, where its tokens stand in the same order elsewhere too."""
    spelled = " ".join(map(str, scene.trace.encoding.ids)) + " "
    own = " ".join(map(str, scene.trace.encoding.ids[start : end + 1])) + " "
    if len(re.findall(rf"(?<!\S)(?={own})", spelled)) == 1:
        return ""
    return f" at position {start}" if start == end else f" at positions {start} to {end}"


def _letters(scene, start, end):
    """The letters of a span as they were typed; where a change put another token, its tokens joined."""
    tokenizer, ids = scene.trace.model.tokenizer, scene.trace.encoding.ids[start : end + 1]
    joined = {tokenizer.decode(ids)}
    places, texts = tokenizer.locate(scene.view.text, scene.view.pair), (scene.view.text, scene.view.pair)
    inside = end < len(places) and places[start] and places[end]
    return joined | ({texts[places[end][0]][places[start][1] : places[end][2]]} if inside else set())


@oracle("tokens read")
def _(scene):
    mask = scene.trace["attention_mask"].tolist()
    read = [i for i, one in enumerate(mask) if one]
    words = [i for i in read if scene.tokens[i] not in scene.special] or read
    return Truth(
        {
            "tokens": f"{len(read)} token{'s' * (len(read) != 1)}",
            "word": scene.tokens[words[0]],
            "id": scene.trace.encoding.ids[words[0]],
            "size": scene.config.vocab_size,
        }
    )


def _guess(scene):
    typed, read = scene.view.typed.ids, scene.view.outcome.before.encoding.ids
    hidden = [i for i, one in enumerate(typed) if one != read[i]]
    i = scene.token if scene.token in hidden else hidden[0]
    row = scene[f"cls.predictions.probs[token={i}]"]
    return i, typed[i], row


def _name_typed(scene, i):
    """A token as it was typed, with its position where it stands more than once."""
    typed = scene.view.typed.tokens
    return f"“{spell_controls(typed[i])}” at position {i}" if typed.count(typed[i]) > 1 else typed[i]


@oracle("guesses tie")
def _(scene):
    return _tie(_guess(scene)[2])


@oracle("hidden word")
def _(scene):
    return Truth({"hidden": _name_typed(scene, _guess(scene)[0])})


@oracle("guess")
def _(scene):
    i, _typed, row = _guess(scene)
    most = int(row.argmax())
    return Truth({"hidden": _name_typed(scene, i), "guess": scene.entry(most), "share": row[most]})


@oracle("place of the typed")
def _(scene):
    _, typed, row = _guess(scene)
    if row[typed] == row.max():
        return Truth({"place": "its first guess" if (row == row.max()).sum() == 1 else "one of these"})
    return Truth({"place": f"number **{int((row > row[typed]).sum()) + 1:,}** on its list"})
