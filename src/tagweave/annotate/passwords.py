"""Passwords, stored as argon2id hashes with the library's defaults, which RFC 9106 recommends for low memory."""

from __future__ import annotations

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

SHORTEST, LONGEST = 8, 1024
"""Characters of a password. There is an upper limit because hashing takes time."""

_HASHER = PasswordHasher()
_NOBODY = _HASHER.hash("nobody has this password")


def hashed(password: str) -> str:
    """The hash of a password.

    Raises:
        ValueError: the password is too short or too long.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise ValueError(f"found a password of {len(password)} characters, expected {SHORTEST} to {LONGEST}")
    return _HASHER.hash(password)


def is_right(password: str, kept: str | None) -> bool:
    """Whether a password has this hash. It takes as long if there is none, so that timing reveals no names."""
    if len(password) > LONGEST:
        return False
    try:
        return _HASHER.verify(_NOBODY if kept is None else kept, password) and kept is not None
    except (VerificationError, InvalidHashError, UnicodeEncodeError):
        return False
