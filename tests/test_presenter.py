"""A page presented to a room: every panel of every page by itself, in letters that are read from the back, and back."""

import pytest
from playwright.sync_api import expect

from bertviz_core.ui.components.selectors import expand
from bertviz_core.ui.frame.site import PAGES
from tests.browser import PHONE, visit
from tests.often import often

pytestmark = pytest.mark.rare

LEAST = 20  # pixels of the smallest letters
LARGE = {"width": 1920, "height": 1080}
PRESENTED = "[data-presented]"
DOTS = ".bv-lectern .bv-dots"
# Of what is presented: its box, and all letters that are smaller than a room can read.
SEEN = f"""least => {{
    const panel = document.querySelector('{PRESENTED}'), box = panel.getBoundingClientRect();
    const large = Number(document.documentElement.style.getPropertyValue('--bv-large'));
    const texts = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT), small = [];
    while (texts.nextNode()) {{
        const {{parentElement: around, data}} = texts.currentNode;
        const seen = /[^\\s\\u200b]/.test(data) && around.checkVisibility({{visibilityProperty: true}});
        const size = parseFloat(getComputedStyle(around).fontSize) * large;
        if (seen && around.getBoundingClientRect().width > 2 && size < least - 0.05) small.push(data);
    }}
    const [head, foot] = ['header', 'footer'].map(each =>
        document.querySelector('.bv-lectern ' + each).getBoundingClientRect());
    const inWindow = box.left >= 0 && box.right <= innerWidth;
    return {{small, inside: inWindow && head.bottom <= box.top && box.bottom <= foot.top + 1,
        wide: panel.scrollWidth - panel.clientWidth, empty: box.height < 40,
        alone: !document.querySelector('.st-key-bar').checkVisibility({{visibilityProperty: true}})}};
}}"""


def present(app):
    app.page.wait_for_function("() => document.documentElement.style.getPropertyValue('--bv-text')")  # who hears keys
    app.page.keyboard.press("p")
    expect(app.page.locator(DOTS)).to_be_visible()
    return int(app.page.locator(DOTS).get_attribute("aria-label").split()[-1])


@pytest.mark.parametrize("page", often(PAGES, ["learn"]))
def test_each_panel_of_each_page_is_presented_alone_and_large(chromium, server, page):
    with visit(chromium, server) as app:
        app.open("" if page is PAGES[0] else page.name)
        all_panels = present(app)
        for number in range(1, all_panels + 1):
            expect(app.page.locator(DOTS)).to_have_attribute("aria-label", f"Panel {number} of {all_panels}")
            app.page.wait_for_timeout(600)  # charts are drawn as wide as their places have become
            seen = app.page.evaluate(SEEN, LEAST)
            assert seen["small"] == [] and seen["inside"] and seen["alone"] and not seen["empty"], (number, seen)
            assert seen["wide"] <= 8, (number, seen)
            app.page.keyboard.press("ArrowRight")


def test_keys_lead_through_the_panels_and_back_to_where_one_was(chromium, server):
    with visit(chromium, server) as app:
        app.open("attention")
        scroller = expand("() => document.querySelector(':--main').scrollTop")
        app.page.mouse.move(500, 500)
        app.page.mouse.wheel(0, 150)
        app.page.wait_for_function(f"() => ({scroller})() === 150")
        headline = app.page.locator(".st-key-headline h1").inner_text()
        count = present(app)
        title = app.page.locator(".bv-lectern h1")
        expect(title).to_have_text(headline)
        assert count == 4
        for key, number in (
            ("ArrowLeft", 1),
            ("ArrowRight", 2),
            ("PageDown", 3),
            ("ArrowRight", 4),
            ("ArrowRight", 4),
            ("PageUp", 3),
        ):
            app.page.keyboard.press(key)
            expect(app.page.locator(DOTS)).to_have_attribute("aria-label", f"Panel {number} of {count}")
        expect(title).to_contain_text("divides its attention")
        assert app.page.url.endswith("#present=3")
        app.page.keyboard.press("Escape")
        expect(app.page.locator(".bv-lectern")).to_have_count(0)
        assert "#" not in app.page.url and app.page.evaluate(scroller) == 150


def test_arrows_choose_the_row_and_the_spotlight_is_on_it(chromium, server):
    with visit(chromium, server) as app:
        app.open("attention", token=8)
        present(app)
        app.page.keyboard.press("s")
        rows = """() => [...document.querySelectorAll('[data-presented] .bv-veil')].map(
            each => parseFloat(each.style.top))"""
        tokens = app.page.locator(".st-key-tokens [data-token]").count()
        before = app.page.evaluate(rows)
        assert len(before) == tokens - 1
        with app.rerun():
            app.page.keyboard.press("ArrowUp")
        assert app.query["token"] == "7" and app.page.url.endswith("#present=1&spot")
        after = app.page.evaluate(rows)
        lit = [max(set(other) - set(one)) for one, other in ((before, after), (after, before))]
        assert len(after) == tokens - 1 and lit[0] > lit[1]  # the row that is not dim has moved up
        for _ in range(2):
            app.page.keyboard.press("ArrowRight")
        dim = app.page.locator("[data-presented] tr:has(td).bv-dim")
        expect(dim).to_have_count(tokens - 1)
        low, offer = {"width": 1280, "height": 720}, app.page.locator("[data-presented] .bv-more")
        app.page.set_viewport_size(low)  # keeps rows back, and offers them
        expect(offer).to_be_visible()
        expect(app.page.locator("[data-presented] tr:has(td):not(.bv-dim, .bv-more, thead *)")).to_be_visible()
        expect(offer).to_have_css("opacity", "1")
        app.page.keyboard.press("s")
        expect(dim).to_have_count(0)


def test_a_number_that_is_clicked_is_worked_on_the_last_screen(chromium, server):
    with visit(chromium, server) as app:
        app.open("attention")
        count = present(app)
        for _ in range(2):
            app.page.keyboard.press("ArrowRight")
        cell = app.page.locator("[data-presented] [data-cell*='products']").first
        address = cell.get_attribute("data-cell")
        with app.rerun():
            cell.click()
        app.page.keyboard.press("ArrowRight")
        expect(app.page.locator(DOTS)).to_have_attribute("aria-label", f"Panel {count} of {count}")
        expect(app.page.locator("[data-presented].st-key-drawer-body")).to_be_visible()
        assert app.explained == address


def test_a_link_begins_with_the_panel_that_it_names_in_any_light(chromium, server):
    with visit(chromium, server, LARGE) as app:
        app.page.goto(f"{server}/attention?token=7#present=3&spot&turned")
        app.settle()
        expect(app.page.locator(DOTS)).to_have_attribute("aria-label", "Panel 3 of 4")
        expect(app.page.locator(".bv-lectern h1")).to_contain_text("“the”")
        assert app.page.evaluate("() => document.documentElement.classList.contains('bv-turned')")
        app.page.keyboard.press("d")
        assert not app.page.evaluate("() => document.documentElement.classList.contains('bv-turned')")
        assert app.page.url.endswith("#present=3&spot")


def test_what_is_typed_presents_nothing_and_the_menu_does_on_a_phone_too(chromium, server):
    with visit(chromium, server) as app:
        app.open("attention")
        app.page.get_by_role("button", name="Edit the sentence").click()
        app.sentence.press("p")
        expect(app.page.locator(".bv-lectern")).to_have_count(0)
    with visit(chromium, server, PHONE, touch=True) as app:
        app.open("attention")
        app.open_menu("Share")
        app.page.get_by_role("button", name="Present this page").click()
        app.page.get_by_role("button", name="The next panel").tap()
        expect(app.page.locator(DOTS)).to_have_attribute("aria-label", "Panel 2 of 3")
        assert app.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        app.page.get_by_role("button", name="Leave", exact=True).tap()
        expect(app.page.locator(".bv-lectern")).to_have_count(0)


def test_a_chart_in_a_room_is_as_wide_as_its_place_and_its_names_answer_where_they_stand(chromium, server):
    with visit(chromium, server) as app:
        app.open("attention")
        present(app)
        app.page.wait_for_function(
            expand("""() => [...document.querySelectorAll('[data-presented] :--plot')].every(chart =>
                Math.abs(chart.clientWidth - chart.querySelector(':--plot-picture').clientWidth) < 1)""")
        )
        name = app.page.locator("[data-presented] .ytick text").nth(2).bounding_box()
        with app.rerun():
            app.page.mouse.click(name["x"] + name["width"] / 2, name["y"] + name["height"] / 2)
        assert app.query["token"] == "2"
