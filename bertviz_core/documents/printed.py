"""What the notebook prints: tensors of bert-base-uncased with all their digits, sizes, ids, settings and words."""

# fmt: off
# Laid out by hand: a row of a tensor is a row here.

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from bertviz_core.documents.notebook_slips import NOTEBOOK_SLIPS
from bertviz_core.programs.names import KEYS, QUERIES, SELF_ATTENTION, VALUES
from bertviz_core.programs.notebook import EPSILON_OF_CELL_46

MODEL = "google-bert/bert-base-uncased"
SENTENCE = "When in Rome, do as the [MASK] do."
INPUT_IDS = (101, 2043, 1999, 4199, 1010, 2079, 2004, 1996, 103, 2079, 1012, 102)
ANSWER = ". when in rome, do as the romans do.."  # the best entry at every position, as one text
HELLO, HELLO_IDS, HELLO_BACK = "hello world!", (101, 7592, 2088, 999, 102), "[CLS] hello world! [SEP]"

ROWS, COLUMNS = (0, 1, 2, 9, 10, 11), (0, 1, 2, -3, -2, -1)  # what is printed of a tensor of 12 tokens


@dataclass(frozen=True)
class PrintedTensor:
    """A tensor as one cell prints it: six of its twelve rows, six components of each, their digits kept.

    address: where our value stands; epsilon: of the LayerNorm before it, where that is not the checkpoint's own;
    remark: what is odd about the cell.
    """

    cell: str
    address: str
    what: str
    text: str
    epsilon: float | None = None
    remark: str = ""

    @cached_property
    def digits(self) -> tuple[tuple[str, ...], ...]:
        """The numbers as printed, (row, column)."""
        return tuple(tuple(line.split()) for line in self.text.strip().splitlines())


TENSORS = (
    PrintedTensor("14", "embeddings.word_embeddings", "token embeddings", """
0.0136 -0.0265 -0.0235 0.0087 0.0071 0.0151
-0.0463 0.0259 -0.0240 -0.0416 0.0289 0.0316
-0.0278 0.0039 -0.0035 0.0078 -0.0306 0.0221
0.0066 -0.0533 0.0057 -0.0140 -0.0522 -0.0088
-0.0207 -0.0020 -0.0118 0.0128 0.0200 0.0259
-0.0145 -0.0100 0.0060 -0.0250 0.0046 -0.0015
"""),
    PrintedTensor("27", "embeddings.sum", "sum of token, position and segment embeddings", """
0.0316 -0.0411 -0.0564 0.0021 0.0044 0.0219
-0.0381 0.0392 -0.0397 -0.0193 0.0553 0.0177
-0.0387 0.0129 -0.0114 0.0161 -0.0153 0.0062
0.0135 -0.0457 -0.0071 0.0045 -0.0567 -0.0130
-0.0299 0.0069 -0.0199 0.0310 0.0295 0.0295
-0.0253 0.0052 -0.0068 -0.0129 0.0153 -0.0015
"""),
    PrintedTensor("30", "embeddings.LayerNorm", "the sum, normalized", """
0.1686 -0.2858 -0.3261 -0.0276 0.0383 0.1640
-0.4807 0.8188 -0.4227 -0.1415 1.1064 0.5430
-0.4992 0.3891 0.0274 0.3810 -0.0397 0.3439
0.5077 -0.5198 0.1786 0.2883 -0.6555 0.0927
-0.3585 0.2777 -0.1210 0.5949 0.6856 0.7453
-0.4771 0.0871 -0.0770 -0.2191 0.3020 0.0196
"""),
    PrintedTensor("43", "encoder.layer.0.attention.output.dense", "attention output in the first layer", """
0.0469 0.1639 -0.0603 -0.1527 0.0335 0.1802
0.1023 0.3846 -0.0411 -0.5442 -0.0701 -0.0260
-0.0404 0.2899 0.1311 -0.2009 -0.2455 -0.0298
0.2090 0.3050 0.0050 -0.2973 -0.1212 -0.0459
0.0831 -0.0208 -0.1554 -0.4028 -0.2934 -0.0784
0.3431 -0.1718 0.0026 -0.3566 -0.2113 0.0350
""", remark="In [40], before it, uses t_query_states and similar variables, which only In [57] assigns: the "
           "notebook's kernel must have held them from an earlier run."),
    PrintedTensor("49", "encoder.layer.0.intermediate.dense", "pre-activations of the neurons", """
-3.1348 -2.2779 -3.1132 -2.4296 -3.1535 -2.9147
-1.7857 -1.4517 -3.6339 -1.9001 -2.6653 0.6086
-3.0365 -0.8983 -4.2322 -2.2538 -2.9196 -2.1696
-1.7389 -2.1817 -4.1068 -1.2588 -1.4242 -1.0926
-2.9177 -1.5600 -3.8377 -1.5096 -2.2996 -1.7339
-3.7864 -2.3012 -3.4133 -2.6182 -2.6048 -3.1074
""", EPSILON_OF_CELL_46),
    PrintedTensor("51", "encoder.layer.0.intermediate.activation", "after GELU", """
-2.6957e-03 -2.5889e-02 -2.8811e-03 -1.8364e-02 -2.5440e-03 -5.1889e-03
-6.6208e-02 -1.0640e-01 -5.0749e-04 -5.4553e-02 -1.0250e-02 4.4340e-01
-3.6334e-03 -1.6575e-01 -4.8812e-05 -2.7281e-02 -5.1157e-03 -3.2584e-02
-7.1338e-02 -3.1777e-02 -8.2369e-05 -1.3097e-01 -1.0994e-01 -1.5000e-01
-5.1445e-03 -9.2632e-02 -2.3813e-04 -9.8983e-02 -2.4687e-02 -7.1898e-02
-2.8956e-04 -2.4598e-02 -1.0957e-03 -1.1571e-02 -1.1973e-02 -2.9320e-03
""", EPSILON_OF_CELL_46),
    PrintedTensor("57", "encoder.layer.11.output.LayerNorm", "after all twelve layers", """
0.0698 0.3857 -0.0319 -0.1526 0.0446 0.2253
-0.5065 0.7490 0.5782 -0.7123 -0.4653 -0.7150
-0.0510 -0.6486 -0.1926 -0.1028 0.0320 0.1524
0.8641 0.3875 0.5311 0.2063 0.1742 0.1639
-0.4663 -0.5197 -0.2011 0.6513 0.0255 -0.1058
0.7993 0.2471 -0.0632 0.1179 -0.7094 -0.0537
"""),
    PrintedTensor("59", "cls.predictions.transform.dense", "the LM head's projection", """
-0.9308 0.5810 -1.5488 -0.3969 -0.2049 -0.7886
-0.4524 1.4434 0.7572 0.8591 1.1784 1.1476
0.1031 0.8686 0.9038 1.2142 0.3628 1.5648
1.0442 -0.6966 1.6925 1.5027 0.0384 2.1948
-0.2648 -0.0293 0.6970 0.6369 1.0992 1.0511
0.1265 -1.1419 0.2915 -0.2913 0.0908 0.3325
"""),
    PrintedTensor("61", "cls.predictions.transform.LayerNorm", "after the LM head's GELU and LayerNorm", """
-0.6974 1.0231 -0.0350 -0.3549 -0.0176 0.0247
-4.3757 1.5879 -1.3361 -1.1796 0.3573 0.4541
-3.5006 -0.2887 -0.2252 0.9825 -2.4059 3.3587
-0.4326 -4.0172 2.9924 1.8936 -3.3367 5.7582
-2.9313 -2.1162 -0.0482 -0.5154 1.6312 1.7295
-0.8187 -2.2804 0.7585 -2.2679 -0.4951 1.3419
"""),
)


@dataclass(frozen=True)
class Fact:
    """A size, setting, list of ids or text that is printed: in which cell, what it is, and how it is printed.

    of: where ours is found: `kind:argument`, as `analysis.facts` reads it; slip: why the print cannot be right.
    """

    cell: str
    what: str
    printed: str
    of: str
    slip: str = ""


def _shapes(*rows: tuple[str, str, str]) -> tuple[Fact, ...]:
    return tuple(Fact(cell, f"shape of {address}", printed, f"shape:{address}") for cell, printed, address in rows)


_FIRST = "encoder.layer.0."
_SELF = f"{SELF_ATTENTION.in_layer(0)}."
_CONFIG = (
    ("architectures", "BertForMaskedLM"), ("attention_probs_dropout_prob", "0.1"), ("gradient_checkpointing", "False"),
    ("hidden_act", "gelu"), ("hidden_dropout_prob", "0.1"), ("hidden_size", "768"), ("initializer_range", "0.02"),
    ("intermediate_size", "3072"), ("layer_norm_eps", "1e-12"), ("max_position_embeddings", "512"),
    ("model_type", "bert"), ("num_attention_heads", "12"), ("num_hidden_layers", "12"), ("pad_token_id", "0"),
    ("position_embedding_type", "absolute"), ("transformers_version", "4.6.0.dev0"), ("type_vocab_size", "2"),
    ("use_cache", "True"), ("vocab_size", "30522"),
)
_NAMES = (
    *(f"bert.embeddings.{name}.weight" for name in ("word_embeddings", "position_embeddings", "token_type_embeddings")),
    *(f"bert.embeddings.LayerNorm.{leaf}" for leaf in ("weight", "bias")),
    *(f"bert.{_FIRST}{name}.{leaf}"
      for name in (QUERIES.path, KEYS.path, VALUES.path, "attention.output.dense", "attention.output.LayerNorm",
                   "intermediate.dense", "output.dense")
      for leaf in ("weight", "bias")),
    f"bert.{_FIRST}output.LayerNorm.weight",
)
_UNUSED = ("bert.pooler.dense.bias", "bert.pooler.dense.weight", "cls.seq_relationship.bias",
           "cls.seq_relationship.weight")
_TEN = next(slip for slip in NOTEBOOK_SLIPS if slip.name == "ten-tokens")
_SLIP = f"{_TEN.says} for {_TEN.right}. {_TEN.shows}"

FACTS = (
    Fact("3", f"ids of “{HELLO}”", str(list(HELLO_IDS)), f"encode:{HELLO}"),
    Fact("4", "these ids, decoded", HELLO_BACK, f"decode:{HELLO}"),
    Fact("5", "tensors that BertForMaskedLM leaves unused", " ".join(_UNUSED), "names:" + " ".join(_UNUSED)),
    Fact("6", "class", "BertForMaskedLM", "config:architectures"),
    Fact("6", "word embeddings", "[30522, 768]", "shape:embeddings.word_embeddings.weight"),
    Fact("6", "padding_idx", "0", "config:pad_token_id"),
    Fact("6", "position embeddings", "[512, 768]", "shape:embeddings.position_embeddings.weight"),
    Fact("6", "segment embeddings", "[2, 768]", "shape:embeddings.token_type_embeddings.weight"),
    *(Fact("6", f"{name}{what}", printed, of) for name, path in (
        ("LayerNorm", "embeddings.LayerNorm"), ("LayerNorm after attention", f"{_FIRST}attention.output.LayerNorm"))
      for what, printed, of in (("", "[768]", f"shape:{path}.weight"), (": eps", "1e-12", "config:layer_norm_eps"))),
    Fact("6", "LayerNorm: elementwise_affine", "True", "learned:embeddings.LayerNorm.weight"),
    Fact("6", "layers", "12", "config:num_hidden_layers"),
    *(Fact("6", f"{name}: {what}", printed, f"{of}:{path}.{leaf}") for name, path in (
        ("query", f"{_SELF}query"), ("key", f"{_SELF}key"), ("value", f"{_SELF}value"),
        ("attention output", f"{_FIRST}attention.output.dense"))
      for what, printed, of, leaf in (("out_features, in_features", "[768, 768]", "stored", "weight"),
                                      ("bias", "True", "learned", "bias"))),
    Fact("6", "dropout, after the embeddings and in attention: p", "0.1", "unread:p"),
    Fact("6", "dropout: inplace", "False", "unread:inplace"),
    Fact("8", "the first names of the tensors", " ".join(_NAMES), "names:" + " ".join(_NAMES)),
    Fact("9", "shape of the word embeddings", "[30522, 768]", "shape:embeddings.word_embeddings.weight"),
    *(Fact("10", f"config: {name}", printed, f"config:{name}") for name, printed in _CONFIG),
    *(Fact("text after 10", what, printed, f"config:{name}") for what, printed, name in (
        ("layers", "12", "num_hidden_layers"), ("heads", "12", "num_attention_heads"),
        ("vocabulary", "30522", "vocab_size"), ("hidden size", "768", "hidden_size"),
        ("intermediate size", "3072", "intermediate_size"))),
    Fact("12", "input_ids", str(list(INPUT_IDS)), "ids:input_ids"),
    Fact("12", "token_type_ids", str([0] * 12), "ids:token_type_ids"),
    Fact("12", "q_len", "12", "length:"),
    Fact("text before 15", "the tokens", "[10, 1]", "column:", _SLIP),
    Fact("text before 15", "their embeddings", "[10, 768]", "shape:embeddings.word_embeddings", _SLIP),
    Fact("text before 15", "the embeddings, one per token", "12", "length:"),
    Fact("text before 15", "length of an embedding", "768", "config:hidden_size"),
    *_shapes(("16", "[12, 768]", "embeddings.word_embeddings"),
             ("21", "[1, 12, 768]", "embeddings.position_embeddings"),
             ("25", "[1, 12, 768]", "embeddings.token_type_embeddings"), ("26", "[1, 12, 768]", "embeddings.sum")),
    Fact("text before 29", "the normalized embeddings", "[12, 768]", "shape:embeddings.LayerNorm"),
    Fact("text before 30", "the normalized embeddings", "[10, 768]", "shape:embeddings.LayerNorm", _SLIP),
    *_shapes(("31", "[1, 12, 768]", "embeddings.LayerNorm")),
    Fact("34", "heads and their size", "[12, 64]", "heads:"),
    *_shapes(*(("39", "[1, 12, 12, 64]", f"{_SELF}{name}") for name in ("query", "key", "value")),
             ("text before 40", "[12, 12]", f"{_SELF}products[head=0]")),
    *(Fact("text before 40", f"matrix of the {name}", "[768, 768]", f"stored:{_FIRST}attention.{leaf}.weight")
      for name, leaf in (("query", "self.query"), ("key", "self.key"), ("value", "self.value"),
                         ("output", "output.dense"))),
    *_shapes(("45", "[1, 12, 768]", f"{_SELF}context"), ("44", "[1, 12, 768]", f"{_FIRST}attention.output.dense"),
             ("48", "[1, 12, 768]", f"{_FIRST}attention.output.LayerNorm"),
             ("50", "[1, 12, 3072]", f"{_FIRST}intermediate.dense"),
             ("52", "[1, 12, 3072]", f"{_FIRST}intermediate.activation")),
    Fact("53", "stored shape of intermediate.dense.weight", "[3072, 768]", f"stored:{_FIRST}intermediate.dense.weight"),
    *_shapes(("54", "[1, 12, 768]", f"{_FIRST}output.dense"), ("56", "[1, 12, 768]", f"{_FIRST}output.LayerNorm"),
             ("58", "[1, 12, 768]", "encoder.layer.11.output.LayerNorm"),
             ("60", "[1, 12, 768]", "cls.predictions.transform.dense"),
             ("62", "[1, 12, 768]", "cls.predictions.transform.LayerNorm"),
             ("64", "[1, 12, 30522]", "cls.predictions.decoder")),
    Fact("66", "shape of the top predictions", "[1, 12]", "row:"),
    Fact("68", "input_ids, once more", str(list(INPUT_IDS)), "ids:input_ids"),
    Fact("69", "the top predictions as one text", ANSWER, "answer:"),
)

# The sizes that the forward-pass note prints beside its matrices: (what, printed, where ours is found).
_FULL = (  # of an input as long as the longest: those with a token on each row
    ("T", "[512, 768]", "embeddings.word_embeddings"), ("X", "[512, 768]", "embeddings.sum"),
    ("Q", "[512, 64]", f"{_SELF}query[head=0]"), ("K", "[512, 64]", f"{_SELF}key[head=0]"),
    ("V", "[512, 64]", f"{_SELF}value[head=0]"), ("A", "[512, 512]", f"{_SELF}probs[head=0]"),
    ("Z_{h,l}", "[512, 64]", f"{_SELF}value[head=0]"), ("Z̃, the concatenated heads", "[512, 768]", f"{_SELF}context"),
    ("Z̄", "[512, 768]", f"{_FIRST}attention.output.LayerNorm"),
    ("Z^ffnn", "[512, 3072]", f"{_FIRST}intermediate.activation"), ("Z^out", "[512, 768]", f"{_FIRST}output.dense"),
    ("Z_l", "[512, 768]", f"{_FIRST}output.LayerNorm"),
)
NOTE_SIZES = tuple(Fact("000", what, printed, of) for what, printed, of in (
    ("d, the hidden size", "768", "config:hidden_size"),
    ("max input length, and the size of I", "512", "config:max_position_embeddings"),
    ("heads", "12", "config:num_attention_heads"),
    ("layers", "12", "config:num_hidden_layers"),
    ("d_ffnn", "3072", "config:intermediate_size"),
    ("heads and d_q, d_k, d_v", "[12, 64]", "heads:"),
    ("64 · 12, the concatenated heads", "768", "config:hidden_size"),
    ("W_T, columns", "768", "config:hidden_size"),
    ("W_P", "[512, 768]", "shape:embeddings.position_embeddings.weight"),
    *((f"W^{letter} of one head", "[768, 64]", f"cut:{_SELF}{name}.weight")
      for letter, name in (("Q", "query"), ("K", "key"), ("V", "value"))),
    ("W^ffnn", "[768, 3072]", f"shape:{_FIRST}intermediate.dense.weight"),
    ("b^ffnn, a row", "[1, 3072]", f"shape:{_FIRST}intermediate.dense.bias"),
    ("W^out", "[3072, 768]", f"shape:{_FIRST}output.dense.weight"),
    ("b^out, a row", "[1, 768]", f"shape:{_FIRST}output.dense.bias"),
    ("W^final", "[768, 768]", "shape:pooler.dense.weight"),
    *((f"{what}, of a full input", printed, f"full:{address}") for what, printed, address in _FULL),
))
POST_LAYERS = Fact("003", "f_E12 is the last encoder block", "12", "config:num_hidden_layers")
ARTICLE_LAYERS = Fact("004", "blocks N of BERT's smaller model", "12", "config:num_hidden_layers")
OTHERS = (*NOTE_SIZES, POST_LAYERS, ARTICLE_LAYERS)
