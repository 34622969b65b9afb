"""Answers about the input as a whole: the pooled [CLS] vector, the next sentence, the classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import streamlit as st

from bertviz_core.analysis import layers, sentence
from bertviz_core.analysis.answers import rank_spans
from bertviz_core.analysis.claims import Claim, Relation, Said, choose, say
from bertviz_core.analysis.predictions import RELATIONS
from bertviz_core.analysis.ranking import find_robust_limit, rank_top
from bertviz_core.figures.bars import BAR_HEIGHT, SHARES, draw_bars
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.figures.softmax import SortedTerms, draw_sorted_terms
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex, format_number
from bertviz_core.formula.steps import NORM, PREDICTION
from bertviz_core.formula.tex import bracket_negative, take_ends, write_sum
from bertviz_core.formula.texts import name_token, write_count
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.labels import escape_markdown, tell_left_out
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.charts import MANY_CELLS, draw_share_bars, draw_tensor
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived
from bertviz_core.ui.panels.panel import show_panel
from bertviz_core.ui.panels.put import tell_put
from bertviz_core.ui.panels.said import name_plain, tell_number, tell_percent, tell_tied
from bertviz_core.ui.panels.worked import write_cosine
from bertviz_core.ui.views import sentence_answer
from bertviz_core.ui.views.sentence_pooler import DENSE, POOLED

_TERMS = 120  # pixels of what is split over the components
_LEAST = 96  # pixels of all classes' bars together
_LABELLED = 40
_NEXT = Address("cls.seq_relationship")
_CLASSES = Address("classifier")


def write_headline(view: View) -> Said:
    """The answer about the input as a whole, as far as this checkpoint gives one."""
    trace = view.trace
    if not sentence_answer.is_absent(view):
        return sentence_answer.write_headline(view, rank_spans(trace, 1))
    if _NEXT in trace:
        parts = {"share": tell_percent(trace[_NEXT.enter("probs")][0])}
        form = "Does a second sentence follow? There is none; BERT says **{share}** all the same"
        if view.pair:
            form = "Does the second sentence follow the first? **{share}** that it does"
        elif {*trace.encoding.segments} >= {0, 1}:
            form = "Does segment 1 follow segment 0? **{share}** that it does"
        return say(Claim("next sentence", form, parts))
    if _CLASSES in trace:
        return _tell_class(trace)
    return say("What BERT says about the whole input")


def _tell_class(trace: Trace) -> Said:
    """The likeliest class; of a checkpoint that was fine-tuned on numbers and not on classes the highest one."""
    names, probs = trace.model.labels, _CLASSES.enter("probs")
    several = (probs not in trace and len(names) > 1) or _is_each_decided(trace)
    asked = f"Which {_write_asked(trace)}{('es' if probs in trace else 's') if several else ''}"
    if "token" in trace.dims(_CLASSES):
        return say(f"{asked} has each token?")
    found = trace[probs if probs in trace else _CLASSES]
    best = int(found.argmax())
    name = name_plain(names[best])
    if probs not in trace:
        parts = {"score": tell_number(found[best]), "name": name}
        return say(
            f"{asked}? ",
            Claim("score", "Highest " * several + "**{name}**, {score}", parts, Relation.HIGHEST, found, (best,)),
        )
    parts = {"share": tell_percent(found[best]), "name": name}
    return say(
        f"{asked}? ",
        choose(
            tell_tied("classes tie", "**{count} of {all} classes** tie at **{share}**", found),
            Claim("class", "Likeliest " * several + "**{name}**, {share}", parts, Relation.HIGHEST, found, (best,)),
        ),
    )


def tell_probabilities(view: View) -> str:
    """What is made of the logits, as far as this checkpoint has any."""
    trace = view.trace
    if _CLASSES in trace and _CLASSES.enter("probs") not in trace:
        return "They are the answer: numbers, of which no probabilities are made."
    if _CLASSES in trace and _is_each_decided(trace):
        return "The sigmoid makes each of them a probability."
    return "The softmax makes them probabilities."


def _is_each_decided(trace: Trace) -> bool:
    """Whether the classifier's classes do not exclude each other: no softmax compares them."""
    return trace.model.config.problem_type == "multi_label_classification"


def _write_asked(trace: Trace) -> str:
    """What a classifier's logit is of: a class, or where no probabilities are made a number that is the answer."""
    return "class" if _CLASSES.enter("probs") in trace else "number"


def _tell_cosine(cosine: float) -> str:
    return "undefined, as a vector of length 0 has no direction" if np.isnan(cosine) else format_number(cosine)


@derived
def show_one_vector(view: View) -> Derived:
    """Two ways to one vector for a text: the last [CLS] vector, and the mean of all tokens."""
    trace = view.trace
    address = Address.in_layer(trace.model.config.num_hidden_layers - 1, "output.LayerNorm")
    rows, coding = trace[address], trace.encoding
    means = sentence.average_segments(rows, coding.segments, coding.mask)
    several = len(means) > 1
    names = [coding.tokens[0], *(f"mean of {'AB'[i] if i < 2 else i}" if several else "mean" for i in means)]
    vectors = np.stack([rows[0], *means.values()])
    figure = draw_heatmap(vectors, Side("", names), Side("hidden"), view.colors, NORM, end=find_robust_limit(vectors))
    alike = layers.compute_cosines(vectors)
    told = [
        f"{a} and {b}: {_tell_cosine(float(alike[i, j]))}"
        for i, a in enumerate(names)
        for j, b in enumerate(names)
        if i < j
    ]
    pair = "m_A, m_B" if several else f"X^{{({trace.model.config.num_hidden_layers})}}_{{0,:}}, m"
    return Derived(
        "one-vector",
        "Two ways to get one vector for a text: the first token, or the mean of all",
        figure,
        Origin(
            address,
            NORM,
            r"m = \frac{1}{n} \sum_{t=1}^{n} X^{(L)}_{t,:} \quad \cos(x, y) = "
            r"\frac{x \cdot y}{\lVert x \rVert \, \lVert y \rVert}",
            f"BERT's pooler{'' if DENSE in trace else ', which this checkpoint lacks,'} reads the first token. "
            "To compare texts, the mean of a text's tokens is often used instead: "
            "two texts are similar if the cosine of their means is near 1. "
            f"{tell_left_out(trace) or 'Padding is left out.'}",
            write_cosine(vectors[-2], vectors[-1], pair),
            "Reimers & Gurevych 2019, Sentence-BERT (mean pooling)",
        ),
        values=Values(vectors, names, [f"hidden {i}" for i in range(vectors.shape[1])]),
        note=f"Cosines: {escape_markdown('; '.join(told))}.",
    )


def show_evidence(view: View) -> None:
    """What speaks for each answer about the input as a whole."""
    for address in list_answers(view):
        _show_evidence(view, address, RELATIONS if address == _NEXT else view.trace.model.labels)


def list_answers(view: View) -> list[Address]:
    """The heads of this checkpoint that answer about the input as a whole."""
    return [address for address in (_NEXT, _CLASSES) if address in view.trace and _is_answer(view, address)]


def _is_answer(view: View, address: Address) -> bool:
    """Whether it is about the input as a whole, and not about every token."""
    return "token" not in view.trace.dims(address)


def show_classes(view: View) -> None:
    """The classifier's answer about the input as a whole."""
    several = _is_each_decided(view.trace)
    _show_scores(
        view,
        _CLASSES,
        view.trace.model.labels,
        f"One logit per {_write_asked(view.trace)}",
        "Probability of each class",
        "Each class is decided alone: the probabilities need not sum to 1." if several else "",
    )


def _show_scores(view: View, address: Address, names: tuple[str, ...], see: str, asked: str, note: str = "") -> None:
    """Logits and probabilities beside each other, in the same rows; logits alone where nothing is made of them."""
    trace, color = view.trace, view.colors.kinds[PREDICTION]
    probs = address.enter("probs")
    shown = sorted(rank_top(trace[address], _LABELLED))
    words = [names[i] for i in shown]
    row = max(BAR_HEIGHT, _LEAST // len(shown))
    some = f"The {_LABELLED} highest of {len(names):,}." if len(shown) < len(names) else ""
    scores, shares = st.columns(2, gap="small") if probs in trace else (st.container(), st.container())
    with scores:
        figure = draw_bars(trace[address][shown], words, view.colors, color, name="logit", row=row)
        show_panel(view, address, see, figure.offer(picks.pick_points(trace, address, shown)), note=some)
    if probs in trace:
        with shares:
            figure = draw_share_bars(view, trace[probs][shown], words, PREDICTION, "probability", row)
            show_panel(view, probs, asked, figure.offer(picks.pick_points(trace, probs, shown)), note=note)


@dataclass(frozen=True)
class _Split:
    """What is split over the pooled components: its name, its formula, what it means, and how it is measured."""

    name: str
    tex: str
    meaning: str
    measure: Callable[[np.ndarray, int], np.ndarray]


def _find_split(trace: Trace, address: Address) -> _Split:
    """A logit's lead where a softmax compares it with others, and the logit itself where nothing does."""
    if address == _CLASSES and (_is_each_decided(trace) or _CLASSES.enter("probs") not in trace):
        highest = "highest logit" if trace[address].size > 1 else "logit"
        alone = f"The {highest}, split by component. It is compared with no other."
        tex = r"c = \sum_j \bar{p}_j \, W_{j,c} + b_c"
        return _Split("logit", tex, alone, lambda scores, label: scores[..., label])
    over = "the mean of the others" if trace[address].size > 2 else "the other one"
    return _Split(
        "lead",
        r"\text{lead} = \sum_j \bar{p}_j \, \Delta_j + \Delta_b \quad "
        r"\Delta_j = W_{j,c} - \underset{c' \neq c}{\mathrm{mean}}\; W_{j,c'}",
        f"The lead of the highest logit over {over}, split by component. A softmax depends only on such differences.",
        sentence.compute_lead,
    )


@derived
def _show_evidence(view: View, address: Address, names: tuple[str, ...]) -> Derived:
    """Every pooled component, from what speaks most for the best class to what speaks most against it."""
    trace = view.trace
    label = int(trace[address].argmax())
    split = _find_split(trace, address)
    weight, biases = trace[address.enter("weight")], trace[address.enter("bias")]
    found = trace[POOLED] * split.measure(weight, label)
    bias = float(split.measure(biases, label))
    total = float(found.sum()) + bias
    components = [f"component {i}" for i in range(len(found))]
    terms = [bracket_negative(format_latex(term)) for term in take_ends([*found.tolist(), bias])]
    return Derived(
        f"evidence-{address}",
        f"Components in favour of “{names[label]}”",
        draw_sorted_terms(
            [SortedTerms(f"{split.name} of “{names[label]}”", found, bias)],
            components,
            view.colors,
            view.colors.kinds[PREDICTION],
            _TERMS,
        ),
        Origin(
            f"{POOLED} and {address}.weight",
            PREDICTION,
            split.tex,
            split.meaning,
            rf"\text{{{split.name}}} = {write_sum(terms, len(found) + 1, brace=False)} = {format_latex(total)}",
        ),
        values=Values(found[:, None], components, [names[label]]),
        note=f"{write_count(len(found), 'product')} and the bias, {format_number(bias)}, add up to "
        f"{format_number(total)}.{tell_put(view, address)}",
    )


def show_token_classes(view: View) -> None:
    """The classifier of every token: for all tokens, then for the chosen one."""
    trace, token, names = view.trace, view.chosen.token, view.trace.model.labels
    probs = _CLASSES.enter("probs")
    for address, see in (
        (_CLASSES, f"One logit per {_write_asked(view.trace)}, for every token"),
        (probs, "Probability of each class, for every token"),
    ):
        if address not in trace:
            continue
        share = address == probs
        figure, note = draw_tensor(
            view,
            address,
            share=share,
            end=1.0 if share else None,
            cells=MANY_CELLS,
            words=names if len(names) <= _LABELLED else None,
        )
        show_panel(view, address, see, figure, note=note)
    share = probs in trace
    address = (probs if share else _CLASSES).fix(token=token)
    shown = sorted(rank_top(trace[address], _LABELLED))
    figure = draw_bars(
        trace[address][shown],
        [names[i] for i in shown],
        view.colors,
        view.colors.kinds[PREDICTION],
        name="probability" if share else "logit",
        ends=SHARES if share else None,
    )
    show_panel(
        view,
        address,
        f"{'Classes' if share else 'Numbers'} of {name_token(trace.tokens, token)}",
        figure.offer(picks.pick_points(trace, address, shown)),
    )
