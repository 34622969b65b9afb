"""What Compare begins with while nobody has chosen a sentence: two of them, in which one word means two things.

The sentence of the other pages stays what it was. Links that only change the page lead to the example and back from it,
as long as nothing else is compared; those that show one of its numbers elsewhere take its sentence along.
"""

from __future__ import annotations

from collections.abc import Collection

from bertviz_core.ui.frame import choices, state, url
from bertviz_core.ui.frame.controls import EXAMPLES
from bertviz_core.ui.frame.keys import AGAINST, CHANGES, LESSON, MASK, OF_TOKENS, PAIR, PAIRS, TEXT, WALK, WITH, Key
from bertviz_core.ui.frame.packing import pack

BANKS = "He sat on the bank of the [MASK].", "He took money from the bank of the [MASK]."
_PAGE = "compare"
_BESIDE = (PAIR, MASK, CHANGES, AGAINST, PAIRS, LESSON)  # what is chosen of a pass beside its sentence
_BEGUN = Key("example-begun", False)  # whether the session has run a page
_OFFERED = Key("example-offered", False)  # whether it was this session that led to the example


def begin(page: str) -> None:
    """The example is compared where a session begins at its page, with a URL that speaks of no sentence."""
    begun = state.read(_BEGUN)
    state.write(_BEGUN, True)
    if page == _PAGE and not begun and not any(map(state.read, (TEXT, WITH, WALK, *_BESIDE, *OF_TOKENS))):
        choices.choose(dict(zip((TEXT, WITH), BANKS, strict=True)))
        state.write(_OFFERED, True)


def is_shown() -> bool:
    """Whether it is the example that is compared, and nobody has chosen these sentences."""
    return state.read(_OFFERED) and (state.read(TEXT), state.read(WITH)) == BANKS and not any(map(state.read, _BESIDE))


def list_queries(pages: Collection[str]) -> dict[str, dict[str, str]]:
    """`url.list_queries`, for links that only change the page."""
    queries = url.list_queries(pages)
    usual = state.read(TEXT) in ("", EXAMPLES[0].text) and not any(map(state.read, (WITH, *_BESIDE)))
    if usual and _PAGE in queries:
        state.write(_OFFERED, True)
        says = zip((TEXT.name, WITH.name), map(pack, BANKS), strict=True)
        return {**queries, _PAGE: {**_leave_sentence(queries[_PAGE]), **dict(says)}}
    if not is_shown():
        return queries
    return {page: says if page == _PAGE else _leave_sentence(says) for page, says in queries.items()}


def _leave_sentence(says: dict[str, str]) -> dict[str, str]:
    """What a link says, without the sentences and what is chosen among their tokens."""
    left = {key.name for key in (TEXT, WITH, WALK, *OF_TOKENS)}
    return {name: text for name, text in says.items() if name not in left}
