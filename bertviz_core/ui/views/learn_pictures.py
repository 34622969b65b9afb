"""What a lesson is about, as a picture of the pass on screen, small enough for its card on *Learn*."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from html import escape

import numpy as np

from bertviz_core.analysis.ranking import rank_top
from bertviz_core.errors import AddressError
from bertviz_core.formula.numbers import format_percent, write_fixed
from bertviz_core.formula.steps import ATTENTION, EMBEDDING, NORM, PREDICTION
from bertviz_core.formula.texts import shorten, spell_controls
from bertviz_core.lessons.layer_keys import read_sum
from bertviz_core.lessons.scene import Scene
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.ui.frame.view import View

_BARS, _COLUMNS, _TOKENS, _LETTERS = 5, 96, 16, 10  # bars; components, tokens and letters that have room
_ROWS = (
    ("word", "word_embeddings"),
    ("+ position", "position_embeddings"),
    ("+ segment", "token_type_embeddings"),
    ("= sum", "sum"),
)


def tell_changes(view: View) -> str:
    """That pictures and lessons are about the pass without what is changed in it, where anything is."""
    return "The pictures below show it without your changes, and so do lessons begin." if view.outcome.changed else ""


def render_picture(lesson: str, scene: Scene) -> str:
    """The picture on a lesson's card, as HTML that says in words what it is, or that the model has it not."""
    try:
        told, drawn = _DRAWN[lesson](scene)
    except AddressError:
        told, drawn = "This model has no such numbers", "<p>This model has no such numbers.</p>"
    return f'<div class="bv-card-picture" role="img" aria-label="{escape(told)}">{drawn}</div>'


def _draw_tokens(scene: Scene) -> tuple[str, str]:
    ids = scene.trace.encoding.ids
    chips = "".join(f"<span><b>{escape(_name(scene, i))}</b>{ids[i]}</span>" for i in range(min(len(ids), _TOKENS)))
    if len(ids) > _TOKENS:
        chips += f"<span><b>…</b>{len(ids)} in all</span>"
    return "The tokens of the sentence, with their ids", f'<div class="bv-card-tokens">{chips}</div>'


def _draw_embeddings(scene: Scene) -> tuple[str, str]:
    rows = {
        name: scene.trace[f"embeddings.{path}[token={scene.token}]"][:_COLUMNS].astype(np.float64)
        for name, path in _ROWS
    }
    end = max(float(np.abs(row).max()) for row in rows.values()) or 1.0
    drawn = "".join(f"<span>{name}</span>{_draw_strip(row / end, EMBEDDING)}" for name, row in rows.items())
    told = f"The first components of the embeddings of {scene.here}, and of their sum"
    return told, f'<div class="bv-card-strips">{drawn}</div>'


def _draw_attention(scene: Scene) -> tuple[str, str]:
    row = scene.read_row("probs")
    weights = scene.trace[scene.find_attention("probs")][:_TOKENS, :_TOKENS]
    shown = [(_name_apart(scene, i), float(row[i])) for i in rank_top(row, _BARS)]
    place = f"layer {scene.layer}, head {scene.head}"
    bars = _draw_bars(shown, ATTENTION, format_percent)
    cut = f" (map: tokens 0 to {_TOKENS - 1})" if len(row) > _TOKENS else ""
    return (
        f"Attention weights of {place}, and the largest of {scene.here}: {_tell(shown)}",
        f"{_draw_map(weights)}{bars}<p>{place}: weights of {escape(scene.here)}{cut}</p>",
    )


def _draw_layer(scene: Scene) -> tuple[str, str]:
    was, added, total, _ = read_sum(scene)
    lengths = [("was there", was), ("added", added), ("the sum", total)]
    told = ", ".join(f"{name} {write_fixed(length, 2)}" for name, length in lengths)
    bars = _draw_bars(lengths, NORM, lambda each: write_fixed(each, 2))
    place = f"layer {scene.layer}"
    return (
        f"Lengths of vectors of {scene.here} in {place}: {told}",
        f"{bars}<p>{place}: lengths of vectors of {escape(scene.here)}</p>",
    )


def _draw_words(scene: Scene) -> tuple[str, str]:
    shares = scene.read_shares()
    shown = [(scene.model.tokenizer.name(i), float(shares[i])) for i in rank_top(shares, _BARS)]
    return f"The likeliest words at {scene.here}: {_tell(shown)}", _draw_bars(shown, PREDICTION, format_percent)


def _draw_heads(scene: Scene) -> tuple[str, str]:
    config = scene.model.config
    rows = [
        scene.trace[ATTENTION_WEIGHTS.in_layer(layer).fix(query=scene.token)].max(axis=-1)
        for layer in range(config.num_hidden_layers)
    ]
    told = f"How much {scene.here} gives the token that it looks at most, in each head of each layer"
    return told, f"{_draw_map(np.stack(rows))}<p>each head’s largest weight of {escape(scene.here)}</p>"


_DRAWN: Mapping[str, Callable[[Scene], tuple[str, str]]] = {
    "tokens": _draw_tokens,
    "embeddings": _draw_embeddings,
    "attention": _draw_attention,
    "layer": _draw_layer,
    "words": _draw_words,
    "whatif": _draw_heads,
}


def _name(scene: Scene, position: int) -> str:
    return shorten(spell_controls(scene.tokens[position]), _LETTERS)


def _name_apart(scene: Scene, position: int) -> str:
    """With its position, where the token stands elsewhere as well."""
    again = scene.tokens.count(scene.tokens[position]) > 1
    return f"{_name(scene, position)}{f' {position}' if again else ''}"


def _tell(shown: Iterable[tuple[str, float]]) -> str:
    return ", ".join(f"{name} {format_percent(share)}" for name, share in shown)


def _draw_bars(shown: Iterable[tuple[str, float]], kind: str, write: Callable[[float], str]) -> str:
    shown = [*shown]
    end = max((value for _, value in shown), default=0.0) or 1.0
    rows = "".join(
        f'<span>{escape(name)}</span><i style="width:{value / end:.1%};background:var(--bv-{kind}-cell)"></i>'
        f"<span>{write(value)}</span>"
        for name, value in shown
    )
    return f'<div class="bv-card-bars">{rows}</div>'


def _draw_map(parts: np.ndarray) -> str:
    """Cells from 0 to 1, row by row."""
    rows = "".join(_draw_strip(row, ATTENTION) for row in parts.astype(np.float64))
    return f'<div class="bv-card-map" style="--columns:{parts.shape[1]};--rows:{len(parts)}">{rows}</div>'


def _draw_strip(parts: np.ndarray, kind: str) -> str:
    """Numbers from -1 to 1 side by side: of a kind's colour above 0, grey below, the farther the darker."""
    stops = ",".join(
        f"color-mix(in srgb,var(--bv-{f'{kind}-cell' if part > 0 else 'faint'}) {abs(part):.0%},var(--bv-track)) "
        f"{i / len(parts):.2%} {(i + 1) / len(parts):.2%}"
        for i, part in enumerate(parts.tolist())
    )
    return f'<i style="background:linear-gradient(90deg,{stops})"></i>'
