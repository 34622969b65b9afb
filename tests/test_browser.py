"""What only a real browser can tell: what is seen, where links and keys lead, what is kept in the URL."""

import csv

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.ui.components.selectors import expand
from bertviz_core.ui.frame.site import PAGES
from tests.axe import list_violations
from tests.browser import PHONE, WIDE, running, visit
from tests.often import seldom

MARKUP = "<script>alert(1)</script> <img src=x onerror=alert(1)> $x$ **b** :red[r]"
CHOICE = {"text": "The old man was [MASK] and tired.", "layer": "3", "head": "5", "token": "2"}

# What cannot be seen well on the page: each entry says what and where.
BLEMISHES = expand("""() => {
    const main = document.querySelector(':--main'), found = [];
    const name = e => `${e.tagName} ${e.getAttribute('class') || ''} ${e.textContent.slice(0, 40)}`;
    const scrolls = e => /auto|scroll|hidden/.test(getComputedStyle(e).overflowX)
        && e.getBoundingClientRect().right <= innerWidth + 1;
    for (const e of main.querySelectorAll('*')) {
        if (e.getBoundingClientRect().right <= innerWidth + 1 || !e.checkVisibility() || e.closest('svg')) continue;
        let above = e.parentElement;
        while (above !== main && !scrolls(above)) above = above.parentElement;
        if (above === main) found.push(`sticks out of the screen: ${name(e)}`);
    }
    for (const chart of main.querySelectorAll(':--plot')) {
        const box = chart.getBoundingClientRect();
        const texts = [...chart.querySelectorAll(':--plot-picture text')]
            .filter(e => e.textContent.trim() && e.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}))
            .map(e => [e, e.getBoundingClientRect()]).filter(([e, r]) => r.width && r.height);
        for (const [e, r] of texts)
            if (r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1)
                found.push(`cut off at the chart's edge: ${name(e)}`);
        texts.forEach(([e, a], i) => texts.slice(i + 1).forEach(([f, b]) => {
            const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (across > 3 && down > 5 && !/rotate/.test(e.getAttribute('transform') + f.getAttribute('transform')))
                found.push(`overlap: ${name(e)} / ${name(f)}`);
        }));
    }
    for (const e of main.querySelectorAll(':--formula-error, :--exception')) found.push(`error: ${name(e)}`);
    for (const e of main.querySelectorAll('button, a, input, select, textarea, img, [role="button"]'))
        if (e.checkVisibility() && !(e.ariaLabel || e.title || e.hasAttribute('alt') || e.textContent.trim()
                || e.labels?.length || e.getAttribute('aria-labelledby') || e.querySelector('img:not([alt=""])')))
            found.push(`without a name: ${e.outerHTML.slice(0, 120)}`);
    for (const e of main.querySelectorAll(':--chart'))
        if (!e.querySelector('[aria-label]') && !e.ariaLabel && !e.closest('[aria-label]'))
            found.push(`a chart without words: ${e.outerHTML.slice(0, 120)}`);
    return found;
}""")

# Whether the focus is in a picture, on a page that has one with something to point at.
IN_FIRST_PICTURE = expand("""() => {
    const roots = [document, ...[...document.querySelectorAll('*')].flatMap(e => e.shadowRoot ?? [])];
    const pictures = roots.flatMap(root => [...root.querySelectorAll(':--plot, [data-picture]')])
        .filter(e => e.checkVisibility());
    const stops = pictures.filter(e => e.tabIndex >= 0 || e.querySelector('[tabindex="0"], button, a[href]'));
    return !stops.length || pictures.some(e => e.matches(':focus, :focus-within'));
}""")


def find_blemishes(app):
    """What cannot be seen well, once charts had a moment to fit what is around them."""
    for _ in range(20):
        if not (found := app.page.evaluate(BLEMISHES)):
            break
        app.page.wait_for_timeout(250)
    return found


SCREENS = {
    "wide": (WIDE, "light", {"layer": "3", "head": "5", "token": "2"}),
    "phone": (PHONE, "dark", {**CHOICE, "text": MARKUP}),
}


def enter_first_picture(app):
    """After the framework's own two, one stop: it leads into the first picture that has something to point at."""
    app.page.evaluate("document.activeElement.blur()")
    for _ in range(3):
        app.page.keyboard.press("Tab")
    skip = app.page.locator(".bv-skip:focus")
    assert skip.bounding_box()["x"] >= 0
    for _ in range(20):  # a chart can be entered a moment after it is drawn
        app.page.locator(".bv-skip").press("Enter")
        if app.page.evaluate(IN_FIRST_PICTURE):
            return
        app.page.wait_for_timeout(100)
    raise AssertionError("the focus is in no picture")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("screen", "pages"),
    [
        ("wide", PAGES[1::4]),
        *(seldom("wide", PAGES[start::4]) for start in (2, 3, 4)),
        *(seldom("phone", PAGES[start::2]) for start in (1, 2)),
    ],
    ids=["wide", None, None, None, None, None],
)
def test_every_page_is_whole_and_keeps_the_choice_on_every_screen(chromium, server, screen, pages):
    """Also for the keyboard, and with axe. Each time a quarter of the pages on one screen, the others rarely."""
    size, theme, choice = SCREENS[screen]
    with visit(chromium, server, size, theme) as app:
        app.open(**choice)
        found = {PAGES[0].name: find_blemishes(app) + list_violations(app.page)}
        enter_first_picture(app)
        chosen = app.chosen()
        assert chosen == ("Layer 3", "Head 5", "token 2 script" if "text" in choice else "token 2 in")
        for info in sorted(pages, key=lambda info: info.of_two):
            app.follow(info.title)
            found[info.name] = find_blemishes(app) + list_violations(app.page)
            own = info.of_two and "text" not in choice  # there such a page has sentences of its own, with other tokens
            kept = {key: value for key, value in choice.items() if key != "token" or not own}
            assert {key: app.query.get(key) for key in kept} == kept
            beside = chosen[2:] if info.of_two else chosen  # a field for the other pass stands in their place
            assert own or app.chosen() == beside
            assert app.find(':--main img[src="x"], :--main script').count() == 0
            enter_first_picture(app)
        assert {name: blemishes for name, blemishes in found.items() if blemishes} == {}


@pytest.mark.rare
def test_a_reload_restores_the_view(app):
    app.open("attention", **CHOICE)
    app.choose("Layer", "Layer 4")
    there = app.shown()
    with app.reloading():
        app.page.reload()
    assert app.query["layer"] == "4" and app.shown() == there


@pytest.mark.rare
def test_a_deep_link_into_a_server_that_has_just_started(chromium, tmp_path):
    with running(tmp_path) as url, visit(chromium, url) as app:
        app.open("add_norm", **CHOICE)
        assert app.title == "Add & Norm" and app.chosen() == ("Layer 3", "Head 5", "token 2 old")
        app.open_menu("Pages")
        assert app.find(":--popover-body").get_by_role("link").count() == len(PAGES)


@pytest.mark.rare
def test_the_tokens_of_a_pair_can_be_read_where_they_are_cut(app):
    app.open("tokenization", text="He sat by the bank of the river.", pair="The bank lent him the money.")
    chips = app.find(".bv-cut-tokens .bv-cut-chip")
    assert chips.count() == 19 and chips.first.evaluate("e => parseFloat(getComputedStyle(e).fontSize)") >= 12
    cut = chips.evaluate_all("all => all.filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)")
    assert cut == []


@pytest.mark.rare
def test_no_line_of_the_menu_of_pages_is_cut(app):
    app.open("overview")
    app.open_menu("Pages")
    lines = app.find(":--popover-body .st-key-page-list em")
    assert lines.count() == len(PAGES)
    assert lines.evaluate_all("all => all.filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)") == []


@pytest.mark.rare
@pytest.mark.slow
def test_the_menu_of_pages_is_closed_on_the_page_it_led_to(app):
    app.open("layers")
    for title in ("Layers", "Heads", "Heads"):
        app.follow(title)
        app.find(":--popover-body").wait_for(state="detached")


@pytest.mark.rare
def test_a_link_beside_an_open_menu_leads_to_its_page(app):
    """The menu closes, and asks for a run of its page, which is left by then."""
    app.open("layers")
    app.open_menu("Pages")
    with app.rerun():
        app.page.locator(".st-key-map").get_by_role("link", name="Sentence").click()
    app.page.wait_for_timeout(500)
    app.settle()
    assert app.title == "Sentence"


@pytest.mark.rare
def test_a_download_holds_the_numbers_of_the_trace(app, bundled, tmp_path):
    app.open("attention", **CHOICE, open="maps")
    files = {}
    for kind in ("npy", "csv"):
        panel = app.page.locator('[class*="st-key-panel-encoder"]').filter(has_text="scaled").last
        with app.rerun():
            panel.get_by_role("button", name="Values", exact=True).click()
        with app.page.expect_download() as downloading:
            app.page.get_by_role("button", name=f"Values (.{kind})").click()
        app.page.keyboard.press("Escape")
        files[kind] = tmp_path / downloading.value.suggested_filename
        downloading.value.save_as(files[kind])
    address = files["npy"].name.removesuffix(".npy")
    path, head = address.split("-")
    assert address == files["csv"].name.removesuffix(".csv") and head == "head5"
    trace = bv.run(bundled, CHOICE["text"])
    values = np.load(files["npy"])  # another process may add in another order
    np.testing.assert_allclose(values, trace[f"{path}[head=5]"], rtol=1e-4, atol=1e-5)
    with files["csv"].open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["query", "text", *(f"key {i}" for i in range(values.shape[1]))]
    assert [row[:2] for row in rows] == [[str(i), token] for i, token in enumerate(trace.tokens)]
    assert np.array_equal(np.array([row[2:] for row in rows], dtype=np.float32), values)  # to the last bit


@pytest.mark.rare
def test_the_chosen_token_of_a_long_sentence_is_in_view(app):
    """Where one looks on, it stays so, until another one is chosen."""
    words = " ".join(f"the {word} river" for word in ("old", "cold", "deep", "wide") * 12)
    app.open("attention", text=words, token=120)
    row, chosen = app.page.locator(".bv-chips"), app.page.locator('.bv-chips [aria-checked="true"]')
    assert is_within(row.bounding_box(), chosen.bounding_box())
    row.evaluate("row => row.scrollLeft = 0")
    app.page.locator('.bv-chips [data-token="3"]').hover()
    assert not is_within(row.bounding_box(), chosen.bounding_box())
    app.point(4)
    assert is_within(row.bounding_box(), chosen.bounding_box())


IN_THE_MAP = """() => {
  const [map, here] = ['.st-key-map', '.st-key-map-here'].map(
    (each) => document.querySelector(each).getBoundingClientRect());
  return map.left <= here.left && here.right <= map.right;
}"""


@pytest.mark.rare
def test_the_stage_of_the_page_is_in_view_on_a_phone(chromium, server):
    with visit(chromium, server, PHONE) as app:
        app.open("sentence")
        app.page.wait_for_function(IN_THE_MAP, timeout=10_000)


def is_within(outer, inner):
    """Whether it lies within another box, from left to right."""
    return outer["x"] <= inner["x"] and inner["x"] + inner["width"] <= outer["x"] + outer["width"]


@pytest.mark.slow
def test_by_keyboard_alone(app):
    """Few stops to the map, from there to a page; the menus by arrows."""
    app.open(**CHOICE)
    for _ in range(20):
        app.page.keyboard.press("Tab")
        if app.page.evaluate("document.activeElement.closest('a')?.textContent.endsWith('Query, key, value')"):
            break
    with app.rerun():
        app.page.keyboard.press("Enter")
    assert app.title == "Query, key, value"
    assert app.page.title() == "Query, key, value · BERT, every number"
    app.page.get_by_role("combobox", name="Layer", exact=True).focus()
    app.page.keyboard.press("ArrowDown")
    app.page.keyboard.press("ArrowDown")
    with app.rerun():
        app.page.keyboard.press("Enter")
    assert app.query["layer"] != CHOICE["layer"]


@pytest.mark.rare
def test_what_leads_to_pages_stays_where_it_is_from_page_to_page(app):
    read = "[...document.querySelectorAll('.st-key-whole a, .st-key-map a')].map(a => a.getBoundingClientRect().x)"
    found = []
    for page, asked in {"attention": {}, "training": {}, "compare": {"with": "A bird."}}.items():
        app.open(page, **CHOICE, **asked)
        found.append(app.page.evaluate(read))
    assert found[0] and found[0] == found[1] == found[2]
