"""The small pass on which the browser's modules are tried: `python -m tests.small_pass > tests/js/pass.json`."""

import json
import sys
import tempfile
from dataclasses import replace

import bertviz_core as bv
from tests.canvas import draw, look
from tests.factory import random_checkpoint

TEXT = "the cat"
SIZES = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}


def round_floats(value):
    """The same with numbers as float32 has them, which are not made of more digits than these."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: round_floats(each) for key, each in value.items()}
    return [round_floats(each) for each in value] if isinstance(value, list | tuple) else value


def draw_small_pass():
    """What the canvas is given: 2 layers of 2 heads, seen from “the” and the first head of the second layer."""
    with tempfile.TemporaryDirectory() as folder:
        trace = bv.run(bv.load_model(random_checkpoint(folder, kind="masked-lm", **SIZES)), TEXT)
        view = replace(look(trace, token=1, head=(1, 0)), text=TEXT)
        return round_floats(draw(view))


if __name__ == "__main__":
    json.dump(draw_small_pass(), sys.stdout, separators=(",", ":"))
    sys.stdout.write("\n")
