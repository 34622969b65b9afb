"""What an exported script or notebook carries along: these functions are written into it as they stand here."""

import base64
import math

import torch
from safetensors.torch import load_file


def read(*paths: str, dtype: torch.dtype) -> dict[str, torch.Tensor]:
    """The checkpoint's tensors, under Hugging Face names without the prefix."""
    stored = {name: tensor for path in paths for name, tensor in load_file(path).items()}
    anchor = "embeddings.word_embeddings.weight"
    prefix = min((name for name in stored if name.endswith(anchor)), key=len).removesuffix(anchor)
    named = {}
    for name in sorted(stored, key=lambda name: not name.startswith(prefix)):  # the encoder's own tensors come first
        short = name.removeprefix(prefix)
        short = short.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
        named.setdefault(short, stored[name].to(dtype))
    named.setdefault("cls.predictions.decoder.weight", named[anchor])
    if "cls.predictions.bias" in named:
        named.setdefault("cls.predictions.decoder.bias", named["cls.predictions.bias"])
    return named


def take_marks(tensor: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A short record of a tensor: the weighted means of up to 64 runs of its numbers, and those of their sizes.

    A number's weight goes with its place and lies between 1 and 2: every number counts, and none can change places.
    """
    numbers = tensor.flatten()
    length = -(-len(numbers) // 64)
    runs = torch.nn.functional.pad(numbers, (0, -len(numbers) % length)).view(-1, length)
    weights = 1 + torch.arange(length, dtype=torch.float64) * 0.6180339887 % 1
    means, sizes = [], []
    for some in runs.split(max(1, 2**20 // length)):  # all at once, in double precision, could fill the memory
        precise = some.double()
        if not some.abs().max() < 1e30:  # a masked score would drown the others
            precise = precise.where(precise.abs() < 1e30, precise.sign())
        means.append(precise @ weights / length)
        sizes.append(precise.abs() @ weights / length)
    return torch.cat(means), torch.cat(sizes)


def measure_distance(tensor: torch.Tensor, shape: tuple[int, ...], recorded: str) -> float:
    """The largest difference to recorded means, as a part of the numbers' usual size; infinite for another shape."""
    if tuple(tensor.shape) != shape:
        return math.inf
    means, sizes = take_marks(tensor)
    expected = torch.frombuffer(bytearray(base64.b64decode(recorded)), dtype=torch.float32)
    usual = sizes.clamp(min=max(sizes.mean().item(), 1e-30))
    return ((means - expected).abs() / usual).max().item()
