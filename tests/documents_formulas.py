"""What every place of the documents computes, and from what: written down from the documents, by hand.

A row is `result <- operands`, clauses parted by a semicolon; `= addresses` is what is only declared; nothing stands for
what no step computes: a size, a loop, a text, an example in numbers, training. An address begins with `L.` in the first
layer, `M.` in the second, `Y.` in the last but one, `Z.` in the last; `.*` is a weight with its bias.
"""

SELF = "L.attention.self."
PROJECTIONS = " ".join(f"{SELF}{name}" for name in ("query", "key", "value"))
MATRICES = " ".join(f"{SELF}{name}.weight" for name in ("query", "key", "value"))
LINEAR = " ".join(f"{SELF}{name}.*" for name in ("query", "key", "value"))  # with their biases
FIRST = "single_layer."  # the notebook's first layer once more
WORD = "embeddings.word_embeddings <- embeddings.word_embeddings.weight input_ids"
POSITION = "embeddings.position_embeddings <- embeddings.position_embeddings.weight position_ids"
SEGMENT = "embeddings.token_type_embeddings <- embeddings.token_type_embeddings.weight input_ids"  # of the ids: zeros
SUM = "embeddings.sum <- embeddings.word_embeddings embeddings.position_embeddings"
THREE = f"{SUM} embeddings.token_type_embeddings"
NORMAL = "embeddings.LayerNorm <- embeddings.sum embeddings.LayerNorm.*"
HEADS = f"{SELF}heads <- {PROJECTIONS}"
AVERAGE = f"{SELF}heads <- {SELF}probs {SELF}value"
CONCAT = f"{SELF}context <- {SELF}heads"

NOTE = {
    "$W_T$": "= embeddings.word_embeddings.weight",
    "$W_P$": "= embeddings.position_embeddings.weight",
    r"$h \in \lbrace 1,\ldots,n_{heads}\rbrace$": "",
    r"$l \in \lbrace 1,\ldots,n_{layers}\rbrace$": "",
    **{f"$W_{{h,l}}^{letter}$": f"= {SELF}{name}.weight"
       for letter, name in (("Q", "query"), ("K", "key"), ("V", "value"))},
    "$W_l^{ffnn}$": "= L.intermediate.dense.weight",
    "$b_l^{ffnn}$": "= L.intermediate.dense.bias",
    "$W_l^{out}$": "= L.output.dense.weight",
    "$b_l^{out}$": "= L.output.dense.bias",
    "$W^{final}$": "= pooler.dense.weight",
    r"$I=(i_1,\ldots,i_{512})$": "= input_ids",
    r"$T=\mathrm{lookup}(W_T,I)$": WORD,
    "$X = T + W_P$": "embeddings.sum <- embeddings.word_embeddings embeddings.position_embeddings.weight position_ids",
    "$Z_0=X$": "encoder.input <- embeddings.sum",
    "For $l$, for $h$": "",
    **{f"${letter}_{{h,l}}=Z_{{l-1}} W_{{h,l}}^{{{letter}}}$": f"{SELF}{name} <- encoder.input {SELF}{name}.weight; "
       f"M.attention.self.{name} <- L.output.LayerNorm M.attention.self.{name}.weight"
       for letter, name in (("Q", "query"), ("K", "key"), ("V", "value"))},
    r"$A_{h,l} = \mathrm{Softmax}(\frac{Q_{h,l}K_{h,l}^T}{\sqrt{d_k}})$": f"{SELF}probs <- {SELF}query {SELF}key",
    "$Z_{h,l} = A_{h,l}V_{h,l}$": AVERAGE,
    r"$\tilde{Z}_l = \mathrm{concat}(Z_{1,l},\ldots,Z_{n_{heads},l})$": CONCAT,
    r"$\bar{Z}_l = \mathrm{LayerNorm}(X+\tilde{Z}_l)$":
        f"L.attention.output.LayerNorm <- embeddings.sum {SELF}context L.attention.output.LayerNorm.*; "
        "M.attention.output.LayerNorm <- embeddings.sum M.attention.self.context M.attention.output.LayerNorm.*",
    r"$Z_l^{ffnn}=\max(0, \bar{Z}_l W_l^{ffnn}+b_l^{ffnn})$":
        "L.intermediate.activation <- L.attention.output.LayerNorm L.intermediate.dense.*",
    "$Z_l^{out} = Z_l^{ffnn} W_l^{out} + b_l^{out}$": "L.output.dense <- L.intermediate.activation L.output.dense.*",
    r"$Z_l = \mathrm{LayerNorm}(X+Z_l^{out})$":
        "L.output.LayerNorm <- embeddings.sum L.output.dense L.output.LayerNorm.*; "
        "M.output.LayerNorm <- embeddings.sum M.output.dense M.output.LayerNorm.*",
    r"$\tanh(W^{final} Z_{n_{layers}}[0,:])$": "pooler.activation <- Z.output.LayerNorm pooler.dense.weight",
    r"$\mathrm{Softmax}$ that predicts the class":
        "cls.seq_relationship.probs <- pooler.activation cls.seq_relationship.*",
}  # fmt: skip

_CELLS = {
    "2": "", "3": "", "4": "", "5": "", "6": "", "7": "", "8": "", "10": "", "None": "",
    "9": "= embeddings.word_embeddings.weight",
    "12": SEGMENT,
    "15": WORD, "14": WORD, "16": WORD,
    "21": POSITION, "25": SEGMENT, "26": THREE, "27": THREE,
    "29": f"{NORMAL}; embeddings.LayerNorm.mean <- embeddings.sum; embeddings.LayerNorm.variance <- embeddings.sum",
    "30": NORMAL, "31": NORMAL,
    "32": f"= {LINEAR}",
    **dict.fromkeys(("33", "34", "37", "39"), "; ".join(
        f"{SELF}{name} <- embeddings.LayerNorm {SELF}{name}.*" for name in ("query", "key", "value"))),
    "40": HEADS, "41": CONCAT, "45": CONCAT,
    **dict.fromkeys(("42", "43", "44"), f"L.attention.output.dense <- {SELF}context L.attention.output.dense.*"),
    **dict.fromkeys(("46", "48"), f"{FIRST}attention.output.LayerNorm <- L.attention.output.dense embeddings.LayerNorm "
                    "L.attention.output.LayerNorm.*"),
    **dict.fromkeys(("49", "50"), f"{FIRST}intermediate.dense <- {FIRST}attention.output.LayerNorm "
                    "L.intermediate.dense.*"),
    **dict.fromkeys(("51", "52"), f"{FIRST}intermediate.activation <- {FIRST}intermediate.dense"),
    "53": "= L.intermediate.dense.weight",
    "54": f"{FIRST}output.dense <- {FIRST}intermediate.activation L.output.dense.*",
    "56": f"{FIRST}output.LayerNorm <- {FIRST}output.dense {FIRST}attention.output.LayerNorm L.output.LayerNorm.*",
    **dict.fromkeys(("57", "58"), "M.output.LayerNorm <- L.output.LayerNorm " + " ".join(
        f"M.{leaf}.*" for leaf in ("attention.self.query", "attention.self.key", "attention.self.value",
                                   "attention.output.dense", "attention.output.LayerNorm", "intermediate.dense",
                                   "output.dense", "output.LayerNorm"))
        + "; L.output.LayerNorm <- L.output.dense L.attention.output.LayerNorm L.output.LayerNorm.*"),
    **dict.fromkeys(("59", "60"), "cls.predictions.transform.dense <- Z.output.LayerNorm "
                    "cls.predictions.transform.dense.*"),
    **dict.fromkeys(("61", "62"), "cls.predictions.transform.LayerNorm <- cls.predictions.transform.dense "
                    "cls.predictions.transform.LayerNorm.*"),
    **dict.fromkeys(("63", "64"), "cls.predictions.decoder <- cls.predictions.transform.LayerNorm "
                    "cls.predictions.decoder.*"),
    **dict.fromkeys(("65", "66", "69"), "cls.predictions.argmax <- cls.predictions.decoder"),
    "67": "= input_ids", "68": "= input_ids",
}  # fmt: skip
NOTEBOOK = {f"`In [{number}]`": row for number, row in _CELLS.items()}

_TRANSFORM = "cls.predictions.transform"
_UNEMBED = f"cls.predictions.probs <- {_TRANSFORM}.LayerNorm cls.predictions.decoder.weight"
DEFINITION = {
    r"$z,x\in V^*$": "= input_ids",
    r"$\ell_{\max}, L, H, d_e, d_{\mathrm{MLP}}, d_f$": "",
    r"$W_e\in \mathbb{R}^{d_e,\lvert V\rvert}$": "= embeddings.word_embeddings.weight",
    r"$W_p\in\mathbb{R}^{d_e,\ell_{\max}}$": "= embeddings.position_embeddings.weight",
    r"$\mathcal{W}^l$": f"= {LINEAR} L.attention.output.dense.*",
    r"$\gamma^l_r,\beta^l_r$": "= L.attention.output.LayerNorm.* L.output.LayerNorm.*",
    "$W_1^l, b_1^l$": "= L.intermediate.dense.*",
    "$W_2^l, b_2^l$": "= L.output.dense.*",
    "$W_f, b_f$": f"= {_TRANSFORM}.dense.*",
    r"$\gamma,\beta$": f"= {_TRANSFORM}.LayerNorm.*",
    "$W_u$": "= cls.predictions.decoder.weight",
    r"$P\in (0,1)^{\lvert V\rvert,\lvert x\rvert}$": _UNEMBED,
    r"E-Transformer: $X_{:,j}\gets (W_e)_{:,x_j}+(W_p)_{:,j}$":
        "embeddings.sum <- embeddings.word_embeddings.weight input_ids "
        "embeddings.position_embeddings.weight position_ids",
    r"E-Transformer: for $l=1,\ldots,L$": "",
    r"E-Transformer: $X\gets X + \mathrm{MultiHeadAttention}(X,X\vert\mathcal{W}^l,1)$":
        f"L.attention.output.residual <- embeddings.sum {LINEAR} L.attention.output.dense.*",
    r"E-Transformer: $\mathrm{ColwiseLayerNorm}(X\vert\gamma^l_1,\beta^l_1)$":
        "L.attention.output.LayerNorm <- L.attention.output.residual L.attention.output.LayerNorm.*",
    r"E-Transformer: $X \gets X+W_2^l\cdot \mathrm{Gelu}(W_1^l X+b^l_1 1^\top)+b^l_2 1^\top$":
        "L.output.residual <- L.attention.output.LayerNorm L.intermediate.dense.* L.output.dense.*",
    r"E-Transformer: $\mathrm{ColwiseLayerNorm}(X\vert\gamma^l_2,\beta^l_2)$":
        "L.output.LayerNorm <- L.output.residual L.output.LayerNorm.*; "
        "M.attention.self.query <- L.output.LayerNorm M.attention.self.query.*",
    r"E-Transformer: $X \gets \mathrm{Gelu}(W_f X+b_f 1^\top)$":
        f"{_TRANSFORM}.activation <- Z.output.LayerNorm {_TRANSFORM}.dense.*",
    r"E-Transformer: $\mathrm{ColwiseLayerNorm}(X\vert\gamma,\beta)$":
        f"{_TRANSFORM}.LayerNorm <- {_TRANSFORM}.activation {_TRANSFORM}.LayerNorm.*",
    r"E-Transformer: $P=\mathrm{softmax}(W_u X)$": _UNEMBED,
    r"$\mathrm{gelu}(x):=x\cdot P_{X\sim\mathcal{N}(0,1)}(X<x)$":
        f"L.intermediate.activation <- L.intermediate.dense; {_TRANSFORM}.activation <- {_TRANSFORM}.dense",
    r"E-Training: for $t=1,\ldots,T$, for $i=1,\ldots,n$, for $j$": "",
    r"E-Training: $\hat{x}^i_j \gets$ mask token with probability $p_{\mathrm{mask}}$, otherwise $x^i_j$": "",
    r"E-Training: $P(\theta)\gets$ E-Transformer$(\hat{x}^i\vert\theta)$": _UNEMBED,
    r"E-Training: $J(\theta)\gets -\sum_j \log P(\theta)_{x^i_j,j} [\hat{x}^i_j = \mathrm{mask}]$": "",
    r"E-Training: $\theta \gets \theta -\eta\cdot\nabla J(\theta)$": "",
    r"E-Training: return $\hat\theta=\theta$": "",
}  # fmt: skip

_OUT = "L.attention.output.dense"
_MULTI_HEAD = f"{_OUT} <- {SELF}heads {_OUT}.*"


def _write_block(x: str, at: str) -> str:
    """f_E with all that stands inside it, of x, in the layer `at`."""
    out = f"{at}.attention.output.dense"
    matrices = " ".join(f"{at}.attention.self.{name}.weight" for name in ("query", "key", "value"))
    return "; ".join(
        (
            f"{at}.output.residual <- {out} {x} {at}.output.dense",
            f"{at}.attention.LayerNorm <- {x} {at}.attention.output.LayerNorm.*",
            f"{out} <- {at}.attention.LayerNorm {matrices} {out}.*",
            f"{at}.attention.output.residual <- {at}.attention.LayerNorm {out} {x}",
            f"{at}.intermediate.LayerNorm <- {at}.attention.output.residual {at}.output.LayerNorm.*",
            f"{at}.output.dense <- {at}.intermediate.LayerNorm {at}.intermediate.dense.* {at}.output.dense.*",
        )
    )


_BLOCK = _write_block("embeddings.LayerNorm", "L")  # which reads E_o, though x is printed
_POOLER = "pooler.activation <- Z.output.residual pooler.dense.*"
_EMBEDDING = {
    "$f_{EM1}(x)$": WORD,
    "$f_{EM2}$ of `torch.arange(x.size(1))`": POSITION,
    "$f_{EM3}$ of `torch.zeros_like(x)`": SEGMENT,
    "$E=f_{EM1}+f_{EM2}+f_{EM3}$": THREE,
}
POST = {
    r"$Attention(Q,K,V)=softmax(\frac{QK^T}{\sqrt{d_k}})V$": HEADS,
    r"$MultiHead(Q,K,V)=Concat(head_1,\ldots,head_h)W^0$": _MULTI_HEAD,
    "$head_i = Attention(QW^Q_i,KW^K_i,VW^V_i)$": f"{SELF}heads <- L.attention.LayerNorm {MATRICES}",
    r"$\mu = \frac{1}{H}\sum_{i=1}^H x_i$": "embeddings.LayerNorm.mean <- embeddings.sum",
    r"$\sigma = \sqrt{\frac{1}{H}}\sum_{i=1}^H (x_i-\mu)^2$":
        "embeddings.LayerNorm.sigma <- embeddings.sum embeddings.LayerNorm.mean",
    r"$y=LN(x)=g\odot \frac{x-\mu}{\sqrt{\sigma^2+\epsilon}} + b$":
        "embeddings.LayerNorm.normalized <- embeddings.sum embeddings.LayerNorm.mean embeddings.LayerNorm.sigma; "
        "embeddings.LayerNorm <- embeddings.LayerNorm.normalized embeddings.LayerNorm.*",
    "$f_{EM}$ = `nn.Embedding`": f"{WORD}; {POSITION}; {SEGMENT}",
    **{f"BERTEmbedding: {place}": row for place, row in _EMBEDDING.items()},
    "BERTEmbedding: $E_o=LN(E)$": NORMAL,
    "BERTSelfAttention: $f_{SelfAtt}$": f"{SELF}context <- L.attention.LayerNorm {MATRICES}",
    "BERTSelfOutput: $f_{SelfOut}$": f"{_OUT} <- {SELF}context {_OUT}.*",
    "BERTAttention: $f_{Att}$": f"{_OUT} <- L.attention.LayerNorm {MATRICES} {_OUT}.*",
    "BERTIntermediate: $f_{Inter}$": "L.intermediate.activation <- L.intermediate.LayerNorm L.intermediate.dense.*",
    "BERTOutput: $f_{Out}$": "L.output.dense <- L.intermediate.activation L.output.dense.*",
    "BERTLayer: $f_{E}=Attention(LN(x))+x+Linear(Inter(LN(LN(x)+Attention(LN(x))+x)))$": _BLOCK,
    "BERTLayer: $f_{E}=f_{Att}(f_{LN}(x))+x+f_{Out}(f_{Inter}(f_{LN}(f_{LN}(x)+f_{Att}(LN(x))+x)))$": _BLOCK,
    "BERTEncoder": "",
    "BERTPooler: $f_{Pooler}=tanh(f_{Linear})$": _POOLER,
    **{f"Summary: {place}": row for place, row in _EMBEDDING.items()},
    "Summary: $E_o=f_{LN}(E)$": NORMAL,
    "Summary: $f_{E1}=f_{Att}(f_{LN}(x))+x+f_{Out}(f_{Inter}(f_{LN}(f_{LN}(x)+f_{Att}(f_{LN}(x))+x)))$": _BLOCK,
    "Summary: $f_{E2}=f_{Att}(f_{LN}(f_{E1}))+f_{E1}"
    "+f_{Out}(f_{Inter}(f_{LN}(f_{LN}(f_{E1})+f_{Att}(f_{LN}(f_{E1}))+f_{E1})))$":
        _write_block("L.output.residual", "M"),
    "Summary: $f_{E12}=f_{Att}(f_{LN}(f_{E11}))+f_{E11}"
    "+f_{Out}(f_{Inter}(f_{LN}(f_{LN}(f_{E11})+f_{Att}(f_{LN}(f_{E11}))+f_{E11})))$":
        _write_block("Y.output.residual", "Z"),
    "Summary: $f_{Pooler}=tanh(f_{Linear}(f_{E12}))$": _POOLER,
}  # fmt: skip

_SINUSOID = "embeddings.position_embeddings <- position_ids"
_PRODUCTS = f"{SELF}products <- {SELF}query {SELF}key"
_SOFTMAX = r"$\mathrm{Softmax}(\frac{Q_i K_i^T}{\sqrt{d_k}})$"
_PROJECTED = f"{_OUT} <- {SELF}heads {_OUT}.weight"
ARTICLE = {
    "Notation: emb_dim, input_length, hidden_dim, vocab_size": "",
    "Information Flow, steps 1 to 3": "",
    "Tokenization: “Hello, how are you?”": "",
    r"Numericalization: $\to [34, 90, 15, 684, 55, 193]$": "",
    r"$34 \to E[34] = [123.4, 0.32, \ldots, 94, 32]$ and five more": WORD,
    "The matrix $Z$ (input_length × emb_dim)": WORD,
    "Padding: $[5, 5, 5, 34, 90, 15, 684, 55, 193]$": "",
    "$Z + P$": SUM,
    r"$p_{i,j} = \sin(i/10000^{j/d}), \cos(i/10000^{(j-1)/d})$": _SINUSOID,
    "The matrix $P$ of six positions": _SINUSOID,
    "$X = Z + P$": SUM,
    r"$\mathrm{MultiHead}(Q, K, V) = \mathrm{Concat}(\mathrm{head}_1, \ldots, \mathrm{head}_h) W^O$": _PROJECTED,
    r"$\mathrm{head}_i = \mathrm{Attention}(QW_i^Q, KW_i^K, VW_i^V)$": f"{SELF}heads <- embeddings.sum {MATRICES}",
    **{f"$W_i^{letter}$ with its dimensions": f"= {SELF}{name}.weight"
       for letter, name in (("K", "key"), ("Q", "query"), ("V", "value"))},
    **{f"$XW_i^{letter} = {letter}_i$": f"{SELF}{name} <- embeddings.sum {SELF}{name}.weight"
       for letter, name in (("K", "key"), ("Q", "query"), ("V", "value"))},
    r"$d_k = d_v = \mathrm{embdim}/h$": "",
    r"$\mathrm{Attention}(Q, K, V) = \mathrm{softmax}(\frac{QK^T}{\sqrt{d_k}})V$": HEADS,
    "$Q_i K_i^T$": _PRODUCTS,
    r"$v_i u_j = \cos(v_i, u_j) \lVert v_i\rVert_2 \lVert u_j\rVert_2$": _PRODUCTS,
    _SOFTMAX: f"{SELF}probs <- {SELF}query {SELF}key",
    "Six by six numbers before the softmax": "",
    "Six by six numbers after the softmax": "",
    f"{_SOFTMAX[:-1]} V_i$": f"{HEADS}; {AVERAGE}",
    "Example 1: $[0,0,0,0,1,0]$": "",
    "Example 1: the product with $v$": "",
    "Example 2: $[0.1, 0, 0.06, 0.1, 0.6, 0.14]$": "",
    "Example 2: the product with $v$": "",
    "Example 2: $0.1v_{Hello} + 0v_{,} + 0.06v_{how} + 0.1v_{are} + 0.6v_{you} + 0.14v_{?}$": "",
    r"$V_{Hello,1} = 0.1v_{Hello} + \ldots$": AVERAGE,
    r"$\mathrm{Concat}(V_1, V_2, \ldots, V_h)W_0$": _PROJECTED,
    r"$\mathrm{FFN}(x) = \max(0, xW_1 + b_1)W_2 + b_2$":
        "L.output.dense <- L.attention.output.LayerNorm L.intermediate.dense.* L.output.dense.*",
    r"$\mathrm{Dropout}(\mathrm{Sublayer}(x))$":
        f"L.attention.output.dropout <- {_OUT}; L.output.dropout <- L.output.dense",
    r"$x + \mathrm{Dropout}(\mathrm{Sublayer}(x))$":
        "L.attention.output.residual <- embeddings.sum L.attention.output.dropout; "
        "L.output.residual <- L.attention.output.LayerNorm L.output.dropout",
    r"$\mathrm{LayerNorm}(x + \mathrm{Dropout}(\mathrm{Sublayer}(x)))$":
        "L.attention.output.LayerNorm <- L.attention.output.residual L.attention.output.LayerNorm.*; "
        "L.output.LayerNorm <- L.output.residual L.output.LayerNorm.*",
}  # fmt: skip

FORMULAS = {"000": NOTE, "001": NOTEBOOK, "002": DEFINITION, "003": POST, "004": ARTICLE}
