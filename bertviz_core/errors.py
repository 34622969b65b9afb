"""The one exception family: its text says what was wrong and what to do about it."""

import reprlib


class BertvizError(Exception):
    """Anything a user can mend. A page shows the text as it stands and stays usable."""


class AddressError(BertvizError):
    """An address that cannot be read, or that names nothing in this trace."""


class CheckpointError(BertvizError):
    """A checkpoint that cannot be found, read, or run as BERT."""


class InputError(BertvizError):
    """A text, a change or an option that the model cannot run on."""


class LengthError(InputError):
    """A text of more tokens than the model reads."""


class ArgumentError(InputError, TypeError):
    """An argument of a type that the function has no use for: to Python a TypeError."""

    @classmethod
    def of(cls, rule: str, came: object, remedy: str) -> "ArgumentError":
        """With the rule, what came instead, and the remedy as its text."""
        return cls(f"{rule}, not {reprlib.repr(came)}. {remedy}")


class DimsError(BertvizError):
    """An expression that combines axes whose names do not fit."""


class TrainingError(BertvizError):
    """Settings that nothing can be trained with, or a training that came to no number."""


class BusyError(BertvizError):
    """More work than the server can do in a short time."""
