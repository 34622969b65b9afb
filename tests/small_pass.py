"""The small passes on which the browser's modules are tried: `python -m tests.small_pass` writes tests/js/passes/."""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import bertviz_core as bv
from bertviz_core.ui.frame.view import DIFFERENCE
from tests.canvas import draw, look
from tests.factory import random_checkpoint

FOLDER = Path(__file__).parent / "js" / "passes"
TEXT = "the cat"
SIZES = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
LAYER = "encoder.layer.1"
CHANGES = {"encoder.layer.0.attention.self.probs[head=1]": 0.0, "input_ids[token=2]": 40}
RULES = {
    f"{LAYER}.intermediate.activation": "relu",
    f"{LAYER}.attention.output.residual": "no-residual",
    f"{LAYER}.output.LayerNorm[token=1,hidden=3]": 2.5,
}
AT = "token=1,hidden=6"  # numbers that are put there, one after the other on the way of a component
PUT = {
    f"embeddings.word_embeddings[{AT}]": 1.25,
    f"{LAYER}.attention.self.scores[head=0,query=1,key=3]": 2.5,
    f"{LAYER}.attention.output.dense[{AT}]": 0.75,
    f"{LAYER}.attention.output.residual[{AT}]": -0.5,
    f"{LAYER}.attention.output.LayerNorm.normalized[{AT}]": 1.5,
    f"{LAYER}.attention.output.LayerNorm[{AT}]": -2.25,
    f"{LAYER}.intermediate.activation[token=1,intermediate=13]": 4.0,
    "cls.predictions.decoder[token=1,vocab=7]": 3.0,
}
LONG = {"text": "the cat sat on the mat in rome", "pair": "do as the romans do playing"}
WINDOW = range(13, 19)  # of the long one's tokens: words, a piece, [SEP] and padding


def round_floats(value):
    """The same with numbers as float32 has them, which are not made of more digits than these."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: round_floats(each) for key, each in value.items()}
    return [round_floats(each) for each in value] if isinstance(value, list | tuple) else value


def load_small_model(folder, kind="masked-lm", **sizes):
    """2 layers of 2 heads, 8 numbers wide, unless other sizes are given."""
    name = "-".join([kind, *map(str, sizes.values())])
    return bv.load_model(random_checkpoint(Path(folder) / name, kind=kind, **{**SIZES, **sizes}))


def list_small_passes(folder) -> Iterator[tuple[str, dict]]:
    """What the canvas is given, by name; seen from “the” and the first head of the second layer."""
    model = load_small_model(folder)
    trace = bv.run(model, TEXT)

    def see(before, after=None, **more):
        return replace(look(before, after, **{"token": 1, "head": (1, 0), **more}), text=TEXT)

    yield "small", draw(see(trace))
    yield "whole", draw(see(trace), strip="neurons")
    changed = trace.with_changes(CHANGES)
    yield "changed", draw(see(trace, changed))
    yield "difference", draw(see(trace, changed, show=DIFFERENCE))
    yield "rules", draw(see(trace, trace.with_changes(RULES)))
    yield "put", draw(see(trace, trace.with_changes(PUT)), component=6)
    yield "without-words", draw(see(bv.run(load_small_model(folder, "base"), TEXT)))
    deep = load_small_model(folder, num_hidden_layers=13, num_attention_heads=4)
    yield "deep", draw(see(bv.run(deep, TEXT), head=(6, 3)))
    long = bv.run(model, LONG["text"], LONG["pair"], pad_to=22)
    yield "long", draw(replace(look(long, token=15, head=(1, 0)), **LONG), rows=WINDOW)


def write_small_passes():
    """One file each."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in list_small_passes(folder):
            text = json.dumps(round_floats({**data, "key": name}), separators=(",", ":"))
            (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_small_passes()
