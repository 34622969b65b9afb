"""The URL is the truth: what is on screen is what a fresh browser shows for the address, whichever way led there."""

import os
from itertools import pairwise, permutations
from math import gcd
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

import bertviz_core as bv
from bertviz_core.ui.components.selectors import expand
from bertviz_core.ui.frame.site import PAGES
from tests.browser import App

PLACE = {"text": "He sat by the river.", "pair": "The [MASK] was cold.", "layer": "3", "head": "5", "token": "2"}
EVERYTHING = {
    **PLACE, "formulas": "column", "changes": "encoder.layer.1.attention.self.probs[head=2]:0",
    "walk": "encoder.layer.3.attention.self.probs[head=5,query=2,key=1]",
}  # fmt: skip
ABOUT_IT = ("overview", "attention")  # the pages that are about the number explained
ALL_PAIRS = "BERTVIZ_ALL_PAIRS" in os.environ  # eight minutes of a browser
# Along the list of pages, around, by this many at a time: all ways together lead from every page to every other one.
STRIDES = range(1, len(PAGES)) if ALL_PAIRS else (7,)


def list_way(stride):
    """The places in the list of pages, each reached once and the first again: where a way comes around before it has
    been everywhere, it goes on beside it."""
    count = len(PAGES)
    rounds = gcd(stride, count)
    return [(start + i * stride) % count for start in range(rounds) for i in range(count // rounds + 1)]


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


def test_the_ways_along_links_can_be_all_pairs():
    count = len(PAGES)
    ways = [list_way(stride) for stride in range(1, count)]
    walked = {pair for way in ways for pair in pairwise(way)}
    assert walked == set(permutations(range(count), 2))


@pytest.mark.rare
@pytest.mark.parametrize("stride", STRIDES)
def test_following_a_link_shows_what_its_address_shows(app, fresh, stride):
    """What is on screen after a link was followed is what a fresh browser shows for the address."""
    app.open(**EVERYTHING)
    said = dict(EVERYTHING)
    for place in list_way(stride)[1:]:
        info, came_from = PAGES[place], app.title
        app.follow(info.title)
        if info.name not in ABOUT_IT:
            said.pop("walk", None)
        assert app.query == said, (came_from, info.title)
        assert "walk" not in said or app.explained == said["walk"], (came_from, info.title)
        chosen = ("token 2 sat",) if info.of_two else ("Layer 3", "Head 5", "token 2 sat")
        assert app.chosen() == chosen, (came_from, info.title)
        turn = ALL_PAIRS or PAGES.index(info) % 4 == 0
        assert not turn or app.shown() == fresh(app.page.url), (came_from, info.title)


@pytest.mark.rare
@pytest.mark.slow
def test_a_link_leads_to_the_same_page_in_a_tab_of_its_own(app, fresh):
    app.open("attention", **PLACE)
    app.open_menu("Pages")
    link = app.find(f":--popover-body .st-key-page-of-{PAGES[0].name}").get_by_role("link")
    link.hover()
    address = link.evaluate("link => link.href")
    with app.rerun():
        link.click()
    assert address == app.page.url
    assert app.shown() == fresh(address)


def press(app, name):
    with app.rerun():
        app.page.get_by_role("button", name=name).first.click()


def zero_the_head(app):
    app.open_menu("What if")
    press(app, "Zero the head")


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
        app.find(":--expander summary").first.click()


# Each with what it does; what the address holds of those marked True, a fresh tab is to show as well.
ALONG_THE_FRAME = {
    "layer": (lambda app: app.choose("Layer", "Layer 4"), False),
    "head": (lambda app: app.choose("Head", "Head 1"), False),
    "token": (lambda app: app.point(4), False),
    "unfold": (unfold, True),
    "sentence": (lambda app: app.type("A [MASK] in the sun."), True),
    "page": (lambda app: app.follow("Embeddings"), False),
}
IN_THE_DRAWER = {
    "explain": (explain, False),
    "walk on": (walk_on, True),
    "close": (close, False),
    "what if": (zero_the_head, False),
    "difference": (set_show, True),
    "undo": (lambda app: press(app, "set to 0"), True),
}


@pytest.mark.rare
@pytest.mark.parametrize("choices", [ALONG_THE_FRAME, IN_THE_DRAWER], ids=["frame", "drawer"])
def test_back_undoes_every_choice_and_forward_does_it_again(app, fresh, choices):
    app.open("attention", **PLACE, pad=24)  # a length that the menu does not offer
    seen = [(app.page.url, app.shown())]
    for kind, (choose, also_fresh) in choices.items():
        choose(app)
        app.page.wait_for_function("here => location.href !== here", arg=seen[-1][0])
        app.settle()
        seen.append((app.page.url, app.shown()))
        assert seen[-1][1] != seen[-2][1] and app.query["pad"] == "24", kind
        assert not also_fresh or fresh(app.page.url) == seen[-1][1], kind
    for kind, there in zip(reversed(choices), reversed(seen[:-1]), strict=True):
        with app.rerun():
            app.page.go_back()
        assert (app.page.url, app.shown()) == there, kind
    for kind, there in zip(choices, seen[1:], strict=True):
        with app.rerun():
            app.page.go_forward()
        assert (app.page.url, app.shown()) == there, kind


@pytest.mark.rare
def test_a_word_that_is_clicked_is_followed_through_the_layers(app, fresh):
    app.open("layers")
    other = app.page.locator("[data-choose^='followed=']:not(.bv-follow)").first
    name, value = other.get_attribute("data-choose").split("=")
    with app.rerun():
        other.click()
    assert app.query == {name: value}
    assert app.page.locator(".bv-follow").first.get_attribute("data-choose") == f"{name}={value}"
    assert fresh(app.page.url) == app.shown()


@pytest.mark.rare
def test_the_link_that_is_shared_shows_all(app, fresh):
    """As text and as a code, made when it is asked for: here after another head was chosen."""
    app.open("heads", **EVERYTHING)
    app.choose("Head", "Head 1")
    app.page.get_by_role("button", name="Share").click()
    menu = app.find(":--popover-body")
    link = menu.locator("code").inner_text()
    weights = f"bundled:{bv.load_model().digest}"
    in_the_bar = parse_qs(urlsplit(app.page.url).query)
    assert parse_qs(urlsplit(link).query) == {"model": ["bundled"], "weights": [weights], **in_the_bar}
    assert menu.locator(expand(":--image")).bounding_box()["width"] >= 200
    assert menu.get_by_text(f"QR code of {link}").count() == 1
    app.page.keyboard.press("Escape")
    shown, how = app.shown(), "Moved along to layer 3, head 1"
    assert how in shown  # what is explained stands in the link, and not how one came to it
    assert fresh(link) == shown.replace(how, "From the page")


@pytest.mark.rare
def test_a_long_sentence_is_shared_compressed(app, fresh):
    text = "the river rose and the people went to the [MASK] on the hill " * 20
    app.open("attention")
    app.type(text)
    assert len(app.page.url) < len(urlencode({"text": text}))
    assert fresh(app.page.url) == app.shown()
