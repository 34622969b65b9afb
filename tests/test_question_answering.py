"""Question answering: spans as the library ranks them, probabilities as its loss has them; what is read and refused."""

import re

import numpy as np
import pytest
import torch
import transformers
from transformers import BertForPreTraining, BertForQuestionAnswering
from transformers.pipelines.document_question_answering import select_starts_ends

import bertviz_core as bv
from bertviz_core.analysis import answers
from bertviz_core.analysis.ablation import list_outcomes
from bertviz_core.analysis.answers import END, START, Span, find_answer
from bertviz_core.analysis.targets import list_targets
from tests.factory import SIZES, random_checkpoint
from tests.test_checkpoints import BIAS, DECODER, MATRIX, TEXT, agree, edited, hugging_face

TEXTS = {
    "short": ("who sat on the mat?", "The cat sat on the mat.", None),
    "padding": ("where do the romans play?", "in Rome, as romans do", 40),
    "longer than an answer may be": ("who?", "the cat sat on a mat. " * 12, None),
    "one token": ("who sat on the mat?", "cat", None),
    "unknown and masked": ("who?", "the ☃ sat [MASK] the mat", None),
    "a separator in the text": ("who?", "the cat sat. [SEP] as romans do", None),
}
CHANGED = "qa_outputs[token=13,bound=0]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return random_checkpoint(tmp_path_factory.mktemp("answers"), kind="question-answering", max_position_embeddings=128)


@pytest.fixture(scope="module")
def model(folder):
    return bv.load_model(folder, dtype=torch.float64)


@pytest.fixture(scope="module")
def oracle(folder):
    return BertForQuestionAnswering.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager").eval()


@torch.inference_mode()
def answer(oracle, trace, **given):
    """What Hugging Face's model says of the ids of a trace."""
    row = trace.encoding
    return oracle(
        input_ids=torch.tensor([row.ids]),
        token_type_ids=torch.tensor([row.segments]),
        attention_mask=torch.tensor([row.mask]),
        **given,
    )


def search(model, oracle, trace, text, pair):
    """All spans as the library's question answering ranks them, best first, with the product of probabilities."""
    found = answer(oracle, trace)
    parts = model.tokenizer._library(text, pair).sequence_ids()
    parts += [None] * (len(trace.tokens) - len(parts))
    separator = [token == "[SEP]" for token in trace.tokens]
    outside = np.array([[part != 1 or sep for part, sep in zip(parts, separator, strict=True)]], dtype=int)
    starts, ends, scores, _ = select_starts_ends(
        found.start_logits.numpy(),
        found.end_logits.numpy(),
        outside,
        np.array([trace.encoding.mask]),
        top_k=len(parts) ** 2 + 1,
        max_answer_len=30,
    )
    return [(int(i), int(j), p) for i, j, p in zip(starts, ends, scores, strict=True) if p > 0]


@pytest.mark.parametrize("name", TEXTS)
def test_spans_are_ranked_as_the_library_ranks_them(model, oracle, name):
    text, pair, pad_to = TEXTS[name]
    trace = bv.run(model, text, pair, pad_to=pad_to)
    expected = search(model, oracle, trace, text, pair)
    found = answers.rank_spans(trace, 10_000)
    assert [(span.start, span.end) for span in found] == [(i, j) for i, j, _ in expected]
    assert answers.find_answer(trace) == found[0] and answers.rank_spans(trace, 3) == found[:3]
    longest = max(span.end - span.start + 1 for span in found)
    assert longest == min(30, len(answers.list_context(trace))) or "[SEP]" in pair
    shares = np.array([answers.compute_share(trace, span) for span in found])
    np.testing.assert_allclose(shares / shares[0], [p / expected[0][2] for *_, p in expected], rtol=1e-9)
    for span in found[:5]:
        assert trace[span.cell] == pytest.approx(float(trace[span.start_cell] + trace[span.end_cell]), abs=1e-12)


@pytest.mark.parametrize("name", ["short", "padding"])
def test_the_probability_of_a_span_is_what_the_model_was_trained_to_raise(model, oracle, name):
    """Hugging Face's loss is the mean of the two cross entropies: its exponential gives the product back."""
    text, pair, pad_to = TEXTS[name]
    trace = bv.run(model, text, pair, pad_to=pad_to)
    for span in answers.rank_spans(trace, 4):
        loss = answer(
            oracle, trace, start_positions=torch.tensor([span.start]), end_positions=torch.tensor([span.end])
        ).loss
        assert answers.compute_share(trace, span) == pytest.approx(float(torch.exp(-2 * loss)), rel=1e-10)


def test_without_a_second_text_there_is_no_span_but_two_ends(model, oracle):
    trace = bv.run(model, "the cat sat on the mat")
    found = answer(oracle, trace)
    assert answers.list_context(trace) == answers.rank_spans(trace, 5) == []
    assert answers.find_answer(trace) == Span(int(found.start_logits.argmax()), int(found.end_logits.argmax()))


def test_an_answer_is_read_as_it_was_typed(model):
    text, pair = "who sat?", "The  Cat sat,\tin ROME."
    trace = bv.run(model, text, pair)
    at = [trace.tokens.index(token, 5) for token in ("cat", "rome")]
    assert answers.read_span(trace, Span(*at), text, pair) == "Cat sat,\tin ROME"
    changed = trace.with_changes({f"input_ids[token={at[0]}]": model.tokenizer.id("romans")})
    assert answers.read_span(changed, Span(*at), text, pair) == "romans sat, in rome"


@pytest.mark.parametrize(
    "address",
    [
        "qa_outputs",
        "qa_outputs.start",
        "qa_outputs.start.probs",
        "qa_outputs.end",
        "qa_outputs.end.probs",
        "qa_outputs.spans",
    ],
)
def test_every_number_is_worked_out_from_operands_that_are_there(model, address):
    trace = bv.run(model, *TEXTS["short"][:2])
    sizes = zip(trace.dims(address), trace.shape(address), strict=True)
    why = trace.explain(f"{address}[{','.join(f'{axis}={size - 1}' for axis, size in sizes)}]")
    assert why.recomputed == pytest.approx(why.value, rel=1e-12)
    assert why.operands and all(value == trace[operand].item() for operand, value in why.operands)


def test_a_change_moves_what_is_computed_from_it_and_nothing_else(model, oracle):
    trace = bv.run(model, *TEXTS["short"][:2])
    changed = trace.with_changes({CHANGED: 30.0})
    start = trace["qa_outputs.start"].copy()
    start[13] = 30.0
    np.testing.assert_array_equal(changed["qa_outputs.start"], start)
    np.testing.assert_allclose(changed["qa_outputs.start.probs"], np.exp(start) / np.exp(start).sum(), rtol=1e-12)
    np.testing.assert_array_equal(changed["qa_outputs.spans"], np.add.outer(start, trace["qa_outputs.end"]))
    np.testing.assert_array_equal(changed["qa_outputs.end.probs"], trace["qa_outputs.end.probs"])
    assert answers.find_answer(changed).start == 13
    other = trace.with_changes({"input_ids[token=4]": 9})
    np.testing.assert_allclose(other["qa_outputs.start"], answer(oracle, other).start_logits[0], atol=1e-10)


def add_answers(tensors):
    return {**tensors, "qa_outputs.weight": MATRIX[:2, :24].clone(), "qa_outputs.bias": BIAS[:2].clone()}


def test_answers_are_read_beside_other_heads(tmp_path):
    """Files of older versions of transformers have a pooler as well, and some keep the LM head."""
    folder = edited(random_checkpoint(tmp_path), add_answers)
    model = bv.load_model(folder)
    assert model.heads == ("masked language model", "pooler", "next sentence", "question answering")
    assert model.unused == ()
    trace, expected = bv.run(model, TEXT), hugging_face(folder, BertForQuestionAnswering)
    agree(trace, "qa_outputs.start", expected.start_logits)
    agree(trace, "qa_outputs.end", expected.end_logits)
    agree(trace, DECODER, hugging_face(folder, BertForPreTraining).prediction_logits)


@pytest.mark.parametrize(("edit", "told"), [
    (lambda tensors: {**tensors, "qa_outputs.weight": MATRIX[:3, :24].clone(), "qa_outputs.bias": BIAS[:3].clone()},
     "qa_outputs.weight has shape (3, 24); the config asks for (2, 24)"),
    (lambda tensors: {name: tensor for name, tensor in tensors.items() if name != "qa_outputs.bias"},
     "lacks 1 of the tensors that its config asks for: qa_outputs.bias"),
])  # fmt: skip
def test_a_damaged_head_is_refused(tmp_path, edit, told):
    folder = edited(random_checkpoint(tmp_path, kind="question-answering"), edit)
    with pytest.raises(bv.CheckpointError, match=re.escape(told)):
        bv.load_model(folder)


@pytest.mark.parametrize("family", ["DistilBert", "Roberta", "Electra"])
def test_other_families_are_refused_with_what_to_do(tmp_path, family):
    renamed = {"dim": 24, "n_heads": 3, "n_layers": 1, "hidden_dim": 40} if family == "DistilBert" else SIZES
    config = getattr(transformers, f"{family}Config")(vocab_size=101, **renamed)
    getattr(transformers, f"{family}ForQuestionAnswering")(config).save_pretrained(tmp_path)
    told = f"config.json describes a '{family.lower()}' model; this explorer runs BERT. Choose a model whose model_type"
    with pytest.raises(bv.CheckpointError, match=re.escape(told)):
        bv.load_model(tmp_path)


def test_without_a_second_text_the_answer_is_sought_in_the_question_and_not_in_its_padding(model):
    trace = bv.run(model, "who sat on the mat?", pad_to=40, changes={"qa_outputs[token=30]": 50.0})
    real = list(trace.encoding.real)
    starts, ends = (trace[f"qa_outputs.{bound}"][real] for bound in ("start", "end"))
    assert len(real) < 30 and answers.find_answer(trace) == Span(int(starts.argmax()), int(ends.argmax()))


def test_the_probabilities_of_an_answer_are_those_of_its_first_and_its_last_token(tmp_path):
    trace = bv.run(
        bv.load_model(random_checkpoint(tmp_path, kind="question-answering", seed=5)), "where", "the cat sat"
    )
    span = find_answer(trace)
    assert span.start < span.end, "or the two could not be told apart"
    cells = list(list_outcomes(trace, 1, 5).values())
    assert [str(cell) for cell in cells] == [
        f"qa_outputs.start.probs[start={span.start}]",
        f"qa_outputs.end.probs[end={span.end}]",
    ]


def test_of_the_ends_that_are_asked_about_those_of_the_answer_come_first(model):
    """Also where a token outside of the text is likelier, which no answer begins or ends with."""
    put = {"qa_outputs[token=0,bound=0]": 9.0, "qa_outputs[token=0,bound=1]": 9.0}
    trace = bv.run(model, *TEXTS["short"][:2]).with_changes(put)
    best, offered = find_answer(trace), list_targets(trace, 0)
    assert best.start > 0 and {START.fix(start=0), END.fix(end=0)} < set(offered)
    firsts = [next(each for each in offered if each.path == end.path) for end in (START, END)]
    assert firsts == [START.fix(start=best.start), END.fix(end=best.end)]
