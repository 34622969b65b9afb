"""The record of a search for word pieces: every candidate in order, and why a word is unknown."""

from tests.test_tokenizer import HARD


def test_every_candidate_of_a_search_in_order(bundled):
    (word,) = bundled.tokenizer.record("unaffable").words
    assert word.pieces == ("una", "##ffa", "##ble")
    first, second, third = word.searches
    assert first.rejected == ("unaffable", "unaffabl", "unaffab", "unaffa", "unaff", "unaf")
    assert second.rejected == ("##ffable", "##ffabl", "##ffab")
    assert (third.rejected, third.found) == ((), "##ble")


def test_a_search_holds_all_longer_candidates_and_only_those_not_in_the_vocabulary(bundled):
    vocabulary = set(bundled.tokenizer.vocabulary)
    for text in HARD.values():
        for word in bundled.tokenizer.record(text).words:
            rest, prefix = word.text, ""
            for search in word.searches:
                ends = range(len(rest), len(rest) - len(search.rejected), -1)
                assert search.rejected == tuple(prefix + rest[:end] for end in ends)
                assert vocabulary.isdisjoint(search.rejected)
                if search.found is None:
                    assert len(search.rejected) == len(rest)
                    assert word.pieces == ("[UNK]",)
                    break
                found = search.found.removeprefix(prefix)
                assert search.found in vocabulary
                assert rest.startswith(found)
                rest, prefix = rest[len(found) :], "##"
            else:
                assert not word.searches or rest == ""


def test_why_a_word_is_unknown(bundled):
    fits, long, foreign = bundled.tokenizer.record(f"{'a' * 100} {'a' * 101} ab\u0378").words
    assert fits.note == ""
    assert fits.pieces[0] != "[UNK]"
    assert (long.pieces, long.ids, long.searches) == (("[UNK]",), (100,), ())
    assert long.note == "longer than 100 characters, so the whole word is unknown"
    assert (foreign.pieces, foreign.ids) == (("[UNK]",), (100,))
    assert foreign.searches[-1].found is None
    assert "no piece of the vocabulary fits" in foreign.note


def test_special_tokens_stand_in_the_record_as_words_of_their_own(bundled):
    words = bundled.tokenizer.record("un[MASK]able").words
    assert [word.text for word in words] == ["un", "[MASK]", "able"]
    assert words[1].searches == ()
    assert "special token" in words[1].note
