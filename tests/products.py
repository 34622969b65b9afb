"""How much work a pass is: the matrix products that PyTorch is asked for."""

from torch.overrides import TorchFunctionMode


class Products(TorchFunctionMode):
    """Counts the matrix products that PyTorch is asked for."""

    count = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.count += "matmul" in function.__name__
        return function(*args, **(kwargs or {}))
