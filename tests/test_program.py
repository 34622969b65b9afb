"""The contracts that every step keeps, for every kind of checkpoint; and addresses as text."""

import keyword
import re

import pytest

import bertviz_core as bv
from bertviz_core.formula import steps
from bertviz_core.formula.address import Address, Block, parse, read_address
from bertviz_core.formula.dims import AXES
from bertviz_core.programs import DOCUMENT_PROGRAMS
from bertviz_core.programs.names import ATTENTION_WEIGHTS, CONTEXT, KEYS, QUERIES, SELF_ATTENTION, VALUES
from tests.factory import KINDS, random_checkpoint
from tests.latex import balanced
from tests.test_imports import ROOT, modules

COLOURED = {
    steps.EMBEDDING, steps.QUERY, steps.KEY, steps.VALUE, steps.ATTENTION, steps.RESIDUAL, steps.NORM, steps.FFN,
    steps.PREDICTION,
}  # fmt: skip
NORM_LEAVES = ("LayerNorm.mean", "LayerNorm.variance", "LayerNorm.normalized", "LayerNorm")
EMBEDDINGS = [
    "embeddings." + leaf
    for leaf in ("word_embeddings", "position_embeddings", "token_type_embeddings", "sum", *NORM_LEAVES)
]
LAYER = [
    *("attention.self." + leaf for leaf in (
        "query", "key", "value", "products", "scaled", "scores", "probs", "context")),
    *("attention.output." + leaf for leaf in ("dense", "residual", *NORM_LEAVES)),
    *("intermediate.dense", "intermediate.activation"),
    *("output." + leaf for leaf in ("dense", "residual", *NORM_LEAVES)),
]  # fmt: skip
PREDICTIONS = ["cls.predictions." + leaf for leaf in (
    "transform.dense", "transform.activation", *("transform." + norm for norm in NORM_LEAVES), "decoder", "probs")
]  # fmt: skip
POOLER = ["pooler.dense", "pooler.activation"]
HEADS = {
    "pretraining": [*PREDICTIONS, *POOLER, "cls.seq_relationship", "cls.seq_relationship.probs"],
    "masked-lm": PREDICTIONS,
    "base": POOLER,
    "base-without-pooler": [],
    "sequence-classification": [*POOLER, "classifier", "classifier.probs"],
    "token-classification": ["classifier", "classifier.probs"],
    "question-answering": [
        "qa_outputs",
        *(f"qa_outputs.{leaf}" for leaf in ("start", "start.probs", "end", "end.probs", "spans")),
    ],
}
DIMS = {
    "embeddings.sum": ("token", "hidden"),
    "embeddings.LayerNorm.mean": ("token",),
    "encoder.layer.0.attention.self.query": ("head", "query", "head_dim"),
    "encoder.layer.0.attention.self.key": ("head", "key", "head_dim"),
    "encoder.layer.0.attention.self.value": ("head", "key", "head_dim"),
    "encoder.layer.1.attention.self.products": ("head", "query", "key"),
    "encoder.layer.1.attention.self.probs": ("head", "query", "key"),
    "encoder.layer.1.attention.self.context": ("token", "concat"),
    "encoder.layer.1.attention.output.dense": ("token", "hidden"),
    "encoder.layer.1.intermediate.activation": ("token", "intermediate"),
    "encoder.layer.1.output.LayerNorm": ("token", "hidden"),
    "cls.predictions.transform.dense": ("token", "transform"),
    "cls.predictions.probs": ("token", "vocab"),
    "pooler.activation": ("pooled",),
    "cls.seq_relationship": ("relation",),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kinds")
    return {kind: bv.load_model(random_checkpoint(folder / kind, kind=kind)) for kind in KINDS}


DOCUMENT_CASES = [
    (kind, name)
    for kind in ("pretraining", "sequence-classification", "base-without-pooler")
    for name in DOCUMENT_PROGRAMS
]


@pytest.fixture(params=[*((kind, "bert") for kind in (*KINDS, "bundled")), *DOCUMENT_CASES], ids="-".join)
def program(request, models, bundled):
    kind, name = request.param
    return (models | {"bundled": bundled})[kind].written(name)


@pytest.mark.parametrize("kind", KINDS)
def test_the_addresses_are_those_agreed(models, kind):
    layers = [Address.in_layer(layer, leaf).path for layer in range(2) for leaf in LAYER]
    assert [step.address for step in models[kind].program.steps] == [*EMBEDDINGS, *layers, *HEADS[kind]]


def test_the_names_of_attention_are_those_that_bert_declares(rome):
    assert SELF_ATTENTION.path == "attention.self" and ATTENTION_WEIGHTS.in_layers("{i}").endswith(".probs")
    for leaf in (QUERIES, KEYS, VALUES, ATTENTION_WEIGHTS, CONTEXT):
        assert all(str(leaf.in_layer(layer)) in rome.program.by_address for layer in range(6)), leaf


def test_only_where_steps_are_written_their_names_are_spelled_out():
    files = [file for file in modules(ROOT).values() if file.parent.name != "programs"]
    texts = {file.name: re.sub(r"^ *>>> .*$", "", file.read_text(encoding="utf-8"), flags=re.M) for file in files}
    assert [name for name, text in texts.items() if "attention.self" in text] == []  # but in what users are shown


def test_the_axes_are_those_agreed(rome):
    assert {address: rome.dims(address) for address in DIMS} == DIMS


def test_a_step_says_what_it_is(program):
    for step in program.steps:
        assert step.symbol and step.meaning.endswith(".") and step.source, step.address
        assert step.kind in COLOURED and step.dims and set(step.dims) <= set(AXES), step.address
        assert step.latex.startswith(f"{step.symbol} = ") and balanced(step.latex), step.address
        assert step.code.startswith(f"{step.output.variable} = "), step.address
        compile(step.code, step.address, "exec")


def test_axes_have_a_letter_and_a_meaning():
    assert all(axis.name == name and axis.meaning and balanced(axis.latex) for name, axis in AXES.items())
    assert len({axis.latex for axis in AXES.values()}) == len(AXES)


def test_names_are_unique(program):
    """No address, formula symbol or variable stands for two things, nor hides what a script needs."""
    symbols = [*(step.output for step in program.steps), *program.leaves.values()]
    for names in zip(*((symbol.address, symbol.tex, symbol.variable) for symbol in symbols), strict=True):
        assert len(set(names)) == len(names)
    variables = {symbol.variable for symbol in symbols}
    assert all(name.isidentifier() and not keyword.iskeyword(name) for name in variables)
    assert not variables & {"torch", "math", "load_file", "read", "w"}


def test_addresses_round_trip(program):
    for address in [*program.by_address, *program.leaves]:
        assert str(parse(address)) == address
        where = Address(address)
        assert where == (Address(where.leaf) if where.layer is None else Address.in_layer(where.layer, where.leaf))


def test_a_step_reads_only_what_was_there_before(program):
    known = set(program.leaves)
    for step in program.steps:
        assert {leaf.address for leaf in step.leaves} <= known, step.address
        known.add(step.address)
    assert {leaf.kind for leaf in program.leaves.values()} == {steps.PARAMETER, steps.INPUT}


def test_the_spine_holds_every_layer_and_what_the_logits_are_made_from(program):
    layers = sum(step.address.endswith(".attention.self.probs") for step in program.steps)
    start = next(path for path in ("embeddings.LayerNorm", "embeddings.sum") if path in program.by_address)
    end = "output.residual" if program.name == "formula-post" else "output.LayerNorm"
    expected = {start, *(Address.in_layer(layer, end).path for layer in range(layers))}
    assert program.spine == expected | ({"cls.predictions.transform.LayerNorm"} & set(program.by_address))
    over = {
        step.address
        for step in program.steps
        if step.address.startswith("cls.predictions.") and "transform" not in step.address
    }
    assert program.by_rows == over


@pytest.mark.parametrize(
    ("problem", "steps_after", "function"),
    [("single_label_classification", ["classifier", "classifier.probs"], "torch.softmax(c, dim=-1)"),
     ("multi_label_classification", ["classifier", "classifier.probs"], "torch.sigmoid(c)"),
     ("regression", ["classifier"], None)],
)  # fmt: skip
def test_the_problem_type_decides_what_follows_the_classifier(tmp_path, problem, steps_after, function):
    folder = random_checkpoint(tmp_path, kind="sequence-classification", problem_type=problem, num_labels=3)
    program = bv.load_model(folder).program
    assert [step.address for step in program.steps if step.address.startswith("classifier")] == steps_after
    assert function is None or program.steps[-1].code.endswith(function)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("embeddings.sum", Address("embeddings.sum")),
        ("  embeddings.sum \n", Address("embeddings.sum")),
        ("a.b[token=2]", Address("a.b", (("token", 2),))),
        ("a.b[ head=5, query=2 ,key=7 ]", Address("a.b", (("head", 5), ("query", 2), ("key", 7)))),
        ("a.b[head_dim=007]", Address("a.b", (("head_dim", 7),))),
    ],
)
def test_an_address_is_read(text, address):
    assert parse(text) == address
    assert parse(str(address)) == address


def test_the_addresses_of_a_block_of_cells():
    block = Block("a.b", (("head", range(1, 3)), ("query", range(4, 5)), ("key", range(2))))
    cells = [Address("a.b").fix(head=h, query=4, key=k) for h in (1, 2) for k in (0, 1)]
    assert [block[i] for i in range(len(block))] == cells and block.write() == [str(cell) for cell in cells]
    assert all(cell in block for cell in cells)
    for other in (Address("a.b").fix(head=0, query=4, key=0), Address("a.c").fix(head=1, query=4, key=0)):
        assert other not in block
    for place in (len(block), len(block) + 5, -1):
        with pytest.raises(IndexError):
            block[place]


def test_a_tensor_of_no_axes_is_a_block_of_one_cell():
    block = Block("a.b", ())
    assert len(block) == 1 and block[0] == Address("a.b") and block.write() == ["a.b"] and Address("a.b") in block


def test_the_parts_of_an_address():
    address = parse("encoder.layer.11.attention.self.probs[head=5,query=2,key=7]")
    assert address.layer == 11 and address.at == {"head": 5, "query": 2, "key": 7}
    assert address.leaf == "attention.self.probs" and address.name == "probs"
    assert address.whole == Address.in_layer(11, "attention.self.probs")
    outside = parse("embeddings.sum")
    assert outside.layer is None and parse("encoder.layer.x.y").layer is None
    assert outside.leaf == "embeddings.sum" and outside.name == "sum" and Address("classifier").name == "classifier"


def test_an_address_is_made_from_another():
    probs = Address.in_layer(3, "attention.self.probs")
    cell = probs.fix(head=5).fix(query=2, key=7)
    assert str(cell) == "encoder.layer.3.attention.self.probs[head=5,query=2,key=7]" and cell.whole == probs
    assert cell.fix(query=4) == parse("encoder.layer.3.attention.self.probs[head=5,query=4,key=7]")
    assert cell.without("query") == probs.fix(head=5, key=7) and cell.without("query", "head", "key") == probs
    assert probs.fix(key=7, head=5, query=2).sort(("head", "query", "key")) == cell
    assert Address("a.LayerNorm").enter("mean") == Address("a.LayerNorm.mean")
    assert len({cell, parse(str(cell)), probs}) == 2 and f"{cell}" == str(cell)
    with pytest.raises(KeyError):
        cell.sort(("head", "query"))


def test_what_is_an_address_already_is_not_read_again():
    cell = Address("a.b").fix(token=1)
    assert read_address(cell) is cell and read_address(str(cell)) == cell


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not an address: expected a path such as embeddings.sum"),
        (f"encoder.layer.{'9' * 5000}.output", "is not an address: none has more than 1000 characters"),
        (f"embeddings.sum[token={'9' * 5000}]", "is not an address: none has more than 1000 characters"),
        ("[token=1]", "expected a path"),
        (".sum", "expected a path"),
        ("embeddings.", "expected a path"),
        ("embeddings..sum", "expected a path"),
        ("embeddings sum", "expected a path"),
        ("../../etc/passwd", "expected a path"),
        ("<script>", "expected a path"),
        ("embeddings.sum]", "expected a path"),
        ("einbettung.größe", "expected a path"),
        ("a.b[token=1", "the bracket is not closed"),
        ("a.b[", "the bracket is not closed"),
        ("a.b[]", "'' should read axis=number"),
        ("a.b[token]", "'token' should read axis=number"),
        ("a.b[token=]", "'token=' should read axis=number"),
        ("a.b[token=-1]", "'token=-1' should read axis=number"),
        ("a.b[token=1.5]", "'token=1.5' should read axis=number"),
        ("a.b[token=x]", "'token=x' should read axis=number"),
        ("a.b[token=1,]", "'' should read axis=number"),
        ("a.b[1,2]", "'1' should read axis=number"),
        ("a.b[token=1][hidden=2]", "should read axis=number"),
        ("a.b[token=٣]", "should read axis=number"),
        ("a.b[token=9999999999]", "should read axis=number"),
        ("a.b[token=1,token=2]", "fixes one axis twice"),
        ("x y" * 1000, "..."),
    ],
)
def test_what_is_no_address_is_said(text, message):
    with pytest.raises(bv.AddressError) as caught:
        parse(text)
    assert message in str(caught.value) and len(str(caught.value)) < 250
