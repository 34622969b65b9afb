"""The sixth reading: every step's equation for one cell in one line, as LaTeX and as HTML, read back as numbers."""

import re

import pytest
import torch

import bertviz_core as bv
from bertviz_core.formula.dims import HIDDEN
from bertviz_core.formula.functions import GELU, GELU_TANH, MAX_ZERO, RELU, Apply, Mean, Softmax, Sqrt, Square
from bertviz_core.formula.markup import write_html
from bertviz_core.formula.nodes import Symbol
from bertviz_core.formula.shapes import Lookup, Select
from bertviz_core.formula.short import name_cells, name_function, write_letter, write_short, write_short_expr
from bertviz_core.formula.steps import walk_nodes
from bertviz_core.programs import PROGRAMS
from bertviz_core.programs.training import write_adamw_update, write_loss, write_update
from tests.factory import KINDS, random_checkpoint
from tests.latex import balanced, read, read_exactly

LAYER = "encoder.layer.1."
# By address, what a reader should see: an index behind _, an exponent behind ^.
GOLDEN = {
    "embeddings.word_embeddings": "e_word = W_word[id]",
    "embeddings.sum": "e = e_word + e_pos + e_seg",
    "embeddings.LayerNorm.mean": "μ_E = mean_hidden(e)",
    "embeddings.LayerNorm": "x = γ_E · ê + β_E",
    f"{LAYER}attention.self.query": "q = x W_Q + b_Q",
    f"{LAYER}attention.self.products": "r = q K^⊤",
    f"{LAYER}attention.self.scaled": "ŝ = r ∕ √d_k",
    f"{LAYER}attention.self.scores": "s = ŝ + (1 − m) · λ",
    f"{LAYER}attention.self.probs": "a = softmax_key(s)",
    f"{LAYER}attention.self.context": "c = a V",
    f"{LAYER}attention.output.dense": "o = c W_O + b_O",
    f"{LAYER}attention.output.residual": "u = x + o",
    f"{LAYER}attention.output.LayerNorm.variance": "σ^2_U = mean_hidden((u − μ_U)^2)",
    f"{LAYER}attention.output.LayerNorm.normalized": "û = (u − μ_U) ∕ √(σ^2_U + ε)",
    f"{LAYER}attention.output.LayerNorm": "y = γ_U · û + β_U",
    f"{LAYER}intermediate.dense": "f = y W_1 + b_1",
    f"{LAYER}intermediate.activation": "g = GELU(f)",
    f"{LAYER}output.residual": "z = y + d",
    f"{LAYER}output.LayerNorm": "x = γ_Z · ẑ + β_Z",
    "cls.predictions.transform.activation": "t̃ = GELU(t)",
    "cls.predictions.decoder": "l = n W_vocab + b_vocab",
    "cls.predictions.probs": "p = softmax_vocab(l)",
    "pooler.dense": "p = x[0] W_P + b_P",
    "pooler.activation": "p̄ = tanh(p)",
}
CHANGED = {
    (f"{LAYER}attention.output.residual", "no-residual"): "u = o",
    (f"{LAYER}output.residual", "no-residual"): "z = d",
    (f"{LAYER}output.LayerNorm", "skip"): "x^(2) = x^(1)",
    (f"{LAYER}intermediate.activation", "relu"): "g = ReLU(f)",
    (f"{LAYER}intermediate.activation", "gelu_new"): "g = GELU_tanh(f)",
}
DOCUMENTS = {
    ("forward-pass-note", f"{LAYER}intermediate.activation"): "z_2^ffnn = max(0, h_2)",
    ("definition", f"{LAYER}intermediate.dense"): "f_2 = x_2^LN1 W_1^⊤ + b_1",
    ("formula-post", "embeddings.LayerNorm.sigma"): "σ_E = √(1 ∕ d) · (Σ_hidden (e − μ_E)^2)",
}
SIGN = {"mean": Mean, "√": Sqrt, "softmax": Softmax}


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    model = bv.load_model(random_checkpoint(tmp_path_factory.mktemp("short")), dtype=torch.float64)
    return bv.run(model, "the cat sat", "on the mat", pad_to=14)


@pytest.fixture(scope="module")
def programs(bundled, tmp_path_factory):
    """BERT with every head, the documents, what training computes."""
    models = [bv.load_model(random_checkpoint(tmp_path_factory.mktemp(kind), kind=kind)) for kind in KINDS]
    written = {f"bert, {kind}": model.written("bert") for kind, model in zip(KINDS, models, strict=True)}
    rules = {f"{address} {rule}": {address: rule} for address, rule in CHANGED}
    written |= {name: bv.run(bundled, "a", changes=change).program for name, change in rules.items()}
    written |= {name: bundled.written(name) for name in PROGRAMS}
    parameters = [p for p in written["bert"].parameters if p.address.startswith(("embeddings.word", LAYER))]
    updates = [
        write(p, bundled.written("bert").stages[p.address])
        for p in parameters
        for write in (write_update, write_adamw_update)
    ]
    written |= {f"{program.name} {i}": program for i, program in enumerate(updates)}
    return written | {"loss": write_loss(written["bert"])}


def see(markup):
    """HTML as a reader sees it."""
    return re.sub(r"<[^>]*>", "", markup.replace("<sub>", "_").replace("<sup>", "^"))


@pytest.mark.parametrize("address", GOLDEN)
def test_an_equation_of_bert_reads_as_it_should(rome, address):
    assert see(write_html(write_short(rome.step(address)))) == GOLDEN[address]


@pytest.mark.parametrize(("address", "rule"), CHANGED)
def test_after_a_change_the_equation_is_the_changed_one(rome, address, rule):
    after = rome.with_changes({address: rule})
    assert see(write_html(write_short(after.step(address)))) == CHANGED[address, rule]


@pytest.mark.parametrize(("name", "address"), DOCUMENTS)
def test_an_equation_of_a_document_reads_as_it_should(bundled, name, address):
    assert see(write_html(write_short(bundled.written(name).by_address[address]))) == DOCUMENTS[name, address]


def test_every_step_of_every_program_has_a_short_line(programs):
    """Nothing of LaTeX is left in it; roots, means and functions are there as often as nodes are, under their names."""
    for name, program in programs.items():
        for step in program.steps:
            tex, place = write_short(step), (name, step.address)
            markup = write_html(tex)
            text, nodes = see(markup), list(walk_nodes(step.expr))
            assert balanced(tex) and not re.search(r"[\\{}]|  |& ", text), (place, text)
            assert sorted(re.findall(r"<(\w+)", markup)) == sorted(re.findall(r"</(\w+)", markup)), place
            assert len(text) <= (110 if program.name == "update" else 60) and "\n" not in tex, (place, text)
            for sign, kind in SIGN.items():
                assert text.count(sign) == sum(isinstance(node, kind) for node in nodes), (place, sign, text)
            for node in nodes:
                if isinstance(node, Apply):
                    assert see(write_html(node.function.tex)) + "(" in text, (place, text)


def test_no_two_symbols_of_an_equation_read_alike(programs):
    for name, program in programs.items():
        for step in program.steps:
            symbols = tuple(dict.fromkeys((step.output, *step.leaves)))
            names = name_cells(symbols)
            seen = [see(write_html(names[symbol].cell)).casefold() for symbol in symbols]
            assert len(set(seen)) == len(seen), (name, step.address, seen)


def test_symbols_keep_their_order_and_are_painted(programs):
    for name, program in programs.items():
        for step in program.steps:
            painted = []
            write_short(step, lambda symbol, seen=painted: seen.append(symbol.address) or symbol.tex)
            leaves = [node.address for node in walk_nodes(step.expr) if isinstance(node, Symbol)]
            assert painted == [step.address, *leaves], (name, step.address)


def read_row(trace, address, token, head, whole=False):
    """A tensor's numbers in a head: a token's row of them, or all rows."""
    *others, last = trace.dims(address)
    places = {"head": head, **({} if whole else dict.fromkeys(("token", "query", "key"), token))}
    fixed = [axis for axis in (*others, *([last] if last == "token" and not whole else [])) if axis in places]
    at = ",".join(f"{axis}={places[axis]}" for axis in fixed)
    return torch.tensor(trace[f"{address}[{at}]" if at else address], dtype=torch.float64)


def calculate(trace, step, token, head):
    """The short LaTeX worked with tensors, by a calculator that knows nothing of nodes."""
    names = {symbol.address: name for symbol, name in name_cells((step.output, *step.leaves)).items()}
    bound, config = {}, trace.model.config

    def paint(symbol):
        own = "\\bound" + "abcdefgh"[len(bound)]
        whole = symbol.tex != names[symbol.address].cell or symbol.address == "attention_mask"
        bound[own] = read_row(trace, symbol.address, token, head, whole)
        return f"{own} "

    tex = write_short(step, paint).partition(" = ")[2].replace("d_k", r"\dk ")
    numbers = {
        r"\dk": config.head_dim,
        r"\varepsilon": config.layer_norm_eps,
        r"\lambda": torch.finfo(torch.float64).min,
    }
    functions = {
        r"mean_\mathrm{hidden}": torch.mean,
        r"softmax_\mathrm{key}": lambda x: x.softmax(-1),
        "GELU": torch.nn.functional.gelu,
    }
    constants = {name: torch.tensor(float(number), dtype=torch.float64) for name, number in numbers.items()}
    return read(tex, {**bound, **constants}, read_exactly, functions)


def test_the_short_line_gives_the_recorded_numbers(trace):
    """Of a layer, and of the LayerNorm of the embeddings: every row of every step, padding among the keys."""
    width = trace.model.config.head_dim
    steps = [
        step
        for step in trace.program.steps
        if step.address.startswith((LAYER, "embeddings.sum", "embeddings.LayerNorm"))
    ]
    assert len(steps) > 20
    for step in steps:
        assert not any(isinstance(node, (Lookup, Select)) for node in walk_nodes(step.expr))
        leaf, address = step.address.rpartition(".")[2], step.address
        for token, head in ((3, 0), (5, 2)):
            found, expected = calculate(trace, step, token, head), read_row(trace, address, token, head)
            own = slice(head * width, (head + 1) * width)  # the head's part of what a token has of all heads
            found = found[own] if leaf in ("query", "key", "value") else found
            expected = expected[own] if leaf == "context" else expected
            torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9, msg=address)


def test_an_expression_alone_has_a_line(rome):
    probs = rome.step(f"{LAYER}attention.self.probs").output
    assert see(write_html(write_short_expr(Mean(probs, probs.axes[0])))) == "mean_head(a)"


def test_functions_are_called_by_their_own_names():
    names = [name_function(function) for function in (GELU, GELU_TANH, RELU, MAX_ZERO)]
    assert names == ["GELU", "GELU tanh", "ReLU", "max"]


MARKUP = {
    r"\htmlClass{query}{q}\, W_{Q}": '<span class="query"><i>q</i></span> <i>W</i><sub><i>Q</i></sub>',
    r"\mathrm{a<b}": "a&lt;b",
    r"\sqrt{d_k}": '<span class="bv-root"><s>√</s><i>d</i><sub><i>k</i></sub><s></s></span>',
    r"\sqrt{x + 1}": '<span class="bv-root"><s>√(</s><i>x</i> + 1<s>)</s></span>',
    r"\textcolor{#00795A}{V^{(2)}}_{0,:}": (
        '<span style="color:#00795A"><i>V</i><span class="bv-scripts"><sup>(2)</sup><sub>0,:</sub></span></span>'
    ),
    r"{W_{O}}^{(2)}_{h}": (
        '<i>W</i><span class="bv-scripts"><sub><i>O</i></sub><sup>(2)</sup></span><sub><i>h</i></sub>'
    ),
    r"\sum_{j=1}^{d} x_j": (
        'Σ<span class="bv-scripts"><sub><i>j</i> = 1</sub><sup><i>d</i></sup></span><i>x</i><sub><i>j</i></sub>'
    ),
    r"\dfrac{a^2}{b^2}_i": (
        '<span class="bv-fraction"><span><i>a</i><sup>2</sup></span><span><i>b</i><sup>2</sup></span></span>'
        "<sub><i>i</i></sub>"
    ),
    r"-\left(x-1\right)": "−(<i>x</i> − 1)",
    r"\widehat{Z_{2}}": "<i>Ẑ</i><sub>2</sub>",
    r"\frac{\partial J}{\partial W}": "<i>∂</i><i>J</i>∕<i>∂</i><i>W</i>",
    "{x}'": "<i>x</i><sup>′</sup>",
    "x_{i,:} := x'": "<i>x</i><sub><i>i</i>,:</sub> := <i>x</i><sup>′</sup>",
    "x:= y": "<i>x</i> := <i>y</i>",
}


@pytest.mark.parametrize("tex", MARKUP)
def test_latex_becomes_html(tex):
    assert write_html(tex) == MARKUP[tex]


def test_a_command_without_a_sign_is_refused():
    with pytest.raises(ValueError, match="oint has no sign"):
        write_html(r"\oint x")


def test_powers_and_sums_keep_their_brackets():
    x, m = (Symbol(name, name, (HIDDEN,), name, "norm") for name in ("X", "M"))
    lines = {
        (x + m) * m: "(x + m) · m",
        x / (x * m): "x ∕ (x · m)",
        (x - (m - x)): "x − (m − x)",
        Square(x / m): "(x ∕ m)^2",
        Sqrt(x * m) / m: "√(x · m) ∕ m",
    }
    for expr, text in lines.items():
        assert see(write_html(write_short_expr(expr))) == text


@pytest.mark.parametrize(("address", "letter"), [("embeddings.sum", "e"), (f"{LAYER}attention.output.residual", "u")])
def test_a_symbol_alone_has_the_letter_of_its_equation(bundled, address, letter):
    assert write_letter(bundled.program.symbol(address)) == letter
