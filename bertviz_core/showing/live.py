"""The canvas of a whole pass in one file that needs no server: in a notebook's cell, or opened by itself."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from bertviz_core.analysis.canvas import PASS, Faces, Spot, choose_rows
from bertviz_core.analysis.labels import list_looks
from bertviz_core.analysis.openings import open_head, open_token
from bertviz_core.errors import ArgumentError, InputError
from bertviz_core.figures.palette import DARK, LIGHT, PALETTES
from bertviz_core.showing.canvas import Place, describe_pass, draw_strips, write_place
from bertviz_core.showing.canvas_stops import list_stops
from bertviz_core.showing.canvas_strips import Pack
from bertviz_core.showing.provenance import join_tokens, tell_model
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.components.colors import list_all_colors
from bertviz_core.ui.components.joining import FOLDER, join_modules
from bertviz_core.ui.components.selectors import read_rules

AUTO = "auto"
_ROWS = 64  # tokens that are drawn at most
_ALL_HEADS = 160  # heads of a model whose every head can be chosen; else those of the first layer, and one of each
_OPEN = "$open_alone"
# Only what the file itself holds: nothing is fetched, whatever a token of the sentence says.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"


@dataclass(frozen=True, eq=False)
class Live:
    """The picture of a pass that can be gone through. `save` writes it as a file; a notebook shows it in its cell."""

    trace: Trace
    theme: str
    height: int

    @cached_property
    def html(self) -> str:
        """The page: all that it needs is in it, and it asks for nothing."""
        canvas = FOLDER / "canvas"
        style = f"{read_rules(canvas / 'index.css')}{read_rules(Path(__file__).with_name('live.css'))}"
        body = (canvas / "index.html").read_text(encoding="utf-8")
        script = join_modules(canvas / "alone.js", FOLDER, _OPEN)
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(join_tokens(self.trace))}</title><style>{style}</style></head><body>"
            '<div class="alone-head"><span class="alone-value"></span><span class="alone-code">Click a number.</span>'
            f'<span class="alone-about">{escape(tell_model(self.trace))}</span></div>{body}'
            f'<script type="text/plain" id="bvc-kept">{_pack(self.trace, self.theme)}</script>'
            f'<script type="module">{script}\n{_OPEN}(document);</script></body></html>'
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page as one .html file, which opens anywhere and without a network."""
        Path(path).write_text(self.html, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<The pass of {self.trace!r} as a page; save it with .save('pass.html')>"

    def _repr_html_(self) -> str:
        look = f"width:100%;height:{self.height}px;border:0;border-radius:12px"
        name = escape(f"The forward pass of {join_tokens(self.trace)}")
        return f'<iframe title="{name}" style="{look}" srcdoc="{escape(self.html)}"></iframe>'


def show_pass(trace: Trace, *, theme: str = AUTO, height: int = 720) -> Live:
    """The whole pass as one picture to go through: zoom, point at numbers, play the ten stops of the walk.

    It shows itself in a notebook and is saved with `save("pass.html")`; neither asks for anything. It opens at the
    masked token, or the last word, and at the head that the app opens; every layer, head and token can be chosen, heads
    of other tokens excepted. The walk is told where it opens. theme: "light", "dark", or "auto" for the notebook's own;
    height: of the cell in pixels. Raises InputError for another theme or height, ArgumentError for what is no trace.

        >>> bv.show_pass(trace).save("pass.html")
    """
    if not isinstance(trace, Trace):
        raise ArgumentError.of("The pass to show must be a trace", trace, "Make one with bv.run(model, text).")
    if theme not in (AUTO, *PALETTES):
        raise InputError(f'There is no theme {theme!r}. Choose "{AUTO}", "{LIGHT}" or "{DARK}".')
    if not 420 <= height <= 4_000:
        raise InputError(f"The picture is 420 to 4,000 pixels high, not {height}. Choose a height in between.")
    return Live(trace, theme, int(height))


def _pack(trace: Trace, theme: str) -> str:
    """What the page shows, in base64."""
    token = open_token(trace).token
    opened = open_head(trace, token)
    window = choose_rows(token, len(trace.tokens), None, _ROWS)
    first = Spot(opened.layer, opened.head, token, None, window)
    faces, pack, stages = Faces(trace, trace), Pack(), dict[str, int]()
    spots = {
        f"{spot.layer},{spot.head},{spot.token}": _write_spot(faces, spot, first, pack, stages)
        for spot in _list_spots(trace, first)
    }
    kept = {
        "theme": theme,
        "colors": {name: list_all_colors(palette) for name, palette in PALETTES.items()},
        "place": write_place(Place(PASS, first, 0)),
        "common": {
            "sentence": join_tokens(trace), "pair": "", "changed": False, "why": opened.reason, "whole": [],
            "lesson": "", "examples": [], "letters": [_list_letters(trace, i) for i in window],
            **describe_pass(faces, window), "bytes": pack.write(),
        },
        "stages": [json.loads(stage) for stage in stages],
        "spots": spots,
    }  # fmt: skip
    return base64.b64encode(gzip.compress(json.dumps(kept).encode(), mtime=0)).decode()


def _list_spots(trace: Trace, first: Spot) -> Iterator[Spot]:
    """Every layer and head at the first token, as far as there are not too many, and every token at the first head."""
    config = trace.model.config
    every = config.num_hidden_layers * config.num_attention_heads <= _ALL_HEADS
    for layer in range(config.num_hidden_layers):
        for head in range(config.num_attention_heads):
            if every or layer == first.layer or head == first.head:
                yield Spot(layer, head, first.token, None, first.window)
    for token in first.window:
        if token != first.token:
            yield Spot(first.layer, first.head, token, None, first.window)


def _write_spot(faces: Faces, spot: Spot, first: Spot, pack: Pack, stages: dict[str, int]) -> dict[str, Any]:
    """What is drawn at a place; its strips by their number, as most of them stand at many places."""
    drawn = draw_strips(faces, spot, pack)
    numbered = []
    for strip in drawn.pop("stages"):
        limit = strip.pop("limit")
        numbered.append([stages.setdefault(json.dumps(strip), len(stages)), limit])
    return {**drawn, "stages": numbered, "stops": list_stops(faces.drawn, spot) if spot == first else []}


def _list_letters(trace: Trace, i: int) -> dict[str, object] | None:
    """What stood where a token stands: the trace has no more of the text than its tokens."""
    looks = list_looks(trace, i)
    if looks["special"]:
        return None
    return {"text": trace.tokens[i].removeprefix("##"), "apart": not looks["piece"]}
