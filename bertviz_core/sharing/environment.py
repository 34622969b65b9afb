"""Amounts that whoever runs the app may set, as environment variables."""

from __future__ import annotations

import os

from bertviz_core.errors import InputError

UNITS = {"GB": ("gigabytes", 1e9), "MB": ("megabytes", 1e6)}


def read_bytes(setting: str, usual: float) -> int:
    """Bytes that a variable, whose name ends in its unit, allows; `usual` units where it is not set.

    Raises InputError where it is no positive number.
    """
    unit, factor = UNITS[setting[-2:]]
    given = os.environ.get(setting, "").strip()
    try:
        amount = float(given or usual) * factor
        if not 0 < amount < 1e15:
            raise ValueError
    except ValueError:
        raise InputError(
            f"{setting} is {given[:40]!r}, but takes a positive number of {unit}, such as {usual:g}. Whoever runs this "
            "server can mend that."
        ) from None
    return int(amount)
