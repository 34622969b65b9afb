"""Whether a number's explanation has room: one screen, nothing cut, and nothing of the page moved by a click."""

import random

import pytest

from bertviz_core.formula.address import Address
from tests.browser import CLICKED, visit
from tests.often import seldom

pytestmark = pytest.mark.slow

SIZES = {"1440": {"width": 1440, "height": 900}, "1280": {"width": 1280, "height": 720}}
MOST = 0.1  # of the kinds of number, that may have to be scrolled
# Whether the drawer's middle has to be scrolled, what of the formula is cut, in how many lines it stands, and the
# lowest text.
MEASURED = """() => {
    const drawer = document.querySelector('.st-key-drawer'), line = drawer.querySelector('.bv-line');
    const around = drawer.querySelector('.st-key-drawer-body').parentElement;
    const parts = [...line?.children ?? []].map(each => each.getBoundingClientRect());
    const says = each => each.checkVisibility()
        && [...each.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    const small = [...drawer.querySelectorAll('*')].filter(says)
        .filter(each => parseFloat(getComputedStyle(each).fontSize) < 12);
    return {
        over: around.scrollHeight - around.clientHeight,
        cut: parts.some(part => part.right > line.getBoundingClientRect().right + 1),
        lines: new Set(parts.map(part => Math.round(part.top / 12))).size,
        small: small.map(each => each.textContent),
        buttons: drawer.querySelectorAll('.bv-operands button').length,
    };
}"""


def list_kinds(trace):
    """A number of every kind: of each step outside of the layers and in one of them, of parameters, of inputs."""
    chance = random.Random(11)
    steps = [path for path in trace.addresses if ".layer." not in path or ".layer.2." in path]
    weights = [path for path in trace.model.parameters if ".layer." not in path or ".layer.2.output" in path]
    inputs = ["input_ids", "position_ids", "token_type_ids"]
    for path in (*steps, *weights, *inputs):
        shape = zip(trace.dims(path), trace.shape(path), strict=True)
        yield str(Address(path).fix(**{axis: chance.randrange(size) for axis, size in shape}))


def walk_to(app, cell):
    """Explain another number, as a row of the drawer's table does."""
    with app.rerun():
        app.page.evaluate(
            """cell => {
                const button = document.createElement('button');
                button.dataset.step = cell;
                document.body.append(button);
                button.click();
                button.remove();
            }""",
            cell,
        )


@pytest.mark.parametrize(
    "size",
    [pytest.param(size, id=name, marks=[pytest.mark.rare] * (name == "1440")) for name, size in SIZES.items()],
)
def test_nearly_every_kind_of_number_is_explained_on_one_screen(chromium, server, rome, size):
    cells = list(list_kinds(rome))
    assert len(cells) >= 60
    scrolled = []
    with visit(chromium, server, size) as app:
        app.open("attention")
        for cell in cells:
            walk_to(app, cell)
            assert app.explained == cell
            found = app.page.evaluate(MEASURED)
            assert not found["cut"] and found["lines"] <= 2 and found["small"] == [], (cell, found)
            if found["over"] > 0:
                scrolled.append((cell, found["over"]))
    assert len(scrolled) <= MOST * len(cells), scrolled


# How high a row of the drawer's table is, how much is left free below the last line, and how many rows are kept back.
ROOM = """() => {
    const body = document.querySelector('.st-key-drawer-body'), around = body.parentElement;
    const rows = [...body.querySelectorAll('.bv-operands tbody tr')];
    const seen = rows.filter(each => each.checkVisibility());
    const free = around.getBoundingClientRect().bottom - body.getBoundingClientRect().bottom;
    return [seen[0].offsetHeight, free, rows.filter(each => each.matches('.bv-late')).length
        - seen.filter(each => each.matches('.bv-late')).length];
}"""


@pytest.mark.rare
def test_a_low_window_shows_as_many_rows_as_it_has_room_for_and_the_rest_when_asked(chromium, server):
    with visit(chromium, server, SIZES["1280"]) as app:
        app.open("attention", walk="encoder.layer.2.attention.self.query[head=0,query=8,head_dim=3]")
        high, free, kept = app.page.evaluate(ROOM)
        assert kept > 1 and 0 <= free < 2 * high
        more = app.drawer.locator("[data-more]")
        assert more.inner_text() == f"{kept} more rows"
        picture = app.drawer.locator(".bv-picture").element_handle()
        around = picture.evaluate_handle("each => each.parentElement")
        picture.evaluate("each => each.remove()")  # the parts of a drawer come one after another
        app.page.wait_for_function(f"kept => ({ROOM})()[2] < kept", arg=kept)
        around.evaluate("(each, picture) => each.append(picture)", picture)
        app.page.wait_for_function(f"kept => ({ROOM})()[2] === kept", arg=kept)
        more.click()
        assert app.page.evaluate(ROOM)[2] == 0
        app.page.set_viewport_size({"width": 1280, "height": 900})
        app.open("attention", walk="encoder.layer.2.attention.self.query[head=0,query=8,head_dim=3]")
        assert app.page.evaluate(ROOM)[2] == 0


WALKED = "~".join(
    f"cls.predictions.{leaf}[token=8,{at}]"
    for leaf, at in (
        ("probs", "vocab=2111"),
        ("decoder", "vocab=2111"),
        ("transform.LayerNorm", "hidden=164"),
    )
)
# How far the numbers of the way back end before what is beside them, and they themselves, in pixels.
CRUMBS = """() => [...document.querySelectorAll('.bv-crumbs code')].map(each => {
    const button = each.parentElement.getBoundingClientRect(), line = each.closest('.bv-crumbs > span');
    const edge = line.getBoundingClientRect().right - parseFloat(getComputedStyle(line).paddingRight);
    const end = Math.min(button.right, edge);
    return end - each.getBoundingClientRect().right;
})"""


@pytest.mark.rare
def test_the_numbers_of_the_way_back_are_whole(app):
    app.open("predictions", walk=WALKED)
    spare = app.page.evaluate(CRUMBS)
    assert len(spare) == 2 and min(spare) >= 0


PLACES = """() =>
    [...document.querySelectorAll('.st-key-headline, [class*="st-key-panel-"], [data-cell], [class*="st-key-chart-"]')]
    .filter(each => !each.closest('.st-key-drawer')).map(each => {
        const { left, top, width, height } = each.getBoundingClientRect();
        return [left, top, width, height].map(Math.round).join();
    })"""


@pytest.mark.parametrize("page", ["attention", seldom("feed_forward"), seldom("predictions")])
def test_a_click_moves_nothing_on_the_page(still, page):
    still.open(page)
    still.settle()
    before = still.page.evaluate(PLACES)
    assert len(before) > 8
    shown = still.page.locator('[class*="st-key-panel-"] [data-cell]:visible').last
    shown.scroll_into_view_if_needed()
    before = still.page.evaluate(PLACES)
    with still.rerun():
        shown.click()
    still.page.locator(CLICKED).wait_for()
    assert still.page.evaluate(PLACES) == before


@pytest.mark.rare
def test_the_drawer_is_folded_and_stays_so(app):
    app.open("attention")
    wide = app.drawer.bounding_box()["width"]
    app.drawer.get_by_role("button", name="Fold the drawer").click()
    assert app.drawer.bounding_box()["width"] < 60 < wide
    app.page.reload()
    app.settle()
    assert app.drawer.bounding_box()["width"] < 60
    app.drawer.get_by_role("button", name="Fold the drawer").click()
    assert app.drawer.bounding_box()["width"] == wide


@pytest.mark.rare
def test_where_it_lies_over_the_page_it_lies_beside_what_was_clicked(chromium, server):
    with visit(chromium, server, {"width": 1000, "height": 800}) as app:
        app.open("attention")
        assert not app.drawer.is_visible()  # the page's own number comes where there is room for it
        for cell in (app.page.locator('[class*="st-key-panel-"] [data-cell]:visible').nth(i) for i in (0, -1)):
            cell.scroll_into_view_if_needed()
            with app.rerun():
                cell.click()
            drawer, clicked = app.drawer.bounding_box(), cell.bounding_box()
            middle = clicked["x"] + clicked["width"] / 2
            assert not drawer["x"] <= middle <= drawer["x"] + drawer["width"]
            with app.rerun():
                app.page.keyboard.press("Escape")
            app.wait_closed()
