"""What a quantity is called elsewhere, as Markdown."""

from __future__ import annotations

from bertviz_core.documents.names import FORMULAS, SOURCES, Names

CSS = """
<style>
[class*="st-key-names-"] ul { padding-left: 0; margin: 0; }
[class*="st-key-names-"] li { list-style: none; margin: 0; padding: 0; overflow-wrap: anywhere; min-width: 0; }
[class*="st-key-names-"] ul > li > ul { display: grid; gap: 2px 16px; margin: 4px 0 18px; font-size: 0.88rem;
  grid-template-columns: repeat(auto-fill, minmax(min(340px, 100%), 1fr)); }
[class*="st-key-names-"] ul > li > ul .katex-display { margin: 0; }
[class*="st-key-names-"] li li { overflow-x: auto; overflow-y: hidden; padding: 1px 0; }
</style>
"""


def list_names(names: Names) -> list[str]:
    """What a quantity is called in each source, as Markdown."""
    return [_write_name(source, getattr(names, source)) for source in SOURCES]


def _write_name(source: str, name: str) -> str:
    written = f"${name}$" if source in FORMULAS else f"`{name}`"
    return f":gray[{SOURCES[source]}] {written if name else '–'}"
