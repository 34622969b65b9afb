"""The slips of the definition."""

# fmt: off
# Laid out by hand: a slip reads as an entry of a table.

from __future__ import annotations

from bertviz_core.documents.slips import CONTRADICTION, NUMBER, Slip

DEFINITION_SLIPS = (
    Slip("acronym", "first line", "Representation of Transformers", "Representations from Transformers", CONTRADICTION,
         "The name's own letters fit both; the notebook (001) and the paper have the second."),
    Slip("letter-p", "$P$, $X$", r"the texts' distribution, the output and the normal distribution are all $P$",
         "three letters", CONTRADICTION,
         r"In $\mathrm{gelu}(x)$ the letter $X$ is a random number too, and in the pseudocode the matrix of states."),
    Slip("subset", "Algorithm, first line", r"a pair $(x)\subseteq V^*$", r"$x\in V^*$", CONTRADICTION,
         r"One letter is no pair, and a sequence is an element of $V^*$, as its own input line has it."),
    Slip("unused-z", r"Input: $z,x\in V^*$", "two sequences", "one", CONTRADICTION,
         "E-Transformer takes $x$; $z$ stands nowhere again. No line reads a second sentence."),
    Slip("missing-i", r"$P_{ij}=\hat{P}_{\theta}(x_{j})$", "no $i$ on the right", r"$\hat{P}_{\theta}(x_j = i)$",
         NUMBER, r"As printed, all $\lvert V\rvert$ numbers of a column would be one and the same. The numbers are "
         "those of this token's column, once in the definition's own pass and once in BERT's."),
    Slip("numbering", "specifications", "1, 2, 1, 2", "1, 2, 3, 4", CONTRADICTION, "Four lists, two numbers."),
    Slip("two-sizes", r"$d_{\mathrm{MLP}}$", r"then $d_{\mathrm{mlp}}$", "one spelling", CONTRADICTION,
         "The hyperparameters have the first, the sizes of the matrices the second."),
    Slip("l-enc", r"$W_1^l, b_1^l, W_2^l, b_2^l$ for $l\in[L_{\mathrm{enc}}]$", r"$L_{\mathrm{enc}}$", "$L$",
         CONTRADICTION, r"Only $L$ is a hyperparameter; the loop runs to $L$."),
    Slip("two-ones", r"$\mathrm{MultiHeadAttention}(X,X\vert\mathcal{W}^l,1)$", "a last argument 1, without a word",
         "a name", CONTRADICTION, r"No line says what it is; in $b_1^l 1^\top$ the same sign is the column of ones."),
    Slip("two-i", "$P_{ij}$ and $x^i$", "$i$ is an entry of the vocabulary, and a text", "two letters", CONTRADICTION,
         r"In the output it counts the rows of $P$; in the dataset and in E-Training it counts the texts."),
    Slip("x-unset", "E-Transformer, first line", r"$\mathrm{Embed}(X\vert W_e,W_p)$",
         r"$\mathrm{Embed}(x\vert W_e,W_p)$", CONTRADICTION,
         "The line sets $X$ from itself; its own remark reads $x_j$."),
    Slip("typed-mask", r"E-Training: $J(\theta)$", r"counts where $\hat{x}^i_j$ is the mask token",
         "counts where a token was replaced by it", NUMBER,
         r"A text that holds [MASK] itself would train the model to predict [MASK] there: its term is $-\log P$ of it. "
         r"The numbers, of a sentence with a [MASK], are that of its first, once in the definition's own pass and once "
         r"in BERT's.", ("training", "")),
)
