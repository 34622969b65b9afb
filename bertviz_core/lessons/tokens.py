"""Lesson: what is a token. From a text to whole numbers, and what is left of the text then."""

from __future__ import annotations

from bertviz_core.lessons import tokens_keys as keys
from bertviz_core.lessons.attention_keys import name_keys
from bertviz_core.lessons.lesson import (
    Choose,
    InRoom,
    Lesson,
    Need,
    Number,
    OnPaper,
    Option,
    Pick,
    Step,
    Write,
    Wrong,
    otherwise,
)
from bertviz_core.lessons.needs import LM_HEAD, LONG_WORD, MASK, REPEATED, RULES, UNPADDED
from bertviz_core.lessons.sentences import find_token
from bertviz_core.lessons.tokens_picture import draw_tokens

LESSON = Lesson(
    "tokens",
    "What is a token",
    "How a text becomes whole numbers",
    10,
    (
        "Say how many tokens a sentence has, and why that is not its number of words.",
        "Cut a rare word into pieces with the rule that BERT uses.",
        "Explain what BERT knows about a word that is hidden behind [MASK].",
    ),
    (
        Step(
            "count",
            "Count",
            "tokenization",
            "The sentence, cut into tokens",
            "BERT does not read letters or words. It reads tokens: entries of a fixed vocabulary of {vocab} pieces of "
            "text.{cut} {first} is put before the text and {last} behind it, each a token too.",
            "BERT first splits this sentence into {words} and {marks}{mask}. How many tokens does it read?",
            Number(0),
            keys.work_count,
            hints=(
                "Each punctuation mark is a token of its own.",
                "Two tokens are added that nobody typed: one in front, one at the end.",
            ),
            right="{n}: {plain} from the text, and {first} and {last}, which are always added.",
            wrong=(
                Wrong(
                    keys.is_text_alone,
                    "That is the text alone. One token more is added in front, and one at the end.",
                ),
                Wrong(
                    keys.is_words,
                    "That counts the words. Marks, and all pieces of a word, are tokens too, and two more are added.",
                ),
                Wrong(
                    otherwise,
                    "Count the words, the marks, every piece of a word that is cut, and what is added at both ends.",
                ),
            ),
            covers=("page", "headline", "tokens", "drawer"),
            needs=(
                RULES,
                UNPADDED,
                Need("there is a second sentence, an unknown word or another special token", keys.is_countable),
            ),
            at="input_ids",
            misconception="Tokens are words.",
        ),
        Step(
            "same",
            "The same number twice",
            "tokenization",
            "The sentence, cut into tokens: tokens and ids",
            "Each token is replaced by the number of its row in the vocabulary, its id. After that the letters are "
            "gone.",
            "Which is the next token with exactly the same number as {a}? Choose its id.",
            Pick(name_keys, find_token),
            keys.work_same,
            hints=(
                "Look at the row of ids below the tokens.",
                "The id belongs to the spelling, not to the place.",
            ),
            right="Both are {id}. An id says which piece of text it is, not where it stands, and not what it means "
            "there.",
            wrong=(
                Wrong(keys.is_itself, "That is {a} itself. Which other token has {id} below it?"),
                Wrong(keys.is_later, "It has the same number, but another such token stands before it."),
                Wrong(otherwise, "{picked} has the id {its}, {a} has {id}."),
            ),
            tell=keys.tell_id,
            needs=(REPEATED,),
            at="input_ids",
            misconception="The id of a word depends on where it stands or what it means.",
            paper=OnPaper(
                task="Fill in the boxes: a token to a box, its id below it. Which is the next token with exactly the "
                "same number as {a}? Write its position."
            ),
            room=InRoom(
                task="Which is the next token with exactly the same number as {a}?",
                shown=lambda tried: keys.tell_id(tried)["its"],
                below="the id of each token",
            ),
        ),
        Step(
            "capitals",
            "Capitals",
            "tokenization",
            "The word “{word}” and its id",
            "Before it is cut, the text is cleaned. What that means for capitals differs from model to model.",
            "Predict: “{word}” has the id {id}. What becomes of it, written {capitals}?",
            Choose(
                (
                    Option(
                        "The same id, {id}",
                        "Still {id}: capitals are made small before the search, so this model cannot tell {capitals} "
                        "from {word}.",
                        "To this model the two are different texts.",
                    ),
                    Option(
                        "Another id",
                        "{cut}, with the id {other}: to this model that is another entry.",
                        "A model that keeps capitals may do that. This one does otherwise.",
                    ),
                    Option(
                        "Several pieces",
                        "{cut}: in capitals it is no entry as a whole.",
                        "A word is cut only where it is no entry as a whole.",
                    ),
                    Option(
                        "{unknown}: unknown",
                        "{unknown}: no pieces of this vocabulary make up {capitals}.",
                        "{unknown} comes only where no pieces fit.",
                    ),
                ),
                once=True,
            ),
            keys.work_capitals,
            hints=("Is there a capital letter in any token of this sentence, but for special ones such as [MASK]?",),
            covers=("page", "drawer"),
            needs=(RULES, LONG_WORD, Need("the rarest word here has no small letters", keys.has_capitals)),
            at="input_ids",
            misconception="BERT sees the text as it was typed.",
        ),
        Step(
            "pieces",
            "Pieces",
            "tokenization",
            "The search for the longest piece: the field “Another word”",
            "A word that is not in the vocabulary is cut into pieces: from the left, always the longest piece that is "
            "an entry. ## marks a piece that goes on a word.",
            "Predict how “{word}” is cut. Afterwards, type it in to see the search.",
            Choose(
                (
                    Option(
                        "{grammar}",
                        "",
                        "That is how a grammar cuts it. The rule knows no grammar: it asks only whether a piece is an "
                        "entry.",
                    ),
                    Option(
                        "{cut}",
                        "{k} pieces: {cut}. The longest entry is not always the part that a grammar would choose.",
                        "",
                    ),
                    Option(
                        "{unknown}: unknown",
                        "",
                        "{unknown} comes only where no pieces fit. Here shorter ones are found.",
                    ),
                ),
                once=True,
            ),
            keys.work_pieces,
            hints=("The longest entry with which “{word}” begins is “{first}”. What is left is cut in the same way.",),
            covers=("the vocabulary", "drawer"),
            needs=(RULES, Need("this model cuts such words as a grammar does, or not at all", keys.has_example)),
            at="the vocabulary",
            misconception="Pieces are prefixes, stems and endings.",
            paper=OnPaper(task="Predict how “{word}” is cut."),
            room=InRoom(task="How is “{word}” cut?"),
        ),
        Step(
            "three",
            "Make one",
            "tokenization",
            "The search for the longest piece: the field “Another word”",
            "Frequent words are entries as a whole, rare ones mostly are not.",
            "Find a word that is cut into exactly three pieces.",
            Write(
                "A word",
                "",
                keys.check_three,
                runs=False,
                samples=lambda _: (("electroencephalography", ""), ("snowboarding", "")),
            ),
            keys.work_three,
            hints=(
                "Long and rare helps: names of diseases, of chemicals, of small towns.",
                "For comparison, numbers of pieces: {examples}.",
            ),
            needs=(RULES,),
            at="the vocabulary",
            misconception="Long words are cut, short ones are not.",
        ),
        Step(
            "hidden",
            "Hidden",
            "tokenization",
            "The sentence, cut into tokens: what BERT guesses",
            "{name} is a token like any other, with the id {mask}. To hide a word, its id is replaced by that one, and "
            "the pass runs again.",
            "Predict: “{word}” is hidden. Is BERT’s first guess there “{word}”?",
            Choose(
                (
                    Option(
                        "Yes, it remembers the word",
                        "",
                        "The input holds {mask} at this place and nothing else. Where could the word be kept?",
                    ),
                    Option(
                        "Yes, it follows from the rest",
                        "Its guesses are {guesses}. The other tokens were enough: of the hidden word nothing is left.",
                        "It could have. But to this model another word is likelier here.",
                    ),
                    Option(
                        "No, it puts another one first",
                        "Its guesses are {guesses}. Of the hidden word nothing is left: all that BERT has is the other "
                        "tokens.",
                        "It could have. But here the other tokens were enough.",
                    ),
                ),
                run=keys.hide,
            ),
            keys.work_hidden,
            hints=("What does the model receive instead of “{word}”? Only the id {mask}.",),
            covers=("input_ids", "headline", "drawer"),
            needs=(LM_HEAD, MASK, Need("no word that is one token stands only once here", keys.has_single)),
            at="input_ids",
            misconception="BERT compares its guess with the hidden word.",
        ),
        Step(
            "own",
            "Your sentence",
            "tokenization",
            "The sentence, cut into tokens",
            "Now without help.",
            "Write a sentence with one long word, and how many tokens you expect.",
            Write(
                "Your sentence",
                "Its number of tokens",
                keys.check_own,
                samples=lambda _: (("She likes snowboarding.", "6"),),
            ),
            keys.work_own,
            hints=("Words, punctuation marks, the pieces of the long word, and two more.",),
            at="input_ids",
            misconception="The number of tokens is the number of words.",
        ),
    ),
    draw_tokens,
)
