"""The whole pass as one plain PyTorch script, read off the program."""

from __future__ import annotations

from bertviz_core.expressions import Symbol
from bertviz_core.trace import Trace


def script(trace: Trace, weights: str = "model.safetensors") -> str:
    """Python source that needs torch and safetensors only: loads a checkpoint file, runs every step, line by line.

    weights: the path written into the script. The file's names may carry `bert.`; older gamma and beta names and a
    missing tied decoder are understood. After the last line every tensor stands in the variable of its step.
    """
    program, inputs = trace.program, trace.encoding
    numbers = {
        "input_ids": f"torch.tensor({list(inputs.ids)})",
        "position_ids": f"torch.arange({len(inputs)})",
        "token_type_ids": f"torch.tensor({list(inputs.segments)})",
        "attention_mask": f"torch.tensor({[float(m) for m in inputs.mask]})",
    }
    return "\n".join(
        [
            "import math",
            "",
            "import torch",
            "from safetensors.torch import load_file",
            "",
            *_READER,
            f"w = read({weights!r})",
            "",
            f"# {' '.join(inputs.tokens)}".encode("unicode_escape").decode(),
            *(f"{symbol.variable} = {numbers[symbol.address]}" for symbol in program.inputs),
            "",
            *(f"{symbol.variable} = {_stored(symbol)}" for symbol in program.parameters),
            "",
            *(f"{step.code}  # {step.address} ({', '.join(step.dims)})" for step in program.steps),
            "",
        ]
    )


_READER = '''def read(path):
    """The checkpoint's tensors in float32, under Hugging Face names without the prefix."""
    stored = load_file(path)
    anchor = "embeddings.word_embeddings.weight"
    prefix = min((name for name in stored if name.endswith(anchor)), key=len).removesuffix(anchor)
    named = {}
    for name, tensor in stored.items():
        name = name.removeprefix(prefix)
        name = name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
        named[name] = tensor.float()
    named.setdefault("cls.predictions.decoder.weight", named[anchor])
    if "cls.predictions.bias" in named:
        named.setdefault("cls.predictions.decoder.bias", named["cls.predictions.bias"])
    return named

'''.splitlines()


def _stored(symbol: Symbol) -> str:
    """The line's right side: matrices are stored (out, in) and used (in, out), tables and vectors as they are."""
    turned = ".T" if len(symbol.axes) == 2 and not symbol.address.startswith("embeddings.") else ""
    return f'w["{symbol.address}"]{turned}'
