"""What comes out: the vocabulary's probabilities at one position, the next sentence, the classes."""

import streamlit as st

from bertviz_core.ui import predictions
from bertviz_core.ui.shell import end, page

view = page(
    "predictions",
    "The last layer's vectors are turned into answers. The language model head compares a token's vector with every "
    r"entry of the vocabulary; the pooler reads \[CLS\] for answers about the whole input.",
)
predictions.absent_heads(view)
if "cls.predictions.probs" in view.trace:
    st.header("Which word stands here?", anchor=False)
    predictions.masked_language_model(view)
if "pooler.dense" in view.trace:
    st.header("What about the input as a whole?", anchor=False)
    predictions.whole_input(view)
if "classifier" in view.trace:
    st.header("Which class?", anchor=False)
    predictions.classes(view)
end("predictions")
