"""The notebook: bert-base-uncased in PyTorch, cell by cell."""

# fmt: off
# Laid out by hand: a row of a table is a row here.

from __future__ import annotations

from bertviz_core.documents.notebook_slips import NOTEBOOK_SLIPS
from bertviz_core.documents.places import OUT, SELF, Document, put, put_cells

_PLACES = (
    *put_cells("2", "the tokenizer", "tokenization", "input_ids"),
    *put_cells("3 4", "a text to ids, and back", "tokenization", "input_ids"),
    *put_cells("5 6 7 8", "the model and its tensors by name", "parameters"),
    *put_cells("9", "shape of the token embedding matrix", "parameters", "embeddings.word_embeddings.weight"),
    *put_cells("10 None", "the config and the sizes in it", "parameters"),
    *put_cells("12", "ids and segments of the sentence with [MASK]", "tokenization", "input_ids token_type_ids",
                "segment 0 for every token; BERT gives a second sentence segment 1"),
    *put_cells("15", "the three embedding matrices, and the tokens' rows", "embeddings", "embeddings.word_embeddings"),
    *put_cells("14 16", "the tokens' rows and their shape", "embeddings", "embeddings.word_embeddings"),
    *put_cells("21", "the positions' rows", "embeddings", "position_ids embeddings.position_embeddings"),
    *put_cells("25", "the segments' rows", "embeddings", "token_type_ids embeddings.token_type_embeddings"),
    *put_cells("26 27", "their sum", "embeddings", "embeddings.sum"),
    *put_cells("29", "LayerNorm, part by part", "add_norm",
                f"{OUT}LayerNorm.mean {OUT}LayerNorm.variance {OUT}LayerNorm.normalized {OUT}LayerNorm"),
    *put_cells("30 31", "the sum, normalized", "embeddings", "embeddings.LayerNorm"),
    *put_cells("32", "weights and biases of the first layer's attention", "parameters",
                " ".join(f"{SELF}{name}.{leaf}" for name in ("query", "key", "value") for leaf in ("weight", "bias"))),
    *put_cells("33", "queries, keys and values", "query_key_value", f"{SELF}query {SELF}key {SELF}value"),
    *put_cells("34 37 39", "the same, cut into heads", "query_key_value", f"{SELF}query {SELF}key {SELF}value"),
    *put_cells("40", "scaled dot-product attention in one call", "attention",
                f"{SELF}products {SELF}scaled {SELF}probs {SELF}context"),
    *put_cells("45 41", "concatenated heads", "attention_output", f"{SELF}context"),
    *put_cells("42 43 44", "output projection", "attention_output", f"{OUT}dense"),
    *put_cells("46 48", "first residual sum, normalized", "add_norm", f"{OUT}residual {OUT}LayerNorm",
                r"the cell uses $\varepsilon = 10^{-5}$; the app uses the checkpoint's own"),
    *put_cells("49 50", "pre-activations of the neurons", "feed_forward", "L.intermediate.dense"),
    *put_cells("51 52", "GELU", "feed_forward", "L.intermediate.activation"),
    *put_cells("53", "shape of the first feed-forward matrix", "parameters", "L.intermediate.dense.weight"),
    *put_cells("54", "back to the hidden size", "feed_forward", "L.output.dense"),
    *put_cells("56", "second residual sum, normalized", "add_norm", "L.output.residual L.output.LayerNorm"),
    *put_cells("57 58", "all layers, one after another", "layers", "L.output.LayerNorm"),
    *put_cells("59 60", "the LM head's projection", "predictions", "cls.predictions.transform.dense"),
    *put_cells("61 62", "its GELU and LayerNorm", "predictions",
                "cls.predictions.transform.activation cls.predictions.transform.LayerNorm"),
    *put_cells("63 64", "one logit for every vocabulary entry", "predictions", "cls.predictions.decoder"),
    *put_cells("65 66", "top prediction at every position", "predictions", "cls.predictions.probs"),
    *put_cells("67 68", "the ids once more", "tokenization", "input_ids"),
    *put_cells("69", "the top predictions as one sentence", "predictions", "cls.predictions.probs"),
)

_OTHERS = (
    put("picture all-steps", "the whole pass", "overview"),
    put("picture embedding_layers", "ids to embeddings", "embeddings"),
    put("picture embeddings_output", "one row per token", "embeddings"),
    put("pictures layer_norm and embeding_norm1", "the sum, normalized", "embeddings"),
    put("picture qkv", "queries, keys and values", "query_key_value"),
    put("picture 12self_attention", "all layers", "layers"),
)

NOTEBOOK = Document(
    "001", "notebook", "PyTorch, cell by cell",
    "The forward pass of bert-base-uncased in PyTorch, cell by cell.",
    r"BERT as released for one sentence of twelve tokens: all segments are 0, no padding mask; one cell normalizes "
    r"with $\varepsilon = 10^{-5}$, the others with $10^{-12}$.", _PLACES, NOTEBOOK_SLIPS, _OTHERS)
