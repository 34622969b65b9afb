"""Colours and HTML that Streamlit has no widget for: symbols in their colour, tokens as chips, a few CSS rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import streamlit as st

from bertviz_core.checkpoint.tokenizer import Encoding
from bertviz_core.figures.palette import Palette, choose_palette
from bertviz_core.formula.nodes import Symbol
from bertviz_core.formula.numbers import format_number

CSS = """
<style>
.bv-tokens { display: flex; flex-wrap: wrap; gap: 4px; font-family: monospace; font-size: 0.9rem; }
.bv-token { padding: 1px 7px 2px; border-radius: 6px; border: 1px solid transparent; white-space: pre; }
.bv-token small { opacity: 0.72; margin-right: 5px; }
.bv-special { font-weight: 700; border-style: dashed; border-color: currentColor; }
.bv-piece { border-top-left-radius: 0; border-bottom-left-radius: 0; margin-left: -4px; }
.bv-pad { opacity: 0.65; }
.bv-word { border-color: currentColor; }
.bv-chosen { outline: 2px solid currentColor; }
.bv-shape { font-family: monospace; font-size: 0.82rem; overflow-wrap: anywhere; }
.bv-panel-title { border-left: 4px solid; padding-left: 10px; }
.bv-panel-title b { font-size: 1.05rem; }
.bv-answer { font-family: monospace; display: grid; grid-template-columns: max-content 1fr max-content; gap: 2px 10px;
             align-items: center; max-width: 460px; }
.bv-answer i { display: block; height: 10px; border-radius: 3px; min-width: 1px; }
.bv-search { font-family: monospace; line-height: 1.9; overflow-wrap: anywhere; }
.bv-search s { opacity: 0.72; margin-right: 8px; }
.bv-search b { margin-right: 8px; }
.bv-canvas { display: grid; column-gap: 4px; overflow-x: auto; padding: 4px 4px 8px;
             font-family: monospace; font-size: 0.8rem; }
.bv-head { border-top: 4px solid transparent; line-height: 1.25; padding: 4px 0 8px; font-size: 0.66rem;
           align-self: end; }
.bv-head b { font-family: sans-serif; font-size: 0.78rem; }
.bv-cell { display: flex; align-items: center; gap: 6px; white-space: nowrap; }
.bv-canvas .bv-token { padding: 0 6px; line-height: 20px; }
.bv-canvas img { width: 100%; height: 100%; image-rendering: pixelated; min-width: 0; border-radius: 2px; }
.bv-stick { position: sticky; left: 0; z-index: 1; }
.bv-table { overflow-x: auto; padding: 3px; }
.bv-table table { border-collapse: collapse; font-family: monospace; font-size: 0.82rem; }
.bv-table th, .bv-table td { padding: 2px 10px; text-align: right; white-space: pre; font-weight: 400; border: none; }
.bv-table th:first-child { text-align: left; padding-left: 4px; }
.bv-table thead th { font-weight: 600; vertical-align: bottom; }
.bv-table .bv-chosen { outline-offset: -2px; }
.st-key-inputs-table .bv-table, .st-key-vocabulary-table .bv-table { max-height: 443px; overflow-y: auto; }
.bv-table thead th { position: sticky; top: 0; backdrop-filter: blur(14px); }
.st-key-hidden-tokens button * { font-family: monospace; }
.st-key-hidden-tokens button[aria-pressed="true"] * { text-decoration: line-through; }
.bv-chosen-row { outline: 2px solid currentColor; border-radius: 3px; pointer-events: none; }
[class*="st-key-pick-"] { position: absolute; width: 0 !important; height: 0; overflow: hidden; }
.bv-crumbs { display: flex; flex-wrap: wrap; align-items: center; gap: 0 6px; }
.bv-crumbs :last-child { margin-left: auto; }
.bv-crumbs button, .bv-onward button { font: 0.82rem/1.4 monospace; color: var(--accent); background: none; border: 0;
  border-radius: 4px; padding: 5px 4px; text-align: left; overflow-wrap: anywhere; }
.bv-crumbs button:hover, .bv-onward button:hover { text-decoration: underline; }
:is(.bv-crumbs, .bv-onward) button:focus-visible { outline: 3px solid var(--accent); outline-offset: -1px; }
.bv-onward table { border-collapse: collapse; width: 100%; font: 0.82rem/1.4 monospace; }
.bv-onward caption { font: 600 1rem/1.6 sans-serif; text-align: left; padding: 0 4px 2px; }
.bv-onward th { font-weight: 400; color: var(--faint); text-align: right; padding: 2px 4px 4px 10px; }
.bv-onward td { text-align: right; white-space: nowrap; padding: 5px 4px 5px 10px; border-top: 1px solid var(--line); }
.bv-onward :is(td, th):first-child { text-align: left; white-space: normal; padding-left: 4px; }
.bv-onward td:first-child { padding: 0; }
.bv-onward td button { width: 100%; }
.bv-onward p { color: var(--faint); font-size: 0.85rem; margin: 6px 4px; }
@media (max-width: 640px) { .bv-onward table, .bv-onward td button { font-size: 0.74rem; }
  .bv-onward td, .bv-onward th { padding-left: 5px; } }
.bv-onward .bv-story { font: inherit; border: 1px solid var(--line); border-radius: 8px; padding: 6px 12px; }
.st-key-pass-map { gap: 0 1.3rem; padding: 3px; }
.st-key-pass-map > * { flex: none; position: relative; }
.st-key-pass-map > :not(:last-child)::after { content: "→"; position: absolute; right: -1.15rem; top: 50%;
  transform: translateY(-50%); opacity: 0.6; }
.st-key-pass-map a { padding: 0.1rem 0.35rem; }
.st-key-stage-here { outline: 2px solid currentColor; outline-offset: -1px; border-radius: 6px; }
.st-key-sentence-bar { flex-wrap: wrap; }
.st-key-sentence-bar > :first-child { min-width: min(100%, 420px); }
.st-key-selection-bar > :has(.st-key-token-menu) { max-width: 260px; }
.st-key-token, .st-key-key_token, .st-key-mask, .st-key-changes { display: none; }
.stMainBlockContainer { padding-top: 3.5rem; }
h1 { font-size: 2.1rem !important; padding-bottom: 0.4rem !important; }
h2 { font-size: 1.35rem !important; }
[class*="st-key-steps-"] ul { padding-left: 0; margin: 0; }
[class*="st-key-steps-"] li { list-style: none; break-inside: avoid; margin: 0 0 0.9rem; padding-left: 0; }
@media (min-width: 1100px) { [class*="st-key-steps-"] ul { columns: 2; column-gap: 2.5rem; } }
.bv-term { position: relative; cursor: help; text-decoration: underline dotted; text-underline-offset: 3px; }
.bv-term [role="tooltip"] { display: none; position: absolute; left: 0; top: 1.6em; z-index: 1000; width: max-content;
  max-width: 300px; padding: 6px 10px; border-radius: 8px; font-size: 0.875rem; line-height: 1.4;
  background: var(--term-surface, Canvas); color: var(--term-text, CanvasText); border: 1px solid currentColor; }
.bv-term:is(:hover, :focus) [role="tooltip"] { display: block; }
@media (max-width: 640px) { .bv-term [role="tooltip"] { position: fixed; left: 12px; right: 12px; top: auto;
  bottom: 12px; width: auto; max-width: none; } }
.katex-display { overflow-x: auto; overflow-y: hidden; padding: 2px 4px; }
</style>
"""


def read_colors() -> Palette:
    """The palette of the theme that the browser shows."""
    return choose_palette(st.context.theme.type)


def make_painter(colors: Palette) -> Callable[[Symbol], str]:
    """Typesets symbols in the colour of their kind; parameters and inputs in the text's own."""

    def paint(symbol: Symbol) -> str:
        color = colors.kinds.get(symbol.kind)
        return rf"\textcolor{{{color}}}{{{symbol.tex}}}" if color else symbol.tex

    return paint


def render_tokens(encoding: Encoding, colors: Palette, special: frozenset[str], chosen: int | None = None,
                  below: Sequence[str] | None = None) -> str:  # fmt: skip
    """The input as a row of chips: pieces look like pieces, specials special, the two segments have two tints."""
    chips = []
    for i, token in enumerate(encoding.tokens):
        classes = ["bv-token"]
        classes += ["bv-special"] if token in special else []
        classes += ["bv-piece"] if token.startswith("##") else []
        classes += ["bv-pad"] if not encoding.mask[i] else []
        classes += ["bv-chosen"] if i == chosen else []
        note = f" <small>{escape(below[i])}</small>" if below else ""
        chips.append(
            f'<span class="{" ".join(classes)}" '
            f'style="background:{choose_tint(encoding, i, colors)};color:{colors.text}">'
            f"<small>{i}</small>{escape(token)}{note}</span>"
        )
    return f'<div class="bv-tokens">{"".join(chips)}</div>'


def choose_tint(encoding: Encoding, i: int, colors: Palette) -> str:
    """The background of a token: one tint a segment."""
    return colors.segments[min(encoding.segments[i], 1)]


def render_answer(rows: Sequence[tuple[str, float]], color: str) -> str:
    """Words with their probabilities, as bars from 0 to 1 that need no chart."""
    cells = "".join(
        f'<span>{escape(word)}</span><i style="width:{share:.2%};background:{color}"></i>'
        f"<span>{format_number(share)}</span>"
        for word, share in rows
    )
    return f'<div class="bv-answer">{cells}</div>'


def break_lines(latex: str) -> str:
    """An equation chain over several lines, broken at its top-level equality signs, so that it fits beside a chart."""
    left, *rights = latex.split(" = ")
    lines = "".join(rf" \\ &= {right}" for right in rights)
    return rf"\footnotesize\begin{{aligned}} & {left}{lines} \end{{aligned}}"
