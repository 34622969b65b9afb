"""What is said where there is little or nothing of something: one head, unknown words, padding, classes, one word."""

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.formula.address import parse
from bertviz_core.lessons.catalogue import find_lesson
from bertviz_core.lessons.handout import Handout, write_handout
from bertviz_core.lessons.marking import fill, tell_right, work_out
from bertviz_core.lessons.scene import Scene
from bertviz_core.tracing.rewrites import Rule
from tests.factory import random_checkpoint
from tests.lessons.test_handout import read_sheets
from tests.menus import code_open, read_plain  # noqa: F401 - opened for the whole module
from tests.settling import settle
from tests.test_put import opened, read, tell
from tests.test_said_of_a_part import read_html

HELLO = "Hello, dear world."


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Checkpoints with three named classes and one head, and with answers to questions."""
    made = {
        "classes": {"kind": "sequence-classification", "num_hidden_layers": 1, "num_attention_heads": 1,
                    "id2label": {0: "bad", 1: "fair", 2: "good"}, "label2id": {"bad": 0, "fair": 1, "good": 2}},
        "answers": {"kind": "question-answering"},
    }  # fmt: skip
    return {name: str(random_checkpoint(tmp_path_factory.mktemp(name), **says)) for name, says in made.items()}


def hear(page, changes, text, **query):
    """All that a page says in HTML, as one text."""
    return " ".join(" ".join(read_html(opened(page, changes, text, **query))).split())


def list_printed(at):
    """The cells that the page of all formulas prints, each with what is printed."""
    written = "".join(each.proto.body for each in at.get("html"))
    rows = re.findall(r'<button class="bv-row" data-cell="([^"]*)".*?<b[^>]*>(.*?)</b></button>', written, re.DOTALL)
    return {parse(unescape(cell)): text for cell, text in rows}


@pytest.mark.parametrize(("token", "query"), [(2, {}), (0, {"pad": "9"}), (5, {"pad": "9", "layer": "3"})])
def test_all_formulas_print_numbers_of_the_chosen_token_and_none_of_padding(token, query):
    text = "Rain fell all day."
    cells = list_printed(opened("formulas", {}, text, token=str(token), **query))
    assert len(cells) > 30
    for cell in cells:
        at = cell.at
        of = at.get("token", at.get("query", at.get("key", token)))
        assert of == token, cell
        assert at.get("key", 0) < 7, cell
        assert cell.path != "encoder.layer.0.attention.self.scores" or "e+38" not in cells[cell]


def test_words_marks_and_special_tokens_are_counted_apart():
    said = hear("tokenization", {}, "Rain, hail [MASK] fell.")
    assert "split at spaces and around punctuation: 3 words, 2 punctuation marks and 1 special token" in said
    assert "around punctuation: 2 words no no" in hear("tokenization", {}, "no no")


def test_a_word_of_which_no_piece_fits_is_not_one_piece():
    said = hear("tokenization", {}, "unbelievably 你")
    assert re.search(r"你 unknown", said) and re.search(r"unbelievably \d pieces", said)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("the cat", "Every word of the sentence is found at the first try; this is another one."),
        (f"the {'x' * 101} sat", "Every word that is searched of the sentence is found at the first try; this is"),
        ("[MASK]", "No word of the sentence is searched; this is another one."),
    ],
)
def test_only_what_is_searched_is_found_at_the_first_try(text, told):
    assert told in read(opened("tokenization", {}, text))[0]


def test_the_vectors_that_stay_without_padding_are_the_other_tokens():
    said = hear("tokenization", {}, "no no", pad="9")
    assert "No token attends to padding, so all other vectors are the same as without it" in said


def test_of_an_answer_the_axes_of_its_ends_grow_too(folders):
    says = {name: hear_captions("notation", folders[name]) for name in folders}
    assert "The token, query and key axes grow with the input" in says["classes"]
    assert "The token, query, key, start and end axes grow with the input" in says["answers"]


def hear_captions(page, model):
    return read(opened(page, {}, "the cat", model=model, layer="0", head="0"))[0]


def test_the_notebooks_cell_prints_as_many_numbers_as_it_would_of_this_sentence():
    """What it prints in the notebook is 36 numbers, of twelve tokens."""
    said = hear("documents", {}, "no", token="1")
    assert "Run here, In [49] prints 18 numbers after it." in said


def test_a_logit_is_made_from_what_the_lm_head_makes_of_the_last_vector(rome):
    scene = Scene(rome, 2, 0, 8)
    step = next(step for step in find_lesson("words").steps if step.name == "logit")
    word = int(rome["cls.predictions.decoder[token=8]"].argmax())
    row, bias = (rome[f"cls.predictions.decoder.{leaf}"] for leaf in (f"weight[vocab={word}]", "bias"))
    logit, made = float(rome["cls.predictions.decoder"][8, word]), rome["cls.predictions.transform.LayerNorm"][8]
    assert made @ row + bias[word] == pytest.approx(logit, rel=1e-4)
    assert abs(rome["encoder.layer.5.output.LayerNorm"][8] @ row + bias[word] - logit) > 1  # of the last vector itself
    assert "The LM head makes another vector of the last one, 384 numbers" in fill(
        step.text, work_out("words", step, scene).numbers
    )


def test_without_the_residual_what_a_token_takes_from_itself_is_left_of_it(rome):
    """Where a head of the last layer looks at the token itself, what the layers before had made of it comes through."""
    cut = {"encoder.layer.5.attention.output.residual": Rule("no-residual")}
    own = {f"encoder.layer.5.attention.self.probs[head={head},query=8,key=8]": 0.0 for head in range(12)}
    shares = [rome.with_changes(changes)["cls.predictions.probs"][8] for changes in (cut, {**cut, **own})]
    assert np.abs(shares[0] - shares[1]).max() > 0.01
    step = next(step for step in find_lesson("layer").steps if step.name == "skip")
    assert all("is gone" not in option.right for option in step.ask.options)


def test_what_a_download_needs_besides_is_said_beside_what_the_notebook_downloads_with(folders):
    told = "`torch` and `safetensors`, nothing else."
    assert f"Both need {told}" in read(opened("", {}, "the cat"))[0]
    said = hear_captions("", folders["classes"])
    assert "`huggingface_hub`" in said and f"Besides, both need {told}" in said and "Both need" not in said


def test_one_head_has_its_worth_below_it(folders):
    said = hear("heads", {}, "rome", model=folders["classes"], layer="0", head="0")
    assert "below it, what it is worth to" in said and "below each" not in said


def test_the_drawer_calls_classes_by_their_names(folders):
    trace = bv.run(bv.load_model(folders["classes"]), "the cat")
    shares = trace["classifier.probs"]
    most, least = (["bad", "fair", "good"][int(i)] for i in (shares.argmax(), shares.argmin()))
    walk = f"classifier.probs[label={int(shares.argmin())}]"
    said = hear("", {}, "the cat", model=folders["classes"], layer="0", head="0", walk=walk)
    assert f"Class probability, class {least}" in said and f"larger than “{most}”" in said


def test_the_drawer_calls_what_the_next_sentence_is_alike_in_one_sentence(rome):
    """“B follows A” is no “follows” beside “B is a random sentence”."""
    shares = rome["cls.seq_relationship.probs"]
    names = "B follows A", "B is a random sentence"
    for i in range(2):
        said = hear("", {}, "When in Rome, do as the [MASK] do.", walk=f"cls.seq_relationship.probs[relation={i}]")
        both = [said.index(f"“{name}”") for name in names]
        assert (both[i] < both[1 - i]) and f"“{names[i]}” gets" in said, shares


def test_the_drawer_says_of_an_answer_from_where_to_where(folders):
    query = {"model": folders["answers"], "layer": "1", "pair": "the cat sat on the mat"}
    walks = {
        "qa_outputs.spans[start=6,end=9]": "“sat” to “mat”: 2 numbers added up",
        "qa_outputs[token=6,bound=1]": "Start and end logit, end",
    }
    for walk, told in walks.items():
        assert told in hear("", {}, "the cat", walk=walk, **query)
    trace = bv.run(bv.load_model(folders["answers"]), "the cat", query["pair"])
    shares = trace["qa_outputs.start.probs"]
    most, other = (int(i) for i in (np.argmax(shares), np.argmin(shares)))
    said = hear("", {}, "the cat", walk=f"qa_outputs.start.probs[start={other}]", **query)
    assert re.search(rf"The largest is “[^”]*”(?: at position {most})?, ", said)
    assert f"“{trace.tokens[most]} {most}”" not in said


def test_two_that_put_the_same_word_first_agree_in_that():
    text, query = "no no", {"token": "2", "layer": "0", "head": "0"}
    (title,) = opened("documents", {}, text, **query).title
    said = title.value.replace("*Do", "Do").replace("?*", "?")
    assert said.startswith("Do BERT and the forward-pass note agree? Only in the likeliest word: cosine")
    assert " at “no” at position 2; " in said
    first, second = re.search(r"BERT (“[^”]*”).*?, the note (“[^”]*”)", said).groups()
    assert first == second


def find_scene(bundled, text, token, **says):
    return Scene(bv.run(bundled, text, **says), 0, 0, token)


def test_not_every_token_gets_something_where_one_is_masked(bundled):
    scene = find_scene(bundled, HELLO, 1, pad_to=10)
    lesson = find_lesson("attention")
    step = next(step for step in lesson.steps if step.name == "negative")
    said = tell_right(step, scene, work_out("attention", step, scene))
    assert scene.trace["encoder.layer.0.attention.self.probs[head=0,query=1,key=9]"] == 0
    assert "every token gets something" not in said


def test_a_handout_says_what_its_sentence_does_not_show(bundled):
    lesson = find_lesson("tokens")
    plain = Handout(lesson, find_scene(bundled, HELLO, 1), HELLO)
    hidden = replace(
        plain, scene=find_scene(bundled, HELLO, 1, masked=(1, 4), pad_to=10), typed=tuple(plain.scene.tokens)
    )
    assert "Hidden behind [MASK]: “hello” and “world”. Padding: 3 tokens." in read_sheets(write_handout(hidden))[0]
    assert not re.search("Hidden behind|Padding:", read_sheets(write_handout(replace(plain, typed=hidden.typed)))[0])


def test_a_handout_says_why_a_task_is_not_asked(bundled):
    (sheet,) = read_sheets(write_handout(Handout(find_lesson("tokens"), find_scene(bundled, HELLO, 1), HELLO)))
    assert (
        "The same number twice: not asked of this sentence, as no token stands twice here, but for special ones."
        in sheet
    )


def test_tokens_that_a_change_masks_are_said_to_count_where_numbers_moved():
    """They have numbers before the change, so that how far these moved is told of them as well."""
    changes, moved = {"attention_mask[token=2]": 0}, "Of how far numbers moved, those that a change masks are part."
    at = opened("feed_forward", changes, HELLO, token="1", layer="3")
    assert moved in " ".join(read_html(at))
    before = bv.run(bv.load_model("bundled"), HELLO)
    where = "encoder.layer.3.intermediate.activation"
    far = np.abs(before.with_changes(changes)[where].astype(float) - before[where])
    token, neuron = np.unravel_index(far.argmax(), far.shape)
    assert f"Most changes “{before.tokens[token]}”, neuron {neuron}: " in read(at)[0]
    assert moved not in hear("feed_forward", {f"{where}[token=1]": 0.0}, HELLO, pad="9", layer="3")


def test_the_first_stop_says_what_becomes_of_a_word_of_which_no_piece_fits(bundled):
    fits, none = (tell(bv.run(bundled, text), token=1)["cut"] for text in ("rain fell", "rain 你"))
    assert "pieces that its vocabulary has, and adds special tokens: 4 tokens" in fits
    assert "vocabulary has, writes [UNK] where it finds none, and adds special tokens: 4 tokens" in none


@pytest.mark.parametrize(("says", "told"), [({"mask": "1"}, "changes or hidden tokens"), ({}, "changes ")])
def test_other_pairs_are_said_to_run_without_what_is_hidden(says, told):
    at = opened("sentence", {}, "Rain fell.", pair="It was cold.", layer="0", head="0", **says)
    settle()
    assert f"6 passes, without {told}" in " ".join(read_html(at.run())) + " "
