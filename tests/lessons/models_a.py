"""Small models on which the lessons are tried, each made once."""

import pytest
from transformers import BertTokenizer

import bertviz_core as bv
from tests.factory import VOCABULARY, random_checkpoint

CASED = (*VOCABULARY, "CAT", "M", "##A", "##T")


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    return bv.load_model(random_checkpoint(tmp_path_factory.mktemp("small")))


@pytest.fixture(scope="session")
def cased(tmp_path_factory):
    """A model that keeps capitals, of which its vocabulary has few."""
    folder = random_checkpoint(tmp_path_factory.mktemp("cased"), vocab_size=len(CASED))
    (folder / "vocab.txt").write_text("\n".join(CASED) + "\n", encoding="utf-8")
    BertTokenizer(vocab=str(folder / "vocab.txt"), do_lower_case=False).save_pretrained(folder)
    return bv.load_model(folder)


@pytest.fixture(scope="session")
def headless(tmp_path_factory):
    """A model that cannot be asked for a word."""
    return bv.load_model(random_checkpoint(tmp_path_factory.mktemp("headless"), kind="base"))
