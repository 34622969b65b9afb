"""The slips of the forward-pass note."""

# fmt: off
# Laid out by hand: a slip reads as an entry of a table.

from __future__ import annotations

from bertviz_core.documents.slips import CONTRADICTION, NUMBER, WORKED, Slip

NOTE_SLIPS = (
    Slip("value-size", "$W_{h,l}^V$", r"$\mathbb{R}^{d \times d_q}$", r"$\mathbb{R}^{d \times d_v}$", CONTRADICTION,
         r"Its own $V_{h,l}=Z_{l-1} W_{h,l}^V$ has $d_v$ columns. No number shows it: both sizes are equal in BERT."),
    Slip("one-length-twice", "$T$ and $Q_{h,l}$", "max input length, then max input len", "one name", CONTRADICTION,
         "The sizes under Initialize have the first; wherever the algorithm names it, it has the second."),
    Slip("residual-x", r"$\bar{Z}_l$ and $Z_l$", r"$X+\tilde{Z}_l$, $X+Z_l^{out}$",
         r"$Z_{l-1}+\tilde{Z}_l$, $\bar{Z}_l+Z_l^{out}$", NUMBER,
         "A residual connection carries a sub-layer's own input. X is that of the first layer only: in the note's own "
         "pass it is another vector than a later layer's input.", WORKED),
    Slip("always-full", r"$A_{h,l}$", r"$\mathbb{R}^{512 \times 512}$ and no mask",
         r"$\mathrm{Softmax}(\frac{Q_{h,l}K_{h,l}^T}{\sqrt{d_k}} + M)$", NUMBER,
         "Every input is as long as the longest. What the text leaves is padding, and the softmax attends to it like "
         "to words. The cosines are those of this token's last vector with BERT's, once with as many tokens as your "
         "sentence is read with and once with as many as this model can read; the note prints 512."),
    Slip("row-bias", "$b_l^{ffnn}$, $b_l^{out}$", r"a row of $1 \times d_{ffnn}$, added to a whole matrix",
         r"$\mathbf{1}\, b_l^{ffnn}$", CONTRADICTION,
         "The sizes that the note prints on both sides of the plus do not match; the definition (002) writes the "
         r"column of ones: $b_1^l 1^\top$."),
    Slip("final-product", r"$\tanh(W^{final} Z_{n_{layers}}[0,:])$", "a matrix times a row", "$Z_{n_{layers}}[0,:]\\, "
         "W^{final}$, or a column on the right", CONTRADICTION,
         r"$W^{final}$ has $d$ columns, $Z[0,:]$ one row. All other products of the note have the row on the left."),
    Slip("counted-from", "$Z_{n_{layers}}[0,:]$", "the first token is number 0", "number 1, as the note counts",
         CONTRADICTION, r"Ids run from $i_1$, heads and layers from 1."),
    Slip("softmax-of-tanh", r"$\mathrm{Softmax}$ that predicts the class", "the softmax of the tanh itself",
         "a classifier's matrix and bias in between", NUMBER,
         "The tanh has as many components as a token's vector, all between −1 and 1. A softmax over them has as many "
         "classes, and hardly tells them apart: no class gets more than $e^2$ times the share of another."),
)
