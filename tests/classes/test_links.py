"""A teacher's link: what it says, where it leads, and which controls its pages lack."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from bertviz_core.lessons.catalogue import LESSONS, find_lesson
from bertviz_core.ui.frame.hidden import CONTROLS, write_hidden
from bertviz_core.ui.views.learn_link import write_link
from tests.browser import WIDE
from tests.lessons.keyboard import STRIP

SENTENCES = ["The dog & the [MASK].", "#2 was [MASK]?"]


def test_a_link_says_what_it_leads_to_behind_what_servers_are_told():
    link = write_link("https://bert.test/app/learn", find_lesson("attention"), SENTENCES, ["whatif", "pages"], "")
    place = urlsplit(link)
    assert (place.netloc, place.path, place.query) == ("bert.test", "/app/join/go", "")
    assert parse_qs(place.fragment) == {
        "page": ["attention"], "lesson": ["attention"], "without": ["whatif,pages"], "text": SENTENCES,
    }  # fmt: skip
    assert (
        len(write_link("https://bert.test/learn", LESSONS[0], ["When in Rome, do as the [MASK] do."] * 4, [], "")) < 400
    )


def test_controls_are_taken_away_by_name_and_others_passed_over():
    assert write_hidden("") == write_hidden("none,<script>,}") == ""
    for name, (_, where) in CONTROLS.items():
        assert write_hidden(f"x,{name}") == f"{where}{{display:none!important}}"


@pytest.mark.slow
@pytest.mark.xdist_group("class")
@pytest.mark.rare
def test_each_student_is_given_one_sentence_and_the_pages_lack_what_was_taken_away(chromium, server):
    link = write_link(f"{server}/learn", find_lesson("attention"), SENTENCES, ["whatif", "pages", "sentence"], "")
    window = chromium.new_context(viewport=WIDE)
    page, given = window.new_page(), []
    for _ in range(2):  # the same browser is given the same one
        page.goto(link)
        page.wait_for_url(re.compile("/attention\\?"))
        given.append(parse_qs(urlsplit(page.url).query)["text"][0])
    assert given[0] == given[1] and given[0] in SENTENCES
    expect(page.get_by_text("1 of 8 · Read a row")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("button", name="Share")).to_be_visible()
    for name in ("Pages", "What if", "Edit the sentence"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    page.locator(STRIP).get_by_role("button", name="2", exact=True).click()  # a token of a sentence may be 2 as well
    page.wait_for_url(re.compile("step=2"))
    assert "without=whatif" in page.url
    window.close()


@pytest.mark.slow
@pytest.mark.xdist_group("class")
def test_a_link_that_was_cut_says_so(chromium, server):
    page = chromium.new_page()
    page.goto(f"{server}/join/go#page=https://elsewhere.test")
    expect(page.get_by_role("heading", name="This link leads nowhere")).to_be_visible()
    page.close()
