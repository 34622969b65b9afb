"""The encoder article: the Transformer's encoder with worked examples."""

# fmt: off
# Laid out by hand: a row of a table is a row here.

from __future__ import annotations

from bertviz_core.documents.article_slips import ARTICLE_SLIPS
from bertviz_core.documents.places import (
    OUT,
    RELU,
    SELF,
    Document,
    place_attention,
    place_head,
    place_heads,
    put,
)

_OWN_NUMBERS = "with the numbers of your sentence"
_STAND_IN = "the printed components of the embeddings are used as $v$"
_DROPOUT = "a trained model runs without dropout; the app shows the sum without it"

_PLACES = (
    put("Notation: emb_dim, input_length, hidden_dim, vocab_size", "names of the sizes", "notation", "input_ids"),
    put("Information Flow, steps 1 to 3", "the whole forward pass, with its shapes", "overview",
        "embeddings.LayerNorm L.output.LayerNorm"),
    put("Tokenization: “Hello, how are you?”", "a text split into tokens", "tokenization", "input_ids", _OWN_NUMBERS),
    put(r"Numericalization: $\to [34, 90, 15, 684, 55, 193]$", "tokens to ids", "tokenization", "input_ids",
        _OWN_NUMBERS),
    put(r"$34 \to E[34] = [123.4, 0.32, \ldots, 94, 32]$ and five more", "one row of the table for each id",
        "embeddings", "embeddings.word_embeddings.weight embeddings.word_embeddings", _OWN_NUMBERS),
    put("The matrix $Z$ (input_length × emb_dim)", "the rows as a matrix", "embeddings", "embeddings.word_embeddings",
        _OWN_NUMBERS),
    put(r"Padding: $[5, 5, 5, 34, 90, 15, 684, 55, 193]$", "inputs padded to one length", "tokenization",
        "input_ids attention_mask", "BERT pads after the text, the article before it"),
    put("$Z + P$", "a position added to each row", "embeddings", "embeddings.sum", "BERT's positions are learned"),
    put(r"$p_{i,j} = \sin(i/10000^{j/d}), \cos(i/10000^{(j-1)/d})$", "sinusoidal positions", "embeddings",
        "embeddings.position_embeddings", "beside the learned ones, which BERT uses instead"),
    put("The matrix $P$ of six positions", "sinusoidal positions of a sentence", "playground",
        "embeddings.position_embeddings", "for any length and width; BERT learns its positions instead"),
    put("$X = Z + P$", "input of the first block", "embeddings", "embeddings.sum embeddings.LayerNorm",
        "BERT adds the segment and normalizes"),
    place_heads(r"$\mathrm{MultiHead}(Q, K, V) = \mathrm{Concat}(\mathrm{head}_1, \ldots, \mathrm{head}_h) W^O$"),
    place_head(r"$\mathrm{head}_i = \mathrm{Attention}(QW_i^Q, KW_i^K, VW_i^V)$"),
    *(put(f"$W_i^{letter}$ with its dimensions", f"{name} weights of one head", "parameters", f"{SELF}{name}.weight")
      for letter, name in (("K", "key"), ("Q", "query"), ("V", "value"))),
    *(put(f"$XW_i^{letter} = {letter}_i$", what, "query_key_value", f"{SELF}{name}", "BERT adds a bias")
      for letter, name, what in (("K", "key", "keys"), ("Q", "query", "queries"), ("V", "value", "values"))),
    put(r"$d_k = d_v = \mathrm{embdim}/h$", "size of a head", "parameters", f"{SELF}query.weight"),
    place_attention(r"$\mathrm{Attention}(Q, K, V) = \mathrm{softmax}(\frac{QK^T}{\sqrt{d_k}})V$"),
    put("$Q_i K_i^T$", "dot product of every query with every key", "attention", f"{SELF}products"),
    put(r"$v_i u_j = \cos(v_i, u_j) \lVert v_i\rVert_2 \lVert u_j\rVert_2$", "a dot product from angle and lengths",
        "attention", f"{SELF}query {SELF}key {SELF}products"),
    put(r"$\mathrm{Softmax}(\frac{Q_i K_i^T}{\sqrt{d_k}})$", "attention weights", "attention",
        f"{SELF}scaled {SELF}probs"),
    put("Six by six numbers before the softmax", "attention scores, row by row", "playground",
        f"{SELF}scaled {SELF}scores"),
    put("Six by six numbers after the softmax", "attention weights; each row sums to 1", "playground", f"{SELF}probs",
        "one of the 36 is wrong, and seven ones are printed beside six rows"),
    put(r"$\mathrm{Softmax}(\frac{Q_i K_i^T}{\sqrt{d_k}}) V_i$", "values weighted by attention", "attention_output",
        f"{SELF}context"),
    put("Example 1: $[0,0,0,0,1,0]$", "all attention on one token", "playground",
        f"{SELF}probs {SELF}context"),
    put("Example 1: the product with $v$", "the result is that token's value", "playground", f"{SELF}context",
        _STAND_IN),
    put("Example 2: $[0.1, 0, 0.06, 0.1, 0.6, 0.14]$", "attention on several tokens", "playground",
        f"{SELF}probs {SELF}context"),
    put("Example 2: the product with $v$", "each row is a weighted sum", "playground", f"{SELF}context", _STAND_IN),
    put("Example 2: $0.1v_{Hello} + 0v_{,} + 0.06v_{how} + 0.1v_{are} + 0.6v_{you} + 0.14v_{?}$",
        "the weighted sum of one token", "playground", f"{SELF}context", _STAND_IN),
    put(r"$V_{Hello,1} = 0.1v_{Hello} + \ldots$", "the same for head 1", "attention_output", f"{SELF}context",
        _OWN_NUMBERS),
    put(r"$\mathrm{Concat}(V_1, V_2, \ldots, V_h)W_0$", "attention output of that token", "attention_output",
        f"{OUT}dense"),
    put(r"$\mathrm{FFN}(x) = \max(0, xW_1 + b_1)W_2 + b_2$", "the feed-forward network", "feed_forward",
        "L.intermediate.dense L.intermediate.activation L.output.dense", RELU),
    put(r"$\mathrm{Dropout}(\mathrm{Sublayer}(x))$", "10 % of the numbers set to 0 in training", "add_norm",
        f"{OUT}residual", _DROPOUT),
    put(r"$x + \mathrm{Dropout}(\mathrm{Sublayer}(x))$", "residual sum: input plus sub-layer output", "add_norm",
        f"{OUT}residual L.output.residual", _DROPOUT),
    put(r"$\mathrm{LayerNorm}(x + \mathrm{Dropout}(\mathrm{Sublayer}(x)))$", "the residual sum, normalized", "add_norm",
        f"{OUT}LayerNorm L.output.LayerNorm", _DROPOUT),
)

_OTHERS = (
    put("Figure 1", "the encoder", "overview"),
    put("Figure 2", "its data flow", "overview"),
    put("Figure 3", "the place of tokens, ids and embeddings", "tokenization"),
    put("Figure 4", "the place of the positions", "embeddings"),
    put("Figure 5", "an encoder block", "layers"),
    put("Figure 6", "the place of attention", "attention"),
    put("Figure 7", "the heads beside each other, and their concatenation", "attention_output"),
    put("Figure 8", "scaled dot-product attention", "attention"),
    put("Figures 9 and 10", "the feed-forward network", "feed_forward"),
    put("Figure 11", "the place of dropout, sum and LayerNorm", "add_norm"),
)

ARTICLE = Document(
    "004", "encoder article", "the Transformer, with examples",
    "The Transformer's encoder with worked examples.",
    "Sinusoidal positions, ReLU, dropout, padding before the text; no segments, no LayerNorm on the embeddings, no "
    "bias for queries, keys, values and attention output, no padding mask.", _PLACES, ARTICLE_SLIPS, _OTHERS)
