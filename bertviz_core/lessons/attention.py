"""Lesson: who looks at whom. From a row of the attention matrix to what a token really takes."""

from __future__ import annotations

from bertviz_core.lessons import attention_divisor as divisor
from bertviz_core.lessons import attention_keys as keys
from bertviz_core.lessons.attention_picture import draw_attention
from bertviz_core.lessons.lesson import (
    Choose,
    InRoom,
    Lesson,
    Need,
    Number,
    OnPaper,
    Option,
    Pick,
    Slide,
    Step,
    Write,
    Wrong,
    otherwise,
)
from bertviz_core.lessons.needs import UNPADDED
from bertviz_core.programs.names import ATTENTION_WEIGHTS, SELF_ATTENTION

_NO_DIVISOR = f"no divisor from {divisor.LEAST:g} to twice the usual one gives one token 90 % here"
_SCORES = SELF_ATTENTION.enter("scores").path  # of which folds work the weights out

LESSON = Lesson(
    "attention",
    "Who looks at whom",
    "Attention in four steps",
    15,
    (
        "Read an attention matrix, row by row, in the right direction.",
        "Say in four steps how a row of dot products becomes a row of weights.",
        "Say what a mask and a scale do to the weights, and what a value's length does to what is taken.",
    ),
    (
        Step(
            "row",
            "Read a row",
            "attention",
            "Attention weights: the row of {here}",
            "Each row of the matrix is one token that asks: its query. The row’s weights say how it divides its "
            "attention, 100 % in all, among the tokens of the columns: its keys.",
            "In the row of {here}, choose the token that gets most.",
            Pick(keys.name_keys, keys.find_key, keys.locate_key),
            keys.work_row,
            hints=(
                "Stay in the ringed row. The darker the cell, the larger the weight.",
                "The column’s name, above, tells which token it is.",
            ),
            right="{top}, {w}. The second is {next} with {w2}; all of the row together is 100 %.",
            wrong=(Wrong(otherwise, "You chose {picked}, which gets {its}. Which gets more?"),),
            tell=keys.tell_key,
            covers=("headline", "drawer"),
            at=ATTENTION_WEIGHTS.path,
            misconception="Rows and columns are the same thing.",
            paper=OnPaper(task="In the row of {here}, ring the token that gets most."),
            room=InRoom(
                text="A token divides its attention, 100 % in all, among all tokens: these are its weights.",
                task="In layer {layer}, head {head}: to which token does {here} give most of its attention?",
                shown=lambda tried: keys.tell_key(tried)["its"],
                below="what {here} gives each token",
            ),
        ),
        Step(
            "direction",
            "Which way",
            "attention",
            "Attention weights: the whole matrix",
            "{here} gives {w} of its attention to {other}.",
            "Choose the cell that says how much {other} gives {here}.",
            Pick(keys.name_pairs, keys.find_pair, keys.locate_pair),
            keys.work_direction,
            hints=("Now {other} asks. Which row is that?", "Row {row}, column {column}."),
            right="{back}, against {w} the other way. Attention is not mutual: each token asks for itself.",
            wrong=(
                Wrong(
                    keys.asks_here,
                    "In that row {here} asks. You want what {other} gives, so {other} must be the row.",
                ),
                Wrong(
                    otherwise,
                    "There {asks} asks, about {asked}. You want the row of {other}, at the column of {here}.",
                ),
            ),
            tell=keys.tell_pair,
            covers=("drawer",),
            at=ATTENTION_WEIGHTS.path,
            misconception="Attention is mutual: the matrix is symmetric.",
            paper=OnPaper(
                text="A weight says how much one token, whose row it is in, gives another one, whose column it is in.",
                task="Which cell says how much {other} gives {here}? Write its row and its column. Is it more or "
                "less than the other way round?",
            ),
        ),
        Step(
            "negative",
            "Dot product",
            "attention",
            "How {here} divides its attention: columns 1 and 4",
            "Query times key, component by component, added up, is the dot product (column 1): with {key} {d}. Scaled "
            "down it is the score; the softmax (column 4) takes e to the power of each score, over the sum of all.",
            "Which weight does {key} get?",
            Choose(
                (
                    Option(
                        "Below 0",
                        "",
                        "The weights are shares of 1. A share cannot be negative: e to a negative power is a small "
                        "positive number.",
                    ),
                    Option(
                        "Exactly 0",
                        "{p}: so small that this precision has no number for it.",
                        "Only a masked score gives 0. Here the power of e is {power} of the largest one: small, not "
                        "nothing.",
                    ),
                    Option(
                        "Small, but above 0",
                        "{p}. A power of e is never 0 and never negative, so every token that is not masked out "
                        "gets something.",
                        "It should be, and would be with more digits: this precision has no number so small.",
                    ),
                )
            ),
            keys.work_negative,
            hints=("The softmax takes a power of e. Which numbers can a power of e be?",),
            covers=(ATTENTION_WEIGHTS.path, _SCORES, "headline", "drawer"),
            needs=(UNPADDED, Need("no token here has a dot product below 0", keys.has_negative)),
            at=",query=",
            misconception="A negative score gives a negative weight, or none.",
            room=InRoom(
                text="Query times key, component by component, added up, is the dot product: with {key} {d}. Scaled "
                "down it is the score; the softmax takes e to the power of each score, over the sum of all."
            ),
        ),
        Step(
            "ratio",
            "Softmax",
            "attention",
            "How {here} divides its attention: columns 2 and 4",
            "In column 2 {a} has the score {sa}, and {b} {sb}: a difference of {difference}. Softmax takes e to the "
            "power of each, then divides both by the same sum.",
            "How many times larger is the weight of {a}? Type it, to one decimal.",
            Number(0.1),
            keys.work_ratio,
            hints=(
                "What both are divided by cancels.",
                "e to the power of {difference}. e itself is 2.718; e to the power of 0.7 is 2.",
            ),
            right="e to the power of {difference}, unrounded, is {ratio}, and {wa} is {ratio} times {wb}. In a softmax "
            "differences count, not ratios.",
            wrong=(
                Wrong(
                    keys.is_quotient,
                    "{quotient} is one score over the other. Softmax compares powers of e: use the difference, "
                    "{difference}.",
                ),
                Wrong(keys.is_difference, "{difference} is the difference of the scores. Now take e to that power."),
                Wrong(otherwise, "Take e to the power of the difference, {difference}."),
            ),
            covers=("headline", ATTENTION_WEIGHTS.path, _SCORES, "drawer"),
            needs=(Need("no two scores of this row are near each other without being level", keys.has_ratio),),
            at=",query=",
            misconception="Weights are in proportion to scores.",
            paper=OnPaper(task="How many times larger is the weight of {a}? To one decimal."),
            room=InRoom(
                text="{a} has the score {sa}, and {b} {sb}: a difference of {difference}. Softmax takes e to the power "
                "of each, then divides both by the same sum.",
                task="How many times larger is the weight of {a}? To one decimal.",
            ),
        ),
        Step(
            "scale",
            "Scale",
            "attention",
            "The divisor, below the title of column 2",
            "Column 2 divides every dot product by √{width} = {root}: a sum of {width} products is, as a rule, about "
            "√{width} times as large as one of them. The slider tries another divisor.",
            "Set the divisor so that {a}, which now gets {w}, gets 90 % (88 to 92 will do).",
            Slide(
                divisor.find_ends,
                divisor.find_root,
                divisor.is_aim_reached,
                divisor.show_share,
                divisor.share_all,
            ),
            divisor.work_scale,
            hints=("Does a smaller divisor pull the scores apart or together?",),
            right="{v} at {set}. Undivided, {a} would get {one}: the larger the scores, the more one token gets all.",
            wrong=(
                Wrong(
                    lambda tried: divisor.share_at(tried.scene, tried.answer) < divisor.FROM,
                    "{v} at {set}. A larger divisor brings the scores together, so the shares become more equal.",
                ),
                Wrong(otherwise, "{v} at {set}. Now one token takes nearly all: a larger divisor shares more."),
            ),
            tell=divisor.tell_share,
            needs=(
                UNPADDED,
                Need(_NO_DIVISOR, divisor.is_divisible),
                Need("one token has about 90 % already", divisor.is_aim_open),
            ),
            at=",query=",
            misconception="Dividing all scores by one number changes nothing, since softmax normalizes anyway.",
            paper=OnPaper(
                text="Column 2 divides every dot product by √{width} = {root}. Another divisor would do as well, but "
                "give other weights.",
                task="Predict: does it take a smaller or a larger divisor to bring {a}, which now gets {w}, to 90 "
                "%? Then try it in the app, and write down the divisor (88 to 92 will do).",
            ),
        ),
        Step(
            "mask",
            "Mask",
            "attention",
            "Attention weights: the row of the chosen token, after the run",
            "Column 3 can mask a token out: its score becomes a very large negative number before the softmax, so its "
            "weight is 0. (The token [MASK] is something else: it hides a word.)",
            "Predict: {a} ({wa}) is masked out in this row. What does {b} ({wb}) get then?",
            Choose(
                (
                    Option(
                        "{wb}: the others stay as they are",
                        "",
                        "Then the row would add up to less than 100 %. Setting a weight to 0 does that; a mask comes "
                        "before the softmax.",
                    ),
                    Option(
                        "{grown}: all others grow by the same factor",
                        "{grown}. Every other weight is multiplied by {factor}, so the row adds up to 1 again.",
                        "",
                    ),
                    Option(
                        "{all}: the next one takes it all",
                        "",
                        "The freed share is not handed to one token. All others keep their ratios.",
                    ),
                ),
                run=keys.mask_out,
            ),
            keys.work_mask,
            hints=("The row must add up to 100 % again.", "The ratios between the others do not change."),
            needs=(Need("one token takes nearly all here, or the first two too little to compare", keys.is_maskable),),
            at=ATTENTION_WEIGHTS.path,
            misconception="What is taken away vanishes, or goes to the runner-up.",
            room=InRoom(
                text="A token can be masked out: its score becomes a very large negative number before the softmax, so "
                "its weight is 0. (The token [MASK] is something else: it hides a word.)"
            ),
        ),
        Step(
            "taken",
            "Looking and taking",
            "attention_output",
            "What {here} takes from each token",
            "A weight is not yet what is taken. Each token’s value vector is multiplied by it, and values differ in "
            "length: that of {a} is {la} long, that of {b} {lb}.",
            "{here} gives {a} {wa} and {b} {wb} of its attention. From which of the two does it take more?",
            Choose(
                (
                    Option("From {a}", "", "Its weight is larger, but {wa} of {la} is {ta}. Work out the other one."),
                    Option(
                        "From {b}",
                        "{tb} against {ta}: {times} times as much, with the smaller weight. A large weight is "
                        "not always a large effect.",
                        "",
                    ),
                )
            ),
            keys.work_taken,
            hints=("Multiply: weight times length.",),
            covers=("page", "drawer"),
            needs=(Need("no token that gets clearly less weight than another gives clearly more", keys.has_crossed),),
            at=ATTENTION_WEIGHTS.path,
            misconception="The attention matrix shows what flows.",
        ),
        Step(
            "own",
            "Your sentence",
            "attention",
            "The row of your [MASK]",
            "What layer {layer}, head {head} does here may be a habit of the head, or come of this sentence. Another "
            "sentence tells.",
            "Write a sentence with one [MASK], and the token that you expect to get most of its attention.",
            Write(
                "Your sentence",
                "The token that gets most",
                keys.check_own,
                samples=lambda _: (
                    ("She put the [MASK] on the table.", "put"),
                    ("The old man sat by the [MASK].", "by"),
                ),
            ),
            keys.work_own,
            hints=("Where does it look in the sentence on screen: at which word, how far away?",),
            at=ATTENTION_WEIGHTS.path,
            misconception="A head does the same in every sentence.",
        ),
    ),
    draw_attention,
)
