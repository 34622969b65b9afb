"""The key of the step in which dot products are divided: at which divisor one token gets the share that is aimed at."""

from __future__ import annotations

import numpy as np

from bertviz_core.formula.numbers import format_percent, write_fixed
from bertviz_core.lessons.lesson import Tried, Worked
from bertviz_core.lessons.scene import Scene

FROM, AIM, TO = 0.88, 0.9, 0.92  # the share to be reached by another divisor: at least, about, at most
LEAST = 0.2  # divisor that is asked for
_LARGEST = 40.0  # divisor that is tried


def share_out(scores: np.ndarray) -> np.ndarray:
    """Softmax of a row of scores, in float64."""
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def share_at(scene: Scene, divisor: float) -> float:
    """What the strongest key would get, if the dot products were divided by this."""
    return float(share_all(scene, divisor)[scene.read_row("products").argmax()])


def share_all(scene: Scene, divisor: float) -> np.ndarray:
    """The chosen token's weights, if the dot products were divided by this: (key)."""
    return share_out(scene.read_row("products") / divisor)


def is_aim_reached(scene: Scene, divisor: float) -> bool:
    return FROM <= share_at(scene, divisor) <= TO


def find_divisor(scene: Scene) -> float:
    """The divisor at which the strongest key gets the share that is aimed at, by halving."""
    low, high = 0.01, _LARGEST
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if share_at(scene, middle) > AIM else (low, middle)
    return low


def is_divisible(scene: Scene) -> bool:
    return LEAST < find_divisor(scene) < find_ends(scene)[1]


def is_aim_open(scene: Scene) -> bool:
    """Whether the model's own divisor gives another share than is aimed at, so that there is something to do."""
    return not is_aim_reached(scene, find_root(scene))


def find_root(scene: Scene) -> float:
    return float(scene.model.config.head_dim) ** 0.5


def find_ends(scene: Scene) -> tuple[float, float]:
    return 0.1, round(2 * find_root(scene), 1)


def show_share(scene: Scene, divisor: float) -> str:
    key = int(scene.read_row("products").argmax())
    return f"Divided by {write_fixed(divisor, 2)}: {scene.quote(key)} gets {format_percent(share_at(scene, divisor))}"


def work_scale(scene: Scene) -> Worked:
    key, width = int(scene.read_row("products").argmax()), scene.model.config.head_dim
    divisor = find_divisor(scene)
    numbers = {
        "a": scene.quote(key),
        "width": str(width),
        "root": write_fixed(find_root(scene), 2),
        "w": format_percent(share_at(scene, find_root(scene))),
        "one": format_percent(share_at(scene, 1.0)),
        "divisor": write_fixed(divisor, 2),
    }
    return Worked(divisor, numbers, scene.find_attention("scaled", query=scene.token, key=key))


def tell_share(tried: Tried) -> dict[str, str]:
    return {
        "v": format_percent(share_at(tried.scene, tried.answer)),
        "set": write_fixed(tried.answer, 2),
    }
