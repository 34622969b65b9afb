"""Lesson: what if. What a head or a token does to an answer is found by a run without it, not by looking."""

from __future__ import annotations

from bertviz_core.lessons import whatif_keys as keys
from bertviz_core.lessons.attention_keys import name_keys
from bertviz_core.lessons.lesson import (
    Choose,
    InRoom,
    Lesson,
    Need,
    OnPaper,
    Option,
    Pick,
    Step,
    Write,
    Wrong,
    otherwise,
)
from bertviz_core.lessons.needs import LM_HEAD, MASK
from bertviz_core.lessons.sentences import find_token
from bertviz_core.lessons.whatif_picture import draw_whatif
from bertviz_core.programs.names import ATTENTION_WEIGHTS

_SHORT = Need(f"the sentence has more than {keys.MOST_TOKENS} tokens", keys.is_short)
_HEADS = (LM_HEAD, _SHORT, Need("this model has one head alone", keys.has_heads))
_NEEDED = (*_HEADS, Need("no head is needed for the first word", keys.has_needed))

LESSON = Lesson(
    "whatif",
    "What if",
    "Cause, not just correlation",
    18,
    (
        "Tell an observation (“it looks at”) from an experiment (“without it”).",
        "Run an ablation and say what it does and does not show.",
        "Explain why effects of heads need not add up.",
    ),
    (
        Step(
            "looks",
            "It looks important",
            "predictions",
            "Most likely words, after the run",
            "In {own}, {target} gets {w} of the attention of {here}. {word} has {p0} there.",
            "Predict: what becomes of {word} without this head, with all its weights 0?",
            Choose(
                (
                    Option(
                        "It falls, by a tenth of that or more.",
                        "{p1}, from {f0}: it falls. Where a head looks did not show that; the run did.",
                        "That the head looks at {target} does not show that {word} needs it.",
                    ),
                    Option(
                        "It changes by less than a tenth of that.",
                        "{p1}, from {f0}. Where a head looks does not say how much the answer depends on it.",
                        "Leaving a head out need not show, but here it does.",
                    ),
                    Option(
                        "It rises, by a tenth of that or more.",
                        "{p1}, from {f0}: it rises. A head can look hard at a token and be in the way of this word.",
                        "A head can be in the way of a word, but not this one, or not by so much.",
                    ),
                ),
                run=keys.zero_own,
            ),
            keys.work_looks,
            hints=("A head can push towards a word, away from it, or do neither.",),
            needs=(LM_HEAD,),
            at="cls.predictions.probs",
            misconception="A large attention weight means: important for the answer.",
            room=InRoom(tops=True),
        ),
        Step(
            "worst",
            "All heads, one by one",
            "heads",
            "All heads: the number below each picture",
            "Each of the {count} heads is set to 0 in turn, and the pass is run again. Below its picture stands what "
            "it is worth to {word}, in points: with it, minus without it.",
            "Pick the head without which {word} loses most.",
            Pick(keys.name_heads, keys.find_head),
            keys.work_worst,
            hints=(
                "The scale is signed: above 0 the head is needed, below 0 it is in the way.",
                "Look for the largest number above 0.",
            ),
            right="Without {worst}, {word} has {p1}, {points} points less, and {leads}.",
            wrong=(
                Wrong(
                    keys.is_gain,
                    "Without {picked}, {word} rises by {its} points: it is in the way. You look for the largest fall.",
                ),
                Wrong(otherwise, "Without {picked}, {word} loses {its} points. Another head costs more."),
            ),
            tell=keys.tell_head,
            covers=("headline", "drawer", "cls.predictions.probs"),
            needs=_NEEDED,
            at=ATTENTION_WEIGHTS.path,
            misconception="The heads of the last layer, or the sharpest ones, matter most.",
            paper=OnPaper(
                text="Each of the {count} heads is set to 0 in turn, and the pass is run again. In the picture "
                "stands what a head is worth to {word}, in points: with it, minus without it.",
                task="Ring the head without which {word} loses most.",
            ),
            room=InRoom(
                text="Each of the {count} heads is set to 0 in turn, and the pass is run again. What {word} then loses "
                "is what the head is worth to it.",
                task="Without which head does {word} lose most?",
                shown=keys.tell_worth,
                below="what each head is worth to {word}, in points",
                tops=True,
            ),
            costly=True,
        ),
        Step(
            "looked",
            "Where does it look",
            "heads",
            "The attention weights of that head",
            "So {word} needs {worst} most.",
            "At which token does {here} look most in this head? Pick it.",
            Pick(name_keys, find_token),
            keys.work_looked,
            hints=("It need not be a word, nor a token that means something.",),
            right="{k}, {w}. {found}",
            wrong=(Wrong(otherwise, "{picked} gets {its}. Another token gets more."),),
            tell=keys.tell_looked,
            covers=("page", ATTENTION_WEIGHTS.path, "drawer"),
            needs=_NEEDED,
            at=ATTENTION_WEIGHTS.path,
            misconception="A head that matters can be recognized by its pattern.",
            paper=OnPaper(
                text="So {word} needs one head most: the one that you ringed.",
                task="Guess: at which token does {here} look most in this head? Then look in the app, on the page "
                "Heads.",
            ),
            room=InRoom(
                task="At which token does {here} look most in this head?",
                shown=lambda tried: keys.tell_looked(tried)["its"],
                below="what {here} gives each token",
            ),
            costly=True,
        ),
        Step(
            "both",
            "Two at once",
            "predictions",
            "Most likely words, after the run",
            "{word} has {p0}. Without {a} it loses {la} points; without {b}, {lb}.",
            "Predict: what does it lose without both?",
            Choose(
                (
                    Option(
                        "About {sum}: the losses add",
                        "{p1}: {both}, so the two nearly add. That is no rule, since layers after a head and "
                        "the softmax work on what all heads give together.",
                        "They would have to in a linear model. This one has LayerNorm and the softmax.",
                    ),
                    Option(
                        "Less than that",
                        "{p1}: {both}, not {sum}. A head’s worth holds only with all others in place.",
                        "It would be so if one worked on what the other gives and nothing else.",
                    ),
                    Option(
                        "More than that",
                        "{p1}: {both}, not {sum}. A head’s worth holds only with all others in place.",
                        "It would be so if each could stand in for the other.",
                    ),
                ),
                run=keys.zero_two,
            ),
            keys.work_both,
            hints=("A later layer reads what the earlier ones wrote.", "LayerNorm and softmax come in between."),
            needs=(*_NEEDED, Need("no two heads share the work without taking all of it", keys.has_two)),
            at="cls.predictions.probs",
            misconception="Effects of parts add up to the whole.",
            paper=OnPaper(
                text="{word} has {p0}. Without one of two heads it loses {la} points; without the other one, {lb}."
            ),
            room=InRoom(tops=True),
            costly=True,
        ),
        Step(
            "without",
            "Without what",
            "predictions",
            "Most likely words, after the run",
            "“Without a head” can mean two things. With all weights 0, {own} hands on nothing, and {word} has {z} in "
            "place of {p0}. With uniform weights the head looks at all tokens but padding alike.",
            "Predict: what does {word} have with uniform weights in this head?",
            Choose(
                (
                    Option(
                        "Less than with all its weights 0",
                        "{u}, against {f0}: a mean of all values is worse here than nothing. Always say which "
                        "“without” you ran.",
                        "That would mean that a mean of all values harms more than nothing.",
                    ),
                    Option(
                        "About the same as then",
                        "{u}, against {f0}: here the two differ by only {points} points. Always say which “without” "
                        "you ran.",
                        "0 takes away all that the head hands on, uniform weights only its choice.",
                    ),
                    Option(
                        "More than with all its weights 0",
                        "{u}, against {f0}: with uniform weights the head still hands on a mean of all values, and "
                        "that is worth {points} points. Always say which “without” you ran.",
                        "A mean of all values can help, as part of what the head hands on. Here it does not, or not by "
                        "so much.",
                    ),
                ),
                run=keys.spread_own,
            ),
            keys.work_without,
            hints=("With uniform weights the head still hands on a mean of all values.",),
            needs=(LM_HEAD,),
            at="cls.predictions.probs",
            misconception="There is one way to leave a part out.",
            room=InRoom(tops=True),
        ),
        Step(
            "token",
            "Which word matters",
            "predictions",
            "The tokens in the bar",
            "The same with tokens: each word is masked out in turn, in every layer, and the pass is run again.",
            "Without which word of the sentence does {word}, now {p0}, lose most? Pick it.",
            Pick(name_keys, find_token),
            keys.work_token,
            hints=("Read the sentence without the word: which words fit at {here} then?",),
            right="Without {w}, {word} has {p1}, from {p0}; next comes {next}: without it {p2}. On top without {w}: "
            "{tops}.",
            wrong=(
                Wrong(keys.is_no_word, "Special tokens and {here} itself do not count. Choose a word."),
                Wrong(
                    keys.is_in_the_way,
                    "Without {picked}, {word} has {its}, from {p0}: it loses nothing. You look for the largest fall.",
                ),
                Wrong(otherwise, "Without {picked}, {word} has {its}, from {p0}. Another word costs more."),
            ),
            tell=keys.tell_token,
            covers=("drawer",),
            needs=(
                LM_HEAD,
                _SHORT,
                Need("fewer than two tokens here are neither special nor the chosen one", keys.has_words),
                Need("no word is needed for the first one", keys.has_needed_word),
            ),
            at="tokens",
            misconception="Words with much meaning matter most.",
            paper=OnPaper(
                task="Without which word of the sentence does {word}, now {p0}, lose most? Read the sentence without "
                "each of them, and write it down."
            ),
            room=InRoom(
                task="Without which word of the sentence does {word}, now {p0}, lose most?",
                among=keys.find_words,
                shown=lambda tried: keys.tell_token(tried)["its"],
                below="what {word} keeps without the token",
                was="{p0}",
                tops=True,
            ),
            costly=True,
        ),
        Step(
            "own",
            "Your sentence",
            "heads",
            "All heads, of your sentence",
            "A claim about one sentence is a start. {word} has {p0} at {here}: without which head would another lead?",
            "Write a sentence with one [MASK], and a head without which its first word changes.",
            Write("Your sentence", "The head, as layer.head", keys.check_own),
            keys.work_own,
            hints=(
                "A close race tips over more easily: run your sentence first, and see how near the second word is.",
                "The map of all heads says which of them the first word needs most.",
            ),
            needs=(LM_HEAD, MASK),
            at=ATTENTION_WEIGHTS.path,
            misconception="What one sentence shows holds for all.",
        ),
    ),
    draw_whatif,
)
