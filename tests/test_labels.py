"""Texts on charts: whatever a vocabulary holds is drawn as it stands, as text, and each entry by itself."""

import html
import json
import re
from pathlib import Path

import plotly
import pytest

import bertviz_core as bv
from bertviz_core.analysis.labels import center_words, tell_tokens_apart
from bertviz_core.figures.attention import draw_products
from bertviz_core.figures.bars import draw_bars
from bertviz_core.figures.base import to_plotly
from bertviz_core.figures.heatmap import Side
from bertviz_core.figures.texts import LONGEST_TICK, Rich, bold, escape
from bertviz_core.formula.texts import name_token, spell_controls
from bertviz_core.ui.frame.cell_names import name_index
from bertviz_core.ui.walk import card
from tests import test_figures, test_vector_figures
from tests.test_figures import CASES, INK, LIGHT, SHARE, SIGNED, VARIANTS, sent, walk

LINK = '<a href="https://example.org">y</a>'
HOSTILE = [LINK, "<b>bold</b><br>", "&amp;&lt;", "$x$ %{x}", "a\n\u202eb\x00", "<extra>" + "m" * 5000]
SHOWN = [LINK, "<b>bold</b><br>", "&amp;&lt;", "$x$ %{x}", "a␊⟨U+202E⟩b␀", "<extra>" + "m" * 5000]
OWN_TAGS = re.compile(r"</?b>|<br>|<extra></extra>|<span style=\"color:#[0-9A-Fa-f]{6}\">|</span>")
BEGINS = re.compile(r"<(?!\u200b)|\$|%\{|&(?!#)")  # what Plotly would read in a text
BEGINS_IN_SPACE = re.compile(r"<(?!\u200b)")
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]")


def texts(chart):
    """Every text that is sent, by the way to it; the cells that a click means are none."""
    found = {}

    def collect(part, way):
        if isinstance(part, str):
            found[way] = part
        items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
        for key, value in items:
            if key not in ("meta", "bdata"):
                collect(value, (*way, key))

    collect(sent(to_plotly(chart)), ())
    return found


@pytest.fixture
def hostile(monkeypatch):
    for module in (test_figures, test_vector_figures):
        monkeypatch.setattr(module, "WORDS", HOSTILE)
    monkeypatch.setattr(test_figures, "SIDES", (Side("token", HOSTILE), Side("hidden")))
    monkeypatch.setattr(test_figures, "SERIES", {LINK: SHARE, HOSTILE[3]: SHARE[::-1]})


@pytest.mark.parametrize("draw", VARIANTS)
def test_no_chart_lets_a_word_become_more_than_a_text(draw, hostile):
    chart = draw(LIGHT)
    for way, text in texts(chart).items():
        rest = OWN_TAGS.sub("", text)
        if way[-1] in ("hovertemplate", "texttemplate"):
            rest = re.sub(r"%\{[a-zA-Z]+(\[\d\])?(:[^}]*)?\}", "", rest)
        in_space = "scene" in chart.layout and "text" in way  # where tags are read, but no entities
        assert not (BEGINS_IN_SPACE if in_space else BEGINS).search(rest), (way, text)
        assert not UNSEEN.search(text), (way, text)


def test_tags_of_a_word_are_not_taken_for_those_of_a_chart(hostile):
    """The check above leaves out what charts write themselves; none of the words may hide behind that."""
    for draw in (variant for variants in CASES.values() for variant in variants.values()):
        told = [text for text in texts(draw(LIGHT)).values() if "bold" in text]
        assert not any("<b>bold" in text.removeprefix("<b>").replace("<\u200bb>", "") for text in told), told
        assert all("&#60;b&#62;bold&#60;/b&#62;" in text or "<\u200bb>bold<\u200b/b>" in text for text in told), told


@pytest.mark.parametrize(("word", "shown"), list(zip(HOSTILE, SHOWN, strict=True)), ids=range(6))
def test_what_is_drawn_is_the_word_itself(word, shown):
    (ticks,) = (
        [text for way, text in texts(draw_bars(SIGNED[:1], [word], LIGHT, INK, name="x")).items() if "ticktext" in way],
    )
    drawn = html.unescape(ticks[0])
    assert drawn == shown if len(shown) <= LONGEST_TICK else drawn == shown[: LONGEST_TICK - 1] + "…"


def test_a_chart_keeps_the_tags_that_it_writes_itself():
    assert bold("<i>") == "<b>&#60;i&#62;</b>" and bold(Rich("a<br>b")) == "<b>a<br>b</b>"
    assert escape(bold("x")) == "<b>x</b>" and isinstance(escape("x"), Rich)
    for draw in (variant for variants in CASES.values() for variant in variants.values()):
        for part in walk(draw(LIGHT).spec):  # what it wrote without saying so would be seen as it stands
            assert not isinstance(part, str) or isinstance(part, Rich) or not re.search(r"</?b>|<br>|<extra>|%\{", part)


def test_two_words_that_look_alike_are_two_bars():
    words = ["same", "same", "other"]
    for chart in (
        draw_bars(SIGNED[:3], words, LIGHT, INK, name="x"),
        draw_products(words, SIGNED[:3], SIGNED[:3].cumsum(), LIGHT, color=INK, title="x"),
    ):
        spec = sent(to_plotly(chart))
        bars = spec["data"][0]
        places = bars["y"] if bars.get("orientation") == "h" else bars["x"]
        axis = spec["layout"]["yaxis" if bars.get("orientation") == "h" else "xaxis"]
        assert places == [0, 1, 2] == axis["tickvals"] and axis["ticktext"] == words


def test_every_character_of_a_text_is_seen():
    assert spell_controls("plain übung 模型 سلام 👩\u200d🔬\xa0") == "plain übung 模型 سلام 👩\u200d🔬\xa0"
    for unseen in map(chr, [*range(32), 127, *range(0x80, 0xA0), 0xAD, 0x200B, 0x200F, 0x2028, 0x202E, 0x2069, 0xFEFF]):
        assert spell_controls(f"a{unseen}b")[1] in "␀␁␂␃␄␅␆␇␈␉␊␋␌␍␎␏␐␑␒␓␔␕␖␗␘␙␚␛␜␝␞␟␡⟨"


DRAW = """async (specs) => {
    const found = [];
    for (const spec of specs) {
        const place = document.body.appendChild(document.createElement("div"));
        await Plotly.newPlot(place, spec.data, spec.layout, { displayModeBar: false });
        const links = place.querySelectorAll("svg a, svg [*|href^=http]").length;
        const bold = [...place.querySelectorAll("svg tspan")].filter((part) => part.style.fontWeight === "bold");
        found.push({ links, bold: bold.map((part) => part.textContent), text: place.textContent });
        Plotly.purge(place);
        place.remove();
    }
    return found;
}"""


@pytest.mark.slow
@pytest.mark.rare
def test_no_link_stands_in_a_drawn_chart(window, hostile):
    page = window.new_page()
    page.set_content("<body></body>")
    page.add_script_tag(path=str(Path(plotly.__file__).parent / "package_data" / "plotly.min.js"))
    drawn = [draw(LIGHT) for name, variants in CASES.items() for draw in variants.values()]
    flat = [sent(to_plotly(chart)) for chart in drawn if "scene" not in chart.layout]  # space needs a graphics card
    found = page.evaluate(DRAW, json.loads(json.dumps(flat)))
    page.close()
    assert [one["links"] for one in found] == [0] * len(flat)
    assert not any(text == "bold" for one in found for text in one["bold"])
    assert sum(LINK in one["text"] for one in found) > 20  # as it stands


def test_a_token_that_stands_twice_is_told_from_its_like():
    tokens = ["[CLS]", "do", "as", "do"]
    assert [name_token(tokens, i) for i in range(4)] == ["“[CLS]”", "“do” at position 1", "“as”", "“do” at position 3"]


def test_outside_of_sentences_a_token_that_stands_twice_has_its_position_in_front(rome, bundled):
    assert tell_tokens_apart(rome) == [
        "[CLS]", "when", "in", "rome", ",", "5 do", "as", "the", "[MASK]", "9 do", ".", "[SEP]"
    ]  # fmt: skip
    assert [card.name_place(rome, "key", i) for i in (3, 5, 9)] == ["rome", "5 do", "9 do"]
    many = bv.run(bundled, "when in rome " * 12)
    assert tell_tokens_apart(many, range(2, 4)) == [f"{i} {many.tokens[i]}" for i in (2, 3)]


def test_a_window_of_tokens_begins_with_a_whole_word_if_that_has_room(bundled):
    trace = bv.run(bundled, "unbelievably playing " * 5)
    tokens = trace.tokens
    assert "##" in "".join(tokens)
    for center in range(len(tokens)):
        wide, narrow = center_words(trace, center, 12), center_words(trace, center, 2)
        assert center in wide and 7 < len(wide) <= 12 and not tokens[wide.start].startswith("##")
        assert center in narrow and len(narrow) in (1, 2)
    assert len(center_words(trace, 12, 12)) == 12
    assert center_words(trace, 3, 100) == range(len(tokens))


def test_an_index_is_named_by_what_stands_there(rome):
    named = {
        ("token", 8): "8 [MASK]",
        ("key", 0): "0 [CLS]",
        ("head", 1): "head 1",
        ("bound", 0): "start",
        ("bound", 1): "end",
        ("vocab", 2111): "2111 people",
        ("hidden", 22): "22",
    }
    assert {where: name_index(rome, *where) for where in named} == named
