"""The slips of the notebook."""

# fmt: off
# Laid out by hand: a slip reads as an entry of a table.

from __future__ import annotations

from bertviz_core.documents.slips import CODE, CONTRADICTION, WORKED, Slip

_FACTS = ("notebook", "facts")

NOTEBOOK_SLIPS = (
    Slip("bpe", "text before In [2]", "a BPE tokenizer", "a WordPiece tokenizer", CODE,
         "In [2] loads `BertTokenizer`. WordPiece marks the pieces inside a word with ##."),
    Slip("tiktoken", "text before In [12]", "the library tiktoken", "the tokenizer of Transformers", CODE,
         "No cell imports tiktoken: In [12] calls the tokenizer of In [2], and its ids begin with [CLS]."),
    Slip("ten-tokens", "text before In [15] and In [30]", "10 tokens", "12", CONTRADICTION,
         "The cells around it print 12 rows, and one of the two sentences says 12 itself.", _FACTS),
    Slip("not-redundant", "In [12], third remark", "`torch.tensor(input_ids[0])` is redundant",
         "it drops the first axis", CONTRADICTION,
         "In [12] prints ids of shape [1, 12]; without that line In [16] could not print [12, 768]."),
    Slip("unused-settings", "In [None]", "six sizes and settings are read", "none of them is used", CODE,
         "`dim`, `n_layers`, `n_heads`, `vocab_size`, `norm_eps` and `eps` stand in no later cell: In [34] writes "
         "`(12, 64)`, In [57] `range(12)`, In [29] and its calls `1e-12`."),
    Slip("cell-order", "In [15] and In [14], In [45] and In [41]", "stand in this order", "the other way around",
         CONTRADICTION, "In [45] prints three axes, the shape after In [41]; In [40], above it, leaves four."),
    Slip("pre-norm", "text before In [29]", "a layer starts by normalizing its input",
         "a layer normalizes each of its two sums", CODE,
         "In [33] multiplies the layer's input as it is; In [46] and In [56] normalize after each sum. The LayerNorm "
         "of In [30] belongs to the embeddings."),
    Slip("layer-0", "text before In [29] and In [30]", "`encoder.layer.0` is read here",
         "`embeddings.LayerNorm` is read", CODE,
         "In [30] reads `bert.embeddings.LayerNorm.weight`; the first layer begins with In [32]."),
    Slip("docstring", "In [29], first parameter", "x is (batch_size, num_features)",
         "x has any axes before the last", CONTRADICTION, "In [30] calls it with [1, 12, 768]."),
    Slip("scores-not-shown", "text before In [40]", "`qk_per_token` results", "nothing of that name is computed", CODE,
         "In [40] makes scores, softmax and sum in one call, and shows none of the scores. Ours are on the page "
         "Attention.", ("attention", "")),
    Slip("not-unwrapped", "text before In [40]", "the matrices are now unwrapped, head by head",
         "the states are, and earlier", CODE,
         "No cell cuts a matrix: In [34] and In [37] cut queries, keys and values after the product."),
    Slip("undefined-states", "In [40]", "`t_query_states`", "`transposed_query_states`, of In [37]", CODE,
         "Only In [57] assigns that name, so the cells do not run from top to bottom; what In [37] makes is read by "
         "In [39] alone."),
    Slip("twelve-twice", "In [34], In [41], In [57]", "12 and 12", "the heads, and the tokens of this one sentence",
         CODE, "`reshape(1, 12, 768)` counts tokens, `(12, 64)` heads: a sentence of another length stops In [41]."),
    Slip("epsilon", "In [46]", r"$\varepsilon = 10^{-5}$", r"$\varepsilon = 10^{-12}$", CODE,
         "`torch.nn.functional.layer_norm` is called without its last argument. In [57] does the same step with the "
         "config's.", WORKED),
    Slip("sampling", "headings before In [49] and In [53]", "upsampling and downsampling, before the feed-forward "
         "network", "its two linear layers", CODE,
         "In [49] and In [54] are the network itself. Nothing is sampled: the number of tokens stays, and each layer "
         "is a matrix."),
    Slip("other-models", "remarks in In [15] and In [40]", "`model.embed_tokens`, a causal mask",
         "neither is in BERT", CONTRADICTION,
         "In [8] prints no such tensor, and an encoder has no causal mask: the remarks are another model's."),
    Slip("name-twice", "In [57] and In [59]", "`layer_intermediate_dense_weight`", "two names", CODE,
         "First the matrix into the feed-forward network, then that of the LM head."),
)
