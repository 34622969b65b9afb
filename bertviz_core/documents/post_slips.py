"""The slips of the formula post."""

# fmt: off
# Laid out by hand: a slip reads as an entry of a table.

from __future__ import annotations

from bertviz_core.documents.slips import CODE, CONTRADICTION, NUMBER, WORKED, Slip

POST_SLIPS = (
    Slip("other-encoder", "second section", "a layer is the Transformer's encoder [1]", "a layer with LayerNorm first",
         CONTRADICTION, "In [1], the paper that it cites, LayerNorm comes after each sum; in its $f_E$ before."),
    Slip("root-of-d", r"$\frac{QK^T}{\sqrt d_k}$", "the root covers $d$ only", r"$\sqrt{d_k}$", CONTRADICTION,
         r"LaTeX reads `\sqrt d_k` as $\sqrt{d}$ with a subscript; the words behind it explain $d_k$, and there is no "
         "$d$."),
    Slip("size-of-k", "$d_k$", "the dimension of the matrix $K$", "the columns of one head's keys", NUMBER,
         "A matrix has two sizes. With the columns of all heads' keys the scores would be too small by the factor "
         "here."),
    Slip("cascade", "Multi-Head Attention", "heads one after another", "heads beside each other", CONTRADICTION,
         r"Its formula concatenates them, and each reads $Q$, $K$ and $V$."),
    Slip("w-zero", r"$Concat(head_1,\ldots,head_h)W^0$", "$W^0$", "$W^O$", CONTRADICTION,
         "The O stands for output, as Q, K and V stand for what they make; no other matrix has a number."),
    Slip("sigma", r"$\sigma$", r"$\sqrt{\frac{1}{H}}\sum_i (x_i-\mu)^2$", r"$\sqrt{\frac{1}{H}\sum_i (x_i-\mu)^2}$",
         NUMBER, "The root ends too early. Its next formula squares σ and takes it for a variance.", WORKED),
    Slip("sum-of-functions", "$E=f_{EM1}+f_{EM2}+f_{EM3}$", "three functions are added", "their three results",
         CONTRADICTION, "The results have names, one line each above, and none of the names is used."),
    Slip("names-in-math", "BERTEmbedding and Summary: the three embeddings",
         r"$word_embeddings$, $position_embeddings$, $token_type_embedding$", r"`word_embeddings` and so on, as code",
         CONTRADICTION,
         "LaTeX makes the letter behind each underscore a subscript; and the third name alone has no s."),
    Slip("unexplained", r"$\mu$, $\sigma$ and $LN(x)$", r"$H$ and $\epsilon$, without a word",
         "the hidden size, and a small constant", CONTRADICTION,
         r"The words below explain $\odot$, $g$ and $b$ alone; above, the small $h$ counts heads."),
    Slip("self-attention", "BERTSelfAttention", "only scaled dot-product attention",
         "projections, heads and their concatenation too", CONTRADICTION,
         "Attention takes Q, K and V; $f_{Att}$ takes one matrix, so something must make three of it."),
    Slip("only-zeros", r"`torch.zeros_like(x)`", "every segment is 0", "only where none is given", CODE,
         "In the code that the post links to the zeros are the default of an argument; in BERT the second sentence of "
         "a pair has segment 1."),
    Slip("self-output", "BERTSelfOutput, BERTOutput", "only a linear layer and dropout",
         "in BERT a residual sum and LayerNorm too", CODE,
         "It is so in the code that the post links to, which moved both into the layer; in BERT as released these two "
         "modules end with them."),
    Slip("unused-names", "BERTSelfAttention, BERTSelfOutput", "$f_{SelfAtt}$, $f_{SelfOut}$",
         "$f_{Att}(x)=f_{SelfOut}(f_{SelfAtt}(x))$", CONTRADICTION,
         "Both are defined, and no formula has either: of $f_{Att}$ it is only said that it has these two parts."),
    Slip("only-activation", "BERTIntermediate", "an activation", "a linear layer and an activation", NUMBER,
         "An activation leaves the number of components as it is; $f_{Out}$ could not bring them back."),
    Slip("select", "BERTLayer", "selects a layer", "is a layer", CONTRADICTION,
         "The same sentence says that it is an encoder block."),
    Slip("third-term", "BERTLayer and Summary: all five formulas of $f_E$", r"$f_{LN}(f_{LN}(x)+f_{Att}(f_{LN}(x))+x)$",
         "$f_{LN}(f_{Att}(f_{LN}(x))+x)$", CODE,
         "The outer sum and the code that the post links to add attention and $x$, nothing else. The lengths are those "
         "of the extra term and of the other two together, in the post's own pass."),
    Slip("two-names", "BERTLayer: $f_E$", "$LN$ and $f_{LN}$, $Attention$ and $f_{Att}$", "one name each",
         CONTRADICTION, "One of the two formulas has both names of LayerNorm in one line."),
    Slip("undefined-names", "BERTLayer: $f_E$; BERTPooler", r"$Linear$, $Inter$, $f_{Linear}$",
         r"$f_{Out}$, $f_{Inter}$, and a linear layer of its own", CONTRADICTION,
         "None of the three is defined. The next formula has $f_{Out}$ and $f_{Inter}$ where the first has $Linear$ "
         "and $Inter$."),
    Slip("one-norm", "$f_{LN}$", "one function in both places of a layer", "one with parameters of its own for each",
         NUMBER, "The code that the post links to has two LayerNorms in a layer; the scales γ of BERT's two differ."),
    Slip("no-index", r"$f_{E1}, \ldots, f_{E12}$", "the same $f_{Att}$, $f_{Inter}$ and $f_{Out}$ in all layers",
         "one of each for every layer", NUMBER,
         "As printed all layers would share their weights; the encoder article (004) says that they do not."),
    Slip("function-as-vector", r"$f_{E2}, \ldots, f_{E12}$, $f_{Pooler}$", "a layer's function is normalized and added",
         "its result", CONTRADICTION,
         "$f_{LN}$, $f_{Att}$ and the sum take a matrix, as $x$ is one in $f_{E1}$: what layer 1 gives would be "
         "$f_{E1}(x)$."),
    Slip("x-twice", "Summary, second stage", "$x$, the token ids", "$E_o$", NUMBER,
         "The first stage looks $x$ up, the second normalizes and adds it: ids have no components to normalize."),
    Slip("final-norm", "Summary: $f_{Pooler}$", "$f_{E12}$ goes straight to the pooler", "it is normalized once more",
         NUMBER, "With LayerNorm first, nothing normalizes the last sum. The code that the post links to has one more "
         "LayerNorm for it, behind all layers. The lengths are those of the first row, in the post's own pass."),
    Slip("first-token", "Summary: $f_{Pooler}$", "all of $f_{E12}$", "its first row", CODE,
         "The code that the post links to takes the first token alone. As printed there would be a pooled vector for "
         "every token."),
)
