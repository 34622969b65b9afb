"""Which of many alike are tried each time; all others before a release, as `pytest -m rare`."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def often(items: Iterable[Any], named: Iterable[str], name: Callable[[Any], str] = lambda item: item.name) -> list[Any]:
    """The items as parameters of a test, rare but for those of these names. name: of an item, its id in the test."""
    kept, given = {*named}, [*items]
    assert kept <= {*map(name, given)}
    return [pytest.param(each, id=name(each), marks=[] if name(each) in kept else pytest.mark.rare) for each in given]


def seldom(*values: Any, name: str | None = None) -> Any:
    """These values as parameters of a test that is rare with them. name: its id in the test, unless made of them."""
    return pytest.param(*values, id=name, marks=pytest.mark.rare)
