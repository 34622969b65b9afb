"""The definition: BERT with column vectors, and pseudocode for the pass and for training."""

# fmt: off
# Laid out by hand: a row of a table is a row here.

from __future__ import annotations

from bertviz_core.documents.definition_slips import DEFINITION_SLIPS
from bertviz_core.documents.places import OUT, SELF, Document, put

_PLACES = (
    put("$z,x\\in V^*$", "the input as vocabulary entries", "tokenization", "input_ids",
        "the algorithm reads $x$ alone"),
    put(r"$\ell_{\max}, L, H, d_e, d_{\mathrm{MLP}}, d_f$", "the sizes", "parameters"),
    put(r"$W_e\in \mathbb{R}^{d_e,\lvert V\rvert}$", "token embedding matrix, one column per token", "parameters",
        "embeddings.word_embeddings.weight", "one row per token here"),
    put(r"$W_p\in\mathbb{R}^{d_e,\ell_{\max}}$", "position embedding matrix, one column per position", "parameters",
        "embeddings.position_embeddings.weight", "one row per position here"),
    put(r"$\mathcal{W}^l$", "parameters of the attention in layer $l$", "parameters",
        f"{SELF}query.weight {SELF}key.weight {SELF}value.weight {OUT}dense.weight"),
    put(r"$\gamma^l_r,\beta^l_r$", "parameters of a layer's two LayerNorms", "parameters",
        f"{OUT}LayerNorm.weight {OUT}LayerNorm.bias L.output.LayerNorm.weight L.output.LayerNorm.bias"),
    put("$W_1^l, b_1^l$", "first feed-forward matrix and bias", "parameters",
        "L.intermediate.dense.weight L.intermediate.dense.bias"),
    put("$W_2^l, b_2^l$", "second feed-forward matrix and bias", "parameters",
        "L.output.dense.weight L.output.dense.bias"),
    put("$W_f, b_f$", "the LM head's projection", "parameters",
        "cls.predictions.transform.dense.weight cls.predictions.transform.dense.bias"),
    put(r"$\gamma,\beta$", "the LM head's LayerNorm", "parameters",
        "cls.predictions.transform.LayerNorm.weight cls.predictions.transform.LayerNorm.bias"),
    put("$W_u$", "unembedding matrix", "parameters", "cls.predictions.decoder.weight"),
    put(r"$P\in (0,1)^{\lvert V\rvert,\lvert x\rvert}$", "a distribution over the vocabulary at every position",
        "predictions", "cls.predictions.probs"),
    put(r"E-Transformer: $X_{:,j}\gets (W_e)_{:,x_j}+(W_p)_{:,j}$", "embedding", "embeddings", "embeddings.sum",
        "BERT adds the segment and normalizes"),
    put(r"E-Transformer: for $l=1,\ldots,L$", "layer after layer", "layers", "L.output.LayerNorm"),
    put(r"E-Transformer: $X\gets X + \mathrm{MultiHeadAttention}(X,X\vert\mathcal{W}^l,1)$", "attention output, added",
        "add_norm", f"{OUT}dense {OUT}residual"),
    put(r"E-Transformer: $\mathrm{ColwiseLayerNorm}(X\vert\gamma^l_1,\beta^l_1)$", "first LayerNorm", "add_norm",
        f"{OUT}LayerNorm"),
    put(r"E-Transformer: $X \gets X+W_2^l\cdot \mathrm{Gelu}(W_1^l X+b^l_1 1^\top)+b^l_2 1^\top$",
        "feed-forward output, added to its input", "feed_forward",
        "L.intermediate.dense L.intermediate.activation L.output.dense L.output.residual"),
    put(r"E-Transformer: $\mathrm{ColwiseLayerNorm}(X\vert\gamma^l_2,\beta^l_2)$", "second LayerNorm", "add_norm",
        "L.output.LayerNorm"),
    put(r"E-Transformer: $X \gets \mathrm{Gelu}(W_f X+b_f 1^\top)$", "the LM head's projection and GELU", "predictions",
        "cls.predictions.transform.dense cls.predictions.transform.activation"),
    put(r"E-Transformer: $\mathrm{ColwiseLayerNorm}(X\vert\gamma,\beta)$", "the LM head's LayerNorm", "predictions",
        "cls.predictions.transform.LayerNorm"),
    put(r"E-Transformer: $P=\mathrm{softmax}(W_u X)$", "logits and probabilities", "predictions",
        "cls.predictions.decoder cls.predictions.probs", "BERT adds a bias"),
    put(r"$\mathrm{gelu}(x):=x\cdot P_{X\sim\mathcal{N}(0,1)}(X<x)$", "GELU by the normal distribution",
        "feed_forward", "L.intermediate.activation"),
    put(r"E-Training: for $t=1,\ldots,T$, for $i=1,\ldots,n$, for $j$", "training loops over all texts", "training"),
    put(r"E-Training: $\hat{x}^i_j \gets$ mask token with probability $p_{\mathrm{mask}}$, otherwise $x^i_j$",
        "tokens are masked",
        "training", "", "special tokens never are; a draw that masks nothing is drawn again"),
    put(r"E-Training: $P(\theta)\gets$ E-Transformer$(\hat{x}^i\vert\theta)$", "a forward pass over the masked text",
        "training", "cls.predictions.probs", "BERT as released can be trained instead"),
    put(r"E-Training: $J(\theta)\gets -\sum_j \log P(\theta)_{x^i_j,j} [\hat{x}^i_j = \mathrm{mask}]$", "the loss",
        "training", "", "the app sums over the hidden words, and shows both sums where a text holds the mask token"),
    put(r"E-Training: $\theta \gets \theta -\eta\cdot\nabla J(\theta)$", "a step of gradient descent", "training"),
    put(r"E-Training: return $\hat\theta=\theta$", "the trained parameters", "training"),
)

_OTHERS = (
    put(r"$V\cong\lbrace 1,\dots,\lvert V\rvert\rbrace$", "the vocabulary; ids begin with 0 here", "tokenization"),
    put(r"$V^*$, $\Delta(V^*)$, $P\in\Delta(V^*)$", "all texts, and a distribution over them", "tokenization"),
    put(r"$(x^i)_{i\in[n]}\sim P$, $n$", "the texts to train on", "training"),
    put(r"$\hat{P}$, $\hat{P}_{\theta}$, $P_{ij}=\hat{P}_{\theta}(x_j)$", "what the model estimates", "predictions"),
    put(r"$\theta$", "all parameters", "parameters"),
    put(r"$z$", "a second input, which nothing reads", "tokenization"),
    put(r"$\ell_{\max}\in\mathbb{N}$", "the most positions", "parameters"),
    put(r"$L\in\mathbb{N}$, $l\in[L]$", "the layers", "parameters"),
    put(r"$H\in\mathbb{N}$", "the heads", "parameters"),
    put(r"$d_e\in\mathbb{N}$", "the hidden size", "parameters"),
    put(r"$d_{\mathrm{MLP}}\in\mathbb{N}$", "the feed-forward network's size", "parameters"),
    put(r"$d_f\in\mathbb{N}$", "the LM head's size", "parameters"),
    put(r"$r\in\lbrace 1,2\rbrace$", "the two LayerNorms of a layer", "add_norm"),
    put(r"$T\in\mathbb{N}$, $\eta\in(0,\infty)$, $p_{\mathrm{mask}}\in(0,1)$",
        "settings of the training", "training"),
)

DEFINITION = Document(
    "002", "definition", "column vectors, pseudocode",
    "A definition with column vectors, and pseudocode for the forward pass and for training.",
    "No segments, no LayerNorm on the embeddings, no padding mask, GELU always by the normal distribution, no bias in "
    "the unembedding; every matrix is the transpose of ours.",
    _PLACES, DEFINITION_SLIPS, _OTHERS)
