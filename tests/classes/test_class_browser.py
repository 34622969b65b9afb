"""A whole lesson as a class has it: one projector, three phones, by keys and fingers, as screen readers hear it."""

import json
import re
import urllib.request
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from tests.axe import list_violations
from tests.browser import PHONE, WIDE

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("class")]


@contextmanager
def open_tab(chromium, trouble, size=PHONE, **looks):
    window = chromium.new_context(viewport=size, accept_downloads=True, **looks)
    page = window.new_page()
    page.on("pageerror", lambda error: trouble.append(f"script: {error}"))
    page.on("console", lambda said: trouble.append(said.text) if said.type == "error" else None)
    yield page
    window.close()


@pytest.fixture
def trouble():
    said = []
    yield said
    assert [each for each in said if "404" not in each and "ERR_INTERNET" not in each] == []


@pytest.fixture
def start(chromium, server, trouble):
    """Start a class of a lesson on the page Learn; the projector's page."""
    with open_tab(chromium, [], WIDE) as learn:

        def start(lesson):
            learn.goto(f"{server}/learn")
            learn.locator(f".st-key-panel-learn-{lesson}").get_by_role("button", name="Class").click(timeout=60_000)
            button = learn.get_by_role("button", name="Start a class")
            expect(button).to_be_in_viewport(ratio=1)  # where the menu's button stands at the lower edge, too
            button.click()
            link = learn.get_by_role("link", name="Open the projector")
            with learn.context.expect_page(timeout=90_000) as opened:
                link.click(timeout=90_000)
            projector = opened.value
            projector.on("pageerror", lambda error: trouble.append(f"projector: {error}"))
            expect(projector.locator(".lobby")).to_be_visible()
            return projector

        yield start


def read_code(projector):
    return re.search(r"/lead/(\w{4})", projector.url)[1]


def enter(phone, server, code):
    phone.goto(f"{server}/join/")
    phone.get_by_role("textbox", name="Join a class").fill(code.lower())
    phone.keyboard.press("Enter")
    expect(phone.get_by_role("heading", name="You are in")).to_be_visible()


def answer(phone, which):
    """The answer of this number, or the number itself where one is typed; both by keyboard."""
    field = phone.get_by_role("textbox", name="Your number")
    if field.count():
        field.fill("19.6")
        field.press("Enter")
    else:
        options = phone.get_by_role("radio")
        options.first.focus()
        for _ in range(min(which, options.count() - 1)):
            phone.keyboard.press("ArrowRight")
        if not which:
            phone.keyboard.press("Enter")
        phone.get_by_role("button", name=re.compile("^Send")).press("Enter")
    expect(phone.get_by_role("heading", name="Sent")).to_be_visible()


def test_a_lesson_is_played_by_a_projector_and_three_phones(chromium, server, start, trouble):
    projector = start("attention")
    code = read_code(projector)
    assert code in projector.locator(".lobby").inner_text()
    assert projector.locator(".lobby img").evaluate("(each) => each.naturalWidth") > 0
    assert list_violations(projector) == []
    with (
        open_tab(chromium, trouble) as first,
        open_tab(chromium, trouble, color_scheme="dark") as second,
        open_tab(chromium, trouble, has_touch=True) as third,
    ):
        phones = [first, second, third]
        for phone in phones:
            enter(phone, server, code)
        expect(projector.get_by_role("status").filter(has_text="3")).to_be_visible()
        count = json.load(urllib.request.urlopen(f"{server}/join/{code}/state"))["count"]
        right = [0, 0, 0]
        for question in range(count):
            projector.keyboard.press("ArrowRight")
            expect(projector.get_by_text(f"Question {question + 1} of {count}")).to_be_visible()
            heading = projector.get_by_role("heading", level=2).inner_text()
            for i, phone in enumerate(phones):
                expect(phone.get_by_role("heading", name=heading)).to_be_focused()
                assert f"Question {question + 1} of {count}" in phone.get_by_role("status").last.inner_text()
                answer(phone, i)
            expect(projector.get_by_role("status").filter(has_text="3 of 3")).to_be_visible()
            if question == 0:
                for page in (projector, *phones):
                    assert list_violations(page) == []
            projector.keyboard.press("ArrowRight")
            expect(projector.get_by_role("button", name="Reveal")).to_be_visible()
            assert "too few" in projector.locator("main").inner_text()
            if question == 0:
                vote_again(projector, phones)
            projector.keyboard.press("ArrowRight")
            expect(projector.get_by_role("button", name="Next")).to_be_visible()
            for i, phone in enumerate(phones):
                expect(phone.locator(".pill")).to_have_text(re.compile("Right|Not yet"))
                right[i] += phone.locator(".pill").inner_text() == "Right"
            if question == 0:
                for page in (projector, *phones):
                    assert list_violations(page) == []
                reload_both(projector, first)
        projector.keyboard.press("ArrowRight")
        expect(projector.get_by_role("heading", name="What the class got wrong most")).to_be_visible()
        assert projector.get_by_role("row").count() == count + 1 and list_violations(projector) == []
        with projector.expect_download() as saved:
            projector.get_by_role("button", name="Export CSV").click()
        assert saved.value.path().read_text().startswith("question,title,task,answer,right,first vote,second vote")
        assert min(right) < count, "who has everything right is told as much whatever is counted"
        for phone, had in zip(phones, right, strict=True):
            expect(phone.get_by_role("heading", name="That was the last question")).to_be_visible()
            expect(phone.get_by_text(f"You had {had} of {count} right.", exact=True)).to_be_visible()
        projector.once("dialog", lambda dialog: dialog.accept())
        projector.get_by_role("button", name="End the class").click()
        for page in (projector, *phones):
            expect(page.get_by_role("heading", name="This class has ended")).to_be_visible()
        assert second.evaluate("localStorage.getItem('bert-class')") is None


def vote_again(projector, phones):
    projector.keyboard.press("a")
    for phone in phones:
        expect(phone.get_by_text("Second vote.", exact=True)).to_be_visible()
        assert "First you chose" in phone.locator("main").inner_text()
        answer(phone, 1)
    projector.keyboard.press("ArrowRight")
    expect(projector.get_by_role("button", name="Reveal")).to_be_visible()
    assert projector.get_by_role("button", name="Vote again").count() == 0


def reload_both(projector, phone):
    """A browser that reloads is where it was, and leads or answers on."""
    told = [page.locator("h2, h1").last.inner_text() for page in (projector, phone)]
    for page, text in zip((projector, phone), told, strict=True):
        page.reload()
        expect(page.get_by_role("heading", name=text, exact=True)).to_be_visible()


@pytest.mark.rare
def test_what_stands_with_a_question_and_its_answer(chromium, server, start, trouble):
    projector = start("whatif")
    expect(projector.locator(".lobby")).to_contain_text("started for this machine alone")
    expect(projector.locator(".lobby")).to_contain_text("--server.address=0.0.0.0")
    assert f"{server.removeprefix('http://')}/join" in projector.locator(".lobby").inner_text()
    projector.set_viewport_size({"width": 1024, "height": 768})
    expect(projector.locator(".lobby img")).to_be_in_viewport(ratio=1)
    projector.set_viewport_size({"width": 1280, "height": 720})
    with open_tab(chromium, trouble) as phone:
        enter(phone, server, read_code(projector))
        projector.keyboard.press("ArrowRight")
        expect(projector.locator(".given span").nth(-4)).to_be_in_viewport(ratio=1)
        expect(projector.locator(".tops")).to_contain_text("At [MASK] now")
        expect(projector.locator(".sentence .here")).to_have_text("[MASK]")
        answer(phone, 1)
        expect(phone.get_by_text("With yours, 1 of 1 had answered.")).to_be_visible()
        expect(phone.get_by_text("somebody who chose otherwise")).to_be_visible()
        for _ in range(2):
            projector.keyboard.press("ArrowRight")
            projector.wait_for_timeout(600)
        expect(projector.locator(".tops")).to_have_count(0)
        assert list_violations(projector) == [] and list_violations(phone) == []
        projector.keyboard.press("s")
        expect(projector.get_by_role("button", name="Spotlight")).to_have_attribute("aria-pressed", "true")
        with projector.context.expect_page() as opened:
            projector.get_by_role("link", name="Why").click()
        expect(opened.value.get_by_role("heading", name="people").first).to_be_visible(timeout=60_000)
        projector.keyboard.press("ArrowRight")
        expect(projector.get_by_text("Question 2 of 6")).to_be_visible()
        assert not projector.locator("main.lit").count()


@pytest.mark.rare
def test_a_phone_that_was_away_comes_back_and_sends_what_it_kept(chromium, server, start, trouble):
    projector = start("tokens")
    code = read_code(projector)
    with open_tab(chromium, []) as phone:
        enter(phone, server, code)
        projector.keyboard.press("ArrowRight")
        expect(phone.get_by_role("textbox", name="Your number")).to_be_visible()
        phone.context.set_offline(True)
        phone.get_by_role("textbox", name="Your number").fill("12")
        phone.keyboard.press("Enter")
        expect(phone.get_by_text("cannot be reached")).to_be_visible()
        phone.context.set_offline(False)
        expect(phone.get_by_role("heading", name="Sent")).to_be_visible(timeout=15_000)
        expect(projector.get_by_role("status").filter(has_text="1 of 1")).to_be_visible()
        phone.context.set_offline(True)
        for _ in range(3):
            projector.keyboard.press("ArrowRight")
            projector.wait_for_timeout(600)
        phone.context.set_offline(False)
        expect(phone.get_by_text("2 of 5", exact=True)).to_be_visible(timeout=15_000)
        phone.context.set_offline(True)
        phone.get_by_role("radio").first.click()
        phone.get_by_role("button", name=re.compile("^Send")).click()
        expect(phone.get_by_text("cannot be reached")).to_be_visible()
        projector.keyboard.press("ArrowRight")
        expect(projector.get_by_role("button", name="Reveal")).to_be_visible()
        phone.context.set_offline(False)
        expect(phone.get_by_text("Your answer came too late: it was not counted.")).to_be_visible(timeout=15_000)
        assert projector.get_by_role("status").filter(has_text="0 of 1").count()


@pytest.mark.rare
def test_a_phone_whose_number_is_gone_comes_in_again_with_its_answer(chromium, server, start, trouble):
    """Another tab joined another class, somebody has cleared what the browser keeps, or the room knows it no more."""
    projector = start("attention")
    with open_tab(chromium, []) as phone:
        enter(phone, server, read_code(projector))
        projector.keyboard.press("ArrowRight")
        expect(phone.get_by_role("radio").first).to_be_visible()
        other = phone.context.new_page()
        other.goto(f"{server}/join/")
        for keep in (
            "localStorage.clear()",
            f"kept.phone = '{'A' * 22}', localStorage.setItem('bert-class', JSON.stringify(kept))",
        ):
            other.evaluate(f"() => {{ const kept = JSON.parse(localStorage.getItem('bert-class')); {keep} }}")
            if phone.get_by_role("button", name="Change").count():
                phone.get_by_role("button", name="Change").click()
            phone.get_by_role("radio").nth(1).click()
            phone.get_by_role("button", name=re.compile("^Send")).click()
            expect(phone.get_by_role("heading", name="Sent")).to_be_visible()
            expect(phone.get_by_text(re.compile(r"With yours, \d+ of \d+ had answered"))).to_be_visible()


WRONG = {
    "nobody's code": ("ZZZZ", "no class with this code"),
    "a zero": ("K0M2", "No code has 0"),
    "an O": ("k o m 2", "No code has O"),
    "too short": ("K7", "four characters"),
    "a sentence": ("<script>", "no class|No code has"),
}


@pytest.mark.parametrize(("typed", "said"), WRONG.values(), ids=WRONG)
def test_a_wrong_code_is_said_to_be_one(chromium, server, typed, said):
    with open_tab(chromium, []) as phone:
        phone.goto(f"{server}/join/")
        phone.get_by_role("textbox").fill(typed)
        phone.get_by_role("button", name="Join").click()
        expect(phone.get_by_role("alert")).to_have_text(re.compile(said))
        expect(phone.get_by_role("textbox")).to_be_focused()
        assert list_violations(phone) == []


def test_a_link_with_what_no_code_has_says_so(chromium, server):
    with open_tab(chromium, []) as phone:
        phone.goto(f"{server}/join/K0M2")
        expect(phone.get_by_role("alert")).to_contain_text("No code has 0")


@pytest.mark.rare
def test_two_tabs_of_a_phone_answer_as_one(chromium, server, start, trouble):
    projector = start("attention")
    with open_tab(chromium, trouble) as first:
        enter(first, server, read_code(projector))
        projector.keyboard.press("ArrowRight")
        second = first.context.new_page()
        second.goto(first.url)
        for page, which in ((first, 1), (second, 3)):
            if page is second:
                page.get_by_role("button", name="Change").click()
            page.get_by_role("radio").nth(which).click()
            page.get_by_role("button", name=re.compile("^Send")).click()
            expect(page.get_by_role("heading", name="Sent")).to_be_visible()
        expect(first.locator(".mine")).to_have_text(re.compile(re.escape(second.locator(".mine b").inner_text())))
        expect(projector.get_by_role("status").filter(has_text="1 of 1")).to_be_visible()


@pytest.mark.rare
def test_the_secret_is_not_left_in_an_address_that_all_see_and_whoever_led_leads_on(chromium, server, start, trouble):
    projector = start("tokens")
    address = f"{server}/lead/{read_code(projector)}"
    expect(projector).to_have_url(address)
    second = projector.context.new_page()
    second.goto(f"{address}#{'A' * 22}")  # a wrong one neither opens the class nor takes the place of the right one
    expect(second.get_by_role("alert")).to_contain_text("Only who has opened this class")
    second.close()
    third = projector.context.new_page()
    third.goto(address)
    expect(third.locator(".lobby")).to_be_visible()
    third.once("dialog", lambda asked: asked.accept())
    third.get_by_role("button", name="End the class").click()
    expect(projector.get_by_role("heading", name="This class has ended")).to_be_visible()
    third.goto(f"{address}?again")
    expect(third.get_by_role("alert")).to_contain_text("the page Learn gave")
    with open_tab(chromium, trouble, WIDE) as elsewhere:
        elsewhere.goto(address)
        expect(elsewhere.get_by_role("alert")).to_contain_text("the page Learn gave")


def test_a_projector_without_its_secret_says_how_to_get_it(chromium, server):
    with open_tab(chromium, [], WIDE) as page:
        page.goto(f"{server}/lead/AB23")
        expect(page.get_by_role("alert")).to_contain_text("the page Learn gave")
        page.goto(f"{server}/lead/AB23#AAAAAAAAAAAAAAAAAAAAAA")
        page.reload()
        expect(page.get_by_role("heading", name="This class has ended")).to_be_visible()
