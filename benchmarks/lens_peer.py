"""TransformerLens at work in a process of its own, for `benchmarks/engine.py --lens PYTHON`; it needs nothing of ours.

    PYTHON benchmarks/lens_peer.py CHECKPOINT

PYTHON is that of an environment with transformer-lens 4.3 in it. Each line that it reads is a request in JSON, {"ids":
[...], "threads": 2, "token": 7}; it runs the model with everything cached and answers with a line: how many entries the
cache has, and the logits of that token, none for null.
"""

from __future__ import annotations

import json
import os
import sys

import torch
from transformer_lens.model_bridge import TransformerBridge  # pyright: ignore[reportMissingImports]
from transformers import BertForMaskedLM


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the packages print is no answer
    bridge = TransformerBridge.boot_transformers(sys.argv[1], model_class=BertForMaskedLM, device="cpu")
    for line in sys.stdin:
        asked = json.loads(line)
        if torch.get_num_threads() != asked["threads"]:
            torch.set_num_threads(asked["threads"])
        with torch.inference_mode():
            logits, cache = bridge.run_with_cache(torch.tensor([asked["ids"]]))
        token = asked["token"]
        row = [] if token is None else logits[0, token].tolist()
        print(json.dumps({"entries": len(cache), "logits": row}), file=answers, flush=True)


if __name__ == "__main__":
    main()
