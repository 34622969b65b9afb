"""Arrays that share memory with what a trace keeps, and cannot be written to."""

from __future__ import annotations

import numpy as np
from torch import Tensor


def lock(numbers: Tensor | np.ndarray) -> np.ndarray:
    """The same numbers, not copied, as an array that cannot be made writeable: no base of it is, nor can any be.

    A flag alone could be turned back by whoever has the array, since a tensor's memory is writeable. What comes through
    DLPack has no base that NumPy could write to. PyTorch heeds no flag: `torch.from_numpy` warns, and then shares it.
    """
    array = np.from_dlpack(numbers)
    array.flags.writeable = False
    return array
