"""What everything is called: our symbols and addresses beside the names of five documents and three code bases."""

from bertviz_core.ui.frame.shell import end, page
from bertviz_core.ui.views import notation

view = page(
    "notation",
    "One quantity has many names. Here is every step, parameter and axis of the pass: its symbol and address in this "
    "explorer, and what five documents, Hugging Face, TransformerLens and the original TensorFlow code call it.",
)
notation.lengths(view)
notation.differences()
text, kind = notation.search()
notation.entries(view, text, kind)
end("notation")
