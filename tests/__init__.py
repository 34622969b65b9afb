"""The tests. Here and in all that they import a pass runs on one thread, whether it is alone or not.

On more threads products are summed in another order, and two passes of one sentence differ in their last digits.
"""

import torch

torch.set_num_threads(1)  # before the project asks how many there are
