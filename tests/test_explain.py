"""Explain this number: recomputed from operands that are there to be looked at, down to parameters and inputs."""

import collections
import random
import sys

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.formula import numbers, tex
from bertviz_core.formula.address import Address, parse
from bertviz_core.formula.functions import GELU, Apply
from bertviz_core.formula.steps import INPUT, PARAMETER
from tests.factory import random_checkpoint
from tests.latex import balanced, evaluated

CELLS = 50  # of every address
SAMPLE = 400  # of all addresses together
CHECKED = 60  # operands of a cell that are compared one by one; of the first cell of an address, all


def random_cell(trace, path, chance):
    dims = trace.dims(path)
    at = {axis: chance.randrange(size) for axis, size in zip(dims, trace.shape(path), strict=True)}
    return str(Address(path).fix(**at))


def sample(trace, count):
    """Random cells, every address at least once."""
    chance = random.Random(20181011)
    paths = [*trace.addresses, *chance.choices(trace.addresses, k=count - len(trace.addresses))]
    return [random_cell(trace, path, chance) for path in paths]


@pytest.fixture(scope="module")
def explained(rome):
    return [rome.explain(address) for address in sample(rome, SAMPLE)]


@pytest.fixture(scope="module")
def padded(tmp_path_factory):
    """A trace in float64 with everything in it that can be explained: both segments, padding, every head."""
    folder = random_checkpoint(tmp_path_factory.mktemp("explain"), seed=5)
    return bv.run(bv.load_model(folder, dtype=torch.float64), "The cat sat.", "On the mat?", pad_to=14)


class Leaves(dict):
    """A trace's tensors by address, as leaves of autograd."""

    def __init__(self, trace):
        super().__init__()
        self.trace = trace

    def __missing__(self, address):
        tensor = torch.tensor(self.trace[address])
        self[address] = tensor.requires_grad_(tensor.is_floating_point())
        return self[address]


def term_scale(why, leaves):
    """The sum of |operand * slope|: for a sum of products, the sum of the terms' sizes.

    Rounding touches every operand and every term, so this is the scale of what rounding can do to the cell. Where the
    terms cancel it is far above the cell's own size, and no float32 sum can be exact to digits of a number that small.
    GELU hides such a sum, x/2 + x/2 erf(x/√2), whose terms cancel where x is negative.
    """
    if isinstance(why.step.expr, Apply) and why.step.expr.function == GELU:
        return abs(why.operands[0][1])
    at = {axis: range(i, i + 1) for axis, i in zip(why.step.output.axes, why.cell.at.values(), strict=True)}
    result = why.step.expr.work(leaves, at)
    floating = [leaves[leaf.address] for leaf in why.step.leaves if leaves[leaf.address].requires_grad]
    if not result.requires_grad:
        return 0.0  # made of whole numbers only, or a whole number itself
    slopes = torch.autograd.grad(result.sum(), floating)
    return sum(float((slope * tensor).detach().abs().sum()) for slope, tensor in zip(slopes, floating, strict=True))


def assert_recomputed(why, leaves, tolerance):
    scale = max(abs(why.value), term_scale(why, leaves))
    error = abs(why.recomputed - why.value)
    assert error <= tolerance * (scale if np.isfinite(scale) else abs(why.value)), why.address


@pytest.mark.rare
def test_fifty_cells_of_every_address_agree_with_the_trace(rome):
    """Value, recomputed value, and the operands' addresses and values."""
    chance, whole = random.Random(20181011), Whole(rome)
    for path in rome.addresses:
        for i in range(CELLS):
            address = random_cell(rome, path, chance)
            why = rome.explain(address)
            assert why.address == address and why.value == rome[address].item()
            assert abs(why.recomputed - why.value) <= 1e-6 * scale(rome, why), address
            some = why.operands if i == 0 else chance.sample(why.operands, min(CHECKED, len(why.operands)))
            cells = [parse(operand) for operand, _ in some]
            assert some and [value for _, value in some] == [recorded(whole, cell) for cell in cells], address
            assert {cell.path for cell in cells} <= {leaf.address for leaf in why.step.leaves}, address


class Whole(dict):
    """A trace's tensors by address, each read once, with its axes."""

    def __init__(self, trace):
        super().__init__()
        self.trace = trace

    def __missing__(self, path):
        self[path] = self.trace.dims(path), self.trace[path]
        return self[path]


def scale(trace, why):
    """As `term_scale`, off the derivatives that the trace itself gives, which `test_derivatives` holds."""
    if isinstance(why.step.expr, Apply) and why.step.expr.function == GELU:
        return abs(why.operands[0][1])
    terms = np.array([value for _, value in why.operands]) * trace.derivatives(why.address)
    return max(abs(why.value), float(np.abs(terms).sum()))


def recorded(whole, cell):
    """One number of the trace, read off its whole tensor by the axes' order."""
    dims, tensor = whole[cell.path]
    assert tuple(axis for axis, _ in cell.index) == dims
    return tensor[tuple(i for _, i in cell.index)].item()


def test_cells_are_recomputed_to_the_last_digits_in_float64(padded):
    leaves = Leaves(padded)
    for address in sample(padded, 600):
        assert_recomputed(padded.explain(address), leaves, 1e-14)


def test_the_value_is_the_recorded_one(explained, rome):
    assert all(why.value == rome[why.address].item() for why in explained)


def test_every_operand_is_a_cell_of_the_trace_with_that_value(explained, rome):
    chance = random.Random(1)
    for why in explained:
        wide = len(why.operands) > 2000  # a row of the vocabulary or of the neurons: some of it
        for address, value in chance.sample(why.operands, 100) if wide else why.operands:
            assert rome[address].item() == value, address


def test_what_a_cell_is_made_from_is_told_without_working_it_out(explained, rome, monkeypatch):
    for name in ("work_short", "format_latex"):
        monkeypatch.setattr(f"bertviz_core.formula.explain.{name}", None)
    for why in explained:
        made = rome.made(why.cell)
        assert (made.cell, made.sources, made.step, made.count) == (why.cell, why.sources, why.step, why.count)


def test_every_operand_of_the_widest_cell_is_a_cell_of_the_trace(rome):
    operands = rome.explain("cls.predictions.probs[token=3,vocab=7]").operands
    row = rome["cls.predictions.decoder[token=3]"]
    assert [address for address, _ in operands] == [
        f"cls.predictions.decoder[token=3,vocab={i}]" for i in range(rome.model.config.vocab_size)
    ]
    assert np.array_equal([value for _, value in operands], row)


def test_every_operand_was_there_before(explained, rome):
    """So every walk from operand to operand ends."""
    order = {address: i for i, address in enumerate(rome.addresses)}
    for why in explained:
        paths = {address.partition("[")[0] for address, _ in why.operands}
        assert all(order.get(path, -1) < order[why.cell.path] for path in paths)


def test_a_walk_over_first_operands_ends_at_a_parameter_or_an_input(rome, padded):
    chance = random.Random(2)
    for trace in (rome, padded):
        last = trace.model.config.num_hidden_layers - 1
        for path in trace.addresses:
            if Address(path).layer in (None, last):
                end = walked(trace, random_cell(trace, path, chance))
                assert trace.program.symbol(parse(end).path).kind in (PARAMETER, INPUT), end


def walked(trace, address):
    while operands := trace.explain(address).operands:
        address = operands[0][0]
    return address


@pytest.mark.parametrize("address", ["input_ids[token=2]", "embeddings.word_embeddings.weight[vocab=9,hidden=3]"])
def test_an_input_and_a_parameter_explain_themselves(rome, address):
    why = rome.explain(address)
    assert why.value == why.recomputed == rome[address].item()
    assert why.operands == () and why.step is None and balanced(why.latex)


@pytest.mark.parametrize(
    ("address", "written"),
    [
        (
            "embeddings.word_embeddings.weight[vocab=9,hidden=3]",
            r"W_{\mathrm{word}}[{\mathrm{vocab}=9,\,\mathrm{hidden}=3}]",
        ),
        ("embeddings.LayerNorm.bias[hidden=3]", r"\beta_{E}[{\mathrm{hidden}=3}]"),
        ("input_ids[token=2]", r"{\mathrm{id}}_{\mathrm{token}=2}"),
    ],
)
def test_the_place_in_a_learned_table_stands_apart_from_the_indices_of_its_symbol(rome, address, written):
    assert rome.explain(address).latex.split(" = ")[0] == written


def test_formulas_are_balanced_and_end_in_the_recomputed_number(explained):
    for why in explained:
        assert balanced(why.latex)
        assert why.latex.endswith(f" = {numbers.format_latex(why.recomputed)}")


def test_the_worked_formula_gives_the_number(padded, monkeypatch):
    monkeypatch.setattr(tex, "_SHOWN_TERMS", 10**6)
    monkeypatch.setattr(numbers, "_split", lambda value: [f"{value:.15f}"])
    chance = random.Random(3)
    for path in padded.addresses:
        if path in ("embeddings.word_embeddings", "embeddings.position_embeddings", "embeddings.token_type_embeddings"):
            continue  # a row of a table: nothing to calculate
        for _ in range(3):
            why = padded.explain(random_cell(padded, path, chance))
            formula = why.latex.split(" = ")[1]
            assert float(evaluated(formula)) == pytest.approx(why.value, rel=1e-6, abs=1e-9), why.address


def test_a_lookup_names_its_row(padded):
    why = padded.explain("embeddings.word_embeddings[token=2,hidden=4]")
    row = padded.encoding.ids[2]
    assert rf"W_{{\mathrm{{word}}}}\left[{row}, 4\right]" in why.latex
    assert [address for address, _ in why.operands] == [
        f"embeddings.word_embeddings.weight[vocab={row},hidden=4]",
        "input_ids[token=2]",
    ]


@pytest.mark.parametrize(
    ("address", "operands"),
    [
        ("embeddings.sum[token=1,hidden=2]", [
            "embeddings.word_embeddings[token=1,hidden=2]", "embeddings.position_embeddings[token=1,hidden=2]",
            "embeddings.token_type_embeddings[token=1,hidden=2]"]),
        ("encoder.layer.1.attention.self.scores[head=2,query=0,key=13]", [
            "encoder.layer.1.attention.self.scaled[head=2,query=0,key=13]", "attention_mask[token=13]"]),
        ("encoder.layer.0.attention.self.products[head=1,query=4,key=5]", [
            *(f"encoder.layer.0.attention.self.query[head=1,query=4,head_dim={i}]" for i in range(8)),
            *(f"encoder.layer.0.attention.self.key[head=1,key=5,head_dim={i}]" for i in range(8))]),
        ("encoder.layer.0.attention.self.context[token=4,concat=17]", [
            *(f"encoder.layer.0.attention.self.probs[head=2,query=4,key={i}]" for i in range(14)),
            *(f"encoder.layer.0.attention.self.value[head=2,key={i},head_dim=1]" for i in range(14))]),
        ("encoder.layer.1.attention.self.value[head=2,key=6,head_dim=3]", [
            *(f"encoder.layer.0.output.LayerNorm[token=6,hidden={i}]" for i in range(24)),
            *(f"encoder.layer.1.attention.self.value.weight[hidden={i},concat=19]" for i in range(24)),
            "encoder.layer.1.attention.self.value.bias[concat=19]"]),
        ("pooler.dense[pooled=3]", [
            *(f"encoder.layer.1.output.LayerNorm[token=0,hidden={i}]" for i in range(24)),
            *(f"pooler.dense.weight[hidden={i},pooled=3]" for i in range(24)), "pooler.dense.bias[pooled=3]"]),
    ],
)  # fmt: skip
def test_operands_are_the_cells_of_the_textbook(padded, address, operands):
    assert [operand for operand, _ in padded.explain(address).operands] == operands


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("embeddings.sum", "give an index for token, hidden as well"),
        ("embeddings.sum[token=1]", "give an index for hidden as well"),
        ("embeddings.sum[token=1,hidden=384]", "hidden 384 is out of range; it runs from 0 to 383"),
        ("embeddings.sum[token=99,hidden=0]", "token 99 is out of range; it runs from 0 to 11"),
        ("embeddings.sum[query=1,hidden=0]", "no axis 'query'; its axes are token, hidden"),
        ("encoder.layer.6.output.dense[token=0,hidden=0]", "there is no layer 6: the layers are 0 to 5"),
        ("nothing.here[token=0]", "an address looks like embeddings.word_embeddings"),
    ],
)
def test_what_cannot_be_explained_is_said(rome, address, message):
    with pytest.raises(bv.AddressError, match=message.replace("?", r"\?")):
        rome.explain(address)


def test_the_widest_cell_is_explained_without_a_loop(rome):
    rome["cls.predictions.decoder"]
    calls = collections.Counter()
    sys.setprofile(lambda frame, event, argument: calls.update([event]))
    try:
        rome.explain("cls.predictions.probs[token=1,vocab=2]")
    finally:
        sys.setprofile(None)
    assert 0 < calls["call"] + calls["c_call"] < 10_000  # for 30,522 operands: nothing is done for each of them


@pytest.mark.parametrize(
    ("value", "latex", "text"),
    [
        (0.0, "0", "0"),
        (-0.43214, "-0.4321", "−0.4321"),
        (0.001, "0.0010", "0.0010"),
        (0.00099, "0.0009900", "0.0009900"),
        (1e-12, r"1.000\times 10^{-12}", "1.000·10⁻¹²"),
        (99999.5, "99999.50", "99,999.50"),
        (-123456.0, "-123456.0", "−123,456.0"),
        (12, "12", "12"),
        (30522, "30522", "30,522"),
        (-3, "-3", "−3"),
        (float("inf"), r"\infty", "∞"),
        (float("-inf"), r"-\infty", "−∞"),
        (float("nan"), r"\mathrm{nan}", "nan"),
    ],
)
def test_a_number_has_the_same_digits_everywhere(value, latex, text):
    assert numbers.format_latex(value) == latex
    assert numbers.format_number(value) == text
