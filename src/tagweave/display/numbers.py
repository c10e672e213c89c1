"""Numbers in pictures."""

from __future__ import annotations

LEAST = 0.005
"""The smallest number that is not written as 0."""


def share(value: float) -> str:
    """A number from 0 to 1 in two digits, without the zero in front."""
    text = f"{value:.2f}"
    return text.removeprefix("0") if value < 1 else text
