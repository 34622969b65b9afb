"""The slips of the notebook."""

# fmt: off
# Laid out by hand: a slip reads as an entry of a table.

from __future__ import annotations

from bertviz_core.documents.slips import CODE, CONTRADICTION, NUMBER, WORKED, Slip

_FACTS = ("notebook", "facts")

NOTEBOOK_SLIPS = (
    Slip("bpe", "text before In [2]", "a BPE tokenizer", "a WordPiece tokenizer", CODE,
         "In [2] loads `BertTokenizer`. WordPiece marks the pieces inside a word with ##."),
    Slip("tokenizer-told", "remark in In [2]", "`Load Model`", "the tokenizer is loaded", CODE,
         "In [2] imports the model's class and loads its tokenizer alone; In [5] loads the model."),
    Slip("one-by-one", "text before In [5]", "the file is read one tensor at a time", "all of them at once", CODE,
         "In [5] loads the whole model by its class, which the text says is how it is usually done, and In [7] takes "
         "all tensors from it."),
    Slip("tiktoken", "text before In [12]", "the library tiktoken", "the tokenizer of Transformers", CODE,
         "No cell imports tiktoken: In [12] calls the tokenizer of In [2], and its ids begin with [CLS]."),
    Slip("ten-tokens", "text before In [15] and In [30]", "10 tokens", "12", CONTRADICTION,
         "The cells around it print 12 rows, and one of the two sentences says 12 itself.", _FACTS),
    Slip("not-redundant", "In [12], third remark", "`torch.tensor(input_ids[0])` is redundant",
         "it drops the first axis", CONTRADICTION,
         "In [12] prints ids of shape [1, 12]; without that line In [16] could not print [12, 768]."),
    Slip("unused-settings", "In [None]", "six sizes and settings are read", "none of them is used", CODE,
         "No later cell reads `dim`, `n_layers`, `n_heads`, `vocab_size`, `norm_eps` or `eps`: In [34] writes "
         "`(12, 64)`, In [57] `range(12)`. The name `eps` stands in In [29], In [30], In [56], In [57] and In [61], as "
         "the parameter of `layer_norm`, which is 1e-12 by hand each time."),
    Slip("typed-epsilon", "text before In [29]", "a small ε from the configuration", "a number typed by hand", CODE,
         "In [None] reads the configuration's; In [29] and its calls write `1e-12`. A model with another one would be "
         "normalized wrongly."),
    Slip("cell-order", "In [45] and In [41]", "stand in this order", "the other way around",
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
    Slip("nothing-initialized", "In [30], first remark", "LayerNorm and dropout are initialized", "neither is", CODE,
         "The lines below it are remarks too: In [30] calls the function of In [29], and nothing is ever dropped."),
    Slip("scores-not-shown", "text before In [40]", "`qk_per_token` results", "nothing of that name is computed", CODE,
         "In [40] makes scores, softmax and sum in one call, and shows none of the scores. Ours are on the page "
         "Attention.", ("attention", "")),
    Slip("not-unwrapped", "text before In [40]", "the matrices are now unwrapped, head by head",
         "the states are, and earlier", CODE,
         "No cell cuts a matrix: In [34] and In [37] cut queries, keys and values after the product."),
    Slip("undefined-states", "In [40]", "`t_query_states`", "`transposed_query_states`, of In [37]", CODE,
         "Only In [57] assigns that name, so the cells do not run from top to bottom; what In [37] makes is read by "
         "In [39] alone."),
    Slip("not-loaded", "text before In [40]", "query, key, value and output matrices are loaded, and their shapes seen",
         "elsewhere, and never", CODE,
         "In [32] loaded three of them before, In [42] loads the fourth later; no cell prints the shape of one. In [6] "
         "prints their sizes as layers."),
    Slip("built-in", "heading before In [40]", "attention is implemented from scratch", "it is one built-in call", CODE,
         "In [40] calls PyTorch's `scaled_dot_product_attention`, and its own first remark calls it built-in."),
    Slip("reshape-order", "remarks in In [41] and In [57]", "reshape and transpose; transpose and reshape",
         "the other way around, both", CODE,
         "In [41] transposes, then reshapes. In [57] calls the function of In [34], which reshapes first."),
    Slip("run-twice", "In [41]", "the result gets the name of what it was made from", "a name of its own", CODE,
         "Run twice it mixes tokens and components, without an error: of three axes it transposes the last two."),
    Slip("twelve-twice", "In [34], In [41], In [57]", "12 and 12", "the heads, and the tokens of this one sentence",
         CODE, "`reshape(1, 12, 768)` counts tokens, `(12, 64)` heads: a sentence of another length stops In [41]."),
    Slip("epsilon", "In [46]", r"$\varepsilon = 10^{-5}$", r"$\varepsilon = 10^{-12}$", CODE,
         "`torch.nn.functional.layer_norm` is called without its last argument. In [57] does the same step with "
         "`eps=1e-12`.", WORKED),
    Slip("own-norm", "In [46]", "PyTorch's `layer_norm`", "`layer_norm` of In [29]", CODE,
         "In [30], In [56], In [57] and In [61] call the notebook's own function; this cell alone does not, "
         "and so gets another ε."),
    Slip("sampling", "headings before In [49] and In [53]", "upsampling and downsampling, before the feed-forward "
         "network", "its two linear layers", CODE,
         "In [49] and In [54] are the network itself. Nothing is sampled: the number of tokens stays, and each layer "
         "is a matrix."),
    Slip("first-matrix", "In [53], under Downsampling", "the shape of the matrix into the network",
         "that of the matrix out of it", CODE,
         "It prints `layer_0_intermediate_dense_weight`, of In [49]; In [54] multiplies by another, whose rows and "
         "columns are the other way around."),
    Slip("continuous", "text before In [51]", "unlike ReLU, GELU is smooth and continuous", "unlike ReLU, it is smooth",
         NUMBER, "ReLU is continuous too: it has no jump, only a corner at 0, where its slope has one."),
    Slip("layer-told", "text before In [57]", "a layer is attention, a dense layer with GELU, and LayerNorm",
         "two residual sums, the output projection and the second dense layer too", CODE,
         "In [57] itself computes all four, in every layer, and normalizes twice."),
    Slip("bias-twice", "In [63], in remarks", "`cls.predictions.bias` is added to the decoder's bias",
         "it is that bias", NUMBER, "Both names stand for one tensor: if they ran, these lines would add it to itself. "
         "The number is how far a logit would move, at most."),
    Slip("other-folder", "In [5] and In [10]", "an absolute path to bert-base-uncased", "`model_path` of In [2]", CODE,
         "In [2] names a relative one. The warning that In [5] prints has another folder, so that run read another; "
         "In [10] reads its file from there too."),
    Slip("model-twice", "In [7]", "`model` becomes its own `state_dict()`", "two names", CODE,
         "In [6] it is a module, from In [8] on a dictionary of tensors: In [7] run twice ends with an error."),
    Slip("other-models", "remarks in In [15], In [40] and In [57]", "`model.embed_tokens`, a causal mask",
         "neither is in BERT", CONTRADICTION,
         "In [8] prints no such tensor, and an encoder has no causal mask: the remarks are another model's."),
    Slip("name-twice", "In [57] and In [59]", "`layer_intermediate_dense_weight`", "two names", CODE,
         "First the matrix into the feed-forward network, then that of the LM head."),
    Slip("decoded-tensors", "In [69]", "`return_tensors='pt'`", "nothing", CODE,
         "`decode` gives a text, with or without it. The argument is one of `encode`, as in In [12] and In [67]."),
)
