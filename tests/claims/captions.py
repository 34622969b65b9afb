"""Oracles of what stands under pictures: captions, and the reasons for what is shown."""

import itertools

import numpy as np

from bertviz_core.documents.examples import WORDS
from bertviz_core.formula.texts import name_token
from tests.claims.truths import Truth, length, oracle, softmax


def _weigh(scene):
    values = scene.own("attention.self.value")[scene.head]
    return np.sqrt((values**2).sum(axis=1)) * scene.row


@oracle("most looked at", "no weight is larger")
def _(scene, name):
    most = int(scene.row.argmax())
    relation = {"most looked at": "LARGEST", "no weight is larger": "HIGHEST"}[name]
    return Truth({"weight": scene.row[most], "key": most}, relation, scene.row, most)


@oracle("nothing looked at")
def _(scene):
    return Truth({}, "NONE", scene.row)


@oracle("nothing to weigh")
def _(scene):
    assert scene.row.any()
    return Truth({}, "NONE", _weigh(scene))


@oracle("brings most", "and brings most", "no value is longer")
def _(scene, name):
    lengths = _weigh(scene)
    most, looked = int(lengths.argmax()), int(scene.row.argmax())
    if name == "brings most":  # because its value is longer
        values = np.sqrt((scene.own("attention.self.value")[scene.head] ** 2).sum(axis=1))
        assert values[most] > values[looked] and most != looked
    assert name != "and brings most" or most == looked
    relation = "HIGHEST" if name == "no value is longer" else "LARGEST"
    return Truth({"length": lengths[most], "key": most}, relation, lengths, most)


@oracle("longest among weights below 0", "none longer among weights below 0")
def _(scene, name):
    lengths = np.abs(_weigh(scene))
    most = int(lengths.argmax())
    assert scene.row.min() < 0
    return Truth({"length": lengths[most], "key": most}, {"l": "LARGEST", "n": "HIGHEST"}[name[0]], lengths, most)


def _ring(scene):
    """The component that is ringed, and the three summands there."""
    total = scene["embeddings.sum"][scene.token]
    component = int(scene.shown.says.get("component", np.abs(total).argmax()))
    tables = {"word": "word_embeddings", "position": "position_embeddings", "segment": "token_type_embeddings"}
    return component, {part: scene[f"embeddings.{table}"][scene.token, component] for part, table in tables.items()}


@oracle("rows of tables")
def _(scene):
    found = {}
    for part, leaf in (("word", "word"), ("position", "position"), ("segment", "token_type")):
        table, row = scene[f"embeddings.{leaf}_embeddings.weight"], scene[f"embeddings.{leaf}_embeddings"][scene.token]
        found[part] = {int(i) for i in np.flatnonzero((table == row).all(axis=1))}
    return Truth(found)


@oracle("three summands", "three summands, put", "sum, put")
def _(scene, name):
    component, summands = _ring(scene)
    total = scene["embeddings.sum"][scene.token, component]
    put = any(str(address).startswith("embeddings.sum") for address in scene.trace.changes)
    assert (name != "three summands") == put
    return Truth(
        {"component": component, "total": total, "summands": [*summands.values()], "sum": sum(summands.values())}
    )


@oracle("largest summand", "no larger summand")
def _(scene, name):
    sizes = {part: abs(value) for part, value in _ring(scene)[1].items()}
    most = max(sizes, key=lambda part: sizes[part])
    relation = {"largest summand": "LARGEST", "no larger summand": "HIGHEST"}[name]
    return Truth({"size": sizes[most], "name": most}, relation, np.array([*sizes.values()]), [*sizes].index(most))


@oracle("sum lies apart")
def _(scene):
    total, (component, _) = scene["embeddings.sum"][scene.token], _ring(scene)
    apart = (total[component] - total.mean()) / total.std() if total.std() else 0
    return Truth({"apart": abs(apart), "side": "below" if apart < 0 else "above"})


@oracle("epsilon makes it")
def _(scene):
    return Truth({"normal": scene["embeddings.LayerNorm.normalized"][scene.token, _ring(scene)[0]]})


def _read_epsilon(scene):
    """That of the embeddings' LayerNorm: the configuration's, or what a change put there."""
    rule = str(scene.changed_to("embeddings.LayerNorm.normalized"))
    return float(rule.removeprefix("epsilon=")) if rule.startswith("epsilon=") else scene.config.layer_norm_eps


@oracle("deviations", "deviation, put")
def _(scene, name):
    total = scene["embeddings.sum"][scene.token]
    normal = (total - total.mean()) / np.sqrt(total.var() + _read_epsilon(scene))
    scaled = normal * scene["embeddings.LayerNorm.weight"] + scene["embeddings.LayerNorm.bias"]
    recorded = scene["embeddings.LayerNorm"][scene.token]
    if name == "deviations":
        np.testing.assert_allclose(recorded, scaled, atol=1e-3)
    return Truth({"before": total.std(), "normal": normal.std(), "scaled": scaled.std(), "recorded": recorded.std()})


@oracle("sum of neurons", "sum of neurons, put")
def _(scene, name):
    given = scene.own("intermediate.activation")[scene.token] @ scene.own("output.dense.weight")
    recorded = scene.own("output.dense")[scene.token]
    assert (name == "sum of neurons") == np.allclose(given + scene.own("output.dense.bias"), recorded, atol=1e-3)
    return Truth({"length": length(given + scene.own("output.dense.bias")), "recorded": length(recorded)})


@oracle("outstanding component", "outstanding components")
def _(scene, name):
    sizes = np.abs(scene["embeddings.sum"][scene.token])
    most = _ring(scene)[0]
    relation = {"outstanding component": "LARGEST", "outstanding components": "HIGHEST"}[name]
    values = {"component": most, "value": scene["embeddings.LayerNorm"][scene.token, most], "size": sizes[most]}
    return Truth(values, relation, sizes, most)


@oracle("chosen component")
def _(scene):
    sizes, chosen = np.abs(scene["embeddings.sum"][scene.token]), _ring(scene)[0]
    assert sizes[chosen] < sizes.max()
    return Truth({"component": chosen, "value": scene["embeddings.LayerNorm"][scene.token, chosen]})


@oracle("ringed", "ringed of several")
def _(scene, name):
    sizes = np.abs(scene["embeddings.sum"][scene.token])
    most = int(sizes.argmax())
    relation = {"ringed": "LARGEST", "ringed of several": "HIGHEST"}[name]
    return Truth({"size": sizes[most], "component": most}, relation, sizes, most)


def _cosine(x, y):
    """Between two vectors; 0 where one has no length."""
    sizes = length(x) * length(y)
    return float(x @ y / sizes) if sizes else 0.0


@oracle("lowest cosine", "no lower cosine", "only cosine")
def _(scene, name):
    after = [scene.own("output.LayerNorm", i) for i in range(scene.config.num_hidden_layers)]
    stages = [scene["embeddings.LayerNorm"], *after]
    turned = {}
    for layer, (was, now) in enumerate(itertools.pairwise(stages)):
        known = [_cosine(now[i], was[i]) for i in scene.real if length(now[i]) and length(was[i])]
        if known:  # a vector of length 0 has no direction
            turned[layer] = np.mean(known)
    layers, means = [*turned], np.array([*turned.values()])
    most = int(means.argmin())
    values = {"cosine": means[most], "layer": layers[most]}
    if name == "only cosine":
        assert len(stages) == 2
        return Truth(values)
    return Truth(values, {"lowest cosine": "SMALLEST", "no lower cosine": "LOWEST"}[name], means, most)


@oracle("bold line", "bold line, with others")
def _(scene, name):
    rows = scene.own("output.LayerNorm")
    cosines = np.array([_cosine(rows[scene.token], row) for row in rows])
    others = [i for i in scene.real if i != scene.token] or [i for i in range(len(rows)) if i != scene.token]
    most = max(others, key=lambda i: cosines[i])
    same = {name_token(scene.tokens, i) for i in others if cosines[i] >= cosines[most] - 1e-7}
    values = {"cosine": cosines[most], "near": same, "layer": scene.layer}
    near = cosines[others].round(7)
    return Truth(values, "HIGHEST" if name.endswith("others") else "LARGEST", near, int(near.argmax()))


@oracle("bold line, undefined")
def _(scene):
    rows = scene.own("output.LayerNorm")
    others = [length(rows[i]) for i in scene.real if i != scene.token]
    assert not length(rows[scene.token]) or not any(others)
    return Truth({"token": name_token(scene.tokens, scene.token)})


@oracle("largest product", "no larger product")
def _(scene, name):
    likeliest = int(scene.probs.argmax())
    vector = scene["cls.predictions.transform.LayerNorm"][scene.token]
    weights = scene[f"cls.predictions.decoder.weight[vocab={likeliest}]"]
    terms = vector * weights
    most = int(terms.argmax())
    values = {"product": terms[most], "component": most, "number": vector[most], "weight": weights[most]}
    relation = {"largest product": "LARGEST", "no larger product": "HIGHEST"}[name]
    return Truth(values, relation, terms, most)


@oracle("largest of the value", "none larger of the value")
def _(scene, name):
    sizes = np.abs(scene.own("attention.self.value")[scene.head, scene.token])
    most = int(sizes.argmax())
    relation = {"largest of the value": "LARGEST", "none larger of the value": "HIGHEST"}[name]
    return Truth({"size": sizes[most], "component": most}, relation, sizes, most)


def _watch_itself(scene):
    """The weight that each head puts on the query's own token, the mean over the tokens that are no padding."""
    layers = [scene.own("attention.self.probs", i) for i in range(scene.config.num_hidden_layers)]
    return np.concatenate([np.einsum("hqq->hq", weights)[:, scene.real].mean(axis=1) for weights in layers])


@oracle("heads alike")
def _(scene):
    row = _watch_itself(scene)
    return Truth({"value": row.max(), "smallest": row.min()}, "SAME")


@oracle("largest of heads", "largest of heads, with others", "smallest of heads", "smallest of heads, with others")
def _(scene, name):
    row = _watch_itself(scene)
    largest, alone = name.startswith("largest"), not name.endswith("others")
    most = int(row.argmax() if largest else row.argmin())
    relation = {(True, True): "LARGEST", (True, False): "HIGHEST", (False, True): "SMALLEST", (False, False): "LOWEST"}
    layer, head = divmod(most, scene.config.num_attention_heads)
    return Truth({"value": row[most], "layer": layer, "head": head}, relation[largest, alone], row, most)


@oracle("own softmax", "own softmax, shared")
def _(scene, name):
    numbers = np.array([2.0, 1.0, 0.0, -1.0])
    for edit in filter(None, scene.shown.says.get("numbers", "").split(";")):
        place, _, number = edit.partition("=")
        numbers[int(place.partition(".")[2])] = float(number)
    shares = softmax(numbers)
    most = int(shares.argmax())
    relation = "HIGHEST" if name.endswith("shared") else "LARGEST"
    number = int(numbers[most]) if numbers[most] == int(numbers[most]) else numbers[most]
    return Truth({"share": shares[most], "number": number}, relation, shares, most)


@oracle("best match", "no better match")
def _(scene, name):
    scores, word = scene.article_row
    most = int(scores.argmax())
    relation = {"best match": "LARGEST", "no better match": "HIGHEST"}[name]
    return Truth({"score": scores[most], "query": word, "key": WORDS[most]}, relation, scores, most)


def _quiet(scene):
    """The shares of the neurons that are not active, of the sum of all and the bias."""
    before = scene.own("intermediate.dense")[scene.token]
    parts = scene.own("intermediate.activation")[scene.token][:, None] * scene.own("output.dense.weight")
    total = parts.sum(axis=0) + scene.own("output.dense.bias")
    return before, (parts @ total / (total @ total or 1.0))[before <= 0]


@oracle("neurons above 0")
def _(scene):
    before, _ = _quiet(scene)
    return Truth({"active": int((before > 0).sum()), "count": len(before)})


@oracle("neurons below 0")
def _(scene):
    _, shares = _quiet(scene)
    return Truth({"share": shares.sum(), "others": len(shares)})


@oracle("nothing below 0")
def _(scene):
    _, shares = _quiet(scene)
    return Truth({"others": len(shares)}, "NONE", shares)


@oracle("each below 0")
def _(scene):
    sizes = np.abs(_quiet(scene)[1])
    return Truth({"most": sizes.max()}, "HIGHEST", sizes, int(sizes.argmax()))


@oracle("longest search", "no longer search")
def _(scene, name):
    """Candidates that a search tries: from each place in a word where a piece begins, all ends down to the piece's."""
    tokenizer = scene.trace.model.tokenizer
    words = {word for text in (scene.view.text, scene.view.pair) if text for word in tokenizer.record(text).words}
    tried = np.array(
        [_count_candidates(tokenizer, word.text) for word in words if word.searches and word.pieces != (word.text,)]
    )
    most = int(tried.argmax())
    relation = {"longest search": "LARGEST", "no longer search": "HIGHEST"}[name]
    return Truth({"tried": tried[most]}, relation, tried, most)


def _count_candidates(tokenizer, word):
    start, tried = 0, 0
    while start < len(word):
        for end in range(len(word), start, -1):
            tried += 1
            if tokenizer.id(("##" if start else "") + word[start:end]) is not None:
                start = end
                break
        else:
            return tried  # no piece begins here: the whole word is unknown
    return tried


@oracle("undivided", "none more, undivided")
def _(scene, name):
    assert not scene.trace.changes
    heads = scene.own("attention.self.products")[scene.head, scene.token]
    shares = softmax(heads[scene.real])
    most = int(shares.argmax())
    relation = {"undivided": "LARGEST", "none more, undivided": "HIGHEST"}[name]
    values = {"share": shares[most], "key": scene.name(scene.real[most]), "width": scene.config.head_dim}
    return Truth(values, relation, shares, most)
