"""What else a training shows: attention before and now, a step that is too long, practice, and the model's use."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from bertviz_core.checkpoint.model import Model
from bertviz_core.documents.definition import DEFINITION
from bertviz_core.errors import TrainingError
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.formula.numbers import format_number, format_short
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.learning import pack_zip
from bertviz_core.learning.updates import Rule
from bertviz_core.ui.frame import choices, site, state
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.keys import DOCUMENT, MODEL
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.resources import UNTRAINED, keep_own
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.views.training_fields import SMALL, suggest
from bertviz_core.ui.views.training_lines import list_besides
from bertviz_core.ui.views.training_run import Run, lay_beside, refuse, take_away

_TOO_LONG = 7.0  # times η: where a step overshoots
_LONGEST_ETA = 10.0


def show_attention(view: View, run: Run) -> None:
    """One map of attention weights before and now: of the head that a training has moved most."""
    if not run.records:
        st.info("Train it first, or take a step: then there are two maps to compare.")
        return
    try:
        found = run.training.find_moved_head()
    except TrainingError as error:
        st.warning(escape_markdown(str(error)), icon=":material/hourglass_empty:")
        return
    if not found.moved:
        st.info("No attention weight of the first sentence has changed, nothing hidden: no head has moved.")
        return
    where, names = found.where, [f"{i} {token}" for i, token in enumerate(run.tokens(1))]
    see = f"Layer {where.layer}, head {where.at['head']}: the head that moved most"
    formula = r"A = \mathrm{softmax}(Q K^{\top} / \sqrt{d_k})"
    with open_card(view, ATTENTION, Heading(see, "", formula), where, name="training-attention"):
        maps = zip(st.columns(2, gap="medium"), ("before", "now"), (found.before, found.now), strict=True)
        for place, name, weights in maps:
            with place:
                st.markdown(f"**{name.capitalize()}**")
                chart = draw_heatmap(
                    weights, Side("query", names), Side("key", names), view.colors, ATTENTION, share=True, end=1.0
                )
                show_chart(chart, f"training-attention-{name}", f"Attention weights {name}: {where}")
        st.caption(
            f"First sentence, nothing hidden. The largest change of one attention weight: {format_number(found.moved)}."
        )


def show_eta(view: View, run: Run) -> None:
    """The same draws once more with a longer step, laid over the first picture."""
    training = run.training
    for step in (training.loss.by_address["J"], *training.rule.updates[training.learned[0]].steps):
        st.latex(view.typeset(step))
    eta = min(_LONGEST_ETA, float(f"{_TOO_LONG * run.asked.settings.eta:.1g}"))
    st.markdown(
        f"{_tell_length(run.asked.settings.practised)} A gradient is the slope right where the weights are; a step "
        "that is too long leaves the place for which it was measured, and J can rise without end."
    )
    _show_beside(run, f"Train with η = {eta:g} and lay it over", eta=eta)


def _tell_length(practised: bool) -> str:
    """How far a step goes. practised: AdamW takes it."""
    if practised:
        return "Each step goes η times what AdamW makes of this gradient and of those before it."
    return "Each step goes η times the gradient."


def show_practised(run: Run) -> None:
    """The same sentences trained as BERT is in practice, or as printed, laid over the first picture."""
    practised = not run.asked.settings.practised
    eta = suggest(run.origin, run.asked.learner, practised).eta
    settings = replace(run.asked.settings, practised=True, eta=eta if practised else run.asked.settings.eta)
    rule = Rule(settings, {}, run.training.steps_total)
    st.markdown(
        "In practice a drawn token becomes \\[MASK\\] in 8 of 10 cases, any piece in 1, and stays in 1; AdamW divides "
        f"each weight's step by the size its gradient usually has, and shrinks matrices a little; {tell_rates(rule)}. "
        "J stays the sum over the drawn tokens, so that the curves can be compared."
    )
    label = "Train as practised and lay it over" if practised else "Train as printed and lay it over"
    _show_beside(run, label, practised=practised, eta=eta)


def tell_rates(rule: Rule) -> str:
    """How η goes through the steps of a training as practised."""
    peak, last = (format_short(rule.rate(number)) for number in (rule.warm_up, rule.steps))
    if rule.steps == 1:
        return f"η is {peak} in the only step"
    if rule.warm_up == 1:
        return f"η falls in a line from {peak} in step 1 to {last} in step {rule.steps:,}"
    first = format_short(rule.rate(1))
    return (
        f"η rises in a line from {first} in step 1 to {peak} in step {rule.warm_up:,}, and falls in a line to {last} "
        f"in step {rule.steps:,}"
    )


def _show_beside(run: Run, label: str, **changed: object) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            label,
            key=f"training-beside-{'-'.join(changed)}",
            on_click=lay_beside,
            args=(run,),
            kwargs=changed,
            disabled=run.going,
            icon=":material/stacked_line_chart:",
        )
        if run.beside:
            st.button(
                f"Take “{run.beside_name}” away",
                key=f"training-away-{'-'.join(changed)}",
                on_click=take_away,
                args=(run,),
                type="tertiary",
            )
    if run.beside and run.beside.records:
        last = run.beside.records[-1]
        st.caption(escape_markdown(f"{run.beside_name}: J {format_number(last.loss)} in step {last.number}."))


def show_use(run: Run) -> None:
    """The trained model on all other pages, and as a file."""
    if not run.records:
        st.info("Train it first, or take a step: then it can be chosen like any other model.")
        return
    name = run.training.name(len(run.records))
    st.markdown(
        f"“{name}” is a model of this session alone: it can be chosen beside the others until you leave. All "
        "pages then show its passes."
    )
    if run.asked.settings.program == DEFINITION.program:
        *most, last = list_besides(run.origin)
        st.markdown(
            f"They run it as BERT as released, with {', '.join(most)} and {last}, which did not learn here. The page "
            "*Documents* runs it as E-Transformer, as it was trained."
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, compared in (("Use it on all pages", False), ("Use it, compared with the untrained", True)):
            st.button(
                label,
                key=f"training-use-{compared}",
                on_click=use_model,
                args=(run, compared),
                icon=":material/compare:" if compared else ":material/check:",
            )
        st.download_button(
            "Download it (.zip)",
            data=partial(_pack, run),
            key="training-zip",
            on_click="ignore",
            file_name=f"{name.replace(', ', '-').replace(' ', '-')}.zip",
            mime="application/zip",
            icon=":material/download:",
            help="A checkpoint as Hugging Face reads it.",
        )
    if state.read(MODEL) == name:
        _link_pages(run)


def _link_pages(run: Run) -> None:
    """Pages where there is something to see of the model that was trained."""
    with st.container(horizontal=True):
        for name in ("predictions", "attention", "overview", "documents"):
            query = {DOCUMENT: run.asked.settings.program} if name == "documents" else {}
            site.show_link(site.get_page(name), icon=site.get_page(name).icon, query=query)


def _pack(run: Run) -> bytes:
    return pack_zip(run.training.fetch_model())


def use_model(run: Run, compared: bool) -> None:
    """Choose the trained model; compared: every panel then shows it before and after the training."""
    try:
        trained, untrained = run.training.fetch_model(), _name_untrained(run)
    except TrainingError as error:
        refuse(error)
        return
    keep_own([trained, untrained] if run.asked.learner == SMALL else [trained])
    choices.choose_model(trained.name, untrained.name if compared else "")


def _name_untrained(run: Run) -> Model:
    """What it was before: of a model made on the spot under a name that says so."""
    before = run.training.before
    return replace(before, name=UNTRAINED) if run.asked.learner == SMALL else before
