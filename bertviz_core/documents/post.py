"""The formula post: the modules of one implementation as functions of each other."""

# fmt: off
# Laid out by hand: a row of a table is a row here.

from __future__ import annotations

from bertviz_core.documents.places import OUT, SELF, Document, place_attention, place_head, place_heads, put
from bertviz_core.documents.post_slips import POST_SLIPS

_PRE = "the post normalizes before each sub-layer, BERT after each sum; the app shows BERT's order"

_EMBEDDING = (
    ("$f_{EM1}(x)$", "token rows", "embeddings.word_embeddings", ""),
    ("$f_{EM2}$ of `torch.arange(x.size(1))`", "position rows",
     "position_ids embeddings.position_embeddings", ""),
    ("$f_{EM3}$ of `torch.zeros_like(x)`", "segment rows, all of segment 0",
     "token_type_ids embeddings.token_type_embeddings", "with a second sentence, segment 1 too"),
    ("$E=f_{EM1}+f_{EM2}+f_{EM3}$", "their sum", "embeddings.sum", ""),
    ("$E_o=LN(E)$", "the sum, normalized", "embeddings.LayerNorm", ""),
)
_ENCODER = ("one layer as one function", "add_norm",
            f"{OUT}residual {OUT}LayerNorm L.output.residual L.output.LayerNorm", _PRE)


def _write_block(name: str, x: str) -> str:
    """The summary's formula of one encoder block, as it is printed: what the block is called, and what it reads."""
    return (rf"${name}=f_{{Att}}(f_{{LN}}({x}))+{x}+f_{{Out}}(f_{{Inter}}(f_{{LN}}(f_{{LN}}({x})"
            rf"+f_{{Att}}(f_{{LN}}({x}))+{x})))$")


_PLACES = (
    place_attention(r"$Attention(Q,K,V)=softmax(\frac{QK^T}{\sqrt{d_k}})V$"),
    place_heads(r"$MultiHead(Q,K,V)=Concat(head_1,\ldots,head_h)W^0$"),
    place_head("$head_i = Attention(QW^Q_i,KW^K_i,VW^V_i)$"),
    put(r"$\mu = \frac{1}{H}\sum_{i=1}^H x_i$", "LayerNorm's mean", "add_norm", f"{OUT}LayerNorm.mean"),
    put(r"$\sigma = \sqrt{\frac{1}{H}}\sum_{i=1}^H (x_i-\mu)^2$", "LayerNorm's standard deviation", "add_norm",
        f"{OUT}LayerNorm.variance", r"the printed formula is wrong; the app shows the variance $\sigma^2$"),
    put(r"$y=LN(x)=g\odot \frac{x-\mu}{\sqrt{\sigma^2+\epsilon}} + b$", "LayerNorm", "add_norm",
        f"{OUT}LayerNorm.normalized {OUT}LayerNorm"),
    put("$f_{EM}$ = `nn.Embedding`", "a lookup in a table", "embeddings",
        "embeddings.word_embeddings embeddings.position_embeddings embeddings.token_type_embeddings"),
    *(put(f"BERTEmbedding: {place}", what, "embeddings", addresses, remark)
      for place, what, addresses, remark in _EMBEDDING),
    put("BERTSelfAttention: $f_{SelfAtt}$", "attention up to the concatenated heads", "attention",
        f"{SELF}probs {SELF}context"),
    put("BERTSelfOutput: $f_{SelfOut}$", "output projection", "attention_output", f"{OUT}dense"),
    put("BERTAttention: $f_{Att}$", "both together", "attention_output", f"{SELF}context {OUT}dense"),
    put("BERTIntermediate: $f_{Inter}$", "first half of the feed-forward network", "feed_forward",
        "L.intermediate.dense L.intermediate.activation"),
    put("BERTOutput: $f_{Out}$", "second half of the feed-forward network", "feed_forward", "L.output.dense"),
    put("BERTLayer: $f_{E}=Attention(LN(x))+x+Linear(Inter(LN(LN(x)+Attention(LN(x))+x)))$", *_ENCODER),
    put("BERTLayer: $f_{E}=f_{Att}(f_{LN}(x))+x+f_{Out}(f_{Inter}(f_{LN}(f_{LN}(x)+f_{Att}(LN(x))+x)))$", *_ENCODER),
    put("BERTEncoder", "all layers, one after another", "layers", "L.output.LayerNorm"),
    put("BERTPooler: $f_{Pooler}=tanh(f_{Linear})$", "the pooler", "sentence", "pooler.dense pooler.activation"),
    *(put(f"Summary: {place.replace('=LN(', '=f_{LN}(')}", what, "embeddings", addresses, remark)
      for place, what, addresses, remark in _EMBEDDING),
    *(put(f"Summary: {_write_block(name, x)}", *_ENCODER)
      for name, x in (("f_{E1}", "x"), ("f_{E2}", "f_{E1}"), ("f_{E12}", "f_{E11}"))),
    put("Summary: $f_{Pooler}=tanh(f_{Linear}(f_{E12}))$", "the pooler on the last layer", "sentence",
        "pooler.dense pooler.activation"),
)

_OTHERS = (
    *(put(f"picture under {where}", what, page) for where, what, page in (
        ("Scaled Dot-Product Attention", "scaled dot-product attention", "attention"),
        ("Multi-Head Attention", "the heads beside each other", "attention_output"),
        ("BERTLayerNorm", "LayerNorm", "add_norm"), ("BERTEmbedding", "the three embeddings", "embeddings"),
        ("BERTSelfAttention", "attention up to the concatenated heads", "attention"),
        ("BERTSelfOutput", "the output projection", "attention_output"),
        ("BERTAttention", "both together", "attention_output"),
        ("BERTIntermediate", "the first half of the feed-forward network", "feed_forward"),
        ("BERTOutput", "its second half", "feed_forward"), ("BERTLayer", "one layer", "layers"),
        ("BERTEncoder", "all layers", "layers"), ("BERTPooler", "the pooler", "sentence"))),
)

POST = Document(
    "003", "formula post", "modules as functions, in Chinese",
    "The modules of one implementation as functions of each other, in Chinese.",
    "All segments are 0. LayerNorm comes before each sub-layer, not after each sum, and once more as a third term of "
    "the first sum; the printed standard deviation is wrong. No bias for queries, keys and values, no padding mask.",
    _PLACES, POST_SLIPS, _OTHERS)
