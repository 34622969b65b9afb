"""Where a number comes from: what each token carried to it, beside what becomes of it with that token hidden."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from bertviz_core.analysis.attention import list_counted
from bertviz_core.analysis.attribution import FORMULAS, Attribution, Question
from bertviz_core.analysis.claims import Claim, Part, Relation, Said, choose, say, say_largest, say_smallest
from bertviz_core.analysis.labels import label_tokens
from bertviz_core.analysis.layers import average_attention
from bertviz_core.analysis.origins import Origins
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.analysis.targets import name_target
from bertviz_core.errors import InputError
from bertviz_core.figures.bars import SHARES, draw_bars
from bertviz_core.formula.numbers import format_short
from bertviz_core.formula.steps import ATTENTION, PREDICTION
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.sharing.findings import Found
from bertviz_core.ui.frame.findings import show_finding
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.told import offer_number
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived, show_values
from bertviz_core.ui.panels.said import tell_short, tell_token
from bertviz_core.ui.views import where_from_methods, where_from_written
from bertviz_core.ui.views.where_from_carried import draw_both
from bertviz_core.ui.views.where_from_question import pick_part, read_question, show_choosers
from bertviz_core.ui.walk.origin import (
    NOTHING,
    ROWS,
    ask_hidden,
    find_most,
    find_origins_of,
    read_counted,
    sum_up,
    tell_rest,
)
from bertviz_core.ui.walk.worked_parts import HIDDEN, PART, SUM, find_part

_ALIGNED = 24  # tokens at most with which cards that stand side by side are about as high
_SOURCE = "Kobayashi et al. 2021; Modarressi et al. 2023, DecompX"
_FORMULA = rf"L = \sum_j c_j + c_b, \quad {FORMULAS['parts']}"


def write_headline(view: View) -> Said:
    """The token that carried most, and the one most the other way; of a lead, those most for it and against it."""
    question = read_question(view)
    name, other = (
        escape_markdown(name_target(view.trace, cell)) if cell else "" for cell in (question.target, question.against)
    )
    asked = f"Why {name} and not {other}? " if other else f"Where does {name} come from? "
    try:
        found = find_origins_of(view.trace, question).parts
    except InputError:
        return say(asked)
    return say(asked, *(_tell_lead(view, found) if other else (_tell_most(view, found), _tell_other_way(view, found))))


def _name_tokens(view: View, found: Attribution) -> str:
    """Of which tokens one is named, where others carried something as well; else nothing."""
    others = np.delete(found.parts, list_counted(view.trace))
    return "Of the tokens not masked out " if (np.abs(others) > NOTHING).any() else ""


def _tell_most(view: View, found: Attribution) -> Said:
    """The token whose part is the largest of those that have the sum's sign."""
    (tokens, parts), whole = read_counted(view.trace, found), sum_up(found)
    of, best = _name_tokens(view, found) or "Of the tokens ", find_most(parts, whole)
    tell, most, more, beyond = (
        (say_largest, "carried most", "none carried more", "carried more")
        if whole >= 0
        else (say_smallest, "carried most below 0", "none carried more below 0", "pulls farther down")
    )
    told = {
        "part": tell_short(parts[best]),
        "whole": tell_short(whole),
        "token": tell_token(view.trace.tokens, tokens[best]),
    }
    biases = {"biases": tell_short(found.biases), "whole": told["whole"]}
    return choose(
        Claim(
            "none carried towards it",
            f"{of}none pulls towards it: **{tell_rest(found)} are {{biases}} in a sum of {{whole}}**",
            biases,
            Relation.NONE,
            np.maximum(parts if whole >= 0 else -parts, 0.0),
        ),
        tell(
            (most, f"{of}most from **{{token}}: {{part}} in a sum of {{whole}}**"),
            (more, f"{of}none {beyond} than **{{token}}: {{part}} in a sum of {{whole}}**"),
            told,
            parts,
            (best,),
        ),
    )


def _tell_other_way(view: View, found: Attribution) -> Said:
    """The token that lowers a sum above 0 most, or raises one below 0 most; nothing where none does."""
    (tokens, parts), above = read_counted(view.trace, found), sum_up(found) >= 0
    tell, verb = (say_smallest, "lowers") if above else (say_largest, "raises")
    at = int(parts.argmin() if above else parts.argmax())
    if (-parts[at] if above else parts[at]) <= NOTHING:
        return say()
    told = {"part": _tell_signed(parts[at]), "token": tell_token(view.trace.tokens, tokens[at])}
    return say(
        "; ",
        tell(
            (f"{verb} most", f"{{token}} {verb} it most: {{part}}"),
            (f"none {verb} more", f"none {verb} it more than {{token}}: {{part}}"),
            told,
            parts,
            (at,),
        ),
    )


def _tell_lead(view: View, found: Attribution) -> tuple[str, Said, str, Said]:
    """The token that speaks most for a lead, and the one most against it: none, where no part has that sign."""
    tokens, parts = read_counted(view.trace, found)
    most, least = int(parts.argmax()), int(parts.argmin())
    speaks, against = (
        {"part": _tell_signed(parts[i]), "token": tell_token(view.trace.tokens, tokens[i])} for i in (most, least)
    )
    return (
        _name_tokens(view, found),
        choose(
            Claim("none speaks for", "**no token speaks for it**", {}, Relation.NONE, np.maximum(parts, 0.0)),
            say_largest(
                ("speaks most for", "**{token} speaks most for it, {part}**"),
                ("none speaks more for", "**no token speaks more for it than {token}, {part}**"),
                speaks,
                parts,
                (most,),
            ),
        ),
        "; ",
        choose(
            Claim("none speaks against", "none against it", {}, Relation.NONE, np.minimum(parts, 0.0)),
            say_smallest(
                ("speaks most against", "{token} most against, {part}"),
                ("none speaks more against", "none more against than {token}, {part}"),
                against,
                parts,
                (least,),
            ),
        ),
    )


def _tell_signed(value: float) -> Part:
    return Part(float(value), lambda number: f"{'+' if number > 0 else ''}{format_short(number)}")


def show(view: View) -> None:
    """The cards; where the number cannot be taken apart, why."""
    question = read_question(view)
    try:
        *_, found = (find_origins_of(one.trace, question) for one in view.passes)
    except InputError as error:
        st.info(escape_markdown(str(error)), icon=":material/info:")
        _show_looks(view, question)
        return
    missing = where_from_methods.tell_missing(view)
    if missing:
        _show_carried(view, question, found)
        where_from_written.show_written(view)
        st.caption(missing)
    else:
        few = len(view.trace.tokens) <= _ALIGNED
        lead, beside = st.columns([65, 35], gap="small")
        with lead:
            _show_carried(view, question, found)
        with beside:
            where_from_methods.show_methods(view)
        written, inside = st.columns([65, 35], gap="small") if few else (lead, beside)
        with written:
            where_from_written.show_written(view)
        with inside:
            where_from_methods.show_inside(view)
    where_from_written.tell_measures(view)


def _show_carried(view: View, question: Question, found: Origins) -> None:
    tokens, parts = read_counted(view.trace, found.parts)
    offer_number(find_part(question, PART, source=tokens[find_most(parts, sum_up(found.parts))]))
    heading = Heading(
        "Carried and needed",
        "a part for every token; they add up",
        _FORMULA,
        _SOURCE,
        find_part(question, SUM),
        drawn="; ".join(pick_part(question, leaf, "source=*") for leaf in (PART, HIDDEN)),
    )
    with open_card(view, PREDICTION, heading, question.target, name="carried", chooses=True) as tools:
        with tools:
            show_values("carried", _list_values(view, found.parts))
        show_choosers(view, question)
        asked = ask_hidden(view.trace, question, found.parts.parts)
        if asked is None:
            draw_both(view, question, found, Found())
        else:
            show_finding("carried", asked, partial(draw_both, view, question, found))


def _list_values(view: View, found: Attribution) -> Values:
    total = sum_up(found)
    names = [f"{i} {token}" for i, token in enumerate(view.trace.tokens)]
    return Values(np.array([*found.parts, found.biases, total])[:, None], [*names, found.rest, "sum"], ["part"])


@derived
def _show_looks(view: View, question: Question) -> Derived:
    """What can still be seen of a text that is too long: where the last layer looks from the token that is read."""
    *_, last = average_attention(view.trace)
    names, row = label_tokens(view.trace), last[question.token]
    shown = sorted(rank_top(row, ROWS))
    bars = [names[i] for i in shown]
    return Derived(
        "looked-at",
        "Where the last layer looks",
        draw_bars(row[shown], bars, view.colors, view.colors.kinds[ATTENTION], name="weight", ends=SHARES),
        Origin(
            ATTENTION_WEIGHTS.in_layer(view.trace.model.config.num_hidden_layers - 1),
            ATTENTION,
            r"\bar{A}_{i,j} = \frac{1}{h} \sum_h A_{h,i,j}",
            "mean over the heads; it is not what was carried",
        ),
        values=Values(row[:, None], names, ["weight"]),
    )
