"""The notebook: bert-base-uncased in PyTorch, cell by cell."""

# fmt: off
# Laid out by hand: a row of a table is a row here.

from __future__ import annotations

from bertviz_core.documents.places import OUT, SELF, Document, cells

_PLACES = (
    *cells("2", "the tokenizer", "tokenization", "input_ids"),
    *cells("3 4", "a text to ids, and back", "tokenization", "input_ids"),
    *cells("5 6 7 8", "the model and its tensors by name", "parameters"),
    *cells("9", "shape of the token embedding matrix", "parameters", "embeddings.word_embeddings.weight"),
    *cells("10 None", "the config and the sizes in it", "parameters"),
    *cells("12", "ids and segments of the sentence with [MASK]", "tokenization", "input_ids token_type_ids"),
    *cells("15", "the three tables, and the rows of the tokens", "embeddings", "embeddings.word_embeddings"),
    *cells("14 16", "the tokens' rows and their shape", "embeddings", "embeddings.word_embeddings"),
    *cells("21", "the positions' rows", "embeddings", "position_ids embeddings.position_embeddings"),
    *cells("25", "the segments' rows", "embeddings", "token_type_ids embeddings.token_type_embeddings"),
    *cells("26 27", "their sum", "embeddings", "embeddings.sum"),
    *cells("29", "LayerNorm, part by part", "add_norm",
            f"{OUT}LayerNorm.mean {OUT}LayerNorm.variance {OUT}LayerNorm.normalized {OUT}LayerNorm"),
    *cells("30 31", "the sum, normalized", "embeddings", "embeddings.LayerNorm"),
    *cells("32", "weights and biases of the first layer's attention", "parameters",
            " ".join(f"{SELF}{name}.{leaf}" for name in ("query", "key", "value") for leaf in ("weight", "bias"))),
    *cells("33", "queries, keys and values", "query_key_value", f"{SELF}query {SELF}key {SELF}value"),
    *cells("34 37 39", "the same, cut into heads", "query_key_value", f"{SELF}query {SELF}key {SELF}value"),
    *cells("40", "scaled dot-product attention in one call", "attention",
            f"{SELF}products {SELF}scaled {SELF}probs {SELF}context"),
    *cells("45 41", "the heads side by side", "attention_output", f"{SELF}context"),
    *cells("42 43 44", "output projection", "attention_output", f"{OUT}dense"),
    *cells("46 48", "first sum, normalized", "add_norm", f"{OUT}residual {OUT}LayerNorm",
            r"the cell leaves $\varepsilon$ at $10^{-5}$; shown with the checkpoint's own"),
    *cells("49 50", "the neurons before their activation", "feed_forward", "L.intermediate.dense"),
    *cells("51 52", "GELU", "feed_forward", "L.intermediate.activation"),
    *cells("53", "shape of the first feed-forward matrix", "parameters", "L.intermediate.dense.weight"),
    *cells("54", "back to the model's width", "feed_forward", "L.output.dense"),
    *cells("56", "second sum, normalized", "add_norm", "L.output.residual L.output.LayerNorm"),
    *cells("57 58", "all layers, one after the other", "layers", "L.output.LayerNorm"),
    *cells("59 60", "the language model head's projection", "predictions", "cls.predictions.transform.dense"),
    *cells("61 62", "its GELU and LayerNorm", "predictions",
            "cls.predictions.transform.activation cls.predictions.transform.LayerNorm"),
    *cells("63 64", "one score for every entry of the vocabulary", "predictions", "cls.predictions.decoder"),
    *cells("65 66", "the best entry at every position", "predictions", "cls.predictions.probs"),
    *cells("67 68", "the ids once more", "tokenization", "input_ids"),
    *cells("69", "the sentence that the best entries make", "predictions", "cls.predictions.probs"),
)

NOTEBOOK = Document(
    "001", "notebook", "The pass of bert-base-uncased in PyTorch, cell by cell.",
    r"BERT as released, without padding; one cell normalizes with an $\varepsilon$ of $10^{-5}$ where the others have "
    r"$10^{-12}$.", _PLACES)
