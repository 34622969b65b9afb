"""The URL is the truth: what is on screen is what a fresh browser shows for the address, whichever way led there."""

from functools import cache
from itertools import pairwise, permutations
from urllib.parse import urlencode

import pytest

from bertviz_core.ui.frame.site import PAGES
from tests.browser import App

PLACE = {"text": "He sat by the river.", "pair": "The [MASK] was cold.", "layer": "3", "head": "5", "token": "2"}
EVERYTHING = {
    **PLACE, "formulas": "column", "changes": "encoder.layer.1.attention.self.probs[head=2]:0",
    "walk": "encoder.layer.3.attention.self.probs[head=5,query=2,key=1]",
}  # fmt: skip
HALVES = ((0, 5), (5, len(PAGES) - 1))  # of the way along all links, about equally long


@pytest.fixture
def fresh(window, server):
    """What a tab that has seen nothing shows for an address of the app."""

    def show(url):
        page = window.new_page()
        try:
            other = App(page, server)
            page.goto(url)
            other.settle()
            assert other.trouble == []
            return other.shown()
        finally:
            page.close()

    return show


def go_along_links(first, last):
    """From each page of a part to every later one and back: over all parts, every ordered pair of pages once."""
    for here in range(first, last):
        for there in range(here + 2, len(PAGES)):
            yield from (there, here)
        yield here + 1
    yield from reversed(range(first, last))


def test_the_ways_along_links_are_all_pairs():
    walked = [pair for first, last in HALVES for pair in pairwise([first, *go_along_links(first, last)])]
    assert sorted(walked) == sorted(permutations(range(len(PAGES)), 2))


@pytest.mark.parametrize(("first", "last"), HALVES)
def test_every_link_between_two_pages_carries_all(app, fresh, first, last):
    """By the link on any page to any other one: what is on screen is what a fresh browser shows for the address."""
    show = cache(fresh)  # by address: as many as pages, if every link carries all
    app.open("" if first == 0 else PAGES[first].name, **EVERYTHING)
    for arrived in go_along_links(first, last):
        info, came_from = PAGES[arrived], app.title
        app.follow(info.title)
        assert {key: app.query.get(key) for key in EVERYTHING} == EVERYTHING, (came_from, info.title)
        assert app.explained == EVERYTHING["walk"], (came_from, info.title)
        assert app.chosen() == ("Layer 3", "Head 5", "token 2 sat"), (came_from, info.title)
        assert app.shown() == show(app.page.url), (came_from, info.title)
    assert show.cache_info().misses <= len(PAGES)


def press(app, name):
    with app.rerun():
        app.page.get_by_role("button", name=name).first.click()


def open_menu_and_press(app, menu, name):
    app.page.get_by_role("button", name=menu, exact=True).click()
    press(app, name)
    app.page.keyboard.press("Escape")


def set_show(app):
    with app.rerun():
        app.page.locator(".st-key-what-if-line").get_by_text("Difference", exact=True).click()


def explain(app):
    with app.rerun():
        app.page.locator(".bv-worked").first.click()


def walk_on(app):
    with app.rerun():
        app.drawer.locator("[data-step]").first.click()


def close(app):
    with app.rerun():
        app.drawer.locator("[data-close]").click()


def unfold(app):
    with app.rerun():
        app.page.locator('[data-testid="stExpander"] summary').first.click()


CHANGED = {"changes": "input_ids[token=2]:3899"}
WALKED = {"walk": "embeddings.sum[token=2,hidden=7]"}
CHOICES = {
    "layer": ({}, lambda app: app.choose("Layer", "Layer 4")),
    "head": (WALKED, lambda app: app.choose("Head", "Head 1")),
    "token": ({}, lambda app: app.point(5)),
    "sentence": ({}, lambda app: app.type("A [MASK] in the sun.")),
    "what if": ({}, lambda app: open_menu_and_press(app, "What if", "Zero the head")),
    "undo": (CHANGED, lambda app: press(app, "sat → dog")),
    "difference": (CHANGED, set_show),
    "explain": ({}, explain),
    "walk on": (WALKED, walk_on),
    "close": (WALKED, close),
    "unfold": ({}, unfold),
    "page": (WALKED, lambda app: app.follow("Embeddings")),
}


@pytest.mark.parametrize("kind", CHOICES)
def test_back_undoes_a_choice_and_forward_does_it_again(app, fresh, kind):
    query, choose = CHOICES[kind]
    app.open("attention", **PLACE, **query)
    before, here = app.shown(), app.page.url
    choose(app)
    after, there = app.shown(), app.page.url
    assert after != before and there != here
    with app.rerun():
        app.page.go_back()
    assert (app.page.url, app.shown()) == (here, before)
    with app.rerun():
        app.page.go_forward()
    assert (app.page.url, app.shown()) == (there, after)
    assert fresh(there) == after


def test_a_long_sentence_is_shared_compressed(app, fresh):
    text = "the river rose and the people went to the [MASK] on the hill " * 20
    app.open("attention")
    app.type(text)
    assert len(app.page.url) < len(urlencode({"text": text}))
    assert fresh(app.page.url) == app.shown()
