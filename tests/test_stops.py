"""The nine stops: every number in their sentences is the trace's, by a calculation of its own; what lights is drawn."""

import re
from decimal import Decimal

import numpy as np
import pytest

import bertviz_core as bv
from tests.canvas import draw, look, say
from tests.derived.reading import find_numbers
from tests.derived.truth import softmax
from tests.factory import random_checkpoint

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


class Plain:
    """The calculations at a place, with NumPy on the recorded tensors and parameters."""

    def __init__(self, trace, place):
        self.trace, self.token, self.head = trace, place["token"], place["head"]
        self.layer, self.component = place["layer"], place["component"]
        self.own = f"encoder.layer.{self.layer}"
        config = trace.model.config
        self.config, self.width = config, config.hidden_size // config.num_attention_heads
        q, k, v = (
            trace[f"{self.own}.attention.self.{name}"][self.head].astype(float) for name in ("query", "key", "value")
        )
        self.q, self.keys, self.values = q[self.token], k, v
        self.scores = k @ self.q / np.sqrt(self.width) + np.where(trace.encoding.mask, 0, -1e30)
        self.shares = softmax(self.scores)

    @property
    def key(self):
        """The word with the largest weight, if that is an even share; else whatever has the largest."""
        special = self.trace.model.tokenizer.special_tokens
        words = [i for i, text in enumerate(self.trace.tokens) if text not in special and i != self.token]
        best = max(words, key=lambda i: self.shares[i], default=0)
        enough = words and self.shares[best] * sum(self.trace.encoding.mask) >= 1
        return best if enough else int(self.shares.argmax())

    @property
    def channel(self):
        """The component that the sums are told at."""
        added = self.trace[f"{self.own}.attention.output.dense"][self.token]
        return int(np.abs(added[:64]).argmax()) if self.component is None else self.component

    def cut(self):
        count, padding = (self.trace.encoding.mask.count(real) for real in (1, 0))
        return [
            count,
            *([padding] if padding else []),
            self.config.vocab_size,
            *self.where(self.token),
            self.trace.encoding.ids[self.token],
            0,
            len(self.trace.tokens) - 1,
        ]

    def where(self, i):
        """A position is named where the same token stands elsewhere too."""
        return [i] if self.trace.tokens.count(self.trace.tokens[i]) > 1 else []

    def look_up(self):
        c, encoding, tables = self.channel, self.trace.encoding, "embeddings.{}.weight"
        ids = [encoding.ids[self.token], self.token, encoding.segments[self.token]]
        names = ("word_embeddings", "position_embeddings", "token_type_embeddings")
        rows = [self.trace[tables.format(name)][i].astype(float) for name, i in zip(names, ids, strict=True)]
        told = [number for row, i in zip(rows, ids, strict=True) for number in (row[c], i)]
        return [
            self.config.hidden_size,
            c,
            *self.where(self.token),
            *told,
            sum(rows)[c],
            self.normalize("embeddings.LayerNorm", sum(rows))[c],
        ]

    def normalize(self, path, x):
        spread = np.sqrt(x.var() + self.config.layer_norm_eps)
        return self.trace[f"{path}.weight"] * (x - x.mean()) / spread + self.trace[f"{path}.bias"]

    def offer(self):
        lengths = [np.linalg.norm(x) for x in (self.q, self.keys[self.key], self.values[self.key])]
        other = self.where(self.key) if self.key != self.token else []
        return [
            self.config.hidden_size,
            self.config.num_attention_heads,
            self.width,
            self.head,
            self.layer,
            *self.where(self.token),
            *other,
            *lengths,
        ]

    def compare(self):
        terms = self.q * self.keys[self.key]
        return [
            *self.where(self.token),
            *self.where(self.key),
            self.width,
            terms[np.abs(terms).argmax()],
            terms.sum(),
            self.width,
            terms.sum() / np.sqrt(self.width),
        ]

    def divide(self):
        return [
            self.scores.max(),
            np.exp(self.scores - self.scores.max()).sum(),
            *self.where(self.key),
            self.shares[self.key],
            *self.where(self.token),
        ]

    def collect(self):
        result = self.shares @ self.values
        c = int(np.abs(result).argmax())
        parts = self.shares * self.values[:, c]
        best = int(np.abs(parts).argmax())
        return [*self.where(self.token), c, result[c], parts[best], *self.where(best)]

    def add(self):
        c, out = self.channel, f"{self.own}.attention.output"
        before = f"encoder.layer.{self.layer - 1}.output.LayerNorm" if self.layer else "embeddings.LayerNorm"
        skip = self.trace[before][self.token].astype(float)
        heads = self.trace[f"{self.own}.attention.self.context"][self.token].astype(float)
        added = heads @ self.trace[f"{out}.dense.weight"] + self.trace[f"{out}.dense.bias"]
        x = skip + added
        gamma, beta = (self.trace[f"{out}.LayerNorm.{name}"][c] for name in ("weight", "bias"))
        return [
            c,
            *self.where(self.token),
            skip[c],
            self.config.num_attention_heads,
            self.layer,
            added[c],
            x[c],
            x.mean(),
            np.sqrt(x.var() + self.config.layer_norm_eps),
            gamma,
            beta,
            self.normalize(f"{out}.LayerNorm", x)[c],
        ]

    def fire(self):
        x = self.trace[f"{self.own}.attention.output.LayerNorm"][self.token].astype(float)
        before = (
            x @ self.trace[f"{self.own}.intermediate.dense.weight"] + self.trace[f"{self.own}.intermediate.dense.bias"]
        )
        after = self.trace[f"{self.own}.intermediate.activation"][self.token]
        taken = np.where(before > 0, before - after, 0)
        named = [
            int(np.abs(after).argmax()),
            *([int(taken.argmax())] if taken.max() > 0.005 else []),
            *([int(before.argmin())] if before.min() < 0 and after[before.argmin()] > -0.005 else []),
        ]
        told = [number for i in dict.fromkeys(named) for number in (i, before[i], after[i])]
        return [len(before), self.layer, int((before > 0).sum()), 0, *self.where(self.token), *told]

    def answer(self):
        logits = self.trace["cls.predictions.decoder"][self.token].astype(float)
        first, second = np.argsort(-logits)[:2]
        shares = softmax(logits)
        h = self.trace["cls.predictions.transform.LayerNorm"][self.token].astype(float)
        weight, bias = (self.trace[f"cls.predictions.decoder.{name}"] for name in ("weight", "bias"))
        return [
            *self.where(self.token),
            len(h),
            h @ weight[:, first],
            bias[first],
            logits[first],
            len(logits),
            shares[first],
            shares[second],
        ]

    def end(self):
        last = self.config.num_hidden_layers - 1
        vector = self.trace[f"encoder.layer.{last}.output.LayerNorm"][self.token]
        best = int(np.abs(vector).argmax())
        return [len(vector), *self.where(self.token), best, vector[best]]


STOPS = (Plain.cut, Plain.look_up, Plain.offer, Plain.compare, Plain.divide, Plain.collect, Plain.add, Plain.fire)


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
    assert len(data["stops"]) == 9 and sum(stop["seconds"] for stop in data["stops"]) <= 120
    for stop in data["stops"]:
        named = {part for _, part in stop["sentence"] if part}
        tokens = {part for part in named if part.startswith("token:")}
        assert named - tokens <= drawn and set(stop["lights"]) <= drawn, stop["name"]
        assert all(int(part.partition(":")[2]) < len(trace.tokens) for part in tokens)
        assert stop["kind"] in data["colors"]["kinds"]
        quoted = [text for text, part in stop["sentence"] if part in tokens]
        texts = [trace.tokens[int(part.partition(":")[2])] for _, part in stop["sentence"] if part in tokens]
        assert [text.partition("“")[2].partition("”")[0] for text in quoted] == texts


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


def test_printed_numbers_work_out_to_the_last_digit(trace):
    """A reader with a pocket calculator finds every sum in a sentence right."""
    stops = {stop["name"]: stop for stop in draw(look(trace))["stops"]}
    *rows, total, _ = [number for number in read_printed(stops["look up"])[-8:] if number.as_tuple().exponent]
    assert len(rows) == 3 and work(sum(rows), total) == total
    *_, products, width, score = read_printed(stops["compare"])
    assert work(products / width.sqrt(), score) == score
    *_, product, bias, logit, _ = read_printed(stops["word"])
    assert work(product + bias, logit) == logit
    norm = stops["add & normalize"]["worked"]
    decimals = norm["digits"]["total"]
    printed = {name: Decimal(f"{norm[name]:.{decimals}f}") for name in norm if isinstance(norm[name], float)}
    assert printed["skip"] + printed["added"] == printed["sum"]
    assert printed["sum"] - printed["mean"] == printed["centered"]
    assert printed["scaled"] + printed["beta"] == printed["value"]
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
