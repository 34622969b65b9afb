"""What a training comes to: its loss step by step, and the probability of each word when that word is hidden."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from bertviz_core.analysis.training import OVER, average_each, rank_risen
from bertviz_core.figures.training import MARKED, draw_losses, draw_word_rises
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.steps import QUERY
from bertviz_core.formula.texts import write_count
from bertviz_core.learning.plan import Plan
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.views.training_run import Run
from bertviz_core.ui.views.training_told import name_loss

_LOSS = r"J(\theta) = -\sum_j \log P(\theta)_{x_j, j} \llbracket \hat{x}_j = \mathrm{mask} \rrbracket"
_IS_AHEAD = "On grey ground is still to come: worked out beforehand, it will be the same."
_SIDES = (9, 11)  # the names of words stand at the right
_BOLD = 3  # words that stand out
_MEANS_ARE = f" A line is the mean of up to {OVER} passes, a dot the last one."


def show_lead(view: View, run: Run, progress: str = "") -> None:
    """The two pictures beside one another, over all steps that are asked for. progress: how far these are known."""
    total = run.training.steps_total
    told = _tell_steps(run, total)
    ahead = progress or (_IS_AHEAD if run.ahead.records else "")
    heading = Heading("J(θ), and what it buys", ahead, _LOSS, "definition (002), E-Training, line 6")
    with open_card(view, QUERY, heading, "J", told, name="training-lead") as tools:
        left, right = st.columns(_SIDES, gap="small")
        with left:
            _show_losses(view, run, total)
        with right:
            _show_words(view, run, total)
        if run.records:
            with tools:
                show_values("training-losses", list_losses(run))


def _tell_steps(run: Run, total: int) -> str:
    """How many steps there are, and what lies on the grey ground of the charts."""
    if run.training.finished:
        return write_count(total, "step")
    return f"{write_count(total, 'step')}; on grey ground {'was not taken' if run.ended else 'is still to come'}"


def _show_losses(view: View, run: Run, total: int) -> None:
    records = run.shown.records
    losses = np.array([record.loss for record in records])
    hidden = np.array([len(record.hidden) for record in records])
    printed = np.array([np.nan if record.as_printed else record.printed for record in records])
    apart = bool(np.isfinite(printed).any())
    chart = draw_losses(
        losses, hidden, run.lines(), total, view.colors, printed=printed if apart else None, taken=len(run.records)
    )
    if run.records:
        chart = chart.offer([name_loss(record) for record in records])
    dots = "Dot: J as meant, over the hidden words; ring: as printed, over every \\[MASK\\]" if apart else "Dot: J"
    st.markdown("**J(θ) in each step**")
    show_chart(chart, "training-loss", "The loss of every step")
    ends = "; ".join(f"{name}: {format_number(float(line[-1]))}" for name, line in run.lines().items() if len(line))
    last = f"; at the end {escape_markdown(ends)}" if ends else ""
    lines = "Lines" if len(run.lines()) > 1 else "Line"
    st.caption(f"{dots}; larger: more hidden. {lines}: per hidden token, over up to {OVER} steps{last}")


def _show_words(view: View, run: Run, total: int) -> None:
    steps, shares, words = read_words(run)
    bold = choose_risen(shares, words) if len(steps) > 1 else []
    means = average_each(shares) if words and len(steps) > MARKED else None
    chart = draw_word_rises(
        steps, shares, words, bold, total, view.colors, taken=None if run.records else 0, means=means
    )
    st.markdown("**P of each word when hidden**")
    show_chart(chart, "training-words", "The probability of each word when it alone is hidden, pass by pass")
    asked = f"{len(words)} words, asked before step 1 and after every pass.{tell_unasked(run.training)}"
    risen = f" Blue: {write_count(len(bold), 'word')} that rose most, without signs." if bold else ""
    st.caption(f"{asked}{risen}{'' if means is None else _MEANS_ARE}")


def tell_unasked(training: Plan) -> str:
    """That not all words are asked for, where that is so."""
    maskable = training.before.tokenizer.maskable
    asked, count = len(training.words), sum(len(maskable(encoding)) for encoding in training.encodings)
    return f" Only the first {asked} of all {count} words are asked for." if asked < count else ""


def choose_risen(shares: np.ndarray, words: Sequence[str], count: int = _BOLD) -> list[int]:
    """The words that rose most, each word once, wherever it stands; signs are no words."""
    first = dict[str, int]()
    for i in rank_risen(shares[0], shares[-1], len(words)):
        if any(map(str.isalnum, words[i])):
            first.setdefault(words[i], i)
    return list(first.values())[:count]


def read_words(run: Run) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """At which steps the words were asked for, their probabilities there, shape (asked, word), and the words."""
    words = [run.tokens(sentence)[position] for sentence, position in run.training.words]
    passes = run.shown.passes
    shares = np.array([found.probabilities for found in passes], dtype=np.float64).reshape(len(passes), len(words))
    return np.array([found.number for found in passes], dtype=np.int64), shares, words


def list_losses(run: Run) -> Values:
    """Every step's loss and how many tokens it hid, to download."""
    rows = [str(record.number) for record in run.records]
    matrix = np.array([[record.loss, record.printed, len(record.hidden)] for record in run.records], dtype=np.float64)
    return Values(matrix, rows, ["J as meant", "J as printed", "hidden"])
