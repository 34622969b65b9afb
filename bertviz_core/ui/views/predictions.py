"""The masked language model head, panel by panel: from a token's vector to a probability for every word."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
import streamlit as st

from bertviz_core.analysis.labels import label_tokens
from bertviz_core.analysis.made_from import is_put
from bertviz_core.analysis.predictions import (
    PROBS,
    SCORES,
    Running,
    choose_first,
    count_kept,
    find_masks,
    rank_words,
    run_softmax,
)
from bertviz_core.analysis.what_if import list_shifts
from bertviz_core.documents.printed import ANSWER
from bertviz_core.figures.lines import draw_growing_sum
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex, format_number, format_percent
from bertviz_core.formula.steps import PREDICTION
from bertviz_core.formula.tex import take_ends, write_sum
from bertviz_core.formula.texts import join_words, write_count
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.spreadsheet import quote_formula
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import open_card
from bertviz_core.ui.panels.charts import draw_tensor
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived
from bertviz_core.ui.panels.moments import show_moments
from bertviz_core.ui.panels.panel import show_panel, show_values
from bertviz_core.ui.panels.passes import show_passes, show_passes_html
from bertviz_core.ui.panels.put import tell_put
from bertviz_core.ui.panels.tables import Column, render_table

TOP = 10
_TRANSFORM = Address("cls.predictions.transform")
_TABLE_ROWS = 40
_SHARES = (0.5, 0.9, 0.99)


def show_unread(view: View) -> None:
    """Where there is no head: what one would read."""
    last = Address.in_layer(view.trace.model.config.num_hidden_layers - 1, "output.LayerNorm")
    figure, note = draw_tensor(view, last)
    show_panel(view, last, "End of the forward pass: the vectors that an LM head would read", figure, note=note)


def show_transform(view: View) -> None:
    """The head's own layer, step by step, for all tokens."""
    for leaf, see in (
        ("dense", "Output of the last layer, projected by the LM head"),
        ("activation", "After the activation function"),
        ("LayerNorm.normalized", "Every row less its mean, by its deviation"),
        ("LayerNorm", "Scaled by γ and shifted by β: compared with every vocabulary entry"),
    ):
        address = _TRANSFORM.enter(leaf)
        figure, note = draw_tensor(view, address)
        show_panel(view, address, see, figure, note=note)
    show_moments(view, _TRANSFORM.enter("LayerNorm"))


def show_table(view: View) -> None:
    """The softmax of the best entries in columns, from logit to probability."""
    token = view.chosen.token
    place = f"“{view.trace.tokens[token]}” at position {token}"
    with open_card(
        view, PREDICTION, f"From logits to probabilities for {place}", str(SCORES.fix(token=token))
    ) as tools:
        with tools:
            show_values(view.trace, SCORES.fix(token=token))
        show_passes_html(view, [_render_softmax(one.trace, token) for one in view.passes])


def show_moved(view: View) -> None:
    """With a what-if: the entries that are at the top at the chosen position before or after, and how they moved."""
    found, token = view.outcome, view.chosen.token
    if not found.changed:
        return
    moves = list_shifts(found.before, found.after, token, TOP)
    color = view.colors.kinds[PREDICTION]
    with open_card(view, PREDICTION, f"What moved at position {token}", str(PROBS.fix(token=token))):
        st.html(
            render_table(
                "entry",
                [f"{shift.word}  {shift.id}" for shift in moves],
                [
                    Column("before", [shift.before for shift in moves], color, end=1.0),
                    Column("after", [shift.after for shift in moves], color, end=1.0),
                    Column("after − before", [shift.after - shift.before for shift in moves], color, signed=True),
                ],
            )
        )
        was, now = (escape_markdown(one.tokens[token]) for one in (found.before, found.after))
        other = "" if was == now else f" The token was “{was}” before and is “{now}” now."
        st.caption(f"Entries in the top {TOP} before or after {view.outcome.yours}.{other}")


def _render_softmax(trace: Trace, token: int) -> str:
    """The softmax of the best entries in columns: score, distance to the best, power of e, sum so far, probability."""
    found = run_softmax(trace[SCORES.fix(token=token)])
    ids = found.ids[:TOP].tolist()
    scores, probs = (trace[address.fix(token=token)][ids].astype(float) for address in (SCORES, PROBS))
    names = [f"{trace.model.tokenizer.name(i)}  {i}" for i in ids]
    return render_table(
        "entry",
        names,
        [
            Column("logit", scores.tolist()),
            Column("logit − max", (scores - scores[0]).tolist()),
            Column("e^(logit − max)", found.terms[:TOP].tolist()),
            Column("sum so far", found.sums[:TOP].tolist()),
            Column(_name_quotient(trace, token, ids, float(found.sums[-1])), probs.tolist()),
        ],
    )


def _name_quotient(trace: Trace, token: int, ids: Sequence[int], below: float) -> str:
    """What gives the probabilities of these entries: the division by the denominator, or a change."""
    put = [is_put(trace, PROBS.fix(token=token, vocab=i)) for i in ids]
    if all(put):
        return "probability, put by a change"
    return f"divided by {format_number(below)}{', or put by a change' if any(put) else ''}"


@derived
def show_denominator(view: View) -> Derived:
    """The softmax's denominator as it grows, term by term, over the whole vocabulary."""
    trace, token = view.trace, view.chosen.token
    found = run_softmax(trace[SCORES.fix(token=token)])
    counts = {found.needed(share): share for share in _SHARES}
    figure = draw_growing_sum(
        found.shares, {share: count for count, share in counts.items()}, view.colors, view.colors.kinds[PREDICTION]
    )
    z = format_latex(float(found.sums[-1]))
    terms = write_sum(map(format_latex, take_ends(found.terms.tolist())), len(found.terms), brace=False)
    entries = trace.model.tokenizer.vocabulary
    return Derived(
        "denominator",
        f"How fast the softmax denominator adds up, over {len(found.ids):,} entries",
        figure,
        Origin(
            SCORES.fix(token=token),
            PREDICTION,
            r"\begin{aligned} Z &= \sum_{v} e^{L_v - \max L} \\ P_v &= e^{L_v - \max L} \big/ Z \end{aligned}",
            f"{_tell_terms(found)} The faster the sum grows, the more certain the model: with uniform "
            "probabilities, half of the sum would need half of all entries.",
            f"Z = {terms} = {z}",
        ),
        values=Values(
            np.stack([found.terms, found.sums, found.shares], axis=1),
            [entries[i] for i in found.ids.tolist()],
            ["term", "sum so far", "cumulative probability"],
        ),
        note=f"Z = {format_number(float(found.sums[-1]))}. {_tell_needed(found)}"
        f"{tell_put(view, PROBS.fix(token=token))}",
    )


def _tell_terms(found: Running) -> str:
    """Which terms are 1, those of the highest logit."""
    ones = int((found.terms == 1).sum())
    if ones == len(found.terms):
        return "Every entry's term is 1: all logits are equal."
    return f"{'The top entry has' if ones == 1 else f'The top {ones:,} entries have'} a term of 1; all others less."


def _tell_needed(found: Running) -> str:
    """How few entries hold half of the softmax's probability, and nearly all of it, and what they hold."""
    counts = dict.fromkeys(map(found.needed, (_SHARES[0], _SHARES[-1])))
    said = (
        f"the top {'one holds' if count == 1 else f'{count:,} hold'} {format_percent(found.shares[count - 1])}"
        for count in counts
    )
    return f"Of the probability {', '.join(said)}."


def show_every_position(view: View) -> None:
    """The most probable entry everywhere, read as one text; then the best five everywhere."""
    with open_card(view, PREDICTION, "Top prediction at every position, read as one text", f"argmax of {SCORES}"):
        st.latex(r"\hat{w}_t = \underset{v}{\mathrm{argmax}}\; L_{t,v}")
        show_passes(view, _show_choices)
        chosen_by = "By the logits: a change puts other probabilities there. " if is_put(view.trace, PROBS) else ""
        untrained = _name_untrained(view.trace)
        ignored = f"BERT was never trained to predict at {untrained}; ignore what stands there. " if untrained else ""
        st.caption(
            f"{chosen_by}{ignored}The notebook ends with this line; for bert-base-uncased and its sentence about Rome "
            f"it prints “{ANSWER}”."
        )
        st.code("tokenizer.decode(logits.argmax(dim=-1))", language="python")
    with st.container(border=True):
        st.markdown("**Top five predictions at every position**")
        shown = sorted({*find_masks(view.trace), *range(min(len(view.trace.tokens), _TABLE_ROWS))})
        show_passes(view, lambda one: _show_top_table(one.trace, shown))
        if len(shown) < len(view.trace.tokens):
            st.caption(f"Masked positions and the first {_TABLE_ROWS} of {len(view.trace.tokens)}.")


def _name_untrained(trace: Trace) -> str:
    """The special tokens of which nothing was ever asked in training, as far as some stand here."""
    asked = {trace.model.tokenizer.unk_token, *(trace.tokens[i] for i in find_masks(trace))}
    untrained = trace.model.tokenizer.special_tokens - asked
    names = [token for token in dict.fromkeys(trace.tokens) if token in untrained]
    return escape_markdown(join_words(names)) if names else ""


def _show_choices(view: View) -> None:
    """The most probable entries as one text, and each under the token at its position."""
    trace, tokenizer = view.trace, view.trace.model.tokenizer
    choices = choose_first(trace)
    st.html(f'<p class="bv-search">{escape(tokenizer.decode(choices))}</p>')
    chips = "".join(_render_chip(view, i, choice) for i, choice in enumerate(choices))
    st.html(f'<div class="bv-tokens">{chips}</div>')
    st.caption(tell_kept(trace))


def tell_kept(trace: Trace) -> str:
    """At how many positions the top prediction is the input's own token, and at how many others are as probable."""
    alone, shared, several = count_kept(trace)
    also = f"; at {shared} it is one of several that tie" if shared else ""
    positions = write_count(len(trace.encoding.real), "position")
    ties = f" Where several tie, at {several}, the first of them in the vocabulary stands here." if several else ""
    return f"At {alone} of {positions} the top prediction is the input token{also}.{ties}"


def _render_chip(view: View, i: int, choice: int) -> str:
    """A token, and the most probable entry at its position."""
    kinds = ("bv-token", *["bv-chosen"] * (i == view.chosen.token))
    after = f" <small>→ {escape(view.trace.model.tokenizer.name(choice))}</small>"
    return style.render_token(view.trace, i, *kinds, before=f"<small>{i}</small>", after=after)


def _show_top_table(trace: Trace, shown: Sequence[int]) -> None:
    """The top words at some positions: for long inputs, at the masked ones and the first ones."""
    names = label_tokens(trace)
    rows = [
        {
            "token": names[i],
            **{
                f"top {k + 1}": f"{quote_formula(w)} {format_number(p)}"
                for k, (w, p, _) in enumerate(rank_words(trace, i, 5))
            },
        }
        for i in shown
    ]
    st.dataframe(rows, hide_index=True, height="content")
