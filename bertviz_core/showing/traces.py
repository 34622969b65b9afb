"""A trace in a notebook: its tokens, the likeliest words, and all addresses as a tree to unfold."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import groupby

from bertviz_core.analysis.labels import list_looks
from bertviz_core.analysis.openings import open_token
from bertviz_core.analysis.predictions import PROBS, find_masks, rank_words
from bertviz_core.formula.address import Address
from bertviz_core.formula.markup import write_html
from bertviz_core.formula.numbers import format_percent
from bertviz_core.formula.texts import name_token, write_count
from bertviz_core.showing.cards import paint, write_card
from bertviz_core.showing.provenance import tell_model
from bertviz_core.tracing.meanings import tell_meaning
from bertviz_core.tracing.trace import Trace

_BEST, _MASKS, _TOKENS = 5, 4, 64  # words of a token; tokens that are asked about; tokens that are drawn


def write_trace(trace: Trace) -> str:
    """What was read, by which model, what it expects, and where every number is."""
    changed = f", with {write_count(len(trace.changes), 'change')}" if trace.changes else ""
    head = f"<div><b>{write_count(len(trace.tokens), 'token')}</b>{changed} · {escape(tell_model(trace))}</div>"
    return write_card(head, _write_tokens(trace), _write_words(trace), *_write_tree(trace))


def _list_asked(trace: Trace) -> list[int]:
    return find_masks(trace)[:_MASKS] or [open_token(trace).token]


def _write_tokens(trace: Trace) -> str:
    asked = _list_asked(trace) if PROBS in trace else []
    chips: list[str] = []
    for i, token in enumerate(trace.tokens[:_TOKENS]):
        looks = " bv-special" * bool(list_looks(trace, i)["special"]) + " bv-asked" * (i in asked)
        chips.append(f'<span class="bv-token{looks}"><i>{i}</i>{escape(token)}</span>')
    more = f'<span class="bv-faint">… {len(trace.tokens) - _TOKENS} more</span>' if len(trace.tokens) > _TOKENS else ""
    return f'<div class="bv-row">{"".join(chips)}{more}</div>'


def _write_words(trace: Trace) -> str:
    if PROBS not in trace:
        return ""
    return "".join(_write_ranking(trace, token) for token in _list_asked(trace))


def _write_ranking(trace: Trace, token: int) -> str:
    rows = "".join(
        f'<tr><td>{escape(word)}</td><td class="bv-number">{format_percent(share)}</td>'
        f'<td><span class="bv-bar" style="width:{160 * share:.1f}px"></span></td></tr>'
        for word, share, _ in rank_words(trace, token, _BEST)
    )
    return f'<p>Expected at {escape(name_token(trace.tokens, token))}:</p><table class="bv-numbers">{rows}</table>'


def _write_tree(trace: Trace) -> Iterator[str]:
    """The addresses in the order computed, folded by the parts of their paths: layers within the encoder."""
    rest = "<code>trace[address]</code>, <code>trace.show(address)</code>, <code>trace.explain(cell)</code>"
    yield f'<details><summary>{write_count(len(trace), "address", "addresses")}</summary><p class="bv-faint">{rest}</p>'
    for group, members in groupby(map(Address, trace.addresses), _name_group):
        addresses = list(members)
        yield f"<details><summary>{escape(group)} <span class='bv-faint'>{len(addresses)}</span></summary>"
        rows = "".join(_write_address(trace, address) for address in addresses)
        yield f'<table class="bv-numbers">{rows}</table></details>'
    yield "</details>"


def _name_group(address: Address) -> str:
    return f"encoder.layer.{address.layer}" if address.layer is not None else address.path.partition(".")[0]


def _write_address(trace: Trace, address: Address) -> str:
    step = trace.step(address)
    sizes = zip(trace.dims(address), trace.shape(address), strict=True)
    shape = " × ".join(f"{name} {size}" for name, size in sizes)
    symbol = write_html(paint(step.output))
    cells = f"<td><code>{escape(address.path)}</code></td><td>{symbol}</td><td class='bv-faint'>{shape}</td>"
    return f'<tr title="{escape(tell_meaning(trace, step))}">{cells}</tr>'
