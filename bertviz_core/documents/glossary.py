"""Words that a newcomer cannot know, each with a sentence. The one list for the whole app."""

# fmt: off
# Laid out by hand: an entry reads as a line of a table.

from __future__ import annotations

GLOSSARY: dict[str, str] = {
    # what goes in
    "WordPiece": "The tokenizer's method: it splits a word into the longest pieces that the vocabulary has.",
    "vocabulary entry": "One of the tokens that the model knows, with its own id and embedding.",
    "[CLS]": "A token put before every text: answers about the text as a whole are read from its last vector.",
    "[SEP]": "A token put behind each of the one or two texts of an input, where it ends.",
    "[MASK]": "A token that stands where another is hidden; the model was trained to say which.",
    "special token": "A token that is no piece of text: [CLS], [SEP], [MASK], [PAD], or [UNK] for what no pieces fit.",
    "attention mask": "One number per token: 1 for a token that can be attended to, 0 for padding.",
    "padding": "Tokens called [PAD] that fill an input up to a given length; the attention mask excludes them.",
    "segment": "Which of the two sentences a token belongs to, 0 or 1.",
    "embedding": "The learned vector of a token, a position or a segment.",
    # the model
    "checkpoint": "The file with a model's learned parameters.",
    "parameter": "A learned tensor of the model; it is the same for every sentence.",
    "tensor": "An array of numbers with named axes.",
    "forward pass": "The whole computation from the token ids to the predictions.",
    "component": "One of the numbers of a vector.",
    "length": "How long a vector is: the square root of the sum of its squared components.",
    "hidden size": "The number of components of a token's vector between the layers.",
    "bias": "A learned vector that is added after a multiplication by a matrix.",
    # attention
    "head": "One of a layer's attentions, counted from 0, each with queries, keys and values of its own.",
    "query": "The vector of a token that is compared with the keys of all tokens.",
    "key": "The vector of a token that queries are compared with.",
    "value": "The vector of a token that is averaged with the attention weights.",
    "dot product": "The products of matching components of two vectors, added up.",
    "√d_k": "The square root of a head's width; undivided, dot products can be so large that one key takes all.",
    "attention score": "The dot product of a query and a key, divided by √d_k: what the softmax reads.",
    "softmax": "Turns scores into positive numbers that sum to 1: each exponential divided by the sum of all.",
    "attention weight": "How much of a key's value a query receives; the weights of a query sum to 1.",
    "head output": "The sum of all values in one head, each times its attention weight.",
    "concatenated heads": "The outputs of all heads of a layer, written side by side as one vector per token.",
    "attention output": "The concatenated heads times the output matrix, plus a bias: one vector per token.",
    # around it
    "residual connection": "The path that carries the input of a sub-layer around it, to be added to its output.",
    "residual": "A token's vector on its way through the layers, which every sub-layer reads and adds to.",
    "residual sum": "The input of a sub-layer plus its output, before LayerNorm.",
    "sub-layer": "One of the two parts of a layer: attention or the feed-forward network.",
    "LayerNorm": "Brings a vector to mean 0 and variance 1, then scales it by γ and shifts it by β.",
    "feed-forward network": "Two linear layers with an activation function between them, applied to each token alone.",
    "neuron": "One component inside the feed-forward network: a weighted sum, then the activation function.",
    "activation function": "A simple function that is no straight line, such as GELU or ReLU, applied to each number.",
    "pre-activation": "A neuron's weighted sum plus its bias, before the activation function.",
    "GELU": "BERT's activation function: a large number passes whole, a negative one is cut to between −0.17 and 0.",
    # what comes out
    "LM head": "The masked language model head: it turns the last vectors into logits over the vocabulary.",
    "logit": "A score before the softmax, one for each possible answer.",
    "pooler": "A linear layer with tanh that turns the last vector at [CLS] into one vector for the whole input.",
    "loss": "How wrong the guesses are: the sum of −log P of the hidden words, 0 if each of them were certain.",
    "gradient": "For each parameter, how fast the loss rises as that one grows; a step of training goes the other way.",
    # what is read out
    "cosine": "How similar two directions are: 1 the same, 0 at a right angle, −1 opposite.",
    "rank correlation": "How far two orders agree: 1 the same, 0 nothing in common, −1 one the other reversed.",
    "entropy": "How evenly attention is spread, in bits: 0 for one token, log₂ n for n equal weights.",
    "principal component": "A direction along which many vectors vary most.",
    "logit lens": "The LM head applied to the output of an earlier layer.",
    "operand": "A number that a formula computes another one from.",
}
