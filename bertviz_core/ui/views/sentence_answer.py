"""The sentence page of a question answering model: the answer in the text, the best spans, and where they come from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import streamlit as st

from bertviz_core.analysis.answers import (
    END,
    LOGITS,
    LONGEST_ANSWER,
    NO_ANSWER,
    SPANS,
    START,
    Span,
    compute_share,
    find_answer,
    list_context,
    rank_spans,
    read_span,
)
from bertviz_core.analysis.claims import Claim, Part, Said, say
from bertviz_core.analysis.labels import label_tokens
from bertviz_core.analysis.ranking import center_range, rank_top
from bertviz_core.figures.bars import draw_bars
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_percent
from bertviz_core.formula.steps import PREDICTION
from bertviz_core.formula.texts import shorten, tell_place
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import choices, style
from bertviz_core.ui.frame.controls import Example
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.charts import MANY_CELLS, draw_tensor
from bertviz_core.ui.panels.panel import show_panel
from bertviz_core.ui.panels.passes import show_passes_html, tell_words
from bertviz_core.ui.panels.put import tell_meaning
from bertviz_core.ui.panels.said import name_word, tell_number, tell_percent
from bertviz_core.ui.panels.tables import Column, render_table

QUESTION = Example(
    "a question",
    "Where did the woman put the letter?",
    "The woman read the letter twice. Then she put it under the clock and went to bed.",
)
_ANSWERS = 6
_DRAWN, _AROUND = 28, 4  # tokens of a long text that are drawn; on each side of an answer that has more, at least
_BARS = 16
_LONGEST_ASKED, _LONGEST_ANSWER, _LONGEST_NAME = 90, 60, 32  # letters
_STYLE = read_css(Path(__file__).with_name("sentence_answer.css"))


def is_absent(view: View) -> bool:
    """Whether the model answers no questions."""
    return LOGITS not in view.trace


def has_context(view: View) -> bool:
    """Whether there is a second text, in which an answer can be."""
    return bool(list_context(view.trace))


def write_headline(view: View, found: Sequence[Span]) -> Said:
    """The question and the span with the highest score, the first of those found, if there is any."""
    if not found:
        return say("What is the answer? There is no text yet in which it could be")
    score, part = float(view.trace[found[0].cell]), compute_share(view.trace, found[0])
    asked = f"{escape_markdown(shorten(view.text, _LONGEST_ASKED))} "
    parts = {
        "score": tell_number(score),
        "answer": name_word(shorten(_read(view, found[0]), _LONGEST_ANSWER)),
        "place": Part(tell_place(view.trace.tokens, found[0].start, found[0].end)),
        "share": tell_percent(part),
    }
    return say(asked, Claim("best answer", "**{answer}{place}**, score **{score}**, probability **{share}**", parts))


def offer_question() -> None:
    """What to write where, and a question with its text to begin with."""
    st.caption(
        "The sentence is the question, the second one the  \ntext: write both under the pencil, or", width="content"
    )
    st.button(
        "ask about a text", on_click=choices.use_sentence, args=(QUESTION.text, QUESTION.pair), icon=":material/add:"
    )


def tell_absent() -> None:
    """What a checkpoint needs to answer questions, and how to choose one."""
    st.caption(
        "To answer questions, a checkpoint needs `qa_outputs` (BertForQuestionAnswering): name one as the model under "
        "the pencil. The sentence is then the question, the second sentence the text with the answer."
    )


def show_answer(view: View) -> None:
    """The text with the answer marked in it, and beside it the best spans with their scores worked out."""
    st.html(_STYLE)
    text, best = st.columns(2, gap="small")
    with text:
        _show_text(view)
    with best:
        _show_best(view)


def _show_text(view: View) -> None:
    """Every token of the text, with the probabilities that the answer starts and ends there."""
    probs = ", ".join(str(bound.enter("probs")) for bound in (START, END))
    with open_card(view, PREDICTION, "The answer in the text", probs):
        drawn = [_choose_drawn(one) for one in view.passes]
        end = max(map(_find_end, view.passes, drawn))
        show_passes_html(view, [_render_text(one, shown, end) for one, shown in zip(view.passes, drawn, strict=True)])
        st.caption(
            f"The bar above a token: the probability that the answer starts with it. Below: that it ends with it. A "
            f"full bar is {format_percent(end)}. Marked: the span with the highest score.{_tell_drawn(view, drawn)}"
        )


def _tell_drawn(view: View, drawn: Sequence[Sequence[int]]) -> str:
    """Which tokens of a long text are drawn, of each pass."""
    if len(drawn[-1]) == len(list_context(view.trace)):
        return ""
    parts = dict.fromkeys(f"{shown[0]}–{shown[-1]}" for shown in drawn)
    named = [f"{part}{f' {half}' * (len(parts) > 1)}" for part, half in zip(parts, ("before", "after"), strict=False)]
    return f" Tokens {' and '.join(named)} of {len(view.trace.tokens):,} are shown."


def _choose_drawn(view: View) -> list[int]:
    """The text's tokens; of a long text the whole words around the answer of the pass."""
    trace = view.trace
    context, (best,) = list_context(trace), rank_spans(trace, 1)
    start, end = context.index(best.start), context.index(best.end)
    window = center_range((start + end) // 2, max(_DRAWN, end - start + 1 + 2 * _AROUND), len(context))
    within = [trace.tokens[i].startswith("##") for i in context]  # a word goes on there
    first = max(i for i in range(window.start + 1) if not within[i] or not i)
    last = next((i for i in range(window.stop, len(context)) if not within[i]), len(context))
    return context[first:last]


def _find_end(view: View, shown: Sequence[int]) -> float:
    """The largest probability that is drawn of a pass."""
    return max(float(view.trace[bound.enter("probs")][list(shown)].max()) for bound in (START, END))


def _render_text(view: View, shown: Sequence[int], end: float) -> str:
    """The tokens between their bars. end: what a full one stands for, the same in passes that are compared."""
    (best,) = rank_spans(view.trace, 1)
    return f'<div class="bv-spots" data-picture>{"".join(_render_spot(view, i, best, end) for i in shown)}</div>'


def _render_spot(view: View, i: int, best: Span, end: float) -> str:
    """A token between its two bars; all three are clicked."""
    place = ("in" * (best.start <= i <= best.end), "first" * (i == best.start), "last" * (i == best.end))
    kinds = "".join(f" bv-spot-{kind}" for kind in place if kind)
    above, below = (
        _render_bar(bound.enter("probs").fix(**{name: i}), float(view.trace[bound.enter("probs")][i]), end, name)
        for bound, name in ((START, "start"), (END, "end"))
    )
    token = style.render_token_name(i, view.trace.tokens[i])
    return f'<div class="bv-spot{kinds}">{above}{token}{below}</div>'


def _render_bar(cell: Address, share: float, end: float, name: str) -> str:
    said = f"{name} {format_percent(share)}"
    bar = f'<i style="height:{share / end:.1%}"></i>'
    return f'<button data-cell="{cell}" title="{said}" aria-label="{said}">{bar}</button>'


def _show_best(view: View) -> None:
    """The formula of a span's score, with the winner's numbers, and the spans with the highest scores."""
    best = rank_spans(view.trace, 1)[0]
    step = view.trace.step(SPANS)
    heading = Heading(
        "The best answers",
        tell_meaning(view, SPANS, step),
        view.typeset(step),
        step.source,
        best.cell,
        style.break_lines(view.trace.explain(best.cell).latex),
    )
    with open_card(view, PREDICTION, heading, SPANS):
        with st.container(key="wide-answers"):
            show_passes_html(view, [_render_best(one) for one in view.passes])
        st.caption(
            f"{tell_words(view)}An answer lies in the second sentence and has at most {LONGEST_ANSWER} tokens. Its "
            "probability: that of its start times that of its end. No answer: the score of \\[CLS\\] alone, which "
            "models trained on questions without an answer compare with the best."
        )


def _render_best(view: View) -> str:
    trace, found = view.trace, rank_spans(view.trace, _ANSWERS)
    none = Span(NO_ANSWER.at["start"], NO_ANSWER.at["end"])
    names = [*(shorten(_read(view, span), _LONGEST_NAME) for span in found), "no answer"]
    rows = [*found, none]
    return render_table(
        "answer",
        names,
        [
            Column(
                "tokens", [f"{span.start}–{span.end}" if span.end > span.start else str(span.start) for span in rows]
            ),
            Column(
                "start", [float(trace[span.start_cell]) for span in rows], cells_of=[span.start_cell for span in rows]
            ),
            Column("end", [float(trace[span.end_cell]) for span in rows], cells_of=[span.end_cell for span in rows]),
            Column("score", [float(trace[span.cell]) for span in rows], cells_of=[span.cell for span in rows]),
            Column("probability", [format_percent(compute_share(trace, span)) for span in rows]),
        ],
        chosen=(0,),
        opens=("cell", [span.cell for span in rows]),
    )


def show_bounds(view: View) -> None:
    """The tokens where the answer most likely starts and ends, as probabilities."""
    for bound, side, see in zip(
        (START, END), st.columns(2, gap="small"), ("Where does the answer start?", "Where does it end?"), strict=True
    ):
        with side:
            _show_bars(view, bound.enter("probs"), see, "probability")


def show_logits(view: View) -> None:
    """The way to the probabilities: two logits a token, each apart, and the sum of every pair."""
    figure, note = draw_tensor(view, LOGITS, cells=MANY_CELLS, words=("start", "end"))
    show_panel(view, LOGITS, "Two logits for every token: the start, the end", figure, note=note)
    for bound, side, see in zip(
        (START, END), st.columns(2, gap="small"), ("The highest start logits", "The highest end logits"), strict=True
    ):
        with side:
            _show_bars(view, bound, see, "logit")
    figure, note = draw_tensor(view, SPANS, cells=MANY_CELLS)
    best = find_answer(view.trace)
    show_panel(
        view,
        SPANS,
        "The score of every span: its start a row, its end a column",
        figure,
        at={"start": best.start, "end": best.end},
        note=f"Those outside the text, or with the end first, cannot be an answer. {note}",
    )


def _show_bars(view: View, address: Address, see: str, name: str) -> None:
    """The highest of one number a token, in the order of the sentence."""
    trace = view.trace
    real = view.guide.trace.encoding.real
    shown = sorted(real[i] for i in rank_top(view.guide.trace[address][list(real)], _BARS))
    some = f"The {len(shown)} highest of {len(real)} tokens." if len(shown) < len(real) else ""
    labels = label_tokens(trace)
    figure = draw_bars(
        np.asarray(trace[address][shown]),
        [labels[i] for i in shown],
        view.colors,
        view.colors.kinds[PREDICTION],
        name=name,
    )
    best = find_answer(trace)
    show_panel(
        view,
        address,
        see,
        figure.offer(picks.pick_points(trace, address, shown)),
        note=some,
        at={"start": best.start} if address.path.startswith(START.path) else {"end": best.end},
    )


def _read(view: View, span: Span) -> str:
    return read_span(view.trace, span, view.text, view.pair)
