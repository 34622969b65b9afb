"""The code of a room, which is read aloud and typed, and the secrets of who leads it and of each phone."""

from __future__ import annotations

import hashlib
import re
import secrets
from base64 import urlsafe_b64encode

LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # none that is taken for another: no 0 or O, no 1, I or L
LENGTH = 4
SECRET = re.compile(r"[A-Za-z0-9_-]{22}")
_CODE = re.compile(rf"[{LETTERS}]{{{LENGTH}}}")


def make_code() -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(LENGTH))


def make_secret() -> str:
    """128 random bits, as a URL can hold them."""
    return secrets.token_urlsafe(16)


def name_phone(room: str, visitor: str) -> str:
    """What a visitor's phone is called in a room: the same each time. room: a secret of the room's."""
    return urlsafe_b64encode(hashlib.sha256(f"{room} {visitor}".encode()).digest())[:22].decode()


def is_code(text: str) -> bool:
    return _CODE.fullmatch(text) is not None


def hide(secret: str) -> str:
    """A secret as it is kept: who reads the store cannot use it."""
    return hashlib.sha256(secret.encode()).hexdigest()
