"""The ten stops of the walk in a browser: readable at every size, as said, and gone through by keyboard."""

import re

import pytest

from tests.browser import PHONE, WIDE, visit
from tests.canvas import BLEMISHES
from tests.often import seldom

pytestmark = pytest.mark.slow

SIZES = {"wide": WIDE, "low": {"width": 1280, "height": 720}, "phone": PHONE}
INPUTS = {
    "rome": {},
    "a pair": {"text": "He sat by the bank of the river.", "pair": "The bank lent him the [MASK]."},
    "40 tokens": {"text": "in rome the river rose " * 7 + "and [MASK]."},
}
# Goes from stop to stop and gathers what it finds at each once it is drawn.
GATHER = """async () => {
    const found = [], texts = () => [...document.querySelectorAll('.bvc-drawn text')].map(e => e.textContent);
    for (let stop = 1; stop <= 10; stop++) {
        document.querySelector(`.bvc [data-does="stop:${stop}"]`).click();
        for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
        found.push({
            said: document.querySelector('.bvc-say p').textContent, drawn: texts().join(' '), blemishes: (BLEMISHES)(),
            spoken: [...document.querySelectorAll('[data-spoken]')].map(e => e.dataset.spoken),
        });
    }
    return found;
}""".replace("BLEMISHES", BLEMISHES)
DIGITS = re.compile(r"\d[\d,]*\.\d+|\d+\s%")


@pytest.fixture
def still(chromium, server, request):
    """A tab of somebody who wants no motion."""
    size = getattr(request, "param", "wide")
    with visit(chromium, server, SIZES[size], motion="reduce", touch=size == "phone") as app:
        yield app


def gather(app, **query):
    app.open(play=1, **query)
    return enumerate(app.page.evaluate(GATHER), 1)


@pytest.mark.parametrize("still", ["wide", seldom("phone"), seldom("low")], indirect=True)
def test_every_stop_is_readable_and_prints_the_digits_that_it_says(still):
    for name, query in INPUTS.items():
        for stop, found in gather(still, **query):
            assert found["blemishes"] == [], (name, stop)
            told = DIGITS.findall(re.sub(r"“[^”]*”", "", found["said"]))
            assert told or stop == 1
            assert [number for number in told if number not in found["drawn"]] == [], (name, stop, found)


@pytest.mark.rare
def test_the_component_that_is_spoken_of_is_boxed_where_it_is_drawn(still):
    for component in ("", "200"):
        found = dict(gather(still, component=component, layer=2, head=0))
        spoken = {stop: each["spoken"] for stop, each in found.items() if each["spoken"]}
        norm = ["output.1", "added", "sum", "norm"]
        assert spoken == {
            2: ["embedding"], 3: ["output.1"], 7: ["added"], 8: norm, 9: ["norm", "sum2", "output.2"], 10: ["output.5"],
        }  # fmt: skip
        (named,) = {re.search(r"component (\d+)", found[stop]["drawn"])[1] for stop in (2, 7, 8, 9, 10)}
        assert component in ("", named)


@pytest.mark.rare
def test_arrows_go_from_stop_to_stop_wherever_the_walk_was_begun(app):
    """As somebody does who clicks and then uses the keyboard, in motion."""
    app.open()
    app.page.locator(".bvc-actions").get_by_role("button", name="Show me").click()
    app.page.wait_for_selector('.bvc[data-stop="1"]')
    for _ in range(10):
        app.page.keyboard.press("ArrowRight")
    app.page.wait_for_selector('.bvc[data-stop="10"]')
    assert app.page.get_by_role("button", name="Play", exact=True).count() == 1  # it rests
    app.page.wait_for_function("() => new URLSearchParams(location.search).get('play') === '10'")
    app.page.keyboard.press("ArrowLeft")
    app.page.wait_for_selector('.bvc[data-stop="9"]')
    app.page.get_by_role("button", name="compare").click()
    app.page.keyboard.press("ArrowRight")  # the focus is on a stop of the track, and goes with it
    app.page.wait_for_selector('.bvc[data-stop="5"]')
    assert app.page.evaluate("document.activeElement.dataset.does") == "stop:5"


def test_shift_and_arrow_go_step_by_step_inside_a_stop(still):
    still.open(play=4)
    still.page.locator(".bvc-stage").focus()
    landed = still.page.locator(".bvc-drawn text", has_text=re.compile(r"the largest in size$| of 32$"))

    def press(key):
        still.page.keyboard.press(key)
        return landed.text_content().rpartition("· ")[2]

    assert landed.text_content().endswith("the largest in size")  # all have landed, and the sum has become a score
    seen = [press("Shift+ArrowLeft") for _ in range(7)]
    counts = [int(text.split()[0]) for text in seen if text != "the largest in size"]
    assert len(counts) >= 3 and counts == list(range(31, 31 - len(counts), -1))
    assert press("Shift+ArrowRight") == f"{counts[-1] + 1} of 32"
    assert still.page.locator('.bvc[data-stop="4"]').count() == 1
    still.page.keyboard.press("?")
    assert "a step inside of the stop" in still.page.locator(".bvc-help").inner_text()
