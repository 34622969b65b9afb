"""The ten stops: every number in their sentences is the trace's, by a calculation of its own; what lights is drawn."""

import re
from decimal import Decimal

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.documents.glossary import GLOSSARY
from tests.canvas import draw, look, say
from tests.derived.reading import find_numbers
from tests.factory import random_checkpoint
from tests.plain_stops import Plain

TEXTS = {
    "rome": ("When in Rome, do as the [MASK] do.", None),
    "no mask": ("Unbelievably, tokenizers split electroencephalography.", None),
    "short": ("a", None),
    "numbers": ("In 1969 the first man [MASK] on the moon!", None),
    "64 tokens": ("in rome the river rose " * 12 + "and [MASK].", None),
    "a pair": ("He sat by the bank of the river.", "The bank lent him the [MASK]."),
}
WRITTEN = re.compile(r"“[^”]*”")  # tokens and words, which may have digits


@pytest.fixture(scope="module", params=TEXTS)
def trace(request, bundled):
    return bv.run(bundled, *TEXTS[request.param])


@pytest.fixture(scope="module")
def headless(tmp_path_factory):
    return bv.run(bv.load_model(random_checkpoint(tmp_path_factory.mktemp("plain"), kind="base")), "the cat sat on")


STOPS = (
    Plain.cut, Plain.look_up, Plain.offer, Plain.compare, Plain.divide, Plain.collect, Plain.join, Plain.add,
    Plain.fire,
)  # fmt: skip


def check_sentences(data, trace):
    plain = Plain(trace, data["place"])
    last = Plain.answer if data["words"] else Plain.end
    for stop, calculate in zip(data["stops"], (*STOPS, last), strict=True):
        said, expected = say(stop), calculate(plain)
        found = find_numbers(WRITTEN.sub("", said))
        assert len(found) == len(expected), (said, expected)
        for number, value in zip(found, expected, strict=True):
            assert number.tells(value, 1e-5), (said, number.text, value)
        assert not re.search(r"nan|None|  |−0\.00\b", said), said


def test_every_number_in_the_sentences_is_the_traces(trace):
    for token in {0, len(trace.tokens) // 2, None}:
        check_sentences(draw(look(trace, token=token)), trace)


def test_the_chosen_head_and_component_are_told(rome):
    check_sentences(draw(look(rome, token=5, head=(3, 5)), component=200), rome)


def test_without_an_lm_head_the_walk_ends_with_the_last_vector(headless):
    data = draw(look(headless))
    check_sentences(data, headless)
    assert "no LM head" in say(data["stops"][-1])


def test_padding_is_counted_by_itself(bundled):
    trace = bv.run(bundled, "When in Rome, do as the [MASK] do.", pad_to=40)
    for token in (3, 39):
        check_sentences(draw(look(trace, token=token)), trace)
    said = say(draw(look(trace))["stops"][0])
    assert "12 tokens, and 28 of padding, " in said and said.endswith("Positions are counted from 0, to 39.")


def test_parts_that_light_are_drawn(trace):
    data = draw(look(trace))
    drawn = {stage["id"] for stage in data["stages"]} | {"tokens", "words"}
    assert len(data["stops"]) == 10
    for stop in data["stops"]:
        named = {part for _, part in stop["sentence"] if part}
        tokens = {part for part in named if part.startswith("token:")}
        assert named - tokens <= drawn and set(stop["lights"]) <= drawn, stop["name"]
        assert all(int(part.partition(":")[2]) < len(trace.tokens) for part in tokens)
        assert stop["kind"] in data["colors"]["kinds"]
        quoted = [text for text, part in stop["sentence"] if part in tokens]
        texts = [trace.tokens[int(part.partition(":")[2])] for _, part in stop["sentence"] if part in tokens]
        assert [text.partition("“")[2].partition("”")[0] for text in quoted] == texts


def check_joined(joined, collected, trace):
    """The heads side by side, times a column of the output matrix, head by head."""
    products = np.array(joined["vector"]) * joined["weights"]
    assert len(products) == joined["heads"] * joined["width"] == trace.model.config.hidden_size
    parts = products.reshape(joined["heads"], joined["width"]).sum(axis=1)
    np.testing.assert_allclose(joined["parts"], parts, atol=1e-3)
    np.testing.assert_allclose(sum(joined["parts"]), joined["product"], atol=1e-9)
    np.testing.assert_allclose(joined["product"] + joined["bias"], joined["value"], atol=1e-5)
    at, number, weight, product, _ = joined["term"]
    assert at == joined["head"] * joined["width"] + collected["component"] and number == collected["sum"]
    assert number * weight == product


def test_the_same_component_is_followed_from_stop_to_stop(trace):
    for component in (None, 200):
        stops = {stop["name"]: stop["worked"] for stop in draw(look(trace), component=component)["stops"]}
        words = ("look up", "join", "add & normalize", "word")
        found = {*(stops[name]["component"] for name in words), stops["collect"]["hidden"]}
        assert found == {stops["neurons"]["onwards"]["component"]} and component in (None, *found)
        assert stops["join"]["value"] == stops["add & normalize"]["added"]
        assert stops["add & normalize"]["value"] == stops["neurons"]["onwards"]["skip"]


def test_a_term_is_explained_once_where_it_is_first_used_in_the_words_of_the_glossary(trace):
    stops = draw(look(trace))["stops"]
    told = [(term, meaning) for stop in stops for term, meaning in stop["plain"]]
    assert dict(told) == {term: GLOSSARY[term] for term, _ in told} and len(dict(told)) == len(told)
    assert {"[CLS]", "component", "head", "length", "√d_k", "GELU"} == dict(told).keys()
    for place, stop in enumerate(stops):
        for term, _ in stop["plain"]:
            used = {"√d_k": "√", "[CLS]": "special token"}.get(term, term).lower()
            assert used in say(stop).lower(), term
            assert not any(re.search(rf"\b{re.escape(used)}", say(other).lower()) for other in stops[:place]), term


def test_what_a_model_does_not_have_is_not_explained(tmp_path):
    trace = bv.run(bv.load_model(random_checkpoint(tmp_path, hidden_act="relu")), "the cat sat on")
    assert "GELU" not in {term for stop in draw(look(trace))["stops"] for term, _ in stop["plain"]}


def test_neurons_that_are_shut_off_are_not_counted_as_above_0(tmp_path):
    trace = bv.run(bv.load_model(random_checkpoint(tmp_path, hidden_act="relu")), "the cat sat on")
    view = look(trace, token=2, head=(1, 0))
    (told,) = (stop["worked"] for stop in draw(view)["stops"] if "active" in stop["worked"])
    values = trace["encoder.layer.1.intermediate.activation[token=2]"]
    assert 0 < told["active"] == int((values > 0).sum()) < len(values)


def test_worked_numbers_add_up(trace):
    by_name = {stop["name"]: stop["worked"] for stop in draw(look(trace))["stops"]}
    compared, divided, collected = (by_name[name] for name in ("compare", "divide up", "collect"))
    terms = np.array([term for *_, term, _ in compared["terms"]])
    assert (np.diff(np.abs(terms)) <= 0).all()
    assert sorted(component for component, *_ in compared["terms"]) == list(range(len(terms)))
    np.testing.assert_allclose([q * k for _, q, k, _, _ in compared["terms"]], terms, rtol=1e-12)
    np.testing.assert_allclose(terms.sum(), compared["sum"], rtol=1e-5)
    np.testing.assert_allclose(compared["sum"] / compared["scale"], compared["score"], rtol=1e-5)
    exponentials, shares = np.array(divided["exponentials"]), np.array(divided["shares"])
    np.testing.assert_allclose(exponentials / divided["denominator"], shares, atol=1e-6)
    np.testing.assert_allclose(shares.sum() + divided["others"], 1, atol=1e-5)
    np.testing.assert_allclose(np.exp(np.array(divided["scores"]) - divided["largest"]), exponentials, rtol=1e-6)
    np.testing.assert_allclose(sum(collected["values"]) + collected["others"], collected["sum"], atol=1e-5)
    check_joined(by_name["join"], by_name["collect"], trace)
    norm, word = by_name["add & normalize"], by_name["word"]
    steps = [norm["sum"] - norm["mean"], norm["centered"] / norm["deviation"], norm["normal"] * norm["gamma"]]
    np.testing.assert_allclose([norm["centered"], norm["normal"], norm["scaled"]], steps, atol=1e-5)
    np.testing.assert_allclose(norm["scaled"] + norm["beta"], norm["value"], atol=1e-5)
    logit = word["logit"]
    assert logit["value"] == word["words"][0][1]
    products = sum(h * w for _, h, w, *_ in logit["terms"]) + logit["rest"]
    np.testing.assert_allclose([products, products + logit["bias"]], [logit["product"], logit["value"]], atol=2e-5)
    total = sum(share for _, _, _, share, _ in word["words"]) + word["others"]
    np.testing.assert_allclose(total, 1, atol=1e-5)
    for _, _, exponential, share, _ in word["words"]:
        np.testing.assert_allclose(exponential / word["denominator"], share, rtol=1e-4)


def read_printed(stop):
    """The numbers of a sentence as they are printed."""
    told = find_numbers(WRITTEN.sub("", say(stop)))
    return [Decimal(number.text.replace("−", "-").replace(",", "")) for number in told if "%" not in number.text]


def work(value, like):
    """A number printed with as many decimals as another one."""
    return round(value, -like.as_tuple().exponent)


def check_joined_as_printed(joined, told):
    """Factors give their product, heads and bias their sum."""
    number, weight, product, _, total, bias, value = [each for each in told if each.as_tuple().exponent]
    assert work(number * weight, product) == product
    assert work(total + bias, value) == value
    fine = joined["digits"]["factors"]
    assert work(sum(Decimal(f"{part:.{fine}f}") for part in joined["parts"]), total) == total


def test_printed_numbers_work_out_to_the_last_digit(trace):
    """A reader with a pocket calculator finds every sum in a sentence right."""
    stops = {stop["name"]: stop for stop in draw(look(trace))["stops"]}
    *rows, total, _ = [number for number in read_printed(stops["look up"])[-8:] if number.as_tuple().exponent]
    assert len(rows) == 3 and work(sum(rows), total) == total
    *_, products, width, score = read_printed(stops["compare"])
    assert work(products / width.sqrt(), score) == score
    check_joined_as_printed(stops["join"]["worked"], read_printed(stops["join"]))
    *_, product, bias, logit, _ = read_printed(stops["word"])
    assert work(product + bias, logit) == logit
    norm = stops["add & normalize"]["worked"]
    decimals = norm["digits"]["total"]
    printed = {name: Decimal(f"{norm[name]:.{decimals}f}") for name in norm if isinstance(norm[name], float)}
    assert printed["skip"] + printed["added"] == printed["sum"]
    if norm["digits"]["exact"]:  # else the picture says that last digits are rounded
        assert printed["sum"] - printed["mean"] == printed["centered"]
        assert printed["scaled"] + printed["beta"] == printed["value"]
    else:
        deviation, gamma = (Decimal(f"{norm[name]:.{norm['digits']['factors']}f}") for name in ("deviation", "gamma"))
        told = (printed["sum"] - printed["mean"]) / deviation * gamma + printed["beta"]
        assert work(told, printed["value"]) == printed["value"]
    assert {printed[name] for name in ("skip", "added", "sum", "mean", "beta", "value")} <= set(
        read_printed(stops["add & normalize"])
    )


def test_the_lists_of_a_picture_add_up_as_printed(trace):
    stops = {stop["name"]: stop["worked"] for stop in draw(look(trace))["stops"]}
    divided, collected, word = (stops[name] for name in ("divide up", "collect", "word"))
    rest = divided["denominator"] - sum(divided["exponentials"])
    others = word["denominator"] - sum(term for _, _, term, *_ in word["words"])
    for numbers, total, digits in (
        ([*divided["exponentials"], rest], divided["denominator"], divided["digits"]),
        ([*collected["values"], collected["others"]], collected["sum"], collected["digits"]),
        ([*(term for _, _, term, *_ in word["words"]), others], word["denominator"], word["digits"]),
    ):
        printed = sum(Decimal(f"{number:.{digits['terms']}f}") for number in numbers)
        assert round(printed, digits["total"]) == Decimal(f"{total:.{digits['total']}f}")
    for _, q, k, product, decimals in [*stops["compare"]["terms"], *word["logit"]["terms"]]:
        assert abs(float(f"{q:.{decimals}f}") * float(f"{k:.{decimals}f}") - product) < 0.01
