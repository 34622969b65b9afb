"""The slips of the encoder article."""

# fmt: off
# Laid out by hand: a slip reads as an entry of a table.

from __future__ import annotations

from bertviz_core.documents.slips import CONTRADICTION, NUMBER, Slip

_SUM, _TABLE = ("playground", "sum"), ("playground", "printed")

ARTICLE_SLIPS = (
    Slip("two-widths", "Notation", r"$\mathrm{hidden\_dim}$, $\mathrm{emb\_dim}$", "one name each", CONTRADICTION,
         r"The first is defined and never used: $W_1$ and $W_2$ have $d_F$. The second stands in the formulas as "
         r"$\mathrm{emb\_dim}$ and as $d_{\mathrm{emb\_dim}}$."),
    Slip("unused-size", "Notation", r"$\mathrm{vocab\_size}$", "nothing", CONTRADICTION,
         "It is defined and never used: no formula and no matrix of the article has this size."),
    Slip("pads-first", r"Padding: $[5, 5, 5, 34, \ldots]$", "three tokens before the text",
         "after it, or positions that begin behind them", NUMBER,
         "Its matrix $P$ gives “Hello” position 0; behind three pads it stands at 3. The numbers are the first "
         "component of $P$ at both."),
    Slip("letter-p-twice", "the matrix $P$ of six positions", "for a sentence $P$", "for a sentence", CONTRADICTION,
         "$P$ is the matrix of positions in the formula above it, $Z + P$."),
    Slip("unmasked-pads", "note below $Attention(Q, K, V)$", "the encoder uses no mask", "padding is masked", NUMBER,
         "It pads its inputs. Without a mask the padding is attended to: the number is the share of attention that "
         "[PAD] gets in the article's own pass, with three more of it before the text, as it pads: the mean over heads "
         "and over the tokens that are no padding."),
    Slip("through-q", "$Q_i$, $K_i$, $V_i$", "vectors projected through $Q_i$", "through $W_i^Q$", CONTRADICTION,
         "$Q_i$ is the result of the projection, one row per token, as the article itself defines it."),
    Slip("u-and-v", "$v_i u_j$", "then directions of $u_i$ and $v_j$", "of $v_i$ and $u_j$", CONTRADICTION,
         "The line above calls the query $v_i$ and the key $u_j$."),
    Slip("longer-greater", "$v_i u_j$", "the larger the lengths, the greater the dot product",
         "only where the cosine is above 0", NUMBER,
         "Where it is below 0, longer vectors have a smaller product. The number is how many dot products are, in the "
         "article's own pass."),
    Slip("index-i", "$Q_i$, $v_i$", "$i$ is the head and the token, in one sentence", "two letters", CONTRADICTION,
         "The head's matrices have $i$, and the token too; before that $i$ is a position."),
    Slip("softmax-entry", "softmax, “Hello” to “Hello”", "`72.40e-06`", "`2.40e-06`", NUMBER,
         "Its own scores give it: one digit too many.", _TABLE),
    Slip("seven-ones", "sums beside the softmax", "7 ones", "6, one a row", CONTRADICTION, "The matrix has 6 rows.",
         _TABLE),
    Slip("fourth-token", "Example 1", "“you” is the 4th token", "the 5th", CONTRADICTION,
         "Its own vector has the 1 at the 5th place.", _SUM),
    Slip("size-as-entry", "Example 1, the vector of values", "$d_v$ is its first entry", "a size, beside it",
         CONTRADICTION, "With it the vector has seven entries, and the row before it six numbers."),
    Slip("positive-numbers", "Example 2", "positive numbers that sum to 1", "numbers of at least 0", NUMBER,
         "One of the six is 0."),
    Slip("lost-indices", "Example 2, the weighted sum", "`0v,` and `0.14v?`", "$0v_{,}$ and $0.14v_{?}$", CONTRADICTION,
         "The two signs are tokens, and stand for an index; in the formula of $V_{Hello,1}$ below they do."),
    Slip("five-rows", "Example 2, first matrix", "5 rows", "6, one a token", CONTRADICTION,
         "Six tokens stand beside them.", _SUM),
    Slip("v-twice", r"$V_{Hello,1}$, $V_1, \ldots, V_h$", "$V$ for the output of a head", "a letter of its own",
         CONTRADICTION, "$V_i$ is the matrix of values in $XW_i^V = V_i$; and the token is lost from the index."),
    Slip("w-names", r"$\mathrm{Concat}(V_1, V_2, \ldots, V_h)W_0$", "$W_0$", "$W^O$", CONTRADICTION,
         "One matrix under two names; its sizes are given twice too, once as $h d_v$, once as $d_v h$."),
)
