"""What a page of two passes begins with while nobody has chosen a sentence: two of them, about which one would ask.

The sentence of the other pages stays what it was. Links that only change the page lead to the example and back from it,
as long as nothing else is compared; those that show one of its numbers elsewhere take its sentence along.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from bertviz_core.ui.frame import choices, state, url
from bertviz_core.ui.frame.controls import EXAMPLES
from bertviz_core.ui.frame.keys import AGAINST, CHANGES, LESSON, MASK, OF_TOKENS, PAIR, PAIRS, TEXT, WALK, WITH, Key
from bertviz_core.ui.frame.packing import pack

BANKS = "He sat on the bank of the [MASK].", "He took money from the bank of the [MASK]."  # one word, two meanings
CALLINGS = "The doctor said that [MASK] was late.", "The nurse said that [MASK] was late."  # one word for another
_PAIRS: Mapping[str, tuple[str, str]] = MappingProxyType({"compare": BANKS, "patch": CALLINGS})  # by the page
_BESIDE = (PAIR, MASK, CHANGES, AGAINST, PAIRS, LESSON)  # what is chosen of a pass beside its sentence
_BEGUN = Key("example-begun", False)  # whether the session has run a page
_OFFERED = Key("example-offered", False)  # whether it was this session that led to the example


def begin(page: str) -> None:
    """The page's example is set beside itself where a session begins there, with a URL that speaks of no sentence."""
    begun = state.read(_BEGUN)
    state.write(_BEGUN, True)
    if page in _PAIRS and not begun and not any(map(state.read, (TEXT, WITH, WALK, *_BESIDE, *OF_TOKENS))):
        choices.choose(dict(zip((TEXT, WITH), _PAIRS[page], strict=True)))
        state.write(_OFFERED, True)


def is_example() -> bool:
    """Whether the sentences that are compared are those of an example, whoever led to them."""
    return (state.read(TEXT), state.read(WITH)) in _PAIRS.values() and not any(map(state.read, _BESIDE))


def list_queries(pages: Collection[str]) -> dict[str, dict[str, str]]:
    """`url.list_queries`, for links that only change the page."""
    queries = url.list_queries(pages)
    usual = state.read(TEXT) in ("", EXAMPLES[0].text) and not any(map(state.read, (WITH, *_BESIDE)))
    if usual and _PAIRS.keys() & queries.keys():
        state.write(_OFFERED, True)
    elif not (is_example() and state.read(_OFFERED)):
        return queries
    return {page: _lead(page, says, usual) for page, says in queries.items()}


def _lead(page: str, says: dict[str, str], usual: bool) -> dict[str, str]:
    """What a link to a page says: with its example, if it has one. usual: whether what is on screen is no example."""
    pair = _PAIRS.get(page)
    if pair is None:
        return says if usual else _leave_sentence(says)
    here = (state.read(TEXT), state.read(WITH)) == pair
    said = says if here else _leave_sentence(says)
    return {**said, **{key.name: pack(text) for key, text in zip((TEXT, WITH), pair, strict=True)}}


def _leave_sentence(says: dict[str, str]) -> dict[str, str]:
    """What a link says, without the sentences and what is chosen among their tokens."""
    left = {key.name for key in (TEXT, WITH, WALK, *OF_TOKENS)}
    return {name: text for name, text in says.items() if name not in left}
