"""Lesson: from a word to numbers. Three rows that are added, and what a token's vector knows at the start."""

from __future__ import annotations

from bertviz_core.lessons import embeddings_keys as keys
from bertviz_core.lessons.embeddings_picture import draw_embeddings
from bertviz_core.lessons.lesson import Choose, Lesson, Need, Number, OnPaper, Option, Step, Write, Wrong, otherwise
from bertviz_core.lessons.needs import LM_HEAD, LONG_WORD, REPEATED

LESSON = Lesson(
    "embeddings",
    "From a word to numbers",
    "Three rows of numbers, added",
    12,
    (
        "Compute one component of an embedding by hand.",
        "Say what an embedding knows before the first layer, and what it does not.",
        "Show by an experiment that word order enters only through the position rows.",
    ),
    (
        Step(
            "size",
            "One vector",
            "embeddings",
            "{here}: three rows, added and normalized",
            "Three rows of {width} numbers stand for a token: one for the word, one for its position, one for its "
            "segment. They are added.",
            "How many numbers has the sum of the three rows?",
            Number(0),
            keys.work_size,
            hints=(
                "They are added component by component: the first number of each row, then the second of each, and so "
                "on.",
            ),
            right="{width}. They are added component by component, so the width stays: word, position and segment are "
            "no longer apart.",
            wrong=(
                Wrong(keys.is_three_widths, "{three} would be the rows put one behind another. They are added."),
                Wrong(keys.is_count, "That counts rows or tokens. Of how many numbers is one row?"),
                Wrong(
                    otherwise,
                    "How many sums are there: of the first numbers, of the second ones, and so on?",
                ),
            ),
            covers=("embeddings.sum", "embeddings.LayerNorm", "drawer"),
            at="embeddings.sum",
            misconception="Word, position and segment stay apart inside the vector.",
        ),
        Step(
            "component",
            "One component",
            "embeddings",
            "{here}: three rows, added and normalized; component {c}",
            "Nowhere is the sum for {here} larger in size than at component {c}. There word, position and segment "
            "bring {parts}.",
            "Add the three numbers. Type the sum, to two decimals.",
            Number(keys.WITHIN),
            keys.work_component,
            hints=("{signs}.", "{off}."),
            right="{sum}. LayerNorm then takes off the mean of the whole vector and divides by its standard "
            "deviation: that makes {normal} of it.",
            wrong=(
                Wrong(keys.is_without_signs, "That adds their sizes. What is negative is taken off."),
                Wrong(keys.lacks_one, "One row is missing. Word, position and segment: three numbers."),
                Wrong(otherwise, "Add all three, each with its sign: {parts}."),
            ),
            covers=("embeddings.sum", "embeddings.LayerNorm", "drawer"),
            at="embeddings.sum",
            misconception="The model looks a single number up for each word.",
            paper=OnPaper(task="Add the three numbers. What is the sum, to two decimals?"),
        ),
        Step(
            "longest",
            "Which row brings most",
            "embeddings",
            "{here}: three rows, added and normalized",
            "How much a row brings in all can be told by its length: the root of the sum of the squares of its "
            "numbers. All three tables were learned.",
            "Predict: which of the three rows of {here} is the longest?",
            Choose(
                (
                    Option(
                        "That of the word",
                        "Word {word}, position {position}, segment {segment}: here the word’s row is the longest.",
                        "One expects that, but nothing makes the rows of words the longest.",
                    ),
                    Option(
                        "That of the position",
                        "Word {word}, position {position}, segment {segment}: the place weighs more than the word.",
                        "The place matters, but nothing makes its rows the longest.",
                    ),
                    Option(
                        "That of the segment",
                        "Word {word}, position {position}, segment {segment}: a row that all tokens of a sentence "
                        "share can be the longest.",
                        "It says only to which sentence a token belongs. It might have been the longest: here it is "
                        "not.",
                    ),
                ),
                once=True,
            ),
            keys.work_longest,
            hints=("All three were learned. None of them has to be the longest.",),
            covers=("headline", "embeddings.sum", "embeddings.LayerNorm", "drawer"),
            at="embeddings.sum",
            misconception="A token’s vector is mostly its word.",
        ),
        Step(
            "near",
            "What is near",
            "embeddings",
            "Nearest words, with “{word}” typed as the entry",
            "The id of “{word}” is {id}. Rows of the word matrix can be compared by the cosine of their angle: 1 is "
            "the same direction, 0 a right angle.",
            "Predict: of these three entries, whose row is nearest to that of “{word}”?",
            Choose(
                (
                    Option(
                        "“{beside}”, its neighbour by id ({other})",
                        "",
                        "“{beside}” is next to it by number. But the numbers are only names of rows.",
                    ),
                    Option(
                        "“{best}”",
                        "Nearest of all: {list}. The rows are learned; neither their number nor the spelling is in "
                        "them.",
                        "",
                    ),
                    Option(
                        "“{alike}”, spelled alike",
                        "",
                        "“{alike}” begins as “{word}” does. But the model never sees letters, only the id.",
                    ),
                ),
                once=True,
            ),
            keys.work_near,
            hints=("The numbers of the rows were given out before training. The rows themselves were learned.",),
            covers=("embeddings.word_embeddings.weight", "drawer"),
            needs=(
                LONG_WORD,
                Need("the rarest word has a row of zeros, or too few entries begin as it does", keys.has_word),
            ),
            at="embeddings.word_embeddings.weight",
            fold="neighbours",
            misconception="Ids that are close mean words that are close.",
        ),
        Step(
            "order",
            "Word order",
            "predictions",
            "The list of predictions, after the run",
            "Attention compares every token with every other one. Nothing in it knows which stands first: "
            "within a sentence that is only in the position rows.",
            "Predict: all position rows are set to 0. Does “{top}” still lead at {here}?",
            Choose(
                (
                    Option(
                        "Yes, the words are the same",
                        "It still leads: {guesses}. Here the words were enough for that.",
                        "The tokens stand in a row for us only. Their numbers no longer tell the order.",
                    ),
                    Option(
                        "No, another entry leads",
                        "Now {guesses}. What BERT knew of word order is gone: to it a sentence is a bag of tokens.",
                        "It could have been: nothing tells the order of words any more.",
                    ),
                    Option(
                        "The pass stops with an error",
                        "",
                        "All sizes are as before, so the pass runs.",
                    ),
                ),
                run=keys.drop_positions,
            ),
            keys.work_order,
            hints=("Without positions a sentence is a bag of tokens.",),
            needs=(LM_HEAD,),
            at="cls.predictions.probs",
            misconception="The model reads from left to right, so it knows the order.",
        ),
        Step(
            "context",
            "In company",
            "layers",
            "Who comes together, after layer {layer}",
            "“{token}” stands at positions {a} and {b}, with one and the same word row. Before the first layer the "
            "two vectors have the cosine {before}.",
            "Predict their cosine after layer {layer}.",
            Choose(
                (
                    Option(
                        "Higher: the same word grows together",
                        "{after}, from {before}. In these layers the two have come nearer.",
                        "What a layer adds to each of them comes from the other tokens as well.",
                    ),
                    Option(
                        "About the same",
                        "{after}, from {before}. Here the layers have moved both in much the same way.",
                        "That holds for a fixed list of word vectors. Here each layer adds something to both.",
                    ),
                    Option(
                        "Lower: each takes something else",
                        "{after}, from {before}. The same word, and by now two different vectors.",
                        "They could have come apart. In these layers they did not, or hardly.",
                    ),
                ),
                once=True,
            ),
            keys.work_context,
            hints=("What can a layer add that differs between the two?",),
            covers=("output.LayerNorm", "drawer"),
            needs=(REPEATED,),
            at="output.LayerNorm",
            misconception="A word has one vector.",
        ),
        Step(
            "own",
            "Your sentence",
            "layers",
            "Who comes together, after layer {last}",
            "One word, two uses: how far do the two vectors come apart?",
            "Write a sentence with one word twice, so that the cosine of the two is at least {apart} lower after the "
            "last layer than before the first.",
            Write(
                "Your sentence",
                "",
                keys.check_own,
                samples=lambda _: (("The light is too light to light the room.", ""),),
            ),
            keys.work_own,
            hints=("Use the word in two grammatical roles.", "Put one of them at the very start."),
            at="output.LayerNorm",
            misconception="A word means the same wherever it stands.",
        ),
    ),
    draw_embeddings,
)
