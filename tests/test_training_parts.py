"""Parts of the recipe: split, dictionary sentences, examples, masks, rates, and the loss that transformers gives."""

import lzma
import sys
from itertools import pairwise

import numpy as np
import pytest
import torch
from transformers import BertForPreTraining

from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from bertviz_core.errors import InputError
from tests.factory import random_checkpoint
from tests.test_imports import CORE, ROOT, imports, inside, modules
from training.batches import NEXT, RANDOM, Deck, make_pairs, make_singles
from training.corpus import Document, digest_document, is_held_out, read_documents, read_held_out, split_documents
from training.examples import cap_glosses, make_examples, mend_documents
from training.glosses import match_gloss, mend_gloss
from training.masking import choose_hidden, hide
from training.model import measure_losses, predict, read_model
from training.optimizer import make_optimizer, set_rates, share_of_peak
from training.prompts import PROMPTS, read_prompts
from training.settings import Settings
from training.vocabulary import read_vocabulary

DOCUMENTS = [
    Document(
        (f"the story of number {i} begins.", f"somebody met {i} unbelievable grandmothers.", "it ended."), "stories"
    )
    for i in range(200)
]
ENTRIES = [Document((f"word{i} means thing number {i}.", "an example of its use."), "dictionary") for i in range(300)]


@pytest.fixture(scope="module")
def vocabulary():
    return read_vocabulary(BUNDLED_FOLDER)


@pytest.fixture(scope="module")
def examples(vocabulary):
    return make_examples(DOCUMENTS, vocabulary, 40)


@pytest.mark.parametrize("name", ["corpus.txt", "corpus.txt.xz"])
def test_a_corpus_is_documents_of_sentences(tmp_path, name):
    data = b"one.\ntwo.\n\n\n# source: news\nthree.\n\n# source: nothing\n\na cat is an animal.\n"
    (tmp_path / name).write_bytes(lzma.compress(data) if name.endswith("xz") else data)
    assert read_documents(tmp_path / name) == [
        Document(("one.", "two."), "other"),
        Document(("three.",), "news"),
        Document(("a cat is an animal.",), "dictionary"),
    ]


def test_of_several_files_each_names_its_documents(tmp_path):
    for name in ("old.txt", "new.txt"):
        (tmp_path / name).write_text("one.\ntwo.\n\na cat is an animal.\n")
    sources = [one.source for one in read_documents(tmp_path / "old.txt", tmp_path / "new.txt")]
    assert sources == ["old", "dictionary", "new", "dictionary"]


def test_a_listed_document_is_held_out_in_every_split(monkeypatch):
    listed = DOCUMENTS[3]
    assert {is_held_out(listed, split, 10) for split in range(40)} == {True, False}
    monkeypatch.setattr("training.corpus.read_held_out", lambda: frozenset([digest_document(listed)]))
    assert all(is_held_out(listed, split, 10) for split in range(40))
    assert not any(is_held_out(DOCUMENTS[4], split, 10**6) for split in range(10))


def test_the_list_of_what_is_held_out_is_digests():
    listed = read_held_out()
    assert len(listed) > 2_000 and {len(one) for one in listed} == {len(digest_document(DOCUMENTS[0]))}
    assert all(int(one, 16) >= 0 for one in listed)


def test_the_split_depends_on_the_text_and_the_seed_alone():
    held = split_documents(DOCUMENTS, 0, 10)[1]
    assert split_documents(DOCUMENTS[::-1], 0, 10)[1] == held[::-1]
    assert [one for one in split_documents([*DOCUMENTS, *ENTRIES], 0, 10)[1] if one.source == "stories"] == held
    assert split_documents(DOCUMENTS, 1, 10)[1] != held
    assert 8 <= len(held) <= 35
    # by the rule's own words, without our code: another rule would make old figures incomparable
    assert [i for i, one in enumerate(DOCUMENTS) if is_held_out(one, 0, 60)] == [4, 26, 166]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("a Paris is the capital and largest city of France.", "Paris is the capital and largest city of France."),
        ("a Bhutan is a landlocked principality.", "Bhutan: a landlocked principality."),
        ("a aluminate is a compound of alumina.", "an aluminate is a compound of alumina."),
        ("a espionage network is a network of spies.", "an espionage network is a network of spies."),
        ("a lipstick is makeup that is used to color the lips.", "lipstick: makeup that is used to color the lips."),
        ("an university is a large institution.", "a university is a large institution."),
        ("a hour is a period of time.", "an hour is a period of time."),
        ("an unimportant thing is a trifle.", "an unimportant thing is a trifle."),
    ],
)
def test_the_article_of_a_definition_is_mended(wrong, right):
    assert mend_gloss(wrong) == right
    assert mend_gloss(right) == right


@pytest.mark.parametrize(
    "sentence",
    ["a day camp is a camp for children.", "to succor is to help.", "Huxley means English writer.",
     "quark: a particle.", "something celestial is relating to heaven.",
     "There is a Paris.", "It is a truth universally acknowledged."],
)  # fmt: skip
def test_what_is_not_wrong_stands_as_it_is(sentence):
    assert mend_gloss(sentence) == sentence


def test_prose_is_not_taken_for_a_dictionary():
    assert match_gloss("Paris is the queen of cities.") is None
    (kept,) = mend_documents([Document(("a Paris is the capital.", *["and so on."] * 12), "other")])
    assert kept.sentences[0] == "a Paris is the capital."


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_dictionarys_share_is_capped(vocabulary, share):
    everything = make_examples([*DOCUMENTS[:100], *ENTRIES], vocabulary, 40)
    capped = cap_glosses(everything, share, 0, pairs_too=True)
    for documents, before in (
        (capped.single_documents, everything.single_documents),
        (capped.pair_documents, everything.pair_documents),
    ):
        glosses = everything.glosses[documents]
        assert (~glosses).sum() == (~everything.glosses[before]).sum()
        assert glosses.mean() == pytest.approx(min(share, everything.glosses[before].mean()), abs=0.01)


def test_no_pair_is_a_dictionarys_unless_asked_for(vocabulary):
    everything = make_examples([*DOCUMENTS[:100], *ENTRIES], vocabulary, 40)
    capped = cap_glosses(everything, 0.3, 0, pairs_too=False)
    assert everything.glosses[everything.pair_documents].any()
    assert not everything.glosses[capped.pair_documents].any()
    assert everything.glosses[capped.single_documents].any()


def test_passages_are_whole_sentences_that_follow_one_another(vocabulary, examples):
    def read(a, b):
        return [vocabulary.tokens[i] for i in examples.pieces[a:b]]

    for (a, b, c, d), document in zip(examples.pairs, examples.pair_documents, strict=True):
        assert a < b == c < d and d - a <= 40 - 3
        assert read(a, b)[-1] == read(c, d)[-1] == "."
        whole = [i for line in vocabulary.cut(DOCUMENTS[document].sentences) for i in line]
        text = examples.pieces[a:d].tolist()
        assert any(whole[i : i + len(text)] == text for i in range(len(whole)))


def test_half_of_the_pairs_follow_and_the_others_are_of_another_document(vocabulary):
    stories = [Document(tuple(f"number {i} is {color}." for i in range(200)), "") for color in ("red", "blue")]
    examples = make_examples(stories, vocabulary, 40)
    batch = make_pairs(examples, np.arange(len(examples.pairs)), vocabulary, np.random.default_rng(0), False)
    assert len(batch.ids) > 80 and 0.4 < (batch.follows == NEXT).float().mean() < 0.6
    batch.ids[batch.hidden] = batch.answers
    for ids, segments, label in zip(batch.ids, batch.segments, batch.follows.tolist(), strict=True):
        first, second = ({vocabulary.tokens[i] for i in ids[segments == part]} & {"red", "blue"} for part in (0, 1))
        assert label == (NEXT if first == second else RANDOM)


def test_a_batch_goes_to_a_device_whole(vocabulary, examples):
    batch = make_pairs(examples, np.arange(4), vocabulary, np.random.default_rng(0), False)
    moved = batch.to("meta")
    tensors = [name for name, one in vars(batch).items() if isinstance(one, torch.Tensor)]
    assert len(tensors) == 6 and all(getattr(moved, name).is_meta for name in tensors)
    assert moved.documents is batch.documents


def test_of_the_pieces_15_percent_are_hidden_and_of_these_80_10_10(vocabulary):
    rng = np.random.default_rng(0)
    ids = rng.choice(vocabulary.drawable, (400, 100))
    hidden = choose_hidden(ids, np.ones_like(ids, dtype=bool), vocabulary, rng, whole_words=False)
    assert (hidden.sum(1) == 15).all()
    seen = hide(ids, hidden, vocabulary, rng)
    assert (seen[~hidden] == ids[~hidden]).all()
    masked, same = seen[hidden] == vocabulary.mask, seen[hidden] == ids[hidden]
    assert masked.mean() == pytest.approx(0.8, abs=0.02)
    assert same.mean() == pytest.approx(0.1, abs=0.015)
    other = seen[hidden][~masked & ~same]
    assert len(set(other)) > 0.9 * len(other)  # from the whole vocabulary
    assert not {"[CLS]", "[unused5]"} & {vocabulary.tokens[i] for i in other}


def test_special_tokens_are_never_hidden_and_one_piece_always_is(vocabulary, examples):
    batch = make_singles(examples, np.arange(64), vocabulary, np.random.default_rng(0), whole_words=True)
    special = {vocabulary.cls, vocabulary.sep, vocabulary.pad}
    assert not special & set(batch.answers.tolist())
    assert (batch.hidden.sum(1) >= 1).all()
    assert (batch.hidden <= batch.mask.bool()).all()


def test_whole_words_are_hidden_to_their_last_piece(vocabulary):
    ids = np.array(
        [vocabulary.cut(["unbelievable grandmotherly counterrevolutionaries electroencephalography"])[0]] * 50
    )
    continues = vocabulary.continues[ids[0]]
    assert continues.sum() > 4
    rng = np.random.default_rng(0)
    hidden = choose_hidden(ids, np.ones_like(ids, dtype=bool), vocabulary, rng, whole_words=True)
    assert (hidden[:, 1:][:, continues[1:]] == hidden[:, :-1][:, continues[1:]]).all()
    apart = choose_hidden(ids, np.ones_like(ids, dtype=bool), vocabulary, rng, whole_words=False)
    assert not (apart[:, 1:][:, continues[1:]] == apart[:, :-1][:, continues[1:]]).all()


@pytest.mark.parametrize("bucket", [1, 4])
def test_every_example_comes_once_a_round_in_another_order(bucket):
    lengths = np.random.default_rng(1).integers(3, 30, 96)
    deck = Deck(lengths, 8, bucket, (5,))
    first, second = ([deck.draw(number) for number in numbers] for numbers in (range(12), range(12, 24)))
    assert sorted(np.concatenate(first)) == sorted(np.concatenate(second)) == list(range(96))
    assert not np.array_equal(first, second)
    assert np.array_equal(Deck(lengths, 8, bucket, (5,)).draw(17), second[5])  # whatever was drawn before
    spread = np.mean([np.ptp(lengths[chosen]) for chosen in first])
    assert spread < 12 if bucket > 1 else spread > 15


def test_the_rate_rises_once_and_falls_to_the_last_step():
    settings = Settings(steps=200, frozen_steps=20, warm_up=0.1)
    shares = [share_of_peak(step, settings) for step in range(20, 200)]
    top = int(np.argmax(shares))
    assert max(shares) == 1 and top == 18
    assert all(a < b for a, b in pairwise(shares[:top])) and all(a > b for a, b in pairwise(shares[top:]))
    assert 0 < shares[-1] < 0.01


def test_lower_layers_learn_slower_and_frozen_ones_not_at_all(tmp_path):
    model, _ = read_model(random_checkpoint(tmp_path, num_hidden_layers=3))
    settings = Settings(steps=100, frozen_steps=10, warm_up=0, rate=1e-3, head_rate=5e-3, layer_decay=0.5)
    optimizer = make_optimizer(model, settings)
    names = {id(parameter): name for name, parameter in model.named_parameters()}

    def rates():
        return {names[id(one)]: group["lr"] for group in optimizer.param_groups for one in group["params"]}

    assert set(rates()) == {name for name, _ in model.named_parameters()}
    set_rates(optimizer, 3, settings)
    assert rates()["cls.predictions.bias"] == settings.frozen_rate
    learns = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    assert learns and all(name.startswith(("cls.", "bert.pooler.")) for name in learns)
    assert set_rates(optimizer, 10, settings) == pytest.approx(1e-3)
    for layer, rate in ((2, 1e-3), (1, 5e-4), (0, 2.5e-4)):
        assert rates()[f"bert.encoder.layer.{layer}.output.dense.weight"] == pytest.approx(rate)
    assert rates()["bert.embeddings.word_embeddings.weight"] == pytest.approx(1.25e-4)
    assert rates()["bert.pooler.dense.weight"] == pytest.approx(5e-3)
    assert all(parameter.requires_grad for parameter in model.parameters())


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_the_loss_is_that_of_transformers(vocabulary, examples, attention):
    model, missing = read_model(BUNDLED_FOLDER, attention)
    assert missing == []
    batch = make_pairs(examples, np.arange(8), vocabulary, np.random.default_rng(0), whole_words=False)
    labels = torch.full_like(batch.ids, -100)
    labels[batch.hidden] = batch.answers
    library = BertForPreTraining.from_pretrained(BUNDLED_FOLDER, dtype=torch.float32).eval()
    with torch.no_grad():
        masked, follows = measure_losses(predict(model, batch), batch)
        whole = library(
            input_ids=batch.ids,
            attention_mask=batch.mask,
            token_type_ids=batch.segments,
            labels=labels,
            next_sentence_label=batch.follows,
        ).loss
    assert (masked + follows).item() == pytest.approx(whole.item(), rel=1e-5)


def test_twenty_prompts_are_written_down(vocabulary, tmp_path):
    prompts = read_prompts(PROMPTS, vocabulary)
    assert len(prompts) == len({prompt.text for prompt in prompts}) == 20
    (tmp_path / "prompts.txt").write_text("Nothing is hidden. | here\n")
    with pytest.raises(InputError, match=r"needs one \[MASK\]"):
        read_prompts(tmp_path / "prompts.txt", vocabulary)


def test_the_app_does_not_need_what_made_its_model():
    found = {name for name, file in modules(ROOT).items() for each in imports(name, file) if inside(each, ["training"])}
    assert found == set()


def test_the_recipe_needs_little_of_the_app_and_no_other_packages():
    files = list((ROOT / "training").glob("*.py"))
    found = {each for file in files for each in imports(f"training.{file.stem}", file)}
    assert len(files) > 10
    assert {each for each in found if inside(each, [CORE]) and not inside(each, [f"{CORE}.errors"])} == set()
    foreign = {each.partition(".")[0] for each in found} - sys.stdlib_module_names - {CORE, "training"}
    assert foreign == {"numpy", "safetensors", "torch", "transformers"}
