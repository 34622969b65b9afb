"""Handouts: nothing is left unfilled or given away, the key is the lesson's, and a code leads to the first step."""

import re
from dataclasses import replace
from html import escape, unescape
from urllib.parse import parse_qs, urlsplit

import pytest
import segno

import bertviz_core as bv
from bertviz_core.analysis.openings import open_head, open_token
from bertviz_core.figures.tints import measure_contrast
from bertviz_core.formula.numbers import format_number, format_percent, write_fixed
from bertviz_core.lessons import __main__ as command
from bertviz_core.lessons import attention_keys
from bertviz_core.lessons.catalogue import LESSONS, find_lesson
from bertviz_core.lessons.drawing import LARGEST_MAP, choose_rows, draw_cell, draw_code, shade
from bertviz_core.lessons.handout import Handout, write_handout
from bertviz_core.lessons.handouts import write_handouts
from bertviz_core.lessons.lesson import Choose, Number, Pick, Write
from bertviz_core.lessons.marking import is_ready, list_options, mark_number, tell_lack, tell_right, work_out
from bertviz_core.lessons.scene import Scene
from bertviz_core.ui.frame.site import PAGES
from tests.lessons.scenes import SENTENCES, find_scene

TEXTS = {
    "usual": (SENTENCES["usual"], None),
    "pair": ("The cat sat on the [MASK].", "In Rome, do as the cat."),
    "sixty": (f"{'do as the cat sat on the mat in rome, ' * 5}and the [MASK] sat.", None),
    "repeated": (SENTENCES["repeated"], None),
    "right to left": ("שלום עולם, אני אוהב [MASK].", None),
    "script": ('<script>alert("1")</script> & the [MASK]', None),
    "braces": ("{here} {} the [MASK]", None),
}
CASES = [(lesson, kind) for lesson in LESSONS for kind in TEXTS]
_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_ISOLATES = re.compile("[\u2066\u2069]")
_MADE = {}


def find_handout(models, lesson, kind, name="random"):
    """A lesson on a sentence, run once for all lessons."""
    text, pair = TEXTS[kind]
    if (name, kind) not in _MADE:
        trace = bv.run(models[name], text, pair)
        token = open_token(trace).token
        opened = open_head(trace, token)
        _MADE[name, kind] = Scene(trace, opened.layer, opened.head, token)
    return Handout(lesson, _MADE[name, kind], text)


def read_sheets(page):
    """The words of each sheet, one space between them."""
    sheets = _STYLE.sub("", page).split('<section class="sheet')[1:]
    return [" ".join(_ISOLATES.sub("", unescape(_TAG.sub(" ", sheet.partition(">")[2]))).split()) for sheet in sheets]


def list_worked(handout):
    """The steps that are asked of this sentence, with what they say."""
    ready = [step for step in handout.lesson.steps if is_ready(step, handout.scene)]
    return [(step, work_out(handout.lesson.name, step, handout.scene)) for step in ready]


def join(text):
    return " ".join(text.split())


@pytest.mark.parametrize(("lesson", "kind"), CASES, ids=[f"{lesson.name}-{kind}" for lesson, kind in CASES])
def test_nothing_is_left_unfilled_and_nothing_is_code(models, lesson, kind):
    handout = find_handout(models, lesson, kind)
    page = write_handout(handout, with_key=True)
    words = " ".join(read_sheets(page)).replace(handout.text, "")
    assert "<script" not in page and "None" not in words
    assert not {"{", "}"} & set(words if kind != "braces" else "")
    numbers = re.findall(r'class="number">(\d+)<', page)
    assert numbers == [str(i + 1) for i in range(len(lesson.steps))] * 2
    if kind == "script":
        assert "&lt;script&gt;" in page


@pytest.mark.parametrize(("lesson", "kind"), CASES, ids=[f"{lesson.name}-{kind}" for lesson, kind in CASES])
def test_the_key_is_the_lessons_and_stands_on_its_own_sheet_alone(models, lesson, kind):
    handout = find_handout(models, lesson, kind)
    (alone,) = read_sheets(write_handout(handout))
    sheet, key = read_sheets(write_handout(handout, with_key=True))
    assert sheet == f"{alone} 1 of 2"
    for step, worked in list_worked(handout):
        if isinstance(step.ask, Write):
            continue
        said = join(tell_right(step, handout.scene, worked))
        assert said in key
        assert said not in sheet
        if isinstance(step.ask, Choose | Pick):
            assert join(list_options(step, handout.scene, worked)[int(worked.key)]).rstrip(".") in key
        if isinstance(step.ask, Number):
            assert mark_number(step, handout.scene, worked, f"{worked.key:.6f}").right
    assert key.count("Usual misconception: ") == len(list_worked(handout))
    assert "misconception" not in sheet


@pytest.mark.parametrize("kind", TEXTS)
def test_a_weight_that_is_asked_about_is_an_empty_box_and_in_no_cell(models, kind):
    handout = find_handout(models, find_lesson("attention"), kind)
    scene, page = handout.scene, write_handout(handout)
    rows = dict(re.findall(r"<tr><td>(\d+) [^<]*</td>.*?<td([^/]*)</td></tr>", page))
    row, asked = scene.read_row("probs"), attention_keys.list_weighed(scene)
    assert asked or not attention_keys.has_ratio(scene)
    for key, cell in rows.items():
        weight = escape(format_percent(float(row[int(key)])))
        assert cell == (' class="box">' if int(key) in asked else f">{weight}"), key
    assert rows and {*map(str, asked)} <= {*rows}
    assert ("Attention weights" in page) == (len(scene.tokens) <= LARGEST_MAP)


def test_the_map_prints_no_weight_that_is_asked_about(models):
    handout = find_handout(models, find_lesson("attention"), "usual")
    scene = handout.scene
    told = re.findall(r'text-anchor="middle" fill="[^"]*">(\d+)<', write_handout(handout))
    row, asked = scene.read_row("probs"), attention_keys.list_weighed(scene)
    assert told == [f"{100 * share:.0f}" for key, share in enumerate(row) if share > 0.0095 and key not in asked]


@pytest.mark.parametrize("kind", TEXTS)
def test_a_sum_that_is_asked_for_stands_nowhere_on_the_sheet(models, kind):
    for name, step_name in (("embeddings", "component"), ("words", "logit")):
        handout = find_handout(models, find_lesson(name), kind)
        step = next(each for each in handout.lesson.steps if each.name == step_name)
        sheet, key = read_sheets(write_handout(handout, with_key=True))
        answer = format_number(work_out(name, step, handout.scene).key)
        assert answer not in sheet
        assert answer in key


def test_the_boxes_for_tokens_do_not_tell_how_many_there_are(models):
    """Neither they nor the entries from the vocabulary, of which some are always there."""
    for kind in TEXTS:
        handout = find_handout(models, find_lesson("tokens"), kind)
        sheet = write_handout(handout)
        assert sheet.count("<rect") % 24 == 0
        assert sheet.count("<rect") // 2 > min(len(handout.scene.tokens), 23)
        special = handout.scene.model.tokenizer.special_tokens
        assert all(f"<td>{token}</td>" in sheet for token in special)


def test_what_the_arrows_add_up_to_is_left_to_be_drawn(models):
    handout = find_handout(models, find_lesson("layer"), "usual")
    step, worked = list_worked(handout)[0]
    drawn = re.search(r"<svg.*?</svg>", write_handout(handout), re.DOTALL)[0]
    numbers = worked.numbers
    assert step.name == "sum"
    assert numbers["was"] in drawn and numbers["added"] in drawn and numbers["sum"] not in drawn
    x, y, to_x, to_y = (float(re.search(rf'{name}="([^"]+)"', drawn)[1]) for name in ("x1", "y1", "x2", "y2"))
    second = re.findall(r'<line x1="([^"]+)" y1="([^"]+)" x2="([^"]+)" y2="([^"]+)"', drawn)[1]
    end_x, end_y = map(float, second[2:])
    pixels = (to_x - x) / float(numbers["was"])
    assert ((end_x - x) ** 2 + (end_y - y) ** 2) ** 0.5 / pixels == pytest.approx(float(numbers["sum"]), rel=0.02)
    assert to_y == y


def test_each_head_has_what_it_is_worth_in_its_cell(models):
    from bertviz_core.lessons.whatif_keys import has_needed, measure_heads

    handout = find_handout(models, find_lesson("whatif"), "usual")
    assert has_needed(handout.scene)
    drawn = re.search(r"<svg.*?</svg>", write_handout(handout), re.DOTALL)[0]
    told = re.findall(r'font-size="11"[^>]*>([^<]+)<', drawn)
    assert told == [write_fixed(100 * float(loss), 2) for loss in measure_heads(handout.scene).ravel()]


def test_a_step_that_the_sentence_is_not_fit_for_says_what_it_lacks(models):
    handout = Handout(find_lesson("tokens"), find_scene(models, "random", "all different"), "")
    step = handout.lesson.steps[1]
    assert not is_ready(step, handout.scene)
    assert all(tell_lack(step, handout.scene) in words for words in read_sheets(write_handout(handout, with_key=True)))


@pytest.mark.parametrize("name", ["tokens", "embeddings", "attention", "layer", "words"])
def test_what_is_written_from_right_to_left_turns_nothing_around_it(models, name):
    """Also on paper a position stands before its token, and a token before what is said of it."""
    handout = find_handout(models, find_lesson(name), "right to left", "bundled")
    handout = replace(handout, scene=replace(handout.scene, token=2))
    page = _STYLE.sub("", write_handout(handout, with_key=True)).replace(handout.text, "")
    hebrew = re.compile("[\u0590-\u05ff]")
    assert hebrew.search(page)
    assert not hebrew.search(re.sub("\u2066[^\u2066\u2069]*\u2069", "", page))


def test_a_model_without_words_has_handouts_too(headless):
    trace = bv.run(headless, SENTENCES["usual"])
    for lesson in LESSONS:
        assert len(read_sheets(write_handout(Handout(lesson, Scene(trace, 0, 0, 8), ""), with_key=True))) == 2


def test_more_is_darker_in_grey_too():
    greys = [sum(int(shade(i / 50)[j : j + 2], 16) for j in (1, 3, 5)) for i in range(51)]
    assert greys == sorted(greys, reverse=True)
    assert greys[0] > 650 and greys[-1] < 250


def test_what_stands_in_a_cell_can_be_read_in_every_shade():
    for i in range(51):
        (ink,) = re.findall('<text[^>]* fill="(#[^"]*)"', draw_cell(0, 0, 30, 20, i / 50, "12"))
        ink = "#" + "".join(2 * digit for digit in ink[1:])
        assert measure_contrast(ink, shade(i / 50)) >= 4, i


def test_a_long_table_keeps_the_largest_rows_and_those_asked_about():
    sizes = [float(i % 100) for i in range(200)]
    chosen = choose_rows(sizes, [0, 100])
    assert {0, 100, 99, 199} <= {*chosen} and chosen == sorted(chosen)
    assert len(chosen) < 60
    assert choose_rows(sizes[:30]) == list(range(30))


def read_modules(svg):
    """Of a code that is drawn as horizontal strokes: which squares are dark."""
    size = int(re.search(r'viewBox="0 0 (\d+)', svg)[1]) if "viewBox" in svg else None
    dark, x, y = set(), 0.0, 0.0
    for move, a, b, run in re.findall(
        r"([Mm])(-?[\d.]+) (-?[\d.]+)h([\d.]+)", svg.replace("m", " m").replace(",", " ")
    ):
        x, y = (float(a), float(b)) if move == "M" else (x + float(a), y + float(b))
        dark |= {(int(x) + i, int(y)) for i in range(int(float(run)))}
        x += float(run)
    return dark, size


def test_the_code_says_its_link():
    link = "https://example.org/attention?text=The+%5BMASK%5D&lesson=attention&step=1"
    dark, _ = read_modules(draw_code(link))
    matrix = segno.make(link, error="m").matrix
    assert dark == {(x, y) for y, row in enumerate(matrix) for x, bit in enumerate(row) if bit}
    assert draw_code("") == draw_code(link * 40) == ""


def test_the_command_writes_all_lessons_with_a_link_to_their_first_steps(small, tmp_path, monkeypatch):
    links = []
    monkeypatch.setattr("bertviz_core.lessons.handout.draw_code", lambda link: links.append(link) or "")
    text = "<b>The [MASK] & the cat"
    pages = write_handouts(tmp_path / "made", small, text, "https://example.org/bert/")
    assert [page.stem for page in pages] == [f"{i}-{lesson.name}" for i, lesson in enumerate(LESSONS, 1)]
    for lesson, link in zip(LESSONS, links, strict=True):
        parts = urlsplit(link)
        page = parts.path.removeprefix("/bert/")
        says = {name: value for name, (value,) in parse_qs(parts.query, strict_parsing=True).items()}
        assert page == lesson.steps[0].page and page in {info.name for info in PAGES}
        assert (says["text"], says["lesson"], says["step"]) == (text, lesson.name, "1")
        assert {"layer", "head", "token"} <= says.keys()


def test_without_a_browser_there_is_html_and_a_word_about_it(small, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "find_browser", lambda: None)
    monkeypatch.setattr(command, "load_model", lambda _: small)
    monkeypatch.setattr("sys.argv", ["lessons", "handouts", "--out", str(tmp_path)])
    assert command.main() == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [str(tmp_path / f"{i}-{lesson.name}.html") for i, lesson in enumerate(LESSONS, 1)]
    assert "No Chromium" in err


def test_what_cannot_be_run_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["lessons", "handouts", "--out", str(tmp_path), "--model", "no/such folder"])
    assert command.main() == 1
    assert capsys.readouterr().err
