"""The lead picture of where a number comes from, and what it says: two orders compared, and the receipt of the sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st

from bertviz_core.analysis.agreement import ALIKE, LEAST, LEAST_PAIRS, correlate_ranks, has_near_ties, rank_amounts
from bertviz_core.analysis.attribution import Attribution, Question, list_unhidden, read_measure
from bertviz_core.analysis.carried import read_carried
from bertviz_core.analysis.claims import Claim, Relation, Said, choose, say
from bertviz_core.analysis.labels import tell_tokens_apart
from bertviz_core.analysis.origins import Origins
from bertviz_core.analysis.targets import name_target
from bertviz_core.errors import InputError
from bertviz_core.figures.carried import Carried, Row, draw_carried
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number, format_percent, format_short
from bertviz_core.formula.steps import PREDICTION
from bertviz_core.formula.texts import write_count
from bertviz_core.sharing.findings import Found
from bertviz_core.ui.frame.findings import Wanted, look_again, tell_progress
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.walked import read_explained
from bertviz_core.ui.frame.words import show_note
from bertviz_core.ui.panels.passes import show_passes_chart, tell_ghosts, tell_words
from bertviz_core.ui.panels.said import tell_nowhere, tell_short, tell_token
from bertviz_core.ui.views.where_from_question import name_kind, read_question
from bertviz_core.ui.walk.origin import ask_hidden, choose_rows, count_parts, find_origins_of, sum_up, tell_rest
from bertviz_core.ui.walk.worked_parts import BIASES, HIDDEN, PART, SUM, find_part, name_whole, write_measure

Measured = Found[Mapping[int, float]]
_ROUNDING = 2e-6  # relative: what a number falls by less is rounding, of single precision
_ALIKE, _PARTLY = 0.6, 0.3  # rank correlations from which on two orders are much the same, and partly the same


def draw_both(view: View, question: Question, found: Origins, hidden: Measured) -> None:
    """The picture as far as it is known, and what it says."""
    rows = choose_rows(found.parts.parts)
    before = _list_before(view, question, rows, found.parts)
    charts = [
        draw_carried(_lay_out(one, question, rows, known, before), view.colors)
        for one, known in zip(view.passes, [*_look_before(view, question), hidden], strict=True)
    ]
    alt = f"What each token carried to {name_whole(view.trace, question)}, and what it is without that token"
    show_passes_chart(view, charts, "carried", alt)
    ghosts = tell_ghosts(np.array(before) if before else None)
    _tell_receipt(
        view,
        question,
        found.parts,
        f"{ghosts}{tell_words(view)}{_tell_progress(view, question, found, hidden)}",
    )


def _look_before(view: View, question: Question) -> list[Measured]:
    """What is known of hiding in the passes that are compared with the last one."""
    known: list[Measured] = []
    for one in view.passes[:-1]:
        asked = ask_hidden(one.trace, question, find_origins_of(one.trace, question).parts.parts)
        known.append(asked.look() if asked else Found())
        if asked and not known[-1].over:
            look_again("carried-before")
    return known


def _lay_out(
    view: View, question: Question, shown: Sequence[int], hidden: Measured, before: Sequence[float] = ()
) -> Carried:
    trace, found = view.trace, find_origins_of(view.trace, question)
    parts, names, whole = found.parts.parts, tell_tokens_apart(trace), str(find_part(question, SUM))
    rows = [_lay_row(view, question, i, names[i], float(parts[i]), hidden) for i in shown]
    rest = np.delete(parts, shown)
    if len(rest):
        rows.append(Row(write_count(len(rest), "other"), float(rest.sum()), whole))
    rows.append(Row(found.parts.rest, found.parts.biases, str(find_part(question, BIASES))))
    now = write_measure(trace, question, read_measure(trace, question))
    what = name_kind(question)
    return Carried(
        rows,
        Row(what, sum_up(found.parts), whole, now.value, now.text),
        (
            f"into the {what}",
            "lead that is left" if question.against else f"{name_target(trace, question.target)} has",
        ),
        view.colors.kinds[PREDICTION],
        _find_chosen(rows),
        before,
    )


def _list_before(view: View, question: Question, shown: Sequence[int], now: Attribution) -> list[float]:
    """The rows' parts in the pass before a change; none where no change moves them, or another pass is shown."""
    if view.ghost is None:
        return []
    try:
        found = find_origins_of(view.ghost, question).parts
    except InputError:
        return []
    if np.array_equal(found.parts, now.parts) and found.biases == now.biases:
        return []
    rest = np.delete(found.parts, shown)
    return [*found.parts[list(shown)].tolist(), *([float(rest.sum())] if len(rest) else []), found.biases]


def _lay_row(view: View, question: Question, i: int, name: str, part: float, hidden: Measured) -> Row:
    """A token's row: its part; the number with it hidden, if that is known, or why there is none."""
    cell, known = str(find_part(question, PART, source=i)), (hidden.value or {}).get(i)
    if known is not None:
        left = write_measure(view.trace, question, known)
        return Row(name, part, cell, left.value, left.text, str(find_part(question, HIDDEN, source=i)))
    return Row(name, part, cell, note=_tell_missing(view, i, hidden))


def _tell_missing(view: View, i: int, hidden: Measured) -> str:
    encoding = view.trace.encoding
    if encoding.ids[i] == view.trace.model.tokenizer.mask_id:
        return "the blank"
    if i not in encoding.real:
        return "padding" if encoding.ids[i] == view.trace.model.tokenizer.pad_id else "masked out"
    return "" if hidden.over or view.trace.model.tokenizer.mask_id is None else "…"


def _find_chosen(rows: list[Row]) -> int | None:
    """The row of the number that the drawer explains."""
    explained = str(read_explained())
    return next((i for i, row in enumerate(rows) if explained in (row.cell, row.left_cell)), None)


def _tell_progress(view: View, question: Question, found: Origins, hidden: Measured) -> str:
    if view.trace.model.tokenizer.mask_id is None:
        return "This checkpoint’s vocabulary has no mask token, so none can be hidden."
    if hidden.whole:
        return str(tell_order(view))
    return tell_progress(hidden, "the tokens hidden") if ask_hidden(view.trace, question, found.parts.parts) else ""


def tell_order(view: View) -> Said:
    """How far both columns agree about which token counts more, and the one where they agree least; nothing as long as
    that is not known."""
    known = _recall_both(view)
    if known is None:
        return say()
    tokens, parts, falls = known
    rho = correlate_ranks(parts, falls)
    if rho is None:
        if len(list_unhidden(view.trace)) < LEAST_PAIRS:
            return say("Of so few tokens there is no order to compare.")
        if len(tokens) < LEAST_PAIRS:
            return say("Where probabilities are 0 there is no order to compare.")
        return say("Of equal amounts there is no order to compare.")
    told, near = {"rho": tell_short(rho)}, tell_near_ties(parts, falls)
    if rho < _PARTLY:
        name, how = ("opposed", "run against each other") if rho <= -_ALIKE else ("apart", "have little in common")
        form = f"**The two orders {how} (rank correlation {{rho}}): do not read the left column as causes.**"
        return say(Claim(f"orders {name}", form, told), near)
    name, form = (
        ("orders alike", "Much the same order") if rho >= _ALIKE else ("orders partly alike", "Partly the same order")
    )
    gaps = np.abs(rank_amounts(parts) - rank_amounts(falls))
    most = int(gaps.argmax())
    exception = {"gap": tell_nowhere(gaps[most]), "name": tell_token(view.trace.tokens, tokens[most])}
    return say(
        Claim(name, f"{form} (rank correlation {{rho}})", told),
        choose(Claim("order’s exception", ", except {name}", exception, Relation.LARGEST, gaps, (most,)), say()),
        ".",
        near,
    )


def tell_near_ties(*columns: np.ndarray) -> str:
    """That amounts which differ by rounding alone count as equal, where there are such in any of the columns."""
    if not any(map(has_near_ties, columns)):
        return ""
    near = f"{format_percent(ALIKE)} of the largest, or by less than {format_short(LEAST)}"
    return f" Amounts that differ by less than {near}, count as equal."


def ask_measured(view: View) -> Wanted[Mapping[int, float]] | None:
    """The finding that the right column waits for; None where there is none."""
    question = read_question(view)
    try:
        parts = find_origins_of(view.trace, question).parts.parts
    except InputError:
        return None
    return ask_hidden(view.trace, question, parts)


def _recall_both(view: View) -> tuple[list[int], np.ndarray, np.ndarray] | None:
    """The tokens that were hidden, their parts, and by how much the number fell; None as long as not all is known."""
    asked = ask_measured(view)
    found = asked.recall() if asked else None
    if found is None or not found.whole or found.value is None:
        return None
    question = read_question(view)
    tokens, now = sorted(found.value), read_measure(view.trace, question)
    parts = find_origins_of(view.trace, question).parts.parts
    falls = np.array([now - found.value[i] for i in tokens])
    return tokens, parts[tokens], np.where(np.abs(falls) > _ROUNDING * abs(now), falls, 0.0)


def _tell_departure(view: View) -> str:
    """The first layer whose output in float64 is not that of the pass."""
    trace = view.trace
    last = [Address.in_layer(i, "output.LayerNorm").path for i in range(trace.model.config.num_hidden_layers)]
    doubled = read_carried(trace)
    apart = (i for i, path in enumerate(last) if not np.allclose(doubled[path].numpy(), trace[path], 1e-3, 1e-3))
    first = next(apart, None)
    where = "behind the last layer" if first is None else f"in layer {first}"
    return f"Worked out in double precision, the pass departs from its recorded numbers {where}: read no part of it."


def _tell_receipt(view: View, question: Question, found: Attribution, before: str) -> None:
    """That the parts add up, with the difference; in red, where they do not. before: what is said above it."""
    total, recorded = sum_up(found), question.read(view.trace)
    told = (
        f"{write_count(count_parts(view.trace, found.parts), 'part')} and {tell_rest(found)}: {format_number(total)}; "
        f"the {name_kind(question)}: {format_number(recorded)}; difference {format_short(abs(total - recorded))}."
    )
    if abs(total - recorded) <= found.tolerance:
        show_note(f"{before}  \n{told}")
    else:
        show_note(before)
        st.warning(
            f"{told} They do not add up: the pass has numbers too large or too small for its precision.",
            icon=":material/error:",
        )
