"""The forward-pass note: BERT as formulas, with row vectors and one matrix for each head."""

# fmt: off
# Laid out by hand: a row of a table is a row here.

from __future__ import annotations

from bertviz_core.documents.note_slips import NOTE_SLIPS
from bertviz_core.documents.places import OUT, RELU, SELF, Document, put

TOKENS = 512  # of every input, as the note prints it

_FROM_X = "the note adds the input embeddings $X$ in every layer; the app adds the layer's own input, like BERT"
_BIAS = "BERT adds a bias"

_PLACES = (
    put("$W_T$", "token embedding matrix", "parameters", "embeddings.word_embeddings.weight"),
    put("$W_P$", "position embedding matrix", "parameters", "embeddings.position_embeddings.weight"),
    put(r"$h \in \lbrace 1,\ldots,n_{heads}\rbrace$", "the heads", "heads", f"{SELF}probs", "counted from 0 here"),
    put(r"$l \in \lbrace 1,\ldots,n_{layers}\rbrace$", "the layers", "layers", "L.output.LayerNorm",
        "counted from 0 here"),
    put("$W_{h,l}^Q$", "query weights, one matrix per head", "parameters", f"{SELF}query.weight"),
    put("$W_{h,l}^K$", "key weights, one matrix per head", "parameters", f"{SELF}key.weight"),
    put("$W_{h,l}^V$", "value weights, one matrix per head", "parameters", f"{SELF}value.weight"),
    put("$W_l^{ffnn}$", "first feed-forward matrix", "parameters", "L.intermediate.dense.weight"),
    put("$b_l^{ffnn}$", "first feed-forward bias", "parameters", "L.intermediate.dense.bias"),
    put("$W_l^{out}$", "second feed-forward matrix", "parameters", "L.output.dense.weight"),
    put("$b_l^{out}$", "second feed-forward bias", "parameters", "L.output.dense.bias"),
    put("$W^{final}$", "matrix of the last linear layer", "parameters", "pooler.dense.weight"),
    put(r"$I=(i_1,\ldots,i_{512})$", "token ids", "tokenization", "input_ids"),
    put(r"$T=\mathrm{lookup}(W_T,I)$", "token embeddings looked up by id", "embeddings", "embeddings.word_embeddings"),
    put("$X = T + W_P$", "token plus position", "embeddings", "embeddings.sum", "BERT adds the segment too"),
    put("$Z_0=X$", "input of the first layer", "embeddings", "embeddings.LayerNorm", "BERT normalizes it first"),
    put("For $l$, for $h$", "every layer, and in it every head", "overview", "L.output.LayerNorm",
        "the app shows one layer in full"),
    put("$Q_{h,l}=Z_{l-1} W_{h,l}^{Q}$", "queries", "query_key_value", f"{SELF}query", _BIAS),
    put("$K_{h,l}=Z_{l-1} W_{h,l}^{K}$", "keys", "query_key_value", f"{SELF}key", _BIAS),
    put("$V_{h,l}=Z_{l-1} W_{h,l}^{V}$", "values", "query_key_value", f"{SELF}value", _BIAS),
    put(r"$A_{h,l} = \mathrm{Softmax}(\frac{Q_{h,l}K_{h,l}^T}{\sqrt{d_k}})$", "attention weights", "attention",
        f"{SELF}products {SELF}scaled {SELF}probs"),
    put("$Z_{h,l} = A_{h,l}V_{h,l}$", "head output: weighted sum of values", "attention_output", f"{SELF}context"),
    put(r"$\tilde{Z}_l = \mathrm{concat}(Z_{1,l},\ldots,Z_{n_{heads},l})$", "concatenated heads",
        "attention_output", f"{SELF}context"),
    put(r"$\bar{Z}_l = \mathrm{LayerNorm}(X+\tilde{Z}_l)$", "first residual sum, normalized", "add_norm",
        f"{OUT}residual {OUT}LayerNorm", _FROM_X),
    put(r"$Z_l^{ffnn}=\max(0, \bar{Z}_l W_l^{ffnn}+b_l^{ffnn})$", "first half of the feed-forward network",
        "feed_forward", "L.intermediate.dense L.intermediate.activation", RELU),
    put("$Z_l^{out} = Z_l^{ffnn} W_l^{out} + b_l^{out}$", "second half of the feed-forward network", "feed_forward",
        "L.output.dense"),
    put(r"$Z_l = \mathrm{LayerNorm}(X+Z_l^{out})$", "second residual sum, normalized", "add_norm",
        "L.output.residual L.output.LayerNorm", _FROM_X),
    put(r"$\tanh(W^{final} Z_{n_{layers}}[0,:])$", "the first token's last vector, for classification", "sentence",
        "pooler.dense pooler.activation"),
    put(r"$\mathrm{Softmax}$ that predicts the class", "a probability for each class", "sentence",
        "classifier classifier.probs", "for checkpoints that have a classifier"),
)

_OTHERS = (
    put(r"$d, d_q, d_k, d_v, d_{ffnn}, n_{heads}, n_{layers}$, max input length", "the sizes of BERT base", "notebook"),
    put(r"vocab size", "the rows of $W_T$; no number is printed", "parameters"),
)

NOTE = Document(
    "000", "forward-pass note", "formulas, with one matrix a head",
    "The forward pass as formulas, with row vectors and one matrix for each head.",
    "No segments, no LayerNorm on the embeddings, no bias for queries, keys and values, no output matrix $W^O$, no "
    "padding mask, ReLU for GELU, no bias in the pooler, and every residual connection adds the input embeddings $X$.",
    _PLACES, NOTE_SLIPS, _OTHERS)
