"""Random states of the app: a text, a model, padding, a change, a place, and what single pages are set to."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace

import bertviz_core as bv
from bertviz_core.errors import InputError
from bertviz_core.figures.palette import PALETTES
from bertviz_core.programs import DOCUMENT_PROGRAMS, PROGRAMS
from bertviz_core.tracing.inputs import encode
from bertviz_core.ui.frame import state, url
from bertviz_core.ui.frame.keys import VIEW
from bertviz_core.ui.frame.view import AFTER, SHOWN, Outcome, Selection, View

TEXTS = (
    ("When in Rome, do as the [MASK] do.", None),
    ("The cat sat on the mat.", "Then the cat slept."),
    ("the the the the the", None),
    ("I \N{GRINNING FACE} love \N{SLICE OF PIZZA}!", "\N{THUMBS UP SIGN}?"),
    ("\u6211\u7231\u5317\u4eac", None),
    ("A *bold* move_s [link](x) 3.50 % <b>", "costs $2$ & `more`"),
    ("He went to the [MASK] to buy a [MASK].", None),
    ("a", None),
    ("", None),
    ("Where did the cat sit?", "The cat sat on the mat in rome."),
    ("unbelievably antidisestablishmentarianism", None),
    ("do as do as do", "as do as do"),
    ("The trophy does not fit in the suitcase because it is too big.", None),
    ("One, two, three, four, five; six: seven! eight? nine. ten " * 3, None),
)
_EVEN_ROW = "0.0=5;0.1=5;0.2=5;0.3=5;0.4=5;0.5=5"
PLACES = 4  # that are looked at in one pass


@dataclass(frozen=True)
class State:
    """What is on screen: the view, the changes of its pass, and what the URL says to single pages."""

    number: int
    view: View
    changes: Mapping[str, object]
    says: Mapping[str, str]

    def __str__(self) -> str:
        view = self.view
        return (
            f"state {self.number}: {view.trace.model.name[-40:]}, {view.text!r}, {view.pair!r}, "
            f"{len(view.trace.tokens)} tokens, {view.chosen}, {dict(self.changes)}, "
            f"{view.outcome.show}, {dict(self.says)}"
        )


def list_states(models, count, seed, draw_pass=None, texts=TEXTS) -> Iterator[State]:
    """So many states, PLACES of them in each pass.

    draw_pass: draws one of the models, by default a usual one; texts: those of which a second pass reads one.
    """
    rng = random.Random(seed)
    for number in range(0, count, PLACES):
        text, pair, model, before, changes, after = (draw_pass or draw_usual)(rng, models)
        config = model.config
        for place in range(min(PLACES, count - number)):
            rows = len(before.tokens)
            chosen = Selection(
                rng.randrange(config.num_hidden_layers), rng.randrange(config.num_attention_heads), rng.randrange(rows)
            )
            if changes and rng.random() < 0.6:
                chosen = _look_there(rng, chosen, next(iter(changes)))
            show = rng.choice(SHOWN) if changes and rng.random() < 0.3 else AFTER
            outcome = Outcome(before, after, {}, show)
            typed = encode(model, text, pair)
            view = View(text, pair, typed, outcome, chosen, PALETTES["light"], "row")
            says = {
                **_draw_says(rng, rows),
                **_draw_second(number + place, text, chosen, texts),
                **_draw_instead(number + place, after, chosen.token),
            }
            yield State(number + place, view, changes, says)


def draw_usual(rng, models):
    """A text read by a model, before and after a change; drawn anew where the model cannot read it so."""
    while True:
        text, pair = rng.choice(TEXTS)
        model = models[0] if rng.random() < 0.5 else rng.choice(models[1:])
        try:
            typed = encode(model, text, pair)
        except InputError:
            continue
        hidden = model.tokenizer.maskable(typed) if rng.random() < 0.25 else ()
        masked = rng.sample(list(hidden), min(len(hidden), rng.choice((1, 2))))
        pad = len(typed) + rng.choice((1, 4, 9)) if rng.random() < 0.35 else None
        if len(typed) > 60 or (pad or 0) > 64:
            continue
        before = bv.run(model, text, pair, pad_to=pad, masked=masked)
        changes = draw_change(rng, before) if rng.random() < 0.7 else {}
        try:
            after = before.with_changes(changes) if changes else before
        except InputError:  # such as numbers that are not finite
            continue
        return text, pair, model, before, changes, after


def draw_change(rng, trace):
    """One change of the kinds that the app offers."""
    config = trace.model.config
    layer, head = rng.randrange(config.num_hidden_layers), rng.randrange(config.num_attention_heads)
    here, token = f"encoder.layer.{layer}", rng.randrange(len(trace.tokens))
    own = f"{here}.attention.self"
    kinds = [
        {f"{own}.probs[head={head}]": 0.0},
        {f"{own}.probs": 0.0},
        {f"{own}.probs[head={head}]": "uniform"},
        {f"{own}.probs": "uniform"},
        {f"{own}.probs[head={head}]": -0.5},
        {f"{own}.probs[head={head},query={token},key={rng.randrange(len(trace.tokens))}]": -0.5},
        {f"{own}.probs[head={head},query={token}]": 0.0},
        {f"{own}.value[head={head}]": 0.0},
        {f"{own}.query": 0.0},
        {f"{own}.query[head={head},query={token},head_dim=1]": rng.choice((-9.0, 40.0))},
        {f"{here}.intermediate.activation": "relu"},
        {f"{here}.intermediate.activation": 0.0},
        {f"{here}.intermediate.activation[token={token}]": 0.0},
        {f"{here}.attention.output.residual": "no-residual"},
        {f"{here}.output.residual": "no-residual"},
        {f"{here}.attention.output.dense": 0.0},
        {f"{here}.output.dense": 0.0},
        _watch_itself(own, len(trace.tokens), min(2, config.num_attention_heads)),
        {f"{here}.output.LayerNorm": "skip"},
        {f"{here}.output.LayerNorm[token={token}]": 0.5},
        {f"{here}.output.LayerNorm.normalized": "epsilon=0.1"},
        {"embeddings.LayerNorm": 0.25},
        {"embeddings.sum": 0.25},
        {"embeddings.word_embeddings": 0.5, "embeddings.position_embeddings": 0.5},
        {f"embeddings.position_embeddings[token={token}]": 0.0},
        {f"input_ids[token={token}]": rng.randrange(5, min(config.vocab_size, 3000))},
        {f"attention_mask[token={token}]": 0},
        {f"token_type_ids[token={token}]": 1},
    ]
    answers = {
        "cls.predictions.probs": [
            {"cls.predictions.transform.activation": "relu"},
            {"cls.predictions.decoder[vocab=7]": 30.0},
            {"cls.predictions.transform.LayerNorm": 0.0},
            {"cls.predictions.decoder": 1.0},
            {"cls.predictions.probs": 0.0},
            {"cls.predictions.probs": 0.0, "cls.predictions.probs[vocab=7]": 0.9},
        ],
        "classifier.probs": [{"classifier.probs": 0.0}],
    }
    of_answers = [change for path, changes in answers.items() if path in trace for change in changes]
    return rng.choice(of_answers if of_answers and rng.random() < 0.3 else kinds)


def _watch_itself(own, tokens, heads):
    """The first heads, in which every token looks at nothing but itself."""
    cells = {f"{own}.probs[head={head},query={i},key={i}]": 1.0 for head in range(heads) for i in range(tokens)}
    return {**{f"{own}.probs[head={head}]": 0.0 for head in range(heads)}, **cells}


def _look_there(rng, chosen, address):
    """The place that a change is made at, as far as it names one."""
    at = dict(part.split("=") for part in address.partition("[")[2].rstrip("]").split(",") if part)
    layer = int(address.split(".")[2]) if address.startswith("encoder.layer.") else chosen.layer
    token = int(at.get("token", at.get("query", chosen.token)))
    return Selection(layer, int(at.get("head", chosen.head)), token)


def _draw_says(rng, rows):
    """What the URL says to single pages."""
    says = {
        "where": rng.choice(("attention", "feed-forward")),
        "document": rng.choice(list(DOCUMENT_PROGRAMS)),
        "score_row": rng.choice(("Hello", "how", "?")),
        "component": rng.choice(("", "", "5")),
        "scores": rng.choice(("", "", "0.1=99;0.4=99;0.0=-3", "0.2=1.5", _EVEN_ROW)),
        "numbers": rng.choice(("", "", "0.1=2", "0.0=-100;0.1=-3.5;0.2=100;0.3=99.999")),
    }
    if rng.random() < 0.3:
        says["beside"] = rng.choice(list(PROGRAMS))
    if rng.random() < 0.3:
        says["key_token"] = str(rng.randrange(rows))
    if rng.random() < 0.3:
        says["where"] = ""
    return {key: text for key, text in says.items() if text}


def _draw_second(number, text, chosen, texts):
    """What the URL says of a second pass: none, another sentence, or the same."""
    rng = random.Random(number)
    says = {}
    if rng.random() < 0.6:
        says["with"] = rng.choice([text, *(other for other, _ in texts if other)])
    if rng.random() < 0.5:
        says["token"] = str(chosen.token)
    return says


def _draw_instead(number, trace, token):
    """The number that another one is looked at instead of, if any: of the head that the page begins with."""
    rng, config = random.Random(-1 - number), trace.model.config
    if rng.random() < 0.5:
        return {}
    if "cls.predictions.probs" in trace:
        cell = f"cls.predictions.decoder[token={token},vocab={rng.randrange(config.vocab_size)}]"
    elif "classifier" in trace:
        at = f"token={token}," if "token" in trace.dims("classifier") else ""
        cell = f"classifier[{at}label={rng.randrange(len(trace.model.labels))}]"
    elif "qa_outputs" in trace:
        cell = f"qa_outputs.start[start={rng.randrange(len(trace.tokens))}]"
    else:
        last = f"encoder.layer.{config.num_hidden_layers - 1}.output.LayerNorm"
        cell = f"{last}[token={token},hidden={rng.randrange(config.hidden_size)}]"
    return {"instead": cell}


def enter(monkeypatch, shown: State, page: str) -> View:
    """Let a page be open in a session of its own, without a server. Returns what the page draws from."""
    monkeypatch.setattr(state, "st", SimpleNamespace(session_state={}))
    monkeypatch.setattr(url, "st", SimpleNamespace(query_params=dict(shown.says)))
    url.begin_run(page)
    state.write(VIEW, shown.view)
    return shown.view
