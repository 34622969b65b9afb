"""Lesson: what a layer adds. The residual sum, LayerNorm, the feed-forward network, and layer after layer."""

from __future__ import annotations

from bertviz_core.lessons import layer_keys as keys
from bertviz_core.lessons.attention_keys import name_keys
from bertviz_core.lessons.layer_picture import draw_layer
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
from bertviz_core.lessons.needs import LM_HEAD, LONG_WORD, UNPADDED

_NOT_REPLACED = (
    "the rarest other word has no entry like it to put in its place, or the chosen token hardly looks at it in layer 0"
)

LESSON = Lesson(
    "layer",
    "What a layer adds",
    "Residual, LayerNorm, feed-forward",
    15,
    (
        "Draw a residual sum as two vectors and predict its length.",
        "Say what LayerNorm keeps and what it forgets.",
        "Tell which part of a layer moves information between tokens, and which works on each token alone.",
    ),
    (
        Step(
            "sum",
            "Add",
            "add_norm",
            "The triangle of {here}: true to angle and length",
            "Attention does not replace a token’s vector. Its output, {added} long, is added to what was there, {was} "
            "long. The angle between the two is {angle}.",
            "How long is the sum?",
            Choose(
                (
                    Option(
                        "{straight}: lengths add",
                        "",
                        "That would need an angle of 0°. Here it is {angle}.",
                    ),
                    Option(
                        "{sum}: the angle counts",
                        "{sum}. At a right angle it would be {root}, the root of both squares added; {angle} is {way}.",
                        "",
                    ),
                    Option(
                        "{less}: they cancel",
                        "",
                        "That would need an angle of 180°. Here it is {angle}.",
                    ),
                )
            ),
            keys.work_sum,
            hints=(
                "At a right angle the square of the sum’s length is the sum of both squares.",
                "Draw both as arrows, one beginning where the other ends, with the angle between their directions.",
            ),
            covers=("residual", "drawer"),
            needs=(
                Need("the two vectors point almost the same or the opposite way, or one is tiny", keys.is_triangle),
            ),
            at="residual[",
            misconception="Vectors add like lengths.",
            paper=OnPaper(
                task="Draw the sum, from the beginning of the first arrow to the end of the "
                "second, and measure it. How long is it?"
            ),
        ),
        Step(
            "most",
            "Who gets most",
            "add_norm",
            "Add: was, added, sum, for all tokens",
            "The bars stand for lengths: what was there, and behind it what attention adds. Below is the sum.",
            "Choose the token to which attention adds most in this layer.",
            Pick(name_keys, keys.find_added),
            keys.work_most,
            hints=("Only the second part of the upper bar counts: the column “added”.",),
            right="{top}: {added}, against {mean} on average.",
            wrong=(
                Wrong(
                    keys.is_longest_bar,
                    "{picked} has the longest bar, but of it {its} is added. Compare what is added alone.",
                ),
                Wrong(otherwise, "{picked} gets {its}. Another one gets more."),
            ),
            tell=keys.tell_added,
            needs=(UNPADDED, Need("there are more tokens than the page shows at once, or only one", keys.is_short)),
            at="residual",
            misconception="The longest vector is the one that changed most.",
            paper=OnPaper(
                text="The bars stand for lengths: what was there, and behind it what attention adds.",
                task="Ring the token to which attention adds most in this layer.",
            ),
            room=InRoom(
                text="Attention adds a vector to that of each token, a longer one at some than at others.",
                task="To which token does attention add most in layer {layer}?",
                shown=lambda tried: keys.tell_added(tried)["its"],
                below="how long what is added is",
            ),
        ),
        Step(
            "norm",
            "Normalize",
            "add_norm",
            "Norm: LayerNorm of {here}, the row “normalized”",
            "LayerNorm takes off the mean of the {width} components and divides by their standard deviation. Then "
            "their mean is 0, and the mean of their squares, the variance, is 1.",
            "How long is the normalized vector? Type it, to one decimal.",
            Number(0.1),
            keys.work_norm,
            hints=(
                "The length squared is the sum of all squares.",
                "The mean of the squares is 1, and there are {width} of them.",
            ),
            right="√{width}, {length}. The sum was {before} long: LayerNorm sets the length, and keeps the direction "
            "once the mean is taken off.",
            wrong=(
                Wrong(keys.is_one, "The mean of the squares is 1. The length has all {width} of them under the root."),
                Wrong(keys.is_square, "That is the length squared."),
                Wrong(otherwise, "Add up all squares: their mean is 1. Then take the root."),
            ),
            covers=("drawer",),
            needs=(Need("the numbers of the sum are all but equal here", keys.is_normal),),
            at="LayerNorm.normalized",
            misconception="Normalizing makes a vector of length 1.",
            paper=OnPaper(task="How long is the normalized vector? To one decimal."),
        ),
        Step(
            "moves",
            "Where tokens meet",
            "attention",
            "The map of the pass: what changes at {here}, after the run",
            "{word} is replaced by “{other}”, and every number that depends on it changes. The numbers of {here} are "
            "worked out step by step.",
            "Predict: where do the numbers of {here} change for the first time?",
            Choose(
                (
                    Option("In its embedding", "", "Its embedding is made from its own word, position and segment."),
                    Option("In its query, in layer 0", "", "Its query is worked out from its own vector alone."),
                    Option(
                        "In the attention output of layer 0",
                        "In the attention output, by up to {apart} in a component. Attention is the only place where "
                        "tokens meet: all else works on one token alone.",
                        "",
                    ),
                    Option(
                        "In the feed-forward of layer 0",
                        "",
                        "It changes there too, but not first: what it reads has already changed.",
                    ),
                ),
                run=keys.replace_word,
            ),
            keys.work_moves,
            hints=("Which of these read the numbers of other tokens?",),
            needs=(
                Need(f"besides the chosen token {LONG_WORD.lacks}", keys.has_other),
                Need(_NOT_REPLACED, keys.is_replaceable),
            ),
            at="map",
            misconception="Every step mixes the tokens.",
        ),
        Step(
            "neurons",
            "Feed-forward",
            "feed_forward",
            "All neurons of {here} on the curve",
            "The feed-forward network has {n} neurons. A neuron is active where its pre-activation is above 0.",
            "Predict: how many are active at {here} in layer {layer}?",
            Choose(
                (
                    Option(
                        "More than 75 %",
                        "{active} of {n}, {share}. Neuron {neuron} writes the longest vector, {length}.",
                        "Every neuron is worked out, but not nearly all pre-activations are above 0.",
                    ),
                    Option(
                        "25 to 75 %",
                        "{active} of {n}, {share}. Neuron {neuron} writes the longest vector, {length}.",
                        "It would be half if the pre-activations lay evenly around 0. Here they do not.",
                    ),
                    Option(
                        "Fewer than 25 %",
                        "{active} of {n}, {share}: most are not active here. Neuron {neuron} writes the longest "
                        "vector, {length}.",
                        "Training can make active neurons that rare. It did not here.",
                    ),
                ),
                once=True,
            ),
            keys.work_neurons,
            hints=("Where do most pre-activations lie, above 0 or below?",),
            covers=("page", "headline", "drawer"),
            at="intermediate.activation",
            misconception="All neurons take part in every token.",
        ),
        Step(
            "skip",
            "Without the residual",
            "predictions",
            "The list of predictions, after the run",
            "The residual connection carries a token’s own vector past attention. Now it is cut once, in layer {last}, "
            "the last one: there only what attention brings goes on.",
            "Predict: “{top}” leads at {here}. What leads then?",
            Choose(
                (
                    Option(
                        "“{top}”, as before",
                        "It still leads: {guesses}. What attention brings in the last layer is enough here.",
                        "One cut is enough: what the layers before had made came along the residual.",
                    ),
                    Option(
                        "Another one that stands in the sentence",
                        "Now {guesses}. What is left is only what attention brought from the tokens.",
                        "What attention brings from the tokens are values: that need not be their words.",
                    ),
                    Option(
                        "One that stands nowhere in the sentence",
                        "Now {guesses}. What is left is only what attention brought; of what the layers before had "
                        "made of this token that holds no more than it took from itself.",
                        "It could have been one. What is left is what attention brought from these tokens.",
                    ),
                ),
                run=keys.cut_residual,
            ),
            keys.work_skip,
            hints=("What is left is only what {here} collected from the tokens.",),
            needs=(LM_HEAD,),
            at="cls.predictions.probs",
            misconception="The residual is a technical detail for training.",
        ),
        Step(
            "when",
            "Layer by layer",
            "layers",
            "The answer, read after every layer",
            "The LM head can be asked after any layer. Before the first one “{top}”, the answer at {here}, is {rank} "
            "on its list.",
            "Which is the first layer after which “{top}” leads? Type its number; the layers are 0 to {last}.",
            Number(0),
            keys.work_when,
            hints=("The dark cells are “{top}”. Where do they reach the top row?",),
            right="After layer {layer} it {stays}. Just before it is {place}.",
            wrong=(
                Wrong(keys.is_no_layer, "The layers are 0 to {last}. Type one of these."),
                Wrong(keys.is_late, "It leads earlier than that."),
                Wrong(otherwise, "After layer {typed} another one leads: “{there}”."),
            ),
            tell=keys.tell_leader,
            covers=("headline", "drawer"),
            needs=(LM_HEAD, Need("the answer leads before the first layer already", keys.has_lead)),
            at="the LM head",
            misconception="The last layer finds the answer.",
            paper=OnPaper(
                task="Predict: after which layer, 0 to {last}, does “{top}” lead for the first time? Then look in the "
                "app, on the page Layers."
            ),
        ),
        Step(
            "own",
            "Your sentence",
            "layers",
            "The answer, read after every layer",
            "Is an easy blank filled early, and a hard one late?",
            "Write a sentence with one [MASK], and the layer after which you expect its answer to lead (0 to {last}; "
            "one off will do).",
            Write(
                "Your sentence",
                "The layer",
                keys.check_own,
                samples=lambda _: (("New [MASK] City is in the United States.", "0"),),
            ),
            keys.work_own,
            hints=("Try a fixed phrase, and a sentence that leaves much open.",),
            needs=(LM_HEAD,),
            at="the LM head",
            misconception="Every answer takes all layers.",
        ),
    ),
    draw_layer,
)
