"""Lesson: from the last vector to a word. Logits, what the softmax makes of them, and how to read a probability."""

from __future__ import annotations

from bertviz_core.lessons import words_keys as keys
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
from bertviz_core.lessons.needs import LM_HEAD
from bertviz_core.lessons.sentences import find_token
from bertviz_core.lessons.words_picture import draw_words

_NO_PAIR = f"no two neighbours among the first {keys.RANKED} words differ by a factor from 1.05 to 20"
_SHARES, _LOGITS = "cls.predictions.probs", "cls.predictions.decoder"

LESSON = Lesson(
    "words",
    "From the last vector to a word",
    "LM head, logits, softmax",
    12,
    (
        "Work out a logit and compare two words by their logits.",
        "Read a probability such as 7 % correctly.",
        "Say why changing one logit changes every probability.",
    ),
    (
        Step(
            "expect",
            "Expect",
            "predictions",
            "Most likely words, at {here}",
            "The LM head gives each of the {vocab} entries of the vocabulary a probability at {here}.",
            "Write a word that you expect among the model’s first {first}.",
            Write("Your word", "", keys.check_expected, runs=False, samples=lambda scene: ((scene.name_top(), ""),)),
            keys.work_expect,
            hints=(
                "Read the sentence with each of your words in that place.",
                "A model learns what is likely in many texts. A well-known saying is one text.",
            ),
            covers=(_SHARES, _LOGITS, "headline", "drawer"),
            needs=(LM_HEAD, Need("the token that is looked at is not hidden", keys.is_hidden)),
            at="cls.predictions.probs",
            misconception="The model looks up facts.",
            paper=OnPaper(task="Before you read on: write a word that you expect among the model’s first {first}."),
        ),
        Step(
            "logit",
            "A logit",
            "predictions",
            "1 · Logit of {word}",
            "The LM head makes another vector of the last one, {d} numbers, and multiplies it by the row of {word}. Of "
            "the {d} products those above 0 add up to {up}, those below 0 to {down}. The word’s bias is {b}.",
            "Type the logit of {word}, to two decimals.",
            Number(keys.WITHIN),
            keys.work_logit,
            hints=("Three numbers, each with its sign.", "{up} and {down} first. Then the bias."),
            right="{l}. {decides}: the largest of {d}, in size, is {most}.",
            wrong=(
                Wrong(keys.is_without_bias, "{nob} leaves the bias out."),
                Wrong(keys.is_all_added, "The products below 0 lower the logit: take them off."),
                Wrong(otherwise, "Add {up}, {down} and {b}, each with its sign."),
            ),
            covers=(_SHARES, _LOGITS, "drawer"),
            needs=(LM_HEAD,),
            at="cls.predictions.transform.LayerNorm",
            misconception="A word has one neuron that speaks for it.",
            paper=OnPaper(task="Work out the logit of {word}, to two decimals."),
        ),
        Step(
            "times",
            "Two words",
            "predictions",
            "2 · Among all logits",
            "{a} has the logit {la}, {b} has {lb}: a difference of {difference}.",
            "How many times likelier is {a}? Type it, to two decimals.",
            Number(keys.NEAR),
            keys.work_times,
            hints=(
                "Both probabilities are a power of e, divided by the same sum, which cancels.",
                "e to the power of {difference}. e itself is 2.718; e to the power of 0.1 is 1.105.",
            ),
            right="e to the power of {difference} is {r}: {pa} against {pb}. The {others} other entries do not matter "
            "for this ratio.",
            wrong=(
                Wrong(keys.is_quotient, "{quotient} is one logit over the other. Take e to their difference."),
                Wrong(keys.is_difference, "That is the difference of the logits. Now take e to that power."),
                Wrong(keys.is_other_way, "That compares {b} with {a}. Ask the other way round."),
                Wrong(otherwise, "Take e to the power of the difference, {difference}."),
            ),
            covers=(_SHARES, _LOGITS, "headline", "drawer"),
            needs=(LM_HEAD, Need(_NO_PAIR, keys.has_pair)),
            at="from cls.predictions.decoder",
            misconception="A logit is a kind of probability.",
            paper=OnPaper(
                text="The logits of {a} and {b} differ by {difference}; that of {a} is the larger one.",
                task="How many times likelier is {a}? To two decimals.",
            ),
        ),
        Step(
            "plusone",
            "One logit up",
            "predictions",
            "Most likely words, after the run",
            "{word} has {p}. Its logit is raised by 1, all others stay. e is 2.718.",
            "Predict: what is the probability of {word} then?",
            Choose(
                (
                    Option("{add}: one point more", "", "Logits are no percentages: 1 more multiplies a power of e."),
                    Option(
                        "{new}: less than e times",
                        "{new}: the denominator grew as well. {other} falls from {was} to {now}, though its own logit "
                        "did not move.",
                        "",
                    ),
                    Option(
                        "{times}: exactly e times", "", "That is right for the numerator. The sum below it grew too."
                    ),
                ),
                run=keys.raise_logit,
            ),
            keys.work_plusone,
            hints=("The numerator grows e times. What else grows?", "The denominator holds this word too."),
            needs=(LM_HEAD, Need(f"none of the first {keys.RANKED} words has from 1 to 36 %", keys.has_raised)),
            at="cls.predictions.probs",
            misconception="Probabilities of words are independent of each other.",
        ),
        Step(
            "half",
            "How sure",
            "predictions",
            "3 · Softmax: the powers of e, end to end",
            "{word} leads with {p}, among {vocab} entries.",
            "How many of the likeliest words does it take to hold half of the probability?",
            Choose(
                (
                    Option(
                        "2 to 10",
                        "{n}. First place with {p} means: no word is likelier, and by the model’s own numbers it is "
                        "still more often wrong than right.",
                        "The first ten hold {ten}. This place leaves more open.",
                    ),
                    Option(
                        "11 to 100",
                        "{n}. First place with {p} means: no word is likelier, and by the model’s own numbers it is "
                        "still more often wrong than right.",
                        "The first ten hold {ten}, the first hundred {hundred}.",
                    ),
                    Option(
                        "More than 100",
                        "{n}. The first hundred hold {hundred}. First place with {p} means no more than that no word "
                        "is likelier.",
                        "The first hundred of the {vocab} entries hold {hundred}: no more are needed.",
                    ),
                )
            ),
            keys.work_half,
            hints=("The first place is at {p}; those behind it have no more.",),
            covers=(_SHARES, _LOGITS, "drawer"),
            needs=(LM_HEAD, Need("one word holds half of the probability", keys.is_open)),
            at="from cls.predictions.probs",
            fold="softmax",
            misconception="The top word is what the model believes.",
        ),
        Step(
            "visible",
            "What it can see",
            "predictions",
            "Every position: the top five at every position",
            "The LM head can be asked at any token, hidden or not. At {sure}, it says {says} with {most}.",
            "Pick the visible word of the sentence at which the model is least sure: its first word has least there.",
            Pick(name_keys, find_token),
            keys.work_visible,
            hints=(
                "Special tokens do not count.",
                "Open “Every position”, and compare the numbers of “top 1”.",
            ),
            right="{w}: there {leads}. In BERT’s training some visible "
            "tokens were swapped for others, so that a visible word is not taken for granted.",
            wrong=(
                Wrong(keys.is_invisible, "That one is hidden or special. Look among the visible words."),
                Wrong(otherwise, "At {picked}, it says {reads} with {has}. At another word its first one has less."),
            ),
            tell=keys.tell_sure,
            covers=("drawer",),
            needs=(
                LM_HEAD,
                Need("the page’s table shows no single visible word that is least sure", keys.has_least_sure),
            ),
            at="argmax",
            fold="positions",
            misconception="A visible token is simply copied.",
            paper=OnPaper(
                task="Ring the visible word of the sentence at which the model is least sure: its first word has "
                "least there."
            ),
            room=InRoom(
                task="At which visible word of the sentence is the model least sure: where has its first word least?",
                among=keys.find_visible,
                shown=lambda tried: keys.tell_sure(tried)["has"],
                below="what the first word has at each token",
            ),
        ),
        Step(
            "own",
            "Your sentence",
            "predictions",
            "Most likely words, at your [MASK]",
            "{word} leads at {here}, with {p}. What must a sentence have, so that the model is surer than not?",
            "Write a sentence with one [MASK] at which one word has more than 50 %, and that word.",
            Write(
                "Your sentence",
                "The word",
                keys.check_own,
                samples=lambda _: (("New [MASK] City is in the United States.", "york"),),
            ),
            keys.work_own,
            hints=(
                "Fixed phrases and names leave little open.",
                "Words on both sides of the blank count.",
            ),
            needs=(LM_HEAD,),
            at="cls.predictions.probs",
            misconception="How sure the model is depends on the word, not on the sentence.",
        ),
    ),
    draw_words,
)
