"""The predictions page's first part: the likeliest words at the chosen token, and the place of any word."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np
import streamlit as st

from bertviz_core.analysis.claims import Claim, Relation, Said, choose, say
from bertviz_core.analysis.made_from import is_put
from bertviz_core.analysis.predictions import PROBS, SCORES, Entry, count_holding, find_places, rank_words
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.errors import InputError
from bertviz_core.figures.softmax import draw_rank_curve
from bertviz_core.formula.numbers import format_percent
from bertviz_core.formula.steps import PREDICTION
from bertviz_core.formula.texts import name_token, tell_place, write_count
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import site, state, url
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.keys import ORIGIN_OF, Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import AFTER, BEFORE, DIFFERENCE, View
from bertviz_core.ui.panels import picks, table_html
from bertviz_core.ui.panels.card import open_card
from bertviz_core.ui.panels.panel import open_step_card
from bertviz_core.ui.panels.passes import show_passes_html, tell_words
from bertviz_core.ui.panels.said import name_word, tell_count, tell_number, tell_percent, tell_tied, tell_token
from bertviz_core.ui.panels.tables import Column, render_table

TOP = 12
_GUESSES = 20  # among which one with a name is looked for
_STYLE = read_css(Path(__file__).with_name("predictions.css"))
_WORD = Key("word", "", 80)


def write_headline(view: View) -> Said:
    """The likeliest word at the chosen token, and the next; with a what-if, what it was before."""
    trace, token = view.trace, view.chosen.token
    if PROBS not in trace:
        return say("Predictions: this checkpoint makes none")
    probs, ranked = trace[PROBS.fix(token=token)], rank_words(trace, token, 2)
    masked = trace.encoding.ids[token] == trace.model.tokenizer.mask_id
    blank = f"the blank{tell_place(trace.tokens, token, token)}"
    question = f"Which word fits {blank if masked else f'in place of {tell_token(trace.tokens, token)}'}? "
    (word, share, best), *others = ranked
    parts = {"share": tell_percent(share), "word": name_word(word)}
    first: list[Claim] = [Claim("likeliest", "{word} **{share}**", parts, Relation.HIGHEST, probs, (best,))]
    if view.outcome.changed and view.outcome.show != BEFORE:
        was = {"was": tell_percent(view.outcome.before[PROBS.fix(token=token)][best])}
        also = "also " if was["was"].text == parts["share"].text else ""
        first.append(Claim("likeliest before", f", {also}{{was}} before {view.outcome.yours}", was))
    tied = tell_tied("likeliest tie", "**{count} of {all} words** tie at **{share}**", probs)
    return say(question, choose(tied, say(*first, *(_tell_next(probs, best, word, i) for word, _, i in others))))


def _tell_next(probs: np.ndarray, best: int, word: str, i: int) -> Said:
    """What follows the likeliest entry: the next one, or those that share its place."""
    rest = np.delete(probs, best)
    parts = {"share": tell_percent(probs[i]), "word": name_word(word)}
    return choose(
        tell_tied("next tie", "; {count} words follow with **{share}** each", rest),
        Claim("next likeliest", "; {word} follows with **{share}**", parts, Relation.HIGHEST, rest, (i - (i > best),)),
    )


def show_words(view: View) -> None:
    """The likeliest entries as a table with bars; a word is looked up by a click, a number is explained."""
    st.html(_STYLE)
    trace, token = view.trace, view.chosen.token
    probs = PROBS.fix(token=token)
    says = f"of {trace.model.config.vocab_size:,} entries, at {name_token(trace.tokens, token)}"
    see = "Words that moved most" if view.outcome.compared else "Most likely words"
    with open_step_card(view, probs, see, says, worked=probs.fix(vocab=read_word(view)), name="words"):
        shown = _choose_shown(view)
        st.html(_render_words(view, shown))
        rest = float(np.delete(trace[probs].astype(np.float64), shown).sum())
        others = trace.model.config.vocab_size - len(shown)
        st.caption(f"{tell_words(view)}The {others:,} other entries together: {format_percent(rest)}.")
        site.show_link(site.get_page("layers"), "Layers: the words after each layer")
        own = read_word(view)
        name = escape_markdown(trace.model.tokenizer.name(own))
        asks = {ORIGIN_OF: str(SCORES.fix(token=token, vocab=own))}
        site.show_link(site.get_page("where_from"), f"Where from: what each token carried to “{name}”", query=asks)


def _choose_shown(view: View) -> list[int]:
    """The likeliest entries; where the difference is looked at, those that moved most."""
    here, found = PROBS.fix(token=view.chosen.token), view.outcome
    if found.changed and found.show == DIFFERENCE:
        return rank_top(np.abs(found.after[here].astype(np.float64) - found.before[here]), TOP)
    return rank_top(view.trace[here], TOP)


def _render_words(view: View, shown: Sequence[int]) -> str:
    """One row an entry: its rank, the word, its probability as a bar and as a number; and before a change."""
    here, found = PROBS.fix(token=view.chosen.token), view.outcome
    passes = {"probability": view.trace[here]}
    if found.changed:
        passes = {AFTER.lower(): found.after[here], BEFORE.lower(): found.before[here]}
        passes = dict(reversed(passes.items())) if found.show == BEFORE else passes
    end = max(float(row[shown].max()) for row in passes.values())
    ranks = {i: int((view.trace[here] > view.trace[here][i]).sum()) + 1 for i in shown}
    ends = f'<span class="bv-ends"><i>0</i><i>{format_percent(end)}</i></span>'
    rows = (_render_word(view, i, ranks[i], [float(row[i]) for row in passes.values()], end) for i in shown)
    table = table_html.write_table(table_html.write_heads(("rank", "word", ends, *passes)), rows)
    return table_html.write_region("Table by rank", table, "bv-words", picture=True, scrolls=False)


def _render_word(view: View, i: int, rank: int, shares: Sequence[float], end: float) -> str:
    """shares: the shown pass's first."""
    tokenizer = view.trace.model.tokenizer
    cell = PROBS.fix(token=view.chosen.token, vocab=i)
    bars = "".join(f'<i style="width:{share / end:.2%}"></i>' for share in shares)
    first, *others = (format_percent(share) for share in shares)
    cells = (
        f'<button data-choose="{_WORD.name}={escape(tokenizer.token(i))}" title="How it comes about">'
        f"{escape(tokenizer.name(i))}</button>",
        f'<span class="bv-bars">{bars}</span>',
        f'<button data-cell="{cell}" title="Work it out"><b>{first}</b></button>',
        *others,
    )
    return table_html.write_row(f"{rank:,}", table_html.write_cells(cells))


def read_word(view: View) -> int:
    """The entry whose way is shown: the one that was looked up, if the vocabulary has it, otherwise the likeliest."""
    trace, token, text = view.trace, view.chosen.token, state.read(_WORD)
    try:
        found = find_places(trace, token, text) if text.strip() else ()
    except InputError:
        found = ()
    return found[0].id if found else rank_words(trace, token, 1)[0][2]


def bind_word() -> None:
    """Let the word that is looked up stand in the URL, before anything is drawn that depends on it."""
    url.bind(_WORD)


def show_any_word(view: View) -> None:
    """Rank and probability of a word that the user types; at first, of the one that was typed there."""
    trace, token = view.trace, view.chosen.token
    own = _choose_word(view)
    with open_card(view, PREDICTION, f"Any word at position {token}", str(PROBS.fix(token=token))):
        text = st.text_input("Word to look up", key=_WORD.name, max_chars=_WORD.longest, placeholder=own)
        try:
            found = find_places(trace, token, text if text.strip() else own)
        except InputError as error:
            st.warning(escape_markdown(str(error)))
            return
        if not found:
            st.caption("The text is empty once control characters are removed. Type a word with visible characters.")
            return
        with st.container(key="wide-word"):
            looked_up = text if text.strip() else own
            show_passes_html(
                view, [_render_places(one, find_places(one.trace, token, looked_up)) for one in view.passes]
            )
        st.caption(tell_words(view) + _write_reading(trace, found) + _write_before(view, found[0]))
        _show_curve(view, found[0])


def _choose_word(view: View) -> str:
    """The token that was typed at the chosen position; where that is [MASK], the likeliest entry that has a name."""
    trace, token = view.trace, view.chosen.token
    tokenizer, typed = trace.model.tokenizer, view.typed if token < len(view.typed) else trace.encoding
    guesses = rank_words(trace, token, _GUESSES) if typed.ids[token] == tokenizer.mask_id else ()
    return next(filter(None, (tokenizer.token(i) for *_, i in guesses)), typed.tokens[token])


def _show_curve(view: View, looked_up: Entry) -> None:
    """All entries' probabilities by rank, with the likeliest and the one that is looked up."""
    here, found = PROBS.fix(token=view.chosen.token), view.outcome
    shares = np.sort(view.trace[here])[::-1]
    word, _, best = rank_words(view.trace, view.chosen.token, 1)[0]
    marks = {word: (1, best), looked_up.token: (looked_up.rank, looked_up.id)}
    before = np.sort(found.before[here])[::-1] if found.changed and found.show != BEFORE else None
    color = view.colors.kinds[PREDICTION]
    chart = draw_rank_curve(shares, {name: rank for name, (rank, _) in marks.items()}, view.colors, color, before)
    show_chart(
        chart.offer(picks.pick_points(view.trace, here, [i for _, i in marks.values()])),
        "rank-curve",
        "Every entry's probability by its rank",
    )
    st.caption(f"All entries by rank, both scales logarithmic. {tell_half(view)}")


def tell_half(view: View) -> Said:
    """How few entries hold half of the probability at the chosen token, and what these hold."""
    address = PROBS.fix(token=view.chosen.token)
    probs = view.trace[address].astype(np.float64)
    count, total = count_holding(probs, 0.5), float(probs.sum())
    held = float(np.sort(probs)[-count:].sum()) / (total or 1.0)
    parts = {"count": tell_count(count), "share": tell_percent(held), "sum": tell_number(total)}
    whole = "the sum of all, {sum}" if is_put(view.trace, address) else "the probability"
    top = "The top one holds" if count == 1 else "The top {count} hold"
    return choose(
        Claim("nothing held", "Every probability is 0.", {}, Relation.NONE, probs),
        Claim("half held", f"{top} {{share}} of {whole}.", parts),
    )


def _render_places(view: View, found: Sequence[Entry]) -> str:
    color = view.colors.kinds[PREDICTION]
    return render_table(
        "looked up",
        [entry.token for entry in found],
        [
            Column("id", [entry.id for entry in found]),
            Column("rank", [entry.rank for entry in found]),
            Column("logit", [entry.score for entry in found]),
            Column("probability", [entry.probability for entry in found], color, end=1.0),
        ],
    )


def _write_before(view: View, entry: Entry) -> str:
    """With a what-if: where the entry stood before."""
    found = view.outcome
    if not found.changed or found.show == BEFORE:
        return ""
    row = found.before[PROBS.fix(token=view.chosen.token)]
    rank = int((row > row[entry.id]).sum()) + 1
    return f" Before {view.outcome.yours}: rank {rank:,}, {format_percent(float(row[entry.id]))}."


def _write_reading(trace: Trace, found: Sequence[Entry]) -> str:
    size = trace.model.config.vocab_size
    unknown = trace.model.tokenizer.unk_token
    if any(entry.token == unknown for entry in found):
        return (
            f"The vocabulary cannot spell this: the tokenizer uses {escape_markdown(unknown)}, the one entry for "
            "everything unknown; its numbers are shown."
        )
    if len(found) > 1:
        return (
            f"The vocabulary has no such entry; the tokenizer splits it into {len(found)}. One position has one entry, "
            "never the whole word; each piece has its own rank. The curve marks the first piece."
        )
    above = found[0].rank - 1
    have = f"{write_count(above, 'entry has', 'entries have')} a higher probability"
    return f"Rank {found[0].rank:,} of {size:,}: {have}."
