"""What every quantity of BERT is called elsewhere: in the documents, in Hugging Face, TransformerLens and TensorFlow.

One row for each step, parameter and input, keyed by its address with `{i}` in place of the layer, and one for each
axis. Symbols, shapes and the meaning of steps are not repeated here: they are read off the program.
"""

# fmt: off
# Laid out by hand: a row reads as one entry of a table.

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import lru_cache

from bertviz_core.documents import DOCUMENTS
from bertviz_core.documents.places import LAYER
from bertviz_core.formula.address import Address
from bertviz_core.programs.names import SELF_ATTENTION


@dataclass(frozen=True)
class Names:
    """One quantity's names; empty where a source has none. Formulas are LaTeX, the rest identifiers.

    key: the address pattern, or the axis; meaning: for what is no step (a step says its own); then the documents, in
    the order of `DOCUMENTS`: formulas, the notebook's identifiers; hugging_face, lens (TransformerLens, HookedEncoder)
    and tensorflow identifiers.
    """

    key: str
    meaning: str = ""
    note: str = ""
    notebook: str = ""
    definition: str = ""
    post: str = ""
    article: str = ""
    hugging_face: str = ""
    lens: str = ""
    tensorflow: str = ""


_CODE = {"hugging_face": "Hugging Face", "lens": "TransformerLens", "tensorflow": "TensorFlow"}
OF_DOCUMENTS = dict(zip((field.name for field in fields(Names)[2:-len(_CODE)]),
                        (document.name for document in DOCUMENTS), strict=True))
SOURCES = OF_DOCUMENTS | _CODE
FORMULAS = frozenset(OF_DOCUMENTS) - {"notebook"}

_DIVIDED = r"\frac{Q K^T}{\sqrt{d_k}}"
_NORMALIZED = r"\mathrm{LayerNorm}(x + \mathrm{Dropout}(\mathrm{Sublayer}(x)))"
_ADDED = r"x + \mathrm{Dropout}(\mathrm{Sublayer}(x))"
_ATTENTION_PARAMETERS = r"\mathcal{W}^l"


_OUTPUT_VARIABLES = {"cls.seq_relationship": "cls/seq_relationship/", "classifier": "", "qa_outputs": "cls/squad/"}


@lru_cache(maxsize=1 << 12)
def find_key(address: str) -> str:
    """An address's path without its layer: the key of its row."""
    where = Address(address)
    return address if where.layer is None else f"{LAYER}{where.leaf}"


def find_names(address: str) -> Names:
    """The row of a step, a parameter or an input, with its layer filled in."""
    layer = Address(address).layer
    row = NAMES[find_key(address)]
    if layer is None:
        return row
    filled = {source: getattr(row, source).replace("{i}", str(layer)) for source in SOURCES if source not in FORMULAS}
    return Names(**{field.name: filled.get(field.name, getattr(row, field.name)) for field in fields(Names)})


def _name_parameter(key: str, meaning: str, lens: str = "", **others: str) -> Names:
    """A row whose names in Hugging Face and TensorFlow follow from its address."""
    return Names(key, meaning, hugging_face=_prefix(key), lens=lens, tensorflow=_name_variable(key), **others)


def _prefix(address: str) -> str:
    return address if address.startswith(("cls.", "classifier", "qa_outputs")) else f"bert.{address}"


def _name_variable(address: str) -> str:
    """The variable of a TensorFlow checkpoint (google-research/bert) that holds a parameter."""
    shared = {
        "cls.predictions.decoder.weight": "bert/embeddings/word_embeddings",
        "cls.predictions.decoder.bias": "cls/predictions/output_bias",
    }
    if address in shared:
        return shared[address]
    module, _, leaf = _prefix(address).replace("layer.{i}", "layer_{i}").rpartition(".")
    path = module.replace(".", "/")
    if module in _OUTPUT_VARIABLES:
        return f"{_OUTPUT_VARIABLES[module]}output_{'weights' if leaf == 'weight' else leaf}"
    if module.endswith("_embeddings"):
        return path
    renamed = {"weight": "gamma", "bias": "beta"} if module.endswith("LayerNorm") else {"weight": "kernel"}
    return f"{path}/{renamed.get(leaf, leaf)}"


def _name_linear(module: str, weight: str, bias: str, lens: tuple[str, str] = ("", ""), *, variables: str = "",
                 note: tuple[str, str] = ("", ""), definition: tuple[str, str] = ("", ""), post: str = "",
                 article: tuple[str, str] = ("", "")) -> tuple[Names, Names]:
    """The rows of a weight matrix and its bias. variables: the notebook's name of the matrix."""
    names = (variables, f"{variables.removesuffix('_weight')}_bias" if variables else "")
    return (
        _name_parameter(f"{module}.weight", weight, lens[0], notebook=names[0], note=note[0], definition=definition[0],
                        post=post, article=article[0]),
        _name_parameter(f"{module}.bias", bias, lens[1], notebook=names[1], note=note[1], definition=definition[1],
                        article=article[1]),
    )


def _name_layer_norm(path: str, lens: str, variables: str, definition: tuple[str, str] = ("", "")) -> Iterable[Names]:
    """The rows inside a LayerNorm: its three inner steps and its two parameters."""
    yield Names(f"{path}.mean", notebook="mean", post=r"\mu")
    yield Names(f"{path}.variance", notebook="variance", post=r"\sigma^2")
    yield Names(f"{path}.normalized", notebook="x_normalized", post=r"\frac{x-\mu}{\sqrt{\sigma^2+\epsilon}}")
    weight, bias = (f"{variables}_weight", f"{variables}_bias") if variables else ("gamma", "beta")
    yield _name_parameter(f"{path}.weight", "The scale γ of each component.", f"{lens}.w", notebook=weight,
                          definition=definition[0], post="g")
    yield _name_parameter(f"{path}.bias", "The shift β of each component.", f"{lens}.b", notebook=bias,
                          definition=definition[1], post="b")


def _name_inputs() -> Iterable[Names]:
    yield Names("input_ids", "Token ids: which vocabulary entry each token is.", note="I", notebook="input_ids",
                definition="x", post="x", hugging_face="input_ids", lens="tokens", tensorflow="input_ids")
    yield Names("position_ids", "The position of each token, counted from 0.", notebook="position_ids", definition="j",
                post=r"\mathrm{arange}(x.\mathrm{size}(1))", article="i", hugging_face="position_ids")
    yield Names("token_type_ids", "Segment ids: 0 for the first sentence, 1 for the second.", notebook="token_type_ids",
                post=r"\mathrm{zeros\_like}(x)", hugging_face="token_type_ids", lens="token_type_ids",
                tensorflow="token_type_ids")
    yield Names("attention_mask", "Attention mask: 1 for a token, 0 for padding.", notebook="attn_mask", definition="1",
                hugging_face="attention_mask", lens="one_zero_attention_mask", tensorflow="input_mask")


def _name_embeddings() -> Iterable[Names]:
    at = "embeddings"
    yield _name_parameter(f"{at}.word_embeddings.weight", "The word embeddings: one vector per vocabulary entry.",
                          "embed.embed.W_E", note="W_T", notebook="embedding_layer", definition="W_e", article="E")
    yield _name_parameter(f"{at}.position_embeddings.weight", "The position embeddings: one vector per position.",
                          "embed.pos_embed.W_pos", note="W_P", notebook="position_embeddings", definition="W_p")
    yield _name_parameter(f"{at}.token_type_embeddings.weight", "The segment embeddings: one vector per sentence.",
                          "embed.token_type_embed.W_token_type", notebook="segment_embeddings")
    yield Names(f"{at}.word_embeddings", note="T", notebook="token_embeddings_unnormalized",
                definition="(W_e)_{:,x_j}", post="f_{EM1}(x)", article="Z",
                hugging_face=f"bert.{at}.word_embeddings", lens="embed.hook_embed")
    yield Names(f"{at}.position_embeddings", note="W_P", notebook="position_embeds", definition="(W_p)_{:,j}",
                post="f_{EM2}", article="P", hugging_face=f"bert.{at}.position_embeddings",
                lens="embed.hook_pos_embed", tensorflow="position_embeddings")
    yield Names(f"{at}.token_type_embeddings", notebook="segment_embeds", post="f_{EM3}",
                hugging_face=f"bert.{at}.token_type_embeddings", lens="embed.hook_token_type_embed",
                tensorflow="token_type_embeddings")
    yield Names(f"{at}.sum", note="X = Z_0", notebook="embeddings_unnormalized", definition="X_{:,j}", post="E",
                article="X = Z + P")
    yield from _name_layer_norm(f"{at}.LayerNorm", "embed.ln", "")
    yield Names(f"{at}.LayerNorm", notebook="normalized_embeddings", post="E_o",
                hugging_face=f"bert.{at}.LayerNorm", lens="hook_full_embed", tensorflow="embedding_output")


def _name_attention() -> Iterable[Names]:
    at, hooks = SELF_ATTENTION.in_layers("{i}"), "blocks.{i}.attn"
    for name, letter, axis, role in (
        ("query", "Q", "q", "queries"), ("key", "K", "k", "keys"), ("value", "V", "v", "values"),
    ):
        yield from _name_linear(
            f"{at}.{name}", f"Projects a token's vector to the {role} of all heads.",
            f"The bias of the {role}.", (f"{hooks}.W_{letter}", f"{hooks}.b_{letter}"), variables=f"{axis}_layer0",
            note=(f"W_{{h,l}}^{letter}", ""), definition=(_ATTENTION_PARAMETERS, _ATTENTION_PARAMETERS),
            post=f"W^{letter}_i", article=(f"W_i^{letter}", ""),
        )
        yield Names(f"{at}.{name}", note=f"{letter}_{{h,l}}", notebook=f"{name}_states",
                    post=f"{letter} W^{letter}_i", article=f"{letter}_i",
                    hugging_face=f"bert.{at}.{name}", lens=f"{hooks}.hook_{axis}", tensorflow=f"{name}_layer")
    yield Names(f"{at}.products", note="Q_{h,l} K_{h,l}^T", post="Q K^T", article="Q_i K_i^T",
                tensorflow="attention_scores")
    yield Names(f"{at}.scaled", note=r"\frac{Q_{h,l} K_{h,l}^T}{\sqrt{d_k}}", post=_DIVIDED,
                article=r"\frac{Q_i K_i^T}{\sqrt{d_k}}", tensorflow="attention_scores")
    yield Names(f"{at}.scores", lens=f"{hooks}.hook_attn_scores", tensorflow="attention_scores")
    yield Names(f"{at}.probs", note="A_{h,l}", post=rf"\mathrm{{softmax}}({_DIVIDED})",
                article=r"\mathrm{Softmax}\left(\frac{Q_i K_i^T}{\sqrt{d_k}}\right)",
                hugging_face="attentions[{i}]", lens=f"{hooks}.hook_pattern", tensorflow="attention_probs")
    yield Names(f"{at}.context", note=r"\tilde{Z}_l", notebook="attn_output",
                post=r"\mathrm{Concat}(head_1, \ldots, head_h)",
                article=r"\mathrm{Concat}(\mathrm{head}_1, \ldots, \mathrm{head}_h)", lens=f"{hooks}.hook_z",
                tensorflow="context_layer")


def _name_attention_output() -> Iterable[Names]:
    at = f"{LAYER}attention.output"
    yield from _name_linear(f"{at}.dense", "Projects the concatenated heads.", "The bias of that projection.",
                            ("blocks.{i}.attn.W_O", "blocks.{i}.attn.b_O"), variables="o_layer0",
                            definition=(_ATTENTION_PARAMETERS, _ATTENTION_PARAMETERS), post="W^0", article=("W^O", ""))
    yield Names(f"{at}.dense", notebook="ouput_states", definition=r"\mathrm{MultiHeadAttention}(X,X|\mathcal{W}^l,1)",
                post="f_{Att}(f_{LN}(x))", article=r"\mathrm{MultiHead}(Q, K, V)",
                hugging_face=f"bert.{at}.dense", lens="blocks.{i}.hook_attn_out", tensorflow="attention_output")
    yield Names(f"{at}.residual", note=r"X + \tilde{Z}_l", definition="X", post="f_{Att}(f_{LN}(x)) + x",
                article=_ADDED, lens="blocks.{i}.hook_resid_mid")
    yield from _name_layer_norm(f"{at}.LayerNorm", "blocks.{i}.ln1", "layer_0_output_norm",
                                (r"\gamma^l_1", r"\beta^l_1"))
    yield Names(f"{at}.LayerNorm", note=r"\bar{Z}_l", notebook="attention_output", definition="X",
                post="f_{LN}(f_{LN}(x) + f_{Att}(f_{LN}(x)) + x)", article=_NORMALIZED,
                hugging_face=f"bert.{at}.LayerNorm", lens="blocks.{i}.ln1.hook_normalized",
                tensorflow="attention_output")


def _name_feed_forward() -> Iterable[Names]:
    inner, outer = f"{LAYER}intermediate", f"{LAYER}output"
    yield from _name_linear(f"{inner}.dense", "One column per neuron: its weights for a token's vector.",
                            "The bias of each neuron.", ("blocks.{i}.mlp.W_in", "blocks.{i}.mlp.b_in"),
                            variables="layer_0_intermediate_dense_weight", note=("W_l^{ffnn}", "b_l^{ffnn}"),
                            definition=("W_1^l", "b_1^l"), article=("W_1", "b_1"))
    yield Names(f"{inner}.dense", note=r"\bar{Z}_l W_l^{ffnn} + b_l^{ffnn}", notebook="intermediate_dense_output",
                definition=r"W_1^l X + b_1^l 1^\top", article="x W_1 + b_1", hugging_face=f"bert.{inner}.dense",
                lens="blocks.{i}.mlp.hook_pre")
    yield Names(f"{inner}.activation", note="Z_l^{ffnn}", notebook="intermediate_output",
                definition=r"\mathrm{Gelu}(W_1^l X + b_1^l 1^\top)", post="f_{Inter}",
                article=r"\max(0, x W_1 + b_1)", hugging_face=f"bert.{inner}", lens="blocks.{i}.mlp.hook_post",
                tensorflow="intermediate_output")
    yield from _name_linear(f"{outer}.dense", "One row per neuron: the direction that it adds.",
                            "The bias of the feed-forward output.", ("blocks.{i}.mlp.W_out", "blocks.{i}.mlp.b_out"),
                            variables="layer_0_output_dense_weight", note=("W_l^{out}", "b_l^{out}"),
                            definition=("W_2^l", "b_2^l"), article=("W_2", "b_2"))
    yield Names(f"{outer}.dense", note="Z_l^{out}", notebook="output_dense",
                definition=r"W_2^l \cdot \mathrm{Gelu}(W_1^l X + b_1^l 1^\top) + b_2^l 1^\top",
                post="f_{Out}", article=r"\mathrm{FFN}(x)", hugging_face=f"bert.{outer}.dense",
                lens="blocks.{i}.hook_mlp_out", tensorflow="layer_output")
    yield Names(f"{outer}.residual", note="X + Z_l^{out}", definition="X", post="f_E", article=_ADDED,
                lens="blocks.{i}.hook_resid_post")
    yield from _name_layer_norm(f"{outer}.LayerNorm", "blocks.{i}.ln2", "layer_0_output_layernorm",
                                (r"\gamma^l_2", r"\beta^l_2"))
    yield Names(f"{outer}.LayerNorm", note="Z_l", notebook="layer_embedding_norm", definition="X",
                article=_NORMALIZED, hugging_face=f"bert.{outer}.LayerNorm",
                lens="blocks.{i}.hook_normalized_resid_post", tensorflow="layer_output")


def _name_masked_language_model() -> Iterable[Names]:
    at = "cls.predictions"
    yield from _name_linear(f"{at}.transform.dense", "Projects the last layer's vectors in the LM head.",
                            "The bias of that projection.", ("mlm_head.W", "mlm_head.b"),
                            variables="layer_intermediate_dense_weight", definition=("W_f", "b_f"))
    yield Names(f"{at}.transform.dense", notebook="prediction_output", definition=r"W_f X + b_f 1^\top",
                hugging_face=f"{at}.transform.dense")
    yield Names(f"{at}.transform.activation", notebook="prediction_act_dense_output",
                definition=r"\mathrm{Gelu}(W_f X + b_f 1^\top)", hugging_face=f"{at}.transform.transform_act_fn")
    yield from _name_layer_norm(f"{at}.transform.LayerNorm", "mlm_head.ln", "prediction_layernorm",
                                (r"\gamma", r"\beta"))
    yield Names(f"{at}.transform.LayerNorm", notebook="prediction_dense_output", definition="X",
                hugging_face=f"{at}.transform.LayerNorm", lens="mlm_head.ln.hook_normalized")
    yield from _name_linear(f"{at}.decoder",
                            "One vector per vocabulary entry: usually the word embeddings themselves.",
                            "The bias of each vocabulary entry's logit.", ("unembed.W_U", "unembed.b_U"),
                            variables="decoder_weight", definition=("W_u", ""))
    yield Names(f"{at}.decoder", notebook="logits", definition="W_u X", hugging_face=f"{at}.decoder",
                tensorflow="logits")
    yield Names(f"{at}.probs", definition="P")


def _name_heads_for_the_whole_input() -> Iterable[Names]:
    final = "W^{final} Z_{n_{layers}}[0,:]"
    yield from _name_linear("pooler.dense", "Projects the last vector at [CLS].", "The bias of that projection.",
                            ("pooler.W", "pooler.b"), note=("W^{final}", ""))
    yield Names("pooler.dense", note=final, post="f_{Linear}", hugging_face="bert.pooler.dense")
    yield Names("pooler.activation", note=rf"\tanh({final})", post="f_{Pooler}", hugging_face="bert.pooler",
                lens="pooler.hook_pooler_out", tensorflow="pooled_output")
    at = "cls.seq_relationship"
    yield from _name_linear(at, "Projects the pooled vector to two logits.", "The bias of each logit.",
                            ("nsp_head.W", "nsp_head.b"))
    yield Names(at, hugging_face=at, lens="nsp_head.hook_nsp_out", tensorflow="logits")
    yield Names(f"{at}.probs")
    yield from _name_linear("classifier", "Projects the vector to the logits.", "The bias of each logit.")
    yield Names("classifier", hugging_face="classifier", tensorflow="logits")
    yield Names("classifier.probs", note=r"\mathrm{Softmax}", tensorflow="probabilities")


def _name_question_answering() -> Iterable[Names]:
    at = "qa_outputs"
    yield from _name_linear(at, "Projects the vector to a start and an end logit.", "The bias of each logit.")
    yield Names(at, hugging_face=at, tensorflow="logits")
    for name in ("start", "end"):
        yield Names(f"{at}.{name}", hugging_face=f"{name}_logits", tensorflow=f"{name}_logits")
        yield Names(f"{at}.{name}.probs")
    yield Names(f"{at}.spans")


def _name_axes() -> Iterable[Names]:
    for axis, lens, length in (("token", "pos", "seq_length"), ("query", "query_pos", "from_seq_length"),
                               ("key", "key_pos", "to_seq_length")):
        yield Names(axis, note=r"\text{max input length}", notebook="q_len", definition=r"\lvert x\rvert",
                    post=r"x.\mathrm{size}(1)", article=r"\mathrm{input\_length}", lens=lens, tensorflow=length)
    yield Names("head", note="n_{heads}", notebook="n_heads", definition="H", post="h", article="h",
                hugging_face="num_attention_heads", lens="n_heads", tensorflow="num_attention_heads")
    yield Names("head_dim", note="d_q, d_k, d_v", post="d_k", article="d_k, d_v",
                hugging_face="attention_head_size", lens="d_head", tensorflow="size_per_head")
    yield Names("hidden", note="d", notebook="dim", definition="d_e", post="H", article=r"\mathrm{emb\_dim}",
                hugging_face="hidden_size", lens="d_model", tensorflow="hidden_size")
    yield Names("concat", note=r"d_v \cdot n_{heads}", article=r"h \times d_v", hugging_face="all_head_size")
    yield Names("intermediate", note="d_{ffnn}", definition=r"d_{\mathrm{MLP}}",
                article=r"\mathrm{hidden\_dim},\ d_F",
                hugging_face="intermediate_size", lens="d_mlp", tensorflow="intermediate_size")
    yield Names("transform", definition="d_f", hugging_face="hidden_size", lens="d_model", tensorflow="hidden_size")
    yield Names("pooled", note="d", hugging_face="hidden_size", lens="d_model", tensorflow="hidden_size")
    yield Names("vocab", note=r"\text{vocab size}", notebook="vocab_size", definition=r"\lvert V\rvert",
                article=r"\mathrm{vocab\_size}", hugging_face="vocab_size", lens="d_vocab", tensorflow="vocab_size")
    yield Names("position", note=r"\text{max input length}", definition=r"\ell_{\max}",
                hugging_face="max_position_embeddings", lens="n_ctx", tensorflow="max_position_embeddings")
    yield Names("segment", hugging_face="type_vocab_size", tensorflow="type_vocab_size")
    yield Names("relation")
    yield Names("label", hugging_face="num_labels", tensorflow="num_labels")
    yield Names("bound", hugging_face="num_labels")
    yield from (Names(axis, tensorflow="seq_length") for axis in ("start", "end"))


_GROUPS = (_name_inputs, _name_embeddings, _name_attention, _name_attention_output, _name_feed_forward,
           _name_masked_language_model,
           _name_heads_for_the_whole_input, _name_question_answering)
NAMES: dict[str, Names] = {row.key: row for group in _GROUPS for row in group()}
AXIS_NAMES: dict[str, Names] = {row.key: row for row in _name_axes()}
