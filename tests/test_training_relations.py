"""Facts as data: what is asked, what is hidden, what is held out, and that no answer can be copied."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from bertviz_core.errors import InputError
from training.batches import NO_DOCUMENT, SINGLES, make_singles
from training.corpus import Document
from training.evaluate import find_content, find_copies
from training.examples import make_examples
from training.knowledge import rank_answers
from training.model import read_model
from training.prompts import PROMPTS, Prompt, ask, read_prompts
from training.relations import RELATIONS, Fact, Template, make_questions, read_relations, say
from training.run import Data
from training.settings import Settings
from training.vocabulary import read_vocabulary

STORIES = [Document((f"the story of number {i} begins.", "then it ended.", "so did we."), "other") for i in range(60)]


@pytest.fixture(scope="module")
def vocabulary():
    return read_vocabulary(BUNDLED_FOLDER)


@pytest.fixture(scope="module")
def relations():
    return read_relations(RELATIONS)


@pytest.fixture(scope="module")
def questions(relations, vocabulary):
    return make_questions(relations, vocabulary)


@pytest.fixture(scope="module")
def data(questions, vocabulary):
    return Data(make_examples(STORIES, vocabulary, 40), questions, vocabulary, Settings(singles=40, fact_share=0.25))


def test_there_are_facts_of_many_kinds(relations):
    assert len(relations) >= 20 and len({relation.name for relation in relations}) == len(relations)
    for relation in relations:
        assert 10 <= len(relation.templates) <= 15, relation.name
        assert 1 <= sum(one.held_out for one in relation.templates) <= 3, relation.name
        assert 1 <= sum(one.held_out for one in relation.facts) <= 0.25 * len(relation.facts), relation.name
        assert len({one.about for one in relation.facts}) == len(relation.facts), relation.name
        assert len({one.text for one in relation.templates}) == len(relation.templates), relation.name
        parts = {len(one.about) for one in relation.facts}
        slots = {max(map(int, re.findall(r"\{(\d)\}", one.text))) for one in relation.templates}
        assert parts == slots and len(parts) == 1, relation.name


def test_no_answer_stands_in_its_sentence(relations, vocabulary):
    """`make_questions` refuses one that does, in whatever is asked or measured."""
    for held_facts in (False, True):
        for held_templates in (False, True):
            made = make_questions(relations, vocabulary, held_facts=held_facts, held_templates=held_templates)
            for question in (one for several in made for one in several):
                answer = question.pieces[question.place]
                assert answer in question.answers
                assert (question.pieces == answer).sum() == 1


def test_nothing_held_out_is_asked(relations, questions, vocabulary):
    asked = {vocabulary_text(vocabulary, one) for several in questions for one in several}
    for relation in relations:
        for template in relation.templates:
            for fact in relation.facts:
                if template.held_out or fact.held_out:
                    said = {say(template, fact, word).replace("[MASK]", word) for word in fact.answers}
                    assert not {vocabulary_text(vocabulary, one) for one in said} & asked, said


def vocabulary_text(vocabulary, sentence):
    return tuple(vocabulary.cut([sentence])[0] if isinstance(sentence, str) else sentence.pieces.tolist())


def test_no_opposite_held_out_is_asked_the_other_way_round(relations):
    for name in ("opposite", "opposite deed"):
        (relation,) = [one for one in relations if one.name == name]
        held = {(fact.about[0], word) for fact in relation.facts if fact.held_out for word in fact.answers}
        assert not [
            one for one in relation.facts if not one.held_out and {(word, one.about[0]) for word in one.answers} & held
        ]


def test_a_prompt_is_a_trained_fact_in_a_sentence_that_is_not_asked(relations, questions, vocabulary):
    asked = {vocabulary_text(vocabulary, one) for several in questions for one in several}
    measured = make_questions(relations, vocabulary, held_templates=True)
    measured = {vocabulary_text(vocabulary, one) for several in measured for one in several}
    for prompt in read_prompts(PROMPTS, vocabulary):
        said = {vocabulary_text(vocabulary, prompt.text.replace("[MASK]", word)) for word in prompt.answers}
        assert not said & asked and said & measured, prompt.text


@pytest.mark.parametrize(
    ("template", "about", "answer", "said"),
    [
        ("A/an {1} is a/an [MASK].", ("eagle",), "bird", "An eagle is a [MASK]."),
        ("a/an {1} lives in a/an [MASK].", ("dog",), "igloo", "A dog lives in an [MASK]."),
        ("{1} and {2} are [MASK].", ("one", "two"), "three", "One and two are [MASK]."),
    ],
)
def test_a_sentence_is_made_with_the_article_that_fits(template, about, answer, said):
    assert say(Template(template, False), Fact(about, (answer,), False), answer) == said


def test_the_answer_alone_is_hidden_and_each_time(data, vocabulary, questions):
    asked = {tuple(one.pieces) for several in questions for one in several}
    for step in (0, 2, 4):
        kind, batch = data.draw(step)
        rows = np.flatnonzero(batch.documents == NO_DOCUMENT)
        assert kind == SINGLES and len(rows) == 10 == len(batch.ids) // 4
        for row in rows:
            hidden = batch.hidden[row]
            assert hidden.sum() == 1 and batch.ids[row][hidden] == vocabulary.mask
            whole = batch.ids[row].clone()
            whole[hidden] = batch.answers[batch.hidden[:row].sum() :][:1]
            assert tuple(whole[batch.mask[row] == 1][1:-1].tolist()) in asked


def test_a_rank_is_that_of_the_best_right_word(questions, vocabulary):
    """Beside `ask`, which asks one prompt after the other."""
    model = read_model(BUNDLED_FOLDER)[0].eval()
    noise = torch.Generator().manual_seed(0)
    torch.nn.init.normal_(model.cls.predictions.bias, std=5.0, generator=noise)  # so that it is often wrong
    several = [each[0] for each in questions[::60]]
    ranks = rank_answers(model, several, vocabulary)
    for question, rank in zip(several, ranks, strict=True):
        words = [vocabulary.tokens[piece] for piece in question.pieces]
        words[question.place] = "[MASK]"
        prompt = Prompt(" ".join(words).replace(" ##", ""), tuple(vocabulary.tokens[one] for one in question.answers))
        assert ask(model, prompt, vocabulary).rank == rank
    assert len(set(ranks)) > 3


def test_a_copy_is_a_content_word_that_stands_in_the_text(vocabulary):
    counts = np.zeros(len(vocabulary.tokens), dtype=np.int64)
    counts[[vocabulary.ids[word] for word in ("the", "berlin", "##s", ".", "paris")]] = (99_000, 10, 10, 10, 10)
    content = find_content(counts, vocabulary)
    assert [bool(content[vocabulary.ids[word]]) for word in ("the", "berlin", "##s", ".")] == [
        False,
        True,
        False,
        False,
    ]
    text = "the berlin is the capital of paris ."
    examples = make_examples([Document((text, text), "other")], vocabulary, 40)
    batch = make_singles(examples, np.arange(2), vocabulary, np.random.default_rng(0), False)
    place = [vocabulary.cls, *vocabulary.cut([text])[0]].index(vocabulary.ids["paris"])
    ids = torch.tensor([[vocabulary.cls, *vocabulary.cut([text])[0], vocabulary.sep]] * 2)
    hidden = torch.zeros_like(ids, dtype=torch.bool)
    hidden[0, place] = hidden[1, place] = True
    batch = replace(batch, ids=ids, hidden=hidden, answers=ids[hidden])
    said = [vocabulary.ids[word] for word in ("berlin", "the")]
    assert find_copies(batch, np.array(said), content).tolist() == [True, False]
    said = [vocabulary.ids[word] for word in ("paris", "london")]
    assert find_copies(batch, np.array(said), content).tolist() == [False, False]


def test_every_fact_is_asked_equally_often(questions, vocabulary):
    few = questions[:48]
    data = Data(make_examples(STORIES, vocabulary, 40), few, vocabulary, Settings(singles=32, fact_share=0.5))
    owners = {tuple(one.pieces): number for number, several in enumerate(few) for one in several}
    times = [0] * len(few)
    for step in range(0, 18, 2):
        batch = data.draw(step)[1]
        for row in np.flatnonzero(batch.documents == NO_DOCUMENT):
            whole = batch.ids[row].clone()
            whole[batch.hidden[row]] = batch.answers[batch.hidden[:row].sum()]
            times[owners[tuple(whole[batch.mask[row] == 1][1:-1].tolist())]] += 1
    assert set(times) == {3}


def test_questions_do_not_change_the_other_rows(vocabulary, questions):
    examples = make_examples(STORIES, vocabulary, 40)
    chosen = np.arange(6)
    alone = make_singles(examples, chosen, vocabulary, np.random.default_rng(0), False)
    beside = make_singles(examples, chosen, vocabulary, np.random.default_rng(0), False, questions[0][:1])
    assert torch.equal(beside.mask[:6].sum(1), alone.mask.sum(1)) and len(beside.ids) == 7
    assert (beside.hidden[:6].sum(1) >= 1).all()


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("{1} is [MASK].\nsnow | whitest snow", "'whitest' is not one piece"),
        ("{1} is as [MASK] as snow.\nmilk | snow", "'snow' stands in the sentence"),
        ("{1} " + "very " * 40 + "[MASK].\nmilk | white", "30 are read at most"),
        ("{1} is [MASK], and [MASK].\nmilk | white", "is neither a sentence with one"),
        ("milk is [MASK].\nmilk | white", "is neither a sentence with one"),
        ("{1} is [MASK].\nmilk |", "is neither a sentence with one"),
    ],
)
def test_what_cannot_be_asked_is_said(tmp_path, vocabulary, lines, said):
    (tmp_path / "a.txt").write_text(f"# relation: colour\n{lines}\n", encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(said)):
        make_questions(read_relations(tmp_path), vocabulary)


def test_a_folder_without_relations_is_named(tmp_path):
    with pytest.raises(InputError, match="holds no relation"):
        read_relations(tmp_path)
