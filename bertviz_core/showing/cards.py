"""What stands in a notebook's cell: plain HTML in the notebook's own light or dark, without script or request."""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path

from bertviz_core.figures.palette import DARK, LIGHT, PALETTES
from bertviz_core.figures.sheet import list_variables
from bertviz_core.formula.markup import flatten, write_html
from bertviz_core.formula.nodes import Symbol
from bertviz_core.formula.steps import INPUT, PARAMETER, Step

# How notebooks say that they are dark: Jupyter and its HTML export, Colab, VS Code, the documentation's pages.
_DARK = (
    '[data-jp-theme-light="false"]',
    "html[theme=dark]",
    ".vscode-dark",
    ".vscode-high-contrast:not(.vscode-high-contrast-light)",
    '[data-md-color-scheme="slate"]',
)


@cache
def _write_style() -> str:
    """The rules of every card. Each has them, as cells of a notebook come and go one by one."""
    rules = Path(__file__).with_name("card.css").read_text(encoding="utf-8")
    dark = ",".join(f"{place} .bv-card" for place in _DARK)
    shown = ",".join(f"{place} .bv-card .bv-dark" for place in _DARK)
    hidden = ",".join(f"{place} .bv-card .bv-light" for place in _DARK)
    return (
        f"<style>.bv-card{{{list_variables(PALETTES[LIGHT])}}}{dark}{{{list_variables(PALETTES[DARK])}}}"
        f"{' '.join(rules.split())}{shown}{{display:inline}}{hidden}{{display:none}}</style>"
    )


def write_card(*parts: str) -> str:
    """HTML in a frame."""
    return f'{_write_style()}<div class="bv-card">{"".join(parts)}</div>'


def paint(symbol: Symbol) -> str:
    """A symbol in the colour of its kind; what the pass does not compute has none."""
    if symbol.kind in (PARAMETER, INPUT):
        return symbol.tex
    return rf"\textcolor{{var(--bv-kind-{symbol.kind})}}{{{symbol.tex}}}"


def write_formula(step: Step) -> str:
    """A step's formula in one line of coloured symbols; its code, where it has signs that HTML has not."""
    return typeset(step.typeset(paint)) or f"<p><code>{escape(step.code)}</code></p>"


def typeset(tex: str) -> str:
    """LaTeX in one line of HTML; empty where it has signs that HTML has not."""
    try:
        return f'<div class="bv-formula">{write_html(flatten(tex))}</div>'
    except ValueError:
        return ""
