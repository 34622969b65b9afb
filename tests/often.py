"""Which of many alike are tried each time; all others before a release, as `pytest -m rare`."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def often(items: Iterable[Any], named: Iterable[str], name: Callable[[Any], str] = lambda item: item.name) -> list[Any]:
    """The items as parameters of a test, rare but for those of these names. name: of an item, its id in the test."""
    kept, given = {*named}, [*items]
    assert kept <= {*map(name, given)}
    return [pytest.param(each, id=name(each), marks=[] if name(each) in kept else pytest.mark.rare) for each in given]


def one_in(few: int, items: Iterable[Any], name: Callable[[Any], str] = str) -> list[Any]:
    """One in so many of the items as parameters of a test, the others rare."""
    given = [*items]
    return often(given, {*map(name, given[::few])}, name)


def together(group: str, names: Iterable[str], kept: Iterable[str]) -> list[Any]:
    """Names as parameters: all tests of a name are in one process, where what they share is made once; rare but for
    those that are kept."""
    given = [*names]
    assert {*kept} <= {*given}
    return [
        pytest.param(
            name,
            marks=[pytest.mark.xdist_group(f"{group}: {name}"), *([] if name in kept else [pytest.mark.rare])],
        )
        for name in given
    ]


def seldom(*values: Any, name: str | None = None) -> Any:
    """These values as parameters of a test that is rare with them. name: its id in the test, unless made of them."""
    return pytest.param(*values, id=name, marks=pytest.mark.rare)
