"""What each head is worth to a prediction: all of them zeroed in the background, one after the other."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from bertviz_core.analysis.ablation import WORTH, Ablation, cut_place, find_outcomes, zero_head
from bertviz_core.analysis.claims import Claim, Part, Relation, Said, choose, say
from bertviz_core.analysis.heads import Summary
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.sharing.findings import Found
from bertviz_core.ui.frame import needed, site, state, url
from bertviz_core.ui.frame.findings import Wanted, tell_progress
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.what_if import add_changes
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.passes import tell_pass
from bertviz_core.ui.panels.said import name_plain, tell_alike, tell_percents
from bertviz_core.ui.panels.worth import Worth, find_base
from bertviz_core.ui.views.heads_worth import render_ranking, render_words

_WORTH = Key("worth", "")
_SOURCE = "one pass without it"
_THIS = "**layer {layer}, head {head}**"
_MEASURES = (
    "Worth: what the answer loses with the head’s weights at 0, in all later layers too. What a head itself carried to "
    "the logit is another number, and its strongest head may be another one."
)
_RANKING = 96  # pixels that the ranking has, also before it is known
_MENU = 168  # pixels of the menu of answers, beside the title


def ask_worth(view: View) -> Wanted[Ablation] | None:
    """The finding: every head zeroed; None where there is nothing that it could be worth something to."""
    return needed.ask_worth(find_base(view), view.chosen.token)


def measure_worth(view: View, all_heads: Summary, found: Found[Ablation]) -> Worth:
    """What is known of it, for the probability that was chosen."""
    outcomes = find_outcomes(find_base(view), view.chosen.token)
    return Worth(found.value, outcomes, read_outcome(view), all_heads, (view.chosen.layer, view.chosen.head))


def read_outcome(view: View) -> int:
    """Which of the probabilities is looked at."""
    names, chosen = list(find_outcomes(find_base(view), view.chosen.token)), state.read(_WORTH)
    return names.index(chosen) if chosen in names else 0


def tell_most_needed(view: View) -> Said:
    """Which head the likeliest answer needs most, once that is known."""
    asked = ask_worth(view)
    if asked is None:
        return say()
    found = asked.look()
    base = find_base(view)
    asked_of = "does the answer need most" if base is view.trace else "is needed most, none zeroed"
    question = f"Which head {asked_of}? "
    if found.value is None or not found.whole:
        return say(f"{question}Each is zeroed in turn, and the answer compared")
    name, where = next(iter(find_outcomes(base, view.chosen.token).items()))
    return say(question, _tell_fall(found.value, f"{cut_place(name)}{tell_alike(base, where)}"))


def _tell_fall(found: Ablation, name: str) -> Said:
    """What becomes of the likeliest answer without the head that it needs most."""
    row, (layer, head) = found.without[0].ravel(), found.most_needed
    place = layer * found.without.shape[2] + head
    without, was = tell_percents(row[place], found.values[0])
    here = {"without": without, "layer": Part(layer), "head": Part(head)}
    named = {**here, "name": name_plain(name)}
    falls, rises = _tell_moves(name, was, without)
    lowest = partial(Claim, parts=here, relation=Relation.LOWEST, others=row, at=(place,))
    even = f"even without {_THIS}" if len(row) > 1 else "without the only head"
    return choose(
        say(Claim("needed most", f"Without {_THIS}", here, Relation.SMALLEST, row, (place,)), falls),
        say(lowest("needed as much", f"No other more than {_THIS}: without it"), falls),
        say(lowest("least in its way", f"None: {even}"), rises),
        Claim(
            "no head counts",
            "None: without any one of them {name} stays at {was}",
            {"name": name_plain(name), "was": was},
            Relation.NONE,
            row - found.values[0],
        ),
        lowest("none needed", f"None by much: without {_THIS}, {{name}} is at {{without}}", parts=named),
    )


def _tell_moves(name: str, was: Part, without: Part) -> tuple[Claim, Claim]:
    """That the answer falls without the head, and that it rises: whichever holds."""
    falls = {"was": was, "without": without, "name": name_plain(name)}
    rises = {"without": without, "was": was, "name": name_plain(name)}
    return (
        Claim("answer falls", ", {name} falls from {was} to **{without}**", falls, Relation.ABOVE),
        Claim("answer rises", ", {name} rises from {was} to **{without}**", rises, Relation.ABOVE),
    )


def choose_outcome(view: View) -> None:
    """A menu of the probabilities that heads can be worth something to."""
    names = list(find_outcomes(find_base(view), view.chosen.token))
    url.bind(_WORTH, names, names[0])
    st.selectbox("Worth to the probability of", names, key=_WORTH.name, label_visibility="collapsed", width=_MENU)


def is_zero(value: object) -> bool:
    """Whether it is 0 that a change puts, and no rule or numbers of another pass."""
    return isinstance(value, int | float) and value == 0


def show_words(view: View, worth: Worth) -> None:
    """The answer without the chosen head, and a button that leaves it out on all pages."""
    layer, head = worth.chosen
    changes = zero_head(layer, head)
    undone = all(is_zero(view.outcome.after.changes.get(where)) for where in changes)
    heading = Heading(
        "The answer without it", "bar: without; mark: with", rf"P(A^{{({layer})}}_{{{head}}} = 0)", _SOURCE
    )
    with open_card(view, ATTENTION, heading, list(worth.outcomes.values())[worth.which], name="without"):
        if view.outcome.compared:
            st.markdown(f"**{view.passes[-1].outcome.half}**")
        st.html(render_words(worth))
        name = f"layer {layer}, head {head}"
        st.button(
            f"{name.capitalize()} is left out" if undone else "Show that pass",
            key="ablation-look",
            on_click=add_changes,
            args=(changes,),
            kwargs={"from_fragment": True},
            disabled=undone,
            icon=":material/science:",
        )


def show_ranking(view: View, worth: Worth, found: Found[Ablation]) -> None:
    """The heads that matter most; as long as they are not known, how far that is."""
    heading = Heading("Needed, or in its way", f"worth in {worth.unit}", WORTH, "one pass without each")
    with open_card(
        view, ATTENTION, heading, list(worth.outcomes.values())[worth.which], name="ranking", chooses=True
    ) as tools:
        with tools:
            choose_outcome(view)
        with st.container(height=_RANKING, border=False, key="worth-ranking"):
            st.html(render_ranking(worth, found.whole))
        st.caption(tell_progress(found, "heads zeroed") or f"{tell_pass(view)}{write_counts(worth)} {_MEASURES}")
        site.show_link(site.get_page("where_from"), "Where from: what each head carried")


def write_counts(worth: Worth) -> str:
    """How many heads an answer needs, and how many are in its way."""
    known = worth.of_heads[~np.isnan(worth.of_heads)]
    needed, hinders = int((known > 0).sum()), int((known < 0).sum())
    if worth.of_heads.size == 1:
        moves = "falls" if needed else "rises" if hinders else "stays as it is"
        return escape_markdown(f"Without the only head {worth.name} {moves}.")
    if not needed and not hinders:
        return escape_markdown(f"Without any one of {known.size} heads {worth.name} stays as it is.")
    return escape_markdown(
        f"Without {needed} of {known.size} heads {worth.name} falls, without {hinders} it rises; two together need not "
        "add up."
    )
