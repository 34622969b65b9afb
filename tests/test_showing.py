"""What values show of themselves in a notebook, and pictures saved for print, compared with NumPy."""

import io
import re
import xml.etree.ElementTree as ET
from base64 import b64decode
from html import unescape

import numpy as np
import plotly.graph_objects as go
import pypdfium2
import pytest
from PIL import Image

import bertviz_core as bv
from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.figures.palette import PALETTES
from bertviz_core.figures.pdf import write_pdf
from bertviz_core.figures.sheet import Sheet, Text
from bertviz_core.formula.numbers import format_number
from tests.factory import random_checkpoint

SVG = "{http://www.w3.org/2000/svg}"
WEIGHTS = "encoder.layer.1.attention.self.probs[head=1]"
SIZES = {"hidden_size": 64, "num_attention_heads": 2, "num_hidden_layers": 2}
TEXT = "the cat sat on the mat in rome"
PICTURES = {  # with whether its numbers stand in its cells
    WEIGHTS: True,
    "encoder.layer.0.attention.self.scores[head=0]": True,
    "encoder.layer.1.attention.self.query[head=1]": True,
    "embeddings.LayerNorm": False,
    "encoder.layer.0.output.LayerNorm[token=2]": True,
    f"{WEIGHTS[:-1]},query=3]": True,
}


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    folder = random_checkpoint(tmp_path_factory.mktemp("models") / "small", kind="masked-lm", **SIZES)
    return bv.run(bv.load_model(folder), TEXT)


def texts_of(html):
    return unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", html))


def asks_for_nothing(html):
    return not re.search(r"<script|<link|\bsrc=|@import|url\(", html)


def test_a_trace_shows_tokens_likeliest_words_and_every_address(trace):
    html = trace._repr_html_()
    said = texts_of(html)
    assert asks_for_nothing(html)
    assert all(address in said for address in trace.addresses) and all(token in said for token in trace.tokens)
    asked = 8  # rome: the last word, as none is masked
    logits = trace["cls.predictions.decoder"][asked].astype(np.float64)
    shares = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    best = [trace.model.tokenizer.name(i) for i in np.argsort(-shares, kind="stable")[:5]]
    assert re.search(r"\s+".join(f"{re.escape(word)} [^a-z]*" for word in best), said)
    assert "head 2 × query 10 × key 10" in said


def test_what_a_sentence_says_is_no_markup(trace):
    tokens = ("[CLS]", "<b onclick=1>", "&amp;", "[SEP]")
    encoding = Encoding(tokens, trace.encoding.ids[:4], (0,) * 4, (1,) * 4)
    html = bv.run(trace.model, encoding)._repr_html_()
    assert "<b onclick" not in html and "<b onclick=1>" in texts_of(html) and "&amp;amp;" in html


def test_short_forms_say_what_it_is(trace):
    assert repr(trace).startswith("<Trace of '[CLS] the cat sat") and "10 tokens" in repr(trace)
    changed = trace.with_changes({WEIGHTS: 0.0})
    assert "1 change" in repr(changed) and "1 change" in texts_of(changed._repr_html_())
    assert re.fullmatch(r"<Model '.*': 2 layers of 2 heads, hidden size 64, [\d,]+ parameters>", repr(trace.model))
    why = trace.explain(f"{WEIGHTS[:-1]},query=2,key=7]")
    assert repr(why).startswith(f"<{why.address} = {why.value!r}") and "10 numbers" in repr(why)


def test_an_explanation_shows_its_formula_with_its_operands(trace):
    cell = f"{WEIGHTS[:-1]},query=2,key=7]"
    why = trace.explain(cell)
    html, scores = why._repr_html_(), trace[cell.replace("probs", "scores").replace(",key=7", "")]
    said = texts_of(html)
    assert asks_for_nothing(html) and cell in said
    for key, score in enumerate(scores):
        row = f"{cell.replace('probs', 'scores').replace('key=7', f'key={key}')} +{abs(score):.4f}".replace("[", r"\[")
        assert re.search(row.replace(" +", " +−" if score < 0 else " +"), said)
    powers = np.exp(scores.astype(np.float64) - scores.max())
    assert f"{powers[7]:.4f}" in said and f"{powers.sum():.4f}" in said and f"{powers[7] / powers.sum():.4f}" in said
    assert why._repr_latex_() == rf"$\displaystyle {why.latex}$"


def test_of_many_operands_some_stand_there_and_it_says_so(trace):
    why = trace.explain("encoder.layer.1.intermediate.dense[token=3,intermediate=5]")
    assert f"{why.count - 12:,} more" in texts_of(why._repr_html_())
    learned = trace.explain("embeddings.LayerNorm.bias[hidden=3]")
    assert "No formula makes it" in texts_of(learned._repr_html_())


@pytest.mark.parametrize("theme", PALETTES)
def test_a_tensor_is_drawn_as_a_figure_of_plotlys_with_its_formula(trace, theme):
    figure = trace.show(WEIGHTS, theme=theme)
    assert isinstance(figure, go.Figure) and np.array_equal(np.asarray(figure.data[0].z), trace[WEIGHTS])
    assert figure.layout.paper_bgcolor == PALETTES[theme].surface
    assert figure.layout.title.text.startswith("<i>A</i><sup>(1)</sup> = softmax<sub>key</sub>(<i>S</i><sup>(1)</sup>)")
    html = figure._repr_html_()
    assert asks_for_nothing(html) and WEIGHTS in texts_of(html)
    bundle = figure._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.plotly.v1+json", "text/html"}
    assert go.Figure(figure).data[0].zmax == figure.data[0].zmax


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("encoder.layer.1.attention.self.probs", r"Fix all but two, as in .*probs\[head=0\]"),
        (f"{WEIGHTS[:-1]},query=3,key=1]", r"It is one number: trace.explain"),
        ("encoder.layer.1.attention.self.prob", "not in this trace"),
        (None, "address"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(trace, address, said):
    with pytest.raises(bv.BertvizError, match=said):
        trace.show(address)
    with pytest.raises(bv.BertvizError, match='"light" or "dark"'):
        trace.show(WEIGHTS, theme="blue")


def mix(one, other, part):
    ends = [[int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in (one, other)]
    return [low + part * (high - low) for low, high in zip(*ends, strict=True)]


def test_a_saved_matrix_has_a_rectangle_for_every_number(trace, tmp_path):
    trace.show(WEIGHTS).save(tmp_path / "a.svg", width_mm=85)
    root = ET.parse(tmp_path / "a.svg").getroot()
    assert root.get("width") == "85.00mm" and root.find(f".//{SVG}image") is None
    cells = [rect for rect in root.iter(f"{SVG}rect") if rect.find(f"{SVG}title") is not None]
    values = trace[WEIGHTS].ravel()
    assert len(cells) == values.size
    end = max(values) if max(values) <= 0.5 else 1
    for rect, value in zip(cells, values, strict=True):
        assert float(rect.get("fill-opacity", 1)) == pytest.approx(value / end, abs=1e-4)
        assert rect.get("fill") == PALETTES["light"].cells["attention"]
    numbers = [text for text in root.iter(f"{SVG}text") if text.get("text-anchor") == "middle" and "." in text.text]
    assert [float(text.text) for text in numbers] == [round(float(x), 2) for x in values if x >= 0.005]


def test_below_a_picture_stands_where_its_numbers_come_from(trace, tmp_path):
    trace.show(WEIGHTS).save(tmp_path / "a.svg", width_mm=174)
    said = " ".join(text.text for text in ET.parse(tmp_path / "a.svg").getroot().iter(f"{SVG}text"))
    for part in ("[CLS] the cat sat on the mat in rome [SEP]", WEIGHTS, trace.model.digest, "layer=1&head=1"):
        assert part.replace(" ", "") in said.replace(" ", "")  # a line that is too long is broken
    again = bv.run(trace.model, re.search(r"text=([\w+]+)", said)[1].replace("+", " "))
    assert again.tokens == trace.tokens
    trace.show(WEIGHTS).save(tmp_path / "bare.svg", caption=False)
    assert trace.model.digest not in (tmp_path / "bare.svg").read_text()


def test_other_weights_have_another_digest_and_the_same_ones_not(trace, tmp_path):
    same = random_checkpoint(tmp_path / "same", kind="masked-lm", **SIZES)
    other = random_checkpoint(tmp_path / "other", kind="masked-lm", **SIZES, seed=5)
    assert bv.load_model(same).digest == trace.model.digest != bv.load_model(other).digest


def test_a_large_matrix_is_an_image_of_300_dpi(trace, tmp_path):
    address = "cls.predictions.decoder"
    trace.show(address).save(tmp_path / "a.svg", width_mm=85)
    image = ET.parse(tmp_path / "a.svg").getroot().find(f".//{SVG}image")
    picture = Image.open(io.BytesIO(b64decode(image.get("href").partition(",")[2])))
    assert picture.width >= float(image.get("width")) / 72 * 300
    assert picture.height >= float(image.get("height")) / 72 * 300
    values, light = trace[address], PALETTES["light"]
    end = np.quantile(np.abs(values), 0.99)
    end = end if end < np.abs(values).max() / 2 else np.abs(values).max()
    across, down = picture.width // values.shape[1], picture.height // values.shape[0]
    for row, column in [(0, 0), (3, 7), (values.shape[0] - 1, values.shape[1] - 1)]:
        part = float(np.clip(values[row, column] / end, -1, 1))
        full = light.cells["prediction"] if part > 0 else light.negative
        seen = picture.getpixel((column * across + across // 2, row * down + down // 2))
        assert seen == pytest.approx(mix(light.zero, full, abs(part)), abs=1)


def list_printed(file):
    """What a PDF prints: each number's middle, and the rectangles, in points from the upper left corner."""
    page = pypdfium2.PdfDocument(file)[0]
    height, read = page.get_height(), page.get_textpage()
    boxes = [read.get_rect(i) for i in range(read.count_rects())]
    words = [(read.get_text_bounded(*box), (box[0] + box[2]) / 2, height - (box[1] + box[3]) / 2) for box in boxes]
    rects = [o.get_bounds() for o in page.get_objects([pypdfium2.raw.FPDF_PAGEOBJ_PATH])]
    return page.get_width(), words, [(left, height - top, right, height - low) for left, low, right, top in rects]


@pytest.mark.parametrize("address", PICTURES)
def test_a_pdf_has_the_same_rectangles_and_words_as_the_svg(trace, tmp_path, address):
    figure = trace.show(address)
    figure.save(tmp_path / "a.svg", width_mm=174)
    figure.save(tmp_path / "a.pdf", width_mm=174)
    width, words, rects = list_printed(tmp_path / "a.pdf")
    root = ET.parse(tmp_path / "a.svg").getroot()
    assert width == pytest.approx(174 / 25.4 * 72, abs=0.1) and root.find(f".//{SVG}image") is None
    drawn = [[float(rect.get(key)) for key in ("x", "y", "width", "height")] for rect in root.iter(f"{SVG}rect")]
    assert len(rects) == len(drawn)
    for (x, y, w, h), (left, top, right, low) in zip(drawn, rects, strict=True):
        assert (left, top, right, low) == pytest.approx((x, y, x + w, y + h), abs=1.1)  # a frame is as wide as its line
    said = "".join(text for text, *_ in words)
    for text in root.iter(f"{SVG}text"):
        assert re.sub(r"\W", "", text.text) in re.sub(r"\W", "", said)


def test_a_letter_that_no_reader_of_pdf_has_is_refused_in_a_sentence(trace, tmp_path):
    sheet = Sheet(100, 50, (Text(5, 20, "the 猫", 7),))
    with pytest.raises(bv.InputError, match="fonts that every reader of PDF has lack “猫”"):
        write_pdf(sheet, PALETTES["light"])
    figure = trace.show(WEIGHTS)
    with pytest.raises(bv.InputError, match="saved as"):
        figure.save(tmp_path / "a.gif")
    with pytest.raises(bv.InputError, match="20 to 1,000 mm"):
        figure.save(tmp_path / "a.svg", width_mm=3)
    for wrong in ({"width_mm": "85mm"}, {"font_pt": None}):
        with pytest.raises(bv.ArgumentError, match="width_mm=85"):
            figure.save(tmp_path / "a.svg", **wrong)
    with pytest.raises(bv.InputError, match="cannot be written: No such file or directory"):
        figure.save(tmp_path / "nowhere" / "a.pdf")


@pytest.mark.parametrize("width", [60, 85, 120])
def test_no_line_of_a_picture_sticks_out_of_it_in_wider_letters_either(trace, tmp_path, width):
    """A PDF's letters are known, also the bold ones; an SVG's reader may have others, and is told a line's length."""
    figure = trace.show(WEIGHTS)
    figure.save(tmp_path / "a.svg", width_mm=width)
    figure.save(tmp_path / "a.pdf", width_mm=width)
    page = pypdfium2.PdfDocument(tmp_path / "a.pdf")[0]
    ends = [o.get_bounds()[2] for o in page.get_objects([pypdfium2.raw.FPDF_PAGEOBJ_TEXT])]
    assert max(ends) <= page.get_width() - 3
    lines = [text for text in ET.parse(tmp_path / "a.svg").getroot().iter(f"{SVG}text") if text.get("x") == "4.00"]
    long = [text for text in lines if len(text.text) * float(text.get("font-size")) > 1.7 * page.get_width()]
    assert long and all(4 + float(text.get("textLength")) <= page.get_width() - 3 for text in long)


def read_svg(path):
    """Every text of a picture, and its rectangles as (fill, opacity)."""
    root = ET.parse(path).getroot()
    return [text.text for text in root.iter(f"{SVG}text")], [
        (rect.get("fill"), float(rect.get("fill-opacity", 1))) for rect in root.iter(f"{SVG}rect")
    ]


def test_what_was_found_in_a_trace_is_a_picture_too(trace, tmp_path):
    logit = "cls.predictions.decoder[token=2,vocab=9]"
    found, worth, look = bv.attribute(trace, logit), bv.ablation(trace, logit), bv.lens(trace, 2)
    for each in (found, worth, look):
        figure = trace.show(each)
        figure.save(tmp_path / "a.pdf")
        assert asks_for_nothing(figure._repr_html_()) and not go.Figure(figure.to_dict()).layout.title.text.isspace()
    trace.show(found).save(tmp_path / "a.svg", width_mm=120)
    said, _ = read_svg(tmp_path / "a.svg")
    for part in (*found.parts, found.biases):
        assert format_number(float(part)) in said
    trace.show(worth).save(tmp_path / "a.svg", width_mm=120)
    trace.show(worth).save(tmp_path / "a.pdf", width_mm=120)
    said, cells = read_svg(tmp_path / "a.svg")
    lost = worth.values[0] - worth.without[0]
    page = pypdfium2.PdfDocument(tmp_path / "a.pdf")[0]
    assert min(o.get_bounds()[0] for o in page.get_objects([pypdfium2.raw.FPDF_PAGEOBJ_TEXT])) > 3  # nothing is cut off
    assert [part for _, part in cells[-5:-1]] == pytest.approx((np.abs(lost) / np.abs(lost).max()).ravel(), abs=1e-4)
    trace.show(look).save(tmp_path / "a.svg", width_mm=120)
    said, _ = read_svg(tmp_path / "a.svg")
    for stage, row in zip(("before layer 0", "after layer 0", "after layer 1"), look.probs, strict=True):
        assert f"{stage}: {trace.model.tokenizer.name(int(row.argmax()))}" in said
        assert format_number(float(row.max())) in said


def test_what_was_found_in_another_trace_is_not_shown_by_this_one(trace):
    other = bv.run(trace.model, "a cat")
    logit = "cls.predictions.decoder[token=2,vocab=9]"
    for found in (bv.attribute(other, logit), bv.ablation(other, logit), bv.lens(other, 2)):
        with pytest.raises(bv.InputError, match="worked out of another trace"):
            trace.show(found)


def test_two_passes_compared_are_told_in_few_lines(bundled, rome):
    assert len(repr(bv.compare(rome, bv.run(bundled, "When in Paris, do as the [MASK] do.")))) < 6_000


def test_a_pass_to_show_is_a_trace(trace):
    with pytest.raises(bv.ArgumentError, match="must be a trace"):
        bv.show_pass("the cat")
    with pytest.raises(bv.InputError, match="no theme"):
        bv.show_pass(trace, theme="blue")
    with pytest.raises(bv.InputError, match="420 to 4,000"):
        bv.show_pass(trace, height=10)
