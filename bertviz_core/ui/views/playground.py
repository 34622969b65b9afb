"""The encoder article's score matrix, to be edited: its softmax row by row, and its printed table checked."""

from __future__ import annotations

from html import escape

import numpy as np
import streamlit as st

from bertviz_core.analysis import attention, playground
from bertviz_core.analysis.claims import Claim, Part, Relation, Said, choose, say, say_largest
from bertviz_core.analysis.printed import Verdict, judge_cut, judge_print
from bertviz_core.documents import examples
from bertviz_core.documents.examples import WORDS
from bertviz_core.figures.attention import draw_denominator
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.figures.palette import Palette
from bertviz_core.formula.numbers import format_latex, format_number
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.formula.texts import join_words, write_count
from bertviz_core.ui.frame import state, style, url
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.labels import quote
from bertviz_core.ui.frame.packing import LONGEST
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived, show_values
from bertviz_core.ui.panels.printed_grid import render_grid
from bertviz_core.ui.panels.said import name_word, tell_number, tell_percent
from bertviz_core.ui.panels.tables import Column, render_table
from bertviz_core.ui.views.playground_sheet import Sheet

ARTICLE = "encoder article (004)"
_SOFTMAX = (
    r"\begin{aligned} m_i &= \max_{v} S_{i,v} \\ A_{i,j} &= \frac{e^{S_{i,j} - m_i}}{\sum_{v} e^{S_{i,v} - m_i}}"
    r"\end{aligned}"
)
_SOFTMAX_DIVIDED = _SOFTMAX.replace("S_{i,v}", r"S_{i,v} / \sqrt{d_k}").replace("S_{i,j}", r"S_{i,j} / \sqrt{d_k}")
_QUOTIENT = "S / √d_k"
_ROW = Key("score_row", WORDS[0])
_ORIGINAL = np.array(examples.SCORES)
_SHEET = Sheet(
    Key("scores", "", LONGEST),
    Key("score", ""),
    "scores",
    _ORIGINAL,
    [f"Query “{word}”" for word in WORDS],
    [f"key “{word}”" for word in WORDS],
)
_DIVIDED = Key("divided", True)  # whether the scores are divided before the softmax
_WIDTH = 64  # d_k of the article, and of BERT base
_SEEN = 0.005  # a weight that is written in its cell
_FAR = "scores far apart give almost all to one"
_MAP = 304  # pixels: the height of the map beside the fields of its scores
_SIDES = Side("query", WORDS), Side("key", WORDS, angle=0, standoff=16)


def tell_row(_: View) -> Said:
    """Where the open row of the matrix looks, as it stands."""
    scores, row = read_scores()
    shares = attention.work_softmax(divide(scores)[row]).shares
    best = int(shares.argmax())
    keys = [quote(word) for word, share in zip(WORDS, shares.tolist(), strict=True) if share == shares[best]]
    parts = {"weight": tell_percent(shares[best]), "asks": name_word(WORDS[row]), "keys": Part(join_words(keys))}
    form = "Where does {asks} look? **{weight}** at"
    return say(
        choose(
            Claim("article's row, tied", f"{form} each of {{keys}}", parts, Relation.TIED, shares, (best,)),
            Claim("article's row", f"{form} {{keys}}", parts, Relation.HIGHEST, shares, (best,)),
        ),
        *_tell_undivided(scores[row], best),
        ".",
    )


def _tell_undivided(scores: np.ndarray, best: int) -> list[str | Claim]:
    """What the best key would have if the scores of its row were not divided again, where they are: as the article has
    them, they are divided already."""
    if not state.read(_DIVIDED):
        return []
    undivided = attention.work_softmax(scores).shares[best]
    return [Claim("article's row, undivided", ", {weight} if not divided again", {"weight": tell_percent(undivided)})]


def read_scores() -> tuple[np.ndarray, int]:
    """The whole matrix as it was edited, and which row is open."""
    url.bind(_ROW, WORDS)
    url.bind(_DIVIDED)
    return _SHEET.read().scores, WORDS.index(state.read(_ROW))


def divide(scores: np.ndarray) -> np.ndarray:
    """What the softmax reads: the scores by the root of the width once more, unless the switch is off."""
    return scores / np.sqrt(_WIDTH) if state.read(_DIVIDED) else scores


def _edit_scores(row: int, colors: Palette) -> None:
    """The fields of the matrix; a click on the name of a row works that one out.

    What was typed is held in the URL as it was typed, also where it is no number.
    """
    _SHEET.show_grid("score of", [_name_row(word, word == WORDS[row]) for word in WORDS], WORDS, colors)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.toggle(
            rf"Divide again by $\sqrt{{d_k}} = \sqrt{{{_WIDTH}}} = {_WIDTH**0.5:g}$",
            key=_DIVIDED.name,
            on_change=url.note_choice,
            width="content",
        )
        _SHEET.show_status()


def _name_row(word: str, opened: bool) -> str:
    does = f'data-choose="{_ROW.name}={escape(word)}" aria-pressed="{str(opened).lower()}"'
    return f"<button {does}>{escape(word)}</button>"


@derived
def show_scores(view: View, scores: np.ndarray, row: int) -> Derived:
    """The matrix as it stands."""
    changed = int((scores != _ORIGINAL).sum())
    return Derived(
        "playground-scores",
        "Attention scores of six tokens: how well each query matches each key",
        draw_heatmap(scores, *_SIDES, view.colors, ATTENTION, selected=row),
        Origin(
            "the encoder article's example, as edited",
            ATTENTION,
            r"S = \frac{Q K^\top}{\sqrt{d_k}}",
            f"Each row is one query. {tell_best(view)} {_tell_source(changed)}",
            source=ARTICLE,
        ),
        values=Values(scores, WORDS, WORDS),
        note=f"Changed: {changed} of {scores.size}. The marked row is computed below.",
    )


def _tell_source(changed: int) -> str:
    """Where the scores are from. changed: how many of them were typed here."""
    if changed == _ORIGINAL.size:
        return "All of these numbers were typed here; no model computed them."
    typed = f", but for {write_count(changed, 'that was', 'that were')} typed here" if changed else ""
    return f"The article gives these numbers as an example{typed}; no model computed them."


def tell_best(_: View) -> Said:
    """Which key the open row's query matches best."""
    scores, row = read_scores()
    best = int(scores[row].argmax())
    parts = {"score": tell_number(scores[row, best]), "query": Part(WORDS[row]), "key": Part(WORDS[best])}
    return say_largest(
        ("best match", "“{query}” matches the key “{key}” best, with a score of {score}."),
        ("no better match", "“{query}” matches no key better than “{key}”, with a score of {score}."),
        parts,
        scores[row],
        (best,),
    )


def show_softmax(view: View, scores: np.ndarray, row: int) -> None:
    """One row of the softmax, step by step: as bars, as a table, and as a formula."""
    read = divide(scores)[row]
    steps = attention.work_softmax(read)
    columns = _list_columns(view, scores[row], read, steps)
    see = f"The softmax of “{WORDS[row]}”, step by step"
    worked = style.break_lines(_write_share(read, row, steps))
    says = "each bar is one exponential and starts where the bar above it ends"
    formula = _SOFTMAX_DIVIDED if state.read(_DIVIDED) else _SOFTMAX
    heading = Heading(see, says, formula=formula, source=ARTICLE, numbers=worked)
    with open_card(view, ATTENTION, heading, f"from row {row} of the edited scores") as tools:
        drawn, table = st.columns([2, 3], gap="medium")
        with drawn:
            show_chart(draw_denominator(steps.powers, steps.running, WORDS, view.colors), "playground-softmax", see)
        with table, st.container(key="wide-softmax"):
            st.html(render_table("key", WORDS, columns, [int(steps.shares.argmax())]))
            st.caption(
                f"{tell_row(view)} {_tell_division()}Subtract the largest, {format_number(steps.largest)}, and take e "
                f"to the power of the rest. The sum of the powers is {format_number(steps.denominator)}; each power "
                "divided by it is a weight. What is 7 below the largest gets less than a thousandth of its weight."
            )
        with tools:
            held = np.array([column.values for column in columns], dtype=np.float64).T
            show_values("playground-softmax", Values(held, WORDS, [column.name for column in columns]))


def _tell_division() -> str:
    return f"Divide by {_WIDTH**0.5:g}. " if state.read(_DIVIDED) else ""


def _list_columns(view: View, scores: np.ndarray, read: np.ndarray, steps: attention.SoftmaxRow) -> list[Column]:
    """read: what the softmax reads, which may be the scores themselves."""
    color = view.colors.kinds[ATTENTION]
    divided = [Column(_QUOTIENT, read.tolist(), color, signed=True)] if state.read(_DIVIDED) else []
    return [
        Column("score S", scores.tolist(), color, signed=not divided),
        *divided,
        Column("less the largest", steps.below.tolist()),
        Column("e to that", steps.powers.tolist(), color, 1.0),
        Column("sum so far", steps.running.tolist()),
        Column("attention weight", steps.shares.tolist(), color, 1.0),
    ]


def _write_share(scores: np.ndarray, row: int, steps: attention.SoftmaxRow) -> str:
    """The largest weight of the row, worked."""
    best = int(steps.shares.argmax())
    score, largest, power, total, share = (
        format_latex(float(x))
        for x in (scores[best], steps.largest, steps.powers[best], steps.denominator, steps.shares[best])
    )
    return (
        rf"A_{{{row},{best}}} = \frac{{e^{{{score} - ({largest})}}}}{{{total}}} = \frac{{{power}}}{{{total}}} = {share}"
    )


def show_shares(view: View, scores: np.ndarray, row: int) -> np.ndarray:
    """Every row divided up, beside the scores."""
    found = playground.apply_softmax(divide(scores))
    _show_shares(view, found, row)
    return found


@derived
def _show_shares(view: View, found: np.ndarray, row: int) -> Derived:
    sums = dict.fromkeys(format_number(float(total)) for total in found.sum(axis=1))
    divided = state.read(_DIVIDED)
    far = "the article’s scores are divided already, and here again" if divided else _FAR
    percents = [[f"{100 * share:.0f}" if share >= _SEEN else "" for share in line] for line in found.tolist()]
    return Derived(
        "playground-shares",
        "All attention weights",
        draw_heatmap(
            found, *_SIDES, view.colors, ATTENTION, share=True, end=1.0, selected=row, height=_MAP, texts=percents
        ),
        Origin(
            "the edited scores",
            ATTENTION,
            r"A = \mathrm{softmax}(S / \sqrt{d_k})" if divided else r"A = \mathrm{softmax}(S)",
            f"in percent; each row has its own softmax and sums to {' or '.join(sums)}; {far}",
            source=ARTICLE,
        ),
        values=Values(found, WORDS, WORDS),
        beside=lambda: _edit_scores(row, view.colors),
        sides=(2, 3),
    )


@derived
def show_printed(view: View) -> Derived:
    """The article's own softmax table beside the same computed here, digit by digit."""
    computed = playground.apply_softmax(_ORIGINAL)
    verdicts = [
        [judge_cut(text, x) for text, x in zip(*rows, strict=True)]
        for rows in zip(examples.SHARES, computed.tolist(), strict=True)
    ]
    numbers = np.array(examples.SHARES, dtype=np.float64)
    ratios = np.log10(numbers / computed)
    count = {kind: sum(line.count(kind) for line in verdicts) for kind in Verdict}
    unrounded = sum(
        judge_print(text, x) is not Verdict.SAME and found is Verdict.CUT
        for lines in zip(examples.SHARES, computed.tolist(), verdicts, strict=True)
        for text, x, found in zip(*lines, strict=True)
    )
    sums = numbers[1:].sum(axis=1)
    return Derived(
        "playground-printed",
        "One entry of the article's softmax table is wrong",
        draw_heatmap(ratios, *_SIDES, view.colors, ATTENTION),
        Origin(
            "the encoder article's two tables",
            ATTENTION,
            r"\log_{10} \frac{\text{printed}}{\text{computed}}",
            f"“Hello” to “Hello” is printed as 72.40·10⁻⁶; it is {format_number(float(computed[0, 0]))}: the "
            "extra 7 in front makes it 30 times too large. No other entry has two digits before the point. The sum "
            f"of its row shows nothing: since digits are cut off, rows without a mistake sum to {sums.min():.5f} to "
            f"{sums.max():.5f}.",
            rf"A_{{0,0}} = \frac{{e^{{78.49 - 91.43}}}}{{{format_latex(float(np.exp(_ORIGINAL[0] - 91.43).sum()))}}}"
            rf" = {format_latex(float(computed[0, 0]))}",
            ARTICLE,
        ),
        values=Values(ratios, WORDS, WORDS),
        note=f"0: printed and computed agree. Of {numbers.size} entries {count[Verdict.DIFFERS]} is wrong. "
        f"Of the others {count[Verdict.CUT]} are cut after two decimals, as 9.99997557e−01 to 9.99e−01; rounding "
        f"would have changed {unrounded} of them. {count[Verdict.SAME]} is rounded up, to 1. The article "
        f"prints {examples.ONES} ones as row sums; there are six rows.",
        table=render_grid("printed, computed", WORDS, WORDS, examples.SHARES, computed, verdicts),
    )
