"""When the answer can be read: the likeliest words after every layer, and how far the vector moves meanwhile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise

import numpy as np
import streamlit as st

from bertviz_core.analysis import layers
from bertviz_core.analysis.claims import Claim, Part, Said, choose, say, say_largest
from bertviz_core.analysis.openings import open_layer_for_answer
from bertviz_core.analysis.predictions import PROBS
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_percent
from bertviz_core.formula.steps import NORM, PREDICTION
from bertviz_core.formula.texts import name_token, write_ordinal
from bertviz_core.ui.frame import url
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.place import read_index
from bertviz_core.ui.frame.told import offer_number
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import table_html
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.panels.passes import show_passes_html, tell_ghosts, tell_words
from bertviz_core.ui.panels.pictures import write_picture
from bertviz_core.ui.panels.put import tell_put
from bertviz_core.ui.panels.said import name_word, tell_degrees, tell_percent, tell_tied, tell_token
from bertviz_core.ui.views.layers_columns import STYLE, name_columns, render_row, render_stages

PLACES = 5
_HEAD, _ROW, _COLUMN = 22.0, 39.0, 100.0  # the lines' own units for the head, a row and a stage
_NAMES = ("1st", "2nd", "3rd", "4th", "5th")
_NAMED = 2  # words that lead at first, by name
_FOLLOWED = Key("followed", "")


def write_headline(view: View) -> Said:
    """Who leads on the way, from where on the final word does, and how it ends; without an LM head, who turns most."""
    winners = layers.list_winners(view.trace, view.chosen.token)
    if not winners:
        return _tell_turn(view)
    opened, last = open_layer_for_answer(view.trace, view.chosen.token), winners[-1]
    since = 0 if opened.led else opened.layer + 1
    parts = {"share": tell_percent(last.probability), "word": name_word(last.word), "where": Part(_name_stage(since))}
    led = [winner.id == last.id for winner in winners[:since]]
    told = _tell_regained(led, parts) if any(led) else _tell_from([winner.word for winner in winners[:since]], parts)
    form = "None is likeliest at the end, where **{count} of {all} words** tie at **{share}**"
    tied = tell_tied("words tie at the end", form, view.trace[PROBS.fix(token=view.chosen.token)])
    return say("When is the answer there? ", choose(tied, told))


def _tell_regained(led: Sequence[bool], parts: Mapping[str, Part]) -> Said:
    """Where the final word leads first, where it loses the lead, and from where on it has it again. led: whether it
    leads, at every stage before that."""
    first = led.index(True)
    stages = {"first": Part(_name_stage(first)), "lost": Part(_name_stage(led.index(False, first)))}
    form = "**{word}** leads after **{first}**, loses after {lost}, leads from **{where}** on, ends at **{share}**"
    return say(Claim("likeliest again", form, {**parts, **stages}))


def _tell_from(words: Sequence[str], parts: Mapping[str, Part]) -> Said:
    """Who leads at first, and from where on the final word does. words: of those that lead before it."""
    first = [quote(word) for word in dict.fromkeys(words)]
    form = f"{'from' if first else 'From'} **{{where}}** on it is **{{word}}**, at the end with **{{share}}**"
    likeliest = Claim("likeliest from", form, parts)
    if not first:
        return say(likeliest)
    names = f"{', '.join(first[:_NAMED])} …" if len(first) > _NAMED else " and ".join(first)
    are = Part("is" if len(first) == 1 else "are")
    return say(
        Claim("likeliest at first", "{names} {are} likeliest first; ", {"names": Part(names), "are": are}), likeliest
    )


def _name_stage(stage: int) -> str:
    return f"layer {stage - 1}" if stage else "the embeddings"


def _tell_turn(view: View) -> Said:
    states = layers.stack_vectors(view.trace)[:, view.chosen.token]
    angles = np.nan_to_num(layers.compute_angles(states[1:], states[:-1]))
    most = int(angles.argmax())
    parts = {
        "angle": tell_degrees(angles[most]),
        "word": tell_token(view.trace.tokens, view.chosen.token),
        "layer": Part(most),
    }
    ask = "How does {word} move? "
    if len(angles) == 1:
        return say(Claim("turns", f"{ask}In the only layer it turns by **{{angle}}**", parts))
    return say_largest(
        ("turns most", f"{ask}It turns most in **layer {{layer}}**, by **{{angle}}**"),
        ("turns no more", f"{ask}It turns in no layer more than in **layer {{layer}}**, by **{{angle}}**"),
        parts,
        angles,
        (most,),
    )


def quote(word: str) -> str:
    return f"“{escape_markdown(word)}”"


def read_lens(view: View) -> layers.Lens | None:
    """What the LM head reads of the chosen token at every stage; None without one."""
    return layers.Lens(view.trace, view.chosen.token) if "cls.predictions.probs" in view.trace else None


def show_ladder(view: View, lens: layers.Lens) -> None:
    """The lead: the likeliest words after every layer, the followed one marked on its way. A click follows another."""
    probs = lens.probs
    url.bind(_FOLLOWED)
    word = _read_word(view, int(probs[-1].argmax()))
    offer_number(Address("cls.predictions.probs").fix(token=view.chosen.token, vocab=int(probs[-1].argmax())))
    best = lens.list_best(PLACES)
    token, followed = name_token(view.trace.tokens, view.chosen.token), view.trace.model.tokenizer.name(word)
    heading = Heading(
        "The answer, read after every layer",
        f"five likeliest words at {token}; dark: the word followed, “{followed}”",
        _write_formula(view),
        "nostalgebraist 2020, logit lens; head: Devlin et al. 2018",
    )
    with open_card(view, PREDICTION, heading, "the LM head, on every stage of the token's way", name="ladder") as tools:
        with tools:
            entries = view.trace.model.tokenizer.vocabulary
            show_values(
                "ladder", Values(probs[:, np.unique(best)], name_columns(view), [entries[i] for i in np.unique(best)])
            )
        st.html(STYLE)
        show_passes_html(view, [_read_ladder(one, word) for one in view.passes])
        put = tell_put(view, *lens.places).strip()
        ghosts = tell_ghosts(_read_before(view, probs, best))
        if told := " ".join(filter(None, (ghosts.strip(), tell_words(view), _tell_ties(view), put))):
            st.caption(told)


def _tell_ties(view: View) -> str:
    """How those are ordered that share the first place after some layer."""
    probs = [layers.Lens(one.trace, view.chosen.token).probs for one in view.passes]
    tied = any(((rows == rows.max(axis=1, keepdims=True)).sum(axis=1) > 1).any() for rows in probs)
    return "Words that tie for the first place stand in the order of the vocabulary." if tied else ""


def _write_formula(view: View) -> str:
    """The lens: the head on the token's vector after any layer."""
    kinds = view.colors.kinds
    return (
        rf"\textcolor{{{kinds[PREDICTION]}}}{{P^{{(l)}}}} = \mathrm{{softmax}}(\mathrm{{LMhead}}("
        rf"\textcolor{{{kinds[NORM]}}}{{X^{{(l)}}}}_{{{view.chosen.token}}}))"
    )


def _read_ladder(view: View, word: int) -> str:
    lens = layers.Lens(view.trace, view.chosen.token)
    return _render_ladder(view, lens.probs, lens.list_best(PLACES), word, lens.ranks(word))


def _read_before(view: View, probs: np.ndarray, best: Sequence[list[int]]) -> np.ndarray | None:
    """(stage, place) what the likeliest words had before the changes; None where that is not shown, or reads alike."""
    if view.ghost is None:
        return None
    now, was = (_take(each, best) for each in (probs, layers.Lens(view.ghost, view.chosen.token).probs))
    moved = any(format_percent(a) != format_percent(b) for a, b in zip(now.flat, was.flat, strict=True))
    return was if moved else None


def _take(probs: np.ndarray, best: Sequence[list[int]]) -> np.ndarray:
    """(stage, place) the probabilities of these words."""
    return np.take_along_axis(probs, np.array(best), axis=1)


def _read_word(view: View, final: int) -> int:
    """The vocabulary entry that is followed: the one that was clicked, else the final winner."""
    asked = read_index(_FOLLOWED, len(view.trace.model.tokenizer.vocabulary), "vocabulary", [])
    return final if asked is None else asked


def _render_ladder(view: View, probs: np.ndarray, best: Sequence[list[int]], word: int, ranks: np.ndarray) -> str:
    deep, shares, before = bool((ranks > PLACES).any()), _take(probs, best), _read_before(view, probs, best)
    was = shares if before is None else before
    end = float(max(shares.max(), was.max()))
    rows = [
        render_row(
            view,
            name,
            [
                _render_word(view, each[k], float(shares[stage, k]), float(was[stage, k]), end, each[k] == word)
                if k < len(each)
                else ""
                for stage, each in enumerate(best)
            ],
        )
        for k, name in enumerate(_NAMES)
    ]
    if deep:
        text = escape(view.trace.model.tokenizer.name(word))
        rows.append(
            render_row(
                view,
                "below",
                [
                    f'<button class="bv-down" data-choose="{_FOLLOWED.name}={word}"><i>{text}</i> '
                    f"<b>{write_ordinal(rank)}</b></button>"
                    if rank > PLACES
                    else ""
                    for rank in ranks.tolist()
                ],
            )
        )
    lines = _draw_lines(best, word, ranks, view)
    sizes = f"--stages:{len(probs)};--rows:{PLACES + deep}"
    drawn = f'<div style="{sizes}"><img alt="" src="{lines}">{render_stages(view, "place", rows)}</div>'
    return table_html.write_region("The likeliest words by stage", drawn, "bv-ladder", picture=True)


def _render_word(view: View, entry: int, share: float, was: float, end: float, followed: bool) -> str:
    """A word with its share, and below it, thin, what that was before the changes. end: of the bars' scale."""
    kind = ' class="bv-follow"' if followed else ""
    text, before = map(format_percent, (share, was))
    ghost = f'<u style="--part:{was / end:.3f}"></u>' if before != text else ""
    return (
        f'<button{kind} data-choose="{_FOLLOWED.name}={entry}" style="--part:{share / end:.3f}">'
        f"<i>{escape(view.trace.model.tokenizer.name(entry))}</i> <b>{text}</b>{ghost}</button>"
    )


def _draw_lines(best: Sequence[list[int]], word: int, ranks: np.ndarray, view: View) -> str:
    """Lines behind the words: from each to itself after the next layer; the followed one's bold, dotted from below."""
    paths = []
    for stage, (now, after) in enumerate(pairwise(best)):
        for entry in sorted({*now, word}):
            start, end = (each.index(entry) if entry in each else PLACES for each in (now, after))
            curve = f'<path d="{_curve(stage, start, end)}"'
            if entry == word:
                dots = ' stroke-dasharray="2 4"' if PLACES in (start, end) else ""
                paths.append(f'{curve} stroke="{view.colors.text}" stroke-width="2.5"{dots}/>')
            elif PLACES not in (start, end):
                paths.insert(0, f'{curve} stroke="{view.colors.faint}" opacity=".45"/>')
    rows = PLACES + bool((ranks > PLACES).any())
    return write_picture(_COLUMN * len(best), _HEAD + _ROW * rows, "".join(paths), stretched=True)


def _curve(stage: int, start: int, end: int) -> str:
    left, right = (stage + 0.5) * _COLUMN, (stage + 1.5) * _COLUMN
    middle, y, z = (stage + 1) * _COLUMN, _HEAD + (start + 0.5) * _ROW, _HEAD + (end + 0.5) * _ROW
    return f"M{left} {y}H{middle - 6}C{middle} {y} {middle} {z} {middle + 6} {z}H{right}"
