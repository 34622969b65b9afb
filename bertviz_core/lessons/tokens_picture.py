"""What the handout of the lesson on tokens shows: a part of the vocabulary, and boxes for the sentence."""

from __future__ import annotations

from bertviz_core.formula.numbers import format_number
from bertviz_core.lessons.drawing import (
    WIDTH,
    draw_box,
    draw_picture,
    draw_text,
    write_figure,
    write_label,
    write_table,
)
from bertviz_core.lessons.lesson import Picture
from bertviz_core.lessons.scene import Scene

_ACROSS, _LEFT, _TOP, _HIGH = 12, 52, 14, 24  # boxes in a row; pixels
_SPARE = 9  # boxes more than tokens, at least: how many there are is asked
_MOST, _BEGINNING = 36, 24  # boxes; and of a sentence that is too long for them
_TOLD = 40  # tokens that the key tells
_ENTRIES = 64


def draw_tokens(scene: Scene) -> Picture:
    """The entries of the vocabulary that the sentence needs, and empty boxes, more than it has tokens."""
    figures = (
        write_figure("From the vocabulary: entries and their ids", _write_entries(scene), wide=True),
        write_figure("The sentence: a token to a box, its id below it", _draw_boxes(scene), wide=True),
    )
    ids = scene.trace.encoding.ids
    told = tuple(f"{token} {id}" for token, id in zip(scene.tokens, ids, strict=True))  # noqa: A001 - the term
    return Picture("".join(figures), (*told[:_TOLD], *(("…",) if len(told) > _TOLD else ())))


def _write_entries(scene: Scene) -> str:
    """By id; special ones too, so that their number does not tell how many tokens the sentence has."""
    tokenizer = scene.model.tokenizer
    special = {found for token in tokenizer.special_tokens if (found := tokenizer.id(token)) is not None}
    entries = sorted(special | set(scene.trace.encoding.ids))[:_ENTRIES]
    rows = [(write_label(tokenizer.name(entry), 12), str(entry)) for entry in entries]
    return write_table(("entry", "id"), rows, across=True)


def _draw_boxes(scene: Scene) -> str:
    wanted = len(scene.tokens) + _SPARE if len(scene.tokens) + _SPARE <= _MOST else _BEGINNING
    lines, width = -(-wanted // _ACROSS), (WIDTH - _LEFT) / _ACROSS
    high = _TOP + 2 * _HIGH + 8
    parts: list[str] = []
    for line in range(lines):
        y = line * high + _TOP
        for i, name in enumerate(("token", "id")):
            parts.append(draw_text(0, y + _HIGH * i + 16, name, font_size=12))
        for column in range(_ACROSS):
            x, number = _LEFT + column * width, line * _ACROSS + column
            parts.append(draw_text(x + width / 2, y - 4, format_number(number), font_size=10, text_anchor="middle"))
            parts += [
                draw_box(x, y + i * _HIGH, width, _HIGH, fill="none", stroke="#888", stroke_width=0.8) for i in (0, 1)
            ]
    return draw_picture(WIDTH, lines * high, "Empty boxes for tokens and their ids", parts)
