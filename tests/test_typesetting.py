"""Row, column and function notation: one tree, read back as numbers, as golden formulas, and by KaTeX itself."""

import random
from pathlib import Path

import pytest
import streamlit
import torch

from bertviz_core.formula.dims import LABEL, TOKEN
from bertviz_core.formula.document_nodes import Argmax, Dropout, Sinusoid
from bertviz_core.formula.functions import Mean, Softmax, Sum
from bertviz_core.formula.nodes import Constant, Symbol
from bertviz_core.formula.notations import NOTATIONS, typeset
from bertviz_core.formula.shapes import Lookup, MergeHeads, Rename, Select, SplitHeads
from bertviz_core.formula.steps import PARAMETER
from bertviz_core.programs import PROGRAMS
from bertviz_core.programs.bert import QUESTION_ANSWERING, write_bert
from tests.latex import balanced, evaluated
from tests.test_random_formulas import random_tree

TENSORS = {"m": (3, 3), "n": (3, 3), "y": (3,)}
SIZES = {
    "token": 2,
    "query": 2,
    "key": 2,
    "head": 3,
    "head_dim": 4,
    "hidden": 5,
    "concat": 5,
    "intermediate": 6,
    "transform": 7,
    "vocab": 8,
    "pooled": 9,
    "relation": 10,
    "bound": 11,
    "start": 12,
    "end": 13,
}
UNREAD = (
    Argmax,
    Dropout,
    Lookup,
    Mean,
    MergeHeads,
    Select,
    Sinusoid,
    Constant,
    Softmax,
    SplitHeads,
    Sum,
)  # no calculator

GOLDEN = {
    ("bert", "embeddings.word_embeddings"): (
        r"E_{\mathrm{word}} = {\left({W_{\mathrm{word}}}^{\top}\right)}_{:,\,\mathrm{id}}",
        r"E_{\mathrm{word}} = \mathrm{Embedding}_{W_{\mathrm{word}}}\left(\mathrm{id}\right)"),
    ("bert", "embeddings.LayerNorm.mean"): (
        r"\mu_{E} = \frac{1}{d}\sum_{j=1}^{d} {E}_{j}", r"\mu_{E} = \mathrm{mean}_{\mathrm{hidden}}\left(E\right)"),
    ("bert", "embeddings.LayerNorm.normalized"): (
        r"\hat{E} = \frac{E - \mathbf{1}\, {\mu_{E}}^{\top}}{\mathbf{1}\, {\sqrt{\sigma^2_{E} + \varepsilon}}^{\top}}",
        r"\hat{E} = \frac{E - \mu_{E}}{\sqrt{\sigma^2_{E} + \varepsilon}}"),
    ("bert", "encoder.layer.0.attention.self.query"): (
        r"Q^{(0)} = \left[{W_{Q}^{(0)}}^{\top}\, X^{(0)} + b_{Q}^{(0)}\, \mathbf{1}^{\top}\right]_{h}",
        r"Q^{(0)} = \mathrm{Split}_{h}\left(\mathrm{Linear}_{W_{Q}^{(0)},\,b_{Q}^{(0)}}\left(X^{(0)}\right)\right)"),
    ("bert", "encoder.layer.0.attention.self.products"): (
        r"R^{(0)} = {K^{(0)}}^{\top}\, Q^{(0)}",
        r"R^{(0)} = \mathrm{MatMul}\left(Q^{(0)},\, \mathrm{transpose}\left(K^{(0)}\right)\right)"),
    ("bert", "encoder.layer.0.attention.self.context"): (
        r"C^{(0)} = \mathrm{Concat}_{h}\left(V^{(0)}\, A^{(0)}\right)",
        r"C^{(0)} = \mathrm{Concat}_{h}\left(\mathrm{MatMul}\left(A^{(0)},\, V^{(0)}\right)\right)"),
    ("bert", "pooler.dense"): (
        r"p = {W_{P}}^{\top}\, {X^{(6)}}_{:,0} + b_{P}",
        r"p = \mathrm{Linear}_{W_{P},\,b_{P}}\left(\mathrm{Select}_{0}\left(X^{(6)}\right)\right)"),
    ("bert", "qa_outputs.end"): (
        r"a_{\mathrm{end}} = {{a}_{1,:}}^{\top}", r"a_{\mathrm{end}} = \mathrm{Select}_{1}\left(a\right)"),
    ("bert", "qa_outputs.spans"): (
        r"S_{\mathrm{span}} = \mathbf{1}\, {a_{\mathrm{start}}}^{\top} + a_{\mathrm{end}}\, \mathbf{1}^{\top}",
        r"S_{\mathrm{span}} = a_{\mathrm{start}}\, \mathbf{1}^{\top} + \mathbf{1}\, {a_{\mathrm{end}}}^{\top}"),
    ("forward-pass-note", "pooler.dense"): (  # the document's own W^final Z[0, :]
        r"p = W^{\mathrm{final}}\, {Z_{6}}_{:,0}",
        r"p = \mathrm{Linear}_{{W^{\mathrm{final}}}^{\top}}\left(\mathrm{Select}_{0}\left(Z_{6}\right)\right)"),
    ("definition", "embeddings.word_embeddings"): (  # (W_e)_{:,x_j}
        r"E_e = {W_e}_{:,\,x}", r"E_e = \mathrm{Embedding}_{{W_e}^{\top}}\left(x\right)"),
    ("definition", "encoder.layer.0.intermediate.dense"): (  # W_1 X + b_1 1^T
        r"F_{1} = W_1^{(1)}\, X_{1}^{\mathrm{LN1}} + b_1^{(1)}\, \mathbf{1}^{\top}",
        r"F_{1} = \mathrm{Linear}_{{W_1^{(1)}}^{\top},\,b_1^{(1)}}\left(X_{1}^{\mathrm{LN1}}\right)"),
    ("definition", "cls.predictions.decoder"): (  # W_u X
        r"L_u = W_u\, X_u", r"L_u = \mathrm{Linear}_{{W_u}^{\top}}\left(X_u\right)"),
    ("formula-post", "embeddings.LayerNorm.sigma"): (
        r"\sigma_{E} = \sqrt{\frac{1}{d}} \cdot \left(\sum_{j=1}^{d} {\left({E}_{j} - \mu_{E}\right)}^2\right)",
        r"\sigma_{E} = \sqrt{\frac{1}{d}} \cdot "
        r"\mathrm{sum}_{\mathrm{hidden}}\left({\left(E - \mu_{E}\right)}^2\right)"),
    ("formula-post", "encoder.layer.1.output.residual"): (  # f_Att + x + f_Out
        r"f_{\mathrm{E}2} = f_{\mathrm{Att}}^{(2)} + f_{\mathrm{E}1} + f_{\mathrm{Out}}^{(2)}",) * 2,
}  # fmt: skip


@pytest.fixture(scope="module")
def steps(bundled):
    answers = write_bert(bundled.config, frozenset({QUESTION_ANSWERING}))
    programs = [*((name, bundled.written(name)) for name in PROGRAMS), ("bert", answers)]
    return {(name, step.address): step for name, program in programs for step in program.steps}


@pytest.mark.parametrize(("place", "formulas"), GOLDEN.items(), ids=[".".join(place) for place in GOLDEN])
def test_a_step_in_column_and_in_function_notation(steps, place, formulas):
    assert (steps[place].typeset(notation="column"), steps[place].typeset(notation="function")) == formulas


def test_row_notation_is_the_formula_of_the_step(steps):
    assert all(step.typeset() == step.typeset(notation="row") == step.latex for step in steps.values())


def as_columns(symbol, tensor):
    """What a symbol stands for in column notation: a vector is a column, a matrix of the checkpoint what it was."""
    if tensor.dim() < 2:
        return tensor[:, None]
    return tensor if symbol.kind == PARAMETER and not symbol.column else tensor.mT


def column_value(expr, env):
    """The formula in column notation, read and calculated; ones are as long as they have to be."""
    letters, values = {}, {"i": torch.ones(1, 1, dtype=torch.float64)}

    def letter(symbol):
        if symbol.address not in letters:
            letters[symbol.address] = rf"\x{chr(97 + len(letters))}"
            values[letters[symbol.address]] = as_columns(symbol, env[symbol.address])
        return letters[symbol.address]

    return evaluated(typeset(expr, letter, "column").replace(r"\mathbf{1}", "i"), values)


@pytest.mark.parametrize("seed", range(150))
def test_a_random_formula_with_columns_is_the_transpose(seed):
    expr = random_tree(random.Random(seed), TOKEN, LABEL, depth=4)
    generator = torch.Generator().manual_seed(seed)
    env = {name: torch.rand(size, generator=generator, dtype=torch.float64) + 0.5 for name, size in TENSORS.items()}
    torch.testing.assert_close(
        column_value(expr, env), expr.value(env).mT, rtol=1e-9, atol=1e-9, equal_nan=True, check_stride=False
    )


def nodes(expr):
    return [expr, *(node for part in expr.parts for node in nodes(part))]


def test_every_formula_of_a_program_with_columns_is_the_transpose(steps):
    """Every step that can be calculated from its LaTeX, with sizes that differ: a product that does not fit fails."""
    generator, read = torch.Generator().manual_seed(1), set()
    for place, step in steps.items():
        inner = step.expr
        while isinstance(inner, SplitHeads | MergeHeads | Rename):
            (inner,) = inner.parts
        if any(isinstance(node, UNREAD) for node in nodes(inner)) or inner.dims() == ():
            continue
        env = {}
        for leaf in (node for node in nodes(inner) if isinstance(node, Symbol)):
            shape = [SIZES[axis.name] for axis in leaf.axes]
            env.setdefault(leaf.address, torch.rand(shape, generator=generator, dtype=torch.float64) + 0.5)
        value = inner.value(env)
        wanted = value.mT if value.dim() > 1 else value[:, None]
        torch.testing.assert_close(column_value(inner, env).expand_as(wanted), wanted, rtol=1e-9, atol=1e-9)
        read.add(place)
    assert ("bert", "qa_outputs.spans") in read
    leaves = {address.rpartition(".")[2] for _, address in read}
    assert {"query", "products", "heads", "context", "dense", "residual", "decoder", "activation"} <= leaves


@pytest.mark.parametrize("notation", NOTATIONS)
def test_every_symbol_is_painted_in_every_notation(steps, notation):
    for step in steps.values():
        seen = []
        painted = step.typeset(lambda symbol, seen=seen: seen.append(symbol.address) or "s", notation)
        assert balanced(painted) and set(seen) == {step.address, *(leaf.address for leaf in step.leaves)}, step.address


def test_katex_reads_every_formula_in_every_notation(steps, chromium):
    """The KaTeX that Streamlit brings, in a browser, with warnings as errors."""
    (katex,) = (Path(streamlit.__file__).parent / "static" / "static" / "js").glob("katex.*.js")
    formulas = [step.typeset(notation=notation) for step in steps.values() for notation in NOTATIONS]
    page = chromium.new_page()
    try:
        wrong = page.evaluate(READ, [katex.read_text(encoding="utf-8"), [*formulas, r"x^2^3"]])
    finally:
        page.close()
    assert [formula for formula, _ in wrong] == [r"x^2^3"], wrong[:5]


READ = """async ([source, formulas]) => {
    const url = URL.createObjectURL(new Blob([source], {type: 'text/javascript'}));
    const katex = (await import(url)).default;
    const failure = formula => {
        try { katex.renderToString(formula, {strict: 'error'}); return null; } catch (e) { return e.message; }
    };
    return formulas.map(formula => [formula, failure(formula)]).filter(([, message]) => message);
}"""
