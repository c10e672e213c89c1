"""Passwords, kept as argon2id hashes; the library's defaults are those of RFC 9106 for little memory."""

from __future__ import annotations

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

SHORTEST, LONGEST = 8, 1024
"""Characters of a password. An upper bound, because hashing takes time."""

_HASHER = PasswordHasher()
_NOBODY = _HASHER.hash("nobody has this password")


def hashed(password: str) -> str:
    """What is kept of a password.

    Raises:
        ValueError: too short or too long.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise ValueError(f"found a password of {len(password)} characters, expected {SHORTEST} to {LONGEST}")
    return _HASHER.hash(password)


def is_right(password: str, kept: str | None) -> bool:
    """Whether it is the password that was hashed; as slow where nothing was kept, so that time tells no names."""
    if len(password) > LONGEST:
        return False
    try:
        return _HASHER.verify(_NOBODY if kept is None else kept, password) and kept is not None
    except (VerificationError, InvalidHashError, UnicodeEncodeError):
        return False
